/** docs/reference: a page for each section of functions. */
import { described, listOf } from './described.js'
import type { Listed } from './function-list.js'

/** One function. */
const part = ({ call, of }: Listed): string => {
  const { text, labels, facts, examples } = described(of)
  const rows = [...labels, ...facts]
  return [
    `## ${of.name}\n\n\`${call}\`\n\n${text}\n`,
    rows.length === 0 ? '' : `\n${listOf(rows)}`,
    examples.length === 0 ? '' : `\n\`\`\`typescript\n${examples.map((e) => e.code.trim()).join('\n')}\n\`\`\`\n`,
  ].join('')
}
/** The page of a section. */
export const referencePage = (section: string, functions: readonly Listed[]): string => {
  const intro = `From the docstrings, the declarations and the tables of rules and kernels, as all of [functions](../functions.md): \`npm run docs:functions\`. Examples run in the tests. What a function is made of was read off its example; a backend runs it if it has the kernels of these.`
  return `# ${section}\n\n${intro}\n\n${functions.map(part).join('\n')}`
}
