/** The WebGPU facet of matrix products: the planner makes those of floats products of strided matrices (gemm.ts); of integers, loops that fold. */
import { whole } from '../../core/facets.js'
import type { contract } from '../../core/ops/contract.js'
import { elementwise } from '../../core/ops/elementwise.js'
import { broadcastStrides, stridesOf } from '../../core/shape.js'
import type { Operand } from '../plan/step.js'
import type { Dispatches, Machine, WebGpuTable, WholeShader } from './kernel.js'
import { loopDispatches } from './loop.js'

const at = ({ storage, offset }: Operand, elements: readonly number[]): Operand => ({
  storage,
  offset,
  strides: elements.map((s) => 4 * s),
})

/** Sums of products of words over the last loop axis, into what `out` holds or in its place; they wrap around at 32 bits. */
const product = (
  shape: readonly number[],
  [x, y]: readonly (readonly number[])[],
  [out, a, b]: readonly Operand[],
  accumulate: boolean,
  machine: Machine,
): Dispatches => {
  const batch = shape.slice(0, -2)
  const [n, k] = [shape[shape.length - 1]!, x![x!.length - 1]!]
  const outer = (s: readonly number[]): readonly number[] => broadcastStrides(s.slice(0, -2), batch, stridesOf(s).slice(0, -2))
  return loopDispatches(
    {
      kind: 'loop',
      rank: shape.length + 1,
      body: { inputs: ['i32', 'i32'], ops: [{ prim: elementwise.mul, params: {}, args: [0, 1], dtype: 'i32' }], results: [2] },
      inputs: ['unit', 'any'],
      outputs: [{ dtype: 'i32', access: 'any', fold: { op: 'sum', accumulate, axes: [...shape.map(() => false), true] } }],
    },
    [...shape, k],
    [at(a!, [...outer(x!), k, 0, 1]), at(b!, [...outer(y!), 0, 1, n]), at(out!, [...stridesOf(shape), 0])],
    machine,
  )
}

const integerMatmul: WholeShader = ({ args, results }, operands, machine) =>
  product(
    results[0]!.shape,
    args.map((s) => s.shape),
    operands,
    false,
    machine,
  )
/** The accumulator is copied, then added to. */
const integerMatmulAdd: WholeShader = ({ args, results }, [out, acc, a, b], machine) => {
  const { shape } = results[0]!
  const copy = loopDispatches(
    {
      kind: 'loop',
      rank: 1,
      body: { inputs: ['i32'], ops: [], results: [0] },
      inputs: ['unit'],
      outputs: [{ dtype: 'i32', access: 'unit' }],
    },
    [shape.reduce((n, d) => n * d, 1)],
    [at(acc!, [1]), at(out!, [1])],
    machine,
  )
  const sum = product(
    shape,
    args.slice(1).map((s) => s.shape),
    [out!, a!, b!],
    true,
    machine,
  )
  return { dispatches: [...copy.dispatches, ...sum.dispatches], scratchBytes: sum.scratchBytes }
}

/** One row per primitive of core/ops/contract.ts; products of floats never come here. */
export const contractKernels: WebGpuTable<typeof contract> = {
  matmul: whole(integerMatmul),
  matmulAdd: whole(integerMatmulAdd),
}
