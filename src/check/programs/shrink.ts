/** Smaller programs that fail in the same way, by trying: one step alone, fewer results, steps that become inputs of their values, simpler values. */

import { greatestOf } from '../../core/errors/extremes.js'
import { aval, isFloat } from '../../core/graph/aval.js'
import { programsOf } from '../../core/graph/expand.js'
import { applyAny, asExpr, asNode, CONST, capturedTensor, linearize, type Node, OUTPUT, resultsOf } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import { sizeOf } from '../../core/graph/shape.js'
import { drawArray, random } from '../draw.js'
import { built, type Given, type RandomProgram, type Step, swept, valuesOf } from './program.js'

const asInput = (id: number, value: NDArray): Given => ({
  id,
  kind: 'input',
  value,
  active: isFloat(value.dtype),
  examples: isFloat(value.dtype) ? 'near' : 'same',
})
const isGuard = (p: RandomProgram, s: Step): boolean =>
  s.guard !== undefined || p.steps.some((g) => g.guard !== undefined && (s.outs.includes(g.guard.condition) || s.args.includes(g.outs[0]!)))

/** A step and nothing else: its arguments are inputs of the values that they have. */
export const alone = (p: RandomProgram, step: Step, values: ReadonlyMap<number, NDArray>): RandomProgram => {
  const of = new Map(p.given.map((g) => [g.id, g]))
  const given = [...new Set(step.args)].map((id) => of.get(id) ?? asInput(id, values.get(id)!))
  const { guard: _, ...plain } = step
  return { given, steps: [plain], outputs: step.outs }
}

/** Results of a step as inputs of their values. */
const cut = (p: RandomProgram, step: Step, values: ReadonlyMap<number, NDArray>): RandomProgram => ({
  ...p,
  steps: p.steps.filter((s) => s !== step),
  given: [...p.given, ...step.outs.map((id) => asInput(id, values.get(id)!))],
})

/** A step that holds programs as what they are: their own steps in its place. */
export const unwrapped = (p: RandomProgram, step: Step): RandomProgram | undefined => {
  const { expand } = step.primitive
  if (expand === undefined || programsOf(step.primitive, step.params).length === 0) return undefined
  const { at } = built({ ...p, outputs: [] })
  const args = step.args.map((id) => at.get(id)!)
  const ys = [expand(args.map(asExpr), step.params)].flat().map(asNode)
  let last = greatestOf(at.keys())
  const ids = new Map<Node, number>()
  args.forEach((a, i) => {
    ids.set(a, step.args[i]!)
  })
  const steps: Step[] = []
  const given: Given[] = []
  for (const n of linearize(ys, (x) => ids.has(x)).nodes) {
    if (ids.has(n) || n.kind === OUTPUT) continue
    if (n.prim === null) {
      const tensor = capturedTensor(n)
      if (n.kind !== CONST && tensor === undefined) return undefined
      ids.set(n, ++last)
      const value: NDArray = tensor ?? { shape: [], dtype: n.dtype, data: literalOf(n) }
      given.push({ id: last, kind: tensor === undefined ? 'literal' : 'captured', value, active: false, examples: 'same' })
    } else {
      const outs = resultsOf(n).map((y) => {
        ids.set(y, ++last)
        return last
      })
      steps.push({ primitive: n.prim, params: n.payload, args: n.args.map((a) => ids.get(a)!), outs })
    }
  }
  const to = new Map(step.outs.map((id, i) => [id, ids.get(ys[i]!)!]))
  const now = (id: number): number => to.get(id) ?? id
  return {
    given: [...p.given, ...given],
    steps: p.steps.flatMap((s) => (s === step ? steps : [{ ...s, args: s.args.map(now) }])),
    outputs: p.outputs.map(now),
  }
}
const literalOf = (n: Node): NDArray['data'] => {
  const a = drawArray(aval([], n.dtype), () => 0)
  a.data[0] = n.payload as number
  return a.data
}

/** The one step at a smaller sample of its primitive, with few different numbers. */
function* smallerSamples(p: RandomProgram): Generator<RandomProgram> {
  const [step] = p.steps
  if (p.steps.length !== 1 || step === undefined || programsOf(step.primitive, step.params).length > 0) return
  const float = p.given.find((g) => isFloat(g.value.dtype))?.value.dtype ?? 'f64'
  const next = random(1)
  for (const sample of [...step.primitive.samples].sort((a, b) => total(a.args) - total(b.args))) {
    const given = sample.args.map((arg, id): Given => {
      const a = aval(arg.shape, arg.dtype ?? float)
      const value = drawArray(a, next, arg.domain)
      arg.values?.forEach((v, i) => {
        value.data[i] = v
      })
      return { ...asInput(id, value), examples: arg.values === undefined && isFloat(a.dtype) ? 'near' : 'same' }
    })
    try {
      const ys = applyAny(step.primitive, built({ given, steps: [], outputs: given.map((g) => g.id) }).ys, sample.params)
      const outs = ys.map((_, i) => given.length + i)
      yield { given, steps: [{ primitive: step.primitive, params: sample.params, args: given.map((g) => g.id), outs }], outputs: outs }
    } catch {
      // a sample that takes other dtypes
    }
  }
}
const total = (args: readonly { readonly shape: readonly number[] }[]): number => args.reduce((n, a) => n + sizeOf(a.shape), 0)

function* simplerValues(p: RandomProgram): Generator<RandomProgram> {
  const put = (g: Given, f: (x: number, i: number) => number): RandomProgram => {
    const data = g.value.data.map(f as (x: number) => number) as NDArray['data']
    return { ...p, given: p.given.map((x) => (x === g ? { ...g, value: { ...g.value, data } } : x)) }
  }
  for (const g of p.given) {
    if (g.kind !== 'input') yield { ...p, given: p.given.map((x) => (x === g ? asInput(g.id, g.value) : x)) }
    if (!isFloat(g.value.dtype)) continue
    yield put(g, () => g.value.data[0]!)
    for (const digits of [1, 10, 100]) yield put(g, (x) => Math.round(x * digits) / digits)
  }
}

function* candidates(p: RandomProgram): Generator<RandomProgram> {
  let values: ReadonlyMap<number, NDArray>
  try {
    values = valuesOf(p)
  } catch {
    return // a meaning that raises: the program stays as it is
  }
  if (p.steps.length > 1) for (const s of p.steps.toReversed()) if (!isGuard(p, s)) yield alone(p, s, values)
  if (p.outputs.length > 1) {
    for (const id of p.outputs) yield { ...p, outputs: [id] }
    for (let i = 0; i < p.outputs.length; i++) yield { ...p, outputs: p.outputs.filter((_, k) => k !== i) }
  }
  for (const s of p.steps.toReversed()) {
    const inner = unwrapped(p, s)
    if (inner !== undefined) yield inner
    if (!isGuard(p, s)) yield cut(p, s, values)
  }
  yield* smallerSamples(p)
  yield* simplerValues(p)
}

/** What shrinking makes less of: steps (those that hold programs count more than what these hold), then results, inputs, and digits. */
const weightOf = (p: RandomProgram): number => {
  const steps = p.steps.reduce((n, s) => n + 1e4 + (programsOf(s.primitive, s.params).length > 0 ? 3e5 : 0), 0)
  const given = p.given.reduce((n, g) => n + 30 + 20 * g.value.shape.length + (g.kind === 'input' ? 0 : 5) + digitsOf(g.value), 0)
  return steps + 300 * p.outputs.length + given
}
const digitsOf = ({ data }: NDArray): number =>
  Array.from(data).reduce((n, x, i) => n + 10 + (i > 0 && x === data[0] ? 0 : String(x).length), 0)

/** Asks of one smaller program after the other whether it fails; gives the smallest that did. At most `limit` are asked. */
export function* shrinking(
  given: RandomProgram,
  limit: number,
): Generator<RandomProgram, { readonly program: RandomProgram; readonly tried: number }, boolean> {
  let best = swept(given)
  let tried = 0
  for (let again = true; again; ) {
    again = false
    for (const c of candidates(best)) {
      const q = swept(c)
      if (q.outputs.length === 0 || q.steps.length === 0 || weightOf(q) >= weightOf(best)) continue
      if (tried++ >= limit) return { program: best, tried: limit }
      if (yield q) {
        best = q
        again = true
        break
      }
    }
  }
  return { program: best, tried }
}
