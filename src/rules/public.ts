/** What authors of rules use, public as it stands. */
export { batchAll } from './batching.js'
export {
  bilinearRule,
  estimator,
  linearRule,
  multiLinearRule,
  multiRule,
  multiScalarRule,
  nonDifferentiable,
  optOut,
  rule,
  scalarRule,
} from './define.js'
export { addTangents, scaleTangent } from './product.js'
