/** Random numbers for drivers on the host: a stream of a key, made in blocks by compiled random functions. */
import { type AnyExpr, compile, evaluate, fn, i32, type Tensor, tensor } from '../../index.js'
import { foldIn, type Key, normal, uniform } from '../../random/index.js'

/** Normal and uniform numbers, one after the other. They depend on the key and on how many of each were taken, and on nothing else. */
export interface Stream {
  readonly normals: (into: Float64Array) => void
  /** A number from 0 to 1, without 1. */
  readonly uniform: () => number
}

const BLOCK = 1024
type Made = { readonly key: unknown; readonly i: unknown }
type Block = ((given: Made) => Tensor) | undefined
let normalBlock: Block
let uniformBlock: Block
const inputs = () => ({ key: i32(2), i: i32() })
const drawNormals = (given: Made): Tensor =>
  (normalBlock ??= compile(fn(inputs(), ({ key, i }) => normal(foldIn(key, i), [BLOCK]))) as unknown as (given: Made) => Tensor)(given)
const drawUniforms = (given: Made): Tensor =>
  (uniformBlock ??= compile(fn(inputs(), ({ key, i }) => uniform(foldIn(key, i), [BLOCK]))) as unknown as (given: Made) => Tensor)(given)

/** The stream of a key: blocks of normal numbers have even numbers, those of uniform ones odd numbers. */
export const streamOf = (key: Key): Stream => {
  const own = evaluate(key as AnyExpr) as Tensor
  let [normals, uniforms] = [new Float64Array(0), new Float64Array(0)]
  let [n, u, blocksOfN, blocksOfU] = [0, 0, 0, 0]
  return {
    normals: (into) => {
      for (let k = 0; k < into.length; k++) {
        if (n === normals.length) {
          normals = drawNormals({ key: own, i: tensor(2 * blocksOfN++, [], 'i32') }).data as Float64Array
          n = 0
        }
        into[k] = normals[n++]!
      }
    },
    uniform: () => {
      if (u === uniforms.length) {
        uniforms = drawUniforms({ key: own, i: tensor(2 * blocksOfU++ + 1, [], 'i32') }).data as Float64Array
        u = 0
      }
      return uniforms[u++]!
    },
  }
}
/** The key of the c-th of some chains. */
export const chainKey = (key: Key, c: number): Key => evaluate(foldIn(key as never, c) as AnyExpr) as unknown as Key
