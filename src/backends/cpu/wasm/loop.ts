/** Fused loops: each LoopKernel as a WebAssembly function of the kernels' type, (i32 record) -> (). */
import { Identities } from '../../../core/graph/identity.js'
import { type AnyPrimitive, scalarOf } from '../../../core/graph/primitive.js'
import type { BodyOp, LoopKernel } from '../../plan/kernel.js'
import { type CpuFacets, shippedFacets } from '../facets.js'
import type { MathFunction } from '../kernel.js'
import { CHUNK, chunkedOutputs } from './chunks.js'
import { type FuncRef, type Limits, Module } from './encoder.js'
import { LoopEmitter } from './loop-emitter.js'

/** A module of loops and the JavaScript functions that it imports (module `js`); those of `Math` it imports from there. */
interface LoopModule {
  readonly module: Module
  readonly names: readonly string[]
  /** Of a loop in chunks, where parts are asked for: the kernel that keeps the totals of its chunks, and the one that makes results of them. */
  readonly chunked: readonly (readonly [keep: string, results: string] | undefined)[]
  /** Those of them that call functions of module `js`. */
  readonly calling: ReadonlySet<string>
  readonly imports: Record<string, (...xs: number[]) => number>
}

const functionOf = (o: BodyOp): ((...xs: number[]) => number) => scalarOf(o.prim, o.params, o.dtype)

/** One module with a function for each kernel. `chunk`: points of a chunk; `parts`: loops in chunks also as kernels that threads share. */
export const emitLoops = (
  kernels: readonly LoopKernel[],
  facets: CpuFacets = shippedFacets,
  limits: Limits = { min: 1 },
  { chunk = CHUNK, parts = false }: { readonly chunk?: number; readonly parts?: boolean } = {},
): LoopModule => {
  const module = new Module()
  module.importMemory(limits)
  const imports: LoopModule['imports'] = {}
  const ids = new Identities()
  const keyOf = (o: BodyOp): string => `${o.dtype}|${ids.paramsId(o.prim, o.params)}`
  const byPrim = new Map<AnyPrimitive, Map<string, FuncRef>>()
  const ofMath = new Map<MathFunction, FuncRef>()
  const import_ = (from: string, name: string, o: BodyOp): FuncRef =>
    module.importFunction(
      from,
      name,
      o.args.map(() => 'f64' as const),
      ['f64'],
    )
  // Functions that a body may call: imported first, because imports precede functions.
  for (const k of kernels)
    for (const o of k.body.ops) {
      const math = facets.scalar(o.prim)?.math
      if (math !== undefined && !ofMath.has(math)) ofMath.set(math, import_('Math', math, o))
      let own = byPrim.get(o.prim)
      if (own === undefined) {
        own = new Map()
        byPrim.set(o.prim, own)
      }
      const key = keyOf(o)
      if (own.has(key)) continue
      const name = `m${Object.keys(imports).length}`
      own.set(key, import_('js', name, o))
      imports[name] = functionOf(o)
    }
  const calling = new Set<string>()
  const math = (o: BodyOp): FuncRef => ofMath.get(facets.scalar(o.prim)!.math!)!
  const emitterOf = (k: LoopKernel, name: string, of = name): LoopEmitter => {
    const meaning = (o: BodyOp): FuncRef => {
      calling.add(of)
      return byPrim.get(o.prim)!.get(keyOf(o))!
    }
    return new LoopEmitter(module.kernel(name), k, { meaning, math }, facets, chunk)
  }
  const names = kernels.map((k, i) => {
    emitterOf(k, `k${i}`).emit()
    return `k${i}`
  })
  const chunked = kernels.map((k, i) => {
    if (!parts || chunkedOutputs(k) === 0) return undefined
    const [keep, results] = [`keep${i}`, `results${i}`]
    emitterOf(k, keep, names[i]!).emit(true)
    emitterOf(k, results).emitResults()
    return [keep, results] as const
  })
  return { module, names, chunked, calling, imports }
}
