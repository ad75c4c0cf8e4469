/** `elementwise`: primitives of any number of arguments, integers, parameters and results among them, as functions that users call. */
import { functionOf, listOf, settled, shown } from '../errors/check-arguments.js'
import { badInput, raise } from '../errors/explain.js'
import { type OptionsFor, part } from '../errors/options.js'
import { type Aval, aval } from '../graph/aval.js'
import type { Codec } from '../graph/codec.js'
import { samplesIn } from '../graph/domain-samples.js'
import { apply, applyAny, asExpr, asNode, type Node } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import type { NDArray } from '../graph/ndarray.js'
import { typed } from '../graph/operation.js'
import { type ArgKind, NO_PARAMS, type NoParams, type Primitive, declared as primitive } from '../graph/primitive.js'
import { broadcastStrides, forEachIndex } from '../graph/shape.js'
import { broadcastAvals, type Common, dtypeAt, elementwiseShape, facetsOf, liftFloats, liftScalar } from '../ops/lifted.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type { ElementwiseOf, ResultKind } from '../types/signatures/declared.js'
import { commonParts, declaration } from './declare.js'

/** The result of a function of numbers: a number, or one for each of several results. */
type Out<Rs> = Rs extends readonly ResultKind[] ? readonly number[] : number
/** What `elementwise` takes. */
interface Elementwise<
  N extends string = string,
  A extends readonly ArgKind[] = readonly ArgKind[],
  P = NoParams,
  I extends boolean = boolean,
  R extends DType = DType,
  Rs extends readonly ResultKind[] | undefined = readonly ResultKind[] | undefined,
> extends Common<N, I, R> {
  /** The kind of each argument. */
  readonly args: A
  /** The function at one index, in f64; one with several results gives their list. */
  readonly scalar?: (...xs: number[]) => Out<Rs>
  /** The same for one that has parameters. */
  readonly scalarWith?: (params: P) => (...xs: number[]) => Out<Rs>
  /** The codec of the parameters, which are the last argument of a call. */
  readonly params?: Codec<P>
  /** Parameters with which the checker tries it. */
  readonly paramSamples?: readonly P[]
  /** Several results: the dtype of each, or `float`, that of the floats among the arguments. */
  readonly results?: Rs
}

export const elementwiseParts: OptionsFor<Elementwise> = {
  ...commonParts,
  args: part,
  scalar: part,
  scalarWith: part,
  params: part,
  paramSamples: part,
  results: part,
}

const kinds: readonly unknown[] = ['float', 'int']
const resultKinds: readonly unknown[] = ['float', 'f64', 'f32', 'i32', 'bool']
/** A list of these, where it is one. */
const listAmong = <X>(given: readonly X[], of: readonly unknown[], what: string, where: string): readonly X[] => {
  const list = listOf(given, what, where)
  if (list.length === 0 || !list.every((x) => of.includes(x)))
    badInput(where, `${what} are ${shown(list)}.`, `give a list of ${of.join(', ')}.`)
  return list as readonly X[]
}

type Numbers = (...xs: number[]) => number
type Lists = (...xs: number[]) => readonly number[]
/** The function of numbers for some parameters, whether it has any. */
const functionWith = <P, F>(d: { readonly scalar?: F; readonly scalarWith?: (params: P) => F }): ((params: P) => F) =>
  d.scalarWith ?? (() => d.scalar!)

/** A function of several results at every index. */
const liftScalars = (f: Lists, args: readonly NDArray[], outs: readonly NDArray[], name: string): void => {
  const shape = outs[0]!.shape
  const strides = args.map((a) => broadcastStrides(a.shape, shape))
  const xs = new Array<number>(args.length)
  forEachIndex(shape, strides, (offsets, flat) => {
    for (let k = 0; k < args.length; k++) xs[k] = args[k]!.data[offsets[k]!]!
    const ys = f(...xs)
    if (ys.length !== outs.length) badInput(name, `its function of numbers gave ${shown(ys)}, it has ${outs.length} results.`)
    for (let r = 0; r < outs.length; r++) outs[r]!.data[flat] = ys[r]!
  })
}

type Declared = Elementwise<string, readonly ArgKind[], unknown>
/** The primitive of one result. */
const single = (d: Declared, name: string, result: DType | undefined, f: (params: unknown) => Numbers): Primitive<string, unknown> =>
  primitive<string, unknown>({
    ...facetsOf(d.args, { ...d, name }),
    samples: samplesIn(d.args, d.domain, samplesAt(d)),
    ...(d.params !== undefined && { codec: d.params }),
    shapeRule: elementwiseShape(name, result, dtypeAt(d.args)),
    ...(d.scalarWith === undefined ? { scalar: f(NO_PARAMS) } : { scalarWith: f }),
    ...(d.integer && { integer: d.integer }),
    meaning: (args, params, [out]) => liftScalar(out!.dtype === 'i32' ? (d.integer ?? f(params)) : f(params), args, out!),
    ...(d.identity && { identity: d.identity }),
    ...(d.alias && { alias: d.alias }),
  })
/** The parameters that the checker tries: none to try where the declaration has some and gives no samples. */
const samplesAt = (d: Declared): readonly unknown[] => d.paramSamples ?? (d.params === undefined ? [NO_PARAMS] : [])

/** The primitive of several results: planners see one for each of them, which they fuse. */
const several = (d: Declared, results: readonly ResultKind[]): Primitive<string, unknown> => {
  const f = functionWith<unknown, Lists>(d as never)
  const at = dtypeAt(d.args)
  const { integer: _integer, identity: _identity, alias: _alias, ...plain } = d
  const parts = results.map((kind, r) =>
    single(plain, `${d.name}.${r}`, kind === 'float' ? undefined : kind, (params) => {
      const all = f(params)
      return (...xs) => all(...xs)[r]!
    }),
  )
  return primitive<string, unknown>({
    ...facetsOf(d.args, d),
    samples: samplesIn(d.args, d.domain, samplesAt(d)),
    ...(d.params !== undefined && { codec: d.params }),
    multi: true,
    shapeRule: (args): readonly Aval[] => {
      const shape = broadcastAvals(args, d.name)
      return results.map((kind) => aval(shape, kind === 'float' ? args[at]!.dtype : kind))
    },
    meaning: (args, params, outs) => liftScalars(f(params), args, outs, d.name),
    expand: (xs, params) => parts.map((p) => asExpr(apply(p, xs.map(asNode), params))),
    parts,
  })
}

/** Arguments as nodes: the floats of one dtype, integers as they are. */
const liftArgs = (given: readonly unknown[], d: Declared): readonly Node[] => {
  const isFloat = (_: unknown, i: number): boolean => d.args[i] === 'float'
  const floats = [...liftFloats(given.filter(isFloat), d.name, d.integers === true)]
  return given.map((x, i) => (d.args[i] === 'float' ? floats.shift()! : lift(x, d.name, 'i32')))
}

const checked = (given: Declared): Declared => {
  const d = declaration<Declared>(given, elementwiseParts, 'elementwise')
  const where = `elementwise ${d.name}`
  listAmong(d.args, kinds, 'args', where)
  if ((d.scalar === undefined) === (d.scalarWith === undefined))
    badInput(
      where,
      `it has ${d.scalar === undefined ? 'neither' : 'both'} of scalar and scalarWith.`,
      'give scalar, or scalarWith for one that has params.',
    )
  functionOf(d.scalar ?? d.scalarWith, d.scalar === undefined ? 'scalarWith' : 'scalar', where)
  if ((d.scalarWith === undefined) !== (d.params === undefined))
    badInput(where, 'it has one of scalarWith and params.', 'give both: params is the codec of what scalarWith takes.')
  if (d.results !== undefined) {
    listAmong(d.results, resultKinds, 'results', where)
    if (d.result !== undefined) badInput(where, 'it has result and results.', 'give one of them.')
  }
  return { ...d, args: settled(d.args, 'args', where), ...(d.results && { results: settled(d.results, 'results', where) }) }
}

/**
 * An elementwise operation of any number of arguments: the function users call, with its primitive. Arguments of kind `float` are lifted,
 * broadcast and promoted as those of the shipped operations; one of kind `int` (an index, a count, a condition) has no derivative.
 *
 * Parameters have an io-ts codec, `params`, and are the last argument of a call; then the function of numbers is `scalarWith(params)`. With `results` the function
 * gives a list, a call a list of expressions, and the rule is a `multiScalarRule`; else a `scalarRule`.
 * Errors  BadInput for a wrong number of arguments or invalid parameters; ShapeMismatch, DTypeMismatch.
 * @example
 * const power = elementwise({ name: 'power', args: ['float', 'int'], scalar: (x, n) => x! ** n!, source: 'definition' })
 * power([2, 3], [[2], [3]])   // [[4, 9], [8, 27]]
 * const parts = elementwise({ name: 'parts', args: ['float'], results: ['float', 'i32'], scalar: (x) => [x! - Math.floor(x!), Math.floor(x!)], source: 'definition' })
 * parts(2.5)                  // [0.5, 2]
 */
export const elementwise = <
  const N extends string,
  const A extends readonly ArgKind[],
  P = NoParams,
  const I extends boolean = false,
  const R extends DType = never,
  const Rs extends readonly ResultKind[] | undefined = undefined,
>(
  given: Elementwise<N, A, P, I, R, Rs>,
): ElementwiseOf<N, A, P, I, NoInfer<R>, Rs> => {
  const d = checked(given as unknown as Declared)
  const prim = d.results === undefined ? single(d, d.name, d.result, functionWith<unknown, Numbers>(d as never)) : several(d, d.results)
  const arity = d.args.length
  const count = arity + (d.params === undefined ? 0 : 1)
  const f = (...xs: readonly unknown[]): AnyExpr | readonly AnyExpr[] => {
    if (xs.length !== count)
      raise({
        _tag: 'BadInput',
        where: d.name,
        reason: `takes ${arity} argument${arity === 1 ? '' : 's'}${d.params === undefined ? '' : ' and its parameters'}, got ${xs.length}.`,
        ...(d.params !== undefined && xs.length === arity && { fix: `give the parameters last: they are ${d.params.name}.` }),
      })
    const params = d.params === undefined ? NO_PARAMS : xs[arity]
    if (d.params !== undefined && !d.params.is(params))
      badInput(d.name, `${shown(params)} is none of its parameters.`, `they are ${d.params.name}.`)
    const ys = applyAny(prim, liftArgs(xs.slice(0, arity), d), params).map(asExpr)
    return prim.multi ? ys : ys[0]!
  }
  return typed(Object.assign(f, { primitive: prim }))
}
