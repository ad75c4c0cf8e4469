/** Storage as f16 in plans: which buffers, that every step sees them so, and the laws of memory with two arenas; on random programs. */
import { describe, expect, it } from 'vitest'
import { type F16Storage, storeAsF16 } from '../../src/backends/plan/f16-storage.js'
import { buildIr } from '../../src/backends/plan/ir.js'
import type { Kernel } from '../../src/backends/plan/kernel.js'
import { makePlan, type Plan } from '../../src/backends/plan/plan.js'
import { checkProvenance } from '../../src/backends/plan/provenance.js'
import { verifyMemory } from '../../src/backends/plan/verify.js'
import { metaOf, traceMeta } from '../../src/core/functions/function.js'
import { aval, itemBytes } from '../../src/core/graph/aval.js'
import { Identities } from '../../src/core/graph/identity.js'
import * as cd from '../../src/index.js'
import { randomFunction } from '../laws/programs.js'

const none: ReadonlySet<number> = new Set()
const ids = new Identities()
/** A plan of a random program, held against it. */
const planOf = (seed: number, takes?: (kernel: Kernel) => boolean, stored: Partial<F16Storage> = {}): Plan => {
  const tree = { _tag: 'Tuple' as const, items: [{ _tag: 'Leaf' as const }, { _tag: 'Leaf' as const }] }
  const f = (cd.valueAndGrad as unknown as (f: unknown, options: object) => object)(randomFunction(seed), { wrt: [0, 1], mode: 'reverse' })
  const program = traceMeta(metaOf(f as never), tree, [aval([3, 4], 'f32'), aval([2, 3], 'f32')])
  const limits = { nodes: 256, buffers: 48, itemBytes }
  const ir = buildIr(program, ids)
  const plan = makePlan(
    ir,
    takes === undefined ? limits : { ...limits, f16: storeAsF16({ takes, between: true, inputs: none, outputs: none, ...stored }) },
  )
  checkProvenance({ program, ir, plan, itemBytes }, ids)
  return plan
}
const seeds = Array.from({ length: 200 }, (_, i) => 9001 + i)

describe('storage as f16', () => {
  it('is of what lives between steps: not of arguments, results, other dtypes, or sums that steps add to', () => {
    let stored = 0
    for (const seed of seeds) {
      const [whole, plan] = [planOf(seed), planOf(seed, () => true)]
      verifyMemory(plan)
      expect(plan.storages.length).toBe(whole.storages.length)
      const kept = new Set([...plan.inputs, ...plan.captured, ...plan.outputs.map((o) => o.storage)])
      plan.storages.forEach((s, i) => {
        if (!s.f16) return
        stored++
        expect(kept.has(i)).toBe(false)
        expect(s.bytes).toBe(whole.storages[i]!.bytes / 2)
      })
      plan.steps.forEach((s, k) => {
        const kernel = plan.kernels[s.kernel]!
        const before = whole.steps[k]!
        for (const [o, then] of [
          ...s.reads.map((o, j) => [o, before.reads[j]!] as const),
          ...s.writes.map((o, j) => [o, before.writes[j]!] as const),
        ]) {
          const f16 = o.storage >= 0 && plan.storages[o.storage]!.f16
          expect(o.f16 === true).toBe(f16)
          expect(o.offset).toBe(f16 ? then.offset / 2 : then.offset)
          expect(o.strides).toEqual(f16 ? then.strides.map((x) => x / 2) : then.strides)
        }
        for (const o of s.writes) {
          if (o.f16 !== true) continue
          expect(s.reads.some((r) => r.storage === o.storage)).toBe(false)
          if (kernel.kind === 'gemm') expect(kernel.accumulate).toBe(false)
        }
      })
      expect(plan.peakBytes).toBeLessThanOrEqual(whole.peakBytes)
      expect(plan.peakBuffers).toBeGreaterThanOrEqual(1)
    }
    expect(stored).toBeGreaterThan(100)
  })

  it('is of nothing that a kernel touches which does not take it, and of nothing at all where none does', () => {
    for (const seed of seeds.slice(0, 50)) {
      const plain = planOf(seed, () => false)
      expect(plain).toEqual(planOf(seed))
      expect(plain.f16Bytes).toBe(0)
      const loops = planOf(seed, (k) => k.kind === 'loop')
      for (const s of loops.steps)
        if (loops.kernels[s.kernel]!.kind !== 'loop') expect([...s.reads, ...s.writes].some((o) => o.f16 === true)).toBe(false)
    }
  })

  it('is of arguments and results where they are asked for, by a copy where they may not be', () => {
    let [direct, copied] = [0, 0]
    for (const seed of seeds)
      for (const stored of [
        { inputs: new Set([0]), outputs: none },
        { inputs: none, outputs: new Set([1]) },
        { inputs: new Set([0, 1]), outputs: new Set([0, 1, 2]), between: true },
      ]) {
        const whole = planOf(seed)
        const plan = planOf(seed, (k) => k.kind !== 'opaque', { between: false, ...stored })
        verifyMemory(plan)
        plan.inputs.forEach((s, i) => {
          if (s >= 0) expect(plan.storages[s]!.f16, `seed ${seed}, input ${i}`).toBe(stored.inputs.has(i))
        })
        plan.outputs.forEach((o, i) => {
          expect(plan.storages[o.storage]!.f16, `seed ${seed}, output ${i}`).toBe(stored.outputs.has(i))
          if (stored.outputs.has(i)) expect(o.offset).toBe(0)
        })
        const more = plan.steps.length - whole.steps.length
        const asked = plan.inputs.filter((s, i) => s >= 0 && stored.inputs.has(i)).length + stored.outputs.size
        expect(more).toBeGreaterThanOrEqual(0)
        expect(more).toBeLessThanOrEqual(asked)
        copied += more
        direct += asked - more
      }
    expect(direct).toBeGreaterThan(200)
    expect(copied).toBeGreaterThan(20)
  })
})
