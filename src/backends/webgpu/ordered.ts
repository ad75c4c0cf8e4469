/** Numbers as words whose order as whole numbers is theirs, so that the greatest word is the greatest number (or, turned round, the smallest); NaN above all. */
import type { DType } from '../../core/types/dtype.js'

const FLOAT = `fn ordered(w: u32) -> u32 { return select(w | 0x80000000u, ~w, (w >> 31u) == 1u); }
fn unordered(k: u32) -> u32 { return select(~k, k & 0x7fffffffu, (k >> 31u) == 1u); }
fn is_nan_word(w: u32) -> bool { return (w & 0x7fffffffu) > 0x7f800000u; }`

/** WGSL from a word of an element to its key and back, where the greatest key wins. */
export interface Ordered {
  readonly functions: readonly string[]
  readonly key: (word: string) => string
  readonly word: (key: string) => string
}
export const ordered = (mode: 'max' | 'min', dtype: DType): Ordered => {
  const turn = mode === 'max' ? '' : '~'
  return dtype === 'f32'
    ? {
        functions: [FLOAT],
        key: (w) => `select(${turn}ordered(${w}), 0xffffffffu, is_nan_word(${w}))`,
        word: (k) => `select(unordered(${turn}${k}), 0x7fc00000u, ${k} == 0xffffffffu)`,
      }
    : { functions: [], key: (w) => `${turn}(${w} ^ 0x80000000u)`, word: (k) => `(${turn}${k} ^ 0x80000000u)` }
}
