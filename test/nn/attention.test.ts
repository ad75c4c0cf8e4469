// Attention: PyTorch's numbers and gradients, grouped heads and positions by definition, the cache as the whole window, junk.
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
const close = (a: unknown, b: unknown) =>
  expect(cd.treeAllClose(evaluate(a as never), evaluate(b as never), { rtol: 1e-4, atol: 1e-5 })).toBe(true)
const values = (t: unknown): readonly number[] => [...(evaluate(t as cd.AnyExpr) as cd.Tensor).data].map(Number)
type Made = nn.Attention<number, 'f32', true>
const make = (features: number, heads: number, o?: nn.AttentionLayerOptions): Made =>
  nn.multiHeadAttention(features, heads, o as object) as never

describe('as PyTorch, and by definition', () => {
  against('attention')
})

const kinds = (['none', 'rotary', 'alibi'] as const).flatMap((positions) => [4, 2].map((kvHeads) => [positions, kvHeads] as const))
describe.each(kinds)('positions: %s, of %i heads', (positions, kvHeads) => {
  const layer = make(16, 4, { causal: true, positions, kvHeads })
  const p = layer.init(key(1)) as never
  const x = wave([2, 7, 16])
  it('token by token with a cache is the whole window, in one plan', () => {
    const whole = evaluate(layer.apply(p, x) as cd.AnyExpr) as cd.Tensor
    const declared = { p: layer.declared, cache: layer.declaredCache(2, 10), x: cd.f32(2, 1, 16) }
    const step = cd.compile(
      (cd.fn as unknown as (d: unknown, f: unknown) => (x: unknown) => readonly [nn.CacheIn<'f32'>, cd.Tensor])(
        declared,
        (a: { readonly p: never; readonly cache: never; readonly x: never }) => layer.step(a.p, a.cache, a.x),
      ) as never,
      cd.cpu(),
    ) as unknown as (x: unknown) => readonly [nn.CacheIn<'f32'>, cd.Tensor]
    let cache: nn.CacheIn<'f32'> = layer.initCache(2, 10) as never
    for (let t = 0; t < 7; t++) {
      const [next, y] = step({ p, cache, x: evaluate(cd.at(x, ':', `${t}:${t + 1}`) as cd.AnyExpr) })
      cache = next
      close(y, cd.at(whole, ':', `${t}:${t + 1}`))
    }
    expect((cache.count as cd.Tensor<[], 'i32'>).item()).toBe(7)
  })
  it('some positions at once, then others', () => {
    const [one, first] = layer.step(p, layer.initCache(2, 7) as never, cd.at(x, ':', ':4') as never)
    const [two, second] = layer.step(p, one, cd.at(x, ':', '4:6') as never)
    const [, third] = layer.step(p, two, cd.at(x, ':', '6:') as never)
    close(cd.concat([first, second, third] as cd.AnyExpr[], { axis: 1 }), layer.apply(p, x))
  })
  it('gradients through the cache are those of the window, in both modes', () => {
    const stepped = (x: cd.AnyExpr) => {
      const [cache, first] = layer.step(p, layer.initCache(2, 7) as never, cd.at(x, ':', ':5') as never)
      return cd.sum(cd.sin(cd.concat([first, layer.step(p, cache, cd.at(x, ':', '5:') as never)[1]] as cd.AnyExpr[], { axis: 1 })))
    }
    const windowed = (x: cd.AnyExpr) => cd.sum(cd.sin(layer.apply(p, x as never) as cd.AnyExpr))
    for (const mode of ['reverse', 'forward'] as const)
      close(cd.grad(stepped as never, { mode } as never)(x as never), cd.grad(windowed as never, { mode } as never)(x as never))
  })
  it('what comes later does not change what came before', () => {
    const changed = cd.set(x as cd.Tensor, [0, 5, 0], 9)
    const [a, b] = [layer.apply(p, x), layer.apply(p, changed as never)].map((y) => evaluate(cd.at(y as cd.AnyExpr, 0, ':5') as cd.AnyExpr) as cd.Tensor) // biome-ignore format: one row
    close(a, b)
  })
  it('long sequences are those taken by blocks', () => {
    const long = wave([200, 16])
    const [cache, first] = layer.step(p, layer.initCache([], 200) as never, cd.at(long, ':100') as never)
    const [, second] = layer.step(p, cache, cd.at(long, '100:') as never)
    close(layer.apply(p, long), cd.concat([first, second] as cd.AnyExpr[]))
  })
})

describe('attention', () => {
  it('is blind to places without positions, and not with rotary ones', () => {
    const blind = make(8, 2)
    const p = blind.init(key(1)) as never
    const x = wave([5, 8])
    close(cd.flip(blind.apply(p, cd.flip(x, { axis: 0 }) as never) as never, { axis: 0 }), blind.apply(p, x))
    const rotary = make(8, 2, { positions: 'rotary' })
    const turned = rotary.apply(p, cd.flip(x, { axis: 0 }) as never)
    expect(cd.treeAllClose(evaluate(cd.flip(turned as never, { axis: 0 }) as cd.AnyExpr), evaluate(rotary.apply(p, x) as cd.AnyExpr))).toBe(
      false,
    )
  })
  it('takes masks of truth values and of numbers, also with positions and causal', () => {
    const x = wave([2, 4, 8])
    const seen = tensor([true, true, false, true], [1, 4])
    const added = tensor([0, 0, -Infinity, 0], [1, 4], 'f32')
    for (const positions of ['none', 'rotary', 'alibi'] as const)
      for (const causal of [false, true]) {
        const layer = make(8, 2, { positions, causal })
        const p = layer.init(key(2)) as never
        const y = layer.apply(p, x, { mask: seen as never })
        close(y, layer.apply(p, x, { mask: added as never }))
        const changed = cd.set(x as cd.Tensor, [0, 2, 0], 5)
        close(cd.at(layer.apply(p, changed as never, { mask: seen as never }) as cd.AnyExpr, ':', 3), cd.at(y as cd.AnyExpr, ':', 3))
      }
  })
  it('a mask without an axis of heads is the same for all of them: of each sequence, also where there are as many as heads', () => {
    for (const batch of [1, 2, 3]) {
      const layer = make(8, 2)
      const p = layer.init(key(2)) as never
      const x = wave([batch, 5, 8])
      const seen = tensor(
        Array.from({ length: batch * 5 }, (_, i) => !(i % 5 === 4 && Math.floor(i / 5) === batch - 1)),
        [batch, 1, 5],
      )
      const y = layer.apply(p, x, { mask: seen as never })
      // one by one, the last without its last position
      for (let b = 0; b < batch; b++) {
        const own = cd.at(x, `${b}:${b + 1}`) as never
        const alone = layer.apply(p, own, b === batch - 1 ? { mask: tensor([true, true, true, true, false], [1, 5]) as never } : {})
        close(cd.at(y as cd.AnyExpr, `${b}:${b + 1}`), alone)
      }
      close(layer.apply(p, x, { mask: cd.expandDims(seen, 1) as never }), y)
    }
    const layer = make(8, 2)
    const p = layer.init(key(2)) as never
    const heads = tensor([true, false, true, true, true, true], [2, 1, 3])
    close(
      layer.apply(p, wave([3, 8]), { mask: heads as never }),
      cd.at(layer.apply(p, wave([1, 3, 8]), { mask: cd.expandDims(heads, 0) as never }) as cd.AnyExpr, 0),
    )
    const wrong = tensor(new Array(15).fill(true), [3, 1, 5])
    expect(() => layer.apply(p, wave([2, 5, 8]), { mask: wrong as never })).toThrow(/the mask does not fit scores \[2, 2, 5, 5\]/)
    expect(() => layer.apply(p, wave([1, 3, 8]), { mask: tensor(new Array(18).fill(true), [2, 1, 3, 3]) as never })).toThrow(/does not fit/)
    expect(() => layer.apply(p, wave([1, 3, 8]), { context: wave([1, 3, 9]) })).toThrow(/the context has 9 features where 8 are taken/)
  })
  it('vmap goes through it and its steps, each example with a count of its own', () => {
    const layer = make(8, 2, { causal: true, positions: 'rotary', kvHeads: 1 })
    const p = layer.init(key(4)) as never
    const x = wave([2, 4, 8])
    const mapped = cd.vmap as unknown as (f: unknown) => (...x: readonly unknown[]) => never
    close(mapped((row: never) => layer.apply(p, row))(x), layer.apply(p, x))
    const cache = layer.initCache([], 6)
    const after = [2, 4].map((n) => layer.step(p, cache as never, cd.at(x, 0, `:${n}`) as never)[0])
    const caches = evaluate(cd.treeZip((a: cd.AnyExpr, b: cd.AnyExpr) => cd.stack([a, b]), after[0] as never, after[1] as never) as never)
    const next = wave([2, 1, 8], 3)
    const ys = mapped((c: never, row: never) => layer.step(p, c, row)[1])(caches, next)
    const each = after.map((c, i) => layer.step(p, c, cd.at(next, i) as never)[1])
    close(ys, cd.stack(each as unknown as cd.AnyExpr[]))
  })
  it('the context may have other features', () => {
    const layer = make(8, 2, { contextFeatures: 3 })
    const p = layer.init(key(2)) as never
    expect((evaluate(layer.apply(p, wave([4, 8]), { context: wave([6, 3]) }) as cd.AnyExpr) as cd.Tensor).shape).toEqual([4, 8])
    expect(Object.keys(layer.torch!)).toEqual([
      'q_proj_weight',
      'k_proj_weight',
      'v_proj_weight',
      'in_proj_bias',
      'out_proj.weight',
      'out_proj.bias',
    ])
    const wide = make(6, 4, { headFeatures: 5 })
    expect((evaluate(wide.apply(wide.init(key(1)) as never, wave([2, 6])) as cd.AnyExpr) as cd.Tensor).shape).toEqual([2, 6])
  })
  it('a full cache gives NaN, and says so where sizes are known', () => {
    const layer = make(8, 2, { causal: true })
    const p = layer.init(key(2)) as never
    const [cache, y] = layer.step(p, layer.initCache([], 3) as never, wave([3, 8]))
    expect(values(y).every(Number.isFinite)).toBe(true)
    expect(values(layer.step(p, cache, wave([1, 8]))[1]).every(Number.isNaN)).toBe(true)
    expect(() => layer.step(p, layer.initCache([], 3) as never, wave([4, 8]))).toThrow(/4 positions do not fit into a cache of 3/)
  })
  it('dropout: of weights, in training alone, right in the mean', () => {
    for (const [causal, kvHeads] of [
      [false, 2],
      [true, 1],
    ] as const) {
      const layer = make(4, 2, { dropout: 0.3, causal, kvHeads })
      const plain = make(4, 2, { causal, kvHeads })
      const p = layer.init(key(3)) as never
      const x = wave([3, 4])
      close(layer.apply(p, x), plain.apply(p, x))
      const one = layer.apply(p, x, { training: true, key: key(1) })
      expect(values(one)).not.toEqual(values(plain.apply(p, x)))
      const many = cd.tile(cd.expandDims(x, 0), [4000, 1, 1]) as cd.AnyExpr
      const mean = cd.mean(layer.apply(p, many as never, { training: true, key: key(2) }) as cd.AnyExpr, { axis: 0 })
      const want = values(plain.apply(p, x))
      for (const [i, v] of values(mean).entries()) expect(Math.abs(v - want[i]!)).toBeLessThan(0.03)
      expect(() => layer.apply(p, x, { training: true })).toThrow(/there is no key/)
    }
  })
  it('says what is wrong', () => {
    for (const bad of [0, -1, 1.5, Number.NaN, '3', undefined, null]) {
      expect(() => make(bad as never, 2)).toThrow(/multiHeadAttention/)
      expect(() => make(8, bad as never)).toThrow(/multiHeadAttention/)
    }
    expect(() => make(8, 3)).toThrow(/3 heads do not divide 8 features/)
    expect(() => make(8, 4, { kvHeads: 3 })).toThrow(/not a multiple of kvHeads, 3/)
    expect(() => make(8, 4, { kvHeads: 0 })).toThrow(/kvHeads is 0/)
    expect(() => make(6, 2, { positions: 'rotary' })).toThrow(/3 features, which rotary positions cannot pair/)
    expect(() => make(8, 2, { positions: 'sinusoidal' as never })).toThrow(/'none', 'rotary' or 'alibi'/)
    expect(() => make(8, 2, { dropout: 2 })).toThrow(/dropout is 2/)
    expect(() => make(8, 2, { base: 0 })).toThrow(/base is 0/)
    expect(() => make(8, 2, { casual: true } as never)).toThrow(/casual/)
    const layer = make(8, 2)
    const p = layer.init(key(1)) as never
    expect(() => layer.apply(p, wave([8]))).toThrow(/no axis of positions/)
    expect(() => layer.apply(p, wave([2, 8]), { context: wave([8]) })).toThrow(/no axis of positions/)
    expect(() => layer.step(p, layer.initCache(1, 2) as never, wave([1, 1, 8]))).toThrow(/not causal has no step/)
    expect(() => make(8, 2, { causal: true }).apply(p, wave([2, 8]), { context: wave([2, 8]) })).toThrow(/a causal layer has no context/)
    expect(() => make(8, 2, { positions: 'alibi' }).apply(p, wave([2, 8]), { context: wave([2, 8]) })).toThrow(/positions are 'alibi'/)
    expect(() => layer.initCache(1, 0)).toThrow(/length is 0/)
    expect(() => layer.initCache([2, -1], 3)).toThrow(/axis 1 of the batch is -1/)
  })
})
