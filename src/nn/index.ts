/**
 * Layers of networks as plain values: what they declare, how they begin, the function that they are. Sizes go through in the types; parameters, running state and keys are arguments.
 * Written with the public interface of codual alone.
 */

export {
  type Attention,
  type AttentionLayerOptions,
  type AttentionParams,
  type AttentionRun,
  type Cache,
  type CacheIn,
  multiHeadAttention,
  type Positions,
  type ProductParams,
} from './attention.js'
export { parallel, type RepeatOptions, repeat, residual, sequential } from './compose.js'
export type {
  Beside,
  BesidePlain,
  BesideWithState,
  Composed,
  ComposedPlain,
  ComposedWithState,
  Joining,
  Repeated,
  Sequence,
  SequencePlain,
  SequenceWithState,
  Shortcut,
  ShortcutPlain,
  ShortcutWithState,
} from './compositions.js'
export {
  avgPool,
  type ConvLayer,
  type ConvLayerOptions,
  conv1d,
  conv2d,
  conv3d,
  convTranspose1d,
  convTranspose2d,
  convTranspose3d,
  globalAvgPool,
  maxPool,
  type Pool,
  type PoolLayerOptions,
} from './conv.js'
export { type Dense, type DenseOptions, dense, dropout, type Embedding, type EmbeddingOptions, embedding, flattened } from './dense.js'
export { type Initial, type Initials, init } from './init.js'
export type { AnyLayer, Described, Given, InTorch, Layer, Part, Run, RunWith, Stateful } from './layer.js'
export {
  type BatchNorm,
  type BatchNormOptions,
  batchNorm,
  type ChannelNorm,
  groupNorm,
  type LastAxisNorm,
  layerNorm,
  rmsNorm,
} from './norms.js'
export {
  type Carry,
  type CarryIn,
  gru,
  lstm,
  type Recurrent,
  type RecurrentOptions,
  type RecurrentParams,
  type RnnOptions,
  rnn,
} from './recurrent.js'
export { type SummaryRow, summary, summaryOf } from './summary.js'
export { type FromTorch, type FromTorchOptions, fromTorch, type TorchOptions, toTorch } from './torch.js'
export {
  type Activation,
  type BlockParams,
  type BlockRun,
  type NormParams,
  type StackParams,
  type Transformer,
  type TransformerBlock,
  type TransformerBlockOptions,
  type TransformerOptions,
  type Transforming,
  transformer,
  transformerBlock,
} from './transformer.js'
export { type UNet, type UNetOptions, unet } from './unet.js'
