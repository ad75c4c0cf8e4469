// Optimisers in types: a fixture that compiles, its wrong twins, and what the checking of it costs.
import { describe, expect, it } from 'vitest'
import { compile, lineOf, listed, message, textOf } from './harness.js'

describe('optimisers', () => {
  const fixture = compile('optim')
  it('optim.ts compiles, and each @ts-expect-error in it is needed', () => {
    expect(listed(fixture.errors)).toEqual([])
  })
  it('wrong twins say what is wrong, each at its line', () => {
    const text = textOf('optim').replaceAll('@ts-expect-error', 'expected')
    const { errors } = compile('optim', text)
    const expected = text.split('\n').flatMap((line, i) => (line.includes('// expected at') ? [i + 1] : []))
    expect([...new Set(errors.map(lineOf))]).toEqual(expected)
    const says = errors.map(message).join('\n')
    for (const part of [
      "Property 'velocity' is missing",
      "'b' does not exist",
      "'rate' does not exist",
      "Property 'learningRate' is missing",
    ])
      expect(says).toContain(part)
  })
  it('at most 25 % above 19729 instantiations', () => {
    expect(fixture.instantiations).toBeGreaterThan(0)
    expect(fixture.instantiations).toBeLessThan(1.25 * 19729)
  })
})
