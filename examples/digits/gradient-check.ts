// Is the gradient right? The derivative along a random direction, from the gradient and from five values of the loss.
import { type Tensor, tensor } from '../../src/index.js'
import { leavesOf, mapTrees, type Tree } from './adam.js'
import { normal, random } from './data.js'

const sumOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0)

/**
 * The largest relative difference, over some random directions d, between the gradient's <g, d> and the 5-point difference
 * (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h of the loss along d. Entries of d are in proportion to their array's own size.
 */
export const checkGradient = <P>(params: P, gradient: P, loss: (params: P) => number, directions = 3, h = 2 ** -8): number => {
  const next = random(7)
  const tree = params as Tree<Tensor>
  let worst = 0
  for (let k = 0; k < directions; k++) {
    const d = mapTrees((t: Tensor) => {
      const size = Math.hypot(...t.data) / Math.sqrt(t.data.length) || 0.1
      return Float32Array.from({ length: t.data.length }, () => size * normal(next))
    }, tree)
    const at = (s: number): number => {
      const moved = mapTrees<Tensor | Float32Array, Tensor>(
        (t, di) => tensor((t as Tensor).data.map((x, i) => x + s * (di as Float32Array)[i]!) as Float32Array, [...(t as Tensor).shape]),
        tree,
        d,
      )
      return loss(moved as P)
    }
    const difference = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h)
    const products = mapTrees<Tensor | Float32Array, number>((g, di) => (g as Tensor).data.reduce((s: number, x: number, i: number) => s + x * (di as Float32Array)[i]!, 0), gradient as Tree<Tensor>, d)
    const exact = sumOf(leavesOf(products))
    worst = Math.max(worst, Math.abs(difference - exact) / Math.max(1e-3, Math.abs(exact)))
  }
  return worst
}
