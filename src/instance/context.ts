/** What the operators of the library are bound to: the shipped rules, and the CPU as the default backend. */
import { type CpuBackend, cpu } from '../backends/cpu/index.js'
import { makeRuntime } from '../core/functions/compile.js'
import type { Context } from '../modes/operators/shared.js'
import { rules } from '../rules/base.js'

export const backend: CpuBackend = /*#__PURE__*/ cpu()
export const context: Context = { registry: rules, runtime: /*#__PURE__*/ makeRuntime(backend) }
