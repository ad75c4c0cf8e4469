import { expect, it } from 'vitest'
import { checkRule, report } from '../../src/check/index.js'
import { scatterReducePrimitive } from '../../src/core/ops/indexing-fold.js'
import { cummaxPrimitive, cumminPrimitive } from '../../src/core/ops/scans.js'
import * as cd from '../../src/index.js'
it('rules', () => {
  for (const p of [cummaxPrimitive, cumminPrimitive, scatterReducePrimitive]) {
    const r = checkRule(p as never)
    console.log(report(r).slice(0, 1500))
  }
})
const c = cd as any
const s = (x: any) => JSON.stringify(Array.isArray(x) ? x.map((y: any) => c.evaluate(y).toArray()) : x?._tag ? c.evaluate(x).toArray() : Object.fromEntries(Object.entries(x).map(([k, v]: any) => [k, c.evaluate(v).toArray()])))
it('values', () => {
  const t = (d: any, ...r: any[]) => c.tensor(d, ...r)
  for (const [k, f] of Object.entries({
    a: () => c.quantile([1, 2, 4, 8], 0.5), b: () => c.median([3, 1, 4, 2]), c: () => c.unique([3, 1, 3], { size: 2 }),
    d: () => c.nanquantile([1, NaN, 3], 0.5), e: () => c.histogram([1, 2, 2, 5], { bins: 2, range: [0, 4] }), f: () => c.nonzero([0, 5, 0, 7], { size: 3, fill: -1 }),
    g: () => c.fmod([7, -7], 3), h: () => c.fmod(t([7, -7], [2], 'i32'), 3), i: () => c.floorDivide(t([7, -7], [2], 'i32'), 2), j: () => c.floorDivide(1, 0.1),
    k: () => c.signbit([-1, 0, -0]), l: () => c.correlate([1, 2, 3], [1, 10]), m: () => c.convolve([1, 2, 3], [1, 10]), n: () => c.gradient(t([1, 4, 9, 16])),
    o: () => c.interp([0.5, 9], [0, 1, 2], [0, 10, 40]), p: () => c.polyval([1, 0, -2], [2, 3]), q: () => c.cov([[1, 2, 3], [1, 0, 2]]), r: () => c.segmentProd(t([2, 3, 4]), [0, 0, 1], 2),
    s: () => c.piecewise(t([-2, 3]), [[true, false]], [0, (x: any) => c.mul(x, x)]), t: () => c.putAlongAxis(t([[1, 2], [3, 4]]), [[1], [0]], 9), u: () => c.repeat(t([1, 2]), t([2, 1], [2], 'i32'), { totalLength: 4 }),
    v: () => c.block([[c.eye(2), c.zeros([2, 1])], [c.ones([1, 2]), c.full([1, 1], 5)]]), w: () => c.lexsort([[1, 0, 2], [5, 5, 4]]), x: () => c.pad(t([1, 2, 3]), [[2, 1]], { mode: 'reflect' }),
    y: () => c.mulAt(t([1, 5, 3]), [[0, 0]], [2, 3]), z: () => c.booleanMask(t([1, 2, 3]), [true, false, true], { size: 3 }), aa: () => c.arange(7, 1, -2), ab: () => c.rot90([[1, 2], [3, 4]]),
    ac: () => c.nanmax([1, NaN, 3]), ad: () => c.nanstd([1, NaN, 3]), ae: () => c.isclose([1, 2], [1.000001, 2.1]), af: () => c.corrcoef([[1, 2, 3], [1, 0, 2]]), ag: () => c.geomspace(1, 8, 4),
  })) { try { console.log(k, s(f())) } catch (e) { console.log(k, 'ERR', (e as Error).message.slice(0, 200)) } }
})
