// Second derivatives: Rosenbrock's valley at its minimum, where the Hessian is positive definite.
import { type AnyExpr, add, at, eigvalsh, hessian, mul, square, sub } from 'codual'

const valley = (x: AnyExpr) => add(square(sub(1, at(x, 0))), mul(100, square(sub(at(x, 1), square(at(x, 0))))))

const h = hessian(valley)([1, 1]) // [[802, -400], [-400, 200]]
eigvalsh(h) // [0.399361, 1001.600639]
