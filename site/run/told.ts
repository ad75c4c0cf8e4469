/** What a run has told so far: the values of its statements, and what the worker answers about them. */
import type { Mark } from './instrument.js'
import type { Look, Printed } from './messages.js'

export interface Fault {
  readonly line: number
  readonly message: string
}
/** A run of a text, from its start; later messages fill it. */
export interface Run {
  /** The text that runs. */
  readonly text: string
  readonly marks: readonly Mark[]
  /** Values by the index of their mark. */
  readonly values: Map<number, Printed>
  /** The marks of which the tabs have something to show. */
  readonly looking: Set<number>
  /** What was asked about a mark: once for all tabs. */
  readonly looks: Map<number, Promise<Look>>
  fault: Fault | undefined
}
export const newRun = (text: string, marks: readonly Mark[], fault?: Fault): Run => ({
  text,
  marks,
  values: new Map(),
  looking: new Set(),
  looks: new Map(),
  fault,
})

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length
/** The statement at a line of `now`, if it gave a value; else the last one of which there is something to show. */
export const markAt = ({ marks, values, looking }: Run, now: string, line: number): number | undefined => {
  const known = marks.flatMap((m, i) => (values.has(i) ? [{ m, i }] : []))
  const at = known.findLast(({ m }) => m.line >= line && lineOf(now, m.from) <= line)
  return (at ?? known.findLast(({ i }) => looking.has(i)) ?? known.at(-1))?.i
}
/** A statement by its line and its first words. */
export const nameOf = ({ marks, text }: Run, mark: number): string => {
  const { name, from, to, line } = marks[mark]!
  return `Line ${line}: ${name ?? text.slice(from, to).split('\n')[0]!.slice(0, 60)}`
}
