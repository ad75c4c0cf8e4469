/** Sums of many f32 numbers as WGSL: blocks of terms, whose sums go to totals. The error is that of a block, not of all terms one by one. */

/** Terms that a sum in a register takes before it goes to its total. */
export const BLOCK = 128

/** Blocks that a total takes as they come; of more, it keeps what additions round off. */
const FEW = 32
/** Terms of so many blocks. */
export const LONG = FEW * BLOCK

/** Adds `x` to a total (Kahan's sum): what that rounds off is kept in `lost`, 0 at first, and goes with the next term. */
export const collect = (total: string, lost: string, x: string, f = 'cd_lost'): string =>
  `{ let cdx = ${x} + ${lost}; let cdn = ${total} + cdx; ${lost} = ${f}(${total}, cdx, cdn); ${total} = cdn; }`

/** What a sum is: one number, or several side by side. `lost` names the function that finds what their additions round off. */
export interface Kind {
  readonly zero: string
  readonly lost: string
}
const NUMBER: Kind = { zero: '0.0', lost: 'cd_lost' }

/** Sums (names of variables) and their totals: to declare before the loop over blocks, to run after each block, and to have the totals in the sums. */
export interface Totals {
  readonly declared: string
  readonly flush: string
  readonly done: string
}
/** Totals of so many terms. */
export const totalsOf = (sums: readonly string[], terms: number, { zero, lost }: Kind = NUMBER): Totals => {
  const each = (f: (s: string) => string): string => `  ${sums.map(f).join(' ')}\n`
  const many = terms > LONG
  return {
    declared: each((s) => `var t${s} = ${zero};${many ? ` var l${s} = ${zero};` : ''}`),
    flush: each((s) => `${many ? collect(`t${s}`, `l${s}`, s, lost) : `t${s} += ${s};`} ${s} = ${zero};`),
    done: each((s) => `${s} = t${s};`),
  }
}
