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
    expect(errors.map(message).join('\n')).toMatch(/Expr<\[\], "f32">' is not assignable to type 'Expr<\[3, 2\], "f32">'/)
    expect(errors.map(message).join('\n')).toMatch(/Expr<\[3, 2\], "f64">' is not assignable to type 'Expr<\[3, 2\], "f32">'/)
    expect(errors.length).toBeGreaterThan(18)
  })
  it('at most 25 % above 44987 instantiations', () => {
    expect(fixture.instantiations).toBeGreaterThan(0)
    expect(fixture.instantiations).toBeLessThan(1.25 * 44987)
  })
})
