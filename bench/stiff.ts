// Stiff problems by odeint's rodas5P beside SciPy's Radau and BDF: the largest relative error at the end, steps, evaluations of f, Jacobians. `npm run bench:stiff`; CODUAL_PYTHON names the Python that has
// SciPy (python3 unless given).
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type AnyExpr, add, at, compile, mul, neg, square, stack, sub, type Tensor, tensor } from '../src/index.js'
import { odeint, rodas5P } from '../src/solve/index.js'

type Field = (t: AnyExpr, y: AnyExpr) => AnyExpr
type Row = { readonly error: number; readonly steps: number; readonly calls: number; readonly jacobians: number }
const sum = (...terms: readonly AnyExpr[]): AnyExpr => terms.reduce((a, b) => add(a, b) as AnyExpr)
const times = (a: number, ...xs: readonly AnyExpr[]): AnyExpr =>
  mul(
    a,
    xs.reduce((x, y) => mul(x, y) as AnyExpr),
  ) as AnyExpr
const part = (y: AnyExpr, i: number): AnyExpr => at(y, i) as AnyExpr
const robertson: Field = (_t, y) => {
  const [a, b, c] = [part(y, 0), part(y, 1), part(y, 2)]
  const [slow, back, fast] = [times(0.04, a), times(1e4, b, c), times(3e7, b, b)]
  return stack([sub(back, slow), sub(sub(slow, back), fast), fast]) as AnyExpr
}
const vanDerPol: Field = (_t, y) =>
  stack([part(y, 1), sub(times(1000, sub(1, square(part(y, 0))) as AnyExpr, part(y, 1)), part(y, 0))]) as AnyExpr
const hires: Field = (_t, y) => {
  const p = (i: number, w: number): AnyExpr => times(w, part(y, i))
  const q = times(280, part(y, 5), part(y, 7))
  return stack([
    add(sum(p(0, -1.71), p(1, 0.43), p(2, 8.32)), 0.0007),
    sum(p(0, 1.71), p(1, -8.75)),
    sum(p(2, -10.03), p(3, 0.43), p(4, 0.035)),
    sum(p(1, 8.32), p(2, 1.71), p(3, -1.12)),
    sum(p(4, -1.745), p(5, 0.43), p(6, 0.43)),
    sum(neg(q) as AnyExpr, p(3, 0.69), p(4, 1.71), p(5, -0.43), p(6, 0.69)),
    sum(q, p(6, -1.81)),
    sum(neg(q) as AnyExpr, p(6, 1.81)),
  ]) as AnyExpr
}
const problems: Readonly<Record<string, readonly [f: Field, y0: readonly number[], end: number, atol: number]>> = {
  Robertson: [robertson, [1, 0, 0], 1e11, 1e-10],
  'van der Pol, 1000': [vanDerPol, [2, 0], 2000, 1e-9],
  HIRES: [hires, [1, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, 1e-9],
}
/** Evaluations of f in a step: one at its beginning, which that before has made at its end, seven inside, and one at its end. */
const CALLS = 8
const line = (name: string, { error, steps, calls, jacobians }: Row): void =>
  console.log(
    `  ${name.padEnd(16)}${error.toExponential(1).padStart(9)}${String(steps).padStart(7)}${String(calls).padStart(8)}${String(jacobians).padStart(8)}`,
  )

const scipy = JSON.parse(
  execFileSync(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, 'stiff.py')], { encoding: 'utf8' }),
) as Readonly<Record<string, Readonly<Record<string, Row>> & { readonly exact: readonly number[] }>>
for (const [name, [f, y0, end, atol]] of Object.entries(problems)) {
  const { exact, ...rows } = scipy[name]!
  console.log(`${name}\n  ${''.padEnd(16)}    error  steps   calls Jacobians`)
  for (const rtol of [1e-4, 1e-6, 1e-8]) {
    const run = compile(
      (y: AnyExpr) => odeint(f as never, y, [0, end], {}, { method: rodas5P, rtol, atol: (atol * rtol) / 1e-6, maxSteps: 20_000 }) as never,
    )
    const r = run(tensor(y0 as number[], [y0.length], 'f64') as never) as unknown as {
      readonly ys: Tensor
      readonly steps: Tensor
      readonly done: Tensor
    }
    if (r.done.data[0] !== 1) throw new Error(`${name} did not arrive`)
    const last = r.ys.data.slice(y0.length)
    const error = Math.max(...exact.map((x, i) => Math.abs(last[i]! - x) / Math.abs(x)))
    const steps = Number(r.steps.item())
    line(`rodas5P ${rtol.toExponential(0)}`, { error, steps, calls: CALLS * steps, jacobians: steps })
  }
  for (const [method, row] of Object.entries(rows as unknown as Readonly<Record<string, Row>>)) line(method, row)
}
