// docs/functions.md is what the sources say. `npm run docs:functions` writes it anew.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { functionsPage } from './function-list.js'
import { publicNames, root } from './public-names.js'

const path = join(root, 'docs/functions.md')
const page = functionsPage()
if (process.env.WRITE_DOCS === '1') writeFileSync(path, page)

it('lists every function', () => {
  const missing = publicNames().filter((n) => !n.type && !new RegExp(`^\\| \`${n.name}[(\`]`, 'm').test(page))
  expect(missing.map((n) => n.name)).toEqual([])
})
it('is up to date', () => expect(readFileSync(path, 'utf8')).toBe(page))
it('shows the options of each function, and what may be left out', () => {
  const calls = [...page.matchAll(/^\| `([^`]*)` \|/gm)].map(([, call]) => call)
  for (const call of [
    'sum(x, { axis?, keepdims? })',
    'norm(x, { axis?, keepdims?, ord? })',
    'take(x, indices, { axis? })',
    'maxPool(x, { window, stride?, padding? })',
    'tensor(data, shape?, dtype?)',
    'f64(...shape)',
    'adam({ learningRate, b1?, b2?, eps?, weightDecay? })',
  ])
    expect(calls).toContain(call)
  expect(calls.filter((call) => /options|toString|\blength\b(?!\?)/.test(call ?? ''))).toEqual([])
})
