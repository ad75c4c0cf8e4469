/** Lists of integers that grow, and a table from short integer codes to numbers: no object per entry. */

/** A growable list of 32-bit integers. Most are short, and a typed array takes longer to make than these to fill. */
export class IntList {
  private readonly data: number[] = []
  get length(): number {
    return this.data.length
  }
  push(x: number): void {
    this.data.push(x | 0)
  }
  get(i: number): number {
    return this.data[i]!
  }
  set(i: number, x: number): void {
    this.data[i] = x | 0
  }
  /** The integers so far, as an array of their own. */
  toArray(): Int32Array<ArrayBuffer> {
    return new Int32Array(this.data)
  }
}

/** Numbers 0, 1, 2, ... with a code each (or none); finds the number of a code. Codes lie one after the other in one list. */
export class Codes {
  private readonly words = new IntList()
  private readonly starts = new IntList()
  private slots = new Array<number>(64).fill(-1)
  private count = 0

  constructor() {
    this.starts.push(0)
  }
  private hash(at: number, end: number): number {
    let h = 0x811c9dc5
    for (let i = at; i < end; i++) h = Math.imul(h ^ this.words.get(i), 0x01000193)
    return (h ^ (h >>> 15)) >>> 0
  }
  private hashOf(code: readonly number[]): number {
    let h = 0x811c9dc5
    for (let i = 0; i < code.length; i++) h = Math.imul(h ^ code[i]!, 0x01000193)
    return (h ^ (h >>> 15)) >>> 0
  }
  /** The number of an equal code; -1 when there is none. */
  find(code: readonly number[]): number {
    const { words, starts, slots } = this
    const mask = slots.length - 1
    for (let s = this.hashOf(code) & mask; ; s = (s + 1) & mask) {
      const id = slots[s]!
      if (id < 0) return -1
      const at = starts.get(id)
      if (starts.get(id + 1) - at !== code.length) continue
      let i = 0
      while (i < code.length && words.get(at + i) === code[i]) i++
      if (i === code.length) return id
    }
  }
  /** Gives the next number to a code; an empty code is never found. */
  add(code: readonly number[]): void {
    const id = this.starts.length - 1
    for (let i = 0; i < code.length; i++) this.words.push(code[i]!)
    this.starts.push(this.words.length)
    if (code.length === 0) return
    if (2 * ++this.count > this.slots.length) this.grow()
    this.put(this.hashOf(code), id)
  }
  /** Length of a number's code, and its i-th word. */
  lengthOf(id: number): number {
    return this.starts.get(id + 1) - this.starts.get(id)
  }
  word(id: number, i: number): number {
    return this.words.get(this.starts.get(id) + i)
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
    for (const id of old) if (id >= 0) this.put(this.hash(this.starts.get(id), this.starts.get(id + 1)), id)
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
