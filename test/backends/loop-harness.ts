/** Loops run in a memory of their own: by WebAssembly, in plain JavaScript, and by the definition, index by index. */
// The packs of all functions: without them each lane would be the meaning that it is held against.
import '../../src/index.js'
import { runLoop, Views } from '../../src/backends/cpu/plain.js'
import { type RecordWriter, writeLoop } from '../../src/backends/cpu/records.js'
import { emitLoops } from '../../src/backends/cpu/wasm/loop.js'
import { loopScratchBytes } from '../../src/backends/cpu/wasm/totals.js'
import type { Access, Body, Fold, LoopKernel, LoopOutput } from '../../src/backends/plan/kernel.js'
import type { Operand as PlanOperand, Work } from '../../src/backends/plan/step.js'
import { itemBytes } from '../../src/core/graph/aval.js'
import { allocate, type TypedArray, viewOf } from '../../src/core/graph/ndarray.js'
import { type AnyPrimitive, scalarOf } from '../../src/core/graph/primitive.js'
import type { DType } from '../../src/core/types/dtype.js'

export interface Operand {
  readonly buffer: number
  /** In elements. */
  readonly offset: number
  readonly strides: readonly number[]
}
export interface Case {
  readonly kernel: LoopKernel
  readonly sizes: readonly number[]
  readonly buffers: readonly { readonly dtype: DType; readonly data: ArrayLike<number> }[]
  readonly operands: readonly Operand[]
}

const BASE = 1024
/** Addresses of the buffers, each with room of its own, not aligned to a vector. */
const layOut = (c: Case): { readonly at: readonly number[]; readonly end: number } => {
  let end = BASE
  const at = c.buffers.map((b) => {
    const here = end + 8
    end = Math.ceil((here + b.data.length * itemBytes[b.dtype]) / 8) * 8
    return here
  })
  return { at, end }
}
/** A word of a record before memory has addresses. */
export type Word = number | PlanOperand | Uint8Array | 'scratch'
/** The words that a step's record is written with. */
export const wordsOf = (write: (work: Work, to: RecordWriter) => void, work: Work): Word[] => {
  const words: Word[] = []
  const put = (word: number, x: Word): void => {
    if (words[word] !== undefined) throw new Error(`word ${word} is written twice`)
    words[word] = x
  }
  write(work, { number: put, address: put, scratch: (word) => put(word, 'scratch'), table: put })
  return words
}

const recordOf = (c: Case, at: readonly number[], scratch = 0): Int32Array => {
  const dtypes = [...c.kernel.body.inputs, ...c.kernel.outputs.map((o) => o.dtype)]
  const operands = c.operands.map((o, i) => {
    const item = itemBytes[dtypes[i]!]
    return { storage: o.buffer, offset: o.offset * item, strides: o.strides.map((s) => s * item) }
  })
  const n = c.kernel.body.inputs.length
  const words = wordsOf(writeLoop, { sizes: c.sizes, reads: operands.slice(0, n), writes: operands.slice(n) })
  return Int32Array.from(words, (w) =>
    w === 'scratch' ? scratch : typeof w === 'number' ? w : w instanceof Uint8Array ? 0 : at[w.storage]! + w.offset,
  )
}
const prepare = (c: Case, buffer: ArrayBuffer, at: readonly number[]): TypedArray[] =>
  c.buffers.map((b, i) => {
    const v = viewOf(b.dtype, buffer, at[i]!, b.data.length)
    v.set(b.data as never)
    return v
  })

/** A function made by emitLoops, ready to call with the address of its record. */
export const compileLoop = (kernel: LoopKernel, memory: WebAssembly.Memory): ((record: number) => void) => {
  // Cases are small: short chunks, so that there are several.
  const made = emitLoops([kernel], undefined, undefined, { chunk: 7 })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(made.module.finish()), {
    env: { memory },
    js: made.imports,
    Math: Math as unknown as WebAssembly.ModuleImports,
  })
  return exports[made.names[0]!] as (record: number) => void
}
/** The buffers of a loop as WebAssembly, and what runs it on what is in them. */
const byWasmAgain = (c: Case): { readonly views: TypedArray[]; readonly run: () => void } => {
  const { at, end } = layOut(c)
  const record = Math.ceil(end / 16) * 16
  const scratch = record + 4096
  const memory = new WebAssembly.Memory({ initial: Math.ceil((scratch + loopScratchBytes(c.kernel)(c.sizes)) / 65536) })
  const buffer = memory.buffer as ArrayBuffer
  const views = prepare(c, buffer, at)
  const w = recordOf(c, at, scratch)
  new Int32Array(buffer, record, w.length).set(w)
  const loop = compileLoop(c.kernel, memory)
  return { views, run: () => loop(record) }
}
/** The buffers after the loop ran as WebAssembly. */
export const byWasm = (c: Case): TypedArray[] => {
  const { views, run } = byWasmAgain(c)
  run()
  return views
}
/** The buffers after the loop ran in JavaScript. */
export const byPlain = (c: Case): TypedArray[] => {
  const { at, end } = layOut(c)
  const buffer = new ArrayBuffer(end)
  const views = prepare(c, buffer, at)
  runLoop(c.kernel, recordOf(c, at), new Views(buffer))
  return views
}

const store: Readonly<Record<DType, (x: number) => number>> = {
  f64: (x) => x,
  f32: Math.fround,
  i32: (x) => x | 0,
  bool: (x) => (x === 0 ? 0 : 1),
}
const folds: Readonly<Record<Fold, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  prod: (a, b) => a * b,
  max: (a, b) => Math.max(a, b),
  min: (a, b) => Math.min(a, b),
}
const identity = (op: Fold, dtype: DType): number => {
  if (op === 'sum') return 0
  if (op === 'prod') return 1
  if (dtype === 'i32') return op === 'max' ? -2147483648 : 2147483647
  return op === 'max' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
/** The buffers by the definition: what every point yields is found first, then stored or folded. */
export const byMeaning = (c: Case): TypedArray[] => {
  const buffers = c.buffers.map((b) => {
    const a = allocate(b.dtype, b.data.length)
    a.set(b.data as never)
    return a
  })
  const { body, outputs } = c.kernel
  const n = body.inputs.length
  const points: number[][] = [[]]
  for (const s of c.sizes) points.splice(0, points.length, ...points.flatMap((p) => Array.from({ length: s }, (_, i) => [...p, i])))
  const place = (o: Operand, p: readonly number[]): number => o.offset + o.strides.reduce((sum, s, a) => sum + s * p[a]!, 0)
  const yields = points.map((p) => {
    const values = body.inputs.map((_, k) => buffers[c.operands[k]!.buffer]![place(c.operands[k]!, p)]!)
    for (const o of body.ops) values.push(store[o.dtype](scalarOf(o.prim, o.params, o.dtype)(...o.args.map((a) => values[a]!))))
    return body.results.map((r) => values[r]!)
  })
  outputs.forEach((o, k) => {
    const operand = c.operands[n + k]!
    const data = buffers[operand.buffer]!
    const { fold } = o
    if (fold === undefined) {
      points.forEach((p, i) => {
        data[place(operand, p)] = yields[i]![k]!
      })
      return
    }
    const kept: number[][] = [[]]
    c.sizes.forEach((s, a) => {
      kept.splice(0, kept.length, ...kept.flatMap((p) => Array.from({ length: fold.axes[a] ? 1 : s }, (_, i) => [...p, i])))
    })
    const totals = new Map(kept.map((p) => [place(operand, p), fold.accumulate ? data[place(operand, p)]! : identity(fold.op, o.dtype)]))
    points.forEach((p, i) => {
      const at = place(operand, p)
      const y = folds[fold.op](totals.get(at)!, yields[i]![k]!)
      totals.set(at, o.dtype === 'i32' ? (fold.op === 'prod' ? Math.imul(totals.get(at)!, yields[i]![k]!) : y | 0) : y)
    })
    for (const [at, y] of totals) data[at] = y
  })
  return buffers
}

/** A primitive applied to values, by number. */
export const op = (prim: unknown, args: readonly number[], dtype: DType, params: unknown = {}): Body['ops'][0] => ({
  prim: prim as AnyPrimitive,
  params,
  args,
  dtype,
})
export const loop = (rank: number, body: Body, inputs: readonly Access[], outputs: readonly LoopOutput[]): LoopKernel => ({
  kind: 'loop',
  rank,
  body,
  inputs,
  outputs,
})
/** Row-major strides of a dense array. */
export const dense = (sizes: readonly number[]): number[] => sizes.map((_, a) => sizes.slice(a + 1).reduce((x, y) => x * y, 1))

/** One function over arrays of equal length, as a case: its operands and last the result. */
const caseOf = (
  prim: unknown,
  xs: readonly ArrayLike<number>[],
  from: readonly DType[],
  to: DType,
  params: unknown = {},
  wide = false,
): Case => {
  const n = xs[0]!.length
  const ops = [
    op(
      prim,
      xs.map((_, i) => i),
      to,
      params,
    ),
  ]
  // An f64 value beside makes the loop two lanes wide.
  const inputs = wide ? [...from, 'f64' as const] : from
  const kernel = loop(
    1,
    { inputs, ops, results: [inputs.length] },
    inputs.map((_, i) => (i < xs.length ? 'unit' : 'zero')),
    [{ dtype: to, access: 'unit' }],
  )
  const out = inputs.length
  return {
    kernel,
    sizes: [n],
    buffers: [
      ...xs.map((data, i) => ({ dtype: from[i]!, data })),
      ...(wide ? [{ dtype: 'f64' as const, data: [0] }] : []),
      { dtype: to, data: new Float64Array(n) },
    ],
    operands: [
      ...inputs.map((_, i) => ({ buffer: i, offset: 0, strides: [i < xs.length ? 1 : 0] })),
      { buffer: out, offset: 0, strides: [1] },
    ],
  }
}
/** One function over arrays of equal length: the result's array. */
export const mapOver = (...of: Parameters<typeof caseOf>) => byWasm(caseOf(...of)).at(-1)!
/** The same one element at a time, each by a loop of one step. */
export const oneByOne = (
  prim: unknown,
  xs: readonly ArrayLike<number>[],
  from: readonly DType[],
  to: DType,
  params: unknown = {},
): number[] => {
  const { views, run } = byWasmAgain(
    caseOf(
      prim,
      xs.map((x) => [x[0]!]),
      from,
      to,
      params,
    ),
  )
  return Array.from(xs[0]!, (_, i) => {
    xs.forEach((x, k) => {
      views[k]![0] = x[i]!
    })
    run()
    return views.at(-1)![0]!
  })
}

/** Units in the last place of the dtype between a value and what it should be; Infinity where the kind differs. */
export const ulps = (got: number, want: number, dtype: 'f32' | 'f64'): number => {
  const rounded = dtype === 'f32' ? Math.fround(want) : want
  if (Object.is(got, rounded)) return 0
  if (Number.isNaN(want) || Number.isNaN(got) || !Number.isFinite(got)) return Number.POSITIVE_INFINITY
  if (!Number.isFinite(rounded)) return Number.POSITIVE_INFINITY
  if (rounded === 0) return got === 0 ? Number.POSITIVE_INFINITY : Math.abs(got) / (dtype === 'f32' ? 2 ** -149 : 2 ** -1074)
  const [digits, low] = dtype === 'f32' ? [23, -126] : [52, -1022]
  const e = Math.max(Math.floor(Math.log2(Math.abs(rounded))), low)
  return Math.abs(got - want) / 2 ** Math.max(e - digits, -1074)
}
