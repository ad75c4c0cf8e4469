/** Programs of one primitive: run on a lane's device, as a software adapter and as one of many cores, and on the reference; compared. */
import { expect } from 'vitest'
import { reference } from '../../../src/backends/reference/index.js'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { aval } from '../../../src/core/graph/aval.js'
import { applyAny, input } from '../../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../../src/core/graph/primitive.js'
import { makeProgram, type Program } from '../../../src/core/graph/program.js'
import type { DType } from '../../../src/core/types/dtype.js'
import { type Lane, openDevice, openGpu } from './adapter.js'

/** An array of a case: its values, or a function of the position. */
export interface Given {
  readonly shape: readonly number[]
  readonly dtype: 'f32' | 'i32' | 'bool'
  readonly values: ArrayLike<number> | ((i: number) => number)
}
export const f32 = (shape: readonly number[], values: Given['values']): Given => ({ shape, dtype: 'f32', values })
export const i32 = (shape: readonly number[], values: Given['values']): Given => ({ shape, dtype: 'i32', values })
export const bool = (shape: readonly number[], values: Given['values']): Given => ({ shape, dtype: 'bool', values })

/** Whole numbers from a seed, below 2^32 (mulberry32). */
export const randoms = (seed: number): (() => number) => {
  let s = seed | 0
  return () => {
    s = (s + 0x6d2b79f5) | 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}

const tree = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
const programOf = (prim: AnyPrimitive, args: readonly Given[], params: unknown): Program => {
  const inputs = args.map((a) => input(aval(a.shape, a.dtype)))
  const outputs = applyAny(prim, inputs, params)
  return makeProgram({ name: prim.name, inputs, inputTree: tree(inputs.length), outputs, outputTree: tree(outputs.length) })
}
const dataOf = (a: Given): TypedArray => {
  const data = allocate(
    a.dtype,
    a.shape.reduce((x, y) => x * y, 1),
  )
  const f = typeof a.values === 'function' ? a.values : (i: number) => (a.values as ArrayLike<number>)[i]!
  for (let i = 0; i < data.length; i++) data[i] = f(i)
  return data
}

/** A sample's arguments, f32 where it asks for f64; `whole` makes their numbers whole, so that every order and rounding of a sum gives the same. */
export const sampleArgs = (sample: Sample, whole = false): readonly Given[] => {
  const next = randoms(17)
  return sample.args.map((a) => {
    const dtype: DType = a.dtype ?? 'f32'
    const [low, high] = a.domain ?? [-2, 2]
    const drawn = () => low + ((high - low) * next()) / 2 ** 32
    return {
      shape: a.shape,
      dtype: dtype === 'f64' ? 'f32' : dtype,
      values: (i: number) => a.values?.[i] ?? (dtype === 'i32' ? Math.floor(drawn()) : whole ? Math.round(100 * drawn()) : drawn()),
    }
  })
}

/** The largest difference from the reference, in units of the largest reference entry of the result (at least 1). */
const difference = (got: TypedArray, want: TypedArray): number => {
  if (got.length !== want.length) return Number.POSITIVE_INFINITY
  let diff = 0
  let top = 1
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [got[i]!, want[i]!]
    if (!Number.isFinite(b)) {
      if (!Object.is(a, b)) return Number.POSITIVE_INFINITY
      continue
    }
    if (!(Math.abs(a - b) <= diff)) diff = Math.abs(a - b)
    top = Math.max(top, Math.abs(b))
  }
  return diff / top
}

export type MachineName = 'few cores' | 'many cores'
export interface Single {
  /** Runs a primitive on both kinds of machine; every result must be the reference's: the same numbers, or within `eps` units of 2^-23. */
  readonly check: (prim: AnyPrimitive, args: readonly Given[], params: unknown, eps?: number) => Promise<void>
  /** Results on one of the machines. */
  readonly run: (machine: MachineName, prim: AnyPrimitive, args: readonly Given[], params: unknown) => Promise<readonly TypedArray[]>
  readonly backends: { readonly [M in MachineName]: WebGpuBackend }
  readonly dispose: () => void
}

/** Opens the lane's device twice: as it is, and with a name that does not tell that it is software, so that code for a GPU is made. */
export const openSingle = async (lane: Lane): Promise<Single> => {
  await openGpu(lane)
  const device = await openDevice(lane)
  Object.defineProperty(device, 'adapterInfo', { value: { vendor: 'test', architecture: '', device: '', description: 'a GPU' } })
  const options = { verify: true, poison: true } as const
  const backends: { readonly [M in MachineName]: WebGpuBackend } = {
    'few cores': makeWebGpu({ ...options, dawn: ['backend=vulkan'] }),
    'many cores': makeWebGpu({ ...options, device }),
  }
  expect(await backends['many cores'].adapter()).not.toBe(await backends['few cores'].adapter())
  const oracle = reference()
  const run = async (machine: MachineName, program: Program, inputs: readonly TypedArray[]): Promise<readonly TypedArray[]> => {
    const backend = backends[machine]
    const executable = await backend.prepare(program)
    const before = backend.stats().submits
    // Arrays in, arrays out: nothing is placed on the device.
    const results = (await executable.run(inputs)) as readonly TypedArray[]
    // A primitive that ran on the CPU would take another.
    expect(backend.stats().submits - before, 'submits').toBe(1)
    executable.dispose()
    return results
  }
  return {
    run: (machine, prim, args, params) => run(machine, programOf(prim, args, params), args.map(dataOf)),
    check: async (prim, args, params, eps = 0) => {
      const program = programOf(prim, args, params)
      const inputs = args.map(dataOf)
      const want = oracle.prepare(program).run(inputs)
      for (const machine of Object.keys(backends) as MachineName[]) {
        const got = await run(machine, program, inputs)
        want.forEach((w, k) => {
          const what = `${prim.name} [${args.map((a) => a.shape.join('x')).join('], [')}] ${JSON.stringify(params)} result ${k}, ${machine}`
          if (eps === 0) expect(Array.from(got[k]!), what).toEqual(Array.from(w))
          else expect(difference(got[k]!, w), what).toBeLessThanOrEqual(eps * 2 ** -23)
        })
      }
    },
    backends,
    dispose: () => {
      for (const b of Object.values(backends)) b.dispose()
      device.destroy()
    },
  }
}
