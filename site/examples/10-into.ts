// Results go into arrays that are there: a call of \`.into\` allocates none.
import { compile, f32, fn, square, sum, tensor, valueAndGrad } from 'codual'

const n = 1000
const sumSquares = fn({ x: f32(n) }, ({ x }) => sum(square(x)))
const out = { value: tensor(new Float32Array(1), []), grad: { x: tensor(new Float32Array(n), [n]) } }
const prepared = compile(valueAndGrad(sumSquares)).into(out)

prepared({
  x: tensor(
    Float32Array.from({ length: n }, (_, i) => i % 3),
    [n],
  ),
})
out.value // 1665
out.grad.x.data.slice(0, 4) // [0, 2, 4, 0]
