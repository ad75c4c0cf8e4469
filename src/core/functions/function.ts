/** Functions of codual: what `fn` makes and what transforms take and give. A plain function is one without a declaration. */

import { functionOf, integerOf, recordOf, shown } from '../errors/check-arguments.js'
import { badInput, raise } from '../errors/explain.js'
import { callOf } from '../errors/hints.js'
import { parametersOf, reading, unreadable } from '../errors/language.js'
import { or, readOptions } from '../errors/options.js'
import { type Aval, aval } from '../graph/aval.js'
import { asExpr, constant, isClosed, isExpr, type Node, plain } from '../graph/expr.js'
import type { NDArray } from '../graph/ndarray.js'
import { freshInputs, hasExpr, leavesOfList, liftList, liftTree, makeProgram, type Program, type Traced } from '../graph/program.js'
import { substitute } from '../graph/rewrite.js'
import { located } from '../graph/source-lines.js'
import { readDeclaration, readLeaf, resolveSpec, type Sizes, type Spec } from '../graph/spec.js'
import { isTensor, Tensor } from '../graph/tensor.js'
import { explainDef, flatten, holdsStatic, isLeaf, leafPaths, leavesAlong, showDef, type TreeDef, unflatten } from '../graph/tree.js'
import { declared, isWeak } from '../graph/weak.js'
import type { FnOptions } from '../types/signatures/transforms.js'

/** What a transform needs to know of a function. */
export interface Meta {
  readonly name: string
  /** Declared inputs of each argument; undefined: any shapes. */
  readonly declared?: { readonly def: TreeDef; readonly specs: readonly Spec[] }
  /** Number of arguments (a function made by `fn` has one: its argument tree); of a plain function those before the first default or rest. */
  readonly arity: number
  /** Of a plain function, how many it names; Infinity with a rest parameter. */
  readonly most?: () => number
  /** What its arguments are called in messages, where not that. */
  readonly noun?: string
  /** From arguments with expressions at their leaves to a tree of expressions. */
  readonly body: (args: readonly unknown[]) => unknown
  /** The body differentiates by its arguments: they must be distinct new inputs that nothing has captured. `applied` takes any. */
  readonly differentiates?: boolean
  /** How its arguments are taken apart, where a declaration does not say it. */
  readonly read?: (args: readonly unknown[]) => ReadArgs
}
/** Arguments taken apart: leaves, and the tree of the argument list. */
export interface ReadArgs {
  readonly leaves: readonly (Node | NDArray)[]
  readonly def: TreeDef
}

const META = Symbol('codual.meta')

/** The meta of a function: its own, or that of a plain function. `where` is what it is given to. */
export const metaOf = (f: unknown, where = 'a transform'): Meta => {
  if (typeof f !== 'function') return badInput(where, `${shown(f)} is not a function.`, callOf(where) ?? 'pass a function or an fn.')
  const own = reading(where, () => (f as { [META]?: Meta })[META])
  if (own !== undefined) return own
  return {
    name: f.name === '' ? 'f' : f.name,
    arity: f.length,
    most: () => parametersOf(f as (...xs: never[]) => unknown),
    body: (args) => (f as (...xs: readonly unknown[]) => unknown)(...args),
  }
}

/** What runs a function on concrete values: what tracing it at their avals gave. */
export interface Runtime {
  readonly run: (meta: Meta, traced: Traced, arrays: readonly NDArray[]) => unknown
}

/**
 * A callable: with expressions among its arguments, or in what its body captures, it inlines; otherwise it runs. What the body captures is
 * seen by tracing it, so the runtime decides that.
 */
export const callable = (runtime: Runtime, meta: Meta): ((...args: readonly unknown[]) => unknown) => {
  const f = (...args: readonly unknown[]): unknown => {
    const inlines = args.some(hasExpr)
    const { leaves, def } = readArgs(meta, args)
    if (inlines) return applied(meta, unflatten(def, leaves.map(toNode).map(asExpr)) as unknown[])
    const arrays = leaves as readonly NDArray[]
    const avals = arrays.map((a) => aval(a.shape, a.dtype))
    return runtime.run(meta, traceOpen(meta, def, avals), arrays)
  }
  Object.defineProperty(f, META, { value: meta })
  Object.defineProperty(f, '_tag', { value: 'Fn' })
  Object.defineProperty(f, 'name', { value: meta.name })
  return f
}

/** The numbers of expressions without inputs. */
export type Evaluating = (nodes: readonly Node[]) => readonly NDArray['data'][]
/** The arguments' leaves where only values will do: expressions without inputs are evaluated. */
export const concrete = (leaves: readonly (Node | NDArray)[], where: string, evaluate: Evaluating): readonly NDArray[] => {
  const nodes = leaves.filter((x): x is Node => isExpr(x))
  if (nodes.length === 0) return leaves as readonly NDArray[]
  if (!nodes.every(isClosed))
    badInput(
      where,
      'an expression of an input where a concrete array is wanted.',
      'a compiled function computes: within a traced function call the function itself, not what compile made of it.',
    )
  const data = evaluate(nodes)
  let at = 0
  return leaves.map((x) => (isExpr(x) ? new Tensor(x.shape, x.dtype, data[at++]!) : (x as NDArray)))
}

/** An argument's leaf as an expression. */
export const toNode = (x: Node | NDArray): Node =>
  isExpr(x)
    ? (x as Node)
    : isTensor(x)
      ? x.node
      : x.shape.length === 0
        ? constant(x.data[0]!, x.dtype)
        : new Tensor(x.shape, x.dtype, x.data).node

/** A leaf of the arguments in messages. */
const placeOf = ({ name, noun }: Meta, path: string): string =>
  `${name}: ${noun === undefined ? path || 'argument' : path === '' ? noun : `${noun} at ${path}`}`

/** The call of a function with the argument list `def`. */
const writeRecord = (def: TreeDef): string => {
  const [tree] = (def as Extract<TreeDef, { _tag: 'Tuple' }>).items
  return tree?._tag === 'Record' ? `write f({ ${tree.keys.map((k) => `${k}: ...`).join(', ')} }).` : 'pass exactly the declared inputs.'
}
/** What a function takes, in words. */
const takes = ({ arity, declared }: Meta): string => {
  const tree = declared?.def._tag === 'Tuple' ? declared.def.items[0] : undefined
  if (arity === 1 && tree?._tag === 'Record') return `one record { ${tree.keys.join(', ')} }`
  return `${arity} argument${arity === 1 ? '' : 's'}`
}

/** Arguments taken apart and held against the declaration. */
export const readArgs = (meta: Meta, args: readonly unknown[]): ReadArgs => {
  if (meta.read !== undefined) return meta.read(args)
  const want = meta.declared
  if (want !== undefined) {
    if (args.length !== meta.arity)
      raise({
        _tag: 'BadInput',
        where: meta.name,
        reason: `takes ${takes(meta)}, got ${args.length === 0 ? 'nothing' : `${args.length} arguments`}.`,
        ...(meta.declared !== undefined && meta.arity === 1 && { fix: writeRecord(meta.declared.def) }),
      })
    const leaves = declaredLeaves(want.def, args, meta.name)
    const names: Sizes = new Map()
    const paths = leafPaths(want.def)
    return {
      leaves: leaves.map((x, i) => readLeaf(x, want.specs[i], names, placeOf(meta, plain(paths[i]!)))),
      def: want.def,
    }
  }
  const { leaves, def } = leavesOfList(args, meta.name)
  const names: Sizes = new Map()
  const paths = leafPaths(def)
  const place = (path: string): string => (meta.noun === undefined ? `${meta.name}: argument ${path}` : placeOf(meta, plain(path)))
  return { leaves: leaves.map((x, i) => readLeaf(x, undefined, names, place(paths[i]!))), def }
}

/** The leaves of declared arguments; raises what is missing or extra. */
const declaredLeaves = (def: TreeDef, args: readonly unknown[], name: string): unknown[] => {
  let leaves: unknown[] | undefined
  try {
    leaves = leavesAlong(def, args)
  } catch (e) {
    unreadable(e, name)
  }
  if (leaves?.every((x) => x !== undefined && x !== null)) return leaves
  // Its argument itself: an array at the place of the list of arguments would be taken for a tensor.
  const [want] = (def as Extract<TreeDef, { _tag: 'Tuple' }>).items
  const got = flatten(args[0], name, isLeaf, '', holdsStatic(def) ? 1 : Number.POSITIVE_INFINITY).def
  if (want?._tag === 'Record' && got._tag !== 'Record')
    badInput(name, `takes one record { ${want.keys.join(', ')} }, got ${shown(args[0])}.`, writeRecord(def))
  return badInput(
    name,
    `${explainDef(want!, got) ?? 'the argument has another structure'}.`,
    `pass exactly the declared inputs: ${showDef(want!)}.`,
  )
}

/** Traces a function at the avals of its arguments: what it captured may be an expression of an enclosing trace. */
export const traceOpen = (meta: Meta, def: TreeDef, avals: readonly Aval[]): Traced => {
  const inputs = freshInputs(def, avals)
  const args = (): unknown[] => unflatten(def, inputs.map(asExpr)) as unknown[]
  let out: unknown
  try {
    out = meta.body(args())
  } catch (e) {
    throw located(e, meta.name, () => meta.body(args()))
  }
  if (typeof (out as { then?: unknown } | null)?.then === 'function')
    badInput(meta.name, 'the function returned a Promise; a traced function must be synchronous.', 'await outside, and capture the value.')
  const { nodes, def: outputTree } = liftTree(out, `the result of ${meta.name}`)
  return { name: meta.name, inputs, inputTree: def, outputs: nodes, outputTree }
}
/** The closed program of a function at the avals of its arguments. */
export const traceMeta = (meta: Meta, def: TreeDef, avals: readonly Aval[]): Program => makeProgram(traceOpen(meta, def, avals))

/** What a trace gave, over these arguments in place of its inputs. */
export const inlined = (p: Traced, args: readonly Node[]): unknown =>
  unflatten(p.outputTree, substitute(p.outputs, new Map(p.inputs.map((x, i) => [x, args[i]!]))).map(asExpr))

/** The names of the axes that a declaration leaves open. */
export const namedAxes = (specs: readonly Spec[]): ReadonlySet<string> =>
  new Set(specs.flatMap((s) => s.shape.filter((d) => typeof d === 'string')))

/** Traces a declared function, with sizes for its named dimensions. `where` is what they are given to. */
export const traceDeclared = (meta: Meta, sizes: Readonly<Record<string, number>> = {}, where = meta.name): Program => {
  const want =
    meta.declared ??
    badInput(
      meta.name,
      'the shapes of its arguments are not declared.',
      `make it with fn, or give example arguments: ${where === 'show' ? 'show(toProgram(f)(...examples))' : 'toProgram(f)(...examples)'}.`,
    )
  const axes = namedAxes(want.specs)
  const names: Sizes = new Map()
  for (const [k, size] of Object.entries(recordOf(sizes, 'the sizes of named axes', where))) {
    if (!axes.has(k))
      badInput(
        where,
        `${meta.name} declares no axis '${k}'.`,
        axes.size === 0 ? 'its sizes are all declared: leave it out.' : `its named axes: ${[...axes].join(', ')}.`,
      )
    names.set(k, { size: integerOf(size, `the size of '${k}'`, where), path: 'the given sizes' })
  }
  return traceMeta(
    meta,
    want.def,
    want.specs.map((s) => resolveSpec(s, names, meta.name)),
  )
}

export const fnOptions = {
  /** What errors and `show` call the function. */
  name: or<string, undefined>(undefined, (given, what, where) =>
    typeof given === 'string' ? given : badInput(where, `${what} must be a string, not ${shown(given)}.`),
  ),
}
/** Declares a function: specs of its inputs, and a body from expressions to expressions. */
export const declare = (
  runtime: Runtime,
  declaration: unknown,
  body: (x: unknown) => unknown,
  options?: FnOptions,
): ((...args: readonly unknown[]) => unknown) => {
  if (typeof declaration === 'function')
    badInput(
      'fn',
      'a function where the declaration of its inputs is wanted.',
      'write fn({ x: f64(3) }, ({ x }) => ...); grad, vmap and compile take plain functions too.',
    )
  if (body === undefined) badInput('fn', 'it has no body.', 'write fn({ x: f64(3) }, ({ x }) => ...).')
  const { name = functionOf(body, 'the second argument', 'fn').name } = readOptions(fnOptions, options, 'fn')
  const { specs, def } = readDeclaration(declaration, 'fn')
  return callable(runtime, {
    name: name === '' ? 'fn' : name,
    declared: { def: { _tag: 'Tuple', items: [def] }, specs },
    arity: 1,
    body: ([x]) => body(x),
  })
}

/**
 * The function over any arguments. One that differentiates is given inputs of its own, and the arguments are put in afterwards: as the f64
 * that those inputs were, for derivatives are of that dtype.
 */
export const applied = (meta: Meta, given: readonly unknown[]): unknown => {
  if (meta.differentiates !== true) return meta.body(given)
  const { nodes, def } = liftList(given, 'arguments')
  const inputs = freshInputs(
    def,
    nodes.map((n) => n.aval),
  )
  const out = liftTree(meta.body(unflatten(def, inputs.map(asExpr)) as unknown[]), 'result')
  const args = nodes.map((n) => (isWeak(n) ? declared(n, n.dtype) : n))
  return inlined({ name: meta.name, inputs, inputTree: def, outputs: out.nodes, outputTree: out.def }, args)
}
