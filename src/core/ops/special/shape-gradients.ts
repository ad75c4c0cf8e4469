/** The derivatives of special functions by their shape parameters as primitives: what the rules of `gammainc`, `gammaincc`, `betainc` and `zeta` are made of. */
import { elementwisePrimitive } from '../lifted.js'
import * as slopes from './by-shape.js'
import { zetaGradS } from './gamma.js'

const family = 'special'
const pair = ['float', 'float'] as const
const triple = ['float', 'float', 'float'] as const
// Those of the functions, so that differences are as smooth.
const shapes = {
  domain: [
    [3.1, 4.5],
    [3.1, 4],
    [0.15, 0.85],
  ],
  extremes: [0, 1],
  cost: 600,
  unbounded: true,
  source: 'DLMF 8.17.8, 8.17.22',
} as const

/** dP/da (a, x), JAX's igamma_grad_a: never positive; at a = 0 its limit -E_1(x), 0 at x = 0 and Infinity. Error 1e-13. */
export const gammaincGradAPrimitive = elementwisePrimitive(pair, {
  name: 'gammaincGradA',
  family,
  scalar: (a, x) => slopes.gammaincGradA(a!, x!),
  // Shapes of which it is smooth at 0 too.
  domain: [
    [3.1, 5],
    [0.4, 6],
  ],
  extremes: [0, 50],
  cost: 400,
  unbounded: true,
  source: 'DLMF 8.7.1, 8.9.2, 8.12.3',
})
/** dI/da (a, b, x): never positive; 0 at x = 0 and 1. Error 1e-13. */
export const betaincGradAPrimitive = elementwisePrimitive(triple, {
  name: 'betaincGradA',
  family,
  scalar: (a, b, x) => slopes.betaincGradA(a!, b!, x!),
  ...shapes,
})
/** dI/db (a, b, x): never negative; 0 at x = 0 and 1. -dI/da at (b, a, 1 - x), without rounding 1 - x. Error 1e-13. */
export const betaincGradBPrimitive = elementwisePrimitive(triple, {
  name: 'betaincGradB',
  family,
  scalar: (a, b, x) => slopes.betaincGradB(a!, b!, x!),
  ...shapes,
})
/** dzeta/ds (s, q), for s > 1 and q > 0: NaN below q = 0, where zeta is of integers s alone. Error 1e-13. */
export const zetaGradSPrimitive = elementwisePrimitive(pair, {
  name: 'zetaGradS',
  family,
  scalar: (s, q) => zetaGradS(s!, q!),
  domain: [
    [1.5, 5],
    [0.6, 4],
  ],
  extremes: [1, 20],
  cost: 300,
  unbounded: true,
  source: 'DLMF 25.11.1',
})
