/** Programs whose plans were wrong once: what they compute is known by other means, on every path that plans, with every plan held against its program. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type F = (...xs: readonly unknown[]) => unknown
const {
  add,
  mul,
  sin,
  cos,
  tanh,
  sum,
  gather,
  sort,
  flip,
  setAt,
  concat,
  stack,
  matmul,
  transpose,
  map,
  grad,
  valueAndGrad,
  jacrev,
  compile,
} = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>

const backends = {
  SIMD: makeCpu({ verify: true, simd: true }),
  plain: makeCpu({ verify: true, simd: false }),
  reference: reference(),
} as const
type Backend = (typeof backends)[keyof typeof backends]
const run = (f: unknown, b: Backend, ...xs: readonly unknown[]): unknown => (compile!(f, b) as unknown as F)(...xs)
const numbers = (x: unknown): unknown =>
  x instanceof cd.tensor(0).constructor
    ? (x as cd.Tensor).toArray()
    : Array.isArray(x)
      ? x.map(numbers)
      : typeof x === 'object' && x !== null
        ? Object.fromEntries(Object.entries(x).map(([k, y]) => [k, numbers(y)]))
        : x
const close = (got: unknown, want: unknown): void => {
  const flat = (x: unknown): number[] =>
    Array.isArray(x) ? x.flatMap(flat) : typeof x === 'object' && x !== null ? Object.values(x).flatMap(flat) : [x as number]
  const [g, w] = [flat(numbers(got)), flat(want)]
  expect(g.length).toBe(w.length)
  g.forEach((y, i) => {
    expect(Math.abs(y - w[i]!)).toBeLessThanOrEqual(1e-10 * Math.max(1, Math.abs(w[i]!)))
  })
}
const { sin: s, cos: c } = Math

describe.each(Object.entries(backends))('right numbers on %s', (_name, b) => {
  describe('accumulators that the same kernel also reads', () => {
    it('grad of sum(sin(x + gather(x)))', () => {
      const x = [3, 1, 2]
      const [p, q, r] = [c(3 + 2), c(1 + 3), c(2 + 1)]
      close(
        run(
          grad!((x: E) => sum!(sin!(add!(x, gather!(x, [2, 0, 1]))))),
          b,
          x,
        ),
        [p + q, q + r, r + p],
      )
    })
    it('grad of sum(sin(x + sort(x)))', () => {
      // sorted: 1, 2, 3
      const [p, q, r] = [c(3 + 1), c(1 + 2), c(2 + 3)]
      close(
        run(
          grad!((x: E) => sum!(sin!(add!(x, sort!(x))))),
          b,
          [3, 1, 2],
        ),
        [p + r, q + p, r + q],
      )
    })
    it('jacrev of x + flip(x)', () =>
      close(run(jacrev!((x: E) => add!(x, flip!(x))), b, [1, 2, 3]), [[1, 0, 1], [0, 2, 0], [1, 0, 1]])) // biome-ignore format: matrix
    it('setAt(y, i, y)', () => {
      const f = (x: E) => {
        const y = tanh!(x)
        return setAt!(y, [1, 2, 0], y)
      }
      const t = [1, 2, 3].map(Math.tanh)
      close(run(f, b, [1, 2, 3]), [t[2], t[0], t[1]])
    })
    it('tied embeddings: rows of w against all of w', () => {
      const w = [[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6]] // biome-ignore format: matrix
      const rows = [2, 0, 2]
      const loss = (w: E) => sum!(sin!(matmul!(gather!(w, rows), transpose!(w))))
      const want = w.map(() => [0, 0])
      rows.forEach((i) => {
        w.forEach((wj, j) => {
          const d = c(w[i]![0]! * wj[0]! + w[i]![1]! * wj[1]!)
          for (const k of [0, 1]) {
            want[i]![k]! += d * wj[k]!
            want[j]![k]! += d * w[i]![k]!
          }
        })
      })
      close(run(grad!(loss), b, w), want)
    })
    it('x + x w', () => {
      const f = (x: E, w: E) => {
        const y = sin!(x)
        return add!(y, matmul!(y, w))
      }
      close(run(f, b, [[1, 2], [3, 4]], [[1, 2], [3, 4]]), [[s(1) + s(1) + 3 * s(2), s(2) + 2 * s(1) + 4 * s(2)], [s(3) + s(3) + 3 * s(4), s(4) + 2 * s(3) + 4 * s(4)]]) // biome-ignore format: matrices
    })
  })

  it('scalars that differ in shape alone', () => {
    const f = (u: E, x: E, y: E) => add!(sum!(mul!(mul!(x, u), 0.7)), sum!(mul!(mul!(y, u), 0.7)))
    close(run(grad!(f, { wrt: [0, 1, 2] }), b, 0.5, [1, 2], [1, 2, 3, 4, 5]), [0.7 * 18, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35])
  })

  describe('parts of a concat that are read again', () => {
    it('stack([t, t], { axis: 1 })', () => {
      const f = (x: E) => {
        const t = tanh!(x)
        return stack!([t, t], { axis: 1 })
      }
      close(
        run(f, b, [1, 2, 3]),
        [1, 2, 3].map((x) => [Math.tanh(x), Math.tanh(x)]),
      )
    })
    it('batched rotation matrices, and their gradient', () => {
      const rotations = (x: E) => {
        const [p, q] = [cos!(x), sin!(x)]
        return stack!([stack!([p, mul!(q, -1)], { axis: -1 }), stack!([q, p], { axis: -1 })], { axis: -2 })
      }
      const angles = [0.1, 0.7, -1.2]
      close(run(rotations, b, angles), angles.map((a) => [[c(a), -s(a)], [s(a), c(a)]])) // biome-ignore format: matrices
      const f = (x: E) => sum!(mul!(rotations(x), [[1, 2], [3, 4]])) // biome-ignore format: matrix
      close(
        run(grad!(f), b, angles),
        angles.map((a) => -s(a) - 2 * c(a) + 3 * c(a) - 4 * s(a)),
      )
    })
    it('adding to a concat whose parts are still needed', () => {
      const f = (x: E, w: E) => {
        const a = sin!(x)
        const z = add!(concat!([a, cos!(x)]), matmul!(w, x))
        return add!(matmul!(w, a), z)
      }
      const [x, w] = [[1, 2], [[1, 2], [3, 4], [5, 6], [7, 8]]] // biome-ignore format: matrices
      const want = [s(1), s(2), c(1), c(2)].map((y, i) => y + w[i]![0]! * (1 + s(1)) + w[i]![1]! * (2 + s(2)))
      close(run(f, b, x, w), want)
    })
  })

  it('the same of matrices, which are added in place', () => {
    const f = (x: E, w: E) => {
      const a = sin!(x)
      const z = add!(concat!([a, cos!(x)]), matmul!(w, x))
      return add!(matmul!(w, a), z)
    }
    const [x, w] = [[[1, 2], [3, 4]], [[1, 2], [3, 4], [5, 6], [7, 8]]] // biome-ignore format: matrices
    const parts = [...x.map((r) => r.map(s)), ...x.map((r) => r.map(c))]
    const want = parts.map((r, i) => r.map((y, j) => y + [0, 1].reduce((t, k) => t + w[i]![k]! * (x[k]![j]! + s(x[k]![j]!)), 0)))
    close(run(f, b, x, w), want)
  })

  it('map has the shape that its arguments broadcast to, whichever the function reads', () => {
    const f = (x: E, y: E) => sum!(map!((a: E, _b: E) => sin!(a), x, y))
    for (const mode of ['mixed', 'reverse', 'forward']) {
      const want = { grad: 3 * c(0.5), value: 3 * s(0.5) }
      close(run(valueAndGrad!(f, { mode }), b, 0.5, [1, 2, 3]), mode === 'x' ? [] : want)
    }
  })

  describe('large graphs', () => {
    it('a sum of 33 arrays beside shared values', () => {
      const f = (xs: readonly E[]) => {
        const [x, y, ...rest] = xs as [E, E, ...E[]]
        const shared = sin!(x)
        const total = add!(
          rest.reduce((a, r) => add!(a, r)),
          shared,
        )
        return add!(add!(tanh!(y), shared), total)
      }
      const xs = Array.from({ length: 62 }, (_, i) => [0.1 * i, 0.3 * i])
      const want = [0, 1].map((k) => Math.tanh(xs[1]![k]!) + 2 * s(xs[0]![k]!) + xs.slice(2).reduce((a, r) => a + r[k]!, 0))
      close(run(cd.fn(xs.map(() => cd.f64(2)) as never, f as never), b, xs), want)
    })
    it('a concat of 20,000 parts', () => {
      const f = (x: E) => concat!(Array.from({ length: 20_000 }, (_, i) => cd.slice(x as never, [i % 3] as never, [(i % 3) + 1] as never)))
      const y = (run(f, b, [1, 2, 3]) as cd.Tensor).data
      expect(y.length).toBe(20_000)
      expect(y.every((v, i) => v === (i % 3) + 1)).toBe(true)
    })
    it('a chain of 255 steps beside a shared value, and its gradient', () => {
      const f = (x: E, y: E) => {
        const shared = sin!(x)
        let t = add!(tanh!(y), shared)
        for (let i = 0; i < 255; i++) t = tanh!(t)
        return sum!(add!(add!(t, shared), mul!(shared, t)))
      }
      const value = (x: number, y: number): number => {
        let t = Math.tanh(y) + s(x)
        for (let i = 0; i < 255; i++) t = Math.tanh(t)
        return t + s(x) + s(x) * t
      }
      const h = 1e-5
      close(run(f, b, [1, 2], [0.5, 0.2]), value(1, 0.5) + value(2, 0.2))
      const want = [[1, 0.5], [2, 0.2]].map(([x, y]) => (value(x! + h, y!) - value(x! - h, y!)) / (2 * h)) // biome-ignore format: points
      const got = numbers(run(grad!(f), b, [1, 2], [0.5, 0.2])) as number[]
      got.forEach((g, i) => {
        expect(g).toBeCloseTo(want[i]!, 7)
      })
    })
  })

  describe('nothing at all', () => {
    const { vmap, conv, maxPool, avgPool, zeros, evaluate } = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
    const shapeOf = (x: unknown): readonly number[] => (x as cd.Tensor).shape
    it('vmap of a convolution and of pools over no example', () => {
      const images = evaluate!(zeros!([0, 2, 1, 4, 4]))
      const kernel = evaluate!(zeros!([3, 1, 2, 2]))
      expect(
        shapeOf(
          run(
            vmap!((x: E) => conv!(x, kernel)),
            b,
            images,
          ),
        ),
      ).toEqual([0, 2, 3, 3, 3])
      expect(
        shapeOf(
          run(
            vmap!((x: E) => maxPool!(x, { window: 2 })),
            b,
            images,
          ),
        ),
      ).toEqual([0, 2, 1, 2, 2])
      expect(
        shapeOf(
          run(
            vmap!((x: E) => avgPool!(x, { window: 2 })),
            b,
            images,
          ),
        ),
      ).toEqual([0, 2, 1, 2, 2])
      const kernels = evaluate!(zeros!([0, 3, 1, 2, 2]))
      expect(
        shapeOf(
          run(
            vmap!((x: E, k: E) => conv!(x, k)),
            b,
            images,
            kernels,
          ),
        ),
      ).toEqual([0, 2, 3, 3, 3])
      expect(
        shapeOf(
          run(
            grad!((k: E) => sum!((vmap!((x: E) => conv!(x, k)) as unknown as F)(images))),
            b,
            kernel,
          ),
        ),
      ).toEqual([3, 1, 2, 2])
    })
    it('empty parts of a concat, empty slices, sums over nothing', () => {
      const f = (x: E) =>
        concat!([cd.slice(x as never, [0] as never, [0] as never), tanh!(x), cd.slice(x as never, [1] as never, [1] as never)])
      close(run(f, b, [1, 2]), [Math.tanh(1), Math.tanh(2)])
      const g = (x: E) => add!(sum!(cd.slice(x as never, [2] as never, [2] as never)), sum!(x))
      close(run(valueAndGrad!(g), b, [1, 2]), { grad: [1, 1], value: 3 })
    })
  })
})

describe('one identity of parameters', () => {
  const b = makeCpu({ verify: true })
  const applied = cd.applyPrimitive as unknown as (p: unknown, xs: readonly unknown[], params: unknown) => readonly E[]
  const own = cd.primitive as unknown as (d: Readonly<Record<string, unknown>>) => never
  const scale = own({
    name: 'scale',
    family: 'test',
    args: ['float'],
    class: 'elementwise',
    codec: {
      is: () => true,
      validate: (u: unknown) => ({ _tag: 'Right', right: u }),
      decode: (u: unknown) => ({ _tag: 'Right', right: u }),
      encode: (u: unknown) => u,
      name: 'any',
    },
    shapeRule: ([x]: readonly unknown[]) => x,
    meaning: (
      [x]: readonly { data: Float64Array }[],
      { value }: { value: number | ((x: number) => number) },
      [y]: readonly { data: Float64Array }[],
    ) => {
      x!.data.forEach((v, i) => {
        y!.data[i] = typeof value === 'function' ? value(v) : v * value
      })
    },
    scalarWith:
      ({ value }: { value: number | ((x: number) => number) }) =>
      (x: number) =>
        typeof value === 'function' ? value(x) : x * value,
    samples: [],
    source: 'test',
  })
  const of = (value: unknown): unknown => numbers(run((x: E) => [applied(scale, [x], { value })].flat()[0], b, [1, 2]))
  it('NaN, the infinities, 0 and -0 are five values', () => {
    expect([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0].map(of)).toEqual([
      [Number.NaN, Number.NaN],
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
      [0, 0],
      [-0, -0],
    ])
  })
  it('z = z z, fourteen times, is found again', () => {
    const fresh = makeCpu()
    for (const hits of [0, 1]) {
      const f = (x: E) => {
        let z = x
        for (let i = 0; i < 14; i++) z = mul!(z, z)
        return sum!(z)
      }
      close(run(grad!(f), fresh, [0.9999, 1]), [2 ** 14 * 0.9999 ** (2 ** 14 - 1), 2 ** 14])
      expect(fresh.cache().hits).toBe(hits)
    }
  })
  it('closures of one text are two functions', () => {
    const times = (k: number) => (x: number) => x * k
    expect([of(times(2)), of(times(3))]).toEqual([[2, 4], [3, 6]]) // biome-ignore format: rows
  })
})
