/** What one call of a plan asks of the device, beside the figures that every backend gives. */
import type { Explanation } from '../../core/functions/backend.js'
import type { Program } from '../../core/graph/program.js'
import type { Plan } from '../plan/plan.js'
import { TRIPS, transferOf } from './executable.js'
import type { Lowered } from './lower.js'

export const explainOnDevice = (plain: Explanation, program: Program, plan: Plan, lowered: Lowered): Explanation => {
  const onCpu = lowered.segments.flatMap((s) => (s.kind === 'cpu' ? [s] : []))
  const dispatches = lowered.segments.flatMap((s) => (s.kind === 'cpu' ? [] : s.dispatches))
  const transfers = new Map(onCpu.map((s) => [s.step, { ...transferOf(s.kernel), reason: lowered.reason(s.kernel) }]))
  const moved = onCpu.map((s) => transferOf(s.kernel))
  const written = program.inputs.reduce((n, x, i) => (plan.inputs[i]! < 0 ? n : n + 4 * x.aval.size), 0)
  const read = program.outputs.reduce((n, x) => n + 4 * x.aval.size, 0)
  return {
    ...plain,
    steps: plain.steps.map((s, i) => {
      const form = lowered.form(i)
      return { ...s, ...(form !== undefined && { form }), ...(transfers.has(i) && { transfer: transfers.get(i)! }) }
    }),
    device: {
      dispatches: dispatches.length,
      submits: onCpu.length + 1,
      readbacks: moved.length + (read > 0 ? 1 : 0),
      bytesWritten: moved.reduce((n, t) => n + t.bytesWritten, written),
      bytesRead: moved.reduce((n, t) => n + t.bytesRead, read),
      pipelines: new Set(dispatches.map((d) => d.dispatch.wgsl)).size,
      ...(lowered.segments.some((s) => s.kind === 'while') && { trips: TRIPS }),
    },
  }
}
