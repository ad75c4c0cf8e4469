/** From nodes to values: equal ones shared, layout operations turned into views, small scalar programs written out. */
import { APPLY, CONST, INPUT, type Linear, linearize, type Node, OUTPUT, resultAvals } from '../../core/expr.js'
import { Identities } from '../../core/identity.js'
import { withoutCustom } from '../../core/ops/custom.js'
import type { MapParams } from '../../core/ops/map.js'
import { mapPrimitive } from '../../core/ops/map.js'
import type { AnyPrimitive } from '../../core/primitive.js'
import { capturedTensor, type Program } from '../../core/program.js'
import { sameShape } from '../../core/shape.js'
import type { Tensor } from '../../core/tensor.js'
import type { DType } from '../../core/types/dtype.js'
import { Builder } from './builder.js'
import { lowerings } from './lower.js'
import { ALL_PASSES, type Without } from './passes.js'
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

/** Scalar programs in linear order, with their literals; equal regions share a program, so this is made once for many. */
interface Scalars {
  readonly linear: Linear
  readonly literals: readonly Node[]
}
const scalarsOf = (): ((p: Program) => Scalars) => {
  const made = new Map<Program, Scalars>()
  return (p) => {
    let s = made.get(p)
    if (s === undefined) {
      const linear = linearize(p.outputs)
      s = { linear, literals: linear.nodes.filter((n) => n.kind === CONST) }
      made.set(p, s)
    }
    return s
  }
}

/** From nodes to values. */
export const buildIr = (program: Program, ids: Identities = new Identities(), without: Without = ALL_PASSES): Ir => {
  const roots = withoutCustom(program.outputs)
  const { nodes, index } = linearize(roots)
  const b = new Builder(ids, without)
  const at: Int32Array = new Int32Array(nodes.length)
  const results = new Map<number, readonly number[]>()
  const inputOf = new Map<Node, number>()
  const captured: { value: number; tensor: Tensor }[] = []
  const byTensor = new Map<Tensor, number>()
  const inputs = program.inputs.map((x) => {
    if (!index.has(x)) return -1
    const id = b.input(x.shape, x.dtype)
    inputOf.set(x, id)
    return id
  })
  for (const x of program.captured) {
    const tensor = capturedTensor(x)!
    let id = byTensor.get(tensor)
    if (id === undefined) {
      id = b.input(x.shape, x.dtype)
      byTensor.set(tensor, id)
      captured.push({ value: id, tensor })
    }
    inputOf.set(x, id)
  }
  const scalar = (prim: AnyPrimitive, params: unknown, args: readonly number[], shape: readonly number[], dtype: DType): number =>
    prim.alias === true ? args[0]! : (simplified(b, prim, args, shape) ?? b.make('scalar', prim, params, args, shape, dtype))
  const scalars = scalarsOf()
  const inlineMap = (p: Program, args: readonly number[], shape: readonly number[]): number[] => {
    const inner = scalars(p).linear
    const made = new Int32Array(inner.nodes.length)
    const given = new Map(p.inputs.map((x, i) => [x, args[i]!]))
    inner.nodes.forEach((n, i) => {
      if (n.kind === INPUT) made[i] = given.get(n)!
      else if (n.kind === CONST) made[i] = b.constant(n.data as number, n.dtype)
      else {
        const xs = n.args.map((a) => made[inner.index.get(a)]!)
        const s = xs.every((x) => b.value(x).constant) ? [] : shape
        made[i] = scalar(n.prim!, n.data, xs, s, n.dtype)
      }
    })
    return p.outputs.map((o) => {
      const id = made[inner.index.get(o)]!
      const v = b.value(id)
      return sameShape(v.shape, shape)
        ? id
        : b.makeView({ base: b.viewOf(id).base, offset: b.viewOf(id).offset, strides: broadcastOf(b, id, shape) }, shape, v.dtype)
    })
  }
  for (let i = 0; i < nodes.length; i++) {
    const n = nodes[i]!
    if (n.kind === INPUT) at[i] = inputOf.get(n)!
    else if (n.kind === CONST) at[i] = b.constant(n.data as number, n.dtype)
    else if (n.kind === OUTPUT) at[i] = results.get(index.get(n.args[0]!))![n.data as number]!
    else if (n.kind === APPLY) {
      const prim = n.prim!
      const args: number[] = []
      for (const a of n.args) args.push(at[index.get(a)]!)
      const avals = prim.multi ? resultAvals(n) : [n.aval]
      let out: readonly number[]
      if (prim === mapPrimitive) {
        const p = (n.data as MapParams).program
        const shape = avals[0]?.shape ?? []
        const { linear, literals } = scalars(p)
        if (linear.nodes.length <= WRITE_OUT && !without.has('writeOut')) out = inlineMap(p, args, shape)
        else {
          // Literals inside the program are arguments of the loop: other numbers, same kernel.
          for (const m of literals) args.push(b.constant(m.data as number, m.dtype))
          const whole = b.make('map', prim, n.data, args, shape, avals[0]!.dtype)
          out = avals.map((a, k) => b.make('result', null, null, [whole], a.shape, a.dtype, k))
        }
      } else if (prim.class === 'elementwise') out = [scalar(prim, n.data, args, n.aval.shape, n.aval.dtype)]
      else {
        const lower = lowerings[prim.name as keyof typeof lowerings]
        out =
          lower !== undefined && lower.prim === prim ? lower.lower(b, args, n.data as never, avals) : opaque(b, prim, n.data, args, avals)
      }
      if (prim.multi) results.set(i, out)
      at[i] = out[0]!
    }
  }
  const outputs = roots.map((o) => owned(b, at[index.get(o)]!))
  const { words, number } = b.key(outputs)
  // Slots of literals and captured tensors in the key's order: equal keys, equal slots.
  const used = <T extends { readonly value: number }>(list: readonly T[]): T[] => {
    const at = new Int32Array(b.values.length).fill(-1)
    list.forEach((x, i) => {
      if (number[x.value]! >= 0) at[number[x.value]!] = i
    })
    const out: T[] = []
    for (let i = 0; i < at.length; i++) if (at[i]! >= 0) out.push(list[at[i]!]!)
    return out
  }
  words.push(-5)
  for (const o of outputs) words.push(number[o]!)
  words.push(-6)
  for (const i of inputs) words.push(i < 0 ? -1 : number[i]!)
  return {
    values: b.values,
    outputs,
    inputs: inputs.map((i) => (i >= 0 && number[i]! >= 0 ? i : -1)),
    captured: used(captured),
    consts: used(b.consts),
    key: words.toArray(),
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
const owned = (b: Builder, id: number): number => (b.isContiguous(id) && !b.value(b.viewOf(id).base).constant ? id : b.copy(id))

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
