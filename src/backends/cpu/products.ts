/** Matrix products on the CPU: the kernel of WebAssembly, and plain loops. */
import { itemBytes } from '../../core/graph/aval.js'
import type { GemmKernel } from '../plan/kernel.js'
import type { Products } from './kernel.js'
import type { Views } from './plain.js'
import { addressAt, gemmRecord } from './records.js'
import { emitGemm, formOf, gemmScratchBytes } from './wasm/gemm.js'

/** Runs a matrix product on its record. Sums in f64. */
const runGemm = (kernel: GemmKernel, record: Int32Array, views: Views): void => {
  const d = views.get(kernel.dtype)
  const { at } = gemmRecord
  const start = (word: number): number => addressAt(record, word) / itemBytes[kernel.dtype]
  const stride = (word: number): number => record[word]! / itemBytes[kernel.dtype]
  const [batch, m, n, k] = [record[at.batch]!, record[at.m]!, record[at.n]!, record[at.k]!]
  const [c, a, b] = [start(at.c), start(at.a), start(at.b)]
  const [cb, ab, bb] = [stride(at.cBatchStride), stride(at.aBatchStride), stride(at.bBatchStride)]
  const [crow, arow, acol] = [stride(at.cRowStride), stride(at.aRowStride), stride(at.aColStride)]
  const [brow, bcol] = [stride(at.bRowStride), stride(at.bColStride)]
  for (let t = 0; t < batch; t++)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        const to = c + t * cb + i * crow + j
        let s = kernel.accumulate ? d[to]! : 0
        for (let l = 0; l < k; l++) s += d[a + t * ab + i * arow + l * acol]! * d[b + t * bb + l * brow + j * bcol]!
        d[to] = s
      }
}

/** What products are computed with. */
export const products: Products = {
  emit: (module, type, into, name, form) => emitGemm(module, { type, madd: module.madd, into, ...(form !== undefined && { form }) }, name),
  scratchBytes: gemmScratchBytes,
  formOf,
  run: runGemm,
}
