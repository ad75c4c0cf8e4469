// The table of docs/indexing.md: each expression in it has the shape and the sum that stand beside it, which are NumPy's.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../scripts/docs/public-names.js'
import * as cd from '../../src/index.js'

const cells = (line: string): readonly string[] =>
  line
    .split(' | ')
    .map((c) => c.replaceAll('|', '').trim())
    .map((c) => /^`(.*)`(?: .*)?$/.exec(c)?.[1] ?? c)
const rows = readFileSync(join(root, 'docs/indexing.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map(cells)

describe('the table of indexing', () => {
  it('is there', () => {
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.every((r) => r.length === 4)).toBe(true)
  })
  it.each(rows)('%s: %s', (_numpy, ours, shape, total) => {
    const run = new Function('at', 'set', 'addAt', 'x', 'i', `return ${ours}`)
    const f = cd.fn({ x: cd.f64(2, 3, 4), i: cd.i32() }, ({ x, i }) => run(cd.at, cd.set, cd.addAt, x, i) as cd.AnyExpr)
    const y = f({
      x: cd.tensor(
        Float64Array.from({ length: 24 }, (_, k) => k),
        [2, 3, 4],
      ),
      i: 1,
    })
    expect(JSON.stringify(y.shape)).toBe(shape!.replaceAll(' ', ''))
    expect(Array.from(y.data).reduce((a, b) => a + b, 0)).toBe(Number(total))
  })
})
