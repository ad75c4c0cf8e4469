/** `polygamma`: the derivatives of log gamma, one primitive with the order as parameter, so that they are closed under differentiation. */
import * as t from 'io-ts'
import { elementwiseShape, liftScalar } from '../elementwise.js'
import { type Primitive, primitive } from '../primitive.js'
import { polygamma } from '../special.js'

export interface OrderParams {
  readonly n: number
}
export const polygammaOf: Primitive<'polygamma', OrderParams, readonly ['float']> = primitive({
  name: 'polygamma',
  family: 'elementwise',
  args: ['float'],
  class: 'elementwise',
  codec: t.type({ n: t.number }),
  shapeRule: elementwiseShape('polygamma', undefined, ['f64', 'f32']),
  scalarWith:
    ({ n }) =>
    (x) =>
      polygamma(n, x!),
  meaning: (args, { n }, [out]) => liftScalar((x) => polygamma(n, x!), args, out!),
  cost: 40,
  samples: [0, 1, 2].map((n) => ({ args: [{ shape: [3], domain: [0.5, 5] as const }], params: { n } })),
  showParams: ({ n }) => String(n),
  source: 'DLMF 5.15',
})
