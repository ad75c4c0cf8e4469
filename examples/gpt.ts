// A small GPT learns a rhyme by heart, character by character, and says it with a cache. `npm run example:gpt`
//
// The layers are those of codual/nn: an embedding that is its own way back, and a stack of causal transformer blocks, as one loop, whose positions are
// distances (ALiBi), so that it goes on behind the windows that it was trained on (Vaswani et al. 2017; Press et al. 2022). Saying takes one compiled plan: a step reads one character, and a cache of what was read before.
import {
  add,
  arange,
  argmax,
  compile,
  cpu,
  crossEntropy,
  evaluate,
  expandDims,
  explain,
  fn,
  gather,
  i32,
  reshape,
  softmax,
  type Tensor,
  type Tensors,
  tensor,
  valueAndGrad,
} from '../src/index.js'
import { embedding, transformer } from '../src/nn/index.js'
import { adam, applyUpdates, warmupCosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, type Key, key, randint } from '../src/random/index.js'
import { train } from '../src/train/index.js'
import { progressBar } from '../src/train/node.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface GptOptions {
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}

const parts: readonly (readonly [what: string, did: string])[] = [
  ['house', 'that Jack built'],
  ['malt', 'that lay in'],
  ['rat', 'that ate'],
  ['cat', 'that killed'],
  ['dog', 'that worried'],
  ['cow', 'that tossed'],
]
/** The rhyme: each verse is the one before it with a line in front. */
export const rhyme = parts
  .map((_, n) => `This is ${parts.slice(0, n + 1).reverse().map(([what, did]) => `the ${what} ${did}`).join(' ')}.\n`) // biome-ignore format: one verse
  .join('')
const characters = [...new Set(rhyme)].sort()
const numbers = Int32Array.from(rhyme, (c) => characters.indexOf(c))

/** Characters that are read at once, and numbers that stand for each. */
const [time, width] = [48, 32] as const
const words = embedding(characters.length, width)
const stack = transformer(width, 4, 2, { causal: true, positions: 'alibi', hidden: 96 })
export const declared = { words: words.declared, stack: stack.declared }
export const initial = (seed: number): Tensors<typeof declared> => ({
  words: words.init(foldIn(key(seed), 0)),
  stack: stack.init(foldIn(key(seed), 1)),
})

/** How likely each character is next, behind each place of the windows. */
export const scores = fn({ p: declared, x: i32('n', 't') }, ({ p, x }) =>
  words.attend(p.words, stack.apply(p.stack, words.apply(p.words, x))),
)
/** Windows of the rhyme, and what follows each of their characters. */
export const windows = (k: Key, count: number) => {
  const starts = randint(k, [count], 0, rhyme.length - time)
  const places = add(expandDims(starts, 1), arange(time, 'i32'))
  const text = tensor(numbers)
  return { x: gather(text, places), y: gather(text, add(places, 1)) }
}
/** -log of the chance of the right character, in the mean. */
export const loss = fn({ p: declared, x: i32('n', 't'), y: i32('n', 't') }, ({ p, x, y }) => crossEntropy(scores({ p, x }), y))

/** One character read: how likely each is next, and the cache behind it. */
export const step = fn({ p: declared, cache: stack.declaredCache(1, rhyme.length), x: i32(1, 1) }, ({ p, cache, x }) => {
  const [next, h] = stack.step(p.stack, cache, words.apply(p.words, x))
  return { cache: next, chances: softmax(reshape(words.attend(p.words, h), [-1])) }
})
/** So many characters behind a beginning, each the likeliest, and the chances of each. */
export const say = (p: Tensors<typeof declared>, beginning: string, count: number) => {
  const run = compile(step, cpu())
  let cache = stack.initCache(1, rhyme.length)
  let said = beginning
  const chances: Tensor[] = []
  for (let i = 0; said.length < beginning.length + count; i++) {
    const made = run({ p, cache, x: [[characters.indexOf(said[i]!)]] })
    cache = made.cache
    chances.push(made.chances)
    if (i === said.length - 1) said += characters[evaluate(argmax(made.chances)).item()]
  }
  return { said, chances }
}

export const main = async (log: Log, { steps = 600, seed = 1, out = 'out' }: GptOptions = {}) => {
  const optimiser = adam({
    learningRate: warmupCosineDecaySchedule({ peakValue: 0.004, warmupSteps: Math.ceil(steps / 20), decaySteps: steps }),
  })
  const learn = compile(
    fn({ p: declared, state: optimiser.init(declared), key: i32(2) }, ({ p, state, key }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, ...windows(key, 16) })
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { p: applyUpdates(p, updates), state: next, value }
    }),
    cpu(),
  )
  const p = initial(seed)
  const keys = { steps, at: (_epoch: number, i: number) => evaluate(foldIn(key(seed), i)) }
  const run = await train(
    (state: { readonly p: Tensors<typeof declared>; readonly state: ReturnType<typeof optimiser.init<Tensors<typeof declared>>> }, key) => {
      const { value, ...next } = learn({ ...state, key })
      return { state: next, loss: value }
    },
    keys,
    { epochs: 1, state: { p, state: optimiser.init(p) }, onProgress: progressBar({ name: 'gpt' }) },
  )()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const losses = run.right.metrics.map(({ loss }) => loss)
  const learned = run.right.state.p
  log(`loss: from ${losses[0]!.toFixed(3)} to ${losses.at(-1)!.toFixed(3)}; of a guess: ${Math.log(characters.length).toFixed(3)}`)

  // Behind "This is the " any verse may come: what stands in a window does not say which. Each that comes is one of the rhyme's.
  const { said, chances } = say(learned, rhyme.slice(0, 60), 240)
  log(said)
  const verses = said.split('\n').slice(0, -1)
  const right = verses.filter((verse) => rhyme.split('\n').includes(verse)).length
  log(`${right} of ${verses.length} whole verses are those of the rhyme`)
  // A run of a few steps is a look at the parts.
  expectThat(steps < 400 || (right === verses.length && right > 2), 'whole verses of the rhyme')
  const file = await plot(out, 'gpt', {
    title: 'A rhyme learned by heart',
    x: 'step',
    y: 'loss (nats for each character)',
    logY: true,
    lines: { loss: losses.map((l, i) => [i, l]) },
  })
  log(`picture: ${file}`)
  return { losses, said, chances, verses, right, learned, file }
}

start(import.meta.url, main)
