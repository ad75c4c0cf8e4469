/** A plan's steps as dispatches, or as work for the CPU where a primitive has no shader. */
import { raise } from '../../core/errors/explain.js'
import type { KernelFunction } from '../../core/extend/kernel-table.js'
import { UNBOUNDED } from '../../core/ops/control/control.js'
import type { Kernel, OpaqueKernel } from '../plan/kernel.js'
import type { Plan } from '../plan/plan.js'
import { type Loop, type Part, partsOf } from '../plan/repeat.js'
import type { Step } from '../plan/step.js'
import { type Dispatch, guarded, marking, movedDispatch } from './dispatch.js'
import type { WebGpuFacets } from './facets.js'
import { gemmDispatches } from './gemm.js'
import type { Dispatches, Machine } from './kernel.js'
import { loopDispatches } from './loop.js'

/** A dispatch of a step; -1 is that of no step. */
export interface Lowering {
  readonly step: number
  readonly dispatch: Dispatch
}
/** What runs between two points where the host is needed: dispatches of one submit; one primitive's meaning over arrays read back; or an iteration again and again, until its mark is 0. */
export type Segment =
  | { readonly kind: 'gpu'; readonly dispatches: readonly Lowering[] }
  | { readonly kind: 'cpu'; readonly step: number; readonly at: readonly number[]; readonly kernel: OpaqueKernel }
  | { readonly kind: 'while'; readonly dispatches: readonly Lowering[]; readonly mark: number }

export interface Lowered {
  readonly segments: readonly Segment[]
  /** Bytes behind the arena that the steps use, one after the other. */
  readonly scratchBytes: number
  /** Words behind those: a mark for each loop whose iterations may be left out. */
  readonly marks: number
  /** The function over whole arrays that stands for a kernel which the device does not have. */
  readonly onCpu: (kernel: OpaqueKernel) => KernelFunction
  /** The form of a step's dispatches, where there are several. */
  readonly form: (step: number) => string | undefined
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
class Lowerer {
  readonly segments: Segment[] = []
  scratchBytes = 0
  private readonly marked = new Map<Loop, number>()
  private open: Lowering[] | undefined
  private readonly lowered: readonly (Dispatches | undefined)[]

  constructor(
    private readonly plan: Plan,
    machine: Machine,
    facets: WebGpuFacets,
  ) {
    this.lowered = plan.steps.map((s) => lowerStep(plan, s, machine, facets))
    for (const made of this.lowered) this.scratchBytes = Math.max(this.scratchBytes, made?.scratchBytes ?? 0)
    this.run(partsOf(plan.steps.length, plan.loops), [], undefined)
  }

  form(step: number): string | undefined {
    return this.lowered[step]?.form
  }
  get marks(): number {
    return this.marked.size
  }

  /** `mark`: of the innermost loop around whose iterations may be left out. What it undoes is masked too: a step on the CPU runs all the same. */
  private run(parts: readonly Part[], at: readonly number[], mark: number | undefined): void {
    for (const p of parts) {
      if ('loop' in p) {
        this.loop(p, at, mark)
        continue
      }
      const made = this.lowered[p.step]
      if (made === undefined) {
        this.segments.push({ kind: 'cpu', step: p.step, at, kernel: this.plan.kernels[this.plan.steps[p.step]!.kernel] as OpaqueKernel })
        this.open = undefined
      } else for (const d of made.dispatches) this.add(p.step, movedDispatch(mark === undefined ? d : this.guarded(d, mark), at))
    }
  }
  private loop({ loop, parts }: Extract<Part, { readonly loop: Loop }>, at: readonly number[], around: number | undefined): void {
    const { flag, count } = loop
    if (flag === undefined) {
      for (let k = 0; k < count; k++) this.run(parts, [...at, k], around)
      return
    }
    const mark = this.marked.get(loop) ?? this.marked.size
    this.marked.set(loop, mark)
    const marked = marking(flag, mark, around)
    const iteration = (k: number): void => {
      this.add(-1, movedDispatch(marked, [...at, k]))
      this.run(parts, [...at, k], mark)
    }
    if (count !== UNBOUNDED) {
      for (let k = 0; k < count; k++) iteration(k)
      return
    }
    const dispatches: Lowering[] = []
    const before = this.segments.length
    this.segments.push({ kind: 'while', dispatches, mark })
    this.open = dispatches
    iteration(0)
    if (at.length > 0 || this.segments.length > before + 1)
      raise({
        _tag: 'Unsupported',
        backend: 'webgpu',
        what: 'a loop that only its condition ends, within another loop or with a step on the CPU',
        fix: 'give { maxSteps }, or run on cpu().',
      })
    this.open = undefined
  }
  private readonly guards = new Map<Dispatch, Dispatch>()
  /** The same dispatch for every iteration: where nothing of it moves they share a record. */
  private guarded(d: Dispatch, mark: number): Dispatch {
    const made = this.guards.get(d) ?? guarded(d, mark)
    this.guards.set(d, made)
    return made
  }
  private add(step: number, dispatch: Dispatch): void {
    if (this.open === undefined) {
      this.open = []
      this.segments.push({ kind: 'gpu', dispatches: this.open })
    }
    this.open.push({ step, dispatch })
  }
}
export const lowerPlan = (plan: Plan, machine: Machine, facets: WebGpuFacets): Lowered => {
  const lowered = new Lowerer(plan, machine, facets)
  const { segments, scratchBytes, marks } = lowered
  return {
    segments,
    scratchBytes,
    marks,
    form: (step) => lowered.form(step),
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
