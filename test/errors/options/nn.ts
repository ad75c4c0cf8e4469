/** Reductions, scans, activations and layers that take options: each with a call to which `{}` may be given. */
import * as cd from '../../../src/index.js'

type Loose = (...args: readonly unknown[]) => unknown
const fn = (name: string): Loose => (cd as unknown as Readonly<Record<string, Loose>>)[name]!

const x = cd.tensor([
  [1, 2],
  [3, 4],
])
const image = cd.tensor([[[[1, 2, 3]]]])

/** f(...args, options). */
const after = (name: string, ...args: readonly unknown[]) => [name, (options: never): unknown => fn(name)(...args, options)] as const
/** A pool has no default window: it joins what stands for options. */
const windowed = (options: unknown): unknown =>
  options === undefined || (typeof options === 'object' && options !== null && !Array.isArray(options))
    ? { window: 1, ...options }
    : options
const pool = (name: string) => [name, (options: never): unknown => fn(name)(image, windowed(options))] as const

export const rows: readonly (readonly [name: string, call: (options: never) => unknown])[] = [
  ...['sum', 'prod', 'max', 'min', 'mean', 'argmax', 'argmin', 'variance', 'std', 'norm', 'logsumexp', 'any', 'all', 'count'].map((name) =>
    after(name, x),
  ),
  ...['cumsum', 'cumprod', 'sort', 'argsort', 'softmax', 'logSoftmax', 'layerNorm', 'batchNorm', 'batchStatistics'].map((name) =>
    after(name, x),
  ),
  ...['leakyRelu', 'elu', 'gelu'].map((name) => after(name, x)),
  after('linearRecurrence', x, x),
  after('vecdot', x, x),
  after('triangularSolve', x, x),
  after('lstsq', x, x),
  after('cross', cd.ones([3]), cd.ones([3])),
  ...['qr', 'svd', 'pinv', 'matrixRank', 'matrixNorm', 'diagonal', 'trace'].map((name) => after(name, x)),
  after('topk', x, 1),
  after('crossEntropy', x, x),
  after('conv', image, cd.tensor([[[[1, 1]]]])),
  pool('maxPool'),
  pool('avgPool'),
]
