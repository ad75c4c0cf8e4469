/** Random programs over every operation: their jets are nested forward mode, their sparse Jacobians the dense ones. */

import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { generate } from './generator/generate.js'
import { type Api, argumentsOf, arrayOf, functionOf } from './generator/program.js'

type E = cd.AnyExpr
const api = cd as unknown as Api
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => never>
const oracle = cd.reference()
const compiled = (f: unknown): ((...xs: readonly unknown[]) => never) =>
  (cd.compile as unknown as (f: unknown, b: unknown) => never)(f, oracle)
const numbers = (x: unknown): number[] => Array.from((x as cd.Tensor).data)
const many = Number(process.env.HIGHER_ORDER ?? count(20, 200, 600))
/** As far as rounding in either dtype lets them be the same; what is not finite says nothing. */
const near = (got: readonly number[], want: readonly number[], what: string): number => {
  const finite = want.filter(Number.isFinite).map(Math.abs)
  const scale = Math.max(1, ...finite)
  got.forEach((x, i) => {
    if (Number.isFinite(want[i]) && Number.isFinite(x))
      expect(Math.abs(x - want[i]!) / scale, `${what}, ${i}: ${x}, not ${want[i]}`).toBeLessThan(1e-3)
    else if (Number.isFinite(want[i])) expect(x, `${what}, ${i}: not ${want[i]}`).toBeCloseTo(want[i]!, 3)
  })
  return finite.length
}
const NO_DERIVATIVE = /NotImplemented|MissingRule|NotDifferentiable/
/** A program's float results in its first float argument, as one vector; undefined where it has no derivative. */
const subject = (seed: number) => {
  const { program } = generate(seed)
  const args = argumentsOf(program).map((x) => arrayOf(x as never)) as unknown as readonly cd.Tensor[]
  const at = args.findIndex((a) => a.dtype === 'f64' && a.data.length > 0 && a.data.length < 40)
  if (at < 0) return undefined
  const tensors = args.map((a) => cd.tensor(a.data as never, a.shape as number[], a.dtype as 'f64'))
  const f = (u: E): E => {
    const ys = functionOf(program, api)(...tensors.map((t, i) => (i === at ? u : t))) as readonly E[]
    const floats = ys.filter((y) => y.dtype === 'f64').map((y) => c.reshape!(y, [-1]))
    return c.concat!([...floats, c.mul!(0, c.reshape!(u, [-1]))])
  }
  return { f, x: tensors[at]! }
}

describe('random programs', () => {
  let compared = 0
  for (let seed = 1; seed <= many; seed++)
    it(`seed ${seed}`, () => {
      const s = subject(seed)
      if (s === undefined) return
      const { f, x } = s
      try {
        const v = c.cos!(c.mul!(3, x))
        const first = (u: E): E => (c.jvp!(f) as unknown as (x: E, d: E) => readonly [E, E])(u, v)[1]
        const second = (u: E): E => (c.jvp!(first) as unknown as (x: E, d: E) => readonly [E, E])(u, v)[1]
        const jets = compiled(
          (u: E) => (c.jet!(f, { order: 2 }) as unknown as (x: E, s: readonly E[]) => readonly [E, readonly E[]])(u, [v])[1] as never,
        )(x)
        compared += near(numbers(jets[0]), numbers(compiled(first)(x)), 'order 1')
        compared += near(numbers(jets[1]), numbers(compiled(second)(x)), 'order 2')
        const dense = numbers(compiled(c.jacfwd!(f))(x))
        const sparse = compiled(c.sparseJacobian!(f))(x) as unknown as {
          readonly rows: cd.Tensor
          readonly cols: cd.Tensor
          readonly values: cd.Tensor
        }
        const got = dense.map(() => 0)
        sparse.values.data.forEach((value, k) => {
          got[(sparse.rows.data[k] as number) * x.data.length + (sparse.cols.data[k] as number)] = value as number
        })
        // Backwards a zero meets a derivative that is NaN: entries that reverse mode does not have say nothing.
        const reverse = got.every(Number.isFinite) ? dense : numbers(compiled(c.jacrev!(f))(x))
        const both = dense.map((value, k) => (Number.isFinite(reverse[k]) ? value : Number.NaN))
        compared += near(got, both, 'Jacobian')
      } catch (e) {
        if (!(cd.isAdException(e) && NO_DERIVATIVE.test((e as { error: { _tag: string } }).error._tag))) throw e
      }
    })
  it('something was compared', () => expect(compared).toBeGreaterThan(many))
})
