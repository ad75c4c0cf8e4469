// What at, set and addAt say of indices that do not fit: the operation, the index, the axis, its length, and the fix.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { untyped } from '../rules/untyped.js'
import { broken } from './hostile.js'

const { at, set, addAt, zeros, arange, eq } = untyped
const x = cd.tensor([
  [1, 2, 3],
  [4, 5, 6],
])
const said = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return cd.explain(e.error)
    throw e
  }
  return 'no error'
}

describe('errors of indexing', () => {
  it.each([
    ['at(x, 2)', () => at(x, 2), 'index 2 is out of range for axis 0, which has length 2.', 'indices go from -2 to 1.'],
    ["at(x, ':', -4)", () => at(x, ':', -4), 'index -4 is out of range for axis 1, which has length 3.', 'indices go from -3 to 2.'],
    ["at(x, '...', null, 3)", () => at(x, '...', null, 3), 'index 3 is out of range for axis 1, which has length 3.', 'from -3 to 2.'],
    ['an empty axis', () => at(zeros([0, 2]), 0), 'index 0 is out of range for axis 0, which has length 0.', 'has no elements.'],
    ['an empty axis, computed', () => at(zeros([0, 2]), arange(2, 'i32')), 'axis 0 is empty: no index is in range.', 'has no elements.'],
    ['at(x, [0, 5])', () => at(x, [0, 5]), 'index 5 is out of range for axis 0, which has length 2.', 'indices go from -2 to 1.'],
    ['at(x, Int32Array)', () => at(x, Int32Array.of(-3)), 'index -3 is out of range for axis 0', 'indices go from -2 to 1.'],
    ['at(x, 0, 0, 0)', () => at(x, 0, 0, 0), '3 indices for the 2 axes of [2, 3].', 'null makes a new axis.'],
    ['of a scalar', () => at(1, 0), 'a scalar has no axis to index.', 'at most one for each axis'],
    ['two ellipses', () => at(x, '...', '...'), "'...' stands 2 times.", "':' for each other axis."],
    ['at(x, 1.5)', () => at(x, 1.5), 'the index 1.5 of axis 0 is not a whole number.', 'round it.'],
    ['at(x, NaN)', () => at(x, Number.NaN), 'the index NaN of axis 0 is not a whole number.', 'round it.'],
    ["at(x, '1')", () => at(x, '1'), "'1' is not a slice.", 'write the number 1.'],
    ["at(x, '1,2')", () => at(x, '1,2'), "'1,2' is not a slice.", "write 'start:end' or 'start:end:step' of whole numbers"],
    ["at(x, '1:x')", () => at(x, '1:x'), "'1:x' is not a slice.", 'where the start is computed, dynamicSlice.'],
    ["at(x, '::0')", () => at(x, '::0'), "the step of '::0' is 0.", "'::2', '::-1'."],
    ['a slice as a list', () => at(x, [null, null, -1]), 'an array of indices holds null, which is not', "write the slice '::-1'."],
    ['half a slice as a list', () => at(x, [1, null]), 'an array of indices holds null, which is not', "write the slice '1:'."],
    ['a list of text', () => at(x, [':']), "an array of indices holds ':', which is not a whole number.", 'give a number, a slice such as'],
    ['a list of fractions', () => at(x, [0.5]), 'entry 0 is 0.5, not a whole number that an i32 holds.', 'round it'],
    ['booleans', () => at(x, [true, false]), 'an index of booleans: how many elements it picks is not known', 'where(mask, x, 0)'],
    ['a computed mask', () => at(x, eq(x, 1)), 'an index of booleans: how many elements it picks is not known', 'where(mask, x, 0)'],
    ['true', () => at(x, true), 'an index of booleans', 'array of whole numbers.'],
    ['undefined', () => at(x, undefined), 'undefined is not an index.', 'give a number, a slice such as'],
    ['a record', () => at(x, { axis: 0 }), 'an object is not an index.', 'give a number, a slice such as'],
    ['floats', () => at(x, arange(2)), 'indices are i32, got f64', 'cast them to i32.'],
    [
      'arrays that clash',
      () => at(x, [0, 1], [0, 1, 2]),
      'index arrays of shapes [2] and [3] do not broadcast together.',
      'a last axis of length 1.',
    ],
    ['values that are too many', () => set(x, 0, [1, 2]), 'values of shape [2] do not broadcast to the part, which is [3].', '1 or equal'],
    [
      'values of higher rank',
      () => addAt(x, [':', 0], [[1], [2]]),
      'values of shape [2, 1] do not broadcast to the part, which is [2].',
      '1 or equal',
    ],
    ['at an index of floats', () => addAt(x, cd.tensor(1) as never, 1), 'indices are i32, got f64', 'cast them to i32.'],
    ['floats into integers', () => set(arange(3, 'i32'), 0, cd.tensor(0.5)), 'f64 values in an array of i32', 'cast one of them.'],
    ['booleans added', () => addAt(eq(x, 1), 0, true), 'booleans are not added.', "cast(x, 'i32') to count, or set."],
  ])('%s', (_name, f, reason, fix) => {
    expect(said(f)).toContain(reason)
    expect(said(f)).toContain(fix)
  })
  it('name the operation', () => {
    expect(said(() => at(x, 9))).toMatch(/^BadInput: at: /)
    expect(said(() => set(x, 9, 0))).toMatch(/^BadInput: set: /)
    expect(said(() => addAt(x, 9, 0))).toMatch(/^BadInput: addAt: /)
  })
  it('what breaks when it is looked at is one AdError too', () => {
    for (const [label, make] of broken)
      for (const f of [
        (v: unknown) => at(x, v),
        (v: unknown) => at(x, 0, v),
        (v: unknown) => set(x, v, 1),
        (v: unknown) => set(x, [v], 1),
        (v: unknown) => addAt(x, 0, v),
      ]) {
        try {
          f(make())
        } catch (e) {
          expect(cd.isAdException(e), `${label}: ${e}`).toBe(true)
        }
      }
  })
})
