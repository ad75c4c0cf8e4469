/** The Kalman filter: against the joint density of all observations, and against the literature on the flow of the Nile. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { f64, fn, valueAndGrad } from '../../src/index.js'
import * as kalman from './kalman.js'

/** The annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m^3: Cobb 1978. */
const nile = [
  1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250,
  1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821,
  768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860,
  874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
]
/** A path with a bend in it, and deviations. */
const track = Array.from({ length: 50 }, (_, t) => 0.02 * t * t - 0.5 * t + 3 * Math.sin(0.3 * t) + 0.7 * Math.cos(37 * t))
const moving = fn({ params: { observation: f64(), push: f64() }, ys: f64('n') }, ({ params, ys }) =>
  kalman.logLikelihood({ model: kalman.constantVelocity(params), belief: { mean: [0, 0], cov: [[10, 0], [0, 1]] }, ys })) // biome-ignore format: one row

describe('kalman', () => {
  // No filter: the density at once of the 50 observations, a normal law with the covariances h^T F^(b-a) Cov(s_a) h; jax.numpy.linalg's
  // solve and slogdet in f64, gradient by jax.grad, JAX 0.10.2.
  it('the log-likelihood is the joint density, and so is its gradient', () => {
    const { value, grad } = valueAndGrad(moving, { wrt: 'params' })({ params: { observation: 0, push: -1 }, ys: track })
    expect(value.item()).toBeCloseTo(-78.92819730376411, 9)
    expect(grad.observation.item()).toBeCloseTo(-16.76712044, 7)
    expect(grad.push.item()).toBeCloseTo(-2.80628497, 7)
  })

  it('one step of one number is the formula: the gain weighs by precision', () => {
    const one = { F: [[1]], Q: [[0]], h: [1], r: 1 }
    const { belief, logDensity } = kalman.filterStep({ model: one, belief: { mean: [0], cov: [[3]] }, y: 4 })
    expect(belief.mean.toArray()).toEqual([3])
    expect(belief.cov.toArray()).toEqual([[0.75]])
    expect(logDensity.item()).toBeCloseTo(-0.5 * (Math.log(2 * Math.PI * 4) + 4), 14)
  })

  it('the derivatives of a short series are those of finite differences, to the second order', () => {
    expect(report(checkGrad(moving)({ params: { observation: 0.2, push: -0.5 }, ys: [1, 3, 2] }))).toMatch(/^ok/)
  })

  it('the variances of the Nile are those of Durbin and Koopman 2012, 2.10: 15,099 and 1469.1', () => {
    const { observation, level } = kalman.fitLocalLevel(nile, 40)
    expect(Math.abs(observation - 15099)).toBeLessThan(1)
    expect(Math.abs(level - 1469.1)).toBeLessThan(0.1)
    const at = (r: number, q: number) =>
      kalman.localLevelLoss({ params: { observation: Math.log(r), level: Math.log(q) }, ys: nile }).item()
    expect(at(15099, 1469.1)).toBeCloseTo(632.5456251156736, 9) // by jax.numpy
    expect(at(observation, level)).toBeLessThanOrEqual(at(15099, 1469.1))
  })
})
