/*
 * The GEMM kernel against plain loops in f64: every path by shape and stride, both dtypes, accumulation, batches.
 *
 * Bounds. A sum of k products accumulated in precision u has error at most (k + 1) u sum |a||b| (Higham 2002, 3.1); the inputs
 * are exact in f32, and the loops here add in f64. Blocks of k only lower it.
 */

import { describe, expect, it } from 'vitest'
import { gemmRecord } from '../../src/backends/cpu/records.js'
import { Module } from '../../src/backends/cpu/wasm/encoder.js'
import { relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import type { FloatName } from '../../src/backends/cpu/wasm/float.js'
import { emitGemm, formOf, gemmScratchBytes, type Into } from '../../src/backends/cpu/wasm/gemm.js'
import * as cd from '../../src/index.js'

const memory = new WebAssembly.Memory({ initial: 256 })
const madds = relaxedSimd() ? [false, true] : [false]
const ways = ['set', 'add', 'subtract'] as const
const forms = ['vector', 'few rows', 'few columns', 'blocks'] as const
/** How many products had each form. */
const seen = new Map<string, number>()
const kernels = new Map<string, (record: number) => void>()
{
  const m = new Module()
  m.importMemory({ min: 1 })
  for (const type of ['f32', 'f64'] as const)
    for (const madd of madds)
      for (const into of ways) {
        emitGemm(m, { type, madd, into }, `${type} ${madd} ${into}`)
        if (into !== 'subtract') for (const form of forms) emitGemm(m, { type, madd, into, form }, `${type} ${madd} ${into} ${form}`)
      }
  const bytes = m.finish()
  if (!WebAssembly.validate(bytes)) throw new Error('invalid module')
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } })
  for (const [name, f] of Object.entries(exports)) kernels.set(name, f as (record: number) => void)
}

let seed = 12345
const random = (): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return seed / 2 ** 32
}
const below = (n: number): number => Math.floor(random() * n)

interface Matrix {
  readonly offset: number
  readonly row: number
  readonly col: number
  readonly batch: number
  readonly length: number
}
type Layout = 'rows' | 'columns' | 'wide' | 'sparse' | 'ones' | 'repeat'

/** Strides, in elements, of a batch of r x c matrices in one of several layouts. */
const layOut = (layout: Layout, batch: number, r: number, c: number): Matrix => {
  const offset = layout === 'rows' ? 0 : below(4)
  const [row, col] = { rows: [c, 1], columns: [1, r], wide: [c + 3, 1], sparse: [2 * c + 1, 2], ones: [0, 0], repeat: [0, 1] }[layout] as [
    number,
    number,
  ]
  const size = Math.max(0, (r - 1) * row + (c - 1) * col + 1)
  return { offset, row, col, batch: layout === 'ones' ? 0 : size, length: offset + size * Math.max(batch, 1) }
}

interface Case {
  readonly type: FloatName
  readonly madd?: boolean
  readonly into?: Into
  readonly batch?: number
  readonly m: number
  readonly n: number
  readonly k: number
  readonly a?: Layout
  readonly b?: Layout
  readonly c?: 'rows' | 'wide'
  readonly sharedB?: boolean
}

/** Runs one product and compares it; everything around C stays untouched. */
const check = (p: Case): void => {
  const { type, m, n, k, madd = false, into = 'set', batch = 1 } = p
  const bytes = type === 'f32' ? 4 : 8
  const FloatArray = type === 'f32' ? Float32Array : Float64Array
  let top = 1024
  const place = (elements: number): number => {
    const at = top
    top = (top + elements * bytes + 15) & ~15
    return at
  }
  const a = layOut(p.a ?? 'rows', batch, m, k)
  const b = { ...layOut(p.b ?? 'rows', batch, k, n), ...(p.sharedB ? { batch: 0 } : {}) }
  const c = layOut(p.c ?? 'rows', batch, m, n)
  const [aAt, bAt] = [place(a.length), place(b.length)]
  const cAt = place(c.length + 8)
  const scratch = place(0)
  const scratchBytes = gemmScratchBytes(type, m, n, k, batch)
  const end = scratch + scratchBytes + 64
  expect(end).toBeLessThan(memory.buffer.byteLength)
  new Uint8Array(memory.buffer, 0, end).fill(0xa5)
  const fill = (at: number, length: number): Float32Array | Float64Array => {
    const values = new FloatArray(memory.buffer, at, length)
    for (let i = 0; i < length; i++) values[i] = random() * 2 - 1
    return values
  }
  const [A, B, C] = [fill(aAt, a.length), fill(bAt, b.length), fill(cAt, c.length + 8)]
  const before = C.slice()
  const inBytes = ({ batch, row, col }: Matrix): readonly number[] => [batch, row, col].map((x) => x * bytes)
  const form = formOf(type, [batch, m, n, k], inBytes(a), inBytes(b), inBytes(c))
  seen.set(form, (seen.get(form) ?? 0) + 1)
  const words = gemmRecord.of({
    c: cAt + c.offset * bytes,
    a: aAt + a.offset * bytes,
    b: bAt + b.offset * bytes,
    m,
    n,
    k,
    cRowStride: c.row * bytes,
    aRowStride: a.row * bytes,
    aColStride: a.col * bytes,
    bRowStride: b.row * bytes,
    bColStride: b.col * bytes,
    scratch,
    batch,
    cBatchStride: c.batch * bytes,
    aBatchStride: a.batch * bytes,
    bBatchStride: b.batch * bytes,
  })
  new Int32Array(memory.buffer, 256, gemmRecord.words).set(words)
  // That for all sizes, and that of the form.
  for (const kernel of into === 'subtract' ? [''] : ['', ` ${form}`]) {
    C.set(before)
    kernels.get(`${type} ${madd} ${into}${kernel}`)!(256)
    compare(p, { A, B, C, before, a, b, c, kernel: kernel || 'all' })
  }
  for (let i = scratch + scratchBytes; i < end; i++) {
    if (new Uint8Array(memory.buffer)[i] !== 0xa5)
      throw new Error(`${JSON.stringify(p)}: wrote past the scratch at +${i - scratch - scratchBytes}`)
  }
}
interface Made {
  readonly A: Float32Array | Float64Array
  readonly B: Float32Array | Float64Array
  readonly C: Float32Array | Float64Array
  readonly before: Float32Array | Float64Array
  readonly a: Matrix
  readonly b: Matrix
  readonly c: Matrix
  readonly kernel: string
}
const compare = (p: Case, { A, B, C, before, a, b, c, kernel }: Made): void => {
  const { type, m, n, k, into = 'set', batch = 1 } = p
  const sign = into === 'subtract' ? -1 : 1
  const u = type === 'f32' ? 2 ** -24 : 2 ** -53
  const label = `${JSON.stringify(p)}, ${kernel}`
  const expected = before.slice()
  for (let t = 0; t < batch; t++) {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        const at = c.offset + t * c.batch + i * c.row + j
        let sum = into === 'set' ? 0 : before[at]!
        let size = Math.abs(sum)
        for (let q = 0; q < k; q++) {
          const product = sign * A[a.offset + t * a.batch + i * a.row + q * a.col]! * B[b.offset + t * b.batch + q * b.row + j * b.col]!
          sum += product
          size += Math.abs(product)
        }
        const error = Math.abs(C[at]! - sum)
        // twice the bound: in f64 the loop here has the same error again
        if (!(error <= 2 * (k + 2) * u * size)) throw new Error(`${label}: C[${t}, ${i}, ${j}] = ${C[at]}, not ${sum}`)
        expected[at] = C[at]!
      }
    }
  }
  for (let i = 0; i < C.length; i++) if (!Object.is(C[i], expected[i])) throw new Error(`${label}: wrote outside C at ${i}`)
}

const layouts: readonly Layout[] = ['rows', 'columns', 'wide', 'sparse', 'ones', 'repeat']

for (const type of ['f32', 'f64'] as const) {
  for (const madd of madds) {
    describe(`gemm ${type}${madd ? ', relaxed madd' : ''}`, () => {
      it('every shape up to 9 x 18 with k up to 3, row-major', () => {
        for (let m = 0; m <= 9; m++) for (let n = 0; n <= 18; n++) for (let k = 0; k <= 3; k++) check({ type, madd, m, n, k })
      })
      it('every layout of A and B at small shapes, with and without accumulation', () => {
        for (const a of layouts)
          for (const b of layouts)
            for (const [m, n, k] of [
              [1, 1, 1],
              [1, 1, 37],
              [1, 9, 5],
              [7, 1, 5],
              [1, 70, 9],
              [70, 1, 9],
              [2, 3, 4],
              [5, 11, 6],
              [8, 8, 8],
              [3, 17, 19],
            ] as const)
              for (const into of ways) check({ type, madd, m, n, k, a, b, into, c: 'wide' })
      })
      it('shapes that block and pack, in every layout', () => {
        for (const a of layouts)
          for (const b of layouts) {
            check({ type, madd, m: 37, n: 45, k: 300, a, b, into: ways[below(3)]!, c: 'wide' })
            check({ type, madd, m: 131, n: 22, k: 33, a, b, into: ways[below(3)]! })
          }
        for (const a of ['rows', 'columns'] as const)
          for (const b of ['rows', 'columns'] as const) check({ type, madd, m: 30, n: 280, k: 1100, a, b })
      })
      it('any number of rows and columns, packed by tiles and groups of panels', () => {
        for (let lines = 17; lines <= 62; lines++) {
          check({ type, madd, m: lines, n: 66, k: 245, a: 'columns', c: 'wide' })
          check({ type, madd, m: lines, n: 17, k: 245, a: 'sparse' })
          check({ type, madd, m: 66, n: lines, k: 245, b: 'wide' })
          check({ type, madd, m: 17, n: lines, k: 245, b: 'columns', into: 'subtract' })
        }
      })
      it('few rows, and few columns, of every number and layout', () => {
        for (let lines = 2; lines <= 18; lines++)
          for (const a of ['rows', 'columns', 'wide', 'sparse'] as const)
            for (const b of ['rows', 'columns', 'wide'] as const) {
              const [long, k] = [30 + below(60), 140 + below(60)]
              const c = below(2) ? 'rows' : 'wide'
              check({ type, madd, m: lines, n: long, k, a, b, c, into: ways[below(3)]! })
              check({ type, madd, m: long, n: lines, k, a, b, c, into: ways[below(3)]! })
            }
      })
      it('few rows, and few columns, beyond blocks of k and of the others', () => {
        for (const lines of [2, 5, 16])
          for (const layout of ['rows', 'columns'] as const)
            for (const into of ways) {
              // rows of 4096 bytes and more; sums of 384 (f32) or 192 (f64) rows in scratch at once
              check({ type, madd, m: lines, n: 1030, k: 70, b: layout, into })
              check({ type, madd, m: 1030, n: lines, k: 140, a: layout, into, c: 'wide' })
              check({ type, madd, m: lines, n: 13, k: 1100, a: 'sparse', b: layout, into })
              check({ type, madd, m: 13, n: lines, k: 1100, a: layout, b: 'sparse', into })
            }
      })
      it('matrix-vector products longer than a block', () => {
        for (const a of layouts)
          for (const b of layouts) {
            check({ type, madd, m: 1, n: 37, k: 1500, a, b })
            check({ type, madd, m: 41, n: 1, k: 1500, a, b, into: 'subtract' })
            check({ type, madd, m: 1, n: 1, k: 2500, a, b })
          }
        check({ type, madd, m: 41, n: 1, k: 600, a: 'columns', c: 'wide' })
      })
      it('batches: own B, shared B, and shared B over contiguous rows', () => {
        for (const batch of [0, 1, 2, 5])
          for (const sharedB of [false, true])
            for (const c of ['rows', 'wide'] as const)
              for (const [m, n, k] of [
                [3, 5, 7],
                [1, 6, 4],
                [4, 1, 9],
                [17, 20, 300],
              ] as const)
                check({ type, madd, batch, sharedB, m, n, k, c, into: batch === 2 ? 'add' : 'set' })
      })
      it('random shapes', () => {
        for (let i = 0; i < 300; i++) {
          const size = (): number => 1 + below([4, 12, 40, 90][below(4)]!)
          check({
            type,
            madd,
            into: ways[below(3)]!,
            batch: 1 + below(3),
            sharedB: below(3) === 0,
            m: size(),
            n: size(),
            k: size(),
            a: layouts[below(6)]!,
            b: layouts[below(6)]!,
            c: below(2) ? 'rows' : 'wide',
          })
        }
      })
      it('an empty inner axis gives zeros, or leaves C when accumulating', () => {
        check({ type, madd, m: 5, n: 7, k: 0, c: 'wide' })
        check({ type, madd, m: 5, n: 7, k: 0, c: 'wide', into: 'add' })
        check({ type, madd, m: 5, n: 7, k: 0, c: 'wide', into: 'subtract' })
        check({ type, madd, m: 1, n: 1, k: 0 })
      })
    })
  }
}

it('reaches every form often', () => {
  for (const form of forms) expect(seen.get(form), form).toBeGreaterThan(100)
})

describe.each([
  [100, 3, 200, 32],
  [300, 1, 300, 64],
])('%i products of %i x %i matrices with the same %i columns', (batch, m, k, n) => {
  it('has room for what becomes one tall product, rows of which are turned', () => {
    const numbers = (length: number): Float64Array => Float64Array.from({ length }, () => 2 * random() - 1)
    const [x, w] = [cd.tensor(numbers(k * batch * m), [k, batch, m]), cd.tensor(numbers(n * k), [n, k])]
    const f = (a: cd.AnyExpr, b: cd.AnyExpr): unknown => cd.matmul(cd.transpose(a, [1, 2, 0] as never) as never, cd.transpose(b) as never)
    const run = (backend: cd.SyncBackend): ArrayLike<number> =>
      (cd.compile(f as never, backend) as unknown as (a: unknown, b: unknown) => cd.Tensor)(x, w).data
    const [got, want] = [run(cd.cpu({ poison: true })), run(cd.reference())]
    for (let i = 0; i < want.length; i++) expect(Math.abs(got[i]! - want[i]!)).toBeLessThan(1e-11)
  })
})

describe('gemm and special values', () => {
  const run = (m: number, n: number, k: number, A: number[], B: number[]): number[] => {
    new Float32Array(memory.buffer, 1024, m * k).set(A)
    new Float32Array(memory.buffer, 8192, k * n).set(B)
    new Int32Array(memory.buffer, 256, gemmRecord.words).set([16384, 1024, 8192, m, n, k, n * 4, k * 4, 4, n * 4, 4, 32768, 1, 0, 0, 0])
    kernels.get('f32 false set')!(256)
    return [...new Float32Array(memory.buffer, 16384, m * n)]
  }
  it('a NaN or 0 * Infinity reaches exactly its row and column', () => {
    const A = new Array(30).fill(1)
    A[7] = Number.NaN // row 1 of 5 x 6
    const B = new Array(6 * 11).fill(1)
    expect(
      run(5, 11, 6, A, B)
        .map((x, i) => Number.isNaN(x) === (Math.floor(i / 11) === 1))
        .every(Boolean),
    ).toBe(true)
    A[7] = 0
    B[11 + 10] = Number.POSITIVE_INFINITY // row 1, last column
    const y = run(5, 11, 6, A, B)
    expect(y[10]).toBe(Number.POSITIVE_INFINITY)
    expect(y[21]).toBeNaN()
    expect(y.filter(Number.isNaN).length).toBe(1)
  })
  it.each(['add', 'subtract'] as const)('%s: long inner axes, in parts', (into) => {
    for (const [m, n] of [
      [1, 5],
      [6, 1],
      [5, 9],
    ] as const)
      check({ type: 'f32', m, n, k: 9001, into, c: 'wide' })
  })
  it('f32 sums of 100,000 terms keep six digits: blocks, not one accumulator', () => {
    const k = 100_000
    new Float32Array(memory.buffer, 65536, k).fill(0.1)
    new Float32Array(memory.buffer, 65536 + 4 * k, 2 * k).fill(1)
    const exact = Math.fround(0.1) * k
    for (const n of [1, 2]) {
      new Int32Array(memory.buffer, 256, gemmRecord.words).set([
        1024,
        65536,
        65536 + 4 * k,
        2,
        n,
        k,
        n * 4,
        0,
        4,
        n * 4,
        4,
        65536 + 12 * k,
        1,
        0,
        0,
        0,
      ])
      kernels.get('f32 false set')!(256)
      for (const y of new Float32Array(memory.buffer, 1024, 2 * n)) expect(Math.abs(y - exact) / exact).toBeLessThan(n === 1 ? 2e-6 : 2e-5)
    }
  })
})
