/** The distributions by name, for tables of tests: each made of a list of parameters. */

import { readFileSync } from 'node:fs'
import type { AnyExpr } from '../../src/index.js'
import type { Distribution } from '../../src/prob/index.js'
import * as prob from '../../src/prob/index.js'

type Parameter = AnyExpr | number
export const makers: Readonly<Record<string, (...p: readonly Parameter[]) => Distribution>> = prob as never

type Number_ = number | 'Infinity' | '-Infinity' | null
/** What SciPy and mpmath computed of a distribution with these parameters. */
export interface Row {
  readonly name: string
  readonly params: readonly number[]
  readonly x: readonly number[]
  readonly logProb: readonly number[]
  readonly dx: readonly (number | null)[]
  readonly dp: readonly (readonly (number | null)[])[]
  readonly cdf?: readonly number[]
  readonly logSurvival?: readonly Number_[]
  readonly q?: readonly number[]
  readonly icdf?: readonly number[]
  readonly mean?: Number_
  readonly variance?: Number_
  readonly entropy?: number
}
export const golden = JSON.parse(readFileSync(new URL('golden.json', import.meta.url), 'utf8')) as {
  readonly rows: readonly Row[]
  readonly tails: readonly Row[]
  readonly vectors: Readonly<Record<string, Readonly<Record<string, never>>>>
}
export const label = (r: Row): string => `${r.name}(${r.params.join(', ')})`
/** Rows of whole numbers have no derivatives by x. */
export const isDiscrete = (r: Row): boolean => r.dx[0] === null && r.dx.length > 0 && makers[r.name]!(...r.params).dtype === 'i32'
