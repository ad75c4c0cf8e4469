/** Builders of linear algebra: matrices that are far from singular, of values that are far from each other, so that every backend and mode finds the same. */
import { type Draw, dtypeOf, rankOf, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { like, within } from './guards.js'
import type { Template } from './program.js'

const isSquare = (v: Value): boolean => {
  const [m, n] = shapeOf(v).slice(-2)
  return rankOf(v) >= 2 && rankOf(v) <= 3 && m === n && n! > 0 && n! <= 4
}
/** Square matrices of numbers between -1 and 1. */
const square = (d: Draw): Value => {
  const n = d.between(1, 4)
  return within(
    d,
    d.float(isSquare, () => (d.chance(0.3) ? [2, n, n] : [n, n])),
    [-1, 1],
  )
}
/** The same with these numbers added on the diagonal. */
const raised = (d: Draw, v: Value, at: (i: number) => number): Value => {
  const n = shapeOf(v)[rankOf(v) - 1]!
  const diagonal = d.op(
    'mul',
    ref(d.op('eye', n, dtypeOf(v))),
    Array.from({ length: n }, (_, i) => at(i)),
  )
  return d.op('add', ref(v), ref(diagonal))
}
/** Far from singular, its rows in their order. */
const dominant = (d: Draw): Value => raised(d, square(d), () => 6)
/** Eigenvalues and singular values that are apart. */
const spread = (d: Draw): Value => raised(d, square(d), (i) => 6 + 12 * i)
const definite = (d: Draw): Value => {
  const v = square(d)
  return raised(d, d.op('matmul', ref(v), ref(d.op('transpose', ref(v)))), () => 2)
}
/** More rows than columns, or fewer: what is joined to a matrix that is spread. */
const oblong = (d: Draw): Value => {
  const v = spread(d)
  const more = within(d, like(d, shapeOf(v), dtypeOf(v)), [-1, 1])
  return d.chance(0.4) ? v : d.op('concat', [ref(v), ref(more)], { axis: d.of([-1, -2]) })
}
const sides = (d: Draw, a: Value, n: number): Value => {
  const lead = shapeOf(a).slice(0, -2)
  return like(d, d.of<readonly number[]>([[n], [n, 1], [n, 2], [...lead, n, 2], [3, ...lead.map(() => 1), n, 1]]), dtypeOf(a))
}
const rowsOf = (v: Value): number => shapeOf(v)[rankOf(v) - 2]!
const flag = (d: Draw, name: string): { readonly [key: string]: Template } => (d.chance(0.5) ? { [name]: true } : {})

const of =
  (name: string, matrix: (d: Draw) => Value, ...rest: readonly ((d: Draw) => Template)[]): Builder =>
  (d) => {
    const v = matrix(d)
    d.emit(name, [ref(v), ...rest.map((f) => f(d))])
  }
const system =
  (name: string, matrix: (d: Draw) => Value, options?: (d: Draw) => Template): Builder =>
  (d) => {
    const a = matrix(d)
    d.op(name, ref(a), ref(sides(d, a, rowsOf(a))), ...(options === undefined ? [] : [options(d)]))
  }
const cross: Builder = (d) => {
  const a = d.float(
    (v) => rankOf(v) > 0 && shapeOf(v)[rankOf(v) - 1] === 3,
    () => d.of([[3], [2, 3]]),
  )
  d.op('cross', ref(a), ref(like(d, shapeOf(a), dtypeOf(a))))
}
const vector = (d: Draw): Value =>
  d.float(
    (v) => rankOf(v) === 1 && shapeOf(v)[0]! <= 5,
    () => [d.between(1, 4)],
  )
const toeplitz: Builder = (d) => void d.op('toeplitz', ref(vector(d)), ...(d.chance(0.5) ? [ref(vector(d))] : []))
const multiDot: Builder = (d) => {
  const [a, b] = [vector(d), vector(d)]
  const middle = like(d, [shapeOf(a)[0]!, shapeOf(b)[0]!], dtypeOf(a))
  d.op('multiDot', [ref(a), ref(middle), ref(b)])
}
const onTheLeft: Builder = system('triangularSolve', dominant, (d) => ({
  ...flag(d, 'lower'),
  ...flag(d, 'transpose'),
  ...(d.chance(0.2) && { unitDiagonal: true }),
}))
/** x a = b: matrices on the right. */
const onTheRight: Builder = (d) => {
  const a = dominant(d)
  const b = like(d, d.of<readonly number[]>([[rowsOf(a)], [...shapeOf(a).slice(0, -2), 2, rowsOf(a)]]), dtypeOf(a))
  d.op('triangularSolve', ref(a), ref(b), { left: false, ...flag(d, 'lower'), ...flag(d, 'transpose') })
}
const blockDiag: Builder = (d) => void d.op('blockDiag', ref(vector(d)), ref(vector(d)))
const diagonal: Builder = (d) => {
  const v = d.float(
    (x) => rankOf(x) >= 2,
    () => d.shape(d.between(2, 3)),
  )
  d.op('diagonal', ref(v), { offset: d.between(-1, 1), ...(d.chance(0.4) && { axis1: -1, axis2: 0 }) })
}

export const linalgRows: readonly Row[] = [
  { name: 'cholesky', weight: 0.6, build: of('cholesky', definite) },
  { name: 'triangularSolve', weight: 0.7, build: (d) => (d.chance(0.3) ? onTheRight : onTheLeft)(d) },
  { name: 'solve', weight: 0.8, build: system('solve', dominant) },
  { name: 'lstsq', weight: 0.4, build: system('lstsq', oblong) },
  { name: 'inv', weight: 0.5, build: of('inv', dominant) },
  { name: 'det', weight: 0.4, build: of('det', (d) => raised(d, square(d), () => 3)) },
  { name: 'slogdet', weight: 0.4, build: of('slogdet', dominant) },
  { name: 'lu', weight: 0.4, build: of('lu', dominant) },
  { name: 'qr', weight: 0.5, build: of('qr', oblong) },
  { name: 'eigh', weight: 0.5, build: of('eigh', spread) },
  { name: 'eigvalsh', weight: 0.3, build: of('eigvalsh', spread) },
  { name: 'svd', weight: 0.5, build: of('svd', oblong) },
  { name: 'svdvals', weight: 0.3, build: of('svdvals', oblong) },
  { name: 'pinv', weight: 0.3, build: of('pinv', oblong) },
  { name: 'matrixRank', weight: 0.3, build: of('matrixRank', oblong) },
  {
    name: 'matrixPower',
    weight: 0.3,
    build: of(
      'matrixPower',
      (d) => raised(d, square(d), () => 3),
      (d) => d.of([-1, 0, 1, 2, 3]),
    ),
  },
  { name: 'expm', weight: 0.3, build: of('expm', square) },
  {
    name: 'matrixNorm',
    weight: 0.3,
    build: of('matrixNorm', oblong, (d) => ({ ord: d.of(['fro', 'nuc', 2, -2]), ...flag(d, 'keepdims') })),
  },
  { name: 'cross', weight: 0.3, build: cross },
  { name: 'multiDot', weight: 0.2, build: multiDot },
  { name: 'toeplitz', weight: 0.2, build: toeplitz },
  { name: 'blockDiag', weight: 0.2, build: blockDiag },
  { name: 'diagonal', weight: 0.3, build: diagonal },
]
