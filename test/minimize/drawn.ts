// Numbers for tests: the same in every run.
/** A generator of numbers in [-1, 1). Source: Park and Miller 1988. */
export const drawing = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return (2 * state) / 2147483647 - 1
  }
}
export const vector = (draw: () => number, n: number, scale = 1): number[] => Array.from({ length: n }, () => scale * draw())
export const matrix = (draw: () => number, m: number, n: number, scale = 1): number[][] =>
  Array.from({ length: m }, () => vector(draw, n, scale))
export const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((s, v, i) => s + v * b[i]!, 0)
export const minus = (a: readonly number[], b: readonly number[]): number[] => a.map((v, i) => v - b[i]!)
