/** Points beside the one that is given: whole numbers, zeros, far away, the other sign, and f32. A derivative that is right at one point alone is found there. */

import type { Registry } from '../core/calculus/rule.js'
import { isAdException } from '../core/errors/error.js'
import { type Aval, aval, isFloat } from '../core/graph/aval.js'
import { linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { type CustomParams, customPrimitive } from '../core/ops/custom.js'
import { coreRegistry } from '../packs/all.js'
import { applies } from './applied.js'
import type { Range } from './declared.js'
import { checkTangentKinds, withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { isEndless } from './kinks.js'
import { inF32 } from './lifted.js'
import { checkFirstOrder, checkFloat32, hasF32, known } from './program.js'
import { bind, type Derived, dense, derive, evaluate, liftedSubject, pointOf, type Subject } from './subject.js'

/** A kind of point, and the ways to it: the first at which the function has a value is taken. */
interface Kind {
  readonly name: string
  readonly ways: readonly (readonly NDArray[])[]
}
type Entry = (x: number, index: number) => number

const mapped = (a: NDArray, f: Entry): NDArray => ({ ...a, data: a.data.map(f as never) as never })
const same = (a: readonly NDArray[], b: readonly NDArray[]): boolean =>
  a.every((v, i) => v === b[i] || v.data.every((x: number, k: number) => x === b[i]!.data[k]))
const topOf = (a: NDArray): number => Array.from(a.data).reduce((top, x) => (Number.isFinite(x) ? Math.max(top, Math.abs(x)) : top), 1)

/** The points beside one; `ranges`: where arguments may lie. */
const kindsOf = (s: Subject, ranges: readonly (Range | undefined)[], next: () => number): readonly Kind[] => {
  const at = (f: (a: NDArray, i: number) => Entry, only = (_: number): boolean => true): readonly NDArray[] =>
    s.values.map((a, i) => (s.active.includes(i) && only(i) ? mapped(a, f(a, i)) : a))
  const far = (size: number, signs: boolean) =>
    at((a, i) => {
      const [low, high] = ranges[i] ?? []
      if (low !== undefined && high !== undefined)
        return () => (next() < 0.5 ? low + 0.02 * (high - low) * next() : high - 0.02 * (high - low) * next())
      const top = topOf(a)
      return () => (signs && next() < 0.5 ? -1 : 1) * size * top * (1 + 9 * next())
    })
  const zero = () => (): number => 0
  const each = s.active.length > 1 ? s.active.slice(0, 4).map((k) => at(zero, (i) => i === k)) : []
  const some = (parity: number) => at((a) => (x, k) => (a.data.length > 1 && k % 2 === parity ? 0 : x))
  return [
    {
      name: 'whole numbers',
      ways: [at(() => Math.round), at(() => (x) => Math.round(x) || 1), at(() => (x) => Math.ceil(Math.abs(x)) || 1)],
    },
    { name: 'zeros', ways: [at(zero), ...each] },
    { name: 'zeros among the entries', ways: [some(0), some(1)] },
    { name: 'the other sign', ways: [at(() => (x) => -x)] },
    { name: 'far away', ways: [far(10, true), far(10, false), far(3, true), far(3, false)] },
  ]
}
/** Does the function have a value there: one that is finite? */
const hasValue = (ys: readonly Node[], s: Subject): boolean => {
  try {
    return evaluate(ys, new Map([...bind(s.inputs, s.values), ...s.captured])).every(
      (y) => !isFloat(y.dtype) || y.data.every(Number.isFinite),
    )
  } catch (e) {
    if (isAdException(e)) return false
    throw e
  }
}
const inside = (values: readonly NDArray[], ranges: readonly (Range | undefined)[]): boolean =>
  values.every((a, i) => ranges[i] === undefined || a.data.every((x: number) => x >= ranges[i]![0] && x <= ranges[i]![1]))

/** A loop that nothing but its condition ends may never end elsewhere. */
const mayNotEnd = (nodes: readonly Node[]): boolean => applies(nodes, isEndless)
/** Are all of its rules codual's? What these give at a point without a derivative is documented: NaN there is no mistake of the author's. */
const isShipped = (registry: Registry, nodes: readonly Node[]): boolean =>
  !applies(
    nodes,
    (prim, params) =>
      (prim === (customPrimitive as unknown as AnyPrimitive) && (params as CustomParams).distribution === undefined) ||
      registry.ruleOf(prim) !== coreRegistry.ruleOf(prim),
  )

/** Numbers that a Jacobian beside the given point may compute at each step. */
const WORK = 1e5

/** Is a derivative NaN at the point? */
const hasNaN = (s: Subject): boolean => {
  const d = known(s, () => {})
  const filled = (nodes: readonly Node[]): NDArray[] =>
    nodes.map((n) => ({ shape: n.shape, dtype: n.dtype, data: new Float64Array(n.aval.size).fill(1) }))
  const env = withAll(withAll(d.env, d.tangents, filled(d.tangents)), d.seeds, filled(d.seeds))
  const programs = [...(d.dys ? dense(d.dys, d.outs) : []), ...(d.xBars ? dense(d.xBars, d.wrt) : [])]
  return evaluate(programs, env).some((v) => v.data.some(Number.isNaN))
}

/** Of rules that are all codual's: at values that coincide, eigenvalues say, a function may be smooth whose parts are not. */
const CONVENTION = 'the rules of codual follow their conventions where values coincide'
const ROUNDED = 'arguments and literals are rounded to f32'
/** First derivatives at points beside the given one. Where the function has no value nothing is held: that is counted. */
export const checkBeside = (given: Subject, ranges: readonly (Range | undefined)[], next: () => number, out: Collector): void => {
  const { counts, place, point, prefix } = out
  if (mayNotEnd(given.ys)) {
    out.looking.without('points beside the given one: a loop that only its condition ends may not end there')
    return
  }
  const entries = given.active.reduce((n, i) => n + given.values[i]!.data.length, 0)
  const cost = entries * linearize(given.ys).nodes.reduce((n, x) => n + x.aval.size, 0)
  if (cost > WORK) out.looking.without('single entries of the Jacobian beside the given point: one direction was looked along')
  const shipped = isShipped(given.registry, given.ys)
  const lifted = hasF32(given.ys)
  for (const { name, ways } of kindsOf(given, ranges, next)) {
    const inRange = ways.filter((values) => inside(values, ranges) && !same(values, given.values))
    if (inRange.length === 0) continue
    const values = inRange.find((w) => hasValue(given.ys, { ...given, values: w }))
    if (values === undefined) {
      out.looking.passOver(`${name}: no value there`)
      continue
    }
    const s = { ...given, values, chosen: true }
    if (shipped && hasNaN(lifted ? liftedSubject(s) : s)) {
      out.looking.passOver(`${name}: the rules give NaN there`)
      continue
    }
    out.counts = false
    out.place = name
    out.prefix = [prefix, `at ${name}`].filter((x) => x !== '').join(', ')
    out.point = () => pointOf(s, bind(s.inputs, s.values))
    try {
      out.under('beside', shipped ? CONVENTION : undefined, () => checkFirstOrder(s, 1, next, out, false, { entries: cost <= WORK }))
    } finally {
      Object.assign(out, { counts, place, point, prefix })
    }
    if (out.findings.length > 0) return
  }
}

/** The same function traced in f32, of arguments rounded to it: its derivatives are those of its f64 form. `trace` raises where the function takes no f32. */
export const checkInF32 = (
  given: Subject,
  trace: (avals: readonly Aval[]) => { readonly inputs: readonly Node[]; readonly outputs: readonly Node[] },
  next: () => number,
  out: Collector,
): void => {
  if (!given.active.some((i) => given.values[i]!.dtype === 'f64')) return
  let s: Subject
  try {
    const { inputs, outputs } = trace(given.values.map((v) => aval(v.shape, v.dtype === 'f64' ? 'f32' : v.dtype)))
    s = { ...given, chosen: true, inputs, ys: outputs, values: given.values.map(inF32), draw: () => given.draw().map(inF32) }
  } catch (e) {
    if (!isAdException(e)) throw e
    out.looking.without(`f32: ${e.error._tag} where the function is traced in it`)
    return
  }
  const { counts, place, point, prefix } = out
  out.counts = false
  out.place = 'in f32'
  out.prefix = [prefix, 'in f32'].filter((x) => x !== '').join(', ')
  out.point = () => pointOf(s, bind(s.inputs, s.values))
  try {
    const own: Derived = known(s, () => {})
    if (!hasF32(own.ys) || own.outs.length === 0 || own.wrt.length === 0 || !hasValue(s.ys, s)) return
    out.looking.at(out.of, 'in f32', s)
    out.under('beside', isShipped(s.registry, s.ys) ? ROUNDED : undefined, () => {
      // Its f64 form has the rules that it has in f32.
      checkFirstOrder(s, 1, next, out, false, { entries: false })
      // Rules of codual are held in f32 by themselves: what is badly conditioned says nothing of them.
      if (checkTangentKinds(own, out) && !isShipped(s.registry, s.ys))
        checkFloat32(own, derive({ ...liftedSubject(s), active: own.active, modes: own.modes }), next, out)
    })
  } finally {
    Object.assign(out, { counts, place, point, prefix })
  }
}
