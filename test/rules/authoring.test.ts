// What rule authors write: elementwise primitives of any arity, rules of several results, estimators, primitives without a meaning, zeros that stay zero.
import * as t from 'io-ts'
import { describe, expect, it } from 'vitest'
import { estimatesIn } from '../../src/core/calculus/rule.js'
import { linearize } from '../../src/core/graph/expr.js'
import type { Program } from '../../src/core/graph/program.js'
import {
  type AnyExpr,
  add,
  addTangents,
  applyPrimitive,
  atan2,
  aval,
  batchAll,
  type Codual,
  clipGradient,
  codualWith,
  concat,
  coreRegistry,
  cpu,
  customRule,
  definePlugin,
  div,
  elementwise,
  estimator,
  evaluate,
  exp,
  grad,
  gt,
  hessian,
  inline,
  jvp,
  makeCodual,
  mul,
  multiLinearRule,
  multiScalarRule,
  NoTangent,
  neg,
  perElement,
  pow,
  primitive,
  type Rule,
  reference,
  reverseGradient,
  round,
  rule,
  scalarRule,
  scaleTangent,
  sign,
  sin,
  slice,
  split,
  square,
  straightThrough,
  sub,
  sum,
  type Tensor,
  tanh,
  tensor,
  toJSON,
  toProgram,
  unary,
  vmap,
  where,
  ZeroTangent,
} from '../../src/index.js'

const outputsOf = (p: unknown) => (p as Program).outputs
const numbers = (x: unknown): unknown => (x as Tensor).toArray()
const near = (got: unknown, want: unknown): void => {
  const a = [numbers(got)].flat(9) as number[]
  const b = [want].flat(9) as number[]
  expect(a.length).toBe(b.length)
  a.forEach((x, i) => {
    if (Number.isFinite(b[i])) expect(x).toBeCloseTo(b[i]!, 10)
    else expect(x).toBe(b[i])
  })
}
const withRules = (...rules: readonly Rule[]): Codual => makeCodual(coreRegistry.with(...rules), cpu())

const polar = elementwise({
  name: 'polar',
  args: ['float', 'float'],
  results: ['float', 'float'],
  scalar: (x, y) => [Math.hypot(x!, y!), Math.atan2(y!, x!)],
  domain: [[0.5, 2]],
  source: 'definition',
})
const polarRule = multiScalarRule(polar, ({ x: [x, y], y: [r] }) => [
  [div(x, r!), div(y, r!)],
  [neg(div(y, square(r!))), div(x, square(r!))],
])
/** x to the power of n, times a factor, where a mask holds. */
const masked = elementwise({
  name: 'masked',
  args: ['float', 'int', 'float', 'int'],
  params: t.type({ scale: t.number }),
  paramSamples: [{ scale: 2 }],
  scalarWith:
    ({ scale }) =>
    (x, n, y, on) =>
      on === 0 ? 0 : scale * x! ** n! * y!,
  source: 'definition',
})
const maskedRule = scalarRule(masked, ({ x: [x, n, y, on], params: { scale } }) => [
  where(on, mul(scale, mul(mul(pow(x, sub(n, 1)), n), y)), 0),
  NoTangent,
  where(on, mul(scale, pow(x, n)), 0),
  NoTangent,
])

describe('elementwise', () => {
  it('lifts plain arguments, broadcasts, promotes, and keeps integers as they are', () => {
    const y = masked([2, 3], [[1], [2]], 10, [true, false], { scale: 1 })
    expect(y.shape).toEqual([2, 2])
    expect(numbers(evaluate(y))).toEqual([
      [20, 0],
      [40, 0],
    ])
    expect(evaluate(masked(tensor([2], 'f32'), 3, 0.5, true, { scale: 2 })).dtype).toBe('f32')
    const [r, a] = polar([3, 0], [4, 1])
    expect([r.dtype, a.dtype]).toEqual(['f64', 'f64'])
    near(evaluate(r), [5, 1])
    near(evaluate(a), [Math.atan2(4, 3), Math.PI / 2])
  })
  it('has results of dtypes of their own', () => {
    const parts = elementwise({
      name: 'parts',
      args: ['float'],
      results: ['float', 'i32'],
      scalar: (x) => [x! - Math.floor(x!), Math.floor(x!)],
      source: 'definition',
    })
    const mine = withRules(multiScalarRule(parts, () => [[1], NoTangent]))
    for (const backend of [cpu(), reference()]) {
      const [f, i] = mine.compile((x) => parts(x), backend)([2.5, -0.25])
      expect([f.dtype, numbers(f), i.dtype, numbers(i)]).toEqual(['f64', [0.5, 0.75], 'i32', [2, -1]])
    }
    const f = (x: AnyExpr) => {
      const [p, i] = parts(x)
      return sum(mul(p, i))
    }
    expect(numbers(mine.grad(f)([2.5, -0.25]))).toEqual([2, -1])
    expect(mine.jvp((x) => parts(x))([2.5], [1])[1][1]).toBe(NoTangent)
  })
  it('takes bool and i32 as numbers where it keeps integers', () => {
    const third = elementwise({
      name: 'third',
      args: ['float', 'float', 'float'],
      scalar: (x, y, z) => x! + y! * z!,
      integers: true,
      source: 'definition',
    })
    expect(evaluate(third(gt(1, 0), tensor([3], 'i32'), 2))).toMatchObject({ dtype: 'i32', shape: [1] })
    expect(evaluate(third(1, [3], 2)).dtype).toBe('f64')
  })
  it('says what it was given wrongly', () => {
    const at = (d: object) => () => elementwise({ name: 'x', args: ['float'], scalar: Math.sin, source: '', ...d } as never)
    expect(at({ args: ['flaot'] })).toThrow(/elementwise x: args are/)
    expect(at({ scalar: undefined })).toThrow(/it has neither of scalar and scalarWith/)
    expect(at({ params: t.type({}) })).toThrow(/it has one of scalarWith and params/)
    expect(at({ results: ['float'], result: 'bool' })).toThrow(/it has result and results/)
    expect(at({ resutl: 'bool' })).toThrow(/perhaps you meant result/)
    expect(() => (masked as unknown as (...xs: unknown[]) => unknown)(1, 2)).toThrow(/masked: takes 4 arguments and its parameters, got 2/)
    expect(() => masked(1, 2, 3, true, {} as never)).toThrow(/they are { scale: number }/)
  })
  it('is written as JSON and read again, with parameters and several results', () => {
    const mine = withRules(polarRule, maskedRule)
    const f = (x: AnyExpr) => [...polar(x, 4), masked(x, 2, x, true, { scale: 3 })]
    const read = mine.fromJSON(JSON.parse(JSON.stringify(toJSON(toProgram(f)([3])))), [polar.primitive, masked.primitive])
    if (read._tag === 'Left') throw new Error(JSON.stringify(read.left))
    const ys = (mine.fromProgram(read.right) as unknown as (x: readonly number[]) => readonly Tensor[])([3])
    expect(ys.map((y) => numbers(y))).toEqual([[5], [Math.atan2(4, 3)], [81]])
  })
  it('has a kernel for each result, from one row', () => {
    const plugin = definePlugin({
      name: 'mine',
      ops: { polar },
      rules: { polar: polarRule },
      kernels: {
        cpu: { polar: perElement() },
        webgpu: {
          polar: inline(({ x }: { readonly x: readonly string[] }) => [`length(vec2(${x[0]}, ${x[1]}))`, `atan2(${x[1]}, ${x[0]})`]),
        },
      },
    })
    const rows = [...plugin.kernels.webgpu!].map(([p, facet]) => [
      p.name,
      (facet as { code: (at: object) => string }).code({ x: ['a', 'b'] }),
    ])
    expect(rows).toEqual([
      ['polar.0', 'length(vec2(a, b))'],
      ['polar.1', 'atan2(b, a)'],
    ])
    near(codualWith(plugin).grad((x) => sum(polar(x, 4)[0]))([3]), [0.6])
  })
})

describe('multiScalarRule', () => {
  const mine = withRules(polarRule, maskedRule)
  const f = (x: AnyExpr) => {
    const [r, a] = polar(x, mul(x, x))
    return sum(mul(sin(r), a))
  }
  // The same from shipped operations.
  const g = (v: AnyExpr) => {
    const y = mul(v, v)
    const r = pow(sum(square(concat([v, y]))), 0.5)
    return mul(sin(r), sum(atan2(y, v)))
  }
  it('gives derivatives of any order in every mode', () => {
    for (const mode of ['mixed', 'reverse', 'forward'] as const) {
      near(mine.grad(f, { mode })([0.7]), numbers(grad(g as never)([0.7])))
    }
    near(mine.hessian(f)([0.7]), numbers(hessian(g as never)([0.7])))
    near(mine.jacrev((x) => polar(x, [1, 2])[1])([3, 4]), [-0.1, 0, 0, -0.1])
    near(mine.jacfwd((x) => polar(x, [1, 2])[1])([3, 4]), [-0.1, 0, 0, -0.1])
  })
  it('is batched, and an argument that is the same for all has the sum', () => {
    near(mine.vmap((x) => polar(x, [1, 2])[0])([3, 4]), [Math.hypot(3, 1), Math.hypot(3, 2), Math.hypot(4, 1), Math.hypot(4, 2)])
    near(mine.grad((y) => sum(mine.vmap((x) => polar(x, y)[0])([3, 4])))(2), 2 / Math.hypot(3, 2) + 2 / Math.hypot(4, 2))
  })
  it('builds only what somebody asks for', () => {
    const built: string[] = []
    const partial = (name: string, x: AnyExpr): AnyExpr => {
      built.push(name)
      return x
    }
    const lazy = withRules(multiScalarRule(polar, ({ x: [x, y] }) => [[partial('a', x), partial('b', y)], ZeroTangent]))
    const names = (h: (x: AnyExpr) => AnyExpr): number => {
      return linearize(outputsOf(lazy.toProgram(lazy.grad(h))([3]))).nodes.filter((n) => n.prim?.name === 'mul').length
    }
    expect(names((x) => sum(polar(x, 4)[0]))).toBe(1)
    expect(names((x) => sum(polar(4, x)[0]))).toBe(1)
    expect(names((x) => sum(polar(x, x)[0]))).toBe(2)
    const before = built.length
    expect(numbers(lazy.grad((x) => sum(polar(x, x)[1]))([3]))).toEqual([0])
    expect(built.length - before).toBeLessThanOrEqual(2)
  })
  it('has partials beside integers and masks', () => {
    const x = [2, 3]
    const h = (v: AnyExpr) => sum(masked(v, [2, 3], v, [true, false], { scale: 0.5 }))
    expect(numbers(mine.grad(h)(x))).toEqual([6, 0])
    expect(numbers(mine.jvp(h)(x, [1, 1])[1])).toBe(6)
  })
})

describe('multiLinearRule', () => {
  const halves = primitive({
    name: 'halves',
    family: 'mine',
    args: ['float'],
    multi: true,
    shapeRule: ([x]) => [0, 1].map(() => aval([x!.shape[0]! / 2], x!.dtype)),
    expand: ([x]) => split(x!, 2),
    source: 'definition',
  })
  const seen: number[] = []
  const halvesRule = multiLinearRule(halves, {
    transpose: (yBars) => {
      seen.push(yBars.filter((y) => y._tag === 'Expr').length)
      return [concat(yBars)]
    },
    batch: ([x]) => split(x, 2, { axis: 1 }),
  })
  const mine = withRules(halvesRule)
  const parts = (x: unknown) => applyPrimitive(halves, [x])
  it('transposes with zeros where a result has no cotangent, and not at all where none has', () => {
    expect(numbers(mine.grad((x) => sum(square(parts(x)[1]!)))([1, 2, 3, 4]))).toEqual([0, 0, 6, 8])
    expect(seen.every((n) => n === 2) && seen.length > 0).toBe(true)
    seen.length = 0
    expect(numbers(mine.grad((x) => sum(mul(0, sum(where(true, 1, parts(x)[0])))))([1, 2]))).toEqual([0, 0])
  })
  it('pushes tangents, batches, and has second derivatives', () => {
    expect(
      mine
        .jvp((x) => parts(x))([1, 2], [3, 4])[1]
        .map(numbers),
    ).toEqual([[3], [4]])
    expect(
      numbers(
        mine.vmap((x) => parts(x)[0])([
          [1, 2],
          [3, 4],
        ]),
      ),
    ).toEqual([[1], [3]])
    expect(numbers(mine.hessian((x) => sum(mul(parts(x)[0], parts(x)[1]!)))([1, 2]))).toEqual([
      [0, 1],
      [1, 0],
    ])
  })
})

describe('estimators', () => {
  const modes = ['mixed', 'reverse', 'forward'] as const
  it.each(modes)('straightThrough has the value of f and the derivative of the surrogate: %s', (mode) => {
    const q = straightThrough((v: AnyExpr) => round(v))
    expect(numbers(grad((x: AnyExpr) => sum(mul(q(x), x)), { mode })([1.4, 2.6]))).toEqual([2.4, 5.6])
    const s = straightThrough(
      (v: AnyExpr) => sign(v),
      (v) => tanh(v),
    )
    near(hessian((x: AnyExpr) => sum(s(x)))([0.3]), [-2 * Math.tanh(0.3) * (1 - Math.tanh(0.3) ** 2)])
    const two = straightThrough(
      (v: AnyExpr, w: AnyExpr) => mul(round(v), w),
      (v, w) => mul(v, w),
    )
    expect(numbers(grad((x: AnyExpr) => sum(two(x, mul(x, 2))), { mode })([1.4]))).toEqual([5.6])
  })
  it('are batched', () => {
    const s = straightThrough(
      (v: AnyExpr) => round(v),
      (v) => mul(v, 3),
    )
    expect(numbers(vmap((x: AnyExpr) => grad((y: AnyExpr) => sum(s(y)))(x))([[1], [2]]))).toEqual([[3], [3]])
    expect(numbers(vmap((x: AnyExpr, k: AnyExpr) => grad((y: AnyExpr) => sum(reverseGradient(y, k)))(x))([[1], [2]], [0.5, 2]))).toEqual([
      [-0.5],
      [-2],
    ])
  })
  it('clipGradient clamps cotangents, at every leaf of a tree, and has none in forward mode', () => {
    const clipped = grad((p: { readonly a: AnyExpr; readonly b: AnyExpr }) => {
      const { a, b } = clipGradient(p, 1)
      return sum(square(mul(a, b)))
    })
    const { a, b } = clipped({ a: [0.1, 3], b: 2 })
    expect([numbers(a), numbers(b)]).toEqual([[0.8, 1], 1])
    expect(() => jvp((x: AnyExpr) => clipGradient(x, 1))([1], [1])).toThrow(/NotImplemented: clipGradient: it changes cotangents/)
    expect(() => clipGradient(1, -1)).toThrow(/limit is -1/)
  })
  it('reverseGradient negates and scales, keeps f32, and has no derivative by its scale', () => {
    expect(numbers(grad((x: AnyExpr) => sum(reverseGradient(x, 0.5)))([1, 2]))).toEqual([-0.5, -0.5])
    expect(grad((x: AnyExpr) => sum(reverseGradient(x, 0.5)))(new Float32Array([1])).dtype).toBe('f32')
    const both = grad((x: AnyExpr, s: AnyExpr) => sum(reverseGradient(x, s)), { wrt: [0, 1] })
    const { 0: dx, 1: ds } = both([1, 2], 0.25)
    expect([numbers(dx), numbers(ds)]).toEqual([[-0.25, -0.25], 0])
    expect(() => reverseGradient(1, 'x' as never)).toThrow(/reverseGradient: scale/)
  })
  it('are known as what they are, also in programs inside others, and what is no estimator is not', () => {
    const steps = unary({ name: 'steps', scalar: (x) => Math.floor(x!), source: 'definition' })
    const registry = coreRegistry.with(estimator(scalarRule(steps, () => [1])))
    const found = (f: (x: AnyExpr) => AnyExpr, r = registry) => estimatesIn(r, outputsOf(toProgram(f)([1])))
    expect(found((x) => steps(x))).toEqual(['steps'])
    expect(found((x) => clipGradient(reverseGradient(x), 1))).toEqual(['reverseGradient', 'clipGradient'])
    expect(found((x) => straightThrough((v: AnyExpr) => round(v))(x))).toEqual(['straightThrough(f)'])
    expect(found((x) => customRule((v: AnyExpr) => clipGradient(v, 1), { frule: (v, dv) => [v, dv] })(x))).toEqual(['clipGradient'])
    expect(found((x) => customRule((v: AnyExpr) => sin(v), { frule: (v, dv) => [sin(v), dv], estimates: true, name: 'wave' })(x))).toEqual([
      'wave',
    ])
    expect(found((x) => customRule((v: AnyExpr) => sin(v), { frule: (v, dv) => [sin(v), dv] })(x))).toEqual([])
    expect(found((x) => vmap((v: AnyExpr) => clipGradient(v, 1))(x))).toEqual(['clipGradient'])
    // Another derivative replaces the estimate.
    expect(found((x) => steps(x), registry.with(scalarRule(steps, () => [0])))).toEqual([])
  })
})

describe('zeros stay zero beside an infinite partial', () => {
  const root = unary({ name: 'root', scalar: (x) => Math.sqrt(x!), source: 'definition' })
  const logarithm = unary({ name: 'logarithm', scalar: (x) => Math.log(x!), source: 'definition' })
  const inverse = unary({ name: 'inverse', scalar: (x) => 1 / x!, source: 'definition' })
  const both = elementwise({
    name: 'bothOf',
    args: ['float'],
    results: ['float', 'float'],
    scalar: (x) => [Math.sqrt(x!), Math.log(x!)],
    source: 'definition',
  })
  const mine = withRules(
    scalarRule(root, ({ y }) => [mul(0.5, inverse(y))]),
    scalarRule(logarithm, ({ x: [x] }) => [inverse(x)]),
    scalarRule(inverse, ({ y }) => [neg(mul(y, y))]),
    multiScalarRule(both, ({ x: [x], y: [r] }) => [[mul(0.5, inverse(r!))], [inverse(x)]]),
  )
  const positive = (x: AnyExpr): AnyExpr => gt(x, 0)
  const functions: readonly (readonly [string, (x: AnyExpr) => AnyExpr])[] = [
    ['root', (x) => root(x)],
    ['logarithm', (x) => logarithm(x)],
    ['the root of two results', (x) => both(x)[0]],
    ['the logarithm of two results', (x) => both(x)[1]],
  ]
  describe.each(functions)('%s', (_name, f) => {
    it.each(['mixed', 'reverse', 'forward'] as const)('inside a where: %s', (mode) => {
      const g = mine.grad((x) => sum(where(positive(x), f(x), 0)), { mode })
      const [zero, one] = numbers(g([0, 1])) as readonly number[]
      expect(zero).toBe(0)
      expect(Number.isFinite(one)).toBe(true)
    })
    it('of the second order', () => {
      const h = numbers(mine.hessian((x) => sum(where(positive(x), f(x), 0)))([0, 1])) as readonly (readonly number[])[]
      expect([h[0]![0], h[0]![1], h[1]![0], Number.isFinite(h[1]![1])]).toEqual([0, 0, 0, true])
    })
    it('beside what a slice or a pad filled up', () => {
      expect((numbers(mine.grad((x) => sum(slice(f(x), [1], [2])))([0, 1])) as readonly number[])[0]).toBe(0)
      expect((numbers(mine.jvp((x) => f(x))([0, 1], [0, 1])[1]) as readonly number[])[0]).toBe(0)
    })
  })
  it('a primitive that says it is bounded has ordinary products', () => {
    const half = (unbounded?: boolean) => {
      const op = unary({ name: 'half', scalar: (x) => x! / 2, source: 'definition', ...(unbounded !== undefined && { unbounded }) })
      const c = withRules(scalarRule(op, ({ x: [x] }) => [op(x)]))
      return linearize(outputsOf(c.toProgram(c.grad((x) => sum(slice(op(x), [1], [2]))))([1, 2]))).nodes.some(
        (n) => n.prim?.name === 'strongMul',
      )
    }
    expect([half(), half(true), half(false)]).toEqual([true, true, false])
  })
})

describe('a primitive that is made of others needs no meaning, rule or kernel', () => {
  const swish = primitive({
    name: 'swish',
    family: 'mine',
    args: ['float'],
    shapeRule: ([x]) => x!,
    expand: ([x]) => div(x!, add(1, exp(neg(x!)))),
    source: 'definition',
  })
  it('by expand alone: every backend computes it', () => {
    const f = (x: AnyExpr) => applyPrimitive(swish, [x])[0]
    for (const backend of [cpu(), reference()]) near(makeCodual(coreRegistry, backend).compile(f)([0, 1]), [0, 1 / (1 + Math.exp(-1))])
  })
  it('by a row of lower: rules and batch follow', () => {
    const plugin = definePlugin({ name: 'mine', ops: { swish }, lower: { swish: ([x]) => div(x, add(1, exp(neg(x)))) }, rules: {} })
    const mine = codualWith(plugin)
    const f = (x: AnyExpr) => sum(applyPrimitive(swish, [x])[0])
    near(mine.grad(f)([0]), [0.5])
    near(mine.vmap((x) => applyPrimitive(swish, [x])[0])([0, 1]), [0, 1 / (1 + Math.exp(-1))])
  })
})

describe('what rules that are written out are made of', () => {
  it('batchAll, addTangents, scaleTangent', () => {
    const dotted = primitive({
      name: 'dotted',
      family: 'mine',
      args: ['float', 'float'],
      shapeRule: ([x]) => aval([], x!.dtype),
      expand: ([a, b]) => sum(mul(a!, b!)),
      source: 'definition',
    })
    const dot = (a: unknown, b: unknown) => applyPrimitive(dotted, [a, b])[0]
    const dotRule = rule(dotted, {
      frule: ([a, b], [da, db], _params, { y }) => [
        y,
        addTangents(da._tag === 'Expr' ? dot(da, b) : da, db._tag === 'Expr' ? dot(a, db) : db),
      ],
      rrule: ([a, b], _params, { y, config }) => [y, (yBar) => [scaleTangent(yBar, b, config), scaleTangent(yBar, a, config)]],
      batch: (xs, batched, _params, size) => {
        const [a, b] = batchAll(xs, batched, size)
        return sum(mul(a!, b!), { axis: 1 })
      },
    })
    const mine = withRules(dotRule)
    expect(numbers(mine.grad((x) => dot(x, x))([1, 2]))).toEqual([2, 4])
    expect(numbers(mine.jvp((x) => dot(x, [3, 4]))([1, 2], [1, 0])[1])).toBe(3)
    expect(
      numbers(
        mine.vmap((x) => dot(x, [3, 4]))([
          [1, 2],
          [5, 6],
        ]),
      ),
    ).toEqual([11, 39])
    expect(addTangents(ZeroTangent, ZeroTangent)).toBe(ZeroTangent)
  })
})
