/** What a chain is while it moves: a position with its density, a momentum, and the steps of the integrator between gradients. */
import type { Mass } from './mass.js'
import type { Stream } from './stream.js'

/**
 * A function that runs until it needs the gradient at `live.q`; it goes on when `live.g` and `live.value` hold that. One such function serves alone or among others whose gradients
 * are computed at once.
 */
export type Asking<T = void> = Generator<undefined, T, undefined>

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
  readonly q: Float64Array
  readonly g: Float64Array
  value: number
  mass: Mass
  stepSize: number
  /** Momentum and velocity of what moves. */
  readonly p: Float64Array
  readonly v: Float64Array
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
  v: new Float64Array(n),
})

/** A new momentum, its velocity, and its kinetic energy, which is returned. */
export const refresh = ({ stream, mass, p, v }: Chain): number => {
  stream.normals(p)
  mass.momentum(p)
  mass.velocity(p, v)
  let twice = 0
  for (let i = 0; i < p.length; i++) twice += p[i]! * v[i]!
  return twice / 2
}
/** The live point becomes the current draw. */
export const settle = (chain: Chain): void => {
  copy(chain.q, chain.live.q)
  copy(chain.g, chain.live.g)
  chain.value = chain.live.value[0]!
}

/** Half a step of the momentum, and a step of the position: what comes before a gradient. */
export const before = ({ live: { q, g }, p, v, mass }: Chain, step: number): void => {
  const half = step / 2
  const { diagonal } = mass
  if (diagonal !== null) {
    for (let i = 0; i < q.length; i++) {
      const moved = p[i]! + half * g[i]!
      p[i] = moved
      q[i] = q[i]! + step * diagonal[i]! * moved
    }
    return
  }
  for (let i = 0; i < q.length; i++) p[i] = p[i]! + half * g[i]!
  mass.velocity(p, v)
  for (let i = 0; i < q.length; i++) q[i] = q[i]! + step * v[i]!
}
/** Velocities at a point of a trajectory, and the sum of momenta up to it without half of its own: what turns are told by. */
export interface Mark {
  readonly v: Float64Array
  readonly along: Float64Array
}
export const markOf = (n: number): Mark => ({ v: new Float64Array(n), along: new Float64Array(n) })
/** Half a step of the momentum by the new gradient. It is added into `total`, and the mark of the new point is written. Returns the kinetic energy. */
export const after = ({ live: { g }, p, mass }: Chain, step: number, total: Float64Array, { v, along }: Mark): number => {
  const half = step / 2
  const { diagonal } = mass
  let twice = 0
  if (diagonal !== null) {
    for (let i = 0; i < p.length; i++) {
      const moved = p[i]! + half * g[i]!
      const speed = diagonal[i]! * moved
      const sum = total[i]! + moved
      p[i] = moved
      v[i] = speed
      twice += moved * speed
      total[i] = sum
      along[i] = sum - 0.5 * moved
    }
    return twice / 2
  }
  for (let i = 0; i < p.length; i++) p[i] = p[i]! + half * g[i]!
  mass.velocity(p, v)
  for (let i = 0; i < p.length; i++) {
    const moved = p[i]!
    const sum = total[i]! + moved
    twice += moved * v[i]!
    total[i] = sum
    along[i] = sum - 0.5 * moved
  }
  return twice / 2
}

/** A step size at which a single step from here is accepted with a probability of about 0.8, by doubling or halving (Hoffman and Gelman 2014, algorithm 4). */
export function* reasonableStep(chain: Chain): Asking {
  const { live, q, g } = chain
  const [unused, mark] = [new Float64Array(chain.n), markOf(chain.n)]
  const trial = function* (): Asking<number> {
    const kinetic = refresh(chain)
    const begin = kinetic - chain.value
    copy(live.q, q)
    copy(live.g, g)
    before(chain, chain.stepSize)
    yield
    const end = after(chain, chain.stepSize, unused, mark) - live.value[0]!
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
