/** The commands of the prompt: `.doc`, `.show`, `.derivative`, `.explain`, `.check`, `.time` and `.plot`. */
import { checkPlugin, checkRule, drawArguments, makeCheck, report } from '../../src/check/index.js'
import { evaluate, isAdException, isExpr, show } from '../../src/index.js'
import { bench, benchText, leastTime, timeText } from '../bench.js'
import { fail, perhaps } from '../failure.js'
import { type Any, argumentsFor, derivativeOf, type Operators, programOf, type Ready } from '../function.js'
import { explained } from '../show.js'
import { isPlugin, isRule, type Kit } from '../subjects.js'
import { docOf } from './docs.js'
import { plotText } from './plot.js'

/** What commands need of the prompt. */
export interface Prompt {
  /** The values of a list of expressions, as typed. */
  readonly values: (text: string) => readonly unknown[]
  readonly names: readonly string[]
  readonly kit: Kit
  readonly width: number
  readonly colours: boolean
}
export interface PromptCommand {
  readonly name: string
  readonly help: string
  readonly run: (text: string, prompt: Prompt) => string
}

const numbers = (x: unknown): unknown => evaluate(x as never)

/** A function and its arguments: those that are typed, or drawn from what it declares. */
const readyOf = (values: readonly unknown[], { kit }: Prompt, command: string): Ready => {
  const [f, ...args] = values
  if (typeof f !== 'function')
    return fail(`.${command} takes a function, and its arguments where it declares none: .${command} (x) => sum(mul(x, x)), [1, 2]`)
  const given = argumentsFor(
    f as Any,
    args.length > 0 ? { args } : {},
    { seed: 1, size: {} },
    f.name || 'the function',
    `.${command} f, [1, 2] gives them.`,
  )
  return { name: f.name || 'f', f: f as Any, kit, operators: kit.codual as unknown as Operators, ...given }
}
const needed = (text: string, prompt: Prompt, command: string): readonly unknown[] => {
  const values = prompt.values(text)
  return values.length > 0 ? values : fail(`.${command} of what?`, `write .${command} and a name or an expression.`)
}

export const commands: readonly PromptCommand[] = [
  {
    name: 'names',
    help: 'List the names of codual',
    run: (_text, { names }) => names.join(' '),
  },
  {
    name: 'doc',
    help: 'What a name means: .doc matmul, .doc nn.dense',
    run: (text, { width, names }) => {
      const name = text.trim()
      if (name === '') return fail('.doc of what?', 'write .doc and a name.')
      const doc = docOf(name, width)
      return doc === undefined
        ? fail(`there is no docstring for ${name}.`, perhaps(name, names).trim() || undefined)
        : `${name}, of ${doc.entry}\n\n${doc.text}`
    },
  },
  {
    name: 'show',
    help: 'A function or an expression as equations: .show f, [1, 2]',
    run: (text, prompt) => {
      const values = needed(text, prompt, 'show')
      return typeof values[0] === 'function' ? show(programOf(readyOf(values, prompt, 'show')) as never) : show(values[0] as never)
    },
  },
  {
    name: 'derivative',
    help: 'The derivative of a function as equations: .derivative f, [1, 2]',
    run: (text, prompt) => {
      const ready = readyOf(needed(text, prompt, 'derivative'), prompt, 'derivative')
      return show(programOf({ ...ready, f: derivativeOf(ready) }) as never)
    },
  },
  {
    name: 'explain',
    help: 'The kernels that a function runs: .explain grad(f), [1, 2]',
    run: (text, prompt) => explained(readyOf(needed(text, prompt, 'explain'), prompt, 'explain'), false),
  },
  {
    name: 'check',
    help: 'Hold derivatives against finite differences: .check f, [1, 2]',
    run: (text, prompt) => {
      const [subject, ...args] = needed(text, prompt, 'check')
      if (isPlugin(subject)) return report(checkPlugin(subject))
      if (isRule(subject)) return report(checkRule(subject))
      if (typeof subject !== 'function') return fail('.check takes a function, a rule or a plugin.')
      const { registry, backend } = prompt.kit
      return report(makeCheck(registry).checkGrad(subject, { backends: [backend] })(...args))
    },
  },
  {
    name: 'time',
    help: 'How long it takes: .time expression, or .time f, [1, 2] for a function and its gradient',
    run: (text, prompt) => {
      const values = needed(text, prompt, 'time')
      if (typeof values[0] === 'function' && (values.length > 1 || declares(values[0])))
        return benchText(bench(readyOf(values, prompt, 'time')))
      const [again] = prompt.values(`() => (${text})`)
      const call = again as () => unknown
      return `${timeText(leastTime(() => settled(call())))}, the least of many`
    },
  },
  {
    name: 'plot',
    help: 'Numbers as a line: .plot ys; .plot xs, ys; .plot f, from, to',
    run: (text, prompt) => plotText(needed(text, prompt, 'plot'), numbers, prompt.width, prompt.colours),
  },
]

const declares = (f: unknown): boolean => {
  try {
    drawArguments(f)
    return true
  } catch (error) {
    if (isAdException(error)) return false
    throw error
  }
}
/** An expression is computed where its numbers are wanted. */
const settled = (x: unknown): unknown => (isExpr(x) ? numbers(x) : x)
