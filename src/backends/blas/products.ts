/** Products of matrices by the library, on the memory of WebAssembly; what it cannot take, and what is small, goes to the kernel of the backend. */
import { itemBytes } from '../../core/graph/aval.js'
import type { Products } from '../cpu/kernel.js'
import { gemmRecord } from '../cpu/records.js'
import type { FloatName } from '../cpu/wasm/float.js'
import * as OP from '../cpu/wasm/opcodes.js'
import type { Library } from './library.js'

/** Multiplications of a product from which the call of the library is quicker than the backend's own kernel (bench/blas.ts). */
export const LEAST = 4096
/** CBLAS: rows one after the other; a matrix as it is, or its transpose. */
const ROWS = 101
const AS_IS = 111
const TRANSPOSED = 112

const parametersOf = (type: 'float' | 'double'): string =>
  `int, int, int, int m, int n, int k, ${type} alpha, uintptr_t a, int lda, uintptr_t b, int ldb, ${type} beta, uintptr_t c, int ldc`

/** Where the words of the memory are, and what its address 0 is to the library: read again after the memory grew. */
export class Mapped {
  private of: Int32Array = new Int32Array(0)
  base = 0
  constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly library: Library,
  ) {}
  get words(): Int32Array {
    // A view of memory that grew since has no elements.
    if (this.of.length === 0) {
      this.of = new Int32Array(this.memory.buffer as ArrayBuffer)
      this.base = this.library.addressOf(this.memory.buffer as ArrayBuffer)
    }
    return this.of
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

/** product(record): whether the library computed it. */
const productBy = (library: Library, at: Mapped, type: FloatName, accumulate: boolean): ((record: number) => number) => {
  const gemm = library.cblas('void', type === 'f32' ? 'sgemm' : 'dgemm', parametersOf(type === 'f32' ? 'float' : 'double'))
  const size = itemBytes[type]
  const { at: of } = gemmRecord
  const beta = accumulate ? 1 : 0
  return (record) => {
    const w = at.words
    const r = record >>> 2
    let m = w[r + of.m]!
    let batch = w[r + of.batch]!
    const [n, k] = [w[r + of.n]!, w[r + of.k]!]
    const [cRow, aRow, bRow] = [w[r + of.cRowStride]!, w[r + of.aRowStride]!, w[r + of.bRowStride]!]
    const [cStep, aStep, bStep] = [w[r + of.cBatchStride]!, w[r + of.aBatchStride]!, w[r + of.bBatchStride]!]
    // A batch that shares B and continues C and A row by row is one tall product.
    if (bStep === 0 && aStep === m * aRow && cStep === m * cRow) [m, batch] = [m * batch, 1]
    const a = leadingOf(m, k, aRow, w[r + of.aColStride]!, size)
    const b = leadingOf(k, n, bRow, w[r + of.bColStride]!, size)
    if (a === 0 || b === 0 || (m > 1 && cRow < n * size)) return 0
    const ldc = m === 1 ? n : cRow / size
    const { base } = at
    let [pa, pb, pc] = [base + (w[r + of.a]! >>> 0), base + (w[r + of.b]! >>> 0), base + (w[r + of.c]! >>> 0)]
    const [ta, tb] = [a > 0 ? AS_IS : TRANSPOSED, b > 0 ? AS_IS : TRANSPOSED]
    for (; batch > 0; batch--) {
      gemm(ROWS, ta, tb, m, n, k, 1, pa, Math.abs(a), pb, Math.abs(b), beta, pc, ldc)
      pa += aStep
      pb += bStep
      pc += cStep
    }
    return 1
  }
}

/** The backend's products, with the library for those of `least` multiplications and more. */
export const productsBy = (library: Library, at: Mapped, own: Products, least: number): Products => ({
  ...own,
  emit: (module, type, accumulate, name) => {
    const word = `product ${type}${accumulate ? ' +=' : ''}`
    const library = module.importFunction('js', word, ['i32'], ['i32'])
    const otherwise = own.emit(module, type, accumulate)
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
  imports: (type, accumulate) => ({ [`product ${type}${accumulate ? ' +=' : ''}`]: productBy(library, at, type, accumulate) }),
})
