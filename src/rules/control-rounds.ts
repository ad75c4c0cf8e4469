/** What goes round in a derived loop: (co)tangents of carries, what is known of their zeros, and the parts of a loop's arguments. */

import { FILLED, GUARDED } from '../core/calculus/hard-zeros.js'
import type { Hardness, RuleConfig } from '../core/calculus/rule.js'
import { type Aval, isFloat } from '../core/graph/aval.js'
import { asExpr, constant, input, type Node } from '../core/graph/expr.js'
import { flatProgram, type Program } from '../core/graph/program.js'
import { type Forced, NoTangent, ZeroTangent } from '../core/graph/tangent.js'
import type { ScanParams } from '../core/ops/control/control.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import type { AnyExpr } from '../core/types/expr.js'

export const isLive = (t: Forced | undefined): t is AnyExpr => t?._tag === 'Expr'
export const zeroOf = (n: Node): Forced => (isFloat(n.dtype) ? ZeroTangent : NoTangent)
export const zeros = (a: Aval): Node => broadcastNode(constant(0, a.dtype), a.shape)
export const live = <X>(list: readonly (X | undefined)[]): X[] => list.filter((x): x is X => x !== undefined)
export const step = (inputs: readonly Node[], outputs: readonly Node[]): Program => flatProgram('step', inputs, outputs)

/** What is known of the zeros of (co)tangents; undefined where there is none. */
export type Known = readonly (Hardness | undefined)[]
export const knownOf = (config: RuleConfig, ts: readonly (Forced | undefined)[]): Known =>
  ts.map((t) => (isLive(t) ? config.hardness(t) : undefined))
/** An input in place of a (co)tangent, with hard zeros where that may hold them. */
export const standing = (config: RuleConfig, of: Aval, hardness: Hardness): Node => {
  const node = input(of)
  config.hardened(asExpr(node), hardness)
  return node
}

/** A (co)tangent that goes round in a loop: an input of its program, and what is known of its zeros. */
export interface Round {
  readonly node: Node
  readonly hardness: Hardness
}
/** What goes round, and what the step makes of it. */
export interface Rounds<M> {
  readonly rounds: readonly (Round | undefined)[]
  readonly made: M
}

/**
 * The (co)tangents that go round, until a step makes none but those: of `step`'s results at the places that go round those that are there, each with hard zeros
 * where the result may have them. Those that a loop begins with without being given any are zeros because nothing moves.
 */
export const goingRound = <M>(
  config: RuleConfig,
  avals: readonly Aval[],
  begin: Known,
  step: (rounds: readonly (Round | undefined)[]) => M,
  carried: (made: M) => readonly Forced[],
): Rounds<M> => {
  let rounds = begin.map((h, i) => (h === undefined ? undefined : { node: input(avals[i]!), hardness: h }))
  for (;;) {
    for (const r of rounds) if (r !== undefined) config.hardened(asExpr(r.node), r.hardness)
    const made = step(rounds)
    const ts = carried(made)
    let changed = false
    const next = rounds.map((r, i) => {
      const t = ts[i]
      if (!isLive(t)) return r
      const hardness = config.hardness(t)
      if (r !== undefined && hardness <= r.hardness) return r
      changed = true
      return { node: input(avals[i]!), hardness: Math.max(hardness, r?.hardness ?? FILLED) as Hardness }
    })
    if (!changed) return { rounds, made }
    rounds = next
  }
}

/** The parts of a scan's arguments, or of its program's inputs. */
export const parts = <X>(
  { carries, slices }: ScanParams,
  list: readonly X[],
): { readonly carry: readonly X[]; readonly xs: readonly X[]; readonly same: readonly X[] } => ({
  carry: list.slice(0, carries),
  xs: list.slice(carries, carries + slices),
  same: list.slice(carries + slices),
})
/** The flag of a loop's steps where it stands among other inputs. */
export const whileHolds = (flag: Node | undefined, inputs: readonly Node[]): Pick<ScanParams, 'until'> =>
  flag === undefined ? {} : { until: inputs.indexOf(flag) }
export const flagOf = ({ program, until }: ScanParams): Node | undefined => (until === undefined ? undefined : program.inputs[until])
/** What is stacked or added up by steps that may not be taken has the zeros of those, which hold against everything. */
export const ofSteps = ({ until }: ScanParams, hardness: Hardness): Hardness => (until === undefined ? hardness : GUARDED)
