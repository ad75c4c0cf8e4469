// Layers against PyTorch's: weights by its state dicts, values, gradients, running statistics; both dtypes, both modes, two backends.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'
import { key } from '../../src/random/index.js'
import { decodeSafetensors, encodeSafetensors } from '../../src/train/index.js'

interface Listed {
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
interface Case {
  readonly name: string
  readonly train: boolean
  readonly weights: Readonly<Record<string, Listed>>
  readonly x: Listed
  readonly y: Listed
  readonly xBar: Listed | null
  readonly gradients: Readonly<Record<string, Listed>>
  readonly running: Readonly<Record<string, Listed>>
}
const cases = JSON.parse(readFileSync(new URL('../golden/torch-layers.json', import.meta.url), 'utf8')) as readonly Case[]
type Dtype = 'f32' | 'f64'
const models: Readonly<Record<string, (dtype: Dtype) => nn.AnyLayer>> = {
  dense: (dtype) => nn.sequential(nn.dense(3, 4, { dtype }), cd.tanh, nn.dense(4, 2, { dtype, bias: false })),
  conv1d: (dtype) => nn.sequential(nn.conv1d(4, 6, 3, { stride: 2, padding: 1, groups: 2, dtype })),
  conv2d: (dtype) =>
    nn.sequential(
      nn.conv2d(2, 3, [3, 2], { stride: [1, 2], padding: [[1, 1], [0, 0]], dilation: [2, 1], dtype }), // biome-ignore format: pairs
      cd.relu,
      nn.maxPool({ window: 2 }),
    ),
  conv3d: (dtype) => nn.sequential(nn.conv3d(1, 2, 2, { bias: false, dtype }), nn.avgPool({ window: 2 })),
  convTranspose1d: (dtype) => nn.sequential(nn.convTranspose1d(2, 3, 3, { stride: 2, dtype })),
  convTranspose2d: (dtype) => nn.sequential(nn.convTranspose2d(4, 2, 3, { stride: 2, padding: 1, outputPadding: 1, groups: 2, dtype })),
  batchNorm: (dtype) => nn.sequential(nn.conv2d(1, 3, 2, { dtype }), nn.batchNorm(3, { dtype })),
  layerNorm: (dtype) => nn.sequential(nn.layerNorm(4, { dtype }), nn.dense(4, 2, { dtype })),
  groupNorm: (dtype) => nn.sequential(nn.groupNorm(2, 4, { dtype })),
  embedding: (dtype) => nn.sequential(nn.embedding(5, 3, { dtype }), nn.layerNorm(3, { dtype })),
}
const tensorOf = ({ shape, data }: Listed, dtype: cd.DType): cd.Tensor => cd.tensor(data, shape as number[], dtype as Dtype) as cd.Tensor
const near = (got: cd.Tensor, want: Listed, digits: number): void => {
  expect(got.shape).toEqual(want.shape)
  for (const [i, w] of want.data.entries()) expect(Math.abs((got.data[i] as number) - w) / (1 + Math.abs(w))).toBeLessThan(10 ** -digits)
}

describe.each(cases.map((c) => [c.name, c] as const))('%s', (name, c) => {
  it.each(['f64', 'f32'] as const)('%s: values, gradients and what runs beside them', (dtype) => {
    const model = models[name.split(' ')[0]!]!(dtype)
    const flat = Object.fromEntries(Object.entries(c.weights).map(([k, t]) => [k, tensorOf(t, 'f64')]))
    const { params, state } = nn.fromTorch(model, flat)
    const x = tensorOf(c.x, c.xBar === null ? 'i32' : dtype)
    const weights = cd.cos(cd.arange(c.y.data.length))
    const f = ({ p, s, x }: { p: unknown; s: unknown; x: unknown }) => {
      const made = model.apply(p as never, x as never, { training: c.train, state: s } as never)
      const [y, next] = (model.state === undefined ? [made, null] : made) as readonly [cd.AnyExpr, unknown]
      return [cd.sum(cd.mul(cd.reshape(y, [-1]), cd.cast(weights, dtype))), { y, next }] as never
    }
    for (const backend of [makeCpu(), cd.reference()])
      for (const mode of ['reverse', 'forward'] as const) {
        if (mode === 'forward' && backend.name !== 'cpu') continue
        const wrt = c.xBar === null ? ['p'] : ['p', 'x']
        const run = cd.compile(cd.grad(f as never, { wrt, aux: true, mode } as never), backend)
        const [gradient, { y, next }] = run({ p: params, s: state, x } as never) as unknown as readonly [
          { p: unknown; x: cd.Tensor },
          { y: cd.Tensor; next: unknown },
        ]
        const digits = dtype === 'f64' ? 10 : 4
        near(y, c.y, digits)
        const bars = nn.toTorch(model, gradient.p as never)
        for (const [leaf, want] of Object.entries(c.gradients)) near(bars[leaf]!, want, digits)
        if (c.xBar !== null) near(gradient.x, c.xBar, digits)
        if (Object.keys(c.running).length > 0) {
          const running = nn.toTorch(model, gradient.p as never, next as never)
          for (const [leaf, want] of Object.entries(c.running)) near(running[leaf]!, want, digits)
        }
      }
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
