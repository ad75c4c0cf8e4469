/** One transition of Hamiltonian Monte Carlo: a trajectory of a length that is drawn, accepted or not by its error of the energy (Neal 2011). */
import { type Asking, after, before, type Chain, copy, MOST_ERROR, markOf, refresh, settle, type Transition } from './hamiltonian.js'

/** The most steps of a trajectory. */
const MOST_STEPS = 1024

/** Transitions of a chain. The number of steps is given, or drawn so that lengths are even from 0 to 2 `pathLength`, which no period can be a multiple of. */
export const hmcTransitions = (chain: Chain, pathLength: number, given: number | undefined): ((into: Transition) => Asking) => {
  const { live, stream } = chain
  const [unused, mark] = [new Float64Array(chain.n), markOf(chain.n)]
  return function* (into) {
    const start = refresh(chain) - chain.value
    const steps = given ?? Math.min(MOST_STEPS, Math.max(1, Math.round((2 * pathLength * stream.uniform()) / chain.stepSize)))
    copy(live.q, chain.q)
    copy(live.g, chain.g)
    into.divergent = false
    into.depth = 0
    let energy = start
    let taken = 0
    for (; taken < steps && !into.divergent; taken++) {
      before(chain, chain.stepSize)
      yield
      energy = after(chain, chain.stepSize, unused, mark) - live.value[0]!
      const change = start - energy
      into.divergent = !(change >= -MOST_ERROR && change < Number.POSITIVE_INFINITY)
    }
    const probability = into.divergent ? 0 : Math.min(1, Math.exp(start - energy))
    const accepted = stream.uniform() < probability
    if (accepted) settle(chain)
    into.acceptance = probability
    into.steps = taken
    into.energy = accepted ? energy : start
  }
}
