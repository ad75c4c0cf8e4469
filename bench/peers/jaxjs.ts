// jax-js as a peer: jit(valueAndGrad(...)) on its WebAssembly device. Every use of an array but its last takes
// `.ref`: jax-js's functions consume what they are given.
import { defaultDevice, grad, hessian, init, jit, jvp, numpy as np, valueAndGrad } from '@jax-js/jax'
import { spec, type Workload } from '../../test/golden/spec.js'
import type { FloatArray, Inputs, Outputs, Peer, Prepare, WorkloadId } from '../peer.js'
import { type Arr, type Loss, losses, mlp, positional, rosenbrock } from './jaxjs-losses.js'

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

export const workloads = {
  W1: lossOf('W1', losses.W1),
  W2: lossOf('W2', losses.W2),
  W3: lossOf('W3', losses.W3),
  W4: lossOf('W4', losses.W4),
  W5: lossOf('W5', losses.W5),
  W5d: lossOf('W5d', losses.W5d),
  W6: lossOf('W6', losses.W6),
  W7: lossOf('W7', losses.W7),
  W8: lossOf('W8', losses.W8),
  W9: lossOf('W9', losses.W9),
  W10: lossOf('W10', losses.W10),
  W11: lossOf('W11', losses.W11),
  W12: lossOf('W12', losses.W12),
  W13: hvp,
  W14: lossOf('W14', losses.W14),
  W14h: wholeHessian,
  W15s: lossOf('W15s', losses.W15s),
  W15l: lossOf('W15l', losses.W15l),
  M15s: product,
  M15l: product,
} satisfies Record<WorkloadId, Prepare>

export const jaxjs: Peer = { name: 'jax-js', dtypes: ['f32', 'f64'], workloads }
