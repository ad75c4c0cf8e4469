/** How the length of a Fourier transform is cut, as a table that its code follows: nodes and twiddles, which are exact to the last bit. */
import { chirpOf, rootOfUnity } from '../../core/ops/fourier-loops.js'
import { aligned } from '../plan/memory.js'
import { type FloatName, floats } from './wasm/float.js'
import { BLOCK, BLOCKS, blocksNode, CHIRP, chirpNode, type FourierKind, LINE, lineNode, passEntry, tableHead } from './wasm/fourier.js'

/** The transform of an array [outer, n, inner] along its middle; of a real one n are the real elements. */
export interface FourierShape {
  readonly kind: FourierKind
  readonly type: FloatName
  readonly outer: number
  readonly n: number
  readonly inner: number
}
export interface FourierPlan {
  readonly radices: readonly number[]
  readonly table: Uint8Array<ArrayBuffer>
  readonly scratchBytes: number
}

/** Radices that have a pass, those that should come first before others. */
const RADICES = [4, 13, 11, 7, 5, 3, 2] as const
/** The radices of a length, or nothing where it has another prime factor. */
const radicesOf = (n: number): readonly number[] | undefined => {
  if (n === 1) return [1]
  const radices: number[] = []
  let rest = n
  for (const r of RADICES)
    while (rest % r === 0) {
      radices.push(r)
      rest /= r
    }
  return rest === 1 ? radices : undefined
}
/** Lengths up to which many lines are transformed beside each other, in bytes of a part. */
const SHORT = 128
/** Lengths from which on they are cut into blocks, in bytes of a part. */
const WHOLE = 1 << 17

/** The bytes of a table while it is written. */
class Table {
  private bytes = new Uint8Array(1024)
  private size = 0
  constructor(readonly type: FloatName) {}
  /** Room for words or numbers: its address. */
  take(bytes: number): number {
    const at = this.size
    this.size = aligned(at + bytes, 16)
    if (this.size > this.bytes.length) {
      const more = new Uint8Array(2 ** Math.ceil(Math.log2(this.size)))
      more.set(this.bytes)
      this.bytes = more
    }
    return at
  }
  words(at: number, words: readonly number[]): void {
    new Int32Array(this.bytes.buffer, at, words.length).set(words)
  }
  /** Numbers of the format: where they lie. */
  numbers(count: number, fill: (to: Float64Array | Float32Array) => void): number {
    const { bytes } = floats[this.type]
    const at = this.take(count * bytes)
    const { buffer } = this.bytes
    fill(this.type === 'f64' ? new Float64Array(buffer, at, count) : new Float32Array(buffer, at, count))
    return at
  }
  finish(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.size)
  }
}

/** A node, its scratch, and the radices in it. */
interface Made {
  readonly at: number
  readonly scratch: number
  readonly radices: readonly number[]
}

/** `s`: bytes of the vectors that it goes along; an element's where it is a run of memory. */
const line = (table: Table, n: number, radices: readonly number[], s: number): Made => {
  const { bytes, lanes } = floats[table.type]
  const at = table.take(4 * (lineNode.words + passEntry.words * radices.length))
  const words = [LINE, n, radices.length]
  let rows = n
  let span = s
  radices.forEach((r, i) => {
    rows /= r
    const first = i === 0 && s === bytes && rows >= lanes && radices.length > 1
    const none = i === radices.length - 1 && span >= 16
    const twiddles = none ? at : first ? alongRun(table, rows, r) : rowByRow(table, rows, r)
    words.push(r, rows, twiddles - at, Number(first))
    span *= r
  })
  table.words(at, words)
  return { at, scratch: 4 * n * s, radices }
}
/** w^(p k) for each row p: k from 1 on, real and imaginary parts. */
const rowByRow = (table: Table, rows: number, r: number): number =>
  table.numbers(2 * rows * (r - 1), (to) => {
    let at = 0
    for (let p = 0; p < rows; p++)
      for (let k = 1; k < r; k++) {
        const [c, s] = rootOfUnity(-p * k, rows * r)
        to[at++] = c
        to[at++] = s
      }
  })
/** The same for vectors of rows, of which the last may overlap the one before. */
const alongRun = (table: Table, rows: number, r: number): number => {
  const { lanes } = floats[table.type]
  const vectors = Math.ceil(rows / lanes)
  return table.numbers(2 * lanes * vectors * (r - 1), (to) => {
    let at = 0
    for (let v = 0; v < vectors; v++)
      for (let k = 1; k < r; k++, at += 2 * lanes)
        for (let l = 0; l < lanes; l++) {
          const p = Math.min(v * lanes, rows - lanes) + l
          const [c, s] = rootOfUnity(-p * k, rows * r)
          to[at + l] = c
          to[at + lanes + l] = s
        }
  })
}
/** Two factors of n that are multiples of a block's columns, as near each other as there are. */
const cutOf = (n: number, columns: number): readonly [number, number] | undefined => {
  if (n % (columns * columns) !== 0) return undefined
  const rest = n / (columns * columns)
  let best = 1
  for (let d = 1; d * d <= rest; d++) if (rest % d === 0) best = d
  return [(rest / best) * columns, best * columns]
}
const run = (table: Table, n: number): Made => {
  const { bytes } = floats[table.type]
  const radices = radicesOf(n)
  if (radices === undefined) return chirp(table, n)
  const cut = n * bytes > WHOLE ? cutOf(n, BLOCK / bytes) : undefined
  return cut === undefined ? line(table, n, radices, bytes) : blocks(table, ...cut)
}
const blocks = (table: Table, n1: number, n2: number): Made => {
  const { bytes } = floats[table.type]
  const columns = BLOCK / bytes
  const n = n1 * n2
  const at = table.take(4 * blocksNode.words)
  const [line1, line2] = [n1, n2].map((k) => line(table, k, radicesOf(k)!, BLOCK)) as [Made, Made]
  /** w^(j k) for k below n1, real and imaginary parts, for each j. */
  const turns = (count: number, by: number): number =>
    table.numbers(2 * n1 * count, (to) => {
      for (let j = 0; j < count; j++)
        for (let k = 0; k < n1; k++) {
          const [c, s] = rootOfUnity(-j * by * k, n)
          to[2 * j * n1 + k] = c
          to[(2 * j + 1) * n1 + k] = s
        }
    })
  const coarse = turns(n2 / columns, columns)
  const fine = turns(columns, 1)
  const node = { kind: BLOCKS, n1, n2, line1: line1.at - at, line2: line2.at - at, coarse: coarse - at, fine: fine - at }
  table.words(at, blocksNode.of(node))
  const scratch = 2 * n1 * BLOCK + Math.max(line1.scratch, line2.scratch)
  return { at, scratch, radices: [...line1.radices, ...line2.radices] }
}
/** A length of 2, 3 and 5 that is at least this, and costs least. */
const roundLength = (least: number): number => {
  let best = 2 ** Math.ceil(Math.log2(least))
  for (let five = 1; five < best; five *= 5)
    for (let odd = five; odd < best; odd *= 3) {
      const n = odd * 2 ** Math.max(4, Math.ceil(Math.log2(least / odd)))
      if (n < best) best = n
    }
  return best
}
const chirp = (table: Table, n: number): Made => {
  const { bytes } = floats[table.type]
  const m = roundLength(2 * n - 1)
  const at = table.take(4 * chirpNode.words)
  const child = run(table, m)
  const { own, over } = chirpOf(n, m)
  const pair = ([re, im]: readonly [Float64Array, Float64Array]): number =>
    table.numbers(2 * re.length, (to) => {
      to.set(re)
      to.set(im, re.length)
    })
  const [chirpAt, transformed] = [pair(own), pair(over)]
  table.words(at, chirpNode.of({ kind: CHIRP, n, m, node: child.at - at, chirp: chirpAt - at, transformed: transformed - at }))
  return { at, scratch: 4 * m * bytes + child.scratch, radices: child.radices }
}

export const fourierPlan = ({ kind, type, outer, n, inner }: FourierShape): FourierPlan => {
  const { bytes } = floats[type]
  const table = new Table(type)
  table.take(4 * tableHead.words)
  const points = kind === 'complex' ? n : n / 2
  const radices = radicesOf(points)
  const columns = kind === 'complex' && inner > 1 && inner * bytes >= 16 && radices !== undefined
  const beside = kind === 'complex' && inner === 1 && outer * bytes >= BLOCK && n * bytes <= SHORT && radices !== undefined
  const node = columns
    ? line(table, n, radices, Math.min(BLOCK, inner * bytes))
    : beside
      ? line(table, n, radices, BLOCK)
      : run(table, points)
  const half = Math.floor(n / 4) + 1
  const weights =
    kind === 'complex'
      ? 0
      : table.numbers(2 * half, (to) => {
          for (let k = 0; k < half; k++) {
            const [c, s] = rootOfUnity(-k, n)
            to[k] = c / 2
            to[half + k] = s / 2
          }
        })
  const head = {
    outer: inner === 0 ? 0 : outer,
    inner: inner * bytes,
    n,
    node: node.at,
    weights,
    columns: Number(columns),
    beside: Number(beside),
  }
  table.words(0, tableHead.of(head))
  const real = kind === 'complex' ? 0 : 4 * points * bytes
  const rows = beside ? 4 * n * BLOCK : inner === 1 || columns ? 0 : 4 * (n + 2) * Math.min(BLOCK, inner * bytes)
  return {
    radices: [...new Set(node.radices)].sort((a, b) => a - b),
    table: table.finish(),
    scratchBytes: aligned(node.scratch + real + rows + 64, 16),
  }
}
