/** All checks of a program at a point: on the f64 form of it, then its f32 derivatives against those. */

import { estimatesIn, type Registry } from '../core/calculus/rule.js'
import { listOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { integer, type Kind, number, type OptionsOf, or } from '../core/errors/options.js'
import { type SyncBackend, syncBackendOf } from '../core/functions/backend.js'
import { evaluateNodes } from '../core/graph/evaluate.js'
import { programsOf } from '../core/graph/expand.js'
import { asExpr, asNode, linearize, type Node } from '../core/graph/expr.js'
import { allocate, type NDArray, type TypedArray } from '../core/graph/ndarray.js'
import { makeProgram } from '../core/graph/program.js'
import { lostZeros } from './advice.js'
import { checkBatch, checkCommute } from './batches.js'
import { budget, checkBudget } from './budget.js'
import { orders, switches } from './check-names.js'
import { checkTangentKinds, roundingOf } from './derivative.js'
import { random } from './draw.js'
import { checkEstimate, isBiased } from './estimates.js'
import { checkFacets } from './facets.js'
import type { Collector } from './findings.js'
import { checkHigherOrders } from './higher-order.js'
import { checkActivity, checkFanOut, checkLinear, checkModes, checkSeeds } from './laws.js'
import { inF32 } from './lifted.js'
import { checkMaskedExamples } from './masked-examples.js'
import { noiseOf } from './noise.js'
import { checkSecondOrder } from './second-order.js'
import {
  type Derived,
  derivativesOf,
  derive,
  drawLike,
  evaluate,
  known,
  liftedSubject,
  type Mode,
  pointOf,
  type Subject,
} from './subject.js'
import { checkSlopes } from './ties.js'
import { isSmall } from './work.js'

const modes: Kind<readonly Mode[] | undefined, readonly Mode[]> = or<readonly Mode[], undefined>(undefined, (given, what, where) =>
  Array.isArray(given) && given.length > 0 && given.every((m) => m === 'forward' || m === 'reverse')
    ? given
    : badInput(where, `${what} is ${shown(given)}.`, "give ['forward'], ['reverse'] or both."),
)
const backends: Kind<readonly SyncBackend[] | undefined, readonly SyncBackend[]> = or<readonly SyncBackend[], undefined>(
  undefined,
  (given, what, where) => listOf(given, what, where).map((b) => syncBackendOf(b as SyncBackend, where)),
)
export const checkOptions = {
  /** Draws the same arguments and directions again (default 1). */
  seed: number(),
  /** Random directions for each comparison (default one more than there are arguments; 2 for a rule). */
  directions: integer(),
  /** Relative to the size of the derivative. Differences are taken in f64, whatever the dtype of the function. */
  tolerance: number(),
  /** The steps of the differences are relative to this (default 1) and to the size of each argument. */
  scale: number(),
  /** The modes that are checked (default both): a function with an rrule alone can be checked in reverse. */
  modes,
  /** The highest order of the derivatives that are checked (default 2). Those of order 3 and 4 are compared with differences of the order below, for several nestings of the modes. */
  order: orders(1, 2, 3, 4),
  /** A derivative that is off by at most this is right, whatever its size (default 0). */
  atol: number(undefined, { from: 0 }),
  /** Turns single checks off, or on where a program is large. */
  checks: switches,
  /** Backends that are compared with the reference. */
  backends,
  /** What two runs of a backend may differ by, relative to the largest entry (default 0: they give the same bits); and a function may give another expression at each call. */
  nondeterminism: number(undefined, { from: 0 }),
  /** At most so many calls, kernels, allocations and bytes. */
  budget,
}
/** Options of every check. */
export type CheckOptions = OptionsOf<typeof checkOptions>

/** Is anything computed in f32? Then differences are those of the program in f64. */
export const hasF32 = (nodes: readonly Node[]): boolean => linearize(nodes).nodes.some((n) => n.dtype === 'f32')

/** Both modes, unless told otherwise. */
export const BOTH: readonly Mode[] = ['forward', 'reverse']

/**
 * The part of a subject that has derivatives: the modes whose rules can be had (the others are findings), and the arguments whose derivative is
 * implemented (the others are counted).
 */
const workable = (s: Subject, out: Collector): Derived | undefined => {
  const modes = s.modes.filter((mode) => {
    const before = out.findings.length
    out.guard(`${mode} mode`, () => void derive({ ...s, modes: [mode] }))
    return out.findings.length === before
  })
  if (modes.length === 0) return undefined
  return known(
    { ...s, modes },
    (t, i) => {
      out.notImplemented.push(`${t.rule}, ${s.paths[i]}: ${t.reason}`)
    },
    (t, i, mode) => {
      const reason = `${mode} mode alone says that it is not known`
      out.note('not implemented', s.paths[i]!, 0, 'the same in both modes', reason, 0, { how: `NotImplemented of ${t.rule}` })
    },
  )
}
/**
 * First derivatives at one point, against differences and each other. `together`: also along a direction in which all entries move as one; `beside`: the point was chosen by the check, at ties and kinks as may be, and
 * single entries are moved too where they are few.
 */
export const checkFirstOrder = (
  given: Subject,
  directions: number,
  next: () => number,
  out: Collector,
  together = false,
  beside?: { readonly entries: boolean },
): void => {
  if (estimatesIn(given.registry, given.ys).length > 0) return
  const own = workable(hasF32(given.ys) ? liftedSubject(given) : given, out)
  if (own === undefined || own.outs.length === 0 || own.wrt.length === 0) return
  out.looking.at(out.of, out.place, given)
  out.guard('first derivatives', () => {
    checkSlopes(own, directions, next, out, together, beside)
  })
}

/** Does a rule follow from a composition, here or in a program among the parameters? */
const isComposed = (registry: Registry, nodes: readonly Node[]): boolean =>
  linearize(nodes).nodes.some(
    ({ prim, args, payload }) =>
      prim !== null &&
      (registry.ruleOf(prim)?.composed === true ||
        registry.ruleOf(prim)?.optsOut?.(args.map(asExpr), payload as never) === true ||
        programsOf(prim, payload).some((p) => isComposed(registry, p.outputs))),
  )

/** The values that the rules give are the meaning's; of a composition, but for rounding. */
const checkValues = (own: Derived, out: Collector): void => {
  const composed = isComposed(own.registry, own.ys)
  evaluate(own.ys, own.env).forEach((v, i) => {
    for (const [mode, ys] of [
      ['frule', own.pushed],
      ['rrule', own.pulled],
    ] as const) {
      if (ys === undefined) continue
      const [value] = evaluate([ys[i]!], own.env)
      // Of a composition, and at least the last digit: random moves may cancel.
      const last = v.dtype === 'f32' ? F32 : 2 ** -52
      const bound = roundingOf([ys[i]!], own.env, 'own')(0)
      const rounding = composed ? () => Float64Array.from(bound(), (x, k) => x + last * Math.abs(v.data[k]!)) : undefined
      out.near('value', `result ${i}`, value!.data, v.data, 0, rounding, { shape: v.shape, how: `the ${mode}'s own` })
    }
  })
}

/** Every check of a program. */
export const checkProgram = (given: Subject, options: CheckOptions, next: () => number, out: Collector): void => {
  out.atol = options.atol ?? 0
  out.point = () => pointOf(given, new Map(given.inputs.map((x, i) => [x, given.values[i]!])))
  const own = workable(given, out)
  out.advice = (how) => lostZeros(() => own, how)
  const keeps = out.keeps('input', given.values)
  if (own === undefined || !checkTangentKinds(own, out)) return
  out.guard('values', () => checkValues(own, out))
  const float32 = hasF32(own.ys)
  const d = float32 ? derive({ ...liftedSubject(given), modes: own.modes, active: own.active }) : own
  const keepsLifted = out.keeps('input', d.values)
  const cheap = isSmall(d.inputs, d.outs)
  const part = (name: string, check: () => void): void => out.guard(name, check)
  const estimates = estimatesIn(d.registry, d.outs)
  if (estimates.length > 0 && isBiased(d.outs, estimates))
    for (const name of estimates) out.undecidedAt(name, 'its derivative is deliberately another one')
  else if (estimates.length > 0 && d.outs.length > 0 && d.wrt.length > 0) part('estimates', () => checkEstimate(d, estimates, next, out))
  if (d.outs.length > 0 && d.wrt.length > 0 && estimates.length === 0) {
    out.looking.at(out.of, out.place, given)
    part('first derivatives', () => {
      checkSlopes(d, options.directions ?? 2, next, out)
    })
    // A point beside this one: what vanishes at a 0 does not there.
    if (cheap && given.alone !== true && out.findings.length === 0)
      part('a point beside', () => {
        const { counts, place, point } = out
        const beside = { ...given, modes: own.modes, active: own.active, values: given.draw() }
        out.counts = false
        out.place = 'beside it'
        out.point = () => pointOf(beside, new Map(beside.inputs.map((x, i) => [x, beside.values[i]!])))
        checkFirstOrder(beside, 0, next, out)
        out.counts = counts
        out.place = place
        out.point = point
      })
    part('mixed mode', () => checkModes(d, next, out))
    if (out.on('linear', cheap)) part('linearity', () => checkLinear(d, next, out))
    if (out.on('accumulate', cheap)) part('several uses', () => checkFanOut(d, next, out))
    const { order = 2 } = options
    if (out.on('second order', cheap && order >= 2)) {
      out.looking.order(2)
      part('second order', () => checkSecondOrder(d, options.directions ?? 2, next, out))
    }
    if (order > 2 && out.findings.length === 0 && out.on('higher order')) {
      for (let k = 3; k <= order; k++) out.looking.order(k)
      part('higher order', () => checkHigherOrders(d, order, options.directions ?? 2, next, out))
    }
  }
  if (d.outs.length > 0 && d.wrt.length > 0) {
    if (out.on('seed', cheap)) part('seeds', () => checkSeeds(d, next, out))
    if (out.on('activity', cheap)) part('subsets of the arguments', () => checkActivity(d, next, out))
    if (out.on('commute', cheap)) part('vmap of the gradient', () => checkCommute(d, next, out))
  }
  if (out.on('batch', cheap)) part('vmap', () => checkBatch(d, out))
  if (float32 && d.outs.length > 0) part('f32', () => checkFloat32(own, d, next, out))
  for (const { name } of options.backends ?? []) if (out.on('backend')) out.looking.backend(name)
  for (const backend of options.backends ?? [])
    part(`backend ${backend.name}`, () => checkBackend(own, backend, next, out, options.nondeterminism))
  const { budget } = options
  if (budget !== undefined && own.outs.length > 0 && own.wrt.length > 0)
    part('the budget', () => checkBudget(own, budget, options.backends ?? [], out))
  // Of what is wrong at regular numbers nothing more is said. Who draws many programs asks for some of them.
  if (given.alone !== true && d.outs.length > 0 && d.wrt.length > 0 && estimates.length === 0 && out.findings.length === 0) {
    if (out.on('non-finite', cheap)) part('what is masked', () => checkMaskedExamples(d, options.order === 1 ? 1 : 2, next, out))
    if (cheap && out.findings.length === 0) checkFacets(d, options.order === 1 ? 1 : 2, random(1), out)
  }
  keeps()
  keepsLifted()
}

/**
 * Derivatives in f32 against those of the same expression in f64, at the same point, to 1e-5 of the largest; where rounding each number to f32 makes
 * more of a difference, to that.
 */
export const checkFloat32 = (own: Derived, exact: Derived, next: () => number, out: Collector): void => {
  if (!out.on('f32')) return
  const rounded = (nodes: readonly Node[]): NDArray[] =>
    drawLike(nodes, next).map((v, i) => (nodes[i]!.dtype === 'f32' ? inF32({ ...v, dtype: 'f64' }) : v))
  const [dx, yBar] = [rounded(own.tangents), rounded(own.seeds)]
  const envOf = (d: Derived): Map<Node, NDArray> => {
    const env = new Map(d.env)
    d.tangents.forEach((n, i) => {
      env.set(n, { ...dx[i]!, dtype: n.dtype })
    })
    d.seeds.forEach((n, i) => {
      env.set(n, { ...yBar[i]!, dtype: n.dtype })
    })
    return env
  }
  const tangents = own.dys === undefined ? 0 : own.outs.length
  const env = envOf(exact)
  const nodes = derivativesOf(exact)
  const want = evaluate(nodes, env)
  let moves: readonly Float64Array[] | undefined
  let beyond: boolean | undefined
  let under: boolean | undefined
  evaluate(derivativesOf(own), envOf(own)).forEach((v, i) => {
    const path = i < tangents ? `result ${i}` : own.paths[own.active[i - tangents]!]!
    const rounding = (): ArrayLike<number> => {
      under ??= leavesF32(nodes, env, (x) => x !== 0 && Math.abs(x) < F32_LEAST)
      if (under) return new Float64Array(v.data.length).fill(Number.POSITIVE_INFINITY)
      moves ??= noiseOf(nodes, env, F32)
      return moves[i]!
    }
    // What passes the largest number of f32 on its way has no derivative there.
    beyond ??= leavesF32(nodes, env, (x) => !Number.isFinite(Math.fround(x)))
    const how = `f32 against f64, ${i < tangents ? 'forward' : 'reverse'} mode`
    if (!beyond) out.near('f32', path, v.data, want[i]!.data, 1e-5, rounding, { shape: v.shape, how })
    else out.undecidedAt(path, 'a number on the way to the derivative is beyond f32')
  })
}
/** Is any finite number on the way one that f32 does not hold? */
const leavesF32 = (nodes: readonly Node[], env: ReadonlyMap<Node, NDArray>, is: (x: number) => boolean): boolean => {
  let found = false
  evaluateNodes(nodes, env, (_prim, _args, results) => {
    for (const r of results) for (const x of r.data) found ||= Number.isFinite(x) && is(x)
  })
  return found
}
/** Units in the last place of 1 that a factorisation may lose. */
const F64 = 64 * 2 ** -52
/** The least number of f32 with all its digits. */
const F32_LEAST = 2 ** -126
/** The unit in the last place of 1 in f32. */
const F32 = 2 ** -23

/** Values, tangents and cotangents on a backend; into the caller's arrays and added to them; nothing else is written. */
export const checkBackend = (d: Derived, backend: SyncBackend, next: () => number, out: Collector, nondeterminism = 0): void => {
  if (!out.on('backend')) return
  const inputs = [...d.inputs, ...d.tangents, ...d.seeds]
  const outputs = [...d.ys, ...derivativesOf(d)]
  const symbols = [...d.tangents, ...d.seeds]
  const env = new Map(d.env)
  const drawn = drawLike(symbols, next)
  symbols.forEach((n, i) => {
    env.set(n, drawn[i]!)
  })
  const leaf = { _tag: 'Leaf' as const }
  const executable = backend.prepare(
    makeProgram({
      name: out.of,
      inputs,
      inputTree: { _tag: 'Tuple', items: inputs.map(() => leaf) },
      outputs: outputs.map(asNode),
      outputTree: { _tag: 'Tuple', items: outputs.map(() => leaf) },
    }),
  )
  try {
    // Views into larger arrays: what lies around them must stay.
    const guarded = (dtype: Node['dtype'], size: number, fill?: TypedArray): { readonly whole: TypedArray; readonly view: TypedArray } => {
      const whole = allocate(dtype, size + 4).fill(1) as TypedArray
      const view = whole.subarray(2, 2 + size)
      if (fill !== undefined) view.set(fill)
      else view.fill(1)
      return { whole, view }
    }
    const data = inputs.map((n) => guarded(n.dtype, n.aval.size, env.get(n)!.data))
    const before = data.map((x) => x.whole.slice())
    const want = evaluate(outputs, env)
    // What changes within little is moved by as much by the rounding of one number.
    const tolerance = Math.max(hasF32(outputs) ? 1e-5 : 1e-9, hasF32(outputs) ? 0 : F64 / d.scale, nondeterminism)
    const rounding = roundingOf(outputs, env, 'own')
    const targets = outputs.map((n) => guarded(n.dtype, n.aval.size))
    const views = targets.map((t) => t.view)
    const run = (how: string, into?: readonly TypedArray[], accumulate = false): readonly TypedArray[] => {
      const got = executable.run(
        data.map((x) => x.view),
        into,
        accumulate,
      )
      got.forEach((v, i) => {
        // i32 wraps around.
        const one = outputs[i]!.dtype === 'i32' ? (x: number) => (x + 1) | 0 : (x: number) => x + 1
        const plus = accumulate ? Float64Array.from(want[i]!.data, one) : want[i]!.data
        const place = { shape: outputs[i]!.shape, how: `${backend.name}${how}` }
        if (!accumulate || outputs[i]!.dtype !== 'bool') out.near('backend', `result ${i}`, v, plus, tolerance, rounding(i), place)
        if (into !== undefined) out.is('backend', `${backend.name}${how}, result ${i} is the caller's array`, v === into[i], true)
      })
      return got
    }
    const once = run('').map((v) => v.slice())
    run('').forEach((v, i) => {
      const place = { shape: outputs[i]!.shape, how: `${backend.name}, run again` }
      out.near('repeat', `result ${i}`, v, once[i]!, nondeterminism, undefined, place)
    })
    run(', accumulated', views, true)
    run(', into', views)
    targets.forEach((t, i) => {
      out.near('mutation', `${backend.name}, around result ${i}`, [t.whole[0]!, t.whole[1]!, ...t.whole.slice(-2)], [1, 1, 1, 1], 0)
    })
    data.forEach((x, i) => {
      out.near('mutation', `${backend.name}, input ${i}`, x.whole, before[i]!, 0)
    })
  } finally {
    executable.dispose()
  }
}

export { known } from './subject.js'
