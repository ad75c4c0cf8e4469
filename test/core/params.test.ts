/** Parameters and literals from outside: what would take unbounded work or memory, or is no number of its dtype, is refused with its path. */
import { isLeft } from 'fp-ts/lib/Either.js'
import { expect, it } from 'vitest'
import { families } from '../../src/core/ops/families.js'
import { fromJSON, grad, polygamma } from '../../src/index.js'

const errorsOf = (nodes: readonly object[], inputs: readonly number[]): unknown => {
  const json = { format: 1, name: 'f', inputs, inputTree: inputs.map(() => '*'), outputs: [nodes.length - 1], outputTree: ['*'], nodes }
  const read = fromJSON(json)
  return isLeft(read) ? read.left : 'read'
}
const applied = (prim: string, shape: readonly number[], params: object, result: readonly number[]): unknown =>
  errorsOf(
    [
      { input: 'x', dtype: 'f64', shape },
      { apply: prim, args: [0], params, results: [{ dtype: 'f64', shape: result }] },
    ],
    [0],
  )
const refused = { _tag: 'Decode', errors: [{ path: expect.stringContaining('nodes.') }] }

it('orders of polygamma', () => {
  expect(applied('polygamma', [2], { n: 1e8 }, [2])).toMatchObject(refused)
  expect(applied('polygamma', [2], { n: 171 }, [2])).toMatchObject(refused)
  expect(applied('polygamma', [2], { n: 3 }, [2])).toBe('read')
  // The derivative of the last order that may be written has one order more.
  expect(() => grad((x) => polygamma(100, x))(50)).not.toThrow()
})
it('windows', () => {
  const far = { window: [1e9, 1e9], stride: [1, 1], padding: [1e9 - 2, 0, 1e9 - 2, 0] }
  // A window far larger than x reads no more than x.
  const x = { shape: [1, 1, 2, 2], dtype: 'f64' as const, data: Float64Array.of(1, 2, 3, 4) }
  const y = { shape: [1, 1, 1, 1], dtype: 'f64' as const, data: new Float64Array(1) }
  families.nn.avgPool.meaning([x], far, [y])
  expect(y.data[0]).toBe(2.5)
  for (const bad of [
    { stride: [0, 1] },
    { stride: [] },
    { stride: [1, 1, 1] },
    { window: [0, 1] },
    { padding: [0, 0, 0] },
    { padding: [2 ** 40, 0, 0, 0] },
  ])
    expect(applied('avgPool', [1, 1, 2, 2], { window: [1, 1], stride: [1, 1], padding: [0, 0, 0, 0], ...bad }, [1, 1, 2, 2])).toMatchObject(
      refused,
    )
  expect(applied('avgPoolInput', [1, 1, 2, 2], { window: [1, 1], stride: [1, 1], padding: [0, 0, 0, 0] }, [1, 1, 2, 2])).toMatchObject(
    refused,
  )
})
it('sizes that are too large together', () => {
  expect(applied('broadcastTo', [1], { shape: [65536, 65536] }, [65536, 65536])).not.toBe('read')
  expect(applied('pad', [1], {}, [1])).not.toBe('read')
  expect(errorsOf([{ input: 'x', dtype: 'f64', shape: [2 ** 31] }], [0])).toMatchObject(refused)
})
it('literals that are no numbers of their dtype', () => {
  const literal = (value: unknown, dtype: string): unknown => errorsOf([{ literal: value, dtype }], [])
  for (const x of [0.5, 2 ** 31, -(2 ** 31) - 1, 'NaN', 'Infinity']) expect(literal(x, 'i32')).toMatchObject(refused)
  for (const x of [2, -1, 0.5]) expect(literal(x, 'bool')).toMatchObject(refused)
  expect(literal(0.1, 'f32')).toMatchObject(refused)
  expect(literal(-(2 ** 31), 'i32')).toBe('read')
})
