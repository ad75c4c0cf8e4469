/** Arguments that break when they are looked at: what a REPL, a framework's state or another thread may hand over. */
import * as cd from '../../src/index.js'

const thrower = (): never => {
  throw new Error('a trap')
}
const traps: ProxyHandler<object> = {
  get: thrower,
  has: thrower,
  ownKeys: thrower,
  getPrototypeOf: thrower,
  getOwnPropertyDescriptor: thrower,
}
const revoked = <T extends object>(target: T): T => {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}
const nest = (depth: number, wrap: (x: unknown) => unknown): unknown => {
  let x: unknown = 1
  for (let i = 0; i < depth; i++) x = wrap(x)
  return x
}
const ring: unknown[] = [1]
ring.push(ring)
const forked: unknown[] = []
forked.push(forked, forked)
const loop: Record<string, unknown> = { a: 1 }
loop.self = loop

/** A typed array whose buffer went to another thread. */
export const detachedArray = (): Float64Array => {
  const x = Float64Array.of(1, 2, 3)
  structuredClone(x.buffer, { transfer: [x.buffer] })
  return x
}
/** A tensor whose buffer went to another thread. */
export const detachedTensor = (shape: readonly number[] = [2, 2]): cd.Tensor => {
  const t = (cd.tensor as (d: unknown, s: unknown) => cd.Tensor)(3, shape)
  const { buffer } = t.data
  structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })
  return t
}
/** A view of a buffer that became smaller than it. */
export const shrunkArray = (): Float64Array => {
  const buffer = new (ArrayBuffer as unknown as new (n: number, o: object) => ArrayBuffer & { resize(n: number): void })(24, {
    maxByteLength: 24,
  })
  const x = new Float64Array(buffer, 0, 3)
  buffer.resize(8)
  return x
}

/** What cannot be used: whoever takes it as an array or as options must say so. */
export const broken: readonly (readonly [label: string, make: () => unknown])[] = [
  ['a detached array', detachedArray],
  ['a tensor without its buffer', () => detachedTensor()],
  ['a scalar tensor without its buffer', () => detachedTensor([])],
  ['a view of a smaller buffer', shrunkArray],
  ['a forged tensor', () => JSON.parse('{ "_tag": "Tensor", "shape": [2], "dtype": "f64", "data": [1, 2] }')],
  [
    'a forged expression',
    () => JSON.parse('{ "_tag": "Expr", "kind": 1, "aval": { "shape": [], "dtype": "f64", "size": 1 }, "args": [] }'),
  ],
  ['a forged spec', () => JSON.parse('{ "_tag": "Spec" }')],
  ['a forged expression without parts', () => ({ _tag: 'Expr' })],
  ['an array within itself', () => ring],
  ['an array twice within itself', () => forked],
  ['a record within itself', () => loop],
  ['10,000 arrays', () => nest(10_000, (x) => [x])],
  ['10,000 records', () => nest(10_000, (x) => ({ x }))],
  ['10,000 arrays and records', () => nest(5_000, (x) => [{ x }])],
  ['a revoked array', () => revoked([1, 2])],
  ['a revoked record', () => revoked({ w: 1 })],
  ['a revoked function', () => revoked(() => 1)],
  ['a Proxy that throws', () => new Proxy({ w: 1 }, traps)],
  ['a Proxy of an array that throws', () => new Proxy([1, 2], traps)],
  ['a Proxy of a typed array', () => new Proxy(Float64Array.of(1, 2), {})],
  ['a Proxy of a tensor', () => new Proxy(cd.tensor([1, 2]), {})],
  ['a getter that throws', () => Object.defineProperty({}, 'w', { get: thrower, enumerable: true })],
  ['an option that throws', () => Object.defineProperty({}, 'axis', { get: thrower, enumerable: true })],
  ['an entry that throws', () => Object.defineProperty([1, 2], 1, { get: thrower, enumerable: true })],
  ['text that throws', () => ({ toString: thrower, [Symbol.toPrimitive]: thrower })],
  ['an array without entries', () => new Array(2 ** 32 - 1)],
  ['a BigInt64Array', () => new BigInt64Array(2)],
  ['a DataView', () => new DataView(new ArrayBuffer(8))],
]
