/** How far rounding may move results: a program is evaluated again with every rounded number moved at random within its last digit. */
import { aval } from '../core/graph/aval.js'
import { evaluateNodes, lookingInto, type Touch } from '../core/graph/evaluate.js'
import type { Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { random } from './draw.js'

/** The unit in the last place of 1, by dtype. */
const ULP = { f64: 2 ** -52, f32: 2 ** -23 } as const
/** The least numbers, by which those are rounded that underflow. */
const TINIEST = { f64: 2 ** -1074, f32: 2 ** -149 } as const
const RUNS = 4

/** A number of few binary digits: of such numbers alone arithmetic is exact, nearly always. */
const isPlain = (x: number): boolean => (x * 1024) % 1 === 0

/**
 * The size of what was added up on the way to each result, where the whole is not elementwise: its meaning at the absolute values of its arguments. A sum of products in
 * f32 is rounded term by term, however small it comes out.
 */
const sizesOf = (
  prim: AnyPrimitive,
  params: unknown,
  args: readonly NDArray[],
  results: readonly NDArray[],
): readonly NDArray[] | undefined => {
  if (prim.class === 'elementwise' || prim.programs !== undefined) return undefined
  const absolute = args.map((a) => (a.dtype === 'f64' || a.dtype === 'f32' ? { ...a, data: a.data.map(Math.abs) as typeof a.data } : a))
  const sizes = results.map((r) => ({ ...r, data: r.data.slice() as typeof r.data }))
  try {
    prim.meaning(absolute, params, sizes)
  } catch {
    return undefined // it has no value there
  }
  return sizes
}

/**
 * Moves each rounded number of an application's results by one or two units of its last place. What an operation only chose or moved (a maximum, a sorted array) is not
 * rounded, nor is what it made of plain numbers: ties stay ties.
 */
const mover = (ulp: number | undefined, next: () => number): Touch => {
  const touch: Touch = (prim, args, results, params) => {
    if (prim.class === 'layout' || prim.alias === true) return
    if (prim.class !== 'elementwise' && (prim.programs?.(params as never).length ?? 0) > 0) {
      // The steps of a loop are rounded, each by itself.
      const by = (outputs: readonly Node[], values: ReadonlyMap<Node, NDArray>, step: number | undefined): NDArray[] =>
        evaluateNodes(outputs, values, touch, step)
      const moved = lookingInto(
        by,
        prim,
        params,
        args,
        results.map((r) => aval(r.shape, r.dtype)),
      )
      results.forEach((r, i) => {
        r.data.set(moved[i]!.data as never)
      })
      return
    }
    const sizes = sizesOf(prim, params, args, results)
    const given = new Set<number>()
    // What a factorisation or a transform cancels is rounded as its largest numbers are, plain ones too.
    const factors = prim.stacked !== undefined || prim.structure?.kind === 'lines'
    let [plain, top] = [!factors, 0]
    for (const a of args)
      for (const x of a.data) {
        given.add(x)
        plain &&= isPlain(x)
        if (factors && Number.isFinite(x)) top = Math.max(top, Math.abs(x))
      }
    for (const [r, { data, dtype }] of results.entries()) {
      if (dtype !== 'f64' && dtype !== 'f32') continue
      const unit = ulp ?? ULP[dtype]
      for (let i = 0; i < data.length; i++) {
        const x = data[i]!
        if (!Number.isFinite(x) || (!factors && (given.has(x) || given.has(-x))) || (plain && isPlain(x))) continue
        const size = Math.abs(sizes?.[r]?.data[i] ?? x)
        const by = Math.max(TINIEST[dtype], Math.max(Math.abs(x), top, Number.isFinite(size) ? size : 0) * unit)
        data[i] = x + by * (next() < 0.5 ? -1 : 1) * (1 + next())
      }
    }
  }
  return touch
}

/**
 * How far rounding may move each entry of each result: the largest of four random moves. `ulp`: of every float; that of
 * each one's dtype unless given. An entry that is not finite under some move has no bound.
 *
 * Source  Monte Carlo arithmetic: D. Stott Parker 1997.
 */
export const noiseOf = (outputs: readonly Node[], values: ReadonlyMap<Node, NDArray>, ulp?: number | 'own'): readonly Float64Array[] => {
  const move = mover(ulp === 'own' ? undefined : ulp, random(7))
  const exact = evaluateNodes(outputs, values)
  const noise = exact.map((v) => new Float64Array(v.data.length))
  for (let run = 0; run < RUNS; run++)
    evaluateNodes(outputs, values, move).forEach((v, j) => {
      const [bound, base] = [noise[j]!, exact[j]!.data]
      for (let i = 0; i < bound.length; i++)
        if (!Object.is(v.data[i], base[i])) {
          const off = Math.abs(v.data[i]! - base[i]!)
          bound[i] = Math.max(bound[i]!, Number.isNaN(off) ? Number.POSITIVE_INFINITY : off)
        }
    })
  return noise
}
