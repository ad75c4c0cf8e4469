/**
 * Duals and coduals of concrete arrays, one node at a time by the registry's rules and the primitives' meanings: an independent oracle.
 * Nothing here goes through forward.ts or reverse.ts.
 */

import { CoDual, Dual } from '../core/calculus/dual.js'
import { type Registry, type RuleConfig, type RuleContext, registryIn, ruleFor } from '../core/calculus/rule.js'
import { functionOf } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { type Algebra, type ApplyAt, type InputAt, interpretNodes } from '../core/functions/interpret.js'
import { type Aval, aval, isFloat } from '../core/graph/aval.js'
import { evaluateNodes, resultArrays } from '../core/graph/evaluate.js'
import { applyAny, asExpr, asNode, asNodes, constant, input, type Node, OUTPUT } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { type Forced, NoTangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { Tensor as TensorClass } from '../core/graph/tensor.js'
import { add } from '../core/ops/elementwise.js'
import type { Tensor } from '../core/types/expr.js'
import { project, projectTangent } from './common.js'
import { configOf } from './transform.js'

/** A concrete array with its tangent: ZeroTangent if it does not vary, NoTangent if its dtype has no tangent. */
export type EagerDual = Dual<Tensor, Tensor | ZeroTangent | NoTangent>
/** A concrete array with the sum of the cotangents of its uses. */
export type EagerCoDual = CoDual<Tensor>

const tensor = (node: Node, values: ReadonlyMap<Node, TensorClass>): Tensor => {
  const [r] = evaluateNodes([node], values)
  return new TensorClass(r!.shape, r!.dtype, r!.data) as unknown as Tensor
}
const still = (a: Aval): ZeroTangent | NoTangent => (isFloat(a.dtype) ? ZeroTangent : NoTangent)
const asClass = (x: Tensor): TensorClass => x as unknown as TensorClass
const avalOf = (x: Tensor): Aval => aval(asClass(x).shape, asClass(x).dtype)
const known = (t: Forced): Forced => (t._tag === 'NotImplemented' ? raise({ _tag: 'NotImplemented', rule: t.rule, reason: t.reason }) : t)

/** Results of one application by meaning. */
const values = ({ primitive, params, results }: ApplyAt, args: readonly Tensor[]): readonly Tensor[] =>
  resultArrays(primitive, params, args.map(asClass), results).map((r) => new TensorClass(r.shape, r.dtype, r.data) as unknown as Tensor)
const scalar = (value: number, dtype: Aval['dtype']): Tensor => tensor(constant(value, dtype), new Map())

/** Forward mode over expressions, for rules that call back: the same fold, duals of expressions. */
const symbolic = (registry: Registry, config: RuleConfig): Algebra<Dual<Node, Forced>> => ({
  input: ({ expr }) => Dual(asNode(expr), still(asNode(expr).aval)),
  literal: (value, dtype) => Dual(constant(value, dtype), still(aval([], dtype))),
  captured: (t) => Dual(asClass(t).node, still(avalOf(t))),
  apply: ({ primitive, params, results }, args) => {
    const ys = applyAny(
      primitive,
      args.map((a) => a.primal),
      params,
    )
    if (args.every((a) => a.tangent._tag !== 'Expr')) return ys.map((y) => Dual(y, still(y.aval)))
    return pushed(registry, config, primitive, params, ys, args).map(({ y, dy }, i) =>
      Dual(y, projectTangent(dy, results[i]!, { node: applicationOf(ys), k: i })),
    )
  },
})

/** The application that these are the results of. */
const applicationOf = ([y]: readonly Node[]): Node => (y!.kind === OUTPUT ? y!.args[0]! : y!)

/** What the frule says at these duals of expressions. */
const pushed = (
  registry: Registry,
  config: RuleConfig,
  primitive: AnyPrimitive,
  params: unknown,
  ys: readonly Node[],
  args: readonly Dual<Node, Forced>[],
): readonly { readonly y: Node; readonly dy: Forced }[] => {
  const made = ruleFor(registry, primitive, 'frule', 'an eager dual')(
    args.map((a) => asExpr(a.primal)),
    args.map((a) => a.tangent),
    params as never,
    contextOf(
      ys,
      args.map((a) => a.tangent._tag === 'Expr'),
      config,
    ),
  )
  return made.ys.map((y, i) => ({ y: asNode(y), dy: known(unthunk(made.dys[i]!)) }))
}
const contextOf = (ys: readonly Node[], active: readonly boolean[], config: RuleConfig): RuleContext => ({
  y: asExpr(ys[0]!),
  ys: ys.map(asExpr),
  active,
  config,
})

const eagerConfig = (registry: Registry): RuleConfig => {
  const config: RuleConfig = {
    ...configOf(registry),
    pushforward: (outputs, seeds) => {
      const duals = interpretNodes(
        symbolic(registry, config),
        asNodes(outputs),
        new Map([...seeds].map(([x, dx]) => [asNode(x), Dual<Node, Forced>(asNode(x), dx)])),
      )
      return { ys: duals.map((d) => asExpr(d.primal)), dys: duals.map((d) => d.tangent) }
    },
  }
  return config
}

/**
 * Dual numbers over concrete arrays, as an algebra for `interpret`: each node is evaluated by its meaning, its tangent by the frule.
 *
 * `input` gives each input's dual. An oracle of the rules that shares nothing with the modes but the rules themselves.
 * Errors  MissingRule, NotImplemented as in forward mode.
 * @example interpret(dualAlgebra(coreRegistry, () => Dual(tensor(3), tensor(1))))(fn({ x: f64() }, ({ x }) => mul(x, x))).tangent   // 6
 */
export const dualAlgebra = (registry: Registry, inputs: (at: InputAt) => EagerDual): Algebra<EagerDual> => {
  const config = eagerConfig(registryIn(registry, 'dualAlgebra'))
  functionOf(inputs, 'the second argument', 'dualAlgebra')
  return {
    input: inputs,
    literal: (value, dtype) => Dual(scalar(value, dtype), still(aval([], dtype))),
    captured: (t) => Dual(t, still(avalOf(t))),
    apply: (at, args) => {
      const { primitive, params, results } = at
      const moving = args.some((a) => a.tangent._tag === 'Tensor')
      if (!moving || results.every((a) => !isFloat(a.dtype)))
        return values(
          at,
          args.map((a) => a.primal),
        ).map((y, i) => Dual(y, still(results[i]!)))
      const given = new Map<Node, TensorClass>()
      const place = (x: Tensor): Node => {
        const n = input(avalOf(x))
        given.set(n, asClass(x))
        return n
      }
      const duals = args.map(
        (a): Dual<Node, Forced> => Dual(place(a.primal), a.tangent._tag === 'Tensor' ? asExpr(place(a.tangent)) : a.tangent),
      )
      const ys = applyAny(
        primitive,
        duals.map((d) => d.primal),
        params,
      )
      return pushed(registry, config, primitive, params, ys, duals).map(({ y, dy }, i) => {
        const t = projectTangent(dy, results[i]!, { node: applicationOf(ys), k: i })
        return Dual(tensor(y, given), t._tag === 'Expr' ? tensor(asNode(t), given) : still(results[i]!))
      })
    },
  }
}

/** Reverse mode over concrete arrays: an algebra that remembers, and the reverse pass. */
export interface EagerReverse {
  readonly algebra: Algebra<EagerCoDual>
  /** Cotangents of the inputs by path, from those that were added to the results: every application in reverse order. */
  readonly back: () => ReadonlyMap<string, Tensor | ZeroTangent | NoTangent>
}

const plus = (a: Tensor, b: Tensor): Tensor => tensor(asNode(add(a, b)), new Map())

/**
 * Codual numbers over concrete arrays, as an algebra for `interpret` and the reverse pass over its record; each node by its rrule.
 *
 * `input` gives each input's value. Give a result its cotangent with `add`, then `back()` gives those of the inputs.
 * Errors  MissingRule, NotImplemented as in reverse mode.
 * @example reverseAlgebra(coreRegistry, () => tensor(3)).back().size   // 0
 */
export const reverseAlgebra = (registry: Registry, inputs: (at: InputAt) => Tensor): EagerReverse => {
  functionOf(inputs, 'the second argument', 'reverseAlgebra')
  const config = { ...configOf(registryIn(registry, 'reverseAlgebra')), pushforward: eagerConfig(registry).pushforward }
  const tape: (() => void)[] = []
  const leaves = new Map<string, EagerCoDual>()
  /** What depends on an input: nobody asks for the cotangent of a literal or of a tensor that was closed over. */
  const moving = new WeakSet<EagerCoDual>()
  const fresh = (x: Tensor): EagerCoDual => CoDual(x, plus)
  return {
    back: () => {
      for (const step of tape.splice(0).reverse()) step()
      return new Map([...leaves].map(([path, x]) => [path, x.total() ?? still(avalOf(x.primal))]))
    },
    algebra: {
      input: (at) => {
        const x = fresh(inputs(at))
        leaves.set(at.path, x)
        moving.add(x)
        return x
      },
      literal: (value, dtype) => fresh(scalar(value, dtype)),
      captured: fresh,
      apply: (at, args) => {
        const { primitive, params, results } = at
        const outs = values(
          at,
          args.map((a) => a.primal),
        ).map(fresh)
        const active = args.map((a) => moving.has(a) && isFloat(avalOf(a.primal).dtype))
        if (!active.includes(true)) return outs
        for (const o of outs) moving.add(o)
        tape.push(() => {
          const yBars = outs.map((o) => o.total())
          if (yBars.every((y) => y === undefined)) return
          const given = new Map<Node, TensorClass>()
          const place = (x: Tensor): Node => {
            const n = input(avalOf(x))
            given.set(n, asClass(x))
            return n
          }
          const xs = args.map((a) => place(a.primal))
          const ys = applyAny(primitive, xs, params)
          const rrule = ruleFor(registry, primitive, 'rrule', 'an eager codual')
          const { pullback } = rrule(xs.map(asExpr), params as never, contextOf(ys, active, config))
          const xBars = pullback(
            yBars.map((y, i) => (y === undefined ? still(results[i]!) : asExpr(place(y)))),
            active,
          )
          args.forEach((a, i) => {
            if (!active[i]) return
            const t = known(unthunk(xBars[i]!))
            if (t._tag !== 'Expr') return
            const p = project(asNode(t), avalOf(a.primal), { node: applicationOf(ys), k: i })
            if (p._tag === 'Expr') a.add(tensor(asNode(p), given))
          })
        })
        return outs
      },
    },
  }
}
