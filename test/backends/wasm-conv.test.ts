/*
 * The convolution kernels against plain loops in f64: forward, input gradient and kernel gradient.
 *
 * Bounds. A sum of k products in precision u has error at most (k + 1) u sum |a||b| (Higham 2002, 3.1); inputs are exact in f32 and
 * the loops here add in f64. Sums of |a||b| are computed by the same loops on absolute values.
 */

import { describe, expect, it } from 'vitest'
import { byProduct, emitPointwise, pointwiseScratchBytes } from '../../src/backends/cpu/wasm/conv-pointwise.js'
import type { Direction } from '../../src/backends/cpu/wasm/conv-winograd.js'
import { relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import type { FloatName } from '../../src/backends/cpu/wasm/float.js'
import { count } from '../depth.js'
import { below, type ConvShape, type Emitter, type Kind, kinds, random, run, visit } from './conv-harness.js'

const byProducts: Readonly<Record<Direction, Emitter>> = {
  forward: {
    emit: (m, o, name) => emitPointwise(m, o, 'forward', name),
    scratch: (t, s) => pointwiseScratchBytes(t, s, 'forward'),
    out: 0,
  },
  input: { emit: (m, o, name) => emitPointwise(m, o, 'input', name), scratch: (t, s) => pointwiseScratchBytes(t, s, 'input'), out: 1 },
}
const check = (shape: ConvShape, type: FloatName, madd = false, by: Partial<Record<Kind, Emitter>> = kinds): void => {
  for (const [kind, emitter] of Object.entries(by) as [Kind, Emitter][]) {
    for (const accumulate of [false, true]) {
      const { result, before } = run(kind, { type, madd, accumulate, shape }, () => Math.fround(random() * 2 - 1), emitter)
      const { out } = kinds[kind]
      const expected = accumulate ? before[out].slice() : new Float64Array(before[out].length)
      const size = expected.map(Math.abs)
      const terms = new Int32Array(expected.length)
      const [a, b] = [0, 1, 2].filter((i) => i !== out) as [0 | 1 | 2, 0 | 1 | 2]
      visit(shape, (...at) => {
        const product = before[a][at[a]]! * before[b][at[b]]!
        const target = at[out]
        expected[target]! += product
        size[target]! += Math.abs(product)
        terms[target]!++
      })
      const u = type === 'f32' ? 2 ** -24 : 2 ** -52
      expected.forEach((value, i) => {
        if (!(Math.abs(result[i]! - value) <= (terms[i]! + 2) * u * size[i]!))
          throw new Error(`${kind} ${type} accumulate ${accumulate} ${JSON.stringify(shape)}: [${i}] = ${result[i]}, not ${value}`)
      })
    }
  }
}

const base: ConvShape = {
  batch: 2,
  channels: 3,
  height: 8,
  width: 8,
  outChannels: 4,
  kernel: [3, 3],
  stride: [1, 1],
  padding: [
    [0, 0],
    [0, 0],
  ],
  dilation: [1, 1],
  groups: 1,
}
const square = (p: number): ConvShape['padding'] => [
  [p, p],
  [p, p],
]

for (const type of ['f32', 'f64'] as const) {
  describe(`conv ${type}`, () => {
    it('LeNet layers', () => {
      check({ ...base, channels: 1, height: 28, width: 28, outChannels: 6, kernel: [5, 5] }, type)
      check({ ...base, channels: 6, height: 12, width: 12, outChannels: 16, kernel: [5, 5] }, type)
      check({ ...base, channels: 1, height: 28, width: 28, outChannels: 6, kernel: [5, 5], padding: square(2) }, type)
    })
    it('every output width from 1 to 40', () => {
      for (let width = 1; width <= 40; width++)
        check(
          {
            ...base,
            batch: 1,
            channels: 2,
            height: 2,
            width,
            kernel: [1, 3],
            padding: [
              [0, 0],
              [1, 1],
            ],
            outChannels: 3,
          },
          type,
        )
    })
    it('every width and left border of steps of 2', () => {
      for (let width = 7; width <= 26; width++)
        for (const left of [0, 1, 2])
          check(
            {
              ...base,
              batch: 1,
              channels: 2,
              height: 4,
              width,
              outChannels: 2,
              stride: [2, 2],
              padding: [
                [1, 0],
                [left, 1],
              ],
            },
            type,
          )
    })
    it('every number of channels', () => {
      for (let c = 1; c <= 13; c++) {
        check({ ...base, batch: 1, height: 4, width: 7, channels: c, outChannels: 14 - c }, type)
        check({ ...base, batch: 1, height: 3, width: 18, channels: c, outChannels: 14 - c, kernel: [2, 2] }, type)
      }
    })
    it('strides, dilations and uneven padding', () => {
      for (const sy of [1, 2, 3])
        for (const sx of [1, 2, 3, 5])
          for (const d of [1, 2, 3])
            check(
              {
                ...base,
                batch: 1,
                channels: 2,
                height: 9,
                width: 11,
                outChannels: 2,
                stride: [sy, sx],
                dilation: [d, 4 - d],
                padding: [
                  [1, 2],
                  [3, 0],
                ],
              },
              type,
            )
    })
    it('groups and depthwise', () => {
      check({ ...base, channels: 6, outChannels: 4, groups: 2 }, type)
      check({ ...base, channels: 5, outChannels: 5, groups: 5, padding: square(1) }, type)
      check({ ...base, channels: 3, outChannels: 9, groups: 3, stride: [2, 2] }, type)
    })
    it('1 x 1 kernels, whole-image kernels, long and tall ones', () => {
      check({ ...base, kernel: [1, 1] }, type)
      check({ ...base, kernel: [1, 1], channels: 17, outChannels: 9, height: 3, width: 3 }, type)
      check({ ...base, kernel: [1, 1], stride: [2, 2], padding: square(1) }, type)
      check({ ...base, kernel: [8, 8] }, type)
      check({ ...base, height: 1, width: 200, kernel: [1, 39], channels: 2, outChannels: 2 }, type)
      check(
        {
          ...base,
          height: 1,
          width: 200,
          kernel: [1, 39],
          channels: 2,
          outChannels: 2,
          stride: [1, 2],
          dilation: [1, 3],
          padding: [
            [0, 0],
            [20, 7],
          ],
        },
        type,
      )
      check({ ...base, height: 200, width: 1, kernel: [39, 1], channels: 2, outChannels: 2, stride: [2, 1] }, type)
      check({ ...base, batch: 1, channels: 1, outChannels: 1, height: 12, width: 400, kernel: [2, 2] }, type)
    })
    it('1 x 1 kernels by products', () => {
      for (const channels of [8, 9, 70])
        for (const outChannels of [8, 13])
          for (const [height, width] of [
            [2, 4],
            [5, 7],
            [1, 130],
          ] as const) {
            const shape = { ...base, kernel: [1, 1] as const, channels, outChannels, height, width }
            for (const direction of ['forward', 'input'] as const) expect(byProduct(shape, direction)).toBe(true)
            check(shape, type, false, byProducts)
            if (relaxedSimd()) check(shape, type, true, byProducts)
          }
      const shape = { ...base, kernel: [1, 1] as const, channels: 16, outChannels: 16 }
      const others: Partial<ConvShape>[] = [
        { groups: 2 },
        { stride: [1, 2] },
        { padding: square(1) },
        { kernel: [1, 2] },
        { channels: 7 },
        { height: 1, width: 7 },
      ]
      for (const other of others)
        for (const direction of ['forward', 'input'] as const) expect(byProduct({ ...shape, ...other }, direction)).toBe(false)
    })
    it('strides with many phases, and kernels smaller than the stride', () => {
      check({ ...base, height: 12, width: 10, kernel: [5, 5], stride: [5, 5] }, type)
      check({ ...base, height: 11, width: 13, kernel: [2, 2], stride: [4, 4], padding: square(1) }, type)
      check({ ...base, height: 11, width: 13, kernel: [2, 3], stride: [6, 3], padding: square(1), groups: 1 }, type)
      check({ ...base, height: 7, width: 9, channels: 4, kernel: [1, 2], stride: [3, 3], groups: 2 }, type)
    })
    it('nothing to do: empty batch, no channels, kernel larger than the image', () => {
      check({ ...base, batch: 0 }, type)
      check({ ...base, channels: 0 }, type)
      check({ ...base, outChannels: 0 }, type)
      check({ ...base, kernel: [9, 3] }, type)
      check({ ...base, height: 1, width: 1, kernel: [1, 1], channels: 1, outChannels: 1, batch: 1 }, type)
      check({ ...base, height: 1, width: 1, padding: square(1) }, type)
    })
    it('random shapes', () => {
      for (let i = 0; i < count(12, 60); i++) {
        const groups = 1 + below(3)
        const kernel = [1 + below(4), 1 + below(6)] as const
        const pad = (): readonly [number, number] => [below(4), below(4)]
        check(
          {
            batch: 1 + below(2),
            channels: groups * (1 + below(3)),
            outChannels: groups * (1 + below(4)),
            height: kernel[0] + below(9),
            width: kernel[1] + below(20),
            kernel,
            stride: [1 + below(3), 1 + below(3)],
            dilation: [1 + below(3), 1 + below(3)],
            padding: [pad(), pad()],
            groups,
          },
          type,
        )
      }
    })
    if (relaxedSimd())
      it('relaxed multiply-add', () => {
        check({ ...base, padding: square(1) }, type, true)
        check({ ...base, width: 19, outChannels: 5, stride: [2, 2] }, type, true)
      })
    it('NaN and Infinity of an image stay where the sums meet them; those of weights reach at least there', () => {
      const shape: ConvShape = { ...base, batch: 1, channels: 1, outChannels: 2, height: 7, width: 11, padding: square(1), stride: [1, 2] }
      for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
        for (const kind of ['forward', 'input', 'kernel'] as const) {
          const { out } = kinds[kind]
          for (const operand of ([0, 1, 2] as const).filter((i) => i !== out)) {
            // padding is zeros that take part: 0 * Infinity is NaN where a bad weight meets them
            const exact = operand === (kind === 'input' ? 0 : 1)
            for (const place of [0, 10, 17]) {
              const { result } = run(kind, { type, madd: false, accumulate: false, shape }, (which, i) =>
                which === operand && i === place ? bad : 1,
              )
              const touched = new Set<number>()
              visit(shape, (...at) => {
                if (at[operand] === place) touched.add(at[out])
              })
              result.forEach((v, i) => {
                if (touched.has(i)) expect(Number.isFinite(v)).toBe(false)
                else if (exact) expect(Number.isFinite(v)).toBe(true)
              })
            }
          }
        }
      }
    })
  })
}

it('kernel gradients in f32 sum in blocks: an image of 250,000 equal pixels keeps six digits', () => {
  const shape: ConvShape = { ...base, batch: 1, channels: 1, outChannels: 1, height: 500, width: 500, kernel: [1, 2] }
  const { result } = run('kernel', { type: 'f32', madd: false, accumulate: false, shape }, () => Math.fround(0.1))
  const exact = 500 * 499 * Math.fround(0.1) ** 2
  for (const v of result) expect(Math.abs(v - exact) / exact).toBeLessThan(1e-5)
})
