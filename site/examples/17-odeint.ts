// A spring: its path, and the derivative of where it ends by its stiffness.
import { type AnyExpr, at, evaluate, grad, mul, neg } from 'codual'
import { odeint } from 'codual/solve'
import { plot, slider } from 'playground'

const spring = (_t: AnyExpr, { x, v }: { x: AnyExpr; v: AnyExpr }, k: AnyExpr) => ({ x: v, v: neg(mul(k, x)) })
const k = slider('stiffness', 0.2, 4, 1)
const times = Array.from({ length: 60 }, (_, i) => i / 6)
const { ys } = evaluate(odeint(spring, { x: 1, v: 0 }, times, k, { rtol: 1e-8, maxSteps: 200 }))
plot(times, { place: ys.x, speed: ys.v }, { title: 'spring' })

const end = (k: AnyExpr) => at(odeint(spring, { x: 1, v: 0 }, [0, 1], k, { rtol: 1e-8, maxSteps: 60 }).ys.x, 1)
grad(end)(1) // -0.420735
