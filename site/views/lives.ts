/** When the buffers of a plan live. */
import type { Explained } from '../run/messages.js'

/** A buffer: its bytes, and the steps that write and read it. */
export interface Life {
  readonly name: string
  readonly bytes: number
  readonly writes: readonly number[]
  readonly reads: readonly number[]
}
/** The steps that change a buffer which holds something already: they work in place, or add to it. */
export const inPlace = ({ writes, reads }: Life): readonly number[] => writes.filter((w) => w > Math.min(...writes) || reads.includes(w))
/** The buffers of a plan, in the order in which they are first used. */
export const livesOf = (steps: Explained['steps']): readonly Life[] => {
  const lives = new Map<string, { name: string; bytes: number; writes: number[]; reads: number[] }>()
  const of = (text: string): { writes: number[]; reads: number[] } | undefined => {
    const buffer = /^(b\d+) \((\d+) B/.exec(text)
    const input = /^(input \d+) /.exec(text)
    const name = buffer?.[1] ?? input?.[1]
    if (name === undefined) return undefined
    const known = lives.get(name) ?? { name: input === null ? name : text, bytes: Number(buffer?.[2] ?? 0), writes: [], reads: [] }
    lives.set(name, known)
    return known
  }
  steps.forEach((s, i) => {
    for (const r of s.reads) of(r)?.reads.push(i)
    for (const w of s.writes) of(w)?.writes.push(i)
  })
  return [...lives.values()]
}
