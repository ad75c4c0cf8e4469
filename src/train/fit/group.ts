/** A fit on several ranks: each has its rows of every batch, and what one of them knows alone (an error, a signal, the numbers that choose the best epoch) is told to all. */
import { badInput } from '../../core/errors/explain.js'
import { explain, isTensor, treeLeaves } from '../../index.js'
import type { Source } from '../batches.js'
import type { Position } from '../events.js'
import { gather, roomFor, tableOf } from '../rows.js'
import { attempt, Failure, failureOf } from '../train.js'
import { type Pair, pairOf, weightOf, where } from './options.js'
import type { FitRanks } from './types.js'

/** A batch of a step: this rank's rows, how much they count, and how much the whole batch does. */
export interface Part {
  readonly pair: Pair
  readonly weight: number
  readonly whole: number
}
/** What a rank tells the others. */
interface Word {
  readonly said?: string
  readonly aborted?: boolean
  /** Why it ends the fit; `late` if that is for the next step to say. */
  readonly failed?: string
  readonly late?: boolean
}
type Caught<A> = { readonly value: A } | { readonly failure: Failure }
const caught = async <A>(f: () => Promise<A>): Promise<Caught<A>> => {
  try {
    return { value: await f() }
  } catch (e) {
    return { failure: failureOf(e, where) }
  }
}

const wordOf = ({ error }: Failure): Word => ({ failed: explain(error) })

/** This rank's part of a batch. A rank without a row that counts computes one that does, and gives it the weight 0. */
export const partOf = (given: Pair, ranks: FitRanks): Part => {
  const table = tableOf(given, 'the batch')
  const batch = table.tree as Pair
  const whole = weightOf(batch)
  const pair = ranks.localRows(batch)
  const weight = weightOf(pair)
  if (weight > 0 || table.rows === 0) return { pair, weight, whole }
  const { mask } = batch
  const first = mask === undefined ? 0 : Math.max(0, mask.data.findIndex((w) => Number(w) !== 0) / (mask.data.length / table.rows))
  return { pair: gather(table, Uint32Array.of(Math.floor(first)), roomFor(table, 1)) as Pair, weight: 0, whole }
}

/** Eight digits that follow from the bits of all arrays and numbers of a tree (Fowler, Noll and Vo's hash). */
export const digestOf = (tree: unknown): string => {
  let h = 0x811c9dc5
  for (const leaf of treeLeaves(tree) as readonly unknown[]) {
    const data = isTensor(leaf) ? (leaf.data as Float64Array) : typeof leaf === 'number' ? Float64Array.of(leaf) : new Float64Array(0)
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i]!, 0x01000193)
  }
  return (h >>> 0).toString(16).padStart(8, '0')
}

export class Group {
  /** Has the signal of a rank been aborted? It is known to all. */
  aborted = false
  private next: (() => Part) | undefined
  constructor(
    readonly ranks: FitRanks,
    private readonly signal: { readonly aborted: boolean } | undefined,
  ) {}

  /** Every rank tells the others something. What has failed on one of them ends all. */
  private async agree(word: Word, failure: Failure | undefined): Promise<readonly (string | undefined)[]> {
    const text = JSON.stringify(this.signal?.aborted === true ? { ...word, aborted: true } : word)
    const words = (await attempt('ranks', () => this.ranks.gather(text === '{}' ? '' : text))).map(
      (w): Word => (w === '' ? {} : JSON.parse(w)),
    )
    const at = words.findIndex((w) => w.failed !== undefined)
    const { failed, late } = words[at] ?? {}
    if (failed !== undefined) {
      const mine = failure ?? new Failure(this.failed(at, failed))
      if (late !== true) throw mine
      this.next = () => {
        throw mine
      }
    }
    this.aborted ||= words.some((w) => w.aborted)
    return words.map((w) => w.said)
  }
  private failed(rank: number, why: string) {
    const reason = `rank ${rank} of ${this.ranks.size} has ended it: ${why}`
    return { _tag: 'BadInput', where, reason, fix: 'see the error of that rank.' } as const
  }
  /** Does what each rank does for itself, and raises on all of them if it fails on one. They hear what each says of it. */
  async each<A>(f: () => Promise<A>, said: (value: A) => string): Promise<readonly [A, readonly (string | undefined)[]]> {
    const got = await caught(f)
    const [word, failure] = 'failure' in got ? [wordOf(got.failure), got.failure] : [{ said: said(got.value) }, undefined]
    const heard = await this.agree(word, failure)
    return [(got as { readonly value: A }).value, heard] // a failure has been thrown
  }
  /** What every rank makes for itself; raises unless they all say the same of it. */
  async alike<A>(f: () => Promise<A>, said: (value: A) => string): Promise<A> {
    const [value, all] = await this.each(f, said)
    this.compare(all)
    return value
  }
  /** Raises where ranks say unlike things. */
  private compare(all: readonly (string | undefined)[]): void {
    const { rank } = this.ranks
    const other = all[rank] === undefined ? -1 : all.findIndex((text) => text !== undefined && text !== all[rank])
    if (other >= 0)
      badInput(
        where,
        `the ranks do not begin alike: rank ${rank} has ${all[rank]}, rank ${other} has ${all[other]}.`,
        'give every rank the same options and checkpoint, parameters of one key, and all of the data: each takes its rows of every batch.',
      )
  }
  /**
   * Tells of a step or an epoch, on rank 0 alone, and reads the batch of the next step, if there is one, before the ranks agree that they go on. The first time, when there is
   * nothing to tell, their batches are compared.
   */
  async turn(told: (() => Promise<void>) | undefined, source: Source<Pair>, next: Position | undefined): Promise<void> {
    const done = await caught(async () => (this.ranks.rank === 0 ? await told?.() : undefined))
    if ('failure' in done) await this.agree(wordOf(done.failure), done.failure)
    const read = next && (await caught(() => this.read(source, next)))
    const failure = read !== undefined && 'failure' in read ? read.failure : undefined
    const batch = read !== undefined && 'value' in read ? read.value : undefined
    this.next = () => partOf(batch!, this.ranks)
    const said = told === undefined && batch !== undefined ? { said: `a first batch ${digestOf(batch)}` } : {}
    this.compare(await this.agree(failure === undefined ? said : { ...wordOf(failure), late: true }, failure))
  }
  private read(source: Source<Pair>, { epoch, step }: Position): Promise<Pair> {
    return attempt('the batch', async () => tableOf(pairOf(await source.at(epoch, step), 'the batch'), 'the batch').tree as Pair)
  }
  /** The batch that was read. */
  readonly take = (): Part => this.next!()
}
