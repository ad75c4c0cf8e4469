// Products, windows, transforms, systems, layers and losses, under the law of integers.
import { untyped as cd } from '../../rules/untyped.js'
import type { Exact, Row } from './law.js'

type Name = keyof typeof cd
type Call = (...xs: readonly unknown[]) => unknown
const op = (name: Name): Call => (cd as unknown as Readonly<Record<string, Call>>)[name]!
const floats = (names: string, shapes: Row['shapes'], results = 1, ...rest: readonly unknown[]): readonly Row[] =>
  names.split(' ').map((name) => ({ name, becomes: new Array<'floats'>(results).fill('floats'), shapes, f: (...xs) => op(name as Name)(...xs, ...rest) })) // biome-ignore format: one row

/** A [m, k] times B [k, n], on top of C. */
const matmul = (a: readonly bigint[], b: readonly bigint[], k: number, n: number, c?: readonly bigint[]): readonly bigint[] =>
  Array.from({ length: (a.length / k) * n }, (_, at) => {
    let s = c?.[at] ?? 0n
    for (let l = 0; l < k; l++) s += a[Math.floor(at / n) * k + l]! * b[l * n + (at % n)]!
    return s
  })
const inner: Exact = (a, b) => [a!.reduce((s, x, i) => s + x * b![i]!, 0n)]
const outer: Exact = (a, b) => a!.flatMap((x) => b!.map((y) => x * y))
const AB: Row['shapes'] = [[2, 3], [3, 2]] // biome-ignore format: one row
const VV: Row['shapes'] = [[4], [4]] // biome-ignore format: one row
const product: Exact = (a, b) => matmul(a!, b!, 3, 2)
const counting = (name: Name, shapes: Row['shapes'], exact: Exact, f: Row['f'] = op(name)): Row => ({
  name,
  becomes: ['counts'],
  shapes,
  f,
  exact,
})

const products: readonly Row[] = [
  counting('matmul', AB, product),
  counting('dot', AB, product),
  counting('linear', AB, product),
  counting('tensordot', AB, product, (a, b) => cd.tensordot(a, b, 1)),
  counting('einsum', AB, product, (a, b) => cd.einsum('ij,jk->ik', a, b)),
  counting('matmulAdd', [[2, 2], ...AB], (c, a, b) => matmul(a!, b!, 3, 2, c!)),
  counting(
    'multiDot',
    [...AB, [2, 2]],
    (a, b, c) => matmul(matmul(a!, b!, 3, 2), c!, 2, 2),
    (a, b, c) => cd.multiDot([a, b, c]),
  ),
  counting('vdot', VV, inner),
  counting('vecdot', VV, inner),
  counting('outer', VV, outer),
  counting('kron', VV, outer),
  counting('cross', [[3], [3]], (a, b) => [0, 1, 2].map((i) => a![(i + 1) % 3]! * b![(i + 2) % 3]! - a![(i + 2) % 3]! * b![(i + 1) % 3]!)),
  counting('polyval', VV, (p, x) => x!.map((v) => p!.reduce((s, c) => s * v + c, 0n))),
]
/** Whole numbers beyond f32 whose products and sums an f64 holds: then the results are known. */
const known = (name: Name, shapes: Row['shapes'], data: readonly (readonly number[])[], exact: Exact, f: Row['f'] = op(name)): Row => ({
  name, becomes: ['floats'], shapes, data, f, exact, only: [['i32', 'i32']],
}) // biome-ignore format: one row
const BIG = [16777217, 2147483647, -16777219, 3]
const convolved: Exact = (a, b) =>
  Array.from({ length: a!.length + b!.length - 1 }, (_, k) => a!.reduce((s, x, i) => s + x * (b![k - i] ?? 0n), 0n))
const windows: readonly Row[] = [
  ...floats('conv', [[1, 1, 4], [1, 1, 2]]), // biome-ignore format: one row
  known('conv', [[1, 1, 4], [1, 1, 2]], [BIG, [3, -7]], (x, k) => [0, 1, 2].map((i) => x![i]! * k![0]! + x![i + 1]! * k![1]!)), // biome-ignore format: one row
  ...floats('convTranspose', [[1, 1, 4], [1, 1, 2]]), // biome-ignore format: one row
  known('convTranspose', [[1, 1, 4], [1, 1, 2]], [BIG, [3, -7]], convolved), // biome-ignore format: one row
  ...floats('convolve correlate fftConvolve', VV),
  known('convolve', [[4], [2]], [BIG, [3, -7]], convolved), // biome-ignore format: one row
  ...floats('interp', [[5], [4], [4]]).map((r) => ({ ...r, data: [[16777217, 2147483647, 5, 16777218, 0], [0, 16777217, 16777219, 2147483647], [7, 16777217, 9, 2147483647]] })), // biome-ignore format: one row
  { name: 'trapezoid', becomes: ['floats'], shapes: VV, f: (y, x) => cd.trapezoid(y, { x }) },
  { name: 'cumulativeTrapezoid', becomes: ['floats'], shapes: VV, f: (y, x) => cd.cumulativeTrapezoid(y, { x }) },
  ...floats('unwrap', [[4]]),
  { name: 'gradient', becomes: ['floats'], shapes: [[4]], f: op('gradient') },
  ...floats('avgPool maxPool', [[1, 1, 4, 4]], 1, { window: 2 }),
  { name: 'maxPoolWithIndices', becomes: ['floats', 'i32'], shapes: [[1, 1, 4, 4]], f: (x) => cd.maxPoolWithIndices(x, { window: 2 }) },
  { name: 'maxUnpool', becomes: ['floats'], shapes: [[1, 1, 2]], f: (x) => cd.maxUnpool(x, [[[1, 2]]], { size: 4 }) },
  ...floats('adaptiveAvgPool adaptiveMaxPool', [[1, 1, 4, 4]], 1, 2),
  ...floats('resize', [[1, 1, 2, 2]], 1, [3, 3]),
  ...floats('gridSample', [[1, 1, 4, 4], [1, 1, 3, 2]]), // biome-ignore format: one row
  ...floats('affineGrid', [[1, 2, 3]], 1, [2, 2]),
  { name: 'roiAlign', becomes: ['floats'], shapes: [[1, 1, 4, 4], [2, 4]], f: (x, boxes) => cd.roiAlign(x, boxes, [0, 0], { size: 2, samplingRatio: 1 }) }, // biome-ignore format: one row
  ...floats('unfold', [[1, 1, 3, 3]], 1, { window: 2 }),
  ...floats('fold', [[1, 4, 4]], 1, { window: 2, size: [3, 3] }),
]
const spectra: readonly Row[] = [
  ...floats('fft ifft fftn ifftn rfft rfftn', [[4]], 2),
  ...floats('fft2 ifft2 rfft2', [[2, 4]], 2),
  ...floats('irfft irfftn', [[4]]),
  ...floats('irfft2', [[2, 4]]),
  ...floats('stft', [[16]], 2, { size: 8 }),
  ...floats('istft', [[5, 9]], 1, { size: 8 }).map((r) => ({ ...r, f: (x: unknown) => cd.istft({ re: x, im: x }, { size: 8 }) })),
]
const SPD = [[5, 1, 0, 1, 6, 2, 0, 2, 16777217]]
const systems: readonly Row[] = [
  ...floats('cholesky eigvalsh svdvals det inv pinv expm matrixNorm', [[3, 3]]).map((r) => ({ ...r, data: SPD })),
  ...floats('matrixPower', [[3, 3]], 1, 3),
  ...floats('eigh qr slogdet', [[3, 3]], 2).map((r) => ({ ...r, data: SPD })),
  ...floats('svd', [[3, 3]], 3).map((r) => ({ ...r, data: SPD })),
  { name: 'lu', becomes: ['i32', 'floats', 'floats'], shapes: [[3, 3]], data: SPD, f: (x) => { const { p, l, u } = cd.lu(x) as unknown as Readonly<Record<string, unknown>>; return [p, l, u] } }, // biome-ignore format: one row
  ...floats('solve triangularSolve', [[3, 3], [3]]).map((r) => ({ ...r, data: [...SPD, [16777217, 1, 2]] })), // biome-ignore format: one row
  { name: 'lstsq', becomes: ['floats'], shapes: [[3, 3], [3]], data: [...SPD, [16777217, 1, 2]], f: op('lstsq') }, // biome-ignore format: one row
]
const P3: Row['shapes'] = [[2, 3], [2, 3]] // biome-ignore format: one row
const layers: readonly Row[] = [
  ...floats('layerNorm rmsNorm', [[2, 4]]),
  ...floats('instanceNorm', [[2, 2, 3]]),
  ...floats('groupNorm', [[2, 2, 3]], 1, 2),
  ...floats('batchNorm', [[2, 2, 3]]),
  ...floats('batchStatistics', [[2, 2, 3]], 2),
  ...floats('bceWithLogits binaryCrossEntropy cosineSimilarity focalLoss hingeLoss huberLoss klDivLoss l1Loss mseLoss smoothL1Loss', P3),
  { name: 'crossEntropy', becomes: ['floats'], shapes: [[2, 3]], f: (x) => cd.crossEntropy(x, [1, 0]) },
  { name: 'nllLoss', becomes: ['floats'], shapes: [[2, 3]], f: (x) => cd.nllLoss(x, [1, 0]) },
  { name: 'ctcLoss', becomes: ['floats'], shapes: [[4, 1, 3]], f: (x) => cd.ctcLoss(x, [[1, 2]], [4], [2]) },
  {
    name: 'scaledDotProductAttention',
    becomes: ['floats'],
    shapes: [
      [2, 3],
      [2, 3],
      [2, 3],
    ],
    f: op('scaledDotProductAttention'),
  },
  { name: 'pixelShuffle', becomes: ['stays'], shapes: [[1, 4, 2, 2]], f: (x) => cd.pixelShuffle(x, 2) },
  { name: 'depthToSpace', becomes: ['stays'], shapes: [[1, 4, 2, 2]], f: (x) => cd.depthToSpace(x, 2) },
  { name: 'spaceToDepth', becomes: ['stays'], shapes: [[1, 1, 4, 4]], f: (x) => cd.spaceToDepth(x, 2) },
  { name: 'reverseSequence', becomes: ['stays'], shapes: [[3, 2]], f: (x) => cd.reverseSequence(x, [2, 3]) },
  ...floats('localResponseNorm', [[2, 3]], 1, 3),
  ...floats('topkFilter toppFilter', [[2, 4]], 1, 1),
  { name: 'nonMaxSuppression', becomes: ['i32'], shapes: [[3, 4], [3]], f: (boxes, scores) => cd.nonMaxSuppression(boxes, scores) }, // biome-ignore format: one row
  { name: 'pixelUnshuffle', becomes: ['stays'], shapes: [[1, 1, 4, 4]], f: (x) => cd.pixelUnshuffle(x, 2) },
]
export const productRows: readonly Row[] = [...products, ...windows, ...spectra, ...systems, ...layers]
