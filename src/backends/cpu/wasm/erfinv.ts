/** The inverse of the error function. */
import type { Local, Operand } from './encoder.js'
import { log2OfF32 } from './special.js'
import type { Vec } from './vec.js'

/** erfinv of numbers that were f32 and become f32: erfinv(x) / x as a quotient of polynomials in -log2(1 - x^2), to 2.6e-9 up to the last number before 1. */
export const erfinvOfF32 = (v: Vec, x: Local): Operand =>
  v.block(() =>
    v.let(v.mul(v.sub(v.c(1), x), v.add(v.c(1), x)), (w) =>
      v.let(w, (r) => {
        log2OfF32(v, w, r)
        v.set(w, v.neg(w))
        const p = v.horner(
          w,
          [
            1.0558405945835899e-8, 5.851618183262939e-6, 1.7473061293121577e-4, 2.8429127156766663e-3, 3.0260933857439675e-2,
            2.1742674802908313e-1, 8.86226923214877e-1,
          ],
        )
        const q = v.horner(
          w,
          [4.804592946154871e-7, 5.248603899251882e-5, 7.284644766937592e-4, 1.6293725175665574e-2, 6.387425282145921e-2, 1],
        )
        v.set(r, v.div(v.mul(x, p), q))
        v.let(v.abs(x), (a) => {
          v.set(r, v.select(v.compare('lt', a, v.c(1)), r, v.copysign(v.c(Number.POSITIVE_INFINITY), x)))
          // Also where x is NaN.
          v.push(v.select(v.compare('le', a, v.c(1)), r, v.c(Number.NaN)))
        })
      }),
    ),
  )
