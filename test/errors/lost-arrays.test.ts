/** Arrays that lost their buffer, and objects that only look like arrays: one BadInput with the path, and the function works afterwards. */
import { describe, expect, it, vi } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import { broken, detachedArray, detachedTensor, shrunkArray } from './hostile.js'

type Call = (...xs: readonly unknown[]) => unknown
const loose = (f: unknown): Call => f as Call
const [sum, mul] = [loose(cd.sum), loose(cd.mul)]
const failure = async (f: () => unknown): Promise<string> => {
  try {
    await f()
  } catch (e) {
    if (!cd.isAdException(e)) throw e
    expect(['BadInput', 'ShapeMismatch', 'NotDifferentiable']).toContain(e.error._tag)
    return e.message
  }
  return 'no error'
}
const transfer = (t: cd.Tensor): void => void structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] })
const gone = /transferred, detached or made smaller/

const body = ({ p }: { p: { w: unknown } }): unknown => sum(mul(p.w, p.w))
const declared = loose(cd.fn({ p: { w: cd.f64(2, 2) } }, body as never))
const callers: readonly (readonly [name: string, call: Call])[] = [
  ['fn', declared],
  ['grad', loose(loose(cd.grad)(declared))],
  ['compile', loose(loose(cd.compile)(declared))],
  ['compile on reference', loose(loose(cd.compile)(declared, cd.reference()))],
  ['compileAsync', loose(loose(cd.compileAsync)(declared, cd.cpu()))],
]
const good = { p: { w: [[1, 2], [3, 4]] } } // biome-ignore format: one row

describe('an array without its buffer', () => {
  it.each(callers)('as an argument of %s, first and after a good call', async (_, call) => {
    expect(await failure(() => call({ p: { w: detachedTensor() } }))).toMatch(/p\.w.*transferred/s)
    const before = await call({ p: { w: cd.tensor(good.p.w) } })
    const t = cd.tensor(good.p.w)
    await call({ p: { w: t } })
    transfer(t)
    expect(await failure(() => call({ p: { w: t } }))).toMatch(/p\.w.*transferred/s)
    for (const make of [detachedArray, shrunkArray]) expect(await failure(() => call({ p: { w: make() } }))).toMatch(gone)
    expect(await call(good)).toEqual(before)
  })
  it.each([
    ['compile', loose(cd.compile)],
    ['compileAsync', (f: unknown) => loose(cd.compileAsync)(f, cd.cpu())],
    ['a plain call', (f: unknown) => f],
  ])('captured by what %s runs', async (_, make) => {
    const w = cd.tensor([1, 2])
    const f = loose(make(loose(cd.grad)((x: unknown) => sum(mul(x, w)))))
    expect(((await f([1, 1])) as cd.Tensor).toArray()).toEqual([1, 2])
    transfer(w)
    expect(await failure(() => f([1, 1]))).toMatch(gone)
  })
  it('in an expression', async () => {
    const w = cd.tensor([1, 2])
    const e = mul(w, 2)
    transfer(w)
    expect(await failure(() => loose(cd.evaluate)(e))).toMatch(gone)
  })
  it('as a target of into', async () => {
    const twice = cd.fn({ x: cd.f64(2) }, ({ x }) => cd.mul(x, 2))
    const y = cd.tensor([0, 0])
    const into = loose(loose(cd.compile(twice, makeCpu()).into)(y))
    into({ x: [1, 2] })
    expect(y.toArray()).toEqual([2, 4])
    transfer(y)
    expect(await failure(() => into({ x: [1, 2] }))).toMatch(gone)
    expect(await failure(() => loose(loose(cd.compileAsync(twice, cd.cpu()).into)(y))({ x: [1, 2] }))).toMatch(gone)
  })
  it('read by its methods, by tensor, by the codec', async () => {
    const t = detachedTensor()
    for (const read of [
      () => t.toArray(),
      () => JSON.stringify(t),
      () => detachedTensor([]).item(),
      () => loose(cd.tensor)(t),
      () => cd.vectorSpace.norm(t),
    ])
      expect(await failure(read)).toMatch(gone)
    expect(String(t)).toBe('Tensor f64 [2, 2] without its elements')
    expect(cd.codec({ w: cd.f64(2, 2) }).decode({ w: t })).toMatchObject({ _tag: 'Left', left: [{ message: expect.stringMatching(gone) }] })
  })
  it('an array that is empty by right, or shared between threads, is an array', () => {
    expect((loose(cd.compile)((x: unknown) => sum(x)) as Call)(new Float64Array(0))).toMatchObject({ data: Float64Array.of(0) })
    const shared = new Float64Array(new SharedArrayBuffer(16))
    shared.set([1, 2])
    expect((loose(cd.grad((x) => cd.sum(cd.mul(x, x)) as never))(shared) as cd.Tensor).toArray()).toEqual([2, 4])
    expect(cd.tensor(shared).toArray()).toEqual([1, 2])
  })
})

describe('broken arguments of functions and transforms', () => {
  it.each(broken)('%s: the error names the function, and nothing is lost', async (_, make) => {
    for (const [, call] of callers) {
      const message = await failure(() => call({ p: { w: make() } }))
      expect(message).toMatch(/fn|compile|grad|body/)
      expect((await call(good)) as object).toBeDefined()
    }
    for (const name of ['grad', 'jacfwd', 'jacrev', 'hessian', 'vmap', 'valueAndGrad'] as const)
      expect(await failure(() => loose(loose(cd[name])((x: { w: unknown }) => sum(mul(x.w, x.w))))({ w: make() }))).not.toBe('no error')
    for (const name of ['jvp', 'vjp', 'hvp'] as const)
      expect(await failure(() => loose(loose(cd[name])((x: unknown) => sum(mul(x, x))))([1, 2], make()))).not.toBe('no error')
    expect(await failure(() => loose(cd.linearize((x) => cd.sum(x) as never))(make()))).not.toBe('no error')
  })
  it('decode gives Left, whatever it is given', () => {
    for (const [, make] of broken)
      for (const x of [make(), { p: make() }, { p: { w: make() } }])
        expect(cd.codec({ p: { w: cd.f64(2, 2) } }).decode(x)._tag).toBe('Left')
  })
})

describe('objects of another copy of codual', () => {
  it('are told from ours: one error that says so', async () => {
    vi.resetModules()
    const other = (await import('../../src/index.js')) as typeof cd
    expect(other.tensor).not.toBe(cd.tensor)
    const says = /of another copy of codual/
    expect(await failure(() => loose(cd.mul)(other.tensor([1]), 2))).toMatch(says)
    expect(await failure(() => loose(cd.mul)(loose(other.mul)([1], 2), 2))).toMatch(says)
    expect(await failure(() => loose(declared)({ p: { w: other.tensor(good.p.w) } }))).toMatch(says)
    expect(await failure(() => loose(other.grad((x) => cd.sum(x as never) as never))([1, 2]))).toMatch(says)
    expect(await failure(() => loose(cd.compile((x) => cd.sum(x), other.cpu() as never))([1, 2]))).toMatch(/copy of codual/)
    expect((loose(other.grad((x) => other.sum(x as never) as never))([1, 2]) as cd.Tensor).toArray()).toEqual([1, 1])
  })
  it('nor what JSON or a Proxy makes of them', async () => {
    const forged = JSON.parse('{ "_tag": "Tensor", "shape": [2], "dtype": "f64", "data": [1, 2] }')
    expect(await failure(() => loose(cd.mul)(forged, 2))).toMatch(/only looks like a tensor/)
    expect(await failure(() => loose(cd.mul)({ _tag: 'Expr', aval: { shape: [], dtype: 'f64' } }, 2))).toMatch(
      /only looks like an expression/,
    )
    expect(await failure(() => loose(cd.mul)(new Proxy(cd.tensor([1]), {}), 2))).toMatch(/another copy of codual \(or a Proxy/)
  })
})
