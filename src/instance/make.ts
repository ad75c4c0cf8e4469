/** codual bound to other rules or another default backend. */

import { from } from '../core/calculus/pack.js'
import { type Registry, registryIn } from '../core/calculus/rule.js'
import { makeCustomRule } from '../core/extend/custom-rule.js'
import { type SyncBackend, syncBackendOf } from '../core/functions/backend.js'
import { evaluateWith, makeRuntime } from '../core/functions/compile.js'
import { compileOn } from '../core/functions/compile-async.js'
import { runCore, runSyncCore } from '../core/functions/effects.js'
import type { Runtime } from '../core/functions/function.js'
import { fromProgramCore, toProgramCore } from '../core/programs/json.js'
import type { Codual } from '../core/types/signatures/codual.js'
import { makeOperators } from '../modes/operators/index.js'
import { customPack } from '../packs/custom.js'
import { indexingPack } from '../packs/indexing.js'
import { tapPack } from '../packs/tap.js'
import { taylorOf } from '../rules/taylor.js'
import { compileAsyncOf, fnOf, fromJSONOf, showOf } from './functions.js'

/** The operators, with the rows of what they build themselves. */
const operatorsOf = /*#__PURE__*/ from(indexingPack, /*#__PURE__*/ from(tapPack, /*#__PURE__*/ from(customPack, makeOperators)))

/**
 * codual bound to a registry of rules and a default backend; no module state.
 *
 * Errors  BadInput unless it is given a registry and a backend.
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * const registry = coreRegistry.with(scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))]))
 * makeCodual(registry, cpu()).grad((x) => sum(cube(x)))([1, 2])   // [3, 12]
 */
export const makeCodual = (registry: Registry, backend: SyncBackend): Codual => {
  const runtime: Runtime = makeRuntime(syncBackendOf(backend, 'makeCodual'))
  registryIn(registry, 'makeCodual')
  const bound: Readonly<Record<keyof Codual, unknown>> = {
    ...operatorsOf({ registry, runtime }, taylorOf),
    customRule: makeCustomRule(runtime),
    fn: fnOf(runtime),
    evaluate: evaluateWith(backend),
    compile: compileOn(backend),
    compileAsync: compileAsyncOf,
    show: showOf,
    toProgram: toProgramCore,
    fromProgram: fromProgramCore(runtime),
    fromJSON: fromJSONOf(registry),
    run: runCore,
    runSync: runSyncCore,
  }
  return bound as Codual // their types are in types/signatures
}
