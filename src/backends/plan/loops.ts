/** Plans loops, for programs that have one: it comes with their operations (packs/control.ts). */
import { type Node, resultAvals } from '../../core/graph/expr.js'
import type { Identities } from '../../core/graph/identity.js'
import type { Program } from '../../core/graph/program.js'
import type { ScanParams } from '../../core/ops/control/control.js'
import { emitRepeat } from './emit-repeat.js'
import { irOf, owned, rows, type Values } from './ir.js'
import type { Without } from './passes.js'
import { type Needed, neededOf, type Reduced, type Repeat } from './repeat.js'
import type { Ir } from './value.js'

/** What the planner asks for where a program has a loop. */
export interface LoopPlanner {
  readonly isLoop: (n: Node) => boolean
  /** What is needed of the nodes for these roots. */
  readonly neededOf: (nodes: readonly Node[], roots: readonly Node[], without: Without) => Needed
  /** The values of its results. */
  readonly make: (at: Values, n: Node, loop: Reduced, args: readonly number[]) => readonly number[]
}

/** Steps of a loop up to which it is written out: of one step it is that step. */
const FEW = 1
/** Does the planner run this application as a loop? Of one step too where that may be left out, or keeps less for the way back: apart from what is around, it is computed again. */
const isLoop = ({ prim, payload }: Node): boolean => {
  if (prim?.structure?.kind !== 'loop') return false
  const { length, keep, until } = payload as ScanParams
  return length > FEW || (length > 0 && (until !== undefined || (keep !== undefined && keep !== 'everything')))
}

/**
 * The values of a loop's step. Its results are values of their own, each of which can be made where it belongs, but for a carry that stays as it is, and for rows that are
 * a carry as the step found or left it, if carries may walk: such a carry goes along its rows.
 */
const stepIr = (program: Program, carries: number, walks: boolean, ids: Identities, without: Without): Ir =>
  irOf(program, ids, without, (b, made, given) => {
    const stays = made.map((m, i) => i < carries && m === given[i])
    const found = (m: number): boolean => walks && given.slice(0, carries).includes(m)
    const left = new Map<number, number>()
    const seen = new Set<number>()
    return made.map((m, i) => {
      if (stays[i] === true || (i >= carries && found(m))) return m
      const known = left.get(m)
      if (walks && i >= carries && known !== undefined) return known
      const id = owned(b, m)
      const base = b.viewOf(id).base
      const own = b.value(base).kind === 'input' || seen.has(base) ? b.copy(id) : id
      seen.add(base).add(own)
      if (i < carries) left.set(m, own)
      return own
    })
  })

/** A loop: the values of one step, and its literals as further arguments; results that nothing reads are left out. */
const makeLoop = (
  at: Values,
  n: Node,
  { program, args: read, carries, slices, places }: Reduced,
  args: readonly number[],
): readonly number[] => {
  const b = at.builder
  const params = n.payload as ScanParams
  const { length, reverse } = params
  const body = stepIr(program, carries, params.until === undefined, at.ids, at.without)
  const given = read.map((i, k) => (k >= carries && k < carries + slices ? rows(b, args[i]!) : owned(b, args[i]!)))
  const literals = body.consts.map((c) => b.constant(c.number, body.values[c.value]!.dtype))
  const avals = resultAvals(n)
  const until = params.until === undefined || !read.includes(params.until) ? undefined : read.indexOf(params.until)
  // Rows of steps that are left out.
  const none = until === undefined ? [] : program.outputs.slice(carries).map((o) => b.constant(0, o.dtype))
  const masked = at.without.has('unmask')
  const repeat: Repeat = { emit: emitRepeat, body, count: length, carries, slices, reverse, until, masked }
  const identity = at.ids.id(`repeat ${length} ${carries} ${slices} ${reverse} ${until} ${masked} ${body.key.join()}`)
  const { shape, dtype } = avals[places.indexOf(0)]!
  const whole = b.make('repeat', null, repeat, [...given, ...literals, ...none], shape, dtype, 0, identity)
  return avals.map((a, i) => (places[i]! < 0 ? -1 : b.make('result', null, null, [whole], a.shape, a.dtype, places[i]!)))
}

export const loopPlanner: LoopPlanner = {
  isLoop,
  neededOf: (nodes, roots, without) => neededOf(nodes, roots, isLoop, !without.has('unmask')),
  make: makeLoop,
}
