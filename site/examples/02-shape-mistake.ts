// Shapes are types: change 3 to 4 in x and the product is underlined, with the reason.
import { f64, fn, grad, matmul, square, sum } from 'codual'

const loss = fn({ w: f64(2, 3), x: f64(3) }, ({ w, x }) => sum(square(matmul(w, x))))

const at = {
  w: [
    [1, 0, 2],
    [0, 1, 1],
  ],
  x: [1, 2, 3],
}
loss(at) // 74
grad(loss, { wrt: 'w' })(at) // [[14, 28, 42], [10, 20, 30]]
