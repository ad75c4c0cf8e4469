// docs/functions.md and docs/reference are what the compiler and the docstrings say: the pages are made once more. `npm run docs:functions` writes them anew.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listed } from '../../scripts/docs/function-list.js'
import { functionPages } from '../../scripts/docs/make.js'
import { root } from '../../scripts/docs/public-names.js'
import { signatureOf } from '../../src/core/ops/operation.js'
import * as codual from '../../src/index.js'

const all = listed()
const pages = functionPages(all)
const inFolder = [...pages.keys()].filter((path) => path.startsWith('reference/')).map((path) => path.slice('reference/'.length))

it('is up to date: `npm run docs:functions` makes it so', () => {
  for (const [path, text] of pages) expect(readFileSync(join(root, 'docs', path), 'utf8'), path).toBe(text)
})
it('has a page for each section', () => {
  expect(inFolder.length).toBe(all.length)
  expect(readdirSync(join(root, 'docs/reference')).sort()).toEqual([...inFolder].sort())
})
it('takes by its type the options that it declares, and no others', () => {
  const functions = all.flatMap(([, functions]) => functions)
  const compared = functions.flatMap(({ of, options }) => {
    const declared = of.entry === 'codual' ? signatureOf((codual as Readonly<Record<string, unknown>>)[of.name])?.options : undefined
    // Options of pad stand in the place of its value.
    return declared === undefined || of.name === 'pad' ? [] : [[of.name, [...options].sort(), Object.keys(declared).sort()] as const]
  })
  expect(compared.filter(([, typed]) => typed.length > 0).length).toBeGreaterThan(100)
  expect(compared.filter(([, typed, declared]) => typed.join() !== declared.join())).toEqual([])
})
