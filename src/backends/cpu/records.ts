/**
 * The records of the CPU's kernels: 32-bit words at the address with which a kernel is called. Addresses and strides are in bytes. The image
 * writes them; emitted code and kernels in JavaScript read them.
 */
import type { Operand, Work } from '../plan/step.js'
import { layout } from '../record.js'

/** Takes the words of a record before memory has addresses; `word` counts from the record's beginning. */
export interface RecordWriter {
  readonly number: (word: number, x: number) => void
  /** The address of an operand. */
  readonly address: (word: number, o: Operand) => void
  /** The address of the scratch, or so many bytes behind it. */
  readonly scratch: (word: number, offset?: number) => void
  /** The address of a table. */
  readonly table: (word: number, bytes: Uint8Array) => void
}

/** An entry of the step table: the kernel's place in the table of functions, and the address of its record. */
export const stepEntry = /*#__PURE__*/ layout('kernel record')

/**
 * A loop over steps: its part of the step table, how often it runs, and the words that move with each iteration; where the bool lies without which an iteration
 * changes nothing (0: nowhere), and whether none after it changes anything either.
 */
export const repeatRecord = /*#__PURE__*/ layout('steps count iterations moves moving flag ends')
/** A word of a record, and what is added to it after each iteration. */
export const moveEntry = /*#__PURE__*/ layout('word by')

/**
 * A step that threads share: its kernel, its record and how many words that has; its parts, the units of a part and the word that counts units; the words that move with each part
 * (`moveEntry`, whose words are bytes from the record's beginning); the word of the scratch, and the bytes of it that a thread takes; the looks after which a wait for others was long, and the microseconds of the whole step, about.
 */
export const forkRecord = /*#__PURE__*/ layout(
  'kernel record words',
  'parts units axis moves moving',
  'scratch scratchBytes',
  'long microseconds',
)

/** C = A B. C has unit column stride. */
export const gemmRecord = /*#__PURE__*/ layout(
  'c a b m n k',
  'cRowStride aRowStride aColStride bRowStride bColStride',
  'scratch batch',
  'cBatchStride aBatchStride bBatchStride',
)
export const writeGemm = ({ sizes, reads, writes }: Work, to: RecordWriter): void => {
  const [batch, m, n, k] = sizes as readonly [number, number, number, number]
  const [a, b] = reads as readonly [Operand, Operand]
  const [c] = writes as readonly [Operand]
  const { at } = gemmRecord
  to.address(at.c, c)
  to.address(at.a, a)
  to.address(at.b, b)
  to.number(at.m, m)
  to.number(at.n, n)
  to.number(at.k, k)
  to.number(at.cRowStride, c.strides[1]!)
  to.number(at.aRowStride, a.strides[1]!)
  to.number(at.aColStride, a.strides[2]!)
  to.number(at.bRowStride, b.strides[1]!)
  to.number(at.bColStride, b.strides[2]!)
  to.scratch(at.scratch)
  to.number(at.batch, batch)
  to.number(at.cBatchStride, c.strides[0]!)
  to.number(at.aBatchStride, a.strides[0]!)
  to.number(at.bBatchStride, b.strides[0]!)
}

/** Positions in the record of a loop: axis lengths, then each operand (inputs, then outputs) with its address and strides, then scratch. */
export class LoopRecord {
  constructor(
    private readonly rank: number,
    private readonly operands: number,
  ) {}
  size(axis: number): number {
    return axis
  }
  address(operand: number): number {
    return this.rank + operand * (this.rank + 1)
  }
  stride(operand: number, axis: number): number {
    return this.address(operand) + 1 + axis
  }
  get scratch(): number {
    return this.address(this.operands)
  }
  /** Where threads keep the totals of chunks. */
  get kept(): number {
    return this.scratch + 1
  }
}
/** `shared`: so many bytes of the scratch are for the totals of chunks, at the address behind that of its own. */
export const writeLoop = ({ sizes, reads, writes }: Work, to: RecordWriter, shared?: number): void => {
  const at = new LoopRecord(sizes.length, reads.length + writes.length)
  for (let axis = 0; axis < sizes.length; axis++) to.number(at.size(axis), sizes[axis]!)
  for (let k = 0; k < reads.length + writes.length; k++) {
    const o = k < reads.length ? reads[k]! : writes[k - reads.length]!
    to.address(at.address(k), o)
    const along = at.stride(k, 0)
    for (let axis = 0; axis < o.strides.length; axis++) to.number(along + axis, o.strides[axis]!)
  }
  to.scratch(at.scratch, shared)
  if (shared !== undefined) to.scratch(at.kept)
}

/** Positions in the record of a primitive that runs as a whole: addresses of results, of arguments (an accumulator is a result), of scratch; behind it sizes or the address of a table, where its code is that of any. */
export class OpaqueRecord {
  constructor(
    private readonly results: number,
    private readonly args: number,
  ) {}
  result(i: number): number {
    return i
  }
  argument(i: number): number {
    return this.results + i
  }
  get scratch(): number {
    return this.results + this.args
  }
  get behind(): number {
    return this.scratch + 1
  }
}
/** `sizes` or `table`: the words behind, where the kernel reads some. `shared`: so many bytes of the scratch are those that its phases share, at the address behind its sizes; its own come after them. */
export const writeOpaque = (
  { reads, writes }: Work,
  to: RecordWriter,
  { sizes, table }: { readonly sizes?: readonly number[]; readonly table?: Uint8Array } = {},
  shared?: number,
): void => {
  const at = new OpaqueRecord(writes.length, reads.length)
  for (let i = 0; i < writes.length; i++) to.address(at.result(i), writes[i]!)
  for (let i = 0; i < reads.length; i++) to.address(at.argument(i), reads[i]!)
  to.scratch(at.scratch, shared)
  for (const [i, size] of (sizes ?? []).entries()) to.number(at.behind + i, size)
  if (shared !== undefined) to.scratch(at.behind + sizes!.length)
  if (table !== undefined) to.table(at.behind, table)
}

/** The address in a word: unsigned, since memory may have more than 2 GiB. */
export const addressAt = (record: Int32Array, word: number): number => record[word]! >>> 0
