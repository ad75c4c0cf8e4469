/** Reverse mode of loops: from the last step to the first, over what the steps kept. */

import { FILLED } from '../core/calculus/hard-zeros.js'
import type { Hardness, Pullback, RuleConfig, RuleContext } from '../core/calculus/rule.js'
import { badInput } from '../core/errors/explain.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, asExprs, asNode, input, type Node, OUTPUT } from '../core/graph/expr.js'
import { among, orderOf } from '../core/graph/order.js'
import { dependents } from '../core/graph/program.js'
import { type Forced, NoTangent, type Tangent, ZeroTangent } from '../core/graph/tangent.js'
import { isUnbounded, type ScanParams, scanNodes } from '../core/ops/control/control.js'
import type { AnyExpr } from '../core/types/expr.js'
import {
  flagOf,
  goingRound,
  isLive,
  type Known,
  knownOf,
  live,
  ofSteps,
  parts,
  type Round,
  standing,
  step,
  whileHolds,
  zeroOf,
  zeros,
} from './control-rounds.js'
import { type Residuals, residualsOf } from './residuals.js'

/** Which inputs of a step depend on what is differentiated: an active carry makes others active, step by step. */
const activeInputs = ({ program, carries }: ScanParams, active: readonly boolean[]): readonly boolean[] => {
  const linear = orderOf(program.outputs)
  let now = active.map((a, i) => a && isFloat(program.inputs[i]!.dtype))
  for (;;) {
    const depends = dependents(
      linear,
      program.inputs.filter((_, i) => now[i]),
    )
    const next = now.map(
      (a, i) => a || (i < carries && isFloat(program.inputs[i]!.dtype) && depends[linear.index.get(program.outputs[i]!)] === 1),
    )
    if (next.every((a, i) => a === now[i])) return now
    now = next
  }
}

/** A loop in the order in which its way back reads it. */
interface Ordered {
  readonly params: ScanParams
  /** Which carries no step changes: they are the same at every step. */
  readonly isStill: (i: number) => boolean
  /** Where each input was, and where it is. */
  readonly order: readonly number[]
  readonly back: ReadonlyMap<number, number>
  /** What a step hands on of each input that is the same at every step: the input itself, or what a loop within hands on of it. */
  readonly ends: readonly Node[]
}
const ordered = (params: ScanParams): Ordered => {
  const { program, carries, until } = params
  const places = program.inputs.map((_, i) => i)
  const isStill = (i: number): boolean => i < carries && i !== until && handedOn(program.outputs[i]!) === program.inputs[i]
  const still = places.filter(isStill)
  const order = [...places.filter((i) => !still.includes(i)), ...still]
  const back = new Map(order.map((from, to) => [from, to]))
  const inputs = order.map((i) => program.inputs[i]!)
  return {
    params: {
      ...params,
      program: step(
        inputs,
        still.length === 0
          ? program.outputs
          : among(
              orderOf(program.outputs),
              program.outputs.filter((_, i) => !still.includes(i)),
            ),
      ),
      carries: carries - still.length,
      ...(until !== undefined && { until: back.get(until)! }),
    },
    isStill: (i) => still.includes(i),
    order,
    back,
    ends: order.map((i) => (still.includes(i) ? program.outputs[i]! : program.inputs[i]!)),
  }
}
/** What a value is where loops hand it on as a carry that they do not change. */
const handedOn = (from: Node): Node => {
  let n = from
  while (n.kind === OUTPUT && n.args[0]!.prim?.structure?.kind === 'loop') {
    const k = n.payload as number
    const { program, carries, until } = n.args[0]!.payload as ScanParams
    if (k >= carries || k === until || handedOn(program.outputs[k]!) !== program.inputs[k]) break
    n = n.args[0]!.args[k]!
  }
  return n
}

/** A loop that keeps what its way back reads: its parameters, and what is kept. */
interface Keeping {
  readonly params: ScanParams
  readonly kept: Residuals
}
/** What the steps keep is found by a trial in which every cotangent arrives; what is not read afterwards nobody computes. */
const keeping = (params: ScanParams, given: readonly boolean[], config: RuleConfig): Keeping => {
  const { program, carries } = params
  const trial = activeInputs(params, given)
  const everything = config.pullback(
    asExprs(program.outputs),
    program.outputs.map((o): Tangent => (isFloat(o.dtype) ? asExpr(input(o.aval)) : NoTangent)),
    program.inputs.filter((_, i) => trial[i]).map(asExpr),
  )
  const kept = residualsOf(program, carries, everything.xBars.filter(isLive).map(asNode), params.keep)
  // Where nothing is kept the steps are those of the loop itself: what rules of loops within it would keep is made on the way back.
  const ys = params.keep === 'nothing' ? program.outputs : everything.ys.map(asNode)
  return { params: { ...params, program: step(program.inputs, [...ys, ...kept.nodes]) }, kept }
}

/** A step of the way back: a loop's parameters, what its arguments are, and what is known of the cotangents that come out. */
interface PulledStep {
  readonly params: ScanParams
  readonly rounds: readonly (Round | undefined)[]
  /** Sums of cotangents of what is the same at every step: which inputs have one, and what is known of it. */
  readonly sums: Known
  /** Cotangents of slices: what is known of their zeros, or why there is none. */
  readonly slices: readonly (Hardness | Forced)[]
  /** Which inputs of the loop the way back reads, and which of what was kept. */
  readonly isRead: readonly boolean[]
  readonly rows: readonly number[]
}
/** Every cotangent is one that is not known. */
interface Unknown {
  readonly active: readonly boolean[]
  readonly unknown: Forced
}

const pulledStep = (
  params: ScanParams,
  kept: Residuals,
  ends: readonly Node[],
  config: RuleConfig,
  /** Which inputs are asked for; what is known of the cotangents of results, and of what the sums begin with. */
  { asked, known, begins }: { readonly asked: readonly boolean[]; readonly known: Known; readonly begins: Known },
): PulledStep | Unknown => {
  const { program, carries, slices } = params
  const active = activeInputs(params, asked)
  const wanted = program.inputs.filter((_, i) => active[i])
  const same = program.inputs.map((x, i) =>
    i >= carries + slices && active[i] ? standing(config, x.aval, begins[i] ?? FILLED) : undefined,
  )
  // What is the same at every step is a result of each: its cotangent comes in as the sum of the later steps' and goes out with this one's added.
  const handedOn = ends.filter((_, i) => same[i] !== undefined)
  const results = handedOn.length === 0 ? program.outputs : [...program.outputs, ...handedOn]
  orderOf(results)
  const rowBars = program.outputs.map((o, i) => (i >= carries && known[i] !== undefined ? standing(config, o.aval, known[i]) : undefined))
  const byInput = (xBars: readonly Forced[]): readonly Forced[] => {
    let k = 0
    return active.map((a, i) => (a ? xBars[k++]! : zeroOf(program.inputs[i]!)))
  }
  const { rounds, made: bars } = goingRound(
    config,
    program.inputs.slice(0, carries).map((x) => x.aval),
    known.slice(0, carries).map((h, i) => (active[i] ? h : undefined)),
    (r) => {
      const ofCarry = r.map((x): Tangent => (x === undefined ? ZeroTangent : asExpr(x.node)))
      const ofRows = rowBars.slice(carries).map((x): Tangent => (x === undefined ? ZeroTangent : asExpr(x)))
      const { xBars } = config.pullback(asExprs(results), [...ofCarry, ...ofRows, ...live(same).map(asExpr)], wanted.map(asExpr))
      return byInput(xBars)
    },
    (made) => made.slice(0, carries),
  )
  const unknown = bars.find((b) => b._tag === 'NotImplemented')
  if (unknown !== undefined) return { active, unknown }
  return stepBack({ params, kept, config, rowBars: live(rowBars), rounds, same, bars })
}
/** The loop back: the cotangents of carry and of what is the same go round, those of the slices are stacked. */
const stepBack = (of: {
  readonly params: ScanParams
  readonly kept: Residuals
  readonly config: RuleConfig
  readonly rowBars: readonly Node[]
  readonly rounds: readonly (Round | undefined)[]
  readonly same: readonly (Node | undefined)[]
  readonly bars: readonly Forced[]
}): PulledStep => {
  const { params, kept, config, rowBars, rounds, same, bars } = of
  const { program, carries, slices } = params
  const moving = live(rounds)
  const stacked = bars.slice(carries, carries + slices)
  const outputs = [
    ...rounds.flatMap((r, i) => (r === undefined ? [] : [isLive(bars[i]) ? asNode(bars[i]) : zeros(r.node.aval)])),
    ...same.flatMap((s, i) => (s === undefined ? [] : [isLive(bars[i]) ? asNode(bars[i]) : s])),
    ...stacked.filter(isLive).map(asNode),
  ]
  const flag = flagOf(params)
  const read = kept.over(flag === undefined ? outputs : [...outputs, flag])
  const reads = orderOf(read.outputs)
  const isRead = program.inputs.map((x) => reads.index.has(x))
  const own = parts(
    params,
    program.inputs.map((x, i) => (isRead[i] ? x : undefined)),
  )
  const inputs = [
    ...moving.map((r) => r.node),
    ...live(same),
    ...rowBars,
    ...live(own.xs),
    ...read.rows.map((k) => read.inputs[k]!),
    ...live(own.same),
  ]
  return {
    params: {
      program: step(inputs, flag === undefined ? read.outputs : among(reads, read.outputs.slice(0, outputs.length))),
      length: params.length,
      carries: moving.length + live(same).length,
      slices: rowBars.length + live(own.xs).length + read.rows.length,
      reverse: !params.reverse,
      ...(params.keep && { keep: params.keep }),
      // The steps that were taken, marked by what the flag was before each.
      ...whileHolds(read.outputs[outputs.length], inputs),
    },
    rounds,
    sums: same.map((s, i) => (s === undefined ? undefined : ofSteps(params, isLive(bars[i]) ? config.hardness(bars[i]) : FILLED))),
    slices: stacked.map((b) => (isLive(b) ? ofSteps(params, config.hardness(b)) : b)),
    isRead,
    rows: read.rows,
  }
}

/** Cotangents of a loop's arguments: the loop back, over what was kept. */
const backwards = (
  { params: { program, carries, slices }, args, rows }: Forwards,
  pulled: PulledStep,
  yBars: readonly Forced[],
  begins: readonly (AnyExpr | undefined)[],
  config: RuleConfig,
): readonly Tangent[] => {
  const { rounds, sums, isRead } = pulled
  const given = args.map((x, i) => (isRead[i] ? x : undefined))
  const orZeros = (x: Node, bar: Forced | undefined): Node => (isLive(bar) ? asNode(bar) : zeros(x.aval))
  const results = scanNodes(
    [
      ...rounds.flatMap((r, i) => (r === undefined ? [] : [orZeros(r.node, yBars[i])])),
      ...sums.flatMap((s, i) => (s === undefined ? [] : [orZeros(program.inputs[i]!, begins[i])])),
      ...yBars.slice(carries).filter(isLive).map(asNode),
      ...live(given.slice(carries, carries + slices)),
      ...pulled.rows.map((k) => rows[k]!),
      ...live(given.slice(carries + slices)),
    ],
    pulled.params,
  ).map(asExpr)
  let at = 0
  const carryBars = rounds.map((r): Forced => (r === undefined ? ZeroTangent : config.hardened(results[at++]!, r.hardness)))
  const sumBars = sums.map((h): Forced => (h === undefined ? ZeroTangent : config.hardened(results[at++]!, h)))
  const sliceBars = pulled.slices.map((h): Forced => (typeof h === 'number' ? config.hardened(results[at++]!, h) : h))
  return program.inputs.map((x, i): Tangent => {
    if (!isFloat(x.dtype)) return NoTangent
    if (i < carries) return carryBars[i]!
    return i < carries + slices ? sliceBars[i - carries]! : sumBars[i]!
  })
}

/** A loop that was run, in the order in which its way back reads it: its arguments, and the rows that it kept. */
interface Forwards {
  readonly params: ScanParams
  readonly args: readonly Node[]
  readonly rows: readonly Node[]
}

/**
 * Reverse mode. A carry that no step changes is the same at every step, so that none keeps it; the sum of its cotangents begins with that of the result, and
 * adds up in the order of the steps, however they are put into segments.
 */
export const scanRrule = (
  xs: readonly AnyExpr[],
  params: ScanParams,
  { config, active }: RuleContext,
): readonly [ys: readonly AnyExpr[], pullback: Pullback] => {
  const { program, length } = params
  if (length === 0) return [scanNodes(xs.map(asNode), params).map(asExpr), passed(params)]
  if (isUnbounded(params)) return [scanNodes(xs.map(asNode), params).map(asExpr), endless]
  const loop = config.once([scanRrule, params], () => ordered(params))
  const inOrder = <X>(list: readonly X[]): readonly X[] => loop.order.map((i) => list[i]!)
  const moving = <X>(list: readonly X[]): X[] => list.filter((_, i) => !loop.isStill(i))
  const given = inOrder(active)
  const keeps = config.once([loop, given.map(Number).join()], () => keeping(loop.params, given, config))
  const args = inOrder(xs).map(asNode)
  const steps = scanNodes(args, keeps.params)
  const results = loop.params.program.outputs.length
  const forwards: Forwards = { params: loop.params, args, rows: steps.slice(results) }
  let k = 0
  return [
    program.outputs.map((_, i) => (loop.isStill(i) ? xs[i]! : asExpr(steps[k++]!))),
    (all, wanted) => {
      const yBars = moving(all)
      const asked = inOrder(wanted)
      const begins = loop.order.map((i) => (loop.isStill(i) && wanted[i] && isLive(all[i]) ? all[i] : undefined))
      const seeds = { asked, known: knownOf(config, yBars), begins: knownOf(config, begins) }
      const pull = (): readonly Tangent[] => {
        if (!yBars.some(isLive)) return loop.params.program.inputs.map((x, i) => begins[i] ?? zeroOf(x))
        const pulled = config.once([keeps, asked.map(Number).join(), seeds.known.join(), seeds.begins.join()], () =>
          pulledStep(loop.params, keeps.kept, loop.ends, config, seeds),
        )
        return 'unknown' in pulled
          ? loop.params.program.inputs.map((x, i) => (pulled.active[i] ? pulled.unknown : zeroOf(x)))
          : backwards(forwards, pulled, yBars, begins, config)
      }
      const xBars = pull()
      return program.inputs.map((_, i) => xBars[loop.back.get(i)!]!)
    },
  ]
}
const endless: Pullback = () =>
  badInput(
    'whileLoop',
    'reverse mode keeps what each step needs, and this loop may take any number of steps.',
    'give { maxSteps }, to fori a number of steps, or differentiate in forward mode.',
  )
/** Of no step the carry is what it began with. */
const passed =
  ({ carries, program }: ScanParams): Pullback =>
  (yBars) =>
    program.inputs.map((x, i) => (i < carries && isFloat(x.dtype) ? yBars[i]! : zeroOf(x)))
