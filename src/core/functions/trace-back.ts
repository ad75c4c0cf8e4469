/** From an element that is not finite back to the equation that made it of numbers that were, through loops, branches and functions with rules of their own. */
import { type Aval, aval, showAval } from '../graph/aval.js'
import { evaluateNodes, lookingInto, type Touch } from '../graph/evaluate.js'
import { isScalarProgram, programsOf } from '../graph/expand.js'
import { CONST, INPUT, type Node, OUTPUT, resultAvals } from '../graph/expr.js'
import { emptyArray, type NDArray } from '../graph/ndarray.js'
import { applications, type Place } from '../graph/origin.js'
import { isScalarFunction, scalarOf } from '../graph/primitive.js'
import type { Program } from '../graph/program.js'
import { broadcastStrides, sizeOf, stridesOf } from '../graph/shape.js'
import type { ScanParams } from '../ops/control/control.js'

/** Is it a number to look for? */
export type Bad = (x: number) => boolean

/** One application whose results are not all finite. */
interface Made {
  readonly args: readonly NDArray[]
  readonly results: readonly NDArray[]
}
/** A program as it was evaluated: inputs, and the applications that gave numbers that are not finite. */
export interface Level {
  readonly outputs: readonly Node[]
  readonly inputs: readonly Node[]
  readonly results: readonly NDArray[]
  readonly made: ReadonlyMap<Node, Made>
  readonly values: ReadonlyMap<Node, NDArray>
  /** Where it is held, from the outermost program in; nothing where its nodes are in none that is traced. */
  readonly around: readonly Place[] | undefined
  readonly steps: readonly number[]
  readonly outer?: Outer
  /** Of a program of numbers: the element of an array at which it is evaluated. */
  readonly element?: { readonly shape: readonly number[]; readonly at: number }
}
/** The application whose program a level is, and where an element that came in through an input stands among its arguments. */
interface Outer {
  readonly level: Level
  readonly app: Node
  readonly made: Made
  readonly lift: (e: Entered) => Entered
}

/** What made a number: an application of finite ones (or an input, a literal) and what it was given there. */
export interface Found {
  readonly node: Node
  readonly aval: Aval
  readonly at: number
  readonly value: number
  readonly given: readonly string[]
  readonly steps: readonly number[]
  readonly places: readonly Place[]
  readonly outputs: readonly Node[]
  /** An argument that is infinite there. */
  readonly infinite?: { readonly level: Level; readonly node: Node; readonly at: number }
}
/** Or it came in through an input of the program that is looked into. */
interface Entered {
  readonly input: number
  readonly at: number
}

const isFloats = ({ dtype }: { readonly dtype: string }): boolean => dtype === 'f64' || dtype === 'f32'
const firstBad = (a: NDArray, bad: Bad): number => (isFloats(a) ? (a.data as Float64Array).findIndex((x) => bad(x)) : -1)
const finite = (a: NDArray): boolean => firstBad(a, (x) => !Number.isFinite(x)) < 0

/** The multi-index of an element. */
export const indexIn = (shape: readonly number[], at: number): readonly number[] =>
  stridesOf(shape).map((s, i) => Math.floor(at / s) % shape[i]!)

type Where = Pick<Level, 'around' | 'steps' | 'inputs' | 'outer' | 'element'>
const evaluatedAt = (outputs: readonly Node[], values: ReadonlyMap<Node, NDArray>, where: Where): Level => {
  const made = new Map<Node, Made>()
  const touch: Touch = (_prim, args, results, _params, node) => {
    if (!results.every(finite)) made.set(node, { args, results })
  }
  return { outputs, results: evaluateNodes(outputs, values, touch), made, values, ...where }
}
/** A program at these inputs, by the meanings. */
export const evaluated = (p: Program, inputs: readonly NDArray['data'][]): Level =>
  evaluatedAt(p.outputs, new Map(p.inputs.map((x, i) => [x, { shape: x.shape, dtype: x.dtype, data: inputs[i]! }])), {
    around: [],
    steps: [],
    inputs: p.inputs,
  })

/** Which element of an argument, broadcast to a shape, stands at an element of that. */
const elementOf = (from: readonly number[], to: readonly number[], at: number): number => {
  const strides = broadcastStrides(from, to)
  return indexIn(to, at).reduce((sum, k, i) => sum + k * strides[i]!, 0)
}

/** An argument and its element. */
interface Source {
  readonly arg: number
  readonly at: number
}
const valueAt = (args: readonly NDArray[], { arg, at }: Source): number => args[arg]!.data[at]!

/** Of a function of numbers: the one bad argument without which it is not, as the chosen one of `where`; or the first. */
const ofNumbers = (node: Node, { args }: Made, sources: readonly Source[], bad: Bad): Source | undefined => {
  const wrong = sources.filter((s) => isFloats(args[s.arg]!) && bad(valueAt(args, s)))
  const f = scalarOf(node.prim!, node.payload, node.dtype)
  const without = (s: Source): number => f(...sources.map((o) => (o === s ? 1 : valueAt(args, o))))
  return wrong.length < 2 ? wrong[0] : (wrong.find((s) => !bad(without(s))) ?? wrong[0])
}
/** Of one that moves elements: it is asked where they went. */
const ofMoved = (node: Node, { args }: Made, r: number, at: number): Source | undefined => {
  let next = 1
  const starts = args.map((a) => {
    const start = next
    next += a.data.length
    return start
  })
  const numbered = args.map(
    (a, i): NDArray => ({ shape: a.shape, dtype: 'f64', data: Float64Array.from(a.data, (_, k) => starts[i]! + k) }),
  )
  const outs = resultAvals(node).map((a) => emptyArray(aval(a.shape, 'f64')))
  node.prim!.meaning(numbered, node.payload, outs)
  const number = outs[r]!.data[at]!
  const arg = starts.findLastIndex((s) => s <= number)
  return arg < 0 || number - starts[arg]! >= args[arg]!.data.length || !Number.isInteger(number)
    ? undefined
    : { arg, at: number - starts[arg]! }
}
/** Of any other: an argument that has one. */
const ofArrays = ({ args }: Made, bad: Bad): Source | undefined => {
  for (const [arg, a] of args.entries()) {
    const at = firstBad(a, bad)
    if (at >= 0) return { arg, at }
  }
  return undefined
}

const spread = (a: NDArray): string => {
  const what = showAval(aval(a.shape, a.dtype))
  if (a.data.length === 0) return what
  const numbers = Array.from(a.data as Float64Array).filter((x) => !Number.isNaN(x))
  const nan = numbers.length < a.data.length ? ', NaN' : ''
  if (numbers.length === 0) return `${what} of NaN`
  const [low, high] = numbers.reduce(
    ([l, h], x) => [Math.min(l!, x), Math.max(h!, x)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
  return `${what} of ${low === high ? low : `${low} to ${high}`}${nan}`
}

/** Goes back through a level until something made it, or it came in. */
const back = (level: Level, from: Node, element: number, bad: Bad): Found | Entered => {
  let node = from
  let at = element
  for (;;) {
    const r = node.kind === OUTPUT ? (node.payload as number) : 0
    const app = node.kind === OUTPUT ? node.args[0]! : node
    const input = level.inputs.indexOf(node)
    if (input >= 0 && level.outer !== undefined) return { input, at }
    const a = node.aval
    const made = level.made.get(app)
    if (node.kind === INPUT || node.kind === CONST || made === undefined) {
      const value = node.kind === CONST ? (node.payload as number) : (level.values.get(node)?.data[at] ?? Number.NaN)
      return { node, aval: a, at, value, given: [], steps: level.steps, places: [], outputs: level.outputs }
    }
    const found = inside(level, app, made, r, at, bad)
    if (found !== undefined && 'node' in found) return found
    const numbers = isScalarFunction(app.prim!)
    const sources = numbers ? made.args.map((x, arg) => ({ arg, at: elementOf(x.shape, app.shape, at) })) : []
    const source =
      found !== undefined
        ? { arg: found.input, at: found.at }
        : numbers
          ? ofNumbers(app, made, sources, bad)
          : app.prim!.class === 'layout'
            ? ofMoved(app, made, r, at)
            : ofArrays(made, bad)
    if (source !== undefined && bad(valueAt(made.args, source))) {
      node = app.args[source.arg]!
      at = source.at
      continue
    }
    const toInfinite = (numbers ? sources : made.args.map((x, arg) => ({ arg, at: firstBad(x, (v) => !Number.isFinite(v)) }))).find(
      (s) => s.at >= 0 && isFloats(made.args[s.arg]!) && !Number.isFinite(valueAt(made.args, s)),
    )
    return {
      node: app,
      aval: level.element === undefined ? a : aval(level.element.shape, a.dtype),
      at: level.element?.at ?? at,
      value: made.results[r]!.data[at]!,
      given: numbers ? sources.map((s) => String(valueAt(made.args, s))) : made.args.map(spread),
      steps: level.steps,
      places: level.around === undefined ? [] : [...level.around, placeOf(level, app)],
      outputs: level.outputs,
      ...(toInfinite !== undefined && { infinite: { level, node: app.args[toInfinite.arg]!, at: toInfinite.at } }),
    }
  }
}
const placeOf = (level: Level, app: Node): Place => ({ at: applications(level.outputs).indexOf(app), prim: app.prim! })

/** What an element was made by, from the outermost program on; nothing where it came in through an input that nobody knows. */
export const tracedBack = (level: Level, node: Node, at: number, bad: Bad): Found | undefined => {
  let found: Found | Entered | undefined = back(level, node, at, bad)
  let { outer } = level
  while (found !== undefined && !('node' in found) && outer !== undefined) {
    const { level: around, app, made, lift } = outer
    const e: Entered = lift(found)
    const carried = app.prim!.structure?.kind === 'loop' && e.input < (app.payload as ScanParams).carries
    // What a loop carries was bad at a step before, or at the first.
    const within: Found | Entered | undefined = carried ? inside(around, app, made, e.input, e.at, bad) : undefined
    found = within ?? back(around, app.args[e.input]!, e.at, bad)
    outer = around.outer
  }
  return found !== undefined && 'node' in found ? found : undefined
}

/** A program of an application, evaluated: at a step of a loop, or at an element. */
type Inner = (
  outputs: readonly Node[],
  values: ReadonlyMap<Node, NDArray>,
  lift: Outer['lift'],
  at: Pick<Level, 'element'> & { readonly step?: number },
) => Level

/** Looks into the programs of an application: what made the number there, or the argument that it came in through. */
const inside = (level: Level, app: Node, made: Made, r: number, at: number, bad: Bad): Found | Entered | undefined => {
  const programs = programsOf(app.prim!, app.payload)
  if (programs.length === 0) return undefined
  const place = placeOf(level, app)
  const levelOf: Inner = (outputs, values, lift, { step, element }) => {
    const k = programs.findIndex((p) => p.outputs === outputs)
    return evaluatedAt(outputs, values, {
      around: level.around === undefined || k < 0 ? undefined : [...level.around, { ...place, inner: k }],
      steps: step === undefined ? level.steps : [...level.steps, step],
      inputs: k < 0 ? [...values.keys()] : programs[k]!.inputs,
      outer: { level, app, made, lift },
      ...(element !== undefined && { element }),
    })
  }
  if (isScalarProgram(app.prim!)) return insideMap(app, made, programs[0]!, levelOf, r, at, bad)
  const loop = app.prim!.structure?.kind === 'loop' ? (app.payload as ScanParams) : undefined
  let found: Found | Entered | undefined
  lookingInto(
    (outputs, values, step) => {
      if (found !== undefined) return evaluateNodes(outputs, values)
      const lift: Outer['lift'] = loop === undefined ? (e) => argumentOf(app, e) : (e) => slicedAt(loop, step!, e)
      const one = levelOf(outputs, values, lift, { ...(step !== undefined && { step }) })
      if (loop !== undefined) found = insideStep(one, loop, r, at, bad)
      else {
        const ended = back(one, outputs[r]!, at, bad)
        found = 'node' in ended ? ended : lift(ended)
      }
      return [...one.results]
    },
    app.prim!,
    app.payload,
    made.args,
    resultAvals(app),
  )
  return found
}

/** Of a branch: its arguments stand behind the index. */
const argumentOf = (app: Node, e: Entered): Entered => (app.prim!.structure?.kind === 'branches' ? { ...e, input: e.input + 1 } : e)
/** Of a step: the element of the slices that its slice is of. */
const slicedAt = ({ carries, slices, program }: ScanParams, step: number, e: Entered): Entered =>
  e.input >= carries && e.input < carries + slices ? { ...e, at: step * sizeOf(program.inputs[e.input]!.shape) + e.at } : e

/** Of a loop: the first step whose carry is bad, or the step that made the row. */
const insideStep = (one: Level, loop: ScanParams, r: number, at: number, bad: Bad): Found | Entered | undefined => {
  const { carries, program } = loop
  const step = one.steps.at(-1)!
  const size = (n: Node): number => sizeOf(n.shape)
  const carried = program.outputs.findIndex((_, j) => j < carries && firstBad(one.results[j]!, bad) >= 0)
  const row = r >= carries && Math.floor(at / size(program.outputs[r]!)) === step
  if (carried < 0 && !row) return undefined
  const [output, element] = row ? [r, at % size(program.outputs[r]!)] : [carried, firstBad(one.results[carried]!, bad)]
  const found = back(one, program.outputs[output]!, element, bad)
  return 'node' in found ? found : slicedAt(loop, step, found)
}

/** Of a program of numbers: at this element. */
const insideMap = (
  app: Node,
  { args }: Made,
  program: Program,
  levelOf: Inner,
  r: number,
  at: number,
  bad: Bad,
): Found | Entered | undefined => {
  const shape = resultAvals(app)[r]!.shape
  const elements = args.map((a) => elementOf(a.shape, shape, at))
  const scalar = (a: NDArray, i: number): NDArray => ({
    shape: [],
    dtype: a.dtype,
    data: a.data.slice(elements[i]!, elements[i]! + 1) as never,
  })
  const lift: Outer['lift'] = (e) => ({ ...e, at: elements[e.input]! })
  const one = levelOf(program.outputs, new Map(program.inputs.map((x, i) => [x, scalar(args[i]!, i)])), lift, { element: { shape, at } })
  const found = back(one, program.outputs[r]!, 0, bad)
  return 'node' in found ? found : lift(found)
}
