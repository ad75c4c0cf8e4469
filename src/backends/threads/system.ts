/** Threads of the system: workers of Node, and those of pages that are isolated from other origins. */
import type { Message } from './worker.js'

/** A thread that runs. */
export interface Started {
  readonly post: (message: Message) => void
  readonly end: () => void
}
/** Begins a thread from a text; says when it is no more. */
export type Starter = (text: string, ended: () => void) => Started

/** The parts of Node that are used; a page has none of them. */
interface NodeWorker {
  readonly postMessage: (message: unknown) => void
  readonly terminate: () => Promise<unknown>
  readonly unref: () => void
  readonly on: (event: 'exit' | 'error', listener: () => void) => void
}
interface NodeParts {
  readonly Worker: new (
    text: string,
    options: { readonly eval: true; readonly name: string; readonly execArgv: readonly string[] },
  ) => NodeWorker
}
interface Globals {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
  readonly navigator?: { readonly hardwareConcurrency?: number }
  readonly crossOriginIsolated?: boolean
  readonly Worker?: new (
    url: string,
  ) => {
    postMessage: (message: unknown) => void
    terminate: () => void
    onerror: unknown
  }
}
const globals = globalThis as unknown as Globals // what an engine has is found out

const builtin = <A>(name: string): A | undefined => globals.process?.getBuiltinModule?.(name) as A | undefined

const inNode =
  ({ Worker }: NodeParts): Starter =>
  (text, ended) => {
    const worker = new Worker(text, { eval: true, name: 'codual', execArgv: [] })
    worker.on('error', () => undefined)
    worker.on('exit', ended)
    // A thread that sleeps keeps no process alive.
    worker.unref()
    return { post: (message) => worker.postMessage(message), end: () => void worker.terminate() }
  }
const inPage =
  (Worker: NonNullable<Globals['Worker']>): Starter =>
  (text, ended) => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
    const worker = new Worker(url)
    worker.onerror = ended
    return {
      post: (message) => worker.postMessage(message),
      end: () => {
        worker.terminate()
        URL.revokeObjectURL(url)
        // A page is not told when a worker is gone: it gets no more turns once the page's own is over.
        setTimeout(ended)
      },
    }
  }

/** How threads begin here, or why none do. */
export const starter = (): Starter | string => {
  if (typeof SharedArrayBuffer !== 'function') return 'this engine shares no memory between threads'
  const node = builtin<NodeParts>('node:worker_threads')
  if (node !== undefined) return inNode(node)
  if (typeof globals.Worker !== 'function') return 'there are no workers here'
  if (globals.crossOriginIsolated !== true)
    return 'the page is not isolated from other origins (Cross-Origin-Opener-Policy: same-origin, and Cross-Origin-Embedder-Policy: require-corp)'
  return inPage(globals.Worker)
}
/** Cores that the process may use. */
export const cores = (): number =>
  builtin<{ readonly availableParallelism: () => number }>('node:os')?.availableParallelism() ?? globals.navigator?.hardwareConcurrency ?? 1
