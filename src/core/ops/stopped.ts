/** The primitive of `stopGradient`, as an operation on one array of floats: rules use it, and have no code of trees with it. */
import { unary } from './lifted.js'

export const stopped = unary({
  name: 'stopGradient',
  unbounded: false,
  scalar: (x) => x!,
  alias: true,
  cost: 0,
  kinks: [{ at: [1], partials: [0], why: 'a constant for every derivative' }],
  source: 'JAX stop_gradient',
})
