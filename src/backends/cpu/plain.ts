/** Kernels in plain JavaScript over views of the memory: for engines without SIMD, and to compare the others with. */
import { itemBytes } from '../../core/graph/aval.js'
import { type TypedArray, viewOf } from '../../core/graph/ndarray.js'
import { scalarOf } from '../../core/graph/primitive.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { DType } from '../../core/types/dtype.js'
import { type Body, type Fold, identityOf, type LoopKernel } from '../plan/kernel.js'
import { addressAt, LoopRecord } from './records.js'

/** Typed arrays of each dtype over a whole memory. */
export class Views {
  private readonly made = new Map<DType, TypedArray>()
  constructor(readonly buffer: ArrayBuffer) {}
  get(dtype: DType): TypedArray {
    let v = this.made.get(dtype)
    if (v === undefined) {
      v = viewOf(dtype, this.buffer, 0, Math.floor(this.buffer.byteLength / itemBytes[dtype]))
      this.made.set(dtype, v)
    }
    return v
  }
}

/** Math.max and Math.min keep NaN. */
const folds: Readonly<Record<Fold, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  prod: (a, b) => a * b,
  max: Math.max,
  min: Math.min,
}
const foldOf = (op: Fold, dtype: DType): ((a: number, b: number) => number) => (op === 'prod' && dtype === 'i32' ? Math.imul : folds[op])
const rounded = (x: number, dtype: DType): number => (dtype === 'f32' ? Math.fround(x) : dtype === 'i32' ? x | 0 : x)

/** One point of a body: reads values 0..inputs-1, writes the others. */
const bodyFunction = (body: Body): ((values: Float64Array) => void) => {
  const n = body.inputs.length
  const steps = body.ops.map((o, i) => ({ f: scalarOf(o.prim, o.params, o.dtype), args: o.args, to: n + i, dtype: o.dtype }))
  return (values) => {
    for (const s of steps) {
      const a = s.args
      const y =
        a.length === 1
          ? s.f(values[a[0]!]!)
          : a.length === 2
            ? s.f(values[a[0]!]!, values[a[1]!]!)
            : a.length === 3
              ? s.f(values[a[0]!]!, values[a[1]!]!, values[a[2]!]!)
              : s.f(...a.map((k) => values[k]!))
      values[s.to] = rounded(y, s.dtype)
    }
  }
}

/** Runs a loop kernel on its record. Folds are kept in f64 until the end. */
export const runLoop = (kernel: LoopKernel, record: Int32Array, views: Views): void => {
  const { rank, body, outputs } = kernel
  const ni = body.inputs.length
  const word = new LoopRecord(rank, ni + outputs.length)
  const sizes = Array.from({ length: rank }, (_, a) => record[word.size(a)]!)
  const total = sizeOf(sizes)
  const dtypes: DType[] = [...body.inputs, ...outputs.map((o) => o.dtype)]
  const data = dtypes.map((d) => views.get(d))
  const start = dtypes.map((d, k) => addressAt(record, word.address(k)) / itemBytes[d])
  const strides = dtypes.map((d, k) => sizes.map((_, a) => record[word.stride(k, a)]! / itemBytes[d]))
  const totals = outputs.map((o) => (o.fold === undefined ? undefined : new Map<number, number>()))
  outputs.forEach((o, k) => {
    if (o.fold === undefined) return
    // Every kept index once: its starting value.
    const table = totals[k]!
    const kept = Array.from({ length: rank }, (_, a) => (o.fold!.axes[a] ? 1 : sizes[a]!))
    const count = sizeOf(kept)
    for (let i = 0; i < count; i++) {
      let rest = i
      let at = start[ni + k]!
      for (let a = rank - 1; a >= 0; a--) {
        at += (rest % kept[a]!) * strides[ni + k]![a]!
        rest = Math.floor(rest / kept[a]!)
      }
      table.set(at, o.fold.accumulate ? data[ni + k]![at]! : identityOf(o.fold.op, o.dtype))
    }
  })
  const combine = outputs.map((o) => (o.fold === undefined ? undefined : foldOf(o.fold.op, o.dtype)))
  const values = new Float64Array(ni + body.ops.length)
  const point = bodyFunction(body)
  const index = new Int32Array(rank)
  const at = Uint32Array.from(start)
  for (let i = 0; i < total; i++) {
    for (let k = 0; k < ni; k++) values[k] = data[k]![at[k]!]!
    point(values)
    for (let k = 0; k < outputs.length; k++) {
      const y = values[body.results[k]!]!
      const p = at[ni + k]!
      const table = totals[k]
      if (table === undefined) data[ni + k]![p] = y
      else table.set(p, combine[k]!(table.get(p)!, y))
    }
    for (let a = rank - 1; a >= 0; a--) {
      index[a]!++
      for (let k = 0; k < at.length; k++) at[k]! += strides[k]![a]!
      if (index[a]! < sizes[a]!) break
      for (let k = 0; k < at.length; k++) at[k]! -= strides[k]![a]! * sizes[a]!
      index[a] = 0
    }
  }
  totals.forEach((table, k) => {
    if (table !== undefined) for (const [p, y] of table) data[ni + k]![p] = y
  })
}
