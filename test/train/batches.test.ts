// Minibatches and splits: what they hold, that orders follow from seeds alone, their types, and what is wrong with data.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DType, explain, isAdException, NoTangent, type Tensor, tensor } from '../../src/index.js'
import { batches, splitData } from '../../src/train/index.js'
import { permutation, threefry } from '../../src/train/order.js'

const messageOf = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return explain(e.error)
    throw e
  }
  throw new Error('no error')
}
const rowsOf = (t: { readonly data: ArrayLike<number> }): number[] => Array.from(t.data)

describe('Threefry-2x32-20', () => {
  // Known answers of Random123, kat_vectors (Salmon et al. 2011).
  it.each([
    [
      [0, 0, 0, 0],
      [0x6b200159, 0x99ba4efe],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0x1cb996fc, 0xbb002be7],
    ],
    [
      [0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3],
      [0xc4923a9c, 0x483df7a0],
    ],
  ] as const)('%j', ([k0, k1, c0, c1], words) => {
    expect(threefry(k0, k1, c0, c1)).toEqual(words)
  })
})

describe('a permutation', () => {
  it('is one, and another for another seed, stream or sign', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), fc.maxSafeInteger(), fc.nat(), (n, seed, stream) => {
        expect([...permutation(n, seed, stream)].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i))
      }),
    )
    const orders = [1, -1, 2 ** 32 + 1, 2, Number.MAX_SAFE_INTEGER].flatMap((seed) => [0, 1].map((s) => permutation(40, seed, s).join()))
    expect(new Set(orders).size).toBe(orders.length)
  })
  it('is the same on every machine', () => {
    expect([...permutation(10, 1, 0)]).toEqual([8, 0, 7, 6, 9, 3, 4, 1, 2, 5])
    expect([...permutation(10, -7, 3)]).toEqual([9, 5, 7, 2, 6, 3, 4, 0, 8, 1])
  })
  it('has each order of 4 as often as any other: chi-squared over 24,000 seeds', () => {
    const counts = new Map<string, number>()
    for (let seed = 0; seed < 24_000; seed++) {
      const key = permutation(4, seed, 0).join()
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    expect(counts.size).toBe(24)
    // 23 degrees of freedom: 99.99 % lie below 60
    expect([...counts.values()].reduce((s, n) => s + (n - 1000) ** 2 / 1000, 0)).toBeLessThan(60)
  })
})

const dtypes: readonly DType[] = ['f64', 'f32', 'i32', 'bool']

describe('batches', () => {
  it('hold every row once in an epoch, whatever dtype, row shape, size and seed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
        fc.constantFrom(...dtypes),
        fc.option(fc.maxSafeInteger(), { nil: undefined }),
        fc.boolean(),
        fc.nat(29),
        (rows, shape, dtype, seed, reuse, extra) => {
          const width = shape.reduce((n, d) => n * d, 1)
          const ids = Int32Array.from({ length: rows }, (_, i) => i)
          const values = Array.from({ length: rows * width }, (_, i) => (dtype === 'bool' ? ((i * 7) % 3) & 1 : i - 5))
          const x = tensor(values, [rows, ...shape] as number[], dtype) as Tensor
          const size = 1 + (extra % rows)
          const data = batches({ ids, deep: [{ x }] as const }, { size, reuse, ...(seed !== undefined && { seed }) })
          const seen: number[] = []
          for (const { ids: at, deep } of data.epoch(2)) {
            expect(at.dtype).toBe('i32')
            expect([deep[0].x.shape, deep[0].x.dtype]).toEqual([[at.data.length, ...shape], dtype])
            at.data.forEach((row, i) => {
              expect([...deep[0].x.data.subarray(i * width, (i + 1) * width)]).toEqual([...x.data.subarray(row * width, (row + 1) * width)])
            })
            seen.push(...at.data)
          }
          expect(data.steps).toBe(Math.ceil(rows / size))
          expect([...seen].sort((a, b) => a - b)).toEqual([...ids])
          if (seed === undefined) expect(seen).toEqual([...ids])
        },
      ),
    )
  })
  it('follow from seed, epoch and step alone, in whatever order they are asked for', () => {
    const x = Int32Array.from({ length: 100 }, (_, i) => i)
    const [one, other] = [batches({ x }, { size: 7, seed: 5 }), batches({ x }, { size: 7, seed: 5 })]
    const inTurn = [0, 1, 2].flatMap((epoch) => Array.from({ length: one.steps }, (_, step) => rowsOf(one.at(epoch, step).x)))
    const backwards = [2, 1, 0].flatMap((epoch) =>
      Array.from({ length: one.steps }, (_, i) => rowsOf(other.at(epoch, one.steps - 1 - i).x)),
    )
    expect(backwards.reverse()).toEqual(inTurn)
    expect(inTurn[0]).not.toEqual(inTurn[one.steps])
  })
  it('end with a smaller one, or leave it out', () => {
    const x = [1, 2, 3, 4, 5]
    expect([...batches(x, { size: 2 }).epoch(0)].map(rowsOf)).toEqual([[1, 2], [3, 4], [5]])
    expect([...batches(x, { size: 2, dropLast: true }).epoch(0)].map(rowsOf)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(batches(x, { size: 5 }).steps).toBe(1)
  })
  it('are written into the same tensors with reuse, into fresh ones without', () => {
    const x = [1, 2, 3, 4, 5]
    const again = batches({ x }, { size: 2, reuse: true })
    const [a, b, last] = [again.at(0, 0), again.at(0, 1), again.at(0, 2)]
    expect([a.x === b.x, a.x === last.x, again.at(1, 2).x === last.x]).toEqual([true, false, true])
    expect(rowsOf(a.x)).toEqual([3, 4])
    const fresh = batches({ x }, { size: 2 })
    expect(rowsOf([fresh.at(0, 0), fresh.at(0, 1)][0]!.x)).toEqual([1, 2])
  })
  it('never write into the data, and read it at the call', () => {
    const x = tensor([1, 2, 3])
    const data = batches(x, { size: 2, reuse: true })
    data.at(0, 0).data.fill(9)
    expect(x.toArray()).toEqual([1, 2, 3])
  })
  it('keep NoTangent, booleans and rows of no elements', () => {
    const at = batches({ a: NoTangent, b: [true, false], c: tensor([], [2, 0], 'f32') }, { size: 1 }).at(0, 1)
    expect(at.a).toBe(NoTangent)
    expect([at.b.toArray(), at.c.shape]).toEqual([[false], [1, 0]])
  })
  it('have the types of the data, with another leading axis', () => {
    const x = tensor([[1, 2, 3], [4, 5, 6]], [2, 3], 'f32') // biome-ignore format: rows
    const data = { x, y: new Int32Array(2), deep: [tensor([1, 2])] as const, rows: [[1], [2]] }
    const loose = batches(data, { size: 2 }).at(0, 0)
    const three: 3 = loose.x.shape[1]
    const f32: 'f32' = loose.x.dtype
    const i32: Tensor<[number], 'i32'> = loose.y
    const nested: Tensor<[number, number], 'f64'> = loose.rows
    // @ts-expect-error the last batch may be smaller
    const two: 2 = loose.x.shape[0]
    const fixed = batches(data, { size: 2, dropLast: true }).at(0, 0)
    const exact: 2 = fixed.deep[0].shape[0]
    // @ts-expect-error there is no such leaf
    fixed.z
    expect([three, f32, i32.dtype, nested.shape, two, exact]).toEqual([3, 'f32', 'i32', [2, 1], 2, 2])
  })
  it.each<readonly [string, () => unknown, RegExp]>([
    [
      'leaves of different lengths',
      () => batches({ x: [[1], [2]], y: { z: [1, 2, 3] } }, { size: 1 }),
      /batches: x has 2 rows, y\.z has 3\.[\s\S]*fix: the first axis/,
    ],
    ['a size of 0', () => batches([1], { size: 0 }), /size must be a whole number from 1 to 1, not 0/],
    ['a size above the rows', () => batches([1, 2], { size: 3 }), /size must be a whole number from 1 to 2, not 3/],
    ['no size', () => batches([1, 2], {} as never), /size must be a whole number from 1 to 2, not undefined/],
    ['a NaN seed', () => batches([1], { size: 1, seed: Number.NaN }), /the seed must be a whole number, not NaN/],
    [
      'an unknown option',
      () => batches([1], { size: 1, shuffle: true } as never),
      /there is no option shuffle[\s\S]*size, seed, dropLast, reuse/,
    ],
    ['a flag that is none', () => batches([1], { size: 1, dropLast: 1 as never }), /dropLast must be true or false, not 1/],
    [
      'rows as a reader of CSV gives them',
      () => batches([{ a: 1, b: 'x' }, { a: 2, b: 'y' }] as never, { size: 1 }),
      /batches: the data is a list of records[\s\S]*x: rows\.map\(\(row\) => \[row\.a, row\.b\]\)/,
    ], // biome-ignore format: a case
    [
      'a column of texts',
      () => batches({ x: [1, 2], y: ['1', '2'] } as never, { size: 1 }),
      /batches: y: a list of texts\.[\s\S]*x\.map\(Number\)/,
    ],
    ['a table of texts', () => batches({ in: { x: [['1', '2']] } } as never, { size: 1 }), /batches: in\.x: a list of texts/],
    ['a scalar', () => batches({ x: 1 }, { size: 1 }), /batches: x: a scalar has no rows/],
    ['no rows', () => batches({ x: [] }, { size: 1 }), /the data has no rows/],
    ['no arrays', () => batches({}, { size: 1 }), /the data has no array/],
    ['a ragged array', () => batches({ x: [[1], [2, 3]] }, { size: 1 }), /batches: x: ragged array/],
    [
      'bytes that are no booleans',
      () => batches({ x: Uint8Array.of(0, 255) }, { size: 1 }),
      /batches: x: a Uint8Array holds booleans.*\n.*\n? *fix: pass Int32Array/,
    ],
    ['an epoch below 0', () => batches([1], { size: 1 }).at(-1, 0), /the epoch must be from 0/],
    ['a step too far', () => batches([1], { size: 1 }).at(0, 1), /the step must be from 0 to 0, not 1/],
    [
      'a tensor without its buffer',
      () => {
        const t = tensor([1, 2])
        structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] })
        return batches({ t }, { size: 1 })
      },
      /batches: t: the tensor has lost its elements/,
    ],
  ])('refuse %s', (_, f, message) => {
    // biome-ignore format: a table
    expect(messageOf(f)).toMatch(message)
  })
})

describe('splitData', () => {
  it('puts every row into one part', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 60 }),
        fc.option(fc.maxSafeInteger(), { nil: undefined }),
        fc.double({ min: 0.3, max: 0.7, noNaN: true }),
        (rows, seed, share) => {
          const x = Float32Array.from({ length: rows }, (_, i) => i)
          const [a, b] = splitData({ x }, [share, 1 - share], seed === undefined ? undefined : { seed })
          expect(a.x.data.length).toBe(Math.round(share * rows))
          expect([...a.x.data, ...b.x.data].sort((p, q) => p - q)).toEqual([...x])
          if (seed === undefined) expect([...a.x.data, ...b.x.data]).toEqual([...x])
          else expect(splitData({ x }, [share, 1 - share], { seed })[1].x.data).toEqual(b.x.data)
        },
      ),
    )
  })
  it('takes numbers of rows, and gives as many parts as it is given', () => {
    const parts = splitData({ x: [1, 2, 3, 4], y: [[1], [2], [3], [4]] }, [2, 1, 1], { seed: 4 })
    expect(parts.map((p) => p.x.shape)).toEqual([[2], [1], [1]])
    for (const { x, y } of parts) expect(y.toArray().flat()).toEqual(x.toArray())
    const third: Tensor<[number], 'f64'> = parts[2].x
    // @ts-expect-error there are three parts
    parts[3]
    expect(third.shape).toEqual([1])
  })
  it('may be given options that are undefined', () => {
    const off = { seed: undefined, dropLast: undefined, reuse: undefined }
    expect(
      batches([1, 2, 3], { size: 2, ...off })
        .at(0, 1)
        .toArray(),
    ).toEqual([3])
    expect(splitData([1, 2, 3], [1, 2], { seed: undefined })[0].toArray()).toEqual([1])
  })
  it('chooses other rows than any epoch shuffles first', () => {
    const x = Int32Array.from({ length: 50 }, (_, i) => i)
    const [a] = splitData(x, [0.5, 0.5], { seed: 1 })
    expect([...a.data]).not.toEqual([...batches(x, { size: 25, seed: 1 }).at(0, 0).data])
  })
  it.each<readonly [string, () => unknown, RegExp]>([
    [
      'shares that do not add up',
      () => splitData([1, 2], [0.5, 0.4]),
      /\[0\.5, 0\.4\] are not parts of 2 rows[\s\S]*fix: give shares that add up to 1/,
    ],
    ['sizes that do not add up', () => splitData([1, 2], [1, 2]), /\[1, 2\] are not parts of 2 rows[\s\S]*add up to 2/],
    ['a negative part', () => splitData([1, 2], [-1, 3]), /not parts/],
    ['NaN', () => splitData([1, 2], [Number.NaN, 1]), /not parts/],
    ['no parts', () => splitData([1, 2], []), /not parts/],
    ['a part without rows', () => splitData([1, 2], [0.9, 0.1]), /part 1 of \[0\.9, 0\.1\] would have none of the 2 rows/],
    ['parts that are no list', () => splitData([1], 2 as never), /parts must be an array, not 2/],
    ['a NaN seed', () => splitData([1, 2], [1, 1], { seed: Number.NaN }), /the seed must be a whole number, not NaN/],
  ])('refuses %s', (_, f, message) => {
    // biome-ignore format: a table
    expect(messageOf(f)).toMatch(message)
  })
})
