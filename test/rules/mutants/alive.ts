/** Mistakes that nothing finds yet, by name: blind spots of the checker, not mistakes that change nothing. They concern zeros that stay zero beside infinite partials. */
export const alive: readonly string[] = [
  'elementwise: 1 - x^2 cancels',
  'elementwise: 1 - x^2 has its factors exchanged',
  'elementwise: the size in 1 - x^2 is negative',
]
