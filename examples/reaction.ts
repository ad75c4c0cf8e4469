// The rates of a stiff reaction from measurements. `npm run example:reaction`
//
// Robertson's reaction has rates that are nine orders of magnitude apart: a turns into b slowly, b into c fast. Explicit steps would have to
// be as short as the fastest part needs; those of `rodas5P` are as long as the solution allows. The amounts are measured at thirty times between
// a hundredth of a second and a year, with errors, and `leastSquares` finds the logarithms of the rates through the solver, with their
// standard errors.
import { compile, cpu, div, type Expr, evaluate, exp, type Float, mul, sub, tensor } from '../src/index.js'
import { leastSquares } from '../src/minimize/index.js'
import { odeint, rodas5P } from '../src/solve/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface ReactionOptions {
  /** Measurements. */
  readonly count?: number
  readonly seed?: number
  readonly out?: string
}

/** The rates that the data are simulated with: of a to b, of b and c back to a, of b to c. */
export const truth = [0.04, 1e4, 3e7] as const
/** The standard deviation of an error of measurement, as a part of each amount's largest. */
const ERROR = 0.01
/** What each amount is divided by, so that all are seen. */
const scale = { a: 1, b: 4e-5, c: 1 } as const

type Amounts = { a: Expr<[], Float>; b: Expr<[], Float>; c: Expr<[], Float> }
type Rates = readonly [Expr<[], Float>, Expr<[], Float>, Expr<[], Float>]
const reaction = (_t: Expr<[], Float>, { a, b, c }: Amounts, { rates }: { rates: Rates }): Amounts => {
  const slow = mul(rates[0], a)
  const back = mul(rates[1], mul(b, c))
  const fast = mul(rates[2], mul(b, b))
  return { a: sub(back, slow), b: sub(sub(slow, back), fast), c: fast }
}

/** The amounts at the times, each in its scale, of logarithms of the rates. */
export const amounts = (times: readonly number[], logRates: Rates, maxSteps = 400) => {
  const rates = logRates.map((r) => exp(r)) as unknown as Rates
  const { ys, done, steps } = odeint(
    reaction,
    { a: 1, b: 0, c: 0 },
    [0, ...times],
    { rates },
    { method: rodas5P, rtol: 1e-6, atol: 1e-10, maxSteps },
  )
  return { a: div(ys.a, scale.a), b: div(ys.b, scale.b), c: div(ys.c, scale.c), done, steps }
}

export const main = async (log: Log, { count = 30, seed = 1, out = 'out' }: ReactionOptions = {}) => {
  const times = Array.from({ length: count }, (_, k) => 10 ** (-2 + (9.5 * k) / (count - 1)))
  const exact = evaluate(amounts(times, truth.map((r) => tensor(Math.log(r))) as unknown as Rates))
  expectThat(exact.done.item(), 'the last time is reached')
  log(
    `${exact.steps.item()} steps from 0 to ${times.at(-1)!.toExponential(1)} s; the fastest part settles in ${(1 / Math.sqrt(truth[0] * truth[2])).toExponential(0)} s`,
  )

  const normal = normals(seed)
  const noisy = (x: { readonly data: ArrayLike<number> }): number[] => Array.from(x.data, (v) => v + ERROR * normal())
  const measured = { a: noisy(exact.a), b: noisy(exact.b), c: noisy(exact.c) }

  // The rates are far apart: their logarithms are what is looked for.
  const fitted = leastSquares(
    (p: { r1: Expr<[], Float>; r2: Expr<[], Float>; r3: Expr<[], Float> }) => {
      const model = amounts(times, [p.r1, p.r2, p.r3])
      return { a: sub(model.a, tensor(measured.a)), b: sub(model.b, tensor(measured.b)), c: sub(model.c, tensor(measured.c)) }
    },
    { r1: Math.log(0.1), r2: Math.log(2e3), r3: Math.log(1e8) },
  )
  log(`fitted in ${fitted.steps} steps: ${fitted.reason}`)
  const found = [fitted.x.r1, fitted.x.r2, fitted.x.r3].map((x) => x.item())
  const errors = [fitted.errors.r1, fitted.errors.r2, fitted.errors.r3].map((x) => x.item())
  const distances = truth.map((value, k) => (found[k]! - Math.log(value)) / errors[k]!)
  for (const [k, what] of ['a to b', 'b and c to a', 'b to c'].entries())
    log(`rate of ${what}: ${Math.exp(found[k]!).toPrecision(3)} +- ${(100 * errors[k]!).toPrecision(2)} %; simulated with ${truth[k]}`)
  expectThat(fitted.converged && Math.max(...distances.map(Math.abs)) < 3.5, 'the rates within three and a half standard errors')

  const fine = Array.from({ length: 160 }, (_, k) => 10 ** (-2 + (9.5 * k) / 159))
  const curve = compile((r1: Expr<[], Float>, r2: Expr<[], Float>, r3: Expr<[], Float>) => amounts(fine, [r1, r2, r3], 600), cpu())
  const drawn = curve(fitted.x.r1, fitted.x.r2, fitted.x.r3)
  const line = (x: { readonly data: ArrayLike<number> }) => fine.map((t, i) => [Math.log10(t), x.data[i + 1]!])
  const points = (ys: readonly number[]) => times.map((t, i) => [Math.log10(t), ys[i + 1]!])
  const file = await plot(out, 'reaction', {
    title: "Robertson's reaction: measurements and the fit",
    x: 'logarithm of the time (s)',
    y: 'amount (b: in 4e-5)',
    lines: { a: line(drawn.a), b: line(drawn.b), c: line(drawn.c) },
    points: { 'a, measured': points(measured.a), 'b, measured': points(measured.b), 'c, measured': points(measured.c) },
  })
  log(`picture: ${file}`)
  return { found, errors, distances, steps: exact.steps.item(), file }
}

start(import.meta.url, main)
