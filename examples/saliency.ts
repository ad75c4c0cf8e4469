// What a model of speech listens to: the gradient of its score by the sound, over the sound's spectrogram. `npm run example:saliency`
//
// The model is Silero VAD (MIT License, github.com/snakers4/silero-vad), as the npm package @ricky0123/vad-web has it: it says of each 32 ms of a sound how likely it is speech. The sound is made here:
// three vowels by pulses and formants (Klatt 1980), then a whistle and a hiss. Each cell of its spectrogram gets a gain of 1, and the derivatives by these gains say how much the score would grow
// if that cell were louder; they go through the model, the loop over time and the inverse transform.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  compile,
  concat,
  cpu,
  div,
  type Expr,
  evaluate,
  explain,
  f32,
  fn,
  grad,
  istft,
  log as ln,
  mul,
  reshape,
  scan,
  slice,
  stft,
  sub,
  sum,
  type Tensor,
  tensor,
  zeros,
} from '../src/index.js'
import { fromONNX } from '../src/onnx/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { type Pixel, pictures } from './pictures.js'

export interface SaliencyOptions {
  readonly seed?: number
  readonly out?: string
}
/** Samples in a second, in a step of the model, and of the step before that the model reads again. */
const [rate, step, before] = [16_000, 512, 64] as const
/** Frames of the spectrogram: their size, and how far apart they are. */
const frame = { size: 512, hop: 128 } as const

// ---- the sound

/** Frequencies of the formants of vowels: Peterson and Barney 1952. */
const formants = { a: [730, 1090, 2440, 3400], e: [530, 1840, 2480, 3500], i: [270, 2290, 3010, 3500], o: [570, 840, 2410, 3300], u: [300, 870, 2240, 3300] } // biome-ignore format: a table
const bandwidths = [80, 90, 120, 150]
type Vowel = keyof typeof formants
/** One vowel that becomes another: pulses of a falling pitch, through four resonances. */
const vowels = (from: Vowel, to: Vowel, seconds: number, pitch: number): readonly number[] => {
  const n = Math.round(seconds * rate)
  const last = bandwidths.map(() => [0, 0] as [number, number])
  let phase = 0
  const wave = Array.from({ length: n }, (_, i) => {
    const u = i / n
    phase += (pitch * (1.1 - 0.25 * u)) / rate
    let x = phase >= 1 ? 1 : 0
    phase %= 1
    bandwidths.forEach((bandwidth, k) => {
      const r = Math.exp((-Math.PI * bandwidth) / rate)
      const c = 2 * r * Math.cos((2 * Math.PI * (formants[from][k]! * (1 - u) + formants[to][k]! * u)) / rate)
      const [one, two] = last[k]!
      x = x * (1 - c + r * r) + c * one - r * r * two
      last[k] = [x, one]
    })
    return x * Math.sin((Math.PI / 2) * Math.min(1, 5 * u, 5 * (1 - u))) ** 2
  })
  const largest = Math.max(...wave.map(Math.abs))
  return wave.map((x) => (0.3 * x) / largest)
}
/** A sound of so many seconds: vowels, a whistle of 1 kHz, a hiss; all in a little noise. */
export const sound = (seed: number): Tensor<[number], 'f32'> => {
  const draw = normals(seed)
  const noise = Array.from({ length: 4 * rate }, draw)
  const silence = (seconds: number) => new Array<number>(Math.round(seconds * rate)).fill(0)
  const parts = [
    silence(0.3),
    vowels('o', 'a', 0.3, 120),
    silence(0.05),
    vowels('i', 'e', 0.25, 130),
    silence(0.05),
    vowels('a', 'u', 0.35, 110),
    silence(0.4),
    Array.from({ length: rate / 2 }, (_, i) => 0.3 * Math.sin((2 * Math.PI * 1000 * i) / rate)),
    silence(0.3),
    noise.slice(0, rate / 2).map((x) => 0.1 * x),
    silence(0.3),
  ].flat()
  const whole = parts.slice(0, step * Math.floor(parts.length / step))
  return tensor(Float32Array.from(whole, (x, i) => x + 0.0005 * noise[i]!))
}

// ---- the model

const read = () => {
  const folder = dirname(createRequire(import.meta.url).resolve('@ricky0123/vad-web'))
  // The rate of samples decides which of two networks the file runs, so that it must be known.
  const model = fromONNX(readFileSync(join(folder, 'silero_vad_v6.onnx')), { constants: { sr: rate } })
  if (model._tag === 'Left') throw new Error(explain(model.left))
  return model.right
}
const model = read()

/** How likely each step of a sound is speech: the model reads a step and the end of the one before it, and hands its state on. */
export const speech = fn({ x: f32('samples') }, ({ x }) => {
  const steps = reshape(x, [-1, step])
  const n = steps.shape[0]
  const ends = concat([zeros([1, before], 'f32'), slice(steps, [0, step - before], [n - 1, step])])
  return scan(
    (state: Expr<[2, 1, 128], 'f32'>, input: Expr<[number], 'f32'>) => {
      const { output, stateN } = model.f({ params: model.params, inputs: { input: reshape(input, [1, -1]), state } })
      return [stateN as typeof state, reshape(output!, [])]
    },
    zeros([2, 1, 128], 'f32'),
    concat([ends, steps], { axis: 1 }),
  )[1]
})
/** The log odds of speech in the mean of the steps with a weight, of a sound whose spectrogram has these gains. */
export const score = fn({ gains: f32(257, 'frames'), x: f32('samples'), weights: f32('steps') }, ({ gains, x, weights }) => {
  const { re, im } = stft(x, frame)
  const heard = istft({ re: mul(gains, re), im: mul(gains, im) }, { ...frame, length: x.shape[0] })
  const p = speech({ x: heard })
  return div(sum(mul(weights, sub(ln(p), ln(sub(1, p))))), sum(weights))
})

export const main = async (log: Log, { seed = 1, out = 'out' }: SaliencyOptions = {}) => {
  const x = sound(seed)
  const say = compile(speech, cpu())
  const chances = Array.from(say({ x }).data)
  const seconds = (i: number): string => ((i * step) / rate).toFixed(2)
  const weights = tensor(
    chances.map((p) => (p > 0.5 ? 1 : 0)),
    [chances.length],
    'f32',
  )
  const heard = chances.flatMap((p, i) => (p > 0.5 ? [i] : []))
  log(`speech from ${seconds(heard[0]!)} s to ${seconds(heard.at(-1)! + 1)} s, says the model`)
  const spectrum = evaluate(stft(x, frame))
  const [, frames] = spectrum.re.shape
  const ones = tensor(new Float32Array(257 * frames).fill(1), [257, frames])
  const saliency = compile(grad(score, { wrt: 'gains' }), cpu())({ gains: ones, x, weights })
  const total = saliency.data.reduce((s, v) => s + v, 0)
  log(`if all of it were louder, the log odds would change by ${total.toFixed(2)} for each factor of e`)

  // Is it what the model listens to? It hears the sound without one in 400 of the cells: those that matter most, or the loudest.
  const count = Math.round(saliency.data.length / 400)
  const loudness = spectrum.re.data.map((v, i) => Math.hypot(v, spectrum.im.data[i]!))
  const most = (of: ArrayLike<number>): readonly number[] => Array.from({ length: of.length }, (_, i) => i).sort((a, b) => of[b]! - of[a]!).slice(0, count) // biome-ignore format: one line
  const ask = compile(score, cpu())
  const without = (cells: readonly number[]): number => {
    const gains = Float32Array.from(ones.data)
    for (const i of cells) gains[i] = 0
    return ask({ gains: tensor(gains, [257, frames]), x, weights }).item()
  }
  const found = { whole: ask({ gains: ones, x, weights }).item(), salient: without(most(saliency.data)), loudest: without(most(loudness)) }
  log(
    `log odds of speech: ${found.whole.toFixed(2)}; without the ${count} cells that matter most ${found.salient.toFixed(2)}, without the ${count} loudest ${found.loudest.toFixed(2)}`,
  )
  expectThat(found.salient < 0 && found.loudest > 1, 'no speech without the cells that matter most, and speech without the loudest')

  const shown = 129 // up to 4 kHz
  const end = x.shape[0] / rate
  const axes = { x: { name: 'seconds', end }, y: { name: 'Hz', end: 4000 } }
  const rowsOf = (f: (i: number) => Pixel): readonly (readonly Pixel[])[] =>
    Array.from({ length: shown }, (_, r) => Array.from({ length: frames }, (_, t) => f((shown - 1 - r) * frames + t)))
  /** From 0 for 70 dB below the loudest cell to 1 for that. */
  const loudest = Math.max(...loudness)
  const level = (i: number): number => Math.max(0, 1 + (20 * Math.log10(loudness[i]! / loudest + 1e-9)) / 70)
  const largest = Math.abs(saliency.data[most(saliency.data.map(Math.abs)).at(-1)!]!)
  const painted = (i: number): Pixel => {
    const ground = 1 - 0.45 * level(i)
    const s = Math.max(-1, Math.min(1, saliency.data[i]! / largest))
    const a = Math.sqrt(Math.abs(s))
    const [red, green, blue] = s > 0 ? [0.8, 0.1, 0.1] : [0.1, 0.3, 0.8]
    return [ground * (1 - a) + red * a, ground * (1 - a) + green * a, ground * (1 - a) + blue * a]
  }
  const file = await pictures(out, 'saliency', {
    title: 'What a model of speech listens to',
    panels: [
      { title: 'how likely speech, from white to black', rows: [chances.map((p) => 1 - p)], x: { name: '', end }, height: 20 },
      { title: 'the sound: vowels, a whistle, a hiss', rows: rowsOf((i) => 1 - level(i)), ...axes },
      { title: 'louder here is more like speech (red), or less (blue)', rows: rowsOf(painted), ...axes },
    ],
    width: 560,
  })
  log(`picture: ${file}`)
  return { x, chances, saliency, found, total, frames, weights, file }
}
start(import.meta.url, main)
