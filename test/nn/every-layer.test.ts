/** What holds of every layer, and junk for every function of the entry. A layer that is exported and not named here fails. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'
import { key } from '../../src/random/index.js'
import { broken } from '../errors/hostile.js'

type Dtype = 'f32' | 'f64'
type Layer = nn.AnyLayer
interface Tried {
  /** Arguments of the function that makes it, but dtype. */
  readonly args: readonly unknown[]
  /** Its input and what comes out. */
  readonly x: readonly number[]
  readonly y: readonly number[]
  readonly ints?: true
  /** Another argument or option beside `x`, when it runs. */
  readonly run?: object
}
const one = (args: readonly unknown[], x: readonly number[], y: readonly number[], more: Partial<Tried> = {}): Tried => ({ args, x, y, ...more }) // biome-ignore format: one row
const tried: Readonly<Record<string, Tried>> = {
  dense: one([3, 2], [4, 3], [4, 2]),
  embedding: one([5, 3], [2, 4], [2, 4, 3], { ints: true }),
  dropout: one([0.5], [2, 3], [2, 3]),
  flattened: one([], [2, 3, 2], [2, 6]),
  conv1d: one([2, 3, 2], [2, 2, 5], [2, 3, 4]),
  conv2d: one([2, 4, [2, 3], { groups: 2, padding: 'same' }], [1, 2, 4, 3], [1, 4, 4, 3]),
  conv3d: one([1, 2, 2], [1, 1, 3, 2, 2], [1, 2, 2, 1, 1]),
  convTranspose1d: one([2, 3, 2], [2, 2, 3], [2, 3, 4]),
  convTranspose2d: one([2, 4, 2, { stride: 2, groups: 2 }], [1, 2, 2, 3], [1, 4, 4, 6]),
  convTranspose3d: one([1, 2, 2], [1, 1, 2, 1, 1], [1, 2, 3, 2, 2]),
  maxPool: one([{ window: 2 }], [1, 2, 4], [1, 2, 2]),
  avgPool: one([{ window: [2, 1] }], [1, 2, 4, 3], [1, 2, 2, 3]),
  globalAvgPool: one([], [2, 3, 4, 1], [2, 3]),
  layerNorm: one([3], [2, 4, 3], [2, 4, 3]),
  rmsNorm: one([3], [2, 3], [2, 3]),
  groupNorm: one([2, 4], [2, 4, 3], [2, 4, 3]),
  batchNorm: one([3], [4, 3, 2], [4, 3, 2]),
  rnn: one([3, 2], [4, 1, 3], [4, 1, 2]),
  gru: one([3, 2, { layers: 2 }], [4, 1, 3], [4, 1, 2]),
  lstm: one([3, 2, { bidirectional: true }], [3, 2, 3], [3, 2, 4]),
  multiHeadAttention: one([4, 2, { causal: true, positions: 'rotary' }], [2, 3, 4], [2, 3, 4]),
  transformerBlock: one([4, 2, { cross: true }], [2, 3, 4], [2, 3, 4], { run: { context: cd.ones([2, 5, 4], 'f32') } }),
  transformer: one([4, 2, 2], [2, 3, 4], [2, 3, 4]),
  unet: one([1, { features: [2, 4], groups: 2 }], [1, 1, 4, 2], [1, 1, 4, 2]),
  sequential: one([nn.dense(3, 2), cd.tanh, nn.batchNorm(2)], [4, 3], [4, 2]),
  parallel: one([[nn.dense(3, 2), nn.dense(3, 2)], 'concat'], [4, 3], [4, 4]),
  residual: one([nn.dense(3, 3)], [4, 3], [4, 3]),
  repeat: one([nn.dense(3, 3), 3], [4, 3], [4, 3]),
}
/** Made of other layers: their dtype is that of these. */
const composed = ['sequential', 'parallel', 'residual', 'repeat']
/** Without arrays: no dtype. */
const bare = ['dropout', 'flattened', 'maxPool', 'avgPool', 'globalAvgPool']
/** Not layers: arguments that are good, for the junk. */
const others: Readonly<Record<string, readonly unknown[]>> = {
  init: [{ w: cd.f32(2, 2) }, key(1), { w: 0 }],
  summary: [nn.dense(3, 2), cd.f32(1, 3)],
  summaryOf: [nn.dense(3, 2), cd.f32(1, 3)],
  fromTorch: [nn.sequential(nn.dense(2, 1)), { '0.weight': cd.tensor([[1, 2]], 'f32'), '0.bias': cd.tensor([1], 'f32') }, {}],
  toTorch: [nn.dense(2, 1), nn.dense(2, 1).init(key(1)), null, {}],
}
const entry = nn as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => unknown>>
const isOptions = (x: unknown): x is object => typeof x === 'object' && x !== null && Object.getPrototypeOf(x) === Object.prototype && !('apply' in x) // biome-ignore format: one row
const made = (name: string, dtype: Dtype): Layer => {
  const { args } = tried[name]!
  if (composed.includes(name) || bare.includes(name)) return entry[name]!(...args) as Layer
  const [last] = args.slice(-1)
  return entry[name]!(...(isOptions(last) ? args.slice(0, -1) : args), { ...(isOptions(last) && last), dtype }) as Layer
}
const wave = (shape: readonly number[], dtype: Dtype): cd.Tensor =>
  cd.evaluate(cd.cast(cd.sin(cd.mul(3, cd.reshape(cd.arange(shape.reduce((a, b) => a * b, 1)), shape as number[]))), dtype) as never) as unknown as cd.Tensor // biome-ignore format: one row
const inputOf = ({ x, ints }: Tried, dtype: Dtype): cd.Tensor =>
  ints ? (cd.evaluate(cd.reshape(cd.mod(cd.arange(8, 'i32'), 5), x as number[]) as never) as unknown as cd.Tensor) : wave(x, dtype)
const told = (tree: unknown): readonly string[] => {
  const rows: string[] = []
  if (tree === null) return rows
  cd.treeMap((t: unknown, path) => {
    if (t === null) return 0
    const { shape, dtype } = t as cd.Tensor
    rows.push(`${path} ${shape.join('x')} ${dtype}`)
    return 0
  }, tree as never)
  return rows
}

const leavesOf = (tree: unknown): readonly cd.Tensor[] => (tree === null ? [] : (cd.treeLeaves(tree as never) as readonly cd.Tensor[]))

it('every function of the entry is named here', () => {
  const functions = Object.keys(nn).filter((name) => typeof entry[name] === 'function')
  expect([...Object.keys(tried), ...Object.keys(others)].sort()).toEqual(functions.sort())
})

const cases = Object.keys(tried).flatMap((name) => (composed.includes(name) ? (['f32'] as const) : (['f32', 'f64'] as const)).map((dtype) => [name, dtype] as const)) // biome-ignore format: one row
describe.each(cases)('%s in %s', (name, dtype) => {
  const layer = made(name, dtype)
  const params = layer.init(key(2))
  const state = layer.initState?.()
  const at = tried[name]!
  const x = inputOf(at, dtype)
  const run = { training: true, key: key(3), ...(state !== undefined && { state }), ...at.run, ...(at.run && dtype === 'f64' && { context: cd.ones([2, 5, 4]) }) } // biome-ignore format: one row
  const apply = (params: unknown, x: unknown): cd.AnyExpr => {
    const y = layer.apply(params as never, x as never, run as never)
    return (state === undefined ? y : (y as readonly unknown[])[0]) as cd.AnyExpr
  }
  it('begins as it declares, the same for the same key', () => {
    expect(told(params)).toEqual(told(layer.declared))
    if (state !== undefined) expect(told(state)).toEqual(told(layer.state))
    const leaves = leavesOf(params)
    for (const t of leaves) expect(t.data.every(Number.isFinite)).toBe(true)
    expect(JSON.stringify(layer.init(key(2)))).toBe(JSON.stringify(params))
    if (leaves.some((t) => new Set(t.data).size > 1)) expect(JSON.stringify(layer.init(key(3)))).not.toBe(JSON.stringify(params))
  })
  it('gives the shape and dtype, compiled as evaluated, what does not belong left alone', () => {
    const y = cd.evaluate(apply(params, x) as never) as unknown as cd.Tensor
    expect([y.shape, y.dtype]).toEqual([at.y, dtype])
    expect(y.data.every(Number.isFinite)).toBe(true)
    const compiled = cd.compile(((p: { params: unknown; x: unknown }) => apply(p.params, p.x)) as never, cd.cpu({ verify: true }))
    expect(cd.treeAllClose(compiled({ params, x } as never) as never, y as never)).toBe(true)
  })
  it('has one gradient in both modes, which the checker finds right', () => {
    const declared = layer.declared as object | null
    const wrt = [...(declared === null ? [] : ['p']), ...(at.ints ? [] : ['x'])]
    const loss = ({ p, x }: { p: unknown; x: unknown }) => {
      const y = apply(p, x)
      return cd.sum(
        cd.mul(
          cd.reshape(y, [-1]),
          cd.cos(
            cd.arange(
              at.y.reduce((a, b) => a * b, 1),
              dtype,
            ),
          ),
        ),
      ) as never
    }
    const [a, b] = (['reverse', 'forward'] as const).map((mode) => (cd.grad as never as (f: unknown, o: unknown) => (x: unknown) => never)(loss, { wrt, mode })({ p: params, x })) // biome-ignore format: one row
    const tolerance = dtype === 'f64' ? 1e-10 : 1e-4
    expect(cd.treeAllClose(a!, b!, { rtol: tolerance, atol: tolerance })).toBe(true)
    if (dtype === 'f32') return
    const flat = cd.treeLeaves(Object.fromEntries(wrt.map((w) => [w, w === 'p' ? params : x])) as never) as readonly cd.Tensor[]
    const bars = cd.treeLeaves(a!) as readonly cd.Tensor[]
    const along = flat.map((_, i) => [...bars[i]!.data].reduce<number>((s, g, k) => s + Number(g) * Math.cos(k + i), 0)).reduce((s, v) => s + v, 0) // biome-ignore format: one row
    const moved = (h: number): number => {
      let i = 0
      const step = (tree: unknown) =>
        cd.treeMap((t: unknown) => {
          const u = t as cd.Tensor
          const j = i++
          return cd.tensor(Float64Array.from(u.data as Float64Array, (v, k) => v + h * Math.cos(k + j)), u.shape as number[]) // biome-ignore format: one row
        }, tree as never) as unknown
      const p = wrt.includes('p') ? step(params) : params
      return (cd.evaluate(loss({ p, x: wrt.includes('x') ? step(x) : x })) as unknown as cd.Tensor).item() as number
    }
    const h = 1e-5
    expect(Math.abs((moved(h) - moved(-h)) / (2 * h) - along) / (1 + Math.abs(along))).toBeLessThan(1e-7)
  })
  it('goes to a state dict of PyTorch and back, where it says how', () => {
    if (leavesOf(params).length === 0) return
    const wrapped = nn.sequential(layer)
    const [p, s] = [[params], state === undefined ? null : [state]]
    const flat = nn.toTorch(wrapped, p as never, s as never)
    const back = nn.fromTorch(wrapped, flat)
    expect(cd.treeAllClose(back.params as never, p as never, { rtol: 0, atol: 0 })).toBe(true)
    if (s !== null) expect(cd.treeAllClose(back.state as never, s as never, { rtol: 0, atol: 0 })).toBe(true)
  })
  it('in evaluation gives the same without a key', () => {
    const quiet = { ...run, training: false, key: undefined }
    const ys = [0, 1].map(() => JSON.stringify(cd.evaluate(layer.apply(params as never, x as never, quiet as never) as never)))
    expect(ys[0]).toBe(ys[1])
  })
  it('refuses an input of another number of axes or features with one error', () => {
    if (['dropout', 'flattened', 'globalAvgPool', 'embedding'].includes(name)) return
    for (const shape of [[], [7], [1, 1, 7, 7, 7, 7]]) {
      let error: unknown
      try {
        cd.evaluate(apply(params, wave(shape, dtype)) as never)
      } catch (e) {
        error = e
      }
      if (error !== undefined) expect(cd.isAdException(error), String(error)).toBe(true)
    }
  })
})

describe('what a layer is told', () => {
  const layer = nn.dense(3, 2)
  const p = layer.init(key(1))
  const x = cd.ones([1, 3], 'f32')
  it('says what is missing, or of another shape, by its name', () => {
    const apply = layer.apply as unknown as (...xs: readonly unknown[]) => unknown
    expect(() => apply(undefined, x)).toThrow(/dense: the parameters have been left out/)
    expect(() => apply({ b: p.b }, x)).toThrow(/dense: the parameters have no w/)
    expect(() => apply({ ...p, w: 3 }, x)).toThrow(/dense: w of the parameters is 3, which is not an array/)
    expect(() => apply({ ...p, w: cd.ones([2, 2], 'f32') }, x)).toThrow(/w of the parameters is \[2, 2\]; the layer declares \[3, 2\]/)
    expect(() => apply(p, x, { training: 1 })).toThrow(/training must be true or false/)
    const norm = nn.batchNorm(3)
    expect(() => norm.apply(norm.init(key(1)), x, { state: {} as never })).toThrow(/batchNorm: the state has no (mean|variance)/)
  })
  it("a composition hands on to layers of one's own, whatever it is", () => {
    const seen: unknown[] = []
    const own = {
      declared: null,
      init: () => null,
      apply: (_: null, y: cd.AnyExpr, run?: object) => {
        seen.push(run)
        return y
      },
    }
    const condition = { a: x, b: [1] }
    nn.sequential(layer, nn.residual(own)).apply([p, { body: null, shortcut: null }] as never, x, { condition } as never)
    expect((seen[0] as { readonly condition: unknown }).condition).toBe(condition)
    expect(seen).toHaveLength(1)
  })
})

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic
const junk: readonly (readonly [string, () => unknown])[] = [
  ...([undefined, null, {}, 'x', Number.NaN, 1.5, -7, 1e300, [], [[1], [2, 3]], [null], true, () => 1, Symbol('s'), 1n, cyclic, new Date(0), new Map(), { dtype: 'i32' }, { bias: 1 }, { no: 1 }, { init: 3 }, { window: 0 }, { features: [] }] as const).map((x) => [typeof x === 'object' ? Object.prototype.toString.call(x) : String(x), () => x] as const), // biome-ignore format: one row
  ...broken,
]
describe('junk', () => {
  const good: Readonly<Record<string, readonly unknown[]>> = {
    ...Object.fromEntries(Object.entries(tried).map(([name, { args }]) => [name, [...args, {}].slice(0, Math.max(entry[name]!.length, args.length))])), // biome-ignore format: one row
    ...others,
  }
  it.each(Object.keys(good))('%s gives a result or one AdError', (name) => {
    const args = good[name]!
    args.forEach((_, place) => {
      for (const [label, make] of junk) {
        try {
          entry[name]!(...args.map((a, k) => (k === place ? make() : a)))
        } catch (e) {
          if (!cd.isAdException(e)) throw new Error(`${name}, argument ${place}, ${label}`, { cause: e })
        }
      }
    })
  })
  const layers = ['dense', 'batchNorm', 'lstm', 'multiHeadAttention', 'sequential', 'repeat', 'unet', 'conv2d']
  it.each(layers)('%s with junk for parameters, input and run gives a result or one AdError', (name) => {
    const layer = made(name, 'f32')
    const at = tried[name]!
    const args = [layer.init(key(1)), inputOf(at, 'f32'), { key: key(1), ...(layer.initState && { state: layer.initState() }), ...at.run }]
    args.forEach((_, place) => {
      for (const [label, make] of junk) {
        try {
          layer.apply(...(args.map((a, k) => (k === place ? make() : a)) as [never, never, never]))
        } catch (e) {
          if (!cd.isAdException(e)) throw new Error(`${name}.apply, argument ${place}, ${label}`, { cause: e })
        }
      }
    })
  })
})
