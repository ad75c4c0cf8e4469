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
  /** Fills both with the numbers that come next, and takes none. */
  readonly ahead: (normals: Float64Array, uniforms: Float64Array) => void
  /** Takes so many of each. */
  readonly skip: (normals: number, uniforms: number) => void
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

/** Numbers that are made in blocks: those from `from` to `to` of an array come next. */
class Queue {
  private data = new Float64Array(0)
  private from = 0
  private to = 0
  private blocks = 0

  constructor(
    private readonly block: Block,
    private readonly key: unknown,
    private readonly parity: number,
  ) {}

  next(): number {
    if (this.from === this.to) this.gather(1)
    return this.data[this.from++]!
  }
  /** Makes blocks until there are so many numbers. */
  private gather(count: number): void {
    const left = this.to - this.from
    if (left >= count) return
    const size = count + BLOCK
    const larger = this.data.length < size ? new Float64Array(2 * size) : this.data
    if (larger !== this.data || this.data.length - this.from < size) {
      larger.set(this.data.subarray(this.from, this.to))
      ;[this.data, this.from, this.to] = [larger, 0, left]
    }
    while (this.to - this.from < count) {
      const made = this.block({ key: this.key, i: tensor(2 * this.blocks++ + this.parity, [], 'i32') }).data as Float64Array
      this.data.set(made, this.to)
      this.to += made.length
    }
  }
  ahead(into: Float64Array): void {
    this.gather(into.length)
    into.set(this.data.subarray(this.from, this.from + into.length))
  }
  skip(count: number): void {
    this.gather(count)
    this.from += count
  }
}

/** The stream of a key: blocks of normal numbers have even numbers, those of uniform ones odd numbers. */
export const streamOf = (key: Key): Stream => {
  const own = evaluate(key as AnyExpr)
  const normal = new Queue((given) => normalBlock()(given), own, 0)
  const even = new Queue((given) => uniformBlock()(given), own, 1)
  return {
    normals: (into) => {
      for (let k = 0; k < into.length; k++) into[k] = normal.next()
    },
    uniform: () => even.next(),
    ahead: (normals, uniforms) => {
      normal.ahead(normals)
      even.ahead(uniforms)
    },
    skip: (normals, uniforms) => {
      normal.skip(normals)
      even.skip(uniforms)
    },
  }
}
/** The key of the c-th of some chains. */
export const chainKey = (key: Key, c: number): Key => evaluate(foldIn(key as never, c) as AnyExpr) as unknown as Key
