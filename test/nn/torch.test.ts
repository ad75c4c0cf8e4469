// Layers against PyTorch's: weights by its state dicts, values, gradients, running statistics; both dtypes, both modes, two backends.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'
import { key } from '../../src/random/index.js'
import { decodeSafetensors, encodeSafetensors } from '../../src/train/index.js'
import { models, tensorOf, torchCase, torchCases } from './torch-models.js'

describe.each(torchCases.map((c) => [c.name, c] as const))('%s', (name, c) => {
  it.each(['f64', 'f32'] as const)('%s: values, gradients and what runs beside them', (dtype) => {
    const { gradient, given, hold } = torchCase(c, dtype, dtype === 'f64' ? 10 : 4)
    const [cpu, reference] = [makeCpu(), cd.reference()]
    for (const [backend, mode] of [[cpu, 'reverse'], [cpu, 'forward'], [reference, 'reverse']] as const) hold(cd.compile(gradient(mode), backend)(given)) // biome-ignore format: one row
  })
  it('state dicts go through files and back', () => {
    const model = models[name.split(' ')[0]!]!('f64')
    const flat = Object.fromEntries(Object.entries(c.weights).map(([k, t]) => [k, tensorOf(t, 'f64')]))
    const { params, state } = nn.fromTorch(model, flat)
    const read = decodeSafetensors(encodeSafetensors(nn.toTorch(model, params as never, state as never)))
    if (read._tag === 'Left') throw new Error(cd.explain(read.left))
    const back = read.right.tensors as Readonly<Record<string, cd.Tensor>>
    expect(Object.keys(back).sort()).toEqual(Object.keys(flat).sort())
    for (const [k, t] of Object.entries(back)) expect(t.toArray()).toEqual(flat[k]!.toArray())
  })
})

describe('state dicts that do not fit', () => {
  const model = nn.sequential(nn.dense(2, 1), cd.tanh)
  const good = { '0.weight': cd.tensor([[3, 4]], [1, 2], 'f32'), '0.bias': cd.tensor([5], [1], 'f32') } as const
  it('what is missing, left over or of another shape is said', () => {
    expect(() => nn.fromTorch(model, { '0.weight': good['0.weight'] })).toThrow(/lack 0\.bias/)
    expect(() => nn.fromTorch(model, { ...good, '9.weight': good['0.bias'] })).toThrow(/nothing in the model is called 9\.weight/)
    expect(() => nn.fromTorch(model, { ...good, '0.weight': cd.tensor([[1], [2]], [2, 1], 'f32') })).toThrow(
      /0\.weight is \[2, 1\], wanted is \[1, 2\] for 0\.w, which is \[2, 1\] here/,
    )
    // what is no float is not cast in silence, and no two arrays have one name
    expect(() => nn.fromTorch(model, { ...good, '0.weight': cd.tensor([[100, -100]], [1, 2], 'i32') })).toThrow(/0\.weight is i32/)
    expect(() => nn.fromTorch(model, { ...good, '0.bias': cd.tensor([true]) })).toThrow(/0\.bias is bool/)
    const two = nn.sequential(nn.dense(2, 2), cd.relu, nn.dense(2, 2))
    const rename = (n: string) => n.replace(/^\d/, 'fc')
    expect(() => nn.toTorch(two, two.init(key(1)) as never, undefined, { rename })).toThrow(
      /rename gives 'fc\.weight' for 0\.weight and for 2\.weight/,
    )
    const fc = { 'fc.weight': cd.zeros([2, 2], 'f32'), 'fc.bias': cd.zeros([2], 'f32') }
    expect(() => nn.fromTorch(two, cd.evaluate(fc as never) as never, { rename })).toThrow(/rename gives 'fc\.weight'/)
    expect(() => nn.fromTorch(model, good, { renamed: 1 } as never)).toThrow(/renamed/)
  })
  const head = { 'fc.weight': cd.tensor([[1]], [1, 1], 'f32'), 'fc.bias': cd.tensor([2], [1], 'f32') }
  const within = Object.fromEntries(Object.entries({ ...good }).map(([name, t]) => [`net.body.${name}`, t]))
  it('a part of a file is loaded into a model by prefix, and goes back under it; what the file has more is left out by ignore', () => {
    const wanted = nn.fromTorch(model, good).params
    expect(nn.fromTorch(model, { ...within, ...head }, { prefix: 'net.body.' }).params).toEqual(wanted)
    expect(nn.fromTorch(model, { ...good, ...head }, { ignore: (name) => name.startsWith('fc.') }).params).toEqual(wanted)
    const renamed = Object.fromEntries(Object.entries(within).map(([name, t]) => [name.replace('0.', 'lin.'), t]))
    const seen: string[] = []
    const options = { prefix: 'net.body.', rename: (name: string) => name.replace('0.', 'lin.') }
    const ignore = (name: string) => seen.push(name) > 0
    expect(nn.fromTorch(model, { ...renamed, 'net.body.more': head['fc.bias'] }, { ...options, ignore }).params).toEqual(wanted)
    expect(seen).toEqual(['more'])
    expect(nn.toTorch(model, wanted as never, undefined, options)).toEqual(renamed)
    // what is ignored is not found either, and what the model needs is not ignored
    expect(() => nn.fromTorch(model, { ...within, ...head }, { prefix: 'net.' })).toThrow(
      /the tensors lack 0\.weight, 0\.bias; nothing in the model is called body\.0\.weight, body\.0\.bias/,
    )
    expect(nn.fromTorch(model, good, { ignore: () => true }).params).toEqual(wanted)
  })
  it('says what to do about a part: the prefix that fits, what to ignore, what to load by itself', () => {
    const of = (file: object, options?: object) => () => nn.fromTorch(model, file as never, options)
    expect(of({ ...within, ...head })).toThrow(/fix: the model is a part of the one in the file: \{ prefix: 'net\.body\.' \}/)
    expect(of({ ...within, ...head }, { prefix: 'net.' })).toThrow(/\{ prefix: 'net\.body\.' \}/)
    expect(of({ ...good, ...head })).toThrow(
      /nothing in the model is called fc\.weight, fc\.bias\.[\s\S]*fix: where the file has more than the model[\s\S]*\{ ignore: \(name\) => boolean \}/,
    )
    expect(of({ '0.weight': good['0.weight'] })).toThrow(
      /lack 0\.bias\.[\s\S]*fix: where the model has more than the file[\s\S]*fromTorch\(part, tensors\)/,
    )
    expect(of(head)).toThrow(/rename[\s\S]*prefix[\s\S]*ignore/)
    expect(of(good, { prefix: 'net.' })).toThrow(/no tensor has a name that begins with 'net\.': they are 0\.weight, 0\.bias/)
    expect(of(good, { prefix: 3 })).toThrow(/prefix is 3\./)
  })
  it('other names by rename; what PyTorch only counts is passed over; other float dtypes are cast', () => {
    const { params } = nn.fromTorch(
      model,
      { 'fc.weight': cd.tensor([[3, 4]], [1, 2], 'f64'), 'fc.bias': good['0.bias'], 'bn.num_batches_tracked': cd.tensor(1) },
      { rename: (n) => n.replace(/^0\./, 'fc.') },
    )
    expect(params[0].w.dtype).toBe('f32')
    expect(params[0].w.toArray()).toEqual([[3], [4]])
  })
  it('arrays of layers of your own are called as they are, or as they say, also in wrappers and repeated', () => {
    const inner = nn.dense(2, 2)
    const own = (torch?: nn.AnyLayer['torch']) => {
      const declared = { w: cd.f32(2, 2), deep: { inner: inner.declared } }
      return {
        declared,
        init: (k: never) => nn.init(declared, k),
        apply: (p: { w: cd.AnyExpr; deep: { inner: never } }, x: cd.AnyExpr) =>
          cd.matmul(inner.apply(p.deep.inner, x as never) as never, p.w as never),
        ...(torch && { torch }),
      } as unknown as nn.AnyLayer
    }
    const there = (m: nn.AnyLayer, names: readonly string[]) => {
      const p = m.init(key(3)) as never
      const flat = nn.toTorch(m, p)
      expect(Object.keys(flat).sort()).toEqual([...names].sort())
      expect(JSON.stringify(nn.fromTorch(m, flat).params)).toBe(JSON.stringify(p))
      return flat
    }
    const leaves = ['w', 'deep.inner.w', 'deep.inner.b']
    there(nn.sequential(own() as never, nn.dense(2, 1)) as never, [...leaves.map((l) => `0.${l}`), '1.weight', '1.bias'])
    there(
      nn.repeat(own() as never, 3) as never,
      [0, 1, 2].flatMap((i) => leaves.map((l) => `${i}.${l}`)),
    )
    const said = own({ weight: { at: 'w', axes: [1, 0] }, 'inner.weight': { at: 'deep.inner.w' }, 'inner.bias': { at: 'deep.inner.b' } })
    const flat = there(nn.sequential({ a: said as never }) as never, ['a.weight', 'a.inner.weight', 'a.inner.bias'])
    const p = (nn.sequential({ a: said as never }).init(key(3)) as never as { a: { w: cd.Tensor } }).a.w.toArray() as number[][]
    expect(flat['a.weight']!.toArray()).toEqual([0, 1].map((i) => [p[0]![i], p[1]![i]]))
  })
  it('repeated layers are one behind the other there, and stacked here', () => {
    const deep = nn.sequential({ blocks: nn.repeat(nn.sequential({ fc: nn.dense(2, 2) }), 3) })
    const p = deep.init(key(1))
    const flat = nn.toTorch(deep, p as never)
    expect(Object.keys(flat).sort()).toEqual([0, 1, 2].flatMap((i) => [`blocks.${i}.fc.bias`, `blocks.${i}.fc.weight`]))
    expect(JSON.stringify(nn.fromTorch(deep, flat).params)).toBe(JSON.stringify(p))
  })
})

describe('summary', () => {
  const model = nn.sequential({
    conv: nn.conv2d(1, 4, 3),
    norm: nn.batchNorm(4),
    act: cd.relu,
    flat: nn.flattened(),
    head: nn.sequential(nn.dense(144, 8), nn.dense(8, 2)),
  })
  it('names layers, shapes, counts and operations', () => {
    const rows = nn.summaryOf(model, cd.f32(5, 1, 8, 8))
    expect(rows.map(({ path }) => path)).toEqual(['conv', 'norm', 'act', 'flat', 'head.0', 'head.1', 'head', ''])
    expect(rows.map(({ parameters }) => parameters)).toEqual([40, 8, 0, 0, 1160, 18, 1178, 1226])
    expect(rows[3]!.shape).toEqual([5, 144])
    expect(rows[4]!.flops).toBeGreaterThanOrEqual(2 * 5 * 144 * 8)
    expect(rows[6]!.flops).toBeUndefined()
    expect(nn.summary(model, cd.f32(5, 1, 8, 8))).toMatch(/conv\s+conv2d\s+f32 \[5, 4, 6, 6\]\s+40 /)
  })
  it('has the names of functions, and calls a shortcut that is none the identity', () => {
    const rows = nn.summaryOf(nn.sequential({ block: nn.residual(nn.dense(2, 2)), act: cd.gelu, own: (x: cd.AnyExpr) => cd.neg(x) }), cd.f32(4, 2)) // biome-ignore format: one row
    expect(rows.map(({ kind }) => kind)).toEqual(['dense', 'identity', 'residual', 'gelu', 'own', 'sequential'])
    for (const f of [cd.gelu, cd.softmax, cd.flatten]) expect(f.name).toMatch(/^(gelu|softmax|flatten)$/)
  })
  it('an input without sizes is an error', () => {
    expect(() => nn.summary(model, cd.f32('n', 1, 8, 8))).toThrow(/the input has no sizes/)
  })
})

describe('parts of an array of PyTorch, and arrays of repeated blocks', () => {
  it('a stack of attention blocks and an LSTM go there and back', () => {
    const model = nn.sequential({ blocks: nn.repeat(nn.transformerBlock(8, 2, { hidden: 16 }), 2), norm: nn.layerNorm(8) })
    const recurrent = nn.sequential({ rnn: nn.lstm(3, 4) })
    for (const [m, wanted] of [
      [model, ['blocks.1.self_attn.in_proj_weight', 'blocks.0.linear2.bias', 'norm.weight']],
      [recurrent, ['rnn.weight_hh_l0']],
    ] as const) {
      const params = (m as nn.AnyLayer).init(key(3))
      const flat = nn.toTorch(m as never, params as never)
      expect(Object.keys(flat)).toEqual(expect.arrayContaining(wanted as unknown as string[]))
      expect(JSON.stringify(nn.fromTorch(m as never, flat).params)).toBe(JSON.stringify(params))
    }
    expect(nn.toTorch(model as never, model.init(key(3)) as never)['blocks.0.self_attn.in_proj_weight']!.shape).toEqual([24, 8])
  })
})
