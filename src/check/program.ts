/** All checks of a program at a point: on the f64 form of it, then its f32 derivatives against those. */

import { integerOf, listOf, type Names, numberOf, optionsOf, shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { type SyncBackend, syncBackendOf } from '../core/functions/backend.js'
import { asNode, linearize, type Node } from '../core/graph/expr.js'
import { allocate, type NDArray, type TypedArray } from '../core/graph/ndarray.js'
import { makeProgram } from '../core/graph/program.js'
import { checkBatch, checkCommute } from './batches.js'
import {
  checkActivity,
  checkDifferences,
  checkFanOut,
  checkLinear,
  checkModes,
  checkSeeds,
  checkTangentKinds,
  LARGE,
} from './derivative.js'
import { type Collector, type Switches, switchesOf } from './findings.js'
import { inF32 } from './lifted.js'
import { checkSecondOrder } from './second-order.js'
import { type Derived, dense, derive, drawLike, evaluate, liftedSubject, type Subject, total } from './subject.js'

/** Options of every check. */
export interface CheckOptions {
  /** Draws the same arguments and directions again (default 1). */
  readonly seed?: number
  /** Random directions for each comparison. */
  readonly directions?: number
  /** Relative to the size of the derivative. Differences are taken in f64, whatever the dtype of the function. */
  readonly tolerance?: number
  /** The steps of the differences are relative to this (default 1): smaller for functions with many kinks, such as networks of relus. */
  readonly scale?: number
  /** Derivatives to which order are checked: 1 or 2 (default 2). */
  readonly order?: 1 | 2
  /** Turns single checks off, or on where a program is large. */
  readonly checks?: Switches
  /** Backends that are held against the reference. */
  readonly backends?: readonly SyncBackend[]
}

const checkOptions: Names<CheckOptions> = {
  seed: true,
  directions: true,
  tolerance: true,
  scale: true,
  order: true,
  checks: true,
  backends: true,
}
/** The options of a check, each of its kind. */
export const checkOptionsOf = (given: CheckOptions | undefined, where: string): CheckOptions => {
  const options = optionsOf(given, checkOptions, where)
  const { seed, directions, tolerance, scale, order, checks, backends } = options
  if (seed !== undefined) numberOf(seed, 'seed', where)
  if (directions !== undefined) integerOf(directions, 'directions', where)
  if (tolerance !== undefined) numberOf(tolerance, 'tolerance', where)
  if (scale !== undefined) numberOf(scale, 'scale', where)
  if (order !== undefined && order !== 1 && order !== 2)
    raise({ _tag: 'BadInput', where, reason: `order is ${shown(order)}.`, fix: 'give 1 or 2.' })
  switchesOf(checks, where)
  if (backends !== undefined) for (const b of listOf(backends, 'backends', where)) syncBackendOf(b, where)
  return options
}

const hasF32 = (nodes: readonly Node[]): boolean => linearize(nodes).nodes.some((n) => n.dtype === 'f32')

/** Every check of a program. False: a derivative is not implemented, so nothing was compared. */
export const checkProgram = (given: Subject, options: CheckOptions, next: () => number, out: Collector): void => {
  const own = derive(given)
  const keeps = out.keeps('input', given.values)
  if (!checkTangentKinds(own, out)) return
  evaluate(own.ys, own.env).forEach((v, i) => {
    const [a, b] = evaluate([own.pushed[i]!, own.pulled[i]!], own.env)
    out.near('value', `frule result ${i}`, a!.data, v.data, 0)
    out.near('value', `rrule result ${i}`, b!.data, v.data, 0)
  })
  const float32 = hasF32(own.ys)
  const d = float32 ? derive(liftedSubject(given)) : own
  const keepsLifted = out.keeps('input', d.values)
  const cheap = total(d.inputs) <= LARGE
  if (d.outs.length > 0 && d.wrt.length > 0) {
    checkDifferences(d, options.directions ?? 2, next, out)
    checkModes(d, next, out)
    if (out.on('linear', cheap)) checkLinear(d, next, out)
    if (out.on('seed', cheap)) checkSeeds(d, next, out)
    if (out.on('activity', cheap)) checkActivity(d, next, out)
    if (out.on('accumulate', cheap)) checkFanOut(d, next, out)
    if (out.on('second order', cheap && (options.order ?? 2) === 2)) checkSecondOrder(d, options.directions ?? 2, next, out)
    if (out.on('commute', cheap)) checkCommute(d, next, out)
  }
  if (out.on('batch', cheap)) checkBatch(d, out)
  if (float32 && d.outs.length > 0) checkFloat32(own, d, next, out)
  for (const backend of options.backends ?? []) checkBackend(own, backend, next, out)
  keeps()
  keepsLifted()
}

/** Derivatives in f32 against those of the same expression in f64, at the same point, to 1e-5 of the largest. */
export const checkFloat32 = (own: Derived, exact: Derived, next: () => number, out: Collector): void => {
  if (!out.on('f32')) return
  const rounded = (nodes: readonly Node[]): NDArray[] =>
    drawLike(nodes, next).map((v, i) => (nodes[i]!.dtype === 'f32' ? inF32({ ...v, dtype: 'f64' }) : v))
  const [dx, yBar] = [rounded(own.tangents), rounded(own.seeds)]
  const at = (d: Derived): NDArray[] => {
    const env = new Map(d.env)
    d.tangents.forEach((n, i) => {
      env.set(n, { ...dx[i]!, dtype: n.dtype })
    })
    d.seeds.forEach((n, i) => {
      env.set(n, { ...yBar[i]!, dtype: n.dtype })
    })
    return evaluate([...dense(d.dys, d.outs), ...dense(d.xBars, d.wrt)], env)
  }
  const want = at(exact)
  at(own).forEach((v, i) => {
    const path = i < own.outs.length ? `dy ${i}` : `xBar of ${own.paths[own.active[i - own.outs.length]!]}`
    out.near('f32', path, v.data, want[i]!.data, 1e-5)
  })
}

/** Values, tangents and cotangents on a backend; into the caller's arrays and added to them; nothing else is written. */
export const checkBackend = (d: Derived, backend: SyncBackend, next: () => number, out: Collector): void => {
  if (!out.on('backend')) return
  const inputs = [...d.inputs, ...d.tangents, ...d.seeds]
  const outputs = [...d.ys, ...dense(d.dys, d.outs), ...dense(d.xBars, d.wrt)]
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
    const tolerance = hasF32(outputs) ? 1e-5 : 1e-9
    const targets = outputs.map((n) => guarded(n.dtype, n.aval.size))
    const views = targets.map((t) => t.view)
    const run = (how: string, into?: readonly TypedArray[], accumulate = false): void => {
      const got = executable.run(
        data.map((x) => x.view),
        into,
        accumulate,
      )
      got.forEach((v, i) => {
        const plus = accumulate ? Float64Array.from(want[i]!.data, (x) => x + 1) : want[i]!.data
        if (!accumulate || outputs[i]!.dtype !== 'bool') out.near('backend', `${backend.name}${how}, result ${i}`, v, plus, tolerance)
        if (into !== undefined) out.is('backend', `${backend.name}${how}, result ${i} is the caller's array`, v === into[i], true)
      })
    }
    run('')
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
