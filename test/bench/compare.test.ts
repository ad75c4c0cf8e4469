/** Runs of a benchmark beside earlier ones: what is slower is found, and files that hold none are one error. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { compare, readTook, slowerOf, type Took } from '../../bench/compare.js'

const folder = mkdtempSync(join(tmpdir(), 'codual-compare-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (text: string): string => {
  const path = join(folder, 'rows.json')
  writeFileSync(path, text)
  return path
}
const row = ({ name, ms }: Readonly<Record<string, unknown>>): Took => ({ [String(name)]: ms as number })

describe('compare', () => {
  it('finds rows that are more than a tenth slower, and no others', () => {
    expect(slowerOf({ a: 1, b: 1, c: 1, gone: 1, none: Number.NaN }, { a: 1.09, b: 1.11, c: 0.5, fresh: 9, none: 1 })).toEqual([
      { name: 'b', before: 1, now: 1.11 },
    ])
    expect(slowerOf({ a: 1 }, { a: 1.4 }, 1.5)).toEqual([])
  })
  it('reads the rows of an earlier run', () => {
    expect(readTook(file('{"rows":[{"name":"x","ms":2},{"name":"y","ms":3},null]}'), row)).toEqual({ x: 2, y: 3 })
  })
  it.each([
    ['{', /--compare .*rows\.json: /],
    ['[]', /there are no rows/],
    ['{"rows":{}}', /there are no rows/],
    ['null', /there are no rows/],
  ])('a file that holds none is an error: %s', (text, message) => {
    expect(() => readTook(file(text), row)).toThrow(message)
  })
  it('no file and no common row are errors', () => {
    expect(() => readTook(join(folder, 'none.json'), row)).toThrow(/--compare .*none\.json: ENOENT/)
    expect(() => compare({ a: 1 }, { b: 1 })).toThrow(/no row is in both runs/)
  })
})
