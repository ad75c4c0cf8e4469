/** Plans by structure: equal expressions share one plan, whichever closure built them. Least recently used first out, bounded in bytes. */
import type { Plan } from './plan.js'

export interface CacheInfo {
  readonly hits: number
  readonly misses: number
  readonly plans: number
  readonly bytes: number
}

interface Entry {
  readonly key: Int32Array
  readonly variant: string
  readonly hash: number
  readonly plan: Plan
  readonly bytes: number
}

const hashOf = (key: Int32Array): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key[i]!, 0x01000193)
  return h
}
const same = (a: Int32Array, b: Int32Array): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

export class PlanCache {
  /** Insertion order is order of use. */
  private readonly entries = new Map<number, Entry[]>()
  private order: Entry[] = []
  private hits = 0
  private misses = 0
  private bytes = 0
  constructor(private readonly maxBytes: number) {}

  /** `variant` tells plans of one program apart. */
  get(key: Int32Array, make: () => Plan, variant = ''): { readonly plan: Plan; readonly cached: boolean } {
    const hash = hashOf(key)
    const found = this.entries.get(hash)?.find((e) => e.variant === variant && same(e.key, key))
    if (found !== undefined) {
      this.hits++
      this.order.splice(this.order.indexOf(found), 1)
      this.order.push(found)
      return { plan: found.plan, cached: true }
    }
    this.misses++
    const plan = make()
    const bytes = 4 * key.length + 200 * plan.steps.length
    const entry = { key, variant, hash, plan, bytes }
    const list = this.entries.get(hash)
    if (list === undefined) this.entries.set(hash, [entry])
    else list.push(entry)
    this.order.push(entry)
    this.bytes += bytes
    while (this.bytes > this.maxBytes && this.order.length > 1) this.drop(this.order[0]!)
    return { plan, cached: false }
  }
  private drop(e: Entry): void {
    this.order.splice(this.order.indexOf(e), 1)
    const list = this.entries.get(e.hash)!
    list.splice(list.indexOf(e), 1)
    if (list.length === 0) this.entries.delete(e.hash)
    this.bytes -= e.bytes
  }
  clear(): void {
    this.entries.clear()
    this.order = []
    this.bytes = 0
  }
  info(): CacheInfo {
    return { hits: this.hits, misses: this.misses, plans: this.order.length, bytes: this.bytes }
  }
}
