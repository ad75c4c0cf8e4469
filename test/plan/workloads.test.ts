/** The workloads at small sizes, in three modes: each plan is shown, element by element, to compute what its program says, on both paths of the CPU. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
const { add, mul, sub, sum, square, exp, tanh, sigmoid, relu, matmul, conv, maxPool, reshape, slice, split, atan2, unstack } =
  cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
const parts = (...xs: readonly unknown[]): readonly E[] => split!(...xs) as unknown as readonly E[]
const steps = (xs: E): readonly E[] => unstack!(xs, { axis: 0 }) as unknown as readonly E[]
const total = (x: E): E => sum!(square!(x))
const dense = (x: E, w: E, b: E): E => add!(matmul!(x, w), b)

type Args = Readonly<Record<string, E>>
interface Small {
  readonly inputs: Readonly<Record<string, readonly number[]>>
  readonly f: (x: Args) => E
}
const mlp: Small = {
  inputs: { x: [5, 7], w1: [7, 4], b1: [4], w2: [4, 3], b2: [3] },
  f: ({ x, w1, b1, w2, b2 }) => total(dense(tanh!(dense(x!, w1!, b1!)), w2!, b2!)),
}
const workloads: Readonly<Record<string, Small>> = {
  squares: { inputs: { x: [513] }, f: ({ x }) => total(x!) },
  atan2: { inputs: { x: [257] }, f: ({ x }) => sum!(atan2!(x, 2)) },
  mlp,
  lenet: {
    inputs: { x: [2, 1, 28, 28], k1: [6, 1, 5, 5], c1: [6], k2: [16, 6, 5, 5], c2: [16], d1: [256, 12], e1: [12], d2: [12, 8], e2: [8] },
    f: ({ x, k1, c1, k2, c2, d1, e1, d2, e2 }) => {
      const pool = (y: E): E => maxPool!(y, { window: [2, 2], stride: [2, 2] })
      const p1 = pool(relu!(add!(conv!(x, k1), reshape!(c1, [6, 1, 1]))))
      const p2 = pool(relu!(add!(conv!(p1, k2), reshape!(c2, [16, 1, 1]))))
      return total(dense(relu!(dense(reshape!(p2, [2, 256]), d1!, e1!)), d2!, e2!))
    },
  },
  'dense layer with exp': { inputs: { w: [6, 5], b: [6, 1], x: [5, 9] }, f: ({ w, b, x }) => sum!(exp!(add!(matmul!(w, x), b))) },
  'chained products': {
    inputs: { x: [6, 6], z: [6, 6] },
    f: ({ x, z }) => {
      let y = z!
      for (let i = 0; i < 12; i++) y = matmul!(x, y)
      return sum!(y)
    },
  },
  rnn: {
    inputs: { xs: [5, 3, 4], wx: [4, 6], wh: [6, 6], b: [6] },
    f: ({ xs, wx, wh, b }) => {
      let h: E = cd.zeros([3, 6]) as unknown as E
      for (const x of steps(dense(xs!, wx!, b!))) h = tanh!(add!(x, matmul!(h, wh)))
      return total(h)
    },
  },
  lstm: {
    inputs: { xs: [4, 3, 4], wi: [4, 20], wh: [5, 20], b: [20] },
    f: ({ xs, wi, wh, b }) => {
      let h: E = cd.zeros([3, 5]) as unknown as E
      let c: E = h
      for (const x of steps(xs!)) {
        const [i, f, g, o] = parts(add!(dense(x, wi!, b!), matmul!(h, wh)), 4, { axis: -1 })
        c = add!(mul!(sigmoid!(f), c), mul!(sigmoid!(i), tanh!(g)))
        h = mul!(sigmoid!(o), tanh!(c))
      }
      return total(h)
    },
  },
  gru: {
    inputs: { xs: [4, 3, 4], wi: [4, 15], wh: [5, 15], b: [15] },
    f: ({ xs, wi, wh, b }) => {
      let h: E = cd.zeros([3, 5]) as unknown as E
      for (const x of steps(xs!)) {
        const [rx, zx, nx] = parts(dense(x, wi!, b!), 3, { axis: -1 })
        const [rh, zh, nh] = parts(matmul!(h, wh), 3, { axis: -1 })
        const [r, z] = [sigmoid!(add!(rx, rh)), sigmoid!(add!(zx, zh))]
        const n = tanh!(add!(nx, mul!(r, nh)))
        h = add!(mul!(sub!(1, z), n), mul!(z, h))
      }
      return total(h)
    },
  },
  gate: { inputs: { a: [10, 10], b: [10, 10] }, f: ({ a, b }) => sum!(mul!(tanh!(a), sigmoid!(b))) },
  rosenbrock: {
    inputs: { x: [40] },
    f: ({ x }) => {
      const [head, tail] = [slice!(x, [0], [39]), slice!(x, [1], [40])]
      return sum!(add!(mul!(100, square!(sub!(tail, square!(head)))), square!(sub!(1, head))))
    },
  },
  'square of a product': { inputs: { a: [7, 7], b: [7, 7] }, f: ({ a, b }) => total(matmul!(a, b)) },
}

const proof = (f: unknown, simd: boolean, ...args: readonly unknown[]): unknown =>
  (cd.compile as unknown as (f: unknown, b: unknown) => { explain: (...xs: readonly unknown[]) => cd.Explanation })(
    f,
    makeCpu({ verify: true, simd }),
  ).explain(...args).verified
const declared = ({ inputs, f }: Small, dtype: 'f64' | 'f32'): unknown =>
  (cd.fn as unknown as (d: unknown, f: unknown) => unknown)(
    Object.fromEntries(Object.entries(inputs).map(([k, s]) => [k, (cd[dtype] as unknown as (...s: readonly number[]) => unknown)(...s)])),
    f,
  )
const transforms = cd as unknown as Readonly<Record<string, (f: unknown, options?: unknown) => unknown>>

describe.each(Object.entries(workloads))('%s', (_name, small) => {
  it.each(['mixed', 'reverse', 'forward'])('value and gradients, %s', (mode) => {
    // Forward mode runs once for each number: of the first few inputs.
    const wrt = mode === 'forward' ? Object.keys(small.inputs).slice(-1) : Object.keys(small.inputs)
    for (const dtype of ['f64', 'f32'] as const)
      for (const simd of [true, false])
        expect(proof(transforms.valueAndGrad!(declared(small, dtype), { wrt, mode }), simd)).toBe('provenance')
  })
})

describe('second order', () => {
  it('a Hessian-vector product of the MLP', () => {
    const f = declared(mlp, 'f64')
    const at = Object.fromEntries(Object.entries(mlp.inputs).map(([k, s]) => [k, cd.evaluate(cd.ones(s as never))]))
    const wrt = ['w1', 'b1', 'w2', 'b2']
    const v = Object.fromEntries(wrt.map((k) => [k, at[k]]))
    expect(proof(transforms.hvp!(f, { wrt }), true, at, v)).toBe('provenance')
  })
  it('the Hessian of Rosenbrock', () => {
    const f = declared({ ...workloads.rosenbrock!, inputs: { x: [40] } }, 'f64')
    expect(proof(transforms.hessian!(f, { wrt: 'x' }), true)).toBe('provenance')
  })
})
