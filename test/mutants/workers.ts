/** Tasks over worker processes, each under a time limit: a worker that says nothing in time, or dies of its task, is replaced. */
import { type ChildProcess, fork } from 'node:child_process'

export interface Pool<T, A> {
  /** The module that answers, by `answering`. */
  readonly file: string
  readonly workers: number
  /** One that takes longer does not end. */
  readonly limitMs: number
  /** As each answer comes; undefined is none. */
  readonly onAnswer?: (task: T, answer: A | undefined) => void
}
const FLAG = '--answering'

const started = (file: string): Promise<ChildProcess> =>
  new Promise((done, failed) => {
    const worker = fork(file, [FLAG], { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    worker.once('message', () => done(worker))
    worker.once('exit', (code) => failed(new Error(`a worker ended at once, with ${code}`)))
  })
const asked = <T, A>(worker: ChildProcess, task: T, limitMs: number): Promise<A | undefined> =>
  new Promise((done) => {
    const finish = (answer: A | undefined): void => {
      clearTimeout(timer)
      worker.off('message', hear)
      worker.off('exit', gone)
      done(answer)
    }
    const hear = (message: { readonly answer: A }): void => finish(message.answer)
    const gone = (): void => finish(undefined)
    const timer = setTimeout(gone, limitMs)
    worker.on('message', hear)
    worker.on('exit', gone)
    worker.send({ task })
  })

const ended = (worker: ChildProcess): Promise<unknown> =>
  new Promise((done) => {
    worker.once('exit', done)
    worker.kill()
  })

/** The answers in the order of the tasks; undefined where there was none in time. */
export const answersOf = async <T, A>(tasks: readonly T[], o: Pool<T, A>): Promise<readonly (A | undefined)[]> => {
  const answers: (A | undefined)[] = tasks.map(() => undefined)
  const queue = [...tasks.entries()]
  const one = async (): Promise<void> => {
    let worker: ChildProcess | undefined
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [i, task] = next
      worker ??= await started(o.file)
      const answer = await asked<T, A>(worker, task, o.limitMs)
      if (answer === undefined) {
        worker.kill('SIGKILL')
        worker = undefined
      }
      answers[i] = answer
      o.onAnswer?.(task, answer)
    }
    if (worker !== undefined) await ended(worker)
  }
  await Promise.all(Array.from({ length: Math.min(o.workers, tasks.length) }, one))
  return answers
}

/** In the module of the workers: made ready, then asked; nothing where the module is only imported. */
export const answering = async <T, A>(ready: () => Promise<(task: T) => A>): Promise<void> => {
  if (!process.argv.includes(FLAG)) return
  const answer = await ready()
  process.on('message', ({ task }: { readonly task: T }) => process.send?.({ answer: answer(task) }))
  process.send?.('ready')
}
