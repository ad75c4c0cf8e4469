/** Random numbers for drivers on the host: a stream of a key, made in blocks by compiled random functions. */
import {
  type AnyExpr,
  compile,
  concat,
  cos,
  evaluate,
  fn,
  i32,
  log1p,
  mul,
  neg,
  sin,
  sqrt,
  type Tensor,
  tensor,
  unstack,
} from '../../index.js'
import { lazily } from '../../minimize/lazily.js'
import { foldIn, type Key, uniform } from '../../random/index.js'

/** Normal and uniform numbers, one after the other. They depend on the key and on how many of each were taken, and on nothing else. */
export interface Stream {
  readonly normals: (into: Float64Array) => void
  /** A number from 0 to 1, without 1. */
  readonly uniform: () => number
}

const BLOCK = 1024
type Block = (given: { readonly key: unknown; readonly i: unknown }) => Tensor
const blockOf = (draw: (key: Key, shape: readonly [number]) => unknown): (() => Block) =>
  lazily(() => compile(fn({ key: i32(2), i: i32() }, ({ key, i }) => draw(foldIn(key, i), [BLOCK]) as never)) as unknown as Block)
/** Compiled when the first numbers are asked for. Normal numbers are those of Box and Muller (1958), at half the time of quantiles. */
const normalBlock = /*#__PURE__*/ blockOf((key, shape) => {
  const [u, v] = unstack(uniform(key as never, [2, shape[0] / 2])) as unknown as readonly [AnyExpr, AnyExpr]
  // 1 - u is never 0.
  const radius = sqrt(mul(-2, log1p(neg(u))))
  const angle = mul(2 * Math.PI, v)
  return concat([mul(radius, cos(angle)), mul(radius, sin(angle))] as never)
})
const uniformBlock = /*#__PURE__*/ blockOf((key, shape) => uniform(key as never, shape))

/** The stream of a key: blocks of normal numbers have even numbers, those of uniform ones odd numbers. */
export const streamOf = (key: Key): Stream => {
  const own = evaluate(key as AnyExpr) as Tensor
  let normals: Float64Array = new Float64Array(0)
  let uniforms: Float64Array = new Float64Array(0)
  let [n, u, blocksOfN, blocksOfU] = [0, 0, 0, 0]
  return {
    normals: (into) => {
      for (let k = 0; k < into.length; k++) {
        if (n === normals.length) {
          normals = normalBlock()({ key: own, i: tensor(2 * blocksOfN++, [], 'i32') }).data as Float64Array
          n = 0
        }
        into[k] = normals[n++]!
      }
    },
    uniform: () => {
      if (u === uniforms.length) {
        uniforms = uniformBlock()({ key: own, i: tensor(2 * blocksOfU++ + 1, [], 'i32') }).data as Float64Array
        u = 0
      }
      return uniforms[u++]!
    },
  }
}
/** The key of the c-th of some chains. */
export const chainKey = (key: Key, c: number): Key => evaluate(foldIn(key as never, c) as AnyExpr) as unknown as Key
