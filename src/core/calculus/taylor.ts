/** Taylor mode: what it carries (`Series`), and the protocol of its rules. */
import type { AnyPrimitive } from '../graph/primitive.js'
import { raiseNotImplemented } from '../graph/source-lines.js'
import { type Forced, ZeroTangent } from '../graph/tangent.js'
import type { AnyExpr } from '../types/expr.js'
import type { Rule, RuleConfig } from './rule.js'

let made = 0
/**
 * A value along a curve: x(t) = x_0 + x_1 t + x_2 t^2 + ... Coefficients are made when they are asked for, each once, so that one may be made of
 * lower ones of the same series.
 */
export class Series {
  /** Tells series apart. */
  readonly id: number = made++
  private readonly known: Forced[] = []
  /** `make` gives x_k for k from 1; without it nothing moves. */
  constructor(
    readonly primal: AnyExpr,
    private readonly make?: (k: number) => Forced,
  ) {}
  /** Is it known that x(t) = x_0? */
  get still(): boolean {
    return this.make === undefined
  }
  /** x_k for k from 1: an expression, or a symbolic zero. */
  at(k: number): Forced {
    if (this.make === undefined) return ZeroTangent
    const known = this.known[k]
    if (known !== undefined) return known
    const x = this.make(k)
    if (x._tag === 'NotImplemented') return raiseNotImplemented(x)
    this.known[k] = x
    return x
  }
}

/** What a Taylor rule may use beside its arguments. */
export interface TaylorContext {
  readonly config: RuleConfig
  /** The product of two coefficients: hard zeros of either stay. */
  readonly times: (u: AnyExpr, v: AnyExpr) => AnyExpr
  /** Series of expressions, for those of some of their nodes. */
  readonly through: (outputs: readonly AnyExpr[], known: ReadonlyMap<AnyExpr, Series>) => readonly Series[]
}

/**
 * Coefficients of the results of a primitive: for k from 1 one of each result. It may ask `xs` for coefficients up to k and `ys`, the results
 * themselves, for those below k.
 */
export type TaylorRule = (
  xs: readonly Series[],
  ys: readonly Series[],
  params: never,
  context: TaylorContext,
) => (k: number) => readonly Forced[]

/**
 * Taylor rules as data, so that who has no Taylor mode has no code of theirs. `each`: the coefficients of order k are the frule's tangents along those of order k (linear, piecewise linear);
 * those of x y, x^2, x / y and the strong product; and `accumulates`: acc + f(a, b), of f that is linear in each of both.
 */
export type TaylorForm = 'each' | 'product' | 'square' | 'quotient' | 'strongProduct' | { readonly accumulates: AnyPrimitive }
/** The Taylor rule that a rule has, or that follows from its form; without one, coefficients follow from the frule. */
export type TaylorOf = (rule: Rule) => TaylorRule | 'each' | undefined
