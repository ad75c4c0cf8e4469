/** What the ranks of the native tests compute, and the simulated ones as well: equal bits are expected. */
import fc from 'fast-check'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'
import { programs, rankProgram } from './programs.js'

type Numbers = readonly number[]
const numbersOf = (x: unknown): Numbers => Array.from((cd.evaluate(x as AnyExpr) as cd.Tensor).data)
const waves = new Map<string, Float64Array>()
/** Numbers of several magnitudes, others on each rank. */
const wave = (n: number, rank: number): Float64Array => {
  const known = waves.get(`${n} ${rank}`)
  if (known !== undefined) return known
  const made = Float64Array.from({ length: n }, (_, i) => Math.sin(1 + i * (rank + 1)) * 10 ** ((i % 5) - 2))
  waves.set(`${n} ${rank}`, made)
  return made
}

/** Something that a rank computes. A simulation runs each for itself: it begins anew for every collective. */
export type Work = (rank: number) => Numbers

/** Random programs of three ranks: values and cotangents. */
export const drawn = (count: number): readonly Work[] =>
  fc.sample(programs(3), { seed: 42, numRuns: count }).map((all) => (rank) => {
    const x = cd.tensor(wave(6, rank), [3, 2])
    const [y, xBar] = cd.vjp(rankProgram(all, 3))(x as never, x as never) as unknown as readonly AnyExpr[]
    return [...numbersOf(y!), ...numbersOf(xBar!)]
  })

const digest = (y: AnyExpr): number => {
  const { data, shape } = cd.evaluate(y) as cd.Tensor
  let h = shape[0]! | 0
  for (const b of new Uint8Array(data.slice().buffer)) h = (Math.imul(h, 31) + b) | 0
  return h
}
const collectives: readonly ((x: cd.Tensor, size: number) => unknown)[] = [
  (x) => mpi.allReduce(x),
  (x) => mpi.allReduce(x, { op: 'max' }),
  (x) => mpi.allReduce(x, { op: 'mean' }),
  (x, size) => mpi.broadcast(x, { root: size - 1 }),
  (x) => mpi.allGather(x),
  (x) => mpi.reduceScatter(x),
  (x) => mpi.allToAll(x),
  (x, size) => mpi.sendRecv(x, { to: Array.from({ length: size }, (_, r) => (r + 1 < size ? r + 1 : null)) }),
]
/** Every collective on arrays of many sizes and dtypes, some of them longer than what ranks exchange whole: a digest of what arrives. */
export const arrays = (size: number): readonly Work[] =>
  [0, size, 5 * size, 1000 * size, 30_000 * size].flatMap((n) =>
    (['f64', 'f32', 'i32', 'bool'] as const).flatMap((dtype) =>
      collectives.map(
        (collective): Work =>
          (rank) => {
            const x = cd.evaluate(cd.cast(cd.tensor(wave(n, rank)), dtype) as AnyExpr) as cd.Tensor
            return [digest(collective(x, size) as AnyExpr)]
          },
      ),
    ),
  )

/** Rings, and inputs in them: points that a network learns to tell apart. */
const points = (() => {
  const x = Float64Array.from({ length: 2 * 90 }, (_, i) => Math.sin(37.7 * i * i + i))
  return {
    x: cd.tensor(x, [90, 2]),
    y: cd.tensor(
      Float64Array.from({ length: 90 }, (_, i) => Number(Math.hypot(x[2 * i]!, x[2 * i + 1]!) < 0.8)),
      [90, 1],
    ),
  }
})()
/** Losses of a network that is trained with batches of which each rank has a part. */
export const losses = (steps: number, overlap = false): Numbers => {
  const net = { w1: cd.f64(2, 16), b1: cd.f64(16), w2: cd.f64(16, 1), b2: cd.f64(1) }
  const loss = cd.fn({ params: net, x: cd.f64('n', 2), y: cd.f64('n', 1) }, ({ params: p, x, y }) =>
    cd.mseLoss(cd.sigmoid(cd.linear(cd.tanh(cd.linear(x, p.w1, p.b1)), p.w2, p.b2)), y),
  )
  const optimiser = adam({ learningRate: 0.05 })
  // Small buckets, so that there are several.
  const whole = mpi.shard(loss, { data: { x: 0, y: 0 }, bucketBytes: 200, overlap })
  const step = cd.compile(
    cd.fn({ params: net, state: optimiser.init(net), x: cd.f64('n', 2), y: cd.f64('n', 1) }, ({ params, state, x, y }) => {
      const { value, grad } = cd.valueAndGrad(whole, { wrt: 'params' })({ params, x, y })
      const { updates, state: next } = optimiser.update(grad, state, params)
      return { params: applyUpdates(params, updates), state: next, loss: value }
    }),
  )
  const start = {
    w1: cd.tensor(
      Float64Array.from({ length: 32 }, (_, i) => Math.sin(i)),
      [2, 16],
    ),
    b1: cd.tensor(new Float64Array(16)),
    w2: cd.tensor(
      Float64Array.from({ length: 16 }, (_, i) => Math.cos(i)),
      [16, 1],
    ),
    b2: cd.tensor(new Float64Array(1)),
  }
  let now = { params: start, state: optimiser.init(start) }
  const seen: number[] = []
  for (let k = 0; k < steps; k++) {
    const at = 30 * (k % 3)
    const rows = mpi.localRows({ x: cd.evaluate(cd.slice(points.x, [at], [at + 30])), y: cd.evaluate(cd.slice(points.y, [at], [at + 30])) })
    const { loss: value, ...next } = step({ ...now, ...rows } as never) as unknown as typeof now & { readonly loss: cd.Tensor }
    now = next
    seen.push(value.item())
  }
  return [...seen, ...cd.treeLeaves(now.params).flatMap((leaf) => Array.from((leaf as unknown as cd.Tensor).data))]
}
