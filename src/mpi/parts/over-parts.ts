/**
 * What a function of whole arrays is over the parts that ranks have: it is traced at whole shapes, and its operations are done on parts. Those that treat each element by
 * itself are as they are, a fold of all elements is one over the ranks too, and any other has no meaning on a part.
 */
import { badInput, showShape } from '../../core/errors/explain.js'
import { type Aval, isFloat } from '../../core/graph/aval.js'
import { APPLY, apply, applyAny, asExpr, asNode, constant, type Node, OUTPUT, resultAvals } from '../../core/graph/expr.js'
import { fold } from '../../core/graph/rewrite.js'
import { Tensor } from '../../core/graph/tensor.js'
import { lt } from '../../core/ops/compare.js'
import { where } from '../../core/ops/elementwise.js'
import { dynamicSliceNode } from '../../core/ops/indexing/dynamic.js'
import { broadcastNode, broadcastToPrimitive, reshapeNode, reshapePrimitive } from '../../core/ops/layout/move.js'
import { padNode } from '../../core/ops/layout/slice.js'
import { iotaNode } from '../../core/ops/positions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import { allReduceMaxPrimitive, sumNode } from '../primitives.js'
import { isCut, ownLength, partAval, partLength } from './geometry.js'

/** Who asks: a rank of so many. */
export interface Rank {
  readonly rank: number
  readonly size: number
}
const scalar = ({ shape }: Aval): boolean => shape.length === 0

// What differs between ranks is in tensors, not in literals: what is planned does not depend on them, so all ranks have one plan, and their collectives one order.
const asTensor = (n: number): Node => new Tensor([1], 'i32', Int32Array.of(n)).node
/** A rank's part of a whole array that is at hand, inside of a program. */
export const cutNode = (x: Node, { rank, size: ranks }: Rank): Node => {
  if (!isCut(x.aval)) return x
  const k = partLength(x.aval.size, ranks)
  const line = reshapeNode(x, [x.aval.size])
  const filled = k * ranks === x.aval.size ? line : padNode(line, [0], [k * ranks], [1])
  return dynamicSliceNode(filled, asTensor(rank * k), { sizes: [k], batchDims: 0 })
}

/** The fold of all elements of an array of which ranks have parts. */
const folded = (n: Node, part: Node, whole: Aval, at: Rank): Node | undefined => {
  const { structure } = n.prim!
  if (structure?.kind !== 'fold' || !scalar(n.aval) || !isFloat(part.dtype) || (structure.by !== 'sum' && structure.by !== 'max'))
    return undefined
  const sum = structure.by === 'sum'
  const k = partLength(whole.size, at.size)
  const own = lt(asExpr(iotaNode([k], 0, 'i32')), asExpr(asTensor(ownLength(whole.size, at.rank, at.size)))) as AnyExpr
  const others = constant(sum ? 0 : Number.NEGATIVE_INFINITY, part.dtype)
  const mine = k * at.size === whole.size ? part : asNode(where(own, asExpr(part), asExpr(others)))
  const y = apply(n.prim!, [mine], { axes: [0] })
  return sum ? sumNode(y) : apply(allReduceMaxPrimitive, [y], {})
}
/** The results of an application over parts. */
const applied = (n: Node, args: readonly Node[], at: Rank, place: string): readonly Node[] => {
  const wholes = n.args.map((a) => a.aval)
  // Of arrays of one shape, and scalars beside them: each element by itself.
  const byElement = n.prim!.class === 'elementwise'
  if (byElement || [...wholes, ...resultAvals(n)].every((a) => !isCut(a))) return applyAny(n.prim!, args, n.payload)
  const [x] = wholes
  if ((n.prim as unknown) === broadcastToPrimitive && scalar(x!)) return [broadcastNode(args[0]!, partAval(n.aval, at.size).shape)]
  if ((n.prim as unknown) === reshapePrimitive) {
    if (!scalar(x!) && !scalar(n.aval)) return args
    if (scalar(x!)) return [broadcastNode(args[0]!, partAval(n.aval, at.size).shape)]
  }
  const y = folded(n, args[0]!, x!, at)
  if (y !== undefined) return [y]
  const shown = wholes.map((a) => `${a.dtype}${showShape(a.shape)}`).join(', ')
  return badInput(
    place,
    `${n.prim!.name} of ${shown} needs whole arrays, and each rank has a part of them.`,
    'take an optimiser that treats elements by themselves or by sums of all (sgd, adam, lamb, clipByGlobalNorm ...), or leave the parameters whole.',
  )
}

/** Results over parts: `given` holds the part of each whole input. */
export const overParts = (outputs: readonly Node[], given: ReadonlyMap<Node, Node>, at: Rank, place: string): readonly Node[] =>
  fold<Node>(outputs, {
    at: (n) => given.get(n) ?? (n.kind === APPLY || n.kind === OUTPUT ? undefined : cutNode(n, at)),
    leaf: (n) => n,
    apply: (n, args) => applied(n, args, at, place),
  })
