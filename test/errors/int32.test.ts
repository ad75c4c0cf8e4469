/** What an i32 does not hold never becomes another number: fractions, NaN, infinities and 2^31 are errors wherever a number goes into one. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Call = (...xs: readonly unknown[]) => unknown
const op = (name: string): Call => (cd as unknown as Readonly<Record<string, Call>>)[name]!
const one = cd.tensor([1, 2], [2], 'i32')
const declared = cd.fn({ n: cd.i32(), v: cd.i32(2) }, ({ n, v }) => cd.add(n, v)) as unknown as Call
const bad = [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, -(2 ** 31) - 1, 1e300]
const ways: readonly (readonly [name: string, into: (x: number) => unknown])[] = [
  ['tensor', (x) => op('tensor')([x], [1], 'i32')],
  ['tensor, nested', (x) => op('tensor')([[0], [x]], undefined, 'i32')],
  ['tensor, filled', (x) => op('tensor')(x, [2], 'i32')],
  ['tensor, of a Float64Array', (x) => op('tensor')(Float64Array.of(0, x), [2], 'i32')],
  ['tensor, of a tensor', (x) => op('tensor')(cd.tensor([x]), [1], 'i32')],
  ['tensor, of JSON', (x) => op('tensor')(JSON.parse(JSON.stringify(cd.tensor([x]))), undefined, 'i32')],
  ['a declared scalar', (x) => declared({ n: x, v: [0, 0] })],
  ['a declared array', (x) => declared({ n: 0, v: [0, x] })],
  ['a compiled function', (x) => (op('compile')(declared) as Call)({ n: x, v: [0, 0] })],
  ['a literal beside an i32', (x) => op('add')(one, x)],
  ['a literal beside an expression', (x) => op('mul')(op('add')(one, 1), x)],
  ['an array beside an i32', (x) => op('add')(one, [0, x])],
  ['full', (x) => op('full')([2], x, 'i32')],
  ['pad', (x) => op('pad')(one, [[1, 1]], x)],
  ['where', (x) => op('where')([true, false], one, x)],
  ['setAt', (x) => op('setAt')(one, [0], x)],
  ['maximum', (x) => op('maximum')(one, x)],
]

describe('into an i32', () => {
  it.each(ways)('%s', (_, into) => {
    for (const x of bad) {
      let error: unknown
      try {
        into(x)
      } catch (e) {
        error = e
      }
      expect(cd.isAdException(error) && ['BadInput', 'DTypeMismatch'].includes(error.error._tag), `${x}: ${error}`).toBe(true)
    }
    for (const x of [2 ** 31 - 1, -(2 ** 31), -0, 0]) expect(() => into(x)).not.toThrow()
  })
  it('the codec reports them', () => {
    for (const x of [1.5, 'NaN', 2 ** 31]) expect(cd.codec({ n: cd.i32() }).decode({ n: x })._tag).toBe('Left')
  })
  it('the message names the entry', () => {
    expect(() => op('tensor')([1, 2.5], [2], 'i32')).toThrow(/tensor: entry 1 is 2\.5, not a whole number that an i32 holds/)
  })
  it('cast keeps its own rule, and booleans their meaning', () => {
    expect((op('evaluate')(op('cast')(cd.tensor([1.5, -1.5]), 'i32')) as cd.Tensor).toArray()).toEqual([1, -1])
    expect((op('tensor')([2, 0, -0.5], [3], 'bool') as cd.Tensor).toArray()).toEqual([true, false, true])
    expect((op('tensor')([true, false], [2], 'i32') as cd.Tensor).toArray()).toEqual([1, 0])
  })
})
