/*
 * What this engine's WebAssembly can do, found by validating the smallest module that uses a feature.
 */

import { type FunctionBuilder, Module } from './encoder.js'
import * as OP from './opcodes.js'

const smallest = (body: (f: FunctionBuilder) => unknown): Uint8Array<ArrayBuffer> => {
  const m = new Module()
  body(m.func(undefined, []))
  return m.finish()
}
const once = <A>(make: () => A): (() => A) => {
  let known: { readonly value: A } | undefined
  return () => {
    known ??= { value: make() }
    return known.value
  }
}

/** Why no module with 128-bit SIMD can be compiled here; undefined where it can. A policy of the page may forbid what the engine has. */
export const noSimd = (): string | undefined => {
  if (typeof WebAssembly !== 'object' || WebAssembly === null) return 'this engine has no WebAssembly'
  const bytes = smallest((f) => f.f32x4Const(0).op(OP.drop))
  try {
    if (!WebAssembly.validate(bytes)) return 'this engine has no WebAssembly SIMD'
    new WebAssembly.Instance(new WebAssembly.Module(bytes))
    new WebAssembly.Table({ initial: 1, element: 'anyfunc' })
    new WebAssembly.Memory({ initial: 1 })
    return undefined
  } catch (e) {
    return `WebAssembly may not be compiled here (${(e instanceof Error ? e.message : String(e)).replace(/\s+/g, ' ')})`
  }
}

/** Whether relaxed SIMD exists (off by default in Node 20; on in Node 22, Chrome 114, Firefox 146 and later). */
export const relaxedSimd = /* @__PURE__ */ once(
  (): boolean =>
    noSimd() === undefined &&
    WebAssembly.validate(smallest((f) => f.f32x4Const(0).f32x4Const(0).f32x4Const(0).op(OP.f32x4_relaxed_madd).op(OP.drop))),
)
