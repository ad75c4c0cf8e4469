/** A fit on several ranks: each has its rows of every batch, and what one of them knows alone (an error, a signal, the numbers that choose the best epoch) is told to all. */
import { badInput } from '../core/errors/explain.js'
import { type AdError, explain, isTensor, treeLeaves } from '../index.js'
import type { FitBatch, FitGroup, FitPart, FitSide } from '../train/fit/types.js'
import { rowsBetween, rowsOf } from './shard.js'

/** What a group needs of its ranks. */
interface Members {
  readonly rank: number
  readonly size: number
  readonly gather: (said: string) => readonly string[] | Promise<readonly string[]>
}
/** What a rank tells the others. */
interface Word {
  readonly said?: string
  readonly aborted?: boolean
  /** Why it ends the fit; `late` if that is for the next step to say. */
  readonly failed?: string
  readonly late?: boolean
}
/** What f gave, or threw. */
type Caught<A> = { readonly value: A; readonly failed?: never } | { readonly failed: string; readonly thrown: unknown }
const caught = async <A>(f: () => A | PromiseLike<A>): Promise<Caught<A>> => {
  try {
    return { value: await f() }
  } catch (thrown) {
    // What ends a fit has an error, whether it is an exception or not.
    const error = (thrown as { readonly error?: AdError } | null)?.error
    return { failed: error === undefined ? String(thrown) : explain(error), thrown }
  }
}

/** This rank's part of a batch. A rank without a row that counts computes one that does, and gives it the weight 0. */
const partOf = (batch: FitBatch, { rank, size }: Members, weightOf: FitSide['weight']): FitPart => {
  const whole = weightOf(batch)
  const pair = rowsOf(batch, rank, size)
  const weight = weightOf(pair)
  if (weight > 0) return { pair, weight, whole }
  const { mask } = batch
  const width = mask === undefined ? 1 : mask.data.length / (mask.shape as readonly number[])[0]!
  const first = Math.max(0, Math.floor((mask?.data.findIndex((w) => Number(w) !== 0) ?? 0) / width))
  return { pair: rowsBetween(batch, (rows) => [first, Math.min(rows, first + 1)]), weight, whole }
}

/** Eight digits that follow from the bits of all arrays and numbers of a tree (Fowler, Noll and Vo's hash). */
const digestOf = (tree: unknown): string => {
  let h = 0x811c9dc5
  for (const leaf of treeLeaves(tree) as readonly unknown[]) {
    const data = isTensor(leaf) ? (leaf.data as Float64Array) : typeof leaf === 'number' ? Float64Array.of(leaf) : new Float64Array(0)
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i]!, 0x01000193)
  }
  return (h >>> 0).toString(16).padStart(8, '0')
}

export class Group implements FitGroup {
  aborted = false
  private next: (() => FitPart) | undefined
  constructor(
    private readonly ranks: Members,
    private readonly fit: FitSide,
  ) {}

  /** Every rank tells the others something. What has failed on one of them ends all. */
  private async agree(word: Word, thrown?: unknown): Promise<readonly (string | undefined)[]> {
    const text = JSON.stringify(this.fit.signal?.aborted === true ? { ...word, aborted: true } : word)
    const words = (await this.ranks.gather(text === '{}' ? '' : text)).map((w): Word => (w === '' ? {} : JSON.parse(w)))
    const at = words.findIndex((w) => w.failed !== undefined)
    if (at >= 0) {
      const end = (): never => {
        if (word.failed !== undefined) throw thrown
        return badInput('fit', `rank ${at} of ${this.ranks.size} has ended it: ${words[at]!.failed}`, 'see the error of that rank.')
      }
      if (words[at]!.late !== true) end()
      this.next = end
    }
    this.aborted ||= words.some((w) => w.aborted)
    return words.map((w) => w.said)
  }
  /** Does what each rank does for itself, and raises on all of them if it fails on one. They hear what each says of it. */
  private async each<A>(f: () => Promise<A>, said: (value: A) => string): Promise<readonly [A, readonly (string | undefined)[]]> {
    const got = await caught(f)
    if (got.failed === undefined) return [got.value, await this.agree({ said: said(got.value) })]
    await this.agree({ failed: got.failed }, got.thrown)
    throw got.thrown
  }
  async alike<A>(f: () => Promise<A>, of: (value: A) => { readonly state: unknown }): Promise<A> {
    const [value, all] = await this.each(f, (made) => {
      const { state, ...rest } = of(made)
      return `${JSON.stringify(rest)} and a state ${digestOf(state)}`
    })
    this.compare(all)
    return value
  }
  /** Raises where ranks say unlike things. */
  private compare(all: readonly (string | undefined)[]): void {
    const { rank } = this.ranks
    const other = all[rank] === undefined ? -1 : all.findIndex((text) => text !== undefined && text !== all[rank])
    if (other >= 0)
      badInput(
        'fit',
        `the ranks do not begin alike: rank ${rank} has ${all[rank]}, rank ${other} has ${all[other]}.`,
        'give every rank the same options and checkpoint, parameters of one key, and all of the data: each takes its rows of every batch.',
      )
  }
  async first<A>(f: () => Promise<A>): Promise<A> {
    // JSON has neither NaN nor infinities: they are texts in it.
    const [, all] = await this.each(f, (value) =>
      JSON.stringify(value, (_, x) => (typeof x === 'number' && !Number.isFinite(x) ? String(x) : x)),
    )
    return JSON.parse(all[0]!, (_, x) => (typeof x === 'string' ? Number(x) : x)) as A
  }
  async turn(told: (() => Promise<void>) | undefined, read: (() => Promise<FitBatch>) | undefined): Promise<void> {
    const done = await caught(() => (this.ranks.rank === 0 ? told?.() : undefined))
    if (done.failed !== undefined) await this.agree({ failed: done.failed }, done.thrown)
    const got = read && (await caught(async () => this.cut(await read())))
    if (got?.failed !== undefined) await this.agree({ failed: got.failed, late: true }, got.thrown)
    else {
      this.next = () => got!.value.part
      // Before anything has been told it is the first batch.
      this.compare(await this.agree(told === undefined && got !== undefined ? { said: `a first batch ${digestOf(got.value.batch)}` } : {}))
    }
  }
  /** A batch as tensors, and this rank's part of it. */
  private cut(given: FitBatch): { readonly batch: FitBatch; readonly part: FitPart } {
    const batch = rowsBetween(given, (rows) => [0, rows])
    return { batch, part: partOf(batch, this.ranks, this.fit.weight) }
  }
  readonly take = (): FitPart => this.next!()
}
