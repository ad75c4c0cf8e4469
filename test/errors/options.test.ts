/** Options by name: one that does not exist, or something else in their place, is an error that says which there are. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { rows as arrays } from './options/arrays.js'
import { rows as layout } from './options/layout.js'
import { rows as modes } from './options/modes.js'
import { rows as nn } from './options/nn.js'

type Row = readonly [name: string, call: (options: never) => unknown]
const rows: readonly Row[] = [...layout, ...arrays, ...nn, ...modes]

describe('options', () => {
  it.each(rows.map(([name, call]) => ({ name, call })))('$name', async ({ name, call }) => {
    const given = call as (options: unknown) => unknown
    for (const fine of [undefined, {}]) await given(fine)
    for (const bad of [{ nonsense: 1 }, 5, 'x', null, [], [1]]) {
      const error = await Promise.resolve()
        .then(() => given(bad))
        .then(
          () => undefined,
          (e: unknown) => e,
        )
      if (error === undefined) throw new Error(`${name} took ${JSON.stringify(bad)}`)
      expect(cd.isAdException(error), `${name} ${JSON.stringify(bad)}: ${String(error)}`).toBe(true)
      const { _tag, where } = (error as { readonly error: { readonly _tag: string; readonly where: string } }).error
      expect(_tag, JSON.stringify(bad)).toBe('BadInput')
      expect(where.startsWith(name), `${where} names ${name}`).toBe(true)
    }
  })
  it('has each name once', () => {
    const names = rows.map(([name]) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})
