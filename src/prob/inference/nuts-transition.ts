/** One transition of the No-U-Turn sampler: a trajectory that doubles, forwards or backwards in time, until it turns, and a draw from its points by their weights (Hoffman and Gelman 2014; Betancourt 2017). */
import { type Asking, after, before, type Chain, MOST_ERROR, refresh, type Transition } from './hamiltonian.js'

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
const store = ({ live, p, v }: Chain, into: Point): void => {
  into.q.set(live.q)
  into.g.set(live.g)
  into.p.set(p)
  into.v.set(v)
}
const goTo = ({ live, p, v }: Chain, from: Point): void => {
  live.q.set(from.q)
  live.g.set(from.g)
  p.set(from.p)
  v.set(from.v)
}

/** A drawn point, and its Hamiltonian. */
interface Drawn {
  readonly q: Float64Array
  readonly g: Float64Array
  value: number
  energy: number
}
const take = ({ live }: Chain, energy: number, into: Drawn): void => {
  into.q.set(live.q)
  into.g.set(live.g)
  into.value = live.value[0]!
  into.energy = energy
}

/** What a transition needs beside its chain, made once. */
interface Room {
  readonly ends: readonly [Point, Point]
  readonly total: Float64Array
  readonly subtotal: Float64Array
  readonly proposal: Drawn
  /** At the first point of each subtree that is still open: its velocity, and half its momentum less the sum of all momenta up to it. */
  readonly marks: readonly { readonly v: Float64Array; readonly offset: Float64Array }[]
}
const roomOf = (n: number, maxDepth: number): Room => ({
  ends: [pointOf(n), pointOf(n)],
  total: new Float64Array(n),
  subtotal: new Float64Array(n),
  proposal: { q: new Float64Array(n), g: new Float64Array(n), value: 0, energy: 0 },
  marks: Array.from({ length: maxDepth }, () => ({ v: new Float64Array(n), offset: new Float64Array(n) })),
})

/**
 * Does the trajectory between a mark and here turn? Both ends have to move along the sum of momenta; half of each end's momentum is left out of the sum, which also finds turns between two
 * subtrees.
 */
const turnsSince = (mark: { readonly v: Float64Array; readonly offset: Float64Array }, p: Float64Array, v: Float64Array, sum: Float64Array): boolean => {
  const { v: first, offset } = mark
  let [a, b] = [0, 0]
  for (let i = 0; i < p.length; i++) {
    const along = sum[i]! - 0.5 * p[i]! + offset[i]!
    a += first[i]! * along
    b += v[i]! * along
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

/** Transitions of a chain, as a function that makes one and writes what it was. */
export const nutsTransitions = (chain: Chain, maxDepth: number): ((into: Transition) => Asking) => {
  const { n, live, stream, p, v } = chain
  const room = roomOf(n, maxDepth)
  const { ends, total, subtotal, proposal, marks } = room
  return function* (into) {
    const kinetic = refresh(chain)
    const start = kinetic - chain.value
    live.q.set(chain.q)
    live.g.set(chain.g)
    store(chain, ends[0])
    store(chain, ends[1])
    total.set(p)
    into.energy = start
    into.divergent = false
    // Weights are exp(start - energy), so that of the start is 1.
    let weight = 1
    let [accepted, steps, depth] = [0, 0, 0]
    for (; depth < maxDepth; depth++) {
      const forwards = stream.uniform() < 0.5
      const step = forwards ? chain.stepSize : -chain.stepSize
      const end = ends[forwards ? 1 : 0]
      goTo(chain, end)
      subtotal.fill(0)
      let subweight = 0
      let turned = false
      const leaves = 2 ** depth
      for (let leaf = 0; leaf < leaves && !turned; leaf++) {
        before(chain, step)
        yield
        const energy = after(chain, step, subtotal) - live.value[0]!
        steps++
        const change = start - energy
        // NaN, and a density without bounds, are divergences too.
        if (!(change >= -MOST_ERROR && change < Number.POSITIVE_INFINITY)) {
          into.divergent = true
          break
        }
        // A weight is bounded so that sums of them stay finite.
        const w = Math.exp(change < 690 ? change : 690)
        accepted += w < 1 ? w : 1
        subweight += w
        if (stream.uniform() * subweight < w) take(chain, energy, proposal)
        if ((leaf & 1) === 0) {
          if (leaves > 1) {
            const mark = marks[ones(leaf)]!
            mark.v.set(v)
            for (let i = 0; i < n; i++) mark.offset[i] = 0.5 * p[i]! - subtotal[i]!
          }
        } else {
          // The subtrees that end at this leaf begin at these marks.
          const last = ones(leaf >> 1)
          const first = last - trailingOnes(leaf) + 1
          for (let k = last; k >= first && !turned; k--) turned = turnsSince(marks[k]!, p, v, subtotal)
        }
      }
      if (turned || into.divergent) break
      store(chain, end)
      if (stream.uniform() * weight < subweight) {
        chain.q.set(proposal.q)
        chain.g.set(proposal.g)
        chain.value = proposal.value
        into.energy = proposal.energy
      }
      weight += subweight
      for (let i = 0; i < n; i++) total[i] = total[i]! + subtotal[i]!
      if (turnsBetween(ends, total)) {
        depth++
        break
      }
    }
    into.depth = depth
    into.steps = steps
    into.acceptance = steps === 0 ? 0 : accepted / steps
  }
}
