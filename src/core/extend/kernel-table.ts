/** How a backend computes a primitive: its kernel facet, as data. A backend's tables are typed over the declarations, so that none is forgotten. */

import { packOf } from '../calculus/pack.js'
import { OTHER_COPY } from '../calculus/rule.js'
import type { AdError } from '../errors/error.js'
import { raise } from '../errors/explain.js'
import type { Expansion } from '../graph/expand.js'
import { qualifiedName } from '../graph/namespace.js'
import type { NDArray } from '../graph/ndarray.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import type { LoweringTable } from './decompose.js'

/** What the planner makes of a primitive, without a kernel of its own. */
export type PlannedAs = 'view' | 'copy' | 'fold' | 'gemm' | 'loop' | 'in place' | 'written out'

/** A function over whole arrays: reads `args`, writes every element of `outs`. */
export type KernelFunction<P = never> = (args: readonly NDArray[], params: P, outs: readonly NDArray[]) => void

/** Code of one element, in the backend's own form I: fused into loops with its neighbours. */
export interface Inline<I> {
  readonly kind: 'inline'
  readonly code: I
}
/** A kernel of its own over whole arrays, in the backend's own form W. */
export interface Whole<W> {
  readonly kind: 'whole'
  readonly make: W
}
/** The planner computes it; `otherwise` says when it does not, and the meaning runs. */
export interface Planned {
  readonly kind: 'planned'
  readonly as: PlannedAs
  /** What the backend computes it with, in a form of its own. */
  readonly by?: unknown
  readonly otherwise?: string
}
/** The primitive's meaning runs as it stands, and why that is good enough. */
export interface ByMeaning {
  readonly kind: 'byMeaning'
  readonly reason: string
}
/** Elementwise only: the declared function of numbers is called at every element of a fused loop. */
export interface PerElement {
  readonly kind: 'perElement'
}
/** A JavaScript function over copies of the arrays: it may run compiled functions itself. `views`: over the backend's memory as it stands, where it runs none. */
export interface Call {
  readonly kind: 'call'
  readonly f: KernelFunction
  readonly views?: true
}
/** A composition of other primitives stands in its place before anything is planned. */
export interface Lower {
  readonly kind: 'lower'
  readonly f: Expansion
}
/** Left out on purpose: MissingKernel (or MissingRule) with this reason. */
export interface Missing {
  readonly kind: 'missing'
  readonly reason: string
}

/** How one backend computes one primitive. I and W are the backend's own forms of inline code and of whole kernels. */
export type Facet<I = never, W = never> = Inline<I> | Whole<W> | Planned | ByMeaning | PerElement | Call | Lower | Missing
/** The facets of a family: one row for each primitive that it declares. */
export type FacetTable<F, I = never, W = never> = { readonly [K in keyof F]: Facet<I, W> }
/** Facets by primitive, never by name: primitives of two users may share a name. */
export type KernelTable<I = never, W = never> = ReadonlyMap<AnyPrimitive, Facet<I, W>>

/** What inline code is made of, where a backend takes text: the names or literals of its arguments, their dtypes, the result's, the parameters. */
export interface InlineAt<P = unknown> {
  readonly x: readonly string[]
  readonly from: readonly string[]
  readonly to: string
  readonly params: P
}
/** inline(code): of text, or in another form of a backend's own. */
export interface InlineFn {
  <const T extends string | readonly string[]>(code: (at: InlineAt) => T): Inline<(at: InlineAt) => T>
  <I>(code: I): Inline<I>
}
/**
 * Code of one element, fused into loops with its neighbours, in the form of one backend: for WebGPU a function that gives an expression of
 * WGSL from the names of its arguments, of a primitive with several results a list of them.
 *
 * @example inline(({ x }) => `${x[0]} * 2.0`).kind   // 'inline'
 */
export const inline: InlineFn = <I>(code: I): Inline<I> => ({ kind: 'inline', code })
export const whole = <W>(make: W): Whole<W> => ({ kind: 'whole', make })
export const planned = (as: PlannedAs, otherwise?: string, by?: unknown): Planned => ({
  kind: 'planned',
  as,
  ...(by !== undefined && { by }),
  ...(otherwise !== undefined && { otherwise }),
})
/** The kernel that is a function in JavaScript, over copies of the arrays. */
export const calling = <P>(f: KernelFunction<P>): Call => ({ kind: 'call', f: f as KernelFunction })
/** The same on the arrays themselves, of a function that runs nothing compiled: the memory may not grow under it. */
export const callingOnViews = <P>(f: KernelFunction<P>): Call => ({ kind: 'call', f: f as KernelFunction, views: true })
/**
 * The kernel that is the primitive's own meaning, with the reason why plain loops are enough.
 *
 * @example byMeaning('runs once per program').kind   // 'byMeaning'
 */
export const byMeaning = (reason: string): ByMeaning => ({ kind: 'byMeaning', reason })
/**
 * The kernel of an elementwise primitive that calls its declared function of numbers at every element, fused with its neighbours.
 *
 * @example perElement().kind   // 'perElement'
 */
export const perElement = (): PerElement => ({ kind: 'perElement' })
/**
 * A facet left out on purpose: asking for it is MissingKernel or MissingRule, with this reason.
 *
 * @example missing('WGSL has no f64')   // { kind: 'missing', reason: 'WGSL has no f64' }
 */
export const missing = (reason: string): Missing => ({ kind: 'missing', reason })

/** A table of inline code as facets. */
export const inlined = <R extends object>(rows: R): { readonly [K in keyof R]: Inline<R[K]> } =>
  Object.fromEntries(Object.entries(rows).map(([name, code]) => [name, inline(code)])) as { readonly [K in keyof R]: Inline<R[K]> }

/** One table from those of the families: each key of a family is its primitive's name. */
export const kernelTable = <K extends string, I, W>(
  families: { readonly [F in K]: Readonly<Record<string, AnyPrimitive>> },
  tables: { readonly [F in K]: Readonly<Record<string, Facet<I, W>>> },
): KernelTable<I, W> => {
  const table = new Map<AnyPrimitive, Facet<I, W>>()
  for (const family of Object.keys(families) as K[])
    for (const [name, primitive] of Object.entries(families[family])) table.set(primitive, tables[family][name]!)
  return table
}

/** What a backend writes out before it plans. */
const loweringsIn = <I, W>(table: KernelTable<I, W>): LoweringTable =>
  new Map([...table].flatMap(([p, facet]) => (facet.kind === 'lower' ? [[p, facet.f] as const] : [])))

/** How a backend finds facets: those given to it, the shipped table, the packs of operations where it is `open`, and what elementwise declarations carry themselves. */
export class Facets<I, W> {
  readonly lowerings: LoweringTable
  constructor(
    readonly backend: string,
    private readonly shipped: KernelTable<I, W>,
    private readonly given: KernelTable<I, W> = new Map(),
    private readonly open = false,
  ) {
    this.lowerings = loweringsIn(new Map([...shipped, ...given]))
    for (const [primitive, facet] of given) {
      const own = this.ours(primitive)
      if (own !== undefined && own !== facet)
        raise({ _tag: 'DuplicatePrimitive', name: qualifiedName(primitive), facet: `kernels of ${backend}` })
    }
  }
  private ours(primitive: AnyPrimitive): Facet<I, W> | undefined {
    return this.shipped.get(primitive) ?? (this.open ? (packOf(primitive)?.cpu[primitive.name] as Facet<I, W> | undefined) : undefined)
  }
  /** Raises MissingKernel. */
  none(primitive: AnyPrimitive, reason: string): never {
    return raise(this.missing(primitive, reason))
  }
  private missing(primitive: AnyPrimitive, reason: string): AdError {
    const { name } = primitive
    return {
      _tag: 'MissingKernel',
      primitive: name,
      backend: this.backend,
      reason,
      fix: `definePlugin({ ..., kernels: { ${this.backend}: { ${name}: (args, params, outs) => { /* write outs */ } } } }), or lower it to a composition.`,
    }
  }
  /** The facet of a primitive; raises MissingKernel. */
  of(primitive: AnyPrimitive): Exclude<Facet<I, W>, Missing> {
    const facet = this.given.get(primitive) ?? this.ours(primitive) ?? (primitive.class === 'elementwise' ? perElement() : undefined)
    if (facet === undefined) {
      const other = [...this.shipped.keys()].some((p) => p.name === primitive.name)
      return raise(
        this.missing(
          primitive,
          other ? `the one it has is for another primitive of this name: ${OTHER_COPY}` : 'its tables have no row for it.',
        ),
      )
    }
    return facet.kind === 'missing' ? raise(this.missing(primitive, `left out: ${facet.reason}.`)) : facet
  }
  /** The inline code of an elementwise primitive; undefined where its function of numbers is called. */
  scalar(primitive: AnyPrimitive): I | undefined {
    const facet = this.of(primitive)
    if (facet.kind === 'inline') return facet.code
    if (facet.kind === 'perElement') return undefined
    return raise({
      _tag: 'InternalLaw',
      law: 'elementwise primitives are inline or per element',
      detail: `${primitive.name} is ${facet.kind}`,
    })
  }
}
