// Is the gradient right? The f32 gradient along random directions, beside differences of the loss computed in f64.
import { type Tensor, tensor } from '../../src/index.js'
import { leavesOf, mapTrees, type Tree } from './adam.js'
import { normal, random } from './data.js'

/** Any array of a float dtype. */
type Floats = Tensor<number[], 'f32' | 'f64'>

/**
 * The largest relative difference, over random directions d, between <gradient, d> and the 5-point difference of the loss along d,
 * (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h. `loss` takes parameters in f64: with h = 2^-24 almost no relu changes its side between
 * the five points, and rounding still leaves about 8 digits. Entries of d are in proportion to those of their array.
 */
export const checkGradient = <P>(params: P, gradient: P, loss: (params: P) => number, directions = 3, h = 2 ** -24): number => {
  const next = random(7)
  const tree = params as Tree<Floats>
  let worst = 0
  for (let k = 0; k < directions; k++) {
    const direction = mapTrees(({ data, shape }: Floats): Floats => {
      const size = Math.hypot(...data) / Math.sqrt(data.length) || 0.1
      return tensor(Float64Array.from(data, () => size * normal(next)), [...shape])
    }, tree)
    const at = (s: number): number => {
      const moved = (t: Floats, d: Floats): Floats => tensor(Float64Array.from(t.data, (x, i) => x + s * d.data[i]!), [...t.shape])
      return loss(mapTrees(moved, tree, direction) as P)
    }
    const difference = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)
    const inner = (g: Floats, d: Floats): number => Float64Array.from(g.data, (x, i) => x * d.data[i]!).reduce((a, b) => a + b, 0)
    // Trees are paired by name: a gradient's keys may come in another order.
    const exact = leavesOf(mapTrees(inner, gradient as Tree<Floats>, direction)).reduce((a, b) => a + b, 0)
    worst = Math.max(worst, Math.abs(difference - exact) / Math.abs(exact))
  }
  return worst
}
