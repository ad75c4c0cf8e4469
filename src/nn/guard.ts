/** What layers are given when they run, read once: what does not belong is one error that names the layer, before the layer meets it. */
import { flagOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { holds, reading } from '../core/errors/language.js'
import { add, isExpr, isTensor, type Spec } from '../index.js'
import type { AnyLayer } from './layer.js'

/** An array or an expression; plain numbers and arrays of them take the dtype of what they meet. */
export const inputIn = (x: unknown, what: string, op: string): never => {
  if (isExpr(x) || isTensor(x)) return x as never
  const numbers =
    typeof x === 'number' || typeof x === 'boolean' || ArrayBuffer.isView(x) || reading(`${op}: ${what}`, () => Array.isArray(x))
  return (numbers ? add(x as number, 0) : badInput(op, `${what} is ${shown(x)}, which is not an array.`)) as never
}
/** Is it a declared input? */
export const isSpec = (x: unknown): x is Spec => holds(() => (x as Spec)._tag === 'Spec' && Array.isArray((x as Spec).shape))

type Tree = 'parameters' | 'state'
const placeOf = (what: Tree, path: string): string => (path === '' ? `the ${what}` : `${path} of the ${what}`)
const lacking = (what: Tree, op: string, path: string): never => {
  const [verb, made] = what === 'state' ? ['has', 'initState()'] : ['have', 'init(key)']
  return badInput(
    op,
    path === '' ? `the ${what} ${verb} been left out.` : `the ${what} ${verb} no ${path}.`,
    `give what ${made} gives, or what came of it.`,
  )
}
/** A tree of arrays as it is declared, with nothing beside. */
const treeIn = (declared: unknown, given: unknown, what: Tree, op: string, path = ''): unknown => {
  if (declared === null || declared === undefined) return null
  if (isSpec(declared)) {
    if (!isExpr(given) && !isTensor(given))
      return given === undefined
        ? lacking(what, op, path)
        : badInput(op, `${placeOf(what, path)} is ${shown(given)}, which is not an array.`)
    const { shape } = declared
    const sizes: readonly (number | string)[] = given.shape
    if (sizes.length !== shape.length || sizes.some((d, i) => typeof shape[i] === 'number' && d !== shape[i]))
      badShape(op, [sizes as number[]], `${placeOf(what, path)} is [${sizes.join(', ')}]; the layer declares [${shape.join(', ')}].`)
    return given
  }
  if (given === undefined || given === null) return lacking(what, op, path)
  const made: Record<string, unknown> = Array.isArray(declared) ? ([] as never) : {}
  for (const k of Object.keys(declared as object)) {
    const [d, x] = [declared, given].map((tree) => (tree as Readonly<Record<string, unknown>>)[k])
    made[k] = treeIn(d, x, what, op, path === '' ? k : `${path}.${k}`)
  }
  return made
}
/** The parameters of parts, each for its own part to read. */
const partsIn = (layer: AnyLayer, given: unknown, op: string): unknown =>
  given === null || given === undefined
    ? {}
    : Object.fromEntries(
        Object.keys(layer.parts!).map((k) => [k, reading(`${op}: parameters`, () => (given as Readonly<Record<string, unknown>>)[k])]),
      )
const paramsIn = (layer: AnyLayer, given: unknown, op: string): unknown => {
  if (layer.parts === undefined) return reading(`${op}: the parameters`, () => treeIn(layer.declared, given, 'parameters', op))
  return layer.repeated === undefined ? partsIn(layer, given, op) : given
}

/** What a layer is told, with its own state; `arrays`: what it reads of that as arrays. What it does not know is for its parts. */
const runIn = (layer: AnyLayer, given: unknown, op: string, arrays: readonly string[]): object => {
  if (given === undefined || given === null) return {}
  const run: Record<string, unknown> = reading(`${op}: the third argument`, () => ({
    ...recordOf(given as object, 'the third argument', op),
  }))
  if (run.training !== undefined) flagOf(run.training, 'training', op)
  for (const name of arrays) if (run[name] !== undefined) run[name] = inputIn(run[name], name, op)
  if (layer.parts === undefined && layer.state !== undefined && run.state !== undefined && run.state !== null)
    run.state = reading(`${op}: the state`, () => treeIn(layer.state, run.state, 'state', op))
  return run
}

type Method = (...xs: readonly unknown[]) => unknown
/** What each argument of the methods of layers is. */
const methods: Readonly<Record<string, readonly ('params' | 'input' | 'run' | 'own')[]>> = {
  apply: ['params', 'input', 'run'],
  scan: ['params', 'input', 'own', 'run'],
  step: ['params', 'own', 'input', 'run'],
  attend: ['params', 'input'],
}
/** The same layer, whose methods read what they are given. `told`: arrays among what it is told. A composition (`inputs` false) gives its input to its parts, which read it. */
export const guarded = <L>(
  layer: L,
  { told = [], inputs = true }: { readonly told?: readonly string[]; readonly inputs?: boolean } = {},
): L => {
  const own = layer as AnyLayer & Readonly<Record<string, unknown>>
  const op = own.kind ?? 'layer'
  const read = (x: unknown, kind: string): unknown =>
    kind === 'params' ? paramsIn(own, x, op) : kind === 'run' ? runIn(own, x, op, told) : kind === 'input' && inputs ? inputIn(x, 'the input', op) : x // biome-ignore format: one row
  const methodsOf = Object.entries(methods).flatMap(([name, kinds]) => {
    const f = own[name] as Method | undefined
    return f === undefined ? [] : [[name, (...xs: readonly unknown[]) => f(...kinds.map((kind, i) => read(xs[i], kind)))] as const]
  })
  return { ...own, ...Object.fromEntries(methodsOf) } as L
}
