/** Layers with PyTorch's state dicts, values, gradients and running statistics (test/golden/torch-layers.json). */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'

interface Listed {
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
export interface TorchCase {
  readonly name: string
  readonly train: boolean
  readonly weights: Readonly<Record<string, Listed>>
  readonly x: Listed
  readonly y: Listed
  readonly xBar: Listed | null
  readonly gradients: Readonly<Record<string, Listed>>
  readonly running: Readonly<Record<string, Listed>>
  readonly condition?: Listed
}
export const torchCases = JSON.parse(readFileSync(new URL('../golden/torch-layers.json', import.meta.url), 'utf8')) as readonly TorchCase[]
export type Dtype = 'f32' | 'f64'
export const models: Readonly<Record<string, (dtype: Dtype) => nn.AnyLayer>> = {
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
  rmsNorm: (dtype) => nn.sequential(nn.rmsNorm(4, { dtype }), nn.dense(4, 2, { dtype })),
  unet: (dtype) => nn.unet(2, { features: [2, 4], outputs: 3, condition: 3, groups: 2, dtype }),
  embedding: (dtype) => nn.sequential(nn.embedding(5, 3, { dtype }), nn.layerNorm(3, { dtype })),
}
export const tensorOf = ({ shape, data }: Listed, dtype: cd.DType): cd.Tensor =>
  cd.tensor(data, shape as number[], dtype as Dtype) as cd.Tensor
const near = (got: cd.Tensor, want: Listed, digits: number): void => {
  expect(got.shape).toEqual(want.shape)
  for (const [i, w] of want.data.entries()) expect(Math.abs((got.data[i] as number) - w) / (1 + Math.abs(w))).toBeLessThan(10 ** -digits)
}

/** A case as the gradient of its values' weighted sum, its arguments, and what holds the results to PyTorch's. */
export const torchCase = (c: TorchCase, dtype: Dtype, digits: number) => {
  const model = models[c.name.split(' ')[0]!]!(dtype)
  const flat = Object.fromEntries(Object.entries(c.weights).map(([k, t]) => [k, tensorOf(t, 'f64')]))
  const { params, state } = nn.fromTorch(model, flat)
  const weights = cd.cos(cd.arange(c.y.data.length))
  const f = ({ p, s, x }: { p: unknown; s: unknown; x: unknown }) => {
    const made = model.apply(
      p as never,
      x as never,
      { training: c.train, state: s, ...(c.condition && { condition: tensorOf(c.condition, dtype) }) } as never,
    )
    const [y, next] = (model.state === undefined ? [made, null] : made) as readonly [cd.AnyExpr, unknown]
    return [cd.sum(cd.mul(cd.reshape(y, [-1]), cd.cast(weights, dtype))), { y, next }] as never
  }
  return {
    gradient: (mode: 'reverse' | 'forward') =>
      cd.grad(f as never, { wrt: c.xBar === null ? ['p'] : ['p', 'x'], aux: true, mode } as never) as never,
    given: { p: params, s: state, x: tensorOf(c.x, c.xBar === null ? 'i32' : dtype) } as never,
    hold: (got: unknown) => {
      const [gradient, { y, next }] = got as readonly [{ p: unknown; x: cd.Tensor }, { y: cd.Tensor; next: unknown }]
      near(y, c.y, digits)
      const bars = nn.toTorch(model, gradient.p as never)
      for (const [leaf, want] of Object.entries(c.gradients)) near(bars[leaf]!, want, digits)
      if (c.xBar !== null) near(gradient.x, c.xBar, digits)
      if (Object.keys(c.running).length > 0) {
        const running = nn.toTorch(model, gradient.p as never, next as never)
        for (const [leaf, want] of Object.entries(c.running)) near(running[leaf]!, want, digits)
      }
    },
  }
}
