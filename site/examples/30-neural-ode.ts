// The weights of a differential equation are learned from where it ends.
import { type AnyExpr, at, compile, evaluate, grad, matmul, mul, square, sub, sum, type Tensor, tanh, tensor } from 'codual'
import { odeint } from 'codual/solve'
import { curve } from 'playground'

const field = (_t: AnyExpr, y: AnyExpr, w: AnyExpr) => tanh(matmul(w, y))
const end = tensor([0.5, 0.8])
const loss = (w: AnyExpr) => sum(square(sub(at(odeint(field, tensor([1, 0]), [0, 1], w, { maxSteps: 30 }).ys, 1), end)))
const slope = compile(grad(loss))
const value = compile(loss)
let w: Tensor = tensor([
  [0, 0],
  [0, 0],
])
const losses = curve('loss')
for (let i = 0; i < 60; i++) {
  w = evaluate(sub(w, mul(0.2, slope(w))))
  losses(i, value(w).item())
}
value(w).item() < 1e-3 // true
