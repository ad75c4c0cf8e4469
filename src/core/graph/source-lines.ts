/**
 * The user's own line in errors that come after construction. Nothing is captured while tracing: walkers say which node they were at
 * (`blaming`), and whoever traced replays the trace, which is pure, and takes the stack where that node is built. A body that builds
 * another number of nodes when replayed is not pure: then the error keeps the line it had.
 */
import { type AdError, type AdErrorTag, AdException, isAdException } from '../errors/error.js'
import { deepStack, explain, raise, userFrame } from '../errors/explain.js'
import { isWatched, linearize, type Node, nodesBuilt, watchApplies } from './expr.js'
import type { Program } from './program.js'
import { equationOf } from './show.js'

/** A node that an error is about, innermost first, and the results whose walk met it. */
interface Blame {
  readonly node: Node
  readonly outputs: readonly Node[]
}
const blames = new WeakMap<AdException, Blame[]>()
const settled = new WeakSet<AdException>()

/** Errors about a node of the user's; others name the line where they were raised. */
const ABOUT_NODE: ReadonlySet<AdErrorTag> = new Set<AdErrorTag>(['MissingRule', 'NotImplemented', 'NotScalar', 'InternalLaw'])

/** The walks that build nodes of others now, the innermost last: what is built meanwhile is not the user's. */
const walks: Cursor[] = []
let replaying = false
/** Does somebody ask where each node of this trace comes from? Then it makes them all itself, and takes none of an earlier trace. */
export const isObserved = (): boolean => replaying || isWatched()

/** The node that a walk is at; `derives` where what it builds there is a derivative of it. */
export interface Cursor {
  node: Node | undefined
  readonly derives: boolean
}
/** The innermost walk; undefined while the user's own code builds. */
export const walking = (): Cursor | undefined => walks.at(-1)
const addBlame = (e: AdException, node: Node, outputs: readonly Node[]): void => {
  const list = blames.get(e)
  if (list === undefined) blames.set(e, [{ node, outputs }])
  else list.push({ node, outputs })
}

/** A walk over the user's nodes begins: until `left`, what is built is not theirs. */
export const entered = (derives = true): Cursor => {
  const at: Cursor = { node: undefined, derives }
  walks.push(at)
  return at
}
export const left = (): void => void walks.pop()
/** What such a walk raised: about the node it was at. */
export const blamed = (e: unknown, at: Cursor, outputs: readonly Node[]): unknown => {
  if (isAdException(e) && at.node !== undefined) addBlame(e, at.node, outputs)
  return e
}
/** A walk over the user's nodes that builds others, all of it. */
export const blaming = <A>(outputs: readonly Node[], walk: (at: Cursor) => A, derives = true): A => {
  const at = entered(derives)
  try {
    return walk(at)
  } catch (e) {
    throw blamed(e, at, outputs)
  } finally {
    left()
  }
}

/** Raises an error about this node. */
export const raiseAt = (node: Node | undefined, e: AdError): never => {
  try {
    return raise(e)
  } catch (x) {
    if (node !== undefined) addBlame(x as AdException, node, [node])
    throw x
  }
}

const rulesOf = new WeakMap<object, Node>()
/** Remembers whose rule gave a NotImplemented: it is raised later, by whoever needs it. */
export const remember = (notImplemented: object, node: Node): void => void rulesOf.set(notImplemented, node)
/** Raises what a rule left unimplemented, about the node whose rule it was. */
export const raiseNotImplemented = (t: { readonly rule: string; readonly reason: string }): never =>
  raiseAt(rulesOf.get(t), { _tag: 'NotImplemented', rule: t.rule, reason: t.reason })

const sites = new WeakMap<Node, string>()
/** The line that a node was built at, where it was recorded. */
export const siteOf = (node: Node): string | undefined => sites.get(node)

/** The user's line that runs now. */
export const here = (): string | undefined => userFrame(deepStack())

/** What `build` gives, with the line of every node that the user's code builds recorded. */
export const recordingSites = <A>(build: () => A): A => {
  const before = watchApplies((node, was) => {
    const source = was !== undefined ? sites.get(was) : walks.length === 0 ? here() : undefined
    if (source !== undefined) sites.set(node, source)
  })
  try {
    return build()
  } finally {
    watchApplies(before)
  }
}

/** How a trace went: what it gave or raised, how many nodes it built, and where each node is in it. */
export interface Went<A> {
  readonly value: A | undefined
  readonly error: unknown
  readonly start: number
  readonly count: number
}
export const attempt = <A>(build: () => A): Went<A> => {
  const start = nodesBuilt()
  try {
    return { value: build(), error: undefined, start, count: nodesBuilt() - start }
  } catch (error) {
    return { value: undefined, error, start, count: nodesBuilt() - start }
  }
}

/** The primitive that an error names. */
const primitiveOf = (e: AdError): string | undefined =>
  e._tag === 'MissingRule' || e._tag === 'MissingKernel' ? e.primitive : e._tag === 'NotImplemented' ? e.rule : undefined

/** `grad(f)` was traced, f's node is meant. */
export const inner = (name: string): string => /^\w+\((.*)\)$/.exec(name)?.[1] ?? name

/**
 * The error with the equation and the line of the node it is about. The first replay finds the node (what the first trace made once and
 * kept, as the inputs of captured tensors, is there already), the second takes its stack.
 */
const relocated = <A>(e: AdException, name: string, build: () => A, find: (went: Went<A>) => readonly Blame[]): AdException => {
  if (replaying || settled.has(e)) return e
  settled.add(e)
  replaying = true
  const before = watchApplies(undefined)
  try {
    const first = attempt(build)
    const candidates = find(first)
    const wanted = new Map(candidates.map((c) => [c.node.id - first.start, c]))
    const primitive = primitiveOf(e.error)
    const found = new Map<Blame, string>()
    let named: { readonly node: Node; readonly source: string } | undefined
    let start = 0
    watchApplies((node, was) => {
      if (walks.length > 0 || was !== undefined) return
      const candidate = wanted.get(node.id - start)
      if (candidate !== undefined && candidate.node.prim === node.prim) {
        const source = here()
        if (source !== undefined) found.set(candidate, source)
      } else if (named === undefined && node.prim!.name === primitive) {
        const source = here()
        if (source !== undefined) named = { node, source }
      }
    })
    start = nodesBuilt()
    const second = attempt(build)
    watchApplies(undefined)
    const tag = (x: unknown): string | undefined => (isAdException(x) ? x.error._tag : undefined)
    if (first.count !== second.count || tag(first.error) !== tag(second.error)) return e
    const best = candidates.find((c) => found.has(c) && (primitive === undefined || c.node.prim?.name === primitive))
    const any = best ?? (named === undefined ? candidates.find((c) => found.has(c)) : undefined)
    const [equation, source] =
      any !== undefined
        ? [equationOf(any.node, any.outputs), found.get(any)!]
        : named !== undefined
          ? [equationOf(named.node, [named.node]), named.source]
          : [undefined, undefined]
    if (source === undefined) return e
    const error = { ...e.error, site: { equation: `${inner(name)}: ${equation}`, source } } as AdError
    const better = new AdException(error, explain(error))
    if (e.stack !== undefined) better.stack = e.stack.replace(e.message, better.message)
    settled.add(better)
    return better
  } catch {
    return e
  } finally {
    replaying = false
    watchApplies(before)
  }
}

/** What a trace raised: about one of the nodes that it built, with the user's line. `retrace` builds them again. */
export const located = (e: unknown, name: string, retrace: () => unknown): unknown =>
  isAdException(e) && ABOUT_NODE.has(e.error._tag) && blames.has(e)
    ? relocated(e, name, retrace, (went) => (isAdException(went.error) ? (blames.get(went.error) ?? []) : []))
    : e

/** An error of preparing a program, about the node that it names or, where memory lacks, the largest; `retrace` makes the program again. */
export const atNode = (e: unknown, name: string, retrace: () => Program): unknown => {
  if (!isAdException(e) || (e.error._tag !== 'MissingKernel' && e.error._tag !== 'OutOfMemory')) return e
  const primitive = primitiveOf(e.error)
  return relocated(e, `${name}(${name})`, retrace, ({ value: p }) => {
    if (p === undefined) return []
    let best: Node | undefined
    for (const n of linearize(p.outputs).nodes)
      if (n.prim !== null && (primitive === undefined || n.prim.name === primitive) && (best === undefined || n.aval.size > best.aval.size))
        best = n
    return best === undefined ? [] : [{ node: best, outputs: p.outputs }]
  })
}
