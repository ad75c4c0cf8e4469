// The examples that users read: `@example` in the docstrings of src, and the ts blocks of README.md and docs/*.md, with
// the tables there that say what is written and what it gives.
import ts from 'typescript'

/** One example: its code, where it starts, and whether it shows values or types. */
export interface Example {
  readonly file: string
  readonly line: number
  readonly code: string
  readonly of: 'value' | 'type' | 'document'
}

const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length

/** The code after each `@example` of a docstring that begins at `start` of a file's text. */
const examplesOf = (text: string, start: number, end: number): readonly { readonly line: number; readonly code: string }[] => {
  // Stars and the comment's ends become blanks or nothing, and every line stays a line: positions keep their line numbers.
  const lines = text
    .slice(start + 3, end - 2)
    .split('\n')
    .map((line, i) => (i === 0 ? line : line.replace(/^\s*\* ?/, '')))
  const first = lineAt(text, start)
  const found: { line: number; code: string }[] = []
  lines.forEach((line, i) => {
    const at = /(?:^|\s)@example\s?(.*)$/.exec(line)
    if (at !== null) found.push({ line: first + i, code: at[1] ?? '' })
    else if (/^\s*@[a-z]/.test(line)) found.push({ line: 0, code: '' })
    else if (found.length > 0) found[found.length - 1]!.code += `\n${line}`
  })
  return found.filter((e) => e.line > 0).map((e) => ({ line: e.line, code: e.code.trimEnd() }))
}

/** Every `@example` of a TypeScript file. */
export const examplesIn = (path: string, text: string): readonly Example[] => {
  if (!text.includes('@example')) return []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const found = new Map<number, Example>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      if (text.startsWith('/**', range.pos))
        for (const e of examplesOf(text, range.pos, range.end)) {
          const type = ts.isTypeAliasDeclaration(node) && node.getFullStart() <= range.pos
          if (!found.has(e.line)) found.set(e.line, { file: path, line: e.line, code: e.code, of: type ? 'type' : 'value' })
        }
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(file, visit)
  return [...found.values()]
}

/** Every ts block of a Markdown file. */
export const blocksIn = (path: string, text: string): readonly Example[] =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((m) => ({
    file: path,
    line: lineAt(text, m.index) + 1,
    code: (m[1] ?? '').trimEnd(),
    of: 'document',
  }))

/** The cells of a row of a table. */
export const cellsOf = (row: string): readonly string[] =>
  row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
/** The code that a cell is. */
export const codeIn = (cell: string | undefined): string => {
  const code = /^(`+)(.*?) ?\1$/.exec(cell ?? '')?.[2]
  if (code === undefined) throw new Error(`${cell} is no code`)
  return code
}
/**
 * The tables of a Markdown file with the columns `codual` and `gives`: each row is what is written, and the value that it gives. Rows see
 * what the first ts block of the file declares.
 */
export const tablesIn = (path: string, text: string): readonly Example[] => {
  const given = (blocksIn(path, text)[0]?.code ?? '').split('\n').filter((line) => !line.startsWith('import '))
  return [...text.matchAll(/^\|.*\|\n\|[-| ]+\|\n(?:\|.*\|\n)+/gm)].flatMap((table) => {
    const [head = '', , ...rows] = table[0].trimEnd().split('\n')
    const [written, value] = ['codual', 'gives'].map((name) => cellsOf(head).indexOf(name)) as [number, number]
    if (written < 0 || value < 0) return []
    const code = rows.map((row) => `${codeIn(cellsOf(row)[written])}   // ${codeIn(cellsOf(row)[value])}`)
    // One line for the head, one for the rule below it: rows keep their lines.
    return [{ file: path, line: lineAt(text, table.index), code: [given.join(';'), '', ...code].join('\n'), of: 'value' as const }]
  })
}
