/*
 * Batched matrix product C = A B, C + A B or C - A B on strided matrices, emitted as a kernel (i32 record) -> (); gemmRecord is the record.
 *
 * A product has one of these forms (formOf):
 *   matvec    when m or n is 1 (gemm-vector.ts)
 *   few       when m or n is at most 16 and the other operand large (gemm-few.ts)
 *   blocks    otherwise: tiles of 4 x 8 (f32) or 4 x 4 (f64) results held in registers, 6 x 8 or 6 x 4 with the relaxed multiply-add; k in blocks of 4096 bytes, m of 96, n of 256
 *             (Goto and van de Geijn 2008). A is read in place when its rows are contiguous, B when it is small or few rows use it;
 *             otherwise they are packed into scratch. Narrow panels at the edges load and store exactly their own elements.
 */

import type { ProductForm, ProductFormOf } from '../../plan/kernel.js'
import { aligned } from '../../plan/memory.js'
import { gemmRecord } from '../records.js'
import type { FuncRef, FunctionBuilder, Label, Local, Module } from './encoder.js'
import { address, type Float, type FloatName, floats, type Multiply } from './float.js'
import { emitFew, few, fewScratchBytes } from './gemm-few.js'
import { emitLong, longestPart, longScratchBytes, partSizes } from './gemm-long.js'
import { emitPack, emitPackGroup, emitPackNarrow, panelsAtOnce } from './gemm-pack.js'
import { dispatch, emitSweep, panelWidths, setHeight, tileHeights } from './gemm-sweep.js'
import { emitMatvec } from './gemm-vector.js'
import * as OP from './opcodes.js'

/** What becomes of C: A B; C + A B; C - A B. */
export type Into = 'set' | 'add' | 'subtract'
interface GemmOptions {
  readonly type: FloatName
  /** Use relaxed multiply-add; needs relaxed SIMD. */
  readonly madd: boolean
  readonly into: Into
  /** Without one: for vectors and blocks. */
  readonly form?: ProductForm
}

/** Bytes of a row of B in a block of k. */
const blockBytes = 4096
const blockOf = (F: Float): number => blockBytes / F.bytes
/** A multiple of both heights of tiles, 4 and 6; with a block of k, what a second cache of 512 KiB holds. */
const blockM = 96
const blockN = 256
/** Elements of a matrix from which on products with few rows or columns have forms of their own. */
const LARGE = 4097

/** Bytes of scratch that `batch` products of m x k by k x n matrices may use, whatever their strides: as one tall product too. */
export function gemmScratchBytes(type: FloatName, m: number, n: number, k: number, batch = 1): number {
  if (batch > 1) return Math.max(gemmScratchBytes(type, m, n, k), gemmScratchBytes(type, batch * m, n, k))
  const { bytes } = floats[type]
  if (m === 0 || n === 0 || k === 0) return 0
  if (type === 'f32' && k > longestPart) return longScratchBytes(m, n) + gemmScratchBytes(type, ...partSizes(m, n))
  if (m === 1 || n === 1) return aligned(k * bytes, 16)
  const F = floats[type]
  const kb = Math.min(k, blockOf(F))
  const ofFew = Math.max(m <= few ? fewScratchBytes(F, n, m, k) : 0, n <= few ? fewScratchBytes(F, m, n, k) : 0)
  const ofBlocks = aligned(kb * Math.min(n, blockN) * bytes, 16) + aligned(kb * Math.min(m, blockM) * bytes, 16)
  return Math.max(ofBlocks, aligned(ofFew, 16))
}

// The product itself is shared by the accumulating and the plain kernel of one module.
const products = /* @__PURE__ */ new WeakMap<Module, Map<string, FuncRef>>()

/** A product of these sizes in the form that was measured to be fastest; few rows or columns need k long enough for what dot products, or sums in scratch, cost besides. */
export const formOf: ProductFormOf = (dtype, [batch, rows, n, k], a, b, c, eager = false) => {
  const e = floats[dtype].bytes
  const [size, columns, depth] = [rows!, n!, k!]
  // A batch that shares B and continues C and A row by row is one tall product.
  const m = b[0] === 0 && a[0] === size * a[1]! && c[0] === size * c[1]! ? size * batch! : size
  if (depth === 0) return 'blocks'
  if (m === 1 || columns === 1) return 'vector'
  const rowsPay = b[2] === e ? depth >= 16 && (m <= 8 || b[1]! >= 4096) : depth >= 8 * m
  const rowsLie = b[2] === e || b[1] === e
  if (m <= few && rowsLie && (eager || (columns * depth >= LARGE && rowsPay))) return 'few rows'
  const turned = a[1] === e && depth >= 32 && (columns <= 3 || a[2]! * depth >= 2 ** 19)
  const plain = a[2] === e && columns <= 3 && depth >= 16 * columns
  const columnsLie = a[1] === e || a[2] === e
  return columns <= few && columnsLie && (eager || (m * depth >= LARGE && (turned || plain))) ? 'few columns' : 'blocks'
}

/**
 * product(C, A, B, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc) for positive m and n, made once in a module; strides in bytes. C becomes
 * A B, or with acc C + A B. One that subtracts takes acc alone, and is of no few rows or columns.
 */
export function productOf(module: Module, type: FloatName, madd: boolean, subtract = false, form?: ProductForm): FuncRef {
  const known = products.get(module) ?? new Map<string, FuncRef>()
  products.set(module, known)
  const key = `${type} ${madd} ${subtract} ${form}`
  const make = (): FuncRef => {
    const made = emitForm(module, floats[type], { madd, subtract }, form)
    return type === 'f32' ? emitLong(module, made, subtract) : made
  }
  const product = known.get(key) ?? make()
  known.set(key, product)
  return product
}

/** Adds the kernel to the module. */
export function emitGemm(module: Module, { type, madd, into, form }: GemmOptions, name?: string): FunctionBuilder {
  const product = productOf(module, type, madd, into === 'subtract', form)
  const f = module.kernel(name)
  const record = f.param(0)
  const i32 = address(f)
  const word = (field: keyof typeof gemmRecord.at): Local => {
    const x = f.local('i32')
    f.get(record)
      .i32Load(4 * gemmRecord.at[field])
      .set(x)
    return x
  }
  const batch = word('batch')
  const [c, a, b, m, n, k] = [word('c'), word('a'), word('b'), word('m'), word('n'), word('k')]
  const [ldc, ars, acs, brs, bcs] = [word('cRowStride'), word('aRowStride'), word('aColStride'), word('bRowStride'), word('bColStride')]
  const [scratch, cStep, aStep, bStep] = [word('scratch'), word('cBatchStride'), word('aBatchStride'), word('bBatchStride')]
  f.block((done) => {
    f.op(OP.i32_eqz, batch).brIf(done)
    f.op(OP.i32_eqz, m).brIf(done)
    f.op(OP.i32_eqz, n).brIf(done)
    // A batch that shares B and continues C and A row by row is one tall product.
    const shared = i32.and(i32.eq(bStep, 0), i32.and(i32.eq(aStep, i32.mul(m, ars)), i32.eq(cStep, i32.mul(m, ldc))))
    f.ifThen(shared, () => f.set(m, i32.mul(m, batch)).set(batch, 1))
    f.countDown(batch, () => {
      f.call(product, c, a, b, m, n, k, ldc, ars, acs, brs, bcs, scratch, into === 'set' ? 0 : 1)
      f.increment(c, cStep).increment(a, aStep).increment(b, bStep)
    })
  })
  return f
}

/** product(C, A, B, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc) for positive m and n. */
function emitForm(module: Module, F: Float, by: Multiply, form: ProductForm | undefined): FuncRef {
  if (form === 'few rows' || form === 'few columns') return emitFewProduct(module, F, by, form)
  const widths = panelWidths(F)
  const heights = tileHeights(by)
  const parts = form === 'vector' ? undefined : emitParts(module, F, by, widths, heights)
  const matvec = form === 'blocks' ? undefined : emitMatvec(module, F, by)
  const f = module.func(undefined, new Array(13).fill('i32'))
  new Product(f, F, widths, heights, parts, matvec).emit()
  return f
}
const emitParts = (module: Module, F: Float, by: Multiply, widths: readonly number[], heights: readonly number[]): Parts => ({
  sweeps: widths.map((width) => emitSweep(module, F, by, width)),
  packB: emitPack(module, F, widths[0]!),
  packA: heights.filter((height) => height >= 4).map((height) => emitPack(module, F, height)),
  packNarrow: emitPackNarrow(module, F),
  packGroupOfA: emitPackGroup(module, F, heights[0]!),
  packGroupOfB: emitPackGroup(module, F, widths[0]!),
})
function emitFewProduct(module: Module, F: Float, by: Multiply, form: 'few rows' | 'few columns'): FuncRef {
  const product = emitFew(module, F, by)
  const f = module.func(undefined, new Array(13).fill('i32'))
  const { c, a, b, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc } = givenTo(f)
  if (form === 'few rows') f.call(product, c, F.bytes, ldc, b, bcs, brs, a, acs, ars, n, m, k, scratch, acc)
  else f.call(product, c, ldc, F.bytes, a, ars, acs, b, brs, bcs, m, n, k, scratch, acc)
  return f
}

/** What a product calls; a sweep for each width of a panel, packing for each height of a tile but 2 and 1. */
interface Parts {
  readonly sweeps: readonly FuncRef[]
  readonly packA: readonly FuncRef[]
  readonly packB: FuncRef
  readonly packNarrow: FuncRef
  readonly packGroupOfA: FuncRef
  readonly packGroupOfB: FuncRef
}

const givenTo = (f: FunctionBuilder) => f.namedParameters('c a b m n k ldc ars acs brs bcs scratch acc')
const counters = (f: FunctionBuilder) => f.namedLocals('i32', 'jj nb kk kb ii mb j i more')
const pointersOf = (f: FunctionBuilder) => f.namedLocals('i32', 'aBlock bBlock cp bp ldb width height panelsA dst src')

class Product {
  private readonly given: ReturnType<typeof givenTo>
  /** Where a block begins, and its length: along n, k and m; then the column or row in it, and whether C holds earlier blocks of k. */
  private readonly at: ReturnType<typeof counters>
  private readonly pointers: ReturnType<typeof pointersOf>
  private readonly packsA: Local
  private readonly packsB: Local

  constructor(
    private readonly f: FunctionBuilder,
    private readonly F: Float,
    private readonly widths: readonly number[],
    private readonly heights: readonly number[],
    private readonly blocks: Parts | undefined,
    private readonly matvec: FuncRef | undefined,
  ) {
    this.given = givenTo(f)
    this.at = counters(f)
    this.pointers = pointersOf(f)
    this.packsA = f.local('i32')
    this.packsB = f.local('i32')
  }

  private get parts(): Parts {
    return this.blocks!
  }

  emit(): void {
    this.narrow()
    if (this.blocks === undefined) return
    this.choosePacking()
    const { f } = this
    const i32 = address(f)
    const { c, a, b, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc } = this.given
    const { jj, nb, kk, kb, ii, mb, j, more } = this.at
    const { aBlock, bBlock, cp, bp } = this.pointers
    f.forBlocks(jj, nb, n, blockN, () =>
      f.forBlocks(kk, kb, k, blockOf(this.F), () => {
        f.set(more, i32.or(acc, i32.ne(kk, 0)))
        f.set(bBlock, i32.add(b, i32.mul(kk, brs), i32.mul(jj, bcs)))
        f.ifThen(this.packsB, () => this.packB())
        f.forBlocks(ii, mb, m, blockM, () => {
          f.set(aBlock, i32.add(a, i32.mul(ii, ars), i32.mul(kk, acs)))
          f.ifThen(this.packsA, () => this.packA())
          f.set(cp, i32.add(c, i32.mul(ii, ldc), i32.mul(jj, this.F.bytes)))
          f.set(bp, i32.choose(this.packsB, scratch, bBlock)).set(j, nb)
          this.panels()
        })
      }),
    )
  }

  /** Products without an inner axis, and those of a vector. */
  private narrow(): void {
    const { f, F } = this
    const i32 = address(f)
    const { matvec } = this
    const { c, a, b, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc } = this.given
    f.ifThen(i32.eq(k, 0), () => {
      f.ifThen(i32.eq(acc, 0), () =>
        f.countDown(m, () => {
          f.get(c).i32Const(0).push(i32.mul(n, F.bytes)).memoryFill()
          f.increment(c, ldc)
        }),
      )
      f.op(OP.return)
    })
    if (matvec === undefined) return
    f.ifThen(i32.eq(n, 1), () => f.call(matvec, c, ldc, a, ars, acs, b, brs, m, k, scratch, acc).op(OP.return))
    f.ifThen(i32.eq(m, 1), () => f.call(matvec, c, F.bytes, b, bcs, brs, a, acs, n, k, scratch, acc).op(OP.return))
  }
  /**
   * Packing pays when a block of the operand is larger than a cache keeps near and is read often. Rows of B, or columns of A, that lie close to each other are read in place up to 64 times: farther
   * apart, they would push each other out of the cache.
   */
  private choosePacking(): void {
    const { f } = this
    const i32 = address(f)
    const e = this.F.bytes
    const { m, n, k, acs, brs, bcs, scratch } = this.given
    const { panelsA } = this.pointers
    const large = (lines: Local, times: Local, stride: Local, near: number) =>
      i32.and(
        i32.and(i32.atLeast(i32.mul(lines, k), 4097), i32.atLeast(times, 17)),
        i32.or(i32.atLeast(times, 65), i32.atLeast(stride, near)),
      )
    f.set(this.packsA, i32.and(i32.ne(acs, e), large(m, n, acs, 1024)))
    f.set(this.packsB, i32.or(i32.ne(bcs, e), i32.and(large(n, m, brs, 4096), i32.atLeast(brs, 256))))
    const bytes = i32.mul(i32.mul(i32.min(k, blockOf(this.F)), i32.min(n, blockN)), e)
    f.op(OP.i32_add, scratch, () => f.op(OP.i32_and, i32.add(bytes, 15), -16)).set(panelsA)
  }
  private packB(): void {
    const { f, widths } = this
    const i32 = address(f)
    const { brs, bcs, scratch } = this.given
    const { nb, kb, j } = this.at
    const { bBlock, width, dst, src } = this.pointers
    f.set(dst, scratch).set(src, bBlock).set(j, nb)
    f.block((done) =>
      f.loop((next) => {
        this.packGroup(this.parts.packGroupOfB, widths[0]!, j, bcs, brs, next, done)
        setWidth(f, width, j, widths)
        f.ifThen(
          i32.eq(width, widths[0]!),
          () => f.call(this.parts.packB, dst, src, kb, bcs, brs),
          () => f.call(this.parts.packNarrow, dst, src, kb, bcs, brs, width),
        )
        f.increment(dst, i32.mul(i32.mul(width, kb), this.F.bytes)).increment(src, i32.mul(width, bcs))
        f.set(j, i32.sub(j, width)).brIf(next, j).br(done)
      }),
    )
  }
  private packA(): void {
    const { f, heights } = this
    const i32 = address(f)
    const { packA, packNarrow } = this.parts
    const { ars, acs } = this.given
    const { kb, mb, i } = this.at
    const { aBlock, panelsA, height, dst, src } = this.pointers
    f.set(dst, panelsA).set(src, aBlock).set(i, mb)
    f.block((done) =>
      f.loop((next) => {
        this.packGroup(this.parts.packGroupOfA, heights[0]!, i, ars, acs, next, done)
        setHeight(f, height, i, heights)
        dispatch(f, height, [...heights.slice(0, packA.length), 0], (h) => {
          if (h < packA.length) f.call(packA[h]!, dst, src, kb, ars, acs)
          else f.call(packNarrow, dst, src, kb, ars, acs, height)
        })
        f.increment(dst, i32.mul(i32.mul(kb, height), this.F.bytes)).increment(src, i32.mul(ars, height))
        f.set(i, i32.sub(i, height)).brIf(next, i).br(done)
      }),
    )
  }
  /** Several panels at once where their lines are contiguous, and as many are left that the last tiles of setHeight are not among them. */
  private packGroup(pack: FuncRef, width: number, left: Local, stride: Local, kStride: Local, next: Label, done: Label): void {
    const { f } = this
    const i32 = address(f)
    const { kb } = this.at
    const { dst, src } = this.pointers
    const [lines, e] = [panelsAtOnce * width, this.F.bytes]
    f.ifThen(i32.and(i32.eq(stride, e), i32.atLeast(left, lines + 3)), () => {
      f.call(pack, dst, src, kb, kStride)
      f.increment(dst, i32.mul(kb, lines * e)).increment(src, lines * e)
      f.set(left, i32.sub(left, lines)).brIf(next, left).br(done)
    })
  }
  /** The block's columns, panel by panel. */
  private panels(): void {
    const { f, packsA, packsB, widths } = this
    const i32 = address(f)
    const e = this.F.bytes
    const { ldc, ars, acs, brs } = this.given
    const { kb, mb, j, more } = this.at
    const { aBlock, cp, bp, ldb, width, panelsA } = this.pointers
    f.loop((next) => {
      setWidth(f, width, j, widths)
      f.set(ldb, i32.choose(packsB, i32.mul(width, e), brs))
      dispatch(f, width, widths, (w) => {
        f.get(kb)
          .get(mb)
          .push(i32.choose(packsA, panelsA, aBlock))
        f.call(this.parts.sweeps[w]!, ars, acs, packsA, bp, ldb, cp, ldc, more)
      })
      f.increment(bp, i32.choose(packsB, i32.mul(i32.mul(width, kb), e), i32.mul(width, e)))
      f.increment(cp, i32.mul(width, e))
      f.set(j, i32.sub(j, width)).brIf(next, j)
    })
  }
}

/** width = the widest panel that the remaining columns fill. */
function setWidth(f: FunctionBuilder, width: Local, remaining: Local, widths: readonly number[]): void {
  const i32 = address(f)
  const [two, one] = widths as [number, number]
  f.set(width, i32.choose(i32.atLeast(remaining, two), two, i32.min(remaining, one)))
}
