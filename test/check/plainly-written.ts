/**
 * Primitives whose meaning is written as the formula is, and rounds inside: of numbers near 1, however small the result. Each with its right rule, and the same made wrong.
 */
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as cd from '../../src/index.js'

type Row = ArrayLike<number>
const numbers = (x: Row): readonly number[] => Array.from(x)
const total = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0)
const mean = (x: readonly number[]): number => total(x) / x.length

const u = (f: unknown) => f as (...xs: readonly unknown[]) => AnyExpr
const [add, sub, mul, div, exp, softmax, square, sum, meanOf, sqrt, tanh, expandDims, neg, sigmoid] = [
  u(cd.add), u(cd.sub), u(cd.mul), u(cd.div), u(cd.exp), u(cd.softmax), u(cd.square), u(cd.sum), u(cd.mean), u(cd.sqrt), u(cd.tanh), u(cd.expandDims), u(cd.neg), u(cd.sigmoid),
] // biome-ignore format: names
/** A reduction of the last axis that stays an axis. */
const kept = (f: (...xs: readonly unknown[]) => AnyExpr, x: AnyExpr): AnyExpr => f(x, { axis: -1, keepdims: true })
const size = (x: AnyExpr): number => x.shape.at(-1) as number

/** A function of the last axis, and its gradient as an expression; `missing`: the gradient with one term left out. */
interface Reduction {
  readonly of: (x: Row) => number
  readonly gradient: (x: AnyExpr, y: AnyExpr) => AnyExpr
  readonly missing: (x: AnyExpr, y: AnyExpr) => AnyExpr
  readonly domain: readonly [number, number]
}
const unnormalised = (x: AnyExpr): AnyExpr => div(exp(x), size(x))
/** d/dx of the variance: 2 (x - mean) / n. */
const spread = (x: AnyExpr): AnyExpr => mul(2 / size(x), sub(x, kept(meanOf, x)))
export const reductions: Readonly<Record<string, Reduction>> = {
  'log of the mean of exponentials': {
    of: (x) => Math.log(mean(numbers(x).map(Math.exp))),
    gradient: (x) => softmax(x),
    missing: unnormalised,
    domain: [-2, 2],
  },
  'the same without the maximum': {
    of: (x) => {
      const top = Math.max(...numbers(x))
      return top + Math.log(mean(numbers(x).map((v) => Math.exp(v - top))))
    },
    gradient: (x) => softmax(x),
    missing: unnormalised,
    domain: [-2, 2],
  },
  'norm beside a million': {
    of: (x) => Math.sqrt(1e12 + total(numbers(x).map((v) => v * v))) - 1e6,
    gradient: (x, y) => div(x, expandDims(add(1e6, y), -1)),
    missing: (x) => div(x, 5e5),
    domain: [-2, 2],
  },
  'log of the sum, less log n': {
    of: (x) => Math.log(total(numbers(x).map(Math.exp))) - Math.log(x.length),
    gradient: (x) => softmax(x),
    missing: unnormalised,
    domain: [-1, 1],
  },
  'mean of squares less square of the mean': {
    of: (x) => mean(numbers(x).map((v) => v * v)) - mean(numbers(x)) ** 2,
    gradient: spread,
    missing: (x) => mul(2 / size(x), x),
    domain: [1, 2],
  },
  'the same around 0': {
    of: (x) => mean(numbers(x).map((v) => v * v)) - mean(numbers(x)) ** 2,
    gradient: spread,
    missing: (x) => mul(2 / size(x), x),
    domain: [-1, 1],
  },
  'norm beside 1': {
    of: (x) => Math.sqrt(1 + total(numbers(x).map((v) => v * v))) - 1,
    gradient: (x, y) => div(x, expandDims(add(1, y), -1)),
    missing: (x) => x,
    domain: [-2, 2],
  },
  norm: {
    of: (x) => Math.sqrt(total(numbers(x).map((v) => v * v))),
    gradient: (x, y) => div(x, expandDims(y, -1)),
    missing: (x) => x,
    domain: [0.5, 2],
  },
  'norm by logarithms': {
    of: (x) => Math.exp(Math.log(total(numbers(x).map((v) => v * v))) / 2),
    gradient: (x, y) => div(x, expandDims(y, -1)),
    missing: (_x, y) => div(1, expandDims(y, -1)),
    domain: [-2, 2],
  },
  'log of 1 plus a sum': {
    of: (x) => Math.log(1 + total(numbers(x).map(Math.sinh)) ** 2),
    gradient: (x, y) => mul(div(mul(2, kept(sum, sinh(x))), exp(expandDims(y, -1))), cosh(x)),
    missing: (x, y) => div(mul(2, kept(sum, sinh(x))), exp(expandDims(y, -1))),
    domain: [-2, 2],
  },
}
const sinh = (x: AnyExpr): AnyExpr => div(sub(exp(x), exp(neg(x))), 2)
const cosh = (x: AnyExpr): AnyExpr => div(add(exp(x), exp(neg(x))), 2)

/** A function of one number, entry by entry, and its derivative. */
interface Elementwise {
  readonly of: (x: number) => number
  readonly partial: (x: AnyExpr, y: AnyExpr) => AnyExpr
  readonly missing: (x: AnyExpr, y: AnyExpr) => AnyExpr
}
export const functions: Readonly<Record<string, Elementwise>> = {
  'exp x - 1': { of: (x) => Math.exp(x) - 1, partial: (x) => exp(x), missing: (x) => add(1, x) },
  'log of 1 + x^2': {
    of: (x) => Math.log(1 + x * x),
    partial: (x) => div(mul(2, x), add(1, square(x))),
    missing: (x) => mul(2, x),
  },
  'sqrt of 1 + x^2, less 1': {
    of: (x) => Math.sqrt(1 + x * x) - 1,
    partial: (x) => div(x, sqrt(add(1, square(x)))),
    missing: (x) => x,
  },
  'tanh by exponentials': {
    of: (x) => (Math.exp(2 * x) - 1) / (Math.exp(2 * x) + 1),
    partial: (x) => sub(1, square(tanh(x))),
    missing: (x) => sub(1, square(x)),
  },
}

/** A function of two numbers, and its partials. */
interface Binary {
  readonly of: (a: number, b: number) => number
  readonly partials: (a: AnyExpr, b: AnyExpr, y: AnyExpr) => readonly [AnyExpr, AnyExpr]
  readonly missing: (a: AnyExpr, b: AnyExpr, y: AnyExpr) => AnyExpr
}
export const binaries: Readonly<Record<string, Binary>> = {
  'square of a difference, multiplied out': {
    of: (a, b) => a * a - 2 * a * b + b * b,
    partials: (a, b) => [mul(2, sub(a, b)), mul(2, sub(b, a))],
    missing: (a) => mul(2, a),
  },
  'log of the mean of two exponentials': {
    of: (a, b) => Math.log((Math.exp(a) + Math.exp(b)) / 2),
    partials: (a, b) => [sigmoid(sub(a, b)), sigmoid(sub(b, a))],
    missing: (a) => div(exp(a), 2),
  },
  'norm of two numbers beside 1': {
    of: (a, b) => Math.sqrt(1 + a * a + b * b) - 1,
    partials: (a, b, y) => [div(a, add(1, y)), div(b, add(1, y))],
    missing: (a) => a,
  },
}

/** Ways to make a gradient wrong. */
export const wrongs = ['sign', 'factor 2', 'missing term'] as const
export type Wrong = (typeof wrongs)[number]
const made = (given: AnyExpr, missing: () => AnyExpr, wrong: Wrong | undefined): AnyExpr =>
  wrong === 'sign' ? neg(given) : wrong === 'factor 2' ? mul(2, given) : wrong === 'missing term' ? missing() : given

export const reductionRule = (name: string, wrong?: Wrong) => {
  const { of, gradient, missing, domain } = reductions[name]!
  const p = cd.primitive({
    name: name.replace(/\W+/g, '_'),
    family: 'mine',
    args: ['float'],
    source: 'definition',
    shapeRule: ([x]) =>
      x!.shape.at(-1)
        ? cd.aval(x!.shape.slice(0, -1), x!.dtype)
        : cd.raise({ _tag: 'BadInput', where: 'a reduction', reason: 'it has no elements.', fix: 'give it some.' }),
    meaning: ([x], _p, [y]) => {
      const n = x!.shape.at(-1)!
      for (let r = 0; r < y!.data.length; r++) y!.data[r] = of(x!.data.subarray(r * n, (r + 1) * n))
    },
    samples: [[3], [2, 4]].map((shape) => ({ args: [{ shape, domain }], params: {} })),
  })
  const slope = (x: AnyExpr, y: AnyExpr): AnyExpr => made(gradient(x, y), () => missing(x, y), wrong)
  return cd.rule(p, {
    frule: ([x], [dx], _p, { y }) => [y, dx._tag === 'Expr' ? sum(mul(dx, slope(x, y)), { axis: -1 }) : dx],
    rrule: ([x], _p, { y }) => [y, (yBar) => [mul(expandDims(yBar, -1), slope(x, y))]],
    batch: ([x]) => cd.applyPrimitive(p, [x])[0],
  })
}
export const elementwiseRule = (name: string, wrong?: Wrong) => {
  const { of, partial, missing } = functions[name]!
  const p = cd.unary({ name: name.replace(/\W+/g, '_'), scalar: (x) => of(x!), source: 'definition', domain: [[-2, 2]] })
  return cd.scalarRule(p, ({ x: [x], y }) => [made(partial(x, y), () => missing(x, y), wrong)])
}
export const binaryRule = (name: string, wrong?: Wrong) => {
  const { of, partials, missing } = binaries[name]!
  const domain = [-2, 2] as const
  const p = cd.binary({ name: name.replace(/\W+/g, '_'), scalar: (a, b) => of(a!, b!), source: 'definition', domain: [domain, domain] })
  return cd.scalarRule(p, ({ x: [a, b], y }) => {
    const [first, second] = partials(a, b, y)
    return [made(first, () => missing(a, b, y), wrong), second]
  })
}
