// No false alarm: what is right is called right, however hard it is for finite differences.

import { afterAll, describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { deep, half, some } from '../depth.js'
import { rightFunctions as plain } from './right-functions.js'
import { hardRightFunctions } from './right-functions-hard.js'

const rightFunctions = [...plain, ...hardRightFunctions]
const started = process.cpuUsage()
afterAll(() => {
  const { user, system } = process.cpuUsage(started)
  console.info(`${rightFunctions.length} right functions: ${((user + system) / 1e6).toFixed(1)} s of CPU time`)
})

describe('the table of right functions', () => {
  it('has at least 220, by different names', () => {
    expect(new Set(rightFunctions.map((r) => r.name)).size).toBe(rightFunctions.length)
    expect(rightFunctions.length).toBeGreaterThanOrEqual(220)
  })
})

/** What takes a second and more is tried in depth. */
const long = /gamma|beta|student|dirichlet|Lorenz|logistic|tent|loop of sums|of 300|300 |converged|Hilbert|product of 200|score function/
const [slow, quick] = [true, false].map((yes) => rightFunctions.filter((r) => long.test(r.name) === yes)) as [
  typeof rightFunctions,
  typeof rightFunctions,
]
const tried = [...some(quick, 24, 60), ...(deep ? half(slow, 0) : [])]

describe('called right', () => {
  it.each(tried.map((r) => [r.name, r] as const))('%s', (_name, { f, args, options, why }) => {
    const checked = checkGrad(f, options)(...args)
    expect(checked._tag, `${why}\n${report(checked)}`).toBe('Right')
  })
})
