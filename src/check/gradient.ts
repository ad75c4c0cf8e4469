/** Checks the gradient of a user's function at its arguments. */

import { estimatesIn, type Registry } from '../core/calculus/rule.js'
import { listOf } from '../core/errors/check-arguments.js'
import { badInput, raise } from '../core/errors/explain.js'
import { number, type OptionsOf, readGiven, readOptions } from '../core/errors/options.js'
import { type Meta, metaOf, readArgs, traceMeta } from '../core/functions/function.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { isExpr, plain } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { Program } from '../core/graph/program.js'
import { showProgram } from '../core/graph/show.js'
import { isTensor } from '../core/graph/tensor.js'
import { leafPaths } from '../core/graph/tree.js'
import { namesApplied } from './applied.js'
import { checkBeside, checkInF32 } from './beside.js'
import { argumentsOf, choicesOf, type DrawOptions, drawFrom, drawOptions, rangesOf } from './declared.js'
import { drawArray, random } from './draw.js'
import { checkExpectations, consistent, type Expectations, expectations } from './expectations.js'
import { type Checked, Collector } from './findings.js'
import { BOTH, type CheckOptions, checkOptions, checkProgram, known } from './program.js'
import { counting, overridesIn, type RuleRan } from './ran.js'
import { derivativesOf, type Subject, sizesOf, stopsInSight } from './subject.js'
import { isSmall } from './work.js'

/** Options of `checkGrad`. `sizes` is for drawn arguments; `domain` for these, and for points near given arguments. */
export interface GradientOptions extends CheckOptions, DrawOptions, Expectations {}

export const gradientOptions: typeof checkOptions & typeof drawOptions & typeof expectations = {
  ...checkOptions,
  ...drawOptions,
  ...expectations,
}
/** The options of checkGrad, each of its kind; ranges are looked at when arguments are drawn. */
export const gradientOptionsOf = (given: GradientOptions | undefined, where: string): GradientOptions =>
  consistent(readGiven(gradientOptions, given, where), where)

/** The arguments that are given or, where none are, one draw of what the function declares. */
const givenOrDrawn = (meta: Meta, args: readonly unknown[], options: GradientOptions, next: () => number, where: string) => {
  if (args.length > 0) {
    if (options.sizes !== undefined) badInput(where, 'sizes says what to draw, and the arguments are given.', 'leave one of them out.')
    return args
  }
  const declared =
    meta.declared ??
    badInput(
      where,
      `${meta.name} was given no arguments, and does not declare what could be drawn.`,
      "give them, checkGrad(f)(x), or declare them: checkGrad(fn({ x: f64('n') }, ({ x }) => ...))().",
    )
  return argumentsOf(declared, drawFrom(choicesOf(declared, meta.name, options, where), next))
}

export const drawArgumentsOptions = {
  ...drawOptions,
  /** Draws the same arguments again. */
  seed: number(1),
}
/** Options of `drawArguments`. */
export type DrawArgumentsOptions = OptionsOf<typeof drawArgumentsOptions>
/** Arguments that were drawn, and the sizes of the named dimensions. */
export interface DrawnArguments {
  readonly args: readonly unknown[]
  readonly sizes: Readonly<Record<string, number>>
}
/**
 * Arguments for a declared function, drawn as `checkGrad(f)()` draws them: the same for the same `seed`, one size for each named dimension, numbers from the
 * `domain` of each input.
 *
 * Errors  BadInput for a function that declares no inputs.
 * @example drawArguments(fn({ x: f64('n') }, ({ x }) => sum(x)), { sizes: { n: [3, 3] } }).sizes   // { n: 3 }
 */
export const drawArguments = (f: unknown, options?: DrawArgumentsOptions): DrawnArguments => {
  const { seed, ...ranges } = readOptions(drawArgumentsOptions, options, 'drawArguments')
  const meta = metaOf(f, 'drawArguments')
  const declared =
    meta.declared ??
    badInput(
      'drawArguments',
      `${meta.name} does not declare what could be drawn.`,
      "declare its inputs: fn({ x: f64('n') }, ({ x }) => ...).",
    )
  const drawn = drawFrom(choicesOf(declared, meta.name, ranges, 'drawArguments'), random(seed))
  return { args: argumentsOf(declared, drawn), sizes: drawn.sizes }
}

/** The rules of primitives that the function or its derivatives apply; those that the checker's own programs ask beside them never ran. */
const ofFunction = (rules: readonly RuleRan[], s: Subject): readonly RuleRan[] => {
  if (rules.length === 0) return rules
  const names = new Set(namesApplied(s.ys))
  try {
    for (const name of namesApplied(derivativesOf(known(s, () => {})))) names.add(name)
  } catch {
    // Whatever a rule throws is a finding by itself.
  }
  return rules.map((r) => (names.has(r.name) ? r : { ...r, ran: [], asked: 0, declined: 0 }))
}
/** A traced function, with what it stops in sight. */
const inSight = ({ inputs, outputs }: Program) => ({ inputs, outputs: stopsInSight(outputs) })
/** The same function, which counts how often it is called. */
const heard = (meta: Meta, count: () => void): Meta => ({
  ...meta,
  body: (args) => {
    count()
    return meta.body(args)
  },
})

/** Arguments longer than this are not written out. */
const WRITTEN = 160
/** The line that checks this again. */
const replayOf = (name: string, args: readonly unknown[], { backends: _, ...options }: GradientOptions): string => {
  const call = `checkGrad(${name}, ${shownOptions(options)})`
  if (args.length === 0) return `${call}()`
  const written = args.map((a) => shownArgument(a)).join(', ')
  return `${call}(${written.length <= WRITTEN ? written : '...the same arguments'})`
}
/** An options record as it is written. */
export const shownOptions = (options: object): string => {
  const parts = Object.entries(options).flatMap(([key, x]) => (x === undefined ? [] : [`${key}: ${shownArgument(x)}`]))
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
const shownArgument = (x: unknown): string => {
  if (isTensor(x)) return `tensor(${JSON.stringify(x.toArray())}, [${x.shape.join(', ')}], '${x.dtype}')`
  if (Array.isArray(x)) return `[${x.map(shownArgument).join(', ')}]`
  if (ArrayBuffer.isView(x)) return `new ${x.constructor.name}([${Array.from(x as never as ArrayLike<number>).join(', ')}])`
  if (typeof x === 'object' && x !== null)
    return `{ ${Object.entries(x)
      .map(([k, v]) => `${/^\w+$/.test(k) ? k : JSON.stringify(k)}: ${shownArgument(v)}`)
      .join(', ')} }`
  return typeof x === 'string' ? `'${x}'` : typeof x === 'function' ? x.name || '...' : String(x)
}

/**
 * Checks the derivative of f at the arguments (without any, at some that are drawn from what it declares), in every mode and to the second order, against finite differences in f64.
 *
 * @example report(checkGradWith(coreRegistry)((x: AnyExpr) => sum(mul(x, x)), [[1, 2, 3]]))   // 'ok   f: ...'
 */
// long: one check after the other, in order
export const checkGradWith =
  (given: Registry) =>
  // long: as above
  (f: unknown, args: readonly unknown[], asked?: GradientOptions, where = 'checkGrad', alone = false): Checked => {
    const options = gradientOptionsOf(asked, where)
    const { registry, rules } = counting(given)
    listOf(args, 'the arguments', where)
    let calls = 0
    const meta = heard(metaOf(f, where), () => {
      calls++
    })
    const seed = options.seed ?? 1
    const next = random(seed)
    const call = givenOrDrawn(meta, args, options, next, where)
    const { leaves, def } = readArgs(meta, call)
    const out = new Collector(meta.name, seed, options.checks, '', replayOf(meta.name, args, { ...options, seed }))
    const values = leaves.map(
      (l): NDArray =>
        isExpr(l)
          ? badInput('checkGrad', 'an expression where a concrete array is wanted.', 'pass numbers, arrays or tensors.')
          : (l as NDArray),
    )
    const program = traceMeta(
      meta,
      def,
      values.map((v) => aval(v.shape, v.dtype)),
    )
    const { inputs, outputs } = program
    if (!outputs.some((o) => isFloat(o.dtype)))
      raise({ _tag: 'NotDifferentiable', op: 'checkGrad', reason: 'the function has no float result' })
    const active = inputs.flatMap((x, i) => (isFloat(x.dtype) ? [i] : []))
    // Other examples lie near the given one, where the function is surely defined.
    const draw = (): readonly NDArray[] =>
      values.map((v) => {
        if (!isFloat(v.dtype)) return v
        const by = drawArray(aval(v.shape, v.dtype), next, [-0.01, 0.01])
        const sizes = sizesOf(v)
        for (let i = 0; i < by.data.length; i++) by.data[i] = v.data[i]! + sizes[i]! * by.data[i]!
        return by
      })
    const subject: Subject = {
      registry,
      inputs,
      ys: stopsInSight(outputs),
      values,
      captured: new Map(),
      paths: leafPaths(def).map((p) => (meta.declared === undefined ? `argument ${p}` : plain(p)) || 'the argument'),
      active,
      draw,
      tolerance: options.tolerance ?? 1e-7,
      scale: options.scale ?? 1,
      modes: options.modes ?? BOTH,
      alone,
    }
    const applied = namesApplied(outputs)
    out.looking.rules = () => ofFunction(rules(), subject)
    for (const name of overridesIn(given)) if (applied.has(name)) out.looking.override(name)
    checkProgram(subject, { ...options, directions: options.directions ?? active.length + 1 }, next, out)
    out.looking.withoutShaders(applied)
    const trees = { args: def, results: program.outputTree, given: call }
    out.guard('what was given', () => checkExpectations(subject, options, trees, next, out, where))
    const ranges = rangesOf(
      meta,
      leafPaths(def).map((path, i) => ({ path, dtype: values[i]!.dtype })),
      options,
      where,
    )
    if (!alone && out.findings.length === 0 && out.on('beside', isSmall(inputs, outputs)) && estimatesIn(registry, outputs).length === 0) {
      out.guard('points beside', () => checkBeside(subject, ranges, next, out))
      if (out.findings.length === 0 && meta.declared === undefined)
        out.guard('in f32', () => checkInF32(subject, (avals) => inSight(traceMeta(metaOf(f, where), def, avals)), next, out))
    }
    if (out.on('trace')) {
      const { calls: most = 1 } = options.budget ?? {}
      if (calls > most) out.note('trace', 'calls of the function for all derivatives', 0, most, calls)
      out.comparisons++
    }
    if (out.on('trace') && options.nondeterminism === undefined) {
      const again = traceMeta(
        meta,
        def,
        values.map((v) => aval(v.shape, v.dtype)),
      )
      out.is('trace', 'the expression of a second call', showProgram(again), showProgram(program))
    }
    return out.result()
  }
