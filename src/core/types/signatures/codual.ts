// What `makeCodual` gives: every public function that runs or differentiates.
import type { Env } from '../../functions/effects.js'
import type { FromJSONFn, FromProgramFn, ToProgramFn } from '../program.js'
import type { ClipGradientFn, ReverseGradientFn, TapGradientFn } from './estimators.js'
import type { CompileAsyncFn, CompileFn, EvaluateFn, RunFn, RunSyncFn, ShowFn } from './run.js'
import type { GaussNewtonFn, HessianSparsityFn, SparseHessianFn, SparseJacobianFn, SparsityFn } from './sparse.js'
import type {
  CustomRuleFn,
  FnFn,
  GradFn,
  HessianFn,
  HvpFn,
  JacFn,
  JetFn,
  JvpFn,
  LinearizeFn,
  StraightThroughFn,
  ValueAndGradFn,
  VjpFn,
} from './transforms.js'
import type { VmapFn } from './vmap.js'

/** codual bound to a registry and a default backend: everything that runs or differentiates, each as the export of its name. */
export interface Codual {
  readonly fn: FnFn
  readonly grad: GradFn
  readonly valueAndGrad: ValueAndGradFn
  readonly jvp: JvpFn
  readonly vjp: VjpFn
  readonly hvp: HvpFn
  readonly linearize: LinearizeFn
  readonly jet: JetFn
  readonly vmap: VmapFn
  readonly jacfwd: JacFn
  readonly jacrev: JacFn
  readonly hessian: HessianFn
  readonly sparsity: SparsityFn
  readonly hessianSparsity: HessianSparsityFn
  readonly sparseJacobian: SparseJacobianFn
  readonly sparseHessian: SparseHessianFn
  readonly gaussNewtonProduct: GaussNewtonFn
  readonly customRule: CustomRuleFn
  readonly straightThrough: StraightThroughFn
  readonly clipGradient: ClipGradientFn
  readonly reverseGradient: ReverseGradientFn
  readonly tapGradient: TapGradientFn
  readonly evaluate: EvaluateFn
  readonly compile: CompileFn
  readonly compileAsync: CompileAsyncFn
  readonly show: ShowFn
  readonly toProgram: ToProgramFn
  readonly fromProgram: FromProgramFn
  readonly fromJSON: FromJSONFn
  readonly run: RunFn<Env>
  readonly runSync: RunSyncFn
}
