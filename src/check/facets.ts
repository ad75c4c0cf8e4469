/** What the modes make of a program beside its first derivatives: Taylor series, sparse matrices, and what wraps it. */
import { applies } from './applied.js'
import type { Collector } from './findings.js'
import { checkJet } from './jets.js'
import { isEndless } from './kinks.js'
import { checkSparse } from './sparse.js'
import type { Derived } from './subject.js'
import { checkWrapped } from './wrapped.js'

/** Each against what it stands for. */
export const checkFacets = (d: Derived, order: number, next: () => number, out: Collector): void => {
  out.guard('Taylor mode', () => checkJet(d, next, out))
  // Which elements depend on which is not known of a loop that nothing but its condition ends.
  if (!applies(d.outs, isEndless)) out.guard('sparse matrices', () => checkSparse(d, order, next, out))
  out.guard('checkpoint and stopGradient', () => checkWrapped(d, next, out))
}
