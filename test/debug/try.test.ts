import { it } from 'vitest'
import * as cd from '../../src/index.js'
import type { AnyExpr } from '../../src/index.js'

const { compile, cpu, log, sum, mul, grad, sqrt, div, fori, scan, add, sub, cond, gt, where, exp, matmul, vmap, customRule, map } = cd as unknown as Record<string, any>
const says = (name: string, f: () => unknown) => {
  try {
    console.log(name, '->', String(f()))
  } catch (e) {
    console.log(name, '->', (e as Error).message, (e as any)._tag === 'AdException' ? '' : (e as Error).stack)
  }
}
const t = { trap: 'nan' }
it('x', () => {
  says('log', () => compile((x: any) => sum(log(sub(x, 2))), cpu(), t)([3, 1, 4]))
  says('arg', () => compile((x: any) => sum(log(x)), cpu(), t)([3, NaN, 4]))
  says('grad sqrt', () => compile(grad((x: any) => sum(mul(sqrt(mul(x, x)), 1))), cpu(), t)([3, 0, 4]))
  says('grad sqrt rev', () => compile(grad((x: any) => sum(mul(sqrt(mul(x, x)), 1)), { mode: 'reverse' }), cpu(), t)([3, 0, 4]))
  says('inf nan', () => compile((x: any) => sub(exp(x), exp(x)), cpu(), t)([1, 1000]))
  says('inf', () => compile((x: any) => sub(exp(x), 2), cpu(), { trap: 'nonFinite' })([1, 1000]))
  says('masked', () => compile((x: any) => sum(where(gt(x, 0), log(x), 0)), cpu(), t)([1, -1]))
  says('fori', () => compile((x: any) => fori(5, (_k: any, c: any) => sqrt(sub(c, 1)), x), cpu(), t)(3))
  says('scan slice', () => compile((x: any) => scan((c: any, v: any) => [add(c, log(v)), mul(c, 2)], 0, x)[1], cpu(), t)([3, 2, -1, 2, 3]))
  says('scan arg', () => compile((x: any) => scan((c: any, v: any) => [add(c, exp(v)), mul(c, 2)], 0, x)[1], cpu(), t)([3, 2, NaN, 2, 3]))
  says('grad scan', () => compile(grad((x: any) => scan((c: any, v: any) => [add(c, sqrt(mul(v, v))), null], 0, x)[0]), cpu(), t)([3, 2, 0, 2, 3]))
  says('cond', () => compile((x: any) => cond(gt(x, 0), (u: any) => log(u), (u: any) => log(mul(u, 2)), x), cpu(), t)(-1))
  says('custom', () => compile((x: any) => customRule((u: any) => log(sub(u, 1)), { frule: (u: any, du: any) => [log(u), du] })(x), cpu(), t)(-1))
  says('map', () => compile((x: any) => map((u: any) => log(sub(u, 1)), x), cpu(), t)([3, -1]))
  says('vmap grad', () => compile(vmap(grad((x: any) => sqrt(mul(x, x)))), cpu(), t)([3, 0]))
  says('matmul', () => compile((x: any) => matmul(exp(x), [[1, -1], [1, -1]]), cpu(), t)([[1, 2], [1000, 1000]]))
  says('mat2', () => compile((x: any) => matmul(mul(x, 1e300), [[1], [-1]]), cpu(), t)([[1, 2], [1e10, 1e10]]))
  says('bad', () => compile((x: any) => x, cpu(), { trap: 'NaN' } as never))
  says('bad2', () => compile((x: any) => x, cpu(), { tarp: 'nan' } as never))
})
