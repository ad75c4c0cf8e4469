// Regression by a Gaussian process: move the length scale and see the mean follow.
import { add, div, type Expr, evaluate, exp, matmul, neg, reshape, solve, square, sub, tensor } from 'codual'
import { plot, slider } from 'playground'

const scale = slider('length scale', 0.2, 3, 1)
const x = tensor([-2, -1, 0, 1.5, 2.5])
const y = tensor([0.2, -0.9, 0.1, 1.1, 0.6])
const points = Array.from({ length: 61 }, (_, i) => -3 + i / 10)
const kernel = (n: number, a: Expr, b: Expr) => exp(neg(div(square(sub(reshape(a, [n, 1]), b)), 2 * scale ** 2)))
const noise = tensor(Array.from({ length: 5 }, (_, i) => Array.from({ length: 5 }, (_, j) => 0.01 * Number(i === j))))
const weights = solve(add(kernel(5, x, x), noise), y)
const mean = evaluate(matmul(kernel(61, tensor(points), x), weights))
plot(points, mean, { title: 'mean' })
mean.data[30] // 0.087957
