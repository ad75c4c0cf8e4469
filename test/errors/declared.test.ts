// Every option that an operation declares, given junk: it is read, or refused as one BadInput in the name of the function. No list by hand: what is declared is asked.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Options, readOptions } from '../../src/core/errors/options.js'
import { signatureOf } from '../../src/core/ops/operation.js'
import * as cd from '../../src/index.js'
import { root, sourcesUnder } from '../architecture/sources.js'

const ofOperations = Object.entries(cd).flatMap(([name, f]) => {
  const signature = signatureOf(f)
  return signature === undefined ? [] : [{ name, signature: { name: signature.name, options: signature.options } }]
})
const isOptions = (x: unknown): x is Options =>
  typeof x === 'object' &&
  x !== null &&
  Object.keys(x).length > 0 &&
  Object.values(x).every((k: unknown) => typeof k === 'object' && k !== null && 'read' in k && typeof k.read === 'function' && isKind(k))
const isKind = (k: object): boolean => Object.keys(k).every((key) => ['read', 'needed', 'untouched'].includes(key))
/** A program and no module: the file of a worker in Node. It is nothing but a call. */
const PROGRAM = 'src/backends/worker/thread.ts'
/** Every other declaration: what modules of src export that is a record of kinds. */
const modules = await Promise.all(
  sourcesUnder('src')
    .filter(({ path }) => path !== PROGRAM)
    .map(({ path }) => import(/* @vite-ignore */ join(root, path)) as Promise<Readonly<Record<string, unknown>>>),
)
const others = modules.flatMap((module) =>
  Object.entries(module).flatMap(([name, options]) => (isOptions(options) ? [{ name, signature: { name, options } }] : [])),
)
const declared = [...ofOperations, ...others]
/** Parameters that are such declarations. */
const handedOn = ['src/core/ops/operation.ts options', 'src/core/extend/declare.ts parts', 'src/rules/given.ts names']
/** What nobody means. */
const junk: readonly unknown[] = [
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1e9,
  1.5,
  true,
  'x',
  '',
  [],
  [[Number.NaN]],
  {},
  { length: 3 },
  () => 1,
  Symbol('s'),
  10n,
  new Date(0),
  new Map(),
  new Proxy({}, { get: () => { throw new Error('nobody may look') } }), // biome-ignore format: one row
]
/** Options whose types are written out, since they depend on type parameters of the function, and what holds their declaration to every name of them. */
const written: Readonly<Record<string, string>> = {
  WrtOptions: 'paths into the arguments A',
  GradOptions: 'as WrtOptions; whether the result is [scalar, aux] is a type parameter',
  JacOptions: 'as WrtOptions',
  JetOptions: 'as WrtOptions',
  SparseOptions: 'as WrtOptions',
  SqueezeOptions: 'the axes of length 1 are those of a shape that is a type parameter',
  VmapOptions: 'axes by argument of A and by leaf of Out',
  WindowOptions: 'the dtype of the result is a type parameter',
}
const refusal = (f: () => unknown): unknown => {
  try {
    f()
    return undefined
  } catch (e) {
    return e
  }
}

describe('declared options', () => {
  it('are of many functions', () => {
    expect(ofOperations.length).toBeGreaterThan(100)
    expect(others.length).toBeGreaterThan(50)
  })
  it('are all found here: what is read is an export, or one with other standards', () => {
    const names = new Set(others.map(({ signature }) => signature.name))
    const hidden = sourcesUnder('src').flatMap(({ path, text }) =>
      [...text.matchAll(/\bread(?:Options|Given)\(\s*(?:\{\s*\.\.\.)?([^\s,)]+)/g)].flatMap(([, read]) =>
        // An operation that reads itself says what: `declares({ ..., options: padOptions }, f)`.
        path === 'src/core/errors/options.ts' ||
        handedOn.includes(`${path} ${read}`) ||
        names.has(read!) ||
        text.includes(`options: ${read} }`)
          ? []
          : [`${path}: ${read}`],
      ),
    )
    expect(hidden).toEqual([])
  })
  it('are where their types are made of them: none is written out a second time, but where it has type parameters', () => {
    const sources = sourcesUnder('src')
    const ofLayers = sources.filter(({ path }) => /^src\/(core|library)\//.test(path))
    const bodies = ofLayers.flatMap(({ text }) =>
      [...text.matchAll(/\b(?:interface (\w*Options?)\b[^{]*\{(?!\})|type (\w*Options?)\b[^=]*= \{)/g)].map(([, a, b]) => a ?? b),
    )
    expect(bodies.sort()).toEqual(Object.keys(written).sort())
    // Nor in the parameter itself, but for an option on whose own type that of the result depends.
    const inline = sources
      .filter(({ path }) => path.startsWith('src/core/types/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\boptions\??: [^\n]*\{[^\n]*/g)]
          .map(([line]) => `${path}: ${line}`)
          // an option that the result's type depends on, as a parameter or a literal of the signature
          .filter((line) => !/Options & \{ readonly \w+\??: (?:D|L \| undefined|false) \}/.test(line)),
      )
    expect(inline).toEqual([])
    for (const name of Object.keys(written))
      expect(
        sources.filter(({ text }) => new RegExp(`satisfies OptionsFor<\\s*(?:\\w+\\.)?${name}\\b`).test(text)).length,
        `the declaration of ${name}`,
      ).toBe(1)
  })
  it('are the only ones: outside of operations no other table of names is read', () => {
    const tables = sourcesUnder('src').filter(({ path, text }) => !/^src\/core\/(ops|errors)\//.test(path) && /\boptionsOf\(/.test(text))
    expect(tables.map(({ path }) => path)).toEqual([])
  })
  it.each([
    ['of operations', ofOperations],
    ['of all else', others],
  ])('%s are read or refused by name, whatever is given', (_, some) => {
    for (const { signature } of some)
      for (const [option, kind] of Object.entries(signature.options))
        for (const [k, x] of junk.entries()) {
          const e = refusal(() => readOptions({ [option]: kind }, { [option]: x }, signature.name, [2, 3]))
          if (e === undefined) continue
          const said = `${signature.name} { ${option}: junk ${k} }: ${e}`
          expect(cd.isAdException(e), said).toBe(true)
          const { error } = e as cd.AdException
          expect(error._tag, said).toBe('BadInput')
          expect((error as { readonly where: string }).where.startsWith(signature.name), said).toBe(true)
        }
  })
  it('names that are none are refused, with those that are', () => {
    for (const { signature } of declared) {
      const names = Object.keys(signature.options)
      if (names.length === 0) continue
      const e = refusal(() => readOptions(signature.options, { nonsense: 1 }, signature.name)) as cd.AdException
      expect(cd.isAdException(e), signature.name).toBe(true)
      for (const option of names) expect(cd.explain(e.error), signature.name).toContain(option)
    }
  })
  it('without any the standards are read', () => {
    for (const { signature } of declared) {
      const e = refusal(() => readOptions(signature.options, undefined, signature.name, [2, 3]))
      // Some must be given.
      if (e !== undefined) expect((e as cd.AdException).error._tag, signature.name).toBe('BadInput')
    }
  })
})
