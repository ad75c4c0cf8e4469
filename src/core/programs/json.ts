/** Programs as values: traced from functions, functions again, written as JSON and read back. */
import type { Either } from 'fp-ts/lib/Either.js'
import type { Registry } from '../calculus/rule.js'
import { listOf, shown } from '../errors/check-arguments.js'
import { right } from '../errors/either.js'
import type { AdError } from '../errors/error.js'
import { badInput } from '../errors/explain.js'
import { flag, readOptions } from '../errors/options.js'
import { printedAs } from '../errors/print.js'
import { callable, type Meta, metaOf, type Runtime, readArgs, traceDeclared, traceMeta } from '../functions/function.js'
import { aval } from '../graph/aval.js'
import { asExpr, isExpr } from '../graph/expr.js'
import { qualifiedName } from '../graph/namespace.js'
import { type AnyPrimitive, isPrimitive, isShipped } from '../graph/primitive.js'
import { inline, liftList, type Program } from '../graph/program.js'
import { showProgram } from '../graph/show.js'
import { recordingSites, siteOf } from '../graph/source-lines.js'
import type { Spec } from '../graph/spec.js'
import { unflatten } from '../graph/tree.js'
import type { JSONValue, TraceOptions } from '../types/program.js'
import { programFromJSON } from './decode.js'
import { isProgram, programToJSON } from './encode.js'

const asProgram = (x: unknown, where: string): Program =>
  isProgram(x) ? x : badInput(where, 'this is not a program.', 'make one with toProgram(f), or read one with fromJSON.')

/** A program prints as `show` writes it. */
const printed = (p: Program): Program => printedAs(p, (x) => showProgram(x, siteOf))

export const traceOptions = {
  /** The line of the user's code that built each operation; `show` prints it. A stack per operation: for looking, not for every call. */
  sites: flag(),
}

/** Traces a declared function at sizes of its named axes, any other at the shapes of example arguments. */
export const toProgramCore = (f: unknown, sizes?: Readonly<Record<string, number>> | TraceOptions, options?: TraceOptions): unknown => {
  const meta = metaOf(f, 'toProgram')
  const given = readOptions(traceOptions, meta.declared === undefined ? sizes : options, 'toProgram')
  const build = <A>(make: () => A): A => (given.sites ? recordingSites(make) : make())
  if (meta.declared !== undefined) return printed(build(() => traceDeclared(meta, sizes as Readonly<Record<string, number>>, 'toProgram')))
  return (...args: readonly unknown[]): Program => {
    const { leaves, def } = readArgs(meta, args)
    const avals = leaves.map((x) => (isExpr(x) ? x.aval : aval(x.shape, x.dtype)))
    return printed(build(() => traceMeta(meta, def, avals)))
  }
}

/** What a transform needs to know of a program. */
const programMeta = (p: Program): Meta => ({
  name: p.name,
  declared: { def: p.inputTree, specs: p.inputs.map((x): Spec => ({ _tag: 'Spec', shape: x.shape, dtype: x.dtype })) },
  arity: p.inputTree._tag === 'Tuple' ? p.inputTree.items.length : 1,
  body: (args) => unflatten(p.outputTree, inline(p, liftList(args, p.name).nodes).map(asExpr)),
})

/** The function of a program: it runs, inlines, and is differentiated as any other. */
export const fromProgramCore =
  (runtime: Runtime) =>
  (p: unknown): unknown =>
    callable(runtime, programMeta(asProgram(p, 'fromProgram')))

export const toJSONCore = (p: unknown): JSONValue => programToJSON(asProgram(p, 'toJSON'))

/** Finds primitives by their qualified names; by a name without a plugin's, as programs were saved before, the one that has it. */
export const finder = (primitives: readonly AnyPrimitive[]): ((name: string) => AnyPrimitive | undefined) => {
  const byName = new Map<string, AnyPrimitive>()
  const plain = new Map<string, AnyPrimitive | undefined>()
  for (const p of new Set(primitives)) {
    const name = qualifiedName(p)
    if (!byName.has(name)) byName.set(name, p)
    if (!isShipped(p)) plain.set(p.name, plain.has(p.name) ? undefined : p)
  }
  return (name) => byName.get(name) ?? plain.get(name.replace(/^own\//, ''))
}

/** Reads programs over the primitives that the registry has rules for, and these. */
export const fromJSONCore = (registry: Registry, more: readonly AnyPrimitive[] = []): ((u: unknown) => Either<AdError, Program>) => {
  for (const p of listOf(more, 'the primitives', 'fromJSON'))
    if (!isPrimitive(p)) badInput('fromJSON', `${shown(p)} is not a primitive.`, 'give an array of primitives of your own.')
  const read = programFromJSON(finder([...more, ...registry.byPrimitive.keys()]))
  return (u) => {
    const made = read(u)
    return made._tag === 'Right' ? right(printed(made.right)) : made
  }
}
export { isProgram }
