// Random programs over the shipped operations, and what must hold of each: backends agree, modes agree.
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import { random } from '../../src/check/index.js'
import { aval } from '../../src/core/aval.js'
import { metaOf, traceMeta } from '../../src/core/callable.js'
import { linearize } from '../../src/core/expr.js'
import { showProgram } from '../../src/core/show.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type F = (...xs: readonly unknown[]) => E
const u = (f: unknown) => f as F
const [add, sub, mul, tanh, sin, cos, exp, sigmoid, square, maximum, where, gt, sum, mean, matmul, transpose, reshape, slice, concat, broadcastTo, softmax, flip, pad, sqrt] = [
  cd.add, cd.sub, cd.mul, cd.tanh, cd.sin, cd.cos, cd.exp, cd.sigmoid, cd.square, cd.maximum, cd.where, cd.gt, cd.sum, cd.mean, cd.matmul, cd.transpose, cd.reshape, cd.slice, cd.concat, cd.broadcastTo, cd.softmax, cd.flip, cd.pad, cd.sqrt,
].map(u) as unknown as readonly F[] as readonly [F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F] // biome-ignore format: names

export interface ProgramReport {
  readonly seed: number
  readonly nodes: number
  readonly program: string
  readonly failure: string | undefined
}

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

const backends = [makeCpu({ verify: true, simd: true }), makeCpu({ verify: true, simd: false })]
const oracle = reference()
const modes = ['mixed', 'reverse', 'forward'] as const

/** Runs one random program everywhere; says what disagreed first. */
export const checkProgram = (seed: number, size?: number): ProgramReport => {
  const f = randomFunction(seed, size)
  const next = random(seed + 7919)
  const shapes = [
    [3, 4],
    [2, 3],
  ] as const
  const inputs = shapes.map(([m, n]) => Float64Array.from({ length: m * n }, () => 2 * next() - 1))
  const tree = { _tag: 'Tuple' as const, items: [{ _tag: 'Leaf' as const }, { _tag: 'Leaf' as const }] }
  const programOf = (mode: (typeof modes)[number]) =>
    traceMeta(
      metaOf((cd.valueAndGrad as unknown as F)(f, { wrt: [0, 1], mode })),
      tree,
      shapes.map((s) => aval(s, 'f64')),
    )
  let want: readonly ArrayLike<number>[] | undefined
  let failure: string | undefined
  const first = programOf('mixed')
  for (const mode of modes)
    for (const backend of [oracle, ...backends]) {
      const got = backend.prepare(mode === 'mixed' ? first : programOf(mode)).run(inputs)
      want ??= got
      got.forEach((g, k) => {
        for (let i = 0; i < g.length; i++)
          if (!(Math.abs(g[i]! - want![k]![i]!) <= 1e-10 * Math.max(1, Math.abs(want![k]![i]!))))
            failure ??= `${mode} on ${backend.name}: result ${k}, entry ${i} is ${g[i]}, the reference in mixed mode says ${want![k]![i]}`
      })
    }
  return { seed, nodes: linearize(first.outputs).nodes.length, program: failure === undefined ? '' : showProgram(first), failure }
}
