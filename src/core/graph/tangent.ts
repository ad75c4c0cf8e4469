/** Tangent and cotangent types, after ChainRules: what a rule may return for an argument. */
import { refuseCoercion } from '../errors/language.js'
import type { AnyExpr } from '../types/expr.js'

/** A zero is one object, and no number: an operator would make NaN of it. */
const zero = <Z extends object>(z: Z, name: string, fix: string): Z => {
  refuseCoercion(z, name, fix)
  return Object.freeze(z)
}

/** No tangent space: integers, booleans, keys. */
export interface NoTangent {
  readonly _tag: 'NoTangent'
}
/** No tangent space: the tangent of integers, booleans and keys. */
export const NoTangent: NoTangent = /*#__PURE__*/ zero(
  { _tag: 'NoTangent' },
  'NoTangent',
  'it stands where there is no tangent space (integers, booleans): leave such leaves out, by x === NoTangent.',
)

/** Differentiable, and the derivative is exactly zero. Absorbing: 0 times Infinity never makes a NaN. */
export interface ZeroTangent {
  readonly _tag: 'ZeroTangent'
}
/** The derivative that is exactly zero; absorbs whatever it is multiplied with. */
export const ZeroTangent: ZeroTangent = /*#__PURE__*/ zero(
  { _tag: 'ZeroTangent' },
  'ZeroTangent',
  'it is the derivative that is exactly zero: ask x === ZeroTangent, and give it on as it is.',
)

/** A derivative that is not known. Asking for it is an error that names the rule, never a silent zero. */
export interface NotImplemented {
  readonly _tag: 'NotImplemented'
  readonly rule: string
  readonly reason: string
}
/**
 * A derivative that is not known: asking for it is an error that names the rule and the reason, never a silent zero.
 *
 * @example notImplemented('besselK', 'no derivative with respect to the order')   // { _tag: 'NotImplemented', rule: 'besselK', ... }
 */
export const notImplemented = (rule: string, reason: string): NotImplemented => new Missing(rule, reason)
class Missing implements NotImplemented {
  readonly _tag = 'NotImplemented'
  constructor(
    readonly rule: string,
    readonly reason: string,
  ) {}
}

/** A cotangent that is built at most once, and only when asked for. */
export interface Thunk {
  readonly _tag: 'Thunk'
  readonly force: () => Tangent
}

/** Where in an argument a cotangent is not zero: blocks that tile the argument become one concat. */
export interface Block {
  readonly starts: readonly number[]
  readonly sizes: readonly number[]
  readonly value: () => AnyExpr
}

/** A Thunk that can also be added into an accumulator: `addTo(acc)` is a pure value; reusing acc's buffer is the plan's choice. */
export interface InplaceableThunk {
  readonly _tag: 'InplaceableThunk'
  readonly force: () => Tangent
  readonly addTo: (acc: AnyExpr) => AnyExpr
  readonly block?: Block
}

/** What a rule may return for an argument: an expression of its shape and dtype, one of the two zeros, or one that is built later. */
export type Tangent = AnyExpr | NoTangent | ZeroTangent | NotImplemented | Thunk | InplaceableThunk
/** A tangent that is not a thunk: what a rule is given. */
export type Forced = AnyExpr | NoTangent | ZeroTangent | NotImplemented

let watcher: ((force: () => unknown) => void) | undefined
/** From now on `f` is told of every thunk that is forced, by its `force`; undefined: nobody is. Gives back who was told before. */
export const watchForced = (f: typeof watcher): typeof watcher => {
  const before = watcher
  watcher = f
  return before
}
const watched = <A>(force: () => A): (() => A) => {
  if (watcher === undefined) return force
  const heard = (): A => {
    watcher?.(heard)
    return force()
  }
  return heard
}

const once = <A>(f: () => A): (() => A) => {
  let state: { readonly value: A } | undefined
  return watched(() => {
    if (state === undefined) state = { value: f() }
    return state.value
  })
}

/**
 * A cotangent that is built at most once, and only when asked for.
 *
 * @example thunk(() => cos(0))   // { _tag: 'Thunk', ... }
 */
export const thunk = (force: () => Tangent): Thunk => new Later(once(force))
class Later implements Thunk {
  readonly _tag = 'Thunk'
  constructor(readonly force: () => Tangent) {}
}

/**
 * A thunk with a way to add itself into an accumulator, as `matmulAdd` does.
 *
 * @example inplaceableThunk(() => mul(2, 3), (acc) => fma(2, 3, acc)).addTo(add(1, 0))   // 7
 */
export const inplaceableThunk = (force: () => Tangent, addTo: (acc: AnyExpr) => AnyExpr, block?: Block): InplaceableThunk =>
  new LaterInPlace(once(force), addTo, block)
class LaterInPlace implements InplaceableThunk {
  readonly _tag = 'InplaceableThunk'
  declare readonly block?: Block
  constructor(
    readonly force: () => Tangent,
    readonly addTo: (acc: AnyExpr) => AnyExpr,
    block: Block | undefined,
  ) {
    if (block !== undefined) this.block = block
  }
}

const FORCE = 'it is a cotangent that is built on demand: unthunk(t) is the expression, or one of the zeros.'
refuseCoercion(Missing.prototype, 'NotImplemented', 'it is a derivative that is not known: return it as it is.')
refuseCoercion(Later.prototype, 'a thunk', FORCE)
refuseCoercion(LaterInPlace.prototype, 'a thunk', FORCE)

/** Is it built later? Of anything that a rule may have returned. */
export const isThunk = (x: unknown): x is Thunk | InplaceableThunk => x instanceof Later || x instanceof LaterInPlace
/** Forces thunks, nested ones too. */
export const unthunk = (x: Tangent): Forced => {
  let y = x
  while (y._tag === 'Thunk' || y._tag === 'InplaceableThunk') y = y.force()
  return y
}
