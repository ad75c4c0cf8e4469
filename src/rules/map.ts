/** Calculus of map: forward mode inside (one partial per active argument and result, in the same loop), reverse outside. */

import { SOFT } from '../core/calculus/hard-zeros.js'
import type { Hardness, Rule, RuleConfig } from '../core/calculus/rule.js'
import { greatestOf } from '../core/errors/extremes.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, asExprs, asNode, constant, type Node } from '../core/graph/expr.js'
import type { Program } from '../core/graph/program.js'
import { type Forced, NoTangent, type NotImplemented, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { add } from '../core/ops/elementwise.js'
import { reshape } from '../core/ops/layout/layout.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { expandMap, type mapFamily, mapPrimitive, mapped, scalarProgram } from '../core/ops/map.js'
import type { AnyExpr } from '../core/types/expr.js'
import { multiRule } from './define.js'
import { strongBoth } from './product.js'

/** A program with its partials: results first, then d result_i / d input_j where it is not zero. */
interface WithPartials {
  readonly program: Program
  /** Position of d result_i / d input_j among the outputs; a number of its own where it is the constant 1; -1 where it is zero. */
  readonly at: ReadonlyMap<number, number>
  /** Which hard zeros each output may hold. */
  readonly hardness: readonly Hardness[]
  /** Those of the partials that are not known. */
  readonly unknown: ReadonlyMap<number, NotImplemented>
}
const memo = new WeakMap<Program, Map<string, { readonly registry: unknown; readonly made: WithPartials }>>()

const withPartials = (program: Program, active: readonly boolean[], config: RuleConfig): WithPartials => {
  const key = active.map((a) => (a ? 1 : 0)).join('')
  let byMask = memo.get(program)
  if (byMask === undefined) {
    byMask = new Map()
    memo.set(program, byMask)
  }
  const known = byMask.get(key)
  if (known !== undefined && known.registry === config.registry) return known.made
  const outputs: Node[] = [...program.outputs]
  const at = new Map<number, number>()
  const unknown = new Map<number, NotImplemented>()
  const hardness: Hardness[] = outputs.map(() => SOFT)
  program.inputs.forEach((x, j) => {
    if (!active[j]) return
    const { dys } = config.pushforward(asExprs(program.outputs), new Map([[asExpr(x), asExpr(constant(1, x.dtype))]]))
    dys.forEach((dy, i) => {
      if (dy._tag === 'NotImplemented') unknown.set(i * program.inputs.length + j, dy)
      if (dy._tag !== 'Expr') return
      at.set(i * program.inputs.length + j, outputs.length)
      outputs.push(asNode(dy))
      hardness.push(config.hardness(dy))
    })
  })
  const made = { program: scalarProgram(program.inputs, outputs), at, hardness, unknown }
  byMask.set(key, { registry: config.registry, made })
  return made
}

/** One rule per primitive of core/ops/map.ts. */
export const mapRules: { readonly [K in keyof typeof mapFamily]: Rule } = {
  map: multiRule(mapPrimitive, {
    frule: (xs, dxs, { program }, { config, ys: results }) => {
      const args = xs as readonly AnyExpr[]
      // Each argument in a place of its own, so that an argument used twice has both its tangents.
      const own = expandMap(program, args.map(asNode))
      const seeds = new Map<AnyExpr, AnyExpr>()
      dxs.forEach((d, i) => {
        if (d._tag === 'Expr') seeds.set(args[i]!, d)
      })
      // A result that uses some of the arguments only has the shape of all of them.
      const ys = own.map((y, i) => asExpr(broadcastNode(y, asNode(results[i]).shape)))
      const pushed = config.pushforward(ys, seeds)
      return [pushed.ys, pushed.dys]
    },
    rrule: (xs, { program }, { config, active }) => {
      const args = xs as readonly AnyExpr[]
      const n = program.inputs.length
      const { program: both, at, hardness, unknown } = withPartials(program, active, config)
      const all = mapped(both, args.map(asNode)).map(asExpr)
      const mapPullback = (yBars: readonly Forced[]) =>
        args.map((x, j): Tangent => {
          if (!isFloat(x.dtype)) return NoTangent
          if (!active[j]) return ZeroTangent
          return thunk(() =>
            yBars.reduce<Forced>((sum, yBar, i) => {
              const k = at.get(i * n + j)
              if (sum._tag === 'NotImplemented' || yBar._tag !== 'Expr') return sum
              if (k === undefined) return unknown.get(i * n + j) ?? sum
              // Hard zeros of a partial hold against the cotangent, as those of the cotangent do against the partial.
              const [p, h] = [all[k]!, hardness[k]!]
              const own = config.hardness(yBar)
              const term = h === SOFT ? config.product(yBar, p) : strongBoth(config, yBar, p, h > own ? h : own)
              return sum._tag === 'Expr' ? add(sum, term) : term
            }, ZeroTangent),
          )
        })
      return [all.slice(0, program.outputs.length), mapPullback as never]
    },
    batch: (xs, batched, { program }) => {
      const args = xs as readonly AnyExpr[]
      const rank = greatestOf(args.map((x, i) => x.shape.length - (batched[i] ? 1 : 0)))
      const aligned = args.map((x, i) => {
        const s = x.shape as readonly number[]
        return batched[i] ? reshape(x, [s[0]!, ...new Array<number>(rank - s.length + 1).fill(1), ...s.slice(1)]) : x
      })
      return mapped(program, aligned.map(asNode)).map(asExpr)
    },
  }),
}
