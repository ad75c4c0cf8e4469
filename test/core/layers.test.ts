/** Layers and losses beyond PyTorch's values: long sequences by blocks, conventions, what does not fit. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Any = (...xs: readonly unknown[]) => never
type Compiled = ((...xs: readonly unknown[]) => never) & { readonly explain: (...xs: readonly unknown[]) => cd.Explanation }
const op = cd as unknown as Readonly<Record<string, Any>>
const compile = cd.compile as unknown as (f: unknown, b: unknown) => Compiled
const grad = cd.grad as unknown as (f: unknown, o?: unknown) => unknown
const wave = (shape: readonly number[], k = 0): cd.Tensor =>
  cd.tensor(
    Float64Array.from({ length: shape.reduce((n, d) => n * d, 1) }, (_, i) => Math.sin(1 + k + 3 * i)),
    [...shape],
  ) as unknown as cd.Tensor

const one = (x: unknown): number => (cd.evaluate([x] as never) as unknown as readonly { item: () => number }[])[0]!.item()
/** softmax(q k^T / sqrt d) v as written. */
const plain = (q: E, k: E, v: E, keep: E | undefined): E => {
  const scores = op.div!(op.matmul!(q, op.transpose!(k)), Math.sqrt(q.shape.at(-1)!)) as E
  const kept = keep === undefined ? scores : (op.where!(keep, scores, -1e300) as E)
  return op.matmul!(op.softmax!(kept), v)
}

describe('attention over long sequences', () => {
  const [n, m] = [150, 40]
  const args = [wave([2, n, 3]), wave([2, m, 3], 1), wave([2, m, 2], 2)] as const
  const keep = cd.tensor(Uint8Array.from({ length: n * m }, (_, i) => ((i * 7) % 5 > 1 ? 1 : 0)) as never, [n, m], 'bool' as never)
  const tril = cd.tensor(
    Uint8Array.from({ length: n * m }, (_, i) => (i % m <= Math.floor(i / m) ? 1 : 0)) as never,
    [n, m],
    'bool' as never,
  )
  it.each([
    ['plain', {}, undefined],
    ['masked', { mask: keep }, keep],
    ['causal', { causal: true }, tril],
  ] as const)('%s: the same numbers as written out, by blocks', (_name, options, mask) => {
    const blocks = (q: E, k: E, v: E) => op.scaledDotProductAttention!(q, k, v, options)
    const whole = (q: E, k: E, v: E) => plain(q, k, v, mask as never)
    for (const of of [(f: Any) => f, (f: Any) => grad((q: E, k: E, v: E) => op.sum!(op.sin!(f(q, k, v))), { wrt: [0, 1, 2] })]) {
      const [got, want] = [blocks, whole].map((f) => compile(of(f as never), cd.cpu())(...args))
      expect(cd.treeAllClose(got as never, want as never, { rtol: 1e-11, atol: 1e-12 })).toBe(true)
    }
  })
  it('keeps no array of rows by rows for the gradient', () => {
    const n = 1024
    const long = [wave([n, 8]), wave([n, 8], 1), wave([n, 8], 2)]
    const peak = (f: Any): number => {
      const g = compile(
        grad((q: E, k: E, v: E) => op.sum!(op.sin!(f(q, k, v))), { wrt: [0, 1, 2] }),
        cd.cpu(),
      )
      return g.explain(...long).peakBytes / (8 * n * n)
    }
    expect(peak(((q: E, k: E, v: E) => plain(q, k, v, undefined)) as never)).toBeGreaterThan(1)
    expect(peak(((q: E, k: E, v: E) => op.scaledDotProductAttention!(q, k, v)) as never)).toBeLessThan(0.3)
  })
  it('a row of which nothing counts is zeros, and has no gradient', () => {
    const [q, k, v] = [wave([2, 3]), wave([4, 3], 1), wave([4, 2], 2)]
    const mask = cd.tensor([false, false, false, false, true, false, true, true] as never, [2, 4])
    const f = (x: E, y: E, z: E) => op.scaledDotProductAttention!(x, y, z, { mask })
    expect([...(compile(f, cd.cpu())(q, k, v) as cd.Tensor).data].slice(0, 2)).toEqual([0, 0])
    const [dq] = Object.values(
      compile(
        grad((x: E, y: E, z: E) => op.sum!(f(x, y, z)), { wrt: [0, 1, 2] }),
        cd.cpu(),
      )(q, k, v),
    ) as unknown as readonly cd.Tensor[]
    expect([...dq!.data].slice(0, 3)).toEqual([0, 0, 0])
    expect([...dq!.data].every(Number.isFinite)).toBe(true)
  })
})

describe('layers', () => {
  it('logCosh is accurate near 0 and far away', () => {
    for (const [x, y] of [
      [1e-9, 5e-19],
      [-1e-3, 4.99999916666689e-7],
      [800, 800 - Math.LN2],
    ] as const)
      expect(Math.abs(one(op.logCosh!(x)) / y - 1)).toBeLessThan(1e-12)
  })
  it('unfold and fold are adjoint', () => {
    const o = {
      window: [2, 3],
      stride: [2, 1],
      padding: [
        [1, 0],
        [0, 2],
      ],
      dilation: [1, 2],
    }
    const x = wave([2, 3, 6, 7])
    const u = cd.evaluate(op.unfold!(x, o)) as unknown as cd.Tensor
    const y = wave(u.shape, 5)
    const inner = (a: unknown, b: unknown): number => one(op.sum!(op.mul!(a, b)))
    expect(inner(u, y)).toBeCloseTo(inner(x, op.fold!(y, { size: [6, 7], ...o })), 9)
  })
  it('a transposed convolution is the adjoint of the convolution, in one, two and three axes', () => {
    for (const [size, window] of [
      [[7], [3]],
      [
        [5, 6],
        [2, 3],
      ],
      [
        [4, 5, 6],
        [2, 1, 3],
      ],
    ] as const) {
      const [x, k] = [wave([2, 4, ...size]), wave([6, 2, ...window], 1)]
      const o = { stride: 2, padding: 1, groups: 2 }
      const y = wave((cd.evaluate(op.conv!(x, k, o)) as unknown as cd.Tensor).shape, 2)
      const more = size.map((n, i) => (n + 2 - window[i]!) % 2)
      const inner = (a: unknown, b: unknown): number => one(op.sum!(op.mul!(a, b)))
      expect(inner(op.conv!(x, k, o), y)).toBeCloseTo(inner(x, op.convTranspose!(y, k, { ...o, outputPadding: more })), 9)
    }
  })
  it('under vmap they are those of each example', () => {
    const x = wave([3, 2, 4, 4, 6])
    for (const f of [
      (y: E) => op.adaptiveMaxPool!(y, [2, 3]),
      (y: E) => op.resize!(y, 5, { method: 'cubic' }),
      (y: E) => op.groupNorm!(y, 2),
      (y: E) => op.unfold!(y, { window: 2 }),
      (y: E) => op.pixelShuffle!(y, 2),
    ]) {
      const many = cd.evaluate((op.vmap as unknown as (f: unknown) => (x: unknown) => unknown)(f)(x) as never) as unknown as cd.Tensor
      const each = [0, 1, 2].map((i) => f(op.at!(x, i)))
      expect(cd.treeAllClose(many as never, cd.evaluate(op.stack!(each)) as never, { rtol: 1e-13, atol: 1e-14 })).toBe(true)
    }
  })
  it('arrays without examples have results without', () => {
    const shape = (y: unknown): readonly number[] => (y as E).shape
    expect(shape(op.groupNorm!(wave([0, 4, 3]), 2))).toEqual([0, 4, 3])
    expect(shape(op.unfold!(wave([0, 2, 3, 3]), { window: 2 }))).toEqual([0, 8, 4])
    expect(shape(op.scaledDotProductAttention!(wave([0, 5, 2]), wave([0, 4, 2]), wave([0, 4, 3])))).toEqual([0, 5, 3])
    expect(shape(op.resize!(wave([0, 2, 3]), 4))).toEqual([0, 2, 4])
    expect(shape(op.mseLoss!(wave([0, 3]), wave([0, 3]), { reduction: 'none' }))).toEqual([0, 3])
  })
})

const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}
describe('what does not fit is one error', () => {
  const x = wave([2, 4, 5, 6])
  it.each([
    ['a reduction', () => op.mseLoss!([1], [1], { reduction: 'max' }), "mseLoss: 'max' is not a reduction"],
    ['a target that is larger', () => op.huberLoss!([1], [[1], [2]]), 'huberLoss: the target [2, 1] does not fit the prediction [1]'],
    ['a delta of 0', () => op.huberLoss!([1], [1], { delta: 0 }), 'huberLoss: delta is 0.'],
    ['an option of another', () => op.mseLoss!([1], [1], { delta: 1 }), 'mseLoss: there is no option delta'],
    ['a share above 1', () => op.crossEntropy!([[1, 2]], [0], { labelSmoothing: 2 }), 'crossEntropy: labelSmoothing is 2.'],
    ['a negative lambda', () => op.softShrink!([1], { lambda: -1 }), 'softShrink: lambda is -1.'],
    ['an odd axis', () => op.glu!([1, 2, 3]), 'glu: axis 0 has 3 entries'],
    ['groups that do not divide', () => op.groupNorm!(x, 3), 'groupNorm: 4 channels are not 3 equal groups'],
    ['no channels', () => op.groupNorm!([1], 1), 'groupNorm: x is [1]'],
    ['channels of a transposed kernel', () => op.convTranspose!(x, wave([3, 2, 2, 2])), 'convTranspose: x [2, 4, 5, 6] and k [3, 2, 2, 2]'],
    [
      'output padding from the stride on',
      () => op.convTranspose!(x, wave([4, 2, 2, 2]), { outputPadding: 1 }),
      'convTranspose: outputPadding is 1.',
    ],
    ['same', () => op.convTranspose!(x, wave([4, 2, 2, 2]), { padding: 'same' }), "convTranspose: padding is 'same'."],
    [
      'a kernel deeper than x',
      () => op.conv!(wave([1, 1, 2, 3, 3]), wave([1, 1, 3, 1, 1])),
      'conv: the kernel [1, 1, 3, 1, 1] does not fit along the depth',
    ],
    ['a size of 0', () => op.resize!(x, 0), 'resize: the size is 0.'],
    ['another method', () => op.resize!(x, 3, { method: 'lanczos' }), "resize: the method is 'lanczos'."],
    ['a window that does not fit', () => op.unfold!(x, { window: 7 }), 'unfold: the window [7, 7] does not fit [5, 6]'],
    [
      'columns of other windows',
      () => op.fold!(wave([1, 4, 5]), { size: 3, window: 2 }),
      'fold: columns [1, 4, 5] do not fit 4 windows of 4 positions',
    ],
    ['a factor', () => op.pixelShuffle!(x, 3), 'pixelShuffle: 4 channels are not a multiple of 9'],
    ['half a factor', () => op.pixelUnshuffle!(x, 0.5), 'pixelUnshuffle: factor must be a whole number'],
    [
      'widths of q and k',
      () => op.scaledDotProductAttention!(wave([2, 3]), wave([2, 4]), wave([2, 4])),
      'scaledDotProductAttention: q [2, 3], k [2, 4] and v [2, 4] do not fit together',
    ],
    [
      'heads',
      () => op.scaledDotProductAttention!(wave([5, 2, 3]), wave([2, 2, 3]), wave([2, 2, 3])),
      'scaledDotProductAttention: 5 heads of q are not a multiple of the 2 of k',
    ],
    [
      'a mask',
      () => op.scaledDotProductAttention!(wave([2, 3]), wave([4, 3]), wave([4, 3]), { mask: wave([3, 4]) }),
      'scaledDotProductAttention: the mask [3, 4] does not broadcast',
    ],
    [
      'a blank',
      () =>
        op.ctcLoss!(wave([2, 1, 3]), cd.tensor(Int32Array.of(1), [1, 1]), cd.tensor(Int32Array.of(2)), cd.tensor(Int32Array.of(1)), {
          blank: 3,
        }),
      'ctcLoss: blank is 3 of 3 classes',
    ],
    [
      'lengths',
      () => op.ctcLoss!(wave([2, 1, 3]), cd.tensor(Int32Array.of(1), [1, 1]), cd.tensor(Int32Array.of(2, 2)), cd.tensor(Int32Array.of(1))),
      'ctcLoss: logP [2, 1, 3], targets [1, 1]',
    ],
  ] as const)('%s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})

describe('losses of classes', () => {
  const logits = wave([4, 3])
  const loss = (targets: readonly number[], options: object): number => one(op.crossEntropy!(logits, targets, options))
  it('a class that is ignored changes nothing: not the sum, not the mean, not the gradient of the others', () => {
    const kept = (options: object): number => one(op.crossEntropy!(op.slice!(logits, [0, 0], [2, 3]), [2, 0], options))
    for (const reduction of ['mean', 'sum'] as const)
      for (const more of [{}, { weight: [1, 2, 3] }, { labelSmoothing: 0.2 }, { weight: [1, 2, 3], labelSmoothing: 0.2 }])
        expect(loss([2, 0, -1, -1], { ignoreIndex: -1, reduction, ...more })).toBeCloseTo(kept({ reduction, ...more }), 14)
    const g = compile(
      grad((x: E) => op.crossEntropy!(x, [2, 0, -1, -1], { ignoreIndex: -1 })),
      cd.cpu(),
    )(logits) as unknown as cd.Tensor
    expect([...g.data].slice(6)).toEqual([0, 0, 0, 0, 0, 0])
  })
  it('the mean of none is NaN, their sum 0', () => {
    expect(loss([1, 1, 1, 1], { ignoreIndex: 1 })).toBeNaN()
    expect(loss([1, 1, 1, 1], { ignoreIndex: 1, reduction: 'sum' })).toBe(0)
  })
  it('weights of 1 are none', () => {
    const ones = { weight: [1, 1, 1] }
    for (const options of [{}, { labelSmoothing: 0.3 }, { reduction: 'sum' }])
      expect(loss([0, 1, 2, 0], { ...options, ...ones })).toBeCloseTo(loss([0, 1, 2, 0], options), 14)
  })
})
it('binaryCrossEntropy stays finite where a prediction is certain, as PyTorch has it', () => {
  const [p, t] = [cd.tensor([0, 1, 0, 1, 1e-60]), cd.tensor([0, 1, 1, 0, 1])]
  const values = cd.evaluate(op.binaryCrossEntropy!(p, t, { reduction: 'none' }) as never as cd.AnyExpr)
  expect([...values.data].map((x) => Number(x) + 0)).toEqual([0, 0, 100, 100, 100])
  const g = compile(
    grad((x: E) => op.sum!(op.binaryCrossEntropy!(x, t))),
    cd.cpu(),
  )(p) as unknown as cd.Tensor
  expect([...g.data].every(Number.isFinite)).toBe(true)
})
describe('pools that are rounded up', () => {
  it('have a last window for what is left, but none beyond x', () => {
    const line = cd.tensor([[[1, 2, 3, 4, 5]]])
    const list = (x: unknown): unknown => cd.evaluate(x as never as cd.AnyExpr).toArray()
    expect(list(op.maxPool!(line, { window: 2 }))).toEqual([[[2, 4]]])
    expect(list(op.maxPool!(line, { window: 2, ceilMode: true }))).toEqual([[[2, 4, 5]]])
    expect(list(op.avgPool!(line, { window: 2, ceilMode: true }))).toEqual([[[1.5, 3.5, 5]]])
    // Of a window that would begin behind x nothing is left.
    expect(list(op.maxPool!(line, { window: 1, stride: 3, ceilMode: true }))).toEqual([[[1, 4]]])
  })
})
it("gelu is told its form by PyTorch's words too", () => {
  const v = wave([5])
  const values = (options: object): readonly number[] => [
    ...(cd.evaluate(op.gelu!(v, options) as never as cd.AnyExpr).data as Float64Array),
  ]
  expect(values({ approximate: 'tanh' })).toEqual(values({ approximate: true }))
  expect(values({ approximate: 'none' })).toEqual(values({}))
})
