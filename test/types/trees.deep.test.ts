// Trees in types: a fixture that compiles, its wrong twins, and what the checking of it costs.
import { describe, expect, it } from 'vitest'
import { compile, listed, message, textOf } from './harness.js'

describe('trees', () => {
  const fixture = compile('trees')
  it('trees.ts compiles, and each @ts-expect-error in it is needed', () => {
    expect(listed(fixture.errors)).toEqual([])
  })
  it('a wrong twin is an error that names what differs', () => {
    const { errors } = compile('trees', textOf('trees').replaceAll('@ts-expect-error', 'expected'))
    expect(errors.map(message).join('\n')).toMatch(
      /'w\.shape' are incompatible[^\n]*\n *Type 'readonly \[\]' is not assignable to type 'readonly \[3, 2\]'/,
    )
    expect(errors.map(message).join('\n')).toMatch(/'w\.dtype' are incompatible[^\n]*\n *Type '"f64"' is not assignable to type '"f32"'/)
    expect(errors.length).toBeGreaterThan(18)
  })
  it('at most 25 % above 44987 instantiations', () => {
    expect(fixture.instantiations).toBeGreaterThan(0)
    expect(fixture.instantiations).toBeLessThan(1.25 * 44987)
  })
})
