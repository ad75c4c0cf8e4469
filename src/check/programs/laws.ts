/** What must hold of a random program: what `checkProgram` checks, and that it is the same behind guards, on declared kinks and read back from JSON. */

import { estimatesIn, type Registry } from '../../core/calculus/rule.js'
import { type AdError, isAdException } from '../../core/errors/error.js'
import { greatestOf } from '../../core/errors/extremes.js'
import type { SyncBackend } from '../../core/functions/backend.js'
import { isFloat } from '../../core/graph/aval.js'
import { evaluateNodes } from '../../core/graph/evaluate.js'
import { programsOf } from '../../core/graph/expand.js'
import { applyAny, constant, linearize, type Node } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import { flatProgram } from '../../core/graph/program.js'
import { substitute } from '../../core/graph/rewrite.js'
import { customPrimitive } from '../../core/ops/custom.js'
import { programFromJSON } from '../../core/programs/decode.js'
import { programToJSON } from '../../core/programs/encode.js'
import { finder } from '../../core/programs/json.js'
import { coreRegistry } from '../../packs/all.js'
import { checkBatchSizes } from '../batches.js'
import type { Switches } from '../check-names.js'
import { drawArray, random } from '../draw.js'
import { checkFacets } from '../facets.js'
import { Collector, type Finding } from '../findings.js'
import { addsProducts, checkMasked, type Masked, writesProducts } from '../masked.js'
import { checkMaskedExamples } from '../masked-examples.js'
import { BOTH, checkProgram } from '../program.js'
import { checkKinks } from '../rule.js'
import { bind, derivativesOf, derive, evaluate, liftedSubject, type Subject, total } from '../subject.js'
import { LARGE } from '../work.js'
import type { Setting } from './options.js'
import { type Built, built, type RandomProgram } from './program.js'
import { kinksOf } from './singular.js'

/** What was found of one program. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly comparisons: number
  readonly notImplemented: readonly string[]
  /** Primitives that something was not asked of, and what: a backend, JSON, vmap, derivatives. */
  readonly without: readonly (readonly [what: string, primitive: string])[]
  /** Were derivatives compared? */
  readonly derived: boolean
}

/** The subject of the checks: its other examples lie near, and have other integers where the sample says which. */
export const subjectOf = (b: Built, { registry }: Setting, next: () => number): Subject => ({
  registry,
  inputs: b.inputs,
  ys: b.ys,
  values: b.values,
  captured: new Map(),
  paths: b.inputs.map((_, i) => `x${i}`),
  active: b.from.flatMap((g, i) => (g.active ? [i] : [])),
  draw: () =>
    b.from.map(({ value, examples }): NDArray => {
      if (examples === 'same') return value
      const of = { shape: value.shape, dtype: value.dtype, size: value.data.length }
      if (examples !== 'near') return drawArray(of, next, examples)
      const by = drawArray(of, next, [-0.01, 0.01])
      for (let i = 0; i < by.data.length; i++) by.data[i] = value.data[i]! * (1 + by.data[i]!)
      return by
    }),
  tolerance: 1e-7,
  scale: 1 / 8,
  modes: BOTH,
  alone: true,
})

/** Checks that cost many evaluations: each runs for one program in so many. */
const EVERY: Readonly<Record<string, number>> = {
  jacobian: 5,
  commute: 4,
  activity: 4,
  accumulate: 3,
  linear: 4,
  seed: 4,
  batch: 2,
}
/** All of them. */
export const allOn: Switches = Object.fromEntries(Object.keys(EVERY).map((name) => [name, true]))
const switchesFor = ({ checks }: Setting, seed: number): Switches => ({
  ...Object.fromEntries(Object.entries(EVERY).map(([name, n], i) => [name, (seed + i) % n === 0])),
  ...checks,
})

/** The error in one line, with what varies between programs of one fault. */
const textOf = (e: unknown): string => (e instanceof Error ? e.message : String(e)).split('\n').slice(0, 2).join(' ')

interface Attempt {
  readonly active: boolean
  readonly switches: Switches
  readonly backends: readonly SyncBackend[]
}
/** What to leave out after an error that says that something is not there; undefined: it is a failure. */
const leavingOut = (a: Attempt, e: AdError): { readonly next: Attempt; readonly what: string; readonly primitive: string } | undefined => {
  if (e._tag === 'MissingRule' && e.rule === 'batch' && (a.switches.batch !== false || a.switches.commute !== false))
    return { next: { ...a, switches: { ...a.switches, batch: false, commute: false } }, what: 'vmap', primitive: e.primitive }
  if (a.active && (e._tag === 'MissingRule' || e._tag === 'NotImplemented' || e._tag === 'NotDifferentiable'))
    return {
      next: { ...a, active: false },
      what: 'derivatives',
      primitive: e._tag === 'MissingRule' ? e.primitive : e._tag === 'NotImplemented' ? e.rule : e.op,
    }
  if ((e._tag === 'MissingKernel' || e._tag === 'Unsupported') && a.backends.some((b) => b.name === e.backend))
    return {
      next: { ...a, backends: a.backends.filter((b) => b.name !== e.backend) },
      what: e.backend,
      primitive: e._tag === 'MissingKernel' ? e.primitive : e.what,
    }
  return undefined
}

/** The checks of a program at its values; what the library or a rule raises is a finding, but for what is left out on purpose. */
const attempt = (
  s: Subject,
  a: Attempt,
  setting: Setting,
  seed: number,
): { readonly out: Collector; readonly missing?: ReturnType<typeof leavingOut> } => {
  const out = new Collector('program', seed, a.switches)
  out.throwsMissing = true
  const given = a.active ? s : { ...s, active: [] }
  try {
    checkProgram(given, { backends: a.backends, directions: 1, order: setting.order, checks: a.switches }, random(seed), out)
  } catch (e) {
    const missing = isAdException(e) ? leavingOut(a, e.error) : undefined
    if (missing !== undefined) return { out, missing }
    out.note('value', 'the checks raise', 0, 'results', textOf(e))
  }
  return { out }
}

/** The same program, written as JSON and read back with the primitives of the registry, has the same values and the same JSON. */
const checkJson = (b: Built, setting: Setting, out: Collector, without: [string, string][]): void => {
  if (!out.on('value')) return
  let text: string
  try {
    text = JSON.stringify(programToJSON(flatProgram('program', b.inputs, b.ys)))
  } catch (e) {
    if (!isAdException(e)) throw e
    const { error } = e
    without.push(['JSON', error._tag === 'BadInput' ? error.where.replace('toJSON: ', '') : error._tag])
    return
  }
  const read = programFromJSON(finder([...setting.registry.byPrimitive.keys()]))(JSON.parse(text))
  if (read._tag === 'Left') {
    const reason = read.left._tag === 'Decode' ? read.left.errors[0]?.reason : read.left._tag
    out.note('value', 'read back from JSON', 0, 'a program', reason)
    return
  }
  const q = read.right
  try {
    out.is('value', 'read back from JSON and written again', JSON.stringify(programToJSON(q)) === text, true)
    const want = evaluateNodes(b.ys, bind(b.inputs, b.values))
    evaluateNodes(q.outputs, bind(q.inputs, b.values)).forEach((v, i) => {
      out.near('value', `read back from JSON, result ${i}`, v.data, want[i]!.data, 0)
    })
  } catch (e) {
    out.note('value', 'what is read back from JSON raises', 0, 'results', textOf(e))
  }
}

const where = coreRegistry.rules.get('where')!.primitive
/** Derivatives of a guarded program are those of the program whose guarded steps read a regular number where nothing is seen of them, in every way. */
const checkGuards = (p: RandomProgram, b: Built, s: Subject, { order }: Setting, seed: number, out: Collector): void => {
  if (!p.steps.some((x) => x.guard !== undefined) || s.active.length === 0) return
  const safe = built(p, (x, g, at) => applyAny(where, [at.get(g.condition)!, x, constant(g.safe, x.dtype)], {})[0]!)
  const other = substitute(safe.ys, new Map(safe.inputs.map((x, i) => [x, b.inputs[i]!])))
  const at = bind(b.inputs, b.values)
  const [own, regular] = [evaluate(b.ys, at), evaluate(other, at)]
  // A guard that was taken apart guards nothing.
  if (!own.every((v, i) => v.data.every((x, k) => Object.is(x, regular[i]!.data[k])))) return
  const floats = b.ys.flatMap((y, i) => (isFloat(y.dtype) && b.ys.indexOf(y) === i ? [i] : []))
  const inputs = b.inputs.map((node, i) => ({ node, value: b.values[i]!, name: s.paths[i]!, active: s.active.includes(i) }))
  const guarded: Masked = {
    what: 'guarded by where',
    inputs,
    own: floats.map((i) => b.ys[i]!),
    other: floats.map((i) => other[i]!),
    seeds: 'any',
  }
  const d = derive(s)
  const second = order === 2 && !byHand(s.registry, b.ys) && !addsProducts(derivativesOf(d)) && !writesProducts(d)
  const tolerance = b.ys.some((y) => y.dtype === 'f32') ? 1e-4 : 1e-9
  checkMasked(s.registry, s.modes, [guarded], second ? 2 : 1, random(seed), out, tolerance)
}
/**
 * Is a rule among them that somebody wrote out, customRule's or a primitive's of their own? Its products are those that it says, so what a mask made zero of its first
 * derivatives may meet an infinity in its second.
 */
const byHand = (registry: Registry, ys: readonly Node[]): boolean =>
  linearize(ys).nodes.some(({ prim, payload }) => {
    if (prim === null) return false
    const rule = registry.ruleOf(prim)
    const own = rule?.form === undefined && rule?.composed !== true && rule !== coreRegistry.ruleOf(prim)
    return prim === customPrimitive || own || programsOf(prim, payload).some((p) => byHand(registry, p.outputs))
  })
/** One program in so many is asked what masks before and behind it do. */
const MASKED = 5
/** What is masked before and behind a program has no say in it. */
const checkMasks = (p: RandomProgram, s: Subject, { order }: Setting, seed: number, out: Collector): void => {
  if (seed % MASKED !== 0 || p.steps.some((x) => x.guard !== undefined) || out.findings.length > 0) return
  const d = derive(liftedSubject(s))
  if (total([...d.inputs, ...d.outs]) <= LARGE && estimatesIn(d.registry, d.outs).length === 0)
    checkMaskedExamples(d, byHand(s.registry, d.outs) ? 1 : order, random(seed), out)
}

/** One program in so many is asked for other facets than its derivatives, another one for batches of other sizes. */
const BESIDE = 5
/** Taylor series, sparse matrices, checkpoint and stopGradient; batches of 0, 1, 2 and 5, along other axes, and of batches. */
const checkBeside = (p: RandomProgram, s: Subject, a: Attempt, { order }: Setting, seed: number, out: Collector): void => {
  if (out.findings.length > 0) return
  if (seed % BESIDE === 3 && a.switches.batch !== false && out.on('sizes')) checkBatchSizes(liftedSubject(s), seed, out)
  if (seed % BESIDE !== 2 || !a.active || p.steps.some((x) => x.guard !== undefined)) return
  const d = derive(liftedSubject(s))
  if (total([...d.inputs, ...d.outs]) <= LARGE && estimatesIn(d.registry, d.outs).length === 0) checkFacets(d, order, random(seed), out)
}

/** Steps on a declared kink have the declared derivative there. */
const checkDeclaredKinks = (p: RandomProgram, values: ReadonlyMap<number, NDArray>, setting: Setting, out: Collector): void => {
  if (!out.on('kink')) return
  const seen = new Set<string>()
  for (const { primitive, args } of p.steps) {
    const kinks = seen.has(primitive.name) ? [] : kinksOf(primitive)
    if (kinks.length === 0 || !args.every((id) => isFloat(values.get(id)!.dtype))) continue
    const xs = args.map((id) => values.get(id)!.data)
    const size = greatestOf(xs.map((x) => x.length))
    const on = kinks.some(({ at }) =>
      Array.from({ length: size }, (_, i) => i).some((i) => at.every((v, k) => (xs[k]!.length === 1 ? xs[k]![0] : xs[k]![i]) === v)),
    )
    if (!on) continue
    seen.add(primitive.name)
    const c = checkKinks(setting.registry, primitive, { seed: out.seed })
    if (c._tag === 'Left') for (const f of c.left) out.note('kink', `${primitive.name}, ${f.path}`, f.index, f.expected, f.actual)
    else out.comparisons += c.right.comparisons
  }
}

/** Everything that must hold of a program. The seed says which of the costly checks run, and in which directions. */
export const checkOne = (p: RandomProgram, setting: Setting, seed: number): Outcome => {
  const without: [string, string][] = []
  const b = built(p)
  const s = subjectOf(b, setting, random(seed + 1))
  const sync = setting.backends.filter((x): x is SyncBackend => x.kind === 'sync')
  const guarded = p.steps.some((x) => x.guard !== undefined)
  const switches = switchesFor(setting, seed)
  let a: Attempt = {
    active: s.active.length > 0 && b.ys.some((y) => isFloat(y.dtype)),
    // Behind a guard there is no second derivative to compare, and differences say nothing.
    switches: guarded ? { ...switches, jacobian: false, 'second order': false } : switches,
    backends: sync,
  }
  for (;;) {
    const { out, missing } = attempt(s, a, setting, seed)
    if (missing !== undefined) {
      without.push([missing.what, missing.primitive])
      a = missing.next
      continue
    }
    if (a.active && out.notImplemented.length > 0 && out.findings.length === 0) {
      // Nothing was compared: the values still are.
      const values = attempt(s, { ...a, active: false }, setting, seed).out
      values.notImplemented.push(...out.notImplemented)
      return finished(p, b, s, values, { ...a, active: false }, setting, seed, without)
    }
    return finished(p, b, s, out, a, setting, seed, without)
  }
}
const finished = (
  p: RandomProgram,
  b: Built,
  s: Subject,
  out: Collector,
  a: Attempt,
  setting: Setting,
  seed: number,
  without: [string, string][],
): Outcome => {
  const at = bind(b.inputs, b.values)
  const ids = [...b.at.keys()]
  const nodes = ids.map((id) => b.at.get(id)!)
  const values = new Map(evaluate(nodes, at).map((v, i) => [ids[i]!, v]))
  try {
    if (a.active && out.on('non-finite')) {
      checkGuards(p, b, s, setting, seed, out)
      checkMasks(p, s, setting, seed, out)
    }
    if (a.active) checkDeclaredKinks(p, values, setting, out)
    checkBeside(p, s, a, setting, seed, out)
  } catch (e) {
    out.note('value', 'the checks raise', 0, 'results', textOf(e))
  }
  checkJson(b, setting, out, without)
  return { findings: out.mistakes(), comparisons: out.comparisons, notImplemented: out.notImplemented, without, derived: a.active }
}

/** The primitives below nodes, those of programs in parameters among them, and whether any application of each depends on `moving`. */
export const primitivesIn = (
  nodes: readonly Node[],
  moving: ReadonlySet<Node>,
  into: Map<string, boolean> = new Map(),
): ReadonlyMap<string, boolean> => {
  const depends = new Set(moving)
  for (const n of linearize(nodes).nodes) {
    if (n.args.some((a) => depends.has(a))) depends.add(n)
    if (n.prim === null) continue
    into.set(n.prim.name, into.get(n.prim.name) === true || depends.has(n))
    for (const q of programsOf(n.prim, n.payload)) primitivesIn(q.outputs, new Set(depends.has(n) ? q.inputs : []), into)
  }
  return into
}
