/** Functions for the checker: what goes through the modes and through rules of one's own, which no primitive alone does. */
import type { Checked, makeCheck } from '../../../src/check/index.js'
import * as cd from '../../../src/index.js'
import { ownRules } from './own-rules.js'

type F = (...xs: readonly unknown[]) => cd.AnyExpr
type Op =
  | ('add' | 'mul' | 'div' | 'sin' | 'cos' | 'exp' | 'tanh' | 'log' | 'sqrt' | 'square' | 'sum' | 'max' | 'matmul' | 'transpose')
  | ('reshape' | 'where' | 'gt' | 'slice' | 'concat' | 'take' | 'relu' | 'map' | 'stopGradient' | 'cast' | 'logsumexp' | 'broadcastTo')
  | ('sort' | 'cumsum' | 'pow' | 'customRule' | 'scalarRule' | 'sub' | 'polygamma' | 'conv' | 'takeAlongAxis' | 'dynamicSlice')
  | ('jvp' | 'le' | 'reciprocal' | 'rsqrt' | 'asin' | 'xlogy' | 'cumprod' | 'maximum' | 'flip' | 'erfcx')
const o = cd as unknown as Readonly<Record<Op, F>>
const { add, mul, div, sin, cos, exp, tanh, log, square, sum, matmul, transpose, where, gt, slice, concat, take, relu, map } = o
const { stopGradient, cast, logsumexp, sort, cumsum, pow, broadcastTo } = o
const vmap = cd.vmap as unknown as (f: unknown, options?: unknown) => F
const splitOf = cd.split as unknown as (x: unknown, parts: unknown) => readonly cd.AnyExpr[]
const loop = cd.fori as unknown as (n: number, f: unknown, init: unknown) => cd.AnyExpr
const whileLoop = cd.whileLoop as unknown as (...xs: readonly unknown[]) => readonly cd.AnyExpr[]
const customRule = cd.customRule as unknown as (f: unknown, rules: unknown) => F

export interface Checks {
  readonly name: string
  readonly check: (checker: typeof makeCheck) => Iterable<() => Checked>
}
const of = (name: string, f: unknown, ...args: readonly unknown[]): Checks => ({
  name,
  check: (checker) => [() => checker(cd.coreRegistry).checkGrad(f)(...args)],
})
const x6 = [0.3, -0.7, 1.1, 0.4, -1.3, 0.8]
const m23 = [x6.slice(0, 3), x6.slice(3)]
const m32 = [
  [0.5, 0.2],
  [-0.3, 0.9],
  [1.2, -0.6],
]
const f32 = (xs: readonly number[]): unknown => cd.tensor(xs, [xs.length], 'f32')

/** sin(x) y with its true rules: one of them, which is transposed, or both. */
const sinTimes = (which: 'frule' | 'both') =>
  customRule((x: cd.AnyExpr, y: cd.AnyExpr) => mul(sin(x), y), {
    frule: ([x, y]: readonly cd.AnyExpr[], [dx, dy]: readonly cd.AnyExpr[]) => [
      mul(sin(x), y),
      add(mul(mul(cos(x), y), dx), mul(sin(x), dy)),
    ],
    ...(which === 'both' && {
      rrule: ([x, y]: readonly cd.AnyExpr[]) => [mul(sin(x), y), (yBar: cd.AnyExpr) => [mul(mul(cos(x), y), yBar), mul(sin(x), yBar)]],
    }),
  })
const ofCustom = (which: 'frule' | 'both'): Checks =>
  of(
    `customRule, ${which}`,
    (x: cd.AnyExpr, y: cd.AnyExpr) => {
      const f = sinTimes(which)
      // Once with two results of it added, once with one argument shared by a batch.
      const rows = vmap((z: cd.AnyExpr) => f(z, y))(o.reshape(concat([x, square(x)]), [2, 3]))
      return add(sum(f(x, y)), sum(square(rows)))
    },
    [0.3, -0.7, 1.1],
    [0.5, 1.2, -0.4],
  )

/** (x, y) to [sin(x) y, x + 2 y]. */
const twoResults = (which: 'frule' | 'both') =>
  customRule((x: cd.AnyExpr, y: cd.AnyExpr) => [mul(sin(x), y), add(x, mul(2, y))], {
    frule: ([x, y]: readonly cd.AnyExpr[], [dx, dy]: readonly cd.AnyExpr[]) => [
      [mul(sin(x), y), add(x, mul(2, y))],
      [add(mul(mul(cos(x), y), dx), mul(sin(x), dy)), add(dx, mul(2, dy))],
    ],
    ...(which === 'both' && {
      rrule: ([x, y]: readonly cd.AnyExpr[]) => [
        [mul(sin(x), y), add(x, mul(2, y))],
        ([a, b]: readonly cd.AnyExpr[]) => [
          // Added in place where x is used elsewhere too.
          cd.inplaceableThunk(
            () => add(mul(mul(cos(x), y), a), b),
            (acc) => add(acc, add(mul(mul(cos(x), y), a), b)),
          ),
          add(mul(sin(x), a), mul(2, b)),
        ],
      ],
    }),
  }) as unknown as (x: unknown, y: unknown) => readonly cd.AnyExpr[]

/** An operation twice, and its argument too: cotangents are added into what depends on the point. */
const twice = (name: string, op: (x: cd.AnyExpr, y: cd.AnyExpr) => unknown, ...args: readonly unknown[]): Checks =>
  of(
    `${name} twice, and its argument`,
    (x: cd.AnyExpr, y: cd.AnyExpr = x) =>
      add(add(sum(exp(mul(op(x, y), 0.3))), sum(square(op(sin(x), y)))), sum(sin(op(x, y === x ? y : cos(y))))),
    ...args,
  )
const i32 = (xs: readonly number[], shape: readonly number[] = [xs.length]): unknown => cd.tensor(xs, shape, 'i32')
const image = (...shape: readonly number[]): unknown => {
  const size = shape.reduce((n, d) => n * d, 1)
  return cd.tensor(
    Array.from({ length: size }, (_, k) => Math.sin(3 * k + size)),
    shape,
  )
}

/** Singular functions behind a choice: on either side of it, at the point where they are singular. */
const guarded: readonly Checks[] = (
  [
    ['sqrt', o.sqrt],
    ['log', log],
    ['reciprocal', o.reciprocal],
    ['rsqrt', o.rsqrt],
    ['a power', (x: unknown) => pow(x, -1.5)],
    ['a quotient', (x: unknown) => div(2, x)],
    ['x log x', (x: unknown) => mul(x, log(x))],
  ] as const
).flatMap(([name, f]) => {
  const at = [0.5, 0, 2]
  return [
    of(`a guard of ${name}`, (x: cd.AnyExpr) => sum(where(gt(x, 0), (f as F)(x), mul(x, 2))), at),
    of(`a guard of ${name} on the other side`, (x: cd.AnyExpr) => sum(where(o.le(x, 0), mul(x, 2), (f as F)(x))), at),
    of(`a guard of ${name} beside a number`, (x: cd.AnyExpr) => sum(where(o.le(x, 0), 0, (f as F)(square(x)))), at),
    of(`a guard of ${name} in a rule of one's own`, (x: cd.AnyExpr) => {
      const frule = (u: cd.AnyExpr, du: cd.AnyExpr) => (o.jvp as unknown as (g: unknown) => F)(f)(u, du)
      return sum(where(gt(x, 0), customRule(f, { frule })(x), 0))
    }, at), // biome-ignore format: one call
  ]
})

const l = cd as unknown as {
  readonly eigh: (x: unknown) => Readonly<Record<'w' | 'v', cd.AnyExpr>>
  readonly svd: (x: unknown) => Readonly<Record<'u' | 's' | 'vh', cd.AnyExpr>>
} & Readonly<Record<'det' | 'trace', F>>
/** Matrices that samples do not have: singular ones, and those of equal values, where what does not depend on the vectors has its derivative. */
const matrices: readonly Checks[] = [
  {
    name: 'the determinant of a singular matrix',
    // Of the first order: of the second there is none to rounding.
    check: (checker) => [() => checker(cd.coreRegistry).checkGrad((x: cd.AnyExpr) => l.det(x), { order: 1 })([[1, 2], [2, 4]])], // biome-ignore format: one call
  },
  of('a trace of eigenvectors of equal values', (x: cd.AnyExpr) => {
    const { w, v } = l.eigh(add(x, transpose(x)))
    return l.trace(matmul(mul(v, exp(w)), transpose(v)))
  }, [[1, 0, 0], [0, 1, 0], [0, 0, 2]]), // biome-ignore format: one call
  of('what singular vectors of equal values are of', (x: cd.AnyExpr) => {
    const { u, s } = l.svd(x)
    return l.trace(matmul(mul(u, square(s)), transpose(u)))
  }, [[1, 0], [0, 1], [0, 0]]), // biome-ignore format: one call
  of('eigenvectors of values that are near', (x: cd.AnyExpr) => {
    const { w, v } = l.eigh(add(x, transpose(x)))
    return sum(mul(sin(matmul(mul(v, exp(w)), transpose(v))), [[1, 2], [3, 4]]))
  }, [[1, 0.1], [0.2, 1]]), // biome-ignore format: one call
]

/** The functions, from small to large. */
export const functions: readonly Checks[] = [
  of('a chain', (x: cd.AnyExpr) => sum(tanh(exp(mul(sin(x), 0.5)))), x6),
  of('a shared value', (x: cd.AnyExpr) => {
    const y = sin(x)
    return sum(mul(mul(y, y), add(y, mul(x, y))))
  }, x6), // biome-ignore format: one call
  of('two results of one', (x: cd.AnyExpr) => [mul(sin(x), 2), exp(x)], x6),
  of('a literal first and last', (x: cd.AnyExpr) => sum(div(2, add(3, square(pow(add(x, 4), 3))))), x6),
  of('two dtypes', (x: cd.AnyExpr, y: cd.AnyExpr) => sum(mul(cast(x, 'f64'), y)), f32(x6), x6),
  of('an integer', (x: cd.AnyExpr, i: cd.AnyExpr) => sum(mul(take(x, i), i)), x6, cd.tensor([0, 2, 2, 5], [4], 'i32')),
  of('what is not differentiated', (x: cd.AnyExpr) => sum(mul(stopGradient(cast(cast(x, 'i32'), 'f64')), add(x, stopGradient(2)))), x6),
  of('parts that tile it', (x: cd.AnyExpr) => add(sum(sin(slice(x, [2], [6]))), sum(square(slice(x, [0], [2])))), x6),
  of('parts that tile its columns', (x: cd.AnyExpr) => {
    const [a, b] = [slice(x, [0, 1], [2, 3]), slice(x, [0, 0], [2, 1])]
    return sum(mul(exp(a), b))
  }, m23), // biome-ignore format: one call
  of('parts with a gap', (x: cd.AnyExpr) => add(sum(sin(slice(x, [4], [6]))), sum(exp(slice(x, [0], [3])))), x6),
  of('parts that overlap', (x: cd.AnyExpr) => add(sum(sin(slice(x, [1], [6]))), sum(exp(slice(x, [0], [3])))), x6),
  of('parts that overlap, together as long as it', (x: cd.AnyExpr) => add(sum(sin(slice(x, [0], [3]))), sum(exp(slice(x, [1], [4])))), x6),
  of('parts that end early', (x: cd.AnyExpr) => add(sum(sin(slice(x, [0], [2]))), sum(exp(slice(x, [2], [4])))), x6),
  of('parts of some columns', (x: cd.AnyExpr) => add(sum(sin(slice(x, [0, 0], [1, 2]))), sum(exp(slice(x, [1, 0], [2, 2])))), m23),
  of('every second one, and a half', (x: cd.AnyExpr) => add(sum(sin(slice(x, [0], [6], [2]))), sum(exp(slice(x, [3], [6])))), x6),
  of('parts beside the whole', (x: cd.AnyExpr) => add(add(sum(sin(slice(x, [3], [6]))), sum(exp(x))), sum(square(slice(x, [0], [3])))), x6),
  of('parts of a split, one unused', (x: cd.AnyExpr) => {
    const [a, , c] = splitOf(x, 3)
    return sum(mul(sin(a), exp(c)))
  }, x6), // biome-ignore format: one call
  of('a sum in three products', (a: cd.AnyExpr, b: cd.AnyExpr) => {
    const c = matmul(a, b)
    return sum(add(matmul(c, matmul(a, b)), mul(matmul(a, sin(b)), c)))
  }, m23, m32), // biome-ignore format: one call
  of('rows against columns', (x: cd.AnyExpr) => sum(mul(matmul(x, transpose(x)), 0.5)), m23),
  of('a bias', (w: cd.AnyExpr, b: cd.AnyExpr) => sum(square(relu(add(mul(w, b), add(b, 3))))), m23, [0.5, 0.2, -0.3]),
  of('a number beside an array', (x: cd.AnyExpr, s: cd.AnyExpr) => sum(exp(mul(tanh(x), s))), m23, 0.4),
  of('log of a sum', (x: cd.AnyExpr) => sum(logsumexp(mul(x, 3), { axis: 1 })), m23),
  of('a guard', (x: cd.AnyExpr) => sum(where(gt(x, 0), log(where(gt(x, 0), x, 1)), 0)), x6),
  of('a guard of one side', (x: cd.AnyExpr) => sum(where(gt(x, 0), o.sqrt(x), 0)), [0.5, -1, 2]),
  ...guarded,
  twice('take', (x) => take(x, i32([0, 2, 2])), x6),
  twice('takeAlongAxis', (x) => o.takeAlongAxis(x, i32([0, 2, 1, 1], [2, 2]), { axis: 1 }), m23),
  twice('a slice at indices', (x) => o.dynamicSlice(x, i32([2]), [3]), x6),
  twice('a slice', (x) => slice(x, [1], [5]), x6),
  twice('order', (x) => sort(x), x6),
  twice('a product', (x, y) => matmul(x, y), m23, m32),
  twice('a convolution', (x, y) => o.conv(x, y), image(1, 1, 3, 3), image(1, 1, 2, 2)),
  of('an f32 that is not used', (x: cd.AnyExpr, _y: cd.AnyExpr) => sum(sin(x)), f32(x6), f32([0.5, 0.2])),
  of('order', (x: cd.AnyExpr) => sum(mul(cumsum(sort(x)), exp(x))), x6),
  of(
    'a sum of rows',
    (x: cd.AnyExpr, y: cd.AnyExpr) => sum(square(vmap((r: cd.AnyExpr) => mul(sum(mul(r, y)), exp(r)))(x))),
    m23,
    [0.5, 0.2, -0.3],
  ),
  of(
    'a map',
    (x: cd.AnyExpr, y: cd.AnyExpr) => sum(square(map((a: cd.AnyExpr, b: cd.AnyExpr) => mul(sin(a), exp(mul(b, a))), x, y))),
    m23,
    [0.5, 0.2, -0.3],
  ),
  of('a map with a result of some arguments', (x: cd.AnyExpr, y: cd.AnyExpr) => {
    const [a, b] = map((u: cd.AnyExpr, v: cd.AnyExpr) => [mul(u, sin(v)), exp(v)], x, y) as unknown as readonly cd.AnyExpr[]
    return add(sum(mul(a, 2)), sum(square(b)))
  }, m23, 0.4), // biome-ignore format: one call
  of('a map of one in two places', (x: cd.AnyExpr) => sum(map((a: cd.AnyExpr, b: cd.AnyExpr) => mul(sin(a), exp(b)), x, x)), x6),
  of('regions between products', (a: cd.AnyExpr, b: cd.AnyExpr) => {
    const y = tanh(add(matmul(a, b), 0.3))
    const z = mul(sin(y), exp(mul(y, y)))
    return sum(matmul(z, transpose(add(broadcastTo(sum(z, { axis: 0 }), [2, 2]), mul(y, z)))))
  }, m23, m32), // biome-ignore format: one call
  of('two regions with other parameters', (x: cd.AnyExpr) => {
    const y = cumsum(mul(o.polygamma(1, add(square(x), 1)), 0.1))
    return sum(mul(o.polygamma(2, add(square(y), 1)), 0.1))
  }, x6), // biome-ignore format: one call
  of('two regions with their arguments exchanged', (x: cd.AnyExpr, y: cd.AnyExpr) => {
    const a = cumsum(o.sub(exp(mul(x, 0.1)), y))
    return sum(cumsum(o.sub(y, exp(mul(a, 0.1)))))
  }, x6, x6.map((v) => v + 0.5)), // biome-ignore format: one call
  of('two regions with other results', (x: cd.AnyExpr) => {
    const a = cumsum(tanh(exp(sin(x))))
    const b = exp(sin(a))
    return add(sum(cumsum(b)), sum(cumsum(tanh(b))))
  }, x6), // biome-ignore format: one call
  of('two regions with other dtypes', (x: cd.AnyExpr) => {
    const a = cumsum(mul(sin(x), exp(x)))
    const b = cast(a, 'f64')
    return sum(cumsum(mul(sin(b), exp(b))))
  }, f32(x6)), // biome-ignore format: one call
  of('a region of one number that is read outside', (x: cd.AnyExpr, s: cd.AnyExpr) => {
    const e = exp(tanh(s))
    return add(sum(mul(square(mul(e, x)), e)), mul(e, sum(x)))
  }, m23, 0.4), // biome-ignore format: one call
  of('regions that become one', (x: cd.AnyExpr, y: cd.AnyExpr) => {
    const [a, b] = [exp(sin(x)), tanh(square(y))]
    const c = square(tanh(x))
    return add(sum(mul(mul(a, b), add(c, b))), sum(cumsum(c)))
  }, x6, x6.map((v) => v + 0.5)), // biome-ignore format: one call
  of('a map of what was computed', (x: cd.AnyExpr) => sum(map((a: cd.AnyExpr) => mul(exp(a), a), cumsum(sin(x)))), x6),
  ofCustom('frule'),
  ofCustom('both'),
  ...(['frule', 'both'] as const).flatMap((which) => [
    of(`two results of a customRule, ${which}`, (x: cd.AnyExpr, y: cd.AnyExpr) => {
      const [a, b] = twoResults(which)(x, y)
      return add(sum(mul(square(a), b)), sum(exp(x)))
    }, [0.3, -0.7], [0.5, 1.2]), // biome-ignore format: one call
    of(`one of two results of a customRule, ${which}`, (x: cd.AnyExpr, y: cd.AnyExpr) => {
      const [, b] = twoResults(which)(x, y)
      const [a] = twoResults(which)(y, x)
      return sum(mul(square(a), b))
    }, [0.3, -0.7], [0.5, 1.2]), // biome-ignore format: one call
  ]),
  of('a customRule over what a batch stops', (x: cd.AnyExpr) => {
    const row = (u: cd.AnyExpr, z: cd.AnyExpr) => {
      const c = stopGradient(exp(z))
      return customRule((v: cd.AnyExpr) => mul(v, c), { frule: (v: cd.AnyExpr, dv: cd.AnyExpr) => [mul(v, c), mul(dv, c)] })(u)
    }
    return sum(square(vmap(row)(x, cd.tensor([0.2, 0.9]))))
  }, [0.3, -0.7]), // biome-ignore format: one call
  // What a step keeps: values that differ in a number, in an axis, in which of two results they are.
  of('a loop that keeps much the same', (x: cd.AnyExpr) => sum(loop(2, (_k: cd.AnyExpr, h: cd.AnyExpr) =>
    mul(mul(sin(mul(h, 0.5)), cos(mul(h, 1.5))), mul(sin(mul(h, 1.5)), tanh(mul(cumsum(h, { axis: 0 }), cumsum(h, { axis: 1 })))))
  , x)), [[0.3, 0.7], [1.1, 0.4]]), // biome-ignore format: one call
  of('a loop that keeps two results of one within', (x: cd.AnyExpr) => sum(loop(2, (_k: cd.AnyExpr, h: cd.AnyExpr) => {
    const [p, q] = loop(1, (_j: cd.AnyExpr, [u, v]: readonly cd.AnyExpr[]) => [sin(v), exp(u)], [h, h]) as unknown as readonly cd.AnyExpr[]
    return mul(p, q)
  }, x)), [0.3, 0.7]), // biome-ignore format: one call
  // Zeros that a loop makes, or its steps that were not taken, hold against what is singular before it.
  of('a guard in a loop after a root', (x: cd.AnyExpr) => sum(loop(2, (_k: cd.AnyExpr, h: cd.AnyExpr) => where(gt(h, 1), h, 0.5), o.sqrt(x))), [0, 4]), // biome-ignore format: one call
  of('a loop that ends before it reads a root', (x: cd.AnyExpr, y: cd.AnyExpr) => {
    const until = (from: number) =>
      whileLoop((u: cd.AnyExpr) => gt(u, 0), (u: cd.AnyExpr) => o.sub(u, mul(y, o.sqrt(x))), from, { maxSteps: 3 })[0]
    return add(until(-1), until(-2))
  }, 0, 1), // biome-ignore format: one call
  of('erfcx far away', (x: cd.AnyExpr) => sum(o.erfcx(x)), [0.5, 3.5, 6, 40, 51, 70, 1e3, 1e9]),
  ...matrices,
  {
    name: 'rules of a user',
    *check(checker) {
      for (const [rule, primitive] of ownRules())
        for (const [i, sample] of primitive.samples.slice(0, 3).entries())
          yield () => checker(cd.coreRegistry.with(rule)).checkRule(primitive, { sample, seed: i + 1 })
    },
  },
]
