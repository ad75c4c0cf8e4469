/**
 * Before ranks exchange data, each says what it is about to do: who disagrees is named before any array is touched. Where some are not there in time, those that wait tell each
 * other so, and the others are named.
 */
import { raise } from '../../core/errors/explain.js'
import { disagree, fault } from '../faults.js'
import type { Exchanging, Request } from './exchange.js'

/** Bytes of what a rank says: the number of the collective, a hash, and its description as text. */
export const CARD = 256
const TEXT = 8
/** The tag of messages of ranks that wait. */
const WAITING = 7
/** How long one that waits too long listens to the others, in milliseconds. */
const GRACE = 1000

const cardBytes = (): Uint8Array => new Uint8Array(new ArrayBuffer(CARD))
const hashOf = (text: string): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h
}

/** What the ranks say to each other. */
export class RollCall {
  private said = ''
  /** The lowest rank of those that know of a fault. */
  lowest = 0
  private readonly mine = cardBytes()
  private readonly words = new Int32Array(this.mine.buffer)
  private readonly all: Uint8Array
  private readonly listening: { readonly from: number; readonly card: Uint8Array; request: Request | undefined }[]
  private looked = 0
  constructor(
    private readonly ranks: Exchanging,
    private readonly timeout: number,
    /** How many collectives this rank has begun. */
    public step = 0,
  ) {
    this.all = new Uint8Array(new ArrayBuffer(CARD * ranks.size))
    this.listening = Array.from({ length: ranks.size }, (_, from) => ({ from, card: cardBytes(), request: undefined })).filter(
      (l) => l.from !== ranks.rank,
    )
    for (const l of this.listening) l.request = ranks.receive(l.card, l.from, WAITING)
  }
  /** Bytes of what is heard of the others. */
  get bytes(): number {
    return this.all.byteLength + CARD * this.listening.length
  }
  /** The last collective that this rank has begun. */
  get place(): string {
    return this.step === 0 ? 'no collective' : `collective ${this.step} (${this.said})`
  }
  /** Raises unless every rank is about to do this. */
  agree(doing: string, deadline: number): void {
    this.step++
    this.write(doing)
    const request = this.ranks.gather(this.mine, this.all)
    if (!this.ranks.wait([request], deadline, () => this.heard())) this.missing()
    const words = new Int32Array(this.all.buffer)
    for (let r = 0; r < this.ranks.size; r++) {
      const at = (r * CARD) / 4
      if (words[at] !== this.words[0] || words[at + 1] !== this.words[1])
        disagree(
          this.step,
          Array.from({ length: this.ranks.size }, (_, k) => this.read(this.all.subarray(k * CARD, (k + 1) * CARD))),
        )
    }
  }
  private write(doing: string): void {
    this.words[0] = this.step
    if (doing === this.said) return
    this.said = doing
    this.words[1] = hashOf(doing)
    this.mine.fill(0, TEXT)
    new TextEncoder().encodeInto(doing, this.mine.subarray(TEXT, CARD - 1))
  }
  private read(card: Uint8Array): string {
    const text = card.subarray(TEXT)
    return new TextDecoder().decode(text.subarray(0, Math.max(0, text.indexOf(0))))
  }
  /** Has another rank said that it has waited too long? */
  private heard(): boolean {
    const now = performance.now()
    if (now - this.looked < 5) return false
    this.looked = now
    for (const l of this.listening) if (l.request !== undefined && this.ranks.done(l.request)) l.request = undefined
    return this.listening.some((l) => l.request === undefined)
  }
  /** Says to all that this rank waits, hears who else does, and raises with those that do not. */
  private missing(): never {
    let sent: readonly Request[] = this.listening.map((l) => this.ranks.send(this.mine, l.from, WAITING))
    const deadline = performance.now() + GRACE
    // A message to one that is absent may stay here: data for it may be in the way. The others are heard meanwhile.
    while (performance.now() < deadline && this.listening.some((l) => l.request !== undefined)) {
      sent = sent.filter((r) => !this.ranks.done(r))
      this.looked = 0
      this.heard()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
    this.ranks.wait(sent, deadline)
    const absent = this.listening.filter((l) => l.request !== undefined).map((l) => l.from)
    this.lowest = Array.from({ length: this.ranks.size }, (_, r) => r).find((r) => !absent.includes(r))!
    const waited = this.place
    if (absent.length === 0) return this.unfinished()
    return raise(
      fault(
        `rank${absent.length > 1 ? 's' : ''} ${absent.join(', ')} of ${this.ranks.size} did not come to ${waited} within ${this.timeout / 1000} s.`,
        'look at what it does there; if it only takes long, give a longer timeout: CODUAL_MPI_TIMEOUT=600, in seconds.',
      ),
    )
  }
  /** All ranks were there, and their data did not come. */
  unfinished(): never {
    return raise(
      fault(
        `${this.place} did not end within ${this.timeout / 1000} s.`,
        'a rank may be gone; or give a longer timeout: CODUAL_MPI_TIMEOUT=600, in seconds.',
      ),
    )
  }
  /** Listens no more: a rank that says just now that it has waited too long is not heard. */
  close(): void {
    for (const l of this.listening) if (l.request !== undefined) this.ranks.cancel(l.request)
  }
}
