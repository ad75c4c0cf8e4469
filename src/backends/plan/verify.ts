/** The verifier of plans: the laws of memory, step by step; and provenance, element by element, where a plan is not too large for it. */
import { raise } from '../../core/errors/explain.js'
import type { Identities } from '../../core/graph/identity.js'
import { ALIGN } from './memory.js'
import type { Plan } from './plan.js'
import { type Claim, checkProvenance, costOf } from './provenance.js'
import type { Operand } from './step.js'

const fail: (law: string, detail: string) => never = (law, detail) => raise({ _tag: 'InternalLaw', law, detail })

/** Elements that a user’s verifier visits at most, about: some seconds. */
const BUDGET = 1e7
let always = 0
/** From now on every plan that costs at most this is verified, whatever the backends' options say. For tests. */
export const verifyAll = (budget: number): void => {
  always = budget
}

/** What was shown of a plan: that it computes what its program says, or the laws of memory alone, because it is too large. */
export type Verified = 'provenance' | 'memory'

/** Raises InternalLaw where a plan is wrong; undefined where it was not looked at. Every program is held against its plan, also a cached one. */
export const verify = (claim: Claim, ids: Identities, wanted: boolean): Verified | undefined => {
  const budget = Math.max(always, wanted ? BUDGET : 0)
  if (budget === 0) return undefined
  const small = costOf(claim.plan) <= budget
  if (!small && !wanted) return undefined
  verifyMemory(claim.plan)
  if (!small) return 'memory'
  checkProvenance(claim, ids)
  return 'provenance'
}

/** Raises InternalLaw when a plan breaks a law of memory. */
export const verifyMemory = (plan: Plan): void => {
  const { steps, storages } = plan
  const defined = new Uint8Array(storages.length)
  for (const i of [...plan.inputs, ...plan.captured]) if (i >= 0) defined[i] = 1
  steps.forEach((s, k) => {
    for (const o of s.reads) {
      // What holds no element needs no writer.
      if (o.storage < 0 || storages[o.storage]!.bytes === 0) continue
      const st = storages[o.storage]!
      if (defined[o.storage] === 0) fail('every read is of written memory', `step ${k} reads storage ${o.storage} before any write`)
      if (!(st.first <= k && k <= st.last))
        fail('every read is of a live interval', `step ${k}, storage ${o.storage} lives ${st.first}..${st.last}`)
    }
    for (const o of s.writes) {
      if (o.storage < 0) fail('no literal is written', `step ${k}`)
      if (storages[o.storage]!.given) fail('what the caller has is only read', `step ${k}, storage ${o.storage}`)
      defined[o.storage] = 1
    }
  })
  for (const o of plan.outputs) {
    if (o.storage >= 0 && storages[o.storage]!.bytes === 0) continue
    if (o.storage < 0 || defined[o.storage] === 0) fail('every output is written', `storage ${o.storage}`)
    if (storages[o.storage]!.last < steps.length) fail('outputs live to the end', `storage ${o.storage}`)
  }
  carries(plan)
  overlaps(plan)
}

/** The next state of a carry is written where the last one lies when that was read for the last time, or by the step that reads it. */
const carries = ({ steps, loops }: Plan): void => {
  for (const { first, end, carries } of loops)
    for (const { storage, round, lastRead } of carries) {
      if (!round) continue
      for (let k = first; k < Math.min(lastRead, end); k++)
        if (steps[k]!.writes.some((o) => o.storage === storage))
          fail('a carry is written over after its last read', `step ${k}, storage ${storage} is read by step ${lastRead}`)
    }
}

/** Do two operands lie alike at every point of every iteration? Said again here: a verifier shares nothing with what it verifies. */
const alike = (a: Operand, b: Operand): boolean => {
  const moves = (o: Operand, d: number): number => o.advance?.[d] ?? 0
  const deep = Math.max(a.advance?.length ?? 0, b.advance?.length ?? 0)
  if (a.offset !== b.offset || a.strides.join() !== b.strides.join()) return false
  for (let d = 0; d < deep; d++) if (moves(a, d) !== moves(b, d)) return false
  return true
}

/** Storages alive at once do not overlap, except where one ends in the step in which the other begins in its place. */
const overlaps = ({ steps, storages, arenaBytes, f16Bytes, givenBytes }: Plan): void => {
  const owners = (bytes: number): Int32Array => new Int32Array(Math.ceil(bytes / ALIGN)).fill(-1)
  const arenas = { words: owners(arenaBytes), f16: owners(f16Bytes), given: owners(givenBytes) }
  const byFirst = storages.map((_, i) => i).filter((i) => storages[i]!.first > -2 && storages[i]!.bytes > 0)
  byFirst.sort((a, b) => storages[a]!.first - storages[b]!.first)
  for (const i of byFirst) {
    const s = storages[i]!
    const owner = s.given ? arenas.given : s.f16 ? arenas.f16 : arenas.words
    const seen = new Set<number>()
    for (let u = Math.floor(s.offset / ALIGN); u < Math.ceil((s.offset + s.bytes) / ALIGN); u++) {
      const j = owner[u] ?? fail('every storage lies in its arena', `storage ${i}`)
      owner[u] = i
      if (j >= 0 && storages[j]!.last >= s.first) seen.add(j)
    }
    for (const j of seen) {
      const t = storages[j]!
      const inPlace = t.last === s.first && s.offset === t.offset && s.bytes === t.bytes && s.first >= 0
      if (!inPlace) fail('no two live buffers overlap', `storages ${j} and ${i} at step ${s.first}`)
      const step = steps[s.first]!
      const out = step.writes.find((o) => o.storage === i)!
      for (const o of step.reads) if (o.storage === j && !alike(o, out)) fail('in-place writes follow their reads', `step ${s.first}`)
    }
  }
}
