/** A worker that was started: requests to it, its answers, and its end. */
import type { AdError } from '../../core/errors/error.js'
import { AdException } from '../../core/errors/error.js'
import { explain, raise } from '../../core/errors/explain.js'
import type { TypedArray } from '../../core/graph/ndarray.js'
import { buffersOf, type Channel, type Open, opened } from './channel.js'
import { type Asked, type Failure, isOurs, type Kind, PROTOCOL, type Said } from './protocol.js'

/** A worker that has not called `serve` for so long is taken for one that never does: its script may come from far away. */
export const PATIENCE = 60_000

interface Pending {
  readonly resolve: (back: never) => void
  readonly reject: (e: unknown) => void
}

const lost = (reason: string): AdError => ({
  _tag: 'Device',
  backend: 'worker',
  reason,
  fix: 'the next call starts another worker; place again with onDevice what this one held.',
})
/** What went wrong in a worker, as an error of this thread. */
const thrown = (failure: Failure): Error =>
  'error' in failure ? new AdException(failure.error, explain(failure.error)) : new Error(failure.message)

export class Connection {
  private readonly channel: Open
  private readonly pending = new Map<number, Pending>()
  /** What is posted once the worker listens: before that, browsers may lose it. */
  private waiting: (() => void)[] | undefined = []
  private end: AdError | undefined
  private ids = 0
  private readonly timer: ReturnType<typeof setTimeout>

  constructor(
    start: () => Channel,
    private readonly closed: (of: Connection) => void,
    patience = PATIENCE,
  ) {
    this.channel = opened(start(), 'worker: start', {
      message: (data) => this.hear(data),
      ended: (reason) => this.close(`the worker ended: ${reason}.`),
    })
    this.timer = setTimeout(() => this.close(`the worker did not call serve() within ${patience / 1000} seconds.`), patience)
    this.channel.hold(false)
  }

  /** Raises where the worker is no more. */
  alive(): void {
    if (this.end !== undefined) raise(this.end)
  }
  /** Whether what is asked now is posted, and so copied, at once. */
  get listens(): boolean {
    return this.waiting === undefined
  }

  /** The answer to a request, and the number by which later ones mean what it made; `given` are arrays in it that are given away. */
  ask<K extends Kind>(
    kind: K,
    sent: Asked[K]['sent'],
    given: readonly TypedArray[] = [],
  ): { readonly id: number; readonly back: Promise<Asked[K]['back']> } {
    this.alive()
    const id = ++this.ids
    const back = new Promise<Asked[K]['back']>((resolve, reject) => {
      if (this.pending.size === 0) this.channel.hold(true)
      this.pending.set(id, { resolve, reject })
    })
    const post = (): void => {
      try {
        this.channel.post({ codual: PROTOCOL, id, kind, sent }, buffersOf(given))
      } catch (e) {
        this.settle(id)?.reject(e)
      }
    }
    if (this.waiting === undefined) post()
    else this.waiting.push(post)
    return { id, back }
  }
  /** What the worker need not keep any more. */
  forget(of: number): void {
    if (this.end === undefined) this.ask('forget', { of }).back.catch(() => undefined)
  }

  private settle(id: number): Pending | undefined {
    const found = this.pending.get(id)
    if (this.pending.delete(id) && this.pending.size === 0) this.channel.hold(false)
    return found
  }
  private hear(data: unknown): void {
    if (!isOurs(data) || this.end !== undefined) return
    const said = data as Said
    if ('ready' in said) this.begin(said.codual)
    else if ('failure' in said) this.settle(said.id)?.reject(thrown(said.failure))
    else this.settle(said.id)?.resolve(said.back as never)
  }
  private begin(protocol: number): void {
    if (protocol !== PROTOCOL) {
      this.close(`the worker has another copy of codual (protocol ${protocol}, not ${PROTOCOL}): build both from one version.`)
      return
    }
    clearTimeout(this.timer)
    const { waiting = [] } = this
    this.waiting = undefined
    for (const post of waiting) post()
  }

  /** Ends the worker: what it was asked fails, and what it held is lost. */
  close(reason: string): void {
    if (this.end !== undefined) return
    this.end = lost(reason)
    clearTimeout(this.timer)
    this.channel.hold(false)
    this.channel.end()
    const { pending } = this
    this.closed(this)
    const error = thrown({ error: this.end })
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
    this.waiting = undefined
  }
}
