/** What a run is given, what happens in it and what it comes to: types alone. */
import type { AdError, Tensor } from '../index.js'

/** Where a run resumes: the next step. `step` may be the number of steps of an epoch: its evaluation comes next. */
export interface Position {
  readonly epoch: number
  readonly step: number
}
/** Where a step is. */
export interface StepAt extends Position {
  /** Steps done before it, in all epochs. */
  readonly done: number
  /** Steps in all epochs. */
  readonly steps: number
}

/** A metric as a step gives it: a number, or a tensor of one element. */
export type Metric = number | Tensor
/** Metrics by name. */
export type Metrics = Readonly<Record<string, Metric>>
/** The metrics of R as numbers; `state` is not one of them. */
export type Numbers<R> = { readonly [K in Exclude<keyof R, 'state'>]: number }
/** The tree S with arrays that may be readonly, as those of compiled functions' results are. */
export type ReadonlyTree<S> = S extends Tensor ? S : S extends object ? { readonly [K in keyof S]: ReadonlyTree<S[K]> } : S
/** What a step gives: the next state, and metrics. */
export type StepResult<S, R> = { readonly state: S | ReadonlyTree<S> } & { readonly [K in Exclude<keyof R, 'state'>]: Metric }

/** The result of a run. The next run resumes from `state` and `position`. */
export interface Trained<out S, out R = unknown, out V = unknown> {
  readonly state: S
  readonly position: Position
  /** Have all epochs been run? Not where the signal stopped it, or an error. */
  readonly done: boolean
  /** Those of every step of this run, in its order. */
  readonly metrics: readonly Numbers<R>[]
  /** What `evaluate` gave, by epoch. */
  readonly evaluations: readonly { readonly epoch: number; readonly metrics: Numbers<V> }[]
}
/** An AdError that names epoch and step, with the result so far: the last good state and its position. */
export type TrainError<S, R = unknown, V = unknown> = AdError & {
  readonly last: Trained<S, R, V>
  /** The exception, if it was not an error of codual. */
  readonly cause?: unknown
}

/** What happens in a run, in its order: every step, every epoch, and one end. */
export type TrainEvent<S = unknown, R = unknown, V = unknown> =
  | {
      readonly _tag: 'Step'
      readonly epoch: number
      readonly step: number
      /** Steps done in all epochs, this one included. */
      readonly done: number
      /** Steps in all epochs. */
      readonly steps: number
      readonly metrics: Numbers<R>
      /** The state after the step. */
      readonly state: S
      readonly position: Position
      /** Milliseconds since the run began. */
      readonly elapsed: number
    }
  | {
      readonly _tag: 'Epoch'
      readonly epoch: number
      /** What `evaluate` gave. */
      readonly evaluation: Numbers<V>
      readonly state: S
      readonly position: Position
      readonly elapsed: number
    }
  | { readonly _tag: 'Done'; readonly trained: Trained<S, R, V>; readonly elapsed: number }
  | { readonly _tag: 'Failed'; readonly error: TrainError<S, R, V>; readonly elapsed: number }

/** How `trainEvents` runs. */
export interface EventOptions<S, V = unknown> {
  /** Epochs in all, those before `position` too. */
  readonly epochs: number
  /** The state that the first step is given. */
  readonly state: S
  /** Where to begin (the first step unless given): the `position` that a run or a checkpoint ended with. */
  readonly position?: Position | undefined
  /** Metrics after each epoch, such as those of data that is not trained on. */
  readonly evaluate?: ((state: S, epoch: number) => V | PromiseLike<V>) | undefined
  /** A metric that is NaN or infinite: an error, before whose step the run stops (unless given), or nothing. */
  readonly onNonFinite?: 'stop' | 'ignore' | undefined
  /** Stops the run before the next step, once it is aborted: an AbortSignal. */
  readonly signal?: { readonly aborted: boolean } | undefined
}
/** How `train` runs. */
export interface TrainOptions<S, R, V = unknown> extends EventOptions<S, V> {
  /** Called with every event. A promise is awaited; a Left (of `saveCheckpoint`, say) or an exception ends the run. */
  readonly onProgress?: ((event: TrainEvent<S, R, V>) => unknown) | undefined
}
/** One step: from a state and a batch to the next state and metrics. */
export type Step<S, B, R> = (state: S, batch: B, at: StepAt) => R | PromiseLike<R>
