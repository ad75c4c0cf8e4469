// The options of transforms do what their types say: inAxes of vmap, wrt of vjp, linearize and hvp, chunk of jacobians, name of fn.
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  add,
  exp,
  f32,
  f64,
  fn,
  grad,
  hessian,
  hvp,
  i32,
  isAdException,
  jacfwd,
  jacrev,
  jvp,
  linearize,
  matmul,
  mul,
  show,
  sum,
  type Tensor,
  take,
  tensor,
  vjp,
  vmap,
} from '../../src/index.js'

const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.message
    throw e
  }
  return ''
}
const w = [[1, 2], [3, 4]] // biome-ignore format: one row
const xs = [[1, 0], [0, 1], [1, 1]] // biome-ignore format: one row

describe('vmap, inAxes', () => {
  const product = (m: AnyExpr, x: AnyExpr) => matmul(m, x)
  it('an argument that is not mapped is the same at every index', () => {
    expect(vmap(product, { inAxes: [null, 0] })(w, xs).toArray()).toEqual([[1, 3], [2, 4], [3, 7]]) // biome-ignore format: one row
    expect(vmap(product, { inAxes: [0, null] })([w, w], [1, 0]).toArray()).toEqual([[1, 3], [1, 3]]) // biome-ignore format: one row
  })
  it('0 is every argument, as without it', () => {
    const rows = vmap((a: AnyExpr, b: AnyExpr) => mul(a, b), { inAxes: 0 })
    expect(rows([1, 2], [3, 4]).toArray()).toEqual([3, 8])
  })
  it('a declared function is called in a plain one, whose parameters have no shape: they are held against its declaration', () => {
    const declared = fn({ w: f64(2, 2), x: f64(2) }, ({ w, x }) => matmul(w, x))
    const rows = vmap((m, x) => declared({ w: m, x }), { inAxes: [null, 0] })
    expect(rows(w, xs).toArray()).toEqual([[1, 3], [2, 4], [3, 7]]) // biome-ignore format: one row
    expect(message(() => rows(w, [[1, 2, 3]]))).toContain('x: got [3], declared [2]')
    expect(message(() => rows(w, tensor([1, 0], [1, 2], 'f32')))).toContain('x: got f32, declared f64')
  })
  it('a result that depends on no mapped argument is repeated', () => {
    expect(vmap((m, _x) => sum(m), { inAxes: [null, 0] })(w, xs).toArray()).toEqual([10, 10, 10])
  })
  it('differentiates through both, and inside', () => {
    const loss = (m: AnyExpr, x: AnyExpr) => sum(mul(matmul(m, x), matmul(m, x)))
    const perExample = vmap(grad(loss), { inAxes: [null, 0] })(w, xs).toArray()
    expect(perExample).toEqual(xs.map((x) => grad(loss)(w, x).toArray()))
    const total = grad((m, x) => sum(vmap(loss, { inAxes: [null, 0] })(m, x)))(w, xs).toArray() as number[][]
    const examples = perExample as number[][][]
    expect(total).toEqual(total.map((row, i) => row.map((_, j) => examples.reduce((s, e) => s + e[i]![j]!, 0))))
  })
  it('a tree as one argument', () => {
    const f = (p: { readonly w: AnyExpr; readonly b: AnyExpr }, x: AnyExpr) => add(matmul(p.w, x), p.b)
    expect(vmap(f, { inAxes: [null, 0] })({ w, b: [10, 20] }, xs).toArray()).toEqual([[11, 23], [12, 24], [13, 27]]) // biome-ignore format: one row
  })
  it('nests', () => {
    const outer = vmap(
      vmap((a: AnyExpr, b: AnyExpr) => mul(a, b), { inAxes: [null, 0] }),
      { inAxes: [0, null] },
    )
    expect(outer([1, 2], [3, 4]).toArray()).toEqual([[3, 4], [6, 8]]) // biome-ignore format: one row
  })
  it('names what is wrong', () => {
    const loose = vmap as unknown as (f: unknown, options: unknown) => (...args: unknown[]) => unknown
    expect(message(() => loose(product, { inAxes: [0] })(w, xs))).toContain('inAxes is [0] for 2 arguments')
    expect(message(() => loose(product, { inAxes: [2, 0] })(w, xs))).toContain('argument 0 is f64 [2, 2]: it has no axis 2 to map')
    expect(message(() => vmap(product, { inAxes: [null, null] })(w, xs))).toContain('inAxes maps no argument')
  })
})

describe('wrt', () => {
  const tree = fn({ p: { w: f64(2), b: f64() }, i: i32(), x: f64(2) }, ({ p, i, x }) => mul(take(p.w, i), mul(p.b, sum(mul(x, x)))))
  const at = { p: { w: [2, 3], b: 5 }, i: 1, x: [1, 2] }
  it('of vjp: a path, a list of paths, an index', () => {
    const [y, bBar] = vjp(tree, { wrt: 'p.b' })(at as never, 1)
    expect([y.toArray(), bBar.toArray()]).toEqual([75, 15])
    const [, some] = vjp(tree, { wrt: ['x', 'p.w'] })(at as never, 1)
    expect({ x: some.x.toArray(), w: some['p.w'].toArray() }).toEqual({ x: [30, 60], w: [0, 25] })
    const [, second] = vjp((a: AnyExpr, b: AnyExpr) => mul(a, b), { wrt: 1 })([[1, 2], [3, 4]], [1, 10]) // biome-ignore format: one row
    expect(second.toArray()).toEqual([1, 20])
  })
  it('of linearize: a tangent of that alone', () => {
    const [y, along] = linearize((a: AnyExpr, b: AnyExpr) => mul(a, exp(b)), { wrt: 1 })([[1, 2], [0, 0]]) // biome-ignore format: one row
    expect([y.toArray(), along([10, 1]).toArray()]).toEqual([[1, 2], [10, 2]]) // biome-ignore format: one row
    const record = { a: [1, 2], b: [3, 4] }
    const [, alongA] = linearize((r: { readonly a: AnyExpr; readonly b: AnyExpr }) => mul(r.a, r.b), { wrt: ['a'] })(record)
    expect(alongA({ a: [1, 0] }).toArray()).toEqual([3, 0])
  })
  it('of hvp: the first argument, unless given', () => {
    const f = (a: AnyExpr, b: AnyExpr) => sum(mul(mul(a, a), mul(b, mul(b, b))))
    expect(hvp(f)([[1, 2], [3, 1]], [1, 1]).toArray()).toEqual([54, 2]) // biome-ignore format: one row
    expect(hvp(f, { wrt: 1 })([[1, 2], [3, 1]], [1, 1]).toArray()).toEqual([18, 24]) // biome-ignore format: one row
  })
  it('names what is wrong', () => {
    expect(message(() => vjp((r: { readonly a: AnyExpr }) => r.a, { wrt: 'b' as never })({ a: 1 }, 1))).toContain("wrt 'b' names nothing")
    expect(message(() => vjp(tree, { wrt: 'i' as never })(at as never, 1))).toContain('wrt selects only')
  })
})

describe('transforms of a declared function', () => {
  const f = fn({ x: f32(2), i: i32() }, ({ x, i }) => mul(mul(x, x), take(x, i)))
  const at = { x: [2, 3], i: 1 }
  it('read plain arrays as it declares them', () => {
    const [y, dy] = jvp(f)(at, { x: [1, 0], i: undefined })
    expect([y.dtype, y.toArray(), dy.dtype, dy.toArray()]).toEqual(['f32', [12, 27], 'f32', [12, 0]])
    const [z, xBar] = vjp(f)(at, [1, 0])
    expect([z.dtype, xBar.x.dtype, xBar.x.toArray(), xBar.i._tag]).toEqual(['f32', 'f32', [12, 4], 'NoTangent'])
    const [v, along] = linearize(f)(at)
    expect([v.dtype, along({ x: [1, 0], i: undefined }).toArray()]).toEqual(['f32', [12, 0]])
    const many = vmap(f)({ x: [[2, 3], [1, 1]], i: [1, 0] }) // biome-ignore format: one row
    expect([many.dtype, many.toArray()]).toEqual(['f32', [[12, 27], [1, 1]]]) // biome-ignore format: one row
    const h = hvp(fn(f32(2), (x) => sum(mul(x, mul(x, x)))))([1, 2], [1, 0])
    expect([h.dtype, h.toArray()]).toEqual(['f32', [6, 0]])
  })
  it('hold them against the declaration', () => {
    expect(message(() => jvp(f)({ x: [1, 2, 3], i: 1 }, { x: [1, 0], i: undefined }))).toContain('declared [2] (3 is not 2)')
    expect(message(() => jvp(f)(at, { x: [1, 0, 0], i: undefined }))).toContain('got [3], declared [2]')
    expect(message(() => vmap(f)({ x: [[1, 2, 3]], i: [0] }))).toContain('got [1, 3], declared [vmap, 2]')
    expect(message(() => vmap(f)({ x: [[1, 2]], i: [0, 1] }))).toContain("'vmap' is 1 here and 2 in")
  })
  it('are traced at the sizes of their names', () => {
    const g = fn({ vmap: f32('vmap') }, (p) => sum(p.vmap))
    expect(show(vmap(g), { vmap: 3, "vmap'": 2 })).toContain('vmap: f32 [2, 3]')
  })
})

describe('chunk', () => {
  const f = (x: AnyExpr) => exp(matmul([[1, 2, 3], [0, 1, -1]], x)) // biome-ignore format: one row
  const x = [0.1, -0.2, 0.3]
  const numbers = (t: Tensor): number[] => Array.from(t.data)
  it('changes no number of a Jacobian or a Hessian', () => {
    for (const chunk of [1, 2, 3, 7]) {
      expect(numbers(jacfwd(f, { chunk })(x))).toEqual(numbers(jacfwd(f)(x)))
      expect(numbers(jacrev(f, { chunk })(x))).toEqual(numbers(jacrev(f)(x)))
      const loss = (v: AnyExpr) => sum(f(v))
      expect(numbers(hessian(loss, { chunk })(x))).toEqual(numbers(hessian(loss)(x)))
    }
  })
  it('runs that many directions at once', () => {
    expect(show(jacfwd(fn(f64(3), f), { chunk: 2 }))).toContain('concat')
    expect(show(jacfwd(fn(f64(3), f), { chunk: 3 }))).not.toContain('concat')
  })
  it('is a whole number from 1', () => {
    expect(message(() => jacrev(f, { chunk: 0 }))).toContain('chunk is 0')
  })
})

it('name: what show calls a function', () => {
  expect(show(fn({ x: f64(2) }, ({ x }) => sum(x), { name: 'total' }))).toMatch(/^total\(/)
})
