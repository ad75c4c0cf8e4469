/** The composition root: binds registry and default backend once, and re-exports every public function. The one file that imports every layer. */
import { reference } from './backends/reference/index.js'
import type { SyncBackend } from './core/backend.js'
import { callable, declare, type Runtime, traceDeclared } from './core/callable.js'
import { metaOf } from './core/callable.js'
import type { Registry } from './core/registry.js'
import { compileAsync, compileSync, evaluateWith, makeRuntime, runCore, runSyncCore } from './core/run.js'
import { showProgram } from './core/show.js'
import { makeOperators } from './modes/operators.js'
import { coreRegistry } from './rules/index.js'

/** codual bound to a registry and a default backend: everything that runs or differentiates. */
export const makeCodual = (registry: Registry, backend: SyncBackend) => {
  const runtime: Runtime = makeRuntime(backend)
  return {
    ...makeOperators(registry, runtime),
    fn: (declaration: unknown, body: (x: never) => unknown) => declare(runtime, declaration, body as (x: unknown) => unknown),
    evaluate: evaluateWith(backend),
    compile: (f: unknown, b: SyncBackend = backend) => compileSync(f, b),
    compileAsync,
    show: (f: unknown, sizes: Readonly<Record<string, number>> = {}) => showProgram(traceDeclared(metaOf(f), sizes)),
    run: runCore,
    runSync: runSyncCore,
    callable: (f: unknown) => callable(runtime, metaOf(f)),
  }
}

const bound = /*#__PURE__*/ makeCodual(coreRegistry, reference())
export const { grad, valueAndGrad, jvp, vjp, hvp, linearize, vmap, jacfwd, jacrev, hessian, fn, evaluate, compile, show, run, runSync } = bound
export { reference } from './backends/reference/index.js'
export * from './core/ops/contract.js'
export * from './core/ops/elementwise.js'
export * from './core/ops/layout.js'
export * from './core/ops/map.js'
export * from './core/ops/reduce.js'
export { bool, f32, f64, i32 } from './core/spec.js'
export { makeTensor as tensor } from './core/tensor.js'
