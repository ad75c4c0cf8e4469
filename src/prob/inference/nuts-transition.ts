/** One transition of the No-U-Turn sampler: a trajectory that doubles, forwards or backwards in time, until it turns, and a draw from its points by their weights (Hoffman and Gelman 2014; Betancourt 2017). */
import {
  after,
  before,
  type Chain,
  clear,
  copy,
  type Mark,
  MOST_ERROR,
  type Moves,
  mark,
  markOf,
  refresh,
  type Transition,
} from './hamiltonian.js'

/** An end of a trajectory. */
interface Point {
  readonly q: Float64Array
  readonly g: Float64Array
  p: Float64Array
}
const pointOf = (n: number): Point => ({ q: new Float64Array(n), g: new Float64Array(n), p: new Float64Array(n) })

/**
 * Does the trajectory between a mark and a point turn? Both have to move along the sum of the momenta between them. Half of each one's momentum is left out of the sum, which also finds turns between two
 * subtrees. `total` is the sum up to the point.
 */
const turnsSince = ({ p: first, along }: Mark, p: Float64Array, total: Float64Array): boolean => {
  // Two sums for each end: an addition need not wait for the one before it.
  let [a, b, c, d] = [0, 0, 0, 0]
  const n = p.length
  let i = 0
  for (; i + 1 < n; i += 2) {
    const [last, next] = [p[i]!, p[i + 1]!]
    const between = total[i]! - 0.5 * last - along[i]!
    const beyond = total[i + 1]! - 0.5 * next - along[i + 1]!
    a += first[i]! * between
    b += last * between
    c += first[i + 1]! * beyond
    d += next * beyond
  }
  if (i < n) {
    const last = p[i]!
    const between = total[i]! - 0.5 * last - along[i]!
    a += first[i]! * between
    b += last * between
  }
  return a + c <= 0 || b + d <= 0
}
const turnsBetween = (left: Float64Array, right: Float64Array, sum: Float64Array): boolean => {
  let [a, b] = [0, 0]
  for (let i = 0; i < sum.length; i++) {
    const [l, r] = [left[i]!, right[i]!]
    const between = sum[i]! - 0.5 * (l + r)
    a += l * between
    b += r * between
  }
  return a <= 0 || b <= 0
}

const ones = (n: number): number => {
  let count = 0
  for (let k = n; k > 0; k &= k - 1) count++
  return count
}
const trailingOnes = (n: number): number => 31 - Math.clz32((n + 1) & -(n + 1))

/** The most doublings that there are directions for. */
export const MOST_DEPTH = 20
/** Weights are bounded so that sums of them stay finite: the logarithm of the largest. */
export const MOST_WEIGHT = 690
/** What a new point does to its subtree. */
const GOES_ON = 0
const TURNED = 1
const DIVERGED = 2

/** The transitions of a chain. What moves is at one end of the trajectory, and `other` is the other end. Weights are exp(start - energy), so that of the start is 1. */
class Trajectory implements Moves {
  private readonly other: Point
  /** The sums of the momenta of the trajectory, and of its new subtree. */
  private readonly total: Float64Array
  private readonly subtotal: Float64Array
  /** The first points of the subtrees that are still open. */
  private readonly marks: readonly Mark[]
  /** A point of the subtree, drawn by the weights: its position, gradient, log density and Hamiltonian. */
  private drawnQ: Float64Array
  private drawnG: Float64Array
  private drawnValue = 0.5
  private drawnEnergy = 0.5
  private start = 0.5
  private weight = 0.5
  private subweight = 0.5
  private accepted = 0.5
  /** Steps of the integrator; their sign is the direction. */
  private step = 0.5
  private steps = 0
  private depth = 0
  private leaf = 0
  private leaves = 0
  /** A bit for each subtree: whether it goes forwards. */
  private forwards = 0
  private into!: Transition

  constructor(
    private readonly chain: Chain,
    private readonly maxDepth: number,
  ) {
    const { n } = chain
    this.other = pointOf(n)
    this.total = new Float64Array(n)
    this.subtotal = new Float64Array(n)
    this.marks = Array.from({ length: maxDepth }, () => markOf(n))
    this.drawnQ = new Float64Array(n)
    this.drawnG = new Float64Array(n)
  }

  /** A new momentum, and a trajectory of one point. */
  begin(into: Transition): this {
    const { chain, other, total } = this
    const { live, q, g, p, stream } = chain
    this.into = into
    this.start = refresh(chain) - chain.value
    this.weight = 1
    this.accepted = 0
    this.steps = this.depth = this.leaf = this.leaves = 0
    into.energy = this.start
    this.forwards = stream.uniform() * 2 ** MOST_DEPTH
    for (let i = 0; i < p.length; i++) {
      const [position, slope, momentum] = [q[i]!, g[i]!, p[i]!]
      live.q[i] = position
      live.g[i] = slope
      other.q[i] = position
      other.g[i] = slope
      other.p[i] = momentum
      total[i] = momentum
    }
    return this
  }

  go(): boolean {
    if (this.leaves > 0) {
      const state = this.grow()
      if (state !== GOES_ON) return this.end(state)
      if (++this.leaf === this.leaves) {
        this.depth++
        if (this.join() || this.depth === this.maxDepth) return this.end(GOES_ON)
        this.open()
      }
    } else this.open()
    before(this.chain, this.step)
    return true
  }

  /** Begins a subtree with as many points as the trajectory has. */
  private open(): void {
    const { chain, other } = this
    const forwards = ((this.forwards >> this.depth) & 1) === 1
    if (this.depth > 0 && forwards !== this.step > 0) {
      swap(chain.live.q, other.q)
      swap(chain.live.g, other.g)
      const { p } = chain
      chain.p = other.p
      other.p = p
    }
    this.step = forwards ? chain.stepSize : -chain.stepSize
    this.subweight = 0
    clear(this.subtotal)
    this.leaf = 0
    this.leaves = 1 << this.depth
  }
  /** Takes the new point of the subtree: its weight, whether it is drawn, and whether a part of the subtree that ends with it turns. */
  private grow(): number {
    const { chain, leaf, subtotal, marks } = this
    const { live, p } = chain
    const energy = after(chain, this.step, subtotal) - live.value[0]!
    this.steps++
    const change = this.start - energy
    // NaN, and a density without bounds, are divergences too.
    if (!(change >= -MOST_ERROR && change < Number.POSITIVE_INFINITY)) return DIVERGED
    const w = Math.exp(change < MOST_WEIGHT ? change : MOST_WEIGHT)
    const subweight = this.subweight + w
    this.accepted += w < 1 ? w : 1
    this.subweight = subweight
    // The first point is drawn whatever the number is.
    if (leaf === 0 || chain.stream.uniform() * subweight < w) {
      copy(this.drawnQ, live.q)
      copy(this.drawnG, live.g)
      this.drawnValue = live.value[0]!
      this.drawnEnergy = energy
    }
    if ((leaf & 1) === 0) {
      if (this.leaves > 1) mark(marks[ones(leaf)]!, p, subtotal)
      return GOES_ON
    }
    // The subtrees that end at this leaf begin at these marks.
    const last = ones(leaf >> 1)
    const first = last - trailingOnes(leaf) + 1
    for (let k = last; k >= first; k--) if (turnsSince(marks[k]!, p, subtotal)) return TURNED
    return GOES_ON
  }
  /** Joins the finished subtree to the trajectory, and says whether that turns. */
  private join(): boolean {
    const { chain, total, subtotal } = this
    if (chain.stream.uniform() * this.weight < this.subweight) {
      const { q, g } = chain
      chain.q = this.drawnQ
      chain.g = this.drawnG
      this.drawnQ = q
      this.drawnG = g
      chain.value = this.drawnValue
      this.into.energy = this.drawnEnergy
    }
    this.weight += this.subweight
    for (let i = 0; i < total.length; i++) total[i] = total[i]! + subtotal[i]!
    return turnsBetween(this.other.p, chain.p, total)
  }
  private end(state: number): false {
    const { into } = this
    into.depth = this.depth
    into.divergent = state === DIVERGED
    into.steps = this.steps
    into.acceptance = this.accepted / this.steps
    return false
  }
}
const swap = (a: Float64Array, b: Float64Array): void => {
  for (let i = 0; i < a.length; i++) {
    const v = a[i]!
    a[i] = b[i]!
    b[i] = v
  }
}

/** Transitions of a chain, as a function that begins one, which writes what it was. */
export const nutsTransitions = (chain: Chain, maxDepth: number): ((into: Transition) => Moves) => {
  const trajectory = new Trajectory(chain, maxDepth)
  return (into) => trajectory.begin(into)
}
