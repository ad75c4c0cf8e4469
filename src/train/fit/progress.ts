/** How far a fit has come: what its steps change, the best so far, its history; in a checkpoint and back. */

import { badInput } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { f64, type Tensor, tensor, treeMap } from '../../index.js'
import { type Checkpoint, checkpointOf, decodedCheckpoint } from '../checkpoint.js'
import type { Position } from '../events.js'
import { isRecord } from '../given.js'
import { where } from './options.js'
import type { Fitted, History } from './types.js'

/** What steps read and change; `sum` and `rows` are the losses of this epoch, weighted by rows or by masks, and the sum of these weights. */
interface Now {
  readonly params: unknown
  readonly optimizer: unknown
  readonly running: unknown
  readonly sum: number
  readonly rows: number
}
interface Best {
  readonly params: unknown
  readonly running: unknown
  readonly epoch: number
  readonly score: number
}
/** Where it is, and what was best: with whole parameters, or with a rank's parts of them. */
export interface Trees {
  readonly now: Now
  readonly best: Best
}
/** What a checkpoint of a fit holds. */
type State = Omit<Now, 'running'> & {
  readonly running?: unknown
  readonly best: Omit<Best, 'running'> & { readonly running?: unknown }
  readonly worse: number
  readonly history: { readonly loss: Tensor; readonly validation: Tensor; readonly metrics?: Readonly<Record<string, Tensor>> }
}
/** What an epoch came to. */
export interface Judged {
  readonly epoch: number
  readonly validation: number | undefined
  readonly metrics: Readonly<Record<string, number>>
  /** What is watched, NaN where nothing is: then each epoch is the best. */
  readonly score: number
}
/** What says which parameters are better; undefined: nothing. */
export type Better = ((score: number, best: number) => boolean) | undefined

const lists = (of: Readonly<Record<string, readonly number[]>>): Record<string, number[]> =>
  Object.fromEntries(Object.entries(of).map(([name, xs]) => [name, [...xs]]))

export class Progress {
  best: Best
  /** Epochs since the best. */
  worse = 0
  position: Position = { epoch: 0, step: 0 }
  private readonly loss: number[] = []
  private readonly validation: number[] = []
  private readonly metrics: Record<string, number[]>
  /** What the last step gave, and what one before it gave and nobody else has seen: later steps may write there. */
  private made: object | undefined
  private unused: object | undefined
  /** Has somebody else seen the arrays of now? */
  private shown = true

  constructor(
    public now: Now,
    names: readonly string[],
    private readonly better: Better,
  ) {
    this.best = { params: now.params, running: now.running, epoch: -1, score: Number.NaN }
    this.metrics = Object.fromEntries(names.map((name) => [name, []]))
  }
  /** The arguments that parameters and running state are in programs. */
  get parts(): { readonly params: unknown; readonly running?: unknown } {
    const { params, running } = this.now
    return running === undefined ? { params } : { params, running }
  }
  /** The epoch's loss so far: the mean over its rows, or by its masks. */
  get mean(): number {
    return this.now.sum / this.now.rows
  }
  /** Its trees of parameters, and of the optimiser's state, made into others. */
  place(params: (tree: unknown) => unknown, optimizer: (tree: unknown) => unknown): Trees {
    const { now, best } = this
    const made = params(now.params)
    return {
      now: { ...now, params: made, optimizer: optimizer(now.optimizer) },
      best: { ...best, params: best.params === now.params ? made : params(best.params) },
    }
  }
  checkpoint({ now, best }: Trees = this): Checkpoint<unknown> {
    this.shown = true
    const { worse, loss, validation, metrics, position } = this
    const tensors = Object.fromEntries(Object.entries(metrics).map(([name, xs]) => [name, tensor(xs)]))
    const state: State = {
      ...this.parts,
      params: now.params,
      optimizer: now.optimizer,
      sum: now.sum,
      rows: now.rows,
      best: { ...(best.running !== undefined && { running: best.running }), params: best.params, epoch: best.epoch, score: best.score },
      worse,
      history: { loss: tensor(loss), validation: tensor(validation), ...(Object.keys(metrics).length > 0 && { metrics: tensors }) },
    }
    return { state, position }
  }
  /** Goes on where a checkpoint, or its bytes, stands. */
  from(given: unknown): void {
    const bytes = given instanceof Uint8Array || given instanceof ArrayBuffer
    const like = this.checkpoint().state as State
    const open = { ...like, history: treeMap(() => f64('n'), like.history) } // each is as long as the run was
    const read = bytes ? decodedCheckpoint(given, { like: open }, where) : checkpointOf(given as Checkpoint<unknown>, where)
    reading(`${where}: from`, () => {
      const s = read.state as State
      if (!isRecord(s) || !isRecord(s.best) || !isRecord(s.history))
        badInput(where, 'the checkpoint is not one of a fit.', 'give what its `checkpoint` was given.')
      this.now = { params: s.params, optimizer: s.optimizer, running: s.running, sum: Number(s.sum), rows: Number(s.rows) }
      this.best = { params: s.best.params, running: s.best.running, epoch: Number(s.best.epoch), score: Number(s.best.score) }
      this.worse = Number(s.worse)
      const told = [[this.loss, s.history.loss], [this.validation, s.history.validation], ...Object.entries(this.metrics).map(([name, xs]) => [xs, s.history.metrics?.[name]] as const)] as const // biome-ignore format: pairs
      for (const [xs, of] of told) for (const x of of?.data ?? []) xs.push(Number(x))
      this.position = read.position
    })
  }
  /** Takes the results of a step whose arrays a later one may write to, if there are some. */
  take(): object | undefined {
    const { unused } = this
    this.unused = undefined
    return unused
  }
  /** A step came to these; `own` if its arrays are nobody else's. */
  stepped(next: Omit<Now, 'sum' | 'rows'>, at: Position, loss: number, rows: number, own: boolean): void {
    if (!this.shown) this.unused = this.made
    this.made = next
    this.shown = !own
    const { sum, rows: before } = at.step === 0 ? { sum: 0, rows: 0 } : this.now
    const { params, optimizer, running } = next
    this.now = { params, optimizer, running, sum: rows > 0 ? sum + rows * loss : sum, rows: before + rows }
    this.position = { epoch: at.epoch, step: at.step + 1 }
  }
  /** An epoch came to these. Is it the best so far? */
  judged({ epoch, validation, metrics, score }: Judged): boolean {
    this.loss.push(this.mean)
    if (validation !== undefined) this.validation.push(validation)
    for (const [name, xs] of Object.entries(this.metrics)) xs.push(metrics[name]!)
    const { now, best, better } = this
    const isBest = better === undefined || (!Number.isNaN(score) && (Number.isNaN(best.score) || better(score, best.score)))
    this.shown ||= isBest
    if (isBest) this.best = { params: now.params, running: now.running, epoch, score }
    this.worse = isBest ? 0 : this.worse + 1
    this.position = { epoch: epoch + 1, step: 0 }
    return isBest
  }
  fitted(ended: Fitted<unknown>['ended'], whole: Trees = this): unknown {
    const { params, running } = this.better === undefined ? whole.now : whole.best // without `better` nothing says which are best
    const { epoch, score } = this.best
    const history: History = { loss: [...this.loss], validation: [...this.validation], metrics: lists(this.metrics) }
    return { params, state: running, best: { epoch, score }, history, checkpoint: this.checkpoint(whole), ended }
  }
}
