/** One transition of Hamiltonian Monte Carlo: a trajectory of a length that is drawn, accepted or not by its error of the energy (Neal 2011). */
import { after, before, type Chain, copy, MOST_ERROR, type Moves, refresh, settle, type Transition } from './hamiltonian.js'

/** The most steps of a trajectory. */
const MOST_STEPS = 1024

/** Transitions of a chain. The number of steps is given, or drawn so that lengths are even from 0 to 2 `pathLength`, which no period can be a multiple of. */
export const hmcTransitions = (chain: Chain, pathLength: number, given: number | undefined): ((into: Transition) => Moves) => {
  const { live, stream } = chain
  const unused = new Float64Array(chain.n)
  let [start, energy, steps, taken] = [0, 0, 0, 0]
  let into!: Transition
  const moves: Moves = {
    go: () => {
      if (taken > 0) {
        energy = after(chain, chain.stepSize, unused) - live.value[0]!
        const change = start - energy
        into.divergent = !(change >= -MOST_ERROR && change < Number.POSITIVE_INFINITY)
      }
      if (taken === steps || into.divergent) {
        end()
        return false
      }
      before(chain, chain.stepSize)
      taken++
      return true
    },
  }
  const end = (): void => {
    const probability = into.divergent ? 0 : Math.min(1, Math.exp(start - energy))
    const accepted = stream.uniform() < probability
    if (accepted) settle(chain)
    into.acceptance = probability
    into.steps = taken
    into.energy = accepted ? energy : start
  }
  return (transition) => {
    into = transition
    start = energy = refresh(chain) - chain.value
    steps = given ?? Math.min(MOST_STEPS, Math.max(1, Math.round((2 * pathLength * stream.uniform()) / chain.stepSize)))
    taken = 0
    copy(live.q, chain.q)
    copy(live.g, chain.g)
    into.divergent = false
    into.depth = 0
    return moves
  }
}
