// Every signature of the public functions, and the table of names: `export const matmul: Signatures['matmul'] = ...`.

import type { FromJSONFn, FromProgramFn, ToJSONFn, ToProgramFn } from './program.js'
import type {
  DotFn,
  EighFn,
  EinsumFn,
  KronFn,
  MatMulAddFn,
  MatMulFn,
  MatrixFn,
  MatrixScalarFn,
  OuterFn,
  SlogdetFn,
  SolveFn,
  SvdFn,
  TensordotFn,
  VdotFn,
} from './signatures/contract.js'
import type { BernoulliFn, CondFn, FoldInFn, KeyFn, SampleFn, ScanFn, SplitKeyFn, WhileLoopFn } from './signatures/control.js'
import type { OnDeviceFn, OnHostFn } from './signatures/device.js'
import type {
  CastFn,
  FloatUnaryWith,
  IdentityFn,
  LogicalOp,
  MapFn,
  PolygammaFn,
  PredicateOp,
  Ternary,
  Unary,
  WhereFn,
} from './signatures/elementwise.js'
import type { Elementwise } from './signatures/elementwise-names.js'
import type {
  DynamicSliceFn,
  DynamicUpdateSliceFn,
  GatherFn,
  OneHotFn,
  ScatterAddFn,
  SearchSortedFn,
  SetAtFn,
  TakeAlongAxisFn,
} from './signatures/index-ops.js'
import type {
  ArangeFn,
  AssertShapeFn,
  BroadcastToFn,
  ConcatFn,
  DiagFn,
  ExpandDimsFn,
  EyeFn,
  FilledFn,
  FlipFn,
  FullFn,
  LikeFn,
  LinspaceFn,
  PadFn,
  RepeatFn,
  ReshapeFn,
  RollFn,
  SliceFn,
  SpecFn,
  SplitFn,
  SqueezeFn,
  StackFn,
  TensorFn,
  TileFn,
  TransposeFn,
  TriangleFn,
  UnstackFn,
} from './signatures/layout.js'
import type {
  AvgPoolOptions,
  BatchNormFn,
  BatchStatisticsFn,
  ConvFn,
  CrossEntropyFn,
  DropoutFn,
  EmbeddingFn,
  LayerNormFn,
  LinearFn,
  PoolFn,
} from './signatures/nn.js'
import type {
  AlongAxisFn,
  ArgReduceFn,
  ArgSortFn,
  CountFn,
  Ddof,
  FloatAlongAxisFn,
  FloatReduceFn,
  LinearRecurrenceFn,
  NormOrder,
  ReduceFn,
  RunningOptions,
  SortOptions,
  SumFn,
  TopKFn,
} from './signatures/reduce.js'
import type { CodecFn, CompileAsyncFn, CompileFn, DuplicatedFn, EvaluateFn, RunFn, RunSyncFn, ShowFn } from './signatures/run.js'
import type {
  CheckpointFn,
  CustomRuleFn,
  FnFn,
  GradFn,
  HessianFn,
  HvpFn,
  JacFn,
  JvpFn,
  LinearizeFn,
  ValueAndGradFn,
  VjpFn,
  VmapFn,
} from './signatures/transforms.js'

export type * from './fn.js'
export type * from './signatures/contract.js'
export type * from './signatures/control.js'
export type * from './signatures/elementwise.js'
export type * from './signatures/index-ops.js'
export type * from './signatures/layout.js'
export type * from './signatures/nn.js'
export type * from './signatures/reduce.js'
export type * from './signatures/run.js'
export type * from './signatures/transforms.js'

/** The type of every public function, by its name. Env is what `run` needs. */
export interface Signatures<Env = unknown> extends Elementwise {
  // declarations and constructors
  readonly f64: SpecFn<'f64'>
  readonly f32: SpecFn<'f32'>
  readonly i32: SpecFn<'i32'>
  readonly bool: SpecFn<'bool'>
  readonly tensor: TensorFn
  readonly zeros: FilledFn
  readonly ones: FilledFn
  readonly full: FullFn
  readonly zerosLike: LikeFn
  readonly onesLike: LikeFn
  readonly arange: ArangeFn
  readonly linspace: LinspaceFn
  readonly eye: EyeFn
  readonly assertShape: AssertShapeFn
  readonly cast: CastFn
  // elementwise
  readonly relu6: Unary
  readonly leakyRelu: FloatUnaryWith<{ readonly slope?: number | undefined }>
  readonly elu: FloatUnaryWith<{ readonly alpha?: number | undefined }>
  readonly gelu: FloatUnaryWith<{ readonly approximate?: boolean | undefined }>
  readonly polygamma: PolygammaFn
  readonly isnan: PredicateOp<'isnan'>
  readonly isfinite: PredicateOp<'isfinite'>
  readonly not: PredicateOp<'logicalNot', readonly ['int']>
  readonly and: LogicalOp<'and', 'logicalAnd'>
  readonly or: LogicalOp<'or', 'logicalOr'>
  readonly where: WhereFn
  readonly select: WhereFn
  readonly clamp: Ternary<'clamp'>
  readonly fma: Ternary<'fma'>
  readonly map: MapFn
  readonly stopGradient: IdentityFn
  // reductions, scans, order
  readonly sum: SumFn<'sum'>
  readonly prod: SumFn<'prod'>
  readonly max: ReduceFn<'max'>
  readonly min: ReduceFn<'min'>
  readonly mean: FloatReduceFn<'mean'>
  readonly logsumexp: FloatReduceFn<'logsumexp'>
  readonly variance: FloatReduceFn<'variance', Ddof>
  readonly std: FloatReduceFn<'std', Ddof>
  readonly norm: FloatReduceFn<'norm', NormOrder>
  readonly any: CountFn<'any', 'bool'>
  readonly all: CountFn<'all', 'bool'>
  readonly count: CountFn<'count', 'i32'>
  readonly argmax: ArgReduceFn<'argmax'>
  readonly argmin: ArgReduceFn<'argmin'>
  readonly cumsum: AlongAxisFn<'cumsum', RunningOptions>
  readonly cumprod: AlongAxisFn<'cumprod', RunningOptions>
  readonly linearRecurrence: LinearRecurrenceFn
  readonly sort: AlongAxisFn<'sort', SortOptions>
  readonly argsort: ArgSortFn
  readonly topk: TopKFn
  // layout
  readonly reshape: ReshapeFn
  readonly transpose: TransposeFn
  readonly broadcastTo: BroadcastToFn
  readonly expandDims: ExpandDimsFn
  readonly squeeze: SqueezeFn
  readonly concat: ConcatFn
  readonly stack: StackFn
  readonly split: SplitFn
  readonly unstack: UnstackFn
  readonly tile: TileFn
  readonly repeat: RepeatFn
  readonly flip: FlipFn
  readonly roll: RollFn
  readonly pad: PadFn
  readonly slice: SliceFn
  readonly diag: DiagFn
  readonly tril: TriangleFn
  readonly triu: TriangleFn
  // indexing
  readonly gather: GatherFn
  readonly take: GatherFn
  readonly takeAlongAxis: TakeAlongAxisFn
  readonly scatterAdd: ScatterAddFn
  readonly setAt: SetAtFn
  readonly dynamicSlice: DynamicSliceFn
  readonly dynamicUpdateSlice: DynamicUpdateSliceFn
  readonly oneHot: OneHotFn
  readonly searchsorted: SearchSortedFn
  // contraction and linear algebra
  readonly matmul: MatMulFn
  readonly dot: DotFn
  readonly outer: OuterFn
  readonly einsum: EinsumFn
  readonly tensordot: TensordotFn
  readonly vdot: VdotFn
  readonly kron: KronFn
  readonly matmulAdd: MatMulAddFn
  readonly trace: MatrixScalarFn<'trace'>
  readonly det: MatrixScalarFn<'det'>
  readonly slogdet: SlogdetFn
  readonly inv: MatrixFn<'inv'>
  readonly cholesky: MatrixFn<'cholesky'>
  readonly solve: SolveFn<'solve'>
  readonly triangularSolve: SolveFn<
    'triangularSolve',
    { readonly lower?: boolean | undefined; readonly transpose?: boolean | undefined; readonly unitDiagonal?: boolean | undefined }
  >
  readonly eigh: EighFn
  readonly svd: SvdFn
  // neural networks
  readonly linear: LinearFn
  readonly crossEntropy: CrossEntropyFn
  readonly embedding: EmbeddingFn
  readonly dropout: DropoutFn
  readonly batchStatistics: BatchStatisticsFn
  readonly softmax: FloatAlongAxisFn<'softmax'>
  readonly logSoftmax: FloatAlongAxisFn<'logSoftmax'>
  readonly conv: ConvFn
  readonly maxPool: PoolFn<'maxPool'>
  readonly avgPool: PoolFn<'avgPool', AvgPoolOptions>
  readonly layerNorm: LayerNormFn
  readonly batchNorm: BatchNormFn
  // control and random numbers
  readonly scan: ScanFn
  readonly cond: CondFn
  readonly whileLoop: WhileLoopFn
  readonly key: KeyFn
  readonly splitKey: SplitKeyFn
  readonly foldIn: FoldInFn
  readonly uniform: SampleFn
  readonly normal: SampleFn
  readonly bernoulli: BernoulliFn
  // functions and transforms
  /**
   * A typed function of one tree of inputs: their declaration, and a body from expressions to an expression (or a tree of them).
   *
   * Called with values it runs, with expressions it inlines; `compile` traces it once per signature. Named axes are bound at each call.
   * `{ name }` is what errors and `show` call it, the body's own name unless given.
   * Errors  ShapeMismatch, DTypeMismatch or BadInput where an argument is not as declared.
   * @example fn({ x: f64('n'), w: f64('n') }, ({ x, w }) => sum(mul(x, w)))({ x: [1, 2], w: [3, 4] })   // 11
   */
  readonly fn: FnFn
  /**
   * The gradient of a scalar function: f: R^n -> R becomes x |-> (df/dx_1, ..., df/dx_n), in the structure of its first argument.
   *
   * `wrt` names what is differentiated (a path, a list of paths, an argument's index), `mode` how: 'mixed' unless given. Nests to any order.
   * Errors  NotScalar when f returns no scalar, NotDifferentiable when wrt is not a float, MissingRule.
   * @example grad((x) => sum(mul(x, x)))([1, 2, 3])   // [2, 4, 6]
   */
  readonly grad: GradFn
  /**
   * f(x) and its gradient from one pass: { value, grad }; with `aux: true` f returns [scalar, aux] and aux is given too.
   *
   * Options and errors as for `grad`.
   * @example valueAndGrad((x) => sum(mul(x, x)))([1, 2, 3])   // { value: 14, grad: [2, 4, 6] }
   */
  readonly valueAndGrad: ValueAndGradFn
  /**
   * The Jacobian times a tangent, forward: (x, dx) |-> [f(x), f'(x) dx].
   *
   * Several arguments are given as their tuple; only what varies needs a tangent that is not 0. Cost: a small multiple of f's, whatever the
   * number of inputs.   Source  Griewank and Walther 2008, 3.1.
   * @example jvp((x) => mul(x, x))([1, 2], [1, 10])   // [[1, 4], [2, 40]]
   */
  readonly jvp: JvpFn
  /**
   * A cotangent times the Jacobian, in reverse: (x, yBar) |-> [f(x), f'(x)^T yBar].
   *
   * Several arguments are given as their tuple; `wrt` names those whose cotangents are wanted (all, unless given). Cost: a small multiple
   * of f's, whatever the number of inputs.   Source  Griewank and Walther 2008, 3.2.
   * @example vjp((x) => mul(x, x))([1, 2], [1, 10])   // [[1, 4], [2, 40]]
   */
  readonly vjp: VjpFn
  /**
   * f at a point: [f(x), dx |-> f'(x) dx], the derivative there as a linear function of the tangent alone.
   *
   * `wrt` names what varies (all, unless given): dx is a tangent of that alone.
   * @example linearize((x) => mul(x, x))([1, 2])[1]([1, 10])   // [2, 40]
   */
  readonly linearize: LinearizeFn
  /**
   * The Jacobian by columns, in forward mode: shape [...f(x), ...x], one pushed basis vector per input, all at once.
   *
   * For functions with fewer inputs than outputs; the other way round `jacrev` is cheaper. Trees give a tree of blocks. `chunk` says how many
   * vectors at once: less memory, more steps.
   * @example jacfwd((x) => mul(x, x))([1, 2])   // [[2, 0], [0, 4]]
   */
  readonly jacfwd: JacFn
  /**
   * The Jacobian by rows, in reverse mode: shape [...f(x), ...x], one pulled basis vector per output, all at once.
   *
   * For functions with fewer outputs than inputs; the other way round `jacfwd` is cheaper. Trees give a tree of blocks. `chunk` says how many
   * vectors at once: less memory, more steps.
   * @example jacrev((x) => sum(mul(x, x)))([1, 2])   // [2, 4]
   */
  readonly jacrev: JacFn
  /**
   * The matrix of second derivatives of a scalar function, shape [...x, ...x]: forward over reverse.
   *
   * Errors  NotScalar when f returns no scalar. For a product with one vector use `hvp`: it never builds the matrix.
   * @example hessian((x) => prod(x))([2, 3])   // [[0, 1], [1, 0]]
   */
  readonly hessian: HessianFn
  /**
   * The Hessian of a scalar function times a tangent: (x, dx) |-> f''(x) dx, without the matrix; forward over reverse.
   *
   * Errors  NotScalar when f returns no scalar.   Source  Pearlmutter 1994.
   * @example hvp((x) => sum(mul(x, mul(x, x))))([1, 2], [1, 0])   // [6, 0]
   */
  readonly hvp: HvpFn
  /**
   * f at every index of a leading axis: x: [n, ...s] for f's x: [...s]; results get the axis in front.
   *
   * `inAxes` has 0 for each argument that is mapped and null for one that is the same at every index: vmap(f, { inAxes: [null, 0] }).
   * Errors  ShapeMismatch when the leading axes of the arguments differ; MissingRule for a primitive without a batch rule.
   * @example vmap((x) => sum(x))([[1, 2], [3, 4]])   // [3, 7]
   */
  readonly vmap: VmapFn
  readonly checkpoint: CheckpointFn
  readonly customRule: CustomRuleFn
  // running
  /**
   * The values of expressions (a tree of them) that depend on no input, on the default backend.
   *
   * @example evaluate({ y: add([1, 2], 3) })   // { y: [4, 5] }
   */
  readonly evaluate: EvaluateFn
  /**
   * A plain function that plans f once per signature (tree, shapes, dtypes) and then only runs; on the default backend unless given one.
   *
   * Captured tensors are read at every call; captured numbers stay what they were when it was traced. `.into(outputs)` writes into the
   * caller's tensors, `.explain()` tells what runs and what it costs. On an asynchronous backend it gives promises.
   * Errors  thrown as AdException.
   * @example compile(grad((x) => sum(mul(x, x))))([1, 2, 3])   // [2, 4, 6]
   */
  readonly compile: CompileFn
  /**
   * As `compile`, giving promises on any backend.
   *
   * @example await compileAsync((x) => sum(mul(x, x)), cpu())([1, 2, 3])   // 14
   */
  readonly compileAsync: CompileAsyncFn
  /**
   * A function as an effect of fp-ts: run(f)(...inputs) is a ReaderTaskEither. Nothing happens before it is given its Env and run;
   * then it is traced once per signature and backend.
   *
   * Errors  Left of an AdError.
   * @example await run((x) => sum(mul(x, x)))([1, 2])({ backend: cpu() })()   // Right(5)
   */
  readonly run: RunFn<Env>
  /**
   * A function run at once on a synchronous backend, its failure a value: Either of an AdError and the result.
   *
   * @example runSync(cpu())((x) => sum(mul(x, x)))([1, 2])   // Right(5)
   */
  readonly runSync: RunSyncFn
  /**
   * The program of a function (or of expressions) as text: its inputs, one line per equation, its results. Deterministic.
   *
   * @example show(fn({ x: f64(2) }, ({ x }) => sum(x)))   // 'fn(x: f64 [2])\n  y0 = sum(x) {axes [0]} : f64 []\n  return y0...'
   */
  readonly show: ShowFn
  readonly toProgram: ToProgramFn
  readonly fromProgram: FromProgramFn
  readonly toJSON: ToJSONFn
  readonly fromJSON: FromJSONFn
  readonly codec: CodecFn
  readonly duplicated: DuplicatedFn
  readonly onDevice: OnDeviceFn
  readonly onHost: OnHostFn
}
