// What users read has none of the patterns of docs/style.md; and each of these has an example there, which it finds.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cellsOf } from '../../scripts/docs/extract.js'
import { root } from '../../scripts/docs/public-names.js'
import { findings, patterns, texts } from './english.js'

const style = readFileSync(join(root, 'docs/style.md'), 'utf8')
const pairs = [...style.matchAll(/^\|.*\|$/gm)].slice(2).map((row) => cellsOf(row[0]))

it('pages, docstrings and messages are in plain English', () => {
  const read = texts()
  expect(read.length).toBeGreaterThan(5000)
  expect(read.flatMap(([where, text]) => findings(text).map((finding) => `${where}: ${finding}`))).toEqual([])
})
it('the page of style has twenty pairs: what is not to be written is found, what is to be written is not', () => {
  expect(pairs.length).toBeGreaterThanOrEqual(20)
  expect(pairs.filter(([not]) => findings(not!).length === 0)).toEqual([])
  expect(pairs.filter(([, but]) => findings(but!).length > 0)).toEqual([])
})
it('every pattern has an example on the page', () => {
  expect(patterns.filter(([pattern]) => !pairs.some(([not]) => pattern.test(not!))).map(([pattern]) => String(pattern))).toEqual([])
})
it('words are found across the lines of a docstring', () => {
  expect(findings('/**\n * All of it is held\n * against others.\n */')).toEqual(['"held against": write compared with, tested against'])
})
