/*
 * What this engine's WebAssembly can do, found by validating the smallest module that uses a feature.
 */

import { type FunctionBuilder, Module, OP } from './encoder.js'

const feature = (body: (f: FunctionBuilder) => unknown): (() => boolean) => {
  let known: boolean | undefined
  return () => {
    if (known === undefined) {
      const m = new Module()
      body(m.func(undefined, []))
      known = typeof WebAssembly === 'object' && WebAssembly.validate(m.finish())
    }
    return known
  }
}

/** Whether 128-bit SIMD exists. */
export const simd = /* @__PURE__ */ feature((f) => f.f32x4Const(0).op(OP.drop))

/** Whether relaxed SIMD exists (off by default in Node 20; on in Node 22, Chrome 114, Firefox 146 and later). */
export const relaxedSimd = /* @__PURE__ */ feature((f) => f.f32x4Const(0).f32x4Const(0).f32x4Const(0).op(OP.f32x4_relaxed_madd).op(OP.drop))
