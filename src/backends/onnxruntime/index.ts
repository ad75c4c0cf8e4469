/** The entry `codual/onnxruntime`: programs run by ONNX Runtime, as a backend. Needs the package onnxruntime-node or onnxruntime-web, and @bufbuild/protobuf. */
import { raise } from '../../core/errors/explain.js'
import { readOptions } from '../../core/errors/options.js'
import type { AsyncBackend, AsyncExecutable, Elements, Explanation } from '../../core/functions/backend.js'
import { hosted } from '../../core/functions/device-tensor.js'
import { itemBytes } from '../../core/graph/aval.js'
import { APPLY, type Node, resultAvals } from '../../core/graph/expr.js'
import type { TypedArray } from '../../core/graph/ndarray.js'
import { orderOf } from '../../core/graph/order.js'
import { flopsOf } from '../../core/graph/primitive.js'
import type { Program } from '../../core/graph/program.js'
import type { DType } from '../../core/types/dtype.js'
import { fileOfNodes, type ProgramFile } from '../../onnx/write/to.js'
import { type OnnxRuntimeOptions, onnxRuntimeOptions } from './options.js'
import { elementsIn, installed, type OnnxModule, type OnnxSession } from './runtime.js'

export type { OnnxRuntimeOptions } from './options.js'
export type { OnnxModule, OnnxSession, OnnxTensor } from './runtime.js'

const NAME = 'onnxRuntime'
/** The operator set of files that are run here: the first that has every operator of the table. */
const OPSET = 18
const TYPES: Readonly<Record<DType, string>> = { f32: 'float32', f64: 'float64', i32: 'int32', bool: 'bool' }

/** An error of the runtime about a node, with the primitive that it was written for. */
const refusal = (e: unknown, file: ProgramFile): never => {
  const said = e instanceof Error ? e.message : String(e)
  const node = file.nodes.find((n) => said.includes(`'${n.name}'`) || said.includes(`${n.name} `) || said.includes(`(${n.name})`))
  const of = node === undefined ? '' : `the node ${node.name} (${node.op}), which ${node.of} is written as: `
  return raise({
    _tag: 'Unsupported',
    backend: NAME,
    what: `${of}${said.split('\n')[0]}`,
    fix: 'run it on cpu(), or give other options of the session: onnxRuntime({ session: { executionProviders: [...] } }).',
  })
}

const explained = (program: Program, file: ProgramFile): Explanation => {
  const { nodes } = orderOf(program.outputs)
  const applied = nodes.filter((n) => n.kind === APPLY)
  const work = (n: Node): number =>
    flopsOf(
      n.prim!,
      n.args.map((x) => x.aval),
      resultAvals(n),
      n.payload,
    )
  const bytes = [...program.inputs, ...program.outputs].reduce((b, n) => b + n.aval.size * itemBytes[n.dtype], 0)
  return {
    backend: NAME,
    steps: file.nodes.map(({ op, of, inputs, outputs }) => ({
      kernel: op,
      kind: 'opaque' as const,
      ops: [of],
      sizes: [],
      reads: inputs,
      writes: outputs,
      flops: 0,
      bytes: 0,
      times: 1,
    })),
    loops: [],
    counts: file.operators,
    kernels: Object.keys(file.operators).length,
    flops: applied.reduce((f, n) => f + work(n), 0),
    bytes,
    peakBytes: bytes,
    buffers: program.inputs.length + program.outputs.length,
    peakBuffers: program.inputs.length + program.outputs.length,
    copiedAccumulators: 0,
    planMs: 0,
    cached: false,
  }
}

/** A result where it is wanted. */
const put = (made: TypedArray, target: TypedArray | undefined, accumulate: boolean): TypedArray => {
  if (target === undefined) return made
  if (accumulate) for (let j = 0; j < target.length; j++) target[j]! += made[j]!
  else target.set(made as never)
  return target
}
const executable = (runtime: OnnxModule, session: OnnxSession, program: Program, file: ProgramFile): AsyncExecutable => ({
  run: async (inputs: readonly Elements[], into?: readonly Elements[], accumulate = false) => {
    const arrays = hosted(inputs, program.name)
    const targets = into === undefined ? undefined : hosted(into, program.name)
    const feeds = Object.fromEntries(
      program.inputs.map((n, i) => [file.inputs[i]!, new runtime.Tensor(TYPES[n.dtype] as never, arrays[i] as never, n.shape)]),
    )
    let made: Awaited<ReturnType<OnnxSession['run']>>
    try {
      made = await session.run(feeds)
    } catch (e) {
      return refusal(e, file)
    }
    const results = file.outputs.map((name) => elementsIn(made[name]!))
    return results.map((y, i) => put(y, targets?.[i], accumulate))
  },
  explain: () => explained(program, file),
  dispose: () => void session.release(),
  bytes: file.bytes.length,
})

/**
 * ONNX Runtime as a backend: a program is written as an ONNX file (`toONNX`) and run by a session of the package onnxruntime-node or onnxruntime-web, with its
 * threads and execution providers. Calls give Promises. Where a program has f64, sessions optimise at the level 'basic' unless `session` says another: the
 * extended optimisations round factors of products to f32.
 *
 * Errors  of calls: Unsupported where no package is installed, or where the runtime has no kernel for a node, which is named; MissingKernel for a primitive
 * that is not written as ONNX.
 * @example onnxRuntime({ threads: 2 }).name   // 'onnxRuntime'
 */
export const onnxRuntime = (given?: OnnxRuntimeOptions): AsyncBackend => {
  const { runtime, threads, session } = readOptions(onnxRuntimeOptions, given, NAME)
  return {
    kind: 'async',
    name: NAME,
    prepare: async (program) => {
      const file = fileOfNodes(program.name, program.inputs, program.outputs, OPSET)
      const module = runtime ?? (await installed())
      if (threads !== undefined && module.env?.wasm !== undefined) module.env.wasm.numThreads = threads
      const options = {
        ...(threads !== undefined && { intraOpNumThreads: threads }),
        ...(file.hasDouble && { graphOptimizationLevel: 'basic' }),
        ...session,
      }
      let made: OnnxSession
      try {
        made = await module.InferenceSession.create(file.bytes, options)
      } catch (e) {
        return refusal(e, file)
      }
      return executable(module, made, program, file)
    },
  }
}
