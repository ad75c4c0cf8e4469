// A language model over the tokens of a Hugging Face tokenizer.json: it learns a poem by heart, and says how it goes on. `npm run example:tokenizer`
//
// The library @huggingface/tokenizers reads the file and needs no network. Here it is byte pair encoding (Sennrich et al. 2016) with 200 merges, found in the poem itself (Lewis Carroll, 1871); the file of
// any other model is read in the same way. Texts become whole numbers, which `batches` and `fit` take; a model is an embedding that is its own way back, and a stack of causal blocks.
import { readFileSync } from 'node:fs'
import { Tokenizer } from '@huggingface/tokenizers'
import { argmax, at, compile, cpu, type Expr, type Exprs, explain, fn, i32, tensor } from '../src/index.js'
import { embedding, transformer } from '../src/nn/index.js'
import { adam, cosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, type Key } from '../src/random/index.js'
import { fit } from '../src/train/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface TokenizerOptions {
  readonly epochs?: number
  readonly seed?: number
  readonly out?: string
}
const read = (name: string): string => readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8')
export const poem = read('walrus.txt')
// The second file that models come with, tokenizer_config.json, is empty here.
export const tokenizer = new Tokenizer(JSON.parse(read('walrus-tokenizer.json')), {})
export const ids = tokenizer.encode(poem).ids
/** How many tokens there are, how many are read at once, and how many numbers stand for each. */
const [tokens, time, width] = [457, 32, 48] as const

const words = embedding(tokens, width)
const stack = transformer(width, 4, 2, { causal: true, positions: 'alibi', hidden: 96 })
const declared = { words: words.declared, stack: stack.declared }
export const model = {
  declared,
  init: (key: Key) => ({ words: words.init(foldIn(key, 0)), stack: stack.init(foldIn(key, 1)) }),
  /** How likely each token is next, behind each of the windows' places: scores. */
  apply: (p: Exprs<typeof declared>, x: Expr<[number, 32], 'i32'>) => words.attend(p.words, stack.apply(p.stack, words.apply(p.words, x))),
}
/** All windows of the poem, and what follows each of their tokens. */
export const windows = () => {
  const starts = Array.from({ length: ids.length - time }, (_, i) => i)
  const of = (from: number) => tensor(Int32Array.from(starts.flatMap((s) => ids.slice(s + from, s + from + time))), [starts.length, time])
  return { x: of(0), y: of(1) }
}

export const main = async (log: Log, { epochs = 6, seed = 1, out = 'out' }: TokenizerOptions = {}) => {
  log(`${poem.length} characters are ${ids.length} tokens: ${tokenizer.encode(poem.slice(0, 31)).tokens.join(' ')}`)
  const data = windows()
  const run = await fit(model, data, {
    loss: 'crossEntropy',
    optimizer: adam({ learningRate: cosineDecaySchedule({ initValue: 0.005, decaySteps: epochs * Math.ceil(data.x.shape[0] / 32) }) }),
    epochs,
    key: seed,
  })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { params, history } = run.right
  log(`loss: ${history.loss.map((l) => l.toFixed(2)).join(', ')}; of a guess: ${Math.log(tokens).toFixed(2)}`)

  // The likeliest token behind the last ones, again and again.
  const next = compile(
    fn({ p: declared, x: i32(1, time) }, ({ p, x }) => argmax(at(model.apply(p, x), 0, -1))),
    cpu(),
  )
  const said = ids.slice(0, time)
  while (said.length < 120) said.push(next({ p: params, x: [said.slice(-time)] }).item())
  const text = tokenizer.decode(said)
  const right = said.findIndex((id, i) => id !== ids[i])
  log(text)
  log(`${(right < 0 ? said.length : right) - time} of ${said.length - time} tokens are those of the poem before the first other one`)
  expectThat(epochs < 6 || history.loss.at(-1)! < 0.5, 'a poem that is known by heart')
  const file = await plot(out, 'tokenizer', {
    title: 'A poem learned by heart, token by token',
    x: 'epoch',
    y: 'loss (nats for each token)',
    logY: true,
    lines: { loss: history.loss.map((l, i) => [i + 1, l]) },
  })
  log(`picture: ${file}`)
  return { losses: history.loss, said, text, right: (right < 0 ? said.length : right) - time, file }
}
start(import.meta.url, main)
