/** What kills a mistake in a rule or a mode: the checker at primitives and at functions, then random programs. Nothing here knows a right answer. */
import { type Checked, makeCheck } from '../../../src/check/index.js'
import { linearize } from '../../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import * as cd from '../../../src/index.js'
import { coreRegistry } from '../../../src/packs/all.js'
import { checkProgram, trace } from '../../laws/generator/checks.js'
import { generate } from '../../laws/generator/generate.js'
import { type Lanes, laneOf } from '../../laws/generator/lanes.js'
import { laws } from '../../laws/generator/laws.js'
import { argumentsOf, functionOf, type RandomProgram, shipped } from '../../laws/generator/program.js'
import { functions } from './functions.js'
import { brokenLaw } from './operators.js'

export { brokenLaw as byOperators }

const textOf = (c: Checked): string | undefined => {
  if (c._tag === 'Right') return undefined
  const { check, path } = c.left[0]!
  return `${check}: ${path}`
}
/** The first finding; what throws is found too. */
const finding = (run: () => Checked): string | undefined => {
  try {
    return textOf(run())
  } catch (e) {
    return `throws: ${String((e as Error).message).split('\n')[0]!}`
  }
}
const first = <X>(xs: Iterable<X>, f: (x: X) => string | undefined): string | undefined => {
  for (const x of xs) {
    const found = f(x)
    if (found !== undefined) return found
  }
  return undefined
}

/** Elements of a sample's arguments. */
const sizeOf = ({ args }: AnyPrimitive['samples'][number]): number => args.reduce((n, { shape }) => n + shape.reduce((m, d) => m * d, 1), 0)
/** What the checker says of a primitive, at its samples one after the other, small ones first, then at its kinks. */
const ofPrimitive = (p: AnyPrimitive): string | undefined => {
  const { checkRule, checkKinks } = makeCheck(coreRegistry)
  const seeded = [...p.samples, ...p.hard].map((sample, i) => ({ sample, seed: i + 1 })).sort((a, b) => sizeOf(a.sample) - sizeOf(b.sample))
  const found = first(seeded, ({ sample, seed }) => finding(() => checkRule(p, { sample, seed }))) ?? finding(() => checkKinks(p))
  return found && `${p.name}, ${found}`
}
const primitives = (): ReadonlyMap<string, AnyPrimitive> => new Map([...coreRegistry.rules].map(([name, r]) => [name, r.primitive]))

/** The checker at the primitives that a mistake concerns. */
export const byRules = (concerned: readonly string[]): string | undefined => {
  const all = primitives()
  return first(concerned, (name) => {
    const p = all.get(name)
    if (p === undefined) throw new Error(`no primitive ${name}`)
    return ofPrimitive(p)
  })
}
/** The checker at all others. */
export const byOthers = (concerned: readonly string[]): string | undefined =>
  first(primitives(), ([name, p]) => (concerned.includes(name) ? undefined : ofPrimitive(p)))
export const functionNames: readonly string[] = functions.map((f) => f.name)
/** The checker at functions of these names. */
export const byFunctions = (isAsked: (name: string) => boolean): string | undefined =>
  first(functions, ({ name, check }) => {
    if (!isAsked(name)) return undefined
    const found = first(check(makeCheck), (c) => finding(c))
    return found && `${name}, ${found}`
  })

/** The reference alone: what is asked is whether derivatives are right, not whether plans are. */
const lanes = (): Lanes => {
  const backend = cd.reference()
  return { oracle: backend, lanes: [{ ...laneOf('reference', backend), poison: () => undefined }], without: new Map() }
}
/** All laws of derivatives, every time; two others are of backends. */
const OF_BACKENDS = ['JSON and back', 'into inputs, and accumulated']
const always = laws.filter((l) => !OF_BACKENDS.includes(l.name)).map((l) => ({ ...l, every: 1 }))
/** Random programs under all laws, until `late` says that it is enough. */
export const byPrograms = (programs: Iterable<RandomProgram>, late: () => boolean): string | undefined => {
  const own = lanes()
  for (const p of programs) {
    if (late()) return undefined
    const failure = checkProgram(p, always, { lanes: own })
    if (failure !== undefined) return `program ${p.seed}, ${failure.what.split('\n')[0]!}`
  }
  return undefined
}

/** The primitives of a random program and of its gradient. */
const reached = (program: RandomProgram): ReadonlySet<string> => {
  const names = new Set<string>()
  const f = functionOf(program, shipped)
  const avals = argumentsOf(program).map((x) => cd.aval(x.shape, x.dtype))
  const count = (g: (...xs: readonly unknown[]) => unknown): readonly cd.DType[] => {
    const { outputs } = trace(g, avals)
    for (const n of linearize(outputs).nodes) if (n.prim !== null) names.add(n.prim.name)
    return outputs.map((o) => o.dtype)
  }
  const isFloat = (d: cd.DType): boolean => d === 'f64' || d === 'f32'
  const floats = count(f).flatMap((d, k) => (isFloat(d) ? [k] : []))
  const wrt = avals.flatMap((a, i) => (isFloat(a.dtype) ? [i] : []))
  if (floats.length === 0 || wrt.length === 0) return names
  const loss = (...xs: readonly unknown[]) => {
    const ys = f(...xs) as readonly cd.AnyExpr[]
    return floats.map((k) => cd.sum(cd.sin(ys[k]!))).reduce((a, b) => cd.add(a, b))
  }
  count((cd.grad as unknown as (f: unknown, o: unknown) => (...xs: readonly unknown[]) => unknown)(loss, { wrt }))
  return names
}
export interface Reaching {
  readonly program: RandomProgram
  readonly reached: ReadonlySet<string>
}
/** Random programs of seeds from..to - 1, and what they reach. */
export const programs = (from: number, to: number): Reaching[] => {
  const out: Reaching[] = []
  for (let seed = from; seed < to; seed++) {
    const { program } = generate(seed, seed % 5 === 0 ? 'dag' : 'all')
    if (program.wild !== true) out.push({ program, reached: reached(program) })
  }
  return out
}
