// Every signature of the public functions, and the table of names: `export const matmul: Signatures['matmul'] = ...`.

import type {
  DotFn,
  EighFn,
  EinsumFn,
  MatMulFn,
  MatrixFn,
  MatrixScalarFn,
  OuterFn,
  SlogdetFn,
  SolveFn,
  SvdFn,
} from './signatures/contract.js'
import type { BernoulliFn, CondFn, FoldInFn, KeyFn, SampleFn, ScanFn, SplitKeyFn, WhileLoopFn } from './signatures/control.js'
import type {
  Binary,
  CastFn,
  Compare,
  FloatBinary,
  FloatUnary,
  FloatUnaryWith,
  IdentityFn,
  MapFn,
  Predicate,
  Ternary,
  Unary,
  WhereFn,
} from './signatures/elementwise.js'
import type { DynamicSliceFn, GatherFn, OneHotFn, ScatterAddFn, SearchSortedFn, SetAtFn, TakeAlongAxisFn } from './signatures/index-ops.js'
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
import type { BatchNormFn, ConvFn, LayerNormFn, PoolFn } from './signatures/nn.js'
import type { AlongAxisFn, ArgReduceFn, ArgSortFn, FloatAlongAxisFn, FloatReduceFn, ReduceFn, SumFn, TopKFn } from './signatures/reduce.js'
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

/** Options of `variance` and `std`: the divisor is n - ddof. */
export interface Ddof {
  readonly ddof?: number | undefined
}
/** Options of `norm`: its order, 2 where absent. */
export interface NormOrder {
  readonly ord?: number | 'inf' | undefined
}

type UnaryNames = 'neg' | 'abs' | 'square' | 'sign' | 'relu'
type FloatUnaryNames =
  | 'reciprocal'
  | 'sqrt'
  | 'rsqrt'
  | 'cbrt'
  | 'exp'
  | 'exp2'
  | 'expm1'
  | 'log'
  | 'log2'
  | 'log10'
  | 'log1p'
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'sinh'
  | 'cosh'
  | 'tanh'
  | 'asinh'
  | 'acosh'
  | 'atanh'
  | 'erf'
  | 'floor'
  | 'ceil'
  | 'round'
  | 'lgamma'
  | 'digamma'
  | 'sigmoid'
  | 'softplus'
  | 'silu'
type BinaryNames = 'add' | 'sub' | 'mul' | 'maximum' | 'minimum' | 'mod'
type FloatBinaryNames = 'div' | 'pow' | 'atan2' | 'hypot' | 'logaddexp' | 'copysign' | 'xlogy'
type CompareNames = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

type Elementwise = { readonly [K in UnaryNames]: Unary } & { readonly [K in FloatUnaryNames]: FloatUnary } & {
  readonly [K in BinaryNames]: Binary<K>
} & { readonly [K in FloatBinaryNames]: FloatBinary<K> } & { readonly [K in CompareNames]: Compare<K> }

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
  readonly leakyRelu: FloatUnaryWith<{ readonly slope?: number | undefined }>
  readonly elu: FloatUnaryWith<{ readonly alpha?: number | undefined }>
  readonly gelu: FloatUnaryWith<{ readonly approximate?: boolean | undefined }>
  readonly isnan: Predicate
  readonly isfinite: Predicate
  readonly not: Predicate
  readonly and: Compare<'and'>
  readonly or: Compare<'or'>
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
  readonly argmax: ArgReduceFn<'argmax'>
  readonly argmin: ArgReduceFn<'argmin'>
  readonly cumsum: AlongAxisFn<'cumsum'>
  readonly cumprod: AlongAxisFn<'cumprod'>
  readonly sort: AlongAxisFn<'sort'>
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
  readonly oneHot: OneHotFn
  readonly searchsorted: SearchSortedFn
  // contraction and linear algebra
  readonly matmul: MatMulFn
  readonly dot: DotFn
  readonly outer: OuterFn
  readonly einsum: EinsumFn
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
  readonly softmax: FloatAlongAxisFn<'softmax'>
  readonly logSoftmax: FloatAlongAxisFn<'logSoftmax'>
  readonly conv: ConvFn
  readonly maxPool: PoolFn<'maxPool'>
  readonly avgPool: PoolFn<'avgPool'>
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
  readonly fn: FnFn
  readonly grad: GradFn
  readonly valueAndGrad: ValueAndGradFn
  readonly jvp: JvpFn
  readonly vjp: VjpFn
  readonly linearize: LinearizeFn
  readonly jacfwd: JacFn
  readonly jacrev: JacFn
  readonly hessian: HessianFn
  readonly hvp: HvpFn
  readonly vmap: VmapFn
  readonly checkpoint: CheckpointFn
  readonly customRule: CustomRuleFn
  // running
  readonly evaluate: EvaluateFn
  readonly compile: CompileFn
  readonly compileAsync: CompileAsyncFn
  readonly run: RunFn<Env>
  readonly runSync: RunSyncFn
  readonly show: ShowFn
  readonly codec: CodecFn
  readonly duplicated: DuplicatedFn
}
