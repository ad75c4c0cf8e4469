/** How rules are written: `scalarRule`, `linearRule`, `bilinearRule`, `nonDifferentiable`, and `rule` for one with a structure of its own. */

import {
  type Batching,
  type BatchRule,
  type Form,
  type FRule,
  formless,
  type PartialsOf,
  type Pullback,
  type RRule,
  type Rule,
  type RuleContext,
  ruleIn,
  type TransposeOf,
} from '../core/calculus/rule.js'
import { functionOf, type Names, optionsOf, recordOf } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { composedRules } from '../core/extend/decompose.js'
import { isFloat, showAval } from '../core/graph/aval.js'
import { apply, asExpr, asNode, constant } from '../core/graph/expr.js'
import { type AnyPrimitive, type ArgKind, type OpOf, type Primitive, primitiveOf } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type Tangent, thunk, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { broadcastTo } from '../core/ops/layout.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims, elementwiseBatch } from './batching.js'
import { bilinear, facets, facetsOf, transposes } from './given.js'
import { plus, scale } from './product.js'

/** Arguments of a primitive as expressions, in step with its arity. */
export type Args<A extends readonly ArgKind[]> = number extends A['length'] ? readonly AnyExpr[] : { readonly [K in keyof A]: AnyExpr }
/** Tangents of the arguments: NoTangent in exactly the `int` slots. */
export type ArgTangents<A extends readonly ArgKind[]> = {
  readonly [K in keyof A]: A[K] extends 'int' ? NoTangent : Exclude<Tangent, NoTangent>
}
/** Entries of dy/dx: an expression, a number, or NoTangent in the `int` slots. */
export type Partials<A extends readonly ArgKind[]> = {
  readonly [K in keyof A]: A[K] extends 'int' ? NoTangent : AnyExpr | number | ZeroTangent
}

/** A rule under the author's types: one result, and the cotangent of it. */
export interface SingleRule<P, A extends readonly ArgKind[]> {
  readonly frule: (
    xs: Args<A>,
    dxs: { readonly [K in keyof A]: Forced },
    params: P,
    context: RuleContext,
  ) => readonly [y: AnyExpr, dy: Tangent]
  readonly rrule: (
    xs: Args<A>,
    params: P,
    context: RuleContext,
  ) => readonly [y: AnyExpr, pullback: (yBar: AnyExpr, active: readonly boolean[]) => ArgTangents<A>]
  readonly batch: (xs: Args<A>, batched: readonly boolean[], params: P, size: number, through: Batching) => AnyExpr
}
/** A rule of a primitive with several results. */
export interface MultiRule<P, A extends readonly ArgKind[]> {
  readonly frule: (
    xs: Args<A>,
    dxs: readonly Forced[],
    params: P,
    context: RuleContext,
  ) => readonly [ys: readonly AnyExpr[], dys: readonly Tangent[]]
  readonly rrule: (
    xs: Args<A>,
    params: P,
    context: RuleContext,
  ) => readonly [ys: readonly AnyExpr[], pullback: (yBars: readonly Forced[], active: readonly boolean[]) => ArgTangents<A>]
  readonly batch: (xs: Args<A>, batched: readonly boolean[], params: P, size: number, through: Batching) => readonly AnyExpr[]
}

/**
 * A rule whose facets are written out: frule (value and tangent), rrule (value and pullback), batch (what vmap needs). Any may be left out.
 *
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const twiceRule = rule(twice.primitive, { frule: (_xs, [dx], _params, { y }) => [y, dx._tag === 'Expr' ? twice(dx) : dx] })
 * makeCodual(coreRegistry.with(twiceRule), cpu()).jvp((x) => twice(x))(3, 1)   // [6, 2]
 */
export const rule = <N extends string, P, const A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A>,
  r: Partial<SingleRule<P, A>>,
): Rule => {
  facetsOf(primitive as unknown as AnyPrimitive, r, facets, 'rule')
  return single(primitive, r)
}
const single = <N extends string, P, const A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A>,
  r: Partial<SingleRule<P, A>>,
): Rule => ({
  primitive: primitive as unknown as AnyPrimitive,
  ...(r.frule && {
    frule: ((xs, dxs, params, context) => {
      const [y, dy] = r.frule!(xs as unknown as Args<A>, dxs.map(unthunk) as never, params as P, context)
      return { ys: [y], dys: [dy] }
    }) as FRule,
  }),
  ...(r.rrule && {
    rrule: ((xs, params, context) => {
      const [y, pullback] = r.rrule!(xs as unknown as Args<A>, params as P, context)
      const general: Pullback = (yBars, active) => {
        const yBar = yBars[0]!
        return yBar._tag === 'Expr' ? (pullback(yBar, active) as unknown as readonly Tangent[]) : xs.map(() => yBar)
      }
      return { ys: [y], pullback: general }
    }) as RRule,
  }),
  ...(r.batch && {
    batch: ((xs, batched, params, size, through) => [r.batch!(xs as unknown as Args<A>, batched, params as P, size, through)]) as BatchRule,
  }),
})

/** As `rule`, for an elementwise primitive: its batch follows. */
export const elementwiseRule = <N extends string, P, const A extends readonly ArgKind[]>(
  op: OpOf<N, P, A>,
  r: Omit<SingleRule<P, A>, 'batch'>,
): Rule => {
  const primitive = primitiveOf(op, 'elementwiseRule')
  return { ...single(primitive, r), batch: elementwiseBatch(primitive as unknown as AnyPrimitive) }
}

/**
 * As `rule`, for a primitive with several results: one cotangent per result, ZeroTangent where none arrived.
 *
 * @example
 * const split2 = coreRegistry.rules.get('split')!.primitive
 * multiRule(split2, { batch: (xs) => xs }).primitive.name   // 'split'
 */
export const multiRule = <N extends string, P, const A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A>,
  r: Partial<MultiRule<P, A>>,
): Rule => {
  facetsOf(primitive as unknown as AnyPrimitive, r, facets, 'multiRule')
  return {
    primitive: primitive as unknown as AnyPrimitive,
    ...(r.frule && {
      frule: ((xs, dxs, params, context) => {
        const [ys, dys] = r.frule!(xs as unknown as Args<A>, dxs.map(unthunk), params as P, context)
        return { ys, dys }
      }) as FRule,
    }),
    ...(r.rrule && {
      rrule: ((xs, params, context) => {
        const [ys, pullback] = r.rrule!(xs as unknown as Args<A>, params as P, context)
        return { ys, pullback: pullback as unknown as Pullback }
      }) as RRule,
    }),
    ...(r.batch && {
      batch: ((xs, batched, params, size, through) => r.batch!(xs as unknown as Args<A>, batched, params as P, size, through)) as BatchRule,
    }),
  }
}

/** Applies a primitive of the rule's own kind to other arguments. */
export const reapply = <P>(primitive: Primitive<string, P>, xs: readonly AnyExpr[], params: P): AnyExpr =>
  asExpr(apply(primitive, xs.map(asNode), params))

/** Zeros of x's shape and dtype: a broadcast literal, no buffer. */
export const zerosLike = (x: AnyExpr): AnyExpr => broadcastTo(asExpr(constant(0, x.dtype)), dims(x))

/** frule and rrule of any primitive with one result. */
type Derivatives = Pick<SingleRule<never, readonly ArgKind[]>, 'frule'> & {
  readonly rrule: (
    xs: readonly AnyExpr[],
    params: never,
    context: RuleContext,
  ) => readonly [y: AnyExpr, pullback: (yBar: AnyExpr, active: readonly boolean[]) => readonly Tangent[]]
}
const kindOf = ({ args, variadic }: AnyPrimitive, i: number): ArgKind => args[variadic ? 0 : i]!

/** The rule of a primitive with one result that its form says; its batch is the author's, or that of what is elementwise. */
const formed = (primitive: AnyPrimitive, form: Form, batch?: unknown): Rule => ({
  // What is given is of the primitive's own kinds, and these are all kinds.
  ...single(primitive, { ...derivatives(primitive, form), ...(batch !== undefined && { batch }) } as Partial<
    SingleRule<unknown, readonly ArgKind[]>
  >),
  form,
  ...(batch === undefined && (form._tag === 'partials' || primitive.class === 'elementwise') && { batch: elementwiseBatch(primitive) }),
})
const derivatives = (primitive: AnyPrimitive, form: Form): Derivatives => {
  switch (form._tag) {
    case 'partials':
      return ofPartials(form.partials)
    case 'linear':
      return { frule: linearTangent(primitive), rrule: transposed(form.transpose) }
    case 'bilinear':
      return { frule: bilinearTangent(primitive), rrule: transposed(form.transpose) }
    case 'constant':
      return ofConstant(primitive)
  }
}
/** dy = sum of dx_i dy/dx_i, xBar_i = yBar dy/dx_i. */
const ofPartials = (partials: PartialsOf): Derivatives => ({
  frule: (x, dxs, params, { y, config }) => {
    const ps = partials({ x, y, params })
    return [y, dxs.reduce<Forced>((sum, dx, i) => (dx._tag === 'Expr' ? plus(sum, scale(dx, ps[i]!, config.product)) : sum), ZeroTangent)]
  },
  rrule: (x, params, { y, config }) => {
    const scalarPullback = (yBar: AnyExpr, active: readonly boolean[]): readonly Tangent[] =>
      partials({ x, y, params }).map((p, i) =>
        typeof p === 'object' && p._tag === 'NoTangent' ? NoTangent : active[i] ? thunk(() => scale(yBar, p, config.product)) : ZeroTangent,
      )
    return [y, scalarPullback]
  },
})
const transposed =
  (transpose: TransposeOf): Derivatives['rrule'] =>
  (xs, params, { y }) => {
    const linearPullback = (yBar: AnyExpr, active: readonly boolean[]): readonly Tangent[] => transpose(yBar, xs, params, active)
    return [y, linearPullback]
  }
/** dy = f(dx), with zeros where an argument has no tangent. */
const linearTangent =
  (primitive: AnyPrimitive): Derivatives['frule'] =>
  (xs, dxs, params, { y }) => {
    if (dxs.every((d) => d._tag !== 'Expr')) return [y, ZeroTangent]
    const tangents = xs.map((x, i) => {
      const d = dxs[i]!
      return d._tag === 'Expr' ? d : kindOf(primitive, i) === 'int' ? x : zerosLike(x)
    })
    return [y, reapply(primitive, tangents, params)]
  }
/** dy = f(da, b) + f(a, db). */
const bilinearTangent =
  (primitive: AnyPrimitive): Derivatives['frule'] =>
  (xs, dxs, params, { y }) => {
    const [a, b] = xs as readonly [AnyExpr, AnyExpr]
    const [da, db] = dxs as readonly [Forced, Forced]
    const f = (u: AnyExpr, v: AnyExpr): AnyExpr => reapply(primitive, [u, v], params)
    return [y, plus(da._tag === 'Expr' ? f(da, b) : ZeroTangent, db._tag === 'Expr' ? f(a, db) : ZeroTangent)]
  }
const ofConstant = (primitive: AnyPrimitive): Derivatives => ({
  frule: (_xs, _dxs, _params, { y }) => [y, isFloat(y.dtype) ? ZeroTangent : NoTangent],
  rrule: (xs, _params, { y }) => [
    y,
    () => xs.map((x, i) => (kindOf(primitive, i) === 'int' || !isFloat(x.dtype) ? NoTangent : ZeroTangent)),
  ],
})

/**
 * Both rules of an elementwise primitive from its partial derivatives, given inputs and output.
 * A partial may be infinite or NaN where a (co)tangent is masked: that stays 0 (docs/decisions/strong-zero.md).
 *
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * const cubeRule = scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))])
 * makeCodual(coreRegistry.with(cubeRule), cpu()).grad((x) => sum(cube(x)))([1, 2])   // [3, 12]
 */
export const scalarRule = <N extends string, P, const A extends readonly ArgKind[]>(
  op: OpOf<N, P, A>,
  partials: (at: { readonly x: Args<A>; readonly y: AnyExpr; readonly params: P }) => Partials<A>,
): Rule => {
  const primitive = primitiveOf(op, 'scalarRule')
  functionOf(partials, 'the second argument', `scalarRule(${primitive.name})`)
  return formed(primitive as unknown as AnyPrimitive, { _tag: 'partials', partials: partials as unknown as PartialsOf })
}

/**
 * A primitive that is linear in all its float arguments: dy is the primitive of the tangents; the transpose is given.
 *
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const twiceRule = linearRule(twice.primitive, { transpose: (yBar) => [twice(yBar)], batch: ([x]) => twice(x) })
 * makeCodual(coreRegistry.with(twiceRule), cpu()).grad((x) => sum(twice(x)))([1, 2])   // [2, 2]
 */
export const linearRule = <N extends string, P, const A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A>,
  r: {
    readonly transpose: (yBar: AnyExpr, xs: Args<A>, params: P, active: readonly boolean[]) => ArgTangents<A>
    readonly batch: SingleRule<P, A>['batch']
  },
): Rule => {
  const p = primitive as unknown as AnyPrimitive
  facetsOf(p, r, transposes, 'linearRule', ['transpose'])
  return formed(p, { _tag: 'linear', transpose: r.transpose as unknown as TransposeOf }, r.batch)
}

/**
 * A primitive that is linear in each of its two arguments: dy = f(da, b) + f(a, db); both transposes are given.
 *
 * @example
 * const times = binary({ name: 'times', scalar: (a, b) => a! * b!, source: 'definition' })
 * const timesRule = bilinearRule(times.primitive, {
 *   transposeA: (yBar, _a, b) => times(yBar, b),
 *   transposeB: (yBar, a) => times(yBar, a),
 *   batch: ([a, b]) => times(a, b),
 * })
 * makeCodual(coreRegistry.with(timesRule), cpu()).grad((x) => sum(times(x, x)))([1, 2])   // [2, 4]
 */
export const bilinearRule = <N extends string, P, const A extends readonly ['float', 'float']>(
  primitive: Primitive<N, P, A>,
  r: {
    readonly transposeA: (yBar: AnyExpr, a: AnyExpr, b: AnyExpr, params: P) => Exclude<Tangent, NoTangent>
    readonly transposeB: (yBar: AnyExpr, a: AnyExpr, b: AnyExpr, params: P) => Exclude<Tangent, NoTangent>
    readonly batch: SingleRule<P, A>['batch']
  },
): Rule => {
  const p = primitive as unknown as AnyPrimitive
  facetsOf(p, r, bilinear, 'bilinearRule', ['transposeA', 'transposeB'])
  const transpose: TransposeOf = (yBar, [a, b], params, active) => [
    active[0] ? r.transposeA(yBar, a!, b!, params) : ZeroTangent,
    active[1] ? r.transposeB(yBar, a!, b!, params) : ZeroTangent,
  ]
  return formed(p, { _tag: 'bilinear', transpose }, r.batch)
}

/**
 * A primitive whose results never depend smoothly on its arguments: ZeroTangent for float arguments and results, NoTangent otherwise.
 *
 * @example
 * const truncate = unary({ name: 'truncate', scalar: (x) => Math.trunc(x!), source: 'definition' })
 * makeCodual(coreRegistry.with(nonDifferentiable(truncate)), cpu()).grad((x) => sum(truncate(x)))([1.5])   // [0]
 */
export const nonDifferentiable = <N extends string, P, const A extends readonly ArgKind[]>(
  op: OpOf<N, P, A>,
  batch?: SingleRule<P, A>['batch'],
): Rule => {
  const primitive = primitiveOf(op, 'nonDifferentiable')
  if (batch !== undefined) functionOf(batch, 'the second argument', `nonDifferentiable(${primitive.name})`)
  return formed(primitive as unknown as AnyPrimitive, { _tag: 'constant' }, batch)
}

/** Where a rule does not apply: arguments (their shapes and dtypes) and parameters of one application. */
export interface OptOut<P, A extends readonly ArgKind[]> {
  readonly when: (at: { readonly x: Args<A>; readonly params: P }) => boolean
  /** The same results from other primitives: their rules are used instead. */
  readonly via?: (at: { readonly x: Args<A>; readonly params: P }) => AnyExpr | readonly AnyExpr[]
}

const optOuts: Names<OptOut<never, readonly []>> = { when: true, via: true }

/**
 * A rule that declines some signatures, after ChainRules' @opt_out: there the mode differentiates `via`, or raises MissingRule.
 *
 * The batch rule stays. Source  ChainRulesCore, "opting out of rules".
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * const cubeRule = scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))])
 * const safer = optOut(cube, cubeRule, { when: ({ x: [x] }) => x.dtype === 'f64', via: ({ x: [x] }) => mul(x, mul(x, x)) })
 * makeCodual(coreRegistry.with(safer), cpu()).grad((x) => sum(cube(x)))([1, 2])   // [3, 12]
 */
export const optOut = <N extends string, P, const A extends readonly ArgKind[]>(
  op: OpOf<N, P, A>,
  given: Rule,
  out: OptOut<P, A>,
): Rule => {
  const primitive = primitiveOf(op, 'optOut')
  const where = `optOut(${primitive.name})`
  ruleIn(given, where)
  const { when, via } = optionsOf(recordOf(out, 'the third argument', where), optOuts, where)
  functionOf(when, 'when', where)
  if (via !== undefined) functionOf(via, 'via', where)
  const at = (x: readonly AnyExpr[], params: unknown) => ({ x: x as unknown as Args<A>, params: params as P })
  const declined = (facet: 'frule' | 'rrule', neededBy: string, xs: readonly AnyExpr[]): never =>
    raise({
      _tag: 'MissingRule',
      primitive: primitive.name,
      rule: facet,
      arity: primitive.args.length,
      neededBy,
      fix: `its rule opts out at ${xs.map((x) => showAval(asNode(x).aval)).join(', ')}: give optOut a via, or cast the arguments.`,
    })
  const composed = via && composedRules((xs, params) => via(at(xs, params)))
  const { frule, rrule } = given
  return {
    ...formless(given),
    ...(frule && {
      frule: ((xs, dxs, params, context) => {
        if (!when(at(xs, params))) return frule(xs, dxs, params, context)
        return (composed ?? declined('frule', 'jvp (forward)', xs)).frule(xs, dxs, params, context)
      }) as FRule,
    }),
    ...(rrule && {
      rrule: ((xs, params, context) => {
        if (!when(at(xs, params))) return rrule(xs, params, context)
        return (composed ?? declined('rrule', 'grad (reverse)', xs)).rrule(xs, params, context)
      }) as RRule,
    }),
  }
}
