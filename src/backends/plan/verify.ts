/** The verifier between passes: every read is of a live interval, no two live buffers overlap, in-place writes are last reads. */
import { raise } from '../../core/explain.js'
import { read, written } from './memory.js'
import type { Plan } from './plan.js'

const fail = (law: string, detail: string): never => raise({ _tag: 'InternalLaw', law, detail })

/** Raises InternalLaw when a plan breaks a law of memory. */
export const verifyPlan = (plan: Plan): void => {
  const { steps, kernels, storages } = plan
  const defined = new Uint8Array(storages.length)
  for (const i of [...plan.inputs, ...plan.captured]) if (i >= 0) defined[i] = 1
  steps.forEach((s, k) => {
    const kernel = kernels[s.kernel]!
    for (const o of read(s, kernel)) {
      if (o.storage < 0) continue
      const st = storages[o.storage]!
      if (defined[o.storage] === 0) fail('every read is of written memory', `step ${k} reads storage ${o.storage} before any write`)
      if (!(st.first <= k && k <= st.last))
        fail('every read is of a live interval', `step ${k}, storage ${o.storage} lives ${st.first}..${st.last}`)
    }
    for (const o of written(s, kernel)) {
      if (o.storage < 0) fail('no literal is written', `step ${k}`)
      defined[o.storage] = 1
    }
  })
  for (const o of plan.outputs) {
    if (o.storage < 0 || defined[o.storage] === 0) fail('every output is written', `storage ${o.storage}`)
    if (storages[o.storage]!.last < steps.length) fail('outputs live to the end', `storage ${o.storage}`)
  }
  // Sweep: storages alive at once must not overlap, except where one ends in the step in which the other begins in its place.
  const byFirst = storages.map((_, i) => i).filter((i) => storages[i]!.first > -2)
  byFirst.sort((a, b) => storages[a]!.first - storages[b]!.first)
  let alive: number[] = []
  for (const i of byFirst) {
    const s = storages[i]!
    alive = alive.filter((j) => storages[j]!.last >= s.first)
    for (const j of alive) {
      const t = storages[j]!
      if (s.half !== t.half || s.bytes === 0 || t.bytes === 0 || s.offset >= t.offset + t.bytes || t.offset >= s.offset + s.bytes) continue
      const inPlace = t.last === s.first && s.offset === t.offset && s.bytes === t.bytes && s.first >= 0
      if (!inPlace) fail('no two live buffers overlap', `storages ${j} and ${i} at step ${s.first}`)
      const step = steps[s.first]!
      const kernel = kernels[step.kernel]!
      const out = written(step, kernel).find((o) => o.storage === i)!
      for (const o of read(step, kernel))
        if (o.storage === j && (o.offset !== out.offset || o.strides.some((x, d) => x !== out.strides[d])))
          fail('in-place writes follow their reads', `step ${s.first}`)
    }
    alive.push(i)
  }
}
