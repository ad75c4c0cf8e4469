/** The function that finds a mistake, where the rules that it concerns are right by themselves and most functions are too: it is tried first, and all others where it finds nothing any more. */
export const foundBy: Readonly<Record<string, string>> = {
  'contract: a cotangent that is added is cut': 'a sum in three products',
  'custom: what every example shares gets one cotangent for each': 'customRule, both',
  'reverse: blocks that overlap tile it': 'parts that overlap, together as long as it',
  'vmap: of several results the first': 'parts of a split, one unused',
}
