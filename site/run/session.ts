/** Runs, as the page sees them: each in a worker of its own, which ends with the next. One more stands ready, so that a run starts at once. */
import { painted } from '../painted.js'
import type { Instrumented } from './instrument.js'
import type { CurveAsked, CurveGiven, FromWorker, Look, ModeRow, ToWorker, Where } from './messages.js'

export interface Checked {
  readonly ok: boolean
  readonly text: string
}
export interface Session {
  /** Ends the run before and starts this one. */
  readonly run: (program: Instrumented, sliders: Readonly<Record<string, number>>, where: Where) => void
  /** Ends the run, wherever it is. */
  readonly stop: () => void
  readonly look: (mark: number) => Promise<Look>
  readonly modes: (mark: number) => Promise<readonly ModeRow[]>
  readonly check: (mark: number, progress: (done: number, of: number) => void) => Promise<Checked>
  readonly curve: (mark: number, asked: CurveAsked) => Promise<CurveGiven>
}

interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (error: Error) => void
  readonly progress?: (done: number, of: number) => void
}

/**
 * The worker's first script: loads the one it is sent. That one has no limit of size then; Chromium starts no worker by an address of more than 2 MiB, and tells nobody.
 */
const FIRST = `addEventListener('message', ({ data }) => importScripts(URL.createObjectURL(data)), { once: true })`

/** What starts a worker, once the page stands and the script has come. A data: URL gives the worker an opaque origin. */
const loadWorkers = async (): Promise<() => Worker> => {
  await painted()
  const { default: script } = await import('virtual:runner')
  const library = new Blob([script], { type: 'text/javascript;charset=utf-8' })
  const url = `data:text/javascript,${encodeURIComponent(FIRST)}`
  return () => {
    const worker = new Worker(url)
    worker.postMessage(library)
    return worker
  }
}

/** `on` hears what the current run tells. */
export const newSession = (on: (message: FromWorker) => void): Session => {
  const workers = loadWorkers()
  let spare: Worker | undefined
  let current: Worker | undefined
  /** Counts runs and stops: a run that waits for the script starts only if it is still the last. */
  let turn = 0
  let waiting = new Map<number, Waiting>()
  let last = 0
  const hear = (worker: Worker, message: FromWorker): void => {
    if (worker !== current) return
    if (message.kind === 'progress') waiting.get(message.id)?.progress?.(message.done, message.of)
    else if (message.kind === 'answer') {
      const asked = waiting.get(message.id)
      waiting.delete(message.id)
      if (message.error === undefined) asked?.resolve(message.answer as never)
      else asked?.reject(new Error(message.error))
    } else {
      // The next one starts when this one leaves the processor free.
      if (message.kind === 'done') void workers.then((start) => (spare ??= start()))
      on(message)
    }
  }
  const end = (): void => {
    turn++
    current?.terminate()
    current = undefined
    for (const { reject } of waiting.values()) reject(new Error('The run has ended.'))
    waiting = new Map()
  }
  type Asked = Extract<ToWorker, { readonly id: number }> extends infer A ? (A extends unknown ? Omit<A, 'id'> : never) : never
  const ask = <A>(message: Asked, progress?: Waiting['progress']): Promise<A> =>
    new Promise<A>((resolve, reject) => {
      if (current === undefined) {
        reject(new Error('Run the program first.'))
        return
      }
      const id = ++last
      waiting.set(id, { resolve: resolve as Waiting['resolve'], reject, ...(progress !== undefined && { progress }) })
      current.postMessage({ ...message, id })
    })
  const begin = (worker: Worker, { script, marks }: Instrumented, sliders: Readonly<Record<string, number>>, where: Where): void => {
    spare = undefined
    current = worker
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => hear(worker, data)
    worker.onerror = (e) => hear(worker, { kind: 'fault', message: e.message, line: undefined })
    worker.postMessage({ kind: 'run', script, names: marks.map((m) => m.name ?? ''), sliders, where } satisfies ToWorker)
  }
  return {
    run: (program, sliders, where) => {
      end()
      const mine = turn
      workers.then(
        (start) => {
          if (mine === turn) begin(spare ?? start(), program, sliders, where)
        },
        (e: unknown) => on({ kind: 'fault', message: `The library cannot be loaded: ${e}`, line: undefined }),
      )
    },
    stop: end,
    look: (mark) => ask<Look>({ kind: 'look', mark }),
    modes: (mark) => ask<readonly ModeRow[]>({ kind: 'modes', mark }),
    check: (mark, progress) => ask<Checked>({ kind: 'check', mark }, progress),
    curve: (mark, asked) => ask<CurveGiven>({ kind: 'curve', mark, ...asked }),
  }
}
