// codual's own rows: the workloads' programs compiled for the CPU backend.
import * as cd from '../src/index.js'
import { programs, variants, type WorkloadProgram } from '../test/golden/programs.js'
import { workloadIds } from '../test/golden/spec.js'
import type { Facts, FloatArray, Inputs, Outputs, Peer, Prepare, Prepared, WorkloadDtype, WorkloadId } from './peer.js'

type FloatTensor = cd.Tensor<number[], cd.Float>
type Result = { readonly value: FloatTensor; readonly grad: Readonly<Record<string, FloatTensor>> } | { readonly C: FloatTensor }

const dtypeOf = (inputs: Inputs): WorkloadDtype => (Object.values(inputs).some(({ data }) => data instanceof Float64Array) ? 'f64' : 'f32')

const tensorsOf = (inputs: Inputs): Readonly<Record<string, FloatTensor>> =>
  Object.fromEntries(Object.entries(inputs).map(([name, { shape, data }]) => [name, cd.tensor(data, [...shape]) as unknown as FloatTensor]))

/** The typed arrays of a result, by the golden values' names. */
const outputsOf = (result: Result): Outputs => {
  if ('C' in result) return { C: result.C.data as FloatArray }
  const out: Record<string, number | FloatArray> = { value: result.value.data[0]! }
  for (const name in result.grad) out[name] = result.grad[name]!.data as FloatArray
  return out
}

interface Explained {
  readonly kernels: number
  readonly bytes: number
  readonly peakBytes: number
  readonly planMs: number
}

const factsOf = ({ kernels, bytes, peakBytes, planMs }: Explained): Facts => ({ kernels, bytes, peakBytes, planMs })

const compiled = (program: (dtype: WorkloadDtype) => WorkloadProgram, inputs: Inputs) => {
  const { whole, primal } = program(dtypeOf(inputs))
  const backend = cd.cpu()
  const x = tensorsOf(inputs)
  const step = cd.compile(whole, backend)
  const value = primal === undefined ? undefined : cd.compile(primal, backend)
  const rest = {
    ...(value === undefined ? {} : { primal: () => value(x) }),
    facts: () => factsOf(step.explain()),
    dispose: () => {
      step[Symbol.dispose]()
      value?.[Symbol.dispose]()
    },
  }
  return { x, step, rest }
}

/** A call as a newcomer writes it: every result is a fresh array. */
const fresh =
  (program: (dtype: WorkloadDtype) => WorkloadProgram): Prepare =>
  (inputs): Prepared => {
    const { x, step, rest } = compiled(program, inputs)
    return { run: () => outputsOf(step(x) as unknown as Result), ...rest }
  }

/** The prepared call: results go into the arrays of the first call, and nothing is allocated. */
const into =
  (program: (dtype: WorkloadDtype) => WorkloadProgram): Prepare =>
  (inputs): Prepared => {
    const { x, step, rest } = compiled(program, inputs)
    const result = step(x)
    const again = step.into(result)
    const run = (): Outputs => {
      again(x)
      return outputsOf(result as unknown as Result)
    }
    return { run, ...rest }
  }

const prepared: readonly WorkloadId[] = ['W1', 'W3', 'W11', 'W12']

export const workloads = Object.fromEntries(workloadIds.map((id) => [id, fresh(programs[id])])) as Record<WorkloadId, Prepare>

export const codual: Peer = {
  name: 'codual',
  dtypes: ['f32', 'f64'],
  workloads,
  variants: {
    ...Object.fromEntries(Object.entries(variants).map(([name, { of, program }]) => [name, { of, prepare: fresh(program) }])),
    ...Object.fromEntries(prepared.map((id) => [`${id}/into`, { of: id, prepare: into(programs[id]) }])),
  },
}
