/** The entry `codual/train`: data sets in minibatches, the training loop, and parameters as safetensors. It runs in pages and in Node. */
export { type Batches, type BatchOptions, batches, type Source, type SplitOptions, splitData } from './batches.js'
export { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint.js'
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
export {
  type AccuracyOptions,
  type AucState,
  type AverageOptions,
  accuracy,
  auc,
  type ClassMeasure,
  type ConfusionOptions,
  type ConfusionState,
  confusion,
  f1,
  type MeanMeasure,
  type Measure,
  meanSquaredError,
  measured,
  perplexity,
  precision,
  type R2Options,
  type R2State,
  type Rows,
  r2,
  recall,
  type Sums,
  topKAccuracy,
} from './metrics.js'
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
export { train, trainEvents } from './train.js'
