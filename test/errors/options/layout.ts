/** Layout, joining and indexing: a call that is right with no options, for each function that takes some. */
import * as cd from '../../../src/index.js'

const x = cd.tensor([
  [1, 2],
  [3, 4],
])
const at = cd.tensor([[0], [1]], [2, 1], 'i32')

/** `take` is `gather` itself, and says so. */
export const rows: readonly (readonly [name: string, call: (options: never) => unknown])[] = [
  ['concat', (options?: undefined) => cd.concat([x, x], options)],
  ['split', (options?: undefined) => cd.split(x, 2, options)],
  ['stack', (options?: undefined) => cd.stack([x, x], options)],
  ['unstack', (options?: undefined) => cd.unstack(x, options)],
  ['flip', (options?: undefined) => cd.flip(x, options)],
  ['roll', (options?: undefined) => cd.roll(x, 1, options)],
  ['repeat', (options?: undefined) => cd.repeat(x, 2, options)],
  ['gather', (options?: undefined) => cd.gather(x, [1, 0], options)],
  ['scatterAdd', (options?: undefined) => cd.scatterAdd(x, [1, 0], x, options)],
  ['setAt', (options?: undefined) => cd.setAt(x, [1, 0], x, options)],
  ['takeAlongAxis', (options?: undefined) => cd.takeAlongAxis(x, at, options)],
  ['searchsorted', (options?: undefined) => cd.searchsorted([1, 3, 5], x, options)],
]
