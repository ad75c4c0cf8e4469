/** Products of matrices. */
import { add, det, einsum, matmul, mul, transpose } from '../../index.js'
import { like, type Operator, type Table } from '../call.js'

const gemm: Operator = {
  since: [1, 6, 7, 9, 11, 13],
  read: (c) => {
    const [a, b, bias] = [c.in(0), c.in(1), c.maybe(2)]
    const [alpha, beta] = [c.float('alpha', 1), c.float('beta', 1)]
    const left = c.int('transA', 0) === 0 ? a.x : transpose(a.x)
    const right = c.int('transB', 0) === 0 ? b.x : transpose(b.x)
    const product = matmul(left, right)
    const scaled = alpha === 1 ? product : mul(product, alpha)
    if (bias === undefined || beta === 0) return like(a, scaled)
    return like(a, add(scaled, beta === 1 ? bias.x : mul(bias.x, beta)))
  },
}

export const linear: Table = {
  Det: { since: [11], read: (c) => like(c.in(0), det(c.in(0).x)) },
  Einsum: { since: [12], read: (c) => like(c.in(0), einsum(c.text('equation').replaceAll(' ', ''), ...c.all().map((v) => v.x))) },
  Gemm: gemm,
  MatMul: { since: [1, 9, 13], read: (c) => like(c.in(0), matmul(c.in(0).x, c.in(1).x)) },
}
