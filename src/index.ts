/** The composition root: binds registry and default backend once and gives every public function its type. The one file that imports every layer. */
import { cpu } from './backends/cpu/index.js'
import type { SyncBackend } from './core/backend.js'
import { declare, metaOf, type Runtime, traceDeclared } from './core/callable.js'
import * as activations from './core/ops/activations.js'
import * as arithmetic from './core/ops/arithmetic.js'
import * as circular from './core/ops/circular.js'
import * as compare from './core/ops/compare.js'
import * as contract from './core/ops/contract.js'
import * as convolution from './core/ops/conv.js'
import * as contractions from './core/ops/einsum.js'
import * as functions from './core/ops/functions.js'
import * as gamma from './core/ops/gamma.js'
import * as indexingAlong from './core/ops/indexing-along.js'
import * as indexingDynamic from './core/ops/indexing-dynamic.js'
import * as indexingGather from './core/ops/indexing-gather.js'
import * as layout from './core/ops/layout.js'
import * as layoutJoin from './core/ops/layout-join.js'
import * as layoutMore from './core/ops/layout-more.js'
import * as layoutMove from './core/ops/layout-move.js'
import * as layoutSlice from './core/ops/layout-slice.js'
import { map as mapOp } from './core/ops/map.js'
import * as nn from './core/ops/nn.js'
import * as pool from './core/ops/pool.js'
import * as products from './core/ops/products.js'
import * as reduce from './core/ops/reduce.js'
import * as reduceMore from './core/ops/reduce-more.js'
import * as scans from './core/ops/scans.js'
import type { Registry } from './core/registry.js'
import { compileAsync as compileAsyncCore, compileSync, type Env, evaluateWith, makeRuntime, runCore, runSyncCore } from './core/run.js'
import { showProgram } from './core/show.js'
import { makeTensor } from './core/tensor.js'
import type { Signatures } from './core/types/signatures.js'
import { makeOperators } from './modes/operators.js'
import { coreRegistry } from './rules/index.js'

type Public = Signatures<Env>
type Names =
  | 'grad'
  | 'valueAndGrad'
  | 'jvp'
  | 'vjp'
  | 'hvp'
  | 'linearize'
  | 'vmap'
  | 'jacfwd'
  | 'jacrev'
  | 'hessian'
  | 'fn'
  | 'evaluate'
  | 'compile'
  | 'show'
  | 'run'
  | 'runSync'
  | 'compileAsync'

/** codual bound to a registry and a default backend: everything that runs or differentiates. */
export type Codual = Pick<Public, Names>

/** The public type of a function. The one cast between the untyped constructors and the types that users see. */
const typed = <F>(f: unknown): F => f as F

/**
 * codual bound to a registry of rules and a default backend; no module state.
 *
 * @example makeCodual(coreRegistry.with(myRule), cpu()).grad(f)
 */
export const makeCodual = (registry: Registry, backend: SyncBackend): Codual => {
  const runtime: Runtime = makeRuntime(backend)
  return typed<Codual>({
    ...makeOperators(registry, runtime),
    fn: (declaration: unknown, body: (x: unknown) => unknown) => declare(runtime, declaration, body),
    evaluate: evaluateWith(backend),
    compile: (f: unknown, b: SyncBackend = backend) => compileSync(f, b),
    compileAsync: compileAsyncCore,
    show: (f: unknown, sizes: Readonly<Record<string, number>> = {}) => showProgram(traceDeclared(metaOf(f), sizes)),
    run: runCore,
    runSync: runSyncCore,
  })
}

const bound: Codual = /*#__PURE__*/ makeCodual(coreRegistry, cpu())
export const fn: Public['fn'] = bound.fn
export const grad: Public['grad'] = bound.grad
export const valueAndGrad: Public['valueAndGrad'] = bound.valueAndGrad
export const jvp: Public['jvp'] = bound.jvp
export const vjp: Public['vjp'] = bound.vjp
export const hvp: Public['hvp'] = bound.hvp
export const linearize: Public['linearize'] = bound.linearize
export const vmap: Public['vmap'] = bound.vmap
export const jacfwd: Public['jacfwd'] = bound.jacfwd
export const jacrev: Public['jacrev'] = bound.jacrev
export const hessian: Public['hessian'] = bound.hessian
export const evaluate: Public['evaluate'] = bound.evaluate
export const compile: Public['compile'] = bound.compile
export const compileAsync: Public['compileAsync'] = bound.compileAsync
export const show: Public['show'] = bound.show
export const run: Public['run'] = bound.run
export const runSync: Public['runSync'] = bound.runSync

export { type CpuBackend, type CpuOptions, cpu } from './backends/cpu/index.js'
export { reference } from './backends/reference/index.js'
export type { Backend, Executable, Explanation, SyncBackend } from './core/backend.js'
export { binary, unary } from './core/elementwise.js'
export type { AdError, AdException } from './core/error.js'
export { isAdException } from './core/error.js'
export { explain } from './core/explain.js'
export { matmulAdd } from './core/ops/contract.js'
export { tensordot } from './core/ops/einsum.js'
export { batchStatistics, crossEntropy, dropout, embedding, linear } from './core/ops/nn.js'
export { kron, vdot } from './core/ops/products.js'
export { emptyRegistry, type Registry, type Rule, registryMonoid, registryOf } from './core/registry.js'
export type { Env } from './core/run.js'
export { bool, f32, f64, i32 } from './core/spec.js'
export { inplaceableThunk, NoTangent, notImplemented, type Tangent, type Thunk, thunk, ZeroTangent } from './core/tangent.js'
export type { DType, Float } from './core/types/dtype.js'
export type { AnyExpr, Expr, Scalar, Spec, Tensor } from './core/types/expr.js'
export type { Fn } from './core/types/fn.js'
export type { Dim, Shape } from './core/types/shape.js'
export type { Exprs, Gradient, Tensors, Values } from './core/types/tree.js'
export { bilinearRule, linearRule, multiRule, nonDifferentiable, rule, scalarRule } from './rules/define.js'
export { coreRegistry } from './rules/index.js'

export const tensor: Public['tensor'] = typed(makeTensor)
export const map: Public['map'] = typed(mapOp)
export const clamp: Public['clamp'] = typed(activations.clamp)
export const fma: Public['fma'] = typed(activations.fma)
export const leakyRelu: Public['leakyRelu'] = typed(activations.leakyRelu)
export const elu: Public['elu'] = typed(activations.elu)
export const gelu: Public['gelu'] = typed(activations.gelu)
export const silu: Public['silu'] = typed(activations.silu)
export const add: Public['add'] = typed(arithmetic.add)
export const sub: Public['sub'] = typed(arithmetic.sub)
export const mul: Public['mul'] = typed(arithmetic.mul)
export const div: Public['div'] = typed(arithmetic.div)
export const mod: Public['mod'] = typed(arithmetic.mod)
export const pow: Public['pow'] = typed(arithmetic.pow)
export const hypot: Public['hypot'] = typed(arithmetic.hypot)
export const atan2: Public['atan2'] = typed(arithmetic.atan2)
export const logaddexp: Public['logaddexp'] = typed(arithmetic.logaddexp)
export const xlogy: Public['xlogy'] = typed(arithmetic.xlogy)
export const maximum: Public['maximum'] = typed(arithmetic.maximum)
export const minimum: Public['minimum'] = typed(arithmetic.minimum)
export const copysign: Public['copysign'] = typed(arithmetic.copysign)
export const where: Public['where'] = typed(arithmetic.where)
export const select: Public['select'] = typed(arithmetic.select)
export const stopGradient: Public['stopGradient'] = typed(arithmetic.stopGradient)
export const cast: Public['cast'] = typed(arithmetic.cast)
export const sin: Public['sin'] = typed(circular.sin)
export const cos: Public['cos'] = typed(circular.cos)
export const tan: Public['tan'] = typed(circular.tan)
export const asin: Public['asin'] = typed(circular.asin)
export const acos: Public['acos'] = typed(circular.acos)
export const atan: Public['atan'] = typed(circular.atan)
export const sinh: Public['sinh'] = typed(circular.sinh)
export const cosh: Public['cosh'] = typed(circular.cosh)
export const tanh: Public['tanh'] = typed(circular.tanh)
export const asinh: Public['asinh'] = typed(circular.asinh)
export const acosh: Public['acosh'] = typed(circular.acosh)
export const atanh: Public['atanh'] = typed(circular.atanh)
export const eq: Public['eq'] = typed(compare.eq)
export const ne: Public['ne'] = typed(compare.ne)
export const lt: Public['lt'] = typed(compare.lt)
export const le: Public['le'] = typed(compare.le)
export const gt: Public['gt'] = typed(compare.gt)
export const ge: Public['ge'] = typed(compare.ge)
export const isnan: Public['isnan'] = typed(compare.isnan)
export const isfinite: Public['isfinite'] = typed(compare.isfinite)
export const and: Public['and'] = typed(compare.and)
export const or: Public['or'] = typed(compare.or)
export const not: Public['not'] = typed(compare.not)
export const matmul: Public['matmul'] = typed(contract.matmul)
export const conv: Public['conv'] = typed(convolution.conv)
export const einsum: Public['einsum'] = typed(contractions.einsum)
export const dot: Public['dot'] = typed(products.dot)
export const outer: Public['outer'] = typed(products.outer)
export const trace: Public['trace'] = typed(products.trace)
export const neg: Public['neg'] = typed(functions.neg)
export const abs: Public['abs'] = typed(functions.abs)
export const square: Public['square'] = typed(functions.square)
export const sign: Public['sign'] = typed(functions.sign)
export const floor: Public['floor'] = typed(functions.floor)
export const ceil: Public['ceil'] = typed(functions.ceil)
export const round: Public['round'] = typed(functions.round)
export const reciprocal: Public['reciprocal'] = typed(functions.reciprocal)
export const sqrt: Public['sqrt'] = typed(functions.sqrt)
export const rsqrt: Public['rsqrt'] = typed(functions.rsqrt)
export const cbrt: Public['cbrt'] = typed(functions.cbrt)
export const exp: Public['exp'] = typed(functions.exp)
export const exp2: Public['exp2'] = typed(functions.exp2)
export const expm1: Public['expm1'] = typed(functions.expm1)
export const log: Public['log'] = typed(functions.log)
export const log2: Public['log2'] = typed(functions.log2)
export const log10: Public['log10'] = typed(functions.log10)
export const log1p: Public['log1p'] = typed(functions.log1p)
export const sigmoid: Public['sigmoid'] = typed(functions.sigmoid)
export const softplus: Public['softplus'] = typed(functions.softplus)
export const relu: Public['relu'] = typed(functions.relu)
export const erf: Public['erf'] = typed(gamma.erf)
export const lgamma: Public['lgamma'] = typed(gamma.lgamma)
export const digamma: Public['digamma'] = typed(gamma.digamma)
export const takeAlongAxis: Public['takeAlongAxis'] = typed(indexingAlong.takeAlongAxis)
export const searchsorted: Public['searchsorted'] = typed(indexingAlong.searchsorted)
export const dynamicSlice: Public['dynamicSlice'] = typed(indexingDynamic.dynamicSlice)
export const gather: Public['gather'] = typed(indexingGather.gather)
export const take: Public['take'] = typed(indexingGather.take)
export const scatterAdd: Public['scatterAdd'] = typed(indexingGather.scatterAdd)
export const setAt: Public['setAt'] = typed(indexingGather.setAt)
export const oneHot: Public['oneHot'] = typed(indexingGather.oneHot)
export const concat: Public['concat'] = typed(layoutJoin.concat)
export const split: Public['split'] = typed(layoutJoin.split)
export const stack: Public['stack'] = typed(layoutJoin.stack)
export const unstack: Public['unstack'] = typed(layoutJoin.unstack)
export const full: Public['full'] = typed(layoutMore.full)
export const zeros: Public['zeros'] = typed(layoutMore.zeros)
export const ones: Public['ones'] = typed(layoutMore.ones)
export const zerosLike: Public['zerosLike'] = typed(layoutMore.zerosLike)
export const onesLike: Public['onesLike'] = typed(layoutMore.onesLike)
export const arange: Public['arange'] = typed(layoutMore.arange)
export const linspace: Public['linspace'] = typed(layoutMore.linspace)
export const eye: Public['eye'] = typed(layoutMore.eye)
export const diag: Public['diag'] = typed(layoutMore.diag)
export const tril: Public['tril'] = typed(layoutMore.tril)
export const triu: Public['triu'] = typed(layoutMore.triu)
export const assertShape: Public['assertShape'] = typed(layoutMore.assertShape)
export const broadcastTo: Public['broadcastTo'] = typed(layoutMove.broadcastTo)
export const reshape: Public['reshape'] = typed(layoutMove.reshape)
export const transpose: Public['transpose'] = typed(layoutMove.transpose)
export const expandDims: Public['expandDims'] = typed(layoutMove.expandDims)
export const squeeze: Public['squeeze'] = typed(layoutMove.squeeze)
export const slice: Public['slice'] = typed(layoutSlice.slice)
export const pad: Public['pad'] = typed(layoutSlice.pad)
export const flip: Public['flip'] = typed(layout.flip)
export const roll: Public['roll'] = typed(layout.roll)
export const tile: Public['tile'] = typed(layout.tile)
export const repeat: Public['repeat'] = typed(layout.repeat)
export const softmax: Public['softmax'] = typed(nn.softmax)
export const logSoftmax: Public['logSoftmax'] = typed(nn.logSoftmax)
export const layerNorm: Public['layerNorm'] = typed(nn.layerNorm)
export const batchNorm: Public['batchNorm'] = typed(nn.batchNorm)
export const maxPool: Public['maxPool'] = typed(pool.maxPool)
export const avgPool: Public['avgPool'] = typed(pool.avgPool)
export const variance: Public['variance'] = typed(reduceMore.variance)
export const std: Public['std'] = typed(reduceMore.std)
export const norm: Public['norm'] = typed(reduceMore.norm)
export const logsumexp: Public['logsumexp'] = typed(reduceMore.logsumexp)
export const sum: Public['sum'] = typed(reduce.sum)
export const prod: Public['prod'] = typed(reduce.prod)
export const max: Public['max'] = typed(reduce.max)
export const min: Public['min'] = typed(reduce.min)
export const argmax: Public['argmax'] = typed(reduce.argmax)
export const argmin: Public['argmin'] = typed(reduce.argmin)
export const mean: Public['mean'] = typed(reduce.mean)
export const cumsum: Public['cumsum'] = typed(scans.cumsum)
export const cumprod: Public['cumprod'] = typed(scans.cumprod)
export const sort: Public['sort'] = typed(scans.sort)
export const argsort: Public['argsort'] = typed(scans.argsort)
export const topk: Public['topk'] = typed(scans.topk)
