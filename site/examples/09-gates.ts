// An LSTM cell: the four gates are slices of one product, and their gradient is one buffer. See Memory.
import { add, compile, f32, fn, matmul, mul, sigmoid, split, square, sum, tanh, valueAndGrad } from 'codual'

const cell = fn({ x: f32(2, 3), h: f32(2, 4), c: f32(2, 4), wi: f32(3, 16), wh: f32(4, 16), b: f32(16) }, ({ x, h, c, wi, wh, b }) => {
  const [i, f, g, o] = split(add(add(matmul(x, wi), matmul(h, wh)), b), 4, { axis: -1 })
  const next = add(mul(sigmoid(f), c), mul(sigmoid(i), tanh(g)))
  return sum(square(mul(sigmoid(o), tanh(next))))
})
const rows = (n: number, m: number, scale = 1) =>
  Array.from({ length: n }, (_, i) => Array.from({ length: m }, (_, j) => scale * Math.sin(i * m + j)))

const step = compile(valueAndGrad(cell, { wrt: ['wi', 'wh', 'b'] }))
const { value, grad } = step({ x: rows(2, 3), h: rows(2, 4), c: rows(2, 4), wi: rows(3, 16), wh: rows(4, 16), b: rows(1, 16)[0]! })
value // 0.080615
grad.b.shape // [16]
