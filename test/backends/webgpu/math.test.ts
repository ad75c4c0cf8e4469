/** The scalar functions on lavapipe, and how their texts are put together. */
import { describe, expect, it } from 'vitest'
import { compareKernels } from '../../../src/backends/webgpu/compare.js'
import { elementwiseKernels } from '../../../src/backends/webgpu/elementwise.js'
import { functions, library, preludeOf } from '../../../src/backends/webgpu/wgsl/library.js'
import { quotients } from '../../../src/backends/webgpu/wgsl/quotients.js'
import { compare, elementwise } from '../../../src/core/ops/families.js'
import { loosened, withCalls } from './loose.js'
import { mathSuite } from './math-suite.js'

mathSuite('lavapipe')

describe('the library', () => {
  it('has a row for every primitive', () => {
    expect(Object.keys(elementwiseKernels).sort()).toEqual(Object.keys(elementwise).sort())
    expect(Object.keys(compareKernels).sort()).toEqual(Object.keys(compare).sort())
  })
  it('knows every name that its functions call, and declares each under its own name', () => {
    for (const [name, { source, uses }] of Object.entries(functions)) {
      expect(source, name).toMatch(new RegExp(`^(fn|const|override|var<private>) ${name}\\b`))
      for (const used of uses) expect(Object.keys(functions), name).toContain(used)
    }
  })
  it('calls no transcendental function of the driver', () => {
    const drivers =
      /(?<![\w.])(exp2?|log2?|pow|a?sinh?|a?cosh?|a?tanh?|atan2|inverseSqrt|fma|mix|fract|modf|frexp|ldexp|length|normalize)\s*\(/
    for (const [name, { source }] of Object.entries(functions)) expect(source, name).not.toMatch(drivers)
  })
  it('divides and takes roots by functions of its own', () => {
    for (const [name, { source }] of Object.entries(functions))
      if (!(name in quotients)) expect([withCalls(source, 'quotient'), /\bsqrt\(/.test(source)], name).toEqual([source, false])
    expect(loosened('let y = sqrt(-a * b / (c + d).x) / f(x)[1];')).toContain(
      'let y = loose_div(loose_sqrt(loose_div(-a * b, (c + d).x)), f(x)[1]);',
    )
  })
  it('gives the text of what a kernel calls, each function once and after those it calls', () => {
    const text = preludeOf('let y = cd_tanh(x) + cd_sinh(x);')
    const names = [...text.matchAll(/^(?:fn|const|override|var<private>) (\w+)/gm)].map((m) => m[1]!)
    expect(new Set(names).size).toBe(names.length)
    for (const [i, name] of names.entries())
      for (const used of functions[name]!.uses) expect(names.indexOf(used), `${used} before ${name}`).toBeLessThan(i)
    expect(names).toContain('cd_tanh')
    expect(names).not.toContain('cd_sin')
    expect(library([])).toBe('')
  })
})
