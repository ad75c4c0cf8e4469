// The patterns of English that went wrong most often, and the texts that users read: docs/style.md has an example of each.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicNames, root, shortPath } from '../../scripts/docs/public-names.js'
import { sourcesUnder } from '../architecture/sources.js'

/** What not to write, and what to write in its place. */
export const patterns: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bway back\b/i, 'residuals, the reverse pass, or the inverse'],
  [/\b(?:has|have) (?:no|a) say\b/i, 'does not affect'],
  [/\b(?:rows|elements|entries|those|places|axes) that are left\b/i, 'the remaining rows'],
  [/\band (?:its|their) kin\b/i, 'the other functions, by the name of their kind'],
  [/\bhands? on\b/i, 're-exports, passes'],
  [/\b(?:sums?|means?|max|min|maximum|minimum|products?) of nothing\b/i, 'of an empty array'],
  [/\bin one run of\b/i, 'in a single run of'],
  [/\b(?:somebody asks|nobody (?:asks|asked|gave|gives))\b/i, 'needed; without'],
  [/\bwhoever\b/i, 'the caller, the reader'],
  [/\bto the bit\b/i, 'bit for bit'],
  [/\bheld (?:against|to)\b/i, 'compared with, tested against'],
  [/\bmoves? with what\b/i, 'changes with its parameters'],
  [/\bas ever\b/i, 'as before'],
  [/(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b)\w+/i, 'is not a'],
  [/\bthat (?:is|are) none\b/i, 'invalid'],
  [/\bof another form\b/i, 'invalid'],
  [/\bcomes twice\b/i, 'repeated'],
  [/\banswers? later\b/i, 'asynchronous'],
  [/\bstands? behind\b/i, 'follows, is given after'],
  [/\bbelongs? together\b/i, 'fit together'],
]

/** What is wrong with a text: the words, and what to write in their place. */
export const findings = (text: string): readonly string[] =>
  patterns.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text.replaceAll(/\s*\n(?: \* ?)?\s*/g, ' '))
    return found === null ? [] : [`"${found[0]}": write ${instead}`]
  })

/** Where a text stands, and what it says. */
export type Said = readonly [where: string, text: string]
/** Pages, the README, docstrings of public names, and texts in the sources: messages are among them. */
export const texts = (): readonly Said[] => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => `docs/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.md') && file !== 'docs/style.md')
  return [
    ...['README.md', ...pages].flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split(/\n\n/)
        .map((paragraph, i): Said => [`${file}, paragraph ${i + 1}`, paragraph]),
    ),
    ...publicNames().map((n): Said => [`${shortPath(n.file)}:${n.line} ${n.name}`, n.doc?.text ?? '']),
    ...sourcesUnder('src').flatMap(({ path, text }) =>
      [
        ...text
          .replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
          .matchAll(/'(?:[^'\\\n]|\\.)* (?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)* (?:[^`\\]|\\.)*`/g),
      ].map((m): Said => [`${path}: a text`, m[0].slice(1, -1)]),
    ),
  ]
}
