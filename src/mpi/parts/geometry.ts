/** Arrays in parts: flattened, filled up with zeros, and cut into one part of equal length for each rank. Scalars are whole on every rank. */
import { type Aval, aval, itemBytes } from '../../core/graph/aval.js'
import { allocate, type NDArray } from '../../core/graph/ndarray.js'
import { Tensor } from '../../core/graph/tensor.js'

/** Arrays whose parts are shorter than this are exchanged together, in bytes of the whole: a collective costs a latency. */
export const TOGETHER = 2 ** 18

/** Is it in parts? */
export const isCut = ({ shape }: Aval): boolean => shape.length > 0
/** How long a part is. */
export const partLength = (size: number, ranks: number): number => Math.ceil(size / ranks)
/** The shape and dtype of what a rank has of an array. */
export const partAval = (whole: Aval, ranks: number): Aval => (isCut(whole) ? aval([partLength(whole.size, ranks)], whole.dtype) : whole)
/** How many elements of an array a rank has, without those that fill up. */
export const ownLength = (size: number, rank: number, ranks: number): number => {
  const k = partLength(size, ranks)
  return Math.min(k, Math.max(0, size - rank * k))
}

/** A rank's part of an array that is at hand. */
export const partOfArray = (x: NDArray, rank: number, ranks: number): Tensor => {
  const whole = aval(x.shape, x.dtype)
  if (!isCut(whole)) return new Tensor([...x.shape], x.dtype, x.data.slice())
  const k = partLength(whole.size, ranks)
  const part = allocate(x.dtype, k)
  part.set(x.data.subarray(rank * k, rank * k + ownLength(whole.size, rank, ranks)) as never)
  return new Tensor([k], x.dtype, part)
}

/** Numbers of leaves that are exchanged at once: those that are long by themselves, others of a dtype together. */
export const linesOf = (leaves: readonly Aval[]): readonly (readonly number[])[] => {
  const lines: number[][] = []
  const open = new Map<string, { readonly line: number[]; bytes: number }>()
  for (const [i, leaf] of leaves.entries()) {
    if (!isCut(leaf)) continue
    const bytes = leaf.size * itemBytes[leaf.dtype]
    const at = open.get(leaf.dtype)
    if (bytes < TOGETHER && at !== undefined && at.bytes + bytes <= TOGETHER) {
      at.line.push(i)
      at.bytes += bytes
      continue
    }
    const line = [i]
    lines.push(line)
    if (bytes < TOGETHER) open.set(leaf.dtype, { line, bytes })
  }
  return lines
}
