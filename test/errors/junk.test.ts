/** What no type checker has seen: every public function, with junk in the place of each argument, gives a result or one AdError. */

import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

const junk: readonly (readonly [label: string, value: unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['{}', {}],
  ['a string', 'x'],
  ['NaN', Number.NaN],
  ['1.5', 1.5],
  ['-7', -7],
  ['1e300', 1e300],
  ['[]', []],
  ['a ragged array', [[1], [2, 3]]],
  ['an array of strings', ['a']],
  ['an array of null', [null]],
  ['true', true],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['a bigint', 1n],
  ['{ axis: 99 }', { axis: 99 }],
  ["{ axis: 'q' }", { axis: 'q' }],
  ['{ axis: null }', { axis: null }],
  ['[1e9]', [1e9]],
  ['[1.5]', [1.5]],
  ['a cyclic object', cyclic],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['__proto__', JSON.parse('{ "__proto__": { "x": 1 } }')],
]

/** Not called with junk: what each is instead. */
const left: Readonly<Record<string, string>> = {
  raise: 'throws what it is given: its argument is an AdError by definition',
  webgpu: 'opens a device at the first call; its options are tested with the backend',
  makeWebGpu: 'as webgpu',
}

const names = Object.entries(cd as Readonly<Record<string, unknown>>)
  .filter(([name, f]) => typeof f === 'function' && !/^[A-Z]/.test(name) && left[name] === undefined)
  .map(([name]) => name)

const good = cd.tensor([
  [1, 2],
  [3, 4],
])

describe('junk', () => {
  it.each(names)('%s', async (name) => {
    const f = (cd as unknown as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>)[name]!
    const wrong: string[] = []
    for (let arity = 1; arity <= count(2, 3); arity++)
      for (let at = 0; at < arity; at++)
        for (const [label, value] of junk) {
          const what = `${name}(${Array.from({ length: arity }, (_, i) => (i === at ? label : 'a matrix')).join(', ')})`
          try {
            await f(...Array.from({ length: arity }, (_, i) => (i === at ? value : good)))
          } catch (e) {
            if (!cd.isAdException(e)) wrong.push(`${what}: ${e instanceof Error ? `${e.name}: ${e.message}` : String(e)}`)
          }
        }
    expect(wrong).toEqual([])
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
  it('leaves out nothing else', () => {
    expect(Object.keys(left).filter((name) => !(name in cd) && name !== 'makeWebGpu')).toEqual([])
  })
})
