import { test } from 'vitest'
import { square, sum, type AnyExpr } from '../../src/index.js'
import { minimize } from '../../src/minimize/index.js'
import { mgh, residualsOf } from './mgh.js'
test('trace', () => {
  for (const [name, bd] of [['meyer', 1], ['powellBadlyScaled', 1]] as const) {
    const p = mgh.find((q) => q.name === name)!
    const f = (x: any) => sum(square(residualsOf(p)(x as AnyExpr))) as AnyExpr
    let last = -1
    const out: string[] = []
    let prev = NaN
    const r = minimize(f as any, [...p.start], { tolerance: 1e-10, ...(bd ? { bounds: { lower: p.bounded.lower, upper: p.bounded.upper } as any } : {}), onStep: ({ step, value, gradient }: any) => { out.push(`${step} ${value} ${((prev - value)/value).toExponential(1)} ${gradient.toExponential(2)}`); prev = value } })
    console.log(name, r.reason, JSON.stringify(r.evaluations), '\n' + out.slice(-45).join('\n'))
  }
})
