/** Loops over segments of steps: several steps in one body, and what is kept for the way back. */
import { shown } from '../../errors/check-arguments.js'
import { badInput } from '../../errors/explain.js'
import { integer, kind, type ReadOf, readOptions, whole } from '../../errors/options.js'
import { aval } from '../../graph/aval.js'
import { input, type Node } from '../../graph/expr.js'
import { flatProgram } from '../../graph/program.js'
import type { Checkpoint } from '../../types/signatures/control.js'
import { concatNode } from '../layout/join.js'
import { reshapeNode } from '../layout/move.js'
import { sliceAxis } from '../layout/slice.js'
import { KEEPS, type Keep, type ScanParams, scanNodes, unrolled } from './control.js'

/** The results of a loop's steps for these arguments. */
type Loop = (args: readonly Node[], params: ScanParams) => readonly Node[]

/**
 * The loop with what is the same at every step as a carry that no step changes: cotangents of such a carry are added up in the order of the steps, whatever
 * segments these are in.
 */
const carryingAll = (args: readonly Node[], params: ScanParams, loop: Loop): readonly Node[] => {
  const { program, carries, slices, until } = params
  const moved = <X>(list: readonly X[]): X[] => [
    ...list.slice(0, carries),
    ...list.slice(carries + slices),
    ...list.slice(carries, carries + slices),
  ]
  const same = program.inputs.slice(carries + slices)
  const outputs = [...program.outputs.slice(0, carries), ...same, ...program.outputs.slice(carries)]
  const results = loop(moved(args), {
    ...params,
    program: flatProgram(program.name, moved(program.inputs), outputs),
    carries: carries + same.length,
    ...(until !== undefined && until >= carries && { until: until + same.length }),
  })
  return [...results.slice(0, carries), ...results.slice(carries + same.length)]
}

/** A loop over segments of `size` steps, each by `steps`; what is left over comes last. */
const inSegments = (args: readonly Node[], params: ScanParams, size: number, steps: Loop, keep?: Keep): readonly Node[] =>
  carryingAll(args, params, (all, loop) => overSegments(all, loop, size, steps, keep))
const overSegments = (args: readonly Node[], params: ScanParams, size: number, steps: Loop, keep?: Keep): readonly Node[] => {
  const { program, carries, slices, length, reverse } = params
  const count = Math.floor(length / size)
  const rest = length - count * size
  const isSlice = (i: number): boolean => i >= carries && i < carries + slices
  const inputs = program.inputs.map((x, i) => input(isSlice(i) ? aval([size, ...x.shape], x.dtype) : x.aval))
  const segment = flatProgram('segment', inputs, steps(inputs, { ...params, length: size }))
  /** The arguments with the slices of some steps; the steps that are taken first have the last slices where the loop runs backwards. */
  const over = (carry: readonly Node[], from: number, n: number): readonly Node[] =>
    args.map((x, i) => (i < carries ? carry[i]! : isSlice(i) ? sliceAxis(x, 0, reverse ? length - from - n : from, n) : x))
  const own = over(args, 0, count * size).map((x, i) => (isSlice(i) ? reshapeNode(x, [count, size, ...x.shape.slice(1)]) : x))
  const made = scanNodes(own, { ...params, program: segment, length: count, ...(keep && { keep }) })
  const carry = made.slice(0, carries)
  const rows = made.slice(carries).map((y) => reshapeNode(y, [count * size, ...y.shape.slice(2)]))
  if (rest === 0) return [...carry, ...rows]
  const last = steps(over(carry, count * size, rest), { ...params, length: rest })
  return [
    ...last.slice(0, carries),
    ...rows.map((row, i) => concatNode(reverse ? [last[carries + i]!, row] : [row, last[carries + i]!], 0)),
  ]
}

/**
 * Loops in loops, each of which keeps what its segments begin with: together at most so many carries at any time. Their number is the least that can do it: so often every step is computed again,
 * less one. (Binomial checkpointing keeps fewer for as many repeats, of segments which all differ in length: here a plan has few.)
 */
const bySnapshots =
  (snapshots: number, steps: Loop): Loop =>
  (args, params) => {
    const { length } = params
    if (length <= snapshots) return steps(args, { ...params, keep: 'nothing' })
    const count = Math.floor(snapshots / levelsOf(length, snapshots))
    const within = bySnapshots(snapshots - count, steps)
    return overSegments(args, params, Math.ceil(length / count), within, 'nothing')
  }
/** The least number of loops in each other that can take so many steps: their counts add up to at most `snapshots`. */
const levelsOf = (length: number, snapshots: number): number => {
  for (let k = 1; 2 * k <= snapshots; k++) {
    const [least, more] = [Math.floor(snapshots / k), snapshots % k]
    if (least ** (k - more) * (least + 1) ** more >= length) return k
  }
  return 0
}
export const snapshotsOf =
  (op: string, snapshots: number, steps: Loop): Loop =>
  (args, params) => {
    const { length } = params
    if (length > snapshots && levelsOf(length, snapshots) === 0)
      badInput(op, `${snapshots} snapshots are too few for ${length} steps.`, `give at least ${fewestFor(length)}.`)
    return carryingAll(args, params, bySnapshots(snapshots, steps))
  }
/** The least number of snapshots for so many steps. */
const fewestFor = (length: number): number => {
  let n = 1
  while (n < length && levelsOf(length, n) === 0) n++
  return n
}

const unrolledBy =
  (size: number): Loop =>
  (args, params) =>
    params.length === 0 ? scanNodes(args, params) : inSegments(args, params, Math.min(size, params.length), unrolled)

export const snapshots = { snapshots: whole({ from: 1, fix: 'give a number of snapshots from 1.' }) }
const every = whole({ from: 1, fix: "give a number of steps from 1, or 'sqrt'." })
/** Options of every loop. */
export const loopOptions = {
  /** So many steps are one step of the loop that is run. */
  unroll: integer(undefined, { from: 1, fix: 'give the number of steps in one body, from 1.' }),
  /** The residuals that are kept. */
  checkpoint: kind<Keep | 'sqrt' | number | { readonly snapshots: number } | undefined, Checkpoint>((given, what, op) =>
    given === undefined || given === 'sqrt'
      ? given
      : typeof given === 'string'
        ? keepOf(given, what, op)
        : typeof given === 'object' && given !== null
          ? readOptions(snapshots, given, `${op}: ${what}`)
          : every.read(given, what, op, []),
  ),
}
export type Loops = Partial<ReadOf<typeof loopOptions>>
/** How the steps of a loop are put together, as its options say. */
export const loopBy = (op: string, { unroll: size = 1, checkpoint }: Loops): Loop => {
  const steps = size === 1 ? scanNodes : unrolledBy(size)
  if (checkpoint === undefined) return steps
  if (typeof checkpoint === 'object') return snapshotsOf(op, checkpoint.snapshots, steps)
  if (typeof checkpoint === 'string' && checkpoint !== 'sqrt') return (args, params) => steps(args, { ...params, keep: checkpoint })
  return (args, params) =>
    params.length < 2
      ? steps(args, params)
      : inSegments(
          args,
          params,
          checkpoint === 'sqrt' ? Math.ceil(Math.sqrt(params.length)) : Math.min(checkpoint, params.length),
          steps,
          'nothing',
        )
}
/** The residuals that are kept. */
export const keepOf = (given: unknown, what: string, op: string): Keep =>
  KEEPS.find((k) => k === given) ??
  badInput(
    op,
    `${what} is ${shown(given)}.`,
    `give ${[...KEEPS.map((k) => `'${k}'`), ...(op === 'checkpoint' ? [] : ["'sqrt'", 'a number of steps', '{ snapshots }'])].join(', ')}.`,
  )
