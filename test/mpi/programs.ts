/** Random programs with collectives, and what they are on one rank: the ranks are the first axis of every array, and collectives are sums and copies along it. */
import fc from 'fast-check'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'

/** One operation: on a rank's array, and on all ranks' arrays together. */
export interface Part {
  readonly name: string
  readonly rank: (x: AnyExpr, n: number) => AnyExpr
  readonly joint: (x: AnyExpr, n: number) => AnyExpr
}
const shape = (x: AnyExpr): readonly number[] => x.shape as readonly number[]
const spread = (x: AnyExpr, n: number): AnyExpr => cd.broadcastTo(x, [n, ...shape(x)])
const row = (x: AnyExpr, r: number): AnyExpr => cd.reshape(cd.slice(x, [r], [r + 1]), shape(x).slice(1))
/** Every array has k n rows and 2 columns, so that every part can follow every other. */
export const parts = (to: readonly (number | null)[], root: number): readonly Part[] => {
  const along = (f: (x: AnyExpr) => AnyExpr) => ({ rank: f, joint: f })
  const routed = (x: AnyExpr, n: number): AnyExpr =>
    cd.stack(
      Array.from({ length: n }, (_, r) => {
        const from = to.indexOf(r)
        return from < 0 ? cd.mul(0, row(x, 0)) : row(x, from)
      }),
    )
  return [
    { name: 'sin', ...along((x) => cd.sin(x)) },
    { name: 'square', ...along((x) => cd.mul(0.5, cd.square(x))) },
    { name: 'softmax', ...along((x) => cd.softmax(x)) },
    { name: 'allReduce', rank: (x) => mpi.allReduce(x), joint: (x, n) => spread(cd.sum(x, { axis: 0 }), n) },
    { name: 'mean', rank: (x) => mpi.allReduce(x, { op: 'mean' }), joint: (x, n) => spread(cd.mean(x, { axis: 0 }), n) },
    { name: 'max', rank: (x) => mpi.allReduce(x, { op: 'max' }), joint: (x, n) => spread(cd.max(x, { axis: 0 }), n) },
    { name: 'broadcast', rank: (x) => mpi.broadcast(x, { root }), joint: (x, n) => spread(row(x, root), n) },
    {
      name: 'gather, sum of blocks',
      rank: (x, n) => cd.sum(cd.reshape(mpi.allGather(x), [n, ...shape(x)]), { axis: 0 }),
      joint: (x, n) => spread(cd.sum(x, { axis: 0 }), n),
    },
    {
      name: 'gather columns, scatter them',
      rank: (x) => mpi.reduceScatter(cd.sin(mpi.allGather(x, { axis: 1 })), { axis: 1 }),
      joint: (x, n) => cd.mul(n, cd.sin(x)),
    },
    {
      name: 'reduceScatter, repeat',
      rank: (x, n) => cd.concat(Array.from({ length: n }, () => mpi.reduceScatter(x))),
      joint: (x, n) => {
        const [, rows, columns] = shape(x) as [number, number, number]
        const cut = cd.reshape(cd.sum(x, { axis: 0 }), [n, rows / n, columns])
        return cd.concat(
          Array.from({ length: n }, () => cut),
          { axis: 1 },
        )
      },
    },
    {
      name: 'allToAll',
      rank: (x) => mpi.allToAll(x),
      joint: (x, n) => {
        const [, rows, columns] = shape(x) as [number, number, number]
        return cd.reshape(cd.transpose(cd.reshape(x, [n, n, rows / n, columns]), [1, 0, 2, 3]), [n, rows, columns])
      },
    },
    { name: 'sendRecv', rank: (x) => mpi.sendRecv(x, { to }), joint: routed },
    {
      name: 'loop of collectives',
      rank: (x) => cd.fori(2, (_k, c: AnyExpr) => cd.tanh(mpi.sendRecv(mpi.allReduce(c, { op: 'mean' }), { to })), x) as AnyExpr,
      joint: (x, n) => cd.fori(2, (_k, c: AnyExpr) => cd.tanh(routed(spread(cd.mean(c, { axis: 0 }), n), n)), x) as AnyExpr,
    },
  ]
}
/** How ranks may send: each to another one, or to none. */
export const routes = (n: number): fc.Arbitrary<readonly (number | null)[]> =>
  fc
    .tuple(
      fc.shuffledSubarray(
        Array.from({ length: n }, (_, r) => r),
        { minLength: n, maxLength: n },
      ),
      fc.array(fc.boolean(), { minLength: n, maxLength: n }),
    )
    .map(([order, none]) => order.map((r, i) => (none[i] ? null : r)))
/** Parts, one after the other. */
export const programs = (n: number): fc.Arbitrary<readonly Part[]> =>
  fc.tuple(routes(n), fc.nat(n - 1)).chain(([to, root]) => fc.array(fc.constantFrom(...parts(to, root)), { minLength: 1, maxLength: 5 }))
export const rankProgram =
  (all: readonly Part[], n: number) =>
  (x: AnyExpr): AnyExpr =>
    all.reduce((y, p) => p.rank(y, n), x)
export const jointProgram =
  (all: readonly Part[], n: number) =>
  (x: AnyExpr): AnyExpr =>
    all.reduce((y, p) => p.joint(y, n), x)
