/** How far results of the device are from the reference: in the units of the table of promises. */
import { reference } from '../../../src/backends/reference/index.js'
import { isFloat } from '../../../src/core/graph/aval.js'
import type { TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Case } from './suite-cases.js'
import { EPS, type Promised } from './suite-tolerances.js'

const oracle = reference()
/** What the reference gives for a case. */
export const expected = (c: Case): readonly TypedArray[] => oracle.prepare(c.program).run(c.inputs) as readonly TypedArray[]

/** NaN meets NaN, and infinities themselves; undefined where the two are finite and differ. */
const settled = (got: number, want: number): boolean | undefined =>
  Object.is(got, want) ? true : !Number.isFinite(got) || !Number.isFinite(want) ? false : undefined
/** Absolute error; infinite where NaN or an infinity meets anything else. */
const errorOf = (got: number, want: number): number => {
  const known = settled(got, want)
  return known === undefined ? Math.abs(got - want) : known ? 0 : Number.POSITIVE_INFINITY
}

/** Error in units in the last place of f32 against an unrounded number; below the normal range the unit is that of its edge. */
export const ulpsOff = (got: number, want: number): number => {
  const to = Math.fround(want)
  const known = settled(got, to)
  if (known !== undefined) return known ? 0 : Number.POSITIVE_INFINITY
  if (got === 0 && to === 0) return want === 0 ? Number.POSITIVE_INFINITY : 0
  return Math.abs(got - want) / 2 ** (Math.max(Math.floor(Math.log2(Math.abs(to))), -126) - 23)
}

/** Entries that break the promise, one line each, and the largest errors: ulps or parts of what is allowed, and eps. */
export interface Verdict {
  readonly failures: readonly string[]
  readonly worst: { readonly forward: number; readonly gradient: number }
}

/**
 * Holds the outputs of a case, as the device gave them, against the meaning. `make` gives the case in f64 where `wide`, and with the float
 * arguments' elements replaced by `fill`.
 */
export const judge = (
  make: (wide: boolean, fill?: (x: number) => number) => Case,
  got: readonly TypedArray[],
  { forward, gradient }: Promised,
): Verdict => {
  const { outputs } = make(false).program
  const wide = make(true)
  const want = expected(wide)
  const failures: string[] = []
  const worst = { forward: 0, gradient: 0 }
  const fail = (k: number, i: number, how: string): void => {
    const part = k < wide.results ? `result ${k}` : `cotangent ${k - wide.results}`
    if (failures.length < 4) failures.push(`${part}, entry ${i}: ${got[k]![i]}, the meaning says ${want[k]![i]} (${how})`)
  }
  const sized = forward.in === 'terms' && outputs.some((o) => isFloat(o.dtype))
  const ones = sized ? expected(make(true, () => 1)) : undefined
  const sizes = sized ? expected(make(true, Math.abs)) : undefined
  want.forEach((w, k) => {
    const g = got[k]
    const { dtype: to } = outputs[k]!
    if (g === undefined || g.length !== w.length) {
      failures.push(`output ${k}: length ${g?.length}, not ${w.length}`)
      return
    }
    let top = 1
    for (const x of w) if (Math.abs(x) > top && Number.isFinite(x)) top = Math.abs(x)
    for (let i = 0; i < w.length; i++) {
      const [a, b] = [g[i]!, w[i]!]
      if (!isFloat(to)) {
        if (a !== b) fail(k, i, 'exact')
        continue
      }
      if (k >= wide.results || forward.in === 'array') {
        const off = errorOf(a, b) / (EPS * top)
        const given = k < wide.results && forward.in === 'array' ? forward : gradient
        const as = given === gradient ? 'gradient' : 'forward'
        worst[as] = Math.max(worst[as], as === 'gradient' ? off : off / given.eps)
        if (!(off <= given.eps)) fail(k, i, `${off.toFixed(2)} eps of ${top}; ${given.eps} allowed: ${given.why}`)
      } else if (forward.in === 'ulps') {
        const off = ulpsOff(a, b)
        worst.forward = Math.max(worst.forward, off)
        const slack = forward.slack?.(...wide.inputs.map((x) => x[x.length === w.length ? i : 0]!)) ?? 0
        if (!(off <= forward.ulps || Math.abs(a - b) <= slack)) fail(k, i, `${off.toFixed(2)} ulp; ${forward.ulps} allowed: ${forward.why}`)
      } else {
        const allowed =
          forward.in === 'factors' ? wide.longest * Math.abs(b) : (forward.per * Math.abs(ones![k]![i]!) + forward.more) * sizes![k]![i]!
        const off = errorOf(a, b) / EPS
        worst.forward = Math.max(worst.forward, allowed === 0 ? 0 : off / allowed)
        if (!(off <= allowed)) fail(k, i, `${off.toFixed(2)} eps; ${allowed.toFixed(2)} allowed: ${forward.why}`)
      }
    }
  })
  return { failures, worst }
}
