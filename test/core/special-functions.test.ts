// Special functions against values that mpmath computed with 50 digits (test/golden/special.py), in units in the last place; then derivatives and laws.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as codual from '../../src/index.js'
import { type AnyExpr, evaluate, grad, sum, tensor } from '../../src/index.js'

type Row = readonly (number | string)[]
const golden = JSON.parse(readFileSync(new URL('../golden/special.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly Row[]>
>

const ulp = (x: number): number => 2 ** (Math.max(Math.floor(Math.log2(Math.abs(x) || 5e-324)), -1022) - 52)
/** Units in the last place, of a number beside where the error is absolute. */
const ulps = (got: number, want: number, scale = 0): number =>
  got === want || (Number.isNaN(got) && Number.isNaN(want))
    ? 0
    : Number.isFinite(got) && Number.isFinite(want)
      ? Math.abs(got - want) / ulp(Math.max(Math.abs(want), scale))
      : Number.POSITIVE_INFINITY
const logOf = (y: number): number => Math.abs(Math.log(Math.abs(y)))

/** More than 4 ulp, and to what an error is relative where that is not the value: as the docstrings say. */
const bounds: Readonly<
  Record<string, { readonly ulps?: (y: number, x: readonly number[]) => number; readonly scale?: (x: readonly number[]) => number }>
> = {
  j0: { scale: ([x]) => (Math.abs(x!) > 8 ? Math.sqrt(2 / (Math.PI * Math.abs(x!))) : 0) },
  j1: { scale: ([x]) => (Math.abs(x!) > 8 ? Math.sqrt(2 / (Math.PI * Math.abs(x!))) : 0) },
  beta: { ulps: (y, [a, b]) => (Math.min(a!, b!) < 10 ? 4 : 4 + 2 * logOf(y)) },
  betaln: { scale: () => 1 },
  gammainc: { ulps: (y) => 4 + 2.5 * logOf(y) },
  gammaincc: { ulps: (y) => 4 + 2.5 * logOf(y) },
  betainc: { ulps: () => 20 },
  klDiv: { scale: ([x, y]) => x! + y! },
}
const column = (rows: readonly Row[], i: number): number[] => rows.map((r) => Number(r[i]))
type Fn = (...xs: readonly unknown[]) => AnyExpr
const values = (name: string, xs: readonly (readonly number[])[], dtype: 'f64' | 'f32' = 'f64'): readonly number[] =>
  evaluate((codual[name as keyof typeof codual] as unknown as Fn)(...xs.map((x) => tensor(x, [x.length], dtype)))).toArray() as number[]

describe('within units in the last place of mpmath', () => {
  for (const [name, rows] of Object.entries(golden))
    it(name, () => {
      const arity = rows[0]!.length - 1
      const xs = Array.from({ length: arity }, (_, i) => column(rows, i))
      const got = values(name, xs)
      const want = column(rows, arity)
      const worst = { over: 0, at: '' }
      want.forEach((w, k) => {
        const x = xs.map((c) => c[k]!)
        const error = ulps(got[k]!, w, bounds[name]?.scale?.(x)) / (bounds[name]?.ulps?.(w, x) ?? 4)
        if (error > worst.over) Object.assign(worst, { over: error, at: `${name}(${x}) is ${w}, got ${got[k]}` })
      })
      expect(worst.over, worst.at).toBeLessThanOrEqual(1)
    })
  it('in f32: the rounding of the value in f64', () => {
    for (const [name, xs] of Object.entries({
      erfinv: [[0.25, -0.75]],
      gammainc: [
        [2, 3],
        [1, 0.5],
      ],
      betainc: [[2], [3], [0.25]],
    })) {
      expect(values(name, xs, 'f32')).toEqual(values(name, xs).map(Math.fround))
    }
  })
})

const n = Number.NaN
const inf = Number.POSITIVE_INFINITY
describe('at the ends', () => {
  const cases: readonly (readonly [string, readonly (readonly number[])[], readonly number[]])[] = [
    ['erfinv', [[-1, 1, 1.5, -0, n]], [-inf, inf, n, -0, n]],
    ['erfcinv', [[0, 2, 1, -1, 3, n]], [inf, -inf, 0, n, n, n]],
    ['erfcx', [[-inf, -30, inf, n]], [inf, inf, 0, n]],
    ['ndtr', [[-inf, inf, 0, n]], [0, 1, 0.5, n]],
    ['ndtri', [[0, 1, 0.5, 2, n]], [-inf, inf, -0, n, n]],
    ['logNdtr', [[-inf, inf, n]], [-inf, -0, n]],
    ['j0', [[inf, -inf, 0, n]], [0, 0, 1, n]],
    ['j1', [[inf, -inf, -0, n]], [0, -0, -0, n]],
    ['i0', [[inf, -inf, 0, n, 714]], [inf, inf, 1, n, inf]],
    ['i1', [[inf, -inf, -0, n, -800]], [inf, -inf, -0, n, -inf]],
    ['i0e', [[inf, 0, n]], [0, 1, n]],
    ['i1e', [[-inf, -0, n]], [-0, -0, n]],
    ['beta', [[0, -1, inf, n, 1e-200], [1, 2, 1, 1, 1e-200]], [n, n, 0, n, 2e200]],
    ['betaln', [[0, -1, inf, n, 1e-300], [1, 2, 1, 1, 1]], [inf, n, -inf, n, -Math.log(1e-300)]],
    ['zeta', [[1, 0.5, 2, 2, 2.5, inf, inf, n, 3], [1, 1, 0, -1.5, -1.5, 2, 1, 1, inf]], [inf, n, inf, 0.9348022005446793 + 4 + 4 / 9 + 4, n, 0, 1, n, 0]],
    ['gammainc', [[1, 0, 0, 2, -1, 2, inf, n], [0, 1, 0, inf, 1, -1, 1, 1]], [0, 1, n, 1, n, n, 0, n]],
    ['gammaincc', [[1, 0, 0, 2, -1, 2, inf, n], [0, 1, 0, inf, 1, -1, 1, 1]], [1, 0, n, 0, n, n, 1, n]],
    ['betainc', [[2, 2, 0, 2, 2, inf], [3, 3, 1, 3, 3, 1], [0, 1, 0.5, -0.1, n, 0.5]], [0, 1, n, n, n, 0]],
    ['betainc', [[1, 1, 1], [2, 3, 3], [0.5, 0.25, 0.75]], [0.75, 0.578125, 0.984375]],
    ['gammainc', [[11, 0.5], [3e38, 3e38]], [1, 1]],
    ['zeta', [[1e9, 1e20, 16777215, 89, 151, 152, 151, 16777215], [2, 1e9, -0.5, -0.5, -0.25, -0.25, -0.75, -1e-40]], [0, 0, 0, 1.5 ** -89, -(4 ** 151), 4 ** 152, 4 ** 151, -inf]],
    ['betaln', [[1e-310, 1e-310], [1e-310, 1]], [Math.log(2) - Math.log(1e-310), -Math.log(1e-310)]],
    ['xlog1py', [[0, 0, 2, n, 0], [-1, n, -1, 0, -2]], [0, n, -inf, n, 0]],
    ['logit', [[0, 1, 0.5, -1, 2, n]], [-inf, inf, 0, n, n, n]],
    ['entr', [[0, 1, -1, inf, n]], [-0, -0, -inf, -inf, n]],
    ['relEntr', [[0, 0, 1, -1, 1, n, 0], [0, 1, 0, 1, -1, 1, -1]], [0, 0, inf, inf, inf, n, inf]],
    ['klDiv', [[0, 0, 1, -1], [0, 1, 0, 1]], [0, 1, inf, inf]],
    ['klDiv', [[inf, inf, 2, -inf, inf], [0, -1, -inf, 1, -inf]], [inf, inf, inf, inf, inf]],
    ['sinc', [[0, 1, -7, 1e15, n]], [1, 0, 0, 0, n]],
  ] // biome-ignore format: a row each
  for (const [name, xs, want] of cases) it(name, () => expect(values(name, xs).map((v) => v + 0)).toEqual(want.map((v) => v + 0)))
})

describe('derivatives', () => {
  const of = (f: (x: AnyExpr) => AnyExpr, order: number): ((x: AnyExpr) => AnyExpr) => {
    let g = f
    for (let k = 0; k < order; k++) {
      const before = g
      g = (x) => grad((v: AnyExpr) => sum(before(v)) as never)(x as never) as unknown as AnyExpr
    }
    return g
  }
  const at = (f: (x: AnyExpr) => AnyExpr, order: number, x: number): number =>
    evaluate(of(f, order)(tensor(x) as never)).toArray() as unknown as number
  // mpmath.diff with 60 digits.
  const rows: readonly (readonly [name: string, f: (x: AnyExpr) => AnyExpr, x: number, derivatives: readonly number[]])[] = [
    ['sinc', codual.sinc, 0, [0.0, -3.289868133696453, 0.0, 19.481818206800487, 0.0, -137.34131336790063]],
    ['sinc', codual.sinc, 0.1, [-0.325751267883124, -3.193029835964854, 1.9253792898320052, 18.799492671762525]],
    ['sinc', codual.sinc, 1.0, [-1.0, 2.0, 3.8696044010893584]],
    ['sinc', codual.sinc, 0.25, [-0.7728381398822342, -2.703060757258859, 4.52127228855079, 15.358637383132617]],
    ['sinc', codual.sinc, -2.5, [0.05092958178940651, -1.215893396004392, -1.4590720752052706]],
    ['erfinv', codual.erfinv, 0.0, [0.886226925452758, 0.0, 1.392081999207927]],
    ['erfinv', codual.erfinv, 0.5, [1.1125848189719498, 1.1807463499934, 5.26058253926122]],
    ['ndtr', codual.ndtr, -1.5, [0.12951759566589172, 0.1942763934988376, 0.16189699458236467]],
    ['logNdtr', codual.logNdtr, 0.0, [0.7978845608028654, -0.6366197723675814, 0.21801361414499015]],
    ['logNdtr', codual.logNdtr, -2.0, [2.373215532822841, -0.8857208995859187, 0.059355861291565816]],
    ['logNdtr', codual.logNdtr, 2.0, [0.055247862678989956, -0.11354805168857644, 0.1843948150324776]],
    ['erfcx', codual.erfcx, -1.0, [-11.14633932862008, 32.31063881876472, -109.20663495200976]],
    ['erfcx', codual.erfcx, 2.0, [-0.1067964618534896, 0.0836055052070531]],
    ['j0', codual.j0, 0.0, [0.0, -0.5, 0.0, 0.375]],
    ['j0', codual.j0, 2.5, [-0.49709410246427405, 0.2472214174539076, 0.31867047908842716, -0.23195071038860096]],
    ['j1', codual.j1, 0.0, [0.5, 0.0, -0.375, 0.0]],
    ['j1', codual.j1, 9.0, [-0.11759047635769006, -0.22921763751415816, 0.13948262517944826]],
    ['i0', codual.i0, 0.0, [0.0, 0.5, 0.0, 0.375]],
    ['i0', codual.i0, 1.5, [0.9816664285779075, 0.9922789040542858, 0.7564433496874537]],
    ['i1', codual.i1, 0.0, [0.5, 0.0, 0.375, 0.0]],
    ['i0e', codual.i0e, 1.5, [-0.14839422163323265, 0.15076218498584823, -0.20575217335302873]],
    ['i0e', codual.i0e, -2.0, [0.09323903330473338, 0.07884342198499793]],
    ['logit', codual.logit, 0.5, [4.0, 0.0, 32.0, 0.0]],
    ['logit', codual.logit, 0.25, [5.333333333333333, -14.222222222222221, 132.74074074074073]],
    ['logit', codual.logit, 0.9, [11.11111111111111, 98.76543209876543]],
    ['entr', codual.entr, 1.0, [-1.0, -1.0, 1.0, -2.0]],
    ['entr', codual.entr, 0.5, [-0.3068528194400547, -2.0, 4.0]],
    ['gammainc(2.5, x)', (x) => codual.gammainc(2.5, x as never), 1.25, [0.3012039877803021, 0.060240797556060426, -0.27710766875787796]],
    ['gammaincc(2.5, x)', (x) => codual.gammaincc(2.5, x as never), 4.0, [-0.11022392188849095, 0.06888995118030684, -0.03272272681064575]],
    ['betainc(2, 3.5, x)', (x) => codual.betainc(2, 3.5, x as never), 0.25, [1.9181109529131903, 1.2787406352754602, -38.362219058263804]],
    ['betainc(0.5, 0.5, x)', (x) => codual.betainc(0.5, 0.5, x as never), 0.25, [0.7351051938957228, -0.9801402585276303, 7.841122068221043]],
    ['zeta(3, q)', (q) => codual.zeta(3, q as never), 1.5, [-0.7045455170012186, 1.7371249133336126, -5.556774301217748]],
    ['beta(a, 2.5)', (a) => codual.beta(a as never, 2.5), 1.5, [-0.23947333781305657, 0.4198877907003859, -0.9709091991800167]],
    ['betaln(a, 2.5)', (a) => codual.betaln(a as never, 2.5), 1.5, [-1.219627694453224, 0.650979244807564, -0.7487569119892055]],
    ['relEntr(x, 2)', (x) => codual.relEntr(x as never, 2), 2.0, [1.0, 0.5, -0.25]],
    ['relEntr(x, 2)', (x) => codual.relEntr(x as never, 2), 0.5, [-0.38629436111989063, 2.0, -4.0]],
    ['klDiv(2, y)', (y) => codual.klDiv(2, y as never), 2.0, [0.0, 0.5, -0.5]],
    ['klDiv(2, y)', (y) => codual.klDiv(2, y as never), 5.0, [0.6, 0.08, -0.032]],
    ['xlog1py(2, y)', (y) => codual.xlog1py(2, y as never), 0.0, [2.0, -2.0, 4.0]],
    ['xlog1py(2, y)', (y) => codual.xlog1py(2, y as never), -0.5, [4.0, -8.0]],
  ] // biome-ignore format: a row each
  for (const [name, f, x, wants] of rows)
    it(`${name} at ${x}: orders 1 to ${wants.length}`, () => {
      wants.forEach((want, k) => {
        const got = at(f, k + 1, x)
        expect(Math.abs(got - want), `order ${k + 1}: ${got} is not ${want}`).toBeLessThanOrEqual(3e-13 * Math.max(Math.abs(want), 1))
      })
    })
  it('entr and relEntr rise without bound from 0', () => {
    expect(at(codual.entr, 1, 0)).toBe(inf)
    expect(at((x) => codual.relEntr(x as never, 2), 1, 0)).toBe(-inf)
    expect(at((y) => codual.relEntr(0, y as never), 1, 2) + 0).toBe(0)
    expect(at((x) => codual.xlog1py(x as never, 1), 1, 0)).toBeCloseTo(Math.LN2, 15)
  })
  it('of logNdtr far below hold too', () => {
    // h + x is small beside x: h = 1000.000999998, h' = -h (h + x).
    expect(at(codual.logNdtr, 1, -1000)).toBeCloseTo(1000.000999998, 9)
    expect(at(codual.logNdtr, 2, -1000)).toBeCloseTo(-0.999999000006, 11)
    expect([at(codual.logNdtr, 1, 50), at(codual.logNdtr, 2, 50)].map((v) => v + 0)).toEqual([0, 0])
  })
  it('by a shape parameter are of first order, mixed ones of second order too; a second one by it is not known, and said to be', () => {
    const asked: readonly [string, (a: AnyExpr, x: AnyExpr) => AnyExpr, number, number][] = [
      ['gammaincGradA', (a, x) => codual.gammainc(a as never, x as never), 2.5, 1.25],
      ['gammaincGradA', (a, x) => codual.gammaincc(a as never, x as never), 2.5, 1.25],
      ['betaincGradA', (a, x) => codual.betainc(a as never, 2, x as never), 2.5, 0.25],
      ['betaincGradB', (b, x) => codual.betainc(2, b as never, x as never), 2.5, 0.25],
      ['zetaGradS', (s, q) => codual.zeta(s as never, q as never), 2.5, 1.25],
    ]
    const number = (v: number): AnyExpr => tensor(v) as never
    for (const [name, f, a, x] of asked) {
      const byShape = (v: AnyExpr, w: AnyExpr): AnyExpr => grad((u: AnyExpr) => sum(f(u, w)) as never)(v as never) as unknown as AnyExpr
      const mixed = at((w) => byShape(number(a), w), 1, x)
      const h = 1e-4
      const difference = (at((w) => f(w, number(x + h)), 1, a) - at((w) => f(w, number(x - h)), 1, a)) / (2 * h)
      expect(Math.abs(mixed - difference)).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(mixed)))
      // In the other order, of two primitives whose rules know nothing of one another.
      expect(at((v) => grad((w: AnyExpr) => sum(f(v, w)) as never)(number(x) as never) as unknown as AnyExpr, 1, a)).toBeCloseTo(mixed, 12)
      for (const mode of ['mixed', 'reverse', 'forward'] as const)
        expect(() =>
          at((v) => grad((u: AnyExpr) => sum(f(u, number(x))) as never, { mode })(v as never) as unknown as AnyExpr, 1, a),
        ).toThrow(new RegExp(`${name}.*no second derivative`, 's'))
    }
  })
  const gradients = JSON.parse(readFileSync(new URL('../golden/special-gradients.json', import.meta.url), 'utf8')) as Readonly<
    Record<string, readonly (readonly number[])[]>
  >
  const primitives = codual.coreRegistry.rules
  // Relative, in the tails too. By the rules of the functions, and in f32 of what is rounded once.
  it.each([
    ['gammaincGradA', 'gammainc', 0, 1, 1e-13],
    ['gammaincGradA', 'gammaincc', 0, -1, 1e-13],
    ['betaincGradA', 'betainc', 0, 1, 2e-13],
    ['betaincGradB', 'betainc', 1, 1, 2e-13],
    ['zetaGradS', 'zeta', 0, 1, 1e-13],
  ] as const)('%s: of %s by argument %d, against mpmath', (name, of, argument, sign, bound) => {
    const rows = gradients[name]!
    const xs = Array.from({ length: rows[0]!.length - 1 }, (_, i) => tensor(column(rows, i)))
    const want = column(rows, xs.length).map((v) => sign * v)
    const f = codual[of] as unknown as Fn
    const got = grad((v: AnyExpr) => sum(f(...xs.map((x, i) => (i === argument ? v : x)))) as never)(
      xs[argument] as never,
    ).toArray() as number[]
    let worst = { error: 0, at: '' }
    want.forEach((w, k) => {
      // Next to the smallest numbers they are rounded to few digits.
      const error = Math.abs(got[k]! - w) / Math.max(Math.abs(w), 1e-300)
      if (!(error <= worst.error)) worst = { error, at: `${rows[k]}: ${got[k]}` }
    })
    expect(worst.error, worst.at).toBeLessThanOrEqual(bound)
    const single = xs.map((x) => codual.cast(x, 'f32'))
    const prim = primitives.get(name)!.primitive
    const [y] = codual.applyPrimitive(prim, single as never) as unknown as readonly [AnyExpr]
    const wide = single.map((x) => codual.cast(x, 'f64'))
    const [z] = codual.applyPrimitive(prim, wide as never) as unknown as readonly [AnyExpr]
    expect(evaluate(y).toArray()).toEqual(evaluate(codual.cast(z as never, 'f32')).toArray())
  })
  const ends: readonly (readonly [string, readonly (readonly number[])[], readonly number[]])[] = [
    ['gammaincGradA', [[2, 2, inf, 0, 0, inf, -1, 2, n, 2], [0, inf, 2, 0, 1, inf, 1, -1, 1, n]], [0, 0, 0, n, -0.21938393439552029, n, n, n, n, n]],
    ['betaincGradA', [[2, 2, inf, 2, inf, 0, 2, 2, n, 2], [3, 3, 2, inf, inf, 2, 0, 3, 2, 3], [0, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 0.5, n]], [0, 0, 0, 0, n, n, n, n, n, n]],
    ['betaincGradB', [[2, 2, inf, 2, inf, 0, 2, 2, n, 2], [3, 3, 2, inf, inf, 2, 0, 3, 2, 3], [0, 1, 0.5, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, n]], [0, 0, 0, 0, n, n, n, n, n, n]],
    // All at the two ends: b / (a + b).
    ['betaincGradA', [[1e-30], [3e-30], [0.5]], [-1.875e29]],
    ['betaincGradB', [[1e-30], [3e-30], [0.5]], [6.25e28]],
    ['zetaGradS', [[1, 2, 2, inf, inf, 0.5, 3, n, 2, 1e4], [2, 0, inf, 0.5, 2, 2, -1.5, 1, n, 2]], [-inf, inf, 0, inf, 0, n, n, n, n, 0]],
  ] // biome-ignore format: a row each
  it.each(ends)('%s at the ends', (name, xs, want) => {
    const prim = primitives.get(name)!.primitive
    const [y] = codual.applyPrimitive(prim, xs.map((x) => tensor(x)) as never) as unknown as readonly [AnyExpr] // biome-ignore format: one line
    const got = evaluate(y).toArray() as number[]
    got.forEach((v, i) => {
      if (Number.isFinite(want[i]!)) expect(Math.abs(v - want[i]!)).toBeLessThanOrEqual(1e-14 * Math.abs(want[i]!))
      else expect(v).toBe(want[i])
    })
  })
  it('their mixed derivatives have limits at the ends', () => {
    const mixed = (name: string, xs: readonly number[]): number => {
      const [last] = xs.slice(-1)
      const f = (v: AnyExpr): AnyExpr =>
        (
          codual.applyPrimitive(primitives.get(name)!.primitive, [
            ...xs.slice(0, -1).map((x) => tensor(x)),
            v,
          ] as never) as unknown as readonly [AnyExpr]
        )[0]
      return at(f, 1, last!)
    }
    expect([mixed('gammaincGradA', [2, 0]), mixed('gammaincGradA', [0.5, 0]), mixed('gammaincGradA', [1e5, 1])].map((v) => v + 0)).toEqual([
      0,
      -inf,
      0,
    ])
    expect(mixed('gammaincGradA', [0, 2])).toBeCloseTo(Math.exp(-2) / 2, 15)
    expect(
      [mixed('betaincGradA', [2, 3, 0]), mixed('betaincGradB', [2, 3, 1]), mixed('betaincGradA', [2, 3, 1.5])].map((v) => v + 0),
    ).toEqual([0, 0, n])
  })
})

describe('laws', () => {
  const xs = Array.from({ length: 60 }, (_, i) => 0.05 + 0.11 * i)
  const near = (a: readonly number[], b: readonly number[], tolerance = 1e-13): void => {
    for (const [i, v] of a.entries())
      expect(Math.abs(v - b[i]!), `at ${i}: ${v} is not ${b[i]}`).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(b[i]!)))
  }
  it('inverses', () => {
    const p = xs.map((x) => x / 7)
    near(values('erf', [values('erfinv', [p])]), p)
    near(values('erfc', [values('erfcinv', [p])]), p)
    near(values('ndtr', [values('ndtri', [p])]), p)
    near(values('sigmoid', [values('logit', [p])]), p)
  })
  it('P + Q = 1, P(a + 1, x) = P(a, x) - x^a exp(-x) / gamma(a + 1), across every seam', () => {
    for (const a of [1e-3, 0.3, 1, 1.1, 7, 19.5, 20.5, 149, 151, 999, 1001, 20000]) {
      const x = [0.01, 0.4, 0.51, 1.05, 1.15, ...[0.5, 0.89, 0.91, 0.99, 1, 1.01, 1.09, 1.11, 2].map((r) => r * a)]
      const as = x.map(() => a)
      const [p, q] = [values('gammainc', [as, x]), values('gammaincc', [as, x])]
      near(
        p.map((v, i) => v + q[i]!),
        as.map(() => 1),
      )
      const lg = values('lgamma', [[a + 1]])[0]!
      near(
        values('gammainc', [as.map((v) => v + 1), x]),
        p.map((v, i) => v - Math.exp(a * Math.log(x[i]!) - x[i]! - lg)),
        1e-11,
      )
    }
  })
  it('I_x(a, b) = 1 - I_{1 - x}(b, a)', () => {
    for (const [a, b] of [[0.3, 0.4], [2, 5], [12, 9], [15, 800], [5000, 6000]] as const) // biome-ignore format: a row
      near(
        values('betainc', [xs.map(() => a), xs.map(() => b), xs.map((x) => x / 8)]),
        values('betainc', [xs.map(() => b), xs.map(() => a), xs.map((x) => 1 - x / 8)]).map((v) => 1 - v),
        2e-12,
      )
  })
  it('recurrences: J_{n-1} + J_{n+1} = 2 n J_n / x, I_{n-1} - I_{n+1} = 2 n I_n / x, at every order', () => {
    const x = [...xs, 20, 49.5, 80, 300]
    for (const order of [1, 2, 5, 30, 99]) {
      const [j, i] = (['besselJ', 'besselIe'] as const).map(
        (name) => (k: number) => evaluate(codual[name](k, tensor(x))).toArray() as number[],
      )
      near(
        x.map((v, k) => (2 * order * j!(order)[k]!) / v),
        x.map((_, k) => j!(order - 1)[k]! + j!(order + 1)[k]!),
        4e-14,
      )
      near(
        x.map((v, k) => (2 * order * i!(order)[k]!) / v),
        x.map((_, k) => i!(order - 1)[k]! - i!(order + 1)[k]!),
        4e-14,
      )
    }
  })
  it('logcumsumexp: the logarithm of running sums, both ways, along any axis', () => {
    const x = tensor([[0.5, -1, 2], [3, 0, -2]], [2, 3]) // biome-ignore format: one row
    for (const axis of [0, 1, -1] as const)
      for (const reverse of [false, true]) {
        const want = evaluate(codual.log(codual.cumsum(codual.exp(x), { axis, reverse })))
          .toArray()
          .flat() as number[]
        near(evaluate(codual.logcumsumexp(x, { axis, reverse })).toArray().flat() as number[], want, 1e-14)
      }
    expect(evaluate(codual.logcumsumexp([-inf, -inf, 1, 1000, -inf])).toArray()).toEqual([-inf, -inf, 1, 1000, 1000])
    expect([codual.logcumsumexp(codual.zeros([2, 0])).shape, codual.logcumsumexp(tensor([1, 2], [2], 'i32')).dtype]).toEqual([
      [2, 0],
      'f64',
    ])
    expect(() => codual.logcumsumexp([1, 2], { axis: 1 } as never)).toThrow(/logcumsumexp: axis 1 is out of range/)
    expect(() => codual.logcumsumexp(3 as never)).toThrow(/logcumsumexp/)
  })
})

describe('errors and shapes', () => {
  it('the order of a Bessel function', () => {
    for (const f of ['besselJ', 'besselI', 'besselIe'] as const)
      for (const order of [-1, 1.5, 101, n, '1' as never]) expect(() => codual[f](order, [1])).toThrow(new RegExp(`${f}: n is`))
  })
  it('shapes that do not broadcast, texts, nothing', () => {
    expect(() => codual.gammainc(tensor([1, 2]), tensor([1, 2, 3]) as never)).toThrow(/do not broadcast/)
    expect(() => codual.betainc(tensor([1, 2]), 1, tensor([1, 2, 3]) as never)).toThrow(/do not broadcast/)
    expect(() => codual.erfinv('1' as never)).toThrow(/erfinv/)
    expect(() => codual.relEntr([1], undefined as never)).toThrow(/relEntr/)
  })
  it('shapes and dtypes follow the arguments', () => {
    expect(codual.betainc(tensor([[1], [2]], [2, 1]), tensor([1, 2, 3], [3], 'f32'), tensor([[0.5]], [1, 1])).shape).toEqual([2, 3])
    expect(codual.betainc(1, 2, tensor([0.5], [1], 'f32')).dtype).toBe('f32')
    expect([codual.j0(tensor([1], [1], 'i32')).dtype, codual.entr(codual.zeros([0, 3], 'f32')).dtype, codual.sinc(2).shape]).toEqual([
      'f64',
      'f32',
      [],
    ])
    for (const f of [codual.erfinv, codual.ndtri, codual.logit, codual.i1e])
      expect(evaluate(f(codual.zeros([2, 0, 3]))).shape).toEqual([2, 0, 3])
  })
})
