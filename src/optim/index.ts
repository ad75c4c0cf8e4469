/**
 * Optimisers in the manner of optax: gradient transformations as pure functions, so that a training step is one program. Written with the
 * public interface of codual alone, as any library of optimisers would be.
 */
export {
  chain,
  clip,
  clipByGlobalNorm,
  type EmaOptions,
  type EmaState,
  ema,
  globalNorm,
  type Mask,
  type MultiStepsState,
  masked,
  multiSteps,
  type NoState,
  only,
  scale,
  setToZero,
  weightDecay,
} from './combine.js'
export { type LbfgsOptions, type LbfgsState, lbfgs } from './lbfgs.js'
export {
  type GaussNewtonState,
  gaussNewton,
  type LevenbergMarquardtOptions,
  type LevenbergMarquardtState,
  levenbergMarquardt,
} from './least-squares.js'
export {
  type AdafactorOptions,
  type AdafactorState,
  adafactor,
  type MuonOptions,
  type MuonState,
  muon,
  type ShampooOptions,
  type ShampooState,
  shampoo,
} from './matrices.js'
export {
  type LookaheadOptions,
  type LookaheadState,
  lookahead,
  type ScheduleFreeOptions,
  type ScheduleFreeState,
  scheduleFree,
} from './means.js'
export type { Accepted, Minimiser, Stepped } from './minimiser.js'
export {
  type AdagradOptions,
  type AdagradState,
  type AdamOptions,
  type AdamState,
  adagrad,
  adam,
  adamw,
  type LionOptions,
  type LionState,
  lamb,
  lion,
  type MomentumOptions,
  type MomentumState,
  momentum,
  nesterov,
  type RmspropOptions,
  type RmspropState,
  rmsprop,
  type SgdOptions,
  sgd,
} from './optimisers.js'
export type { Rate } from './rate.js'
export {
  type AdadeltaOptions,
  type AdadeltaState,
  type AdamaxState,
  type AmsgradState,
  adadelta,
  adamax,
  amsgrad,
  type RadamState,
  radam,
} from './relatives.js'
export { type SamOptions, sam } from './sam.js'
export {
  type CosineOptions,
  type CountSchedule,
  constantSchedule,
  cosineDecaySchedule,
  type ExponentialOptions,
  exponentialDecaySchedule,
  type LinearOptions,
  linearSchedule,
  type OneCycleOptions,
  oneCycleSchedule,
  type PiecewiseOptions,
  piecewiseConstantSchedule,
  type Schedule,
  type WarmupCosineOptions,
  warmupCosineDecaySchedule,
} from './schedules.js'
export type { Count, FloatArray, LikeParams, LikeShapes, LikeSome, LikeSomeShapes, Masked, StateOf } from './state.js'
export { applyUpdates, type LeafAt, type LeafUpdate, type LeafwiseState, leafwise, type Transformation } from './transformation.js'
