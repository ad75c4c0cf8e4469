// No false alarm: what is right is called right, however hard it is for finite differences.
import { afterAll, describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
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

describe('called right', () => {
  it.each(rightFunctions.map((r) => [r.name, r] as const))('%s', (_name, { f, args, options, why }) => {
    const checked = checkGrad(f, options)(...args)
    expect(checked._tag, `${why}\n${report(checked)}`).toBe('Right')
  })
})
