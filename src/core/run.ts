/** Running on a synchronous backend: concrete arguments in, tensors out. Tracing is once per signature for `compile`, every time for a plain call. */
import { type Aval, aval, sameAval } from './aval.js'
import { type Elements, type Executable, type Explanation, type SyncBackend, syncBackendOf } from './backend.js'
import { inlined, type Meta, metaOf, namedAxes, type Runtime, readArgs, toNode, traceDeclared, traceMeta, traceOpen } from './callable.js'
import { hosted, onADevice } from './device-tensor.js'
import { raise } from './explain.js'
import { isExpr, type Node } from './expr.js'
import { flagOf, type Names, optionsOf } from './given.js'
import type { NDArray, TypedArray } from './ndarray.js'
import { capturedTensor, closed, hasExpr, liftTree, makeProgram, type Program } from './program.js'
import { sameShape } from './shape.js'
import { atNode } from './sites.js'
import { assertReadable, readTargets } from './targets.js'
import { isTensor, Tensor } from './tensor.js'
import { sameDef, type TreeDef, unflatten } from './tree.js'

/** Results as a tree of tensors over typed arrays that nothing else holds. */
export const toTensors = (p: Program, data: readonly TypedArray[]): unknown =>
  unflatten(
    p.outputTree,
    data.map((d, i) => new Tensor(p.outputs[i]!.shape, p.outputs[i]!.dtype, d)),
  )

/** Raises where a captured tensor has lost its elements: a call would read NaN. */
export const capturesIntact = (p: Program): void => {
  for (let i = 0; i < p.captured.length; i++) capturedTensor(p.captured[i]!)!.intact(p.name)
}

const concrete = (x: Node | NDArray, where: string): NDArray =>
  isExpr(x)
    ? raise({
        _tag: 'BadInput',
        where,
        reason: 'an expression where a concrete array is wanted.',
        fix: 'a compiled function takes numbers, arrays and tensors; call the function itself with expressions.',
      })
    : (x as NDArray)

/** The error with the user's line, where it is about a node of the program. */
const atLine = (meta: Meta, def: TreeDef, program: Program, e: unknown): unknown =>
  atNode(e, meta.name, () =>
    traceMeta(
      meta,
      def,
      program.inputs.map((x) => x.aval),
    ),
  )
const preparing = <X>(meta: Meta, def: TreeDef, program: Program, make: () => X): X => {
  try {
    return make()
  } catch (e) {
    throw atLine(meta, def, program, e)
  }
}

/** The runtime of plain calls: trace, prepare (plans are cached by the backend), run. What captures an expression of an enclosing trace is one. */
export const makeRuntime = (backend: SyncBackend): Runtime => ({
  call: (meta, args) => {
    const { leaves, def } = readArgs(meta, args)
    const arrays = leaves.map((l) => concrete(l, meta.name))
    const traced = traceOpen(
      meta,
      def,
      arrays.map((a) => aval(a.shape, a.dtype)),
    )
    const program = closed(traced)
    if (isExpr(program)) return inlined(traced, arrays.map(toNode))
    const executable = preparing(meta, def, program, () => backend.prepare(program))
    try {
      capturesIntact(program)
      return toTensors(program, executable.run(arrays.map((a) => a.data)))
    } finally {
      executable.dispose()
    }
  },
})

/** The value of an expression (or a tree of them) that depends on no input. */
export const evaluateWith =
  (backend: SyncBackend) =>
  (tree: unknown): unknown => {
    const { nodes, def } = liftTree(tree, 'evaluate')
    const program = makeProgram({ name: 'evaluate', inputs: [], inputTree: { _tag: 'Tuple', items: [] }, outputs: nodes, outputTree: def })
    const executable = backend.prepare(program)
    try {
      capturesIntact(program)
      return toTensors(program, executable.run([]))
    } finally {
      executable.dispose()
    }
  }

/** What a compiled function keeps for one signature. */
export interface Prepared<X> {
  readonly def: TreeDef
  readonly avals: readonly Aval[]
  readonly program: Program
  readonly executable: X
}

/** The signatures a compiled function has met (tree, shapes, dtypes): one program and one executable each. */
export interface Signatures<X, T extends Elements = TypedArray> {
  readonly name: string
  /** The program for these arguments, and their data. */
  readonly find: (args: readonly unknown[]) => { readonly p: Prepared<X>; readonly inputs: readonly T[] }
  /** The program that `explain` means: of the last call, of the declaration at some sizes, or of arguments. */
  readonly explained: (args: readonly unknown[]) => Prepared<X>
  readonly forget: (p: Prepared<X>) => void
  /** Forgets all and refuses calls from now on: what there was to free. */
  readonly close: () => readonly Prepared<X>[]
}

/** Are these sizes of axes that the declaration names? Anything else is an argument. */
const isSizes = (x: unknown, axes: ReadonlySet<string>): x is Readonly<Record<string, number>> =>
  typeof x === 'object' &&
  x !== null &&
  Object.getPrototypeOf(x) === Object.prototype &&
  Object.entries(x).every(([k, v]) => typeof v === 'number' && axes.has(k))

/** `read` gives the elements of an argument. */
export const makeSignatures = <X, T extends Elements = TypedArray>(
  f: unknown,
  read: (x: NDArray) => T,
  make: (program: Program, located: (e: unknown) => unknown) => X,
  where = 'compile',
): Signatures<X, T> => {
  const meta = metaOf(f, where)
  const prepared: Prepared<X>[] = []
  let last: Prepared<X> | undefined
  let closed = false
  const prepare = (def: TreeDef, avals: readonly Aval[], program: Program): Prepared<X> => {
    const p = { def, avals, program, executable: preparing(meta, def, program, () => make(program, (e) => atLine(meta, def, program, e))) }
    prepared.push(p)
    return p
  }
  const open = (): void => {
    if (closed) raise({ _tag: 'BadInput', where: meta.name, reason: 'this compiled function was disposed.', fix: 'compile it again.' })
  }
  const find = (args: readonly unknown[]): { readonly p: Prepared<X>; readonly inputs: readonly T[] } => {
    open()
    if (last !== undefined) {
      const fast = fastInputs(last, args, read)
      if (fast !== undefined) return { p: last, inputs: fast }
    }
    if (args.some(hasExpr)) concrete(undefined as unknown as Node, meta.name)
    const { leaves, def } = readArgs(meta, args)
    const arrays = leaves.map((l) => concrete(l, meta.name))
    const avals = arrays.map((a) => aval(a.shape, a.dtype))
    last =
      prepared.find((q) => sameDef(q.def, def) && q.avals.every((a, i) => sameAval(a, avals[i]!))) ??
      prepare(def, avals, traceMeta(meta, def, avals))
    return { p: last, inputs: arrays.map(read) }
  }
  return {
    name: meta.name,
    find,
    explained: (args) => {
      open()
      if (args.length === 0 && last !== undefined) return last
      if (meta.declared !== undefined && args.length <= 1 && (args[0] === undefined || isSizes(args[0], namedAxes(meta.declared.specs)))) {
        const program = traceDeclared(meta, args[0] as Record<string, number> | undefined)
        const avals = program.inputs.map((x) => x.aval)
        return prepared.find((q) => q.avals.every((a, i) => sameAval(a, avals[i]!))) ?? prepare(program.inputTree, avals, program)
      }
      return find(args).p
    },
    forget: (p) => {
      const i = prepared.indexOf(p)
      if (i >= 0) prepared.splice(i, 1)
      if (last === p) last = undefined
    },
    close: () => {
      closed = true
      last = undefined
      return prepared.splice(0)
    },
  }
}

export interface IntoOptions {
  readonly accumulate?: boolean
}
const intoOptions: Names<IntoOptions> = { accumulate: true }
/** Do these options of `.into` ask that results are added to what the targets hold? */
export const accumulates = (options?: IntoOptions): boolean =>
  flagOf(optionsOf(options, intoOptions, 'into').accumulate, 'accumulate', 'into')

/** A compiled function. */
export interface CompiledCore {
  (...args: readonly unknown[]): unknown
  into: (outputs: unknown, options?: IntoOptions) => (...args: readonly unknown[]) => unknown
  explain: (...args: readonly unknown[]) => Explanation
  /** Makes the plan without running it. */
  prepare: (...args: readonly unknown[]) => void
  dispose: () => void
  [Symbol.dispose]: () => void
}

const dataOf = (x: NDArray): TypedArray => x.data

/** Traces once per signature (tree, shapes, dtypes) and runs the prepared program; synchronous backends. */
export const compileSync = (f: unknown, given: SyncBackend, where = 'compile'): CompiledCore => {
  const backend = syncBackendOf(given, where)
  const signatures = makeSignatures<Executable>(f, dataOf, (program) => backend.prepare(program), where)
  const call = (...args: readonly unknown[]): unknown => {
    const { p, inputs } = signatures.find(args)
    assertReadable(inputs, signatures.name)
    capturesIntact(p.program)
    return toTensors(p.program, p.executable.run(inputs))
  }
  const compiled = call as unknown as CompiledCore
  compiled.into = (outputs, options) => {
    const accumulate = accumulates(options)
    const targets = readTargets(outputs)
    const targetData = hosted(targets.data, 'into')
    let checked: Prepared<Executable> | undefined
    return (...args) => {
      const { p, inputs } = signatures.find(args)
      assertReadable(inputs, signatures.name)
      capturesIntact(p.program)
      targets.intact()
      if (checked !== p) {
        targets.check(p.program, accumulate)
        checked = p
      }
      targets.hold('sync')
      try {
        p.executable.run(inputs, targetData, accumulate)
      } finally {
        targets.release()
      }
      return outputs
    }
  }
  compiled.explain = (...args) => signatures.explained(args).executable.explain()
  compiled.prepare = (...args) => void signatures.find(args)
  compiled.dispose = () => {
    for (const p of signatures.close()) p.executable.dispose()
  }
  if (typeof Symbol.dispose === 'symbol') compiled[Symbol.dispose] = compiled.dispose
  return compiled
}

/** Input data when the arguments have exactly the last signature as tensors or typed arrays; undefined otherwise (the slow path decides). */
const fastInputs = <T>(p: Prepared<unknown>, args: readonly unknown[], read: (x: NDArray) => T): readonly T[] | undefined => {
  const def = p.def as Extract<TreeDef, { _tag: 'Tuple' }>
  if (args.length !== def.items.length) return undefined
  const out: T[] = []
  try {
    for (let i = 0; i < args.length; i++) if (!gather(p.avals, def.items[i]!, args[i], out, read)) return undefined
  } catch {
    return undefined
  }
  return out
}
/** Adds the leaves' data in order; false at the first that differs. At the top level: it runs at every call, and makes no closure. */
const gather = <T>(avals: readonly Aval[], d: TreeDef, x: unknown, out: T[], read: (x: NDArray) => T): boolean => {
  if (d._tag === 'Leaf') {
    if (!isTensor(x)) return false
    const a = avals[out.length]!
    if (x.dtype !== a.dtype || !sameShape(x.shape, a.shape)) return false
    const elements = read(x)
    // of a buffer that was given away: the slow path says so
    if ((elements as { readonly length?: number }).length !== a.size && !onADevice(elements as Elements)) return false
    out.push(elements)
    return true
  }
  if (d._tag === 'Record') {
    if (typeof x !== 'object' || x === null || Array.isArray(x)) return false
    let n = 0
    for (const _ in x) n++
    if (n !== d.keys.length) return false
    for (let i = 0; i < d.keys.length; i++)
      if (!Object.hasOwn(x, d.keys[i]!) || !gather(avals, d.items[i]!, (x as Record<string, unknown>)[d.keys[i]!], out, read)) return false
    return true
  }
  if (d._tag === 'Tuple') {
    if (!Array.isArray(x) || x.length !== d.items.length) return false
    for (let i = 0; i < d.items.length; i++) if (!gather(avals, d.items[i]!, x[i], out, read)) return false
    return true
  }
  return true
}
