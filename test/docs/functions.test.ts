// docs/functions.md and docs/reference are what the sources say. `npm run docs:functions` writes it anew.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { signatureOf } from '../../src/core/ops/operation.js'
import * as codual from '../../src/index.js'
import { fileOf, functionsPage, listed } from './function-list.js'
import { publicNames, root } from './public-names.js'
import { labelled, referencePage } from './reference.js'

const path = join(root, 'docs/functions.md')
const all = listed()
const page = functionsPage(all)
const folder = join(root, 'docs/reference')
const pages = new Map(all.map(([section, functions]) => [fileOf(section), referencePage(section, functions)]))
if (process.env.WRITE_DOCS === '1') {
  writeFileSync(path, page)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [file, text] of pages) writeFileSync(join(folder, file), text)
}

it('lists every function', () => {
  const missing = publicNames().filter((n) => !n.type && !new RegExp(`^\\| \`${n.name}[(\`]`, 'm').test(page))
  expect(missing.map((n) => n.name)).toEqual([])
})
it('is up to date', () => expect(readFileSync(path, 'utf8')).toBe(page))
it('has a page for each section, up to date', () => {
  expect(pages.size).toBe(all.length)
  expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort())
  for (const [file, text] of pages) expect(readFileSync(join(folder, file), 'utf8'), file).toBe(text)
})
it('says of each function what it is, shows an example, and has every label of its docstring', () => {
  for (const [section, functions] of all)
    for (const { of } of functions) {
      const part = pages.get(fileOf(section))!.split(`\n## ${of.name}\n`)[1]?.split('\n## ')[0] ?? ''
      if (/@example/.test(of.doc?.text ?? '')) expect(part, of.name).toContain('```typescript\n')
      for (const [label] of labelled(of).labels) expect(part, of.name).toContain(`\n- ${label}: `)
      if (/\n \* (Rule|Source|Errors) {2}/.test(of.doc?.text ?? '')) expect(labelled(of).labels.length, of.name).toBeGreaterThan(0)
    }
})
it('says where a function runs: on backends that have the kernels of its parts', () => {
  const of = (file: string, name: string): string => pages.get(file)!.split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!
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
    'f64(...shape)',
    'adam({ learningRate, b1?, b2?, eps?, weightDecay? })',
  ])
    expect(calls).toContain(call)
  expect(calls.filter((call) => /options|toString|\blength\b(?!\?)/.test(call ?? ''))).toEqual([])
})
