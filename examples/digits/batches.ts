// Minibatches of digits: images and labels copied into tensors. Runs in Node and in browsers.
export const side = 28
export const pixels = side * side
/** Of the pixels of the training images. */
const mean = 0.13
const deviation = 0.31

/** Images (one row of pixels each, 0 is paper and 1 is ink) and what they show. */
export interface Digits {
  readonly images: Float32Array
  readonly labels: Int32Array
  readonly count: number
}

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
export const random = (seed: number): (() => number) => {
  let s = seed >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), s | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number of the normal distribution of mean 0 and variance 1 (Box and Muller 1958). */
export const normal = (next: () => number): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

const noShift = (): readonly [number, number] => [0, 0]

/**
 * The images and labels at some places, copied into `x` and `y`. Pixels are scaled to mean 0 and variance 1 over the data; each image
 * is moved by `shift()` pixels to the right and down.
 */
export const fillBatch = (digits: Digits, at: ArrayLike<number>, x: Float32Array, y: Int32Array, shift = noShift): void => {
  x.fill((0 - mean) / deviation)
  for (let i = 0; i < at.length; i++) {
    const image = at[i]!
    const [right, down] = shift()
    for (let row = Math.max(0, down); row < Math.min(side, side + down); row++)
      for (let column = Math.max(0, right); column < Math.min(side, side + right); column++)
        x[i * pixels + row * side + column] = (digits.images[image * pixels + (row - down) * side + column - right]! - mean) / deviation
    y[i] = digits.labels[image]!
  }
}
