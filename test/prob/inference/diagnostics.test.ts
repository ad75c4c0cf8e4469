/** R-hat, effective sample sizes and Monte Carlo errors: those of ArviZ 0.23.4 (diagnostics.py made the numbers). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isAdException, type Tensor, tensor } from '../../../src/index.js'
import { ess, rhat, summary, tracePlot } from '../../../src/prob/inference/index.js'

interface Golden {
  readonly name: string
  readonly x: readonly (readonly number[])[]
  readonly bulk: number
  readonly tail: number
  readonly mean: number
  readonly rhat: number
  readonly mcse: number
}
const cases = JSON.parse(readFileSync(new URL('diagnostics.json', import.meta.url), 'utf8')) as readonly Golden[]
const near = (found: number, wanted: number) => expect(Math.abs(found / wanted - 1), `${found} is not ${wanted}`).toBeLessThan(1e-9)

describe('as ArviZ', () => {
  it.each(cases)('$name', ({ x, ...wanted }) => {
    near((ess(x) as unknown as Tensor).item(), wanted.bulk)
    near((ess(x, { kind: 'tail' }) as unknown as Tensor).item(), wanted.tail)
    near((ess(x, { kind: 'mean' }) as unknown as Tensor).item(), wanted.mean)
    near((rhat(x) as unknown as Tensor).item(), wanted.rhat)
    near(summary(x).rows[0]!.mcse, wanted.mcse)
  })
})

describe('trees', () => {
  const two = tensor(
    cases[0]!.x.flatMap((row) => row.flatMap((v, i) => [v, cases[1]!.x[0]![i]!])),
    [4, 60, 2] as never,
  ) as unknown as Tensor
  it('of each element, by name', () => {
    const found = ess({ a: { b: two } }) as unknown as { readonly a: { readonly b: Tensor } }
    expect(found.a.b.shape).toEqual([2])
    near(found.a.b.data[0]!, cases[0]!.bulk)
    expect(summary({ a: { b: two }, c: cases[0]!.x }).rows.map((r) => r.name)).toEqual(['a.b[0]', 'a.b[1]', 'c'])
  })
  it('a table', () => {
    const lines = `${summary({ mu: cases[0]!.x })}`.split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/mean +sd +5 % +median +95 % +mcse +ess bulk +ess tail +r-hat$/)
    expect(lines[1]).toMatch(new RegExp(`^mu .* ${cases[0]!.rhat.toFixed(4)}$`))
  })
  it('too few draws, constant ones and NaN', () => {
    expect((ess([[1, 2, 3]]) as unknown as Tensor).item()).toBeNaN()
    expect((ess([[1, 1, 1, 1, 1, 1, 1, 1]]) as unknown as Tensor).item()).toBe(8)
    expect((rhat([[1, Number.NaN, 2, 3, 4]]) as unknown as Tensor).item()).toBeNaN()
  })
  it('refuses what has no chains and draws', () => {
    for (const given of [[1, 2, 3], { a: 'b', c: tensor(1) }]) {
      try {
        ess(given as never)
        expect.unreachable()
      } catch (e) {
        expect(isAdException(e)).toBe(true)
        expect((e as Error).message).toMatch(/chains, draws/)
      }
    }
  })
})

describe('tracePlot', () => {
  it('has a name for each element, and two lines for each chain', () => {
    const text = tracePlot({ mu: cases[0]!.x, '<tau>': cases[1]!.x })
    expect(text.match(/<polyline/g)).toHaveLength(16)
    expect(text).toContain('>mu<')
    expect(text).toContain('>&lt;tau&gt;<')
    expect(text).not.toMatch(/NaN|Infinity|undefined/)
    expect(tracePlot({ a: cases[0]!.x, b: cases[0]!.x }, { most: 1 }).match(/<polyline/g)).toHaveLength(8)
  })
  it('draws the highest draw on top, at its place in the order', () => {
    // One chain 0, 0, 1: its trace ends in the upper right corner of the second frame, which is 80 high.
    const [, trace] = tracePlot([[0, 0, 1]]).match(/points="[^"]*"/g)!
    expect(trace).toBe('points="350.0,104.0 475.0,104.0 600.0,24.0"')
  })
  it('constant draws, and draws that are not finite', () => {
    expect(tracePlot([[1, 1, 1, 1]])).not.toMatch(/NaN/)
    expect(tracePlot([[Number.NaN, Number.NaN]])).toContain('no finite draws')
  })
})
