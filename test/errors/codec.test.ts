/** The codec of declared inputs: what it takes, what it refuses and where, and that JSON keeps every bit. */
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import { PathReporter } from 'io-ts/lib/PathReporter.js'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

const declaration = { p: { w: cd.f64(2, 3), 'a b': cd.f32('n') }, x: cd.f64('n', 3), k: [cd.i32(), cd.bool(2)] } as const
const inputs = cd.codec(declaration)
const good = { p: { w: [[1, 2, 3], [4, 5, 6]], 'a b': [1, 2] }, x: [[1, 1, 1], [2, 2, 2]], k: [3, [true, false]] } // biome-ignore format: one row

const errorsOf = (x: unknown, c: { readonly decode: (x: unknown) => E.Either<t.Errors, unknown> } = inputs): readonly string[] => {
  const r = c.decode(x)
  if (E.isRight(r)) throw new Error('it decoded')
  const e = cd.decodeError(r.left)
  return e._tag === 'Decode' ? e.errors.map(({ path, reason }) => `${path}: ${reason}`) : []
}
const right = <A>(r: E.Either<t.Errors, A>): A => {
  if (E.isLeft(r)) throw new Error(PathReporter.report(r).join('\n'))
  return r.right
}

describe('decode', () => {
  it('gives the tree of tensors, with shapes and dtypes in the types', () => {
    const v = right(inputs.decode(good))
    const w: cd.Tensor<[2, 3], 'f64'> = v.p.w
    const k: cd.Tensor<[], 'i32'> = v.k[0]
    expect([w.toArray(), k.item(), v.k[1].toArray(), v.p['a b'].dtype, v.x.shape]).toEqual([good.p.w, 3, [true, false], 'f32', [2, 3]])
  })
  it('takes typed arrays, tensors and the JSON of tensors; the result owns its data', () => {
    const w = Float64Array.of(1, 2, 3, 4, 5, 6)
    const x = cd.tensor([[1, 2, 3]])
    const v = right(
      inputs.decode({
        p: { w, 'a b': { shape: [1], dtype: 'f32', data: [0.5] } },
        x,
        k: [{ shape: [], dtype: 'i32', data: 4 }, Uint8Array.of(1, 0)],
      }),
    )
    expect([v.p.w.toArray(), v.p['a b'].toArray(), v.x.toArray(), v.k[0].item()]).toEqual([[[1, 2, 3], [4, 5, 6]], [0.5], [[1, 2, 3]], 4]) // biome-ignore format: one row
    w[0] = 100
    x.data[0] = 100
    expect([v.p.w.data[0], v.x.data[0]]).toEqual([1, 1])
  })
  it('what it decodes, the function takes', () => {
    const f = cd.fn(declaration, ({ p, x }) => cd.add(cd.sum(cd.matmul(x, cd.transpose(p.w))), cd.sum(cd.cast(p['a b'], 'f64'))))
    expect(
      pipe(
        inputs.decode(good),
        E.map((v) => f(v).item()),
      ),
    ).toEqual(E.right(6 + 15 + 12 + 30 + 3))
  })
})

describe('every error has its path', () => {
  const cases: readonly (readonly [name: string, input: unknown, errors: readonly string[]])[] = [
    ['null', null, ['input: expected a record of k, p, x, found null']],
    ['text instead of JSON', '{"p": 1}', [`input: expected a record of k, p, x, found '{"p": 1}'`]],
    ['an array', [1], ['input: expected a record of k, p, x, found an array of 1']],
    ['a tensor for a record', { ...good, p: cd.tensor(1) }, ['p: expected a record of a b, w, found a tensor (f64 [])']],
    ['several at once', { p: { w: 'x', 'a b': [1, 'y'] }, x: [[1, 1, 1], [2, 2, 2]], k: [0.5, [2, true]] }, ["k.0: 0.5 is not an i32", 'k.1.0: 2 is not a boolean', `p.a b.1: 'y' is not a number`, "p.w: got [], declared [2, 3]"]], // biome-ignore format: one row
    ['missing and extra', { p: good.p, X: 1, k: good.k }, ['x: is missing', 'X: is not expected']],
    ['a tuple of another length', { ...good, k: [1] }, ['k: expected 2 entries, found 1']],
    ['another shape', { ...good, p: { ...good.p, w: [[1, 2], [3, 4]] } }, ['p.w: got [2, 2], declared [2, 3] (2 is not 3)']], // biome-ignore format: one row
    ['ragged', { ...good, x: [[1, 2, 3], [4, 5]] }, ['x.1: ragged: expected 3 entries, found 2']], // biome-ignore format: one row
    ['ragged depth', { ...good, x: [[1, 2, 3], 4] }, ['x.1: ragged: expected an array of 3, found 4']],
    ['a number between rows', { ...good, x: [[1, [2], 3]] }, ['x.0.1: ragged: found an array of 1 where its neighbours are numbers']],
    ['too deep', { ...good, x: [[[1]]] }, ['x: nested deeper than 2 levels']],
    ['a hole', { ...good, p: { ...good.p, 'a b': Object.assign(new Array(2), { 0: 1 }) } }, ['p.a b.1: undefined is not a number']],
    ['names that differ', { ...good, p: { ...good.p, 'a b': [1, 2, 3] } }, [`x: 'n' is 2 here and 3 in p.a b`]],
    ['beyond f32', { ...good, p: { ...good.p, 'a b': [1e39, 1] } }, ['p.a b.0: 1e+39 is beyond f32']],
    ['null, as JSON writes NaN', { ...good, p: { ...good.p, 'a b': [null, 1] } }, ['p.a b.0: null is not a number']],
    ['a typed array of another dtype', { ...good, x: new Float32Array(3) }, ['x: is f32, declared f64']],
    ['a big integer', { ...good, k: [2 ** 31, [0, 1]] }, ['k.0: 2147483648 is not an i32']],
    ['a record for a leaf', { ...good, x: { data: [1] } }, ['x: an object is not a number, an array or { shape, dtype, data }']],
    ['JSON of another dtype', { ...good, x: { shape: [1, 3], dtype: 'f32', data: [1, 2, 3] } }, ["x.dtype: is 'f32', declared f64"]],
    [
      'JSON that does not fill its shape',
      { ...good, x: { shape: [1e6, 1e6], dtype: 'f64', data: [1] } },
      ['x.data: is [1], which does not fill [1000000, 1000000]'],
    ],
    ['JSON with no shape at all', { ...good, x: { shape: [-1, 3], dtype: 'f64', data: [] } }, ['x.shape: is not a shape']],
    [
      'JSON with a shape beyond numbers',
      { ...good, x: { shape: [2 ** 52, 2 ** 52], dtype: 'f64', data: [] } },
      ['x.shape: is not a shape'],
    ],
  ]
  for (const [name, input, errors] of cases) it(name, () => expect(errorsOf(input)).toEqual(errors))

  it('a huge leaf of errors is cut, and says so', () => {
    const many = errorsOf({
      ...good,
      x: Array.from({ length: 2 }, () => [0, 0, 0]),
      p: { ...good.p, 'a b': new Array(100_000).fill('no') },
    })
    expect(many.length).toBe(101 + 1)
    expect(many.slice(99, 101)).toEqual([`p.a b.99: 'no' is not a number`, 'p.a b: and 99900 more errors'])
  })
  it('an array within itself', () => {
    const loop: unknown[] = []
    loop.push(loop)
    expect(errorsOf({ ...good, x: loop })).toEqual(['x: nested deeper than 2 levels'])
  })
  it('prototype keys are keys like others, and write no prototype', () => {
    const text = '{"__proto__": {"polluted": 1}, "constructor": 2, "x": [1]}'
    const c = cd.codec({ x: cd.f64(1) })
    expect(errorsOf(JSON.parse(text), c)).toEqual(['__proto__: is not expected', 'constructor: is not expected'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const inherited = Object.create({ x: [1] }) as unknown
    expect(errorsOf(inherited, c)).toEqual(['x: is missing'])
    const own = cd.codec(Object.fromEntries([['__proto__', cd.f64()]]))
    const r = right(own.decode(JSON.parse('{"__proto__": 3}'))) as Record<string, cd.Tensor>
    expect([Object.getPrototypeOf(r) === Object.prototype, Object.hasOwn(r, '__proto__'), Object.values(r)[0]?.item()]).toEqual([
      true,
      true,
      3,
    ])
  })
  it('within a larger codec the path goes on; PathReporter tells it too', () => {
    const request = t.type({ id: t.string, batches: t.array(cd.codec({ x: cd.f64(2) })) })
    const bad = { id: 'a', batches: [{ x: [1, 2] }, { x: [1, 'z'] }] }
    expect(errorsOf(bad, request)).toEqual([`batches.1.x.1: 'z' is not a number`])
    expect(PathReporter.report(request.decode(bad))).toEqual([`x.1: 'z' is not a number`])
    const read = pipe(request.decode(bad), E.mapLeft(cd.decodeError))
    expect(E.isLeft(read) && cd.explain(read.left)).toBe(`Decode: 1 error\n  batches.1.x.1: 'z' is not a number`)
  })
  it('what is no declaration', () => {
    expect(() => cd.codec({ x: 3 } as never)).toThrow(/a leaf of the declaration is not a dtype/)
  })
})

describe('is, encode', () => {
  it('is: the tree of tensors, and nothing else', () => {
    const v = right(inputs.decode(good))
    expect([inputs.is(v), inputs.is(good), inputs.is({ ...v, x: cd.tensor([[1, 2, 3]]) }), inputs.is(null)]).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
  it('JSON keeps every bit: NaN, infinities, -0, subnormals', () => {
    const c = cd.codec({ x: cd.f64('n'), y: cd.f32(2) })
    const v = right(c.decode({ x: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 5e-324, 0.1], y: [-0, 16777217] }))
    expect(c.encode(v)).toEqual({ x: ['NaN', 'Infinity', '-Infinity', '-0', 5e-324, 0.1], y: ['-0', 16777216] })
    const again = right(c.decode(JSON.parse(JSON.stringify(c.encode(v)))))
    expect([...again.x.data].every((n, i) => Object.is(n, v.x.data[i]))).toBe(true)
    expect(Object.is(again.y.data[0], -0)).toBe(true)
  })
  it('decode after encode is the identity, on random trees', () => {
    const shape = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 })
    const leaf = shape.chain((s) =>
      fc.constantFrom<cd.DType>('f64', 'f32', 'i32', 'bool').chain((dtype) =>
        fc
          .array(dtype === 'i32' ? fc.integer() : dtype === 'bool' ? fc.constantFrom(0, 1) : dtype === 'f32' ? fc.float() : fc.double(), {
            minLength: s.reduce((a, b) => a * b, 1),
            maxLength: s.reduce((a, b) => a * b, 1),
          })
          .map((data) => cd.tensor(Float64Array.from(data), [...s], dtype)),
      ),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string(), leaf, { noNullPrototype: true }), (tree) => {
        const specs = { f64: cd.f64, f32: cd.f32, i32: cd.i32, bool: cd.bool }
        const c = cd.codec(
          Object.fromEntries(Object.entries(tree).map(([k, x]) => [k, specs[x.dtype](...x.shape)])) as Record<string, cd.Spec>,
        )
        expect(c.is(tree)).toBe(true)
        const again = right(c.decode(JSON.parse(JSON.stringify(c.encode(tree as never))))) as unknown as Record<string, cd.Tensor>
        expect(Object.keys(again).sort()).toEqual(Object.keys(tree).sort())
        for (const [k, x] of Object.entries(tree)) {
          expect([again[k]!.shape, again[k]!.dtype]).toEqual([x.shape, x.dtype])
          expect([...again[k]!.data].every((n, i) => Object.is(n, x.data[i]))).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })
})
