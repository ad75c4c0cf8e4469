// What kills a mutant of the planner: programs written for it, then random ones; plans held against programs, and numbers against the reference. Run by worker.ts.
import { makeCpu } from '../../../src/backends/cpu/index.js'
import { KernelNames } from '../../../src/backends/plan/body.js'
import { PlanCache } from '../../../src/backends/plan/cache.js'
import { Codes } from '../../../src/backends/plan/ints.js'
import { buildIr } from '../../../src/backends/plan/ir.js'
import { makePlan, type Plan } from '../../../src/backends/plan/plan.js'
import { checkProvenance } from '../../../src/backends/plan/provenance.js'
import { verifyMemory } from '../../../src/backends/plan/verify.js'
import { reference } from '../../../src/backends/reference/index.js'
import { aval } from '../../../src/core/graph/aval.js'
import { Identities } from '../../../src/core/graph/identity.js'
import type { TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import { mapFamily } from '../../../src/core/ops/map.js'
import * as cd from '../../../src/index.js'
import { agree, checkProgram, trace } from '../../laws/generator/checks.js'
import { generate } from '../../laws/generator/generate.js'
import { type Lanes, laneOf, runOn } from '../../laws/generator/lanes.js'
import { loops, straight } from './sharp.js'

/** Plans for a device's words and limits, without the device. */
const gpuBytes = { f64: 4, f32: 4, i32: 4, bool: 4 }
const ids = new Identities()
const plans = new PlanCache<Plan>(2 ** 25, () => 1000)
const names = new KernelNames(ids)
const planned = (program: Program): Plan => {
  const ir = buildIr(program, ids)
  const limits = { nodes: 64, buffers: 12, itemBytes: gpuBytes }
  const { made } = plans.get(ir.key, () => makePlan(ir, limits, names))
  verifyMemory(made)
  checkProvenance({ program, ir, plan: made, itemBytes: gpuBytes }, ids)
  return made
}

/** Two codes of two words with one hash, found by trying. */
const collision = (hash: (code: readonly number[]) => number): readonly [readonly number[], readonly number[]] => {
  const seen = new Map<number, readonly number[]>()
  for (let i = 1; ; i++) {
    const code = [i, Math.imul(i, 0x9e3779b1)]
    const h = hash(code)
    const other = seen.get(h)
    if (other !== undefined) return [other, code]
    seen.set(h, code)
  }
}
const fnv = (code: readonly number[]): number => code.reduce((h, x) => Math.imul(h ^ x, 0x01000193), 0x811c9dc5)
/** Equal hashes are no equal keys. */
const tables = (): void => {
  const [a, b] = collision(fnv)
  const codes = new Codes()
  codes.add(a)
  if (codes.find(b) >= 0) throw new Error('a code was found by its hash')
  if (codes.find(a) !== 0) throw new Error('a code was not found')
  const cache = new PlanCache<number>(2 ** 20, () => 1)
  cache.get(Int32Array.from(a), () => 1)
  if (cache.get(Int32Array.from(b), () => 2).made !== 2) throw new Error('a plan was found by its hash')
}

/** What is equal as parameters, and what is not. */
const identities = (): void => {
  const own = new Identities()
  const different = (a: unknown, b: unknown, what: string): void => {
    if (own.paramsId(null, a) === own.paramsId(null, b)) throw new Error(`${what} are equal`)
  }
  different({ v: 0 }, { v: -0 }, '0 and -0')
  different({ v: Number.NaN }, { v: Number.POSITIVE_INFINITY }, 'NaN and Infinity')
  const times = (k: number) => (x: number) => k * x
  different({ f: times(2) }, { f: times(3) }, 'closures of one text')
  const shape = [aval([2], 'f64'), aval([2], 'f64')]
  const one = trace((x, y) => cd.sub(x as cd.AnyExpr, y as cd.AnyExpr), shape)
  const other = trace((x, y) => cd.sub(y as cd.AnyExpr, x as cd.AnyExpr), shape)
  const map = mapFamily.map
  if (own.paramsId(map, { program: one }) === own.paramsId(map, { program: other }))
    throw new Error('programs with other arguments are equal')
  const same = trace((x, y) => cd.sub(x as cd.AnyExpr, y as cd.AnyExpr), shape)
  if (own.paramsId(map, { program: one }) !== own.paramsId(map, { program: same })) throw new Error('equal programs differ')
}

const oracle = reference()
const backends = [makeCpu({ verify: true, simd: true, poison: true }), makeCpu({ verify: true, simd: false, poison: true })]
const lanes: Lanes = { oracle, lanes: [laneOf('simd', backends[0]!), laneOf('plain', backends[1]!)], without: new Map() }

const inputsOf = (program: Program): TypedArray[] =>
  program.inputs.map((x, k) => {
    const make = { f64: Float64Array, f32: Float32Array, i32: Int32Array, bool: Uint8Array }[x.dtype]
    const data = new make(x.aval.size)
    for (let i = 0; i < data.length; i++)
      data[i] = x.dtype === 'i32' ? (i * 7 + k) % 5 : x.dtype === 'bool' ? i % 2 : Math.sin(1 + 3 * k + i)
    return data
  })
/** The programs written for faults, and their gradients: first the plans of all, which show most faults and take a quarter of the time, then the values on every backend. */
const sharpened = (loopsFirst: boolean): void => {
  const programs = loopsFirst ? [...loops, ...straight] : [...straight, ...loops]
  const traced = programs.flatMap(({ f, shapes, dtype = 'f64', values = false, steps }) => {
    const avals = shapes.map((s) => aval(s, dtype))
    const own = Object.defineProperty((...xs: readonly unknown[]) => f(...(xs as cd.AnyExpr[])), 'length', { value: shapes.length })
    const loss = Object.defineProperty(
      (...xs: readonly unknown[]) => {
        const ys = [f(...(xs as cd.AnyExpr[]))].flat() as readonly cd.AnyExpr[]
        return ys.map((y) => cd.sum(cd.sin(y))).reduce((a, b) => cd.add(a, b))
      },
      'length',
      { value: shapes.length },
    )
    const gradient = (cd.grad as unknown as (f: unknown, o: unknown) => (...xs: readonly unknown[]) => unknown)(loss, {
      wrt: shapes.map((_, i) => i),
    })
    return (values ? [own] : [own, gradient]).map((g) => {
      const program = trace(g, avals)
      const plan = planned(program)
      if (steps !== undefined && plan.steps.length !== steps) throw new Error(`a plan of ${plan.steps.length} steps, not ${steps}`)
      return program
    })
  })
  for (const program of traced) {
    const inputs = inputsOf(program)
    const want = runOn(oracle, program, inputs)
    for (const b of backends) agree('values', runOn(b, program, inputs), want, [{ program, inputs }])
  }
}

const line = (what: string): string => what.split('\n')[0]!.slice(0, 160)
const failing = (seed: number): string | undefined => {
  const { program } = generate(seed, seed % 5 === 0 ? 'dag' : 'all')
  const failure = checkProgram(program, [], { lanes, law: 'none' })
  return failure && line(`random program ${seed}: ${failure.what}`)
}
/** What kills the planner that this module was loaded with; undefined where it lives. `runs`: random programs that are tried at the most; `first` before all else. */
export const killedBy = (runs: number, loopsFirst: boolean, first?: number): string | undefined => {
  const known = first === undefined ? undefined : failing(first)
  if (known !== undefined) return known
  try {
    tables()
    identities()
    sharpened(loopsFirst)
  } catch (e) {
    return line(`a program written for it: ${(e as Error).message}`)
  }
  for (let seed = 1; seed <= runs; seed++) {
    const found = failing(seed)
    if (found !== undefined) return found
  }
  return undefined
}
