// What nobody asks for is not computed. In the graph the edges without a cotangent are dashed, and say why.
import { add, compile, exp, f32, fn, grad, matmul, sum } from 'codual'

const loss = fn({ w: f32(4, 3), b: f32(4, 1), x: f32(3, 5) }, ({ w, b, x }) => sum(exp(add(matmul(w, x), b))))
const zeros = (n: number, m: number) => Array.from({ length: n }, () => new Array<number>(m).fill(0))

const gradient = compile(grad(loss, { wrt: ['w', 'b'] }))
gradient({ w: zeros(4, 3), b: zeros(4, 1), x: zeros(3, 5) }).b // [[5], [5], [5], [5]]
