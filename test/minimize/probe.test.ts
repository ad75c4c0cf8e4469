import { expect, test } from 'vitest'
import { square, sum, tensor, evaluate, type AnyExpr } from '../../src/index.js'
import { minimize, leastSquares } from '../../src/minimize/index.js'
import { mgh, residualsOf } from './mgh.js'
test('residuals', () => {
  const bad: string[] = []
  for (const p of mgh) {
    try {
      const r = Array.from((evaluate(residualsOf(p)(tensor([...p.start]) as unknown as AnyExpr)) as any).data as Float64Array)
      const d = Math.max(...r.map((v, i) => Math.abs(v - p.residuals[i]!) / Math.max(1, Math.abs(p.residuals[i]!))))
      if (!(d <= 1e-12) || r.length !== p.residuals.length) bad.push(`${p.name} ${d} ${r.length} ${p.residuals.length}`)
    } catch (e) { bad.push(`${p.name} ${(e as Error).message}`) }
  }
  console.log(bad.join('\n'))
})
test('run', () => {
  const out: string[] = []
  const tot = { lb: [0, 0], nt: [0, 0], np: [0, 0], ls: [0, 0], bd: [0, 0] }
  for (const p of mgh) {
    const f = (x: any) => sum(square(residualsOf(p)(x as AnyExpr))) as AnyExpr
    const row = [p.name.padEnd(22)]
    const go = (k: string, g: () => any, s: any, val: (r: any) => number, ev: (r: any) => string) => {
      try { const r = g(); const v = val(r)
        const worse = v > s.value * (1 + 1e-8) + 1e-12 ? ' WORSE' : v < s.value * (1 - 1e-8) - 1e-12 ? ' better' : ''
        row.push(`| ${k} ${v.toPrecision(8)} (${s.value.toPrecision(8)})${worse} ${r.reason} ${ev(r)} (${s.evaluations})`) } catch (e) { row.push(`| ${k} ${(e as Error).message.slice(0, 150)}`) }
    }
    go('LB', () => minimize(f as any, [...p.start], { tolerance: 1e-10 }), p.lbfgs, (r) => r.value, (r) => { tot.lb[0]! += r.evaluations.gradients; tot.lb[1]! += p.lbfgs.evaluations; return `${r.evaluations.gradients}` })
    go('NT', () => minimize(f as any, [...p.start], { tolerance: 1e-10, method: 'newton' }), p.newton, (r) => r.value, (r) => { tot.nt[0]! += r.evaluations.gradients; tot.nt[1]! += p.newton.evaluations; tot.np[0]! += r.evaluations.products; tot.np[1]! += p.newton.products; return `${r.evaluations.gradients}+${r.evaluations.products}(${p.newton.products})` })
    go('LS', () => leastSquares(((x: any) => residualsOf(p)(x)) as any, [...p.start]), p.leastsq, (r) => 2 * r.value, (r) => { tot.ls[0]! += r.evaluations.residuals; tot.ls[1]! += p.leastsq.evaluations; return `${r.evaluations.residuals}+${r.evaluations.jacobians}(${p.leastsq.jacobians})` })
    go('BD', () => minimize(f as any, [...p.start], { tolerance: 1e-10, bounds: { lower: p.bounded.lower, upper: p.bounded.upper } as any }), p.bounded, (r) => r.value, (r) => { tot.bd[0]! += r.evaluations.gradients; tot.bd[1]! += p.bounded.evaluations; return `${r.evaluations.gradients}` })
    out.push(row.join(' '))
  }
  console.log(out.join('\n')); console.log(JSON.stringify(tot))
}, 600000)
