/** The entry `codual/onnx`: models of ONNX as functions of codual. Needs the package @bufbuild/protobuf. */

export { fromONNX, type OnnxFn, type OnnxModel, type OnnxOutputs, type OnnxParams, type OnnxType } from './from.js'
export type { Constant, OnnxOptions } from './options.js'
export type { OwnOperator, OwnOperators } from './run.js'
export type { External } from './tensors.js'
export type { ToONNXOptions } from './write/options.js'
export { type OnnxFile, type OnnxValue, toONNX } from './write/to.js'
export type { FileType } from './write/writer.js'
