// A long loop that keeps the carry of every tenth step, and computes the others again on the way back.
import { type AnyExpr, add, compile, fori, grad, mul, sin } from 'codual'

const everything = (x: AnyExpr) => fori(100, (_k, h) => sin(add(mul(h, x), 0.1)), x)
const few = (x: AnyExpr) => fori(100, (_k, h) => sin(add(mul(h, x), 0.1)), x, { checkpoint: 'sqrt' })

const a = compile(grad(everything))
const b = compile(grad(few))
a(0.5) // 0.379546
b(0.5) // 0.379546
b.explain(0.5).peakBytes < a.explain(0.5).peakBytes // true
