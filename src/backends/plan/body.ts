/** Loop bodies: from the values of a loop to a scalar program, its operands and its canonical text. */

import { APPLY, CONST } from '../../core/graph/expr.js'
import { Identities } from '../../core/graph/identity.js'
import { orderOf } from '../../core/graph/order.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { Program } from '../../core/graph/program.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { DType } from '../../core/types/dtype.js'
import { Codes } from './ints.js'
import type { Access, Body, BodyOp, Fold, LoopKernel, LoopOutput } from './kernel.js'
import type { Operand, Work } from './step.js'
import type { ItemBytes, View } from './value.js'

/** One operand of a loop while it is built: element strides along the iteration axes. */
export interface Draft {
  readonly storage: number
  readonly offset: number
  readonly strides: readonly number[]
  readonly dtype: DType
  /** Bytes, as those of an operand. */
  readonly advance?: readonly number[]
}
export interface DraftOutput extends Draft {
  readonly fold?: { readonly op: Fold; readonly axes: readonly boolean[]; readonly accumulate: boolean }
}

/** Strides of a view of `shape` along the axes of a larger shape. */
export const spreadStrides = ({ strides }: Pick<View, 'strides'>, shape: readonly number[], to: readonly number[]): number[] => {
  const spread = new Array<number>(to.length)
  for (let i = 0, j = shape.length - to.length; i < to.length; i++, j++) spread[i] = j < 0 || shape[j] === 1 ? 0 : strides[j]!
  return spread
}

/** A map program as a body: its inputs first, then its literals, as ir.ts passes them. */
const bodies = new WeakMap<Program, Body>()
const bodyOfProgram = (p: Program): Body => {
  const known = bodies.get(p)
  if (known !== undefined) return known
  const { nodes, index } = orderOf(p.outputs)
  const position = new Map<number, number>()
  p.inputs.forEach((x, i) => {
    const k = index.get(x)
    if (k >= 0) position.set(k, i)
  })
  const inputs: DType[] = p.inputs.map((x) => x.dtype)
  nodes.forEach((n, i) => {
    if (n.kind !== CONST) return
    position.set(i, inputs.length)
    inputs.push(n.dtype)
  })
  const ops: BodyOp[] = []
  nodes.forEach((n, i) => {
    if (n.kind !== APPLY) return
    const args = n.args.map((a) => position.get(index.get(a))!)
    if (n.prim!.alias === true) {
      position.set(i, args[0]!)
      return
    }
    position.set(i, inputs.length + ops.length)
    ops.push({ prim: n.prim!, params: n.payload, args, dtype: n.dtype })
  })
  const body = { inputs, ops, results: p.outputs.map((o) => position.get(index.get(o))!) }
  bodies.set(p, body)
  return body
}

/** The body of a program that yields only some of its results. */
const parts = new WeakMap<Body, Map<string, Body>>()
export const bodyOfResults = (p: Program, positions: readonly number[]): Body => {
  const whole = bodyOfProgram(p)
  let made = parts.get(whole)
  if (made === undefined) {
    made = new Map()
    parts.set(whole, made)
  }
  const key = positions.join()
  let body = made.get(key)
  if (body === undefined) {
    body = { inputs: whole.inputs, ops: whole.ops, results: positions.map((k) => whole.results[k]!) }
    made.set(key, body)
  }
  return body
}

/** A loop's axes, and how its operands walk them. */
interface Collapsed {
  readonly shape: readonly number[]
  readonly strides: readonly (readonly number[])[]
  readonly flags: readonly (readonly boolean[])[]
}
/** Merges neighbouring axes that every operand walks as one, and drops axes of length 1. */
export const collapse = (
  shape: readonly number[],
  operands: readonly (readonly number[])[],
  flags: readonly (readonly boolean[])[],
  merging = true,
): Collapsed => {
  // Each axis that is left: its length, and the axis with whose strides it is walked, the innermost of those that it is made of.
  const lengths: number[] = []
  const at: number[] = []
  for (let a = 0; a < shape.length; a++) {
    const d = shape[a]!
    if (d === 1) continue
    const last = at.length - 1
    if (merging && last >= 0 && areOne(operands, flags, at[last]!, a, d)) {
      lengths[last]! *= d
      at[last] = a
    } else {
      lengths.push(d)
      at.push(a)
    }
  }
  if (at.length === 0) return { shape: [1], strides: operands.map(() => stillStrides(1)), flags: flags.map(() => unfolded(1)) }
  if (at.length === shape.length) return { shape, strides: operands, flags }
  return { shape: lengths.slice(), strides: operands.map((o) => picked(o, at)), flags: flags.map((f) => picked(f, at)) }
}
const picked = <T>(list: readonly T[], at: readonly number[]): T[] => {
  const out = new Array<T>(at.length)
  for (let i = 0; i < at.length; i++) out[i] = list[at[i]!]!
  return out
}
/** Do all operands walk an axis and the next one, of length d, as one axis? A result has no step along an axis that it folds, so that a folded and a kept axis differ by their strides too. */
const areOne = (
  operands: readonly (readonly number[])[],
  flags: readonly (readonly boolean[])[],
  outer: number,
  inner: number,
  d: number,
): boolean => {
  for (let k = 0; k < operands.length; k++) if (operands[k]![outer] !== operands[k]![inner]! * d) return false
  for (let k = 0; k < flags.length; k++) if (flags[k]![outer] !== flags[k]![inner]) return false
  return true
}

/**
 * How loops that walk arrays in different orders are cut into tiles: of about so many elements along two axes, in loops of so many elements and more. Lines that lie a multiple of `aligned` elements
 * apart share a few places of a cache: such tiles are narrow, and long in the other axis.
 */
export interface Tile {
  readonly side: number
  readonly from: number
  readonly aligned: number
  readonly narrow: number
  readonly long: number
  /** Operations up to which a body reads arrays turned. */
  readonly turned: number
}
/** The largest part of an axis, near a side of a tile, by which it can be divided. */
const partOf = (axis: number, side: number): number => {
  for (let t = Math.min(2 * side, axis - 1); t > 1 && 2 * t >= side; t--) if (axis % t === 0) return t
  return 0
}
/**
 * A loop over two axes, one of which is the order of some arrays and the other that of others (transposes), in tiles: the lines of memory that a tile touches stay near until all of it is done.
 * The order of elements is another, which is why nothing may be folded.
 */
const tiled = (c: Collapsed, tile: Tile | undefined): Collapsed => {
  const inner = c.shape.length - 1
  if (tile === undefined || inner < 1 || c.flags.some((f) => f.includes(true)) || sizeOf(c.shape) < tile.from) return c
  // The axis along which an array lies in order that does not along the innermost.
  const across = c.strides.find((s) => Math.abs(s[inner]!) >= tile.side && s.some((x, a) => a !== inner && x === 1))
  const other = across?.findIndex((x, a) => a !== inner && x === 1) ?? -1
  if (other < 0) return c
  const partsBy = (long: number, side: number) => [partOf(c.shape[other]!, long), partOf(c.shape[inner]!, side)] as const
  const narrow = across![inner]! % tile.aligned === 0 ? partsBy(tile.long, tile.narrow) : [0, 0]
  const [t, u] = narrow[0]! * narrow[1]! > 0 ? narrow : partsBy(tile.side, tile.side)
  if (t === 0 || u === 0) return c
  const cut = (list: readonly number[], f: (x: number, a: number) => number, last: (x: number) => number): number[] => [
    ...list.map(f),
    last(list[other]!),
    last(list[inner]!),
  ]
  const parts = (a: number): number => (a === other ? t : a === inner ? u : 1)
  return {
    shape: [...c.shape.map((d, a) => d / parts(a)), t, u],
    strides: c.strides.map((s) =>
      cut(
        s,
        (x, a) => x * parts(a),
        (x) => x,
      ),
    ),
    flags: c.flags.map((f) => [...f, false, false]),
  }
}

/** A loop over `shape`: its kernel, axis lengths and operands. */
export const makeLoop = (
  shape: readonly number[],
  body: Body,
  inputs: readonly Draft[],
  outputs: readonly DraftOutput[],
  itemBytes: ItemBytes,
  merging = true,
  tile?: Tile,
): Work & { readonly kernel: LoopKernel } => {
  const [n, m] = [inputs.length, outputs.length]
  const strides = new Array<readonly number[]>(n + m)
  for (let k = 0; k < n; k++) strides[k] = inputs[k]!.strides
  const flags = new Array<readonly boolean[]>(m)
  for (let i = 0; i < m; i++) {
    strides[n + i] = outputs[i]!.strides
    flags[i] = outputs[i]!.fold?.axes ?? unfolded(shape.length)
  }
  const c = tiled(collapse(shape, strides, flags, merging), tile)
  // Plans are kept: lists that grow have room for more than these hold.
  const turns = tile !== undefined && body.ops.length <= tile.turned && outputs.every((o) => o.fold === undefined)
  const accesses = new Array<Access>(n)
  const reads = new Array<Operand>(n)
  for (let k = 0; k < n; k++) {
    accesses[k] = accessOf(c, k, 'zero', turns)
    reads[k] = operandOf(inputs[k]!, c.strides[k]!, itemBytes)
  }
  const outs = new Array<LoopOutput>(m)
  const writes = new Array<Operand>(m)
  for (let i = 0; i < m; i++) {
    const o = outputs[i]!
    const access = accessOf(c, n + i, 'unit')
    // A fold over axes of length 1 is its only element.
    const folds = o.fold !== undefined && (o.fold.accumulate || c.flags[i]!.includes(true))
    outs[i] = folds
      ? { dtype: o.dtype, access, fold: { op: o.fold!.op, axes: c.flags[i]!, accumulate: o.fold!.accumulate } }
      : { dtype: o.dtype, access }
    writes[i] = operandOf(o, c.strides[n + i]!, itemBytes)
  }
  return { kernel: { kind: 'loop', rank: c.shape.length, body, inputs: accesses, outputs: outs }, sizes: c.shape, reads, writes }
}
/** How an operand is walked along the innermost axis; `single` where there is one point alone. */
const accessOf = ({ shape, strides }: Collapsed, k: number, single: Access, turns = false): Access => {
  const inner = shape.length - 1
  if (inner === 0 && shape[0] === 1) return single
  const s = strides[k]![inner]!
  if (s === 1 || s === 0) return s === 1 ? 'unit' : 'zero'
  return turns && strides[k]![inner - 1] === 1 ? 'turned' : 'any'
}
const operandOf = ({ storage, offset, dtype, advance }: Draft, along: readonly number[], itemBytes: ItemBytes): Operand => {
  const strides = byteStrides(along, itemBytes[dtype])
  return advance === undefined ? { storage, offset, strides } : { storage, offset, strides, advance }
}
const unfolded = (rank: number): readonly boolean[] => new Array<boolean>(rank).fill(false)
/** Operands that do not move (most are literals) share their strides. */
const still: readonly (readonly number[])[] = Array.from({ length: 8 }, (_, n) => new Array<number>(n).fill(0))
export const stillStrides = (rank: number): readonly number[] => still[rank] ?? new Array<number>(rank).fill(0)
const byteStrides = (strides: readonly number[], item: number): readonly number[] => {
  let i = 0
  while (i < strides.length && strides[i] === 0) i++
  if (i === strides.length) return stillStrides(i)
  const bytes = new Array<number>(strides.length)
  for (let k = 0; k < strides.length; k++) bytes[k] = strides[k]! * item
  return bytes
}

/** Canonical text of a kernel: equal text, equal kernel. */
export class KernelNames {
  private readonly bodies = new Codes()
  private readonly known = new Map<string, LoopKernel>()
  constructor(private readonly ids: Identities = new Identities()) {}
  /** Equal bodies have equal numbers. */
  private body({ inputs, ops, results }: Body): number {
    const { ids, bodies } = this
    const code = [inputs.length, ops.length]
    for (let i = 0; i < inputs.length; i++) code.push(ids.id(inputs[i]))
    for (let i = 0; i < ops.length; i++) {
      const { prim, params, args, dtype } = ops[i]!
      code.push(ids.id(prim), ids.paramsId(prim, params), ids.id(dtype), args.length)
      for (let k = 0; k < args.length; k++) code.push(args[k]!)
    }
    for (let i = 0; i < results.length; i++) code.push(results[i]!)
    const hash = bodies.hash(code)
    const known = bodies.find(code, hash)
    return known >= 0 ? known : bodies.add(code, hash)
  }
  /** Of equal loops the first: plans that are kept hold it once. */
  first(key: string, kernel: LoopKernel): LoopKernel {
    const known = this.known.get(key)
    if (known !== undefined) return known
    this.known.set(key, kernel)
    return kernel
  }
  loop(k: LoopKernel): string {
    let text = `loop${k.rank}|${this.body(k.body)}|`
    for (let i = 0; i < k.inputs.length; i++) text += k.inputs[i]![0]
    for (let i = 0; i < k.outputs.length; i++) {
      const { dtype, access, fold } = k.outputs[i]!
      text += `|${dtype}${access[0]}`
      if (fold === undefined) continue
      text += fold.op
      for (let a = 0; a < fold.axes.length; a++) text += fold.axes[a] === true ? 1 : 0
      if (fold.accumulate) text += '+'
    }
    return text
  }
  opaque(prim: AnyPrimitive, params: unknown, rest: string): string {
    return `${prim.name}#${this.ids.id(prim)}:${this.ids.paramsId(prim, params)}|${rest}`
  }
}
