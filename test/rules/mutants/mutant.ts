/** What a mistake in a rule or a mode is, and how lists of them are written. */
import { readFileSync } from 'node:fs'
import { type Edit, pathOf } from '../../mutants/edit.js'

export interface Mutant extends Edit {
  /** What kind of mistake it is. */
  readonly kind: string
  /** The primitives whose rules it is in, tried first; those of the table's row where the text stands, or of the whole file, unless given. */
  readonly primitives: readonly string[]
}
/** Name, find, put and, if the text is in no row of a table, the primitives that it concerns. */
export type Row = readonly [name: string, find: string, put: string, primitives?: string]

const ROW = /^ {2,4}(\w+): (?:\w+Rule|rule|nonDifferentiable|extremum|accumulating|nonSmooth)\(/gm
/** The rows of a table of rules: names of primitives, and where they begin. */
const rowsOf = (text: string): readonly { readonly name: string; readonly at: number }[] =>
  [...text.matchAll(ROW)].map((m) => ({ name: m[1]!, at: m.index }))
const concerned = (e: Edit): readonly string[] => {
  const text = readFileSync(pathOf(e), 'utf8')
  const rows = rowsOf(text)
  const at = text.indexOf(e.find)
  const before = rows.filter((r) => r.at <= at)
  return before.length > 0 ? [before[before.length - 1]!.name] : rows.map((r) => r.name)
}

/** Mistakes of one kind in one file, or in that of several which has the text. They are under src, and given without their endings. */
export const mistakes = (kind: string, files: string | readonly string[], rows: readonly Row[]): readonly Mutant[] =>
  rows.map(([what, find, put, primitives]) => {
    const all = [files].flat()
    const file = all.find((f) => readFileSync(pathOf({ file: `${f}.ts` } as Edit), 'utf8').includes(find)) ?? all[0]!
    const e = { name: `${file.split('/').pop()!}: ${what}`, file: `${file}.ts`, find, put }
    return { ...e, kind, primitives: primitives?.split(' ') ?? concerned(e) }
  })
