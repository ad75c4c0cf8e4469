/** What must hold of a random program, on every lane: values, gradients in three modes, and, for some seeds, the second-order and other laws. */
import { random } from '../../../src/check/index.js'
import { metaOf, traceMeta } from '../../../src/core/functions/function.js'
import { aval, isFloat } from '../../../src/core/graph/aval.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import type { DType } from '../../../src/core/types/dtype.js'
import { isAdException } from '../../../src/index.js'
import { coarsest, type Difference, differ, quickly, roundingOf } from './compare.js'
import { type Coverage, countCheck, countPlan, countProgram } from './coverage.js'
import { type Lane, type Lanes, runOn } from './lanes.js'
import { type Api, argumentsOf, arrayOf, functionOf, type RandomProgram, shipped } from './program.js'

/** What went wrong. `kind` is what shrinking keeps: the check, the lane, and for an exception its text without numbers. */
export interface Failure {
  readonly kind: string
  readonly what: string
  /** The law that failed, where it is not one of values and gradients. */
  readonly law?: string
}
export interface CheckOptions {
  readonly lanes: Lanes
  readonly api?: Api
  readonly coverage?: Coverage
  /** The one law to check, or none; without it those that the seed says. */
  readonly law?: string | 'none'
}

class Failed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.what)
  }
}
type F = (...xs: readonly unknown[]) => unknown
const leaf = { _tag: 'Leaf' as const }

/** A subject and all that its checks share. */
export interface Subject {
  readonly program: RandomProgram
  readonly api: Api
  readonly f: (...xs: readonly unknown[]) => readonly unknown[]
  readonly avals: readonly ReturnType<typeof aval>[]
  readonly inputs: readonly TypedArray[]
  readonly lanes: Lanes
  readonly coverage: Coverage | undefined
  /** Arguments that are floats, by position. */
  readonly wrt: readonly number[]
}

/** Traces a function of n arguments. */
export const trace = (f: F, avals: Subject['avals']): Program =>
  traceMeta(metaOf(f), { _tag: 'Tuple', items: avals.map(() => leaf) }, avals)

const textOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))
/** An exception's text without what varies between programs of one fault. */
const shape = (text: string): string =>
  text
    .split('\n')[0]!
    .replace(/[-\d.]+(e[-+]?\d+)?/g, '#')
    .replace(/\[[#,\s]*\]/g, '[]')
    .slice(0, 90)
/** Runs a part of a check; what it throws is a failure of that part. */
export const guarded = <X>(what: string, part: () => X): X => {
  try {
    return part()
  } catch (e) {
    if (e instanceof Failed) throw e
    throw new Failed({ kind: `${what} throws: ${shape(textOf(e))}`, what: `${what} throws: ${textOf(e)}` })
  }
}
/** Rules may say that a derivative does not exist: then there is nothing to compare. */
const NO_DERIVATIVE = new Set(['NotImplemented', 'MissingRule', 'NotDifferentiable'])
/** Nor has a loop of any number of steps a way back. */
const hasNone = (e: unknown): boolean => {
  if (!isAdException(e)) return false
  const { error } = e
  return (
    NO_DERIVATIVE.has(error._tag) || (error._tag === 'BadInput' && error.where === 'whileLoop' && error.reason.startsWith('reverse mode'))
  )
}
export const derivative = (s: Subject, what: string, build: () => Program): Program | undefined => {
  try {
    return build()
  } catch (e) {
    if (hasNone(e)) {
      if (s.coverage !== undefined) countCheck(s.coverage, `${what}: no derivative`)
      return undefined
    }
    throw new Failed({ kind: `${what} throws: ${shape(textOf(e))}`, what: `building ${what} throws: ${textOf(e)}` })
  }
}
const showDifference = (d: Difference): string =>
  d.entry < 0
    ? `result ${d.result} has ${d.got} elements, not ${d.want}`
    : `result ${d.result}, entry ${d.entry} is ${d.got}, wanted ${d.want} (allowed ${d.allowed.toExponential(1)})`

/** Fails where `got` differs from `want` by more than rounding; `programs` made the two. */
export const agree = (
  kind: string,
  got: readonly TypedArray[],
  want: readonly TypedArray[],
  programs: readonly { readonly program: Program; readonly inputs: readonly TypedArray[] }[],
): void => {
  const dtypes: readonly DType[] = programs[0]!.program.outputs.map((o) => o.dtype)
  const coarse = programs.some((p) => coarsest(p.program) === 'f32') ? 'f32' : 'f64'
  if (differ(got, want, dtypes, quickly(want, coarse)) === undefined) return
  const rounding = programs.map((p) => roundingOf(p.program, p.inputs, want))
  const d = differ(got, want, dtypes, (k, i) => rounding.reduce((s, r) => s + r(k, i), 0))
  if (d !== undefined) throw new Failed({ kind, what: `${kind}: ${showDifference(d)}` })
}
/** Runs a program on a lane and holds it against the oracle's results. */
export const onLane = (
  lane: Lane,
  what: string,
  program: Program,
  inputs: readonly TypedArray[],
  want: readonly TypedArray[],
  of = program,
): void => {
  const got = guarded(`${what} on ${lane.name}`, () => runOn(lane.backend, program, inputs))
  agree(
    `${what} on ${lane.name}`,
    got,
    want,
    of === program
      ? [{ program, inputs }]
      : [
          { program, inputs },
          { program: of, inputs },
        ],
  )
}

const filled = (a: { readonly dtype: DType; readonly size: number }, next: () => number): TypedArray => {
  const data = allocate(a.dtype, a.size)
  for (let i = 0; i < data.length; i++) data[i] = 2 * next() - 1
  return data
}

/** Every so many programs of loops what became of their plans is looked at too. */
const PLANS = 8
const counted = ({ coverage, program: { kind, seed } }: Subject, p: Program, as: 'values' | 'derivatives'): void => {
  if (coverage === undefined) return
  countProgram(coverage, p, as)
  if (kind === 'loops' && seed % PLANS === 0) countPlan(coverage, p)
}

/** Values on each lane: the first call, then one on memory full of NaN, after other programs have run. */
const checkValues = (s: Subject): Program => {
  const program = guarded('tracing', () => trace(s.f, s.avals))
  counted(s, program, 'values')
  const want = guarded('values on reference', () => runOn(s.lanes.oracle, program, s.inputs))
  for (const lane of s.lanes.lanes) {
    const what = `values on ${lane.name}`
    const executable = guarded(what, () => lane.backend.prepare(program))
    try {
      const got = guarded(what, () => executable.run(s.inputs))
      agree(what, got, want, [{ program, inputs: s.inputs }])
      lane.poison()
      const again = guarded(`${what}, second call`, () => executable.run(s.inputs))
      if (
        differ(
          again,
          got,
          program.outputs.map((o) => o.dtype),
          () => 0,
        ) !== undefined
      )
        agree(`${what}, second call`, again, want, [{ program, inputs: s.inputs }])
    } finally {
      executable.dispose()
    }
  }
  return program
}

const modes = ['mixed', 'reverse', 'forward'] as const
type Mode = (typeof modes)[number]
export interface Gradients {
  /** The program of value, results and gradients in a mode, over the arguments and the cotangents of the float results. */
  readonly of: (mode: Mode) => Program | undefined
  readonly inputs: readonly TypedArray[]
  /** Results that are floats, by position. */
  readonly floats: readonly number[]
  readonly yBars: readonly TypedArray[]
}
/** The sum of every float result times a cotangent of its own: one number whose gradient sees every entry. */
export const lossOf =
  (s: Subject, floats: readonly number[]): F =>
  (...xs) => {
    const n = s.avals.length
    const ys = s.f(...xs.slice(0, n))
    const [sum, mul, add] = [s.api.sum, s.api.mul, s.api.add] as readonly F[]
    const loss = floats.map((k, i) => sum!(mul!(ys[k], xs[n + i]))).reduce((a, b) => add!(a, b))
    return [loss, ys]
  }

/** The cotangents that a program's float results are given. */
export const cotangentsOf = (p: RandomProgram, values: Program): readonly TypedArray[] => {
  const next = random(p.seed + 7919)
  return values.outputs.flatMap((o) => (isFloat(o.dtype) ? [filled(o.aval, next)] : []))
}
const gradientsOf = (s: Subject, values: Program): Gradients | undefined => {
  const floats = values.outputs.flatMap((o, i) => (isFloat(o.dtype) ? [i] : []))
  if (floats.length === 0 || s.wrt.length === 0) return undefined
  const yBars = cotangentsOf(s.program, values)
  const avals = [...s.avals, ...floats.map((k) => values.outputs[k]!.aval)]
  const f = lossOf(s, floats)
  const made = new Map<Mode, Program | undefined>()
  const of = (mode: Mode): Program | undefined => {
    if (!made.has(mode)) {
      const build = (): Program => trace((s.api.valueAndGrad as F)(f, { wrt: s.wrt, mode, aux: true }) as F, avals)
      made.set(mode, derivative(s, `gradient, ${mode}`, build))
    }
    return made.get(mode)
  }
  return {
    of,
    inputs: [...s.inputs, ...yBars],
    floats,
    yBars,
  }
}
/** Gradients in three modes, on every lane, against the reference in mixed mode. */
const checkGradients = (s: Subject, g: Gradients): void => {
  const first = g.of('mixed') === undefined ? 'forward' : 'mixed'
  const mixed = g.of(first)
  if (mixed === undefined) return
  counted(s, mixed, 'derivatives')
  const want = guarded(`gradient, ${first} on reference`, () => runOn(s.lanes.oracle, mixed, g.inputs))
  const { seed, kind } = s.program
  const laneAt = (i: number): Lane => s.lanes.lanes[(seed + i) % s.lanes.lanes.length]!
  // Programs of loops are many, and their ways back long: each mode on one lane, and not each mode each time.
  const few = kind === 'loops'
  for (const lane of few ? [laneAt(0)] : s.lanes.lanes) onLane(lane, `gradient, ${first}`, mixed, g.inputs, want)
  if (first === 'forward') return
  // The other modes each on one lane: which one changes with the seed.
  for (const [i, mode] of (['reverse', 'forward'] as const).entries()) {
    if (few && Math.floor(seed / 2) % 4 !== i) continue
    const p = g.of(mode)
    if (p === undefined) continue
    if (s.coverage !== undefined) countProgram(s.coverage, p, 'derivatives')
    onLane(laneAt(few ? 1 : i), `gradient, ${mode}`, p, g.inputs, want, mixed)
  }
}

/** One law that holds of every program whose values are finite. */
export interface Law {
  readonly name: string
  /** Every how many programs it is checked. */
  readonly every: number
  readonly check: (s: Subject, values: Program, g: Gradients) => void
}

export const subjectOf = (program: RandomProgram, o: CheckOptions): Subject => {
  const own = argumentsOf(program)
  const arrays = own.map(arrayOf)
  const avals = own.map((x) => aval(x.shape, x.dtype))
  const api = o.api ?? shipped
  return {
    program,
    api,
    f: functionOf(program, api),
    avals,
    inputs: arrays.map((a) => a.data),
    lanes: o.lanes,
    coverage: o.coverage,
    wrt: avals.flatMap((a, i) => (isFloat(a.dtype) ? [i] : [])),
  }
}

/** Checks one program: the first failure, or nothing. */
export const checkProgram = (program: RandomProgram, laws: readonly Law[], o: CheckOptions): Failure | undefined => {
  let law: string | undefined
  try {
    const s = subjectOf(program, o)
    const values = checkValues(s)
    if (program.wild === true) return undefined
    const g = gradientsOf(s, values)
    if (g === undefined) return undefined
    checkGradients(s, g)
    laws.forEach((l, i) => {
      if (o.law === undefined ? (program.seed + i) % l.every !== 0 : o.law !== l.name) return
      law = l.name
      if (o.coverage !== undefined) countCheck(o.coverage, l.name)
      guarded(l.name, () => l.check(s, values, g))
    })
    return undefined
  } catch (e) {
    if (e instanceof Failed) return { ...e.failure, ...(law !== undefined && { law }) }
    throw e
  }
}
/** Checks it again in the one way in which it failed: does it still? */
export const failsAgain = (program: RandomProgram, laws: readonly Law[], o: CheckOptions, as: Failure): boolean =>
  checkProgram(program, laws, { ...o, law: as.law ?? 'none' })?.kind === as.kind
export const fail = (kind: string, what: string): never => {
  throw new Failed({ kind, what: `${kind}: ${what}` })
}
