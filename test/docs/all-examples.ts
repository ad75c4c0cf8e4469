// Every example that users read: in docstrings of src, in README.md and in docs.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksIn, type Example, examplesIn, tablesIn } from '../../scripts/docs/extract.js'
import { root } from '../../scripts/docs/public-names.js'
import { sourcesUnder } from '../architecture/sources.js'

/** Every example of the repository. */
export const allExamples = (): readonly Example[] => {
  const documents = [
    'README.md',
    ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((f) => `docs/${f.replaceAll('\\', '/')}`),
  ]
  return [
    ...sourcesUnder('src').flatMap((s) => examplesIn(s.path, s.text)),
    ...documents
      .filter((f) => f.endsWith('.md'))
      .flatMap((f) => {
        const text = readFileSync(join(root, f), 'utf8')
        return [...blocksIn(f, text), ...tablesIn(f, text)]
      }),
  ]
}
