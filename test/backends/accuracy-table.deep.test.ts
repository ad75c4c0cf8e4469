/**
 * The largest errors of the CPU's vector functions over their whole range: every exponent, both signs, as docs/accuracy.md has them. `WRITE_DOCS=1` writes the page; a number that gets worse
 * fails here.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { floatFunctions } from './accuracy.js'
import { mapOver, ulps } from './loop-harness.js'

const page = join(import.meta.dirname, '..', '..', 'docs', 'accuracy.md')
const FORMATS = { f32: { exponents: [-149, 127], perExponent: 300 }, f64: { exponents: [-1074, 1023], perExponent: 40 } } as const
type Format = keyof typeof FORMATS

/** Numbers in [0, 1) that follow from their place alone. */
const noise = (i: number, k: number): number => ((i + 0.5) * [0.6180339887498949, 0.7548776662466927, 0.5698402909980532][k]!) % 1
/** Numbers of every exponent and both signs; where there are two arguments the second is anywhere in reach of the first. */
const argumentsOf = (arity: number, format: Format): number[][] => {
  const { exponents, perExponent } = FORMATS[format]
  const round = format === 'f32' ? Math.fround : (x: number) => x
  const xs: number[][] = Array.from({ length: arity }, () => [])
  const [low, high] = exponents
  let i = 0
  for (let e = low; e <= high; e++)
    for (let n = 0; n < perExponent; n++, i++) {
      const x = (1 + noise(i, 0)) * 2 ** e * (n % 2 === 0 ? 1 : -1)
      xs[0]!.push(round(x))
      if (arity === 1) continue
      // Half of them of any size, half near the first.
      const other =
        n % 4 < 2 ? Math.round(low + (high - low) * noise(i, 1)) : Math.max(low, Math.min(high, e + Math.round(8 * noise(i, 1) - 4)))
      xs[1]!.push(round((1 + noise(i, 2)) * 2 ** other * (n % 3 === 0 ? -1 : 1)))
    }
  return xs
}

/** The largest error, and where it is. */
const worst = (prim: (typeof floatFunctions)[number], format: Format): { readonly error: number; readonly at: string } => {
  const xs = argumentsOf(prim.args.length, format)
  const got = mapOver(
    prim,
    xs,
    xs.map(() => format),
    format,
  )
  let [error, at] = [0, '']
  for (let i = 0; i < got.length; i++) {
    const want = prim.scalar!(...xs.map((x) => x[i]!))
    const e = ulps(got[i]!, want, format)
    if (!(e <= error)) [error, at] = [e, xs.map((x) => x[i]).join(', ')]
  }
  return { error, at }
}
/** Up to a tenth. */
const shown = (x: number): string => (x === 0 ? '0' : (Math.ceil(10 * x) / 10).toFixed(1))

const found = floatFunctions.map((prim) => ({ name: prim.name, f32: worst(prim, 'f32'), f64: worst(prim, 'f64') }))
const text = `# Errors of the vector functions

The largest error of each elementwise function of one or two floats on the CPU, in units in the last place of the result, over its whole range: ${FORMATS.f32.perExponent} numbers of every exponent of f32
and ${FORMATS.f64.perExponent} of f64, of both signs, subnormal numbers included, against the function's meaning in f64. Of f64 that is JavaScript's own function or what is made of it, which itself is good to about one unit.
Functions whose error is 0 are JavaScript's own, or exact. Loops never fuse a multiplication with an addition, so that engines with WebAssembly's relaxed multiply-add have the same bits; products of matrices and
convolutions do ([decisions/relaxed-multiply-add.md](decisions/relaxed-multiply-add.md)). \`test/backends/accuracy-table.deep.test.ts\` makes this page, and fails where a number gets worse.

| function | f32 | f64 |
|---|---|---|
${found.map(({ name, f32, f64 }) => `| \`${name}\` | ${shown(f32.error)} | ${shown(f64.error)} |`).join('\n')}
`
if (process.env.WRITE_DOCS === '1') writeFileSync(page, text)

describe('docs/accuracy.md', () => {
  const rows = new Map(
    [...(existsSync(page) ? readFileSync(page, 'utf8') : '').matchAll(/^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$/gm)].map(
      ([, name, a, b]) => [name!, [Number(a), Number(b)] as const],
    ),
  )
  it('has a row for each function', () => {
    expect([...rows.keys()].sort()).toEqual(found.map((f) => f.name).sort())
  })
  for (const { name, f32, f64 } of found)
    it(`${name} is no worse than it says`, () => {
      const [a, b] = rows.get(name) ?? [Number.NaN, Number.NaN]
      expect(f32.error, `f32 at ${f32.at}`).toBeLessThanOrEqual(a)
      expect(f64.error, `f64 at ${f64.at}`).toBeLessThanOrEqual(b)
    })
})
