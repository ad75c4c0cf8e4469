/**
 * A derivative that is not known says so: of a primitive that is made of others, or holds programs, each of these in turn is made one whose derivative is not
 * implemented. What depends on it, which is found by doubling that derivative, must be NotImplemented too, or raise it, in every mode; it is never 0 or a number.
 */
import type { Registry, Rule } from '../core/calculus/rule.js'
import { isAdException } from '../core/errors/error.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { expanded, programsOf } from '../core/graph/expand.js'
import { applyAny, asExpr, input, linearize, type Node, OUTPUT } from '../core/graph/expr.js'
import { allocate, type NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'
import { type Forced, notImplemented, type Tangent, unthunk } from '../core/graph/tangent.js'
import { type CustomParams, customPrimitive } from '../core/ops/custom.js'
import { mul } from '../core/ops/elementwise.js'
import { regionized } from '../modes/mixed.js'
import { pullback, pushforward } from '../modes/transform.js'
import { batch } from '../modes/vmap.js'
import { random } from './draw.js'
import type { Collector } from './findings.js'
import { bind, dense, drawLike, evaluate, type Subject } from './subject.js'

/** What becomes of the tangents that a rule gives. */
type Change = (t: Forced, k: number) => Tangent
const REASON = 'the checker took it out'
const missing =
  (name: string): Change =>
  (t) =>
    t._tag === 'Expr' ? notImplemented(name, REASON) : t
const doubled: Change = (t) => (t._tag === 'Expr' ? mul(t, 2) : t)
const each = (ts: readonly Tangent[], change: Change): readonly Tangent[] => ts.map((t, k) => change(unthunk(t), k))

/** A rule whose tangents and cotangents are changed. */
const changedRule = ({ primitive, frule, rrule }: Rule, change: Change): Rule => ({
  primitive,
  ...(frule && {
    frule: (xs, dxs, params, context) => {
      const made = frule(xs, dxs, params, context)
      return { ys: made.ys, dys: each(made.dys, change) }
    },
  }),
  ...(rrule && {
    rrule: (xs, params, context) => {
      const made = rrule(xs, params, context)
      return { ys: made.ys, pullback: (yBars, active) => each(made.pullback(yBars, active), change) }
    },
  }),
})
/** A customRule whose tangent of result `at`, or cotangent of argument `at`, is changed. */
const changedParams = ({ frule, rrule, ...rest }: CustomParams, at: number, change: Change): CustomParams => {
  const one: Change = (t, k) => (k === at ? change(t, k) : t)
  return {
    ...rest,
    ...(frule && {
      frule: (xs, dxs) => {
        const made = frule(xs, dxs)
        return { ys: made.ys, dys: each(made.dys, one) }
      },
    }),
    ...(rrule && {
      rrule: (xs) => {
        const made = rrule(xs)
        return { ys: made.ys, pullback: (yBars, active) => each(made.pullback(yBars, active), one) }
      },
    }),
  }
}

/** The primitives with derivatives that a primitive is made of, or holds, at these arguments. */
const within = (registry: Registry, prim: AnyPrimitive, { inputs, ys }: Subject): readonly Rule[] => {
  const found = new Set<AnyPrimitive>()
  const seen = new Set<unknown>()
  const look = (nodes: readonly Node[]): void => {
    for (const n of linearize(nodes).nodes) {
      if (n.prim === null) continue
      if (isFloat(n.dtype) || n.prim.multi) found.add(n.prim)
      for (const p of programsOf(n.prim, n.payload)) if (!seen.has(p) && seen.add(p)) look(p.outputs)
    }
  }
  const whole = ys[0]!.kind === OUTPUT ? ys[0]!.args[0]! : ys[0]!
  // What follows a rule of its author's own is that of the rule.
  if (prim !== customPrimitive) for (const p of programsOf(prim, whole.payload)) look(p.outputs)
  if (registry.ruleOf(prim)?.composed === true && prim.expand !== undefined) look(expanded(whole, inputs))
  found.delete(prim)
  return [...found].flatMap((p) => {
    const rule = registry.ruleOf(p)
    return rule?.frule !== undefined && rule.rrule !== undefined && rule.form?._tag !== 'constant' ? [rule] : []
  })
}

/** Examples of a batch. */
const SIZE = 2
/** The same over a batch of examples that are all the point. */
const mapped = (s: Subject): Subject => {
  const inputs = s.inputs.map((x) => input(aval([SIZE, ...x.shape], x.dtype)))
  const values = s.values.map(({ shape, dtype, data }): NDArray => {
    const all = allocate(dtype, SIZE * data.length)
    for (let i = 0; i < all.length; i++) all[i] = data[i % data.length]!
    return { shape: [SIZE, ...shape], dtype, data: all }
  })
  return { ...s, inputs, values, ys: batch(s.registry, s.ys, new Map(s.inputs.map((x, i) => [x, inputs[i]!])), SIZE) }
}

/** One way to derivatives: how it is called, the derivatives, what they stand beside, and the names of that. */
interface Way {
  readonly how: string
  readonly made: () => readonly Forced[]
  readonly like: readonly Node[]
  readonly paths: readonly string[]
}
interface Symbols {
  readonly tangents: readonly Node[]
  readonly seeds: readonly Node[]
}
const wrtOf = (s: Subject): readonly Node[] => s.active.map((i) => s.inputs[i]!)
const outsOf = (s: Subject): readonly Node[] => s.ys.filter((y) => isFloat(y.dtype))
/** Tangents of the results, cotangents of the arguments in reverse and in mixed mode. */
const waysOf = (s: Subject, { tangents, seeds }: Symbols): readonly Way[] => {
  const [wrt, outs] = [wrtOf(s), outsOf(s)]
  const back = (how: string, nodes: readonly Node[]): Way => ({
    how,
    made: () => pullback(s.registry, nodes, seeds.map(asExpr), wrt).cotangents,
    like: wrt,
    paths: s.active.map((i) => s.paths[i]!),
  })
  const forward: Way = {
    how: 'forward mode',
    made: () => pushforward(s.registry, outs, new Map(wrt.map((x, i) => [x, tangents[i]!]))).tangents,
    like: outs,
    paths: outs.map((y) => `result ${s.ys.indexOf(y)}`),
  }
  return [
    ...(s.modes.includes('forward') ? [forward] : []),
    ...(s.modes.includes('reverse') ? [back('reverse mode', outs), back('mixed mode', regionized(outs, wrt))] : []),
  ]
}

/** What the derivatives of `twice` show to depend on what is missing in `none` must be NotImplemented there, of this name. */
const checkSaid = (name: string, [once, twice, none]: readonly [Subject, Subject, Subject], also: string, out: Collector): void => {
  const symbols: Symbols = { tangents: wrtOf(once).map((x) => input(x.aval)), seeds: outsOf(once).map((y) => input(y.aval)) }
  const own = [...symbols.tangents, ...symbols.seeds]
  const values = drawLike(own, random(5))
  const numbers = (w: Way, s: Subject): readonly ArrayLike<number>[] =>
    evaluate(dense(w.made(), w.like), new Map([...bind(s.inputs, s.values), ...bind(own, values)])).map((v) => v.data)
  const [ones, twos] = [waysOf(once, symbols), waysOf(twice, symbols)]
  waysOf(none, symbols).forEach((w, k) => {
    const [a, b] = [numbers(ones[k]!, once), numbers(twos[k]!, twice)]
    const depends = a.map((x, i) => Array.from(x).some((v, j) => Math.abs(v - b[i]![j]!) > 1e-9 * (1 + Math.abs(v))))
    const tell = (i: number, found: string): void =>
      out.is('not implemented', w.paths[i]!, found, SAID, { how: `${w.how}${also}, where the derivative of ${name} is not known` })
    if (!depends.includes(true)) return
    let given: readonly Forced[]
    try {
      given = w.made()
    } catch (e) {
      if (!isAdException(e) || e.error._tag !== 'NotImplemented') throw e
      tell(depends.indexOf(true), e.error.rule === name ? SAID : `NotImplemented of ${e.error.rule}`)
      return
    }
    given.forEach((t, i) => {
      const found =
        t._tag === 'Expr' ? 'an expression' : t._tag !== 'NotImplemented' ? t._tag : t.rule === name ? SAID : `${t._tag} of ${t.rule}`
      if (depends[i]) tell(i, found)
    })
  })
}
const SAID = 'NotImplemented'

/** A primitive that is made of others, or holds programs, does not hide that a derivative of theirs is not known. */
export const checkUnimplemented = (prim: AnyPrimitive, sample: Sample, s: Subject, out: Collector): void => {
  const compare = (name: string, at: (change: Change) => Subject): void =>
    out.guard(`without the derivative of ${name}`, () => {
      const all = [at((t) => t), at(doubled), at(missing(name))] as const
      checkSaid(name, all, '', out)
      if (s.registry.ruleOf(prim)?.batch === undefined) return
      checkSaid(name, [mapped(all[0]), mapped(all[1]), mapped(all[2])], ', of a batch', out)
    })
  const inner = within(s.registry, prim, s)
  if ((inner.length === 0 && prim !== customPrimitive) || !out.on('not implemented')) return
  for (const rule of inner) compare(rule.primitive.name, (change) => ({ ...s, registry: s.registry.with(changedRule(rule, change)) }))
  if (prim !== customPrimitive) return
  const params = sample.params as CustomParams
  for (let k = 0; k < Math.max(params.arity, params.program.outputs.length); k++)
    compare(params.name, (change) => ({ ...s, ys: applyAny(prim, s.inputs, changedParams(params, k, change)) }))
}
