/** Smaller loops: fewer carries, rows and slices, fewer steps, fewer options; a loop or a branch whose body stands in its place. */
import { isFn, isRef, isRule, type Lambda, type Param, type RandomProgram, type Step, substitutedIn, type Template } from './program.js'

/** Steps with what is made of them: a program, or a function inside it. */
interface Scope {
  readonly steps: readonly Step[]
  readonly result: Template
}
const without = <X>(xs: readonly X[], i: number): readonly X[] => xs.filter((_, k) => k !== i)
const replaced = <X>(xs: readonly X[], i: number, by: X): readonly X[] => xs.map((x, k) => (k === i ? by : x))
/** The scope with every reading of some values replaced. */
const reading = ({ steps, result }: Scope, by: ReadonlyMap<number, Template>): Scope => substitutedIn(steps, result, by)
const refOf = (t: Template | undefined): number | undefined => (t !== undefined && isRef(t) ? t.ref : undefined)
const mapOf = (id: number | undefined, to: Template): ReadonlyMap<number, Template> => new Map(id === undefined ? [] : [[id, to]])

/** Where a loop keeps what it begins with, its function, its carry among parameters, results and outs. */
const PLACES = { scan: { init: 1, f: 0, param: 0 }, fori: { init: 2, f: 1, param: 1 }, whileLoop: { init: 2, f: 1, param: 0 } } as const
type LoopName = keyof typeof PLACES
const isLoop = (op: string): op is LoopName => op in PLACES
const fnAt = (s: Step, i: number): Lambda => (s.args[i] as { readonly fn: Lambda }).fn
const withFn = (args: readonly Template[], i: number, fn: Lambda): readonly Template[] => replaced(args, i, { fn } as Template)
/** The carry of a list of results, and the results with another one. */
const carryOf = (op: LoopName, t: Template): Template => (op === 'scan' ? (t as readonly Template[])[0]! : t)
const withCarry = (op: LoopName, t: Template, carry: Template): Template =>
  op === 'scan' ? replaced(t as readonly Template[], 0, carry) : carry
const lastOf = (op: LoopName, outs: Template): Template => (op === 'fori' ? outs : (outs as readonly Template[])[0]!)
const withLast = (op: LoopName, outs: Template, last: Template): Template =>
  op === 'fori' ? last : replaced(outs as readonly Template[], 0, last)

/** A function without one of its parameters' values, which becomes something else inside. */
const withoutParam = (l: Lambda, param: number, i: number, to: Template, result: (t: Template) => Template): Lambda => {
  const list = l.params[param] as readonly Param[]
  const { steps, result: made } = reading({ steps: l.steps, result: result(l.result) }, mapOf(list[i] as number, to))
  return { params: replaced(l.params, param, without(list, i)), steps, result: made }
}
function* fewerCarries(scope: Scope, at: number): Generator<Scope> {
  const s = scope.steps[at]!
  if (!isLoop(s.op)) return
  const { op } = s
  const { init, f, param } = PLACES[op]
  const params = fnAt(s, f).params[param] as Param
  if (typeof params === 'number' || params.length < 2) return
  const inits = s.args[init] as readonly Template[]
  const last = lastOf(op, s.outs) as readonly Template[]
  for (let i = params.length - 1; i >= 0; i--) {
    const others = without(params as readonly number[], i).map((ref): Template => ({ ref }))
    const instead: readonly Template[] = [...others.slice(0, 3), inits[i]!]
    const outside: readonly Template[] = [inits[i]!, ...without(last, i).slice(0, 2)]
    for (const inner of instead)
      for (const outer of outside) {
        let args = replaced(s.args, init, without(inits, i))
        args = withFn(
          args,
          f,
          withoutParam(fnAt(s, f), param, i, inner, (t) => withCarry(op, t, without(carryOf(op, t) as readonly Template[], i))),
        )
        if (op === 'whileLoop')
          args = withFn(
            args,
            0,
            withoutParam(fnAt(s, 0), 0, i, inner, (t) => t),
          )
        const step: Step = { ...s, args, outs: withLast(op, s.outs, without(last, i)) }
        yield reading({ ...scope, steps: replaced(scope.steps, at, step) }, mapOf(refOf(last[i]), outer))
      }
  }
}
/** Carries that stand still, or are handed another one or a number, in place of what was made for them. */
function* plainerCarries(scope: Scope, at: number): Generator<Scope> {
  const s = scope.steps[at]!
  if (!isLoop(s.op)) return
  const { op } = s
  const { f, param } = PLACES[op]
  const body = fnAt(s, f)
  const params = body.params[param] as Param
  const list = typeof params === 'number' ? [params] : (params as readonly number[])
  const carry = carryOf(op, body.result)
  const next = typeof params === 'number' ? [carry] : (carry as readonly Template[])
  for (const [i, t] of next.entries())
    for (const p of list) {
      if (refOf(t) === p || (refOf(t) !== undefined && list.includes(refOf(t)!))) continue
      const made = replaced(next, i, { ref: p })
      const result = withCarry(op, body.result, typeof params === 'number' ? made[0]! : made)
      yield { ...scope, steps: replaced(scope.steps, at, { ...s, args: withFn(s.args, f, { ...body, result }) }) }
    }
}
/** Without a row, or without an array of slices. */
function* fewerRows(scope: Scope, at: number): Generator<Scope> {
  const s = scope.steps[at]!
  if (s.op !== 'scan') return
  const body = fnAt(s, 0)
  const [next, rows] = body.result as readonly Template[]
  const [last, stacked] = s.outs as readonly Template[]
  const given = (row: Template, outs: Template, of: Template, to: readonly Template[]): Generator<Scope> =>
    (function* () {
      const step = { ...s, args: withFn(s.args, 0, { ...body, result: [next!, row] }), outs: [last!, outs] }
      for (const t of to) yield reading({ ...scope, steps: replaced(scope.steps, at, step) }, mapOf(refOf(of), t))
    })()
  if (Array.isArray(rows) && Array.isArray(stacked))
    for (let j = rows.length - 1; j >= 0; j--) {
      const [r, o] = [without(rows as readonly Template[], j), without(stacked as readonly Template[], j)]
      const empty = r.length === 0
      yield* given(empty ? null : r, empty ? null : o, (stacked as readonly Template[])[j]!, [...o.slice(0, 2), 1])
    }
  else if (rows !== null && rows !== undefined) yield* given(null, null, stacked!, [1])
  const xs = s.args[2]
  const params = body.params[1]
  if (xs === null || xs === undefined) return
  if (Array.isArray(xs) && xs.length > 1 && Array.isArray(params))
    for (let j = xs.length - 1; j >= 0; j--)
      for (const to of [{ ref: (without(params as readonly number[], j) as readonly number[])[0]! }, 1]) {
        const fn = withoutParam(body, 1, j, to, (t) => t)
        yield {
          ...scope,
          steps: replaced(scope.steps, at, { ...s, args: replaced(withFn(s.args, 0, fn), 2, without(xs as readonly Template[], j)) }),
        }
      }
  else if (typeof params === 'number')
    for (const n of [1, 2, 3]) {
      const { steps, result } = reading(body, mapOf(params, 1))
      const options = { ...((s.args[3] ?? {}) as object), length: n } as Template
      const args = [{ fn: { params: [body.params[0]!], steps, result } } as Template, s.args[1]!, null, options]
      yield { ...scope, steps: replaced(scope.steps, at, { ...s, args }) }
    }
}
/** Fewer options, and smaller numbers in them and in the count. */
function* fewerOptions(scope: Scope, at: number): Generator<Scope> {
  const s = scope.steps[at]!
  const put = (i: number, t: Template): Scope => ({
    ...scope,
    steps: replaced(scope.steps, at, { ...s, args: t === undefined ? without(s.args, i) : replaced(s.args, i, t) }),
  })
  for (const [i, a] of s.args.entries()) {
    if (typeof a === 'number' && Number.isInteger(a)) for (let n = 0; n < Math.min(a, 4); n++) yield put(i, n)
    if (typeof a !== 'object' || a === null || Array.isArray(a) || isRef(a) || isFn(a) || isRule(a)) continue
    const options = a as { readonly [key: string]: Template }
    for (const [key, v] of Object.entries(options)) {
      const rest = Object.fromEntries(Object.entries(options).filter(([k]) => k !== key))
      yield put(i, Object.keys(rest).length === 0 ? undefined : rest)
      if (typeof v === 'number' && Number.isInteger(v)) for (let n = 0; n < Math.min(v, 4); n++) yield put(i, { ...options, [key]: n })
    }
  }
}
/** Pairs of a tree of results and what is put in their place. */
const matched = (outs: Template, made: Template, into: Map<number, Template> = new Map()): ReadonlyMap<number, Template> => {
  if (outs === null || outs === undefined || typeof outs !== 'object') return into
  if (isRef(outs)) into.set(outs.ref, made)
  else if (Array.isArray(outs) && Array.isArray(made)) outs.forEach((o, i) => void matched(o as Template, made[i] as Template, into))
  return into
}
/** The body of a step's function in place of the step: one step of a loop, a branch, what is checkpointed. */
function* inlined(scope: Scope, at: number): Generator<Scope> {
  const s = scope.steps[at]!
  const inline = (l: Lambda, args: readonly Template[], outs: Template, result = (t: Template): Template => t): Scope => {
    const given = new Map<number, Template>()
    l.params.forEach(
      (p, i) => void matched(typeof p === 'number' ? { ref: p } : (p as readonly number[]).map((ref) => ({ ref })), args[i] ?? 1, given),
    )
    const body = reading(l, given)
    const steps = [...scope.steps.slice(0, at), ...body.steps, ...scope.steps.slice(at + 1)]
    return reading({ steps, result: scope.result }, matched(outs, result(body.result)))
  }
  if (s.op === 'checkpoint') yield inline(fnAt(s, 0), s.applied!, s.outs)
  if (s.op === 'cond') for (const i of [1, 2]) yield inline(fnAt(s, i), s.args.slice(3), s.outs)
  if (s.op === 'switchCase') for (const b of s.args[1] as readonly { readonly fn: Lambda }[]) yield inline(b.fn, s.args.slice(2), s.outs)
  if (s.op === 'fori') yield inline(fnAt(s, 1), [0, s.args[2]!], s.outs)
  if (s.op === 'scan' && s.args[2] === null)
    yield inline(fnAt(s, 0), [s.args[1]!], (s.outs as readonly Template[])[0]!, (t) => (t as readonly Template[])[0]!)
}

const SMALLER = [inlined, fewerCarries, fewerRows, plainerCarries, fewerOptions] as const
/** Smaller scopes: of its own steps, then of the functions inside them. */
function* within(scope: Scope): Generator<Scope> {
  for (const smaller of SMALLER) for (let i = scope.steps.length - 1; i >= 0; i--) yield* smaller(scope, i)
  for (const [i, s] of scope.steps.entries())
    for (const [k, a] of s.args.entries())
      for (const t of inTemplate(a)) yield { ...scope, steps: replaced(scope.steps, i, { ...s, args: replaced(s.args, k, t) }) }
}
function* inTemplate(t: Template): Generator<Template> {
  if (typeof t !== 'object' || t === null || isRef(t)) return
  if (isFn(t)) for (const l of within(t.fn)) yield { fn: { ...t.fn, ...l } }
  else if (Array.isArray(t))
    for (const [i, x] of t.entries()) for (const y of inTemplate(x as Template)) yield replaced(t as readonly Template[], i, y)
}
/** Programs with smaller loops. */
export function* smallerLoops(p: RandomProgram): Generator<RandomProgram> {
  for (const { steps, result } of within({ steps: p.steps, result: p.outputs }))
    yield { ...p, steps, outputs: result as readonly Template[] }
}
