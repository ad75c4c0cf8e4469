/** The signatures that a compiled function has met (tree, shapes, dtypes): how arguments find what was prepared for theirs. */

import { recordingDropped } from '../calculus/dropped.js'
import { badInput } from '../errors/explain.js'
import { type Aval, aval, showAval } from '../graph/aval.js'
import { Identities } from '../graph/identity.js'
import type { NDArray } from '../graph/ndarray.js'
import type { Program } from '../graph/program.js'
import { sameShape } from '../graph/shape.js'
import { atNode } from '../graph/source-lines.js'
import { isTensor } from '../graph/tensor.js'
import { partsAlong, type TreeDef } from '../graph/tree.js'
import type { Elements, Explanation } from './backend.js'
import { onADevice } from './device-tensor.js'
import { printedExplanation } from './explanation.js'
import { concrete, type Evaluating, type Meta, metaOf, namedAxes, readArgs, traceDeclared, traceMeta } from './function.js'
import { Lru } from './lru.js'

const retraced = (meta: Meta, program: Program): Program =>
  traceMeta(
    meta,
    program.inputTree,
    program.inputs.map((x) => x.aval),
  )
/** The error with the user's line, where it is about a node of the program. */
const atLine = (meta: Meta, program: Program, e: unknown): unknown => atNode(e, meta.name, () => retraced(meta, program))
export const preparing = <X>(meta: Meta, program: Program, make: () => X): X => {
  try {
    return make()
  } catch (e) {
    throw atLine(meta, program, e)
  }
}

/** What a compiled function keeps for one signature. */
export interface Prepared<X> {
  readonly key: string
  readonly def: TreeDef
  readonly avals: readonly Aval[]
  readonly program: Program
  readonly executable: X
}

/** How a compiled function reads arguments, and makes and frees what runs. */
export interface Making<X, T extends Elements> {
  /** The elements of an argument. */
  readonly read: (x: NDArray) => T
  readonly evaluate: Evaluating
  readonly make: (program: Program, located: (e: unknown) => unknown, retrace: () => Program) => X
  /** Bytes that it holds, about. */
  readonly bytes: (executable: X) => number | undefined
  readonly drop: (executable: X) => void
}

const leafKey = (x: { readonly dtype: string; readonly shape: readonly number[] }): string => `${x.dtype}[${x.shape.join()}]`
const recordKey = (keys: readonly string[], items: readonly string[]): string =>
  `{${keys.map((k, i) => `${JSON.stringify(k)}:${items[i]}`).join()}}`
const identities = /*#__PURE__*/ new Identities()
/** What belongs to the structure: functions by identity, texts by what they say. */
const staticKey = (x: unknown): string =>
  typeof x === 'function' ? `#${identities.id(x)}` : typeof x === 'string' ? JSON.stringify(x) : String(x)
/** The key of a signature: its structure, with dtype and shape at each leaf. Only equal signatures have equal keys. */
const keyOf = (def: TreeDef, avals: readonly Aval[]): string => {
  let at = 0
  const go = (d: TreeDef): string => {
    if (d._tag === 'Leaf') return leafKey(avals[at++]!)
    if (d._tag === 'NoTangent') return '-'
    if (d._tag === 'Static') return staticKey(d.value)
    const items = d.items.map(go)
    return d._tag === 'Tuple' ? `[${items.join()}]` : d._tag === 'Object' ? `#${identities.id(d.of)}${items[0]}` : recordKey(d.keys, items)
  }
  return go(def)
}
/** Deeper arguments are read, and refused there. */
const DEPTH = 32
/** The same of arguments that are tensors, and records and tuples of them; undefined for others, which are read first. */
const keyOfArgs = (args: readonly unknown[]): string | undefined => {
  try {
    return keyIn(args, 0)
  } catch {
    return undefined // an argument that cannot be read: whoever reads it says so
  }
}
const keyIn = (x: unknown, depth: number): string | undefined => {
  if (isTensor(x)) return leafKey(x)
  if (x === null || typeof x === 'string' || typeof x === 'function') return staticKey(x)
  if (typeof x !== 'object' || depth > DEPTH) return undefined
  const tuple = Array.isArray(x)
  if (!tuple && Object.getPrototypeOf(x) !== Object.prototype) return undefined
  const keys = tuple ? [] : Object.keys(x).sort()
  const items: string[] = []
  for (const y of tuple ? x : keys.map((k) => (x as Record<string, unknown>)[k])) {
    const item = keyIn(y, depth + 1)
    if (item === undefined) return undefined
    items.push(item)
  }
  return tuple ? `[${items.join()}]` : recordKey(keys, items)
}

/** Are these sizes of axes that the declaration names? Anything else is an argument. */
const isSizes = (x: unknown, axes: ReadonlySet<string>): x is Readonly<Record<string, number>> =>
  typeof x === 'object' &&
  x !== null &&
  Object.getPrototypeOf(x) === Object.prototype &&
  Object.entries(x).every(([k, v]) => typeof v === 'number' && axes.has(k))

/** What the signatures of one function may hold; the last ones used stay however large they are. */
const SIGNATURE_BYTES = 2 ** 25
const SIGNATURES = 64
/** What an executable weighs that does not say it. */
const EXECUTABLE_BYTES = 2 ** 16
/** So many signatures of one function are worth a word. */
const MANY = 32

/** A name, and the first of the arguments: one line, whatever they are. */
const SHOWN = 3
const manyPlans = (name: string, avals: readonly Aval[]): string => {
  const called = name.replace(/\s+/g, ' ')
  const more = avals.length > SHOWN ? ` and ${avals.length - SHOWN} more` : ''
  const last = avals.length === 0 ? 'no arguments' : `${avals.slice(0, SHOWN).map(showAval).join(', ')}${more}`
  return `codual: ${MANY} plans of ${called.length > 60 ? `${called.slice(0, 60)}...` : called}, the last for ${last}: each new shape is planned anew. Pad arguments to a few shapes, or compile a function for each use.`
}

export class Signatures<X, T extends Elements> {
  private readonly meta: Meta
  private readonly prepared: Lru<string, Prepared<X>>
  // The last signature and the one before it, found without a key: a training step and its validation take turns.
  private last: Prepared<X> | undefined
  private before: Prepared<X> | undefined
  private made = 0
  private closed = false

  constructor(
    f: unknown,
    private readonly making: Making<X, T>,
    where: string,
  ) {
    this.meta = metaOf(f, where)
    const dropped = (p: Prepared<X>): void => {
      if (this.last === p) this.last = undefined
      if (this.before === p) this.before = undefined
      making.drop(p.executable)
    }
    this.prepared = new Lru(SIGNATURE_BYTES, dropped, SIGNATURES)
  }
  get name(): string {
    return this.meta.name
  }
  private open(): void {
    if (this.closed) badInput(this.name, 'this compiled function was disposed.', 'compile it again.')
  }

  /** The program for these arguments, and their data. */
  find(args: readonly unknown[]): { readonly p: Prepared<X>; readonly inputs: readonly T[] } {
    this.open()
    const { last, before, meta } = this
    const { read } = this.making
    if (last !== undefined) {
      const inputs = fastInputs(last, args, read)
      if (inputs !== undefined) return { p: last, inputs }
    }
    if (before !== undefined) {
      const inputs = fastInputs(before, args, read)
      if (inputs !== undefined) return { p: this.turn(before), inputs }
    }
    const key = this.prepared.size > 2 ? keyOfArgs(args) : undefined
    const known = key === undefined ? undefined : this.prepared.get(key)
    if (known !== undefined) {
      const inputs = fastInputs(known, args, read)
      if (inputs !== undefined) return { p: this.turn(known), inputs }
    }
    const { leaves, def } = readArgs(meta, args)
    const arrays = concrete(leaves, meta.name, this.making.evaluate)
    const avals = arrays.map((a) => aval(a.shape, a.dtype))
    const p = this.turn(this.byKey(def, avals, () => traceMeta(meta, def, avals)))
    return { p, inputs: arrays.map(read) }
  }

  /** The program that `explain` means: of the last call, of the declaration at some sizes, or of arguments. */
  explained(args: readonly unknown[]): Prepared<X> {
    this.open()
    const { last, meta } = this
    if (args.length === 0 && last !== undefined) return last
    if (meta.declared !== undefined && args.length <= 1 && (args[0] === undefined || isSizes(args[0], namedAxes(meta.declared.specs)))) {
      const program = traceDeclared(meta, args[0] as Record<string, number> | undefined)
      const avals = program.inputs.map((x) => x.aval)
      return this.byKey(program.inputTree, avals, () => program)
    }
    return this.find(args).p
  }

  /** What `explain` says of it, with what its derivatives leave out: traced once more, so that other traces need not note it. */
  whole({ def, avals }: Prepared<X>, explanation: Explanation): Explanation {
    return printedExplanation({ ...explanation, dropped: recordingDropped(() => traceMeta(this.meta, def, avals)) })
  }

  private byKey(def: TreeDef, avals: readonly Aval[], trace: () => Program): Prepared<X> {
    const key = keyOf(def, avals)
    return this.prepared.get(key) ?? this.prepare(key, def, avals, trace())
  }
  private prepare(key: string, def: TreeDef, avals: readonly Aval[], program: Program): Prepared<X> {
    const { meta, making } = this
    const executable = preparing(meta, program, () =>
      making.make(
        program,
        (e) => atLine(meta, program, e),
        () => retraced(meta, program),
      ),
    )
    // Preparing may have run code of the user's: that called the function itself, or disposed it.
    const inner = this.prepared.get(key)
    if (inner !== undefined || this.closed) making.drop(executable)
    this.open()
    if (inner !== undefined) return inner
    const p = { key, def, avals, program, executable }
    this.touch()
    this.prepared.add(key, p, making.bytes(executable) ?? EXECUTABLE_BYTES)
    if (++this.made === MANY) console.warn(manyPlans(meta.name, avals))
    return p
  }

  private turn(p: Prepared<X>): Prepared<X> {
    const { last, before } = this
    if (p === last) return p
    if (before !== undefined && before !== p) this.prepared.get(before.key)
    this.before = last
    this.last = p
    return p
  }
  /** The last two are found without their keys: says that they were used. */
  private touch(): void {
    if (this.before !== undefined) this.prepared.get(this.before.key)
    if (this.last !== undefined) this.prepared.get(this.last.key)
  }

  /** Says what an executable weighs, where that is known later. */
  weigh(p: Prepared<X>, bytes: number | undefined): void {
    this.touch()
    this.prepared.weigh(p.key, bytes ?? EXECUTABLE_BYTES)
  }
  forget(p: Prepared<X>): void {
    if (this.prepared.get(p.key) === p) this.prepared.delete(p.key)
  }
  /** Frees all and refuses calls from now on. */
  close(): void {
    this.closed = true
    this.prepared.clear()
  }
}

/** Input data when the arguments have exactly the last signature as tensors or typed arrays; undefined otherwise (the slow path decides). */
const fastInputs = <T extends Elements>(
  p: Prepared<unknown>,
  args: readonly unknown[],
  read: (x: NDArray) => T,
): readonly T[] | undefined => {
  const def = p.def as Extract<TreeDef, { _tag: 'Tuple' }>
  if (args.length !== def.items.length) return undefined
  const out = new Array<T>(p.avals.length)
  let at = 0
  try {
    for (let i = 0; i < args.length && at >= 0; i++) at = gather(p.avals, def.items[i]!, args[i], out, at, read)
  } catch {
    return undefined
  }
  return at < 0 ? undefined : out
}
/** Puts the leaves' data in order, from `at` on, and says where the next go; -1 at the first that differs. At the top level: it runs at every call, and makes no closure. */
const gather = <T extends Elements>(
  avals: readonly Aval[],
  d: TreeDef,
  x: unknown,
  out: T[],
  at: number,
  read: (x: NDArray) => T,
): number => {
  if (d._tag === 'Leaf') {
    if (!isTensor(x)) return -1
    const a = avals[at]!
    if (x.dtype !== a.dtype || !sameShape(x.shape, a.shape)) return -1
    const elements = read(x)
    // of a buffer that was given away: the slow path says so
    if ((elements as { readonly length?: number }).length !== a.size && !onADevice(elements)) return -1
    out[at] = elements
    return at + 1
  }
  let next = at
  if (d._tag === 'Record') {
    if (typeof x !== 'object' || x === null || Array.isArray(x)) return -1
    let n = 0
    for (const _ in x) n++
    if (n !== d.keys.length) return -1
    for (let i = 0; i < d.keys.length && next >= 0; i++) {
      const key = d.keys[i]!
      next = Object.hasOwn(x, key) ? gather(avals, d.items[i]!, (x as Record<string, unknown>)[key], out, next, read) : -1
    }
    return next
  }
  if (d._tag === 'Tuple') {
    if (!Array.isArray(x) || x.length !== d.items.length) return -1
    for (let i = 0; i < d.items.length && next >= 0; i++) next = gather(avals, d.items[i]!, x[i], out, next, read)
    return next
  }
  if (d._tag === 'Static') return Object.is(d.value, x) ? at : -1
  if (d._tag === 'Object') {
    const parts = partsAlong(d, x)
    return parts === undefined ? -1 : gather(avals, d.items[0], parts[0], out, at, read)
  }
  return at
}
