/** Running on a synchronous backend: concrete arguments in, tensors out. Tracing is once per signature for `compile`, every time for a plain call. */

import { flag, readOptions } from '../errors/options.js'
import { CONST, capturedTensor, isExpr, type Node } from '../graph/expr.js'
import { allocate, type NDArray, type TypedArray } from '../graph/ndarray.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import { closed, liftTree, makeProgram, type Program } from '../graph/program.js'
import { Tensor } from '../graph/tensor.js'
import { LEAF, unflatten } from '../graph/tree.js'
import { broadcastToPrimitive } from '../ops/layout/move.js'
import type { CompileOptions, IntoOptions } from '../types/signatures/run.js'
import { type Executable, type Explanation, type SyncBackend, syncBackendOf } from './backend.js'
import { hosted } from './device-tensor.js'
import { inlined, type Runtime, toNode } from './function.js'
import { assertReadable, Targets } from './output-locks.js'
import { preparing, Signatures } from './signatures.js'
import { type Trapped, trapOption, trapping } from './trap.js'

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

/** The runtime of plain calls: prepare (plans are cached by the backend), run. What captures an expression of an enclosing trace is one. */
export const makeRuntime = (backend: SyncBackend): Runtime => ({
  run: (meta, traced, arrays) => {
    const program = closed(traced)
    if (isExpr(program)) return inlined(traced, arrays.map(toNode))
    const executable = preparing(meta, program, () => backend.prepare(program))
    try {
      capturesIntact(program)
      return toTensors(program, executable.run(arrays.map((a) => a.data)))
    } finally {
      executable.dispose()
    }
  },
})

/** The elements of a literal at any shape (zeros, ones, full), which need no plan; undefined for every other node. */
const repeated = (n: Node): TypedArray | undefined => {
  const of = n.prim === (broadcastToPrimitive as unknown as AnyPrimitive) ? n.args[0]! : n
  if (of.kind !== CONST) return undefined
  const data = allocate(n.dtype, n.aval.size)
  return Object.is(of.payload, 0) ? data : (data.fill(of.payload as never) as TypedArray)
}

/** The value of an expression (or a tree of them) that depends on no input. */
export const evaluateWith =
  (backend: SyncBackend) =>
  (tree: unknown): unknown => {
    const { nodes, def } = liftTree(tree, 'evaluate')
    const known = nodes.map(repeated)
    const made = evaluated(
      backend,
      nodes.filter((_, i) => known[i] === undefined),
    )
    let next = 0
    return unflatten(
      def,
      nodes.map((n, i) => new Tensor(n.shape, n.dtype, known[i] ?? made[next++]!)),
    )
  }
/** The numbers of expressions without inputs. */
export const evaluated = (backend: SyncBackend, outputs: readonly Node[]): readonly TypedArray[] => {
  if (outputs.length === 0) return []
  const nothing = { _tag: 'Tuple', items: [] } as const
  const outputTree = { _tag: 'Tuple', items: outputs.map(() => LEAF) } as const
  const program = makeProgram({ name: 'evaluate', inputs: [], inputTree: nothing, outputs, outputTree })
  const executable = backend.prepare(program)
  try {
    capturesIntact(program)
    return executable.run([])
  } finally {
    executable.dispose()
  }
}

export const intoOptions = {
  /** Add to the outputs instead of overwriting them. */
  accumulate: flag(),
}
/** Do these options of `.into` ask that results are added to what the targets hold? */
export const accumulates = (options?: IntoOptions): boolean => readOptions(intoOptions, options, 'into').accumulate

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

export const compileOptions = {
  /** A call with a NaN in its result is an error, NonFinite, that says what made it first; 'nonFinite': an infinity too. */
  trap: trapOption,
}

/** Traces once per signature (tree, shapes, dtypes) and runs the prepared program; synchronous backends. */
export const compileSync = (f: unknown, given: SyncBackend, where = 'compile', options?: CompileOptions): CompiledCore => {
  const backend = syncBackendOf(given, where)
  const { trap } = readOptions(compileOptions, options, where)
  const trapped = (program: Program, retrace: () => Program): Trapped | undefined =>
    trap && { program, name: signatures.name, trap, retrace }
  const signatures: Signatures<Executable, TypedArray> = new Signatures<Executable, TypedArray>(
    f,
    {
      read: dataOf,
      evaluate: (nodes) => evaluated(backend, nodes),
      make: (program, _located, retrace) => trapping(backend.prepare(program), trapped(program, retrace)),
      bytes: (x) => x.bytes,
      drop: (x) => x.dispose(),
    },
    where,
  )
  const call = (...args: readonly unknown[]): unknown => {
    const { p, inputs } = signatures.find(args)
    assertReadable(inputs, signatures.name)
    capturesIntact(p.program)
    return toTensors(p.program, p.executable.run(inputs))
  }
  const compiled = call as unknown as CompiledCore
  compiled.into = (outputs, options) => {
    const accumulate = accumulates(options)
    const targets = new Targets(outputs, accumulate)
    const targetData = hosted(targets.data, 'into')
    return (...args) => {
      const { p, inputs } = signatures.find(args)
      assertReadable(inputs, signatures.name)
      capturesIntact(p.program)
      targets.check(p.program)
      targets.hold('sync')
      try {
        p.executable.run(inputs, targetData, accumulate)
      } finally {
        targets.release()
      }
      return outputs
    }
  }
  compiled.explain = (...args) => {
    const p = signatures.explained(args)
    return signatures.whole(p, p.executable.explain())
  }
  compiled.prepare = (...args) => void signatures.find(args)
  compiled.dispose = () => signatures.close()
  if (typeof Symbol.dispose === 'symbol') compiled[Symbol.dispose] = compiled.dispose
  return compiled
}
