/** Is a program smooth near its values? Each step is looked at alone: differences of a program with a kink or a jump nearby say nothing. */
import { isAdException } from '../../core/errors/error.js'
import { type Aval, aval, isFloat } from '../../core/graph/aval.js'
import { resultArrays } from '../../core/graph/evaluate.js'
import { programsOf } from '../../core/graph/expand.js'
import { linearize } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { inF64 } from '../lifted.js'
import { avalsOf } from './drawing.js'
import type { RandomProgram, Step } from './program.js'

const STEP = 2 ** -10
/** A smooth function bends by STEP^2 f'', far below this; a kink by STEP times the jump of the slope. */
const BEND = 2e-4

const smooth = (s: Step, given: readonly NDArray[], next: () => number): boolean => {
  const args = given.map(inF64)
  const of = (xs: readonly NDArray[]): readonly Aval[] | undefined =>
    avalsOf(
      s.primitive,
      xs.map((x) => aval(x.shape, x.dtype)),
      s.params,
    )
  const avals = of(args)
  // A step that wants f32: its own dtypes then, whose rounding is below what is looked for.
  const own = avals === undefined ? given : args
  const results = avals ?? of(given)
  if (results === undefined) return false
  const by = own.map((a) =>
    isFloat(a.dtype) ? Float64Array.from(a.data, () => (next() < 0.5 ? -1 : 1) * (0.5 + 0.5 * next())) : undefined,
  )
  const at = (h: number): readonly NDArray[] =>
    resultArrays(
      s.primitive,
      s.params,
      own.map((a, k) => (by[k] === undefined ? a : { ...a, data: a.data.map((x, i) => x + h * by[k]![i]!) as NDArray['data'] })),
      results,
    )
  const [mid, right, left] = [at(0), at(STEP), at(-STEP)]
  return mid.every((y, k) =>
    y.data.every((v, i) => {
      const [r, l] = [right[k]!.data[i]!, left[k]!.data[i]!]
      return isFloat(y.dtype) ? Math.abs(r - 2 * v + l) <= BEND * Math.max(1, Math.abs(v)) : r === v && l === v
    }),
  )
}

/** An identity with a rule of its own: differences of its value say nothing of that. */
const holdsAlias = (primitive: AnyPrimitive, params: unknown): boolean =>
  primitive.alias === true ||
  programsOf(primitive, params).some((q) => linearize(q.outputs).nodes.some((n) => n.prim !== null && holdsAlias(n.prim, n.payload)))

/** Are all steps smooth at these values? */
export const isRegular = (p: RandomProgram, values: ReadonlyMap<number, NDArray>, next: () => number): boolean =>
  p.steps.every((s) => {
    if (holdsAlias(s.primitive, s.params)) return false
    try {
      return smooth(
        s,
        s.args.map((id) => values.get(id)!),
        next,
      )
    } catch (e) {
      if (isAdException(e)) return false
      throw e
    }
  })
