/** `customRule(f, { frule, rrule })`: from a user's rules over trees to those of the primitive, with everything they return checked. */

import { flagOf, shown } from '../errors/check-arguments.js'
import { badDtype, badInput, badShape, raise } from '../errors/explain.js'
import { type Kind, type OptionsOf, or, readOptions } from '../errors/options.js'
import { callable, metaOf, type Runtime } from '../functions/function.js'
import { type Aval, isFloat, sameAval, showAval } from '../graph/aval.js'
import { builtBefore, close } from '../graph/close.js'
import { applyMulti, asExpr, asNode, constant, isExpr, type Node, nodesBuilt } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { freshInputs, liftList, liftTree } from '../graph/program.js'
import { rewrite } from '../graph/rewrite.js'
import { sameShape } from '../graph/shape.js'
import { type Forced, inplaceableThunk, NoTangent, type Tangent, thunk, unthunk, ZeroTangent } from '../graph/tangent.js'
import { below, hasParts, leafCount, leafPaths, partsAlong, showDef, type TreeDef, unflatten } from '../graph/tree.js'
import { beside } from '../graph/weak.js'
import { type CustomParams, customPrimitive } from '../ops/custom.js'
import { stopGradient } from '../ops/elementwise.js'
import { broadcastNode } from '../ops/layout/move.js'
import type { AnyExpr } from '../types/expr.js'

const refused = (where: string, reason: string, fix: string): never => badInput(where, reason, fix)
const ruleOr = <F>(fix: string): Kind<F | undefined, F> =>
  or<F, undefined>(undefined, (given, what, where) =>
    typeof given === 'function' ? (given as F) : refused(where, `${what} is not a function.`, fix),
  )
const eitherRule = 'give { frule } or { rrule }, or both.'
export const userRules = {
  frule: ruleOr<(primals: unknown, tangents: unknown) => unknown>(eitherRule),
  rrule: ruleOr<(primals: unknown) => unknown>(eitherRule),
  /** They are deliberately not f's derivative. */
  estimates: or<boolean | 'biased', false>(false, (given, what, where) => (given === 'biased' ? given : flagOf(given, what, where))),
  /** The distribution function of results that are drawn. */
  distribution: ruleOr<(...args: readonly unknown[]) => unknown>('give a function of the result and the arguments.'),
  /** What messages call it; `customRule(f)` where it is not given. */
  name: or<string, undefined>(undefined, (given, what, where) =>
    typeof given === 'string' && given !== '' ? given : refused(where, `${what} is ${shown(given)}.`, 'give a text.'),
  ),
}
/** A user's rules: the trees of f's arguments and of its result. */
type UserRules = OptionsOf<typeof userRules>

/** One place of a result: what messages call it, and what must be there. */
interface Place {
  readonly name: string
  readonly aval: Aval
}
const placesOf = (what: string, def: TreeDef, avals: readonly Aval[]): readonly Place[] =>
  leafPaths(def).map((path, i) => ({ name: path === '' ? what : below(what, path), aval: avals[i]! }))

const tagOf = (x: unknown): unknown => (typeof x === 'object' && x !== null ? (x as { _tag?: unknown })._tag : undefined)

/** The leaves of what a rule returned, along the structure that it must have. `zeros`: a symbolic zero may stand for a subtree. */
const leavesOf = (op: string, what: string, def: TreeDef, tree: unknown, zeros: boolean): readonly unknown[] => {
  const out: unknown[] = []
  const go = (d: TreeDef, x: unknown): void => {
    if (d._tag === 'Leaf') {
      out.push(x)
      return
    }
    if (!hasParts(d)) return
    if (zeros && (tagOf(x) === 'ZeroTangent' || tagOf(x) === 'NoTangent')) {
      for (let i = 0; i < leafCount(d); i++) out.push(x)
      return
    }
    const items = partsAlong(d, x)
    if (items === undefined)
      badInput(op, `${what} does not have the structure ${showDef(def)}.`, `return ${showDef(def)}, with one leaf for each *.`)
    else for (const [i, item] of d.items.entries()) go(item, items[i])
  }
  go(def, tree)
  return out
}

/** A leaf that must be exactly of its place's shape and dtype. */
const valueAt = (op: string, place: Place, leaf: unknown): Node => {
  if (Array.isArray(leaf) && leaf.some(isExpr))
    badInput(
      op,
      `${place.name} is a list of ${leaf.length}, it must be ${showAval(place.aval)}.`,
      'give the expression itself: of one argument there is one, and no list.',
    )
  const n =
    leaf === undefined || leaf === null
      ? badInput(op, `${place.name} is missing.`, `return ${showAval(place.aval)} there.`)
      : beside(lift(leaf, `${op}: ${place.name}`, place.aval.dtype), place.aval.dtype)
  if (sameAval(n.aval, place.aval)) return n
  const reason = `${place.name} is ${showAval(n.aval)}, it must be ${showAval(place.aval)}.`
  return sameShape(n.shape, place.aval.shape)
    ? badDtype(op, [n.dtype, place.aval.dtype], reason, 'cast it.')
    : badShape(op, [n.shape, place.aval.shape], reason, 'return it in the shape of what it belongs to.')
}

/** A tangent or cotangent of its place; thunks stay thunks and are checked when they are asked for. */
const tangentAt = (op: string, place: Place, leaf: unknown): Tangent => {
  const tag = tagOf(leaf)
  if (tag === 'Thunk' || tag === 'InplaceableThunk') {
    const t = leaf as Extract<Tangent, { _tag: 'Thunk' | 'InplaceableThunk' }>
    const force = (): Forced => unthunk(tangentAt(op, place, unthunk(t)))
    return t._tag === 'InplaceableThunk'
      ? inplaceableThunk(force, (acc) => asExpr(valueAt(op, place, t.addTo(acc))), t.block)
      : thunk(force)
  }
  if (!isFloat(place.aval.dtype))
    return tag === 'NoTangent' || tag === 'ZeroTangent'
      ? NoTangent
      : badInput(op, `${place.name} is ${place.aval.dtype}: it has no tangent.`, 'return NoTangent there.')
  if (tag === 'ZeroTangent' || tag === 'NoTangent') return ZeroTangent
  if (tag === 'NotImplemented') return leaf as Tangent
  return asExpr(valueAt(op, place, leaf))
}

/** A (co)tangent as users see it: dense, NoTangent where there is no tangent space. */
const dense = (t: Forced, a: Aval): AnyExpr | NoTangent => {
  if (!isFloat(a.dtype)) return NoTangent
  if (t._tag === 'NotImplemented') return raise({ _tag: 'NotImplemented', rule: t.rule, reason: t.reason })
  return t._tag === 'Expr' ? t : asExpr(broadcastNode(constant(0, a.dtype), a.shape))
}

const pairOf = (op: string, what: string, r: unknown, second: string): readonly [unknown, unknown] =>
  Array.isArray(r) && r.length === 2
    ? (r as unknown as readonly [unknown, unknown])
    : badInput(op, `the ${what} must return [y, ${second}].`, `return [y, ${second}].`)

/** What f was traced to. */
interface Traced {
  readonly op: string
  /** Structure of the argument list. */
  readonly args: TreeDef
  readonly argAvals: readonly Aval[]
  readonly result: TreeDef
  readonly resultAvals: readonly Aval[]
  /** Expressions and tensors of outside; at each call they are further arguments. */
  readonly captured: readonly Node[]
}

/** Rules over the nodes of all arguments, captured ones too, in order. */
const flatRules = (t: Traced, rules: UserRules): Pick<CustomParams, 'frule' | 'rrule' | 'distribution'> => {
  const { op } = t
  const arity = t.argAvals.length
  const single = t.args._tag === 'Tuple' && t.args.items.length === 1
  const primalsOf = (leaves: readonly unknown[]): unknown => {
    const list = unflatten(t.args, leaves) as readonly unknown[]
    return single ? list[0] : list
  }
  const primalDef = single ? (t.args as Extract<TreeDef, { _tag: 'Tuple' }>).items[0]! : t.args
  /** In a rule's expressions: what f captured, as it is at this call. */
  const atThisCall = (xs: readonly Node[]): ((n: Node) => Node) => {
    const changed = t.captured.some((c, i) => xs[arity + i] !== c)
    if (!changed) return (n) => n
    const to = new Map<Node, Node>([...xs.map((x) => [x, x] as const), ...t.captured.map((c, i) => [c, xs[arity + i]!] as const)])
    return (n) => rewrite([n], { at: (m) => to.get(m) })[0]!
  }
  const values = (tree: unknown, what: string, xs: readonly Node[]): readonly Node[] => {
    const places = placesOf(`${what}: y`, t.result, t.resultAvals)
    const leaves = leavesOf(op, `${what}: y`, t.result, tree, false)
    const here = atThisCall(xs)
    return leaves.map((leaf, i) => here(valueAt(op, places[i]!, leaf)))
  }
  const tangents = (tree: unknown, what: string, def: TreeDef, avals: readonly Aval[], xs: readonly Node[]): readonly Tangent[] => {
    const places = placesOf(what, def, avals)
    const here = atThisCall(xs)
    const moved = t.captured.some((c, i) => xs[arity + i] !== c)
    const at = (x: Forced): Forced => (x._tag === 'Expr' ? asExpr(here(asNode(x))) : x)
    return leavesOf(op, what, def, tree, true).map((leaf, i) => {
      const checked = tangentAt(op, places[i]!, leaf)
      return moved ? thunk(() => at(unthunk(checked))) : checked
    })
  }
  const { frule, rrule, distribution } = rules
  return {
    ...(distribution && {
      distribution: (ys, xs) => {
        const args = unflatten(t.args, xs.slice(0, arity).map(asExpr)) as readonly unknown[]
        return values(distribution(unflatten(t.result, ys.map(asExpr)), ...args), 'distribution', xs)
      },
    }),
    ...(frule && {
      frule: (xs, dxs) => {
        const r = frule(primalsOf(xs.slice(0, arity).map(asExpr)), primalsOf(t.argAvals.map((a, i) => dense(dxs[i]!, a))))
        const [y, dy] = pairOf(op, 'frule', r, 'dy')
        return { ys: values(y, 'frule', xs), dys: tangents(dy, 'frule: dy', t.result, t.resultAvals, xs) }
      },
    }),
    ...(rrule && {
      rrule: (xs) => {
        const [y, pullback] = pairOf(op, 'rrule', rrule(primalsOf(xs.slice(0, arity).map(asExpr))), 'pullback')
        if (typeof pullback !== 'function') badInput(op, 'the rrule must return [y, pullback].', 'return a function of yBar.')
        return {
          ys: values(y, 'rrule', xs),
          pullback: (yBars) => {
            const yBar = unflatten(
              t.result,
              t.resultAvals.map((a, i) => dense(yBars[i]!, a)),
            )
            return tangents((pullback as (yBar: unknown) => unknown)(yBar), 'pullback: xBar', primalDef, t.argAvals, xs)
          },
        }
      },
    }),
  }
}

/** `customRule` for a runtime: traces f, closes it over what it captured, and applies the primitive. */
export const makeCustomRule =
  (runtime: Runtime) =>
  (f: unknown, rules: UserRules): ((...args: readonly unknown[]) => unknown) => {
    const meta = metaOf(f, 'customRule')
    const plain = `customRule(${meta.name})`
    const { frule, rrule, estimates, distribution, name: op = plain } = readOptions(userRules, rules, plain)
    if (frule === undefined && rrule === undefined) refused(op, 'it has no rule.', eitherRule)
    const own = { ...(frule && { frule }), ...(rrule && { rrule }), ...(distribution && { distribution }) }
    return callable(runtime, {
      ...meta,
      differentiates: false,
      body: (list) => {
        const given = liftList(list, op)
        const argAvals = given.nodes.map((n) => n.aval)
        const mark = nodesBuilt()
        const inputs = freshInputs(given.def, argAvals)
        const out = liftTree(meta.body(unflatten(given.def, inputs.map(asExpr)) as unknown[]), `the result of ${meta.name}`)
        const { program, captured } = close(op, inputs, out.nodes, builtBefore(mark))
        const params: CustomParams = {
          name: op,
          arity: inputs.length,
          stopped: captured.map((n) => n.prim === stopGradient.primitive),
          program,
          estimates,
          ...flatRules({ op, args: given.def, argAvals, result: out.def, resultAvals: out.nodes.map((n) => n.aval), captured }, own),
        }
        const ys = applyMulti(customPrimitive, [...given.nodes, ...captured], params)
        return unflatten(out.def, ys.map(asExpr))
      },
    })
  }
