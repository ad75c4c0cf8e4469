/** What a chain is while it moves: a position with its density, a momentum, and the steps of the integrator between gradients. */
import type { Mass } from './mass.js'
import type { Stream } from './stream.js'

/** Something that needs gradients, one after the other, alone or among others whose gradients are computed at once. */
export interface Moves {
  /** Runs until it needs the gradient at `live.q`, which is true; false at its end. The next call finds the gradient in `live.g` and `live.value`. */
  go(): boolean
}
/** A function that yields where it needs a gradient. A generator costs some hundred nanoseconds for each of these, so what runs often is written out. */
export type Asking<T = void> = Generator<undefined, T, undefined>
export const movesOf = (asking: Asking): Moves => ({ go: () => asking.next().done !== true })

/** Where the gradient is asked for: views of the rows of one batch. */
export interface Live {
  readonly q: Float64Array
  readonly g: Float64Array
  /** Holds the log density in its only element. */
  readonly value: Float64Array
}
/** A chain: where it is, how it moves, and what its last transition was. */
export interface Chain {
  readonly n: number
  readonly live: Live
  readonly stream: Stream
  /** The current draw, its gradient, and its log density. */
  q: Float64Array
  g: Float64Array
  value: number
  mass: Mass
  stepSize: number
  /** The momentum of what moves: L^T of that in the space of draws, for the inverse L L^T of the mass matrix. It is standard normal, and its own velocity. */
  p: Float64Array
}
/** What a transition says of itself. */
export interface Transition {
  /** The mean probability of acceptance over the trajectory, from which the step size learns. */
  acceptance: number
  divergent: boolean
  depth: number
  /** The number of leapfrog steps, which is that of gradients. */
  steps: number
  /** The Hamiltonian of the draw. */
  energy: number
}

/** Copies all of an array. Of a short one a loop is faster than a call of `set`. */
export const copy = (to: Float64Array, from: Float64Array): void => {
  if (from.length > 32) to.set(from)
  else for (let i = 0; i < from.length; i++) to[i] = from[i]!
}
/** Zeros, as short arrays are copied. */
export const clear = (x: Float64Array): void => {
  if (x.length > 32) x.fill(0)
  else for (let i = 0; i < x.length; i++) x[i] = 0
}
/** An error of the energy beyond this is a divergence, as in Stan. */
export const MOST_ERROR = 1000

export const chainOf = (n: number, live: Live, stream: Stream, mass: Mass): Chain => ({
  n,
  live,
  stream,
  mass,
  stepSize: 1,
  value: 0,
  q: new Float64Array(n),
  g: new Float64Array(n),
  p: new Float64Array(n),
})

/** A new momentum, and its kinetic energy, which is returned. */
export const refresh = ({ stream, p }: Chain): number => {
  stream.normals(p)
  let twice = 0
  for (let i = 0; i < p.length; i++) twice += p[i]! * p[i]!
  return twice / 2
}
/** The live point becomes the current draw. */
export const settle = (chain: Chain): void => {
  copy(chain.q, chain.live.q)
  copy(chain.g, chain.live.g)
  chain.value = chain.live.value[0]!
}

/** Half a step of the momentum, and a step of the position: what comes before a gradient. */
export const before = ({ live: { q, g }, p, mass }: Chain, step: number): void => {
  const half = step / 2
  const { scales } = mass
  if (scales === null) {
    mass.kick(p, half, g)
    mass.drift(q, step, p)
    return
  }
  for (let i = 0; i < q.length; i++) {
    const s = scales[i]!
    const moved = p[i]! + half * s * g[i]!
    p[i] = moved
    q[i] = q[i]! + step * s * moved
  }
}
/** The momentum at a point of a trajectory, and the sum of momenta up to it without half of its own: what turns are told by. */
export interface Mark {
  readonly p: Float64Array
  readonly along: Float64Array
}
export const markOf = (n: number): Mark => ({ p: new Float64Array(n), along: new Float64Array(n) })
/** Half a step of the momentum by the new gradient. It is added into `total`. Returns the kinetic energy. */
export const after = ({ live: { g }, p, mass }: Chain, step: number, total: Float64Array): number => {
  const half = step / 2
  const { scales } = mass
  // Two sums: an addition need not wait for the one before it.
  let [even, odd] = [0, 0]
  const n = p.length
  let i = 0
  if (scales === null) {
    mass.kick(p, half, g)
    for (; i < n; i++) {
      const moved = p[i]!
      even += moved * moved
      total[i] = total[i]! + moved
    }
    return even / 2
  }
  for (; i + 1 < n; i += 2) {
    const moved = p[i]! + half * scales[i]! * g[i]!
    const next = p[i + 1]! + half * scales[i + 1]! * g[i + 1]!
    p[i] = moved
    p[i + 1] = next
    total[i] = total[i]! + moved
    total[i + 1] = total[i + 1]! + next
    even += moved * moved
    odd += next * next
  }
  if (i < n) {
    const moved = p[i]! + half * scales[i]! * g[i]!
    p[i] = moved
    total[i] = total[i]! + moved
    even += moved * moved
  }
  return (even + odd) / 2
}
/** Marks the point of a trajectory with this momentum and this sum up to it. */
export const mark = ({ p: momentum, along }: Mark, p: Float64Array, total: Float64Array): void => {
  for (let i = 0; i < p.length; i++) {
    const own = p[i]!
    momentum[i] = own
    along[i] = total[i]! - 0.5 * own
  }
}

/** A step size at which a single step from here is accepted with a probability of about 0.8, by doubling or halving (Hoffman and Gelman 2014, algorithm 4). */
export function* reasonableStep(chain: Chain): Asking {
  const { live } = chain
  const unused = new Float64Array(chain.n)
  const trial = function* (): Asking<number> {
    const kinetic = refresh(chain)
    const begin = kinetic - chain.value
    copy(live.q, chain.q)
    copy(live.g, chain.g)
    before(chain, chain.stepSize)
    yield
    const end = after(chain, chain.stepSize, unused) - live.value[0]!
    return begin - end
  }
  const good = (change: number): boolean => change > Math.log(0.8)
  const grow = good(yield* trial())
  for (let k = 0; k < 100; k++) {
    const next = grow ? chain.stepSize * 2 : chain.stepSize / 2
    if (!(next > 1e-300 && next < 1e7)) return
    chain.stepSize = next
    if (good(yield* trial()) !== grow) return
  }
}
