/**
 * A population that grows and spreads, u_t = d u_xx + r u (1 - u) (Fisher 1937): implicit Euler, each step a root by Newton and Krylov; what
 * the end depends on by the implicit function theorem, through all steps; and the Jacobian of a step as a sparse matrix of three colours.
 */
import {
  add,
  at,
  compile,
  concat,
  type Dim,
  div,
  type Expr,
  evaluate,
  f64,
  fn,
  grad,
  mul,
  scan,
  solve,
  sparseJacobian,
  sub,
  sum,
  type Tensor,
  tensor,
  toDense,
} from '../../src/index.js'
import { root } from '../../src/solve/index.js'

/** The rates of spreading and of growth. */
export const declared = { d: f64(), r: f64() }
interface Rates {
  readonly d: Expr<[], 'f64'>
  readonly r: Expr<[], 'f64'>
}
type Field = Expr<[Dim], 'f64'>

const DX = 0.25
const DT = 0.1

/** u_xx on a line whose ends reflect. */
const laplace = (u: Field) => {
  const left = concat([at(u, '1:2'), at(u, ':-1')])
  const right = concat([at(u, '1:'), at(u, '-2:-1')])
  return div(add(sub(left, mul(2, u)), right), DX * DX)
}
/** What is 0 where u is the state one step behind `before`. */
export const residual = (u: Field, { before, d, r }: Rates & { readonly before: Field }) =>
  sub(sub(u, before), mul(DT, add(mul(d, laplace(u)), mul(r, mul(u, sub(1, u))))))

/** One step. */
const advance = (before: Field, rates: Rates) =>
  root(residual, before, { ...rates, before }, { tolerance: 1e-12, linear: { tolerance: 1e-12 } }).x

/** The population at the end of each step. */
export const masses = fn({ rates: declared, u0: f64('n') }, ({ rates, u0 }) => {
  const [, out] = scan(
    (u) => {
      const next = advance(u, rates)
      return [next, mul(DX, sum(next))]
    },
    u0,
    null,
    { length: 20 },
  )
  return out
})
/** How the last of them depends on both rates. */
export const sensitivity = compile(
  grad(
    fn({ rates: declared, u0: f64('n') }, (given) => at(masses(given), -1)),
    { wrt: 'rates' },
  ),
)

/** One step by Newton's method with the sparse Jacobian, on a dense solve. */
export const newtonStep = (u0: Tensor<[number], 'f64'>, rates: { d: number; r: number }, iterations: number) => {
  const given = { before: u0, d: tensor(rates.d), r: tensor(rates.r) }
  const f = (u: Field) => residual(u, given)
  const jacobian = compile(sparseJacobian(f))
  const value = compile(f)
  let u: Tensor<readonly number[], 'f64'> = u0
  for (let i = 0; i < iterations; i++) u = evaluate(sub(u, solve(toDense(jacobian(u)), value(u))))
  return { u, entries: jacobian(u0).values.shape[0] }
}
