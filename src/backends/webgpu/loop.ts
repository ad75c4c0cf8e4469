/** Loops of a plan as dispatches: one invocation per point, or folds by invocation, by workgroup, or in two passes. */
import { sizeOf, stridesOf } from '../../core/graph/shape.js'
import type { Body, LoopKernel, LoopOutput } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { type Dispatch, itemOf, SCRATCH } from './dispatch.js'
import type { Dispatches, Machine } from './kernel.js'
import { loopShader, type Mode } from './loop-shader.js'

/** A loop as its outputs of one kind need it: ops that nothing reads are left out, inputs renumbered. */
interface Part {
  readonly body: Body
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
}

const prune = (body: Body, outputs: readonly number[]): Part => {
  const n = body.inputs.length
  const needed = new Uint8Array(n + body.ops.length)
  for (const o of outputs) needed[body.results[o]!] = 1
  for (let i = body.ops.length - 1; i >= 0; i--) if (needed[n + i] === 1) for (const a of body.ops[i]!.args) needed[a] = 1
  const inputs = body.inputs.flatMap((_, i) => (needed[i] === 1 ? [i] : []))
  const ops = body.ops.flatMap((_, i) => (needed[n + i] === 1 ? [i] : []))
  const at = new Map<number, number>()
  inputs.forEach((i, k) => {
    at.set(i, k)
  })
  ops.forEach((i, k) => {
    at.set(n + i, inputs.length + k)
  })
  return {
    body: {
      inputs: inputs.map((i) => body.inputs[i]!),
      ops: ops.map((i) => ({ ...body.ops[i]!, args: body.ops[i]!.args.map((a) => at.get(a)!) })),
      results: outputs.map((o) => at.get(body.results[o]!)!),
    },
    inputs,
    outputs,
  }
}

/** Adds up the parts that lie in scratch, one after the other: f32 [parts, ...sizes], into `target` of these sizes. */
export const sumOfParts = (parts: number, sizes: readonly number[], target: Operand, accumulate: boolean, machine: Machine): Dispatches => {
  const all = [parts, ...sizes]
  return loopDispatches(
    {
      kind: 'loop',
      rank: all.length,
      body: { inputs: ['f32'], ops: [], results: [0] },
      inputs: ['unit'],
      outputs: [{ dtype: 'f32', access: 'unit', fold: { op: 'sum', accumulate, axes: all.map((_, a) => a === 0) } }],
    },
    {
      sizes: all,
      reads: [{ storage: SCRATCH, offset: 0, strides: stridesOf(all).map((s) => 4 * s) }],
      writes: [{ ...target, strides: [0, ...target.strides] }],
    },
    { ...machine, fill: 1 },
  )
}

/** Dispatches of a loop step: one for each set of folded axes; outputs that are not folded come with the last. */
export const loopDispatches = (kernel: LoopKernel, { sizes, reads, writes }: Work, machine: Machine): Dispatches => {
  const groups = new Map<string, number[]>()
  const plain: number[] = []
  kernel.outputs.forEach((o, i) => {
    if (o.fold === undefined) plain.push(i)
    else {
      const key = o.fold.axes.join()
      const list = groups.get(key)
      if (list === undefined) groups.set(key, [i])
      else list.push(i)
    }
  })
  const sets = [...groups.values()]
  if (sets.length === 0) sets.push(plain)
  else sets[sets.length - 1]!.push(...plain)
  const dispatches: Dispatch[] = []
  let scratchBytes = 0
  for (const set of sets) {
    const part = prune(kernel.body, set)
    const inner: LoopKernel = {
      kind: 'loop',
      rank: kernel.rank,
      body: part.body,
      inputs: part.inputs.map((i) => kernel.inputs[i]!),
      outputs: part.outputs.map((o) => kernel.outputs[o]!),
    }
    const own = { sizes, reads: part.inputs.map((i) => reads[i]!), writes: part.outputs.map((o) => writes[o]!) }
    const made = partDispatches(inner, own, machine)
    dispatches.push(...made.dispatches)
    scratchBytes = Math.max(scratchBytes, made.scratchBytes)
  }
  return { dispatches, scratchBytes }
}

/** Points of an invocation in loops that are long enough for it. */
const POINTS = 4

/** How a loop without folds is shared: in patches where an operand is contiguous along another axis than the last, as in transposition. */
const mapMode = ({ sizes, reads, writes }: Work, machine: Machine): Mode => {
  const last = sizes.length - 1
  const points = sizeOf(sizes)
  if (machine.lanes === 1 || points < machine.fill) return { kind: 'map', points: 1 }
  if (sizes[last]! >= 16)
    for (const o of [...reads, ...writes]) {
      const along = o.storage < 0 || o.strides[last] === 0 || o.strides[last] === itemOf(o) ? -1 : o.strides.indexOf(itemOf(o))
      if (along >= 0 && sizes[along]! >= 16) return { kind: 'patch', axis: along }
    }
  return { kind: 'map', points: points >= POINTS * machine.fill ? POINTS : 1 }
}

/** Terms of each invocation of a workgroup that share a fold, at least; and workgroups' sizes. */
const SHARE = 8
/** How a fold is shared; `innermost`: whether neighbours in memory are folded. */
const foldMode = (kept: number, folded: number, innermost: boolean, { lanes, fill }: Machine): Mode => {
  const { max, min, ceil, floor } = Math
  if (lanes > 1 && (innermost || fill === 1)) {
    // Of short rows a workgroup each costs more to start than the row takes; those who add up parts have few.
    const wide = folded >= SHARE * lanes ? lanes : folded >= (fill === 1 ? 64 : 64 * SHARE) ? 64 : 1
    const parts = wide === lanes ? max(1, min(ceil((4 * fill) / (kept * lanes)), floor(folded / (SHARE * lanes)))) : 1
    if (wide > 1 && (parts > 1 || kept >= fill / (4 * wide))) return { kind: 'group', lanes: wide, parts }
  }
  const parts = kept >= fill / 2 ? 1 : min(ceil(((lanes > 1 ? 2 : 1) * fill) / kept), floor(folded / 32))
  return parts <= 1 ? { kind: 'thread' } : { kind: 'parts', parts }
}

const partDispatches = (kernel: LoopKernel, work: Work, machine: Machine): Dispatches => {
  const { sizes, writes } = work
  const axes = kernel.outputs.find((o) => o.fold !== undefined)?.fold?.axes
  if (axes === undefined)
    return { dispatches: sizeOf(sizes) === 0 ? [] : [loopShader(kernel, work, machine, mapMode(work, machine))], scratchBytes: 0 }
  const kept = sizeOf(sizes.filter((_, a) => !axes[a]))
  const folded = sizeOf(sizes.filter((_, a) => axes[a]))
  if (kept === 0) return { dispatches: [], scratchBytes: 0 }
  const mode = foldMode(kept, folded, axes[axes.length - 1]!, machine)
  const parts = mode.kind === 'group' || mode.kind === 'parts' ? mode.parts : 1
  if (parts === 1) return { dispatches: [loopShader(kernel, work, machine, mode)], scratchBytes: 0 }
  // Two passes: partial results [part, kept] in scratch, then a loop that folds the parts.
  const folds = kernel.outputs.flatMap((o, i) => (o.fold === undefined ? [] : [i]))
  const first = loopShader(kernel, work, machine, mode)
  const keptAxes = sizes.flatMap((_, a) => (axes[a] ? [] : [a]))
  const contiguous: number[] = []
  let run = 4
  for (let k = keptAxes.length - 1; k >= 0; k--) {
    contiguous.unshift(run)
    run *= sizes[keptAxes[k]!]!
  }
  const second: LoopKernel = {
    kind: 'loop',
    rank: keptAxes.length + 1,
    body: { inputs: folds.map((i) => kernel.outputs[i]!.dtype), ops: [], results: folds.map((_, k) => k) },
    inputs: folds.map(() => 'any'),
    outputs: folds.map((i): LoopOutput => {
      const { dtype, fold } = kernel.outputs[i]!
      return { dtype, access: 'any', fold: { op: fold!.op, accumulate: fold!.accumulate, axes: [true, ...keptAxes.map(() => false)] } }
    }),
  }
  const done = partDispatches(
    second,
    {
      sizes: [parts, ...keptAxes.map((a) => sizes[a]!)],
      reads: folds.map((_, k) => ({ storage: SCRATCH, offset: 4 * k * parts * kept, strides: [4 * kept, ...contiguous] })),
      writes: folds.map((i) => ({ ...writes[i]!, strides: [0, ...keptAxes.map((a) => writes[i]!.strides[a]!)] })),
    },
    // The second pass is short: by workgroup where there are barriers, otherwise by invocation.
    { ...machine, fill: 1 },
  )
  return { dispatches: [first, ...done.dispatches], scratchBytes: 4 * folds.length * parts * kept }
}
