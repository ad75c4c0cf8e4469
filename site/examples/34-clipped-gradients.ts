// Gradients of single examples by vmap of grad, each clipped before their mean is taken, as for differential privacy.
import { compile, div, dot, evaluate, f64, fn, grad, maximum, mean, mul, neg, norm, reshape, softplus, vmap } from 'codual'
import { key, normal } from 'codual/random'
import { plot } from 'playground'

const loss = fn({ w: f64(2), x: f64(2), y: f64() }, ({ w, x, y }) => softplus(neg(mul(y, dot(w, x)))))
const one = fn({ w: f64(2), x: f64(2), y: f64() }, (given) => {
  const gradient = grad(loss, { wrt: 'w' })(given)
  return { gradient, clipped: div(gradient, maximum(1, div(norm(gradient), 0.5))), length: norm(gradient) }
})
const each = compile(vmap(one, { inAxes: { w: null, x: 0, y: 0 } }))

const n = 40
const noise = evaluate(normal(key(3), [n, 2]))
// The last four are spoiled: twenty times as far, with the wrong label.
const far = Array.from({ length: n }, (_, i) => (i < n - 4 ? 1 : 20))
const x = evaluate(mul(noise, reshape(far, [n, 1])))
const y = Array.from({ length: n }, (_, i) => Math.sign(3 * x.data[2 * i]! - 2 * x.data[2 * i + 1]!) * (i < n - 4 ? 1 : -1))
const { gradient, clipped, length } = each({ w: [0, 0], x, y })
plot(
  far.map((_, i) => i),
  length,
  { title: 'lengths of the gradients', points: true },
)
evaluate(mean(gradient, { axis: 0 })) // [0.721598, 0.680754]
evaluate(mean(clipped, { axis: 0 })) // [-0.183236, 0.142058]
