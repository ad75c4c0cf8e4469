// jax-js as a peer: jit(valueAndGrad(...)) on its WebAssembly device. Every use of an array but its last takes
// `.ref`: jax-js's functions consume what they are given.
import { defaultDevice, grad, hessian, init, jit, jvp, lax, nn, numpy as np, valueAndGrad } from '@jax-js/jax'
import { spec, type Workload } from '../../test/golden/spec.js'
import type { FloatArray, Inputs, Outputs, Peer, Prepare, WorkloadId } from '../peer.js'

type Arr = np.Array
/** Inputs by name; a loss takes `.ref` of each, and the caller disposes of them. */
type Arrays = Readonly<Record<string, Arr>>
type Loss = (x: Arrays) => Arr

let started: Promise<void> | undefined

const start = (): Promise<void> => {
  started ??= (async () => {
    if (!(await init('wasm')).includes('wasm')) throw new Error('jax-js has no wasm device here')
    defaultDevice('wasm')
  })()
  return started
}

const float32 = (shape: readonly number[], data: Float32Array): Arr => np.array(data as Float32Array<ArrayBuffer>, { shape: [...shape] })

/**
 * An array on the device. An f64 one is the sum of three f32 ones, exactly: np.array asks a Float64Array whether
 * it is a Float16Array, which Node 20 does not have.
 */
const array = (shape: readonly number[], data: FloatArray): Arr => {
  if (data instanceof Float32Array) return float32(shape, data)
  let rest = data
  let total = np.zeros([...shape], { dtype: np.float64 })
  for (let part = 0; part < 3; part++) {
    const rounded = Float32Array.from(rest)
    total = total.add(float32(shape, rounded).astype(np.float64))
    rest = rest.map((x, i) => x - rounded[i]!)
  }
  return total
}

const read = (x: Arr): FloatArray => x.dataSync() as FloatArray

const record = (names: readonly string[], xs: readonly Arr[]): Arrays => Object.fromEntries(names.map((name, i) => [name, xs[i]!]))

/** f over a record of borrowed arrays, as the positional function that consumes them which jax-js wants. */
const positional =
  <A>(names: readonly string[], f: (x: Arrays) => A) =>
  (...xs: Arr[]): A => {
    const y = f(record(names, xs))
    for (const x of xs) x.dispose()
    return y
  }

interface Ready {
  readonly names: readonly string[]
  readonly arrays: readonly Arr[]
  /** The arguments of one call, which it will consume. */
  refs(): Arr[]
  dispose(): void
}

/** The inputs on the device, those of `first` before the others. */
const ready = (inputs: Inputs, first: readonly string[]): Ready => {
  const names = [...first, ...Object.keys(inputs).filter((name) => !first.includes(name))]
  const arrays = names.map((name) => array(inputs[name]!.shape, inputs[name]!.data))
  return {
    names,
    arrays,
    refs: () => arrays.map((x) => x.ref),
    dispose: () => {
      for (const x of arrays) x.dispose()
    },
  }
}

const lossOf =
  (id: WorkloadId, loss: Loss): Prepare =>
  async (inputs) => {
    await start()
    const { wrt }: Workload = spec[id]
    const at = ready(inputs, wrt)
    const f = positional(at.names, loss)
    const step = jit(valueAndGrad(f, { argnums: wrt.map((_, i) => i) }))
    const value = jit(f)
    const run = (): Outputs => {
      const [y, grads] = step(...at.refs()) as [Arr, Arr[]]
      const out: Record<string, number | FloatArray> = {}
      wrt.forEach((name, i) => {
        out[name] = read(grads[i]!)
      })
      out.value = read(y)[0]!
      return out
    }
    const dispose = (): void => {
      at.dispose()
      step.dispose()
      value.dispose()
    }
    return { run, primal: () => read(value(...at.refs())), dispose }
  }

/** In two steps: jax-js accumulates a whole array in one f32, which is too coarse for W2 and W15. */
const sumRows = (x: Arr): Arr => np.sum(np.sum(x.reshape([-1, 256]), 1))
const sumSquares = (x: Arr): Arr => np.sum(np.square(x))
/** x W + b; consumes x, borrows W and b. */
const dense = (x: Arr, W: Arr, b: Arr): Arr => np.matmul(x, W.ref).add(b.ref)

const mlp: Loss = (x) => sumSquares(dense(np.tanh(dense(x.x!.ref, x.W1!, x.b1!)), x.W2!, x.b2!))

const lenet: Loss = ({ x, K1, c1, K2, c2, D1, d1, D2, d2, D3, d3 }) => {
  const block = (h: Arr, K: Arr, c: Arr): Arr => {
    const y = lax.conv(h, K.ref, [1, 1], 'VALID').add(c.ref.reshape([-1, 1, 1]))
    const [n, channels, size] = y.shape as [number, number, number]
    return np.max(nn.relu(y).reshape([n, channels, size / 2, 2, size / 2, 2]), [3, 5])
  }
  const flat = block(block(x!.ref, K1!, c1!), K2!, c2!).reshape([128, 256])
  return sumSquares(dense(nn.relu(dense(nn.relu(dense(flat, D1!, d1!)), D2!, d2!)), D3!, d3!))
}

/** The part of every step that reads the inputs, as one product: [T, B, I] to T arrays of [B, n]. */
const fromInputs = (xs: Arr, W: Arr, b: Arr): Arr[] => np.unstack(dense(xs.ref, W, b))

const rnn: Loss = ({ xs, Wx, Wh, b }) => {
  let h = np.zeros([64, 128], { dtype: xs!.dtype })
  for (const z of fromInputs(xs!, Wx!, b!)) h = np.tanh(np.matmul(h, Wh!.ref).add(z))
  return sumSquares(h)
}

const lstm: Loss = ({ xs, Wi, Wh, b }) => {
  let h = np.zeros([256, 64], { dtype: xs!.dtype })
  let c = np.zeros([256, 64], { dtype: xs!.dtype })
  for (const z of fromInputs(xs!, Wi!, b!)) {
    const [i, f, g, o] = np.split(np.matmul(h, Wh!.ref).add(z), 4, 1) as [Arr, Arr, Arr, Arr]
    c = nn
      .sigmoid(f)
      .mul(c)
      .add(nn.sigmoid(i).mul(np.tanh(g)))
    h = nn.sigmoid(o).mul(np.tanh(c.ref))
  }
  c.dispose()
  return sumSquares(h)
}

const gru: Loss = ({ xs, Wi, Wh, b }) => {
  let h = np.zeros([256, 64], { dtype: xs!.dtype })
  for (const zx of fromInputs(xs!, Wi!, b!)) {
    const [rx, ux, nx] = np.split(zx, 3, 1) as [Arr, Arr, Arr]
    const [rh, uh, nh] = np.split(np.matmul(h.ref, Wh!.ref), 3, 1) as [Arr, Arr, Arr]
    const u = nn.sigmoid(ux.add(uh))
    const n = np.tanh(nx.add(nn.sigmoid(rx.add(rh)).mul(nh)))
    h = n.ref.add(u.mul(h.sub(n)))
  }
  return sumSquares(h)
}

const powers: Loss = ({ x, z }) => {
  let y = z!.ref
  for (let i = 0; i < 100; i++) y = np.matmul(x!.ref, y)
  return np.sum(y)
}

const rosenbrock: Loss = ({ x }) => {
  const n = x!.shape[0]! - 1
  const u = x!.ref.slice([0, n])
  const d = x!.ref.slice([1, n + 1]).sub(np.square(u.ref))
  return np.sum(
    np
      .square(d)
      .mul(100)
      .add(np.square(np.array(1, { dtype: u.dtype }).sub(u))),
  )
}

/** Forward over reverse: the tangent of the gradient. */
const hvp: Prepare = async (inputs) => {
  await start()
  const { wrt }: Workload = spec.W13
  const at = ready(inputs, [...wrt, ...wrt.map((name) => `v${name}`)])
  const n = wrt.length
  const program = (...all: Arr[]): [Arr, Arr[]] => {
    const x = all[2 * n]!
    const names = [...wrt, 'x']
    const loss = (...ps: Arr[]): Arr => positional(names, mlp)(...ps, x.ref)
    const gradient = grad(loss, { argnums: wrt.map((_, i) => i) }) as unknown as (...ps: Arr[]) => Arr[]
    const params = all.slice(0, n)
    const value = loss(...params.map((p) => p.ref))
    const [g, product] = jvp(gradient, params as never, all.slice(n, 2 * n) as never) as unknown as [Arr[], Arr[]]
    for (const unused of [...g, x]) unused.dispose()
    return [value, product]
  }
  const step = jit(program as never) as unknown as ((...xs: Arr[]) => [Arr, Arr[]]) & { dispose(): void }
  const run = (): Outputs => {
    const [y, product] = step(...at.refs())
    const out: Record<string, number | FloatArray> = {}
    wrt.forEach((name, i) => {
      out[name] = read(product[i]!)
    })
    out.value = read(y)[0]!
    return out
  }
  const dispose = (): void => {
    at.dispose()
    step.dispose()
  }
  return { run, dispose }
}

const wholeHessian: Prepare = async (inputs) => {
  await start()
  const at = ready(inputs, ['x'])
  const f = positional(['x'], rosenbrock) as (x: Arr) => Arr
  const matrix = jit(hessian(f))
  const value = jit(f)
  const run = (): Outputs => ({ x: read(matrix(at.arrays[0]!.ref)), value: read(value(at.arrays[0]!.ref))[0]! })
  const dispose = (): void => {
    at.dispose()
    matrix.dispose()
    value.dispose()
  }
  return { run, dispose }
}

const product: Prepare = async (inputs) => {
  await start()
  const at = ready(inputs, ['A', 'B'])
  const step = jit((A: Arr, B: Arr) => np.matmul(A, B))
  const dispose = (): void => {
    at.dispose()
    step.dispose()
  }
  return { run: () => ({ C: read(step(at.arrays[0]!.ref, at.arrays[1]!.ref)) }), dispose }
}

const expDense: Loss = ({ W, b, x }) => np.sum(np.exp(np.matmul(W!.ref, x!.ref).add(b!.ref)))
const squaredProduct: Loss = ({ A, B }) => sumRows(np.square(np.matmul(A!.ref, B!.ref)))

export const workloads = {
  W1: lossOf('W1', ({ x }) => sumSquares(x!.ref)),
  W2: lossOf('W2', ({ x }) => sumRows(np.arctan2(x!.ref, np.full([100352], 2, { dtype: x!.dtype })))),
  W3: lossOf('W3', mlp),
  W4: lossOf('W4', lenet),
  W5: lossOf('W5', expDense),
  W5d: lossOf('W5d', expDense),
  W6: lossOf('W6', powers),
  W7: lossOf('W7', rnn),
  W8: lossOf('W8', lstm),
  W9: lossOf('W9', gru),
  W10: lossOf('W10', ({ a, b }) => np.sum(np.tanh(a!.ref).mul(nn.sigmoid(b!.ref)))),
  W11: lossOf('W11', ({ x, y, W, b }) => np.mean(np.square(dense(x!.ref, W!, b!).sub(y!.ref)))),
  W12: lossOf('W12', ({ x }) => np.exp(x!.ref)),
  W13: hvp,
  W14: lossOf('W14', rosenbrock),
  W14h: wholeHessian,
  W15s: lossOf('W15s', squaredProduct),
  W15l: lossOf('W15l', squaredProduct),
  M15s: product,
  M15l: product,
} satisfies Record<WorkloadId, Prepare>

export const jaxjs: Peer = { name: 'jax-js', dtypes: ['f32', 'f64'], workloads }
