/** One transition of the No-U-Turn sampler: a trajectory that doubles, forwards or backwards in time, until it turns, and a draw from its points by their weights (Hoffman and Gelman 2014; Betancourt 2017). */
import { type Asking, after, before, type Chain, copy, type Mark, MOST_ERROR, markOf, refresh, type Transition } from './hamiltonian.js'

/** A point of a trajectory. */
interface Point {
  readonly q: Float64Array
  readonly g: Float64Array
  readonly p: Float64Array
  readonly v: Float64Array
}
const pointOf = (n: number): Point => ({
  q: new Float64Array(n),
  g: new Float64Array(n),
  p: new Float64Array(n),
  v: new Float64Array(n),
})
const store = ({ live, p }: Chain, v: Float64Array, into: Point): void => {
  copy(into.q, live.q)
  copy(into.g, live.g)
  copy(into.p, p)
  copy(into.v, v)
}
const goTo = ({ live, p }: Chain, from: Point): void => {
  copy(live.q, from.q)
  copy(live.g, from.g)
  copy(p, from.p)
}

/** A drawn point, and its Hamiltonian. */
interface Drawn {
  readonly q: Float64Array
  readonly g: Float64Array
  value: number
  energy: number
}
const take = ({ live }: Chain, energy: number, into: Drawn): void => {
  copy(into.q, live.q)
  copy(into.g, live.g)
  into.value = live.value[0]!
  into.energy = energy
}

/** What a transition needs beside its chain, made once. */
interface Room {
  readonly ends: readonly [Point, Point]
  readonly total: Float64Array
  readonly subtotal: Float64Array
  readonly proposal: Drawn
  readonly numbers: Float64Array
  /** The first points of the subtrees that are still open. */
  readonly marks: readonly Mark[]
  /** Any other point. */
  readonly passing: Mark
}
const roomOf = (n: number, maxDepth: number): Room => ({
  ends: [pointOf(n), pointOf(n)],
  total: new Float64Array(n),
  subtotal: new Float64Array(n),
  proposal: { q: new Float64Array(n), g: new Float64Array(n), value: 0, energy: 0 },
  numbers: new Float64Array(5),
  marks: Array.from({ length: maxDepth }, () => markOf(n)),
  passing: markOf(n),
})

/**
 * Does the trajectory between a mark and here turn? Both ends have to move along the sum of the momenta between them. Half of each end's momentum is left out of the sum, which also finds turns
 * between two subtrees.
 */
const turnsSince = ({ v: first, along: from }: Mark, { v: last, along: to }: Mark): boolean => {
  let [a, b] = [0, 0]
  for (let i = 0; i < first.length; i++) {
    const along = to[i]! - from[i]!
    a += first[i]! * along
    b += last[i]! * along
  }
  return a <= 0 || b <= 0
}
const turnsBetween = ([left, right]: readonly [Point, Point], sum: Float64Array): boolean => {
  let [a, b] = [0, 0]
  for (let i = 0; i < sum.length; i++) {
    const along = sum[i]! - 0.5 * (left.p[i]! + right.p[i]!)
    a += left.v[i]! * along
    b += right.v[i]! * along
  }
  return a <= 0 || b <= 0
}

const ones = (n: number): number => {
  let count = 0
  for (let k = n; k > 0; k &= k - 1) count++
  return count
}
const trailingOnes = (n: number): number => 31 - Math.clz32((n + 1) & -(n + 1))

/** The numbers of a trajectory that change from leaf to leaf, in an array: a generator would box them. */
const START = 0
const WEIGHT = 1
const SUBWEIGHT = 2
const ACCEPTED = 3
const STEPS = 4
/** What a new point does to its subtree. */
const GOES_ON = 0
const TURNED = 1
const DIVERGED = 2

/** Takes the point with number `leaf` of a subtree: its weight, whether it is drawn, and whether a part of the subtree that ends with it turns. */
const grow = (chain: Chain, room: Room, step: number, leaf: number, leaves: number): number => {
  const { live, stream } = chain
  const { subtotal, proposal, marks, passing, numbers } = room
  const odd = (leaf & 1) === 1
  const here = odd || leaves === 1 ? passing : marks[ones(leaf)]!
  const energy = after(chain, step, subtotal, here) - live.value[0]!
  numbers[STEPS] = numbers[STEPS]! + 1
  const change = numbers[START]! - energy
  // NaN, and a density without bounds, are divergences too.
  if (!(change >= -MOST_ERROR && change < Number.POSITIVE_INFINITY)) return DIVERGED
  // A weight is bounded so that sums of them stay finite.
  const w = Math.exp(change < 690 ? change : 690)
  const subweight = numbers[SUBWEIGHT]! + w
  numbers[ACCEPTED] = numbers[ACCEPTED]! + (w < 1 ? w : 1)
  numbers[SUBWEIGHT] = subweight
  if (stream.uniform() * subweight < w) take(chain, energy, proposal)
  if (!odd) return GOES_ON
  // The subtrees that end at this leaf begin at these marks.
  const last = ones(leaf >> 1)
  const first = last - trailingOnes(leaf) + 1
  for (let k = last; k >= first; k--) if (turnsSince(marks[k]!, here)) return TURNED
  return GOES_ON
}
/** Joins a finished subtree to the trajectory, and says whether that turns. */
const join = (chain: Chain, { ends, total, subtotal, proposal, passing, numbers }: Room, end: Point, into: Transition): boolean => {
  // The last leaf is odd, or the only one.
  store(chain, passing.v, end)
  if (chain.stream.uniform() * numbers[WEIGHT]! < numbers[SUBWEIGHT]!) {
    copy(chain.q, proposal.q)
    copy(chain.g, proposal.g)
    chain.value = proposal.value
    into.energy = proposal.energy
  }
  numbers[WEIGHT] = numbers[WEIGHT]! + numbers[SUBWEIGHT]!
  for (let i = 0; i < total.length; i++) total[i] = total[i]! + subtotal[i]!
  return turnsBetween(ends, total)
}
/** A new momentum, and a trajectory of one point. Weights are exp(start - energy), so that of the start is 1. */
const startOf = (chain: Chain, { ends, total, numbers }: Room, into: Transition): void => {
  const { live, p, q, g } = chain
  numbers.fill(0)
  into.energy = numbers[START] = refresh(chain) - chain.value
  into.divergent = false
  numbers[WEIGHT] = 1
  copy(live.q, q)
  copy(live.g, g)
  store(chain, chain.v, ends[0])
  store(chain, chain.v, ends[1])
  copy(total, p)
}

/** Transitions of a chain, as a function that makes one and writes what it was. */
export const nutsTransitions = (chain: Chain, maxDepth: number): ((into: Transition) => Asking) => {
  const room = roomOf(chain.n, maxDepth)
  const { numbers } = room
  return function* (into) {
    startOf(chain, room, into)
    let depth = 0
    let state: number = GOES_ON
    for (; depth < maxDepth && state === GOES_ON; depth++) {
      const forwards = chain.stream.uniform() < 0.5
      const step = forwards ? chain.stepSize : -chain.stepSize
      const end = room.ends[forwards ? 1 : 0]
      goTo(chain, end)
      room.subtotal.fill(0)
      numbers[SUBWEIGHT] = 0
      const leaves = 2 ** depth
      for (let leaf = 0; leaf < leaves && state === GOES_ON; leaf++) {
        before(chain, step)
        yield
        state = grow(chain, room, step, leaf, leaves)
      }
      if (state !== GOES_ON) break
      if (join(chain, room, end, into)) state = TURNED
    }
    into.depth = depth
    into.divergent = state === DIVERGED
    into.steps = numbers[STEPS]!
    into.acceptance = numbers[ACCEPTED]! / numbers[STEPS]!
  }
}
