// Every wrong derivative is found, and the first finding says where it is wrong, what is true and what was given.

import { afterAll, describe, expect, it } from 'vitest'
import { cpu } from '../../src/backends/cpu/index.js'
import { type Checked, checkGrad, checkRule, type Finding, makeCheck } from '../../src/check/index.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { coreRegistry, makeCodual } from '../../src/index.js'
import { some } from '../depth.js'
import { applied } from './operations.js'
import { type WrongEntry, type WrongFunction, wrongFunctions } from './wrong-functions.js'
import { hardWrongFunctions } from './wrong-functions-hard.js'

const known = new Map<WrongFunction, Checked>()
const made = ({ f, args = [], rule, options }: WrongFunction): Checked => {
  if (f === undefined) return checkRule(rule!, options)
  return rule === undefined ? checkGrad(f, options)(...args) : makeCheck(coreRegistry.with(rule)).checkGrad(f, options)(...args)
}
/** What the checker says of each, once for all tests. */
const checked = (w: WrongFunction): Checked => {
  const before = known.get(w)
  if (before !== undefined) return before
  const c = made(w)
  known.set(w, c)
  return c
}

/** What a finding names; at a kink the true derivative is between two numbers. */
const named = (f: Finding) => {
  const between = /^between (\S+) and (\S+)$/.exec(f.expected)
  const [low, high] = between === null ? [Number(f.expected), Number(f.expected)] : [Number(between[1]), Number(between[2])]
  return { check: f.check, path: f.path, index: f.index, derivative: (low + high) / 2, given: Number(f.actual) }
}

/** Within 1e-3 of the larger, and nearer to this one of the two numbers than to the other. */
const isThis = (got: number, wanted: number, other: number): boolean => {
  if (!Number.isFinite(wanted)) return Object.is(got, wanted)
  const size = Number.isFinite(other) ? Math.max(Math.abs(wanted), Math.abs(other)) : Math.max(1, Math.abs(wanted))
  const off = Math.abs(got - wanted)
  return off <= 1e-3 * size && !(off >= Math.abs(got - other))
}
const matches = (n: ReturnType<typeof named>, { path, index, derivative, given }: WrongEntry): boolean => {
  if (!n.path.includes(path) || n.index !== index) return false
  if (typeof derivative === 'number') return isThis(n.derivative, derivative, given) && isThis(n.given, given, derivative)
  const [low, high] = derivative
  const slack = 1e-3 * (high - low)
  return n.derivative >= low - slack && n.derivative <= high + slack && Math.abs(n.given - given) <= 1e-3 * Math.abs(given)
}

const all = [...wrongFunctions, ...hardWrongFunctions]
/** What is missed, and why: at most three. */
const missed: Readonly<Record<string, string>> = {
  'an estimator within a loss': 'its bias, a ninth of the derivative, is less than five standard errors of 65536 keys',
}
const started = process.cpuUsage()
afterAll(() => {
  const { user, system } = process.cpuUsage(started)
  console.info(`${all.length} wrong functions, ${Object.keys(missed).length} missed: ${((user + system) / 1e6).toFixed(1)} s of CPU time`)
})

describe('the table of wrong functions', () => {
  it('has at least 160, by different names, of which at most three are missed', () => {
    expect(new Set(all.map((w) => w.name)).size).toBe(all.length)
    expect(all.length).toBeGreaterThanOrEqual(160)
    expect(Object.keys(missed).length).toBeLessThanOrEqual(3)
  })
  // First derivatives of scalar functions: what forward or reverse mode gives is what the table says.
  const gradients = wrongFunctions.flatMap((w) => {
    const { f, args, expected } = w
    if (f === undefined || args === undefined || expected.checks?.[0] === 'second order' || expected.checks?.[0] === 'value') return []
    return expected.entries === undefined || Array.isArray(f(...(args as readonly AnyExpr[])))
      ? []
      : [{ ...w, f, args, entries: expected.entries }]
  })
  it.each(some(gradients, 12).map((w) => [w.name, w] as const))('says what is given: %s', (_name, { f, args, rule, entries }) => {
    const { grad } = makeCodual(rule === undefined ? coreRegistry : coreRegistry.with(rule), cpu())
    for (const { path, index, given, derivative } of entries) {
      const [, argument, leaf] = /^argument (\d)(?:\.(\w))?$/.exec(path)!
      const other = typeof derivative === 'number' ? derivative : derivative[0]
      const gives = (mode: 'reverse' | 'forward'): number => {
        const tree = applied((grad as (...xs: readonly unknown[]) => unknown)(f, { mode, wrt: Number(argument) }), ...args)
        const x = leaf === undefined ? tree : (tree as unknown as Readonly<Record<string, unknown>>)[leaf]
        return (x as { readonly data: ArrayLike<number> }).data[index]!
      }
      const found = isThis(gives('reverse'), given, other) || isThis(gives('forward'), given, other)
      expect(found, `${path}[${index}] is not ${given}`).toBe(true)
    }
  })
})

describe('found', () => {
  it.each(some(all, 20).map((w) => [w.name, w] as const))('%s', (name, w) => {
    expect(checked(w)._tag).toBe(name in missed ? 'Right' : 'Left')
  })
})

describe('named first', () => {
  const told = wrongFunctions.filter(({ expected: { checks = [], path, entries } }) => checks.length > 0 || path !== undefined || entries)
  it.each(some(told, 12).map((w) => [w.name, w] as const))('%s', (_name, w) => {
    const c = checked(w)
    const first = c._tag === 'Left' ? named(c.left[0]!) : undefined
    const { checks = [], path = '', entries } = w.expected
    expect(checks.length === 0 ? [first?.check] : checks).toContain(first?.check)
    expect(first?.path).toContain(path)
    if (entries !== undefined)
      expect(entries.some((e) => matches(first!, e)) ? 'one of the entries' : first, JSON.stringify(entries.slice(0, 3))).toBe(
        'one of the entries',
      )
  })
})
