/** Faults put into the source: a text that stands once in a file, and what it becomes. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')
export interface Edit {
  readonly name: string
  /** Under src. */
  readonly file: string
  readonly find: string
  readonly put: string
}
export const pathOf = (e: Edit): string => resolve(root, 'src', e.file)
/** The file's text with the fault in it. */
export const edited = (e: Edit): string => {
  const pieces = readFileSync(join(root, 'src', e.file), 'utf8').split(e.find)
  if (pieces.length !== 2) throw new Error(`${e.file} has ${pieces.length - 1} places like: ${e.find}`)
  return pieces.join(e.put)
}
