/** Layout, joining, creation and indexing: junk in the place of one argument, or inside it, beside arguments that are right. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Call = (...args: readonly unknown[]) => unknown
const functions = cd as unknown as Readonly<Record<string, Call>>
const m = cd.tensor(
  [
    [1, 2],
    [3, 4],
  ],
  [2, 2],
)
const rows = cd.tensor([[0], [0]], [2, 1], 'i32')

const cyclic: unknown[] = [1]
cyclic.push(cyclic)
const hole: unknown[] = [1, 2]
delete hole[0]
const bare: unknown = Object.create(null)
const junk: readonly unknown[] = [
  ...[undefined, null, {}, bare, 'x', '__proto__', 'constructor', true, () => 1, Symbol('s'), 1n],
  ...[Number.NaN, 1.5, -7, 1e300, Number.POSITIVE_INFINITY, 2 ** 40],
  ...[[], [null], [bare], ['a'], [Symbol('s')], [1n], [Number.NaN], [1.5], [-1], [-1, -1], [0, 0], [1e300], [[1], [2, 3]], hole, cyclic],
  ...[[[0, 1, 2]], [[Symbol('s'), 1]], [[0, 1n]], [[bare]], new Date(0), new Map(), new Int32Array([1, 1]), new BigInt64Array(2)],
]

const calls: readonly (readonly [name: string, ...args: unknown[]])[] = [
  ['cast', m, 'f32'],
  ['tensordot', m, m, [[0], [0]]],
  ['einsum', 'ij,jk->ik', m, m],
  ['dynamicSlice', m, [0, 0], [1, 1]],
  ['dynamicUpdateSlice', m, [[1]], [0, 0]],
  ['concat', [m, m], { axis: 0 }],
  ['split', m, 2, { axis: 0 }],
  ['stack', [m, m], { axis: 0 }],
  ['unstack', m, { axis: 0 }],
  ['full', [2], 1, 'f64'],
  ['zeros', [2], 'f64'],
  ['ones', [2], 'f32'],
  ['zerosLike', m],
  ['onesLike', m],
  ['arange', 3, 'f64'],
  ['linspace', 0, 1, 3, 'f64'],
  ['eye', 2, 'f64'],
  ['diag', m, 0],
  ['tril', m, 0],
  ['triu', m, 0],
  ['assertShape', m, [2, 2]],
  ['broadcastTo', m, [1, 2, 2]],
  ['reshape', m, [4]],
  ['transpose', m, [1, 0]],
  ['expandDims', m, 0],
  ['squeeze', [[1]], 0],
  ['squeeze', [[1]], { axis: 0 }],
  ['slice', m, [0], [1], [1]],
  ['pad', m, [[1, 1]], 0],
  ['flip', m, { axis: 0 }],
  ['roll', m, 1, { axis: 0 }],
  ['tile', m, [2, 2]],
  ['repeat', m, 2, { axis: 0 }],
  ['searchsorted', [1, 2], m, { side: 'left' }],
  ['tensor', [1, 2], [2], 'f64'],
  ['aval', [2], 'f64'],
  ['gather', m, [0], { axis: 0 }],
  ['take', m, [0], { axis: 0 }],
  ['scatterAdd', m, [0, 1], m, { axis: 0 }],
  ['setAt', m, [0], 1, { axis: 0 }],
  ['takeAlongAxis', m, rows, { axis: 1 }],
  ['oneHot', [0], 3, 'f64'],
]

/** What stands in the place of an argument: junk, or the argument with junk inside. */
const spoilt = (arg: unknown): readonly unknown[] =>
  junk.flatMap((j) => {
    if (Array.isArray(arg)) return [j, [j, ...arg.slice(1)]]
    const options = typeof arg === 'object' && arg !== null && !('dtype' in arg)
    return options ? [j, Object.fromEntries(Object.keys(arg).map((key) => [key, j]))] : [j]
  })
const failure = (f: () => unknown): unknown => {
  try {
    f()
    return undefined
  } catch (e) {
    return e
  }
}
const reason = (f: () => unknown): string | undefined => {
  const e = failure(f)
  return cd.isAdException(e) ? e.message.split('\n')[0] : undefined
}

describe('junk beside arguments that are right', () => {
  it.each(calls.map(([name, ...args]) => ({ name, args })))('$name', ({ name, args }) => {
    const f = functions[name]!
    expect(failure(() => f(...args))).toBeUndefined()
    const wrong = args.flatMap((arg, i) =>
      spoilt(arg).flatMap((bad) => {
        const e = failure(() => f(...args.map((a, k) => (k === i ? bad : a))))
        return e === undefined || cd.isAdException(e) ? [] : [`argument ${i}: ${String(e)}`]
      }),
    )
    expect(wrong).toEqual([])
  })
})

describe('what was taken in silence', () => {
  const call =
    (name: string, ...args: readonly unknown[]) =>
    () =>
      functions[name]!(...args)
  it.each([
    ['an axis of null', call('concat', [m, m], { axis: null }), 'BadInput: concat: axis null is not a whole number.'],
    ['a width with three ends', call('pad', m, [[1, 1, 1]]), 'BadInput: pad: widths an array of 1 do not fit [2, 2].'],
    ['an index beyond an i32', call('gather', m, [2 ** 32]), 'gather: an index is not a whole number that an i32 holds (i32)'],
    ['a scalar index beyond an i32', call('oneHot', 2 ** 32, 3), 'oneHot: an index is not a whole number that an i32 holds (i32)'],
    ['another side', call('searchsorted', [1, 2], 1, { side: 'middle' }), "BadInput: searchsorted: there is no side 'middle'."],
    ['a dtype that is none', call('zeros', [2], 'f16'), "BadInput: zeros: 'f16' is not a dtype."],
    ['a list of axes alone', call('tensordot', m, m, [0, 1]), 'BadInput: tensordot: axes of a must be an array of whole numbers, not 0.'],
  ])('%s', (_, f, says) => {
    expect(reason(f)).toBe(says)
  })
  it('a diagonal far outside keeps all, or nothing', () => {
    const read = cd.compile(cd.fn({ x: cd.f64(2, 2) }, ({ x }) => [cd.tril(x, 2 ** 40), cd.tril(x, -(2 ** 40)), cd.triu(x, 2 ** 40)]))
    const zero = [
      [0, 0],
      [0, 0],
    ]
    expect(read({ x: m }).map((y) => y.toArray())).toEqual([m.toArray(), zero, zero])
  })
})
