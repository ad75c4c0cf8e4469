/** From nodes to values: equal ones shared, layout operations turned into views, small scalar programs written out. */
import { plannerOf } from '../../core/calculus/pack.js'
import { expandAll, isScalarProgram, scalarProgramOf } from '../../core/graph/expand.js'
import { CONST, capturedTensor, INPUT, type Node, resultAvals } from '../../core/graph/expr.js'
import { Identities } from '../../core/graph/identity.js'
import { orderOf } from '../../core/graph/order.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { Program } from '../../core/graph/program.js'
import { fold } from '../../core/graph/rewrite.js'
import { contiguousIn, sameShape } from '../../core/graph/shape.js'
import type { Tensor } from '../../core/graph/tensor.js'
import type { DType } from '../../core/types/dtype.js'
import { Builder } from './builder.js'
import type { LoopPlanner } from './loops.js'
import { loweringOf } from './lower.js'
import { ALL_PASSES, type Without } from './passes.js'
import type { Needed } from './repeat.js'
import type { Ir } from './value.js'

export type { Ir, Value, View } from './value.js'

/** Scalar programs up to this size are written out, so that they fuse with their neighbours; larger ones stay one loop. */
const WRITE_OUT = 128

/** Bit-preserving rewrites of one scalar operation: x * 1, 1 * x, x / 1. */
const simplified = (b: Builder, prim: AnyPrimitive, args: readonly number[], shape: readonly number[]): number | undefined => {
  const whole = (k: number): number | undefined => (sameShape(b.value(args[k]!).shape, shape) ? args[k] : undefined)
  const identity = prim.identity
  if (identity === undefined || b.without.has('simplify')) return undefined
  for (let k = 0; k < args.length; k++) {
    const e = identity[k]
    if (e === undefined || e === null) continue
    const x = b.literal(args[k]!)
    if (x !== undefined && Object.is(x, e)) return whole(1 - k)
  }
  return undefined
}

/** What plans an application as a loop: the one place where the planner asks for it. A program without loops holds none of it. */
const loopPlanner = (n: Node): LoopPlanner | undefined => {
  if (n.prim?.structure?.kind !== 'loop') return undefined
  const planner = plannerOf('loop') as LoopPlanner | undefined
  return planner?.isLoop(n) === true ? planner : undefined
}
const isLoop = (n: Node): boolean => loopPlanner(n) !== undefined

/** Makes the values of nodes, one after the other. */
export class Values {
  readonly builder: Builder
  private readonly inputOf = new Map<Node, number>()
  private readonly needed: Needed | undefined
  private readonly loops: LoopPlanner | undefined
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  readonly captured: { value: number; tensor: Tensor }[] = []

  constructor(
    program: Program,
    roots: readonly Node[],
    readonly ids: Identities,
    readonly without: Without,
  ) {
    this.builder = new Builder(ids, without)
    const { nodes, index } = orderOf(roots)
    const first = nodes.find(isLoop)
    this.loops = first && loopPlanner(first)
    this.needed = this.loops?.neededOf(nodes, roots, without)
    this.inputs = program.inputs.map((x) => (index.has(x) ? this.input(x) : -1))
    const byTensor = new Map<Tensor, number>()
    for (const x of program.captured) {
      const tensor = capturedTensor(x)!
      const known = byTensor.get(tensor)
      if (known !== undefined) this.inputOf.set(x, known)
      else {
        const value = this.input(x)
        byTensor.set(tensor, value)
        this.captured.push({ value, tensor })
      }
    }
    this.outputs = fold<number>(roots, {
      ...(this.needed !== undefined && { at: (n) => (this.needed!.has(n) ? undefined : -1) }),
      leaf: (n) => (n.kind === INPUT ? this.inputOf.get(n)! : this.builder.constant(n.payload as number, n.dtype)),
      apply: (n, args) => this.apply(n, args),
    })
  }
  private input(x: Node): number {
    const id = this.builder.input(x.shape, x.dtype)
    this.inputOf.set(x, id)
    return id
  }

  private apply(n: Node, args: readonly number[]): readonly number[] {
    const prim = n.prim!
    if (isScalarProgram(prim)) return this.program(n, args)
    const loop = this.needed?.loops.get(n)
    if (loop !== undefined) return this.loops!.make(this, n, loop, args)
    if (prim.class === 'elementwise') return [this.scalar(prim, n.payload, args, n.aval.shape, n.aval.dtype)]
    const lower = loweringOf(prim)
    const avals = resultAvals(n)
    return lower !== undefined
      ? lower(this.builder, prim, args, n.payload as never, avals)
      : opaque(this.builder, prim, n.payload, args, avals)
  }
  private scalar(prim: AnyPrimitive, params: unknown, args: readonly number[], shape: readonly number[], dtype: DType): number {
    const b = this.builder
    return prim.alias === true ? args[0]! : (simplified(b, prim, args, shape) ?? b.make('scalar', prim, params, args, shape, dtype))
  }
  /** A program of scalars: its operations where it is small, else one value that a loop of its own computes. */
  private program(n: Node, args: readonly number[]): readonly number[] {
    const p = scalarProgramOf(n.prim!, n.payload)
    const avals = resultAvals(n)
    const { nodes } = orderOf(p.outputs)
    if (nodes.length <= WRITE_OUT && !this.without.has('writeOut')) return this.inlined(p, args, avals[0]?.shape ?? [])
    // Literals inside the program are arguments of the loop: other numbers, same kernel.
    const b = this.builder
    const literals = nodes.filter((m) => m.kind === CONST)
    const all = [...args, ...literals.map((m) => b.constant(m.payload as number, m.dtype))]
    const whole = b.make('program', n.prim, n.payload, all, avals[0]!.shape, avals[0]!.dtype)
    return avals.map((a, k) => b.make('result', null, null, [whole], a.shape, a.dtype, k))
  }
  private inlined(p: Program, args: readonly number[], shape: readonly number[]): readonly number[] {
    const b = this.builder
    const given = new Map(p.inputs.map((x, i) => [x, args[i]!]))
    const made = fold<number>(p.outputs, {
      leaf: (n) => (n.kind === INPUT ? given.get(n)! : b.constant(n.payload as number, n.dtype)),
      apply: (n, xs) => [this.scalar(n.prim!, n.payload, xs, xs.every((x) => b.value(x).constant) ? [] : shape, n.dtype)],
    })
    return made.map((id) => {
      const v = b.value(id)
      if (sameShape(v.shape, shape)) return id
      return b.makeView({ base: b.viewOf(id).base, offset: b.viewOf(id).offset, strides: broadcastOf(b, id, shape) }, shape, v.dtype)
    })
  }
}

/** Those of a list whose values have a number in a key, in the key's order: equal keys, equal slots. */
const inKeyOrder = <T extends { readonly value: number }>(list: readonly T[], number: Int32Array): T[] => {
  const out: T[] = []
  if (list.length === 0) return out
  const at = new Int32Array(number.length).fill(-1)
  for (let i = 0; i < list.length; i++) {
    const place = number[list[i]!.value]!
    if (place >= 0) at[place] = i
  }
  for (let i = 0; i < at.length; i++) if (at[i]! >= 0) out.push(list[at[i]!]!)
  return out
}

/** From nodes to values. */
export const buildIr = (program: Program, ids: Identities = new Identities(), without: Without = ALL_PASSES): Ir =>
  irOf(program, ids, without, (b, ids) => ids.map((id) => owned(b, id)))

/** The values of a program's results, as `returned` makes them of what was made. */
export const irOf = (
  program: Program,
  ids: Identities,
  without: Without,
  returned: (b: Builder, made: readonly number[], inputs: readonly number[]) => readonly number[],
): Ir => {
  const loops = !without.has('loops')
  const roots = expandAll(
    program.outputs,
    (n) => (n.prim!.expand === undefined || isScalarProgram(n.prim!) || (loops && isLoop(n)) ? undefined : n.prim!.expand),
    'planning',
    1000,
  )
  const made = new Values(program, roots, ids, without)
  const b = made.builder
  const outputs = returned(b, made.outputs, made.inputs)
  const { words, number } = b.key(outputs)
  words.push(-5)
  for (const o of outputs) words.push(number[o]!)
  words.push(-6)
  for (const i of made.inputs) words.push(i < 0 ? -1 : number[i]!)
  return {
    values: b.values,
    outputs,
    inputs: made.inputs.map((i) => (i >= 0 && number[i]! >= 0 ? i : -1)),
    captured: inKeyOrder(made.captured, number),
    consts: inKeyOrder(b.consts, number),
    key: new Int32Array(words),
  }
}

const broadcastOf = (b: Builder, id: number, shape: readonly number[]): number[] => {
  const v = b.value(id)
  const s = b.viewOf(id).strides
  return shape.map((_, i) => {
    const j = i - (shape.length - v.shape.length)
    return j < 0 || v.shape[j] === 1 ? 0 : s[j]!
  })
}

/** The value contiguous in a storage: itself, or a copy of a strided view or of a literal. */
export const owned = (b: Builder, id: number): number => (b.isContiguous(id) && !b.value(b.viewOf(id).base).constant ? id : b.copy(id))

/** An array whose slices along the first axis are contiguous: itself, or a copy. */
export const rows = (b: Builder, id: number): number => {
  const { shape } = b.value(id)
  const { strides } = b.viewOf(id)
  return contiguousIn(shape.slice(1), strides.slice(1)) ? id : owned(b, id)
}

const opaque = (
  b: Builder,
  prim: AnyPrimitive,
  params: unknown,
  args: readonly number[],
  avals: readonly { readonly shape: readonly number[]; readonly dtype: DType }[],
): readonly number[] => {
  const whole = b.make(
    'opaque',
    prim,
    params,
    args.map((a) => owned(b, a)),
    avals[0]!.shape,
    avals[0]!.dtype,
  )
  return prim.multi ? avals.map((a, k) => b.make('result', null, null, [whole], a.shape, a.dtype, k)) : [whole]
}
