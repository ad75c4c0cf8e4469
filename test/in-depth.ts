// Which tests try what `npm test` does not: those that it leaves out, and those that try more in depth, whose files reach depth.ts by their imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** What `npm test` leaves out: what takes long, whole programs, and what needs a driver or a browser. */
export const LATER = [
  'test/**/*.deep.test.ts',
  ...['backends/webgpu', 'browser', 'examples', 'programs'].map((folder) => `test/${folder}/**/*.test.ts`),
]

const IMPORT = /(?:from|import\()\s*'(\.[^']+)\.js'/g

/** The test files, relative to the root. */
export const testFiles = (root: string): readonly string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.test.ts'))
    .map((f) => `test/${f}`)

const REPLACES = /\bvi\.(?:mock|doMock|resetModules)\(/
/** Those that put a module in the place of another, or load modules anew. */
export const replacingFiles = (root: string): readonly string[] =>
  testFiles(root).filter((f) => REPLACES.test(readFileSync(join(root, f), 'utf8')))

/** The test files, relative to the root, that import `test/depth.ts`, themselves or through others of test/. */
export const deeperFiles = (root: string): readonly string[] => {
  const found = new Map<string, boolean>()
  const reaches = (file: string): boolean => {
    const known = found.get(file)
    if (known !== undefined) return known
    // What is asked for again while it is looked at, in a circle, is no reason by itself.
    found.set(file, false)
    // Texts of programs inside a test import what is elsewhere.
    if (!existsSync(join(root, file))) return false
    const text = readFileSync(join(root, file), 'utf8')
    const imported = Array.from(text.matchAll(IMPORT), (m) => `${normalize(join(dirname(file), m[1]!))}.ts`)
    const yes = imported.some((f) => f === 'test/depth.ts' || (f.startsWith('test/') && reaches(f)))
    found.set(file, yes)
    return yes
  }
  return testFiles(root).filter(reaches).sort()
}
