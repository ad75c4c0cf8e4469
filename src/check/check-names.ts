/** What is checked: the name of each check with what it says, and which of them run. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type Kind, maybe, or, readGiven } from '../core/errors/options.js'

/**
 * The checks, by name: what each compares. Any can be switched off (`{ checks: { batch: false } }`).
 *
 * @example Object.keys(checks).includes('adjoint')   // true
 */
export const checks = {
  value: "the rule's own result is the meaning's, bit for bit",
  jvp: 'the tangent is the finite difference',
  vjp: 'the cotangent is the finite difference',
  jacobian: 'every entry of the Jacobian, in both modes, is the finite difference',
  adjoint: "<yBar, J dx> = <J' yBar, dx>",
  modes: 'mixed mode gives what reverse mode gives',
  f32: 'derivatives in f32 are those of the same expression in f64',
  kink: 'where the two sides differ, the derivative lies between them, and is the declared one',
  dtype: 'a tangent has the dtype of its argument',
  shape: 'a tangent has the shape of its argument',
  tangent: 'NoTangent exactly where there is no tangent space',
  seed: 'dense, thunk, in-place thunk, zero and broadcast seeds give the same',
  thunk: 'a thunk is built at most once, and only when asked for',
  accumulate: 'addTo(acc) is acc + cotangent; repeated arguments and fan-out add up',
  mutation: 'arguments, seeds and residuals keep every bit',
  repeat: 'the same pullback gives the same again',
  linear: 'tangents and cotangents are linear; a zero tangent gives exact zeros',
  'second order': 'forward over reverse, reverse over reverse and differences of the gradient agree; the Hessian is symmetric',
  'higher order': 'derivatives of order 3 and 4 are differences of those one order below, where `order` asks for them',
  estimate: 'the mean of an estimate over keys is the derivative of the mean, within five standard errors',
  batch: 'vmap is the stack of single results',
  sizes: 'values and first derivatives are right at other sizes and ranks that the shape rule takes',
  commute: 'grad of vmap is vmap of grad',
  trace: 'the function is called once, not once for each entry, and gives the same expression each time',
  activity: 'the cotangents of some arguments are those of all, and the others cost nothing',
  'non-finite':
    'masked elements do not affect the result; a zero seed at an infinite partial gives zero, and an infinite seed gives the same in both modes',
  jet: 'Taylor mode gives what forward mode within itself gives, to the fourth order',
  sparse: 'sparse Jacobians and Hessians hold every entry, and the right ones',
  wrapped: 'within checkpoint nothing changes; behind stopGradient nothing moves, and all else does',
  'not implemented': 'what depends on a derivative that is not known says so, and is never 0 or a number',
  backend: "the backend gives what the reference gives, also into and added to the caller's arrays",
  beside: 'at points beside the given one, and in f32, first derivatives are right too',
  expected: 'the derivative is the one that its author expects',
  budget: 'calls, kernels and memory are within the budget',
  registry: 'every primitive has its rules and kernels',
  raises: 'nothing raises an error',
  inconclusive: 'what finite differences cannot decide is a finding; without it they are only counted',
} as const
/** The name of a check. */
export type CheckName = keyof typeof checks
/** Which checks run. */
export type Switches = { readonly [K in CheckName]?: boolean }

export const switchOptions = Object.fromEntries(Object.keys(checks).map((name) => [name, maybe])) as {
  readonly [K in CheckName]: typeof maybe
}
/** The option that switches checks on or off. */
export const switches: Kind<Switches | undefined, Switches> = or<Switches, undefined>(undefined, (given, what, where) =>
  readGiven(switchOptions, given, `${where}: ${what}`),
)
/** The option of an order among these. */
export const orders = <const N extends number>(...all: readonly N[]): Kind<N | undefined, N> =>
  or<N, undefined>(undefined, (given, what, where) =>
    all.includes(given as N)
      ? (given as N)
      : badInput(where, `${what} is ${shown(given)}.`, `give ${all.join(', ').replace(/, (?=\d$)/, ' or ')}.`),
  )
