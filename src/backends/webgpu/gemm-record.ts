/** What the forms of a matrix product share: how operands lie, the words of the record, and sums that go block by block. */
import type { Operand } from '../plan/step.js'
import { layout } from '../record.js'
import { itemOf, place, signed, type Word, word } from './dispatch.js'
import { BLOCK, type Kind, totalsOf } from './sums.js'

/** C, A and B. */
export type Operands = readonly [Operand, Operand, Operand]

/** How an operand's two axes lie: rows of unit stride, columns of unit stride, or neither. */
export type Order = 'row' | 'column' | 'any'
export const orderOf = (o: Operand): Order => (o.strides[2] === itemOf(o) ? 'row' : o.strides[1] === itemOf(o) ? 'column' : 'any')

export interface Shape {
  readonly batch: number
  readonly m: number
  readonly n: number
  readonly k: number
}

/**
 * The record. Of C, A and B: place and strides. With parts (of `chunk` products) each stretch of k goes to scratch, [part, batch, m, n], and a
 * loop adds them up. Of the form in registers: invocations of a workgroup along n, whether to add to C, and whether tiles go down first.
 */
export const record = /*#__PURE__*/ layout(
  'batch m n k parts chunk tilesDown tilesAcross',
  'c cBatch cRow cColumn',
  'a aBatch aRow aColumn',
  'b bBatch bRow bColumn',
  'gx add down',
)
type Field = keyof typeof record.at
/** Fields of the record as u32, and as i32. */
export const u32 = (field: Field): string => word(record.at[field])
export const i32 = (field: Field): string => signed(record.at[field])

/** The sums of so many terms, over k from k0 to k1: `inner` takes the products from `from` to `to`. Long ones go block by block. */
export const inBlocks = (terms: number, sums: readonly string[], inner: (from: string, to: string) => string, kind?: Kind): string => {
  if (terms <= BLOCK) return inner('k0', 'k1')
  const { declared, flush, done } = totalsOf(sums, terms, kind)
  return `${declared}  for (var block = k0; block < k1; block += ${BLOCK}) {
  let end = min(k1, block + ${BLOCK});
${inner('block', 'end')}${flush}  }
${done}`
}

/** The words of the record. */
export const words = (
  s: Shape,
  [parts, chunk]: readonly [number, number],
  gx: number,
  [tilesDown, tilesAcross]: readonly [number, number],
  [c, a, b]: Operands,
  accumulate: boolean,
): Word[] => {
  const [cBatch, cRow, cColumn] = steps(c)
  const [aBatch, aRow, aColumn] = steps(a)
  const [bBatch, bRow, bColumn] = steps(b)
  return record.of<Word>({
    ...s,
    parts,
    chunk,
    tilesDown,
    tilesAcross,
    c: place(c),
    cBatch,
    cRow,
    cColumn,
    a: place(a),
    aBatch,
    aRow,
    aColumn,
    b: place(b),
    bBatch,
    bRow,
    bColumn,
    gx,
    add: accumulate ? 1 : 0,
    down: s.m < s.n ? 1 : 0, // the smaller operand is the one that is read again and again
  })
}
/** Strides in elements. */
const steps = (o: Operand) => o.strides.map((s) => s / itemOf(o)) as unknown as readonly [number, number, number] // an axis of batches, rows, columns
