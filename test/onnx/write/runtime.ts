/** ONNX Runtime as it comes in the package onnxruntime-web: WebAssembly, one thread. */
import * as ort from 'onnxruntime-web'
import type { TypedArray } from '../../../src/core/graph/ndarray.js'
import type { OnnxFile } from '../../../src/onnx/index.js'

ort.env.wasm.numThreads = 1
ort.env.logLevel = 'error'

const TYPES: Readonly<Record<string, 'float32' | 'float64' | 'int32' | 'bool'>> = {
  float: 'float32',
  double: 'float64',
  int32: 'int32',
  bool: 'bool',
}
/** Sizes of named axes, where the file has some. */
type Sizes = Readonly<Record<string, number>>

/** The outputs of a file, in its order, of its inputs in its order; and the sizes of their axes. */
export const runFile = async (
  file: OnnxFile,
  inputs: readonly TypedArray[],
  sizes: Sizes = {},
): Promise<readonly { readonly data: TypedArray; readonly dims: readonly number[] }[]> => {
  const session = await ort.InferenceSession.create(file.bytes, { graphOptimizationLevel: 'basic' })
  try {
    const feeds = Object.fromEntries(
      Object.entries(file.inputs).map(([name, { type, shape }], i) => [
        name,
        new ort.Tensor(
          TYPES[type]! as 'float32',
          inputs[i] as Float32Array,
          shape.map((d) => (typeof d === 'number' ? d : sizes[d]!)),
        ),
      ]),
    )
    const out = await session.run(feeds)
    return Object.keys(file.outputs).map((name) => ({ data: out[name]!.data as TypedArray, dims: out[name]!.dims }))
  } finally {
    await session.release()
  }
}
