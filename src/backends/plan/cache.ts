/** Plans by structure: equal expressions share one plan, whichever closure built them. Least recently used first out, bounded in bytes. */
import { Lru } from '../../core/functions/lru.js'
import type { Plan } from './plan.js'

export interface CacheInfo {
  readonly hits: number
  readonly misses: number
  readonly plans: number
  /** Plans and the code that they run. */
  readonly bytes: number
}

/** Bytes that cached plans and their code may take, unless a backend is given another number. */
export const CACHE_BYTES = 2 ** 25

interface Entry<P> {
  readonly key: Int32Array
  readonly variant: string
  readonly hash: number
  readonly made: P
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

/** An engine's heap is about twice as large as the objects in it. */
export const HEAP = 2

const weighed = /*#__PURE__*/ new WeakMap<Plan, number>()
/** Resident bytes of a plan, about: its objects as engines lay them out, with words of eight bytes. */
export const planBytes = (plan: Plan): number => {
  const known = weighed.get(plan)
  if (known !== undefined) return known
  const bytes = bytesOfPlan(plan)
  weighed.set(plan, bytes)
  return bytes
}
const bytesOfPlan = (plan: Plan): number => {
  let operands = 0
  let axes = 0
  for (let i = 0; i < plan.steps.length; i++) {
    const { reads, writes } = plan.steps[i]!
    const n = reads.length + writes.length
    operands += n
    for (let k = 0; k < n; k++) {
      const { strides, advance } = k < reads.length ? reads[k]! : writes[k - reads.length]!
      axes += strides.length + (advance?.length ?? 0)
    }
  }
  let ops = 0
  for (const k of plan.kernels) ops += k.kind === 'loop' ? 4 + k.body.ops.length : 4
  const objects = 200 * plan.steps.length + 72 * operands + 8 * axes + 96 * plan.storages.length + 160 * ops + 256 * plan.kernels.length
  return HEAP * (1024 + objects)
}

/** What a backend keeps of a plan, P: the plan itself, or the plan and what was compiled for it. */
export class PlanCache<P> {
  private readonly byHash = new Map<number, Entry<P>[]>()
  private readonly used: Lru<Entry<P>, Entry<P>>
  private hits = 0
  private misses = 0

  /** `bytesOf` weighs one, `beside` what several share; `dropped` is called with each that leaves. */
  constructor(
    maxBytes: number,
    private readonly bytesOf: (made: P) => number,
    dropped: (made: P) => void = () => undefined,
    beside?: () => number,
  ) {
    this.used = new Lru<Entry<P>, Entry<P>>(
      maxBytes,
      (e) => {
        const list = this.byHash.get(e.hash)!
        if (list.length === 1) this.byHash.delete(e.hash)
        else list.splice(list.indexOf(e), 1) // of equal hash: two or three
        dropped(e.made)
      },
      1,
      beside,
    )
  }

  /** `variant` tells plans of one program apart. */
  get(key: Int32Array, make: () => P, variant = ''): { readonly made: P; readonly cached: boolean } {
    const hash = hashOf(key)
    const found = this.byHash.get(hash)?.find((e) => e.variant === variant && same(e.key, key))
    if (found !== undefined) {
      this.hits++
      this.used.get(found)
      return { made: found.made, cached: true }
    }
    this.misses++
    const made = make()
    const entry = { key, variant, hash, made }
    const list = this.byHash.get(hash)
    if (list === undefined) this.byHash.set(hash, [entry])
    else list.push(entry)
    this.used.add(entry, entry, 4 * key.length + this.bytesOf(made))
    return { made, cached: false }
  }
  clear(): void {
    this.used.clear()
  }
  info(): CacheInfo {
    return { hits: this.hits, misses: this.misses, plans: this.used.size, bytes: this.used.bytes }
  }
}
