/** Sets of whole numbers below n, each by a small number: equal unions are made once, and what takes too much room is everything. */

/** How many members of sets are held; beyond that a union is everything. */
const ROOM = 4e7
/** How many unions of two are remembered. */
const REMEMBERED = 4e6
const PAIR = 2 ** 26

const FEW = 8
/** Is x among the members, which rise? */
const has = (members: Int32Array, x: number): boolean => {
  let [low, high] = [0, members.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (members[middle]! < x) low = middle + 1
    else high = middle
  }
  return members[low] === x
}

export class IndexSets {
  /** The set of all. */
  readonly full: number
  private readonly stored: Int32Array[] = []
  private readonly unions = new Map<number, number>()
  private readonly seen: Int32Array
  private sweep = 0
  private held = 0
  constructor(readonly size: number) {
    this.full = size + 1
    this.seen = new Int32Array(size)
  }
  /** The set of no number is 0. */
  static readonly empty = 0
  /** The set of one. */
  of(i: number): number {
    return i + 1
  }
  count(id: number): number {
    return id === 0 ? 0 : id <= this.size ? 1 : id === this.full ? this.size : this.stored[id - this.full - 1]!.length
  }
  /** The members, from the smallest up. */
  members(id: number): Int32Array {
    if (id === 0) return new Int32Array(0)
    if (id <= this.size) return Int32Array.of(id - 1)
    if (id === this.full) return Int32Array.from({ length: this.size }, (_, i) => i)
    return this.stored[id - this.full - 1]!
  }
  union(a: number, b: number): number {
    if (a === b || b === 0) return a
    if (a === 0) return b
    if (a === this.full || b === this.full) return this.full
    if (this.within(a, b)) return b
    if (this.within(b, a)) return a
    const key = a < b ? a * PAIR + b : b * PAIR + a
    let made = this.unions.get(key)
    if (made === undefined) {
      made = this.merged(a, b)
      if (this.unions.size >= REMEMBERED) this.unions.clear()
      this.unions.set(key, made)
    }
    return made
  }
  /** The union of many. */
  all(ids: ArrayLike<number>, from = 0, to = ids.length): number {
    if (to - from <= 8) {
      let u = 0
      for (let i = from; i < to; i++) u = this.union(u, ids[i]!)
      return u
    }
    this.sweep++
    const found: number[] = []
    const add = (i: number): void => {
      if (this.seen[i] === this.sweep) return
      this.seen[i] = this.sweep
      found.push(i)
    }
    let last = 0
    for (let i = from; i < to; i++) {
      const id = ids[i]!
      if (id === last) continue
      last = id
      if (id === this.full) return this.full
      if (id <= this.size) {
        if (id > 0) add(id - 1)
      } else this.stored[id - this.full - 1]!.forEach(add)
    }
    return this.keep(Int32Array.from(found).sort())
  }
  /** Is a small set within another? Asked first: most unions add nothing. */
  private within(a: number, b: number): boolean {
    if (b <= this.size) return false
    const large = this.stored[b - this.full - 1]!
    if (a <= this.size) return has(large, a - 1)
    const small = this.stored[a - this.full - 1]!
    return small.length <= FEW && small.length <= large.length && small.every((x) => has(large, x))
  }
  private merged(a: number, b: number): number {
    const [x, y] = [this.members(a), this.members(b)]
    const out = new Int32Array(x.length + y.length)
    let [i, j, n] = [0, 0, 0]
    while (i < x.length && j < y.length) {
      const [u, v] = [x[i]!, y[j]!]
      out[n++] = u < v ? u : v
      if (u <= v) i++
      if (v <= u) j++
    }
    while (i < x.length) out[n++] = x[i++]!
    while (j < y.length) out[n++] = y[j++]!
    if (n === x.length) return a
    if (n === y.length) return b
    return this.keep(out.slice(0, n))
  }
  private keep(members: Int32Array): number {
    if (members.length === 0) return 0
    if (members.length === 1) return members[0]! + 1
    if (members.length === this.size) return this.full
    this.held += members.length
    if (this.held > ROOM) return this.full
    this.stored.push(members)
    return this.full + this.stored.length
  }
}
