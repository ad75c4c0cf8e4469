// The first five minutes: declare a function, differentiate it, compile it, look at the derivative.
// In a project of your own the import is from 'codual'.
import { add, compile, cpu, f32, fn, grad, matmul, mean, mul, show, sum, tanh, transpose, valueAndGrad } from '../src/index.js'
import { type Log, start } from './entry.js'

// A loss of parameters and data. `f32(2, 3)` declares an array; 'batch' is an axis whose size each call decides.
const loss = fn({ params: { w: f32(2, 3), b: f32(2) }, x: f32('batch', 3) }, ({ params, x }) =>
  mean(tanh(add(matmul(x, transpose(params.w)), params.b))),
)

export const main = (log: Log) => {
  // The transform is a function of functions; `compile` makes its plan once for each set of shapes.
  const step = compile(valueAndGrad(loss, { wrt: 'params' }), cpu())
  const { value, grad: g } = step({
    params: {
      w: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      b: [0, 0],
    },
    x: [[0.1, 0.2, 0.3]],
  })
  log(`value  ${value.item()}`)
  log(`grad.w ${JSON.stringify(g.w.toArray())}  shape [${g.w.shape}], known to the compiler`)
  log(`grad.b ${JSON.stringify(g.b.toArray())}`)

  // Without a declaration: a plain function is traced at the shapes of its arguments. Its gradient is a function too, so it nests.
  const square = grad((x) => sum(mul(x, x)))([1, 2, 3])
  const third = grad((x) => grad((y) => grad((z) => mul(z, mul(z, z)))(y))(x))(2)
  log(`grad of sum(x x) at [1, 2, 3]: [${square.toArray()}]`)
  log(`third derivative of x^3: ${third.item()}`)

  // The derivative is data: print it.
  const program = show(grad(loss, { wrt: 'params' }), { batch: 32 })
  log(program)
  return { value: value.item(), w: g.w, b: g.b, square: square.toArray(), third: third.item(), program }
}

start(import.meta.url, main)
