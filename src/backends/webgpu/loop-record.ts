/** The record of a loop: counts, axis lengths, operands, and what its folds begin with. */
import type { DType } from '../../core/types/dtype.js'
import { identityOf, type LoopKernel } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { layout } from '../record.js'
import { bits, itemOf, place, SCRATCH, signed, type Word, word } from './dispatch.js'

/** A number of a dtype whose bits are a word of the record. */
const numberAt = (dtype: DType, k: number): string =>
  dtype === 'f32' ? `bitcast<f32>(${word(k)})` : dtype === 'i32' ? signed(k) : `(${word(k)} != 0u)`

/** Where the parts of a fold leave what they found. */
export const partial: Operand = { storage: SCRATCH, offset: 0, strides: [] }

/** Words of the record that are 0, told apart by nothing but their place: neighbouring results use different ones, so that no two are seen to be equal. */
export const ZEROS = 4

/** Results times parts, terms of a fold, parts of a fold, and results. */
const counts = /*#__PURE__*/ layout('items terms parts kept')
export type Counts = Readonly<Record<keyof typeof counts.at, number>>

export class LoopRecord {
  readonly words: Word[]
  private readonly sizes: number
  private readonly operands: readonly number[]
  private readonly identities: readonly number[]
  private readonly zeros: number
  private readonly scratchAt: number

  /** `zeros`: whether words that are 0 are wanted; `parts`: whether the place of the scratch is. */
  constructor(of: Counts, kernel: LoopKernel, { sizes, reads, writes }: Work, zeros: boolean, parts: boolean) {
    const words: Word[] = counts.of<Word>(of)
    this.sizes = words.length
    words.push(...sizes)
    this.operands = [...reads, ...writes].map((o) => {
      const at = words.length
      if (o.storage < 0) words.push({ literal: -1 - o.storage })
      else words.push(place(o), ...o.strides.map((s) => s / itemOf(o)))
      return at
    })
    this.identities = kernel.outputs.map((o) => (o.fold === undefined ? -1 : words.push(bits(identityOf(o.fold.op, o.dtype), o.dtype)) - 1))
    this.zeros = words.length
    if (zeros) words.push(...new Array<number>(ZEROS).fill(0))
    this.scratchAt = words.length
    if (parts) words.push(place(partial))
    this.words = words
  }

  count(of: keyof Counts): string {
    return word(counts.at[of])
  }
  size(axis: number): string {
    return word(this.sizes + axis)
  }
  /** Where an operand begins, and its stride. */
  place(operand: number): string {
    return signed(this.operands[operand]!)
  }
  stride(operand: number, axis: number): string {
    return signed(this.operands[operand]! + 1 + axis)
  }
  /** The number of an operand that is a literal. */
  literal(operand: number, dtype: DType): string {
    return numberAt(dtype, this.operands[operand]!)
  }
  identity(output: number, dtype: DType): string {
    return numberAt(dtype, this.identities[output]!)
  }
  zero(z: number): string {
    return word(this.zeros + z)
  }
  scratch(): string {
    return signed(this.scratchAt)
  }
}
