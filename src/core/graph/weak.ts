/**
 * Constants without a dtype of their own: `zeros([3])`, `eye(2)`. They are f64 alone, and beside an f32 they are made again as f32.
 * Nothing is asked while expressions are built, but where an f64 meets an f32: whether anybody declared it.
 */
import type { DType } from '../types/dtype.js'
import { isFloat } from './aval.js'
import { castNode } from './cast.js'
import { CONST, constant, INPUT, type Node, reapplied } from './expr.js'
import { fold } from './rewrite.js'

type Make = (dtype: DType) => Node
/** How to make a constant without a dtype again. */
const makers = new WeakMap<Node, Make>()
/** Constants to which a dtype was given, and expressions that have one in them: weak ones are those of which it is known that they do not. */
const verdicts = new WeakMap<Node, 'declared' | 'weak'>()

/** A constant of the dtype that is given; where none is, an f64 that takes the dtype of its neighbours. */
export const constantOf = (dtype: DType | undefined, make: Make): Node => {
  const node = make(dtype ?? 'f64')
  if (dtype === undefined) makers.set(node, make)
  else verdicts.set(node, 'declared')
  return node
}

/**
 * Is this an f64 that nobody declared: are the floats that it is made of constants without a dtype, and numbers? Conditions and indices
 * have no say: `where(gt(x, 0), ones([3]), 0)` and `gather(eye(3), i)` are as weak as what they choose from.
 */
export const isWeak = (root: Node): boolean => {
  if (root.aval.dtype !== 'f64') return false
  const seen = new Set<Node>()
  const open = [root]
  let weak = false
  for (let n = open.pop(); n !== undefined; n = open.pop()) {
    if (seen.has(n) || isChoice(n)) continue
    seen.add(n)
    const verdict = verdicts.get(n)
    if (makers.has(n) || verdict === 'weak') weak = true
    else if (verdict === 'declared' || n.kind === INPUT || n.prim?.name === 'cast' || n.prim?.programs !== undefined) {
      verdicts.set(root, 'declared')
      return false
    } else open.push(...n.args)
  }
  // A function of numbers alone, sqrt(2), is an f64.
  if (weak) verdicts.set(root, 'weak')
  return weak
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
  if (!isFloat(dtype) || !isWeak(n)) return castNode(n, dtype)
  const own = retyped(n, dtype)
  verdicts.set(own, 'declared')
  return own
}
