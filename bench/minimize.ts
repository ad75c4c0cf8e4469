// Minimisation beside SciPy: where it ends, iterations, evaluations of f, of gradients (or Jacobians) and of products with the Hessian, and milliseconds. SciPy is given derivatives that are written by hand. Ours
// are of whole calls, with tracing and compiling; in brackets, what a call takes that ends after its first step. `npm run bench:minimize`; CODUAL_PYTHON names the Python that has SciPy (python3 unless given).
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type AnyExpr, add, at, exp, logSigmoid, matmul, mul, neg, square, sub, sum, tensor } from '../src/index.js'
import { leastSquares, minimize } from '../src/minimize/index.js'
import { hs, hsFunctions } from '../test/minimize/hs.js'

interface Row {
  readonly value: number
  readonly steps: number
  readonly values: number
  readonly gradients: number
  readonly products: number
  readonly ms: number
  /** Of a call that ends after its first step. */
  readonly begin?: number
}
const wave = (n: number, f: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => f(i))
const [rows, columns, assets] = [2000, 50, 50]
const x = wave(rows * columns, (i) => Math.sin(1.7 * (i + 1)))
const signs = wave(rows, (i) => (x[i * columns]! + Math.sin(9.1 * i) > 0 ? 1 : -1))
const t = wave(200, (i) => i / 10)
const y = t.map((v, i) => 3 * Math.exp(-0.8 * v) + 1.5 * Math.exp(-0.15 * v) + 0.01 * Math.sin(12.9 * i))
const factors = wave(assets * 5, (i) => 0.1 * Math.sin(2.3 * (i + 1)))
const covariance = wave(assets * assets, (k) => {
  const [i, j] = [Math.floor(k / assets), k % assets]
  return wave(5, (f) => factors[5 * i + f]! * factors[5 * j + f]!).reduce((a, b) => a + b, i === j ? 0.01 + 0.0004 * i : 0)
})
const mu = wave(assets, (i) => 0.05 + 0.05 * Math.sin(3.1 * i))
const wanted = 0.08
const data = { x, signs, rows, t, y, covariance, mu, wanted }

const [X, S, T, Y] = [tensor(x, [rows, columns] as never), tensor(signs), tensor(t), tensor(y)] as unknown as AnyExpr[]
const [C, M] = [tensor(covariance, [assets, assets] as never), tensor(mu)] as unknown as AnyExpr[]
const chain = (v: AnyExpr): AnyExpr =>
  sum(
    add(square(sub(1, at(v, ':-1')) as AnyExpr), mul(100, square(sub(at(v, '1:'), square(at(v, ':-1') as AnyExpr)) as AnyExpr))),
  ) as AnyExpr
const logistic = (w: AnyExpr): AnyExpr =>
  sub(mul(0.5, sum(square(w))), sum(logSigmoid(mul(S!, matmul(X as never, w as never)) as AnyExpr) as AnyExpr)) as AnyExpr
const decays = (p: AnyExpr): AnyExpr => {
  const part = (i: number): AnyExpr => mul(at(p, i), exp(neg(mul(at(p, i + 1), T!) as AnyExpr))) as AnyExpr
  return sub(add(part(0), part(2)), Y!) as AnyExpr
}

type Options = Readonly<Record<string, unknown>>
const least = (run: () => unknown): number => {
  let best = Number.POSITIVE_INFINITY
  for (let k = 0; k < 5; k++) {
    const from = performance.now()
    run()
    best = Math.min(best, performance.now() - from)
  }
  return best
}
const of = (f: (x: AnyExpr) => AnyExpr, x0: readonly number[], options: Options): Row => {
  const run = (more: Options = {}) => minimize(f as never, x0 as never, { ...options, ...more } as never)
  const { value, steps, evaluations } = run()
  return { value, steps, ...evaluations, ms: least(run), begin: least(() => run({ onStep: () => false })) }
}
const squares = (f: (x: AnyExpr) => AnyExpr, x0: readonly number[]): Row => {
  const run = (more: Options = {}) => leastSquares(f as never, x0 as never, more as never)
  const { value, steps, evaluations } = run()
  const { residuals, jacobians } = evaluations as unknown as Record<'residuals' | 'jacobians', number>
  return {
    value,
    steps,
    values: residuals,
    gradients: jacobians,
    products: 0,
    ms: least(run),
    begin: least(() => run({ onStep: () => false })),
  }
}
const both = (f: (x: AnyExpr) => AnyExpr, x0: readonly number[]): Readonly<Record<string, Row>> => ({
  lbfgs: of(f, x0, {}),
  newton: of(f, x0, { method: 'newton' }),
})
const within = (f: (x: AnyExpr) => AnyExpr, x0: readonly number[], options: Options): Readonly<Record<string, Row>> => ({
  sqp: of(f, x0, { ...options, method: 'sqp' }),
  'lbfgs, augmented': of(f, x0, { ...options, method: 'lbfgs' }),
})
const start = (n: number): number[] => wave(n, (i) => (i % 2 === 0 ? -1.2 : 1))
const hundred = hsFunctions[100]!
const ours: Readonly<Record<string, () => Readonly<Record<string, Row>>>> = {
  'Rosenbrock, 20 numbers': () => both(chain, start(20)),
  'Rosenbrock, 100 numbers': () => both(chain, start(100)),
  'a logistic regression, 2000 rows, 50 columns': () =>
    both(
      logistic,
      wave(columns, () => 0),
    ),
  'a sum of two decays, 200 points': () => ({ leastSquares: squares(decays, [1, 1, 1, 0.1]) }),
  'a portfolio of 50 assets': () =>
    within(
      (w) => mul(0.5, sum(mul(w, matmul(C as never, w as never) as never))) as AnyExpr,
      wave(assets, () => 1 / assets),
      {
        bounds: { lower: 0 },
        constraints: { equal: (w: AnyExpr) => sub(sum(w), 1), atMost: (w: AnyExpr) => sub(wanted, sum(mul(M!, w) as AnyExpr)) },
      },
    ),
  'Hock and Schittkowski 100': () =>
    within(hundred.f, hs.find((p) => p.number === 100)!.start, { constraints: { atMost: hundred.atMost } }),
}

const scipy = JSON.parse(
  execFileSync(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, 'minimize.py')], {
    encoding: 'utf8',
    input: JSON.stringify(data),
    env: { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' },
  }),
) as Readonly<Record<string, Readonly<Record<string, Row>>>>
for (const [name, run] of Object.entries(ours)) {
  console.log(`${name}\n  ${''.padEnd(20)}${'value'.padStart(14)}  steps values gradients products       ms`)
  for (const [method, r] of [...Object.entries(run()), ...Object.entries(scipy[name]!)]) {
    const counts = [
      [r.steps, 7],
      [r.values, 7],
      [r.gradients, 10],
      [r.products, 9],
    ] as const
    console.log(
      `  ${method.padEnd(20)}${r.value.toPrecision(8).padStart(14)}${counts.map(([v, w]) => String(v).padStart(w)).join('')}${r.ms.toFixed(2).padStart(9)}${r.begin === undefined ? '' : ` (${r.begin.toFixed(2)})`}`,
    )
  }
}
