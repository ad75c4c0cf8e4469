/** Figures of a plan, for every backend: what its steps run, read and write, and how much. */

import type { Explanation } from '../../core/functions/backend.js'
import { showAval } from '../../core/graph/aval.js'
import { printedName } from '../../core/graph/namespace.js'
import type { Program } from '../../core/graph/program.js'
import type { Kernel } from './kernel.js'
import type { Plan } from './plan.js'
import { type Loop, timesOf } from './repeat.js'
import type { Step } from './step.js'
import type { Ir } from './value.js'

/** Names of the primitives that a kernel computes. */
const opsOf = (k: Kernel): readonly string[] =>
  k.kind === 'opaque'
    ? [printedName(k.prim)]
    : k.kind === 'gemm'
      ? ['matmul']
      : [...k.body.ops.map((o) => printedName(o.prim)), ...k.outputs.flatMap((o) => (o.fold === undefined ? [] : [o.fold.op]))]

/** One line for a kernel. */
const labelOf = (k: Kernel): string =>
  k.kind === 'opaque'
    ? printedName(k.prim)
    : k.kind === 'gemm'
      ? `gemm ${k.dtype}${k.accumulate ? ' +=' : ''}`
      : `loop ${opsOf(k).join(' ') || 'copy'}`

const sizesOf = (s: Step, k: Kernel): readonly number[] => (k.kind === 'opaque' ? (k.results[0]?.shape ?? []) : s.sizes)

/** A loop: what a step of it moves, and what its steps stack. */
const loopOf = ({ first, end, count, depth, flag }: Loop, plan: Plan, steps: Explanation['steps']): Explanation['loops'][number] => {
  const stacked = new Set(
    plan.steps.slice(first, end).flatMap((s) => s.writes.flatMap((o) => ((o.advance?.[depth] ?? 0) === 0 ? [] : [o.storage]))),
  )
  return {
    first,
    end,
    count,
    conditional: flag !== undefined,
    bytesPerStep: steps.slice(first, end).reduce((n, s) => n + s.bytes, 0),
    stackedBytes: [...stacked].reduce((n, s) => n + plan.storages[s]!.bytes, 0),
  }
}

/** Bytes of the buffers that a step touches; a literal has 8. */
const bytesMoved = (s: Step, plan: Plan): number =>
  [...s.reads, ...s.writes].reduce((n, o) => {
    const walked = o.advance?.findLast((by) => by !== 0)
    return n + (o.storage < 0 ? 8 : Math.min(plan.storages[o.storage]!.bytes, Math.abs(walked ?? Number.POSITIVE_INFINITY)))
  }, 0)

/** A prepared plan with what was measured about its making. */
export interface Explained {
  readonly backend: string
  readonly program: Program
  readonly ir: Ir
  readonly plan: Plan
  readonly planMs: number
  readonly cached: boolean
}

export const explainPlan = ({ backend, program, ir, plan, planMs, cached }: Explained): Explanation => {
  const kernels = plan.kernels.map((k) => ({ kernel: labelOf(k), kind: k.kind, ops: opsOf(k) }))
  const inputOf = new Map(plan.inputs.map((storage, i) => [storage, i]))
  const place = (storage: number): string => {
    if (storage < 0) return `literal ${ir.consts[-1 - storage]!.number}`
    const i = inputOf.get(storage)
    const { bytes, f16 } = plan.storages[storage] ?? { bytes: 0, f16: false }
    return i === undefined ? `b${storage} (${bytes} B${f16 ? ' of f16' : ''})` : `input ${i} (${showAval(program.inputs[i]!.aval)})`
  }
  const times = timesOf(plan.steps, plan.loops)
  const steps = plan.steps.map((s, i): Explanation['steps'][number] => {
    const k = plan.kernels[s.kernel]!
    return {
      ...kernels[s.kernel]!,
      sizes: sizesOf(s, k),
      reads: s.reads.map((o) => place(o.storage)),
      writes: s.writes.map((o) => place(o.storage)),
      flops: s.flops,
      bytes: bytesMoved(s, plan),
      times: times[i]!,
    }
  })
  const counts: Record<string, number> = {}
  for (const s of steps) {
    const key = s.kind === 'opaque' ? s.ops[0]! : s.kind
    counts[key] = (counts[key] ?? 0) + 1
  }
  return {
    backend,
    steps,
    counts,
    kernels: plan.kernels.length,
    loops: plan.loops.map((l) => loopOf(l, plan, steps)),
    flops: steps.reduce((n, s) => n + s.times * s.flops, 0),
    bytes: steps.reduce((n, s) => n + s.times * s.bytes, 0),
    peakBytes: plan.peakBytes,
    buffers: plan.storages.length,
    peakBuffers: plan.peakBuffers,
    copiedAccumulators: plan.copiedAccumulators,
    planMs,
    cached,
  }
}
