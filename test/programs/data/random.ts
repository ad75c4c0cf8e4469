/** Random numbers from a seed: uniform ones by mulberry32, normal ones by Box and Muller's method. */
export const random = (seed: number) => {
  let state = seed
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  /** Normal numbers for an array of some shape. */
  const normals = (shape: readonly number[]): Float64Array => Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, normal)
  return { uniform, normal, normals }
}
