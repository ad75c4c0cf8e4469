/** The tokenizer: ids that are known, texts that come back, merges that are those of the poem; the model learns it and says how it goes on. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as example from '../../examples/tokenizer.js'
import { crossEntropy, type Expr, slice } from '../../src/index.js'
import { key } from '../../src/random/index.js'
import { alongGradient, pictured } from './told.js'

const { ids, poem, tokenizer } = example
const file = JSON.parse(readFileSync(new URL('../../examples/data/walrus-tokenizer.json', import.meta.url), 'utf8')) as {
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly string[] }
}

describe('the tokenizer of the example', () => {
  it('gives ids that are known, and the text back', () => {
    expect(tokenizer.encode('The Walrus and the Carpenter').ids).toEqual(byHand('The Walrus and the Carpenter'))
    expect(tokenizer.encode('The sun was shining on the sea,').tokens.join('|')).toBe('The|Ġsun|Ġwas|Ġshining|Ġon|Ġthe|Ġsea|,')
    expect(ids.slice(0, 10)).toEqual([266, 449, 288, 441, 346, 263, 339, 12, 199, 51])
    expect(ids).toEqual(byHand(poem))
    expect(tokenizer.decode([...ids])).toBe(poem)
    expect(tokenizer.encode('Oyster<|end|>').ids.at(-1)).toBe(0)
    // What the poem has not are bytes, of which every text consists.
    const other = 'Grüße, 海 42!'
    expect(tokenizer.encode(other).ids).toEqual(byHand(other))
    expect(tokenizer.decode(tokenizer.encode(other).ids)).toBe(other)
  })
  it('has the merges of the pairs that are most frequent in the poem, one after the other', () => {
    const { vocab, merges } = file.model
    const counted = new Map<string, number>()
    for (const word of wordsOf(poem)) counted.set(word, (counted.get(word) ?? 0) + 1)
    let parts = [...counted].map(([word, count]) => ({ word: [...word], count }))
    for (const merge of merges) {
      const pairs = new Map<string, number>()
      for (const { word, count } of parts)
        for (let i = 0; i + 1 < word.length; i++)
          pairs.set(`${word[i]} ${word[i + 1]}`, (pairs.get(`${word[i]} ${word[i + 1]}`) ?? 0) + count)
      expect(pairs.get(merge)).toBe(Math.max(...pairs.values()))
      const joined = merge.replace(' ', '')
      parts = parts.map(({ word, count }) => ({ word: merged(word, merge), count }))
      expect(vocab[joined]).toBeGreaterThan(256)
    }
  })
})

describe('tokenizer', () => {
  it('the loss falls, and what is said is the poem', async () => {
    const { result, text } = await pictured((log, out) => example.main(log, { epochs: 5, out }))
    expect(result.losses[0]).toBeLessThan(Math.log(457))
    for (const [i, loss] of result.losses.slice(1).entries()) expect(loss).toBeLessThan(result.losses[i]!)
    expect(result.losses.at(-1)).toBeLessThan(0.7)
    expect(result.right).toBeGreaterThan(20)
    expect(result.text.startsWith(poem.slice(0, 150))).toBe(true)
    expect(text).toMatch(/^2004 characters are 820 tokens/)
  })
  it('along the gradient of the loss by the numbers of the tokens, the loss grows as fast as the gradient says', () => {
    const { x, y } = example.windows()
    const [p, few] = [example.model.init(key(1)), (t: typeof x) => slice(t, [0, 0], [4, 32]) as unknown as Expr<[number, 32], 'i32'>]
    const of = (table: Expr) =>
      crossEntropy(example.model.apply({ ...p, words: { ...p.words, ...({ [first]: table } as object) } }, few(x)), few(y))
    const [first, table] = Object.entries(p.words)[0]!
    for (const h of [0.03, 0.01]) expect(alongGradient(of, table as never, h)).toBeCloseTo(1, 1)
  })
})

// ---- byte pair encoding once more, by its definition

/** The words of a text as GPT-2 splits them, each byte a letter of its alphabet. */
function wordsOf(text: string): readonly string[] {
  return (text.match(/'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu) ?? []).map((word) =>
    Array.from(new TextEncoder().encode(word), letter).join(''),
  )
}
function letter(byte: number): string {
  const printed = (b: number): boolean => (b > 32 && b < 127) || (b > 160 && b !== 173)
  const before = Array.from({ length: byte }, (_, b) => b).filter((b) => !printed(b)).length
  return String.fromCharCode(printed(byte) ? byte : 256 + before)
}
function merged(word: readonly string[], merge: string): string[] {
  const out: string[] = []
  for (let i = 0; i < word.length; i++) {
    if (`${word[i]} ${word[i + 1]}` === merge) {
      out.push(word[i]! + word[i + 1]!)
      i++
    } else out.push(word[i]!)
  }
  return out
}
function byHand(text: string): readonly number[] {
  const { vocab, merges } = file.model
  return wordsOf(text).flatMap((word) =>
    merges.reduce((parts: readonly string[], merge) => merged(parts, merge), [...word]).map((t) => vocab[t]!),
  )
}
