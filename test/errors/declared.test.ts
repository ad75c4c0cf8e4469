// Every option that an operation declares, given junk: it is read, or refused as one BadInput in the name of the function. No list by hand: what is declared is asked.
import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/core/errors/options.js'
import { signatureOf } from '../../src/core/ops/operation.js'
import * as cd from '../../src/index.js'

const declared = Object.entries(cd).flatMap(([name, f]) => {
  const signature = signatureOf(f)
  return signature === undefined ? [] : [{ name, signature }]
})
/** What nobody means. */
const junk: readonly unknown[] = [
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1e9,
  1.5,
  true,
  'x',
  '',
  [],
  [[Number.NaN]],
  {},
  { length: 3 },
  () => 1,
  Symbol('s'),
  10n,
  new Date(0),
  new Map(),
  new Proxy({}, { get: () => { throw new Error('nobody may look') } }), // biome-ignore format: one row
]
const refusal = (f: () => unknown): unknown => {
  try {
    f()
    return undefined
  } catch (e) {
    return e
  }
}

describe('declared options', () => {
  it('are of many functions', () => expect(declared.length).toBeGreaterThan(100))
  it('are read or refused by name, whatever is given', () => {
    for (const { signature } of declared)
      for (const option of Object.keys(signature.options))
        for (const [k, x] of junk.entries()) {
          const e = refusal(() => readOptions(signature.options, { [option]: x }, signature.name, [2, 3]))
          if (e === undefined) continue
          const said = `${signature.name} { ${option}: junk ${k} }: ${e}`
          expect(cd.isAdException(e), said).toBe(true)
          const { error } = e as cd.AdException
          expect(error._tag, said).toBe('BadInput')
          expect((error as { readonly where: string }).where.startsWith(signature.name), said).toBe(true)
        }
  })
  it('names that are none are refused, with those that are', () => {
    for (const { signature } of declared) {
      const names = Object.keys(signature.options)
      if (names.length === 0) continue
      const e = refusal(() => readOptions(signature.options, { nonsense: 1 }, signature.name)) as cd.AdException
      expect(cd.isAdException(e), signature.name).toBe(true)
      for (const option of names) expect(cd.explain(e.error), signature.name).toContain(option)
    }
  })
  it('without any the standards are read', () => {
    for (const { signature } of declared) {
      const e = refusal(() => readOptions(signature.options, undefined, signature.name, [2, 3]))
      // Some must be given.
      if (e !== undefined) expect((e as cd.AdException).error._tag, signature.name).toBe('BadInput')
    }
  })
})
