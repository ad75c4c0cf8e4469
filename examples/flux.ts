// Flux.jl #1761: the gates of an LSTM are slices of one matrix; each slice's pullback made a full buffer of zeros, four for every time
// step. One `split`, or four `slice`s: here both give the same plan, whose backward kernel writes the gates' gradient once, in place.
import {
  add,
  compile,
  cpu,
  type Explanation,
  type Expr,
  f32,
  fn,
  matmul,
  mul,
  sigmoid,
  slice,
  split,
  square,
  sum,
  tanh,
  unstack,
  valueAndGrad,
  zeros,
} from '../src/index.js'
import { expectThat, type Log, start } from './entry.js'

const batch = 256
const hidden = 64
type State = Expr<readonly [256, 64], 'f32'>
type Gates = Expr<readonly [256, 256], 'f32'>

/** One primitive with four results; its pullback is one concat. */
const bySplit = (z: Gates) => split(z, 4, { axis: -1 })
/** Four slices; their pullbacks tile one buffer. */
const bySlices = (z: Gates) =>
  [slice(z, [0, 0], [256, 64]), slice(z, [0, 64], [256, 128]), slice(z, [0, 128], [256, 192]), slice(z, [0, 192], [256, 256])] as const

/** The plan of value and gradient of an LSTM over `time` steps. */
const planOf = (time: number, cut: (z: Gates) => readonly [State, State, State, State]): Explanation => {
  const lstm = fn({ xs: f32(time, batch, hidden), Wi: f32(64, 256), Wh: f32(64, 256), b: f32(256) }, ({ xs, Wi, Wh, b }) => {
    let h: State = zeros([256, 64], 'f32')
    let c: State = zeros([256, 64], 'f32')
    for (const z of unstack(add(matmul(xs, Wi), b))) {
      const [i, f, g, o] = cut(add(z as Gates, matmul(h, Wh)))
      c = add(mul(sigmoid(f), c), mul(sigmoid(i), tanh(g)))
      h = mul(sigmoid(o), tanh(c))
    }
    return sum(square(h))
  })
  return compile(valueAndGrad(lstm, { wrt: ['Wi', 'Wh', 'b'] }), cpu()).explain()
}

const gatesBytes = 4 * batch * 4 * hidden
/** Distinct buffers of the gates' size that a plan writes. */
const gateBuffers = (plan: Explanation): number =>
  new Set(plan.steps.flatMap((s) => s.writes).filter((w) => w.endsWith(`(${gatesBytes} B)`))).size
/** Kernels that read nothing but literals: fills. */
const fills = (plan: Explanation): number => plan.steps.filter((s) => s.reads.every((r) => r.startsWith('literal'))).length

export const main = (log: Log) => {
  const whole = planOf(32, bySplit)
  const slices = planOf(32, bySlices)
  const perStep = gateBuffers(whole) - gateBuffers(planOf(31, bySplit))
  const concats = whole.counts.concat ?? 0
  const sameForSlices = JSON.stringify(whole.steps) === JSON.stringify(slices.steps)

  log(
    'Flux.jl #1761: LSTM 2x64, batch 256: four zero-filled buffers of the size of all gates for each time step; 68.95 s became 63.45 s by views.',
  )
  log(
    `codual, 32 steps: ${whole.counts.gemm} products, ${whole.counts.loop} fused loops, ${concats} separate concats, ${fills(whole)} fills, peak ${(whole.peakBytes / 2 ** 20).toFixed(1)} MiB`,
  )
  log(`one more time step: ${perStep} buffers of the gates' size: from the input, from the state, and one gradient for all four gates`)
  log(`split and four slices: ${sameForSlices ? 'the same plan' : 'different plans'}`)

  expectThat(concats === 0 && fills(whole) === 0, 'no concat and no fill of its own')
  expectThat(perStep === 3, 'one gradient buffer for the gates of a step')
  expectThat(sameForSlices, 'slices and split have one plan')
  return { counts: whole.counts, concats, fills: fills(whole), perStep, sameForSlices, peakBytes: whole.peakBytes }
}

start(import.meta.url, main)
