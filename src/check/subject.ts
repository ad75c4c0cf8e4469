/** What is checked: a program at a point, with its derivative programs built once. */
import { evaluateNodes } from '../backends/reference/index.js'
import type { Registry } from '../core/calculus/rule.js'
import { type Aval, aval, isFloat } from '../core/graph/aval.js'
import { expandAll, programsOf } from '../core/graph/expand.js'
import { asExpr, input, linearize, type Node, reapplied, resultsOf } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { orderOf } from '../core/graph/order.js'
import { rewrite } from '../core/graph/rewrite.js'
import { type Forced, type NotImplemented, ZeroTangent } from '../core/graph/tangent.js'
import { customPrimitive } from '../core/ops/custom.js'
import { stopGradient } from '../core/ops/elementwise.js'
import { instantiate } from '../modes/common.js'
import { pullback, pushforward } from '../modes/transform.js'
import { along, drawArray } from './draw.js'
import { distributionOf, drawsIn, heldInPlace } from './draws.js'
import { shownNumbers } from './findings.js'
import { inF64, lifted } from './lifted.js'

/** A program at a point. */
export interface Subject {
  readonly registry: Registry
  readonly inputs: readonly Node[]
  readonly ys: readonly Node[]
  /** Values of the inputs (and of captured tensors that were lifted). */
  readonly values: readonly NDArray[]
  readonly captured: ReadonlyMap<Node, NDArray>
  /** Names of the inputs. */
  readonly paths: readonly string[]
  /** Positions of the inputs that are differentiated. */
  readonly active: readonly number[]
  /** Draws another point. */
  readonly draw: () => readonly NDArray[]
  readonly tolerance: number
  /** Steps of the differences are relative to this, and to the size of each argument. */
  readonly scale: number
  /** Modes that are checked. */
  readonly modes: readonly Mode[]
  /** Is this point the only one? Who draws many points asks for no other beside each. */
  readonly alone?: boolean
  /** Was the point chosen by the check, at whole numbers maybe? There rounding is looked at beside it too: of whole numbers alone sums are exact, while differences move them. */
  readonly chosen?: boolean
}
/** A mode of differentiation. */
export type Mode = 'forward' | 'reverse'

/** A subject with everything that its checks share. */
export interface Derived extends Subject {
  /** Float results. */
  readonly outs: readonly Node[]
  /** The same where differences move the arguments: what stopGradient gives stays as it is at the point. */
  readonly moving: readonly Node[]
  /** Inputs that are differentiated. */
  readonly wrt: readonly Node[]
  /** Symbols for the tangents of `wrt` and the cotangents of `outs`. */
  readonly tangents: readonly Node[]
  readonly seeds: readonly Node[]
  /** The tangent programs of `outs`, where forward mode is checked, and the cotangent programs of `wrt`, where reverse mode is. */
  readonly dys?: readonly Forced[]
  readonly xBars?: readonly Forced[]
  /** Values that the rules give for `ys`, in either mode. */
  readonly pushed?: readonly Node[]
  readonly pulled?: readonly Node[]
  readonly env: ReadonlyMap<Node, NDArray>
}

export const bind = (nodes: readonly Node[], values: readonly NDArray[]): Map<Node, NDArray> =>
  new Map(nodes.map((n, i) => [n, values[i]!]))

/** Cotangents of `wrt` for seeds of the float results. */
export const pullFrom = (registry: Registry, ys: readonly Node[], seeds: ReadonlyMap<Node, Forced>, wrt: readonly Node[]) =>
  pullback(
    registry,
    ys,
    // A result that stands there twice is one.
    ys.map((y, i) => (ys.indexOf(y) === i ? seeds.get(y) : undefined) ?? ZeroTangent),
    wrt,
  )

const isHeld = (n: Node): boolean => n.prim === stopGradient.primitive || distributionOf(n) !== undefined
const stopsIn = (nodes: readonly Node[]): readonly Node[] => linearize(nodes).nodes.filter((n) => n.prim === stopGradient.primitive)
/**
 * A function that stops gradients or draws numbers within programs (of map, of scan), with what these expand to in their place: there what is stopped can be held while the
 * rest moves, and what is drawn keeps its place. Not of customRule, whose rules are its author's.
 */
export const stopsInSight = (ys: readonly Node[]): readonly Node[] => {
  const holds = (n: Node): boolean =>
    n.prim !== null && n.prim !== customPrimitive && programsOf(n.prim, n.payload).some((p) => stopsWithin(p.outputs))
  const stopsWithin = (nodes: readonly Node[]): boolean => linearize(nodes).nodes.some((n) => isHeld(n) || holds(n))
  return expandAll(ys, (n) => (holds(n) ? n.prim!.expand : undefined), 'the checker', 64)
}
/** Where a function itself stops gradients, in the programs of its derivatives too: what a rule stops is not of them. */
export const stopsOf = (d: Derived): ReadonlySet<Node> => new Set(stopsIn([...d.outs, ...(d.pushed ?? []), ...(d.pulled ?? [])]))
/** Programs with what stopGradient gives as inputs, and what is drawn in its place in the distribution; and the values of both at a point. */
const frozen = (
  nodes: readonly Node[],
  env: ReadonlyMap<Node, NDArray>,
  given?: ReadonlySet<Node>,
): { readonly nodes: readonly Node[]; readonly env: Map<Node, NDArray> } => {
  const stops = stopsIn(nodes).filter((n) => given?.has(n) ?? true)
  const draws = drawsIn(nodes)
  const held = new Map(env)
  if (stops.length === 0 && draws.length === 0) return { nodes, env: held }
  const inputs = new Map(stops.map((n) => [n, input(n.aval)]))
  evaluateNodes(stops, env).forEach((v, i) => {
    held.set(inputs.get(stops[i]!)!, v)
  })
  const apply = (n: Node, args: readonly Node[]): readonly Node[] => {
    if (distributionOf(n) === undefined) return reapplied(n, args)
    const [ys, xs] = [resultsOf(n), n.args].map((list) => evaluateNodes(list, env)) as [NDArray[], NDArray[]]
    const placed = heldInPlace(n, args, { ys, xs })
    for (const [x, v] of placed.held) held.set(x, v)
    return placed.ys
  }
  return { nodes: rewrite(nodes, { at: (n) => inputs.get(n) ?? (env.has(n) ? n : undefined), apply }), env: held }
}

/** `stops`: the nodes whose values differences hold, all that stop gradients unless given. */
export const derive = (s: Subject, stops?: ReadonlySet<Node>): Derived => {
  const outs = [...new Set(s.ys.filter((y) => isFloat(y.dtype)))]
  const { nodes: moving, env } = frozen(outs, new Map([...bind(s.inputs, s.values), ...s.captured]), stops)
  const wrt = s.active.map((i) => s.inputs[i]!)
  const tangents = wrt.map((x) => input(x.aval))
  const seeds = outs.map((y) => input(y.aval))
  const push = s.modes.includes('forward') ? pushforward(s.registry, s.ys, new Map(wrt.map((x, j) => [x, tangents[j]!]))) : undefined
  const pull = s.modes.includes('reverse')
    ? pullFrom(s.registry, s.ys, new Map(outs.map((y, j) => [y, asExpr(seeds[j]!)])), wrt)
    : undefined
  return {
    ...s,
    outs,
    wrt,
    tangents,
    seeds,
    ...(push && { dys: outs.map((y) => push.tangents[s.ys.indexOf(y)]!), pushed: push.values }),
    ...(pull && { xBars: pull.cotangents, pulled: pull.values }),
    moving,
    env,
  }
}

/** The derivatives by those arguments whose own is implemented; the others are told of. */
export const known = (
  s: Subject,
  unknown: (t: NotImplemented, argument: number) => void,
  disagree: (t: NotImplemented, argument: number, mode: Mode) => void = () => {},
): Derived => {
  const whole = derive(s)
  const among = (ts: readonly Forced[] | undefined): readonly NotImplemented[] =>
    (ts ?? []).filter((t): t is NotImplemented => t._tag === 'NotImplemented')
  const missing = (d: Derived): readonly NotImplemented[] => [...among(d.dys), ...among(d.xBars)]
  if (missing(whole).length === 0) return whole
  const active = s.active.filter((i) => {
    const own = derive({ ...s, active: [i] })
    const todo = missing(own)
    const [forward, reverse] = [among(own.dys).length > 0, among(own.xBars).length > 0]
    if (own.dys !== undefined && own.xBars !== undefined && forward !== reverse) disagree(todo[0]!, i, forward ? 'forward' : 'reverse')
    for (const t of todo) unknown(t, i)
    return todo.length === 0
  })
  return derive({ ...s, active })
}

export const dense = (ts: readonly Forced[], like: readonly Node[]): Node[] => ts.map((t, i) => instantiate(t, like[i]!.aval))

/** The derivative programs of both modes, those of results first. */
export const derivativesOf = (d: Derived): readonly Node[] => [
  ...(d.dys ? dense(d.dys, d.outs) : []),
  ...(d.xBars ? dense(d.xBars, d.wrt) : []),
]

/** The subject in f64. */
export const liftedSubject = (s: Subject): Subject => {
  const inputs = s.inputs.map((x) => (x.dtype === 'f32' ? input(aval(x.shape, 'f64')) : x))
  const ys = lifted(s.ys, new Map(s.inputs.map((x, i) => [x, inputs[i]!])))
  return {
    ...s,
    inputs,
    ys,
    values: s.values.map(inF64),
    draw: () => s.draw().map(inF64),
  }
}

export const drawLike = (nodes: readonly Node[], next: () => number): NDArray[] => nodes.map((n) => drawArray(n.aval, next, [-1, 1]))

/** The point moved by t along a direction of the differentiated inputs. */
export const movedBy = (d: Derived, dx: readonly NDArray[], t: number): Map<Node, NDArray> => {
  const env = new Map(d.env)
  d.wrt.forEach((x, j) => {
    env.set(x, along(d.env.get(x)!, dx[j]!, t))
  })
  return env
}
export const flat = (arrays: readonly NDArray[]): Float64Array => {
  const out = new Float64Array(arrays.reduce((n, a) => n + a.data.length, 0))
  let at = 0
  for (const a of arrays) {
    out.set(a.data, at)
    at += a.data.length
  }
  return out
}
export const inner = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let s = 0
  for (let i = 0; i < a.length; i++) s += a[i]! * b[i]!
  return s
}
export const total = (nodes: readonly { readonly aval: Aval }[]): number => nodes.reduce((n, x) => n + x.aval.size, 0)
/** Which of several arrays an entry of all together is in, and where. */
export const place = (nodes: readonly Node[], at: number): { readonly array: number; readonly index: number } => {
  let index = at
  for (let array = 0; array < nodes.length; array++) {
    if (index < nodes[array]!.aval.size) return { array, index }
    index -= nodes[array]!.aval.size
  }
  return { array: 0, index: 0 }
}
/** The arguments at a point, as a reader writes them. */
export const pointOf = (s: Pick<Subject, 'paths' | 'inputs'>, env: ReadonlyMap<Node, NDArray>): string =>
  s.inputs
    .slice(0, 6)
    .map((x, i) => `${s.paths[i]} = ${x.shape.length === 0 ? env.get(x)?.data[0] : shownNumbers(env.get(x)?.data ?? [])}`)
    .join(', ') + (s.inputs.length > 6 ? ', ...' : '')
/** The size of each entry, for directions and steps: its own, for a 0 that of the array's largest, 1 where all are 0. */
export const sizesOf = (a: NDArray): Float64Array => {
  let top = 0
  for (const x of a.data) if (Number.isFinite(x)) top = Math.max(top, Math.abs(x))
  return Float64Array.from(a.data, (x) => (x !== 0 && Number.isFinite(x) ? Math.abs(x) : top === 0 ? 1 : top))
}
/** A random direction, relative to the size of each entry. */
export const direction = (d: Derived, next: () => number): NDArray[] =>
  drawLike(d.wrt, next).map((v, j) => {
    const size = sizesOf(d.env.get(d.wrt[j]!)!)
    return { ...v, data: Float64Array.from(v.data, (r, i) => r * size[i]!) }
  })

/** Values of programs. They are evaluated again and again, by differences above all: their order is made once. */
export const evaluate = (programs: readonly Node[], values?: ReadonlyMap<Node, NDArray>): NDArray[] => {
  orderOf(programs)
  return evaluateNodes(programs, values)
}
