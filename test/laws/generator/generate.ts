/** A random program from a seed: which builders, how many steps, what is returned. */

import { arrayRows } from './arrays.js'
import { contractRows, nnRows } from './contract.js'
import { type Draw as D, Draw, isFloatValue, opsOf, ref, type Value } from './draw.js'
import { elementwiseRows, type Row } from './elementwise.js'
import { choose, higherRows, setInside } from './higher.js'
import { indexingRows, reduceRows } from './indexing.js'
import { layerRows } from './layers.js'
import { layoutRows } from './layout.js'
import { linalgRows } from './linalg.js'
import { loopOutputs, loopProgram, loopRows } from './loop-programs.js'
import { type Api, type RandomProgram, refsOf, type Template } from './program.js'
import { longChain, sharingRows, wideDag } from './sharing.js'
import { specialRows } from './special.js'

/** Every builder, by family. */
export const families = {
  elementwise: elementwiseRows,
  special: specialRows,
  layout: layoutRows,
  indexing: indexingRows,
  reduce: reduceRows,
  arrays: arrayRows,
  contract: contractRows,
  linalg: linalgRows,
  nn: [...nnRows, ...layerRows],
  higher: [...higherRows, ...loopRows],
  sharing: sharingRows,
} as const
type Family = keyof typeof families

const weighed = (weights: Partial<Record<Family, number>>): readonly Row[] =>
  (Object.keys(families) as Family[]).flatMap((f) => {
    const rows = families[f]
    const total = rows.reduce((s, r) => s + r.weight, 0)
    const w = weights[f] ?? 0
    return w === 0 ? [] : rows.map((r) => ({ ...r, weight: (r.weight * w) / total }))
  })
setInside(weighed({ elementwise: 3, layout: 2, indexing: 1, reduce: 1, contract: 1, nn: 0.3, higher: 0.8, sharing: 0.5 }))

interface Kind {
  readonly weight: number
  readonly rows: readonly Row[]
  readonly steps: readonly [number, number]
}
const kinds = {
  all: {
    weight: 30,
    steps: [1, 14],
    rows: weighed({
      elementwise: 4,
      special: 0.6,
      layout: 3,
      indexing: 2,
      reduce: 1.5,
      arrays: 2,
      contract: 1.5,
      linalg: 0.5,
      nn: 0.8,
      higher: 1,
      sharing: 2,
    }),
  },
  elementwise: { weight: 12, steps: [2, 18], rows: weighed({ elementwise: 8, special: 1, reduce: 1, layout: 1 }) },
  views: { weight: 12, steps: [2, 12], rows: weighed({ layout: 6, elementwise: 2, reduce: 1, indexing: 1, sharing: 1 }) },
  sharing: { weight: 15, steps: [1, 6], rows: weighed({ sharing: 5, elementwise: 2, indexing: 1, contract: 1, layout: 1 }) },
  indexing: { weight: 10, steps: [2, 9], rows: weighed({ indexing: 4, elementwise: 2, layout: 1, reduce: 1 }) },
  arrays: { weight: 10, steps: [2, 8], rows: weighed({ arrays: 6, elementwise: 2, layout: 1 }) },
  contract: { weight: 9, steps: [1, 8], rows: weighed({ contract: 4, elementwise: 2, layout: 1, reduce: 1 }) },
  linalg: { weight: 5, steps: [1, 5], rows: weighed({ linalg: 4, elementwise: 2, layout: 1, reduce: 1 }) },
  nn: { weight: 9, steps: [1, 6], rows: weighed({ nn: 4, elementwise: 2, layout: 1 }) },
  higher: { weight: 10, steps: [1, 4], rows: weighed({ higher: 4, elementwise: 2, layout: 1, reduce: 1 }) },
  chain: { weight: 0.6, steps: [1, 1], rows: [longChain] },
  wild: { weight: 5, steps: [2, 10], rows: weighed({ elementwise: 8, layout: 1, reduce: 1 }) },
} satisfies Record<string, Kind>
/** Which programs are drawn: of all kinds, wide DAGs, or loops. */
export type Wanted = 'all' | 'dag' | 'loops'
export type KindName = keyof typeof kinds | 'dag' | 'loops'

const kindOf = (d: D): keyof typeof kinds => {
  const names = Object.keys(kinds) as (keyof typeof kinds)[]
  let r = d.next() * names.reduce((s, k) => s + kinds[k].weight, 0)
  for (const k of names) {
    r -= kinds[k].weight
    if (r <= 0) return k
  }
  return 'all'
}

/** Results: late values, some of them inputs, constants, the same value twice, values beside what was made of them. */
const outputsOf = (d: D): readonly Template[] => {
  const floats = d.pool.filter((v) => isFloatValue(v))
  const out: Template[] = []
  const last = floats[floats.length - 1] ?? d.pool[d.pool.length - 1]!
  out.push(ref(last))
  // What nothing reads would be dropped: return some of it.
  const read = new Set(d.steps.flatMap((s) => refsOf([...s.args, ...(s.applied ?? [])])))
  const unread = d.pool.filter((v) => v.made && !read.has(v.ref) && v !== last)
  for (const v of unread) if (d.chance(0.5) && out.length < 5) out.push(ref(v))
  const more: readonly (() => Value | number)[] = [
    () => d.pick(),
    () => last,
    () => d.of(d.pool.filter((v) => !v.made)),
    () => d.of([0, 1, 2.5]),
    () => d.pick(),
  ]
  while (d.chance(0.3) && out.length < 6) {
    const v = d.of(more)()
    out.push(typeof v === 'number' ? v : ref(v))
  }
  return d.chance(0.2) ? [...out].reverse() : out
}

/** Steps of a program of loops, those of its functions among them. */
const MOST_STEPS = 60
const stepsIn = (d: D): number => {
  let n = 0
  opsOf(d.steps, () => n++)
  return n
}

export interface Generated {
  readonly program: RandomProgram
  /** Calls that the library refused while drawing, by operation. */
  readonly refused: ReadonlyMap<string, number>
}

/** Draws the program of a seed. The same seed, the same program. */
export const generate = (seed: number, kind: Wanted = 'all', api?: Api): Generated => {
  for (let attempt = 0; ; attempt++) {
    // Far apart for neighbouring seeds and attempts.
    const d0 = new Draw((Math.imul(seed, 0x9e3779b1) ^ Math.imul(attempt + 1, 0x85ebca6b)) | 0)
    const name: KindName = kind === 'all' ? kindOf(d0) : kind
    const dtype = d0.chance(0.3) ? ('f32' as const) : ('f64' as const)
    const wild = name === 'wild'
    const d = new Draw(Math.floor(d0.next() * 2 ** 31), { dtype, wild, maxInputs: d0.between(1, 6), ...(api !== undefined && { api }) })
    try {
      if (name === 'dag' || name === 'loops') {
        if (!d.attempt(name === 'dag' ? wideDag : loopProgram)) continue
      } else {
        const { rows, steps } = kinds[name]
        const first = d.between(1, 2)
        for (let i = 0; i < first; i++) d.input(d.shape())
        if (d.chance(0.15)) d.input(d.shape(), d.of(['i32', 'bool']), [-4, 5])
        let left = d.between(...(steps as readonly [number, number]))
        for (let tries = 0; left > 0 && tries < 60; tries++) if (d.attempt(choose(d, rows).build)) left--
      }
      if (d.steps.length === 0 || (name === 'loops' && stepsIn(d) > MOST_STEPS)) continue
      const program = { seed, kind: name, inputs: d.inputs, steps: d.steps, outputs: name === 'loops' ? loopOutputs(d) : outputsOf(d) }
      return { program: { ...program, ...(d.kinked && { kinked: true }), ...(wild && { wild: true }) }, refused: d.refused }
    } catch (e) {
      if ((e as Error).constructor.name !== 'Redraw' || attempt > 50) throw e
    }
  }
}
