/**
 * Solvers: linear systems, roots, fixed points and differential equations, with derivatives by what the solution satisfies. Written with the
 * public interface of codual alone: each is a custom rule, or a loop.
 */
export { type OdeEvent, type OdeEventOptions, odeEvent } from './events.js'
export { type FixedPointOptions, fixedPoint } from './fixed-point.js'
export { type LinearSolveFn, type LinearSolveOptions, linearSolve, type Solution } from './linear.js'
export { type AtTimes, type OdeOptions, odeint, type Trajectory } from './odeint.js'
export { type RootOptions, root } from './root.js'
export { rodas5P } from './rosenbrock.js'
export type { OdeMethod } from './runge-kutta.js'
export { type SdeOptions, sdeint } from './sde.js'
export type { ArrayTree, NumberLists, Unknowns } from './vectors.js'
