/**
 * Provenance: a plan's steps run on symbols in place of numbers. Every element of every storage holds how it was computed; so each read is
 * shown to see exactly what the program says: in bounds, alive, complete, through strides, parts, accumulators and in-place writes.
 */
import { raise } from '../../core/errors/explain.js'
import type { Identities } from '../../core/graph/identity.js'
import type { Program } from '../../core/graph/program.js'
import { sizeOf } from '../../core/graph/shape.js'
import { UNBOUNDED } from '../../core/ops/control/control.js'
import type { DType } from '../../core/types/dtype.js'
import type { Start } from './f16-storage.js'
import type { GemmKernel, LoopKernel, OpaqueKernel } from './kernel.js'
import type { Plan } from './plan.js'
import { type Loop, movedOperand, movedStep, type Part, partsOf, timesOf } from './repeat.js'
import { argumentsOf, type Operand, type Step } from './step.js'
import {
  capturedSymbol,
  choice,
  foldOf,
  inputSymbol,
  literalSymbol,
  meaningOf,
  operation,
  plus,
  productOf,
  SHOWN,
  type Symbols,
  symbolsOf,
} from './symbols.js'
import type { Ir, ItemBytes } from './value.js'

const fail = (law: string, detail: string): never => raise({ _tag: 'InternalLaw', law, detail })

/** What a plan is held against. */
export interface Claim {
  readonly program: Program
  readonly ir: Ir
  readonly plan: Plan
  readonly itemBytes: ItemBytes
}

/** The loops as they are shown: one that its condition alone ends takes a few iterations. */
const shownLoops = ({ loops }: Plan): readonly Loop[] => loops.map((l) => (l.count === UNBOUNDED ? { ...l, count: SHOWN } : l))

/** Elements that checking a plan visits or holds, about: what decides whether it is done. */
export const costOf = (plan: Plan): number => {
  const { steps, kernels, arenaBytes, f16Bytes, givenBytes } = plan
  const times = timesOf(steps, shownLoops(plan))
  return steps.reduce(
    (n, s, i) => {
      const k = kernels[s.kernel]!
      if (k.kind === 'loop') return n + times[i]! * sizeOf(s.sizes) * (1 + k.body.ops.length + s.reads.length + s.writes.length)
      if (k.kind === 'gemm') return n + times[i]! * sizeOf(s.sizes)
      return n + times[i]! * [...k.args, ...k.results].reduce((m, a) => m + sizeOf(a.shape), 0)
    },
    (arenaBytes + f16Bytes + givenBytes) / 8,
  )
}

/** Inside an element that begins before. */
const INSIDE = 255

/** Before step -1, in which the inputs are fed. */
const NEVER = -2
/** Where a running total is read and written: at no point of its loop. */
const NO_POINT = 2 ** 31 - 1

/** One arena of symbols. Addresses count units of so many bytes. */
class Arena {
  private readonly symbols: Float64Array
  /** Units of the element that begins here; 0 where nothing was written. */
  private readonly width: Uint8Array
  /** The last step that read each unit, and the point of its loop (-1: several). */
  private readonly readStep: Int32Array
  private readonly readPoint: Int32Array
  private readonly writeStep: Int32Array
  constructor(
    bytes: number,
    readonly unit: number,
  ) {
    const n = Math.ceil(bytes / unit) + 8
    this.symbols = new Float64Array(n)
    this.width = new Uint8Array(n)
    this.readStep = new Int32Array(n).fill(NEVER)
    this.readPoint = new Int32Array(n)
    this.writeStep = new Int32Array(n).fill(NEVER)
  }
  /** What lay where something was written since the journal was begun, by unit; undefined while none is kept. */
  private journal: Map<number, { readonly symbol: number; readonly width: number }> | undefined
  private note(u: number): void {
    const { journal } = this
    if (journal !== undefined && !journal.has(u)) journal.set(u, { symbol: this.symbols[u]!, width: this.width[u]! })
  }
  /**
   * Runs what may be left out: afterwards an element is what `either` makes of what was written and what lay there before, and where there was no such element before, or none is left, none may be
   * read.
   */
  perhaps(run: () => void, either: (written: number, before: number) => number): void {
    const outer = this.journal
    const journal = new Map<number, { readonly symbol: number; readonly width: number }>()
    this.journal = journal
    run()
    this.journal = outer
    for (const [u, { symbol, width }] of journal) {
      if (outer !== undefined && !outer.has(u)) outer.set(u, { symbol, width })
      if (this.width[u] !== width) this.width[u] = 0
      else if (width !== 0 && width !== INSIDE) this.symbols[u] = either(this.symbols[u]!, symbol)
    }
  }
  /** The symbol of an element between steps. */
  peek(byte: number, bytes: number, where: () => string): number {
    const u = byte / this.unit
    if (this.width[u]! * this.unit !== bytes) fail('every flag is read as it was written', where())
    return this.symbols[u]!
  }
  read(byte: number, bytes: number, step: number, point: number, where: () => string): number {
    const u = byte / this.unit
    const w = this.width[u]!
    if (w === 0) fail('every read is of written memory', where())
    if (w * this.unit !== bytes) fail('elements are read as they were written', `${where()}, ${bytes} bytes at ${byte}`)
    if (this.readStep[u] !== step) {
      this.readStep[u] = step
      this.readPoint[u] = point
    } else if (this.readPoint[u] !== point) this.readPoint[u] = -1
    return this.symbols[u]!
  }
  /** `point`: the only point that may have read what was here; -1: none may. */
  write(byte: number, bytes: number, symbol: number, step: number, point: number, where: () => string): void {
    const u = byte / this.unit
    const w = bytes / this.unit
    // What begins before and reaches in here is no element any more.
    let start = u
    while (this.width[start] === INSIDE) start--
    if (start < u) {
      this.note(start)
      this.width[start] = 0
    }
    for (let i = u; i < u + w; i++) {
      this.note(i)
      if (this.readStep[i] === step && (point < 0 || this.readPoint[i] !== point))
        fail('nothing is overwritten in the step that reads it, but by the point that did', where())
      if (this.writeStep[i] === step) fail('a step writes each element once', where())
      this.writeStep[i] = step
      this.width[i] = INSIDE
    }
    for (let i = u + w; this.width[i] === INSIDE; i++) {
      this.note(i)
      this.width[i] = 0
    }
    this.width[u] = w
    this.symbols[u] = symbol
  }
}

class Run {
  private readonly words: Arena
  private readonly f16: Arena
  private readonly given: Arena
  private step = -1
  /** Counts steps as they run: those of loops again and again. */
  private run = -1
  private readonly choose: (xs: readonly number[]) => number
  constructor(
    private readonly claim: Claim,
    private readonly ids: Identities,
  ) {
    const { plan, itemBytes } = claim
    const narrow = plan.kernels.some((k) =>
      k.kind === 'loop'
        ? [...k.body.inputs, ...k.outputs.map((o) => o.dtype)].some((d) => itemBytes[d] === 1)
        : k.kind === 'opaque' && [...k.args, ...k.results].some((a) => itemBytes[a.dtype] === 1),
    )
    const bools = [...claim.program.inputs, ...claim.program.captured].some((x) => itemBytes[x.dtype] === 1)
    this.words = new Arena(plan.arenaBytes, narrow || bools ? 1 : 4)
    this.f16 = new Arena(plan.f16Bytes, 2)
    this.given = new Arena(plan.givenBytes, 4)
    this.choose = choice(ids)
  }

  private bytesOf(dtype: DType, f16: boolean): number {
    return f16 ? 2 : this.claim.itemBytes[dtype]
  }
  /** The arena and the address of an element, inside its storage. */
  private at(storage: number, byte: number, bytes: number): { readonly arena: Arena; readonly address: number } {
    const s = this.claim.plan.storages[storage]!
    if (byte < 0 || byte + bytes > s.bytes || byte % bytes !== 0)
      fail(
        'every access lies inside its storage',
        `step ${this.step}: ${bytes} bytes at ${byte} of storage ${storage}, which has ${s.bytes}`,
      )
    if (!(s.first <= this.step && this.step <= s.last))
      fail('every access is to a live storage', `step ${this.step}: storage ${storage} lives ${s.first}..${s.last}`)
    return { arena: s.given ? this.given : s.f16 ? this.f16 : this.words, address: s.offset + byte }
  }
  private literal(storage: number): number {
    return literalSymbol(this.claim.ir.consts[-1 - storage]!.number)
  }
  private read(storage: number, byte: number, dtype: DType, point: number): number {
    if (storage < 0) return this.literal(storage)
    const bytes = this.bytesOf(dtype, this.claim.plan.storages[storage]!.f16)
    const { arena, address } = this.at(storage, byte, bytes)
    return arena.read(address, bytes, this.run, point, () => `step ${this.step} reads byte ${byte} of storage ${storage}`)
  }
  private write(storage: number, byte: number, dtype: DType, symbol: number, point: number): void {
    if (storage < 0) fail('no literal is written', `step ${this.step}`)
    const bytes = this.bytesOf(dtype, this.claim.plan.storages[storage]!.f16)
    const { arena, address } = this.at(storage, byte, bytes)
    arena.write(address, bytes, symbol, this.run, point, () => `step ${this.step} writes byte ${byte} of storage ${storage}`)
  }
  /** The elements of an array; `pointwise`: each is read by the point of its own number, which may overwrite it. */
  private array({ storage, offset }: Start, shape: readonly number[], dtype: DType, pointwise = false): Symbols {
    const f16 = storage >= 0 && this.claim.plan.storages[storage]!.f16
    const item = this.bytesOf(dtype, f16)
    return {
      shape,
      data: Float64Array.from({ length: sizeOf(shape) }, (_, i) => this.read(storage, offset + i * item, dtype, pointwise ? i : -1)),
    }
  }

  private loop(k: LoopKernel, s: Step): void {
    const { body, outputs } = k
    const ni = body.inputs.length
    const ops = body.ops.map((o) => ({ f: operation(o.prim, o.params, this.ids), args: o.args, xs: new Array<number>(o.args.length) }))
    const values = new Float64Array(ni + ops.length)
    const operands = [...s.reads, ...s.writes]
    const offsets = operands.map((o) => o.offset)
    const strides = operands.map((o) => (o.storage < 0 ? s.sizes.map(() => 0) : o.strides))
    const folds = outputs.map((o) => (o.fold === undefined ? undefined : foldOf(o.fold.op)))
    const totals = outputs.map(() => new Map<number, { sum: number; count: number; last: number }>())
    outputs.forEach((o, j) => {
      if (o.fold === undefined) return
      const kept = s.sizes.map((d, a) => (o.fold!.axes[a] ? 1 : d))
      eachPoint(kept, [strides[ni + j]!], [offsets[ni + j]!], ([at]) => void totals[j]!.set(at!, { sum: 0, count: 0, last: 0 }))
    })
    // Every point reads before any writes: the points of a loop run in any order.
    const written: { j: number; at: number; symbol: number; point: number }[] = []
    eachPoint(s.sizes, strides, offsets, (at, point) => {
      for (let i = 0; i < ni; i++) values[i] = this.read(s.reads[i]!.storage, at[i]!, body.inputs[i]!, point)
      for (let i = 0; i < ops.length; i++) {
        const { f, args, xs } = ops[i]!
        for (let a = 0; a < args.length; a++) xs[a] = values[args[a]!]!
        values[ni + i] = f(xs)
      }
      for (let j = 0; j < outputs.length; j++) {
        const symbol = values[body.results[j]!]!
        const f = folds[j]
        if (f === undefined) written.push({ j, at: at[ni + j]!, symbol, point })
        else {
          const total = totals[j]!.get(at[ni + j]!)!
          total.sum = plus(total.sum, f.term(symbol))
          total.count++
          total.last = symbol
        }
      }
    })
    for (const { j, at, symbol, point } of written) this.write(s.writes[j]!.storage, at, outputs[j]!.dtype, symbol, point)
    outputs.forEach((o, j) => {
      if (o.fold === undefined) return
      const { storage } = s.writes[j]!
      if (o.fold.accumulate && o.fold.op !== 'sum') fail('only sums accumulate', `step ${this.step}: ${o.fold.op}`)
      for (const [at, { sum, count, last }] of totals[j]!) {
        const before = o.fold.accumulate ? this.read(storage, at, o.dtype, NO_POINT) : 0
        this.write(storage, at, o.dtype, plus(before, folds[j]!.result(sum, count, last)), o.fold.accumulate ? NO_POINT : -1)
      }
    })
  }

  private gemm(k: GemmKernel, s: Step): void {
    const [count, m, n, depth] = s.sizes as readonly [number, number, number, number]
    const [c] = s.writes as readonly [Operand]
    const [a, b] = s.reads as readonly [Operand, Operand]
    const at = (o: Operand, t: number, i: number, j: number): number => o.offset + t * o.strides[0]! + i * o.strides[1]! + j * o.strides[2]!
    const product = productOf(this.ids)
    const results: number[] = []
    for (let t = 0; t < count; t++)
      for (let i = 0; i < m; i++)
        for (let j = 0; j < n; j++) {
          let sum = 0
          for (let l = 0; l < depth; l++)
            sum = plus(sum, product(this.read(a.storage, at(a, t, i, l), k.dtype, -1), this.read(b.storage, at(b, t, l, j), k.dtype, -1)))
          results.push(sum)
        }
    const before = k.accumulate ? results.map((_, x) => this.read(c.storage, atFlat(c, x, m, n), k.dtype, x)) : undefined
    results.forEach((sum, x) => {
      this.write(c.storage, atFlat(c, x, m, n), k.dtype, before === undefined ? sum : plus(before[x]!, sum), k.accumulate ? x : -1)
    })
  }

  private opaque(k: OpaqueKernel, s: Step): void {
    const given = argumentsOf(k, s)
    const args = k.args.map((a, i) => this.array(given[i]!, a.shape, a.dtype, i === k.inPlace))
    const ys = meaningOf(k.prim, k.params, args, k.results, this.ids)
    ys.forEach((y, r) => {
      const { storage, offset } = s.writes[r]!
      const { dtype } = k.results[r]!
      const f16 = storage >= 0 && this.claim.plan.storages[storage]!.f16
      const item = this.bytesOf(dtype, f16)
      y.data.forEach((symbol, j) => {
        this.write(storage, offset + j * item, dtype, symbol, r === 0 && k.inPlace !== undefined ? j : -1)
      })
    })
  }

  private oneStep(i: number, at: readonly number[]): void {
    const { plan } = this.claim
    this.step = i
    this.run++
    const s = movedStep(plan.steps[i]!, at)
    const k = plan.kernels[s.kernel]!
    if (k.kind === 'loop') this.loop(k, s)
    else if (k.kind === 'gemm') this.gemm(k, s)
    else this.opaque(k, s)
  }
  /** Steps and loops as they nest. An iteration that is left out by its flag, and whose steps do not say so themselves, leaves everything as it was. */
  private parts(parts: readonly Part[], at: readonly number[]): void {
    for (const p of parts) {
      if ('step' in p) this.oneStep(p.step, at)
      else
        for (let k = 0; k < p.loop.count; k++) {
          const here = [...at, k]
          const { flag, first } = p.loop
          if (flag === undefined || flag.masked) this.parts(p.parts, here)
          else this.leftOut(p.parts, here, flag, first)
        }
    }
  }
  private leftOut(parts: readonly Part[], at: readonly number[], flag: Operand, first: number): void {
    this.step = first
    const { storage, offset } = movedOperand(flag, at)
    const taken = storage < 0 ? this.literal(storage) : this.peek(storage, offset)
    const either = (written: number, before: number): number => this.choose([taken, written, before])
    this.words.perhaps(() => this.f16.perhaps(() => this.given.perhaps(() => this.parts(parts, at), either), either), either)
  }
  private peek(storage: number, byte: number): number {
    const bytes = this.bytesOf('bool', false)
    const { arena, address } = this.at(storage, byte, bytes)
    return arena.peek(address, bytes, () => `the loop that begins at step ${this.step}, byte ${byte} of storage ${storage}`)
  }

  /** Feeds the inputs, runs the steps, and holds the outputs against the program's. */
  check(): void {
    const { program, ir, plan } = this.claim
    const feed = (storage: number, size: number, dtype: DType, symbol: (j: number) => number): void => {
      if (storage < 0) return
      const item = this.bytesOf(dtype, plan.storages[storage]!.f16)
      for (let j = 0; j < size; j++) this.write(storage, j * item, dtype, symbol(j), -1)
    }
    program.inputs.forEach((x, i) => {
      feed(plan.inputs[i]!, x.aval.size, x.dtype, (j) => inputSymbol(i, j))
    })
    ir.captured.forEach((c, i) => {
      feed(plan.captured[i]!, sizeOf(c.tensor.shape), c.tensor.dtype, (j) => capturedSymbol(this.ids.id(c.tensor), j))
    })
    this.parts(partsOf(plan.steps.length, shownLoops(plan)), [])
    this.step = plan.steps.length
    this.run++
    const want = symbolsOf(program, this.ids)
    program.outputs.forEach((o, i) => {
      const got = this.array(plan.outputs[i]!, o.shape, o.dtype)
      const at = got.data.findIndex((x, j) => x !== want[i]!.data[j])
      if (at >= 0)
        fail('a plan computes what its program says', `element ${at} of result ${i} (${o.dtype} [${o.shape.join(', ')}]) is something else`)
    })
  }
}

const atFlat = (c: Operand, x: number, m: number, n: number): number =>
  c.offset + Math.floor(x / (m * n)) * c.strides[0]! + (Math.floor(x / n) % m) * c.strides[1]! + (x % n) * c.strides[2]!

/** Calls f at every point of a loop with the operands' byte offsets. */
const eachPoint = (
  sizes: readonly number[],
  strides: readonly (readonly number[])[],
  offsets: readonly number[],
  f: (at: readonly number[], point: number) => void,
): void => {
  const total = sizeOf(sizes)
  const at = [...offsets]
  const index = sizes.map(() => 0)
  for (let point = 0; point < total; point++) {
    f(at, point)
    for (let d = sizes.length - 1; d >= 0; d--) {
      index[d]!++
      for (let k = 0; k < at.length; k++) at[k]! += strides[k]![d]!
      if (index[d]! < sizes[d]!) break
      for (let k = 0; k < at.length; k++) at[k]! -= strides[k]![d]! * sizes[d]!
      index[d] = 0
    }
  }
}

/** Raises InternalLaw where a plan computes, reads or writes anything but what its program says. */
export const checkProvenance = (claim: Claim, ids: Identities): void => new Run(claim, ids).check()
