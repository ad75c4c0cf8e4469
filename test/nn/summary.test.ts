/** Summaries: rows in order, and operations that are counted once, whoever runs the layers. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, f32, mul, relu, tanh } from '../../src/index.js'
import * as nn from '../../src/nn/index.js'

const x = f32(4, 3)
const totalOf = (layer: nn.AnyLayer): string => nn.summary(layer, x).split('\n').at(-1)!.trim().split(/\s+/).at(-1)!
const flops = (layer: nn.AnyLayer, path: string): number | undefined => nn.summaryOf(layer, x).find((r) => r.path === path)!.flops

const [first, second] = [nn.dense(3, 8), nn.dense(8, 2)]
const inner = nn.sequential(first, tanh, second)
/** What `inner` is, as a layer of one's own that hands on what it is told. */
const handing: nn.AnyLayer = {
  declared: inner.declared,
  init: inner.init,
  apply: (p: never, x: never, run: never) => inner.apply(p, x, run),
}
/** The same with parts that are named, and run without telling. */
const naming: nn.AnyLayer = {
  kind: 'naming',
  parts: { first, second },
  declared: { first: first.declared, second: second.declared },
  init: (key) => ({ first: first.init(key), second: second.init(key) }),
  apply: (p: never, x: never) => {
    const { first: a, second: b } = p as { first: never; second: never }
    return second.apply(b, tanh(first.apply(a, x)) as never)
  },
}

describe('summary', () => {
  it('has no count for a composition, whose parts have theirs', () => {
    expect(nn.summaryOf(inner, x).map((r) => [r.path, r.kind, r.flops === undefined])).toEqual([
      ['0', 'dense', false],
      ['1', 'tanh', false],
      ['2', 'dense', false],
      ['', 'sequential', true],
    ])
  })
  it.each([
    ['alone', (l: nn.AnyLayer) => l],
    ['in a composition', (l: nn.AnyLayer) => nn.sequential(l as never, relu)],
    ['in compositions', (l: nn.AnyLayer) => nn.residual(nn.sequential({ a: l as never, b: nn.dense(2, 3) }))],
  ])('counts the operations of a layer of one’s own once: %s', (_, around) => {
    const sum = (rows: readonly nn.SummaryRow[]): number => rows.reduce((n, r) => n + (r.flops ?? 0), 0)
    const known = sum(nn.summaryOf(around(inner), x))
    expect(known).toBeGreaterThan(2 * 4 * (3 * 8 + 8 * 2))
    for (const layer of [inner, handing, naming]) expect(Number(totalOf(around(layer)).replaceAll(',', ''))).toBe(known)
  })
  it('shows the parts of a layer that hands on what it is told, and its own count with theirs in it', () => {
    const model = nn.sequential({ own: handing as never, last: relu })
    expect(nn.summaryOf(model, x).map((r) => r.path)).toEqual(['own.0', 'own.1', 'own.2', 'own', 'last', ''])
    expect(flops(model, 'own')).toBe(['own.0', 'own.1', 'own.2'].reduce((n, path) => n + flops(model, path)!, 0))
  })
  const named = (layer: nn.AnyLayer) => nn.summaryOf(layer, x).map((r) => [r.path, r.kind, r.parameters])
  it('lists the parts that a layer of one’s own names and runs by itself, and counts its operations', () => {
    expect(named(naming)).toEqual([['first', 'dense', 32], ['second', 'dense', 18], ['', 'naming', 50]]) // biome-ignore format: a table
    expect(flops(naming, '')).toBeGreaterThan(0)
    expect(nn.summaryOf(naming, x)[0]).toMatchObject({ shape: undefined, dtype: undefined, flops: undefined })
  })
  it('lists what a layer of one’s own declares', () => {
    const own: nn.AnyLayer = { declared: { ...naming.declared as object, scale: f32(2), none: null }, init: () => null, apply: naming.apply } // biome-ignore format: one line
    expect(named(own)).toEqual([['first', 'parameters', 32], ['second', 'parameters', 18], ['scale', 'parameter', 2], ['', 'layer', 52]]) // biome-ignore format: a table
    const model = nn.sequential({ own: own as never, last: relu })
    expect(named(model).map(([path]) => path)).toEqual(['own.first', 'own.second', 'own.scale', 'own', 'last', ''])
    expect(named(model).at(-1)).toEqual(['', 'sequential', 52])
    expect(nn.summary(model, x).split('\n')[2]).toMatch(/^own\.first +parameters +32$/)
    const one: nn.AnyLayer = { declared: f32(3), init: () => null, apply: (p: never, v: never) => mul(p, v) }
    expect(named(one)).toEqual([['', 'layer', 3]])
    expect(named({ ...one, declared: null, apply: (_: never, v: never) => v })).toEqual([['', 'layer', 0]])
  })
  it('an input with no sizes is an error', () => {
    expect(() => nn.summary(inner, f32('n', 3) as never)).toThrow(/the input has no sizes/)
    const untyped = (x: AnyExpr): AnyExpr => x
    expect(nn.summaryOf(nn.sequential(untyped, relu), x).map((r) => r.kind)).toEqual(['untyped', 'relu', 'sequential'])
  })
})
