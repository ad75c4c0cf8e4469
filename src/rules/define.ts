/** How rules are written: `scalarRule`, `linearRule`, `bilinearRule`, `nonDifferentiable`, and `rule` for one with a structure of its own. */

import {
  type Batching,
  type BatchRule,
  type FRule,
  formless,
  type Pullback,
  type ReachOf,
  type RRule,
  type Rule,
  type RuleContext,
  ruleIn,
  type TransposeOf,
} from '../core/calculus/rule.js'
import { functionOf, recordOf } from '../core/errors/check-arguments.js'
import { badInput, raise } from '../core/errors/explain.js'
import { type OptionsFor, readOptions } from '../core/errors/options.js'
import { composedRules } from '../core/extend/decompose.js'
import { type Aval, showAval } from '../core/graph/aval.js'
import { apply, asExpr, asNode } from '../core/graph/expr.js'
import { type AnyPrimitive, type ArgKind, type OpOf, type Primitive, primitiveOf } from '../core/graph/primitive.js'
import { type Forced, type NoTangent, type NotImplemented, type Tangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'
import { elementwiseBatch } from './batching.js'
import { formed } from './forms.js'
import { aFunction, bilinear, facets, facetsOf, neededFunction, pairFrom, transposes } from './given.js'

/** Arguments of a primitive as expressions, in step with its arity. */
export type Args<A extends readonly ArgKind[]> = number extends A['length'] ? readonly AnyExpr[] : { readonly [K in keyof A]: AnyExpr }
/** Tangents or cotangents of the arguments, in their order: NoTangent in exactly the slots of kind `'int'`. */
export type ArgTangents<A extends readonly ArgKind[]> = {
  readonly [K in keyof A]: A[K] extends 'int' ? NoTangent : Exclude<Tangent, NoTangent>
}
/** Entries of dy/dx: an expression, a number, NotImplemented with its reason where it is not known, or NoTangent in the `int` slots. */
export type Partials<A extends readonly ArgKind[]> = {
  readonly [K in keyof A]: A[K] extends 'int' ? NoTangent : AnyExpr | number | ZeroTangent | NotImplemented
}

/** What `rule` takes: the facets of a rule with one result. `frule` gives the value and its tangent, `rrule` the value and the pullback, `batch` the result for arguments with a batch axis. */
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
/** What `multiRule` takes: as `SingleRule`, with lists of results, of their tangents and of their cotangents. */
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
      const made = r.frule!(xs as unknown as Args<A>, dxs.map(unthunk) as never, params as P, context)
      const [y, dy] = pairFrom(made, primitive.name, 'frule', '[y, dy]')
      return { ys: [y], dys: [dy] }
    }) as FRule,
  }),
  ...(r.rrule && {
    rrule: ((xs, params, context) => {
      const [y, pullback] = pairFrom(r.rrule!(xs as unknown as Args<A>, params as P, context), primitive.name, 'rrule', '[y, pullback]')
      const general: Pullback = ([yBar], active) =>
        yBar!._tag === 'Expr' ? (pullback(yBar!, active) as unknown as readonly Tangent[]) : xs.map(() => yBar!)
      return { ys: [y], pullback: typeof pullback === 'function' ? general : pullback }
    }) as RRule,
  }),
  ...(r.batch && { batch: batchOfOne(r.batch)! }),
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
        const made = r.frule!(xs as unknown as Args<A>, dxs.map(unthunk), params as P, context)
        const [ys, dys] = pairFrom(made, primitive.name, 'frule', '[ys, dys]')
        return { ys, dys }
      }) as FRule,
    }),
    ...(r.rrule && {
      rrule: ((xs, params, context) => {
        const [ys, pullback] = pairFrom(r.rrule!(xs as unknown as Args<A>, params as P, context), primitive.name, 'rrule', '[ys, pullback]')
        return { ys, pullback: pullback as unknown as Pullback }
      }) as RRule,
    }),
    ...(r.batch && {
      batch: ((xs, batched, params, size, through) => r.batch!(xs as unknown as Args<A>, batched, params as P, size, through)) as BatchRule,
    }),
  }
}

/** A batch rule of one result as one of a list of them. */
const batchOfOne = <P, A extends readonly ArgKind[]>(batch: SingleRule<P, A>['batch'] | undefined): BatchRule | undefined =>
  batch && ((xs, batched, params, size, through) => [batch(xs as unknown as Args<A>, batched, params as P, size, through)])
const ofOneResult = (primitive: AnyPrimitive, where: string, several: string): AnyPrimitive =>
  primitive.multi
    ? badInput(`${where}(${primitive.name})`, 'it has several results.', `write ${several}(${primitive.name}, ...).`)
    : primitive

/** Applies a primitive of the rule's own kind to other arguments. */
export const reapply = <P>(primitive: Primitive<string, P>, xs: readonly AnyExpr[], params: P): AnyExpr =>
  asExpr(apply(primitive, xs.map(asNode), params))

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
  const primitive = ofOneResult(primitiveOf(op, 'scalarRule') as unknown as AnyPrimitive, 'scalarRule', 'multiScalarRule')
  functionOf(partials, 'the second argument', `scalarRule(${primitive.name})`)
  return formed(primitive, {
    _tag: 'partials',
    partials: ({ x, ys, params }) => [partials({ x: x as unknown as Args<A>, y: ys[0]!, params }) as never],
  })
}

/**
 * As `scalarRule`, for an elementwise primitive with several results: the matrix of the partials dy_i/dx_j, a row for each result.
 *
 * Entries are expressions, numbers (0 costs nothing), ZeroTangent, or NoTangent in the `int` slots; `ZeroTangent` stands for a whole row, such as that of a result that is not a
 * float. Only the products that are needed are built.
 * @example
 * const polar = elementwise({ name: 'polar', args: ['float', 'float'], results: ['float', 'float'], scalar: (x, y) => [Math.hypot(x!, y!), Math.atan2(y!, x!)], source: 'definition' })
 * const polarRule = multiScalarRule(polar, ({ x: [x, y], y: [r] }) => [[div(x, r!), div(y, r!)], [neg(div(y, square(r!))), div(x, square(r!))]])
 * makeCodual(coreRegistry.with(polarRule), cpu()).grad((x) => sum(polar(x, 4)[0]))([3])   // [0.6]
 */
export const multiScalarRule = <N extends string, P, const A extends readonly ArgKind[]>(
  op: OpOf<N, P, A>,
  partials: (at: {
    readonly x: Args<A>
    readonly y: readonly AnyExpr[]
    readonly params: P
  }) => readonly (Partials<A> | ZeroTangent | NoTangent)[],
): Rule => {
  const primitive = primitiveOf(op, 'multiScalarRule')
  functionOf(partials, 'the second argument', `multiScalarRule(${primitive.name})`)
  return formed(primitive as unknown as AnyPrimitive, {
    _tag: 'partials',
    partials: ({ x, ys, params }) => partials({ x: x as unknown as Args<A>, y: ys, params }) as never,
  })
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
  facetsOf(p, r, transposes, 'linearRule')
  const transpose: TransposeOf = ([yBar], xs, params, active) => r.transpose(yBar!, xs as unknown as Args<A>, params, active) as never
  return formed(ofOneResult(p, 'linearRule', 'multiLinearRule'), { _tag: 'linear', transpose }, batchOfOne(r.batch))
}

/**
 * As `linearRule`, for a primitive with several results, linear in all its float arguments together: dys are the primitive of the tangents.
 *
 * The transpose is given a cotangent of each result, all of them expressions: zeros if only others have one. It is not called if none has.
 * @example
 * const halves = primitive({
 *   name: 'halves',
 *   family: 'mine',
 *   args: ['float'],
 *   multi: true,
 *   shapeRule: ([x]) => [0, 1].map(() => aval([x!.shape[0]! / 2], x!.dtype)),
 *   expand: ([x]) => split(x!, 2),
 *   source: 'definition',
 * })
 * const halvesRule = multiLinearRule(halves, { transpose: (yBars) => [concat(yBars)], batch: ([x]) => split(x, 2, { axis: 1 }) })
 * makeCodual(coreRegistry.with(halvesRule), cpu()).grad((x) => sum(applyPrimitive(halves, [x])[1]!))([1, 2])   // [0, 1]
 */
export const multiLinearRule = <N extends string, P, const A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A>,
  r: {
    readonly transpose: (yBars: readonly AnyExpr[], xs: Args<A>, params: P, active: readonly boolean[]) => ArgTangents<A>
    readonly batch: MultiRule<P, A>['batch']
  },
): Rule => {
  const p = primitive as unknown as AnyPrimitive
  facetsOf(p, r, transposes, 'multiLinearRule')
  return formed(p, { _tag: 'linear', transpose: r.transpose as unknown as TransposeOf }, r.batch as BatchRule | undefined)
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
    /** Which elements of arguments and result meet in a product (`ReachOf`); any, where it is not given. */
    readonly reach?: (flags: AnyExpr, from: 0 | 1 | 2, to: 0 | 1 | 2, avals: readonly Aval[], params: P) => AnyExpr
    readonly batch: SingleRule<P, A>['batch']
  },
): Rule => {
  const p = primitive as unknown as AnyPrimitive
  facetsOf(p, r, bilinear, 'bilinearRule')
  const transpose: TransposeOf = ([yBar], [a, b], params, active) => [
    active[0] ? r.transposeA(yBar!, a!, b!, params) : ZeroTangent,
    active[1] ? r.transposeB(yBar!, a!, b!, params) : ZeroTangent,
  ]
  return formed(p, { _tag: 'bilinear', transpose, ...(r.reach && { reach: r.reach as ReachOf }) }, batchOfOne(r.batch))
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
  return formed(primitive as unknown as AnyPrimitive, { _tag: 'constant' }, batchOfOne(batch))
}

/** The rule, whose derivatives are deliberately not those of the primitive, at such parameters. */
export const estimating = <P>(given: Rule, at: (params: P) => boolean): Rule => ({ ...given, estimates: at as Rule['estimates'] & object })

/**
 * A rule that is deliberately not the derivative of its primitive: an estimator. The checker does not compare it with differences.
 *
 * For whole functions there are `straightThrough` and `customRule(f, { ..., estimates: true })`.
 * @example
 * const steps = unary({ name: 'steps', scalar: (x) => Math.floor(x!), source: 'definition' })
 * makeCodual(coreRegistry.with(estimator(scalarRule(steps, () => [1]))), cpu()).grad((x) => sum(steps(x)))([1.5])   // [1]
 */
export const estimator = (given: Rule): Rule => estimating(ruleIn(given, 'estimator'), () => true)

/** Where a rule does not apply: arguments (their shapes and dtypes) and parameters of one application. */
export interface OptOut<P, A extends readonly ArgKind[]> {
  readonly when: (at: { readonly x: Args<A>; readonly params: P }) => boolean
  /** The same results from other primitives: their rules are used instead. */
  readonly via?: (at: { readonly x: Args<A>; readonly params: P }) => AnyExpr | readonly AnyExpr[]
}

export const optOuts: OptionsFor<OptOut<never, readonly []>> = { when: neededFunction, via: aFunction }

/**
 * A rule that declines some signatures, after ChainRules' @opt_out: there the mode differentiates `via`, or raises MissingRule.
 *
 * The batch rule stays.   Source  ChainRulesCore, "opting out of rules".
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
  const { when, via } = readOptions(optOuts, recordOf(out, 'the third argument', where), where) as OptOut<P, A>
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
  const { frule, rrule, optsOut } = given
  return {
    ...formless(given),
    optsOut: (xs, params) => when(at(xs, params)) || optsOut?.(xs, params) === true,
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
