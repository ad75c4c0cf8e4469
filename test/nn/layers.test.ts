// Layers as values: parameters, keys, running state, compositions; against what they are made of.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'
import { heNormal, key, splitKey, uniform } from '../../src/random/index.js'

const { compile, evaluate, f32, f64, fn, grad, mul, relu, sum, tanh, tensor } = cd
const wave = (shape: readonly number[], k = 0, dtype: 'f32' | 'f64' = 'f32'): cd.Tensor =>
  tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1 + k + 3 * i)),
    shape as number[],
    dtype,
  ) as cd.Tensor

describe('init', () => {
  it('refuses the key of a traced function, and says what to write outside of one', () => {
    const layer = nn.repeat(nn.dense(2, 2), 3)
    const keys = splitKey(key(1), 4)
    for (const l of [nn.dense(2, 3), layer])
      expect(() => cd.vmap((k: never) => l.init(k) as never)(keys as never)).toThrow(
        /^BadInput: init: the key depends on an input of a function that is being traced[\s\S]*treeZip\(\(\.\.\.all\) => stack\(all\), \.\.\.trees\)/,
      )
    const [a, b] = [1, 2].map((n) => nn.dense(2, 3).init(key(n)))
    const both = cd.evaluate(cd.treeZip((...all: readonly cd.AnyExpr[]) => cd.stack(all), a as never, b as never) as never) as unknown as { w: cd.Tensor } // biome-ignore format: one row
    expect(both.w.shape).toEqual([2, 2, 3])
  })
  const declared = {
    blocks: [
      { w: f32(3, 2), b: f32(2), scale: f32(2) },
      { w: f32(2, 2), b: f32(2), scale: f32(2) },
    ],
    table: f64(4, 2),
    n: cd.i32(2),
  }
  it('begins by names and paths, each array with a key of its own, of the declared dtype', () => {
    const p = nn.init(declared, key(1), {
      'blocks.*.w': heNormal,
      b: 0.5,
      table: uniform as nn.Initial,
    })
    expect([...p.blocks[0]!.w.data].slice(0, 4)).not.toEqual([...p.blocks[1]!.w.data])
    expect(p.blocks.map(({ b }) => b.toArray())).toEqual([
      [0.5, 0.5],
      [0.5, 0.5],
    ])
    expect(p.blocks[1]!.scale.toArray()).toEqual([1, 1])
    expect([p.table.dtype, p.n.dtype]).toEqual(['f64', 'i32'])
    expect(p.table.data.every((x) => x >= 0 && x < 1)).toBe(true)
  })
  it('the same key gives the same, another another', () => {
    const w = (k: number) => nn.init({ w: f32(8, 8) }, key(k)).w.toArray()
    expect(w(1)).toEqual(w(1))
    expect(w(1)).not.toEqual(w(2))
  })
  it('variance of a weight is 1 / in', () => {
    const { data } = nn.init({ w: f32(400, 100) }, key(3)).w
    expect(data.reduce((s, x) => s + x * x, 0) / data.length).toBeCloseTo(1 / 400, 4)
  })
  it('says which pattern matches nothing, and what has no size', () => {
    expect(() => nn.init(declared, key(1), { v: 0 })).toThrow(/pattern 'v' matches nothing/)
    expect(() => nn.init({ w: f32('n', 2) }, key(1))).toThrow(/w has an axis 'n' of no size/)
    expect(() => nn.init({ w: f32(2, 2) }, key(1), { w: 'he' as never })).toThrow(/the initialiser of w is 'he'/)
  })
})

describe('dense, embedding, dropout', () => {
  it('is x w + b, with gradients, in both dtypes; a bias that is left out is null', () => {
    for (const dtype of ['f32', 'f64'] as const)
      for (const bias of [true, false]) {
        const layer = nn.dense(3, 2, { dtype, bias })
        const p = layer.init(key(1))
        const x = wave([4, 3], 0, dtype)
        const out = evaluate(layer.apply(p as never, x as never)) as cd.Tensor
        expect(out.dtype).toBe(dtype)
        expect(out.shape).toEqual([4, 2])
        const g = grad((q: typeof p) => sum(mul(layer.apply(q as never, x as never), 2)))(p as never) as unknown as {
          w: cd.Tensor
          b: cd.Tensor | null
        }
        expect(g.w.shape).toEqual([3, 2])
        if (bias) expect(g.b!.toArray()).toEqual([8, 8])
        else expect(g.b).toBeNull()
      }
  })
  it('takes any leading axes', () => {
    const layer = nn.dense(3, 2)
    const p = layer.init(key(1))
    for (const shape of [[3], [0, 3], [1, 3], [2, 5, 3]])
      expect((evaluate(layer.apply(p as never, wave(shape) as never)) as cd.Tensor).shape).toEqual([...shape.slice(0, -1), 2])
  })
  it('embedding: rows, and the way back by the same table', () => {
    const words = nn.embedding(5, 3)
    const p = words.init(key(1))
    const x = tensor([0, 4], [2], 'i32')
    const rows = evaluate(words.apply(p as never, x)) as cd.Tensor
    expect(rows.toArray()).toEqual([(p.table.toArray() as number[][])[0], (p.table.toArray() as number[][])[4]])
    expect((evaluate(words.attend(p as never, rows as never)) as cd.Tensor).shape).toEqual([2, 5])
  })
  it('dropout drops in training alone, by its key', () => {
    const layer = nn.dropout(0.5)
    const x = tensor(Array.from({ length: 1000 }, () => 1))
    expect(layer.apply(null, x)).toBe(x)
    const dropped = evaluate(layer.apply(null, x, { training: true, key: key(1) }))
    const zeros = dropped.data.filter((v) => v === 0).length
    expect(zeros).toBeGreaterThan(420)
    expect(zeros).toBeLessThan(580)
    expect(dropped.data.every((v) => v === 0 || v === 2)).toBe(true)
    expect(() => layer.apply(null, x, { training: true })).toThrow(/there is no key/)
    expect(() => nn.dropout(1)).toThrow(/0 <= rate < 1/)
  })
  it('sizes that are none', () => {
    for (const bad of [0, -1, 1.5, Number.NaN, '3', undefined]) expect(() => nn.dense(bad as never, 2)).toThrow(/dense/)
    expect(() => nn.dense(2, 2, { biass: false } as never)).toThrow(/biass/)
  })
})

describe('compositions', () => {
  it('sequential is its layers one after the other, by list and by record', () => {
    const [a, b] = [nn.dense(2, 4), nn.dense(4, 1)]
    const list = nn.sequential(a, tanh, b)
    const record = nn.sequential({ first: a, act: tanh, last: b })
    const p = list.init(key(5))
    const x = wave([3, 2])
    const by = (m: unknown, q: unknown) => (evaluate((m as typeof list).apply(q as never, x as never)) as cd.Tensor).toArray()
    const hand = evaluate(b.apply(p[2] as never, tanh(a.apply(p[0] as never, x as never) as cd.AnyExpr) as never)) as cd.Tensor
    expect(by(list, p)).toEqual(hand.toArray())
    expect(p[1]).toBeNull()
    const q = record.init(key(5))
    expect(q.first.w.toArray()).toEqual(p[0].w.toArray())
    expect(by(record, q)).toEqual(hand.toArray())
  })
  it('each layer has a key of its own in training', () => {
    const model = nn.sequential(nn.dropout(0.5), nn.dropout(0.5))
    const x = tensor(Array.from({ length: 400 }, () => 1))
    const y = evaluate(model.apply([null, null] as never, x as never, { training: true, key: key(1) }) as cd.AnyExpr) as cd.Tensor
    const left = y.data.filter((v) => v !== 0).length
    expect(left).toBeGreaterThan(60) // with one key for both it were about 200
    expect(left).toBeLessThan(150)
  })
  it('parallel adds, joins, or hands to a function', () => {
    const layers = [nn.dense(2, 3), nn.dense(2, 3)] as const
    const p = nn.parallel(layers).init(key(1))
    const x = wave([2, 2])
    const [y, z] = layers.map((l, i) => (evaluate(l.apply(p[i as 0] as never, x as never)) as cd.Tensor).toArray() as number[][])
    const of = (join?: never) =>
      (evaluate(nn.parallel(layers, join).apply(p as never, x as never) as cd.AnyExpr) as cd.Tensor).toArray() as number[][]
    expect(of()[0]![0]).toBeCloseTo(y![0]![0]! + z![0]![0]!, 6)
    expect(of('concat' as never)[1]).toEqual([...y![1]!, ...z![1]!])
    expect(of(((a: cd.AnyExpr, b: cd.AnyExpr) => mul(a, b)) as never)[1]![2]).toBeCloseTo(y![1]![2]! * z![1]![2]!, 6)
    expect(() => nn.parallel([])).toThrow(/no layer/)
    expect(() => nn.parallel(layers, 'sum' as 'add')).toThrow(/neither/)
  })
  it('what is added has one shape, what is repeated keeps it: else the error names the layer and both shapes', () => {
    const x = wave([2, 4])
    const applied = (layer: nn.AnyLayer) => () => layer.apply(layer.init(key(1)) as never, x as never, {} as never)
    const [four, one] = [nn.dense(4, 4), nn.dense(4, 1)]
    expect(applied(nn.parallel([four, one as never]))).toThrow(/parallel: 1 makes \[2, 1\], 0 makes \[2, 4\], which are to be added/)
    expect(applied(nn.parallel({ wide: four, thin: one as never, more: four }, 'add'))).toThrow(/thin makes \[2, 1\], wide makes \[2, 4\]/)
    expect(applied(nn.parallel([four, (h) => sum(h, { axis: 1 })]))).toThrow(/1 makes \[2\], 0 makes \[2, 4\]/)
    expect(applied(nn.repeat(one as never, 2))).toThrow(/repeat: the layer makes \[2, 1\] of \[2, 4\]/)
    expect(applied(nn.repeat((h) => sum(h, { axis: 1 }), 2))).toThrow(/repeat: the layer makes \[2\] of \[2, 4\]/)
  })
  it('repeat is its layers one after the other; 48 of them plan as 2', () => {
    const block = nn.residual(nn.sequential(nn.dense(4, 4), tanh))
    const plan = (n: number) => {
      const deep = nn.repeat(block, n)
      const f = compile(
        grad(
          fn({ p: deep.declared, x: f32('n', 4) }, ({ p, x }) => sum(deep.apply(p as never, x as never) as cd.AnyExpr) as cd.Scalar),
          { wrt: 'p' as never },
        ),
        makeCpu(),
      )
      f({ p: deep.init(key(1)), x: wave([3, 4]) } as never)
      return f.explain().steps.length
    }
    expect(plan(48)).toBe(plan(2))
    const deep = nn.repeat(block, 3)
    const p = deep.init(key(7))
    const x = wave([2, 4])
    let y = x as cd.AnyExpr | cd.Tensor
    for (let i = 0; i < 3; i++)
      y = block.apply(cd.treeMap((t) => cd.at(t as never, i) as cd.AnyExpr, p as never) as never, y as never) as cd.AnyExpr
    const got = evaluate(deep.apply(p as never, x as never) as cd.AnyExpr) as cd.Tensor
    const want = evaluate(y as cd.AnyExpr) as cd.Tensor
    for (const [i, v] of got.data.entries()) expect(v).toBeCloseTo(want.data[i] as number, 5)
  })
  it("a layer of one's own is a part like others", () => {
    const own = {
      declared: { s: f32(3) },
      init: () => ({ s: tensor([1, 2, 3], [3], 'f32') }),
      apply: (p: { readonly s: cd.Expr<[3], 'f32'> }, x: cd.AnyExpr) => mul(x, p.s),
    }
    const model = nn.sequential(own, relu)
    const p = model.init(key(1))
    expect((evaluate(model.apply(p as never, tensor([-1, 1, 1], [3], 'f32') as never) as cd.AnyExpr) as cd.Tensor).toArray()).toEqual([
      0, 2, 3,
    ])
  })
  it('no layer is an error', () => {
    expect(() => (nn.sequential as (...x: unknown[]) => unknown)()).toThrow(/no layer/)
    expect(() => nn.repeat(nn.dense(2, 2), 0)).toThrow(/repeat/)
  })
})
