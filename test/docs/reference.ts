// docs/reference: a page for each section of functions. All of it is from docstrings, declarations, and the kernels that backends have.
import { cpuFacets } from '../../src/backends/cpu/facets.js'
import { webgpuFacets } from '../../src/backends/webgpu/facets.js'
import { preparedBy } from '../../src/check/index.js'
import { asNode, isExpr, type Node } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import * as codual from '../../src/index.js'
import * as random from '../../src/random/index.js'
import * as solve from '../../src/solve/index.js'
import { examplesIn } from './extract.js'
import type { Listed } from './function-list.js'
import type { PublicName } from './public-names.js'

/** A docstring in parts: what the function is, and what stands behind each label. */
export interface Labelled {
  readonly text: string
  readonly labels: readonly (readonly [label: string, text: string])[]
}
const LABEL = /(?:^|\n| {2,})((?:Shapes?|Dtype|Rule|Source|Errors|Accuracy|Domain)(?:, [a-z]+)*) {2,}(?=\S)/
export const labelled = (n: PublicName): Labelled => {
  const doc = (n.doc?.text ?? '')
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ \* ?/gm, '')
    .split(/(?:^|\n|\s)@example/)[0]!
  const [text = '', ...rest] = doc.split(LABEL)
  const labels: (readonly [string, string])[] = []
  for (let k = 0; k + 1 < rest.length; k += 2) labels.push([rest[k]!, oneLine(rest[k + 1]!)])
  return { text: text.trim().split(/\n\n/).map(oneLine).join('\n\n'), labels }
}
const oneLine = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/ {2,}/g, ' ')

const scope: Readonly<Record<string, unknown>> = { ...solve, ...random, ...codual }
const scopeOf = (entry: string): Readonly<Record<string, unknown>> =>
  entry === 'codual/random' ? { ...scope, ...random } : entry === 'codual/solve' ? { ...scope, ...solve } : scope

/** The primitives of the expressions in a value: what a composition is made of. */
export const primitivesIn = (value: unknown, found = new Set<AnyPrimitive>(), seen = new Set<unknown>()): ReadonlySet<AnyPrimitive> => {
  const stack: unknown[] = [value]
  while (stack.length > 0) {
    const x = stack.pop()
    if (typeof x !== 'object' || x === null || seen.has(x)) continue
    seen.add(x)
    if (!isExpr(x)) {
      if (Array.isArray(x) || Object.getPrototypeOf(x) === Object.prototype) stack.push(...Object.values(x))
      continue
    }
    const n: Node = asNode(x)
    if (n.prim !== null) found.add(n.prim)
    for (const inner of n.prim?.programs?.(n.payload as never) ?? []) stack.push(...inner.outputs)
    stack.push(...n.args)
  }
  return found
}
/** What the lines of a docstring's examples that call the function give. */
export const exampleValues = (n: PublicName): readonly unknown[] => {
  const names = scopeOf(n.entry)
  return examplesIn('doc.ts', `${n.doc?.text ?? ''}\nexport const x = 0`).flatMap(({ code }) => {
    const used = Object.keys(names).filter((name) => new RegExp(`\\b${name}\\b`).test(code))
    return code.split('\n').flatMap((line) => {
      if (!new RegExp(`^${n.name}\\(`).test(line)) return []
      try {
        const text = line.replace(/\s+\/\/ .*$/, '').replace(/;$/, '')
        return [new Function(...used, `return (${text})`)(...used.map((name) => names[name])) as unknown]
      } catch {
        return [] // a line of several, or of types: the others say it
      }
    })
  })
}
/** What the expressions of a docstring's examples are made of; of a function that gives no expression nothing. */
const partsOf = (n: PublicName): ReadonlySet<AnyPrimitive> => {
  const found = new Set<AnyPrimitive>()
  for (const value of exampleValues(n)) primitivesIn(value, found)
  return found
}

const onCpu = preparedBy(codual.cpu())
const [cpuKernels, webgpuKernels] = [cpuFacets(), webgpuFacets()]
/** Why WebGPU does not run some primitives; the empty text where it does. */
const lackingOn = (parts: readonly AnyPrimitive[]): string =>
  parts
    .flatMap((p) => {
      try {
        webgpuKernels.of(p)
        return []
      } catch (e) {
        if (!codual.isAdException(e) || e.error._tag !== 'MissingKernel') throw e
        return [`${parts.length > 1 ? `\`${p.name}\`: ` : ''}${e.error.reason.replace(/^left out: |\.$/g, '')}`]
      }
    })
    .join('; ')
const ownReason = (p: AnyPrimitive): string => {
  const facet = cpuKernels.of(p)
  return facet.kind === 'byMeaning' ? ` (plain loops: ${facet.reason})` : ''
}
const shownNumber = (x: number): string => (x === Number.POSITIVE_INFINITY ? 'Infinity' : String(x))
const kinksOf = (p: AnyPrimitive): readonly string[] =>
  p.kinks.map(({ at, partials, why }) => {
    const many = at.length > 1
    const numbers = (xs: readonly number[]): string => (many ? `(${xs.map(shownNumber).join(', ')})` : shownNumber(xs[0]!))
    return `at ${numbers(at)} the partial${many ? 's are' : ' is'} ${numbers(partials.map(Number))} (${why})`
  })
/** The primitives of a function: its own, or those that it is made of. */
export const primitivesOf = (n: PublicName): { readonly own: AnyPrimitive | undefined; readonly parts: readonly AnyPrimitive[] } => {
  const value = scopeOf(n.entry)[n.name]
  if (typeof value !== 'function') return { own: undefined, parts: [] }
  const own = (value as { readonly primitive?: AnyPrimitive }).primitive
  return { own, parts: own === undefined ? [...partsOf(n)].sort((a, b) => (a.name < b.name ? -1 : 1)) : [own] }
}
/** Rows from the declarations: what it is made of, kinks, backends. */
export const declared = (n: PublicName): readonly string[] => {
  const { own, parts } = primitivesOf(n)
  if (parts.length === 0) return []
  if (!parts.every((p) => p.expand !== undefined || onCpu(p))) throw new Error(`${n.name} does not run on the CPU`)
  const lacking = lackingOn(parts)
  const kinks = own === undefined ? [] : kinksOf(own)
  return [
    ...(kinks.length === 0 ? [] : [`- Kinks: ${kinks.join('; ')}`]),
    ...(own === undefined ? [`- Made of: ${parts.map((p) => `\`${p.name}\``).join(', ')}`] : []),
    `- Backends: reference, CPU${own === undefined ? '' : ownReason(own)}${lacking === '' ? ', WebGPU' : `; not WebGPU: ${lacking}`}`,
  ]
}
/** One function. */
const part = ({ call, of }: Listed): string => {
  const { text, labels } = labelled(of)
  const rows = [...labels.map(([label, t]) => `- ${label}: ${t}`), ...declared(of)]
  const examples = examplesIn('doc.ts', `${of.doc?.text ?? ''}\nexport const x = 0`).map((e) => e.code.trim())
  return [
    `## ${of.name}\n\n\`${call}\`\n\n${text}\n`,
    rows.length === 0 ? '' : `\n${rows.join('\n')}\n`,
    examples.length === 0 ? '' : `\n\`\`\`typescript\n${examples.join('\n')}\n\`\`\`\n`,
  ].join('')
}
/** The page of a section. */
export const referencePage = (section: string, functions: readonly Listed[]): string => {
  const intro = `From the docstrings, the declarations and the tables of kernels, as all of [functions](../functions.md): \`npm run docs:functions\`. Examples run in the tests. What a function is made of was read off its example; a backend runs it where it has the kernels of these.`
  return `# ${section}\n\n${intro}\n\n${functions.map(part).join('\n')}`
}
