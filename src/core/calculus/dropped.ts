/**
 * What derivatives leave out, and why. An ordinary trace notes nothing: `explain` traces again with a recorder on, whom the walk of reverse
 * mode and the thunks tell.
 */
import { isFloat } from '../graph/aval.js'
import { INPUT, linearize, type Node } from '../graph/expr.js'
import { dependents } from '../graph/program.js'
import { type Tangent, watchForced } from '../graph/tangent.js'

/**
 * Why an argument has no cotangent. Nothing that is differentiated leads to it: `inactive`, the rule made none; `unforced`, the rule gave a
 * thunk, which was never forced; `unused`, the rule built one in vain. Or: `zero`, the rule says that it is exactly zero; `unreached`, no
 * cotangent arrived at the results, so the rule was not called.
 */
export type DropReason = 'inactive' | 'unforced' | 'unused' | 'zero' | 'unreached'
/** Cotangents that derivatives leave out: of which argument (counted from 0) of which primitive, why, and how many. */
export interface Dropped {
  readonly primitive: string
  readonly argument: number
  readonly reason: DropReason
  readonly count: number
  /** The same in words. */
  readonly text: string
}

const because: Readonly<Record<DropReason, string>> = {
  inactive: 'never made, because nothing that is differentiated leads there',
  unforced: 'a thunk that was never forced, because nothing that is differentiated leads there',
  unused: 'built in vain, because nothing that is differentiated leads there and the rule did not ask',
  zero: 'exactly zero, as the rule says',
  unreached: 'never made, because no cotangent arrives at the result',
}
const inWords = ({ primitive, argument, reason, count }: Omit<Dropped, 'text'>): string =>
  `${primitive}: the cotangent of argument ${argument} is ${because[reason]}${count === 1 ? '' : ` (${count} times)`}.`

/** Hears of one application: which arguments are active, the cotangents of its results, and what the rule gave, where it was asked. */
export type DropListener = (node: Node, active: readonly boolean[], yBars: readonly Tangent[], xBars?: readonly Tangent[]) => void
let recorder: ((outputs: readonly Node[]) => DropListener) | undefined
/** Who hears of a walk in reverse: nobody, unless somebody records. */
export const dropListener = (outputs: readonly Node[]): DropListener | undefined => recorder?.(outputs)

/** A cotangent that was left out; a thunk only if it is not forced later, for another cotangent that is made of it. */
interface Drop extends Pick<Dropped, 'primitive' | 'argument' | 'reason'> {
  readonly force?: () => unknown
}
const reasonOf = (isActive: boolean, yBars: readonly Tangent[], xBar: Tangent | undefined): DropReason | undefined => {
  if (isActive) return xBar === undefined ? 'unreached' : xBar._tag === 'ZeroTangent' ? 'zero' : undefined
  if (xBar === undefined || xBar._tag === 'ZeroTangent' || xBar._tag === 'NoTangent' || yBars.includes(xBar)) return 'inactive'
  return 'force' in xBar ? 'unforced' : 'unused'
}

/** What the derivatives in a trace leave out, in the order in which it was met. */
export const recordingDropped = (build: () => unknown): readonly Dropped[] => {
  const drops: Drop[] = []
  const forced = new Set<() => unknown>()
  const outer = recorder
  recorder = (outputs) => {
    const linear = linearize(outputs)
    // What no input leads to, as a literal, has no cotangent that anybody could ask for.
    const variable = dependents(
      linear,
      linear.nodes.filter((n) => n.kind === INPUT),
    )
    return (node, active, yBars, xBars) =>
      node.args.forEach((arg, argument) => {
        if (!isFloat(arg.dtype) || variable[linear.index.get(arg)] === 0) return
        const xBar = xBars?.[argument]
        const reason = reasonOf(active[argument]!, yBars, xBar)
        if (reason === undefined) return
        const drop: Drop = { primitive: node.prim!.name, argument, reason }
        drops.push(reason === 'unforced' && xBar !== undefined && 'force' in xBar ? { ...drop, force: xBar.force } : drop)
      })
  }
  const heard = watchForced((force) => forced.add(force))
  try {
    build()
  } finally {
    recorder = outer
    watchForced(heard)
  }
  const counts = new Map<string, Omit<Dropped, 'text'>>()
  for (const { primitive, argument, reason, force } of drops) {
    if (force !== undefined && forced.has(force)) continue
    const key = `${primitive} ${argument} ${reason}`
    counts.set(key, { primitive, argument, reason, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()].map((d) => ({ ...d, text: inWords(d) }))
}
