// docs/functions.md and docs/reference are what the sources say. `npm run docs:functions` writes them anew.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { described } from '../../scripts/docs/described.js'
import { fileOf, listed } from '../../scripts/docs/function-list.js'
import { functionPages } from '../../scripts/docs/make.js'
import { publicNames, root } from '../../scripts/docs/public-names.js'
import { signatureOf } from '../../src/core/ops/operation.js'
import * as codual from '../../src/index.js'

const all = listed()
const pages = functionPages(all)
const page = pages.get('functions.md')!
const inFolder = [...pages.keys()].filter((path) => path.startsWith('reference/')).map((path) => path.slice('reference/'.length))

it('lists every function', () => {
  const missing = publicNames().filter((n) => !n.type && !new RegExp(`^\\| \`${n.name}[(\`]`, 'm').test(page))
  expect(missing.map((n) => n.name)).toEqual([])
})
it('is up to date: `npm run docs:functions` makes it so', () => {
  for (const [path, text] of pages) expect(readFileSync(join(root, 'docs', path), 'utf8'), path).toBe(text)
})
it('has a page for each section', () => {
  expect(inFolder.length).toBe(all.length)
  expect(readdirSync(join(root, 'docs/reference')).sort()).toEqual([...inFolder].sort())
})
it('says of each function what it is, shows an example, and has every label of its docstring', () => {
  for (const [section, functions] of all)
    for (const { of } of functions) {
      const part =
        pages
          .get(`reference/${fileOf(section)}`)!
          .split(`\n## ${of.name}\n`)[1]
          ?.split('\n## ')[0] ?? ''
      if (/@example/.test(of.doc?.text ?? '')) expect(part, of.name).toContain('```typescript\n')
      for (const [label] of described(of).labels) expect(part, of.name).toContain(`\n- ${label}: `)
      if (/\n \* (Rule|Source|Errors) {2}/.test(of.doc?.text ?? '')) expect(described(of).labels.length, of.name).toBeGreaterThan(0)
    }
})
it('says where a function runs: on backends that have the kernels of its parts', () => {
  const of = (file: string, name: string): string => pages.get(`reference/${file}`)!.split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!
  expect(of('elementwise.md', 'tanh')).toContain('- Backends: reference, CPU, WebGPU\n')
  expect(of('elementwise.md', 'abs')).toContain('- Kinks: at 0 the partial is 0 (the middle of the subgradients)')
  expect(of('reductions-sorting-running-totals.md', 'logsumexp')).toMatch(/- Made of: `\w+`.*\n- Backends: reference, CPU, WebGPU\n/)
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
it('shows the options of each function, and what may be left out', () => {
  const calls = [...page.matchAll(/^\| `([^`]*)` \|/gm)].map(([, call]) => call)
  for (const call of [
    'sum(x, { axis?, keepdims?, where?, initial? })',
    'norm(x, { axis?, keepdims?, ord? })',
    'take(x, indices, { axis? })',
    'maxPool(x, { window, stride?, padding?, ceilMode?, dilation? })',
    'tensor(data, shape?, dtype?)',
    // what only some overloads take
    'decodeSafetensors(bytes, { like? })',
    'load(path, { like? })',
    'decodeCheckpoint(bytes, { like })',
    'geomspace(from, to, n, { dtype?, endpoint? })',
    'f64(...shape)',
    'adam({ learningRate, b1?, b2?, eps?, weightDecay? })',
  ])
    expect(calls).toContain(call)
  expect(calls.filter((call) => /options|toString|\blength\b(?!\?)/.test(call ?? ''))).toEqual([])
})
