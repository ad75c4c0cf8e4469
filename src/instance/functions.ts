/** What is bound beside the derivative operators: declared functions, running them, and programs that are read. */
import type { Registry } from '../core/calculus/rule.js'
import type { Backend } from '../core/functions/backend.js'
import { type CompiledAsyncCore, compileAsync } from '../core/functions/compile-async.js'
import { declare, metaOf, type Runtime, traceDeclared } from '../core/functions/function.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { showExpressions, showProgram } from '../core/graph/show.js'
import { siteOf } from '../core/graph/source-lines.js'
import { fromJSONCore, isProgram } from '../core/programs/json.js'
import type { CompileOptions } from '../core/types/signatures/run.js'

export const fnOf =
  (runtime: Runtime) =>
  (declaration: unknown, body: (x: unknown) => unknown, options?: { readonly name?: string }): unknown =>
    declare(runtime, declaration, body, options)

export const compileAsyncOf = (f: unknown, b: Backend, options?: CompileOptions): CompiledAsyncCore =>
  compileAsync(f, b, 'compileAsync', options)

export const showOf = (f: unknown, sizes?: Readonly<Record<string, number>>): string =>
  typeof f === 'function' || isProgram(f)
    ? showProgram(isProgram(f) ? f : traceDeclared(metaOf(f, 'show'), sizes, 'show'), siteOf)
    : showExpressions(f, siteOf)

export const fromJSONOf =
  (registry: Registry) =>
  (json: unknown, primitives?: readonly AnyPrimitive[]): ReturnType<ReturnType<typeof fromJSONCore>> =>
    fromJSONCore(registry, primitives)(json)
