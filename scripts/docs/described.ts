/** What is said of a public name, as data: its docstring in parts, its rule, kinks and backends, its examples. docs/reference and the site's pages are made of it. */
import { cpuFacets } from '../../src/backends/cpu/facets.js'
import { webgpuFacets } from '../../src/backends/webgpu/facets.js'
import { preparedBy } from '../../src/check/index.js'
import { asNode, isExpr, type Node } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import * as codual from '../../src/index.js'
import * as prob from '../../src/prob/index.js'
import * as random from '../../src/random/index.js'
import * as solve from '../../src/solve/index.js'
import { type Example, examplesIn } from './extract.js'
import type { PublicName } from './public-names.js'

/** A docstring in parts: what the name is, and what stands behind each label. */
interface Labelled {
  readonly text: string
  readonly labels: readonly Row[]
}
const LABEL = /(?:^|\n| {2,})((?:Shapes?|Dtype|Rule|Source|Errors|Accuracy|Domain)(?:, [a-z]+)*) {2,}(?=\S)/
export const labelled = (n: PublicName): Labelled => {
  const doc = (n.doc?.text ?? '')
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ \* ?/gm, '')
    .split(/(?:^|\n|\s)@example/)[0]!
  const [text = '', ...rest] = doc.split(LABEL)
  const labels: Row[] = []
  for (let k = 0; k + 1 < rest.length; k += 2) labels.push([rest[k]!, oneLine(rest[k + 1]!)])
  return { text: text.trim().split(/\n\n/).map(oneLine).join('\n\n'), labels }
}
const oneLine = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/ {2,}/g, ' ')

/** The examples of a docstring. */
export const examplesOf = (n: PublicName): readonly Example[] =>
  n.doc === undefined ? [] : examplesIn('doc.ts', `${n.doc.text}\nexport ${n.type ? 'type x = 0' : 'const x = 0'}`)

const shared: Readonly<Record<string, unknown>> = { ...solve, ...random, ...codual }
/** What examples see, by the entry points whose functions are made of primitives. */
const scopes: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  codual: shared,
  'codual/prob': { ...shared, ...prob },
  'codual/random': { ...shared, ...random },
  'codual/solve': { ...shared, ...solve },
}

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
  const names = scopes[n.entry] ?? {}
  return examplesOf(n).flatMap(({ code }) => {
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
const primitivesOf = (n: PublicName): { readonly own: AnyPrimitive | undefined; readonly parts: readonly AnyPrimitive[] } => {
  const value = scopes[n.entry]?.[n.name]
  if (typeof value !== 'function') return { own: undefined, parts: [] }
  const own = (value as { readonly primitive?: AnyPrimitive }).primitive
  return { own, parts: own === undefined ? [...partsOf(n)].sort((a, b) => (a.name < b.name ? -1 : 1)) : [own] }
}
const forms = {
  linear: 'linear, its pullback the transpose',
  bilinear: 'linear in each of two arguments (the product rule)',
  partials: 'elementwise, from partial derivatives',
  constant: 'zero wherever there is a derivative',
} as const
/** What the registry has for a primitive. */
const ruleIn = (primitive: AnyPrimitive): string => {
  const rule = codual.coreRegistry.ruleOf(primitive)
  if (rule === undefined) return 'none'
  const written = [rule.frule && 'an frule', rule.rrule && 'an rrule'].filter((part) => part !== undefined)
  const form = rule.form === undefined ? (written.length === 0 ? 'none' : `${written.join(' and ')}, written out`) : forms[rule.form._tag]
  return `${form}${rule.missing === undefined ? '' : ` (${rule.missing.replace(/\.$/, '')})`}${rule.batch === undefined ? '; no batch rule' : ''}`
}
/** What a primitive is called by those who import it: its own name, that of the function which is it, or a name that is marked as the primitive's. */
const exportOf = new Map<AnyPrimitive, string>()
for (const [name, value] of Object.entries(codual as Readonly<Record<string, unknown>>)) {
  const { primitive } = (typeof value === 'function' ? value : {}) as { readonly primitive?: AnyPrimitive }
  if (primitive !== undefined && exportOf.get(primitive) !== primitive.name) exportOf.set(primitive, name)
}
const imported = (p: AnyPrimitive): string => {
  const name = exportOf.get(p) ?? p.name
  return `\`${name}\`${name in codual ? '' : ' (a primitive)'}`
}
const names = (primitives: readonly AnyPrimitive[]): string => primitives.map((p) => `\`${p.name}\``).join(', ')
/** Primitives with the same rule are said together. */
const rulesOf = (parts: readonly AnyPrimitive[]): string =>
  [...new Set(parts.map(ruleIn))].map((rule) => `${names(parts.filter((p) => ruleIn(p) === rule))} ${rule}`).join('; ')

/** A line of a list: what it is about, and what is said. */
export type Row = readonly [label: string, text: string]
/** Rows from the declarations: rules, kinks, what it is made of, backends. */
const factsOf = (n: PublicName): readonly Row[] => {
  const { own, parts } = primitivesOf(n)
  if (parts.length === 0) return []
  if (!parts.every((p) => p.expand !== undefined || onCpu(p))) throw new Error(`${n.name} does not run on the CPU`)
  const lacking = lackingOn(parts)
  const kinks = own === undefined ? [] : kinksOf(own)
  return [
    own === undefined ? ['Registered rules', rulesOf(parts)] : ['Registered rule', ruleIn(own)],
    ...(kinks.length === 0 ? [] : [['Kinks', kinks.join('; ')] as const]),
    ...(own === undefined ? [['Made of', parts.map(imported).join(', ')] as const] : []),
    ['Backends', `reference, CPU${own === undefined ? '' : ownReason(own)}${lacking === '' ? ', WebGPU' : `; not WebGPU: ${lacking}`}`],
  ]
}

/** What is said of a public name. */
export interface Described {
  /** Paragraphs: what it is. */
  readonly text: string
  /** The labels of its docstring. */
  readonly labels: readonly Row[]
  /** What its declaration, its rule and the tables of kernels have. */
  readonly facts: readonly Row[]
  readonly examples: readonly Example[]
}
export const described = (n: PublicName): Described => ({ ...labelled(n), facts: n.type ? [] : factsOf(n), examples: examplesOf(n) })
/** Rows as a list in Markdown. */
export const listOf = (rows: readonly Row[]): string => rows.map(([label, text]) => `- ${label}: ${text}\n`).join('')
