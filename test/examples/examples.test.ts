/** Every example runs and prints what it promises; the figures that must not move are asserted. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as autograd from '../../examples/autograd.js'
import * as cells from '../../examples/cells.js'
import { loadDigits, pixels } from '../../examples/digits/data.js'
import * as digits from '../../examples/digits.js'
import * as flux from '../../examples/flux.js'
import * as mooncake from '../../examples/mooncake.js'
import * as quickstart from '../../examples/quickstart.js'
import * as rule from '../../examples/rule.js'
import * as yota from '../../examples/yota.js'
import * as zygote from '../../examples/zygote.js'
import manifest from '../../package.json' with { type: 'json' }
import { inFolder, told } from './told.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

describe('npm run example:NAME', () => {
  const scripts = Object.entries(manifest.scripts).filter(([name]) => name.startsWith('example:'))
  it('names a file for each example', () => {
    expect(scripts.map(([name]) => name.slice('example:'.length)).sort()).toEqual(
      'adversarial autograd browser cells clipping diffusion digits eight-schools fine-tune flow flux funnel gaussian-process gpt graph-net hierarchical hmc implicit kalman lstnet mooncake nbody neural-ode own-layers pinn portfolio quickstart ranks reaction reinforce resnet rule saliency served tables tensor-parallel thurber tokenizer transformer volatility yota zygote'.split(
        ' ',
      ),
    )
    for (const [script, command] of scripts) {
      const name = script.slice('example:'.length)
      const page = command === `vite examples/${name}`
      if (!page) expect(command).toBe(`tsx examples/${name}.ts`)
      expect(existsSync(join(root, page ? `examples/${name}/index.html` : `examples/${name}.ts`))).toBe(true)
    }
  })
  const start = (...args: readonly string[]): string =>
    execFileSync(process.execPath, ['--import', 'tsx', ...args], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  it('a file started directly prints, and exits with 0', () => {
    expect(start('examples/quickstart.ts')).toMatch(/^value {2}0\.9410/)
  })
  it('a bad option is an error, and exits non-zero', () => {
    expect(() => start('examples/digits.ts', '--seed', 'one')).toThrow(/--seed takes a whole number, not one/)
  })
})

describe('quickstart', () => {
  it('value and gradient of mean(tanh(x w^T + b)), as computed by hand', () => {
    const { result, text } = told(quickstart.main)
    const y = [0.1 + 0.4 + 0.9, 0.4 + 1 + 1.8].map(Math.tanh)
    const partial = y.map((t) => (1 - t * t) / 2)
    expect(result.value).toBeCloseTo((y[0]! + y[1]!) / 2, 6)
    expect(result.w.shape).toEqual([2, 3])
    result.w.toArray().forEach((row, i) => {
      row.forEach((g, j) => {
        expect(g).toBeCloseTo(partial[i]! * [0.1, 0.2, 0.3][j]!, 6)
      })
    })
    result.b.toArray().forEach((g, i) => {
      expect(g).toBeCloseTo(partial[i]!, 6)
    })
    expect(result.square).toEqual([2, 4, 6])
    expect(result.third).toBe(6)
    expect(result.program).toMatch(/x: f32 \[32, 3\]/)
    expect(text()).toContain('shape [2,3]')
  })
})

describe('rule', () => {
  it('a primitive of one’s own: checked, differentiated twice, unknown elsewhere', () => {
    const { result } = told(rule.main)
    expect(result.samples).toBeGreaterThan(2)
    expect(result.passed).toBe(result.samples)
    const [a, b, c, d, e] = result.gradient as readonly number[]
    expect([a, c, e]).toEqual([-1, 0, 1])
    expect(b).toBeCloseTo(-Math.tanh(1), 12)
    expect(d).toBeCloseTo(Math.tanh(1), 12)
    expect((result.second as readonly number[])[0]).toBeCloseTo(1, 12)
    expect((result.second as readonly number[])[1]).toBeCloseTo(1 - Math.tanh(1) ** 2, 12)
    expect(result.missing).toMatch(/MissingRule.*logCosh/)
  })
})

describe('cells', () => {
  const { result, text } = told(cells.main)
  it('gradients of the LSTM and of the GRU have the shapes of the parameters', () => {
    expect(result.lstm.shapes).toEqual([[32], [8, 32], [3, 32]])
    expect(result.gru.shapes).toEqual([[24], [8, 24], [3, 24]])
    for (const norm of [...result.lstm.norms, ...result.gru.norms]) expect(norm).toBeGreaterThan(0)
    expect(text()).toContain('gradient of p.wh  shape [8,32]')
  })
  it('the losses are those of the recurrences written as loops', () => {
    expect(result.lstm.value).toBeCloseTo(lstmByHand(), 4)
    expect(result.gru.value).toBeCloseTo(gruByHand(), 4)
  })
})

describe('the threads', () => {
  it('Yota #134: no kernel and no buffer for a gradient that nobody asked for', () => {
    const { result } = told(yota.main)
    expect(result.gemms).toEqual({ without: 2, withX: 3 })
    expect(result.sizedAsX).toEqual({ without: 0, withX: 1 })
  })
  it('Zygote #1206: ten closures, one plan', () => {
    const { result } = told(zygote.main)
    expect([result.plans, result.misses, result.hits]).toEqual([1, 1, 9])
    // mean over the rows of (0.1 x0 + 0.2 x1 + 0.3 x2 + bias - target)^2
    result.values.forEach((value, k) => {
      const residuals = [1.4 + k + 1.5 - 1, 3.2 + k + 1.5 - 2]
      expect(value).toBeCloseTo((residuals[0]! ** 2 + residuals[1]! ** 2) / 2, 10)
    })
  })
  it('Flux #1761: one gradient buffer for all gates of a step, by split or by slices', () => {
    const { result } = told(flux.main)
    expect([result.concats, result.fills, result.perStep, result.sameForSlices]).toEqual([0, 0, 3, true])
  })
  it('autograd #219: one accumulator, memory of the tape and five buffers', () => {
    const { result } = told(autograd.main)
    expect([result.products, result.inPlace, result.copied]).toEqual([298, 99, 0])
    expect(result.peakBuffers).toBeLessThanOrEqual(104)
    expect(result.matrices).toBeLessThanOrEqual(104)
  })
  it('Mooncake #361: the gradient of a plain loop, and no allocation in steady state', () => {
    const { result, text } = told(mooncake.main)
    expect([result.allocated, result.grown, result.worst, result.steps]).toEqual([0, 0, 0, 1])
    expect(text()).toMatch(/a call: [\d.]+ us; a plain loop: [\d.]+ us/)
  })
})

describe('digits', () => {
  it('the split: 8,000 to train, 200 of each digit never seen, no image in both', () => {
    const { train, test } = loadDigits()
    expect([train.count, test.count]).toEqual([8000, 2000])
    for (let digit = 0; digit < 10; digit++) expect(test.labels.filter((l) => l === digit).length).toBe(200)
    const key = (d: { readonly images: Float32Array }, i: number): string => d.images.subarray(i * pixels, (i + 1) * pixels).join()
    const seen = new Set(Array.from({ length: train.count }, (_, i) => key(train, i)))
    expect(seen.size).toBe(8000)
    expect(Array.from({ length: test.count }, (_, i) => key(test, i)).filter((k) => seen.has(k))).toEqual([])
  })
  it('--quick: the gradient is checked, both models learn, pictures and accuracy come out', () =>
    inFolder(async (out) => {
      const { result, text } = told((log) => digits.main(log, { quick: true, seed: 2, out }))
      const { checked, distance, losses, accuracy, regressionAccuracy, files } = await result
      expect(checked).toMatchObject({ _tag: 'Right', right: { comparisons: 89 } })
      expect(distance).toBeLessThan(1e-4)
      expect(losses.length).toBe(62)
      expect(losses[0]).toBeGreaterThan(2)
      expect(Math.max(...losses.slice(-5))).toBeLessThan(1.2)
      expect(accuracy).toBeGreaterThan(0.7)
      expect(regressionAccuracy).toBeGreaterThan(0.6)
      expect(files.length).toBe(2)
      for (const file of files) {
        expect(existsSync(file)).toBe(true)
        expect(readFileSync(file, 'utf8')).toMatch(/^<svg[\s\S]*<path[\s\S]*<\/svg>$/)
      }
      expect(text()).toMatch(/^logistic regression: [\d.]+ %\ntest accuracy: [\d.]+ %$/m)
      expect(text().endsWith(`test accuracy: ${(100 * accuracy).toFixed(1)} %`)).toBe(true)
    }))
})

// ---- the recurrences of cells.ts, as loops over numbers

const wave = (rows: number, columns: number): number[][] =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => 0.4 * Math.sin(1 + 1.7 * (i * columns + j))))
const [time, batch, inputs, hidden] = [5, 4, 3, 8]
const sequence = (t: number, n: number): number[] =>
  Array.from({ length: inputs }, (_, j) => 0.4 * Math.sin(1 + 1.7 * ((t * batch + n) * inputs + j)))
const times = (x: readonly number[], w: readonly (readonly number[])[], column: number): number =>
  x.reduce((s, v, i) => s + v * w[i]![column]!, 0)
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

function lstmByHand(): number {
  const [wi, wh, [b]] = [wave(inputs, 32), wave(hidden, 32), wave(1, 32)]
  let total = 0
  for (let n = 0; n < batch; n++) {
    let [h, c] = [new Array<number>(hidden).fill(0), new Array<number>(hidden).fill(0)]
    for (let t = 0; t < time; t++) {
      const z = Array.from({ length: 32 }, (_, k) => times(sequence(t, n), wi, k) + times(h, wh, k) + b![k]!)
      c = c.map((ck, k) => sigmoid(z[hidden + k]!) * ck + sigmoid(z[k]!) * Math.tanh(z[2 * hidden + k]!))
      h = c.map((ck, k) => sigmoid(z[3 * hidden + k]!) * Math.tanh(ck))
    }
    total += h.reduce((s, x) => s + x * x, 0)
  }
  return total
}

function gruByHand(): number {
  const [wi, wh, [b]] = [wave(inputs, 24), wave(hidden, 24), wave(1, 24)]
  let total = 0
  for (let n = 0; n < batch; n++) {
    let h = new Array<number>(hidden).fill(0)
    for (let t = 0; t < time; t++) {
      const x = Array.from({ length: 24 }, (_, k) => times(sequence(t, n), wi, k) + b![k]!)
      const y = Array.from({ length: 24 }, (_, k) => times(h, wh, k))
      h = h.map((hk, k) => {
        const r = sigmoid(x[k]! + y[k]!)
        const z = sigmoid(x[hidden + k]! + y[hidden + k]!)
        return (1 - z) * Math.tanh(x[2 * hidden + k]! + r * y[2 * hidden + k]!) + z * hk
      })
    }
    total += h.reduce((s, x) => s + x * x, 0)
  }
  return total
}
