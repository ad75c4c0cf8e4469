/** Sums of many f32 numbers as WGSL: blocks of terms, whose sums go to totals. The error is that of a block, not of all terms one by one. */

/** Terms that a sum in a register takes before it goes to its total. */
export const BLOCK = 128

/** Sums (names of variables) and their totals: to declare before the loop over blocks, to run after each block, and to have the totals in the sums. */
export interface Totals {
  readonly declared: string
  readonly flush: string
  readonly done: string
}
export const totalsOf = (sums: readonly string[]): Totals => {
  const each = (f: (s: string) => string): string => `  ${sums.map(f).join(' ')}\n`
  return {
    declared: each((s) => `var t${s} = 0.0;`),
    flush: each((s) => `t${s} += ${s}; ${s} = 0.0;`),
    done: each((s) => `${s} = t${s};`),
  }
}

/** Adds `x` to a total, and what that rounds off to `lost`: any number of blocks. `regained` is the sum in the end. */
export const collect = (total: string, lost: string, x: string): string =>
  `{ let cdx = ${x}; let cdn = ${total} + cdx; ${lost} += cd_lost(${total}, cdx, cdn); ${total} = cdn; }`
export const regained = (total: string, lost: string): string => `cd_regained(${total}, ${lost})`
