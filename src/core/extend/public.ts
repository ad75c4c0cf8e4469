/** What authors of primitives and kernels use, public as it stands. */

export { type Aval, aval } from '../graph/aval.js'
export type { NDArray } from '../graph/ndarray.js'
export type {
  AnyPrimitive,
  ArgKind,
  Declared,
  Kink,
  NoParams,
  OpClass,
  Primitive,
  Sample,
  SampleArg,
} from '../graph/primitive.js'
export {
  type Forced,
  type InplaceableThunk,
  inplaceableThunk,
  NoTangent,
  type NotImplemented,
  notImplemented,
  type Tangent,
  type Thunk,
  thunk,
  ZeroTangent,
} from '../graph/tangent.js'
export { binary, primitive, unary } from './declare.js'
export { elementwise } from './elementwise.js'
export { byMeaning, type Facet, type InlineAt, inline, type KernelFunction, type KernelTable, missing, perElement } from './kernel-table.js'
export {
  applyPrimitive,
  definePlugin,
  type KernelRow,
  type LowerRow,
  type Plugin,
  type PluginOp,
  type PluginOps,
  type PluginSpec,
  pluginMonoid,
  type RuleRow,
} from './plugin.js'
