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
      /0\.weight is not of the shape of 0\.w/,
    )
    expect(() => nn.fromTorch(model, good, { renamed: 1 } as never)).toThrow(/renamed/)
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
