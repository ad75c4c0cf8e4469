// The inputs of the workloads: the same numbers on every machine and in every language.
import { spec, type Workload, type WorkloadDtype, type WorkloadId, workloadIds } from './spec.js'

export type FloatArray = Float32Array | Float64Array

export interface Input {
  readonly shape: readonly number[]
  readonly data: FloatArray
}

export type Inputs = Readonly<Record<string, Input>>

const elements = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1)

/** `count` uniform draws from (-scale, scale) by mulberry32; 32 bits and a half each, so that none is zero. */
export const draw = (seed: number, count: number, scale: number, dtype: WorkloadDtype): FloatArray => {
  const out = dtype === 'f64' ? new Float64Array(count) : new Float32Array(count)
  let state = seed | 0
  for (let i = 0; i < count; i++) {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    const bits = (t ^ (t >>> 14)) >>> 0
    out[i] = ((bits + 0.5) / 2 ** 31) * scale - scale
  }
  return out
}

/**
 * A workload's inputs by name, drawn in the workload's dtype and then stored as `dtype`: promoting the
 * f32 draws is what the golden values were computed from.
 */
export const inputsOf = (id: WorkloadId, dtype: WorkloadDtype = spec[id].dtype): Inputs => {
  const workload: Workload = spec[id]
  const seed = 1000 * (workloadIds.indexOf(id) + 1)
  const entries = Object.entries(workload.inputs).map(([name, [shape, scale]], j): [string, Input] => {
    const drawn = draw(seed + j, elements(shape), scale, workload.dtype)
    const data = dtype === workload.dtype ? drawn : dtype === 'f64' ? Float64Array.from(drawn) : Float32Array.from(drawn)
    return [name, { shape, data }]
  })
  return Object.fromEntries(entries)
}
