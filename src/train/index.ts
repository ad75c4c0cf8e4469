/** The entry `codual/train`: data sets in minibatches, the training loop, and parameters as safetensors. It runs in pages and in Node. */
export { type Batches, type BatchOptions, batches, type Source, type SplitOptions, splitData } from './batches.js'
export { type BucketOptions, bucket, type Padded, type PadToOptions, padTo } from './buckets.js'
export { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint.js'
export {
  type AccuracyOptions,
  type AverageOptions,
  accuracy,
  type ClassMeasure,
  type ConfusionOptions,
  type ConfusionState,
  confusion,
  f1,
  type PerplexityOptions,
  perplexity,
  precision,
  recall,
  type TopKOptions,
  topKAccuracy,
} from './class-metrics.js'
export type {
  EventOptions,
  Metric,
  Metrics,
  Numbers,
  Position,
  Step,
  StepAt,
  StepResult,
  TrainError,
  TrainEvent,
  Trained,
  TrainOptions,
} from './events.js'
export { fit } from './fit/fit.js'
export type {
  AnyMeasure,
  DataLike,
  FitEpoch,
  FitError,
  FitEvent,
  FitMetrics,
  FitOptions,
  Fittable,
  Fitted,
  History,
  LossName,
  MaskRows,
  Optimizer,
  ParamsOf,
  RunningOf,
} from './fit/types.js'
export { decodeIdx } from './idx.js'
export { type MeanMeasure, type Measure, measured, type Rows, type Sums } from './measure.js'
export { decodeNpy, encodeNpy } from './npy.js'
export { decodeNpz, encodeNpz } from './npz.js'
export { type AucState, auc, meanSquaredError, type R2Options, type R2State, r2 } from './number-metrics.js'
export { decodePng } from './png.js'
export type { Batch } from './rows.js'
export {
  type DecodeSafetensors,
  decodeSafetensors,
  encodeSafetensors,
  type Flat,
  type Like,
  type Loaded,
  type LoadOptions,
  type Metadata,
} from './safetensors.js'
export { decodeTorch, type LoadedTorch, type TorchFileOptions, type TorchValue } from './torch.js'
export { train, trainEvents } from './train.js'
