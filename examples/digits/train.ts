// Training one model: minibatches in random order, the compiled step run in place, accuracy on images that were never trained on.
import { type Spec, type Tensor, tensor } from '../../src/index.js'
import { leavesOf, mapTrees, rateAt, type Tree } from './adam.js'
import { type Digits, fillBatch, normal, random, shuffled, side } from './data.js'

export type Weights = Tree<Tensor>

/** Normal weights of variance 2 / (inputs of a unit) (He et al. 2015), and biases of 0: arrays of the last axis alone, or named b. */
export const initial = (declared: Tree<Spec>, seed: number): Weights => {
  const next = random(seed)
  const fill = (shape: readonly number[]): Float32Array => {
    const size = shape.reduce((a, b) => a * b, 1)
    const isBias = shape.filter((d) => d > 1).length === 1
    const fanIn = shape.length === 4 ? size / shape[0]! : shape[0]!
    return Float32Array.from({ length: size }, () => (isBias ? 0 : Math.sqrt(2 / fanIn) * normal(next)))
  }
  return mapTrees((leaf: Spec) => tensor(fill(leaf.shape as readonly number[]), [...(leaf.shape as readonly number[])]), declared)
}

/** Zeros of the same shapes. */
export const zerosOf = (tree: Weights): Weights => mapTrees((t: Tensor) => tensor(new Float32Array(t.data.length), [...t.shape]), tree)

/** A batch of images and labels, as tensors whose data is filled again for each step. */
export const batchOf = (size: number) => ({ x: tensor(new Float32Array(size * side * side), [size, 1, side, side]), y: tensor(new Int32Array(size), [size]) })
