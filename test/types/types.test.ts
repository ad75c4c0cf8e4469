// The type level, some of it, in one program: fixtures, errors that name both shapes at the argument that clashes, calls under type parameters and drawn ones. *.deep.test.ts have all of it.
import { describe, expect, it } from 'vitest'
import * as operations from '../operations.js'
import { drawnCalls, HEAD, KNOWLEDGE, suits, written } from './drawn/calls.js'
import { RANDOM_HEAD, ROWS, randomWritten } from './drawn/random.js'
import { compile, compileAll, lineOf, listed, message, spanOf, textOf } from './harness.js'
import { CALLS } from './parameters/calls.js'
import { programOf, SETTINGS } from './parameters/program.js'

/** A fixture as a file one folder further down. */
const below = (text: string): string => text.replaceAll("'../../../src/", "'../../../../src/").replaceAll("'./", "'../")
const NAMES = ['ops', 'shapes', 'lenet', 'errors', 'first-hour', 'lists', 'any-tree']
/** Without its expectations: what the compiler says is looked at. */
const told = (name: string): string => textOf(name).replaceAll('@ts-expect-error', 'expected')
const wrongOp = textOf('ops').replace('is(a.dot(v, v))<F<[]>>()', 'is(a.dot(v, v))<F<[1]>>()')
const staleError = textOf('errors').replace('a.add(m23, m45)', 'a.add(m23, m23)')

const parameters = KNOWLEDGE.find((k) => k.name === 'parameters')!
const drawn = drawnCalls(1, 60, 1).filter((c) => suits(c, parameters) && c.step.op !== 'crossEntropy')
const matmul = drawnCalls(1, 300, 1).find((c) => c.step.op === 'matmul')!
const oneCall = HEAD + written(matmul, parameters, 0)
const wrongCall = oneCall.replace(/given<Real<\[/g, 'given<Real<[99, ')
const refusedCall = oneCall.replace(/cd\.matmul\((\w+), (\w+)/, 'cd.matmul($1, [$2, $2, "x"]')
const randomRows = RANDOM_HEAD + ROWS.map((row, i) => randomWritten(row, 'parameter', i)).join('\n')
const generic = (names: string[]): string => programOf('../../../../src/index.js', SETTINGS.slice(0, 1), names, ['cd.add(y, y)'])

const texts: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NAMES.map((name) => [name, below(textOf(name))])),
  'told errors': below(told('errors')),
  'told optim': below(told('optim')),
  'told trees': below(told('trees')),
  'wrong op': below(wrongOp),
  'stale error': below(staleError),
  drawn: HEAD + drawn.map((c, i) => written(c, parameters, i)).join('\n'),
  'one call': oneCall,
  'wrong call': wrongCall,
  'refused call': refusedCall,
  random: randomRows,
  generic: generic(['concat', 'split', 'einsum', 'at', 'solve', 'conv']),
  'wrong generic': generic(['einsum', 'exp']).replace('cd.exp(v)', 'cd.matmul(m, m)'),
}
const found = new Map(compileAll(new Map(Object.entries(texts))).map(({ name, errors }) => [name, errors]))
const errorsOf = (name: string) => found.get(name)!
const saidOf = (name: string): string => errorsOf(name).map(message).join('\n')

describe('what compiles', () => {
  it.each([...NAMES, 'drawn', 'one call', 'random', 'generic'])('%s, and each @ts-expect-error in it is needed', (name) => {
    expect(listed(errorsOf(name))).toEqual([])
  })
  it('is drawn of many operations', () => {
    expect(new Set(drawn.map((c) => c.step.op)).size).toBeGreaterThan(100)
  })
})

describe('what is wrong is seen', () => {
  it('in a fixture', () => {
    expect(wrongOp).not.toBe(textOf('ops'))
    expect(errorsOf('wrong op')).toHaveLength(1)
    expect(errorsOf('stale error').map((d) => d.code)).toEqual([2578])
  })
  it('in a result, and a call that does not compile', () => {
    for (const text of [wrongCall, refusedCall]) expect(text).not.toBe(oneCall)
    for (const name of ['wrong call', 'refused call', 'wrong generic']) expect(errorsOf(name).length, name).toBeGreaterThan(0)
  })
  it('of optimisers and of trees, by what differs', () => {
    expect(saidOf('told optim')).toContain("Property 'velocity' is missing")
    expect(saidOf('told trees')).toMatch(/'w\.dtype' are incompatible[^\n]*\n *Type '"f64"' is not assignable to type '"f32"'/)
  })
})

describe('errors', () => {
  const errors = errorsOf('told errors')
  const expected = told('errors')
    .split('\n')
    .flatMap((line, i) => {
      const m = /^ *\/\/ expected at `(.*)`: (.*)$/.exec(line)
      return m === null ? [] : [{ line: i + 1, at: m[1] ?? '', says: m[2] ?? '' }]
    })
  it('are as many as expected', () => {
    expect(expected.length).toBeGreaterThan(20)
    expect([...new Set(errors.map(lineOf))]).toEqual(expected.map((e) => e.line))
  })
  for (const e of expected)
    it(`line ${e.line + 1}: ${e.says}`, () => {
      const [error] = errors.filter((d) => lineOf(d) === e.line)
      expect(error === undefined ? '' : message(error)).toContain(e.says)
      expect(error === undefined ? '' : spanOf(error)).toBe(e.at)
    })
})

describe('calls under type parameters', () => {
  it('are made of every operation', () => {
    const names = Object.entries(operations).flatMap(([name, f]) => (typeof f === 'function' ? [name] : []))
    expect(names.filter((name) => !(name in CALLS))).toEqual([])
    expect(Object.keys(CALLS).filter((name) => !names.includes(name))).toEqual([])
  })
})

it('LeNet: at most 1 % above 25134 instantiations', () => {
  const c = compile('lenet')
  expect(c.errors).toEqual([])
  expect(c.instantiations).toBeGreaterThan(0)
  expect(c.instantiations).toBeLessThan(1.01 * 25134)
})
