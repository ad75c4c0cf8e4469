/** `trap`: a call whose result holds a NaN (or an infinity) says which equation made it, by evaluating the same program again operation by operation. */
import type { NonFiniteCause } from '../errors/error.js'
import { raise } from '../errors/explain.js'
import { type Kind, or, refused } from '../errors/options.js'
import { showAval } from '../graph/aval.js'
import { capturedTensor, INPUT, inputName, type Node } from '../graph/expr.js'
import type { TypedArray } from '../graph/ndarray.js'
import { originOf } from '../graph/origin.js'
import type { Program } from '../graph/program.js'
import { equationOf } from '../graph/show.js'
import { inner } from '../graph/source-lines.js'
import { leafPaths } from '../graph/tree.js'
import type { AsyncExecutable, Elements, Executable } from './backend.js'
import { copyOf, hosted, onADevice } from './device-tensor.js'
import { type Bad, evaluated, type Found, indexIn, tracedBack } from './trace-back.js'

/** What `compile` holds results against: no NaN, or no infinity either. */
export type Trap = 'nan' | 'nonFinite'
/** The option as it is given. */
export const trapOption: Kind<Trap | undefined, Trap> = or<Trap, undefined>(undefined, (given, what, where) =>
  given === 'nan' || given === 'nonFinite' ? given : refused(given, what, where, `trap: 'nan', or 'nonFinite' for infinities too.`),
)

const isBad: Readonly<Record<Trap, Bad>> = { nan: Number.isNaN, nonFinite: (x) => !Number.isFinite(x) }
const infinite: Bad = (x) => !Number.isFinite(x)

/** What a trapped call is about. */
export interface Trapped {
  readonly program: Program
  /** The function's name. */
  readonly name: string
  readonly trap: Trap
  /** Traces the function again. */
  readonly retrace: () => Program
}

/** What is wrong with a result: which, where, and the number. */
interface Symptom {
  readonly result: number
  readonly at: number
  readonly value: number
}
const symptomIn = (results: readonly TypedArray[], bad: Bad): Symptom | undefined => {
  for (const [result, data] of results.entries())
    if (data instanceof Float64Array || data instanceof Float32Array)
      for (let at = 0; at < data.length; at++) if (bad(data[at]!)) return { result, at, value: data[at]! }
  return undefined
}

const argumentName = (p: Program, n: Node): string => {
  const i = p.inputs.indexOf(n)
  if (capturedTensor(n) !== undefined || i < 0) return 'a captured tensor'
  return `argument ${inputName(leafPaths(p.inputTree)[i] ?? '') || `x${i}`}`
}

/** What was found, in words that need no node. */
const causeOf = (t: Trapped, found: Found, derivativeOf?: string): NonFiniteCause => {
  const { node, at, value, given, steps } = found
  const argument = node.kind === INPUT
  return {
    value,
    ...(argument ? { argument: argumentName(t.program, node) } : { primitive: node.prim!.name }),
    index: indexIn(found.aval.shape, at),
    array: showAval(found.aval),
    given,
    steps,
    ...(derivativeOf !== undefined && { derivativeOf }),
  }
}

/** Raises what a call's results say, whose inputs these were. */
const report = (t: Trapped, symptom: Symptom, inputs: readonly TypedArray[]): never => {
  const { program, name, trap, retrace } = t
  const level = evaluated(program, inputs)
  const { result, at, value } = symptom
  const again = level.results[result]!.data[at]!
  // An infinity comes before the NaN that is made of it.
  const last = isBad[trap](again)
    ? tracedBack(level, program.outputs[result]!, at, Number.isNaN(again) ? Number.isNaN : infinite)
    : undefined
  const before = last?.infinite === undefined ? undefined : tracedBack(last.infinite.level, last.infinite.node, last.infinite.at, infinite)
  // A literal infinity is somebody's purpose.
  const all = [before, last].filter((f): f is Found => f !== undefined && (f.node.kind === INPUT || f.node.prim !== null))
  const origins = all.map(({ places, node }) => (node.kind === INPUT ? {} : originOf(places, retrace)))
  const [first] = all
  const equation = first === undefined || first.node.kind === INPUT ? undefined : `${inner(name)}: ${equationOf(first.node, first.outputs)}`
  const source = origins[0]?.source
  return raise({
    _tag: 'NonFinite',
    where: name,
    result: leafPaths(program.outputTree)[result] || 'the result',
    index: indexIn(program.outputs[result]!.shape, at),
    value,
    causes: all.map((f, i) => causeOf(t, f, origins[i]!.derivativeOf)),
    ...((equation ?? source) !== undefined && {
      site: { ...(equation !== undefined && { equation }), ...(source !== undefined && { source }) },
    }),
  })
}

/** Writes results into the caller's arrays, or adds them to what these hold. */
const put = (results: readonly TypedArray[], into: readonly TypedArray[], accumulate: boolean): readonly TypedArray[] => {
  results.forEach((data, i) => {
    const target = into[i]!
    if (accumulate) for (let j = 0; j < data.length; j++) target[j]! += data[j]!
    else target.set(data as never)
  })
  return into
}

/** What an executable has beside `run`: it may be an instance of a class, of which a copy has no methods. */
const besides = <E>(x: { readonly explain: () => E; readonly dispose: () => void; readonly bytes?: number | undefined }) => ({
  explain: () => x.explain(),
  dispose: () => x.dispose(),
  ...(x.bytes !== undefined && { bytes: x.bytes }),
})
/** The executable that holds its results against `trap` before anybody sees them: targets stay as they are where it raises. */
export const trapping = (x: Executable, t: Trapped | undefined): Executable =>
  t === undefined
    ? x
    : {
        ...besides(x),
        run: (inputs, into, accumulate = false) => {
          const results = x.run(inputs)
          const symptom = symptomIn(results, isBad[t.trap])
          if (symptom !== undefined) report(t, symptom, inputs)
          return into === undefined ? results : put(results, into, accumulate)
        },
      }

/** The same on a backend that answers later. What is on its device is read back where a result is bad. */
export const trappingLater = (x: AsyncExecutable, t: Trapped | undefined): AsyncExecutable =>
  t === undefined
    ? x
    : {
        ...besides(x),
        run: async (inputs, into, accumulate = false) => {
          if (into?.some(onADevice))
            raise({
              _tag: 'Unsupported',
              backend: into.find(onADevice)!.backend,
              what: `${t.name}: results that stay on a device are not held against trap.`,
              fix: 'leave out trap, or give targets in the memory of the host.',
            })
          const given = x.takes === true ? inputs.map(copyOf) : inputs
          const results = (await x.run(given)) as readonly TypedArray[]
          const symptom = symptomIn(results, isBad[t.trap])
          const onHost = async (a: Elements): Promise<TypedArray> => (onADevice(a) ? a.read() : a)
          if (symptom !== undefined) report(t, symptom, await Promise.all(inputs.map(onHost)))
          return into === undefined ? results : put(results, hosted(into, t.name), accumulate)
        },
      }
