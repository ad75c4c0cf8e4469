// The comparison of values with comments: what fits, what does not, and what is no value at all.
import { describe, expect, it } from 'vitest'
import { blocksIn, examplesIn, tablesIn } from '../../scripts/docs/extract.js'
import { add, emptyRegistry, NoTangent, tensor } from '../../src/index.js'
import { fits, patternOf } from './expected.js'

const holds = (comment: string, x: unknown): boolean => {
  const p = patternOf(comment)
  if (p === undefined) throw new Error(`${comment} is no pattern`)
  return fits(p, x)
}

describe('a comment', () => {
  it.each<readonly [comment: string, fits: unknown, other: unknown]>([
    ['3', 3, 3.0001],
    ['0.25', 0.25, 0.2501],
    ['0.7616', Math.tanh(1), 0.7617],
    ['1.000000000', 1 + 1e-12, 1 + 1e-8],
    ['6.022e23', 6.0221e23, 6.03e23],
    ['-0', -0, 0],
    ['0', -0, 1e-13],
    ['NaN', Number.NaN, 0],
    ['-Infinity', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    ['true', true, 'true'],
    ["'a'", 'a', 'b'],
    ["'a ... c'", 'a b c', 'a b'],
    ["'a\\nb'", 'a\nb', 'a b'],
    ['[1, [2]]', [1, [2]], [1, 2]],
    ['[]', [], [0]],
    ['[1, ..., 9]', [1, 2, 3, 9], [1, 2, 3]],
    ['{ a: 1 }', { a: 1 }, { a: 1, b: 2 }],
    ['{ a: 1, ... }', { a: 1, b: 2 }, { b: 2 }],
    ['Right(2)', { _tag: 'Right', right: 2 }, { _tag: 'Left', left: 2 }],
    ['NoTangent', NoTangent, { _tag: 'ZeroTangent' }],
    ['[4, 5]', add([1, 2], 3), add([1, 2], 4)],
    ['3', add(1, 2), add(1, 1)],
    ['[0.1]: as f32', tensor([0.1], [1], 'f32'), tensor([0.1001], [1], 'f32')],
    ['Tensor f32 [2] [1, 2]', tensor([1, 2], [2], 'f32'), tensor([1, 2])],
    ['[1, 2]; then prose', new Int32Array([1, 2]), new Int32Array([1])],
  ])('%s fits what it says and nothing else', (comment, x, other) => {
    expect(holds(comment, x)).toBe(true)
    expect(holds(comment, other)).toBe(false)
  })

  it.each(['', 'a gradient', '1 to about 1e-12', '[1, 2', '[1] [2]', 'undefinedly', 'any order, forward over reverse'])(
    '%s is prose',
    (comment) => {
      expect(patternOf(comment)).toBeUndefined()
    },
  )

  it('that names an error fits no value', () => {
    expect(patternOf('throws NotScalar: f returned [3]')).toEqual({ _tag: 'Throws', tag: 'NotScalar' })
    expect(holds('throws NotScalar', emptyRegistry)).toBe(false)
  })
})

describe('examples', () => {
  it('are found with their lines, in docstrings of one line and of many', () => {
    const text =
      '/** One. @example f(1)   // 2 */\nexport const f = 1\n\n/**\n * Two.\n * @example\n * const x = 1\n * x   // 1\n */\nexport type G = 1\n'
    expect(examplesIn('a.ts', text)).toEqual([
      { file: 'a.ts', line: 1, code: 'f(1)   // 2', of: 'value' },
      { file: 'a.ts', line: 6, code: '\nconst x = 1\nx   // 1', of: 'type' },
    ])
  })

  it('are found in tables of Markdown that say what is written and what it gives, row by row', () => {
    const text =
      "A\n```ts\nimport { f } from 'codual'\nconst x = 1\n```\n\n| a | codual | gives |\n| --- | --- | --- |\n| 1 | `f(x)` | `2` |\n| 2 | `x \\| 1` | `1` |\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
    expect(tablesIn('a.md', text)).toEqual([{ file: 'a.md', line: 7, code: 'const x = 1\n\nf(x)   // 2\nx | 1   // 1', of: 'value' }])
  })
  it('are found in Markdown, in ts blocks alone', () => {
    expect(blocksIn('a.md', '# A\n\n```ts\nf(1)\n```\n\n```sh\nls\n```\n')).toEqual([
      { file: 'a.md', line: 4, code: 'f(1)', of: 'document' },
    ])
  })
})
