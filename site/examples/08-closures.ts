// A function is what it computes: ten closures of the same expression share one plan.
import { type AnyExpr, add, compile, cpu, mean, mul, square, valueAndGrad } from 'codual'

const backend = cpu({ cacheBytes: 2 ** 20 })
const loss = (k: number) => (w: AnyExpr) => mean(square(add(mul(w, 2), k + 1.5)))
const values = Array.from({ length: 10 }, (_, k) => compile(valueAndGrad(loss(k)), backend)([0.1, 0.2]).value.item())

values.slice(0, 3) // [3.25, 7.85, 14.45]
backend.cache().plans // 1
backend.cache().hits // 9
