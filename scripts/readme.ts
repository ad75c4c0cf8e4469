/** The programs of the README, run where the package is installed, as someone runs them who copies them from the page: each value is what the comment behind it says. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize } from 'node:v8'
import ts from 'typescript'
import { fits, patternOf, shown } from '../test/docs/expected.js'
import { blocksIn } from './docs/extract.js'

/** What a program begins and ends with: values are told as plain data, tensors as nested numbers. */
const head = `import { serialize } from 'node:v8'
import { writeFileSync } from 'node:fs'
const values = []
const plain = (x) => typeof x === 'function' ? 'a function' : typeof x !== 'object' || x === null || ArrayBuffer.isView(x) ? x : typeof x.toArray === 'function' ? x.toArray()
  : Array.isArray(x) ? x.map(plain) : Object.fromEntries(Object.entries(x).map(([k, v]) => [k, plain(v)]))
const told = (comment, value) => values.push([comment, plain(value)])
`
const tail = `\nwriteFileSync('values.bin', serialize(values))\n`

/** A program in JavaScript that tells each value with a comment behind it. */
const telling = (code: string): string => {
  const file = ts.createSourceFile('program.ts', code, ts.ScriptTarget.ES2022, true)
  const puts: { readonly at: number; readonly text: string }[] = []
  const visit = (node: ts.Node): void => {
    const comment = /^;?[ \t]*\/\/ (.*)/.exec(code.slice(node.getEnd()))?.[1]
    if (ts.isExpressionStatement(node) && comment !== undefined && patternOf(comment) !== undefined)
      puts.push({ at: node.getStart(file), text: `told(${JSON.stringify(comment)}, ` }, { at: node.expression.getEnd(), text: ')' })
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(file, visit)
  let text = ''
  let from = 0
  for (const { at, text: put } of puts.sort((a, b) => a.at - b.at)) {
    text += code.slice(from, at) + put
    from = at
  }
  const { outputText } = ts.transpileModule(text + code.slice(from), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  })
  return head + outputText + tail
}

/** How many values of how many programs were compared; throws where one is not what the page says. `user` has the package installed. */
export const runReadme = (user: string): { readonly programs: number; readonly values: number } => {
  const blocks = blocksIn('README.md', readFileSync(join(user, 'node_modules/codual/README.md'), 'utf8'))
  let values = 0
  const wrong: string[] = []
  for (const { code, line } of blocks) {
    writeFileSync(join(user, 'readme.mjs'), telling(code))
    execFileSync(process.execPath, ['readme.mjs'], { cwd: user, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
    for (const [comment, value] of deserialize(readFileSync(join(user, 'values.bin'))) as readonly (readonly [string, unknown])[]) {
      values++
      if (!fits(patternOf(comment)!, value)) wrong.push(`README.md, the program at line ${line}: ${comment} is ${shown(value)}`)
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  if (blocks.length < 2 || values < 5)
    throw new Error(`the README has ${blocks.length} programs with ${values} values: there is nothing to compare`)
  return { programs: blocks.length, values }
}
