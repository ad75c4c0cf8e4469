/** Collectives: rules and kernels. */
import { type Pack, pack } from '../core/calculus/pack.js'
import { callingOnViews, planned } from '../core/extend/kernel-table.js'
import { fits } from './communicator.js'
import { overlapPack } from './overlap.js'
import { collectiveOf, mpiFamily } from './primitives.js'
import { mpiRules } from './rules.js'
import { current } from './world.js'

/** Takes part in the collective, on the memory of the backend. */
const exchanging = (name: string) => {
  const of = collectiveOf(name)
  return callingOnViews<unknown>(([x], params, [y]) => {
    const c = of(params)
    const ranks = current()
    fits(c, ranks.size)
    ranks.run(c, x!, y!)
  })
}

export const mpiPack: Pack = pack(
  mpiFamily,
  {
    rules: mpiRules,
    cpu: {
      allReduce: exchanging('allReduce'),
      allReduceMax: exchanging('allReduceMax'),
      broadcast: exchanging('broadcast'),
      reduceTo: exchanging('reduceTo'),
      allGather: exchanging('allGather'),
      reduceScatter: exchanging('reduceScatter'),
      allToAll: exchanging('allToAll'),
      sendRecv: exchanging('sendRecv'),
      spread: planned('written out'),
      total: planned('written out'),
    },
  },
  [overlapPack],
)
