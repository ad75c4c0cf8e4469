/** What authors of rules use, public as it stands. */
export { batchAll } from './batching.js'
export {
  type Args,
  type ArgTangents,
  bilinearRule,
  estimator,
  linearRule,
  type MultiRule,
  multiLinearRule,
  multiRule,
  multiScalarRule,
  nonDifferentiable,
  optOut,
  type Partials,
  rule,
  type SingleRule,
  scalarRule,
} from './define.js'
export { addTangents, scaleTangent } from './product.js'
