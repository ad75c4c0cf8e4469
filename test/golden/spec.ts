// The workloads W1 to W15: their inputs as [shape, scale], their dtype, and what is differentiated.
// The order of the entries seeds the generator in data.ts: append new workloads, never insert one.

export type WorkloadDtype = 'f32' | 'f64'

export interface Workload {
  readonly doc: string
  readonly dtype: WorkloadDtype
  /** Names of the inputs whose gradient is computed; empty for a product alone. */
  readonly wrt: readonly string[]
  /** Each input's shape, and the half-width of the interval it is drawn from. */
  readonly inputs: Readonly<Record<string, readonly [shape: readonly number[], scale: number]>>
}

const mlp = { x: [[128, 784], 1], W1: [[784, 32], 0.05], b1: [[32], 0.1], W2: [[32, 10], 0.3], b2: [[10], 0.1] } as const
const dense = { W: [[512, 256], 0.1], b: [[512, 1], 0.1], x: [[256, 4096], 1] } as const
const square = <const N extends number>(n: N) => ({ A: [[n, n], 0.1], B: [[n, n], 0.1] }) as const

export const spec = {
  W1: { doc: 'sum(x^2)', dtype: 'f32', wrt: ['x'], inputs: { x: [[100352], 1] } },
  W2: { doc: 'sum(atan2(x, 2))', dtype: 'f32', wrt: ['x'], inputs: { x: [[100352], 2] } },
  W3: { doc: 'sum((tanh(x W1 + b1) W2 + b2)^2), batch 128, 784-32-10', dtype: 'f32', wrt: ['W1', 'b1', 'W2', 'b2', 'x'], inputs: mlp },
  W4: {
    doc: 'sum(lenet(x)^2), batch 128, x NCHW, kernels OIHW, dense x W + b',
    dtype: 'f32',
    wrt: ['K1', 'c1', 'K2', 'c2', 'D1', 'd1', 'D2', 'd2', 'D3', 'd3', 'x'],
    inputs: {
      x: [[128, 1, 28, 28], 1],
      K1: [[6, 1, 5, 5], 0.3],
      c1: [[6], 0.1],
      K2: [[16, 6, 5, 5], 0.14],
      c2: [[16], 0.1],
      D1: [[256, 120], 0.1],
      d1: [[120], 0.1],
      D2: [[120, 84], 0.15],
      d2: [[84], 0.1],
      D3: [[84, 10], 0.18],
      d3: [[10], 0.1],
    },
  },
  W5: { doc: 'sum(exp(W x + b)), 512x256 by 256x4096, gradient of W and b only', dtype: 'f32', wrt: ['W', 'b'], inputs: dense },
  W5d: { doc: 'W5 in f64', dtype: 'f64', wrt: ['W', 'b'], inputs: dense },
  W6: { doc: 'z = x z 100 times, sum(z), 256x256, f64', dtype: 'f64', wrt: ['x'], inputs: { x: [[256, 256], 0.108], z: [[256, 256], 1] } },
  W7: {
    doc: 'vanilla RNN, T 64, batch 64, input 64, hidden 128, sum(h_T^2)',
    dtype: 'f32',
    wrt: ['Wx', 'Wh', 'b'],
    inputs: { xs: [[64, 64, 64], 1], Wx: [[64, 128], 0.1], Wh: [[128, 128], 0.12], b: [[128], 0.1] },
  },
  W8: {
    doc: 'LSTM, T 32, batch 256, input 64, hidden 64, gates i f g o, sum(h_T^2)',
    dtype: 'f32',
    wrt: ['Wi', 'Wh', 'b'],
    inputs: { xs: [[32, 256, 64], 1], Wi: [[64, 256], 0.2], Wh: [[64, 256], 0.2], b: [[256], 0.1] },
  },
  W9: {
    doc: 'GRU, T 32, batch 256, input 64, hidden 64, gates r z h, sum(h_T^2)',
    dtype: 'f32',
    wrt: ['Wi', 'Wh', 'b'],
    inputs: { xs: [[32, 256, 64], 1], Wi: [[64, 192], 0.2], Wh: [[64, 192], 0.2], b: [[192], 0.1] },
  },
  W10: {
    doc: 'sum(tanh(a) sigmoid(b)), 100x100',
    dtype: 'f32',
    wrt: ['a', 'b'],
    inputs: { a: [[100, 100], 2], b: [[100, 100], 2] },
  },
  W11: {
    doc: 'mean((x W + b - y)^2), dense 8 to 1, batch 2',
    dtype: 'f32',
    wrt: ['W', 'b'],
    inputs: { x: [[2, 8], 1], y: [[2, 1], 1], W: [[8, 1], 0.5], b: [[1], 0.5] },
  },
  W12: { doc: 'exp(x), one number', dtype: 'f32', wrt: ['x'], inputs: { x: [[], 1] } },
  W13: {
    doc: "Hessian-vector product of W3's loss in its parameters (the gradient columns are the product)",
    dtype: 'f32',
    wrt: ['W1', 'b1', 'W2', 'b2'],
    inputs: { ...mlp, vW1: [[784, 32], 1], vb1: [[32], 1], vW2: [[32, 10], 1], vb2: [[10], 1] },
  },
  W14: { doc: 'Rosenbrock, 1000 variables', dtype: 'f32', wrt: ['x'], inputs: { x: [[1000], 1] } },
  W14h: {
    doc: 'Rosenbrock, 100 variables, the whole Hessian (the gradient columns are the Hessian)',
    dtype: 'f32',
    wrt: ['x'],
    inputs: { x: [[100], 1] },
  },
  W15s: { doc: 'sum((A B)^2), 512', dtype: 'f32', wrt: ['A', 'B'], inputs: square(512) },
  W15l: { doc: 'sum((A B)^2), 1024', dtype: 'f32', wrt: ['A', 'B'], inputs: square(1024) },
  M15s: { doc: 'A B alone, 512 (no gradient)', dtype: 'f32', wrt: [], inputs: square(512) },
  M15l: { doc: 'A B alone, 1024 (no gradient)', dtype: 'f32', wrt: [], inputs: square(1024) },
} as const satisfies Record<string, Workload>

export type WorkloadId = keyof typeof spec

/** Every workload's id, in the order of the specification. */
export const workloadIds = Object.keys(spec) as readonly WorkloadId[]
