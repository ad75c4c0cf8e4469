// Every example that users read runs and gives what its comment says: `@example` in src, ts blocks in README.md and docs. examples-types.deep.test.ts type-checks them.
import { describe, expect, it } from 'vitest'
import { isAdException } from '../../src/index.js'
import { allExamples } from './all-examples.js'
import { fits, patternOf, shown } from './expected.js'
import { type Check, generate, type Runs } from './generate.js'

const examples = allExamples()
const modules = generate(examples)

/** Holds a value against its comment. In a document a comment may be prose; behind an `@example` it shows the value. */
const checkOf =
  (file: string, prose: boolean): Check =>
  async (line, comment, value) => {
    const pattern = patternOf(comment)
    const fail = (got: string): never => {
      throw new Error(`${file}:${line}: the comment says ${comment}, the value is ${got}`)
    }
    if (pattern === undefined) {
      await value()
      return prose ? undefined : fail('not compared: the comment is no value')
    }
    if (pattern._tag === 'Throws') {
      const error = await Promise.resolve()
        .then(value)
        .then(
          (x) => fail(shown(x)),
          (e: unknown) => e,
        )
      const tag = isAdException(error) ? error.error._tag : String(error)
      return tag === pattern.tag ? undefined : fail(`an error: ${tag}`)
    }
    const x = await value()
    if (!fits(pattern, x)) fail(shown(x))
  }

describe('examples', () => {
  for (const m of modules)
    for (const e of m.examples)
      it(`${e.file}:${e.line}`, async () => {
        const { examples: runs } = (await import(/* @vite-ignore */ m.path)) as { readonly examples: Runs }
        const run = runs[e.line]
        expect(run).toBeTypeOf('function')
        try {
          await run!(checkOf(e.file, e.of === 'document'))
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error)
          throw message.startsWith(`${e.file}:`) ? error : new Error(`${e.file}:${e.line}: the example throws ${message}`, { cause: error })
        }
      })
})
