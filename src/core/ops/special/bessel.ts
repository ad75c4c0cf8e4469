/** Bessel functions of integer order as primitives: the order is their parameter. */
import { shown } from '../../errors/check-arguments.js'
import { badInput } from '../../errors/explain.js'
import { natural, record } from '../../graph/codec.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { elementwiseShape, liftScalar } from '../lifted.js'
import * as functions from './bessel-values.js'

/** Which order. */
export interface BesselParams {
  readonly n: number
}
/** Orders that users may give; each derivative asks for one more. */
export const LAST_ORDER = 100
const LAST_DERIVED = 1000

const bessel = <const N extends string>(
  name: N,
  f: (n: number, x: number) => number,
  more: Pick<Primitive, 'extremes' | 'kinks' | 'unbounded' | 'source'>,
): Primitive<N, BesselParams, readonly ['float']> =>
  primitive({
    name,
    family: 'special',
    args: ['float'],
    class: 'elementwise',
    codec: record({ n: natural }),
    dtypes: ['float'],
    shapeRule: (args, { n }) => {
      if (!(Number.isInteger(n) && n >= 0 && n <= LAST_DERIVED))
        badInput(name, `n is ${shown(n)}.`, `n is an integer from 0 to ${LAST_DERIVED}.`)
      return elementwiseShape(name)(args)
    },
    scalarWith:
      ({ n }) =>
      (x) =>
        f(n, x!),
    meaning: ([x], { n }, [out]) => liftScalar((v) => f(n, v!), [x!], out!),
    cost: 60,
    samples: [
      { args: [{ shape: [], domain: [0.4, 5] }], params: { n: 0 } },
      { args: [{ shape: [5], domain: [0.5, 12] }], params: { n: 0 } },
      { args: [{ shape: [2, 3], domain: [-4, -0.5] }], params: { n: 1 } },
      { args: [{ shape: [3], domain: [1, 12] }], params: { n: 1 } },
      { args: [{ shape: [4], domain: [0.8, 10] }], params: { n: 3 } },
      { args: [{ shape: [0] }], params: { n: 2 } },
    ],
    showParams: ({ n }) => `n ${n}`,
    ...more,
  })

export const besselJPrimitive = bessel('besselJ', functions.besselJ, {
  extremes: [0, -30, 30],
  kinks: [],
  unbounded: false,
  source: 'DLMF 10.2.2',
})
export const besselIPrimitive = bessel('besselI', functions.besselI, {
  extremes: [0, -30, 30],
  kinks: [],
  unbounded: true,
  source: 'DLMF 10.25.2',
})
export const besselIePrimitive = bessel('besselIe', functions.besselIe, {
  extremes: [0, -30, 1e6],
  kinks: [],
  unbounded: false,
  source: 'DLMF 10.25.2',
})
