/** The derivatives of digamma as one primitive: which one is its parameter. */
import { shown } from '../errors/check-arguments.js'
import { badInput } from '../errors/explain.js'
import { natural, record } from '../graph/codec.js'
import { type Primitive, primitive } from '../graph/primitive.js'
import { elementwiseShape, liftScalar } from './lifted.js'
import * as special from './special/functions.js'

/** Which derivative of digamma. */
export interface PolygammaParams {
  readonly n: number
}
/** Derivatives go further, up to the last factorial that an f64 holds. */
const LAST_ORDER = 170

export const polygammaPrimitive: Primitive<'polygamma', PolygammaParams, readonly ['float']> = primitive({
  name: 'polygamma',
  family: 'elementwise',
  args: ['float'],
  class: 'elementwise',
  codec: record({ n: natural }),
  dtypes: ['float'],
  shapeRule: (args, { n }) => {
    if (!(Number.isInteger(n) && n >= 0 && n <= LAST_ORDER))
      badInput('polygamma', `n is ${shown(n)}.`, `n is an integer from 0 to ${LAST_ORDER}.`)
    return elementwiseShape('polygamma')(args)
  },
  scalarWith:
    ({ n }) =>
    (x) =>
      special.polygamma(n, x!),
  meaning: ([x], { n }, [out]) => liftScalar((v) => special.polygamma(n, v!), [x!], out!),
  cost: 80,
  samples: [
    { args: [{ shape: [], domain: [0.4, 5] }], params: { n: 0 } },
    { args: [{ shape: [5], domain: [0.4, 5] }], params: { n: 0 } },
    { args: [{ shape: [2, 3], domain: [0.5, 4] }], params: { n: 1 } },
    { args: [{ shape: [3], domain: [0.8, 4] }], params: { n: 3 } },
    { args: [{ shape: [3], domain: [-0.8, -0.2] }], params: { n: 0 } },
    { args: [{ shape: [0] }], params: { n: 2 } },
  ],
  extremes: [0, -1, 20, 1e10],
  showParams: ({ n }) => `n ${n}`,
  source: 'DLMF 5.15.1',
})
