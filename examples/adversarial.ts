// Pictures that hardly differ, and a network of others says the opposite of them: gradients with respect to the input. `npm run example:adversarial`
//
// The network says which way up a line of text is (PaddleOCR's, read by fromONNX). One step along the sign of the gradient (Goodfellow et al. 2015), or ten
// small ones that stay within the same distance of the picture (Madry et al. 2018): every pixel changes by 4 of 255 levels at most. Noise of that size does nothing.
import { add, at, clamp, compile, cpu, f32, fn, grad, maximum, minimum, mul, sign, sub, sum, type Tensor } from '../src/index.js'
import { key, rademacher } from '../src/random/index.js'
import { height, loadLines, scores, textDirection, width } from './data/lines.js'
import { expectThat, type Log, start } from './entry.js'
import { type Pixel, pictures } from './pictures.js'

export interface AdversarialOptions {
  /** How many of 255 levels a pixel may change. */
  readonly levels?: number
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}
const lines = f32('n', 3, height, width)
type Lines = Tensor<[number, 3, 48, 192], 'f32'>

const whole = textDirection()
/** How likely each line is upright, says the network. */
export const upright = fn({ x: lines }, ({ x }) => at(whole.apply(whole.params, x), ':', 0))

/** The network without its last softmax, whose derivatives vanish where it is sure. */
const open = textDirection({ outputs: [scores] })
/** How much more the network is for upright than for upside down, summed over the lines: each has a gradient of its own. */
export const margin = fn({ x: lines }, ({ x }) => {
  const z = open.apply(open.params, x)
  return sum(sub(at(z, ':', 0), at(z, ':', 1)))
})
/** A step against the margin, within eps of the picture and between black and white. */
export const attack = fn({ x: lines, from: lines, step: f32(), eps: f32() }, ({ x, from, step, eps }) => {
  const moved = sub(x, mul(step, sign(grad(margin, { wrt: 'x' })({ x }))))
  return clamp(maximum(sub(from, eps), minimum(moved, add(from, eps))), -1, 1)
})

export const main = async (log: Log, { levels = 4, steps = 10, seed = 1, out = 'out' }: AdversarialOptions = {}) => {
  const from = await loadLines()
  const [say, step] = [compile(upright, cpu()), compile(attack, cpu())]
  const eps = levels / 127.5 // pictures go from -1 to 1
  const chances = (x: Lines): readonly number[] => Array.from(say({ x }).data)
  const once = step({ x: from, from, step: eps, eps }) as Lines
  let found = from
  for (let i = 0; i < steps; i++) found = step({ x: found, from, step: eps / 4, eps }) as Lines
  // Each pixel eps darker or lighter, by chance.
  const noisy = compile(
    fn({ x: lines }, ({ x }) => clamp(add(x, mul(eps, rademacher(key(seed), from.shape, { dtype: 'f32' }))), -1, 1)),
    cpu(),
  )({ x: from }) as Lines
  const said = { before: chances(from), noise: chances(noisy), once: chances(once), found: chances(found) }
  const shown = (list: readonly number[]): string => list.map((p) => p.toFixed(3)).join('  ')
  log(`how likely each line is upright, says the network:        ${shown(said.before)}`)
  log(`with noise of ${levels} of 255 levels:                           ${shown(said.noise)}`)
  log(`after one step along the sign of the gradient:            ${shown(said.once)}`)
  log(`after ${steps} smaller ones:                                     ${shown(said.found)}`)
  const furthest = from.data.reduce((m, v, i) => Math.max(m, Math.abs(v - found.data[i]!)), 0)
  log(`the furthest pixel has moved by ${(127.5 * furthest).toFixed(2)} of 255 levels`)
  expectThat(levels < 4 || steps < 10 || said.found.every((p) => p < 0.5), 'every line said to be upside down')

  /** A value of every pixel of a line: the mean of its colours. */
  const rowsOf = (f: (i: number) => number, line: number): readonly (readonly Pixel[])[] =>
    Array.from({ length: height }, (_, r) =>
      Array.from({ length: width }, (_, c) => {
        const place = 3 * line * height * width + r * width + c
        return [0, 1, 2].reduce((s, k) => s + f(place + k * height * width) / 3, 0)
      }),
    )
  const sure = (p: number): string => (p > 0.5 ? `upright (${(100 * p).toFixed(1)} %)` : `upside down (${(100 * (1 - p)).toFixed(1)} %)`)
  const file = await pictures(out, 'adversarial', {
    title: `At most ${levels} of 255 levels in each pixel`,
    panels: [0, 4].flatMap((line) => [
      { title: sure(said.before[line]!), rows: rowsOf((i) => (from.data[i]! + 1) / 2, line) },
      { title: 'the difference, enlarged', rows: rowsOf((i) => 0.5 + (found.data[i]! - from.data[i]!) / (2 * eps), line) },
      { title: sure(said.found[line]!), rows: rowsOf((i) => (found.data[i]! + 1) / 2, line) },
    ]),
    width: 384,
  })
  log(`picture: ${file}`)
  return { said, furthest: furthest / eps, from, once, found, file }
}
start(import.meta.url, main)
