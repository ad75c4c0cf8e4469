// Normal numbers for simulated data and random weights, the same in every run.
import { random } from '../src/check/index.js'

/** Independent numbers of mean 0 and variance 1, from a seed: Box and Muller 1958. */
export const normals = (seed: number): (() => number) => {
  const uniform = random(seed)
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}
