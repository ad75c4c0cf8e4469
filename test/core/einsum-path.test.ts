// einsum's order of contractions: as cheap as opt_einsum's, and the same sums in any order.
import { describe, expect, it } from 'vitest'
import { checkGrad, random, report } from '../../src/check/index.js'
import { type AnyExpr, einsum, einsumPath, evaluate, ones, type Tensor, tensor } from '../../src/index.js'

type Case = readonly [spec: string, shapes: readonly (readonly number[])[], flops: number]
/** Costs that opt_einsum 3.4 has for 'optimal'; for ten operands what 'greedy' has. */
const cases: readonly Case[] = [
  ['ij,jk,kl->il', [[2, 30], [30, 4], [4, 50]], 1280],
  ['ab,bc,cd,de->ae', [[10, 2], [2, 30], [30, 3], [3, 20]], 1400],
  ['ea,fb,abcd,gc,hd->efgh', [[5, 6], [5, 6], [6, 6, 6, 6], [5, 6], [5, 6]], 40_260],
  ['ij,jk,ki->', [[4, 5], [5, 6], [6, 4]], 280],
  ['bij,bjk,bk->bi', [[3, 4, 5], [3, 5, 6], [3, 6]], 300],
  ['i,j,k->ijk', [[2], [3], [4]], 30],
  ['abc,cde,efg,gh,ha->bdf', [[3, 4, 5], [5, 4, 3], [3, 2, 5], [5, 6], [6, 3]], 2040],
  ['ab,bc,cd,de,ef,fg,gh,hi,ij,jk->ak', [[8, 2], [2, 9], [9, 3], [3, 8], [8, 2], [2, 7], [7, 4], [4, 6], [6, 5], [5, 3]], 908],
] // biome-ignore format: rows of a table

const next = random(3)
const drawn = (shape: readonly number[]): Tensor =>
  tensor(
    Float64Array.from({ length: shape.reduce((a, d) => a * d, 1) }, () => 2 * next() - 1),
    shape,
  ) as Tensor
/** The sum written out: every index, one after the other. */
const byLoops = (spec: string, xs: readonly Tensor[]): number[] => {
  const [inputs, output] = spec.split('->') as [string, string]
  const terms = inputs.split(',')
  const sizes = new Map(terms.flatMap((t, i) => [...t].map((l, axis) => [l, xs[i]!.shape[axis]!] as const)))
  const letters = [...output, ...[...sizes.keys()].filter((l) => !output.includes(l))]
  const flat = (labels: string, at: ReadonlyMap<string, number>): number => [...labels].reduce((f, l) => f * sizes.get(l)! + at.get(l)!, 0)
  const y = new Array<number>([...output].reduce((n, l) => n * sizes.get(l)!, 1)).fill(0)
  const at = new Map<string, number>()
  const visit = (k: number): void => {
    if (k < letters.length) {
      for (let i = 0; i < sizes.get(letters[k]!)!; i++) {
        at.set(letters[k]!, i)
        visit(k + 1)
      }
    } else y[flat(output, at)]! += terms.reduce((p, t, i) => p * xs[i]!.data[flat(t, at)]!, 1)
  }
  visit(0)
  return y
}
const near = (y: Tensor, want: readonly number[]): void => {
  for (const [i, v] of want.entries()) expect(y.data[i]).toBeCloseTo(v, 12)
}
const many = einsum as unknown as (spec: string, ...xs: readonly unknown[]) => AnyExpr

describe('einsum in a good order', () => {
  it.each(cases)('%s costs what opt_einsum finds', (spec, shapes, flops) => {
    const found = einsumPath(spec, ...shapes.map((s) => ones(s)))
    expect(found.flops).toBe(flops)
    expect(found.path.length).toBe(shapes.length - 1)
  })
  it.each(cases.slice(0, 7))('%s is the sum over every index', (spec, shapes) => {
    const xs = shapes.map((s) => drawn(s.map((d) => Math.min(d, 3))))
    const y = (evaluate as (x: unknown) => Tensor)(many(spec, ...xs))
    near(y, byLoops(spec, xs))
  })
  it('of letters in one operand alone, of one operand, and of diagonals', () => {
    const x = drawn([3, 3])
    const y = drawn([3, 2])
    const z = drawn([2, 4])
    for (const [spec, xs] of [['ab,cd,de->c', [x, y, z]], ['ij->', [x]]] as const) // biome-ignore format: one row
      near((evaluate as (e: unknown) => Tensor)(many(spec, ...xs)), byLoops(spec, xs))
    const traced = (evaluate as (e: unknown) => Tensor)(many('ii,ij,jk->k', x, y, z))
    const diagonal = tensor([x.data[0]!, x.data[4]!, x.data[8]!])
    near(traced, byLoops('i,ij,jk->k', [diagonal as Tensor, y, z]))
    expect(einsumPath('ij->', ones([2, 2]))).toEqual({ path: [], flops: 0, largest: 0 })
  })
  it('has right derivatives', () => {
    const xs = [[2, 3], [3, 4], [4, 2]].map((s) => drawn(s)) as never // biome-ignore format: one row
    const f = (a: AnyExpr, b: AnyExpr, c: AnyExpr) => many('ij,jk,kl->il', a, b, c)
    expect(report(checkGrad(f)(...(xs as [never, never, never])))).toMatch(/^ok/)
  })
  it('of many operands is found at once', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR']
    const spec = `${letters.slice(1).map((l, i) => `${letters[i]}${l}`).join(',')}->${letters[0]}${letters.at(-1)}` // biome-ignore format: one row
    const start = performance.now()
    expect(einsumPath(spec, ...letters.slice(1).map(() => ones([2, 2]))).path.length).toBe(42)
    expect(performance.now() - start).toBeLessThan(2000)
  })
  it('names itself in errors', () => {
    expect(() => einsumPath('ij,jk', ones([2, 3]))).toThrow(/einsumPath/)
    expect(() => einsumPath('i->i', ones([2, 3]))).toThrow(/einsumPath/)
  })
})
