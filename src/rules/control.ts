/** Calculus of loops and branches. A loop's derivative is a loop: forward beside it, reverse from its last step to its first over what the steps kept. */

import type { Hardness, Pullback, Rule, RuleConfig, RuleContext } from '../core/calculus/rule.js'
import { raise } from '../core/errors/explain.js'
import { composedRules } from '../core/extend/decompose.js'
import { type Aval, isFloat } from '../core/graph/aval.js'
import { asExpr, asNode, constant, input, linearize, type Node, OUTPUT } from '../core/graph/expr.js'
import { dependents, flatProgram, type Program } from '../core/graph/program.js'
import { type Forced, NoTangent, type Tangent, ZeroTangent } from '../core/graph/tangent.js'
import {
  branched,
  type controlFamily,
  isUnbounded,
  type ScanParams,
  type SwitchParams,
  scanNodes,
  scanPrimitive,
  switchPrimitive,
} from '../core/ops/control.js'
import { broadcastNode } from '../core/ops/layout-move.js'
import type { AnyExpr } from '../core/types/expr.js'
import { scanBatch } from './control-batch.js'
import { multiRule } from './define.js'
import { residualsOf } from './residuals.js'

const FILLED: Hardness = 1
const GUARDED: Hardness = 2
const isLive = (t: Forced | undefined): t is AnyExpr => t?._tag === 'Expr'
const zeroOf = (n: Node): Forced => (isFloat(n.dtype) ? ZeroTangent : NoTangent)
const zeros = (a: Aval): Node => broadcastNode(constant(0, a.dtype), a.shape)

/** A (co)tangent that goes round in a loop: an input of its program, what it begins with, and what is known of its zeros. */
interface Round {
  readonly node: Node
  readonly begin: AnyExpr | undefined
  readonly hardness: Hardness
}
/** The zeros that a (co)tangent begins with are zeros because nothing moves. */
const roundOf = (config: RuleConfig, of: Aval, begin: AnyExpr | undefined): Round => ({
  node: input(of),
  begin,
  hardness: begin === undefined ? FILLED : config.hardness(begin),
})
const begun = ({ begin, node }: Round): Node => (begin === undefined ? zeros(node.aval) : asNode(begin))

/**
 * The (co)tangents that go round, until a step makes none but those: of `step`'s results at the places that go round those that are there, each with hard zeros
 * where the result may have them.
 */
const goingRound = (
  config: RuleConfig,
  avals: readonly Aval[],
  begin: readonly (AnyExpr | undefined)[],
  step: (rounds: readonly (Round | undefined)[]) => readonly Forced[],
): readonly (Round | undefined)[] => {
  let rounds = begin.map((b, i) => (b === undefined ? undefined : roundOf(config, avals[i]!, b)))
  for (;;) {
    for (const r of rounds) if (r !== undefined) config.hardened(asExpr(r.node), r.hardness)
    const made = step(rounds)
    let changed = false
    rounds = rounds.map((r, i) => {
      const t = made[i]
      if (!isLive(t)) return r
      const hardness = config.hardness(t)
      if (r !== undefined && hardness <= r.hardness) return r
      changed = true
      const next = r ?? roundOf(config, avals[i]!, undefined)
      return { ...next, node: input(avals[i]!), hardness: Math.max(hardness, next.hardness) as Hardness }
    })
    if (!changed) return rounds
  }
}

/** The parts of a scan's arguments, or of its program's inputs. */
const parts = <X>(
  { carries, slices }: ScanParams,
  list: readonly X[],
): { readonly carry: readonly X[]; readonly xs: readonly X[]; readonly same: readonly X[] } => ({
  carry: list.slice(0, carries),
  xs: list.slice(carries, carries + slices),
  same: list.slice(carries + slices),
})
const live = <X>(list: readonly (X | undefined)[]): X[] => list.filter((x): x is X => x !== undefined)
const present = (list: readonly (Round | undefined)[]): Round[] => live(list)
const step = (inputs: readonly Node[], outputs: readonly Node[]): Program => flatProgram('step', inputs, outputs)
/** The flag of a loop's steps where it stands among other inputs. */
const whileHolds = (flag: Node | undefined, inputs: readonly Node[]): Pick<ScanParams, 'until'> =>
  flag === undefined ? {} : { until: inputs.indexOf(flag) }
const flagOf = ({ program, until }: ScanParams): Node | undefined => (until === undefined ? undefined : program.inputs[until])
/** What is stacked or added up by steps that may not be taken has the zeros of those, which hold against everything. */
const ofSteps = ({ until }: ScanParams, hardness: Hardness): Hardness => (until === undefined ? hardness : GUARDED)

/** Tangents of a scan's results: of a loop over the carry and its tangent. The values are the loop's own, which needs no tangents. */
const scanFrule = (xs: readonly AnyExpr[], dxs: readonly Forced[], params: ScanParams, { config }: RuleContext): readonly Forced[] => {
  const { program, carries } = params
  const outputs = program.outputs.map(asExpr)
  const begin = parts(params, dxs).carry.map((d) => (isLive(d) ? d : undefined))
  /** Tangents of slices and of what is the same: inputs that stand for them. */
  const fixed = program.inputs.map((x, i) => {
    const d = dxs[i]
    return i >= carries && isLive(d) ? asNode(config.standIn(d, x.aval)) : undefined
  })
  const pushed = (rounds: readonly (Round | undefined)[]): ReturnType<RuleConfig['pushforward']> => {
    const seeds = new Map<AnyExpr, AnyExpr>()
    program.inputs.forEach((x, i) => {
      const d = i < carries ? rounds[i]?.node : fixed[i]
      if (d !== undefined) seeds.set(asExpr(x), asExpr(d))
    })
    return config.pushforward(outputs, seeds)
  }
  const rounds = goingRound(
    config,
    program.inputs.slice(0, carries).map((x) => x.aval),
    begin,
    (r) => pushed(r).dys,
  )
  const { ys, dys } = pushed(rounds)
  // One carry whose derivative is not known spoils whatever comes after it.
  const unknown = dys.slice(0, carries).find((d) => d._tag === 'NotImplemented')
  if (unknown !== undefined) return program.outputs.map((o) => (isFloat(o.dtype) ? unknown : NoTangent))
  const moving = present(rounds)
  const tangents = rounds.flatMap((r, i) => (r === undefined ? [] : [isLive(dys[i]) ? asNode(dys[i]) : zeros(r.node.aval)]))
  const stacked = dys.slice(carries)
  const own = parts(params, program.inputs)
  const given = parts(params, xs.map(asNode))
  const dFixed = parts(params, fixed)
  const dGiven = parts(
    params,
    dxs.map((d) => (isLive(d) ? asNode(d) : undefined)),
  )
  const inputs = [...own.carry, ...moving.map((r) => r.node), ...own.xs, ...live(dFixed.xs), ...own.same, ...live(dFixed.same)]
  const results = scanNodes([...given.carry, ...moving.map(begun), ...given.xs, ...live(dGiven.xs), ...given.same, ...live(dGiven.same)], {
    ...params,
    ...whileHolds(flagOf(params), inputs),
    program: step(inputs, [...ys.slice(0, carries).map(asNode), ...tangents, ...stacked.filter(isLive).map(asNode)]),
    carries: carries + moving.length,
    slices: own.xs.length + live(dFixed.xs).length,
  }).map(asExpr)
  let at = carries
  const dCarry = rounds.map((r, i): Forced => (r === undefined ? zeroOf(program.outputs[i]!) : config.hardened(results[at++]!, r.hardness)))
  const dRows = stacked.map((d): Forced => (isLive(d) ? config.hardened(results[at++]!, ofSteps(params, config.hardness(d))) : d))
  return [...dCarry, ...dRows]
}

/** Which inputs of a step depend on what is differentiated: an active carry makes others active, step by step. */
const activeInputs = ({ program, carries }: ScanParams, active: readonly boolean[]): readonly boolean[] => {
  const linear = linearize(program.outputs)
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

/** As a pullback, with what the sums of cotangents of what is the same at every step begin with. */
type PullbackFrom = (yBars: readonly Forced[], active: readonly boolean[], begins: readonly (AnyExpr | undefined)[]) => readonly Tangent[]

const pulledSteps = (
  xs: readonly AnyExpr[],
  params: ScanParams,
  config: RuleConfig,
  given: readonly boolean[],
  /** What a step hands on of each input that is the same at every step: the input itself, or what a loop within hands on of it. */
  ends: readonly Node[],
): readonly [ys: readonly AnyExpr[], pullback: PullbackFrom] => {
  const { program, carries, slices } = params
  const trial = activeInputs(params, given)
  const args = xs.map(asNode)
  // What the steps keep is found by a trial in which every cotangent arrives; what is not read afterwards nobody computes.
  const everything = config.pullback(
    program.outputs.map(asExpr),
    program.outputs.map((o): Tangent => (isFloat(o.dtype) ? asExpr(input(o.aval)) : NoTangent)),
    program.inputs.filter((_, i) => trial[i]).map(asExpr),
  )
  const kept = residualsOf(program, carries, everything.xBars.filter(isLive).map(asNode), params.keep)
  // Where nothing is kept the steps are those of the loop itself: what rules of loops within it would keep is made on the way back.
  const ys = params.keep === 'nothing' ? program.outputs : everything.ys.map(asNode)
  const steps = scanNodes(args, { ...params, program: step(program.inputs, [...ys, ...kept.nodes]) })
  const results = steps.slice(0, program.outputs.length).map(asExpr)
  const rows = steps.slice(program.outputs.length)

  const pullback: PullbackFrom = (yBars, asked, begins) => {
    const active = activeInputs(params, asked)
    const wanted = program.inputs.filter((_, i) => active[i])
    if (!yBars.some(isLive)) return program.inputs.map((x, i) => begins[i] ?? zeroOf(x))
    const avals = program.inputs.slice(0, carries).map((x) => x.aval)
    const same = program.inputs.map((x, i) => (i >= carries + slices && active[i] ? input(x.aval) : undefined))
    const rowBars = program.outputs.map((o, i) => {
      const bar = yBars[i]
      return i >= carries && isLive(bar) ? config.standIn(bar, o.aval) : undefined
    })
    const pulled = (rounds: readonly (Round | undefined)[]): ReturnType<RuleConfig['pullback']> =>
      config.pullback(
        // What is the same at every step is a result of each: its cotangent comes in as the sum of the later steps' and goes out with this one's added.
        [...program.outputs, ...ends.filter((_, i) => same[i] !== undefined)].map(asExpr),
        [
          ...program.outputs.map(
            (_, i): Tangent =>
              i < carries ? (rounds[i] === undefined ? ZeroTangent : asExpr(rounds[i].node)) : (rowBars[i] ?? ZeroTangent),
          ),
          ...live(same).map(asExpr),
        ],
        wanted.map(asExpr),
      )
    const byInput = (xBars: readonly Forced[]): readonly Forced[] => {
      let k = 0
      return active.map((a, i) => (a ? xBars[k++]! : zeroOf(program.inputs[i]!)))
    }
    const begin = yBars.slice(0, carries).map((b, i) => (isLive(b) && active[i] ? b : undefined))
    same.forEach((s, i) => {
      if (s !== undefined) config.hardened(asExpr(s), begins[i] === undefined ? FILLED : config.hardness(begins[i]))
    })
    const rounds = goingRound(config, avals, begin, (r) => byInput(pulled(r).xBars).slice(0, carries))
    const bars = byInput(pulled(rounds).xBars)
    const unknown = bars.find((b) => b._tag === 'NotImplemented')
    if (unknown !== undefined) return bars.map((b, i) => (active[i] ? unknown : b))
    return backwards({ params, args, rows, kept, config, yBars, rowBars, rounds, same, begins, bars })
  }
  return [results, pullback]
}
/** What a value is where loops hand it on as a carry that they do not change. */
const handedOn = (from: Node): Node => {
  let n = from
  while (n.kind === OUTPUT && n.args[0]!.prim === scanPrimitive) {
    const k = n.payload as number
    const { program, carries, until } = n.args[0]!.payload as ScanParams
    if (k >= carries || k === until || handedOn(program.outputs[k]!) !== program.inputs[k]) break
    n = n.args[0]!.args[k]!
  }
  return n
}
/**
 * Reverse mode. A carry that no step changes is the same at every step, so that none keeps it; the sum of its cotangents begins with that of the result, and
 * adds up in the order of the steps, however they are put into segments.
 */
const scanRrule = (
  xs: readonly AnyExpr[],
  params: ScanParams,
  { config, active }: RuleContext,
): readonly [ys: readonly AnyExpr[], pullback: Pullback] => {
  const { program, carries, slices, length, until } = params
  if (length === 0) return [scanNodes(xs.map(asNode), params).map(asExpr), passed(params)]
  if (isUnbounded(params)) return [scanNodes(xs.map(asNode), params).map(asExpr), endless]
  const places = program.inputs.map((_, i) => i)
  const isStill = (i: number): boolean => i < carries && i !== until && handedOn(program.outputs[i]!) === program.inputs[i]
  const still = places.filter(isStill)
  const order = [...places.filter((i) => !isStill(i)), ...still]
  const back = new Map(order.map((from, to) => [from, to]))
  const moving = <X>(list: readonly X[]): X[] => list.filter((_, i) => !isStill(i))
  const [ys, pullback] = pulledSteps(
    order.map((i) => xs[i]!),
    {
      ...params,
      program: step(
        order.map((i) => program.inputs[i]!),
        moving(program.outputs),
      ),
      carries: carries - still.length,
      slices,
      ...(until !== undefined && { until: back.get(until)! }),
    },
    config,
    order.map((i) => active[i]!),
    order.map((i) => (isStill(i) ? program.outputs[i]! : program.inputs[i]!)),
  )
  let k = 0
  return [
    program.outputs.map((_, i) => (isStill(i) ? xs[i]! : ys[k++]!)),
    (yBars, asked) => {
      const xBars = pullback(
        moving(yBars),
        order.map((i) => asked[i]!),
        order.map((i) => (isStill(i) && asked[i] && isLive(yBars[i]) ? yBars[i] : undefined)),
      )
      return places.map((i) => xBars[back.get(i)!]!)
    },
  ]
}
const endless: Pullback = () =>
  raise({
    _tag: 'BadInput',
    where: 'whileLoop',
    reason: 'reverse mode keeps what each step needs, and this loop may take any number of steps.',
    fix: 'give { maxSteps }, to fori a number of steps, or differentiate in forward mode.',
  })
/** Of no step the carry is what it began with. */
const passed =
  ({ carries, program }: ScanParams): Pullback =>
  (yBars) =>
    program.inputs.map((x, i) => (i < carries && isFloat(x.dtype) ? yBars[i]! : zeroOf(x)))

/** The loop back: the cotangents of carry and of what is the same go round, those of the slices are stacked. */
const backwards = (of: {
  readonly params: ScanParams
  readonly args: readonly Node[]
  readonly rows: readonly Node[]
  readonly kept: ReturnType<typeof residualsOf>
  readonly config: RuleConfig
  readonly yBars: readonly Forced[]
  readonly rowBars: readonly (AnyExpr | undefined)[]
  readonly rounds: readonly (Round | undefined)[]
  readonly same: readonly (Node | undefined)[]
  readonly begins: readonly (AnyExpr | undefined)[]
  readonly bars: readonly Forced[]
}): readonly Tangent[] => {
  const { params, args, rows, kept, config, yBars, rowBars, rounds, same, begins, bars } = of
  const { program, carries, slices } = params
  const moving = present(rounds)
  const sums = live(same)
  const stacked = bars.slice(carries, carries + slices)
  const outputs = [
    ...rounds.flatMap((r, i) => (r === undefined ? [] : [isLive(bars[i]) ? asNode(bars[i]) : zeros(r.node.aval)])),
    ...same.flatMap((s, i) => (s === undefined ? [] : [isLive(bars[i]) ? asNode(bars[i]) : s])),
    ...stacked.filter(isLive).map(asNode),
  ]
  const flag = flagOf(params)
  const read = kept.over(flag === undefined ? outputs : [...outputs, flag])
  const reads = linearize(read.outputs).index
  const isRead = program.inputs.map((x) => reads.has(x))
  const barRows = rowBars.flatMap((bar, i) => (bar === undefined ? [] : [{ node: asNode(bar), row: asNode(yBars[i] as AnyExpr) }]))
  const own = parts(
    params,
    program.inputs.map((x, i) => (isRead[i] ? x : undefined)),
  )
  const given = parts(
    params,
    args.map((x, i) => (isRead[i] ? x : undefined)),
  )
  const inputs = [
    ...moving.map((r) => r.node),
    ...sums,
    ...barRows.map((b) => b.node),
    ...live(own.xs),
    ...read.rows.map((k) => read.inputs[k]!),
    ...live(own.same),
  ]
  const results = scanNodes(
    [
      ...moving.map(begun),
      ...same.flatMap((s, i) => (s === undefined ? [] : [begins[i] === undefined ? zeros(s.aval) : asNode(begins[i])])),
      ...barRows.map((b) => b.row),
      ...live(given.xs),
      ...read.rows.map((k) => rows[k]!),
      ...live(given.same),
    ],
    {
      program: step(inputs, read.outputs.slice(0, outputs.length)),
      length: params.length,
      carries: moving.length + sums.length,
      slices: barRows.length + live(own.xs).length + read.rows.length,
      reverse: !params.reverse,
      ...(params.keep && { keep: params.keep }),
      // The steps that were taken, marked by what the flag was before each.
      ...whileHolds(read.outputs[outputs.length], inputs),
    },
  ).map(asExpr)
  let at = 0
  const carryBars = rounds.map((r): Forced => (r === undefined ? ZeroTangent : config.hardened(results[at++]!, r.hardness)))
  const sameBars = same.map(
    (s, i): Forced =>
      s === undefined ? ZeroTangent : config.hardened(results[at++]!, ofSteps(params, isLive(bars[i]) ? config.hardness(bars[i]) : FILLED)),
  )
  const sliceBars = stacked.map((b): Forced => (isLive(b) ? config.hardened(results[at++]!, ofSteps(params, config.hardness(b))) : b))
  return program.inputs.map((x, i): Tangent => {
    if (!isFloat(x.dtype)) return NoTangent
    if (i < carries) return carryBars[i]!
    return i < carries + slices ? sliceBars[i - carries]! : sameBars[i]!
  })
}

/** One rule per primitive of core/ops/control.ts. */
export const controlRules: { readonly [K in keyof typeof controlFamily]: Rule } = {
  scan: multiRule(scanPrimitive, {
    frule: (xs, dxs, params, context) => [context.ys, scanFrule(xs, dxs as readonly Forced[], params, context)],
    rrule: (xs, params, context) => scanRrule(xs, params, context) as never,
    batch: (xs, batched, params, size, through) => scanBatch(xs, batched, params, size, through),
  }),
  switchCase: {
    primitive: switchPrimitive as never,
    ...composedRules((xs, params) => branched(params as SwitchParams, xs.map(asNode)).map(asExpr)),
  },
}
