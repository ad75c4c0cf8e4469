/** What `onnxRuntime` takes. */
import { recordOf, shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { holds } from '../../core/errors/language.js'
import { integer, type OptionsOf, or } from '../../core/errors/options.js'
import type { OnnxModule } from './runtime.js'

const isRuntime = (x: unknown): boolean =>
  holds(
    () =>
      typeof (x as Partial<OnnxModule>).Tensor === 'function' && typeof (x as Partial<OnnxModule>).InferenceSession?.create === 'function',
  )
export const onnxRuntimeOptions = {
  /** The module of ONNX Runtime: `import * as ort from 'onnxruntime-web'`. Default: the package onnxruntime-node where it is installed, else onnxruntime-web. */
  runtime: or<OnnxModule, undefined>(undefined, (given, _what, where) =>
    isRuntime(given)
      ? (given as OnnxModule)
      : badInput(
          where,
          `the runtime is ${shown(given)}.`,
          "give a module: import * as ort from 'onnxruntime-web'; onnxRuntime({ runtime: ort }).",
        ),
  ),
  /** Threads for each operator. Default: as the runtime has it. */
  threads: integer(undefined, { from: 1, to: 1024 }),
  /** Options of its sessions, handed on as they are: `{ executionProviders: ['webgpu'] }`. */
  session: or<Readonly<Record<string, unknown>>, undefined>(undefined, (given, what, where) => recordOf(given, what, where) as never),
}
/** Options of `onnxRuntime`. */
export type OnnxRuntimeOptions = OptionsOf<typeof onnxRuntimeOptions>
