/** Elements that stay in the memory of a CPU backend, below the regions of calls. */

import type { KeptArray } from '../../core/functions/backend.js'
import { itemBytes } from '../../core/graph/aval.js'
import { allocate, type NDArray, viewOf } from '../../core/graph/ndarray.js'
import { aligned } from '../plan/memory.js'
import type { Arena } from './arena.js'

/** A copy of an array that stays; undefined while a program runs. */
export const keptIn = (arena: Arena, { data, dtype }: NDArray): KeptArray | undefined => {
  const size = data.length
  const bytes = aligned(Math.max(1, size * itemBytes[dtype]))
  const address = arena.keep(bytes)
  if (address === undefined) return undefined
  let view = viewOf(dtype, arena.buffer, address, size)
  view.set(data as never)
  let gone = false
  return {
    get data() {
      if (view.buffer !== arena.buffer && !gone) view = viewOf(dtype, arena.buffer, address, size)
      return view
    },
    dispose: () => {
      if (gone) return
      gone = true
      view = allocate(dtype, 0)
      arena.release(address, bytes)
    },
  }
}
