/** Proximal operators: subgradients and Moreau's decomposition, derivatives by the checker, what holds at kinks, and edges. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as sets from '../../src/minimize/projections.js'
import * as operators from '../../src/minimize/proximal.js'
import { some } from '../depth.js'
import { type E, message, near, onCpu, ops, run, value } from '../solve/run.js'
import { dot, drawing, matrix, minus, vector } from './drawn.js'

type Call = (x: unknown, options?: unknown) => E
const { proxElasticNet, proxGroupLasso, proxHuber, proxL1, proxL2, proxNuclear, proxSquaredL2, projectL2Ball, projectLInfBall } = {
  ...operators,
  ...sets,
} as unknown as Readonly<Record<string, Call>>
const { jacfwd, jacrev, mul, sum, tensor, vmap, grad, svdvals } = ops as Record<string, (...xs: readonly unknown[]) => E>
const numbers = (x: unknown): number[] => value(x) as unknown as number[]
const add = (xs: readonly number[]): number => xs.reduce((s, v) => s + v, 0)

const draw = drawing(11)
const points = Array.from({ length: 20 }, (_, k) => vector(draw, 5, k < 10 ? 1 : 4))
const scales = [0.2, 1, 3]
const groups = [0, 1, 0, 2, 1]
const weights = [1, 0.5, 2]
const inGroups = (x: readonly number[]): number[][] => [0, 1, 2].map((g) => x.filter((_, i) => groups[i] === g))
const length = (x: readonly number[]): number => Math.hypot(...x)

/** y is the proximal point of scale times a norm at x: its subgradient (x - y) / scale has a dual norm of at most 1, and norms y. */
const proximal = (
  x: readonly number[],
  y: readonly number[],
  scale: number,
  norm: (x: readonly number[]) => number,
  dual: (x: readonly number[]) => number,
): void => {
  const slope = minus(x, y).map((v) => v / scale)
  expect(dual(slope)).toBeLessThan(1 + 1e-12)
  near(dot(slope, y), norm(y), 1e-12)
}
describe('the proximal point', () => {
  it.each(scales)('of norms, times %d', (scale) => {
    const sizes = (x: readonly number[]): number[] => x.map(Math.abs)
    for (const x of points) {
      proximal(x, numbers(proxL1!(x, { scale })), scale, (v) => add(sizes(v)), (v) => Math.max(...sizes(v))) // biome-ignore format: one row
      proximal(x, numbers(proxL2!(x, { scale })), scale, length, length)
      const each = (v: readonly number[]): number[] => inGroups(v).map(length)
      const y = numbers(proxGroupLasso!(x, { scale, groups, weights }))
      proximal(x, y, scale, (v) => dot(each(v), weights), (v) => Math.max(...each(v).map((s, g) => s / weights[g]!))) // biome-ignore format: one row
      near(inGroups(numbers(proxGroupLasso!(x, { scale, groups }))), inGroups(x).map((v) => numbers(proxL2!(v, { scale }))), 1e-15) // biome-ignore format: one row
    }
  })
  it.each(scales)('of the nuclear norm, times %d: wide, tall, square, and with equal singular values', (scale) => {
    const shapes = [[2, 4], [4, 2], [3, 3], [1, 3]] as const // biome-ignore format: shapes
    const values = (m: readonly (readonly number[])[]): number[] => numbers(svdvals!(m))
    for (const x of [
      ...shapes.map(([m, n]) => matrix(draw, m, n, 3)),
      [
        [2, 0, 0],
        [0, 0, 2],
      ],
    ]) {
      // biome-ignore format: a matrix
      const y = value(proxNuclear!(x, { scale })) as unknown as number[][]
      const slope = x.map((row, i) => minus(row, y[i]!).map((v) => v / scale))
      expect(Math.max(...values(slope))).toBeLessThan(1 + 1e-12)
      near(dot(slope.flat(), y.flat()), add(values(y)), 1e-12)
    }
  })
  it.each(scales)('of smooth functions, times %d', (scale) => {
    for (const x of points) {
      const ridge = numbers(proxSquaredL2!(x, { scale }))
      near(minus(x, ridge), ridge.map((v) => scale * v), 1e-14) // biome-ignore format: one row
      const huber = numbers(proxHuber!(x, { scale, delta: 0.7 }))
      near(minus(x, huber), huber.map((v) => scale * Math.min(0.7, Math.max(-0.7, v))), 1e-14) // biome-ignore format: one row
      const net = numbers(proxElasticNet!(x, { scale, l1: 0.4, l2: 0.6 }))
      for (const [i, y] of net.entries()) {
        const slope = ((x[i]! - y) / scale - 0.6 * y) / 0.4
        if (y === 0) expect(Math.abs(slope)).toBeLessThan(1 + 1e-12)
        else near(slope, Math.sign(y), 1e-12)
      }
    }
  })
  it.each(scales)('and the rest is the projection onto the ball of the dual norm, of radius %d', (radius) => {
    for (const x of points) {
      near(minus(x, numbers(proxL1!(x, { scale: radius }))), numbers(projectLInfBall!(x, { radius })), 1e-15)
      near(minus(x, numbers(proxL2!(x, { scale: radius }))), numbers(projectL2Ball!(x, { radius })), 1e-15)
    }
  })
  it('a scale of 1 unless given; one for each element; 0 leaves x', () => {
    expect(value(proxL1!([3, -0.5, -2]))).toEqual([2, 0, -1])
    expect(value(proxL1!([3, -0.5, -2], { scale: [0, 0.25, 3] }))).toEqual([3, -0.25, 0])
    for (const x of points) {
      const all = [proxL1!(x, { scale: 0 }), proxL2!(x, { scale: 0 }), proxSquaredL2!(x, { scale: 0 }), proxElasticNet!(x, { scale: 0 })]
      for (const y of [...all, proxHuber!(x, { scale: 0 }), proxGroupLasso!(x, { scale: 0, groups })]) expect(numbers(y)).toEqual(x)
      near(value(proxNuclear!([x, points[0]], { scale: 0 })), [x, points[0]], 1e-14)
    }
  })
})

/** Each operator, with points where it is smooth, and points on kinks. */
const cases: Readonly<Record<string, { f: (x: E) => E; smooth: readonly unknown[]; kinks?: readonly unknown[] }>> = {
  proxL1: { f: (x) => proxL1!(x, { scale: 1 }), smooth: [[3, 0, -2]], kinks: [[1, -1, 0.5]] },
  proxL2: { f: (x) => proxL2!(x, { scale: 5 }), smooth: [[3, 1, -2], [4, 5, -6], [0, 0, 0]], kinks: [[3, 4, 0]] }, // biome-ignore format: points
  proxSquaredL2: { f: (x) => proxSquaredL2!(x, { scale: 2 }), smooth: [[3, 0, -2]] },
  proxElasticNet: { f: (x) => proxElasticNet!(x, { l1: 1, l2: 3 }), smooth: [[3, 0, -2]], kinks: [[1, -1, 0.5]] },
  proxHuber: { f: (x) => proxHuber!(x, { scale: 1, delta: 2 }), smooth: [[3, 0, -5]], kinks: [[4, -4, 0.5]] },
  proxNuclear: {
    f: (x) => proxNuclear!(x, { scale: 1 }),
    smooth: [[[1, 2], [3, -1]], [[1, 2, 0.5], [3, -1, 1]], [[2, 0], [0, 2], [0, 0]], [[0.5, 0], [0, 0.5]], [[0, 0], [0, 3]]], // biome-ignore format: points
    kinks: [[[1, 0], [0, 0.5]], [[1, 0], [0, 3]]], // biome-ignore format: points
  },
  proxGroupLasso: {
    f: (x) => proxGroupLasso!(x, { groups, weights }),
    smooth: [[0.1, 2, 0.3, 3, 4], [0, 0, 0, 1, 1]], // biome-ignore format: points
    kinks: [[0.6, 3, 0.8, 0, 4]],
  },
}
describe('derivatives', () => {
  const at = (of: 'smooth' | 'kinks') =>
    Object.entries(cases).flatMap(([name, c]) => (c[of] ?? []).map((x) => [name, JSON.stringify(x), c.f, x] as const))
  it('every operator is among them', () => {
    const all = Object.keys(operators).filter((name) => name.startsWith('prox'))
    expect(all.sort()).toEqual(Object.keys(cases).sort())
  })
  it.each(some(at('smooth'), 6))('%s: to the second order at %s, where it is smooth', (_name, _at, f, x) => {
    expect(report(checkGrad(f as never)(x as never))).toMatch(/^ok/)
  })
  it.each(at('kinks'))('%s: between the slopes around %s, a kink', (_name, _at, f, x) => {
    expect(report(checkGrad(f as never, { order: 1 })(x as never))).toMatch(/^ok/)
  })
  it.each(Object.keys(cases))('%s: in its scale', (name) => {
    const f = (operators as unknown as Record<string, Call>)[name]!
    const x = name === 'proxNuclear' ? [[1, 2, 0.5], [3, -1, 1]] : [0.1, 2, 0.3, 3, 4] // biome-ignore format: a matrix
    const of = (scale: E): E => f(x, name === 'proxGroupLasso' ? { scale, groups } : { scale })
    // Beside the point the scale may be negative, which no operator has.
    expect(report(checkGrad(of as never, { order: 1, checks: { beside: false } })(0.8))).toMatch(/^ok/)
  })
  it('at a threshold, half', () => {
    near(
      run(
        grad!((x: E) => sum!(proxL1!(x))),
        [1, -1, 0, 2],
      ),
      [0.5, 0.5, 0, 1],
      0,
    )
    near(
      run(
        jacfwd!((t: E) => proxL1!([1, -1, 0, 2], { scale: t })),
        1,
      ),
      [-0.5, 0.5, 0, -1],
      0,
    )
    near(run(jacrev!((x: E) => proxL1!(x, { scale: 0 })), [0, 1]), [[1, 0], [0, 1]], 0) // biome-ignore format: a matrix
    near(run(jacrev!((x: E) => proxL2!(x, { scale: 0 })), [0, 0]), [[1, 0], [0, 1]], 0) // biome-ignore format: a matrix
    near(run(grad!((x: E) => sum!(mul!([[1, 2], [3, 4]], proxNuclear!(x)))), [[3, 0], [0, 1]]), [[1, 2.25], [2.75, 2]], 1e-14) // biome-ignore format: a matrix
  })
})

describe('edges', () => {
  it('vectors of one element and of none, matrices without elements', () => {
    for (const f of [proxL1!, proxL2!]) expect([numbers(f([-7])), numbers(f([0.5])), numbers(f(tensor!([])))]).toEqual([[-6], [0], []])
    expect(numbers(proxGroupLasso!(tensor!([]), { groups: [] }))).toEqual([])
    expect((proxNuclear!(tensor!([], [0, 3])) as E).shape).toEqual([0, 3])
    expect(value(proxNuclear!([[-3]]))).toEqual([[-2]])
    expect(value(proxL1!(-3))).toBe(-2)
  })
  it('NaN stays where it is: in its element, its vector, its group', () => {
    const [nan, x] = [Number.NaN, [Number.NaN, 3, 2, 4, 3]] // biome-ignore format: one row
    expect(numbers(proxL1!(x))).toEqual([nan, 2, 1, 3, 2])
    expect(numbers(proxHuber!(x))).toEqual([nan, 2, 1, 3, 2])
    expect(numbers(proxElasticNet!(x))).toEqual([nan, 1, 0.5, 1.5, 1])
    expect(numbers(proxL2!(x)).every(Number.isNaN)).toBe(true)
    const y = numbers(proxGroupLasso!(x, { groups }))
    expect(y.map(Number.isNaN)).toEqual([true, false, true, false, false])
    expect(y[3]).toBe(3)
  })
  it('f32 stays', () => {
    const x = tensor!([0.5, 2, -1.7, 0.1, 3], [5], 'f32')
    for (const name of Object.keys(cases).filter((n) => n !== 'proxNuclear')) {
      const f = (operators as unknown as Record<string, Call>)[name]!
      const options = name === 'proxGroupLasso' ? { groups } : {}
      expect((f(x, options) as E).dtype).toBe('f32')
      near(numbers(f(x, options)), numbers(f([0.5, 2, -1.7, 0.1, 3], options)), 3e-7)
    }
    const m = [[1, 2, 0.5], [3, -1, 1]] // biome-ignore format: a matrix
    expect((proxNuclear!(tensor!(m, [2, 3], 'f32')) as E).dtype).toBe('f32')
    near(value(proxNuclear!(tensor!(m, [2, 3], 'f32'))), value(proxNuclear!(m)), 1e-6)
    near(
      run(
        grad!((v: E) => sum!(proxNuclear!(v))),
        tensor!(m, [2, 3], 'f32'),
      ),
      run(
        grad!((v: E) => sum!(proxNuclear!(v))),
        m,
      ),
      3e-6,
    )
  })
  it('leading axes are batches, as under vmap, with a scale for each', () => {
    const x = points.slice(0, 3)
    const scale = [0.1, 0.5, 2]
    for (const f of [proxL2!, (v: unknown, o?: object) => proxGroupLasso!(v, { ...o, groups })]) {
      const each = x.map((row, i) => numbers(f(row, { scale: scale[i] })))
      near(value(f(x, { scale })), each, 1e-15)
      near(
        onCpu(
          vmap!((v: E, t: E) => f(v, { scale: t })),
          x,
          scale,
        ),
        each,
        1e-15,
      )
    }
    const stack = scale.map((_, k) => matrix(drawing(k + 1), 2, 3, 2))
    const each = stack.map((m, i) => value(proxNuclear!(m, { scale: scale[i] })))
    near(value(proxNuclear!(stack, { scale })), each, 1e-14)
    near(
      onCpu(
        vmap!((v: E, t: E) => proxNuclear!(v, { scale: t })),
        stack,
        scale,
      ),
      each,
      1e-14,
    )
  })
  it('what is refused', () => {
    expect(message(() => proxL1!('x'))).toMatch(/^BadInput: proxL1: x is 'x'/)
    expect(message(() => proxL1!([1], { scale: -1 }))).toMatch(/^BadInput: proxL1: scale is -1/)
    expect(message(() => proxL1!([1], { step: 1 }))).toMatch(/^BadInput: proxL1/)
    expect(message(() => proxL2!(1))).toMatch(/^proxL2: x is \[\]/)
    expect(message(() => proxNuclear!([1, 2]))).toMatch(/^proxNuclear: x is \[2\]/)
    for (const bad of [{ groups: [0] }, { groups: [0, -1] }, { groups: [0, 0.5] }, { groups: 'ab' }, {}])
      expect(message(() => proxGroupLasso!([1, 2], bad))).toMatch(/^BadInput: proxGroupLasso: groups/)
  })
})
