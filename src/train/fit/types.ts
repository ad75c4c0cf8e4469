/** What a fit is given, what happens in it and what it comes to: types alone. */
import type { AdError, Backend, DType, NoTangent, Shape, Static, Tensor, Tensors } from '../../index.js'
import type { Source } from '../batches.js'
import type { Checkpoint } from '../checkpoint.js'
import type { Rows } from '../measure.js'
import type { Batch } from '../rows.js'

/** What `fit` needs of a model: every layer of `codual/nn` has it, and what you write yourself. */
export interface Fittable {
  /** Its first parameters: tensors or expressions. */
  readonly init: (key: Tensor<[2], 'i32'>) => unknown
  /** Its running state, where it has one: then `apply` finds `run.state` and gives [y, state]. */
  readonly state?: unknown
  readonly initState?: () => unknown
  /** What it makes of a batch; `run` is { training, key, state }. */
  apply(params: never, x: never, run: never): unknown
}
/** What `fit` needs of an optimiser: those of codual/optim have it. */
export interface Optimizer {
  init(params: never): unknown
  update(gradient: never, state: never, params?: never): { readonly updates: unknown; readonly state: unknown }
}
/** A batch of arrays, or trees of arrays, whose first axes count the rows. */
export interface FitBatch {
  readonly x: unknown
  readonly y: unknown
  readonly mask?: Tensor
}
/** A batch of a step: a rank's rows, how much they count, and how much the whole batch does. */
export interface FitPart {
  readonly pair: FitBatch
  readonly weight: number
  readonly whole: number
}
/** What a group of ranks knows of the fit. */
export interface FitSide {
  readonly signal: { readonly aborted: boolean } | undefined
  /** How much a batch counts. */
  readonly weight: (batch: FitBatch) => number
}
/** What the ranks of a fit tell each other; every rank calls every function. What fails on one rank is an exception on all. */
export interface FitGroup {
  /** Has the signal of a rank been aborted? It is known to all. */
  readonly aborted: boolean
  /** What each rank makes for itself; it is an error unless what is said of it is the same on all. */
  alike<A>(f: () => Promise<A>, of: (value: A) => { readonly state: unknown }): Promise<A>
  /** What each rank computes for itself, a tree of numbers: that of rank 0. */
  first<A>(f: () => Promise<A>): Promise<A>
  /**
   * Tells of a step or an epoch, on rank 0 alone, and reads the batch of the next step, if there is one, before the ranks agree that they go on. The first time, when there is
   * nothing to tell, their batches are compared.
   */
  turn(told: (() => Promise<void>) | undefined, read: (() => Promise<FitBatch>) | undefined): Promise<void>
  /** This rank's part of the batch that was read. */
  readonly take: () => FitPart
}
/** Parameters and an optimiser's state of which each rank has parts. */
export interface FitPlaced {
  /** The optimiser, over parts. */
  readonly optimizer: Optimizer
  /** As `shard` of the ranks, for functions whose `params` are in parts. */
  readonly shard: FitRanks['shard']
  /** This rank's parts of parameters, or of a state. */
  readonly cut: (whole: unknown) => unknown
  /** The whole of them; every rank calls it, within `run`. */
  readonly params: (parts: unknown) => unknown
  readonly state: (parts: unknown) => unknown
}
/** The processes that share a fit, as `ranks()` of codual/mpi gives them. */
export interface FitRanks {
  /** This rank's number, from 0. */
  readonly rank: number
  /** How many ranks there are. */
  readonly size: number
  /** A function of a batch that lies on all ranks: each calls it with its part in the inputs `data`, and has the mean by weight, and its derivatives. */
  shard(
    f: (inputs: never) => unknown,
    options: { readonly data: Readonly<Record<string, number>>; readonly weight: () => unknown },
  ): unknown
  /** Runs f, in which ranks exchange data. */
  run<A>(f: () => A): A | PromiseLike<A>
  /** Parameters in parts, where they are to be so. */
  readonly placed?: (params: unknown, optimizer: Optimizer) => FitPlaced | undefined
  /** What ranks tell each other in a fit. */
  readonly group: (fit: FitSide) => FitGroup
}
/** Which rows count, or which targets: an array of one bool, or one weight from 0, for each. */
export type MaskRows =
  | Tensor
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint8Array
  | readonly (boolean | number | readonly (boolean | number)[])[]
/** Nested plain numbers of the rank and dtype of a tensor. */
type Nested<S extends readonly unknown[], E> = S extends readonly [unknown, ...infer R] ? readonly Nested<R, E>[] : E
type Plain<D extends DType> = D extends 'bool' ? boolean : number
type Bytes<D extends DType> = D extends 'f64' ? Float64Array : D extends 'f32' ? Float32Array : D extends 'i32' ? Int32Array : Uint8Array
/** What stands for a tensor with any number of rows: a tensor, nested numbers, of rank 1 a typed array. */
type AnyRows<T> =
  T extends Tensor<infer S extends Shape, infer D>
    ? number extends S['length']
      ? Tensor<Shape, D> | Bytes<D> | readonly unknown[]
      : T | Nested<S, Plain<D>> | (S['length'] extends 1 ? Bytes<D> : never)
    : T extends object
      ? { readonly [K in keyof T]: AnyRows<T[K]> }
      : T
/** Data like D: its leaves with their dtypes and axes behind the first, in any container and with rows of its own. */
export type DataLike<D> = unknown extends D
  ? unknown
  : D extends Source<infer B>
    ? DataLike<B>
    : D extends { readonly x: infer X; readonly y: infer Y }
      ? { readonly x: AnyRows<Batch<X>>; readonly y: AnyRows<Batch<Y>>; readonly mask?: MaskRows | undefined }
      : never

/** A metric whose value is a number. */
export interface AnyMeasure {
  readonly zero: unknown
  add(acc: never, predictions: Rows, targets: Rows, mask?: Rows): unknown
  value(acc: never): number
  readonly better?: 'higher' | 'lower'
  readonly traced?: boolean
}
/** `Tensors` of T, of which a tensor stays what it is: of a size that is a parameter TypeScript would not see that it does. */
type AsTensors<T> = unknown extends T
  ? Tensors<T>
  : T extends { readonly _tag: 'Tensor' }
    ? T
    : T extends { readonly _tag: 'Expr' } | NoTangent | Static | PlainArray
      ? Tensors<T>
      : { -readonly [K in keyof T]: AsTensors<T[K]> }
type PlainArray = number | boolean | readonly PlainArray[]
/** The parameters of a model. */
export type ParamsOf<M> = M extends { init(...xs: never[]): infer P } ? AsTensors<P> : never
/** The running state of a model, undefined where it has none. */
export type RunningOf<M> = M extends { initState(): infer S } ? AsTensors<S> : undefined

/** A loss that has a name. */
export type LossName = 'mseLoss' | 'l1Loss' | 'huberLoss' | 'crossEntropy' | 'bceWithLogits' | 'binaryCrossEntropy'
/** The metrics of a fit, by name. */
export type FitMetrics = Readonly<Record<string, AnyMeasure>>
/** Losses and metrics by epoch, as plain numbers. */
export interface History<K extends string = string> {
  /** The mean of the losses of the epoch's steps, by their rows, or by the sums of their masks. */
  readonly loss: readonly number[]
  /** The loss of the validation data after the epoch; empty without such data. */
  readonly validation: readonly number[]
  readonly metrics: { readonly [N in K]: readonly number[] }
}
/** What happened in an epoch. */
export interface FitEpoch<K extends string = string> {
  readonly _tag: 'Epoch'
  readonly epoch: number
  readonly loss: number
  readonly validation: number | undefined
  readonly metrics: { readonly [N in K]: number }
  /** Are these the best parameters so far? */
  readonly best: boolean
}
/** A step, or an epoch, of a fit. `done` of `steps` in all epochs. */
export type FitEvent<K extends string = string> =
  | {
      readonly _tag: 'Step'
      readonly epoch: number
      readonly step: number
      readonly done: number
      readonly steps: number
      readonly loss: number
    }
  | FitEpoch<K>
/** The result of a fit. */
export interface Fitted<P, S = undefined, K extends string = string> {
  /** The best parameters; the last ones if nothing says which are best. */
  readonly params: P
  /** The running state beside them. */
  readonly state: S
  readonly best: {
    /** The epoch after which they were reached, -1 for the initial ones. */
    readonly epoch: number
    /** The loss or the metric by which they are best; NaN where there is none. */
    readonly score: number
  }
  readonly history: History<K>
  /** What a later `fit` continues from, bit for bit: `{ from: checkpoint }`. */
  readonly checkpoint: Checkpoint<unknown>
  /** Why it ended. */
  readonly ended: 'epochs' | 'patience' | 'signal' | 'error'
}
/** An AdError that names epoch and step, with the result so far. */
export type FitError<P, S, K extends string> = AdError & {
  readonly last?: Fitted<P, S, K>
  /** The exception, if it was not an error of codual. */
  readonly cause?: unknown
}
/** How `fit` runs. */
export interface FitOptions<D, K extends string = never> {
  /** (prediction, target) => scalar, with the mask as a third argument where the data has one; or the name of a loss. */
  readonly loss: LossName | ((prediction: never, target: never, mask: never) => unknown)
  /** What `adam`, `chain` ... of codual/optim give. */
  readonly optimizer: Optimizer
  /** Epochs in all, those before `from` too. */
  readonly epochs: number
  /** Rows of a batch: 32 unless given; all where there are fewer. */
  readonly batchSize?: number | undefined
  /** Does each epoch have an order of its own, which depends on the key alone? True unless given. */
  readonly shuffle?: boolean | undefined
  /** Metrics by name, after each epoch: of the validation data, or of the data where there is none. */
  readonly metrics?: { readonly [N in K]: AnyMeasure } | undefined
  /** Data that is not trained on; or the share of the data that is kept for it, such as 0.2. */
  readonly validation?: NoInfer<D> | NoInfer<DataLike<D>> | Source<{ readonly x: unknown; readonly y: unknown }> | number | undefined
  /** What says which parameters are best: the validation loss ('loss') unless given, or the name of a metric. */
  readonly monitor?: NoInfer<K> | 'loss' | undefined
  /** Ends the fit after this many epochs without an improvement. */
  readonly patience?: number | undefined
  /** Called with a checkpoint after each epoch; may return a promise. `encodeCheckpoint` makes bytes of it. A Left or an exception ends the fit. */
  readonly checkpoint?: ((checkpoint: Checkpoint<unknown>) => unknown) | undefined
  /** A checkpoint to continue from, or its bytes. */
  readonly from?: Checkpoint<unknown> | Uint8Array | ArrayBuffer | undefined
  /** A seed, or a key of codual/random, for everything that is random: 0 unless given. */
  readonly key?: number | Tensor<[2], 'i32'> | undefined
  /** Parameters to begin with, in place of the model's own. */
  readonly params?: unknown
  /** The running state to begin with, in place of the model's own. */
  readonly state?: unknown
  /** Called with every step and epoch; may return a promise. A Left or an exception ends the fit. */
  readonly onProgress?: ((event: FitEvent<NoInfer<K>>) => unknown) | undefined
  /** Stops the fit before the next step, once it is aborted. */
  readonly signal?: { readonly aborted: boolean } | undefined
  /** The ranks that share each batch: `ranks()` of codual/mpi. Callbacks are called on rank 0 alone. */
  readonly ranks?: FitRanks | undefined
  /** Where steps run: the default backend unless given. */
  readonly backend?: Backend | undefined
}
