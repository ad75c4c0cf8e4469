// No false alarm: what is right is called right, however hard it is for finite differences.
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { rightFunctions } from './right-functions.js'

describe('the table of right functions', () => {
  it('has more than a hundred, by different names', () => {
    expect(new Set(rightFunctions.map((r) => r.name)).size).toBe(rightFunctions.length)
    expect(rightFunctions.length).toBeGreaterThan(100)
  })
})

describe('called right', () => {
  it.each(rightFunctions.map((r) => [r.name, r] as const))('%s', (_name, { f, args, options, why }) => {
    const checked = checkGrad(f, options)(...args)
    expect(checked._tag, `${why}\n${report(checked)}`).toBe('Right')
  })
})
