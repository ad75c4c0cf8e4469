// Trees with leaves that are no arrays: null, absent ones, texts, functions; and objects of registered classes.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

const { add, compile, evaluate, f64, fn, grad, jvp, mul, sum, tensor, treeLeaves, treeMap, treeZip, vjp, vmap, zeros } = cd
const square = (x: cd.AnyExpr) => mul(x, x)

describe('static leaves', () => {
  const layer = { w: tensor([1, 2]), b: null, name: 'first', act: square, more: { nothing: undefined, v: tensor(3) } }
  const loss = (p: { w: cd.AnyExpr; b: null; name: string; act: typeof square; more: { nothing: undefined; v: cd.AnyExpr } }) => {
    expect(p.b).toBeNull()
    expect(p.name).toBe('first')
    expect('nothing' in p.more).toBe(true)
    return mul(sum(p.act(p.w)), p.more.v)
  }
  it('are given to the body as they are, and stand in the gradient', () => {
    const g = grad(loss)(layer)
    expect(g.w.toArray()).toEqual([6, 12])
    expect(g.more.v.item()).toBe(5)
    expect(g).toMatchObject({ b: null, name: 'first', act: square, more: { nothing: undefined } })
  })
  it('are no leaves: maps and folds pass them by, ravel too', () => {
    expect(treeLeaves(layer)).toHaveLength(2)
    const doubled = treeMap((x) => evaluate(mul(x, 2)), layer)
    expect(doubled.name).toBe('first')
    expect(doubled.act).toBe(square)
    expect(doubled.w.toArray()).toEqual([2, 4])
    const sums = treeZip((a, b) => evaluate(add(a, b)), layer, doubled)
    expect(sums.more.v.item()).toBe(9)
    const [v, unravel] = cd.ravel(layer)
    expect(v.toArray()).toEqual([3, 1, 2])
    expect(unravel(v)).toMatchObject({ b: null, name: 'first', act: square })
  })
  it('go through every mode', () => {
    const tangent = { ...layer, w: tensor([1, 0]), more: { nothing: undefined, v: tensor(0) } }
    const [y, dy] = jvp(loss)(layer, tangent)
    expect([y.item(), dy.item()]).toEqual([15, 6])
    const [, bar] = vjp(loss)(layer, 2)
    expect(bar.w.toArray()).toEqual([12, 24])
    const each = vmap((p: { w: cd.AnyExpr; act: typeof square }) => p.act(p.w))({
      w: tensor([
        [1, 2],
        [3, 4],
      ]),
      act: square,
    })
    expect(each.toArray()).toEqual([
      [1, 4],
      [9, 16],
    ])
    const carried = cd.scan(
      (c: { s: cd.AnyExpr; label: string }, x: cd.AnyExpr) => [{ s: add(c.s, x), label: c.label }, null] as const,
      { s: tensor(0), label: 'c' },
      tensor([1, 2, 3]),
    )
    expect(carried[0].label).toBe('c')
  })
  it('belong to the identity of a plan: texts by what they say, functions by identity', () => {
    let traces = 0
    const f = compile((p: { w: cd.AnyExpr; how: string | ((x: cd.AnyExpr) => cd.AnyExpr) }) => {
      traces++
      return typeof p.how === 'string' ? (p.how === 'double' ? mul(p.w, 2) : add(p.w, 1)) : p.how(p.w)
    })
    const w = tensor([1, 2])
    expect(f({ w, how: 'double' }).toArray()).toEqual([2, 4])
    expect(f({ w, how: 'next' }).toArray()).toEqual([2, 3])
    expect(f({ w, how: square }).toArray()).toEqual([1, 4])
    expect(f({ w, how: (x) => mul(x, 0) }).toArray()).toEqual([0, 0])
    expect(traces).toBe(4)
    for (const how of ['double', 'next', square] as const) f({ w, how })
    expect(traces).toBe(4)
    expect(f({ w, how: 'double' }).toArray()).toEqual([2, 4])
  })
  it('null, undefined and the texts of their names are four plans', () => {
    let traces = 0
    const f = compile((p: { w: cd.AnyExpr; x: unknown }) => {
      traces++
      return mul(p.w, p.x === null ? 1 : p.x === undefined ? 2 : p.x === 'null' ? 3 : 4)
    })
    const xs = [null, undefined, 'null', 'undefined']
    for (let round = 0; round < 3; round++) expect(xs.map((x) => f({ w: tensor(1), x } as never).item())).toEqual([1, 2, 3, 4])
    expect(traces).toBe(4)
  })
  it('property: a tree with static leaves strewn in has the gradient of the tree without', () => {
    const static_ = fc.constantFrom<unknown>(null, undefined, 'a', '', square)
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.float({ noNaN: true, min: -9, max: 9 }), static_), { maxKeys: 6 }),
        (tree) => {
          const numbers = Object.entries(tree).filter(([, x]) => typeof x === 'number')
          fc.pre(numbers.length > 0)
          const f = (t: Readonly<Record<string, unknown>>) =>
            Object.values(t).reduce<cd.AnyExpr>(
              (s, x) => (typeof x === 'object' && x !== null ? add(s, square(x as cd.AnyExpr)) : s),
              sum(0),
            )
          const g = (grad(f as never) as unknown as (t: unknown) => Record<string, unknown>)(tree)
          expect(Object.keys(g).sort()).toEqual(Object.keys(tree).sort())
          for (const [k, x] of Object.entries(tree))
            if (typeof x === 'number') expect((g[k] as cd.Tensor).item()).toBeCloseTo(2 * x, 12)
            else expect(g[k]).toBe(x)
        },
      ),
    )
  })
  it('a declaration may say that there is nothing, and nothing else is taken there', () => {
    const f = fn({ w: f64(2), b: null }, ({ w, b }) => (b === null ? sum(w) : w))
    expect(f({ w: [1, 2], b: null })).toMatchObject({ data: Float64Array.of(3) })
    expect(() => f({ w: [1, 2], b: [1] } as never)).toThrow(/b must be null, found one array/)
    expect(() => f({ w: [1, 2], b: 'x' } as never)).toThrow(/b must be null, found "x"/)
    expect(() => fn({ w: 'f64' } as never, () => sum(0))).toThrow(/declare each input by its dtype/)
    expect(() => fn({ w: f64 } as never, () => sum(0))).toThrow(/declare each input by its dtype/)
  })
  it('what is missing is still an error: an argument, an entry of a list, a result', () => {
    const f = grad(square)
    expect(() => f(undefined as never)).toThrow(/an argument is missing/)
    expect(() => grad((p: never) => sum((p as { x: never[] }).x[0]!))({ x: [[undefined]] } as never)).toThrow(/undefined is not a number/)
    expect(() => compile((() => undefined) as never)()).toThrow(/returns by return/)
    expect(() => f(Symbol('x') as never)).toThrow(/a symbol is not/)
  })
  it('programs with texts and nulls go through JSON; functions do not', () => {
    const text = cd.toJSON(
      cd.toProgram((p: { w: cd.AnyExpr; how: string; none: null }) => ({ y: square(p.w), how: p.how, none: p.none }))({
        w: [2],
        how: 'a',
        none: null,
      }),
    )
    const back = cd.fromJSON(JSON.parse(JSON.stringify(text)))
    if (back._tag === 'Left') throw new Error(cd.explain(back.left))
    expect(JSON.stringify(cd.toJSON(back.right))).toBe(JSON.stringify(text))
    expect(() =>
      cd.toJSON(cd.toProgram((p: { w: cd.AnyExpr; f: () => number }) => ({ y: square(p.w), f: p.f }))({ w: [2], f: () => 1 })),
    ).toThrow(/are not data/)
    const bad = JSON.parse(JSON.stringify(text).replace('"value":"a"', '"value":1'))
    expect(cd.fromJSON(bad)._tag).toBe('Left')
  })
})

class Line<A extends cd.Arg = cd.AnyExpr, B extends cd.Arg = A> {
  constructor(
    readonly slope: A,
    readonly at: B,
    readonly name: string,
  ) {}
  of(x: cd.AnyExpr | number): cd.AnyExpr {
    return add(mul(this.slope, x), this.at)
  }
}
cd.registerTree(Line, {
  toTree: ({ slope, at, name }) => ({ slope, at, name }),
  fromTree: ({ slope, at, name }) => new Line(slope, at, name),
})

describe('objects of a registered class', () => {
  const line = () => new Line(tensor(2), tensor(1), 'l')
  it('are trees: the body has an object, and so have results and gradients', () => {
    const g = grad((l: Line) => square(l.of(3)))(line())
    expect(g).toBeInstanceOf(Line)
    expect([g.slope.item(), g.at.item(), g.name]).toEqual([42, 14, 'l'])
    const moved = treeZip((a, b) => evaluate(add(a, b)), line(), g)
    expect(moved).toBeInstanceOf(Line)
    expect(moved.slope.item()).toBe(44)
  })
  it('compile once for a class and its fixed part, and inline', () => {
    let traces = 0
    const f = compile((ls: readonly Line[]) => {
      traces++
      return { y: sum(ls.map((l) => l.of(1)).reduce((a, b) => add(a, b))), line: ls[0]! }
    }, makeCpu())
    for (let i = 0; i < 3; i++) expect(f([line(), line()]).y.item()).toBe(6)
    expect(traces).toBe(1)
    expect(f([line(), new Line(tensor(2), tensor(1), 'm')]).line).toBeInstanceOf(Line)
    expect(traces).toBe(2)
    const outer = grad((s: cd.AnyExpr) => grad((l: Line) => square(l.of(s)))(new Line(s, zeros([]), 'i')).slope)
    expect(outer(2).item()).toBeCloseTo(24, 12) // d/ds of 2 (s s) s
  })
  it('vmap, paths of wrt, and paths in messages go through', () => {
    const ys = vmap((l: Line) => l.of(1), { inAxes: { slope: 0, at: null } as never })(new Line(tensor([1, 2]), tensor(1), 'l') as never)
    expect((ys as cd.Tensor).toArray()).toEqual([2, 3])
    const g = grad((p: { line: Line }) => square(p.line.of(3)), { wrt: 'line.slope' })({ line: line() })
    expect(g.item()).toBe(42)
    expect(() => grad((l: Line) => l.of(1))(new Line(tensor(1), Symbol('x') as never, 'l'))).toThrow(/argument 0.at: a symbol/)
  })
  it('a class that is not registered is an error that says how', () => {
    class Other {}
    expect(() => grad((() => sum(0)) as never)(new Other() as never)).toThrow(/class Other is not a plain record.*registerTree/s)
    expect(() => cd.registerTree(Line, { toTree: (l) => l, fromTree: (l) => l })).toThrow(/are trees already/)
    expect(() => cd.registerTree(Object as never, { toTree: (l) => l, fromTree: (l) => l as never })).toThrow(/are trees already/)
    expect(() => cd.registerTree(3 as never, { toTree: (l) => l, fromTree: (l) => l as never })).toThrow(/is not a class/)
    expect(() => cd.registerTree(Other, {} as never)).toThrow(/must be functions/)
  })
})
