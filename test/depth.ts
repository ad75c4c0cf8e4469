/** How much the tests try: `npm test` everything once and small, `npm run test:all` (CODUAL_TESTS=all) what takes longer too. */

export const deep = process.env.CODUAL_TESTS === 'all'
/** A number of draws, programs or sizes: a few at `npm test`, many in depth. */
export const count = (few: number, many: number): number => (deep ? many : few)
/** Some of a list at `npm test`, evenly spread, its first and its last among them; all of it in depth. */
export const some = <X>(list: readonly X[], few: number): readonly X[] => {
  if (deep || list.length <= few) return list
  const step = few === 1 ? 0 : (list.length - 1) / (few - 1)
  return Array.from({ length: few }, (_, i) => list[Math.round(i * step)]!)
}
