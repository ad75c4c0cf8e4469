/** Steps whose messages native ranks send, and `scaleOf` predicts. */
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'

export interface StepWork {
  readonly name: string
  readonly f: (...xs: never[]) => unknown
  readonly args: () => readonly unknown[]
}
/** How often a rank runs each. */
export const TIMES = 3
const zeros = (...shape: readonly number[]): cd.Tensor =>
  cd.tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)), shape as never) as never

const net = { w1: zeros(50, 400), b1: zeros(400), w2: zeros(400, 3), b2: zeros(3) }
type Net = { readonly [K in keyof typeof net]: AnyExpr }
const optimiser = adam({ learningRate: 0.01 })
const loss = ({ p, x }: { readonly p: Net; readonly x: AnyExpr }): AnyExpr => {
  const dense = (v: AnyExpr, w: AnyExpr, b: AnyExpr): AnyExpr => cd.add(cd.matmul(v as never, w as never), b) as AnyExpr
  return cd.mean(cd.square(dense(cd.tanh(dense(x, p.w1, p.b1)) as AnyExpr, p.w2, p.b2))) as AnyExpr
}
/** A training step with gradients in several buckets, which overlap or do not. */
const trained =
  (overlap: boolean) =>
  ({ p, s, x }: { readonly p: Net; readonly s: never; readonly x: AnyExpr }): unknown => {
    const whole = mpi.shard(loss, { data: { x: 0 }, bucketBytes: 50_000, overlap })
    const { value, grad } = cd.valueAndGrad(whole as never, { wrt: 'p' } as never)({ p, x } as never) as never
    const { updates, state } = optimiser.update(grad, s, p as never)
    return { p: applyUpdates(p as never, updates as never), s: state, loss: value }
  }
const one = (name: string, length: number, f: (x: AnyExpr) => AnyExpr): StepWork => ({ name, f: f as never, args: () => [zeros(length)] })
/** Every collective that has the same messages on all ranks whatever library there is, on short arrays and on long ones that the ranks do and do not divide. */
export const works = (size: number): readonly StepWork[] => [
  ...[false, true].map((overlap) => ({
    name: `train${overlap ? ' with sums that overlap' : ''}`,
    f: trained(overlap) as never,
    args: () => [{ p: net, s: optimiser.init(net), x: mpi.localRows(zeros(33, 50)) }],
  })),
  ...[1, 5000, 50_001].map((n) => one(`allReduce ${n}`, n, (x) => mpi.allReduce(x))),
  one('max', 50_000, (x) => mpi.allReduce(x, { op: 'max' })),
  ...[1, 9000].flatMap((n) => [
    one(`allGather ${n}`, n, (x) => mpi.allGather(x)),
    one(`reduceScatter ${n}`, n * size, (x) => mpi.reduceScatter(x)),
    one(`allToAll ${n}`, n * size, (x) => mpi.allToAll(x)),
    one(`sendRecv ${n}`, n, (x) => mpi.sendRecv(x, { to: Array.from({ length: size }, (_, r) => (r + 1 < size ? r + 1 : null)) })),
  ]),
  one('loop', 4, (x) => cd.fori(7, (_i: AnyExpr, y: AnyExpr) => mpi.allReduce(y) as never, x as never) as AnyExpr),
]
export const broadcasts: readonly StepWork[] = [1, 60_000].map((n) => one(`broadcast ${n}`, n, (x) => mpi.broadcast(x)))
