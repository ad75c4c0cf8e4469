/** `interpret`: an algebra folded over an expression, a tree of expressions or a function. Evaluation is one such algebra. */

import { functionOf, recordOf } from '../errors/check-arguments.js'
import { badInput } from '../errors/explain.js'
import { reading } from '../errors/language.js'
import type { Aval } from '../graph/aval.js'
import { literalArray, resultArrays } from '../graph/evaluate.js'
import { programsOf } from '../graph/expand.js'
import { asExpr, CONST, capturedTensor, type InputInfo, isExpr, type Node, plain, resultAvals } from '../graph/expr.js'
import type { NDArray } from '../graph/ndarray.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import { liftTree, type Program } from '../graph/program.js'
import { fold } from '../graph/rewrite.js'
import { leafPaths, unflatten } from '../graph/tree.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr, Tensor } from '../types/expr.js'
import type { Fn } from '../types/fn.js'
import type { ExprTree, Mapped } from '../types/tree.js'
import { metaOf, traceDeclared } from './function.js'

/** An input of what is interpreted. */
export interface InputAt {
  /** Where it is in the argument: `params.w`; empty for the argument itself. */
  readonly path: string
  readonly shape: readonly number[]
  readonly dtype: DType
  readonly expr: AnyExpr
}
/** One application of a primitive. */
export interface ApplyAt {
  readonly primitive: AnyPrimitive
  readonly params: unknown
  /** Shape and dtype of each result. */
  readonly results: readonly Aval[]
  /** The programs among the parameters. */
  readonly programs: readonly Program[]
}
/** How to make a value of A from each kind of node. */
export interface Algebra<A> {
  readonly input: (at: InputAt) => A
  readonly literal: (value: number, dtype: DType) => A
  /** A tensor that the function closed over. */
  readonly captured: (tensor: Tensor) => A
  /** One value per result. */
  readonly apply: (at: ApplyAt, args: readonly A[]) => readonly A[]
}

/** Values of nodes by an algebra. What is in `given` is not looked into; `paths` names inputs. */
export const interpretNodes = <A>(
  algebra: Algebra<A>,
  roots: readonly Node[],
  given: ReadonlyMap<Node, A> = new Map(),
  paths: ReadonlyMap<Node, string> = new Map(),
): A[] =>
  fold<A>(roots, {
    at: (n) => given.get(n),
    leaf: (n) => {
      if (n.kind === CONST) return algebra.literal(n.payload as number, n.dtype)
      const tensor = capturedTensor(n)
      if (tensor !== undefined) return algebra.captured(tensor.intact('interpret') as unknown as Tensor)
      return algebra.input({ path: paths.get(n) ?? (n.payload as InputInfo).name ?? '', shape: n.shape, dtype: n.dtype, expr: asExpr(n) })
    },
    apply: (n, args) =>
      algebra.apply({ primitive: n.prim!, params: n.payload, results: resultAvals(n), programs: programsOf(n.prim!, n.payload) }, args),
    release: true,
  })

/** What `interpret(algebra)` is: of a declared function (with sizes for its named dimensions), or of a tree of expressions. */
export interface Interpret<A> {
  <I extends readonly unknown[], Out>(f: Fn<I, Out>, sizes?: Readonly<Record<string, number>>): Mapped<Out, A>
  <T extends ExprTree<T>>(tree: T, given?: ReadonlyMap<AnyExpr, A>): Mapped<T, A>
}

const pathsOf = (p: Program): ReadonlyMap<Node, string> => {
  const paths = leafPaths(p.inputTree)
  return new Map(p.inputs.map((x, i) => [x, plain(paths[i]!)]))
}

/**
 * The meaning of an expression in another domain: an algebra says what a literal, an input, a captured tensor and an application are.
 *
 * The result is the tree of f's result (or of the expressions) with a value of the algebra at each leaf. A shared node is evaluated once.
 * Errors  BadInput when f has no declared shapes, or a part of the algebra is not a function.
 * @example interpret<number>({ input: () => 0, literal: () => 0, captured: () => 0, apply: (_, args) => [Math.max(0, ...args) + 1] })(fn({ x: f64(3) }, ({ x }) => sum(mul(sin(x), x))))   // 3
 */
export const interpret = <A>(algebra: Algebra<A>): Interpret<A> => {
  recordOf(algebra, 'the algebra', 'interpret')
  for (const part of ['input', 'literal', 'captured', 'apply'] as const)
    functionOf(
      reading('interpret: the algebra', () => algebra[part]),
      part,
      'interpret',
    )
  return ((target: unknown, more?: unknown): unknown => {
    if (typeof target === 'function') {
      const p = traceDeclared(metaOf(target, 'interpret'), more as Readonly<Record<string, number>> | undefined, 'interpret')
      return unflatten(p.outputTree, interpretNodes(algebra, p.outputs, undefined, pathsOf(p)))
    }
    const { nodes, def } = isExpr(target) ? { nodes: [target], def: { _tag: 'Leaf' as const } } : liftTree(target, 'interpret')
    if (more !== undefined && !(more instanceof Map))
      badInput('interpret', 'the known values are not a Map.', 'give new Map([[expression, value]]).')
    return unflatten(def, interpretNodes(algebra, nodes, more as ReadonlyMap<Node, A> | undefined))
  }) as Interpret<A>
}

/** Evaluation by the primitives' meanings. */
export const evaluating = (input: (at: InputAt) => NDArray): Algebra<NDArray> => ({
  input,
  literal: literalArray,
  captured: (tensor) => tensor as unknown as NDArray,
  apply: ({ primitive, params, results }, args) => resultArrays(primitive, params, args, results),
})
