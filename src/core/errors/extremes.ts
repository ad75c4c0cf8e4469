/** Extremes of lists of any length: `Math.max(...list)` overflows the stack from about 120,000 elements on. */

/** The greatest of the numbers and of `given`; NaN if one is. */
export const greatestOf = (xs: Iterable<number>, given = Number.NEGATIVE_INFINITY): number => {
  let found = given
  for (const x of xs) found = Math.max(found, x)
  return found
}

/** The least of the numbers and of `given`; NaN if one is. */
export const leastOf = (xs: Iterable<number>, given = Number.POSITIVE_INFINITY): number => {
  let found = given
  for (const x of xs) found = Math.min(found, x)
  return found
}
