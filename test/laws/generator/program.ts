/**
 * Random programs as plain data: inputs, steps that name a public operation and its arguments, results. Data, so that a program can be
 * replayed, cut smaller and printed; `functionOf` gives its meaning by calling the library.
 */
import { allocate, type NDArray } from '../../../src/core/graph/ndarray.js'
import { sizeOf } from '../../../src/core/graph/shape.js'
import type { DType } from '../../../src/core/types/dtype.js'
import * as cd from '../../../src/index.js'

/** The library as generated programs see it: its public operations by name. */
export type Api = Readonly<Record<string, unknown>>
export const shipped: Api = cd as unknown as Api

/** The value that an input or a step gave this number. */
export interface Ref {
  readonly ref: number
}
/** A parameter: one value, or the list that it is taken apart into. */
export type Param = number | readonly Param[]
/** A function inside a program. Its steps may refer to values outside of it. */
export interface Lambda {
  readonly params: readonly Param[]
  readonly steps: readonly Step[]
  readonly result: Template
}
/** An argument of an operation. `rule` is the derivative rules that a customRule is given: the function's own, by jvp and vjp. */
export type Template =
  | null
  | undefined
  | boolean
  | number
  | string
  | Ref
  | { readonly fn: Lambda }
  | { readonly rule: 'frule' | 'rrule' | 'both'; readonly of: Lambda }
  | readonly Template[]
  | { readonly [key: string]: Template }
/** One call, op(...args) or op(...args)(...applied); `outs` has the tree of its results, a number at each leaf. */
export interface Step {
  readonly op: string
  readonly args: readonly Template[]
  readonly applied?: readonly Template[]
  readonly outs: Template
}
export interface Input {
  readonly id: number
  readonly shape: readonly number[]
  readonly dtype: DType
  readonly values: readonly number[]
  /** A tensor that the function closes over, not an argument. */
  readonly captured?: true
}
export interface RandomProgram {
  readonly seed: number
  readonly kind: string
  readonly inputs: readonly Input[]
  readonly steps: readonly Step[]
  readonly outputs: readonly Template[]
  /** Some value lies on a kink or a tie, where the library's choice counts: differences say nothing. */
  readonly kinked?: boolean
  /** Values may be NaN or infinite: only values are compared. */
  readonly wild?: boolean
}

/** The numbers of all values that parameters give. */
export const numbersOf = (params: readonly Param[]): readonly number[] =>
  params.flatMap((p) => (typeof p === 'number' ? [p] : numbersOf(p)))

export const isRef = (t: Template): t is Ref => typeof t === 'object' && t !== null && 'ref' in t
export const isFn = (t: Template): t is { readonly fn: Lambda } => typeof t === 'object' && t !== null && 'fn' in t
export const isRule = (t: Template): t is { readonly rule: 'frule' | 'rrule' | 'both'; readonly of: Lambda } =>
  typeof t === 'object' && t !== null && 'rule' in t

/** A template with its leaves replaced; functions inside stay as they are unless `lambda` says otherwise. */
export const mapTemplate = (t: Template, leaf: (r: Ref) => Template, lambda: (l: Lambda) => Lambda = (l) => l): Template => {
  if (typeof t !== 'object' || t === null) return t
  if (isRef(t)) return leaf(t)
  if (isFn(t)) return { fn: lambda(t.fn) }
  if (isRule(t)) return { rule: t.rule, of: lambda(t.of) }
  if (Array.isArray(t)) return t.map((x) => mapTemplate(x, leaf, lambda))
  return Object.fromEntries(Object.entries(t).map(([k, x]) => [k, mapTemplate(x as Template, leaf, lambda)]))
}
/** Every number that a template refers to, inside its functions too. */
export const refsOf = (t: Template, into: number[] = []): number[] => {
  const inside = (l: Lambda): Lambda => {
    for (const s of l.steps) for (const a of [...s.args, ...(s.applied ?? [])]) refsOf(a, into)
    refsOf(l.result, into)
    return l
  }
  mapTemplate(
    t,
    (r) => {
      into.push(r.ref)
      return r
    },
    inside,
  )
  return into
}

/** Steps and what is made of them, with some values replaced wherever they are read. */
export const substitutedIn = (
  steps: readonly Step[],
  result: Template,
  by: ReadonlyMap<number, Template>,
): { readonly steps: readonly Step[]; readonly result: Template } => {
  const put = (t: Template): Template => mapTemplate(t, (r) => (by.has(r.ref) ? by.get(r.ref) : r), inside)
  const inside = (l: Lambda): Lambda => ({ params: l.params, steps: l.steps.map(step), result: put(l.result) })
  const step = (s: Step): Step => ({ ...s, args: s.args.map(put), ...(s.applied !== undefined && { applied: s.applied.map(put) }) })
  return { steps: steps.map(step), result: put(result) }
}

type Call = (...xs: readonly unknown[]) => unknown
type Env = Map<number, unknown>

/** Who is shown values, and does nothing with them. */
const nobody = (): void => undefined

/** Operations of the generator's own, made of public ones: what they do and how they are written. */
export const COMPOUND: Readonly<
  Record<
    string,
    {
      readonly uses: readonly string[]
      readonly run: (api: Api, ...xs: readonly unknown[]) => unknown
      readonly text: (...xs: readonly string[]) => string
    }
  >
> = {
  linearizeAt: {
    uses: ['linearize'],
    run: (api, f, x, dx) => (((api.linearize as Call)(f) as Call)(x) as readonly [unknown, Call])[1](dx),
    text: (f, x, dx) => `linearize(${f})(${x})[1](${dx})`,
  },
  whilePair: {
    uses: ['whileLoop'],
    run: (api, more, body, n, c, maxSteps) => {
      const apart = (f: unknown) => (state: unknown) => (f as Call)(...(state as readonly unknown[]))
      return (api.whileLoop as Call)(apart(more), apart(body), [n, c], { maxSteps })
    },
    text: (more, body, n, c, maxSteps) =>
      `whileLoop((s) => (${more})(...s), (s) => (${body})(...s), [${n}, ${c}], { maxSteps: ${maxSteps} })`,
  },
  shown: {
    uses: ['tap'],
    run: (api, x) => (api.tap as Call)(x, nobody),
    text: (x) => `tap(${x}, () => undefined)`,
  },
  shownBack: {
    uses: ['tapGradient'],
    run: (api, x) => (api.tapGradient as Call)(x, nobody),
    text: (x) => `tapGradient(${x}, () => undefined)`,
  },
  declared: {
    uses: ['fn', 'f64', 'f32'],
    run: (api, f, x) => {
      const { shape, dtype } = x as NDArray
      return ((api.fn as Call)({ x: (api[dtype] as Call)(...shape) }, ({ x: y }: { x: unknown }) => (f as Call)(y)) as Call)({ x })
    },
    text: (f, x) => `fn({ x: (${x}.dtype === 'f32' ? f32 : f64)(...${x}.shape) }, ({ x }) => (${f})(x))({ x: ${x} })`,
  },
}

const rules = (api: Api, which: 'frule' | 'rrule' | 'both', f: Call) => ({
  ...(which !== 'rrule' && { frule: (x: unknown, dx: unknown) => ((api.jvp as Call)(f) as Call)(x, dx) }),
  ...(which !== 'frule' && {
    rrule: (x: unknown) => {
      const pulled = (yBar: unknown) => (((api.vjp as Call)(f) as Call)(x, yBar) as readonly unknown[])[1]
      return [f.length === 1 ? f(x) : f(...(x as readonly unknown[])), pulled]
    },
  }),
})

const resolve = (t: Template, env: Env, api: Api): unknown => {
  if (typeof t !== 'object' || t === null) return t
  if (isRef(t)) {
    if (!env.has(t.ref)) throw new Error(`generator: value ${t.ref} is not known`)
    return env.get(t.ref)
  }
  if (isFn(t)) return lambdaOf(t.fn, env, api)
  if (isRule(t)) return rules(api, t.rule, lambdaOf(t.of, env, api))
  if (Array.isArray(t)) return t.map((x) => resolve(x, env, api))
  return Object.fromEntries(Object.entries(t).map(([k, x]) => [k, resolve(x as Template, env, api)]))
}
/** The function with as many parameters as a user would write: transforms count them. */
export const ofArity = (f: Call, n: number): Call => {
  const written: readonly Call[] = [f, (a) => f(a), (a, b) => f(a, b), (a, b, c) => f(a, b, c), (a, b, c, d) => f(a, b, c, d)]
  return written[n] ?? f
}
const bindParams = (params: readonly Param[], xs: readonly unknown[], env: Env): void =>
  params.forEach((p, i) => {
    if (typeof p === 'number') env.set(p, xs[i])
    else bindParams(p, xs[i] as readonly unknown[], env)
  })
/** A function of the library's for a lambda, over the values that it may close over. */
const lambdaOf = (l: Lambda, env: Env, api: Api): Call => {
  const f = (...xs: readonly unknown[]): unknown => {
    const own: Env = new Map(env)
    bindParams(l.params, xs, own)
    runSteps(l.steps, own, api)
    return resolve(l.result, own, api)
  }
  return ofArity(f, l.params.length)
}

/** What a call gives, without naming it. */
export const callOf = (step: Omit<Step, 'outs'>, env: Env, api: Api): unknown => {
  const args = step.args.map((a) => resolve(a, env, api))
  const own = COMPOUND[step.op]
  if (own !== undefined) return own.run(api, ...args)
  const made = (api[step.op] as Call)(...args)
  return step.applied === undefined ? made : (made as Call)(...step.applied.map((a) => resolve(a, env, api)))
}
const bindOuts = (outs: Template, value: unknown, env: Env): void => {
  if (typeof outs !== 'object' || outs === null) return
  if (isRef(outs)) env.set(outs.ref, value)
  else for (const [k, t] of Object.entries(outs)) bindOuts(t as Template, (value as Record<string, unknown>)[k], env)
}
const runSteps = (steps: readonly Step[], env: Env, api: Api): void => {
  for (const s of steps) bindOuts(s.outs, callOf(s, env, api), env)
}

/** The data of an input. */
export const arrayOf = (x: Input): NDArray => {
  const data = allocate(x.dtype, sizeOf(x.shape))
  data.set(x.values as number[])
  return { shape: x.shape, dtype: x.dtype, data }
}
export const argumentsOf = (p: RandomProgram): readonly Input[] => p.inputs.filter((x) => x.captured !== true)

/** The program as a function of its arguments to the list of its results. Captured tensors are made once. */
export const functionOf = (p: RandomProgram, api: Api = shipped): ((...xs: readonly unknown[]) => readonly unknown[]) => {
  const captured: Env = new Map()
  for (const x of p.inputs)
    if (x.captured === true) {
      const { data, shape, dtype } = arrayOf(x)
      captured.set(x.id, (api.tensor as Call)(data, shape, dtype))
    }
  const own = argumentsOf(p)
  const f = (...xs: readonly unknown[]): readonly unknown[] => {
    const env: Env = new Map(captured)
    own.forEach((x, i) => {
      env.set(x.id, xs[i])
    })
    runSteps(p.steps, env, api)
    return p.outputs.map((o) => resolve(o, env, api))
  }
  return f
}
