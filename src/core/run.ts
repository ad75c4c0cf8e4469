/** Running on a synchronous backend: concrete arguments in, tensors out. Tracing is once per signature for `compile`, every time for a plain call. */
import { type Aval, aval, showAval } from './aval.js'
import { type Elements, type Executable, type Explanation, type SyncBackend, syncBackendOf } from './backend.js'
import { type Meta, metaOf, namedAxes, type Runtime, readArgs, traceDeclared, traceMeta } from './callable.js'
import { hosted } from './device-tensor.js'
import { raise } from './explain.js'
import { isExpr, type Node } from './expr.js'
import { flagOf, type Names, optionsOf } from './given.js'
import { Lru } from './lru.js'
import type { NDArray, TypedArray } from './ndarray.js'
import { hasExpr, liftTree, makeProgram, type Program } from './program.js'
import { sameShape } from './shape.js'
import { atNode } from './sites.js'
import { assertReadable, readTargets } from './targets.js'
import { isTensor, Tensor } from './tensor.js'
import { type TreeDef, unflatten } from './tree.js'

/** Results as a tree of tensors over typed arrays that nothing else holds. */
export const toTensors = (p: Program, data: readonly TypedArray[]): unknown =>
  unflatten(
    p.outputTree,
    data.map((d, i) => new Tensor(p.outputs[i]!.shape, p.outputs[i]!.dtype, d)),
  )

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

/** The runtime of plain calls: trace, prepare (plans are cached by the backend), run. */
export const makeRuntime = (backend: SyncBackend): Runtime => ({
  call: (meta, args) => {
    const { leaves, def } = readArgs(meta, args)
    const arrays = leaves.map((l) => concrete(l, meta.name))
    const program = traceMeta(
      meta,
      def,
      arrays.map((a) => aval(a.shape, a.dtype)),
    )
    const executable = preparing(meta, def, program, () => backend.prepare(program))
    try {
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
      return toTensors(program, executable.run([]))
    } finally {
      executable.dispose()
    }
  }

/** What a compiled function keeps for one signature. */
export interface Prepared<X> {
  readonly key: string
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
  /** Says what an executable weighs, where that is known later. */
  readonly weigh: (p: Prepared<X>, bytes: number | undefined) => void
  readonly forget: (p: Prepared<X>) => void
  /** Frees all and refuses calls from now on. */
  readonly close: () => void
}

/** How a compiled function reads arguments, and makes and frees what runs. */
export interface Making<X, T extends Elements> {
  /** The elements of an argument. */
  readonly read: (x: NDArray) => T
  readonly make: (program: Program, located: (e: unknown) => unknown) => X
  /** Bytes that it holds, about. */
  readonly bytes: (executable: X) => number | undefined
  readonly drop: (executable: X) => void
}

/** Are these sizes of axes that the declaration names? Anything else is an argument. */
const isSizes = (x: unknown, axes: ReadonlySet<string>): x is Readonly<Record<string, number>> =>
  typeof x === 'object' &&
  x !== null &&
  Object.getPrototypeOf(x) === Object.prototype &&
  Object.entries(x).every(([k, v]) => typeof v === 'number' && axes.has(k))

/** What the signatures of one function may hold; the last ones used stay however large they are. */
const SIGNATURE_BYTES = 2 ** 26
const SIGNATURES = 64
/** What an executable weighs that does not say it. */
const EXECUTABLE_BYTES = 2 ** 16
/** So many signatures of one function are worth a word. */
const MANY = 32

/** Text that only equal structures have. */
const defText = (d: TreeDef): string =>
  d._tag === 'Leaf'
    ? '*'
    : d._tag === 'NoTangent'
      ? '-'
      : d._tag === 'Tuple'
        ? `[${d.items.map(defText).join()}]`
        : `{${d.items.map((x, i) => `${JSON.stringify(d.keys[i])}:${defText(x)}`).join()}}`

/** Keys of signatures: the structure, then dtype and shape of each leaf. A declared function has one structure, whose text is kept. */
const makeKeys = (): ((def: TreeDef, avals: readonly Aval[]) => string) => {
  let known: TreeDef | undefined
  let text = ''
  return (def, avals) => {
    if (def !== known) {
      known = def
      text = defText(def)
    }
    let key = text
    for (const a of avals) key += `${a.dtype}${a.shape.join()};`
    return key
  }
}

export const makeSignatures = <X, T extends Elements = TypedArray>(
  f: unknown,
  { read, make, bytes, drop }: Making<X, T>,
  where = 'compile',
): Signatures<X, T> => {
  const meta = metaOf(f, where)
  const keyOf = makeKeys()
  // The last signature and the one before it, found without a key: a training step and its validation take turns.
  let last: Prepared<X> | undefined
  let before: Prepared<X> | undefined
  const dropped = (p: Prepared<X>): void => {
    if (last === p) last = undefined
    if (before === p) before = undefined
    drop(p.executable)
  }
  const prepared = new Lru<string, Prepared<X>>(SIGNATURE_BYTES, dropped, SIGNATURES)
  let made = 0
  let closed = false
  const open = (): void => {
    if (closed) raise({ _tag: 'BadInput', where: meta.name, reason: 'this compiled function was disposed.', fix: 'compile it again.' })
  }
  const prepare = (key: string, def: TreeDef, avals: readonly Aval[], program: Program): Prepared<X> => {
    const executable = preparing(meta, def, program, () => make(program, (e) => atLine(meta, def, program, e)))
    // Preparing may have run code of the user's: that called the function itself, or disposed it.
    const inner = prepared.get(key)
    if (inner !== undefined || closed) drop(executable)
    open()
    if (inner !== undefined) return inner
    const p = { key, def, avals, program, executable }
    prepared.add(key, p, bytes(executable) ?? EXECUTABLE_BYTES)
    if (++made === MANY)
      console.warn(
        `codual: ${MANY} plans of ${meta.name}: each new structure, dtype or shape of its arguments is planned anew, the last one ${
          avals.map(showAval).join(', ') || 'without arguments'
        }. Pad arguments to a few shapes, or compile a function for each use.`,
      )
    return p
  }
  const turn = (p: Prepared<X>): Prepared<X> => {
    if (p !== last) {
      before = last
      last = p
    }
    return p
  }
  /** The last two were found without their keys: says that they were used. */
  const touch = (): void => {
    if (before !== undefined) prepared.get(before.key)
    if (last !== undefined) prepared.get(last.key)
  }
  const byKey = (def: TreeDef, avals: readonly Aval[], trace: () => Program): Prepared<X> => {
    touch()
    const key = keyOf(def, avals)
    return prepared.get(key) ?? prepare(key, def, avals, trace())
  }
  const find = (args: readonly unknown[]): { readonly p: Prepared<X>; readonly inputs: readonly T[] } => {
    open()
    if (last !== undefined) {
      const inputs = fastInputs(last, args, read)
      if (inputs !== undefined) return { p: last, inputs }
    }
    if (before !== undefined) {
      const inputs = fastInputs(before, args, read)
      if (inputs !== undefined) return { p: turn(before), inputs }
    }
    if (args.some(hasExpr)) concrete(undefined as unknown as Node, meta.name)
    const { leaves, def } = readArgs(meta, args)
    const arrays = leaves.map((l) => concrete(l, meta.name))
    const avals = arrays.map((a) => aval(a.shape, a.dtype))
    const p = turn(byKey(def, avals, () => traceMeta(meta, def, avals)))
    return { p, inputs: arrays.map(read) }
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
        return byKey(program.inputTree, avals, () => program)
      }
      return find(args).p
    },
    weigh: (p, size) => {
      touch()
      prepared.weigh(p.key, size ?? EXECUTABLE_BYTES)
    },
    forget: (p) => {
      if (prepared.get(p.key) === p) prepared.delete(p.key)
    },
    close: () => {
      closed = true
      prepared.clear()
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
  const signatures = makeSignatures<Executable>(
    f,
    { read: dataOf, make: (program) => backend.prepare(program), bytes: (x) => x.bytes, drop: (x) => x.dispose() },
    where,
  )
  const call = (...args: readonly unknown[]): unknown => {
    const { p, inputs } = signatures.find(args)
    assertReadable(inputs, signatures.name)
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
  compiled.dispose = () => signatures.close()
  if (typeof Symbol.dispose === 'symbol') compiled[Symbol.dispose] = compiled.dispose
  return compiled
}

/** Input data when the arguments have exactly the last signature as tensors or typed arrays; undefined otherwise (the slow path decides). */
const fastInputs = <T>(p: Prepared<unknown>, args: readonly unknown[], read: (x: NDArray) => T): readonly T[] | undefined => {
  const def = p.def as Extract<TreeDef, { _tag: 'Tuple' }>
  if (args.length !== def.items.length) return undefined
  const out: T[] = []
  for (let i = 0; i < args.length; i++) if (!gather(p.avals, def.items[i]!, args[i], out, read)) return undefined
  return out
}
/** Adds the leaves' data in order; false at the first that differs. At the top level: it runs at every call, and makes no closure. */
const gather = <T>(avals: readonly Aval[], d: TreeDef, x: unknown, out: T[], read: (x: NDArray) => T): boolean => {
  if (d._tag === 'Leaf') {
    if (!isTensor(x)) return false
    const a = avals[out.length]!
    if (x.dtype !== a.dtype || !sameShape(x.shape, a.shape)) return false
    out.push(read(x))
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
