// Transformer blocks and stacks: PyTorch's numbers and gradients, LLaMA's by definition, caches, plans, junk.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'
import { key } from '../../src/random/index.js'
import { against } from './against-torch.js'

const { evaluate, tensor } = cd
type X = cd.Tensor<readonly [...number[], number], 'f32'>
const wave = (shape: readonly number[], k = 0): X =>
  tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1 + k + 3 * i)),
    shape as number[],
    'f32',
  ) as never
const close = (a: unknown, b: unknown, size = 1) =>
  expect(cd.treeAllClose(evaluate(a as never), evaluate(b as never), { rtol: 1e-4 * size, atol: 1e-5 * size })).toBe(true)
const values = (t: unknown): readonly number[] => [...(evaluate(t as cd.AnyExpr) as cd.Tensor).data].map(Number)
type Made = nn.TransformerBlock<number, 'f32', true, 'layer', false, false>
type Stack = nn.Transformer<number, number, 'f32', true, 'layer', false, false>
const block = (f: number, heads: number, o?: nn.TransformerBlockOptions): Made => nn.transformerBlock(f, heads, o as object) as never
const stack = (f: number, heads: number, n: number, o?: nn.TransformerOptions): Stack => nn.transformer(f, heads, n, o as object) as never

describe('as PyTorch, and by definition', () => {
  against('block')
})

const llama = { normKind: 'rms', gated: true, activation: 'silu', positions: 'rotary', kvHeads: 1, bias: false } as const
describe.each([
  ['pre', {}],
  ['post, alibi', { norm: 'post', positions: 'alibi' }],
  ['as LLaMA', llama],
  ['to a context', { cross: true }],
] as const)('a stack: %s', (_name, options) => {
  const made = stack(8, 2, 3, { causal: true, ...options })
  const p = made.init(key(1)) as never
  const x = wave([2, 5, 8])
  const run = 'cross' in options ? { context: wave([2, 4, 8], 9) } : {}
  it('is its blocks one after the other, and the normalisation', () => {
    const one = block(8, 2, { causal: true, ...options })
    const { layers, norm } = p as { readonly layers: never; readonly norm: { readonly scale: X; readonly bias: X | null } | null }
    let y: cd.AnyExpr | X = x
    for (let i = 0; i < 3; i++) y = one.apply(cd.treeMap((t) => cd.at(t as never, i) as cd.AnyExpr, layers) as never, y as never, run) as cd.AnyExpr // biome-ignore format: one row
    const last =
      norm === null ? y : norm.bias === null ? cd.rmsNorm(y as never, { eps: 1e-5, scale: norm.scale }) : cd.layerNorm(y as never, { eps: 1e-5, scale: norm.scale, bias: norm.bias }) // biome-ignore format: one row
    close(made.apply(p, x, run), last)
    expect(norm === null).toBe('norm' in options)
  })
  it('token by token with a cache is the whole window, in one plan; and some at once', () => {
    const whole = evaluate(made.apply(p, x, run) as cd.AnyExpr) as cd.Tensor
    const step = cd.compile(
      (cd.fn as unknown as (d: unknown, f: unknown) => never)(
        { p: made.declared, cache: made.declaredCache(2, 6), x: cd.f32(2, 1, 8) },
        (a: { readonly p: never; readonly cache: never; readonly x: never }) => made.step(a.p, a.cache, a.x, run),
      ),
      cd.cpu(),
    ) as unknown as (x: unknown) => readonly [nn.CacheIn<'f32'>, cd.Tensor]
    let cache: nn.CacheIn<'f32'> = made.initCache(2, 6) as never
    for (let t = 0; t < 5; t++) {
      const [next, y] = step({ p, cache, x: evaluate(cd.at(x, ':', `${t}:${t + 1}`) as cd.AnyExpr) })
      cache = next
      close(y, cd.at(whole, ':', `${t}:${t + 1}`), 4)
    }
    const [some, first] = made.step(p, made.initCache(2, 5) as never, cd.at(x, ':', ':3') as never, run)
    const [, second] = made.step(p, some, cd.at(x, ':', '3:') as never, run)
    close(cd.concat([first, second] as cd.AnyExpr[], { axis: 1 }), whole, 4)
  })
  it('gradients of all parameters are those of the steps, in both modes', () => {
    const exact = stack(8, 2, 3, { causal: true, ...options, dtype: 'f64' })
    const p = exact.init(key(2)) as never
    const wide = (t: unknown) => evaluate(cd.cast(t as cd.Tensor, 'f64') as cd.AnyExpr) as never
    const told = 'context' in run ? { context: wide(run.context) } : {}
    const x = wide(wave([2, 5, 8]))
    const loss = (y: unknown) => cd.sum(cd.sin(y as cd.AnyExpr))
    const whole = (q: never) => loss(exact.apply(q, x, told))
    const stepped = (q: never) => {
      const [cache, first] = exact.step(q, exact.initCache(2, 5) as never, cd.at(x, ':', ':3') as never, told)
      return loss(cd.concat([first, exact.step(q, cache, cd.at(x, ':', '3:') as never, told)[1]] as cd.AnyExpr[], { axis: 1 }))
    }
    const gradOf = (f: unknown) => (cd.grad as unknown as (f: unknown, o: unknown) => (p: never) => never)(f, { mode: 'reverse' })(p)
    const want = gradOf(whole)
    expect(cd.treeAllClose(gradOf(stepped), want, { rtol: 1e-9, atol: 1e-10 })).toBe(true)
    const direction = cd.treeMap((t) => evaluate(cd.cos(t as never) as cd.AnyExpr), p)
    const numbers = (t: unknown) => cd.treeLeaves(t as never).flatMap(values)
    const [g, d] = [numbers(want), numbers(direction)]
    const along = g.reduce((sum, v, i) => sum + v * d[i]!, 0)
    for (const f of [whole, stepped]) {
      const [, dy] = (cd.jvp as unknown as (f: unknown) => (p: never, d: unknown) => readonly [unknown, cd.Tensor])(f)(p, direction)
      expect(Math.abs((dy.item() as number) - along)).toBeLessThan(1e-9 * Math.max(1, Math.abs(along)))
    }
  })
})

describe('a stack', () => {
  it('of 48 blocks plans as one of 2, its gradient too, whatever the way back keeps', () => {
    const x = wave([2, 4, 8])
    for (const checkpoint of [undefined, 'nothing'] as const) {
      const plan = (n: number) => {
        const made = stack(8, 2, n, { causal: true, ...(checkpoint && { checkpoint }) })
        const f = cd.compile(
          cd.grad(
            (cd.fn as unknown as (d: unknown, f: unknown) => never)({ p: made.declared }, ({ p }: { p: never }) =>
              cd.sum(made.apply(p, x)),
            ),
          ),
          cd.cpu(),
        ) as unknown as ((x: unknown) => unknown) & { explain: () => { readonly steps: readonly unknown[] } }
        f({ p: made.init(key(1)) })
        return f.explain().steps.length
      }
      expect(plan(48)).toBe(plan(2))
    }
    const [all, few] = [undefined, 'nothing' as const].map((checkpoint) => {
      const made = stack(8, 2, 3, checkpoint && { checkpoint })
      return (cd.grad as unknown as (f: unknown) => (p: never) => unknown)((q: never) => cd.sum(cd.sin(made.apply(q, x) as cd.AnyExpr)))(
        made.init(key(1)) as never,
      )
    })
    close(few, all)
  })
  it('many tokens in one loop, the cache as its carry', () => {
    const made = stack(8, 2, 2, { causal: true, positions: 'rotary' })
    const p = made.init(key(3)) as never
    const x = wave([6, 1, 8])
    const [, ys] = cd.scan(
      ((cache: never, row: never) => made.step(p, cache, row)) as never,
      made.initCache([], 6) as never,
      x as never,
    ) as unknown as readonly [unknown, cd.AnyExpr]
    close(cd.squeeze(ys, 1), made.apply(p, cd.squeeze(x as cd.Tensor, 1) as never), 4)
  })
  it('has the names of its blocks in PyTorch through its parts', () => {
    const made = stack(8, 2, 2)
    expect(Object.keys(made.parts!)).toEqual(['layers', 'norm'])
    const told: string[] = []
    made.apply(made.init(key(1)) as never, wave([3, 8]), { onLayer: (path) => told.push(path) })
    expect(told).toEqual(['layers', 'norm'])
    expect(Object.keys(made.parts!.norm!.torch!)).toEqual(['weight', 'bias'])
    expect(Object.keys(block(8, 2).torch!)).toContain('self_attn.in_proj_weight')
    expect(Object.keys(stack(8, 2, 2, { norm: 'post' }).parts!)).toEqual(['layers'])
  })
})

describe('a block', () => {
  it('drops in training alone, by its key', () => {
    const layer = block(8, 2, { dropout: 0.5 })
    const p = layer.init(key(1)) as never
    const x = wave([3, 8])
    close(layer.apply(p, x), block(8, 2).apply(p, x))
    const by = (k: number) => values(layer.apply(p, x, { training: true, key: key(k) }))
    expect(by(1)).toEqual(by(1))
    expect(by(1)).not.toEqual(by(2))
    expect(by(1)).not.toEqual(values(layer.apply(p, x)))
    expect(() => layer.apply(p, x, { training: true })).toThrow(/there is no key/)
    const deep = stack(8, 2, 3, { dropout: 0.5 })
    const q = deep.init(key(1)) as never
    expect(values(deep.apply(q, x, { training: true, key: key(1) }))).not.toEqual(values(deep.apply(q, x)))
  })
  it('takes masks of both of its attentions, an activation of yours, a context of other features', () => {
    const layer = block(8, 2, { cross: true, contextFeatures: 3, activation: (x) => cd.mul(x, x) as cd.AnyExpr })
    const p = layer.init(key(1)) as never
    const [x, context] = [wave([4, 8]), wave([3, 3])]
    const mask = tensor([true, true, true, false], [1, 4]) as never
    const contextMask = tensor([true, false, true], [1, 3]) as never
    const y = layer.apply(p, x, { context, mask, contextMask })
    close(
      cd.at(layer.apply(p, cd.set(x as cd.Tensor, [3, 0], 5) as never, { context, mask, contextMask }) as cd.AnyExpr, ':3'),
      cd.at(y as cd.AnyExpr, ':3'),
    )
    close(layer.apply(p, x, { context: cd.set(context as cd.Tensor, [1, 0], 7) as never, mask, contextMask }), y)
    expect(values(layer.apply(p, x, { context }))).not.toEqual(values(y))
  })
  it('is a part like others', () => {
    const model = nn.sequential(nn.dense(3, 8), nn.transformerBlock(8, 2), nn.dense(8, 1))
    const p = model.init(key(1)) as never
    expect((evaluate(model.apply(p, wave([2, 4, 3]) as never) as cd.AnyExpr) as cd.Tensor).shape).toEqual([2, 4, 1])
  })
  it('begins as it is told', () => {
    const p = block(4, 2, { init: { 'attention.*.b': 2, 'up.w': 0.5 } }).init(key(1)) as unknown as {
      readonly attention: { readonly q: { readonly b: cd.Tensor } }
      readonly up: { readonly w: cd.Tensor; readonly b: cd.Tensor }
      readonly denseNorm: { readonly scale: cd.Tensor; readonly bias: cd.Tensor }
    }
    const sets = [p.attention.q.b, p.up.w, p.up.b, p.denseNorm.scale, p.denseNorm.bias].map((t) => [...new Set(t.data)])
    expect(sets).toEqual([[2], [0.5], [0], [1], [0]])
    expect((p.up.w.shape as readonly number[])[1]).toBe(16)
  })
  it('says what is wrong', () => {
    for (const bad of [0, -1, 1.5, Number.NaN, '3', undefined, null]) {
      expect(() => block(bad as never, 2)).toThrow(/transformerBlock/)
      expect(() => block(8, bad as never)).toThrow(/multiHeadAttention/)
      expect(() => stack(8, 2, bad as never)).toThrow(/transformer: layers/)
    }
    expect(() => block(8, 2, { hidden: 0 })).toThrow(/hidden is 0/)
    expect(() => block(8, 2, { norm: 'both' as never })).toThrow(/'pre' or 'post'/)
    expect(() => block(8, 2, { normKind: 'batch' as never })).toThrow(/'layer' or 'rms'/)
    expect(() => block(8, 2, { activation: 'toString' as never })).toThrow(/activation is 'toString'/)
    expect(() => block(8, 2, { activation: 3 as never })).toThrow(/activation is number/)
    expect(() => block(8, 2, { dropout: 1 })).toThrow(/dropout is 1/)
    expect(() => stack(8, 2, 2, { checkpont: 'nothing' } as never)).toThrow(/checkpont/)
    expect(() => block(8, 2, { contextFeatures: 3 })).toThrow(/nothing that attends to a context/)
    const layer = block(8, 2)
    const p = layer.init(key(1)) as never
    expect(() => layer.apply(p, wave([2, 8]), { context: wave([2, 8]) })).toThrow(/nothing that attends to it/)
    expect(() => layer.step(p, layer.initCache(1, 2) as never, wave([1, 1, 8]))).toThrow(/not causal has no step/)
    const other = block(8, 2, { cross: true })
    expect(() => other.apply(other.init(key(1)) as never, wave([2, 8]))).toThrow(/there is no context/)
  })
})
