// Random scalar functions of two matrices, of any shapes and dtype: for tests that need some program (JSON, storage, devices). See generator/ for the laws.
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type F = (...xs: readonly unknown[]) => E
const u = (f: unknown) => f as F
const [add, sub, mul, tanh, sin, cos, exp, sigmoid, square, maximum, where, gt, sum, mean, matmul, transpose, reshape, slice, concat, broadcastTo, softmax, flip, pad, sqrt] = [
  cd.add, cd.sub, cd.mul, cd.tanh, cd.sin, cd.cos, cd.exp, cd.sigmoid, cd.square, cd.maximum, cd.where, cd.gt, cd.sum, cd.mean, cd.matmul, cd.transpose, cd.reshape, cd.slice, cd.concat, cd.broadcastTo, cd.softmax, cd.flip, cd.pad, cd.sqrt,
].map(u) as unknown as readonly F[] as readonly [F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F] // biome-ignore format: names

/** A random scalar function of two matrices: `size` operations drawn from the seed. */
export const randomFunction = (seed: number, size = 4 + (seed % 24)): ((x: E, y: E) => E) => {
  return (x, y) => {
    const next = random(seed)
    const pick = (n: number): number => Math.floor(next() * n)
    const pool: E[] = [x, y]
    const any = (): E => pool[pick(pool.length)]!
    const shapeOf = (e: E): readonly number[] => e.shape as readonly number[]
    const sameShape = (a: E): E => {
      const b = any()
      return shapeOf(a).join() === shapeOf(b).join()
        ? b
        : broadcastTo(
            reshape(
              mean(b),
              shapeOf(a).map(() => 1),
            ),
            shapeOf(a),
          )
    }
    const unary: readonly ((a: E) => E)[] = [
      (a) => tanh(a),
      (a) => sin(a),
      (a) => cos(a),
      (a) => sigmoid(a),
      (a) => square(tanh(a)),
      (a) => exp(tanh(a)),
      (a) => mul(a, 0.5 + next()),
      (a) => sub(1, a),
      (a) => sqrt(add(square(a), 1)),
    ]
    for (let i = 0; i < size; i++) {
      const a = any()
      const s = shapeOf(a)
      const [m, n] = s as readonly [number, number]
      switch (pick(14)) {
        case 0:
        case 1:
        case 2:
        case 3:
          pool.push(unary[pick(unary.length)]!(a))
          break
        case 4:
          pool.push(add(a, sameShape(a)))
          break
        case 5:
          pool.push(mul(tanh(a), sameShape(a)))
          break
        case 6:
          pool.push(where(gt(a, 0.1), a, sameShape(a)))
          break
        case 7:
          pool.push(maximum(a, mul(sameShape(a), 0.5)))
          break
        case 8:
          pool.push(add(a, sum(a, { axis: pick(2), keepdims: true })))
          break
        case 9:
          pool.push(tanh(matmul(a, transpose(sameShape(a)))))
          break
        case 10:
          pool.push(transpose(a))
          break
        case 11:
          if (m > 1) pool.push(concat([slice(a, [1], [m]), slice(a, [0], [1])], { axis: 0 }))
          else pool.push(pad(a, [[0, 1]]))
          break
        case 12:
          pool.push(softmax(a))
          break
        default:
          pool.push(n > 1 ? reshape(a, [n, m]) : flip(a))
      }
    }
    return pool.slice(-3).reduce((t, e) => add(t, mean(mul(e, 0.7))), mean(x)) as E
  }
}
