/**
 * Random orders that follow from a seed, on every machine: Threefry-2x32 with 20 rounds (Salmon et al. 2011), which computes the i-th draw of
 * a stream from the seed, the stream and i alone. Whole numbers only, so nothing is rounded.
 */

const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24] as const
const rotated = (x: number, by: number): number => (x << by) | (x >>> (32 - by))

/** The two words of Threefry-2x32-20 for a key and a counter of two words each. */
export const threefry = (key0: number, key1: number, counter0: number, counter1: number): readonly [number, number] => {
  const keys = [key0 | 0, key1 | 0, key0 ^ key1 ^ 0x1bd11bda] as const
  let x0 = (counter0 + key0) | 0
  let x1 = (counter1 + key1) | 0
  for (let round = 0; round < 20; round++) {
    x0 = (x0 + x1) | 0
    x1 = rotated(x1, ROTATIONS[(round % 8) as 0]) ^ x0
    if (round % 4 === 3) {
      const turn = (round + 1) / 4
      x0 = (x0 + keys[(turn % 3) as 0]) | 0
      x1 = (x1 + keys[((turn + 1) % 3) as 0] + turn) | 0
    }
  }
  return [x0 >>> 0, x1 >>> 0]
}

/** The stream of `splitData`: no epoch has this number. */
export const SPLIT_STREAM = 2 ** 32 - 1

/** 0 ... n - 1 in an order that follows from the seed and the stream, each order as likely as any other (Fisher and Yates; draws by rejection). */
export const permutation = (n: number, seed: number, stream: number): Uint32Array => {
  const [low, high] = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0]
  let drawn = 0
  let block: readonly [number, number] = [0, 0]
  const word = (): number => {
    if (drawn % 2 === 0) block = threefry(low, high, drawn / 2, stream)
    return block[(drawn++ % 2) as 0]
  }
  const order = Uint32Array.from({ length: n }, (_, i) => i)
  for (let i = n - 1; i > 0; i--) {
    const mask = 2 ** (32 - Math.clz32(i)) - 1
    let j = word() & mask
    while (j >>> 0 > i) j = word() & mask
    const k = j >>> 0
    const at = order[i]!
    order[i] = order[k]!
    order[k] = at
  }
  return order
}
