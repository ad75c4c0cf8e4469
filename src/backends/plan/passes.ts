/** The planner's optimisations by name. Each can be left out: tests find the one that is wrong by leaving out one after the other. */

/**
 * - `numbering`: equal values are made once
 * - `simplify`: x * 1 and x / 1 are x
 * - `views`: layout operations are views of what they read
 * - `slices`: a part of a cheap elementwise value is computed from parts of its arguments
 * - `writeOut`: small maps are fused with their neighbours
 * - `accumulate`: a product or sum that is added to something is added into it
 * - `sink`: what is cheap to make again is made where it is read
 * - `fusion`: loops of one shape are one loop
 * - `parts`: the parts of a concat are written where they belong
 * - `takeOver`: an accumulator is added to where it lies
 * - `inPlace`: a loop writes over an argument that dies in it
 * - `recycle`: memory is used again
 * - `loops`: a loop stays one, whose step is planned once
 * - `carry`: the next state of a loop is made where the last one lies
 * - `unmask`: steps that a loop leaves out are not masked too
 * - `collapse`: neighbouring axes are walked as one
 * - `tiles`: arrays in different orders are walked in tiles
 */
export const passes = [
  'numbering',
  'simplify',
  'views',
  'slices',
  'writeOut',
  'accumulate',
  'sink',
  'fusion',
  'parts',
  'takeOver',
  'inPlace',
  'recycle',
  'loops',
  'carry',
  'unmask',
  'collapse',
  'tiles',
] as const
export type Pass = (typeof passes)[number]

/** What a plan is made without. */
export type Without = ReadonlySet<Pass>
export const ALL_PASSES: Without = new Set()
