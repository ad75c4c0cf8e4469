/** Calculus of loops and branches. A loop's derivative is a loop: forward beside it, reverse from its last step to its first over what the steps kept. */

import type { Hardness, Rule, RuleConfig, RuleContext } from '../core/calculus/rule.js'
import { composedRules } from '../core/extend/decompose.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, asExprs, asNode, type Node } from '../core/graph/expr.js'
import { type Forced, NoTangent } from '../core/graph/tangent.js'
import {
  branched,
  type controlFamily,
  type ScanParams,
  type SwitchParams,
  scanNodes,
  scanPrimitive,
  switchPrimitive,
} from '../core/ops/control/control.js'
import type { AnyExpr } from '../core/types/expr.js'
import { scanBatch } from './control-batch.js'
import { scanRrule } from './control-reverse.js'
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
import { multiRule } from './define.js'
import { withTaylor } from './taylor.js'
import { taylorOfScan } from './taylor-loops.js'

/** A step beside its tangent: a loop's parameters, and what is known of the tangents that come out. */
interface PushedStep {
  readonly params: ScanParams
  readonly rounds: readonly (Round | undefined)[]
  /** Tangents of what is stacked: what is known of their zeros, or why there is none. */
  readonly stacked: readonly (Hardness | Forced)[]
}
const pushedStep = (params: ScanParams, known: Known, config: RuleConfig): PushedStep | Forced => {
  const { program, carries } = params
  const outputs = asExprs(program.outputs)
  const fixed = program.inputs.map((x, i) => (i >= carries && known[i] !== undefined ? standing(config, x.aval, known[i]) : undefined))
  const { rounds, made } = goingRound(
    config,
    program.inputs.slice(0, carries).map((x) => x.aval),
    known.slice(0, carries),
    (r) => {
      const seeds = new Map<AnyExpr, AnyExpr>()
      program.inputs.forEach((x, i) => {
        const d = i < carries ? r[i]?.node : fixed[i]
        if (d !== undefined) seeds.set(asExpr(x), asExpr(d))
      })
      return config.pushforward(outputs, seeds)
    },
    ({ dys }) => dys.slice(0, carries),
  )
  const { ys, dys } = made
  // One carry whose derivative is not known spoils whatever comes after it.
  const unknown = dys.slice(0, carries).find((d) => d._tag === 'NotImplemented')
  if (unknown !== undefined) return unknown
  const moving = live(rounds)
  const tangents = rounds.flatMap((r, i) => (r === undefined ? [] : [isLive(dys[i]) ? asNode(dys[i]) : zeros(r.node.aval)]))
  const stacked = dys.slice(carries)
  const own = parts(params, program.inputs)
  const dFixed = parts(params, fixed)
  const inputs = [...own.carry, ...moving.map((r) => r.node), ...own.xs, ...live(dFixed.xs), ...own.same, ...live(dFixed.same)]
  return {
    params: {
      ...params,
      ...whileHolds(flagOf(params), inputs),
      program: step(inputs, [...ys.slice(0, carries).map(asNode), ...tangents, ...stacked.filter(isLive).map(asNode)]),
      carries: carries + moving.length,
      slices: own.xs.length + live(dFixed.xs).length,
    },
    rounds,
    stacked: stacked.map((d) => (isLive(d) ? ofSteps(params, config.hardness(d)) : d)),
  }
}

/** Tangents of a scan's results: of a loop over the carry and its tangent. The values are the loop's own, which needs no tangents. */
const scanFrule = (xs: readonly AnyExpr[], dxs: readonly Forced[], params: ScanParams, { config }: RuleContext): readonly Forced[] => {
  const { outputs } = params.program
  const known = knownOf(config, dxs)
  const pushed = config.once([scanFrule, params, known.join()], () => pushedStep(params, known, config))
  if (!('rounds' in pushed)) return outputs.map((o) => (isFloat(o.dtype) ? pushed : NoTangent))
  const { rounds, stacked } = pushed
  const given = parts(params, xs.map(asNode))
  const moving = parts(
    params,
    dxs.map((d) => (isLive(d) ? asNode(d) : undefined)),
  )
  const begun = rounds.flatMap((r, i) => (r === undefined ? [] : [moving.carry[i] ?? zeros(r.node.aval)]))
  const args: readonly Node[] = [...given.carry, ...begun, ...given.xs, ...live(moving.xs), ...given.same, ...live(moving.same)]
  const results = scanNodes(args, pushed.params).map(asExpr)
  let at = params.carries
  const dCarry = rounds.map((r, i): Forced => (r === undefined ? zeroOf(outputs[i]!) : config.hardened(results[at++]!, r.hardness)))
  return [...dCarry, ...stacked.map((d): Forced => (typeof d === 'number' ? config.hardened(results[at++]!, d) : d))]
}

/** One rule per primitive of core/ops/control.ts. */
export const controlRules: { readonly [K in keyof typeof controlFamily]: Rule } = withTaylor(
  {
    scan: multiRule(scanPrimitive, {
      frule: (xs, dxs, params, context) => [context.ys, scanFrule(xs, dxs as readonly Forced[], params, context)],
      rrule: (xs, params, context) => scanRrule(xs, params, context) as never,
      batch: (xs, batched, params, size, through) => scanBatch(xs, batched, params, size, through),
    }),
    switchCase: {
      primitive: switchPrimitive as never,
      ...composedRules((xs, params) => branched(params as SwitchParams, xs.map(asNode)).map(asExpr)),
    },
  },
  { scan: taylorOfScan },
)
