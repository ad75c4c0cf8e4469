/** Records of the CPU's kernels: written as they are read, of any length, with addresses up to 4 GiB. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { runLoop, type Views } from '../../src/backends/cpu/plain.js'
import { products } from '../../src/backends/cpu/products.js'
import { addressAt, gemmRecord, LoopRecord, OpaqueRecord, writeGemm, writeLoop, writeOpaque } from '../../src/backends/cpu/records.js'
import type { LoopKernel } from '../../src/backends/plan/kernel.js'
import type { Operand, Work } from '../../src/backends/plan/step.js'
import { matmulPrimitive } from '../../src/core/ops/contract.js'
import * as cd from '../../src/index.js'
import { type Word, wordsOf } from './loop-harness.js'

const operand = (storage: number, strides: readonly number[]): Operand => ({ storage, offset: 0, strides })
/** A record of a step whose storage k lies at `address(k)`. */
const recordOf = (words: readonly Word[], address: (storage: number) => number): Int32Array =>
  Int32Array.from(words, (w) =>
    w === 'scratch' || w instanceof Uint8Array ? 0 : typeof w === 'number' ? w : address(w.storage) + w.offset,
  )

const [C, A, B] = [0, 1, 2] as const
/** C [2, 1] = A [2, 3] B [3, 1] in f64, or in f32. */
const product = (item: number): Work => ({
  sizes: [1, 2, 1, 3],
  reads: [operand(A, [0, 3 * item, item]), operand(B, [0, item, 0])],
  writes: [operand(C, [0, item, item])],
})

describe('records', () => {
  it('have each word where its reader looks for it', () => {
    const work = product(8)
    const words = wordsOf(writeGemm, work)
    const { at } = gemmRecord
    expect(words).toHaveLength(gemmRecord.words)
    expect([words[at.c], words[at.a], words[at.b]]).toEqual([work.writes[0], work.reads[0], work.reads[1]])
    expect([words[at.batch], words[at.m], words[at.n], words[at.k]]).toEqual([1, 2, 1, 3])
    expect([words[at.aRowStride], words[at.aColStride], words[at.bRowStride], words[at.bColStride]]).toEqual([24, 8, 8, 0])
    expect(words[at.scratch]).toBe('scratch')

    const loop: Work = { sizes: [5, 7], reads: [operand(1, [56, 8]), operand(2, [0, 16])], writes: [operand(0, [-56, 8])] }
    const [ws, r] = [wordsOf(writeLoop, loop), new LoopRecord(2, 3)]
    expect([ws[r.size(0)], ws[r.size(1)]]).toEqual([5, 7])
    expect([0, 1, 2].map((k) => ws[r.address(k)])).toEqual([...loop.reads, ...loop.writes])
    expect([0, 1, 2].map((k) => [ws[r.stride(k, 0)], ws[r.stride(k, 1)]])).toEqual([
      [56, 8],
      [0, 16],
      [-56, 8],
    ])
    expect(ws[r.scratch]).toBe('scratch')
    expect(ws.includes(undefined as never)).toBe(false)

    const whole = wordsOf(writeOpaque, loop)
    const o = new OpaqueRecord(1, 2)
    expect([whole[o.result(0)], whole[o.argument(0)], whole[o.argument(1)], whole[o.scratch]]).toEqual([
      ...loop.writes,
      ...loop.reads,
      'scratch',
    ])
    expect(wordsOf((work, to) => writeOpaque(work, to, { sizes: [3, 5] }), loop).slice(o.behind)).toEqual([3, 5])
    const table = Uint8Array.of(1)
    expect(wordsOf((work, to) => writeOpaque(work, to, { table }), loop)[o.behind]).toBe(table)
  })

  it('have unsigned addresses', () => {
    expect(addressAt(Int32Array.of(0, 5, -8, 2 ** 31), 2)).toBe(2 ** 32 - 8)
    expect(addressAt(Int32Array.of(2 ** 31), 0)).toBe(2 ** 31)
  })

  /** A memory of 4 GiB of which only the elements exist that are written. */
  const sparse = (
    item: number,
  ): { readonly memory: Record<number, number>; readonly views: Views; readonly put: (byte: number, x: number[]) => void } => {
    const memory: Record<number, number> = {}
    return {
      memory,
      views: { get: () => memory } as unknown as Views,
      put: (byte, xs) => {
        xs.forEach((x, i) => {
          memory[byte / item + i] = x
        })
      },
    }
  }
  it('reach beyond 2 GiB in plain JavaScript', () => {
    const at = [2 ** 32 - 64, 2 ** 31, 2 ** 31 + 1024] as const
    for (const accumulate of [false, true]) {
      const { memory, views, put } = sparse(8)
      put(at[A], [1, 2, 3, 4, 5, 6])
      put(at[B], [1, 10, 100])
      put(at[C], [7, 7])
      products.run(
        { kind: 'gemm', prim: matmulPrimitive as never, dtype: 'f64', accumulate },
        recordOf(wordsOf(writeGemm, product(8)), (k) => at[k as 0 | 1 | 2]),
        views,
      )
      expect([memory[at[C] / 8], memory[at[C] / 8 + 1]]).toEqual(accumulate ? [328, 661] : [321, 654])
    }
    const copy = (item: 1 | 4, access: 'unit' | 'any'): LoopKernel => {
      const dtype = item === 1 ? 'bool' : 'f32'
      return {
        kind: 'loop',
        rank: 1,
        body: { inputs: [dtype], ops: [], results: [0] },
        inputs: [access],
        outputs: [{ dtype, access: 'unit' }],
      }
    }
    for (const item of [1, 4] as const)
      for (const backwards of [false, true]) {
        const { memory, views, put } = sparse(item)
        put(at[A], [1, 0, 0])
        const read = { ...operand(A, [backwards ? -item : item]), offset: backwards ? 2 * item : 0 }
        const words = wordsOf(writeLoop, { sizes: [3], reads: [read], writes: [operand(C, [item])] })
        runLoop(
          copy(item, backwards ? 'any' : 'unit'),
          recordOf(words, (k) => at[k as 0 | 1]),
          views,
        )
        expect([0, 1, 2].map((i) => memory[at[C] / item + i])).toEqual(backwards ? [0, 0, 1] : [1, 0, 0])
      }
  })

  for (const simd of [false, true])
    it(`are as long as their kernels need (${simd ? 'SIMD' : 'plain JavaScript'})`, () => {
      const n = 3000
      const xs = Array.from({ length: n }, (_, i) => Float64Array.of(i, 2 * i))
      const add = cd.add as unknown as (a: unknown, b: unknown) => cd.AnyExpr
      const map = cd.map as unknown as (f: (...zs: cd.AnyExpr[]) => cd.AnyExpr, ...ys: unknown[]) => cd.AnyExpr
      const f = cd.compile((...ys: never[]) => map((...zs) => zs.reduce(add), ...ys) as never, makeCpu({ simd, verify: true }))
      const call = f as unknown as (...xs: readonly Float64Array[]) => cd.Tensor
      const total = (n * (n - 1)) / 2
      expect(call(...xs).toArray()).toEqual([total, 2 * total])
      expect(new LoopRecord(1, n + 1).scratch).toBeGreaterThan(4096)
    }, 60_000)
})
