/** Sparse Jacobians and Hessians: what is read off an expression holds all that is not zero, and the products of a few colours give it. */
import { asExpr, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { type Coloured, colouredColumns, colouredRows, colouredSymmetric } from '../modes/compression.js'
import { forwardLinear, type Linear, reverseLinear } from '../modes/linear-maps.js'
import { pullback } from '../modes/transform.js'
import { withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { type Derived, dense, drawLike, evaluate, flat, total } from './subject.js'
import { unlessUnknown } from './unknown.js'

/** Matrices of at most so many entries are looked at whole. */
const MOST = 256
/** Both are made of the same numbers, in another order. */
const TOLERANCE = 1e-11

/** Inputs with ones at the places that are chosen, in all of them together. */
const marked = (inputs: readonly Node[], chosen: (place: number) => boolean): NDArray[] => {
  let at = 0
  return inputs.map((x) => {
    const data = Float64Array.from({ length: x.aval.size }, () => (chosen(at++) ? 1 : 0))
    return { shape: x.shape, dtype: x.dtype, data }
  })
}
/** All products of a linear map with columns of the identity. */
const whole = ({ inputs, outputs }: Linear, env: ReadonlyMap<Node, NDArray>): readonly Float64Array[] =>
  Array.from({ length: total(inputs) }, (_, i) =>
    flat(
      evaluate(
        outputs,
        withAll(
          env,
          inputs,
          marked(inputs, (k) => k === i),
        ),
      ),
    ),
  )
/** The entries that products of colours give are those of the whole, and what is none of them is 0. */
const checkColoured = (
  map: Linear,
  found: Coloured,
  backward: boolean,
  what: string,
  env: ReadonlyMap<Node, NDArray>,
  out: Collector,
): void => {
  const columns = whole(map, env)
  const entry = (row: number, col: number): number => (backward ? columns[row]![col]! : columns[col]![row]!)
  const { colours, rows, cols, at } = found
  const products = Array.from({ length: colours.count }, (_, c) =>
    flat(
      evaluate(
        map.outputs,
        withAll(
          env,
          map.inputs,
          marked(map.inputs, (k) => colours.of[k] === c),
        ),
      ),
    ),
  )
  const size = total(map.outputs)
  const got = Float64Array.from(at, (k) => products[Math.floor(k / size)]![k % size]!)
  const want = Float64Array.from(rows, (r, k) => entry(r, cols[k]!))
  if (!want.every(Number.isFinite)) return
  out.near('sparse', what, got, want, TOLERANCE, undefined, { how: 'entries of a few products against those of all columns' })
  const known = new Set(Array.from(rows, (r, k) => `${r},${cols[k]}`))
  const [height, width] = found.shape
  for (let r = 0; r < height; r++)
    for (let c = 0; c < width; c++)
      if (!known.has(`${r},${c}`) && entry(r, c) !== 0) {
        out.note('sparse', `${what}, entry [${r}, ${c}]`, 0, 'in the pattern, because it is not 0', 'left out')
        return
      }
}

/** Sparse Jacobians in both modes, and the sparse Hessian of a sum of the results, against dense ones. */
export const checkSparse = (d: Derived, order: number, next: () => number, out: Collector): void => {
  const [n, m] = [total(d.wrt), total(d.outs)]
  if (n * m === 0 || n * m > MOST || !out.on('sparse')) return
  if (d.dys !== undefined) {
    const map = forwardLinear(d.registry, d.outs, d.wrt)
    checkColoured(map, colouredColumns(map), false, 'the Jacobian, forward mode', d.env, out)
  }
  if (d.xBars !== undefined) {
    const map = reverseLinear(d.registry, d.outs, d.wrt)
    checkColoured(map, colouredRows(map), true, 'the Jacobian, reverse mode', d.env, out)
  }
  if (order < 2 || d.xBars === undefined || d.dys === undefined || n * n > MOST) return
  const env = withAll(d.env, d.seeds, drawLike(d.seeds, next))
  const gradient = dense(pullback(d.registry, d.outs, d.seeds.map(asExpr), d.wrt).cotangents, d.wrt)
  const map = unlessUnknown(() => forwardLinear(d.registry, gradient, d.wrt))
  if (map !== undefined) checkColoured(map, colouredSymmetric(map), false, 'the Hessian', env, out)
}
