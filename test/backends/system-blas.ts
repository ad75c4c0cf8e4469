/** The system library of the tests: one that this machine has, and how often it is asked. */
import { findLibrary } from '../../src/backends/blas/library.js'
import { blasOf, type From } from '../../src/backends/blas/over.js'
import type { BlasInside } from '../../src/backends/cpu/kernel.js'

/** The library, or undefined with a line that says how to have it (an error with CODUAL_REQUIRE_BLAS=1). */
const found = findLibrary()
if (typeof found === 'string') {
  if (process.env.CODUAL_REQUIRE_BLAS === '1')
    throw new Error(`a BLAS is required: ${found}. On Debian: apt-get install libopenblas0-pthread`)
  console.warn(`tests of a system BLAS are skipped: ${found}. On Debian: apt-get install libopenblas0-pthread`)
}
export const library = typeof found === 'string' ? undefined : found

/** What it computed, by what: products, and factorisations by their primitive. */
export type Asked = Map<string, number>
/** What the backend would keep goes to the library too. */
export const OF_ANY_SIZE: From = {
  multiplications: 0,
  columns: 0,
  channels: 0,
  copying: 0,
  far: Number.POSITIVE_INFINITY,
  vectors: Number.POSITIVE_INFINITY,
}
/** The library for products and matrices of any size, counted in `asked`; `refused` where the backend's own did it. */
export const everything = (asked: Asked, from = OF_ANY_SIZE): BlasInside => {
  const of = blasOf(library!, from)
  const count = (name: string, done: boolean): void => {
    const key = done ? name : `${name}, refused`
    asked.set(key, (asked.get(key) ?? 0) + 1)
  }
  return {
    ...of,
    over: (memory) => {
      const { products, whole } = of.over!(memory)
      return {
        products: (own) => {
          const by = products(own)
          return {
            ...by,
            imports: (type, into) =>
              Object.fromEntries(
                Object.entries(by.imports!(type, into)).map(([name, f]) => [
                  name,
                  (record: number) => {
                    const done = (f as (record: number) => number)(record)
                    count(`product ${type}${{ set: '', add: ' +=', subtract: ' -=' }[into]}`, done === 1)
                    return done
                  },
                ]),
              ),
          }
        },
        whole: (k) => {
          const ready = whole(k)
          return (
            ready && {
              ...ready,
              run: (arrays, scratch) => {
                const done = ready.run(arrays, scratch)
                count(k.prim.name, done)
                return done
              },
            }
          )
        },
      }
    },
  }
}
