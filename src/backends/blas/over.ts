/** A library as the CPU backend takes it. */
import type { BlasInside } from '../cpu/kernel.js'
import { COLUMNS, factorisationBy } from './factorisations.js'
import type { Library } from './library.js'
import { LEAST, Mapped, productsBy } from './products.js'

/** From where on the library is asked: multiplications of a product, columns of a matrix that is factorised. */
export interface From {
  readonly multiplications: number
  readonly columns: number
}
export const blasOf = (library: Library, from: From = { multiplications: LEAST, columns: COLUMNS }): BlasInside => ({
  library: library.name,
  reason: undefined,
  over: (memory) => {
    const at = new Mapped(memory, library)
    return {
      products: (own) => productsBy(library, at, own, from.multiplications),
      whole: (k) => factorisationBy(library, at, k, from.columns),
    }
  },
})
