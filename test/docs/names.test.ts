// docs/names.md is made of scripts/docs/names/table.txt: all names of the lists are there, functions are exported, expressions give what the other library gives.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { byFamily, byLibrary, countsOf, namesPage } from '../../scripts/docs/names/page.js'
import { asked, isFunction, others, outdated, twice, values, without, written } from '../../scripts/docs/names/table.js'
import { root } from '../../scripts/docs/public-names.js'
import * as codual from '../../src/index.js'
import * as random from '../../src/random/index.js'

const path = join(root, 'docs/names.md')
const page = namesPage()

it('every name of the lists is a function, an expression or has a reason', () => {
  const unknown = [...byFamily.map(([f, , names]) => [f, names] as const), ...byLibrary].flatMap(([list, names]) =>
    names.filter(([, m]) => m._tag === 'Without' && m.reason === 'undefined').map(([n]) => `${list}: ${n}`),
  )
  expect(unknown).toEqual([])
})
it('every name of the table is in a list, once, and what is said to be missing is missing', () => {
  expect(twice).toEqual([])
  expect([...others, ...written, ...without].flatMap(([, names]) => names).filter((n) => !asked.has(n))).toEqual([])
  expect(outdated, 'these are functions now: take them out of the table').toEqual([])
  for (const [family, , names] of byFamily) expect(new Set(names.map(([n]) => n)).size, family).toBe(names.length)
})
it('every function is exported', () => {
  expect(others.map(([name]) => name).filter((name) => !isFunction(name))).toEqual([])
  const named = byLibrary.flatMap(([, names]) => names).flatMap(([, m]) => (m._tag === 'Function' ? [m.name] : []))
  expect(named.filter((n) => !isFunction(n) && !(n in random) && !(n in codual))).toEqual([])
})

// The arguments of the expressions; names.py has the same.
const of = codual.tensor as (x: unknown, dtype?: unknown) => unknown
const given: Readonly<Record<string, unknown>> = {
  x: of([0.2, 0.5, 0.7]),
  y: of([0.3, 0.1, 0.9]),
  u: of([2.5, 3.5, 4]),
  w: of([-1.5, 0.5, 2]),
  A: of([[4, 1], [1, 3]]), // biome-ignore format: a matrix
  B: of([[1, 2], [3, 5]]), // biome-ignore format: a matrix
  i: of([5, 3, 6], 'i32'),
  j: of([1, 2, 3], 'i32'),
  c: of([true, false, true]),
  d: of([true, true, false]),
  X: codual.reshape(codual.div(codual.arange(32), 10), [1, 2, 4, 4]),
}
type Plain = number | boolean | readonly Plain[] | { readonly [key: string]: Plain }
const plain = (v: unknown): Plain => {
  if (typeof v === 'number' || typeof v === 'boolean') return v
  const tagged = v as { readonly _tag?: string; readonly toArray?: () => Plain }
  if (tagged._tag === 'Expr') return plain(codual.evaluate(v as never))
  if (tagged.toArray !== undefined) return tagged.toArray()
  if (Array.isArray(v)) return v.map(plain)
  return Object.fromEntries(Object.entries(v as object).map(([k, e]) => [k, plain(e)]))
}
const same = (a: Plain, b: Plain): boolean => {
  if (typeof a === 'number') return typeof b === 'number' && (Object.is(a, b) || Math.abs(a - b) <= 1e-7 * Math.max(1, Math.abs(b)))
  if (typeof a === 'boolean') return a === b
  const [p, q] = [Object.entries(a), Object.entries(b as object)]
  return p.length === q.length && p.every(([k, v], n) => k === q[n]![0] && same(v, q[n]![1] as Plain))
}
it.each(written.map(([code, names]) => [names[0]!, code] as const))('%s is %s', (_name, code) => {
  const scope: Readonly<Record<string, unknown>> = { ...random, ...codual, ...given, random }
  const names = Object.keys(scope).filter((name) => new RegExp(`\\b${name}\\b`).test(code))
  const got = plain(new Function(...names, `return (${code})`)(...names.map((name) => scope[name])))
  const want = values[code] as Plain
  expect(same(got, want), `${JSON.stringify(got)} is not ${JSON.stringify(want)}`).toBe(true)
})

it('the page counts as many as there are', () => {
  expect(byFamily.map(([, core]) => core).slice(0, 8)).toEqual([33, 16, 8, 14, 16, 6, 14, 13])
  for (const [name, names] of [...byFamily.map(([f, , n]) => [f, n] as const), ...byLibrary]) {
    const c = countsOf(names)
    expect(c.functions + c.written + c.without, name).toBe(names.length)
    expect(page).toMatch(new RegExp(`^\\| ${name} \\| ${names.length} \\|.* ${c.functions} \\| ${c.written} \\| ${c.without} \\|$`, 'm'))
  }
  const all = byFamily.flatMap(([, , names]) => names)
  expect(all.length).toBeGreaterThan(283)
  expect(countsOf(all).functions / all.length).toBeGreaterThan(0.7)
})
it('is up to date: `npm run docs:functions` makes it so', () => expect(readFileSync(path, 'utf8')).toBe(page))
