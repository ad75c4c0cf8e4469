/** Rows of factorisations and systems: loops over columns, of operators that every runtime has. */
import type { linalg } from '../../../core/ops/families.js'
import {
  type AnyExpr,
  abs,
  add,
  and,
  arange,
  argmax,
  broadcastTo,
  div,
  eq,
  expandDims,
  gather,
  ge,
  gt,
  le,
  matmul,
  moveaxis,
  mul,
  scan,
  sqrt,
  square,
  sub,
  sum,
  swapaxes,
  takeAlongAxis,
  where,
  zeros,
} from '../../../index.js'
import { as, expansion, type RowsOf, refused } from '../row.js'

type X = AnyExpr
/** A loop over 0 to n - 1: from the state and the number of a step to the next state and what is stacked. */
const columns = (n: number, f: (state: X, k: X) => readonly [X, X], init: X, reverse = false): readonly [X, X] =>
  (scan as unknown as (f: unknown, init: X, xs: X, o: object) => readonly [X, X])(f, init, arange(n, 'i32'), { reverse })
const column = (a: X, k: X): X => gather(a, k, { axis: -1 }) as X
const row = (a: X, k: X): X => gather(a, k, { axis: -2 }) as X
const outer = (u: X, v: X): X => mul(expandDims(u, -1), expandDims(v, -2))
const empty = (x: X): boolean => x.shape.includes(0)

const cholesky = (a: X): X => {
  if (empty(a)) return a
  const n = a.shape[a.shape.length - 1]!
  const places = arange(n, 'i32')
  const [, ys] = columns(
    n,
    (rest, k) => {
      const c = column(rest, k)
      const l = where(ge(places, k), div(c, expandDims(sqrt(column(c, k)), -1)), 0)
      return [sub(rest, outer(l, l)), l]
    },
    add(mul(a, 0.5), mul(swapaxes(a, -1, -2), 0.5)) as X,
  )
  return moveaxis(ys, 0, -1)
}

interface Triangle {
  readonly lower: boolean
  readonly transpose: boolean
  readonly unitDiagonal: boolean
}
const triangularSolve = (a: X, b: X, { lower, transpose, unitDiagonal }: Triangle): X => {
  if (empty(b)) return b
  const n = a.shape[a.shape.length - 1]!
  const [, ys] = columns(
    n,
    (rest, k) => {
      const c = transpose ? row(a, k) : column(a, k)
      const x = unitDiagonal ? row(rest, k) : div(row(rest, k), expandDims(column(c, k), -1))
      return [sub(rest, outer(c, x)), x]
    },
    b,
    lower === transpose,
  )
  return moveaxis(ys, 0, -2)
}

/** Rows of L and U under elimination with the largest pivot of each column, and the rows' order in a last column. */
const lu = (a: X): readonly X[] => {
  const [m, n] = a.shape.slice(-2) as [number, number]
  const lead = a.shape.slice(0, -2)
  const [rows, cols] = [arange(m, 'i32'), arange(n, 'i32')]
  const order = broadcastTo(rows, [...lead, m] as number[]) as X
  if (m === 0 || n === 0) return [a, broadcastTo(arange(0, 'i32'), [...lead, 0] as number[]) as X, order]
  type State = readonly [X, X]
  const step = ([s, at]: State, k: X): readonly [State, X] => {
    const size = where(ge(rows, k), abs(column(s, k)), -1)
    const pivot = argmax(size, { axis: -1, keepdims: true }) as X
    const swapped = where(eq(rows, pivot), k, where(eq(rows, k), pivot, rows)) as X
    const places = broadcastTo(expandDims(swapped, -1), s.shape as number[])
    const t = takeAlongAxis(s, places, { axis: -2 }) as X
    const moved = takeAlongAxis(at, swapped, { axis: -1 }) as X
    const top = row(t, k)
    const c = column(t, k)
    const head = expandDims(column(top, k), -1)
    const factor = div(c, where(eq(head, 0), 1, head))
    const below = expandDims(gt(rows, k), -1)
    const eliminated = sub(t, outer(factor, top))
    const next = where(and(below, gt(cols, k)), eliminated, where(and(below, eq(cols, k)), expandDims(factor, -1), t)) as X
    return [[next, moved], gather(pivot, 0, { axis: -1 }) as X]
  }
  const [[packed, at], pivots] = (scan as unknown as (f: unknown, init: State, xs: X, o: object) => readonly [State, X])(
    step,
    [a, order],
    arange(Math.min(m, n), 'i32'),
    {},
  )
  return [packed, moveaxis(pivots, 0, -1), at]
}

/** Gram and Schmidt, each column twice, which leaves Q orthogonal to rounding; the diagonal of R is not negative. */
const qr = (a: X): readonly X[] => {
  const n = a.shape[a.shape.length - 1]!
  if (empty(a)) return [a, zeros([...a.shape.slice(0, -2), n, n] as number[], a.dtype)]
  const cols = arange(n, 'i32')
  const [q] = columns(
    n,
    (q, k) => {
      const less = (v: X): X => sub(v, matmul(q, matmul(swapaxes(q, -1, -2), v)))
      const v = less(less(expandDims(column(a, k), -1)))
      const unit = div(v, sqrt(sum(square(v), { axis: -2, keepdims: true })))
      return [where(eq(cols, k), unit, q), k]
    },
    zeros(a.shape as number[], a.dtype),
  )
  const r = matmul(swapaxes(q, -1, -2), a)
  return [q, where(le(expandDims(cols, -1), cols), r, 0)]
}

const iterates = refused('its eigenvalues are found by an iteration')
export const linalgRows: RowsOf<typeof linalg> = {
  cholesky: as(([a]) => cholesky(a!)),
  triangularSolve: as(([a, b], params) => triangularSolve(a!, b!, params)),
  lu: as(([a]) => lu(a!)),
  qr: {
    as: ([a], { complete }) => (complete && a!.shape[a!.shape.length - 2] !== a!.shape[a!.shape.length - 1] ? undefined : qr(a!)),
    refused: 'the last columns of a complete Q are any that are left',
  },
  eigh: iterates,
  svd: iterates,
  det: expansion,
  slogdet: expansion,
  solve: expansion,
  lstsq: refused('it is made of singular values, which an iteration finds'),
}
