/** A notebook run by Deno's kernel: what its cells show is what is saved in it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Bundle, runCells } from './jupyter.js'

interface Cell {
  readonly cell_type: 'markdown' | 'code'
  readonly metadata: { readonly tags?: readonly string[] }
  readonly source: readonly string[]
  execution_count?: number | null
  outputs?: readonly unknown[]
}
interface Notebook {
  readonly cells: readonly Cell[]
}
/** Texts are saved as lists of lines. */
const saved = (bundle: Bundle): Bundle =>
  Object.fromEntries(Object.entries(bundle).map(([type, text]) => [type, typeof text === 'string' ? text.split(/(?<=\n)/) : text]))
const outputOf = (bundle: Bundle, count: number) => ({
  data: saved(bundle),
  execution_count: count,
  metadata: {},
  output_type: 'execute_result',
})

/** What may differ from run to run: times; and where a cell says so, digits (engines round products in their own ways). */
const compared = (outputs: readonly unknown[], { metadata }: Cell): string => {
  const text = JSON.stringify(outputs).replaceAll(/planned in [\d.]+ ms|its plan was cached/g, 'planned')
  return metadata.tags?.includes('numbers-vary') === true
    ? text.replaceAll(/-?\d[\d.]*(?:e[+-]?\d+)?/g, '#').replaceAll(/(?:[ML]#,#)+/g, 'curve')
    : text
}

/**
 * Runs a notebook in a folder where the package is installed, from there in place of npm. `write` saves what the cells show; otherwise what they show is held
 * against what is saved, and what differs is given, a line for each cell.
 */
export const runNotebook = async (deno: string, user: string, file: string, write = false): Promise<readonly string[]> => {
  const notebook = JSON.parse(readFileSync(file, 'utf8')) as Notebook
  const cells = notebook.cells.filter((cell) => cell.cell_type === 'code')
  const shown = await runCells(
    deno,
    user,
    cells.map(({ source }) => source.join('').replaceAll(/npm:codual@\^[\d.]+/g, 'codual')),
  )
  const wrong = shown.flatMap(({ error }, i) => (error === undefined ? [] : [`cell ${i + 1}: ${error}`]))
  const outputs = shown.map(({ bundles }, i) => bundles.map((bundle) => outputOf(bundle, i + 1)))
  if (!write || wrong.length > 0) {
    const differ = cells.flatMap((cell, i) => {
      const [now, then] = [outputs[i] ?? [], cell.outputs ?? []].map((x) => compared(x, cell))
      return now === then ? [] : [`cell ${i + 1} shows ${now!.slice(0, 300)}; saved is ${then!.slice(0, 300)}`]
    })
    return [...wrong, ...differ]
  }
  cells.forEach((cell, i) => {
    cell.execution_count = i + 1
    cell.outputs = outputs[i] ?? []
  })
  writeFileSync(file, `${JSON.stringify(notebook, null, 1)}\n`)
  return []
}
