/** Projections: the nearest point by its optimality conditions, derivatives by the checker, what holds at kinks, and the edges of each set. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as sets from '../../src/minimize/projections.js'
import { some } from '../depth.js'
import { type E, message, near, onCpu, ops, run, value } from '../solve/run.js'
import { dot, drawing, matrix, minus, vector } from './drawn.js'

type Call = (x: unknown, options?: unknown) => E
const {
  projectAffine,
  projectBox,
  projectHalfspace,
  projectHyperplane,
  projectL1Ball,
  projectL2Ball,
  projectLInfBall,
  projectNonNegative,
  projectPSD,
  projectSecondOrderCone,
  projectSimplex,
} = sets as unknown as Readonly<Record<string, Call>>
const { jacfwd, jacrev, mul, sum, tensor, vmap, grad, eigh, stack } = ops as Record<string, (...xs: readonly unknown[]) => E>

const numbers = (x: unknown): number[] => value(x) as unknown as number[]
const least = (xs: readonly number[]): number => Math.min(...xs)
const axes = (n: number, at: number): number[][] =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? at : 0)))
const corners = (lower: readonly number[], upper: readonly number[]): number[][] =>
  lower.length === 0
    ? [[]]
    : corners(lower.slice(1), upper.slice(1)).flatMap((rest) => [
        [lower[0]!, ...rest],
        [upper[0]!, ...rest],
      ])
/** y is nearest to x among the convex combinations of the points, and one of them itself. */
const nearestOf = (points: readonly (readonly number[])[], x: readonly number[], y: readonly number[]): void => {
  for (const z of points) expect(dot(minus(x, y), minus(z, y))).toBeLessThan(1e-12)
}

describe('the nearest point', () => {
  const draw = drawing(7)
  const points = Array.from({ length: 20 }, (_, k) => vector(draw, 4, k < 10 ? 0.6 : 3))
  it.each([0.3, 1, 4])('of a simplex, of radius %d', (radius) => {
    for (const x of points) {
      const y = numbers(projectSimplex!(x, { radius }))
      expect(least(y)).toBeGreaterThanOrEqual(0)
      near(dot(y, [1, 1, 1, 1]), radius, 1e-14)
      nearestOf(axes(4, radius), x, y)
    }
  })
  it.each([0.3, 1, 4])('of the balls of the norms 1, 2 and infinity, of radius %d', (radius) => {
    for (const x of points) {
      const one = numbers(projectL1Ball!(x, { radius }))
      expect(one.reduce((s, v) => s + Math.abs(v), 0)).toBeLessThan(radius * (1 + 1e-14))
      nearestOf([...axes(4, radius), ...axes(4, -radius)], x, one)
      const most = numbers(projectLInfBall!(x, { radius }))
      nearestOf(corners([-radius, -radius, -radius, -radius], [radius, radius, radius, radius]), x, most)
      const two = numbers(projectL2Ball!(x, { radius }))
      const length = Math.hypot(...x)
      near(two, length <= radius ? x : x.map((v) => (v * radius) / length), 1e-15)
    }
  })
  it('of a box, of the non-negative numbers', () => {
    const [lower, upper] = [[-0.5, -1, 0, 0.1], [0.5, -0.2, 2, 0.1]] // biome-ignore format: two rows
    for (const x of points) {
      const y = numbers(projectBox!(x, { lower, upper }))
      nearestOf(corners(lower, upper), x, y)
      expect(y).toEqual(x.map((v, i) => Math.min(upper[i]!, Math.max(lower[i]!, v))))
      expect(numbers(projectBox!(x, { lower: 0 }))).toEqual(numbers(projectNonNegative!(x)))
      expect(numbers(projectBox!(x, { upper }))).toEqual(x.map((v, i) => Math.min(v, upper[i]!)))
      expect(numbers(projectBox!(x))).toEqual(x)
    }
  })
  it('of a plane and of what is below it', () => {
    const [normal, offset] = [[1, -2, 0.5, 3], 0.7] // biome-ignore format: one row
    for (const x of points) {
      const onto = numbers(projectHyperplane!(x, { normal, offset }))
      near(dot(normal, onto), offset, 1e-13)
      const step = (dot(normal, x) - offset) / dot(normal, normal)
      near(minus(x, onto), normal.map((v) => v * step), 1e-13) // biome-ignore format: one row
      near(numbers(projectHalfspace!(x, { normal, offset })), step > 0 ? onto : x, 1e-15)
    }
  })
  it('of an affine set, of a stack of vectors too, and where the equations are dependent', () => {
    const A = [[1, 2, 0, -1], [0, 1, 1, 3]] // biome-ignore format: a matrix
    const b = [1, -2]
    const kernel = [[2, -1, 1, 0], [7, -3, 0, 1]] // biome-ignore format: a matrix
    const all = value(projectAffine!(points, { A, b })) as unknown as number[][]
    for (const [k, x] of points.entries()) {
      const y = numbers(projectAffine!(x, { A, b }))
      near(all[k], y, 1e-12)
      for (const [i, row] of A.entries()) near(dot(row, y), b[i]!, 1e-12)
      for (const z of kernel) near(dot(minus(x, y), z), 0, 1e-11)
      near(numbers(projectAffine!(x, { A: [...A, A[0]!], b: [...b, b[0]!] })), y, 1e-11)
    }
  })
  it('of the cone of positive semidefinite matrices', () => {
    for (let k = 0; k < 8; k++) {
      const x = matrix(draw, 4, 4, 2)
      const a = x.map((row, i) => row.map((v, j) => (v + x[j]![i]!) / 2))
      const y = value(projectPSD!(x)) as unknown as number[][]
      const rest = y.map((row, i) => minus(row, a[i]!))
      for (const m of [y, rest]) expect(least((value(eigh!(m)) as unknown as { w: number[] }).w)).toBeGreaterThan(-1e-12)
      near(dot(y.flat(), rest.flat()), 0, 1e-12)
      near(y, y.map((_, i) => y.map((row) => row[i]!)), 1e-14) // biome-ignore format: one row
    }
  })
  it('of the second-order cone', () => {
    const inCone = ([t, ...v]: readonly number[]): void => expect(t! - Math.hypot(...v)).toBeGreaterThan(-1e-12)
    for (const x of [...points, [2, 1, 0, 0], [-2, 1, 0, 0], [1, 0, 0, 0], [-1, 0, 0, 0]]) {
      const y = numbers(projectSecondOrderCone!(x))
      inCone(y)
      inCone(minus(y, x))
      near(dot(y, minus(y, x)), 0, 1e-12)
    }
  })
})

/** Each projection, with points where it is smooth, and points on kinks. */
const A = [[1, 2, -1], [0.5, 0, 1]] // biome-ignore format: a matrix
const cases: Readonly<Record<string, { f: (x: E) => E; smooth: readonly unknown[]; kinks?: readonly unknown[] }>> = {
  projectSimplex: {
    f: (x) => projectSimplex!(x, { radius: 1.5 }),
    smooth: [[0.5, 0.2, 1.7], [3, -1, 0], [[0.3, 0.1, 0.6], [9, 1, 2]]], // biome-ignore format: points
    kinks: [
      [1.5, 0, -1],
      [2, 0.5, -1],
    ],
  },
  projectL1Ball: {
    f: (x) => projectL1Ball!(x, { radius: 1.5 }),
    smooth: [
      [0.5, 0.2, -1.7],
      [-3, 1, 0.3],
      [0.3, 0.1, -0.6],
    ],
    kinks: [
      [1, -0.5, 0.0],
      [1, -0.25, 0.25],
    ],
  },
  projectL2Ball: { f: (x) => projectL2Ball!(x, { radius: 5 }), smooth: [[1, 2, 3], [3, -5, 1], [0, 0, 0]], kinks: [[3, 4, 0]] }, // biome-ignore format: points
  projectLInfBall: { f: (x) => projectLInfBall!(x, { radius: 1 }), smooth: [[0.3, 2, -3]], kinks: [[1, 0, -1]] },
  projectBox: { f: (x) => projectBox!(x, { lower: [-1, 0, 1], upper: [2, 0, 3] }), smooth: [[0.3, 2, 5]], kinks: [[-1, 0, 3]] },
  projectNonNegative: { f: (x) => projectNonNegative!(x), smooth: [[0.3, -2]], kinks: [[0, 1]] },
  projectHyperplane: { f: (x) => projectHyperplane!(x, { normal: [1, 2, 3], offset: 1 }), smooth: [[0.3, 2, 5]] },
  projectHalfspace: {
    f: (x) => projectHalfspace!(x, { normal: [1, 2, 3], offset: 1 }),
    smooth: [[0.3, 2, 5], [-1, 0, 0]], // biome-ignore format: points
    kinks: [[1, 0, 0]],
  },
  projectAffine: { f: (x) => projectAffine!(x, { A, b: [1, 2] }), smooth: [[0.3, 2, 5]] },
  projectPSD: {
    f: (x) => projectPSD!(x),
    smooth: [[[1, 2], [3, -1]], [[2, 0], [0, 2]], [[-2, 0], [0, -2]], [[1, 0, 0], [0, 1, 0], [0, 0, -1]]], // biome-ignore format: points
    kinks: [[[0, 0], [0, 0]], [[1, 0], [0, 0]]], // biome-ignore format: points
  },
  projectSecondOrderCone: {
    f: (x) => projectSecondOrderCone!(x),
    smooth: [[0.3, 2, 1], [3, 1, 0], [-3, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 2, 1], [-0.3, 2, 1]], // biome-ignore format: points
    kinks: [
      [5, 3, 4],
      [-5, 3, 4],
      [0, 0, 0],
    ],
  },
}
describe('derivatives', () => {
  it('every projection is among them', () => {
    expect(
      Object.keys(sets)
        .filter((name) => name.startsWith('project'))
        .sort(),
    ).toEqual(Object.keys(cases).sort())
  })
  const at = (of: 'smooth' | 'kinks') =>
    Object.entries(cases).flatMap(([name, c]) => (c[of] ?? []).map((x) => [name, JSON.stringify(x), c.f, x] as const))
  it.each(some(at('smooth'), 6))('%s: to the second order at %s, where it is smooth', (_name, _at, f, x) => {
    expect(report(checkGrad(f as never)(x as never))).toMatch(/^ok/)
  })
  it.each(at('kinks'))('%s: between the slopes around %s, a kink', (_name, _at, f, x) => {
    expect(report(checkGrad(f as never, { order: 1 })(x as never))).toMatch(/^ok/)
  })
  it('in what describes the set', () => {
    const x = [0.5, 0.2, 1.7]
    const of = {
      radius: (r: E) => [projectSimplex!(x, { radius: r }), projectL1Ball!(x, { radius: r }), projectL2Ball!(x, { radius: r })],
      box: (r: E) => [projectBox!(x, { lower: r, upper: mul!(2, r) }), projectLInfBall!(x, { radius: r })],
      plane: (r: E) => [
        projectHyperplane!(x, { normal: stack!([r, 1, mul!(2, r)]), offset: r }),
        projectHalfspace!(x, { normal: [1, 1, 1], offset: r }),
      ],
      affine: (r: E) => projectAffine!(x, { A: mul!(A, stack!([r, 1, mul!(r, r)])), b: stack!([r, 1]) }),
    }
    for (const f of Object.values(of)) expect(report(checkGrad(f as never, { order: 1 })(1.1))).toMatch(/^ok/)
  })
  it('at a tie, what has half of a say', () => {
    // one element above the threshold 0, two at it
    near(run(jacfwd!(projectSimplex!), [1, 0, 0]), [[0.5, -0.25, -0.25], [-0.25, 0.375, -0.125], [-0.25, -0.125, 0.375]], 1e-15) // biome-ignore format: a matrix
    near(run(jacfwd!(projectL1Ball!), [0.5, -0.5]), [[0.75, 0.25], [0.25, 0.75]], 1e-15) // biome-ignore format: a matrix
    near(run(jacrev!(projectNonNegative!), [0, 1]), [[0.5, 0], [0, 1]], 0) // biome-ignore format: a matrix
    near(
      run(
        grad!((x: E) => sum!(projectSecondOrderCone!(x))),
        [0, 0, 0],
      ),
      [0.5, 0.5, 0.5],
      0,
    )
    near(run(grad!((x: E) => sum!(mul!([[1, 2], [3, 4]], projectPSD!(x)))), [[0, 0], [0, 0]]), [[0.5, 1.25], [1.25, 2]], 1e-15) // biome-ignore format: a matrix
  })
  it('a set of a single point is a constant', () => {
    for (const x of [
      [3, -1, 2],
      [2, 2, 2],
      [0, 0, 0],
    ]) {
      for (const f of [projectSimplex!, projectL1Ball!, projectLInfBall!]) {
        near(
          run((v: E) => f(v, { radius: 0 }), x),
          [0, 0, 0],
          0,
        )
        near(
          run(
            jacrev!((v: E) => f(v, { radius: 0 })),
            x,
          ),
          axes(3, 0),
          0,
        )
      }
      near(
        run(
          jacrev!((v: E) => projectBox!(v, { lower: 2, upper: 2 })),
          x,
        ),
        axes(3, 0),
        0,
      )
    }
    near(
      run(
        jacfwd!((r: E) => projectSimplex!([2, 2, 1], { radius: r })),
        0,
      ),
      [0.5, 0.5, 0],
      0,
    )
    near(
      run(
        jacrev!((v: E) => projectL2Ball!(v, { radius: 0 })),
        [0, 0],
      ),
      axes(2, 0),
      0,
    )
  })
})

describe('edges', () => {
  it('vectors of one element and of none', () => {
    expect(numbers(projectSimplex!([-7], { radius: 2 }))).toEqual([2])
    expect(numbers(projectL1Ball!([-7], { radius: 2 }))).toEqual([-2])
    expect(numbers(projectL2Ball!([-7], { radius: 2 }))).toEqual([-2])
    expect(numbers(projectSecondOrderCone!([-7]))).toEqual([0])
    expect(numbers(projectSecondOrderCone!([7]))).toEqual([7])
    expect(value(projectPSD!([[-2]]))).toEqual([[0]])
    for (const f of [projectSimplex!, projectL1Ball!, projectL2Ball!, projectLInfBall!, projectNonNegative!])
      expect(numbers(f(tensor!([])))).toEqual([])
    expect((projectPSD!(tensor!([], [0, 0])) as E).shape).toEqual([0, 0])
    expect(value(projectSimplex!(tensor!([], [0, 3])))).toEqual([])
  })
  it('NaN stays, in its vector alone', () => {
    const x = [[Number.NaN, 1, 0.2], [0.5, 0.2, 0.3]] // biome-ignore format: two rows
    for (const f of [projectSimplex!, projectL1Ball!, projectL2Ball!, projectSecondOrderCone!]) {
      const [bad, good] = value(f(x)) as unknown as number[][]
      expect(bad!.some(Number.isNaN)).toBe(true)
      expect(good!.every(Number.isFinite)).toBe(true)
    }
    expect(numbers(projectSimplex!(x[0], { radius: 0 })).every(Number.isNaN)).toBe(true)
    expect(numbers(projectLInfBall!(x[0], { radius: 0 }))[0]).toBeNaN()
    expect((value(projectPSD!([[Number.NaN, 0], [0, 1]])) as unknown as number[][]).flat().every(Number.isNaN)).toBe(true) // biome-ignore format: a matrix
    expect(numbers(projectBox!([1], { lower: 2, upper: 0 }))[0]).toBeNaN()
    expect(numbers(projectSimplex!([1, Number.NEGATIVE_INFINITY]))).toEqual([1, 0])
  })
  it('f32 stays, in values and in derivatives', () => {
    const x = tensor!([0.5, 0.2, 1.7], [3], 'f32')
    for (const name of [
      'projectSimplex',
      'projectL1Ball',
      'projectL2Ball',
      'projectLInfBall',
      'projectNonNegative',
      'projectSecondOrderCone',
    ]) {
      const f = (sets as unknown as Record<string, Call>)[name]!
      expect((f(x) as E).dtype).toBe('f32')
      near(numbers(f(x)), numbers(f([0.5, 0.2, 1.7])), 2e-7)
      near(run(jacfwd!(f), x), run(jacfwd!(f), [0.5, 0.2, 1.7]), 1e-6)
    }
    const s = [[1, 2], [3, -1]] // biome-ignore format: a matrix
    near(value(projectPSD!(tensor!(s, [2, 2], 'f32'))), value(projectPSD!(s)), 1e-6)
  })
  it('leading axes are batches, as under vmap, with a radius for each', () => {
    const x = matrix(drawing(3), 5, 3, 2)
    const radius = [0.1, 0.5, 1, 2, 4]
    for (const f of [projectSimplex!, projectL1Ball!, projectL2Ball!, projectLInfBall!]) {
      const each = x.map((row, i) => numbers(f(row, { radius: radius[i] })))
      near(value(f(x, { radius })), each, 1e-15)
      near(
        run(
          vmap!((v: E, r: E) => f(v, { radius: r })),
          x,
          radius,
        ),
        each,
        1e-15,
      )
      near(
        onCpu(
          vmap!((v: E, r: E) => f(v, { radius: r })),
          x,
          radius,
        ),
        each,
        1e-15,
      )
    }
    const stack = [matrix(drawing(5), 3, 3), matrix(drawing(6), 3, 3)]
    near(value(projectPSD!(stack)), stack.map((m) => value(projectPSD!(m))), 1e-14) // biome-ignore format: one row
    near(onCpu(vmap!(grad!((m: E) => sum!(mul!(m, projectPSD!(m))))), stack), stack.map((m) => run(grad!((v: E) => sum!(mul!(v, projectPSD!(v)))), m)), 1e-12) // biome-ignore format: one row
  })
  it('third derivatives of the semidefinite cone, in both modes', () => {
    const [s, d] = [[[1, 2, 0.3], [2, -1, 1], [0.3, 1, 0.2]], [[0.4, -1, 0.2], [-1, 0.7, 0.5], [0.2, 0.5, 0.6]]] // biome-ignore format: matrices
    const weights = [[1, 0.3, -2], [0.1, 2, 1], [0.5, 1, 3]] // biome-ignore format: a matrix
    const f = (t: E): E => sum!(mul!(weights, projectPSD!(ops.add!(s, mul!(t, d)))))
    for (const by of [grad!, jacfwd!] as unknown as ((g: unknown) => E)[]) {
      const second = by(by(f))
      const h = 1e-4
      const want = ((run(second, h) as unknown as number) - (run(second, -h) as unknown as number)) / (2 * h)
      expect(Math.abs(want)).toBeGreaterThan(0.01)
      near(run(by(second), 0), want, 1e-6)
    }
  })
  it('matrices of low rank have bounded derivatives', () => {
    const v = [1, 2, -1, 0.5]
    const low = v.map((a) => v.map((b) => a * b))
    const slopes = (run(jacfwd!(projectPSD!), low) as unknown as number[][][][]).flat(3)
    for (const s of slopes) expect(Math.abs(s)).toBeLessThan(1 + 1e-12)
  })
  it('what fits no set', () => {
    expect(message(() => projectSimplex!(3))).toMatch(/^projectSimplex: x is \[\]/)
    expect(message(() => projectSimplex!('x'))).toMatch(/^BadInput: projectSimplex: x is 'x'/)
    expect(message(() => projectL2Ball!([1], { radius: -1 }))).toMatch(/^BadInput: projectL2Ball: radius is -1/)
    expect(message(() => projectL2Ball!([1], { radius: Number.NaN }))).toMatch(/^BadInput: projectL2Ball: radius is NaN/)
    expect(message(() => projectL2Ball!([1], { r: 1 }))).toMatch(/^BadInput: projectL2Ball/)
    expect(message(() => projectPSD!([[1, 2, 3]]))).toMatch(/^projectPSD: x is \[1, 3\]/)
    expect(message(() => projectSecondOrderCone!(tensor!([])))).toMatch(/^projectSecondOrderCone/)
    expect(message(() => projectHyperplane!([1, 2]))).toMatch(/^BadInput: projectHyperplane: normal is not given/)
    expect(message(() => projectAffine!([1, 2], { A: [[1]], b: [1] }))).toMatch(/^projectAffine: A is \[1, 1\]/)
  })
})
