/** Random programs in f32 on a device against the reference: values, and gradients where values are finite. What rounding can do is allowed. */
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { isFloat } from '../../../src/core/graph/aval.js'
import { capturedTensor } from '../../../src/core/graph/expr.js'
import type { TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import * as cd from '../../../src/index.js'
import { cotangentsOf, lossOf, type Subject, subjectOf, trace } from '../../laws/generator/checks.js'
import { differ, quickly, roundingOf } from '../../laws/generator/compare.js'
import { generate, type Wanted } from '../../laws/generator/generate.js'
import type { Lanes } from '../../laws/generator/lanes.js'
import { printProgram } from '../../laws/generator/print.js'
import type { RandomProgram, Template } from '../../laws/generator/program.js'
import { findLane, openGpu } from './adapter.js'

/** What became of the program of a seed: `none` has no value that is computed in f32 alone. */
export interface Outcome {
  readonly seed: number
  readonly checked: 'none' | 'values' | 'values and gradients'
  readonly failure?: string
}

const narrow = (t: Template): Template =>
  t === 'f64'
    ? 'f32'
    : typeof t !== 'object' || t === null
      ? t
      : Array.isArray(t)
        ? t.map(narrow)
        : (Object.fromEntries(Object.entries(t).map(([k, x]) => [k, narrow(x as Template)])) as Template)
/** The program with every f64 that it names in f32. */
const inSingle = (p: RandomProgram): RandomProgram => ({
  ...p,
  inputs: p.inputs.map((x) => ({ ...x, dtype: x.dtype === 'f64' ? 'f32' : x.dtype })),
  steps: narrow(p.steps as unknown as Template) as unknown as RandomProgram['steps'],
})

/** Some value is an f64 all the same: a mean of integers, a result that is a number. */
const needsF64 = (e: unknown): boolean => cd.isAdException(e) && e.error._tag === 'Unsupported' && e.error.what.includes('no f64')

const allFinite = (ys: readonly TypedArray[]): boolean => ys.every((y) => y.every((v: number) => Number.isFinite(v) && Math.abs(v) < 1e6))

/** What a program captures, as further inputs: so it is given to a device. */
const withoutCaptures = (p: Program, inputs: readonly TypedArray[]): { readonly p: Program; readonly all: readonly TypedArray[] } => ({
  p: { ...p, inputs: [...p.inputs, ...p.captured], captured: [] },
  all: [...inputs, ...p.captured.map((n) => capturedTensor(n)!.data)],
})

/** How `program` differs on the device, if it does. */
const compared = async (
  what: string,
  program: Program,
  inputs: readonly TypedArray[],
  want: readonly TypedArray[],
  backend: WebGpuBackend,
): Promise<string | undefined> => {
  const { p, all } = withoutCaptures(program, inputs)
  const executable = await backend.prepare(p)
  try {
    const got = (await executable.run(all)) as readonly TypedArray[]
    const dtypes = program.outputs.map((o) => o.dtype)
    if (differ(got, want, dtypes, quickly(want, 'f32')) === undefined) return undefined
    const d = differ(got, want, dtypes, roundingOf(program, inputs, want))
    return d && `${what}: result ${d.result}, entry ${d.entry} is ${d.got}, wanted ${d.want} (allowed ${d.allowed.toExponential(1)})`
  } finally {
    executable.dispose()
  }
}

type Made = (...xs: readonly never[]) => unknown
const gradientOf = (s: Subject, values: Program): Program | undefined => {
  const floats = values.outputs.flatMap((o, i) => (isFloat(o.dtype) ? [i] : []))
  if (floats.length === 0 || s.wrt.length === 0) return undefined
  const avals = [...s.avals, ...floats.map((k) => values.outputs[k]!.aval)]
  const loss = lossOf(s, floats)
  const f = Object.defineProperty((...xs: readonly unknown[]) => (loss(...xs) as readonly unknown[])[0], 'length', { value: avals.length })
  return trace((cd.valueAndGrad as unknown as (f: unknown, o: object) => Made)(f, { wrt: s.wrt }) as never, avals)
}

/** Checks the program of a seed. */
export const checkOnDevice = async (seed: number, backend: WebGpuBackend, kind: Wanted = 'all'): Promise<Outcome> => {
  const program = inSingle(generate(seed, kind).program)
  const told = (checked: Outcome['checked'], failure?: string): Outcome =>
    failure === undefined ? { seed, checked } : { seed, checked, failure: `${failure}\n${printProgram(program, failure)}` }
  if (program.wild === true) return told('none')
  const oracle = cd.reference()
  const lanes: Lanes = { oracle, lanes: [], without: new Map() }
  const on = (p: Program, inputs: readonly TypedArray[]): readonly TypedArray[] => oracle.prepare(p).run(inputs) as readonly TypedArray[]
  let s: Subject
  let values: Program
  let want: readonly TypedArray[]
  let gradient: Program | undefined
  try {
    s = subjectOf(program, { lanes })
    values = trace(s.f as never, s.avals)
    want = on(values, s.inputs)
    gradient = gradientOf(s, values)
  } catch {
    return told('none') // in f32 it is another program, and may have no meaning; the laws say what has one in f64
  }
  if (!allFinite(want)) return told('none')
  try {
    const wrong = await compared('values', values, s.inputs, want, backend)
    if (wrong !== undefined || gradient === undefined || program.kinked === true) return told('values', wrong)
    const inputs = [...s.inputs, ...cotangentsOf(program, values)]
    const wanted = on(gradient, inputs)
    return told('values and gradients', allFinite(wanted) ? await compared('gradients', gradient, inputs, wanted, backend) : undefined)
  } catch (e) {
    return needsF64(e) ? told('none') : told('values', `throws: ${e instanceof Error ? e.message : String(e)}`)
  }
}

/** Checks the programs of many seeds on lavapipe and prints what fails: does all hold? A new device every so many programs frees their shaders. */
export const checkManyOnDevice = async (seed: number, runs: number, kind: Wanted = 'all'): Promise<boolean> => {
  const lane = findLane('lavapipe')
  if (lane === undefined) return false
  await openGpu(lane)
  const counts = { none: 0, values: 0, 'values and gradients': 0 }
  let failed = 0
  let backend: WebGpuBackend | undefined
  for (let i = 0; i < runs; i++) {
    if (i % 200 === 0) {
      backend?.dispose()
      backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
      console.log(`${i} of ${runs} programs, ${failed} failed`)
    }
    const { checked, failure } = await checkOnDevice(seed + i, backend!, kind)
    counts[checked]++
    if (failure === undefined) continue
    failed++
    console.log(`seed ${seed + i}: ${failure}\n`)
  }
  backend?.dispose()
  console.log(`${runs - failed} of ${runs} random programs hold on lavapipe; checked: ${JSON.stringify(counts)}`)
  return failed === 0
}
