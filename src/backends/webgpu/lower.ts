/** A plan's steps as dispatches, or as work for the CPU where a primitive has no shader. */
import { raise } from '../../core/errors/explain.js'
import type { KernelFunction } from '../../core/extend/kernel-table.js'
import { UNBOUNDED } from '../../core/ops/control.js'
import type { Kernel, OpaqueKernel } from '../plan/kernel.js'
import type { Plan } from '../plan/plan.js'
import { eachRun } from '../plan/repeat.js'
import type { Step } from '../plan/step.js'
import { type Dispatch, movedDispatch } from './dispatch.js'
import type { WebGpuFacets } from './facets.js'
import { gemmDispatches } from './gemm.js'
import type { Dispatches, Machine } from './kernel.js'
import { loopDispatches } from './loop.js'

/** What runs between two points where the CPU is needed: dispatches of one submit, or one primitive's meaning over arrays read back. */
export type Segment =
  | { readonly kind: 'gpu'; readonly dispatches: readonly { readonly step: number; readonly dispatch: Dispatch }[] }
  | { readonly kind: 'cpu'; readonly step: number; readonly at: readonly number[]; readonly kernel: OpaqueKernel }

export interface Lowered {
  readonly segments: readonly Segment[]
  /** Bytes behind the arena that the steps use, one after the other. */
  readonly scratchBytes: number
  /** The function over whole arrays that stands for a kernel which the device does not have. */
  readonly onCpu: (kernel: OpaqueKernel) => KernelFunction
  /** Why the device does not have it. */
  readonly reason: (kernel: OpaqueKernel) => string
}

/** Does the kernel read and write f32 that is stored as f16? Shaders of whole primitives say so; the CPU does not. */
export const takesF16 = (kernel: Kernel, facets: WebGpuFacets): boolean => {
  if (kernel.kind !== 'opaque') return true
  const facet = facets.of(kernel.prim)
  return facet.kind === 'whole' && facet.make.f16 === true
}

/** Every step lowered, those of loops again and again; neighbouring dispatches share a segment. */
export const lowerPlan = (plan: Plan, machine: Machine, facets: WebGpuFacets): Lowered => {
  const segments: Segment[] = []
  let scratchBytes = 0
  let open: { step: number; dispatch: Dispatch }[] | undefined
  for (const { count } of plan.loops)
    if (count === UNBOUNDED)
      raise({
        _tag: 'Unsupported',
        backend: 'webgpu',
        what: 'a loop that only its condition ends',
        fix: 'give { maxSteps }, or run on cpu().',
      })
  const lowered = plan.steps.map((s) => lowerStep(plan, s, machine, facets))
  eachRun(plan.steps.length, plan.loops, (step, at) => {
    const made = lowered[step]
    if (made === undefined) {
      segments.push({ kind: 'cpu', step, at, kernel: plan.kernels[plan.steps[step]!.kernel] as OpaqueKernel })
      open = undefined
      return
    }
    scratchBytes = Math.max(scratchBytes, made.scratchBytes)
    if (open === undefined) {
      open = []
      segments.push({ kind: 'gpu', dispatches: open })
    }
    for (const dispatch of made.dispatches) open.push({ step, dispatch: movedDispatch(dispatch, at) })
  })
  return {
    segments,
    scratchBytes,
    onCpu: ({ prim }) => {
      const facet = facets.of(prim)
      return (facet.kind === 'call' ? facet.f : prim.meaning) as KernelFunction
    },
    reason: ({ prim }) => {
      const facet = facets.of(prim)
      return facet.kind === 'byMeaning'
        ? facet.reason
        : facet.kind === 'call'
          ? 'a function in JavaScript'
          : facet.kind === 'whole'
            ? 'too large for its shader'
            : 'no shader for these dtypes'
    },
  }
}

const lowerStep = (plan: Plan, s: Step, machine: Machine, facets: WebGpuFacets): Dispatches | undefined => {
  const kernel = plan.kernels[s.kernel]!
  if (kernel.kind === 'loop') return loopDispatches(kernel, s, machine)
  if (kernel.kind === 'gemm') return gemmDispatches(kernel, s, machine)
  const facet = facets.of(kernel.prim)
  return facet.kind === 'whole' ? facet.make(kernel, [...s.writes, ...s.reads], machine) : undefined
}
