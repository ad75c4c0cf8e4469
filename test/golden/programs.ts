// The workloads written in codual's operations, each in either dtype, with every shape in its type.
import * as cd from '../../src/index.js'
import { spec, type Workload, type WorkloadId } from './spec.js'

type Float = cd.Float
type Array<S extends cd.Shape> = cd.Expr<S, Float>

type Mutable<S extends cd.Shape> = { -readonly [K in keyof S]: S[K] }

type Declared<Id extends WorkloadId> = {
  readonly [K in keyof (typeof spec)[Id]['inputs']]: (typeof spec)[Id]['inputs'][K] extends readonly [infer S extends cd.Shape, number]
    ? cd.Spec<Mutable<S>, Float>
    : never
}

/** The declaration of a workload's inputs: the shapes of the specification, all in one dtype. */
const declare = <Id extends WorkloadId>(id: Id, dtype: Float): Declared<Id> => {
  const { inputs }: Workload = spec[id]
  const leaf = dtype === 'f32' ? cd.f32 : cd.f64
  return Object.fromEntries(Object.entries(inputs).map(([name, [shape]]) => [name, leaf(...shape)])) as unknown as Declared<Id>
}

/** Any of the workloads' functions: named float arrays in, a scalar out. */
export type Loss = cd.Fn<readonly [Readonly<Record<string, cd.Spec<cd.Shape, Float>>>], cd.Expr<[], Float>>
/** Named float arrays in; `value` and the gradients out, or the product alone. */
export type Whole = cd.Fn<
  readonly [Readonly<Record<string, cd.Spec<cd.Shape, Float>>>],
  | { readonly value: cd.Expr<[], Float>; readonly grad: Readonly<Record<string, cd.Expr<cd.Shape, Float>>> }
  | { readonly C: cd.Expr<cd.Shape, Float> }
>

export interface WorkloadProgram {
  /** The loss alone, where there is one. */
  readonly primal?: Loss
  /** What the golden values are of: value and derivatives. */
  readonly whole: Whole
}

/** A loss with its value and gradients; the shapes in its type have done their work by here. */
const withGradient = (id: WorkloadId, f: unknown): WorkloadProgram => {
  const { wrt }: Workload = spec[id]
  const primal = f as Loss
  return {
    primal,
    whole: (cd.valueAndGrad as unknown as (f: Loss, options: { readonly wrt: readonly string[] }) => Whole)(primal, { wrt }),
  }
}

const sumSquares = <S extends cd.Shape>(x: Array<S>): Array<[]> => cd.sum(cd.square(x))

const mlp = (dtype: Float) =>
  cd.fn(declare('W3', dtype), ({ x, W1, b1, W2, b2 }) => {
    const hidden = cd.tanh(cd.add(cd.matmul(x, W1), b1))
    return sumSquares(cd.add(cd.matmul(hidden, W2), b2))
  })

/** Conv 5x5, relu, max-pool 2x2, twice; then 256-120-84-10 with relu between. */
const lenet = (dtype: Float) =>
  cd.fn(declare('W4', dtype), ({ x, K1, c1, K2, c2, D1, d1, D2, d2, D3, d3 }) => {
    const y1 = cd.relu(cd.add(cd.conv(x, K1), cd.reshape(c1, [6, 1, 1])))
    const p1 = cd.maxPool(y1, { window: [2, 2], stride: [2, 2] })
    const y2 = cd.relu(cd.add(cd.conv(p1, K2), cd.reshape(c2, [16, 1, 1])))
    const p2 = cd.maxPool(y2, { window: [2, 2], stride: [2, 2] })
    const h1 = cd.relu(cd.add(cd.matmul(cd.reshape(p2, [128, 256]), D1), d1))
    const h2 = cd.relu(cd.add(cd.matmul(h1, D2), d2))
    return sumSquares(cd.add(cd.matmul(h2, D3), d3))
  })

const expDense = (id: 'W5' | 'W5d', dtype: Float) => cd.fn(declare(id, dtype), ({ W, b, x }) => cd.sum(cd.exp(cd.add(cd.matmul(W, x), b))))

const powers = (dtype: Float) =>
  cd.fn(declare('W6', dtype), ({ x, z }) => {
    let y: Array<[256, 256]> = z
    for (let i = 0; i < 100; i++) y = cd.matmul(x, y)
    return cd.sum(y)
  })

/** The inputs of all steps go through one product before the loop. */
const rnn = (dtype: Float) =>
  cd.fn(declare('W7', dtype), ({ xs, Wx, Wh, b }) => {
    let h: Array<[64, 128]> = cd.zeros([64, 128], dtype)
    for (const z of cd.unstack(cd.matmul(xs, Wx))) h = cd.tanh(cd.add(cd.add(z, cd.matmul(h, Wh)), b))
    return sumSquares(h)
  })

type Gate = Array<[256, 64]>
type Gates = Array<[256, 256]>
/** The gates i, f, g, o of one step. */
type Cut = (z: Gates) => readonly [Gate, Gate, Gate, Gate]

/** All gates by one split, whose pullback is one concat. */
const bySplit: Cut = (z) => cd.split(z, 4, { axis: -1 })
/** One slice for each gate, whose pullbacks write into one accumulator. */
const bySlices: Cut = (z) => [
  cd.slice(z, [0, 0], [256, 64]),
  cd.slice(z, [0, 64], [256, 128]),
  cd.slice(z, [0, 128], [256, 192]),
  cd.slice(z, [0, 192], [256, 256]),
]

const lstm = (dtype: Float, cut: Cut) =>
  cd.fn(declare('W8', dtype), ({ xs, Wi, Wh, b }) => {
    let h: Gate = cd.zeros([256, 64], dtype)
    let c: Gate = cd.zeros([256, 64], dtype)
    for (const z of cd.unstack(cd.add(cd.matmul(xs, Wi), b))) {
      const [i, f, g, o] = cut(cd.add(z, cd.matmul(h, Wh)))
      c = cd.add(cd.mul(cd.sigmoid(f), c), cd.mul(cd.sigmoid(i), cd.tanh(g)))
      h = cd.mul(cd.sigmoid(o), cd.tanh(c))
    }
    return sumSquares(h)
  })

/** Reset after the product: n = tanh(x Wn + bn + r (h Wn)), h' = (1 - z) n + z h. */
const gru = (dtype: Float) =>
  cd.fn(declare('W9', dtype), ({ xs, Wi, Wh, b }) => {
    let h: Gate = cd.zeros([256, 64], dtype)
    for (const fromInput of cd.unstack(cd.add(cd.matmul(xs, Wi), b))) {
      const [rx, zx, nx] = cd.split(fromInput, 3, { axis: -1 })
      const [rh, zh, nh] = cd.split(cd.matmul(h, Wh), 3, { axis: -1 })
      const r = cd.sigmoid(cd.add(rx, rh))
      const z = cd.sigmoid(cd.add(zx, zh))
      const n = cd.tanh(cd.add(nx, cd.mul(r, nh)))
      h = cd.add(cd.mul(cd.sub(1, z), n), cd.mul(z, h))
    }
    return sumSquares(h)
  })

/** The same three as loops: a plan has one step of each. */
const rnnLoop = (dtype: Float) =>
  cd.fn(declare('W7', dtype), ({ xs, Wx, Wh, b }) => {
    const step = (h: Array<[64, 128]>, z: Array<[64, 128]>) => [cd.tanh(cd.add(cd.add(z, cd.matmul(h, Wh)), b)), null] as const
    const [h] = cd.scan(step, cd.zeros([64, 128], dtype), cd.matmul(xs, Wx))
    return sumSquares(h)
  })
const lstmLoop = (dtype: Float) =>
  cd.fn(declare('W8', dtype), ({ xs, Wi, Wh, b }) => {
    const step = ([h, c]: readonly [Gate, Gate], z: Gates) => {
      const [i, f, g, o] = bySplit(cd.add(z, cd.matmul(h, Wh)))
      const next = cd.add(cd.mul(cd.sigmoid(f), c), cd.mul(cd.sigmoid(i), cd.tanh(g)))
      return [[cd.mul(cd.sigmoid(o), cd.tanh(next)), next] as const, null] as const
    }
    const [[h]] = cd.scan(step, [cd.zeros([256, 64], dtype), cd.zeros([256, 64], dtype)] as const, cd.add(cd.matmul(xs, Wi), b))
    return sumSquares(h)
  })
const gruLoop = (dtype: Float) =>
  cd.fn(declare('W9', dtype), ({ xs, Wi, Wh, b }) => {
    const step = (h: Gate, fromInput: Array<[256, 192]>) => {
      const [rx, zx, nx] = cd.split(fromInput, 3, { axis: -1 })
      const [rh, zh, nh] = cd.split(cd.matmul(h, Wh), 3, { axis: -1 })
      const r = cd.sigmoid(cd.add(rx, rh))
      const z = cd.sigmoid(cd.add(zx, zh))
      const n = cd.tanh(cd.add(nx, cd.mul(r, nh)))
      return [cd.add(cd.mul(cd.sub(1, z), n), cd.mul(z, h)), null] as const
    }
    const [h] = cd.scan(step, cd.zeros([256, 64], dtype), cd.add(cd.matmul(xs, Wi), b))
    return sumSquares(h)
  })

/** Sum over i of 100 (x[i + 1] - x[i]^2)^2 + (1 - x[i])^2. */
const rosenbrock = ({ x }: { readonly x: Array<[number]> }) => {
  const n = x.shape[0]
  const u = cd.slice(x, [0], [n - 1])
  const d = cd.sub(cd.slice(x, [1], [n]), cd.square(u))
  return cd.sum(cd.add(cd.mul(100, cd.square(d)), cd.square(cd.sub(1, u))))
}

/** The value of W3's loss and the product of its Hessian, in the parameters, with v. */
const hessianProduct = (dtype: Float): WorkloadProgram => {
  const loss = mlp(dtype)
  const product = cd.hvp(loss, { wrt: ['W1', 'b1', 'W2', 'b2'] })
  const whole = cd.fn(declare('W13', dtype), ({ x, W1, b1, W2, b2, vW1, vb1, vW2, vb2 }) => {
    const primals = { x, W1, b1, W2, b2 }
    return { value: loss(primals), grad: product(primals, { W1: vW1, b1: vb1, W2: vW2, b2: vb2 }) }
  })
  return { whole: whole as unknown as Whole }
}

const wholeHessian = (dtype: Float): WorkloadProgram => {
  const f = cd.fn(declare('W14h', dtype), rosenbrock)
  const hessian = cd.hessian(f, { wrt: 'x' })
  const whole = cd.fn(declare('W14h', dtype), ({ x }) => ({ value: f({ x }), grad: { x: hessian({ x }) } }))
  return { primal: f as unknown as Loss, whole: whole as unknown as Whole }
}

interface Pair<N extends number> {
  readonly A: Array<[N, N]>
  readonly B: Array<[N, N]>
}
const squaredProduct = <N extends number>({ A, B }: Pair<N>) => sumSquares(cd.matmul(A, B))
const product = <N extends number>({ A, B }: Pair<N>) => ({ C: cd.matmul(A, B) })

/** Every workload in one dtype; f32 workloads run in f64 too. */
export const programs: Readonly<Record<WorkloadId, (dtype: Float) => WorkloadProgram>> = {
  W1: (dtype) =>
    withGradient(
      'W1',
      cd.fn(declare('W1', dtype), ({ x }) => sumSquares(x)),
    ),
  W2: (dtype) =>
    withGradient(
      'W2',
      cd.fn(declare('W2', dtype), ({ x }) => cd.sum(cd.atan2(x, 2))),
    ),
  W3: (dtype) => withGradient('W3', mlp(dtype)),
  W4: (dtype) => withGradient('W4', lenet(dtype)),
  W5: (dtype) => withGradient('W5', expDense('W5', dtype)),
  W5d: (dtype) => withGradient('W5d', expDense('W5d', dtype)),
  W6: (dtype) => withGradient('W6', powers(dtype)),
  W7: (dtype) => withGradient('W7', rnn(dtype)),
  W8: (dtype) => withGradient('W8', lstm(dtype, bySplit)),
  W9: (dtype) => withGradient('W9', gru(dtype)),
  W10: (dtype) =>
    withGradient(
      'W10',
      cd.fn(declare('W10', dtype), ({ a, b }) => cd.sum(cd.mul(cd.tanh(a), cd.sigmoid(b)))),
    ),
  W11: (dtype) =>
    withGradient(
      'W11',
      cd.fn(declare('W11', dtype), ({ x, y, W, b }) => cd.mean(cd.square(cd.sub(cd.add(cd.matmul(x, W), b), y)))),
    ),
  W12: (dtype) =>
    withGradient(
      'W12',
      cd.fn(declare('W12', dtype), ({ x }) => cd.exp(x)),
    ),
  W13: hessianProduct,
  W14: (dtype) => withGradient('W14', cd.fn(declare('W14', dtype), rosenbrock)),
  W14h: wholeHessian,
  W15s: (dtype) => withGradient('W15s', cd.fn(declare('W15s', dtype), squaredProduct<512>)),
  W15l: (dtype) => withGradient('W15l', cd.fn(declare('W15l', dtype), squaredProduct<1024>)),
  M15s: (dtype) => ({ whole: cd.fn(declare('M15s', dtype), product<512>) as unknown as Whole }),
  M15l: (dtype) => ({ whole: cd.fn(declare('M15l', dtype), product<1024>) as unknown as Whole }),
}

/** Other ways to write a workload: their golden values are the workload's. */
export const variants: Readonly<Record<string, { readonly of: WorkloadId; readonly program: (dtype: Float) => WorkloadProgram }>> = {
  'W8/slices': { of: 'W8', program: (dtype) => withGradient('W8', lstm(dtype, bySlices)) },
  'W7/scan': { of: 'W7', program: (dtype) => withGradient('W7', rnnLoop(dtype)) },
  'W8/scan': { of: 'W8', program: (dtype) => withGradient('W8', lstmLoop(dtype)) },
  'W9/scan': { of: 'W9', program: (dtype) => withGradient('W9', gruLoop(dtype)) },
}
