/**
 * Smaller programs that fail in the same way, by trying: fewer results, fewer steps (a result replaced by an earlier value of its type, or by
 * an input or a literal), fewer inputs, smaller shapes, shorter functions. Greedy; as long as something gets smaller it goes on.
 */
import { isAdException } from '../../../src/index.js'
import {
  type Input,
  isFn,
  isRef,
  isRule,
  type Lambda,
  mapTemplate,
  numbersOf,
  type RandomProgram,
  refsOf,
  type Step,
  substitutedIn,
  type Template,
} from './program.js'
import { smallerLoops } from './shrink-loops.js'

/** Does the program fail in the way looked for? Programs that the library refuses do not. */
export type Fails = (p: RandomProgram) => boolean | Promise<boolean>

const substituted = (steps: readonly Step[], from: number, to: Template): readonly Step[] =>
  substitutedIn(steps, null, new Map([[from, to]])).steps
const outsOf = (s: Step): readonly number[] => refsOf(s.outs)
const usedBy = (steps: readonly Step[], results: readonly Template[]): Set<number> => {
  const used: number[] = []
  for (const s of steps) for (const a of [...s.args, ...(s.applied ?? [])]) refsOf(a, used)
  for (const r of results) refsOf(r, used)
  return new Set(used)
}
/** Without steps that nothing reads, inside functions too. */
const sweptSteps = (given: readonly Step[], results: readonly Template[]): readonly Step[] => {
  const inside = (l: Lambda): Lambda => ({ ...l, steps: sweptSteps(l.steps, [l.result]) })
  const within = (t: Template): Template => mapTemplate(t, (r) => r, inside)
  let steps = given
  for (;;) {
    const used = usedBy(steps, results)
    const kept = steps.filter((s) => outsOf(s).some((id) => used.has(id)))
    if (kept.length === steps.length) break
    steps = kept
  }
  return steps.map((s) => ({ ...s, args: s.args.map(within), ...(s.applied !== undefined && { applied: s.applied.map(within) }) }))
}
/** Without steps and inputs that nothing reads. */
export const swept = (p: RandomProgram): RandomProgram => {
  const steps = sweptSteps(p.steps, p.outputs)
  const used = usedBy(steps, p.outputs)
  return { ...p, steps, inputs: p.inputs.filter((x) => used.has(x.id)) }
}

function* fewerOutputs(p: RandomProgram): Generator<RandomProgram> {
  if (p.outputs.length > 1) {
    for (const o of p.outputs) yield { ...p, outputs: [o] }
    for (let i = 0; i < p.outputs.length; i++) yield { ...p, outputs: p.outputs.filter((_, k) => k !== i) }
  }
  // An earlier value as the result: the tail of the program goes.
  const last = p.outputs[0]
  if (p.outputs.length === 1 && last !== undefined && isRef(last)) {
    const at = p.steps.findIndex((s) => outsOf(s).includes(last.ref))
    for (let i = 0; i < at; i++) for (const id of outsOf(p.steps[i]!)) yield { ...p, outputs: [{ ref: id }] }
  }
}
/** Blocks of steps whose results become what they were made of. */
function* fewerSteps(p: RandomProgram): Generator<RandomProgram> {
  const n = p.steps.length
  for (let width = n >> 1; width >= 2; width >>= 1)
    for (let start = 0; start + width <= n; start += width) {
      let q: RandomProgram = p
      for (let i = start; i < start + width; i++) {
        const s = p.steps[i]!
        const first = refsOf(s.args as Template)[0]
        if (first === undefined) continue
        const again = q.steps.find((x) => x.outs === s.outs)
        const source = again === undefined ? first : (refsOf(again.args as Template)[0] ?? first)
        for (const id of outsOf(s))
          q = {
            ...q,
            steps: substituted(q.steps, id, { ref: source }),
            outputs: q.outputs.map((o) => mapTemplate(o, (r) => (r.ref === id ? { ref: source } : r))),
          }
      }
      yield q
    }
  for (let i = n - 1; i >= 0; i--) {
    const s = p.steps[i]!
    const ids = outsOf(s)
    const candidates: Template[] = [...new Set(refsOf(s.args as Template))].map((r) => ({ ref: r }))
    for (const x of p.inputs) candidates.push({ ref: x.id })
    candidates.push(1)
    for (const c of candidates)
      yield {
        ...p,
        steps: ids.reduce((steps, id) => substituted(steps, id, c), p.steps),
        outputs: p.outputs.map((o) => mapTemplate(o, (r) => (ids.includes(r.ref) ? c : r))),
      }
  }
}
/** Steps inside functions. */
function* shorterFunctions(p: RandomProgram): Generator<RandomProgram> {
  function* inLambda(l: Lambda): Generator<Lambda> {
    const used = usedBy(l.steps, [l.result])
    const kept = l.steps.filter((s) => outsOf(s).some((id) => used.has(id)))
    if (kept.length < l.steps.length) yield { ...l, steps: kept }
    if (isRef(l.result) || Array.isArray(l.result))
      for (let i = l.steps.length - 1; i >= 0; i--) {
        const s = l.steps[i]!
        for (const c of [...new Set([...refsOf(s.args as Template), ...numbersOf(l.params)])]) {
          const ids = outsOf(s)
          const steps = ids.reduce((xs, id) => substituted(xs, id, { ref: c }), l.steps)
          yield {
            ...l,
            steps: steps.filter((_, k) => k !== i),
            result: mapTemplate(l.result, (r) => (ids.includes(r.ref) ? { ref: c } : r)),
          }
        }
      }
    for (let i = 0; i < l.steps.length; i++)
      for (const s of inStep(l.steps[i]!)) yield { ...l, steps: l.steps.map((x, k) => (k === i ? s : x)) }
  }
  function* inTemplate(t: Template): Generator<Template> {
    if (typeof t !== 'object' || t === null || isRef(t)) return
    if (isFn(t)) for (const l of inLambda(t.fn)) yield { fn: l }
    else if (isRule(t)) for (const l of inLambda(t.of)) yield { rule: t.rule, of: l }
    else if (Array.isArray(t)) for (let i = 0; i < t.length; i++) for (const x of inTemplate(t[i])) yield t.map((y, k) => (k === i ? x : y))
  }
  function* inStep(s: Step): Generator<Step> {
    for (let i = 0; i < s.args.length; i++)
      for (const x of inTemplate(s.args[i])) yield { ...s, args: s.args.map((y, k) => (k === i ? x : y)) }
  }
  for (let i = 0; i < p.steps.length; i++)
    for (const s of inStep(p.steps[i]!)) yield { ...p, steps: p.steps.map((x, k) => (k === i ? s : x)) }
}
/** One input for another of its type; arguments that are captured become plain. */
function* fewerInputs(p: RandomProgram): Generator<RandomProgram> {
  for (const x of p.inputs)
    for (const y of p.inputs)
      if (x.id > y.id && x.dtype === y.dtype && x.shape.join() === y.shape.join())
        yield {
          ...p,
          steps: substituted(p.steps, x.id, { ref: y.id }),
          outputs: p.outputs.map((o) => mapTemplate(o, (r) => (r.ref === x.id ? { ref: y.id } : r))),
        }
  for (const x of p.inputs)
    if (x.captured === true) {
      const { captured: _, ...plain } = x
      yield { ...p, inputs: p.inputs.map((y) => (y === x ? plain : y)) }
    }
}
const resized = (x: Input, shape: readonly number[]): Input => {
  const size = shape.reduce((a, b) => a * b, 1)
  return {
    ...x,
    shape,
    values: Array.from({ length: size }, (_, i) =>
      x.values.length === 0 ? 0 : x.values[i % x.values.length]! + (x.dtype === 'f64' ? Math.floor(i / x.values.length) * 0.01 : 0),
    ),
  }
}
/** Every axis of length n, of every input and in every list of numbers, becomes m. */
function* smallerShapes(p: RandomProgram): Generator<RandomProgram> {
  const lengths = [...new Set(p.inputs.flatMap((x) => x.shape))].filter((n) => n > 1).sort((a, b) => b - a)
  for (const n of lengths)
    for (const m of [1, 2, 3]) {
      if (m >= n) continue
      const list = (t: Template): Template => {
        if (typeof t !== 'object' || t === null || isRef(t)) return t
        if (isFn(t)) return { fn: { ...t.fn, steps: t.fn.steps.map(step) } }
        if (isRule(t)) return { rule: t.rule, of: { ...t.of, steps: t.of.steps.map(step) } }
        if (Array.isArray(t)) return t.map((x) => (x === n ? m : list(x as Template)))
        return Object.fromEntries(Object.entries(t).map(([k, x]) => [k, list(x as Template)]))
      }
      const step = (s: Step): Step => ({ ...s, args: s.args.map(list), ...(s.applied !== undefined && { applied: s.applied.map(list) }) })
      const inputs = p.inputs.map((x) =>
        x.shape.includes(n)
          ? resized(
              x,
              x.shape.map((k) => (k === n ? m : k)),
            )
          : x,
      )
      yield { ...p, inputs, steps: p.steps.map(step) }
      yield { ...p, inputs }
    }
  for (const x of p.inputs)
    for (let axis = 0; axis < x.shape.length; axis++) {
      const dropped = resized(
        x,
        x.shape.filter((_, i) => i !== axis),
      )
      yield { ...p, inputs: p.inputs.map((y) => (y === x ? dropped : y)) }
      if (x.shape[axis]! > 1)
        yield {
          ...p,
          inputs: p.inputs.map((y) =>
            y === x
              ? resized(
                  x,
                  x.shape.map((k, i) => (i === axis ? 1 : k)),
                )
              : y,
          ),
        }
    }
  for (const x of p.inputs) {
    const round = { ...x, values: x.values.map((v) => (x.dtype === 'i32' || x.dtype === 'bool' ? v : Math.round(v * 10) / 10)) }
    if (round.values.some((v, i) => v !== x.values[i])) yield { ...p, inputs: p.inputs.map((y) => (y === x ? round : y)) }
  }
}

/** The smallest program found that still fails, within so many milliseconds. */
export const shrink = async (given: RandomProgram, fails: Fails, ms = 20_000): Promise<RandomProgram> => {
  const end = performance.now() + ms
  const holds = async (p: RandomProgram): Promise<boolean> => {
    try {
      return await fails(p)
    } catch (e) {
      // A program that cannot be built is not the one looked for.
      if (isAdException(e) || e instanceof Error) return false
      throw e
    }
  }
  let best = swept(given)
  if (!(await holds(best))) return given
  for (let again = true; again; ) {
    again = false
    for (const smaller of [fewerOutputs, fewerSteps, smallerLoops, shorterFunctions, fewerInputs, smallerShapes])
      for (;;) {
        let found = false
        for (const c of smaller(best)) {
          if (performance.now() > end) return best
          const q = swept(c)
          if (q.outputs.length > 0 && sizeOf(q) < sizeOf(best) && (await holds(q))) {
            best = q
            found = again = true
            break
          }
        }
        if (!found) break
      }
  }
  return best
}
/** What shrinking makes less of. */
export const sizeOf = (p: RandomProgram): number =>
  1000 * JSON.stringify(p.steps).length +
  200 * p.outputs.length +
  p.inputs.reduce((n, x) => n + 20 + 10 * x.shape.length + x.values.length + (x.captured === true ? 1 : 0), 0) +
  JSON.stringify(p.inputs).length / 10
