/** ONNX Runtime as its packages have it: what of them is used, and how one is found. */
import { raise } from '../../core/errors/explain.js'
import type { TypedArray } from '../../core/graph/ndarray.js'

/** A tensor of the runtime. */
export interface OnnxTensor {
  readonly data: unknown
  readonly dims: readonly number[]
}
/** A program that the runtime has made ready. */
export interface OnnxSession {
  readonly run: (feeds: Readonly<Record<string, OnnxTensor>>) => Promise<Readonly<Record<string, OnnxTensor>>>
  readonly release: () => Promise<void>
}
/** The module: onnxruntime-node, onnxruntime-web, or another with the same interface. */
export interface OnnxModule {
  readonly InferenceSession: { readonly create: (bytes: Uint8Array, options?: object) => Promise<OnnxSession> }
  readonly Tensor: new (type: never, data: never, dims: readonly number[]) => OnnxTensor
  readonly env?: { readonly wasm?: { numThreads?: number | undefined } }
}

const NAMES = ['onnxruntime-node', 'onnxruntime-web'] as const
/** The module of the first package that is installed. */
const load = async (): Promise<OnnxModule> => {
  const reasons: string[] = []
  for (const name of NAMES) {
    try {
      const found = (await import(/* @vite-ignore */ name)) as OnnxModule & { readonly default?: OnnxModule }
      // A module of CommonJS may have all that it exports as its default alone.
      return found.InferenceSession === undefined ? found.default! : found
    } catch (e) {
      reasons.push(`${name}: ${e instanceof Error ? e.message.split('\n')[0] : String(e)}`)
    }
  }
  return raise({
    _tag: 'Unsupported',
    backend: 'onnxRuntime',
    what: `no package of ONNX Runtime is loaded (${reasons.join('; ')})`,
    fix: "install onnxruntime-node or onnxruntime-web; or give the module: onnxRuntime({ runtime: await import('onnxruntime-web') }).",
  })
}
let loaded: Promise<OnnxModule> | undefined
/** The module, loaded once; tried again where that failed. */
export const installed = (): Promise<OnnxModule> => {
  loaded ??= load().catch((e) => {
    loaded = undefined
    throw e
  })
  return loaded
}
/** What the runtime gives for a dtype's elements, as an array of that dtype. */
export const elementsIn = (x: OnnxTensor): TypedArray => x.data as TypedArray
