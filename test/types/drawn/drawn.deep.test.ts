// What runs compiles: calls of every operation in helpers that know more or less of their operands' sizes, and whole random programs. And what the compiler says of a result is so.
import { describe, expect, it } from 'vitest'
import * as random from '../../../src/random/index.js'
import { count, sample } from '../../depth.js'
import { generate } from '../../laws/generator/generate.js'
import { compileAll, listed } from '../harness.js'
import { type Call, drawnCalls, HEAD, KNOWLEDGE, type Knowledge, suits, wholeOf, written } from './calls.js'
import { KNOWN, type Known, RANDOM_HEAD, ROWS, randomWritten } from './random.js'

/** What runs and does not compile, with its reason. */
const LEFT: readonly { readonly op: RegExp; readonly where: RegExp; readonly because: string }[] = [
  {
    op: /^crossEntropy$/,
    where: /parameters but .* an array/,
    because: 'whether an array of numbers has as many axes as the logits or one less is decided by its rank, which is deferred',
  },
  {
    op: /^linearizeAt$/,
    where: /an array/,
    because: 'the primals run, so that the derivative takes values, and the tangents are expressions',
  },
]
/** Results of which the type says less than what ran. */
const LOOSE: readonly { readonly op: RegExp; readonly text?: RegExp; readonly because: string }[] = [
  {
    op: /^(checkpoint|customRule|grad|hessian|hvp|jacfwd|jacrev|jvp|linearizeAt|valueAndGrad|vjp|vmap)$/,
    because: 'the functions here do not say what they take, so that their results are of any shape',
  },
  { op: /./, text: /Infinity/, because: 'an infinite bound has no literal type' },
  { op: /^(while|declared)/, text: /cd\.cast\(\[|linearRecurrence/, because: 'the sizes of plain arrays inside of a function' },
]
const loose = (c: Call): boolean => LOOSE.some((x) => x.op.test(c.step.op) && x.text?.test(written(c, KNOWLEDGE[0]!, 0)) !== false)
const left = (c: Call, k: Knowledge): boolean => LEFT.some((x) => x.op.test(c.step.op) && x.where.test(k.name))
const fileOf = (calls: readonly Call[], k: Knowledge): { readonly text: string; readonly tried: number } => {
  const tried = calls.filter((c) => suits(c, k) && !left(c, k))
  return { text: HEAD + tried.map((c, i) => written(c, k, i)).join('\n'), tried: tried.length }
}
/** What fails, each with the call that it is about. */
const failures = (texts: ReadonlyMap<string, string>): readonly string[] =>
  compileAll(texts).flatMap(({ name, errors }) => {
    const lines = texts.get(name)!.split('\n')
    return errors.map((d) => {
      const at = d.file!.getLineAndCharacterOfPosition(d.start ?? 0).line
      const number = /const [frs](\d+)/.exec(lines[at]!)?.[1]
      const call = lines.find((l) => l.startsWith(`export const f${number} `))
      return `${name}: ${call}\n${listed([d])[0]}`
    })
  })

const randomFile = (known: Known): string => RANDOM_HEAD + ROWS.map((row, i) => randomWritten(row, known, i)).join('\n')

describe('what runs compiles, and is what the compiler says', () => {
  it('every operation, in helpers of literal, named, computed and generic sizes, of operands, arrays and unknown ranks', () => {
    const calls = drawnCalls(1, 1500, 3)
    expect(new Set(calls.map((c) => c.step.op)).size).toBeGreaterThan(385)
    const files = new Map<string, string>()
    for (const k of sample(KNOWLEDGE, 7)) {
      const { text, tried } = fileOf(calls, k)
      expect(tried, k.name).toBeGreaterThan(100)
      files.set(k.name, text)
    }
    expect(failures(files)).toEqual([])
  })

  it('results as a helper declares them', () => {
    const calls = drawnCalls(1, 1500, count(1, 2, 3)).filter((c) => !loose(c))
    const files = new Map<string, string>()
    for (const k of KNOWLEDGE.filter(({ name }) => name === 'literals' || (/name/.test(name) && !/but/.test(name))))
      files.set(
        k.name,
        HEAD +
          calls
            .filter((c) => suits(c, k) && !left(c, k))
            .map((c, i) => written(c, k, i, true))
            .join('\n'),
      )
    expect(failures(files)).toEqual([])
  })

  it('random programs whose sizes are parameters, names or computed', () => {
    const programs = Array.from({ length: count(50, 80, 150) }, (_, i) => generate(5000 + i, i % 10 === 9 ? 'loops' : 'all').program)
    const calls = programs.filter((p) => p.steps.length < 40 && p.kind !== 'chain').map(wholeOf)
    const files = new Map<string, string>()
    for (const name of ['parameters', 'leading name', 'numbers', 'operands']) {
      const k = KNOWLEDGE.find((x) => x.name === name)!
      files.set(name, fileOf(calls, k).text)
    }
    expect(failures(files)).toEqual([])
  })

  it('every function of codual/random, with the sizes of its result', () => {
    const others = ['key']
    const functions = Object.entries(random).flatMap(([name, f]) => (typeof f === 'function' ? [name] : []))
    expect([...new Set([...ROWS.map((r) => r.name), ...others])].sort()).toEqual(functions.sort())
    expect(failures(new Map(KNOWN.map((known) => [known, randomFile(known)])))).toEqual([])
  })

  it('a wrong size of a random result is seen', () => {
    const text = randomFile('parameter')
    const wrong = text.replace(/: cd.Expr<\[N5\], 'i32'> =>/g, ": cd.Expr<[N5, 1], 'i32'> =>")
    expect(wrong).not.toBe(text)
    expect(failures(new Map([['wrong', wrong]])).length).toBeGreaterThan(1)
  })

  it('a wrong type of a result is seen, and a call that does not compile', () => {
    const k = KNOWLEDGE.find((x) => x.name === 'parameters')!
    const call = drawnCalls(1, 300, 1).find((c) => c.step.op === 'matmul')!
    const text = HEAD + written(call, k, 0)
    const wrong = text.replace(/given<Real<\[/g, 'given<Real<[99, ')
    const refused = text.replace(/cd\.matmul\((\w+), (\w+)/, 'cd.matmul($1, [$2, $2, "x"]')
    expect(wrong).not.toBe(text)
    expect(refused).not.toBe(text)
    const found = failures(
      new Map([
        ['right', text],
        ['wrong', wrong],
        ['refused', refused],
      ]),
    )
    expect([...new Set(found.map((x) => x.split(':')[0]))]).toEqual(['wrong', 'refused'])
  })

  it('what is left out does not compile', () => {
    const calls = drawnCalls(1, 1500, 4)
    const files = new Map<string, string>()
    for (const { op, where } of LEFT) {
      const tried = KNOWLEDGE.filter((k) => where.test(k.name)).flatMap((k) =>
        calls.filter((c) => op.test(c.step.op) && suits(c, k)).map((c) => ({ c, k })),
      )
      files.set(String(op), HEAD + tried.map(({ c, k }, i) => written(c, k, i)).join('\n'))
    }
    for (const { name, errors } of compileAll(files)) expect(errors.length, name).toBeGreaterThan(0)
  })
})
