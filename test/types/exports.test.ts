// Every function of core/ops and of library that is written for users (its docstring has an example) is public, and nothing else of it is.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as codual from '../../src/index.js'
import * as operations from '../operations.js'

const folder = new URL('../../src/', import.meta.url)
const names = [
  ...readdirSync(new URL('core/ops/', folder), { recursive: true, encoding: 'utf8' }).flatMap((f) =>
    f.endsWith('.ts') ? [`core/ops/${f}`] : [],
  ),
  ...readdirSync(new URL('library/', folder), { recursive: true, encoding: 'utf8' }).map((f) => `library/${f}`),
]
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/\/\*\*((?:[^*]|\*(?!\/))*)\*\/\nexport (?:const|function) (\w+)/g)]
      .filter(([, doc]) => doc?.includes('@example'))
      .map(([, , name]) => ({ file, name: name ?? '' })),
  )

describe('functions of core/ops and library with an example', () => {
  it('are found', () => {
    expect(names.length).toBeGreaterThan(120)
    expect(names.map((f) => f.name)).toEqual(expect.arrayContaining(['add', 'conv', 'einsum', 'topk', 'mish', 'linearRecurrence']))
  })
  it('are public', () => {
    expect(names.filter(({ name }) => !(name in codual)).map(({ file, name }) => `${file}: ${name}`)).toEqual([])
  })
  it('are all that modules of operations export', () => {
    expect(Object.keys(operations).filter((name) => !names.some((f) => f.name === name))).toEqual([])
  })
})

describe('run time and types agree', () => {
  const value = (x: unknown): unknown => codual.evaluate(x as codual.AnyExpr).toArray()
  const dtype = (x: { readonly dtype: codual.DType }): codual.DType => x.dtype
  const i = codual.tensor([-1, 7], [2], 'i32')
  it('options', () => {
    expect(value(codual.cumsum([1, 2, 3], { reverse: true, exclusive: true }))).toEqual([5, 3, 0])
    expect(value(codual.sort([1, 3, 2], { descending: true }))).toEqual([3, 2, 1])
    expect(value(codual.argsort([1, 3, 2], { descending: true }))).toEqual([1, 2, 0])
    expect(value(codual.searchsorted([1, 2, 3], 2, { side: 'right' }))).toBe(2)
    expect(codual.diag(codual.tensor([1, 2]), 1).shape).toEqual([3, 3])
    expect(
      value(codual.avgPool(codual.tensor([[[[4]]]], [1, 1, 1, 1]), { window: 2, padding: [[1, 0], [1, 0]], countIncludePad: true } as never)), // biome-ignore format: one row
    ).toEqual([[[[1]]]])
  })
  it('dtypes', () => {
    expect(
      [codual.relu6(i), codual.trigamma(i), codual.polygamma(1, i), codual.strongMul(i, i), codual.count(i), codual.any(i)].map(dtype),
    ).toEqual(['i32', 'f64', 'f64', 'f64', 'i32', 'bool'])
    expect(dtype(codual.linearRecurrence(i, i))).toBe('f64')
    expect(dtype(codual.dynamicUpdateSlice(i, [3], [0]))).toBe('i32')
  })
  it('assertShape of a tensor is that tensor', () => {
    expect(codual.assertShape(i, [2])).toBe(i)
    expect(() => codual.assertShape(i, [3])).toThrow(/the shape is \[2\], not \[3\]/)
  })
  it('a shape may be that of another array', () => {
    const t = codual.tensor([[1, 2], [3, 4]], [2, 2]) // biome-ignore format: one row
    expect(codual.tensor([1, 2, 3, 4], t.shape).toArray()).toEqual([[1, 2], [3, 4]]) // biome-ignore format: one row
    expect(value(codual.zeros(t.shape))).toEqual([[0, 0], [0, 0]]) // biome-ignore format: one row
  })
})
