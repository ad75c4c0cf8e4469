/** Operations of the base, whose rows every program may need: what these modules export is public, with the type and the docstring it has there. Those of src/packs are the others. */

export * from './arithmetic.js'
export * from './compare.js'
export * from './construct.js'
export * from './joins.js'
export * from './layout/layout.js'
export { map } from './map.js'
export * from './reductions.js'
export { round } from './rounding.js'
export * from './unary.js'
