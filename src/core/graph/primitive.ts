/** What a primitive is: one name and its meaning. Rules, kernels and tests are other facets, keyed by the name. */
import { shown } from '../errors/check-arguments.js'
import { badInput } from '../errors/explain.js'
import { holds, reading } from '../errors/language.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type { Again } from './again.js'
import { type Aval, aval, avalsFrom } from './aval.js'
import { type Codec, nothing } from './codec.js'
import { checkDTypes, type DTypeRule, type Takes } from './dtype-rule.js'
import { evaluateNodes } from './evaluate.js'
import { expansionOf, writtenOut } from './expand.js'
import { asExpr, input } from './expr.js'
import type { NDArray } from './ndarray.js'
import type { Program } from './program.js'

/** `float`: has a tangent when its dtype is a float. `int`: indices, predicates, counts: never has one (NoTangent). */
export type ArgKind = 'float' | 'int'

/**
 * How planners and regions may treat a primitive. They read this trait, never a name.
 * `elementwise`: one scalar function at every index, broadcasting its arguments; with `programs`, their first is that function;
 * `layout`: every result element is a copy of an argument's element or of a fill;
 * `opaque`: anything else.
 */
export type OpClass = 'elementwise' | 'layout' | 'opaque'

/** One call that tests and the checker make of a primitive: arguments drawn from domains, with these parameters. */
export interface Sample<P = unknown> {
  readonly args: readonly SampleArg[]
  readonly params: P
  readonly note?: string
  /** The steps of differences at it are relative to this (1 unless given): where derivatives themselves change within less. */
  readonly scale?: number
}
/** One argument of a sample: its shape, and what its elements are drawn from. */
export interface SampleArg {
  readonly shape: readonly number[]
  readonly dtype?: DType
  /** Values are drawn uniformly from [low, high); integers for i32. */
  readonly domain?: readonly [low: number, high: number]
  /** Or exactly these values. */
  readonly values?: readonly number[]
  /** Or values of a kind: sorted, of a unit vector, of a positive definite matrix. `next` gives uniform numbers in [0, 1). */
  readonly draw?: (next: () => number, shape: readonly number[]) => ArrayLike<number>
}

/**
 * How the elements of a result come from those of the arguments, of a primitive that is neither elementwise nor a layout operation. Planners, proofs of plans, patterns of
 * derivatives and the calculus of zeros read it; what has none may make every element of every other one, and is planned as a whole.
 */
export type Structure =
  /** The axes `axes` of its parameters are folded. */
  | { readonly kind: 'fold'; readonly by: 'sum' | 'prod' | 'max' | 'min' }
  /** Along `axis` of its parameters each element is made of those before it, or behind it where they say `reverse`. `by`: of sums, of products, or of neither. */
  | { readonly kind: 'running'; readonly by: 'sum' | 'product' | 'extreme' }
  /** The matrix product of its last two arguments, added to the one before them where there is one. */
  | { readonly kind: 'product' }
  /** Sums of products of elements of its last two arguments in another order, added to the one before them where there is one. */
  | { readonly kind: 'contraction' }
  /** Elements of its other arguments, copied: argument `at` says where they stand; `along`: on the axis `axis` of its parameters, those of the first argument. */
  | { readonly kind: 'places'; readonly at: number; readonly along?: boolean }
  /** Its first argument, into which the last one is added at the elements that `reader` reads: at places that argument `at` says, or its parameters. */
  | { readonly kind: 'adds'; readonly reader: AnyPrimitive; readonly at?: number; readonly by?: 'sum' | 'fold' }
  /** Along `axis` of its parameters each element is made of all those of its arguments. */
  | { readonly kind: 'lines' }
  /** Its arguments, unchanged. */
  | { readonly kind: 'same' }
  /** A program, over and over: its parameters are those of `scan`. */
  | { readonly kind: 'loop' }
  /** One of its programs, whose inputs are the arguments behind the first. */
  | { readonly kind: 'branches' }

/** Where a rule has a choice: at these arguments the derivative is the stated one. */
export interface Kink {
  readonly at: readonly number[]
  readonly partials: readonly number[]
  readonly why: string
}

/**
 * What an operation is: its name N, its parameters P, the kinds A of its arguments; its shape rule and its meaning in plain loops.
 * Rules and kernels are other facets of the same value (definePlugin).
 */
export interface Primitive<N extends string = string, P = unknown, A extends readonly ArgKind[] = readonly ArgKind[]> {
  readonly name: N
  readonly family: string
  /** Kind of each argument; for a variadic primitive the kind of all. */
  readonly args: A
  readonly variadic: boolean
  /** More than one result: `apply` then returns outputs. */
  readonly multi: boolean
  readonly class: OpClass
  /** What its parameters are; a type of io-ts is one. */
  readonly codec: Codec<P>
  /** Which dtypes the arguments have: checked before the shape rule, whoever asks for it. */
  readonly dtypes: DTypeRule
  /** Avals of the results; raises ShapeMismatch, DTypeMismatch or BadInput. */
  readonly shapeRule: (args: readonly Aval[], params: P) => Aval | readonly Aval[]
  /** Plain loops over row-major arrays: what the primitive means. Writes every element of `outs`. */
  readonly meaning: (args: readonly NDArray[], params: P, outs: readonly NDArray[]) => void
  /** Beside its meaning: told of its arguments whenever a backend computes it. What only looks at numbers (the checker, `trap`) tells it nothing. */
  readonly effect?: (args: readonly NDArray[], params: P) => void
  /** Elementwise only: the function at one index, in f64. */
  readonly scalar?: (...xs: number[]) => number
  /** Elementwise only: the function on i32, where f64 would round what wraps. */
  readonly integer?: (...xs: number[]) => number
  /** Elementwise only: scalar function that needs parameters. */
  readonly scalarWith?: (params: P) => (...xs: number[]) => number
  /** Elementwise only: result is the argument itself (an identity with a rule of its own). */
  readonly alias?: boolean
  /** Elementwise of two arguments only: the literal at argument k that makes the result the other argument, bit for bit. */
  readonly identity?: readonly (number | null)[]
  /** How elements of the result come from those of the arguments. */
  readonly structure?: Structure
  /**
   * Which zeros of a (co)tangent the result's zeros are (docs/decisions/strong-zero.md): those of this argument, of its `terms` together, or, `guard`, zeros that it puts there
   * itself. Those of any argument, where nothing is said.
   */
  readonly zeros?: number | 'terms' | 'guard'
  /** The argument that the result is an accumulation into: its buffer becomes the result's where this is its last reader. */
  readonly accumulates?: number
  /** Relative cost of one element against an addition. */
  readonly cost: number
  /** Floating-point operations of one application, where they are not that times the size of the results: of sums of products. */
  readonly flops?: (args: readonly Aval[], outs: readonly Aval[], params: P) => number
  readonly samples: readonly Sample<P>[]
  /** Further samples, for the checker alone: where values are near each other, where a derivative is not known, with fewer rules. */
  readonly hard: readonly Sample<P>[]
  /** Elementwise only: points that tests try beside the domain (value only, no derivative asked). */
  readonly extremes: readonly number[]
  readonly kinks: readonly Kink[]
  /** Looser than the default, with the reason. */
  readonly tolerance?: { readonly relative: number; readonly reason: string }
  /** The parameters as `show` prints them. */
  readonly showParams?: (params: P) => string
  /** The programs among the parameters, in order: nothing looks for them in any other way. */
  readonly programs?: (params: P) => readonly Program[]
  /** The parameters with these programs in place of their own; with none: what the parameters are beside their programs. */
  readonly withPrograms?: (params: P, programs: readonly Program[]) => P
  /** The same results by other primitives. Planners see these in its place, but for programs of scalars, which become loops. */
  readonly expand?: (xs: readonly AnyExpr[], params: P) => AnyExpr | readonly AnyExpr[]
  /** Elementwise of several results only: a primitive for each result, which is what planners see and kernels are for. */
  readonly parts?: readonly Primitive<string, P>[]
  /**
   * May its result, or the derivative of that, be infinite or NaN at finite arguments (overflow of sums and products aside)? Then what a slice or a pad filled up stays 0
   * beside it (docs/decisions/strong-zero.md). Whatever does not say `false` is taken to be so, but for copies.
   */
  readonly unbounded?: boolean
  /** May an element of the result be a sum of nothing, as where a stride passes over an element? Such a 0 stays 0 beside what is unbounded. */
  readonly gaps?: (params: P) => boolean
  /**
   * The axes of each argument, counted from the last, that one computation reads; those in front of them are a stack of computations that do not see each other, as of
   * matrices. Where all cotangents of one of the stack are zeros that were put there, its own are too, whatever the rule makes of them.
   */
  readonly stacked?: number
  /**
   * Where its result is better made again by the reverse pass than kept from the forward pass: the parameters with which it is applied once more, undefined where it is kept. They
   * differ from these, so that a plan does not take both for one value. `pass` is `() => new Again()`.
   */
  readonly again?: { readonly params: (params: P) => P | undefined; readonly pass: () => Again }
  /** When a plan runs it: 'early', as soon as its arguments are there; 'late', just before what reads it first; 'last', when nothing else can be run; in the order in which things were built unless given. */
  readonly when?: 'early' | 'late' | 'last'
  /**
   * What it takes part in together with other processes, if it does: a plan runs all applications of primitives that say the same one after the other, as they were built. Fusion and readiness
   * depend on shapes, which may differ where that order must not.
   */
  readonly ordered?: string
  readonly source: string
}

/** Is it a function of one number at each index, which a program of scalars may hold? Not what has a meaning of arrays alone, or expands to others. */
export const isScalarFunction = (prim: AnyPrimitive): boolean =>
  prim.class === 'elementwise' && !prim.multi && (prim.scalar ?? prim.scalarWith ?? prim.integer) !== undefined
/** Floating-point operations of one application. */
export const flopsOf = (prim: AnyPrimitive, args: readonly Aval[], outs: readonly Aval[], params: unknown): number =>
  prim.flops?.(args, outs, params) ?? outs.reduce((n, o) => n + o.size * prim.cost, 0)
/** The function of numbers that an elementwise primitive is, for a result of this dtype. */
export const scalarOf = (prim: AnyPrimitive, params: unknown, dtype: DType): ((...xs: number[]) => number) =>
  (dtype === 'i32' ? prim.integer : undefined) ?? prim.scalar ?? prim.scalarWith!(params)

/** No parameters. */
export const noParams: Codec<NoParams> = nothing
/** The parameters of a primitive that has none. */
export type NoParams = Readonly<Record<never, never>>
export const NO_PARAMS: NoParams = Object.freeze({})

/** A primitive of any name, parameters and arity. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where a primitive's parameter type is forgotten (Primitive is invariant in P)
export type AnyPrimitive = Primitive<string, any, readonly ArgKind[]>

/** Is this a primitive? */
export const isPrimitive = (x: unknown): x is AnyPrimitive => {
  return holds(() => {
    const { name, args, shapeRule, meaning } = (typeof x === 'object' && x !== null ? x : {}) as Partial<AnyPrimitive>
    return typeof name === 'string' && Array.isArray(args) && typeof shapeRule === 'function' && typeof meaning === 'function'
  })
}
/** A primitive, or the function that `unary` or `binary` made of it. */
export type OpOf<N extends string, P, A extends readonly ArgKind[]> = Primitive<N, P, A> | { readonly primitive: Primitive<N, P, A> }
/** The primitive of what is given: itself, or that of the function that `unary` or `binary` made of it. */
export const primitiveOf = <N extends string, P, A extends readonly ArgKind[]>(op: OpOf<N, P, A>, where: string): Primitive<N, P, A> => {
  const found = reading(where, () => (op as Partial<{ readonly primitive: unknown }> | null | undefined)?.primitive ?? op)
  return isPrimitive(found)
    ? (found as unknown as Primitive<N, P, A>)
    : badInput(
        where,
        `${shown(op)} is not a primitive.`,
        'make one with primitive, unary or binary, or take one of the library: coreRegistry.rules.get(name).primitive.',
      )
}

/** What `primitive` takes: the declaration of a primitive. Its name, family, arguments, shape rule and source are needed; its other facets may be left out. */
export type Declared<N extends string, P, A extends readonly ArgKind[]> = Pick<
  Primitive<N, P, A>,
  'name' | 'family' | 'args' | 'shapeRule' | 'source'
> &
  Partial<Omit<Primitive<N, P, A>, 'name' | 'family' | 'args' | 'shapeRule' | 'source'>>

/** What codual ships. */
const shipped = new WeakSet<AnyPrimitive>()
/** Is it one of the library's? Whatever others declare is not, whatever its name and its family are. */
export const isShipped = (primitive: AnyPrimitive): boolean => shipped.has(primitive)
/** A primitive of the library, as it is declared; a test checks the declaration. */
export const primitive = <const N extends string, P = NoParams, const A extends readonly ArgKind[] = readonly ArgKind[]>(
  d: Declared<N, P, A>,
): Primitive<N, P, A> => {
  const made = declared<N, P, A>(d)
  shipped.add(made as unknown as AnyPrimitive)
  return made
}
/** A primitive of others, as it is declared, with the plain default for what is left out. Nothing is checked: that is done by `primitive` of core/extend/declare.ts. */
export const declared = <const N extends string, P = NoParams, const A extends readonly ArgKind[] = readonly ArgKind[]>(
  d: Declared<N, P, A>,
): Primitive<N, P, A> => {
  const dtypes = d.dtypes ?? d.args.map((kind): Takes => (kind === 'int' ? 'discrete' : 'any'))
  const made: Primitive<N, P, A> = Object.freeze({
    variadic: false,
    multi: false,
    class: 'opaque',
    codec: noParams as unknown as Codec<P>,
    cost: 1,
    samples: [],
    hard: [],
    extremes: [],
    kinks: [],
    ...d,
    meaning: d.meaning ?? meaningBy(() => made, d.expand),
    dtypes,
    shapeRule: typed(d.name, d.multi === true, dtypes === 'own' ? [] : dtypes, d.shapeRule),
  } as Primitive<N, P, A>)
  return made
}

/** The meaning of what a primitive is made of. */
const meaningBy =
  <P>(of: () => AnyPrimitive, expand: Primitive<string, P>['expand']): Primitive<string, P>['meaning'] =>
  (args, params, outs) => {
    const xs = args.map((a) => input(aval(a.shape, a.dtype)))
    const want = outs.map((y) => aval(y.shape, y.dtype))
    const roots = writtenOut(expansionOf(of(), expand!(xs.map(asExpr), params), want))
    evaluateNodes(roots, new Map(xs.map((x, i) => [x, args[i]!]))).forEach((y, i) => {
      outs[i]!.data.set(y.data as never)
    })
  }

/** Shape rules that check dtypes and their results already: what is declared by spreading another declaration is not checked twice. */
const checked = new WeakMap<object, readonly Takes[]>()
const typed = <P>(
  name: string,
  multi: boolean,
  dtypes: readonly Takes[],
  rule: Primitive<string, P>['shapeRule'],
): Primitive<string, P>['shapeRule'] => {
  const known = checked.get(rule)
  if (known !== undefined && (known === dtypes || dtypes.length === 0)) return rule
  const shapeRule: typeof rule = (args, params) => {
    if (dtypes.length > 0) checkDTypes(name, dtypes, args)
    return avalsFrom(name, multi, rule(args, params))
  }
  checked.set(shapeRule, dtypes)
  return shapeRule
}
