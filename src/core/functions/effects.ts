/** Running as an effect: what it needs comes from Env, failures are values, and what happens is told to a log as data. */

import type { Either } from 'fp-ts/lib/Either.js'
import type { ReaderTaskEither } from 'fp-ts/lib/ReaderTaskEither.js'
import { functionOf, recordOf } from '../errors/check-arguments.js'
import { left, right } from '../errors/either.js'
import { type AdError, isAdException } from '../errors/error.js'
import { showAval } from '../graph/aval.js'
import type { Program } from '../graph/program.js'
import { type Backend, backendOf, type Explanation, type SyncBackend } from './backend.js'
import { compileSync } from './compile.js'
import { compileAsync } from './compile-async.js'
import { printedExplanation } from './explanation.js'

/** What `run` tells the log of its Env. */
export type RunEvent =
  /** A new signature was traced, planned and compiled: once for each, before its first run. */
  | {
      readonly _tag: 'Prepared'
      readonly name: string
      readonly backend: string
      /** Dtype and shape of each input. */
      readonly inputs: readonly string[]
      readonly explanation: Explanation
      readonly ms: number
    }
  | { readonly _tag: 'Ran'; readonly name: string; readonly backend: string; readonly ms: number }
  | { readonly _tag: 'Failed'; readonly name: string; readonly backend: string; readonly error: AdError }

/**
 * What `run` needs: where to run, and who listens. A program that needs more (a random key, a learning rate) widens it by `chainW`. The
 * registry of rules is not part of it: a derivative takes the rules of the `makeCodual` whose `grad` made it.
 */
export interface Env {
  readonly backend: Backend
  readonly log?: (event: RunEvent) => void
}

type Log = NonNullable<Env['log']>
const now = (): number => performance.now()

/** The error of an AdException. Anything else is a defect of the user's function, not a failure: it is thrown on. */
const toError = (e: unknown): AdError => {
  if (isAdException(e)) return e.error
  throw e
}

/** One function on one backend, compiled once. `log` is that of the call in progress: preparing starts within the call. */
interface Runner {
  readonly call: (...args: readonly unknown[]) => unknown
  log: Log | undefined
}

const makeRunner = (f: unknown, backend: Backend): Runner => {
  const tell = (log: Log, program: Program, explanation: Explanation, ms: number): void =>
    log({
      _tag: 'Prepared',
      name: program.name,
      backend: backend.name,
      inputs: program.inputs.map((n) => showAval(n.aval)),
      explanation: printedExplanation(explanation),
      ms,
    })
  const runner: Runner =
    backend.kind === 'sync'
      ? {
          call: compileSync(
            f,
            {
              kind: 'sync',
              name: backend.name,
              prepare: (program) => {
                const { log } = runner
                const since = now()
                const x = (backend as SyncBackend).prepare(program)
                if (log !== undefined) tell(log, program, x.explain(), now() - since)
                return x
              },
            },
            'run',
          ),
          log: undefined,
        }
      : {
          call: compileAsync(
            f,
            {
              kind: 'async',
              name: backend.name,
              prepare: async (program) => {
                const { log } = runner
                const since = now()
                const x = await (backend as Backend<'async'>).prepare(program)
                const ms = now() - since
                if (log !== undefined) tell(log, program, await x.explain(), ms)
                return x
              },
            },
            'run',
          ),
          log: undefined,
        }
  return runner
}

const nameOf = (f: unknown): string => (f as { readonly name?: string } | null | undefined)?.name || 'f'
/** What is given as an Env; one that has more is one for other programs too. */
const envOf = (given: Env): Env => {
  const { backend, log } = recordOf(given, 'the Env', 'run')
  backendOf(backend, 'run')
  if (log !== undefined) functionOf(log, 'log', 'run')
  return given
}

/**
 * A function as an effect: nothing happens before the TaskEither runs. As `compile`, it is traced once per signature and backend: what
 * the numbers of its closure were then stays.
 */
export const runCore = (f: unknown): ((...args: readonly unknown[]) => ReaderTaskEither<Env, AdError, unknown>) => {
  const runners = new WeakMap<Backend, Runner>()
  return (...args) =>
    (env) =>
    async () => {
      const since = now()
      let known: Env | undefined
      try {
        known = envOf(env)
        const { backend, log } = known
        let runner = runners.get(backend)
        if (runner === undefined) {
          runner = makeRunner(f, backend)
          runners.set(backend, runner)
        }
        runner.log = log
        const value = await runner.call(...args)
        log?.({ _tag: 'Ran', name: nameOf(f), backend: backend.name, ms: now() - since })
        return right(value)
      } catch (e) {
        const error = toError(e)
        known?.log?.({ _tag: 'Failed', name: nameOf(f), backend: known.backend.name, error })
        return left(error)
      }
    }
}

/** A function run at once on a synchronous backend; failures are values. Traced once per signature, as by `compile`. */
export const runSyncCore =
  (backend: SyncBackend) =>
  (f: unknown): ((...args: readonly unknown[]) => Either<AdError, unknown>) => {
    let compiled: ((...args: readonly unknown[]) => unknown) | undefined
    return (...args) => {
      try {
        compiled ??= compileSync(f, backend, 'runSync')
        return right(compiled(...args))
      } catch (e) {
        return left(toError(e))
      }
    }
  }
