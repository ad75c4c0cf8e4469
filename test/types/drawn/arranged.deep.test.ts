// Sizes that types compute from literal sizes and literal options are exactly those of what runs.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as cd from '../../../src/index.js'
import { compileAll, listed } from '../harness.js'

type Shaped = { readonly shape: readonly number[] }
/** A call as it is written, and the shapes of what it gives. */
interface Ran {
  readonly text: string
  readonly shapes: readonly (readonly number[])[]
}
const size = fc.integer({ min: 0, max: 12 })
const few = fc.integer({ min: 1, max: 6 })
const offset = fc.integer({ min: -7, max: 7 })
const axes = fc.shuffledSubarray([0, 1, 2], { minLength: 1 })
const signed = fc
  .tuple(axes, fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }))
  .map(([a, back]) => a.map((i, k) => (back[k] ? i - 3 : i)))
const three = fc.tuple(size, size, size)
const z = (s: readonly number[]): string => `cd.zeros([${s.join(', ')}], 'f64')`
const position = fc.option(offset)

/** Calls of each function, as text. */
const CALLS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  moveaxis: fc
    .tuple(three, signed, fc.shuffledSubarray([0, -2, 2], { minLength: 3 }))
    .map(([s, a, b]) =>
      a.length === 1 ? `cd.moveaxis(${z(s)}, ${a[0]}, ${b[0]})` : `cd.moveaxis(${z(s)}, [${a}], [${b.slice(0, a.length)}])`,
    ),
  swapaxes: fc
    .tuple(three, fc.integer({ min: -3, max: 2 }), fc.integer({ min: -3, max: 2 }))
    .map(([s, a, b]) => `cd.swapaxes(${z(s)}, ${a}, ${b})`),
  rot90: fc
    .tuple(three, fc.integer({ min: -13, max: 13 }), fc.shuffledSubarray([0, 1, -1], { minLength: 2, maxLength: 2 }))
    .map(([s, k, a]) => `cd.rot90(${z(s)}, { k: ${k}, axes: [${a}] })`),
  flatten: fc.array(size, { maxLength: 4 }).map((s) => `cd.flatten(${z(s)})`),
  stacks: fc
    .tuple(size, size, size, fc.constantFrom('vstack', 'hstack', 'dstack', 'columnStack'))
    .map(
      ([m, n, k, f]) =>
        `cd.${f}([${f === 'vstack' ? `${z([m, n])}, ${z([n])}, ${z([k, n])}` : f === 'dstack' ? `${z([m, n, k])}, ${z([m, n])}` : `${z([m, n])}, ${z([m, k])}`}])`,
    ),
  vectors: fc
    .tuple(size, size, fc.constantFrom('vstack', 'hstack', 'dstack', 'columnStack'))
    .map(([m, n, f]) => `cd.${f}([${z([m])}, ${z([f === 'hstack' ? n : m])}])`),
  block: fc.tuple(size, size, size, size).map(([m, n, p, q]) => `cd.block([[${z([m, n])}, ${z([m, p])}], [${z([q, n])}, ${z([q, p])}]])`),
  blocks: fc
    .tuple(size, size, few)
    .map(([m, n, k]) => `cd.block([[[${z([k, m, n])}], [${z([k, m, n])}]], [[${z([m, n])}], [${z([m, n])}]]])`)
    .filter((t) => t.includes('zeros([1,')),
  blockDiag: fc.tuple(size, size, size).map(([m, n, k]) => `cd.blockDiag(${z([m, n])}, ${z([k])}, 2)`),
  diag: fc.tuple(size, size, offset).map(([m, n, k]) => `cd.diag(${z([3, m, n])}, ${k})`),
  diagOf: fc.tuple(size, offset).map(([n, k]) => `cd.diag(${z([n])}, ${k})`),
  diagonal: fc
    .tuple(three, offset, fc.shuffledSubarray([0, 1, -1], { minLength: 2, maxLength: 2 }))
    .map(([s, k, [p, q]]) => `cd.diagonal(${z(s)}, { offset: ${k}, axis1: ${p}, axis2: ${q} })`),
  tri: fc
    .tuple(few, offset, fc.option(few, { nil: undefined }), fc.constantFrom('tril', 'triu'))
    .map(([n, k, m, f]) => `cd.${f}Indices(${n}, ${k}${m === undefined ? '' : `, ${m}`}).rows`),
  booleanMask: fc
    .tuple(three, size, fc.integer({ min: -3, max: 2 }), fc.boolean())
    .map(
      ([s, k, a, two]) =>
        `cd.booleanMask(${z(s)}, cd.zeros([${s.slice(a + (a < 0 ? 3 : 0)).slice(0, two ? 2 : 1)}], 'bool'), { size: ${k}, axis: ${a} })`,
    ),
  compress: fc
    .tuple(three, size, fc.integer({ min: -3, max: 2 }))
    .map(([s, k, a]) => `cd.compress([], ${z(s)}, { size: ${k}, axis: ${a} })`),
  diff: fc
    .tuple(size, size, few, fc.boolean())
    .map(([m, n, k, ends]) => `cd.diff(${z([m, n])}, { n: ${k - 1}${ends ? `, prepend: 0, append: ${z([m, k])}` : ''} })`),
  cumulativeTrapezoid: fc
    .tuple(size, size, fc.integer({ min: -2, max: 1 }))
    .map(([m, n, a]) => `cd.cumulativeTrapezoid(${z([m, n])}, { axis: ${a} })`),
  cov: fc.tuple(few, few, fc.boolean()).map(([m, n, r]) => `cd.cov(${z([m, n])}, { rowvar: ${r} })`),
  glu: fc.tuple(size, size).map(([m, n]) => `cd.glu(${z([2 * m, n])}, { axis: 0 })`),
  meshgrid: fc
    .tuple(size, size, size, fc.constantFrom('xy', 'ij'))
    .map(([m, n, k, i]) => `cd.meshgrid([${z([m])}, ${z([n])}, ${z([k])}], { indexing: '${i}' })`),
  pad: fc.tuple(size, size, offset, offset, offset).map(([m, n, a, b, c]) => `cd.pad(${z([m, n])}, [[${a}, ${b}], ${c}])`),
  slice: fc
    .tuple(size, size, position, position, fc.constantFrom(-3, -2, -1))
    .map(([m, n, a, b, k]) => `cd.slice(${z([m, n])}, [${a}, null], [${b}, null], [${k}, -1])`),
  arraySplit: fc.tuple(size, few).map(([m, n]) => `cd.arraySplit(${z([m, 2])}, ${n})`),
  kron: fc.tuple(size, size, size).map(([m, n, k]) => `cd.kron(${z([m, n])}, ${z([k])})`),
  selectFirst: fc.tuple(size, size).map(([m, n]) => `cd.selectFirst([cd.zeros([${m}, 1], 'bool')], [${z([n])}], 1)`),
  lexsort: fc.tuple(few, few).map(([m, n]) => `cd.lexsort([${z([m, n])}, ${z([m, n])}])`),
}
/** What runs; calls that are errors are left out. */
const ran = (text: string): readonly Ran[] => {
  try {
    const y = new Function('cd', `return ${text}`)(cd) as Shaped | readonly Shaped[]
    return [{ text, shapes: (Array.isArray(y) ? (y as readonly Shaped[]) : [y as Shaped]).map((x) => x.shape) }]
  } catch {
    return []
  }
}
const HEAD = [
  "import * as cd from '../../../../src/index.js'",
  'type Eq<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false',
  'type Shapes<T> = T extends cd.Expr<infer S, infer _D> ? [S] : { -readonly [K in keyof T]: T[K] extends cd.Expr<infer S, infer _D> ? S : never }',
  'declare const same: <A>() => <B>(given: Eq<A, B>) => void',
  '',
].join('\n')
const shapesText = (r: Ran): string => `[${r.shapes.map((s) => `[${s.join(', ')}]`).join(', ')}]`
const fileOf = (all: readonly Ran[]): string =>
  HEAD + all.map((r, i) => `const r${i} = ${r.text}\nsame<Shapes<typeof r${i}>>()<${shapesText(r)}>(true)`).join('\n')
const errorsOf = (text: string): readonly string[] => {
  const lines = text.split('\n')
  return compileAll(new Map([['arranged', text]])).flatMap(({ errors }) =>
    errors.map((d) => {
      const at = d.file!.getLineAndCharacterOfPosition(d.start ?? 0).line
      return `${lines[at - 1]}\n${lines[at]}\n${listed([d])[0]}`
    }),
  )
}

describe('sizes that types compute of literals', () => {
  const each = 40
  const all = Object.entries(CALLS).map(([name, calls]) => ({
    name,
    calls: fc
      .sample(calls, { numRuns: 2 * each, seed: 7 })
      .flatMap(ran)
      .slice(0, each),
  }))
  it('are those of what runs', () => {
    for (const { name, calls } of all) expect(calls.length, name).toBeGreaterThan(0)
    expect(errorsOf(fileOf(all.flatMap(({ calls }) => calls)))).toEqual([])
  })
  it('a wrong one is seen', () => {
    const wrong = all.flatMap(({ calls }) => calls.slice(0, 1)).map((r) => ({ ...r, shapes: r.shapes.map((s) => [...s, 1]) }))
    expect(errorsOf(fileOf(wrong)).length).toBe(wrong.length)
  })
})
