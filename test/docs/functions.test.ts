// docs/functions.md and docs/reference say of each function what its docstring does. functions.deep.test.ts makes the pages once more, with the compiler.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { labelled } from '../../scripts/docs/described.js'
import { sentence } from '../../scripts/docs/function-list.js'
import { publicNames, root } from '../../scripts/docs/public-names.js'

const read = (path: string): string => readFileSync(join(root, 'docs', path), 'utf8')
const page = read('functions.md')
const functions = publicNames().filter((n) => !n.type)
/** What the pages of docs/reference say of each name, and of what else has that name. */
const parts = new Map<string, readonly string[]>()
for (const file of readdirSync(join(root, 'docs/reference')))
  for (const part of read(`reference/${file}`).split('\n## ').slice(1)) {
    const name = part.slice(0, part.indexOf('\n'))
    parts.set(name, [...(parts.get(name) ?? []), part])
  }
const partOf = (name: string): string => (parts.get(name) ?? []).join('\n')

it('lists every function, with the first sentence of its docstring', () => {
  const lines = new Map<string, string>()
  for (const [line, name] of page.matchAll(/^\| `(\w+)[(`].*$/gm)) lines.set(name!, `${lines.get(name!) ?? ''}${line}`)
  expect(functions.filter((n) => !lines.has(n.name)).map((n) => n.name)).toEqual([])
  expect(functions.filter((n) => !lines.get(n.name)!.includes(`| ${sentence(n)} |`)).map((n) => n.name)).toEqual([])
})
it('says of each function what it is, shows an example, and has every label of its docstring', () => {
  for (const of of functions) {
    const part = partOf(of.name)
    const { labels } = labelled(of)
    if (/@example/.test(of.doc?.text ?? '')) expect(part, of.name).toContain('```typescript\n')
    for (const [label, text] of labels) expect(part, of.name).toContain(`\n- ${label}: ${text}`)
    if (/\n \* (Rule|Source|Errors) {2}/.test(of.doc?.text ?? '')) expect(labels.length, of.name).toBeGreaterThan(0)
  }
})
it('says where a function runs: on backends that have the kernels of its parts', () => {
  expect(partOf('tanh')).toContain('- Backends: reference, CPU, WebGPU\n')
  expect(partOf('abs')).toContain('- Kinks: at 0 the partial is 0 (the middle of the subgradients)')
  expect(partOf('logsumexp')).toMatch(/- Made of: `\w+`.*\n- Backends: reference, CPU, WebGPU\n/)
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
