/** The library without one fact of one primitive: all of them, made from declarations. */
import { join } from 'node:path'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { edited, root } from '../mutants/edit.js'
import { compiled, load, modulesOf } from '../mutants/modules.js'
import * as own from './facts.js'

/** The fields of a declaration that are facts; what says nothing is taken for the worst. */
const FACTS = ['structure', 'zeros', 'unbounded', 'gaps', 'stacked', 'identity', 'accumulates', 'alias', 'kinks'] as const
/** The parts of a structure that may be left out. */
const PARTS = ['along', 'at', 'by'] as const
/** One fact that is taken away: a field, or a part of its structure. */
export interface Without {
  readonly name: string
  readonly fact: string
}
const partsOf = ({ structure }: AnyPrimitive): readonly string[] =>
  PARTS.filter((part) => structure !== undefined && part in structure && isOptional(structure.kind, part)).map(
    (part) => `structure.${part}`,
  )
/** Others a declaration without them does not compile (test/laws/facts.test.ts). */
const isOptional = (kind: string, part: string): boolean => (kind === 'places' ? part === 'along' : kind === 'adds')
/** Every fact of every primitive. */
export const facts: readonly Without[] = [...own.shipped.values()].flatMap((p) =>
  [...FACTS.filter((f) => p[f] !== undefined && !(f === 'kinks' && p.kinks.length === 0)), ...partsOf(p)].map((fact) => ({
    name: p.name,
    fact,
  })),
)

/** What would be taken for so without being said: no result is a float, or a copy is not infinite, or a program is looked into; and what says `true`. */
export const isTakenSo = ({ name, fact }: Without): boolean => {
  const p = own.shipped.get(name)!
  return (
    fact === 'unbounded' &&
    (p.unbounded === true || p.class === 'layout' || (p.class === 'elementwise' && p.programs !== undefined) || name === 'searchsorted')
  )
}
/** What no law finds, by name, and why. */
export const alive: Readonly<Record<string, string>> = {
  'zeros of mul':
    'of the zeros of two factors those of the (co)tangent count, and that is the first by convention: seen where a rule is wrong, not where one is left out',
  'zeros of strongMul': 'as of mul',
  'zeros of dft':
    'imaginary parts that are 0 make that of the first element 0, so zeros are seen to be handed on; that both parts have to be 0 is not',
  'kinks of stopGradient': 'its derivative is no limit of differences anywhere',
  'kinks of strongMul': 'it is smooth; the kink says that 0 absorbs NaN',
  'kinks of square': 'it is smooth; the kink asks for a derivative without 0 / 0',
  'kinks of logaddexp': 'it is smooth; the kink asks for that where both are -Infinity',
  'structure.by of scatterReduce': 'without it fewer zeros are said to hold, and no rule applies it to a (co)tangent that has some',
  'gaps of convInput': 'no sample of it has a stride that passes over an element',
  'gaps of avgPoolInput': 'no sample of it has a stride that passes over an element',
  'structure of scan': 'written out, a loop is longer and no less right: test/plan/loops.test.ts and test/control count it',
  'structure of switchCase': 'without it each result is taken to depend on all arguments: a loop beside it keeps more for its way back',
}

type Declared = Partial<AnyPrimitive>
const without = (d: Declared, fact: string): Declared => {
  const [field, part] = fact.split('.') as [keyof Declared, string?]
  const { [field]: value, ...rest } = d
  if (part === undefined) return rest
  const { [part]: _, ...left } = value as Readonly<Record<string, unknown>>
  return { ...rest, [field]: left }
}
const hook = globalThis as { codualDeclared?: ((d: Declared) => Declared) | undefined }
const edit = {
  name: 'what is declared, seen first',
  file: 'core/graph/primitive.ts',
  find: '    ...d,\n    meaning:',
  put: '    ...((globalThis as any).codualDeclared?.(d) ?? d),\n    meaning:',
}

/** The laws that find it, the first that does: its name, and what it found. */
export type Verdict = { readonly law: string; readonly found: string } | undefined
/** Asks the laws of a library without a fact; with none, of the library as it is. */
export const asking = async (): Promise<(name: string, fact?: string) => Verdict> => {
  const modules = await modulesOf('test/laws')
  const path = join(root, 'src', edit.file)
  const other = { path, module: compiled(edited(edit), path) }
  return (name, fact) => {
    hook.codualDeclared = (d) => (d.name === name && fact !== undefined ? without(d, fact) : d)
    try {
      const { laws, shipped, isExcepted } = load(modules, join(root, 'test/laws/facts.ts'), other) as typeof own
      for (const [law, of] of Object.entries(laws)) {
        const found = isExcepted(law, name) ? undefined : firstOf(() => of(shipped.get(name)!))
        if (found !== undefined) return { law, found }
      }
      return undefined
    } catch (e) {
      return { law: 'the library loads', found: String((e as Error).message).split('\n')[0]! }
    } finally {
      hook.codualDeclared = undefined
    }
  }
}
const firstOf = (law: () => readonly string[]): string | undefined => {
  try {
    return law()[0]
  } catch (e) {
    return `throws: ${String((e as Error).message).split('\n')[0]!}`
  }
}
