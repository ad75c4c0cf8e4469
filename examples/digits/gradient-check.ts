// Is the gradient right? The derivative along a random direction, from the gradient and from five values of the loss.
import { type Tensor, tensor } from '../../src/index.js'
import { leavesOf, mapTrees, type Tree } from './adam.js'
import { normal, random } from './data.js'

type Leaf = Tensor<number[], 'f32'>

/**
 * The largest relative difference, over some random directions d, between the gradient's <g, d> and the 5-point difference
 * (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h of the loss along d. Entries of d are in proportion to their array's own size.
 */
export const checkGradient = <P>(params: P, gradient: P, loss: (params: P) => number, directions = 3, h = 2 ** -8): number => {
  const next = random(7)
  const tree = params as Tree<Leaf>
  let worst = 0
  for (let k = 0; k < directions; k++) {
    const direction = mapTrees(({ data }: Leaf) => {
      const size = Math.hypot(...data) / Math.sqrt(data.length) || 0.1
      return data.map(() => size * normal(next))
    }, tree)
    const at = (s: number): number => {
      const move = (t: Leaf | Float32Array, d: Leaf | Float32Array): Leaf => {
        const [from, by] = [t as Leaf, d as Float32Array]
        return tensor(
          from.data.map((x, i) => x + s * by[i]!),
          [...from.shape],
        )
      }
      return loss(mapTrees<Leaf | Float32Array, Leaf>(move, tree, direction) as P)
    }
    const difference = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)
    const inner = (g: Leaf | Float32Array, d: Leaf | Float32Array): number =>
      (g as Leaf).data.reduce((sum, x, i) => sum + x * (d as Float32Array)[i]!, 0)
    // Trees are paired by name: a gradient's keys may come in another order.
    const exact = leavesOf(mapTrees<Leaf | Float32Array, number>(inner, gradient as Tree<Leaf>, direction)).reduce((a, b) => a + b, 0)
    if (process.env.DBG) console.log(h, difference, exact)
    worst = Math.max(worst, Math.abs(difference - exact) / Math.abs(exact))
  }
  return worst
}
