/** Threefry-2x32, 20 rounds: a hash of a counter by a key, two words each, made of operations on i32.   Source  Salmon et al. 2011. */
import { type AnyExpr, add, bitwiseOr, bitwiseXor, leftShift, rightShiftLogical } from '../index.js'

/** Two words of 32 bits. */
export type Words = readonly [first: AnyExpr, second: AnyExpr]

const PARITY = 0x1bd11bda
const ROTATIONS = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const

const rotated = (x: AnyExpr, n: number): AnyExpr => bitwiseOr(leftShift(x, n), rightShiftLogical(x, 32 - n))

/** The words that the key makes of a counter; shapes broadcast. */
export const threefry2x32 = (key: Words, counter: Words): Words => {
  const [k0, k1] = key
  const keys = [k0, k1, bitwiseXor(bitwiseXor(k0, k1), PARITY) as AnyExpr]
  let x: AnyExpr = add(counter[0], k0)
  let y: AnyExpr = add(counter[1], k1)
  for (let round = 0; round < 5; round++) {
    for (const n of ROTATIONS[round % 2]!) {
      x = add(x, y)
      y = bitwiseXor(rotated(y, n), x)
    }
    x = add(x, keys[(round + 1) % 3]!)
    y = add(y, add(keys[(round + 2) % 3]!, round + 1))
  }
  return [x, y]
}
