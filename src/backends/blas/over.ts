/** A library as the CPU backend takes it. */
import type { BlasInside } from '../cpu/kernel.js'
import type { FloatName } from '../cpu/wasm/float.js'
import { CHANNELS, convolutionBy } from './convolutions.js'
import { COLUMNS, factorisationBy } from './factorisations.js'
import type { Library } from './library.js'
import { type Matrices, matricesOf } from './matrices.js'
import { movesOf } from './moves.js'
import { COPYING, FAR, LEAST, Mapped, productsBy, type Sides, VECTORS } from './products.js'

/** From where on the library is asked: multiplications of a product, columns of a matrix that is factorised. */
export interface From extends Sides {
  readonly multiplications: number
  readonly columns: number
  /** Channels of a convolution. */
  readonly channels: number
}
export const blasOf = (
  library: Library,
  from: From = { multiplications: LEAST, columns: COLUMNS, channels: CHANNELS, copying: COPYING, far: FAR, vectors: VECTORS },
): BlasInside => ({
  library: library.name,
  reason: undefined,
  over: (memory) => {
    const at = new Mapped(memory, library)
    let made: ReturnType<typeof movesOf> | undefined
    const moves = () => (made ??= movesOf(memory))
    const around: Partial<Record<FloatName, Matrices>> = {}
    const matrices = (type: FloatName): Matrices => (around[type] ??= matricesOf(memory, type))
    return {
      products: (own) => productsBy(library, at, own, from.multiplications, from),
      whole: (k) => factorisationBy(library, at, matrices, k, from.columns) ?? convolutionBy(library, at, moves, k, from.channels),
    }
  },
})
