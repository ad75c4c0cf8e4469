// Metrics against their definitions (NumPy made the golden values), over batches, in compiled steps, with masks; and where there is nothing, one class, a tie, a NaN.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as train from '../../src/train/index.js'
import golden from '../golden/metrics.json' with { type: 'json' }

const { data } = golden
type Key = 'scores' | 'classes' | 'single' | 'binary' | 'targets2' | 'outputs2'
interface Case {
  readonly metric: train.Measure<never, unknown, never>
  readonly predictions: Key
  readonly targets: Key
  readonly want: (of: typeof golden.plain) => unknown
}
const asCase = <A, V, N>(
  metric: train.Measure<A, V, N>,
  predictions: Key,
  targets: Key,
  want: (of: typeof golden.plain) => unknown,
): Case => ({ metric: metric as unknown as Case['metric'], predictions, targets, want })
const prf = [train.precision, train.recall, train.f1] as const
const cases: Readonly<Record<string, Case>> = {
  accuracy: asCase(train.accuracy(), 'scores', 'classes', (o) => o.accuracy),
  'topKAccuracy, 1': asCase(train.topKAccuracy(1), 'scores', 'classes', (o) => o.accuracy),
  'topKAccuracy, 2': asCase(train.topKAccuracy(2), 'scores', 'classes', (o) => o.top2),
  'topKAccuracy, 3': asCase(train.topKAccuracy(3), 'scores', 'classes', (o) => o.top3),
  confusion: asCase(train.confusion({ classes: 4 }), 'scores', 'classes', (o) => o.confusion),
  perplexity: asCase(train.perplexity(), 'scores', 'classes', (o) => o.perplexity),
  auc: asCase(train.auc(), 'single', 'binary', (o) => o.auc),
  r2: asCase(train.r2({ outputs: 2 }), 'outputs2', 'targets2', (o) => o.r2),
  meanSquaredError: asCase(train.meanSquaredError(), 'outputs2', 'targets2', (o) => o.mse),
  ...Object.fromEntries(
    prf.flatMap((make, i) => [
      [`${['precision', 'recall', 'f1'][i]}, binary`, asCase(make(), 'single', 'binary', (o) => o.binary[i])],
      [`${['precision', 'recall', 'f1'][i]}, macro`, asCase(make({ classes: 4 }), 'scores', 'classes', (o) => o.macro[i])],
      [
        `${['precision', 'recall', 'f1'][i]}, micro`,
        asCase(make({ classes: 4, average: 'micro' }), 'scores', 'classes', (o) => o.micro[i]),
      ],
    ]),
  ),
}
const near = (got: unknown, want: unknown): void => {
  const [a, b] = [[got].flat(3) as number[], [want].flat(3) as number[]]
  expect(a).toHaveLength(b.length)
  a.forEach((x, i) => {
    expect(Math.abs(x - b[i]!)).toBeLessThan(1e-12 * Math.max(1, Math.abs(b[i]!)))
  })
}
/** As arrays: classes as i32, the others as f64. */
const arrayOf = (key: Key, from: number, to: number): cd.Tensor => {
  const rows = data[key].slice(from, to)
  const shape = Array.isArray(rows[0]) ? [rows.length, rows[0].length] : [rows.length]
  return cd.tensor(rows.flat(), shape, key === 'classes' || key === 'binary' ? 'i32' : 'f64')
}
const masks = { plain: undefined, masked: data.mask, weighted: data.weights } as const

describe.each(Object.entries(cases))('%s', (_, { metric, predictions, targets, want }) => {
  const n = data.classes.length
  it.each(Object.entries(masks))('is the golden value, %s, of all rows and over batches', (name, mask) => {
    const expected = want(golden[name as keyof typeof masks])
    near(train.measured(metric, arrayOf(predictions, 0, n), arrayOf(targets, 0, n), mask), expected)
    const add = (acc: never, from: number, to: number): never => {
      const next = metric.add(acc, arrayOf(predictions, from, to), arrayOf(targets, from, to), mask?.slice(from, to))
      return (metric.traced ? cd.evaluate(next) : next) as never
    }
    let acc: never = metric.zero
    for (let from = 0; from < n; from += 6) acc = add(acc, from, Math.min(n, from + 6))
    near(metric.value(acc), expected)
  })
  it('stands in a compiled step where it is made of operations, and there f32 is enough', () => {
    if (!metric.traced) return
    const step = cd.compile(((acc: never, y: never, t: never) => metric.add(acc, y, t)) as never) as unknown as (...xs: unknown[]) => never
    const single = cd.treeMap((x: cd.Tensor) => cd.tensor(0, x.shape as number[], 'f32'), metric.zero as { readonly a: cd.Tensor })
    let acc: unknown = single
    for (const [from, to] of [[0, 20], [20, n]] as const) acc = step(acc, arrayOf(predictions, from, to), arrayOf(targets, from, to)) // biome-ignore format: pairs
    cd.treeMap((x: cd.Tensor) => expect(x.dtype).toBe('f32'), acc as { readonly a: cd.Tensor })
    const got = [metric.value(acc as never)].flat(3) as number[]
    // Targets about 1000 in f32 have an error of 3e-5 each, of residuals about 0.3.
    ;([want(golden.plain)].flat(3) as number[]).forEach((w, i) => {
      expect(Math.abs(got[i]! - w)).toBeLessThan(1e-4 * Math.max(1, w))
    })
  })
  it('of nothing is NaN, or a matrix of zeros', () => {
    const value = metric.value(metric.zero)
    if (Array.isArray(value)) expect(value.flat()).toEqual(new Array(16).fill(0))
    else expect(value).toBeNaN()
  })
  it('does not see what is masked, be it NaN', () => {
    const [y, t] = [arrayOf(predictions, 0, 8), arrayOf(targets, 0, 8)]
    const width = y.data.length / 8
    const broken = cd.tensor([...y.data.slice(0, 7 * width), ...new Array(width).fill(Number.NaN)], y.shape as number[])
    const mask = [1, 1, 1, 1, 1, 1, 1, 0]
    expect(train.measured(metric, broken, t, mask)).toEqual(train.measured(metric, y, t, mask))
    if (predictions === 'outputs2') return
    const value = train.measured(metric, broken, t)
    expect([value].flat(3).some((x) => Number.isNaN(x))).toBe(true)
  })
})

describe('accuracy', () => {
  it('takes scores of a row, of two classes, whole numbers, booleans, columns and one-hot targets', () => {
    const a = train.accuracy()
    expect(train.measured(a, [0.6, 0.5, 0.4], [1, 0, 0])).toBe(1)
    expect(train.measured(train.accuracy({ threshold: 0 }), [[0.6], [-0.5]], [1, 1])).toBe(0.5)
    expect(train.measured(a, [[0.6], [0.5]], [[1], [1]])).toBe(0.5)
    expect(train.measured(a, [[1, 2], [3, 2]], [[0, 1], [0, 1]])).toBe(0.5) // biome-ignore format: rows
    expect(train.measured(a, cd.tensor([0, 3, 2], [3], 'i32'), [0, 3, 3])).toBe(2 / 3)
    expect(train.measured(a, cd.tensor([1, 0], [2], 'bool'), [true, true])).toBe(0.5)
    expect(train.measured(a, [[[1, 2], [2, 1]]], [[1, 1]], [[1, 1]])).toBe(0.5) // biome-ignore format: rows
    expect(train.measured(a, [[1, 1]], [0])).toBe(1)
  })
  it('refuses targets and masks that do not belong', () => {
    expect(() => train.measured(train.accuracy(), [[1, 2]], [1, 2])).toThrow('accuracy: targets [2] do not fit predictions [1, 2].')
    expect(() => train.measured(train.accuracy(), [1, 2], [1, 0], [1, 0, 0])).toThrow('accuracy: the mask [3] does not fit targets [2]')
    expect(() => train.topKAccuracy(0)).toThrow('topKAccuracy: k must be a whole number of at least 1')
  })
})
describe('precision, recall and f1', () => {
  it('are 0 where there is nothing to divide by', () => {
    expect(prf.map((make) => train.measured(make(), [0.1, 0.2], [1, 1]))).toEqual([0, 0, 0])
    expect(prf.map((make) => train.measured(make(), [0.9, 0.2], [0, 0]))).toEqual([0, 0, 0])
    expect(prf.map((make) => train.measured(make(), [0.1, 0.2], [0, 0]))).toEqual([0, 0, 0])
    expect(prf.map((make) => train.measured(make({ classes: 3 }), cd.tensor([1, 1], [2], 'i32'), [1, 1]))).toEqual([1, 1, 1])
  })
  it('say what is wrong', () => {
    expect(() => train.f1({ classes: 3, average: 'binary' })).toThrow("f1: 'binary' is of 2 classes, not of 3.")
    expect(() => train.measured(train.recall(), cd.tensor([0, 1], [2], 'i32'), [0, 2])).toThrow(
      'recall: classes of 1 rows are not from 0 to 1.',
    )
    expect(() => train.confusion({ classes: 1 })).toThrow('the number of classes must be a whole number of at least 2')
  })
})
describe('auc', () => {
  it('is of order alone: ties half, infinities, NaN of one class', () => {
    const of = (scores: readonly number[], targets: readonly number[]): number => train.measured(train.auc(), scores, targets)
    expect(of([1, 1, 1, 1], [0, 1, 0, 1])).toBe(0.5)
    expect(of([Number.NEGATIVE_INFINITY, 0, Number.POSITIVE_INFINITY], [0, 0, 1])).toBe(1)
    expect(of([3, 2], [0, 1])).toBe(0)
    expect(of([3, 2], [1, 1])).toBeNaN()
    expect(of([3, Number.NaN], [0, 1])).toBeNaN()
  })
  it('refuses other targets, and expressions', () => {
    expect(() => train.measured(train.auc(), [1, 2], [0, 2])).toThrow('auc: target 1 is 2.')
    expect(() => train.measured(train.auc(), [1, 2], [0])).toThrow('auc: targets [1] do not fit predictions [2].')
    expect(() => train.auc().add([], cd.add(1, [1, 2]), [0, 1])).toThrow('auc: it takes values, not expressions')
  })
})
describe('r2', () => {
  it('of a constant is 1 or 0, of one row NaN, below 0 for what is worse than the mean', () => {
    expect(train.measured(train.r2(), [0.1, 0.1, 0.1], [0.1, 0.1, 0.1])).toBe(1)
    expect(train.measured(train.r2(), [0.1, 0.1, 0.2], [0.1, 0.1, 0.1])).toBe(0)
    expect(train.measured(train.r2(), [1], [1])).toBeNaN()
    expect(train.measured(train.r2(), [3, 2, 1], [1, 2, 3])).toBe(-3)
    expect(train.measured(train.r2(), [1, Number.NaN], [1, 2])).toBeNaN()
  })
  it('has batches without rows, by a mask', () => {
    const { zero, add, value } = train.r2()
    const none = cd.evaluate(add(zero, [5, 6], [7, 8], [0, 0]))
    expect(value(cd.evaluate(add(cd.evaluate(add(none, [1, 2, 4], [1, 2, 3])), [5], [7], [0])))).toBe(0.5)
  })
  it('refuses rows of another width', () => {
    expect(() => train.measured(train.r2({ outputs: 3 }), [[1, 2]], [[1, 2]])).toThrow('give both of 3 numbers a row')
  })
})
describe('perplexity', () => {
  it('of a class out of range is NaN, of certainty 1', () => {
    expect(train.measured(train.perplexity(), [[0, 1]], [2])).toBeNaN()
    expect(train.measured(train.perplexity(), [[0, Number.NEGATIVE_INFINITY]], [0])).toBe(1)
  })
})
describe('measured', () => {
  it('refuses what is no metric', () => {
    expect(() => train.measured({} as never, [1], [1])).toThrow('measured: the argument is not a metric.')
  })
})

describe('ignoreIndex', () => {
  const scores = [[3, 0], [0, 3], [0, 3], [3, 0], [2, 1]] // biome-ignore format: rows
  const classes = [0, 1, -1, -1, 1]
  const o = { ignoreIndex: -1 } as const
  it('leaves rows out of every metric of classes', () => {
    const own = Math.log(Math.E ** 3 + 1) - 3
    const last = Math.log(Math.E + 1)
    expect(train.measured(train.accuracy(o), scores, classes)).toBe(2 / 3)
    expect(train.measured(train.topKAccuracy(1, o), scores, classes)).toBe(2 / 3)
    expect(train.measured(train.topKAccuracy(2, o), scores, classes)).toBe(1)
    expect(train.measured(train.perplexity(o), scores, classes)).toBeCloseTo(Math.exp((2 * own + last) / 3), 12)
    expect(train.measured(train.confusion(o), scores, classes)).toEqual([[1, 0], [1, 1]]) // biome-ignore format: rows
    expect(train.measured(train.precision(o), scores, classes)).toBe(1)
    expect(train.measured(train.recall(o), scores, classes)).toBe(0.5)
    expect(train.measured(train.f1(o), scores, classes)).toBe(2 / 3)
    // Without it they count, or are no classes.
    expect(train.measured(train.accuracy(), scores, classes)).toBe(2 / 5)
    expect(train.measured(train.perplexity(), scores, classes)).toBeNaN()
    expect(() => train.measured(train.confusion(), scores, classes)).toThrow('confusion: classes of 2 rows are not from 0 to 1.')
  })
  it('is so of single scores, whole numbers and positions, of a class among the classes, beside a mask', () => {
    expect(train.measured(train.accuracy(o), [0.9, 0.2, 0.7], [1, 1, -1])).toBe(0.5)
    expect(train.measured(train.accuracy({ ignoreIndex: 2 }), cd.tensor([0, 1, 2], [3], 'i32'), [0, 0, 2])).toBe(0.5)
    expect(train.measured(train.accuracy(o), [[[1, 0], [0, 1]], [[1, 0], [Number.NaN, 1]]], [[0, 0], [0, -1]])).toBe(2 / 3) // biome-ignore format: rows
    expect(train.measured(train.accuracy(o), scores, classes, [1, 1, 1, 1, 0])).toBe(1)
    expect(train.measured(train.accuracy(o), scores, classes, [1, 1, 1, 1, 6])).toBe(2 / 8)
    expect(train.measured(train.accuracy(o), [[1, 2]], [-1])).toBeNaN()
  })
  it('is no option of targets that are one-hot, and a whole number', () => {
    expect(() => train.measured(train.accuracy(o), [[1, 2], [3, 2]], [[0, 1], [0, 1]])).toThrow('accuracy: ignoreIndex is for classes.') // biome-ignore format: rows
    for (const make of [train.accuracy, train.perplexity, train.confusion, train.precision, train.recall, train.f1])
      expect(() => make({ ignoreIndex: 0.5 })).toThrow(/BadInput: \w+: ignoreIndex/)
    expect(() => train.topKAccuracy(1, { ignore: 1 } as never)).toThrow('topKAccuracy: there is no option ignore')
  })
})
describe('a mask', () => {
  it('may be a column, and have an element for each row of many targets', () => {
    expect(train.measured(train.accuracy(), [0.9, 0.2], [1, 1], [[1], [0]])).toBe(1)
    const [y, t] = [[[0.9, 0.1], [0.2, 0.8]], [[1, 0], [1, 0]]] // biome-ignore format: rows
    expect(train.measured(train.meanSquaredError(), y, t, [1, 0])).toBeCloseTo(0.01, 12)
    expect(train.measured(train.auc(), y, t, [1, 0])).toBe(1)
    expect(train.measured(train.auc(), y, t, [0, 1])).toBe(0)
    expect(train.measured(train.auc(), y, t, [[1, 0], [1, 1]])).toBe(0.5) // biome-ignore format: rows
    expect(() => train.measured(train.auc(), [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], [1, 0])).toThrow(
      'auc: the mask has 2 elements for 4 rows.',
    )
  })
})
describe('a metric of your own', () => {
  const mae = {
    zero: { sum: cd.tensor(0), count: cd.tensor(0) },
    add: (acc: train.Sums | cd.Exprs<train.Sums>, y: train.Rows, t: train.Rows) =>
      ({
        sum: cd.add(acc.sum, cd.sum(cd.abs(cd.sub(y as cd.AnyExpr, t as cd.AnyExpr)))),
        count: cd.add(acc.count, (t as readonly unknown[]).length),
      }) as cd.Exprs<train.Sums>,
    value: ({ sum, count }: train.Sums) => Number(sum.item()) / Number(count.item()),
  } satisfies train.MeanMeasure
  it('is zero, add and value: its add is made of operations unless it says otherwise', () => {
    expect(train.measured(mae, [1, 4], [0, 0])).toBe(2.5)
    const counting = { zero: 0, add: (n: number, y: train.Rows) => n + (y as number[]).length, value: (n: number) => n, traced: false }
    expect(train.measured(counting, [1, 4], [0, 0])).toBe(2)
    for (const wrong of [
      { ...mae, traced: 1 },
      { ...mae, better: 'up' },
      { ...mae, value: 3 },
    ])
      expect(() => train.measured(wrong as never, [1], [1])).toThrow('the argument is not a metric')
  })
})
