/** The addresses with which a primitive that runs as a whole is called. */
import type { FunctionBuilder, Local, Repeat } from './encoder.js'

/** The first words of an opaque kernel's record (OpaqueRecord): results, arguments, scratch, sizes. */
export const pointers = <const N extends number>(f: FunctionBuilder, count: N): Repeat<Local, N> => {
  const words = Array.from({ length: count }, () => f.local('i32'))
  words.forEach((word, i) => {
    f.get(f.param(0))
      .i32Load(4 * i)
      .set(word)
  })
  return words as Local[] & Repeat<Local, N> // the array has count elements
}
