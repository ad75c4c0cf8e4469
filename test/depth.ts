/**
 * How much the tests try: `npm test` everything once and small, `npm run test:all` (CODUAL_TESTS=all) what takes longer too. A file that imports this one, or a helper that does, tries more in depth;
 * `npm run test:deep` (CODUAL_TESTS=deep) runs those alone, with what `npm test` leaves out.
 */

const asked = process.env.CODUAL_TESTS
/** Everything, without samples: before a release, `npm run test:whole`. */
export const whole = asked === 'whole'
export const deep = whole || asked === 'all' || asked === 'deep'
/** A number of draws, programs or sizes: a few at `npm test`, many in depth, most at `npm run test:whole`. */
export const count = (few: number, many: number, most = many): number => (whole ? most : deep ? many : few)
/** Some of a list at `npm test`, evenly spread, its first and its last among them; all of it in depth, or as many as are said, and all of it at `npm run test:whole`. */
export const some = <X>(list: readonly X[], few: number, many = list.length): readonly X[] => spread(list, count(few, many, list.length))
/** Some of a list in depth, for what takes minutes: all of it at `npm run test:whole`. */
export const sample = <X>(list: readonly X[], few: number): readonly X[] => (whole ? list : spread(list, few))

/** Half of a list in depth, for cases that are alike: every other one, from the k-th on, so that loops over k come to each of them. All of it at `npm run test:whole`. */
export const half = <X>(list: readonly X[], k: number): readonly X[] => (whole ? list : list.filter((_, i) => (i + k) % 2 === 0))

/** As many of a list, evenly spread, its first and its last among them. */
export const spread = <X>(list: readonly X[], few: number): readonly X[] => {
  if (list.length <= few) return list
  const step = few === 1 ? 0 : (list.length - 1) / (few - 1)
  return Array.from({ length: few }, (_, i) => list[Math.round(i * step)]!)
}
