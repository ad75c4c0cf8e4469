/** Right rules of primitives that round inside are never called wrong, and the same rules made wrong are found. */
import { describe, expect, it } from 'vitest'
import { checkRule, makeCheck, report } from '../../src/check/index.js'
import { roughness } from '../../src/check/roughness.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as cd from '../../src/index.js'
import { coreRegistry } from '../../src/packs/all.js'
import { count, deep, some } from '../depth.js'
import { binaries, binaryRule, elementwiseRule, functions, reductionRule, reductions, type Wrong, wrongs } from './plainly-written.js'

type Make = (name: string, wrong?: Wrong) => ReturnType<typeof reductionRule>
const all: readonly (readonly [string, Make])[] = [
  ...some(Object.keys(reductions), 3).map((name) => [name, reductionRule] as const),
  ...some(Object.keys(functions), 1).map((name) => [name, elementwiseRule as unknown as Make] as const),
  ...some(Object.keys(binaries), 1).map((name) => [name, binaryRule as unknown as Make] as const),
]

/** Of values that have no more than four digits the checker may say that it is not sure. */
const UNSURE: ReadonlySet<string> = new Set(['norm beside a million'])

describe('what rounds inside', () => {
  for (const [name, make] of all)
    it(name, () => {
      // Of elementwise ones the other samples are other ranks.
      const sample = deep || make === reductionRule ? {} : { sample: 0 }
      const right = Array.from({ length: count(1, 2, 3) }, (_, k) => checkRule(make(name), { seed: k + 1, ...sample }))
      expect(right.flatMap((c) => (c._tag === 'Left' ? [report(c)] : []))).toEqual([])
      const unsure = right.flatMap((c) => (c._tag === 'Right' ? c.right.undecided.filter((x) => /converge/.test(x)) : []))
      if (!UNSURE.has(name)) expect(unsure).toEqual([])
      const found = wrongs.filter((wrong) => checkRule(make(name, wrong), sample)._tag === 'Left')
      expect(found).toEqual(wrongs)
    })
  it('as many as there are: 10 reductions, 4 functions of one number, 3 of two', () =>
    expect([reductions, functions, binaries].map((x) => Object.keys(x).length)).toEqual([10, 4, 3]))

  it('within a function, where numbers nearly tie, by steps of any size', () => {
    const of = (scale: number, wrong?: Wrong) => {
      const r = reductionRule('log of the mean of exponentials', wrong)
      const f = (x: AnyExpr): AnyExpr => cd.sum(cd.applyPrimitive(r.primitive as never, [x])[0]!)
      return makeCheck(coreRegistry.with(r)).checkGrad(f as never, { scale })([0, 2e-8, 4e-8])._tag
    }
    expect([1, 1e-3, 1e-6, 1e-9].map((scale) => of(scale))).toEqual(['Right', 'Right', 'Right', 'Right'])
    expect(wrongs.map((wrong) => of(1, wrong))).toEqual(['Left', 'Left', 'Left'])
  })
})

describe('roughness', () => {
  const naive = (t: number): number => Math.log((Math.exp(t) + 2) / 3)
  it('of what rounds at 1 is a unit of its last place, however small the value', () => {
    for (const step of [1e-20, 1e-14, 1e-8, 0.25]) {
      const r = roughness(naive, step, 1)
      expect(r).toBeGreaterThan(2 ** -54)
      expect(r).toBeLessThan(2 ** -50)
    }
  })
  it('of what does not is one of the value', () => {
    for (const f of [(t: number) => 1e-8 + t, (t: number) => Math.hypot(3e-8 + t, 4e-8), (t: number) => Math.expm1(1e-8 + t)])
      expect(roughness(f, 1e-14, 1e-8)).toBeLessThan(1e-22)
  })
  it('is no kink, no flat piece, and no jump of the function itself', () => {
    expect(roughness((t) => Math.max(t, 1e-8), 1e-10, 1)).toBeLessThan(1e-15)
    expect(roughness(() => 3, 1e-10, 1)).toBe(0)
    expect(roughness((t) => Math.floor(t), 0.25, 8)).toBe(0)
    expect(roughness((t) => (t > 0.1 ? Number.NaN : t), 0.25, 1)).toBeLessThan(1e-15)
    expect(roughness(() => Number.NaN, 0.25, 1)).toBe(0)
  })
})
