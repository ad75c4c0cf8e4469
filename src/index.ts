/** All that is public. It only hands on, so that a bundle holds what it names. */
export { type CpuBackend, type CpuOptions, cpu } from './backends/cpu/index.js'
export { reference } from './backends/reference/index.js'
export { type DeviceStats, type WebGpuBackend, type WebGpuOptions, webgpu } from './backends/webgpu/index.js'
export type { Dropped, DropReason } from './core/calculus/dropped.js'
export { CoDual, Dual } from './core/calculus/dual.js'
export {
  type Batching,
  emptyRegistry,
  type Form,
  type Registry,
  type Rule,
  type RuleConfig,
  type RuleContext,
  registryMonoid,
  registryOf,
} from './core/calculus/rule.js'
export type { AdError, AdException } from './core/errors/error.js'
export { isAdException } from './core/errors/error.js'
export { explain, raise } from './core/errors/explain.js'
export * from './core/extend/public.js'
export { type Algebra, type ApplyAt, type InputAt, type Interpret, interpret } from './core/functions/interpret.js'
export * from './core/functions/public.js'
export { bool, f32, f64, i32 } from './core/graph/spec.js'
export { tensor } from './core/graph/tensor.js'
export { registerTree } from './core/graph/tree.js'
export * from './core/ops/index.js'
export { codec, decodeError } from './core/programs/codec.js'
export { ravel, treeAllClose, treeFlatten, treeLeaves, treeMap, treeReduce, treeZip } from './core/programs/trees.js'
export { duplicated, type RandomSource, type VectorSpace, vectorSpace } from './core/programs/vector-space.js'
export type * from './core/types/public.js'
export * from './families/bitwise.js'
export * from './families/contract.js'
export * from './families/control.js'
export * from './families/eigh.js'
export * from './families/exponentials.js'
export * from './families/gamma.js'
export * from './families/indexing.js'
export * from './families/nn.js'
export * from './families/qr.js'
export * from './families/special.js'
export * from './families/svd.js'
export * from './families/systems.js'
export * from './families/tap.js'
export * from './families/triangular.js'
export * from './families/trigonometric.js'
export * from './instance/custom.js'
export * from './instance/derivatives.js'
export { makeCodual } from './instance/make.js'
export { codualWith, corePlugin } from './instance/plugins.js'
export * from './instance/programs.js'
export * from './instance/running.js'
export * from './instance/sparse.js'
export * from './library/index.js'
export { dualAlgebra, type EagerCoDual, type EagerDual, type EagerReverse, reverseAlgebra } from './modes/dual.js'
export { coreRegistry } from './packs/all.js'
export * from './rules/public.js'
