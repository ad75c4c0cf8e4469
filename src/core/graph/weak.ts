/**
 * Floats whose dtype nobody declared: constants without one, `zeros([3])` and `eye(2)`, numbers, arrays of plain JavaScript, and what is
 * made of these alone. They are f64 alone, and beside an f32 they are made again as f32.
 * Nothing is asked while expressions are built, but where an f64 meets an f32: whether anybody declared it.
 */
import type { DType } from '../types/dtype.js'
import { type Aval, aval, isFloat } from './aval.js'
import { castNode } from './cast.js'
import { CONST, constant, INPUT, type Node, OUTPUT, reapplied } from './expr.js'
import { fold } from './rewrite.js'
import { makeTensor, type Tensor } from './tensor.js'

type Make = (dtype: DType) => Node
/** How to make a constant without a dtype again. */
const makers = new WeakMap<Node, Make>()
/** Numbers and expressions of which is known whether anybody declared their f64. */
const verdicts = new WeakMap<Node, 'declared' | 'weak'>()

/** A constant of the dtype that is given; where none is, an f64 that takes the dtype of its neighbours. */
export const constantOf = (dtype: DType | undefined, make: Make): Node => {
  const node = make(dtype ?? 'f64')
  if (dtype === undefined) makers.set(node, make)
  else verdicts.set(node, 'declared')
  return node
}
/** A number without a typed neighbour. (One that has such a neighbour takes its dtype, and has no say.) */
export const numberOf = (x: number): Node => {
  const node = constant(x, 'f64')
  verdicts.set(node, 'weak')
  return node
}
/** An array of plain JavaScript, made a tensor. */
export const arrayOf = (x: Tensor): Node => {
  if (x.dtype === 'f64') makers.set(x.node, (dtype) => makeTensor(x, undefined, dtype).node)
  return x.node
}

/**
 * Is this an f64 that nobody declared: are the floats that it is made of constants without a dtype, numbers and plain arrays? Conditions
 * and indices have no say: `where(gt(x, 0), 1, 0)` and `gather(eye(3), i)` are as weak as what they choose from.
 */
export const isWeak = (root: Node): boolean => {
  if (root.aval.dtype !== 'f64') return false
  // The nearest first: what is declared is found soon, also in an expression that is very deep. Each with the one that is made of it.
  const open = new Map<Node, Node | undefined>([[root, undefined]])
  const made: Node[] = []
  let weak = false
  for (const n of open.keys()) {
    if (!isFloat(n.aval.dtype)) continue
    const verdict = verdicts.get(n)
    if (makers.has(n) || verdict === 'weak') weak = true
    else if (verdict === 'declared' || n.kind === INPUT) {
      for (let m: Node | undefined = n; m !== undefined; m = open.get(m)) settle(m)
      return false
    } else if (n.kind !== CONST) {
      made.push(n)
      for (const x of n.kind === OUTPUT ? n.args[0]!.args : n.args) if (!open.has(x)) open.set(x, n)
    }
  }
  if (!made.every(follows)) return settle(root)
  if (weak) verdicts.set(root, 'weak')
  return weak
}
const settle = (n: Node): false => {
  verdicts.set(n, 'declared')
  return false
}
/** Has a result the dtype of the floats that it is made of? Not what is cast, nor what a program or its primitive says the dtype of. */
const follows = (n: Node): boolean => {
  const { args, prim, payload } = n.kind === OUTPUT ? n.args[0]! : n
  if (prim!.programs !== undefined || !args.some((x) => isFloat(x.dtype))) return false
  const y = prim!.shapeRule(
    args.map((x) => (isFloat(x.dtype) ? aval(x.shape, 'f32') : x.aval)),
    payload,
  )
  return (prim!.multi ? (y as readonly Aval[])[n.payload as number]! : (y as Aval)).dtype === 'f32'
}

/** A condition or an index: what has results that are no floats. (A node of several results has the aval of its first.) */
const isChoice = (n: Node): boolean => !isFloat(n.aval.dtype) && n.prim?.multi !== true

/** A weak expression made again as `dtype`. What chooses stays what it is. */
const retyped = (root: Node, dtype: DType): Node =>
  fold<Node>([root], {
    at: (n) => (isChoice(n) ? n : makers.get(n)?.(dtype)),
    leaf: (n) => (n.kind === CONST && isFloat(n.aval.dtype) ? constant(n.payload as number, dtype) : n),
    apply: reapplied,
  })[0]!

/** The expression as `dtype`, where it takes the dtype of its neighbours; else itself. */
export const beside = (n: Node, dtype: DType): Node => (n.aval.dtype !== dtype && isFloat(dtype) && isWeak(n) ? retyped(n, dtype) : n)

/** The expression cast to a dtype, which is then its own. */
export const declared = (n: Node, dtype: DType): Node => {
  const own = isFloat(dtype) && isWeak(n) ? retyped(n, dtype) : castNode(n, dtype)
  if (dtype === 'f64' && own.kind !== INPUT) verdicts.set(own, 'declared')
  return own
}

/** An expression that belongs to another, as its derivative does: an f64 is declared where that is. */
export const declaredLike = (n: Node, other: Node): Node =>
  other.aval.dtype === 'f64' && n.aval.dtype === 'f64' && !isWeak(other) ? declared(n, 'f64') : n

/** The expression as the dtype that it is promoted to: an integer that becomes an f64 is declared to be one. */
export const promoted = (n: Node, dtype: DType): Node =>
  n.aval.dtype === dtype ? n : isFloat(n.aval.dtype) ? castNode(beside(n, dtype), dtype) : declared(n, dtype)
