/** Running: concrete arguments in, tensors out. Tracing is once per signature for `compile`, every time for a plain call. */
import * as E from 'fp-ts/lib/Either.js'
import type { ReaderTaskEither } from 'fp-ts/lib/ReaderTaskEither.js'
import { type Aval, aval, sameAval, showAval } from './aval.js'
import type { Backend, Executable, Explanation, SyncBackend } from './backend.js'
import { metaOf, type Runtime, readArgs, traceDeclared, traceMeta } from './callable.js'
import { type AdError, isAdException } from './error.js'
import { raise } from './explain.js'
import { isExpr, type Node } from './expr.js'
import type { NDArray, TypedArray } from './ndarray.js'
import { hasExpr, liftTree, makeProgram, type Program } from './program.js'
import { sameShape } from './shape.js'
import { isTensor, Tensor } from './tensor.js'
import { flatten, leafPaths, sameDef, type TreeDef, unflatten } from './tree.js'

/** Results as a tree of tensors over typed arrays that nothing else holds. */
const toTensors = (p: Program, data: readonly TypedArray[]): unknown =>
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
    const executable = backend.prepare(program)
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

interface Prepared {
  readonly def: TreeDef
  readonly avals: readonly Aval[]
  readonly program: Program
  readonly executable: Executable
}

export interface IntoOptions {
  readonly accumulate?: boolean
}

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

const isSizes = (x: unknown): x is Readonly<Record<string, number>> =>
  typeof x === 'object' &&
  x !== null &&
  Object.getPrototypeOf(x) === Object.prototype &&
  Object.values(x).every((v) => typeof v === 'number')

/** Traces once per signature (tree, shapes, dtypes) and runs the prepared program; synchronous backends. */
export const compileSync = (f: unknown, backend: SyncBackend): CompiledCore => {
  const meta = metaOf(f)
  const prepared: Prepared[] = []
  let last: Prepared | undefined
  let disposed = false

  const find = (args: readonly unknown[]): { readonly p: Prepared; readonly inputs: readonly TypedArray[] } => {
    if (disposed) raise({ _tag: 'BadInput', where: meta.name, reason: 'this compiled function was disposed.', fix: 'compile it again.' })
    if (last !== undefined) {
      const fast = fastInputs(last, args)
      if (fast !== undefined) return { p: last, inputs: fast }
    }
    if (args.some(hasExpr)) concrete(undefined as unknown as Node, meta.name)
    const { leaves, def } = readArgs(meta, args)
    const arrays = leaves.map((l) => concrete(l, meta.name))
    const avals = arrays.map((a) => aval(a.shape, a.dtype))
    const p = prepared.find((q) => sameDef(q.def, def) && q.avals.every((a, i) => sameAval(a, avals[i]!))) ?? prepare(def, avals)
    last = p
    return { p, inputs: arrays.map((a) => a.data) }
  }
  const prepare = (def: TreeDef, avals: readonly Aval[]): Prepared => {
    const program = traceMeta(meta, def, avals)
    const p = { def, avals, program, executable: backend.prepare(program) }
    prepared.push(p)
    return p
  }

  const call = (...args: readonly unknown[]): unknown => {
    const { p, inputs } = find(args)
    return toTensors(p.program, p.executable.run(inputs))
  }
  const compiled = call as unknown as CompiledCore
  compiled.into = (outputs, options = {}) => {
    const { leaves, def } = flatten(outputs, 'outputs')
    const targets = leaves.map((l, i) => {
      if (!isTensor(l))
        return raise({
          _tag: 'BadInput',
          where: `into: ${leafPaths(def)[i]}`,
          reason: 'is not a tensor.',
          fix: 'outputs are tensors; make them with tensor or zeros.',
        })
      return l
    })
    const buffers = new Set(targets.map((t) => t.data))
    if (buffers.size !== targets.length)
      raise({ _tag: 'BadInput', where: 'into', reason: 'two outputs are the same array.', fix: 'give each output an array of its own.' })
    const data = targets.map((t) => t.data)
    let checked: Prepared | undefined
    return (...args) => {
      const { p, inputs } = find(args)
      if (checked !== p) {
        if (!sameDef(def, p.program.outputTree))
          raise({ _tag: 'BadInput', where: 'into', reason: 'the outputs have another tree than the results.', fix: 'give the same tree.' })
        targets.forEach((t, i) => {
          const o = p.program.outputs[i]!
          if (!sameShape(t.shape, o.shape) || t.dtype !== o.dtype)
            raise({
              _tag: 'ShapeMismatch',
              op: `into: ${leafPaths(def)[i] || 'the result'}`,
              shapes: [t.shape, o.shape],
              reason: `the target is ${t.dtype} [${t.shape}], the result ${showAval(o.aval)}.`,
              fix: "give a tensor of the result's shape and dtype.",
            })
        })
        checked = p
      }
      p.executable.run(inputs, data, options.accumulate ?? false)
      return outputs
    }
  }
  compiled.explain = (...args) => {
    if (args.length === 0 && last !== undefined) return last.executable.explain()
    if (meta.declared !== undefined && args.length <= 1 && (args[0] === undefined || isSizes(args[0]))) {
      const program = traceDeclared(meta, args[0] as Record<string, number> | undefined)
      return (
        prepared.find((q) => q.avals.every((a, i) => sameAval(a, program.inputs[i]!.aval))) ??
        prepare(
          program.inputTree,
          program.inputs.map((x) => x.aval),
        )
      ).executable.explain()
    }
    return find(args).p.executable.explain()
  }
  compiled.prepare = (...args) => void find(args)
  compiled.dispose = () => {
    disposed = true
    for (const p of prepared) p.executable.dispose()
    prepared.length = 0
    last = undefined
  }
  if (typeof Symbol.dispose === 'symbol') compiled[Symbol.dispose] = compiled.dispose
  return compiled
}

/** Input data when the arguments have exactly the last signature as tensors or typed arrays; undefined otherwise (the slow path decides). */
const fastInputs = (p: Prepared, args: readonly unknown[]): readonly TypedArray[] | undefined => {
  const def = p.def as Extract<TreeDef, { _tag: 'Tuple' }>
  if (args.length !== def.items.length) return undefined
  const out: TypedArray[] = []
  const go = (d: TreeDef, x: unknown): boolean => {
    if (d._tag === 'Leaf') {
      if (!isTensor(x)) return false
      const a = p.avals[out.length]!
      if (x.dtype !== a.dtype || !sameShape(x.shape, a.shape)) return false
      out.push(x.data)
      return true
    }
    if (d._tag === 'Record') {
      if (typeof x !== 'object' || x === null || Array.isArray(x)) return false
      let n = 0
      for (const _ in x) n++
      if (n !== d.keys.length) return false
      for (let i = 0; i < d.keys.length; i++)
        if (!Object.hasOwn(x, d.keys[i]!) || !go(d.items[i]!, (x as Record<string, unknown>)[d.keys[i]!])) return false
      return true
    }
    if (d._tag === 'Tuple') {
      if (!Array.isArray(x) || x.length !== d.items.length) return false
      for (let i = 0; i < d.items.length; i++) if (!go(d.items[i]!, x[i])) return false
      return true
    }
    return true
  }
  for (let i = 0; i < args.length; i++) if (!go(def.items[i]!, args[i])) return undefined
  return out
}

/** Compiles for an asynchronous backend: calls queue, inputs are copied at the call. */
export const compileAsync = (f: unknown, backend: Backend<'async'>): ((...args: readonly unknown[]) => Promise<unknown>) => {
  const meta = metaOf(f)
  const prepared: {
    readonly def: TreeDef
    readonly avals: readonly Aval[]
    readonly program: Program
    readonly executable: Promise<Executable>
  }[] = []
  let queue: Promise<unknown> = Promise.resolve()
  return (...args) => {
    const { leaves, def } = readArgs(meta, args)
    const arrays = leaves.map((l) => concrete(l, meta.name))
    const avals = arrays.map((a) => aval(a.shape, a.dtype))
    const inputs = arrays.map((a) => a.data.slice())
    let p = prepared.find((q) => sameDef(q.def, def) && q.avals.every((a, i) => sameAval(a, avals[i]!)))
    if (p === undefined) {
      const program = traceMeta(meta, def, avals)
      p = { def, avals, program, executable: backend.prepare(program) }
      prepared.push(p)
    }
    const { program, executable } = p
    const result = queue.then(async () => toTensors(program, await (await executable).run(inputs)))
    queue = result.catch(() => undefined)
    return result
  }
}

/** What `run` needs. */
export interface Env {
  readonly backend: Backend
}

const toError = (e: unknown): AdError => {
  if (isAdException(e)) return e.error
  throw e
}

/** A function as an effect: nothing happens before the TaskEither runs. */
export const runCore =
  (f: unknown) =>
  (...args: readonly unknown[]): ReaderTaskEither<Env, AdError, unknown> =>
  ({ backend }) =>
  async () => {
    try {
      const g = backend.kind === 'sync' ? compileSync(f, backend as SyncBackend) : compileAsync(f, backend as Backend<'async'>)
      const value = await g(...args)
      if (backend.kind === 'sync') (g as CompiledCore).dispose()
      return E.right(value)
    } catch (e) {
      return E.left(toError(e))
    }
  }

/** A function run at once on a synchronous backend; failures are values. */
export const runSyncCore =
  (backend: SyncBackend) =>
  (f: unknown) =>
  (...args: readonly unknown[]): E.Either<AdError, unknown> => {
    try {
      const g = compileSync(f, backend)
      try {
        return E.right(g(...args))
      } finally {
        g.dispose()
      }
    } catch (e) {
      return E.left(toError(e))
    }
  }
