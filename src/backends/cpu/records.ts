/**
 * The records of the CPU's kernels: 32-bit words at the address with which a kernel is called. Addresses and strides are in bytes. The image
 * writes them; emitted code and kernels in JavaScript read them.
 */
import type { Operand, Work } from '../plan/step.js'
import { layout } from '../record.js'

/** A word before memory is laid out: a number, or the address of an operand or of the scratch. */
export type Word = number | Operand | 'scratch'

/** An entry of the step table: the kernel's place in the table of functions, and the address of its record. */
export const stepEntry = /*#__PURE__*/ layout('kernel', 'record')

/** C = A B. C has unit column stride. */
export const gemmRecord = /*#__PURE__*/ layout(
  'c',
  'a',
  'b',
  'm',
  'n',
  'k',
  'cRowStride',
  'aRowStride',
  'aColStride',
  'bRowStride',
  'bColStride',
  'scratch',
  'batch',
  'cBatchStride',
  'aBatchStride',
  'bBatchStride',
)
export const gemmWords = ({ sizes, reads, writes }: Work): readonly Word[] => {
  const [batch, m, n, k] = sizes as readonly [number, number, number, number]
  const [a, b] = reads as readonly [Operand, Operand]
  const [c] = writes as readonly [Operand]
  return gemmRecord.of<Word>({
    c,
    a,
    b,
    m,
    n,
    k,
    cRowStride: c.strides[1]!,
    aRowStride: a.strides[1]!,
    aColStride: a.strides[2]!,
    bRowStride: b.strides[1]!,
    bColStride: b.strides[2]!,
    scratch: 'scratch',
    batch,
    cBatchStride: c.strides[0]!,
    aBatchStride: a.strides[0]!,
    bBatchStride: b.strides[0]!,
  })
}

/** Positions in the record of a loop: axis lengths, then each operand (inputs, then outputs) with its address and strides, then scratch. */
export interface LoopRecord {
  readonly size: (axis: number) => number
  readonly address: (operand: number) => number
  readonly stride: (operand: number, axis: number) => number
  readonly scratch: number
}
export const loopRecord = (rank: number, operands: number): LoopRecord => {
  const address = (operand: number): number => rank + operand * (rank + 1)
  return { size: (axis) => axis, address, stride: (operand, axis) => address(operand) + 1 + axis, scratch: address(operands) }
}
export const loopWords = ({ sizes, reads, writes }: Work): readonly Word[] => {
  const operands = [...reads, ...writes]
  const at = loopRecord(sizes.length, operands.length)
  const words = new Array<Word>(at.scratch + 1)
  sizes.forEach((d, axis) => {
    words[at.size(axis)] = d
  })
  operands.forEach((o, k) => {
    words[at.address(k)] = o
    o.strides.forEach((x, axis) => {
      words[at.stride(k, axis)] = x
    })
  })
  words[at.scratch] = 'scratch'
  return words
}

/** Positions in the record of a primitive that runs as a whole: addresses of results, of arguments (an accumulator is a result), of scratch. */
interface OpaqueRecord {
  readonly result: (i: number) => number
  readonly argument: (i: number) => number
}
export const opaqueRecord = (results: number): OpaqueRecord => ({ result: (i) => i, argument: (i) => results + i })
export const opaqueWords = ({ reads, writes }: Work): readonly Word[] => [...writes, ...reads, 'scratch']

/** The address in a word: unsigned, since memory may have more than 2 GiB. */
export const addressAt = (record: Int32Array, word: number): number => record[word]! >>> 0
