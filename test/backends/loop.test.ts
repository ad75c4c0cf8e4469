/** The loop generator: accesses, tails, folds, mixed dtypes and aliases; against the plain executor and against the definition. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Access, Body, Fold, LoopOutput } from '../../src/backends/plan/kernel.js'
import type { TypedArray } from '../../src/core/graph/ndarray.js'
import { compare, elementwise } from '../../src/core/ops/families.js'
import type { DType } from '../../src/core/types/dtype.js'
import { count } from '../depth.js'
import { byMeaning, byPlain, byWasm, type Case, dense, loop, op } from './loop-harness.js'

const { add, mul, sub, square, exp, maximum, where, cast, neg, lgamma } = elementwise
const same = (got: readonly TypedArray[], want: readonly TypedArray[], what = ''): void => {
  want.forEach((w, b) => {
    for (let i = 0; i < w.length; i++)
      expect(Object.is(got[b]![i], w[i]), `${what} buffer ${b}[${i}]: ${got[b]![i]}, not ${w[i]}`).toBe(true)
  })
}
/** Every executor gives the same bits as the definition. */
const agree = (c: Case, what = ''): void => {
  const want = byMeaning(c)
  same(byWasm(c), want, `wasm ${what}`)
  same(byPlain(c), want, `plain ${what}`)
}
/** Small integers: sums and products of a few are exact in every dtype and any order. */
const numbers = (n: number, dtype: DType, seed = 1): number[] =>
  Array.from({ length: n }, (_, i) => {
    const k = (Math.imul(i + seed, 2654435761) >>> 8) % 7
    return dtype === 'bool' ? k & 1 : k - 3
  })
const DTYPES = ['f64', 'f32', 'i32', 'bool'] as const
const plain = (dtype: DType): LoopOutput => ({ dtype, access: 'unit' })

describe('stores', () => {
  for (const dtype of DTYPES)
    for (const beside of [false, true])
      it(`copies of ${dtype}${beside ? ' beside f64' : ''} with every access, for n = 0 ... 9`, () => {
        for (let n = 0; n <= 9; n++)
          for (const read of ['unit', 'zero', 'any'] as const)
            for (const write of ['unit', 'any'] as const) {
              const stride = { unit: 1, zero: 0, any: 3 }
              const inputs: DType[] = beside ? [dtype, 'f64'] : [dtype]
              const body: Body = { inputs, ops: [], results: [0] }
              agree(
                {
                  kernel: loop(1, body, beside ? [read, 'unit'] : [read], [{ dtype, access: write }]),
                  sizes: [n],
                  buffers: [
                    { dtype, data: numbers(40, dtype) },
                    { dtype: 'f64', data: numbers(10, 'f64') },
                    { dtype, data: numbers(40, dtype, 9) },
                  ],
                  operands: [
                    { buffer: 0, offset: 1, strides: [stride[read]] },
                    ...(beside ? [{ buffer: 1, offset: 0, strides: [1] }] : []),
                    { buffer: 2, offset: 2, strides: [stride[write]] },
                  ],
                },
                `n ${n}, ${read} to ${write}`,
              )
            }
      })
  it('walks backwards, and across the rows of a transposed matrix', () => {
    for (const dtype of DTYPES)
      agree({
        kernel: loop(2, { inputs: [dtype], ops: [], results: [0] }, ['any'], [plain(dtype)]),
        sizes: [5, 7],
        buffers: [
          { dtype, data: numbers(35, dtype) },
          { dtype, data: numbers(35, dtype, 3) },
        ],
        operands: [
          { buffer: 0, offset: 34, strides: [-1, -5] },
          { buffer: 1, offset: 0, strides: [7, 1] },
        ],
      })
  })
  it('runs every rank from 0 to 6, with broadcast operands', () => {
    for (let rank = 0; rank <= 6; rank++) {
      const sizes = [2, 3, 1, 2, 3, 5].slice(6 - rank)
      const strides = dense(sizes)
      const total = sizes.reduce((a, b) => a * b, 1)
      const row = strides.map((_, a) => (a === rank - 1 ? 1 : 0))
      const column = strides.map((_, a) => (a === 0 && rank > 1 ? 1 : 0))
      const body: Body = {
        inputs: ['f32', 'f32', 'f32'],
        ops: [op(mul, [0, 1], 'f32'), op(sub, [3, 2], 'f32')],
        results: [4],
      }
      agree(
        {
          kernel: loop(rank, body, ['unit', 'unit', rank > 1 ? 'zero' : 'any'], [plain('f32')]),
          sizes,
          buffers: [
            { dtype: 'f32', data: numbers(total, 'f32') },
            { dtype: 'f32', data: numbers(8, 'f32', 4) },
            { dtype: 'f32', data: numbers(8, 'f32', 5) },
            { dtype: 'f32', data: new Float32Array(total) },
          ],
          operands: [
            { buffer: 0, offset: 0, strides },
            { buffer: 1, offset: 0, strides: row },
            { buffer: 2, offset: 1, strides: column },
            { buffer: 3, offset: 0, strides },
          ],
        },
        `rank ${rank}`,
      )
    }
  })
  it('writes over an input in place, with two results of one pass', () => {
    for (const dtype of ['f64', 'f32', 'i32'] as const)
      for (let n = 0; n <= 9; n++)
        agree({
          kernel: loop(
            1,
            { inputs: [dtype, dtype], ops: [op(add, [0, 1], dtype), op(mul, [0, 1], dtype)], results: [2, 3] },
            ['unit', 'unit'],
            [plain(dtype), plain(dtype)],
          ),
          sizes: [n],
          buffers: [
            { dtype, data: numbers(9, dtype) },
            { dtype, data: numbers(9, dtype, 2) },
          ],
          operands: [0, 1, 0, 1].map((buffer) => ({ buffer, offset: 0, strides: [1] })),
        })
  })
  it('calls meanings lane by lane, and keeps constants outside the loop', () => {
    for (const dtype of ['f64', 'f32'] as const)
      for (let n = 0; n <= 6; n++)
        agree({
          kernel: loop(
            1,
            { inputs: [dtype, dtype], ops: [op(lgamma, [1], dtype), op(lgamma, [0], dtype), op(add, [2, 3], dtype)], results: [4] },
            ['unit', 'zero'],
            [plain(dtype)],
          ),
          sizes: [n],
          buffers: [
            { dtype, data: [0.5, 1.5, 2.5, 3.5, 4.5, 5.5] },
            { dtype, data: [7.25] },
            { dtype, data: new Float64Array(6) },
          ],
          operands: [
            { buffer: 0, offset: 0, strides: [1] },
            { buffer: 1, offset: 0, strides: [0] },
            { buffer: 2, offset: 0, strides: [1] },
          ],
        })
  })
  it('holds the four dtypes in one loop', () => {
    const body: Body = {
      inputs: ['f64', 'f32', 'i32', 'bool'],
      ops: [
        op(cast, [1], 'f64', { dtype: 'f64' }), // 4
        op(add, [0, 4], 'f64'), // 5
        op(compare.gt, [1, 1], 'bool'), // 6
        op(compare.lt, [2, 2], 'bool'), // 7
        op(compare.le, [0, 4], 'bool'), // 8
        op(compare.logicalOr, [3, 8], 'bool'), // 9
        op(where, [9, 5, 0], 'f64'), // 10
        op(where, [9, 1, 1], 'f32'), // 11
        op(neg, [11], 'f32'), // 12
        op(where, [3, 1, 12], 'f32'), // 13
        op(where, [8, 2, 2], 'i32'), // 14
        op(compare.logicalNot, [9], 'bool'), // 15
        op(cast, [15], 'i32', { dtype: 'i32' }), // 16
        op(sub, [14, 16], 'i32'), // 17
      ],
      results: [10, 13, 17, 9],
    }
    for (let n = 0; n <= 9; n++)
      for (const access of ['unit', 'any'] as const) {
        const stride = access === 'unit' ? 1 : 2
        agree({
          kernel: loop(
            1,
            body,
            DTYPES.map(() => access),
            DTYPES.map((dtype) => ({ dtype, access })),
          ),
          sizes: [n],
          buffers: [...DTYPES, ...DTYPES].map((dtype, i) => ({ dtype, data: numbers(20, dtype, i) })),
          operands: Array.from({ length: 8 }, (_, buffer) => ({ buffer, offset: 0, strides: [stride] })),
        })
      }
  })
  it('keeps a long body within few registers', () => {
    const ops = Array.from({ length: 500 }, (_, i) => op(i % 3 === 0 ? neg : add, i % 3 === 0 ? [i] : [i, Math.max(0, i - 5)], 'i32'))
    agree({
      kernel: loop(1, { inputs: ['i32'], ops, results: [500] }, ['unit'], [plain('i32')]),
      sizes: [9],
      buffers: [
        { dtype: 'i32', data: numbers(9, 'i32') },
        { dtype: 'i32', data: new Int32Array(9) },
      ],
      operands: [0, 1].map((buffer) => ({ buffer, offset: 0, strides: [1] })),
    })
  })
})

describe('folds', () => {
  const patterns = (rank: number): boolean[][] =>
    rank === 0
      ? [[]]
      : patterns(rank - 1).flatMap((p) => [
          [...p, false],
          [...p, true],
        ])
  const foldCase = (
    f: Fold,
    dtype: DType,
    sizes: readonly number[],
    axes: readonly boolean[],
    accumulate: boolean,
    access: Access,
    data?: readonly number[],
  ): Case => {
    const total = sizes.reduce((a, b) => a * b, 1)
    const kept = sizes.map((s, a) => (axes[a] ? 1 : s))
    const gap = access === 'any' ? 2 : 1
    const last = sizes.length - 1
    const strides = dense(kept).map((s, a) => (axes[a] ? 0 : s * gap))
    return {
      kernel: loop(
        sizes.length,
        { inputs: [dtype], ops: [], results: [0] },
        ['unit'],
        [{ dtype, access: axes[last] ? 'zero' : access, fold: { op: f, axes, accumulate } }],
      ),
      sizes,
      buffers: [
        { dtype, data: data ?? numbers(total, dtype) },
        { dtype, data: numbers(Math.max(1, gap * kept.reduce((a, b) => a * b, 1)), dtype, 11) },
      ],
      operands: [
        { buffer: 0, offset: 0, strides: dense(sizes) },
        { buffer: 1, offset: 0, strides },
      ],
    }
  }
  for (const f of ['sum', 'prod', 'max', 'min'] as const)
    it(`${f}: every axis pattern, dtype, start and access, empty axes too`, () => {
      for (const dtype of ['f64', 'f32', 'i32'] as const)
        for (const sizes of [[0], [1], [3], [7], [9], [2, 3], [3, 9], [0, 3], [3, 0], [2, 2, 5], [2, 0, 2]])
          for (const axes of patterns(sizes.length)) {
            if (!axes.includes(true)) continue
            for (const accumulate of [false, true])
              for (const access of ['unit', 'any'] as const)
                agree(foldCase(f, dtype, sizes, axes, accumulate, access), `${f} ${dtype} [${sizes}] over ${axes} ${accumulate} ${access}`)
          }
    })
  it('max and min keep NaN, wherever it lies', () => {
    for (const dtype of ['f64', 'f32'] as const)
      for (const f of ['max', 'min'] as const)
        for (let at = 0; at < 11; at++) {
          const data = Array.from({ length: 11 }, (_, i) => (i === at ? Number.NaN : i))
          agree(foldCase(f, dtype, [11], [true], false, 'unit', data))
          agree(foldCase(f, dtype, [11, 1], [true, false], false, 'unit', data))
          expect(byWasm(foldCase(f, dtype, [11], [true], false, 'unit', data))[1]![0]).toBeNaN()
        }
  })
  it('sums and products of i32 wrap', () => {
    const data = [2147483647, 2147483647, 65537, 65539, 12345, -7, 99, 1]
    for (const f of ['sum', 'prod'] as const) {
      const want = data.reduce((a, b) => (f === 'sum' ? (a + b) | 0 : Math.imul(a, b)))
      expect(byWasm(foldCase(f, 'i32', [8], [true], false, 'unit', data))[1]![0]).toBe(want)
      expect(byPlain(foldCase(f, 'i32', [8], [true], false, 'unit', data))[1]![0]).toBe(want)
    }
  })
  it('sums of many f32 keep their accuracy', () => {
    const n = 200_000
    const data = Array.from({ length: n }, (_, i) => Math.fround(((i * 0.6180339887498949) % 1) + 0.5))
    const want = data.reduce((a, b) => a + b, 0)
    const got = byWasm(foldCase('sum', 'f32', [n], [true], false, 'unit', data))[1]![0]!
    expect(Math.abs(got / want - 1)).toBeLessThan(2e-7)
  })
  it('one loop stores exp(z) in place, its row sums, and its total', () => {
    for (const dtype of ['f64', 'f32'] as const)
      for (const [rows, columns] of [
        [3, 7],
        [4, 8],
        [0, 3],
        [2, 0],
      ] as const) {
        const c: Case = {
          kernel: loop(
            2,
            { inputs: [dtype], ops: [op(exp, [0], dtype)], results: [1, 1, 1] },
            ['unit'],
            [
              plain(dtype),
              { dtype, access: 'zero', fold: { op: 'sum', axes: [false, true], accumulate: false } },
              { dtype, access: 'zero', fold: { op: 'sum', axes: [true, true], accumulate: true } },
            ],
          ),
          sizes: [rows, columns],
          buffers: [
            { dtype, data: Array.from({ length: rows * columns }, (_, i) => (i % 5) / 3 - 1) },
            { dtype, data: numbers(rows, dtype) },
            { dtype, data: [100] },
          ],
          operands: [
            { buffer: 0, offset: 0, strides: [columns, 1] },
            { buffer: 0, offset: 0, strides: [columns, 1] },
            { buffer: 1, offset: 0, strides: [1, 0] },
            { buffer: 2, offset: 0, strides: [0, 0] },
          ],
        }
        const want = byMeaning(c)
        for (const got of [byWasm(c), byPlain(c)])
          want.forEach((w, b) => {
            for (let i = 0; i < w.length; i++)
              expect(Math.abs(got[b]![i]! - w[i]!)).toBeLessThanOrEqual(4 * Math.abs(w[i]!) * (dtype === 'f32' ? 2 ** -23 : 2 ** -52))
          })
      }
  })
})

describe('random loops', () => {
  /** Operations whose result is exactly rounded: every executor must give the same bits. */
  const unaries = [elementwise.neg, elementwise.abs, elementwise.square, elementwise.sign, elementwise.relu] as const
  const binaries = [add, sub, mul, maximum, elementwise.minimum] as const
  const comparisons = [compare.eq, compare.ne, compare.lt, compare.le, compare.gt, compare.ge] as const
  const choice = fc.tuple(fc.nat(7), fc.nat(1000), fc.nat(1000), fc.nat(1000))
  const model = fc.record({
    inputs: fc.array(fc.constantFrom(...DTYPES), { minLength: 1, maxLength: 4 }),
    accesses: fc.array(fc.constantFrom<Access>('unit', 'zero', 'any'), { minLength: 4, maxLength: 4 }),
    ops: fc.array(choice, { maxLength: 14 }),
    results: fc.array(fc.nat(1000), { minLength: 1, maxLength: 3 }),
    sizes: fc.array(fc.nat(6), { minLength: 1, maxLength: 3 }),
    folds: fc.array(fc.option(fc.tuple(fc.constantFrom<Fold>('sum', 'max', 'min'), fc.nat(6), fc.boolean())), {
      minLength: 3,
      maxLength: 3,
    }),
    seed: fc.nat(100),
  })
  const build = (m: typeof model extends fc.Arbitrary<infer T> ? T : never): Case => {
    const dtypes: DType[] = [...m.inputs]
    const ops: Body['ops'][number][] = []
    const push = (o: Body['ops'][number]): void => {
      ops.push(o)
      dtypes.push(o.dtype)
    }
    for (const [kind, a0, b0, c0] of m.ops) {
      const pick = (n: number): number => n % dtypes.length
      const a = pick(a0)
      const d = dtypes[a]!
      const alike = dtypes.map((x, i) => (x === d ? i : -1)).filter((i) => i >= 0)
      const b = alike[b0 % alike.length]!
      if (kind <= 1 && d !== 'bool') push(op(unaries[b0 % unaries.length], [a], d))
      else if (kind <= 3 && d !== 'bool') push(op(binaries[c0 % binaries.length], [a, b], d))
      else if (kind === 4) push(op(comparisons[c0 % comparisons.length], [a, b], 'bool'))
      else if (kind === 5) {
        const to = DTYPES[c0 % 4]!
        push(op(cast, [a], to, { dtype: to }))
      } else if (kind === 6) {
        const masks = dtypes.map((x, i) => (x === 'bool' ? i : -1)).filter((i) => i >= 0)
        if (masks.length > 0) push(op(where, [masks[c0 % masks.length]!, a, b], d))
      } else if (d === 'bool') push(op([compare.logicalAnd, compare.logicalOr][c0 % 2], [a, b], 'bool'))
      else push(op(compare.isfinite, [a], 'bool'))
    }
    const rank = m.sizes.length
    const total = m.sizes.reduce((x, y) => x * y, 1)
    const strides = dense(m.sizes)
    const results = m.results.map((r) => r % dtypes.length)
    const outputs = results.map((r, k): LoopOutput & { readonly strides: readonly number[]; readonly size: number } => {
      const dtype = dtypes[r]!
      const fold = m.folds[k]
      if (!fold || dtype === 'bool') return { dtype, access: 'unit', strides, size: total }
      const [f, bits, accumulate] = fold
      const axes = m.sizes.map((_, a) => ((bits >> a) & 1) === 1)
      if (!axes.includes(true)) axes[rank - 1] = true
      const kept = m.sizes.map((s, a) => (axes[a] ? 1 : s))
      return {
        dtype,
        access: axes[rank - 1] ? 'zero' : 'unit',
        fold: { op: f, axes, accumulate },
        strides: dense(kept).map((s, a) => (axes[a] ? 0 : s)),
        size: kept.reduce((x, y) => x * y, 1),
      }
    })
    const accesses = m.inputs.map((_, i) => m.accesses[i]!)
    return {
      kernel: loop(
        rank,
        { inputs: m.inputs, ops, results },
        accesses,
        outputs.map(({ dtype, access, fold }) => (fold ? { dtype, access, fold } : { dtype, access })),
      ),
      sizes: m.sizes,
      buffers: [
        ...m.inputs.map((dtype, i) => ({ dtype, data: numbers(2 * total + 1, dtype, m.seed + i) })),
        ...outputs.map(({ dtype, size }, i) => ({ dtype, data: numbers(size, dtype, m.seed + 50 + i) })),
      ],
      operands: [
        ...accesses.map((access, buffer) => ({
          buffer,
          offset: 0,
          strides:
            access === 'unit' ? strides : access === 'any' ? strides.map((s) => 2 * s) : strides.map((s, a) => (a === rank - 1 ? 0 : s)),
        })),
        ...outputs.map((o, i) => ({ buffer: m.inputs.length + i, offset: 0, strides: o.strides })),
      ],
    }
  }
  it('agree with the definition', () => {
    fc.assert(
      fc.property(model, (m) => {
        const c = build(m)
        const want = byMeaning(c)
        const close = (got: readonly TypedArray[], what: string): void => {
          want.forEach((w, b) => {
            const summed = c.kernel.outputs[b - m.inputs.length]?.fold?.op === 'sum'
            const eps = c.buffers[b]!.dtype === 'f32' ? 2 ** -20 : 2 ** -48
            const top = summed && c.buffers[b]!.dtype !== 'i32' ? Array.from(w).reduce((x, y) => Math.max(x, Math.abs(y)), 0) : 0
            for (let i = 0; i < w.length; i++) {
              const ok = Object.is(got[b]![i], w[i]) || Math.abs(got[b]![i]! - w[i]!) <= eps * top
              expect(ok, `${what} buffer ${b}[${i}]: ${got[b]![i]}, not ${w[i]}`).toBe(true)
            }
          })
        }
        close(byWasm(c), 'wasm')
        close(byPlain(c), 'plain')
      }),
      { numRuns: count(80, 400) },
    )
  })
  it('a square and its sum in one pass', () => {
    for (let n = 0; n < 40; n++)
      agree({
        kernel: loop(
          1,
          { inputs: ['f32'], ops: [op(square, [0], 'f32')], results: [1, 1] },
          ['unit'],
          [plain('f32'), { dtype: 'f32', access: 'zero', fold: { op: 'sum', axes: [true], accumulate: false } }],
        ),
        sizes: [n],
        buffers: [
          { dtype: 'f32', data: numbers(40, 'f32', n) },
          { dtype: 'f32', data: new Float32Array(40) },
          { dtype: 'f32', data: [5] },
        ],
        operands: [
          { buffer: 0, offset: 0, strides: [1] },
          { buffer: 1, offset: 0, strides: [1] },
          { buffer: 2, offset: 0, strides: [0] },
        ],
      })
  })
})
