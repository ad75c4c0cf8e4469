/**
 * The law of the strong zero: a function that is guarded by `where` has the derivatives of what the guard selects, in every mode, of every
 * order, in every nesting; what is guarded off adds exactly 0. The numbers come from Taylor series in plain loops (jets.ts).
 */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { guardedFunction, library, points, series } from './guarded.js'
import * as j from './jets.js'

type E = cd.AnyExpr
type F = (x: E) => E
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => never>
/** The derivative of a scalar function along v, by one of the operators. */
const along = {
  reverse: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.grad!(f, { mode: 'reverse' }) as F)(x), v)) as E,
  mixed: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.grad!(f) as F)(x), v)) as E,
  forward: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.grad!(f, { mode: 'forward' }) as F)(x), v)) as E,
  jvp: (f: F, v: E) => (x: E) => (c.jvp!(f) as (p: E, t: E) => readonly [E, E])(x, v)[1],
  vjp: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.vjp!(f) as (p: E, t: unknown) => readonly [E, E])(x, 1)[1], v)) as E,
  jacfwd: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.jacfwd!(f) as F)(x), v)) as E,
  jacrev: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.jacrev!(f) as F)(x), v)) as E,
  vmap: (f: F, v: E) => (x: E) => c.sum!(c.mul!((c.vmap!(c.grad!(f)) as F)(c.stack!([x, x])), c.mul!(c.stack!([v, v]), 0.5))) as E,
} as const
type Way = keyof typeof along
const ways = Object.keys(along) as Way[]
const oracle = cd.reference()
const whole = (e: E): E => c.sum!(e) as E

/** Value and derivatives along v by Taylor series. */
const wanted = (seed: number, size: number, x: readonly (readonly number[])[], v: readonly (readonly number[])[]): readonly number[] => {
  const at = j.jet([3, 2], (r, k) => [x[r]![k]!, v[r]![k]!, 0, 0])
  const y = j.get(guardedFunction(seed, size)(series)(at), 0, 0)
  return [0, 1, 2, 3].map((k) => j.derivative(y, k))
}

describe('random guarded programs', () => {
  for (const seed of [...Array.from({ length: count(6, 24) }, (_, i) => i + 1), 83, 94, 131])
    it(`seed ${seed}: value and derivatives of order 1 to 3 are those of what is selected`, () => {
      const next = random(seed + 500)
      const size = 1 + (seed % 9)
      const x = points(seed)
      const v = x.map((row) => row.map(() => 2 * next() - 1))
      const want = wanted(seed, size, x, v)
      // A program that is not finite where it is selected would say nothing.
      expect(want.every(Number.isFinite)).toBe(true)
      const f: F = (e) => whole(guardedFunction(seed, size)(library)(e))
      const [xs, vs] = [cd.tensor(x) as unknown as E, cd.tensor(v) as unknown as E]
      const check = (nest: readonly Way[]): void => {
        const g = nest.reduce<F>((inner, way) => along[way](inner, vs), f)
        const got = (cd.compile as unknown as (f: F, b: cd.SyncBackend) => (x: E) => { item(): number })(g, oracle)(xs).item()
        const error = Math.abs(got - want[nest.length]!) / Math.max(1, Math.abs(want[nest.length]!))
        expect(error, `${nest.join(' of ')}: ${got}, not ${want[nest.length]}`).toBeLessThan(1e-9)
      }
      const any = (): Way => ways[Math.floor(next() * ways.length)]!
      check([])
      for (const way of ways) check([way])
      for (let i = 0; i < 8; i++) check([any(), any()])
      for (let i = 0; i < 3; i++) check([any(), any(), any()])
    })
})
