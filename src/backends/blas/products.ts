/** Products of matrices by the library, on the memory of WebAssembly; what it cannot take, and what is small, goes to the kernel of the backend. */
import { itemBytes } from '../../core/graph/aval.js'
import type { Products } from '../cpu/kernel.js'
import { gemmRecord } from '../cpu/records.js'
import type { FloatName } from '../cpu/wasm/float.js'
import type { Into } from '../cpu/wasm/gemm.js'
import * as OP from '../cpu/wasm/opcodes.js'
import type { Library } from './library.js'

type Floats = Float32Array | Float64Array
/** Multiplications of a product from which the call of the library is quicker than the backend's own kernel (bench/blas.ts). */
export const LEAST = 4096
/** CBLAS: rows one after the other; a matrix as it is, or its transpose. */
const ROWS = 101
const AS_IS = 111
const TRANSPOSED = 112

const parametersOf = (type: 'float' | 'double'): string =>
  `int, int, int, int m, int n, int k, ${type} alpha, uintptr_t a, int lda, uintptr_t b, int ldb, ${type} beta, uintptr_t c, int ldc`

/** C = A B, or C + A B, where `sign` is -1 with the product's sign changed: of A and B or their transposes, by addresses and distances of rows. */
export type Gemm = (
  ta: boolean,
  tb: boolean,
  m: number,
  n: number,
  k: number,
  a: number,
  lda: number,
  b: number,
  ldb: number,
  add: boolean,
  c: number,
  ldc: number,
  sign?: 1 | -1,
) => void
export const gemmOf = (library: Library, type: FloatName): Gemm => {
  const f = library.cblas('void', type === 'f32' ? 'sgemm' : 'dgemm', parametersOf(type === 'f32' ? 'float' : 'double'))
  return (ta, tb, m, n, k, a, lda, b, ldb, add, c, ldc, sign = 1) =>
    void f(ROWS, ta ? TRANSPOSED : AS_IS, tb ? TRANSPOSED : AS_IS, m, n, k, sign, a, lda, b, ldb, add ? 1 : 0, c, ldc)
}

/** Where the words of the memory are, and what its address 0 is to the library: read again after the memory grew. */
export class Mapped {
  private of: Int32Array = new Int32Array(0)
  private f32: Float32Array = new Float32Array(0)
  private f64: Float64Array = new Float64Array(0)
  base = 0
  constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly library: Library,
  ) {}
  get words(): Int32Array {
    // A view of memory that grew since has no elements.
    if (this.of.length === 0) {
      this.of = new Int32Array(this.memory.buffer as ArrayBuffer)
      this.f32 = new Float32Array(this.memory.buffer as ArrayBuffer)
      this.f64 = new Float64Array(this.memory.buffer as ArrayBuffer)
      this.base = this.library.addressOf(this.memory.buffer as ArrayBuffer)
    }
    return this.of
  }
  /** The memory as floats; `words` is read before. */
  floats(type: FloatName): Floats {
    return type === 'f32' ? this.f32 : this.f64
  }
}

/**
 * How a matrix of m rows and n columns, whose elements lie `row` and `column` bytes apart, is told to the library: the distance of rows in elements, of its
 * transpose as a negative number; 0 where neither has its elements side by side.
 */
export const leadingOf = (m: number, n: number, row: number, column: number, size: number): number => {
  if ((column === size || n === 1) && row % size === 0 && (m === 1 || row >= n * size)) return m === 1 ? n : row / size
  if ((row === size || m === 1) && column % size === 0 && (n === 1 || column >= m * size)) return n === 1 ? -m : -column / size
  return 0
}

/** Copies of matrices of a layout that BLAS has no name for, outside of the memory: each as large as the largest so far. */
class Copies {
  private readonly held: { data: Floats; address: number }[] = []
  constructor(
    private readonly library: Library,
    private readonly type: FloatName,
  ) {}
  /** The m x n matrix at an element of the memory, with these distances in elements, row by row: its address. */
  copy(which: 0 | 1, from: Floats, at: number, m: number, n: number, row: number, column: number): number {
    let held = this.held[which]
    if (held === undefined || held.data.length < m * n) {
      const buffer = new ArrayBuffer(itemBytes[this.type] * m * n)
      held = { data: this.type === 'f32' ? new Float32Array(buffer) : new Float64Array(buffer), address: this.library.addressOf(buffer) }
      this.held[which] = held
    }
    const { data } = held
    for (let i = 0, k = 0, start = at; i < m; i++, start += row) for (let j = 0, x = start; j < n; j++, x += column) data[k++] = from[x]!
    return held.address
  }
}
/** The other side of a product for which a matrix of no layout is copied first. */
export const COPYING = 16

/** Bytes of a matrix from which on a product with few rows or columns goes to the backend's own kernel, which reads it once and in its order (wasm/gemm-few.ts): on one thread OpenBLAS takes longer. On more, it has the bandwidth of more. */
export const FAR = 2 ** 22
/** How many of these are few; and how many columns, where the matrix is turned. */
const FEW = { f32: 8, f64: 3 } as const
const FEW_TURNED = 2

/** Products with a vector are the own kernel's, of any size: OpenBLAS's for matrices takes 1.3 to 4.8 times as long (0.95 in f64 from 8 MB on). */
export const VECTORS = 0

/** From where on the sides of a product decide. */
export interface Sides {
  /** The other side of a product for which a matrix of no layout of BLAS is copied. */
  readonly copying: number
  /** Bytes of a matrix with which the backend's own kernel computes products of few rows or columns. */
  readonly far: number
  /** Bytes of a matrix from which on that kernel computes its products with a vector. */
  readonly vectors: number
}
/** product(record): whether the library computed it. */
const productBy = (
  library: Library,
  at: Mapped,
  type: FloatName,
  into: Into,
  { copying, far, vectors }: Sides,
): ((record: number) => number) => {
  const gemm = gemmOf(library, type)
  const size = itemBytes[type]
  const [add, sign] = [into !== 'set', into === 'subtract' ? -1 : 1] as const
  const copies = new Copies(library, type)
  const { at: of } = gemmRecord
  return (record) => {
    const w = at.words
    const r = record >>> 2
    let m = w[r + of.m]!
    let batch = w[r + of.batch]!
    const [n, k] = [w[r + of.n]!, w[r + of.k]!]
    const [cRow, aRow, bRow] = [w[r + of.cRowStride]!, w[r + of.aRowStride]!, w[r + of.bRowStride]!]
    const [aColumn, bColumn] = [w[r + of.aColStride]!, w[r + of.bColStride]!]
    const [cStep, aStep, bStep] = [w[r + of.cBatchStride]!, w[r + of.aBatchStride]!, w[r + of.bBatchStride]!]
    // A batch that shares B and continues C and A row by row is one tall product.
    if (bStep === 0 && aStep === m * aRow && cStep === m * cRow) [m, batch] = [m * batch, 1]
    const fewest = n < m && aColumn !== size ? FEW_TURNED : FEW[type]
    if (Math.min(m, n) === 1 && Math.max(m, n) * k * size >= vectors) return 0
    if (library.threads() === 1 && batch === 1 && Math.min(m, n) <= fewest && Math.max(m, n) * k * size >= far) return 0
    const a = leadingOf(m, k, aRow, aColumn, size)
    const b = leadingOf(k, n, bRow, bColumn, size)
    if ((a === 0 && n < copying) || (b === 0 && m < copying) || (m > 1 && cRow < n * size)) return 0
    const ldc = m === 1 ? n : cRow / size
    const { base } = at
    let [pa, pb, pc] = [w[r + of.a]! >>> 0, w[r + of.b]! >>> 0, base + (w[r + of.c]! >>> 0)]
    for (; batch > 0; batch--) {
      const left = a === 0 ? copies.copy(0, at.floats(type), pa / size, m, k, aRow / size, aColumn / size) : base + pa
      const right = b === 0 ? copies.copy(1, at.floats(type), pb / size, k, n, bRow / size, bColumn / size) : base + pb
      gemm(a < 0, b < 0, m, n, k, left, a === 0 ? k : Math.abs(a), right, b === 0 ? n : Math.abs(b), add, pc, ldc, sign)
      pa += aStep
      pb += bStep
      pc += cStep
    }
    return 1
  }
}

const wordOf = (type: FloatName, into: Into): string => `product ${type}${{ set: '', add: ' +=', subtract: ' -=' }[into]}`
/** The backend's products, with the library for those of `least` multiplications and more. */
export const productsBy = (library: Library, at: Mapped, own: Products, least: number, sides: Sides): Products => ({
  ...own,
  emit: (module, type, into, name, form) => {
    const word = wordOf(type, into)
    const library = module.importFunction('js', word, ['i32'], ['i32'])
    const otherwise = own.emit(module, type, into, undefined, form)
    const f = module.kernel(name)
    const record = f.param(0)
    const number = (field: 'm' | 'n' | 'k') => () => f.op(OP.f64_convert_i32_u, () => f.get(record).i32Load(4 * gemmRecord.at[field]))
    const multiplications = () => f.op(OP.f64_mul, () => f.op(OP.f64_mul, number('m'), number('n')), number('k'))
    f.ifThen(
      () => f.op(OP.f64_ge, multiplications, () => f.f64Const(least)),
      () =>
        f.ifThen(
          () => f.call(library, record),
          () => f.op(OP.return),
        ),
    )
    f.call(otherwise, record)
    return f
  },
  imports: (type, into) => ({ [wordOf(type, into)]: productBy(library, at, type, into, sides) }),
})
