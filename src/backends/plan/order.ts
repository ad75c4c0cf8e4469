/** The order of units: each after what it reads; ties by build order. */
import { raise } from '../../core/errors/explain.js'
import type { Fused } from './fuse.js'
import { Lists } from './ints.js'
import { orderedAs } from './schedule.js'

/**
 * Units in an order in which each comes after what it reads; among those that are ready, the one whose values were built first. What its primitive says is run early, or late: what makes
 * much of little, as a gathering of parts, holds memory from there on, and what makes little of much frees it. What waits for something that goes on beside the program is run when nothing else can be,
 * that which was begun first before others. What is done together with other processes keeps the order in which it was built.
 */
export const orderUnits = ({ units, unitOf, values }: Fused): number[] => {
  const producer = (base: number): number => {
    const v = values[base]!
    return v.kind === 'result' ? unitOf[v.args[0]!]! : unitOf[base]!
  }
  const waits = new Int32Array(units.length)
  const counts = new Int32Array(units.length)
  // Pairs of a unit and one that reads it, each once.
  const pairs: number[] = []
  const seen = new Int32Array(units.length).fill(-1)
  for (let i = 0; i < units.length; i++) {
    const made = units[i]!.values
    for (let k = 0; k < made.length; k++) {
      const { args } = values[made[k]!]!
      for (let j = 0; j < args.length; j++) {
        const p = producer(values[args[j]!]!.base)
        if (p < 0 || p === i || seen[p] === i) continue
        seen[p] = i
        counts[p]!++
        waits[i]!++
        pairs.push(p, i)
      }
    }
  }
  const last = new Map<string, number>()
  for (let id = 0; id < values.length; id++) {
    const u = unitOf[id]!
    if (u < 0) continue
    for (const group of orderedAs(values[id]!)) {
      const before = last.get(group)
      last.set(group, u)
      if (before === undefined || before === u) continue
      counts[before]!++
      waits[u]!++
      pairs.push(before, u)
    }
  }
  const users = new Lists(counts)
  for (let i = 0; i < pairs.length; i += 2) users.push(pairs[i]!, pairs[i + 1]!)
  const first = units.map(({ values }) => {
    let least = values[0]!
    for (let k = 1; k < values.length && k < 64; k++) if (values[k]! < least) least = values[k]!
    return least
  })
  const isLast = timed({ units, values }, users, first)
  const heap = new MinHeap(first)
  for (let i = 0; i < units.length; i++) if (waits[i] === 0) heap.push(i)
  const out: number[] = []
  while (heap.size > 0) {
    const u = heap.pop()
    out.push(u)
    for (let k = 0; k < users.count(u); k++) {
      const user = users.at(u, k)
      if (--waits[user]! > 0) continue
      if (isLast.has(user)) first[user] = values.length + out.length
      heap.push(user)
    }
  }
  if (out.length !== units.length)
    raise({ _tag: 'InternalLaw', law: 'units have no cycle', detail: `${out.length} of ${units.length} ordered` })
  return out
}

/** Of units that are run early or late, other keys than the places at which they were built; and those that are run last. */
const timed = ({ units, values }: Pick<Fused, 'units' | 'values'>, users: Lists, keys: number[]): ReadonlySet<number> => {
  const late: number[] = []
  const last = new Set<number>()
  for (let u = 0; u < units.length; u++) {
    const when = values[units[u]!.values[0]!]!.prim?.when
    if (when === 'early') keys[u] = -1
    else if (when === 'late') late.push(u)
    else if (when === 'last') last.add(u)
  }
  // Those built last first: one that another one reads is earlier than that.
  for (const u of late.sort((a, b) => keys[b]! - keys[a]!)) {
    let key = Number.POSITIVE_INFINITY
    for (let k = 0; k < users.count(u); k++) key = Math.min(key, keys[users.at(u, k)]!)
    keys[u] = Math.max(keys[u]!, key - 0.5)
  }
  return last
}

class MinHeap {
  private readonly items: number[] = []
  constructor(private readonly key: readonly number[]) {}
  get size(): number {
    return this.items.length
  }
  push(x: number): void {
    const { items, key } = this
    let i = items.push(x) - 1
    while (i > 0) {
      const p = (i - 1) >> 1
      if (key[items[p]!]! <= key[items[i]!]!) break
      ;[items[p], items[i]] = [items[i]!, items[p]!]
      i = p
    }
  }
  pop(): number {
    const { items, key } = this
    const top = items[0]!
    const last = items.pop()!
    if (items.length > 0) {
      items[0] = last
      let i = 0
      for (;;) {
        const l = 2 * i + 1
        if (l >= items.length) break
        const c = l + 1 < items.length && key[items[l + 1]!]! < key[items[l]!]! ? l + 1 : l
        if (key[items[i]!]! <= key[items[c]!]!) break
        ;[items[c], items[i]] = [items[i]!, items[c]!]
        i = c
      }
    }
    return top
  }
}
