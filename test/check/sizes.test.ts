/** Which other sizes a sample is tried at: found from shape rules alone. */
import { describe, expect, it } from 'vitest'
import { rankedSamples, resizedSamples } from '../../src/check/sizes.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { primitive } from '../../src/core/graph/primitive.js'
import { coreRegistry } from '../../src/packs/all.js'

const of = (name: string): AnyPrimitive => coreRegistry.rules.get(name)!.primitive
const shapes = (name: string, sample = 0): readonly (readonly (readonly number[])[])[] =>
  resizedSamples(of(name), of(name).samples[sample]!).map((r) => r.sample.args.map((a) => a.shape))

describe('other sizes of a sample', () => {
  it('cover 0, 1, 2, 3 and 7 of each axis, and axes that go together do', () => {
    const made = [of('matmul').samples[0]!.args.map((a) => a.shape), ...shapes('matmul')]
    for (const at of [
      (s: (typeof made)[number]) => s[0]![0]!,
      (s: (typeof made)[number]) => s[0]![1]!,
      (s: (typeof made)[number]) => s[1]![1]!,
    ])
      expect([...new Set(made.map(at))].sort()).toEqual(expect.arrayContaining([0, 1, 2, 3, 7]))
    for (const [a, b] of made) expect(a![1]).toBe(b![0])
  })
  it('keep matrices square where they must be', () => {
    expect(shapes('eigh').map(([s]) => s![0] === s![1])).not.toContain(false)
    expect(shapes('eigh').map(([s]) => s![0])).toEqual(expect.arrayContaining([0, 1, 2, 7]))
  })
  it('change the numbers among the parameters that go with them', () => {
    const [first] = resizedSamples(of('scan'), of('scan').samples[0]!)
    expect((first!.sample.params as { readonly length: number }).length).toBe(first!.sample.args[1]!.shape[0])
    for (const { sample } of resizedSamples(of('reshape'), of('reshape').samples[0]!)) {
      const { shape } = sample.params as { readonly shape: readonly number[] }
      expect(shape.reduce((n, d) => n * d, 1)).toBe(sample.args[0]!.shape.reduce((n, d) => n * d, 1))
    }
  })
  it('are none where the shape rule takes no other', () => {
    const pairs = primitive({
      name: 'pairs',
      family: 'mine',
      args: ['float'],
      shapeRule: ([x]) => (x!.shape.join() === '2' ? x! : of('solve').shapeRule([x!, x!], {})) as never,
      meaning: ([x], _params, [y]) => y!.data.set(x!.data),
      samples: [{ args: [{ shape: [2] }], params: {} }],
      source: 'definition',
    })
    expect(resizedSamples(pairs as AnyPrimitive, pairs.samples[0]!)).toEqual([])
  })
  it('have indices of every rank', () => {
    const ranks = rankedSamples(of('setAt'), of('setAt').samples[0]!).map((r) => r.sample.args[1]!.shape.length)
    expect([1, ...ranks].sort()).toEqual([0, 1, 2, 3])
  })
})
