/** Loops that end by a condition: what they give, and that derivatives are those of the steps that were taken. */
import { isRight } from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { scanPrimitive } from '../../src/core/ops/control/control.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Call = (...xs: readonly unknown[]) => never
type While = readonly [state: E, ended: { readonly steps: E; readonly done: E }]
const ops = cd as unknown as Readonly<Record<string, Call>>
const { add, compile, div, evaluate, grad, gt, jvp, log, lt, mul, sin, sqrt, sub, sum, tensor, vmap } = ops
const whileLoop = cd.whileLoop as unknown as (...xs: readonly unknown[]) => While
const plain = (x: unknown): unknown =>
  cd.isTensor(x)
    ? x.toArray()
    : Array.isArray(x)
      ? x.map(plain)
      : typeof x === 'object' && x !== null
        ? Object.fromEntries(Object.entries(x).map(([k, v]) => [k, plain(v)]))
        : x
const on = (backend: unknown, f: unknown, ...args: readonly unknown[]): unknown => plain((compile!(f, backend) as Call)(...args))
/** The same tree, each fraction to the digits in which two libraries' functions agree. */
const beside = (x: unknown): unknown =>
  Array.isArray(x)
    ? x.map(beside)
    : typeof x === 'number'
      ? Number.isInteger(x) || !Number.isFinite(x)
        ? x
        : expect.closeTo(x, 11)
      : typeof x === 'object' && x !== null
        ? Object.fromEntries(Object.entries(x).map(([k, v]) => [k, beside(v)]))
        : x
/** The numbers of both backends, which must agree. */
const run = (f: unknown, ...args: readonly unknown[]): unknown => {
  const want = on(cd.reference(), f, ...args)
  expect(on(cd.cpu(), f, ...args)).toEqual(beside(want))
  return want
}
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}
/** Doubles until it is at least the limit. */
const doubled = (x: E, limit: unknown, maxSteps?: number): While =>
  whileLoop(
    (v: E) => lt!(v, limit),
    (v: E) => mul!(v, 2),
    x,
    maxSteps === undefined ? undefined : { maxSteps },
  )

describe('whileLoop', () => {
  it('gives the state, the number of steps, and whether its condition ended it', () => {
    const f = (n: number) => (x: E) => doubled(x, 100, n)
    expect(run(f(10), 3)).toEqual([192, { steps: 6, done: true }])
    expect(run(f(6), 3)).toEqual([192, { steps: 6, done: true }])
    expect(run(f(5), 3)).toEqual([96, { steps: 5, done: false }])
    expect(run(f(0), 3)).toEqual([3, { steps: 0, done: false }])
    expect(run(f(0), 300)).toEqual([300, { steps: 0, done: true }])
    expect(run(f(4), 300)).toEqual([300, { steps: 0, done: true }])
  })
  it('carries a tree, with integers beside floats, and captures', () => {
    const w = tensor!([1, 2])
    const f = (x: E) =>
      whileLoop(
        ({ k }: Record<string, E>) => lt!(k, 3),
        ({ k, h }: Record<string, E>) => ({ k: add!(k, 1), h: add!(mul!(h, x), w) }),
        { k: tensor!(0, [], 'i32'), h: [0, 0] },
        { maxSteps: 8 },
      )
    expect(run(f, 2)).toEqual([
      { k: 3, h: [7, 14] },
      { steps: 3, done: true },
    ])
  })
  it('takes the dtype of what comes back where nobody gave one', () => {
    const step = tensor!(0.25, [], 'f32')
    const [x] = whileLoop(
      (v: E) => lt!(v, 1),
      (v: E) => add!(v, step),
      0,
      { maxSteps: 9 },
    )
    expect([x.dtype, plain(evaluate!(x))]).toEqual(['f32', 1])
  })
  it('ends where a comparison with NaN is asked', () => {
    const f = (x: E) =>
      whileLoop(
        (v: E) => gt!(v, -5),
        (v: E) => log!(v),
        x,
        { maxSteps: 50 },
      )
    const [x, ended] = run(f, 2) as [number, unknown]
    expect([x, ended]).toEqual([Number.NaN, { steps: 3, done: true }])
  })
  it('is written without a limit, for all but reverse mode', () => {
    const f = (x: E) => doubled(x, 1000)
    const first = (x: E) => f(x)[0]
    expect(on(cd.reference(), f, 3)).toEqual([1536, { steps: 9, done: true }])
    expect(on(cd.reference(), (x: E) => (jvp!(first) as Call)(x, 1), 3)).toEqual([1536, 512])
    expect(on(cd.reference(), (x: E) => (grad!(first, { mode: 'forward' }) as Call)(x), 3)).toBe(512)
    expect(on(cd.reference(), vmap!(f), [3, 900, 2000])).toEqual([[1536, 1800, 2000], { steps: [9, 1, 0], done: [true, true, true] }])
    expect(message(() => (grad!(first) as Call)(3))).toContain('give { maxSteps }')
    // What does not go through the loop has its gradient.
    expect(
      on(
        cd.reference(),
        grad!((x: E) => mul!(mul!(x, x), f(x)[1].steps)),
        3,
      ),
    ).toBe(54)
  })
  it('is saved and read again', () => {
    const f = (x: E) => doubled(x, 100, 9)[0]
    for (const [h, given] of [
      [f, 0.5],
      [grad!(f), 0.5],
      [vmap!(f), [1, 2]],
    ] as const) {
      const p = (cd.toProgram as unknown as Call)(h) as unknown as Call
      const back = cd.fromJSON(JSON.parse(JSON.stringify(cd.toJSON(p(given) as never))) as never)
      if (!isRight(back)) throw new Error(JSON.stringify(back.left))
      const again = (cd.fromProgram as unknown as Call)(back.right) as unknown as Call
      expect(plain((again as Call)(given))).toEqual(run(h, given))
    }
  })
})

describe('derivatives of a loop with a condition', () => {
  // x 2^n while it is below 100
  const f = (x: E) => doubled(x, 100, 12)[0]
  it('are those of the steps that were taken', () => {
    for (const mode of ['forward', 'reverse', 'mixed']) expect(run(grad!(f, { mode }), 3)).toBe(64)
    expect(run(grad!(f), 200)).toBe(1)
    const g = (x: E) => sum!(sin!(doubled(x, 100, 12)[0]))
    expect(run(grad!(grad!(g)), 3)).toBeCloseTo(-4096 * Math.sin(192), 9)
    expect(run(grad!(grad!(g, { mode: 'forward' })), 3)).toBeCloseTo(-4096 * Math.sin(192), 9)
  })
  it('reach the beginning and what is captured where no step is taken, and what steps replace', () => {
    const h = (x: E, w: E, v: E) =>
      whileLoop(
        (s: E) => gt!(s, 0),
        () => sub!(mul!(w, v), 100),
        x,
        { maxSteps: 4 },
      )[0]
    expect(run(grad!(h, { wrt: [0, 1, 2] }), -1, 2, 3)).toEqual({ 0: 1, 1: 0, 2: 0 })
    expect(run(grad!(h, { wrt: [0, 1, 2] }), 1, 2, 3)).toEqual({ 0: 0, 1: 3, 2: 2 })
  })
  it('have nothing of steps that were not taken, not even a NaN', () => {
    // Below 1 the next step is the square root of something negative.
    const h = (x: E) =>
      whileLoop(
        (s: E) => gt!(s, 1),
        (s: E) => mul!(s, sqrt!(sub!(s, 1))),
        x,
        { maxSteps: 9 },
      )[0]
    const s = 1.4
    const want = Math.sqrt(s - 1) + s / (2 * Math.sqrt(s - 1))
    for (const mode of ['forward', 'reverse', 'mixed']) {
      expect(run(grad!(h, { mode }), s)).toBeCloseTo(want, 12)
      expect(run(grad!(h, { mode }), 0.5)).toBe(1)
    }
    expect(run(grad!(grad!(h)), 0.5)).toBe(0)
    // What is captured is singular, and nobody reads it.
    const k = (x: E, w: E) =>
      whileLoop(
        (u: E) => gt!(u, 0),
        (u: E) => sub!(u, sqrt!(w)),
        x,
        { maxSteps: 3 },
      )[0]
    for (const mode of ['forward', 'reverse', 'mixed']) expect(run(grad!(k, { wrt: 1, mode }), -1, 0)).toBe(0)
  })
  it('are those of Newton steps to a root, as long as it takes', () => {
    // sqrt(a) by Newton; d/da = 1 / (2 sqrt(a))
    const root = (a: E) =>
      whileLoop(
        (x: E) => gt!(ops.abs!(sub!(mul!(x, x), a)), 1e-9),
        (x: E) => mul!(0.5, add!(x, div!(a, x))),
        1,
        { maxSteps: 30 },
      )[0]
    expect(run(grad!(root), 9)).toBeCloseTo(1 / 6, 9)
    expect(run((a: E) => (vmap!(grad!(root)) as Call)(a), [2, 4, 900])).toEqual([
      expect.closeTo(0.5 / Math.SQRT2, 9),
      expect.closeTo(0.25, 9),
      expect.closeTo(1 / 60, 9),
    ])
  })
})

describe('vmap of a loop with a condition', () => {
  const f = (x: E, limit: unknown) => doubled(x, limit, 6)
  it('goes on until all examples have ended', () => {
    expect(run(vmap!(f), [1, 3, 7], [4, 2, 1000])).toEqual([[4, 3, 448], { steps: [2, 0, 6], done: [true, true, false] }])
    expect(run(vmap!(f, { inAxes: [0, null] }), [1, 3, 7], 6)).toEqual([[8, 6, 7], { steps: [3, 1, 0], done: [true, true, true] }])
    expect(run(vmap!(f, { inAxes: [null, 0] }), 1, [4, 2, 1])).toEqual([[4, 2, 1], { steps: [2, 1, 0], done: [true, true, true] }])
  })
  it('with gradients of each example', () => {
    const g = (x: E, limit: E) => sum!((vmap!((a: E, b: E) => sin!(f(a, b)[0])) as Call)(x, limit))
    const want: unknown = [4, 1, 64].map((k, i) => k * Math.cos(k * [1, 3, 7][i]!))
    for (const mode of ['forward', 'reverse', 'mixed'])
      expect(run(grad!(g as never, { mode }), [1, 3, 7], [4, 2, 1000])).toEqual(beside(want))
    const one = (x: E) => sin!(f(x, 5)[0])
    const each = vmap!(grad!(one))
    expect(run(each, [1, 3, 7])).toEqual(beside([8 * Math.cos(8), 2 * Math.cos(6), Math.cos(7)]))
  })
  it('twice, and with a tree of which one leaf alone has the axis', () => {
    const rows = vmap!(vmap!((x: E) => f(x, 5)[1].steps))
    expect(
      run(rows, [
        [1, 2],
        [3, 9],
      ]),
    ).toEqual([
      [3, 2],
      [1, 0],
    ])
    const h = (x: E) =>
      whileLoop(
        ({ k }: Record<string, E>) => lt!(k, 2),
        ({ k, s }: Record<string, E>) => ({ k: add!(k, 1), s: mul!(s, x) }),
        { k: 0, s: 1 },
        { maxSteps: 5 },
      )
    expect(run(vmap!(h), [2, 3])).toEqual([
      { k: [2, 2], s: [4, 9] },
      { steps: [2, 2], done: [true, true] },
    ])
  })
})

describe('steps that a slice marks', () => {
  // The carry moves, and something is stacked, where the mark is true: what the way back of a loop is made of.
  const { params } = scanPrimitive.samples.find((s) => s.note === 'the steps that a slice marks')!
  const loop = (...args: readonly E[]) => cd.applyPrimitive(scanPrimitive, args as never, params as never)
  const h = tensor!([0.3, -0.7])
  const xs = tensor!([[0.1, 0.2], [0.4, -0.3], [1, 2], [-1, 0.5]]) // biome-ignore format: one row a line
  const marks = [[true, false, true, false], [false, true, true, true], [false, false, false, false]] // biome-ignore format: one row a line
  it('stack zeros at the others, on both backends and for each example', () => {
    const one = (m: E) => loop(h, m, xs)
    const each = marks.map((m) => run(one, tensor!(m, [4], 'bool')) as readonly [unknown, readonly unknown[]])
    for (const [i, [, rows]] of each.entries()) for (const [k, row] of rows.entries()) if (!marks[i]![k]) expect(row).toEqual([0, 0])
    expect(run(vmap!(one), tensor!(marks, [3, 4], 'bool'))).toEqual([each.map((e) => beside(e[0])), each.map((e) => beside(e[1]))])
    expect(each[2]![0]).toEqual([0.3, -0.7])
  })
})

describe('what does not fit is one error', () => {
  const ok = (v: E): E => lt!(v, 1)
  const next = (v: E): E => add!(v, 1)
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    ['a condition of an array', () => whileLoop((v: E) => lt!(v, 1), next, [0, 0]), 'whileLoop: the condition returned bool [2].'],
    ['a condition that is a number', () => whileLoop((v: E) => v, next, 0), 'whileLoop: the condition returned f64 []'],
    [
      'another shape',
      () =>
        whileLoop(
          ({ h }: Record<string, E>) => ok(h!),
          ({ h }: Record<string, E>) => ({ h: ops.stack!([h, h]) }),
          { h: 0 },
        ),
      'whileLoop: the state that body returned at h is f64 [2], it must be f64 [].',
    ],
    [
      'another dtype',
      () => whileLoop(ok, (v: E) => mul!(v, tensor!(0.5)), tensor!(0, [], 'i32')),
      'whileLoop: the state that body returned is f64 [], it must be i32 []',
    ],
    ['another tree', () => whileLoop(ok, (v: E) => [v], 0), 'whileLoop: the state that body returned is'],
    ['no function', () => whileLoop(ok, 3, 0), 'whileLoop: body must be a function, not 3.'],
    ['no condition', () => whileLoop(3, next, 0), 'whileLoop: the condition must be a function, not 3.'],
    ['an option that is none', () => whileLoop(ok, next, 0, { max: 2 }), 'whileLoop: there is no option max.'],
    ['a limit below 0', () => whileLoop(ok, next, 0, { maxSteps: -1 }), 'whileLoop: maxSteps is -1.'],
    ['a fraction of steps', () => whileLoop(ok, next, 0, { maxSteps: 1.5 }), 'whileLoop: maxSteps must be a whole number, not 1.5.'],
  ]
  it.each(cases)('%s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})
