/** What is kept for later and can be made again: by key, the least recently used dropped first, bounded in bytes. Every operation is O(1). */

interface Entry<V> {
  readonly value: V
  bytes: number
}

export class Lru<K, V> {
  /** A Map's order is that of insertion: what is used is put in again. */
  private readonly entries = new Map<K, Entry<V>>()
  private total = 0

  /**
   * `dropped` hears of each value that leaves. `least` values stay however large they are: the one that was just made is always of use.
   * `beside` gives bytes that values share, which none of them can be charged with.
   */
  constructor(
    private readonly maxBytes: number,
    private readonly dropped: (value: V) => void,
    private readonly least = 1,
    private readonly beside: () => number = () => 0,
  ) {}

  get size(): number {
    return this.entries.size
  }
  get bytes(): number {
    return this.total + this.beside()
  }

  /** The value of a key, used now. */
  get(key: K): V | undefined {
    const e = this.entries.get(key)
    if (e === undefined) return undefined
    this.entries.delete(key)
    this.entries.set(key, e)
    return e.value
  }

  /** Keeps a value under a new key, and drops others where there is no room. */
  add(key: K, value: V, bytes: number): void {
    this.entries.set(key, { value, bytes })
    this.total += bytes
    this.shrink()
  }

  /** Says what a value weighs, where that was not known when it was added. */
  weigh(key: K, bytes: number): void {
    const e = this.entries.get(key)
    if (e === undefined) return
    this.total += bytes - e.bytes
    e.bytes = bytes
    this.shrink()
  }

  delete(key: K): void {
    const e = this.entries.get(key)
    if (e === undefined) return
    this.entries.delete(key)
    this.total -= e.bytes
    this.dropped(e.value)
  }

  clear(): void {
    for (const key of [...this.entries.keys()]) this.delete(key)
  }

  private shrink(): void {
    while (this.entries.size > this.least && this.bytes > this.maxBytes) this.delete(this.entries.keys().next().value as K)
  }
}
