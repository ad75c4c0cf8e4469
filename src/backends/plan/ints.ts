/** A table from short integer codes to numbers, and lists of integers in one array. */

/** Numbers 0, 1, 2, ... with a code each (or none), which nobody changes any more; finds the number of a code. */
export class Codes {
  private readonly codes: (readonly number[])[] = []
  private readonly hashes: number[] = []
  private slots = new Array<number>(128).fill(-1)
  private count = 0

  hash(code: readonly number[]): number {
    let h = 0x811c9dc5
    for (let i = 0; i < code.length; i++) h = Math.imul(h ^ code[i]!, 0x01000193)
    return h ^ (h >>> 15)
  }
  /** The number of an equal code; -1 when there is none. */
  find(code: readonly number[], hash: number = this.hash(code)): number {
    const { codes, hashes, slots } = this
    const mask = slots.length - 1
    for (let s = hash & mask; ; s = (s + 1) & mask) {
      const id = slots[s]!
      if (id < 0) return -1
      if (hashes[id] !== hash) continue
      const known = codes[id]!
      if (known.length !== code.length) continue
      let i = 0
      while (i < code.length && known[i] === code[i]) i++
      if (i === code.length) return id
    }
  }
  /** Gives the next number to a code; an empty code is never found. */
  add(code: readonly number[], hash: number = this.hash(code)): number {
    const id = this.codes.push(code) - 1
    this.hashes.push(hash)
    if (code.length === 0) return id
    if (2 * ++this.count > this.slots.length) this.grow()
    this.put(hash, id)
    return id
  }
  /** The code of a number. */
  of(id: number): readonly number[] {
    return this.codes[id]!
  }
  private put(hash: number, id: number): void {
    const mask = this.slots.length - 1
    let s = hash & mask
    while (this.slots[s]! >= 0) s = (s + 1) & mask
    this.slots[s] = id
  }
  private grow(): void {
    const old = this.slots
    this.slots = new Array<number>(old.length * 4).fill(-1)
    for (const id of old) if (id >= 0) this.put(this.hashes[id]!, id)
  }
}

/** For each of n numbers a list of numbers, in one array: count first, then fill. */
export class Lists {
  private readonly starts: Int32Array
  private readonly ends: Int32Array
  private readonly items: Int32Array
  /** `counts[i]` is how many entries list i will get. */
  constructor(counts: Int32Array) {
    this.starts = new Int32Array(counts.length + 1)
    for (let i = 0; i < counts.length; i++) this.starts[i + 1] = this.starts[i]! + counts[i]!
    this.ends = this.starts.slice(0, counts.length)
    this.items = new Int32Array(this.starts[counts.length]!)
  }
  push(i: number, x: number): void {
    this.items[this.ends[i]!++] = x
  }
  count(i: number): number {
    return this.ends[i]! - this.starts[i]!
  }
  at(i: number, k: number): number {
    return this.items[this.starts[i]! + k]!
  }
  some(i: number, f: (x: number) => boolean): boolean {
    for (let k = this.starts[i]!; k < this.ends[i]!; k++) if (f(this.items[k]!)) return true
    return false
  }
  every(i: number, f: (x: number) => boolean): boolean {
    return !this.some(i, (x) => !f(x))
  }
}
