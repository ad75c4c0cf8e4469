/** A row of the table by which primitives are written: as nodes, as other operations of the library, or not at all, and then why. */
import type { Aval } from '../../core/graph/aval.js'
import type { Node } from '../../core/graph/expr.js'
import type { Primitive } from '../../core/graph/primitive.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { Ref, Writer } from './writer.js'

/** Writes a program, in a graph inside a node too: the values of its outputs, of those of its inputs. */
export type Inside = (w: Writer, outputs: readonly Node[], given: ReadonlyMap<Node, Ref>) => readonly Ref[]
/** The nodes of one application: its results, of its arguments. */
export type Write<P> = (w: Writer, xs: readonly Ref[], params: P, results: readonly Aval[], inside: Inside) => Ref | readonly Ref[]
/** The same results by operations of the library; undefined where these parameters have none. */
export type As<P> = (xs: readonly AnyExpr[], params: P) => AnyExpr | readonly AnyExpr[] | undefined
/** How a primitive is written. */
export interface Row<P = unknown> {
  readonly write?: Write<P>
  /** The dtypes of its first argument for which `write` is: of others runtimes have no kernel. All, where it does not say. */
  readonly only?: readonly DType[]
  /** The least version of the operator set in which `write` has its operators. */
  readonly since?: number
  /** What is written otherwise. Where there is neither, the primitive's own expansion is. */
  readonly as?: As<P>
  /** Why nothing is. */
  readonly refused?: string
}
type ParamsOf<Q> = Q extends Primitive<string, infer P> ? P : never
/** Rows of a family's primitives. One without a row is written by its composition if it has one, so that a new primitive needs none here; of those that are shipped the tests ask for one each. */
export type RowsOf<F> = { readonly [K in keyof F]?: Row<ParamsOf<F[K]>> }

/** One operator at every index. */
export const each = (op: string): Row => ({ write: (w, xs) => w.each(op, ...xs) })
/** A comparison, or logic. */
export const test = (op: string): Row => ({ write: (w, xs) => w.test(op, ...xs) })
/** One operator at every index, in f32: ONNX Runtime has no kernel for f64, which is made of others. */
export const narrow = (op: string, wide: As<unknown>): Row => ({ ...each(op), only: ['f32'], as: wide })
/** Operations of the library, at every index. */
export const as = <P = unknown>(f: As<P>): Row<P> => ({ as: f })
/** The primitive's own expansion. */
export const expansion: Row = {}
/** Nothing, and why. */
export const refused = (why: string): Row => ({ refused: why })
