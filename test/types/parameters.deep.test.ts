// Code generic in its sizes: every operation is called where something is a type parameter, and what it gives goes on.
import { describe, expect, it } from 'vitest'
import { compile, listed } from './harness.js'
import { programOf, SETTINGS } from './parameters/program.js'

/** Those that did not compile before; versions.deep.test.ts compiles all of them in every setting, and goes on further. */
const SOME = ['concat', 'stack', 'split', 'vdot', 'slogdet', 'einsum', 'mseLoss', 'at', 'set', 'solve', 'conv']

describe('calls under type parameters', () => {
  it('compile, and so does what goes on with their results', () => {
    const text = programOf('../../../src/index.js', SETTINGS.slice(0, 1), SOME, ['cd.add(y, y)'])
    expect(listed(compile('generated', text).errors)).toEqual([])
  })
  it('of which one is wrong are seen', () => {
    const text = programOf('../../../src/index.js', SETTINGS.slice(0, 1), ['einsum', 'exp']).replace('cd.exp(v)', 'cd.matmul(m, m)')
    expect(compile('generated', text).errors.length).toBeGreaterThan(0)
  })
})
