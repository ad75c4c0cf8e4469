/** Discrete Fourier transforms along an axis: of pairs of a real and an imaginary part, and of real numbers to half of theirs. */
import { badShape, showShape } from '../errors/explain.js'
import { type Aval, aval, sameAval } from '../graph/aval.js'
import { type Codec, natural, record } from '../graph/codec.js'
import { apply, applyMulti, asExpr, asNode } from '../graph/expr.js'
import type { NDArray } from '../graph/ndarray.js'
import { type Primitive, primitive, type Sample, type Structure } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import { fourier } from './fourier-loops.js'
import { aroundAxis } from './reduce.js'

const family = 'fourier'
export interface FourierParams {
  readonly axis: number
}
const codec: Codec<FourierParams> = record({ axis: natural })
const structure: Structure = { kind: 'lines' }
const source = 'Cooley and Tukey 1965; FFTPACK'
const showParams = ({ axis }: FourierParams): string => `axis ${axis}`
/** Operations of one transform of n numbers: five for each and each halving of n. */
const flops = ([x]: readonly Aval[], _outs: readonly Aval[], { axis }: FourierParams): number =>
  5 * x!.size * Math.ceil(Math.log2(Math.max(2, x!.shape[axis]!)))
const samples = (sizes: readonly number[]): readonly Sample<FourierParams>[] => {
  const [n, m, l] = sizes as readonly [number, number, number]
  return [
    { shape: [n], axis: 0 },
    { shape: [2, m], axis: 1 },
    { shape: [l, 2], axis: 0 },
    { shape: [2, m, 2], axis: 1 },
    { shape: [3, 2], axis: 1 },
    { shape: [0, n], axis: 1 },
  ].map(({ shape, axis }) => ({ args: [{ shape }], params: { axis } }))
}
const twice = (of: readonly Sample<FourierParams>[]): readonly Sample<FourierParams>[] =>
  of.map(({ args: [x], params }) => ({ args: [x!, x!], params }))

/** The length along the axis, which is there and has at least so many elements. */
const pointsOf = ({ shape }: Aval, { axis }: FourierParams, least: number, op: string): number => {
  const n = shape[axis]
  if (n === undefined) return badShape(op, [shape], `axis ${axis} is out of range for ${showShape(shape)}.`)
  return n < least ? badShape(op, [shape], `its axis ${axis} has ${n} elements; at least ${least} are transformed.`) : n
}
const pairShape = ([re, im]: readonly Aval[], op: string): Aval =>
  sameAval(re!, im!) ? re! : badShape(op, [re!.shape, im!.shape], 'the real and the imaginary part are not alike.')
const along = ({ shape, dtype }: Aval, axis: number, n: number): Aval =>
  aval(
    shape.map((d, i) => (i === axis ? n : d)),
    dtype,
  )

/** Calls for each line along the axis: where it begins in an array of other lengths along it, and how far its elements are apart. */
const eachLine = (shape: readonly number[], axis: number, f: (start: (length: number) => number, step: number) => void): void => {
  const { before, after } = aroundAxis(shape, axis)
  for (let b = 0; b < before; b++) for (let c = 0; c < after; c++) f((length) => b * length * after + c, after)
}
/** Transforms of lines of n numbers, given how a line is read and written. */
const eachTransform = (
  x: NDArray,
  { axis }: FourierParams,
  n: number,
  read: (re: Float64Array, im: Float64Array, start: (length: number) => number, step: number) => void,
  write: (re: Float64Array, im: Float64Array, start: (length: number) => number, step: number) => void,
): void => {
  if (x.data.length === 0) return
  const transform = fourier(n)
  const [re, im] = [new Float64Array(n), new Float64Array(n)]
  eachLine(x.shape, axis, (start, step) => {
    read(re, im, start, step)
    transform(re, im)
    write(re, im, start, step)
  })
}

/** X_k = sum of x_j exp(-2 pi i j k / n): real and imaginary parts. With both parts in each other's place it is its own conjugate. */
export const dftPrimitive: Primitive<'dft', FourierParams, readonly ['float', 'float']> = primitive({
  name: 'dft',
  structure,
  zeros: 'terms',
  unbounded: false,
  family,
  args: ['float', 'float'],
  dtypes: ['float', 'float'],
  multi: true,
  codec,
  shapeRule: (args, params) => {
    const x = pairShape(args, 'dft')
    pointsOf(x, params, 1, 'dft')
    return [x, x]
  },
  meaning: ([x, y], params, [u, v]) => {
    const n = x!.shape[params.axis]!
    eachTransform(
      x!,
      params,
      n,
      (re, im, start, step) => {
        for (let j = 0, at = start(n); j < n; j++, at += step) [re[j], im[j]] = [x!.data[at]!, y!.data[at]!]
      },
      (re, im, start, step) => {
        for (let j = 0, at = start(n); j < n; j++, at += step) [u!.data[at], v!.data[at]] = [re[j]!, im[j]!]
      },
    )
  },
  cost: 50,
  flops,
  samples: twice(samples([5, 4, 3])),
  showParams,
  source,
})

/** The first n / 2 + 1 elements of the transform of n real numbers, n even. */
export const realDftPrimitive: Primitive<'realDft', FourierParams, readonly ['float']> = primitive({
  name: 'realDft',
  structure,
  gaps: () => true,
  unbounded: false,
  family,
  args: ['float'],
  dtypes: ['float'],
  multi: true,
  codec,
  shapeRule: ([x], params) => {
    const n = pointsOf(x!, params, 2, 'realDft')
    if (n % 2 !== 0) badShape('realDft', [x!.shape], `it takes an even number of elements, not ${n}.`)
    const y = along(x!, params.axis, n / 2 + 1)
    return [y, y]
  },
  meaning: ([x], params, [u, v]) => {
    const n = x!.shape[params.axis]!
    eachTransform(
      x!,
      params,
      n,
      (re, im, start, step) => {
        im.fill(0)
        for (let j = 0, at = start(n); j < n; j++, at += step) re[j] = x!.data[at]!
      },
      (re, im, start, step) => {
        // The imaginary parts of the first and the last are sums of zeros.
        for (let k = 0, at = start(n / 2 + 1); k <= n / 2; k++, at += step)
          [u!.data[at], v!.data[at]] = [re[k]!, k === 0 || k === n / 2 ? 0 : im[k]!]
      },
    )
  },
  cost: 25,
  flops,
  samples: samples([6, 4, 2]),
  showParams,
  source,
})

/** Its transpose: x_j = sum over k up to n / 2 of re_k cos(2 pi j k / n) - im_k sin(2 pi j k / n), of n / 2 + 1 pairs. */
export const realDftTransposedPrimitive: Primitive<'realDftTransposed', FourierParams, readonly ['float', 'float']> = primitive({
  name: 'realDftTransposed',
  structure,
  zeros: 'terms',
  unbounded: false,
  family,
  args: ['float', 'float'],
  dtypes: ['float', 'float'],
  codec,
  shapeRule: (args, params) => {
    const y = pairShape(args, 'realDftTransposed')
    return along(y, params.axis, 2 * (pointsOf(y, params, 2, 'realDftTransposed') - 1))
  },
  meaning: ([u, v], params, [x]) => {
    const m = u!.shape[params.axis]!
    const n = 2 * (m - 1)
    eachTransform(
      u!,
      params,
      n,
      (re, im, start, step) => {
        re.fill(0)
        im.fill(0)
        for (let k = 0, at = start(m); k < m; k++, at += step) [re[k], im[k]] = [u!.data[at]!, k === 0 || k === m - 1 ? 0 : -v!.data[at]!]
      },
      (re, _im, start, step) => {
        for (let j = 0, at = start(n); j < n; j++, at += step) x!.data[at] = re[j]!
      },
    )
  },
  cost: 25,
  flops,
  samples: twice(samples([4, 3, 2])),
  showParams,
  source,
})

type Two = readonly [re: AnyExpr, im: AnyExpr]
const pair = (nodes: readonly ReturnType<typeof asNode>[]): Two => nodes.map(asExpr) as unknown as Two
/** The transform of pairs along an axis. */
export const dft = (re: AnyExpr, im: AnyExpr, axis: number): Two => pair(applyMulti(dftPrimitive, [asNode(re), asNode(im)], { axis }))
/** Half of that of an even number of real elements. */
export const realDft = (x: AnyExpr, axis: number): Two => pair(applyMulti(realDftPrimitive, [asNode(x)], { axis }))
/** The transpose of that. */
export const realDftTransposed = (re: AnyExpr, im: AnyExpr, axis: number): AnyExpr =>
  asExpr(apply(realDftTransposedPrimitive, [asNode(re), asNode(im)], { axis }))
