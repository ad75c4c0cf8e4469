/**
 * The worker of one run: it has the whole library, takes a program as a script, and tells the page what each statement gave. Its own
 * address is a data: URL, so its origin is opaque: it has no access to the storage of the page, and the page's policy gives it no network.
 */

import * as fpEither from 'fp-ts/lib/Either.js'
import * as fpFunction from 'fp-ts/lib/function.js'
import * as threads from '../../src/backends/threads/index.js'
import * as worker from '../../src/backends/worker/index.js'
import * as check from '../../src/check/index.js'
import * as display from '../../src/display/index.js'
import * as codual from '../../src/index.js'
import * as reference from '../../src/instance/reference.js'
import * as minimize from '../../src/minimize/index.js'
import * as nn from '../../src/nn/index.js'
import * as optim from '../../src/optim/index.js'
import * as prob from '../../src/prob/index.js'
import * as random from '../../src/random/index.js'
import * as solve from '../../src/solve/index.js'
import * as train from '../../src/train/index.js'
import * as looking from './look.js'
import type { FromWorker, Series, ToWorker, Where } from './messages.js'
import { printed, withoutPlaces } from './printed.js'

const tell = (message: FromWorker): void => postMessage(message)
const console_ = globalThis.console
/** What a run may write and draw: an endless loop that does so must not keep the page busy. */
const MOST_LINES = 1000
const MOST_POINTS = 20_000
let lines = 0
let points = 0
const told =
  (level: 'log' | 'warn' | 'error') =>
  (...values: readonly unknown[]): void => {
    if (++lines <= MOST_LINES) tell({ kind: 'console', level, values: values.map((x) => printed(x)) })
    else if (lines === MOST_LINES + 1)
      tell({ kind: 'console', level: 'warn', values: [printed(`Only the first ${MOST_LINES} lines of a run are shown.`)] })
  }
Object.assign(console_, { log: told('log'), info: told('log'), debug: told('log'), warn: told('warn'), error: told('error') })

const seen = new Map<number, { value?: unknown; call?: { f: unknown; args: readonly unknown[] } }>()
const madeOf = new Map<unknown, unknown>()
const calls = new Map<unknown, readonly unknown[]>()
const known: looking.Known = {
  madeOf,
  calls,
  nameOf: (f) => [...seen].flatMap(([mark, { value }]) => (value === f && names[mark] !== '' ? [names[mark]!] : []))[0],
}

type AnyFunction = (...args: readonly unknown[]) => unknown
/** The same function, which remembers what the functions that it gives are made of. */
const remembering =
  (make: AnyFunction): AnyFunction =>
  (...args) => {
    const made = make(...args)
    if (typeof made === 'function' && typeof args[0] === 'function') madeOf.set(made, args[0])
    return made
  }
const { compile, compileAsync, grad, hessian, jacfwd, jacrev, valueAndGrad, vmap } = codual
const remembered = Object.fromEntries(
  Object.entries({ compile, compileAsync, grad, hessian, jacfwd, jacrev, valueAndGrad, vmap }).map(([name, f]) => [
    name,
    remembering(f as AnyFunction),
  ]),
)

/** The names that the statements declare, by mark. */
let names: readonly string[] = []
let sliders: Readonly<Record<string, number>> = {}
let where: Where = 'cpu'
let backend: unknown
const numbers = (x: unknown): readonly number[] => {
  const p = printed(x)
  if (p.kind !== 'tensor') throw new TypeError('plot: numbers are wanted: an array, a typed array or a tensor.')
  return p.data
}
const playground = {
  get backend(): unknown {
    backend ??= where === 'cpu' ? codual.cpu() : codual.webgpu()
    return backend
  },
  plot: (x: unknown, y: unknown, { title = '', points = false }: Partial<Series> = {}): void => {
    const single = printed(y).kind === 'tensor'
    const curves = single
      ? [{ name: 'y', y: numbers(y) }]
      : Object.entries(y as object).map(([name, values]) => ({ name, y: numbers(values) }))
    tell({ kind: 'plot', series: { title, points, x: numbers(x), curves } })
  },
  curve:
    (title: string) =>
    (x: unknown, y: unknown): void => {
      if (++points <= MOST_POINTS)
        tell({ kind: 'curve', title, x: numbers([x].flat())[0]!, y: numbers(typeof y === 'number' ? [y] : y)[0]! })
      else if (points === MOST_POINTS + 1) console_.warn(`Only the first ${MOST_POINTS} points of a run are drawn.`)
    },
  slider: (name: string, min: number, max: number, start = (min + max) / 2): number => {
    const value = sliders[name] ?? start
    tell({ kind: 'slider', slider: { name, min, max, value } })
    return value
  },
}
const modules: Readonly<Record<string, object>> = {
  codual: { ...codual, ...remembered },
  'codual/check': check,
  'codual/display': display,
  'codual/minimize': minimize,
  'codual/nn': nn,
  'codual/optim': optim,
  'codual/prob': prob,
  'codual/random': random,
  'codual/reference': reference,
  'codual/solve': solve,
  'codual/threads': threads,
  'codual/train': train,
  'codual/worker': worker,
  'fp-ts/lib/Either.js': fpEither,
  'fp-ts/lib/function.js': fpFunction,
  playground,
}
const required = (name: string): object => {
  const found = modules[name]
  // A module is not copied: a getter of it makes what it gives when a program asks.
  if (found !== undefined) return Object.create(found, { __esModule: { value: true } }) as object
  throw new Error(`There is no module ${name} here. Modules: ${Object.keys(modules).join(', ')}.`)
}

/** The line of a program that an error came from. */
const lineOf = (e: unknown): number | undefined => {
  const line = /https:\/\/codual\.invalid\/program\.ts:(\d+)/.exec(e instanceof Error ? `${e.message}\n${e.stack ?? ''}` : '')?.[1]
  return line === undefined ? undefined : Number(line)
}
const fault = (e: unknown): void =>
  tell({
    kind: 'fault',
    message: withoutPlaces(e instanceof Error ? `${codual.isAdException(e) ? '' : `${e.name}: `}${e.message}` : String(e)),
    line: lineOf(e),
  })

type Program = (
  require: (name: string) => object,
  exports: object,
  tell: (mark: number, value: unknown) => unknown,
  call: (mark: number, f: unknown, args: readonly unknown[]) => unknown,
) => Promise<void>

const run = async (script: string): Promise<void> => {
  const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))
  const scope = globalThis as unknown as { importScripts: (address: string) => void; program: Program }
  const start = performance.now()
  try {
    scope.importScripts(address)
    await scope.program(
      required,
      {},
      (mark, value) => {
        seen.set(mark, { ...seen.get(mark), value })
        const looks = seen.get(mark)?.call !== undefined || codual.isExpr(value)
        if (value !== undefined) tell({ kind: 'told', mark, value: printed(value), looks })
        return value
      },
      (mark, f, args) => {
        seen.set(mark, { call: { f, args } })
        calls.set(f, args)
        return (f as AnyFunction)(...args)
      },
    )
  } catch (e) {
    fault(e)
  } finally {
    URL.revokeObjectURL(address)
  }
  tell({ kind: 'done', ms: performance.now() - start })
}
addEventListener('unhandledrejection', (e) => {
  e.preventDefault()
  fault(e.reason)
})

const answer = (id: number, make: () => unknown): void => {
  try {
    tell({ kind: 'answer', id, answer: make() })
  } catch (e) {
    tell({ kind: 'answer', id, answer: undefined, error: withoutPlaces(e instanceof Error ? e.message : String(e)) })
  }
}
addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'run') {
    ;({ names, sliders, where } = data)
    void run(data.script)
    return
  }
  const { id } = data
  const about = seen.get(data.mark) ?? {}
  if (data.kind === 'look') answer(id, () => looking.look(about, known))
  else if (data.kind === 'modes') answer(id, () => looking.modes(about, known))
  else if (data.kind === 'check') answer(id, () => looking.check(about, known, (done, of) => tell({ kind: 'progress', id, done, of })))
  else answer(id, () => looking.curveOf(about, known, data))
})
tell({ kind: 'ready' })
