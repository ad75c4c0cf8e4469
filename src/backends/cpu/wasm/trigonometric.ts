/** Circular functions and their inverses on vectors of f32 or f64. Sources: Cephes (Moshier), fdlibm. */
import type { Local } from './encoder.js'
import { roundingConstant } from './math.js'
import * as OP from './opcodes.js'
import type { E, Vec } from './vec.js'

/** pi / 2 in parts of at most 26 bits: a product with an integer below 2^27 is exact. The last part is as it is. */
const HALF_PI = [1.5707963109016418, 1.5893254712295857e-8, 6.123233932053594e-17, 6.36831716351095e-25]

/** In f32: 14 bits, 10 that end at 2^-23, 11 more, and the rest. Up to SINGLE_LIMIT their products with the multiple are exact, and so is what the second part leaves: it is below 2 and no finer than 2^-23. */
const HALF_PI_OF_F32 = [1.5706787109375, 1.1754035949707031e-4, 7.549533620476723e-8, 2.5633440682570896e-12]
/** Of numbers that were f32 the last parts are one. */
const HALF_PI_SHORT = [HALF_PI[0]!, HALF_PI[1]!, 6.123233995736766e-17]

/** Largest argument that the reduction handles; larger ones go to the caller's fallback. */
export const CIRCULAR_LIMIT = 1e8
/** Up to here f32 is reduced in f32: multiples of pi / 2 below 1024. */
export const SINGLE_LIMIT = 1600

/** Reduces a >= 0, in place, to [-pi/4, pi/4] by the parts of pi / 2; the nearest multiple stays in the low bits of t. */
const reduce = (w: Vec, a: Local, t: Local, parts: readonly number[]): void => {
  w.set(t, w.add(w.mul(a, w.c(2 / Math.PI)), w.c(roundingConstant(w))))
  w.let(w.sub(t, w.c(roundingConstant(w))), (n) => {
    for (const p of parts) w.set(a, w.sub(a, w.mul(n, w.c(p))))
  })
}
/** The two high f32 lanes as f64. */
const HIGH = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]
/** The low halves of two vectors. */
const LOW_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
/** The low words of four 64-bit lanes. */
const LOW_WORDS = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]

/** A function of f64 at arguments of f32 (as good as rounded once) or of i32 (NaN gives 0), two lanes at a time. */
export const throughDouble = (
  v: Vec,
  w: Vec,
  lanes: 2 | 4,
  xs: readonly Local[],
  g: (w: Vec, ...xs: readonly Local[]) => E,
  narrow: 'f32' | 'i32' = 'f32',
): E => {
  const [widen, back] =
    narrow === 'f32'
      ? ([OP.f64x2_promote_low_f32x4, OP.f32x4_demote_f64x2_zero] as const)
      : ([OP.f64x2_convert_low_i32x4_s, OP.i32x4_trunc_sat_f64x2_s_zero] as const)
  const { f } = v
  const half = (high: boolean): E =>
    v.block(() => {
      const registers = xs.map((x) => {
        const r = v.regs.take()
        f.get(x)
        if (high) f.get(x).i8x16Shuffle(HIGH)
        f.op(widen).set(r)
        return r
      })
      f.op(back, g(w, ...registers))
      for (const r of registers) v.regs.give(r)
    })
  return lanes === 2 ? half(false) : () => f.push(half(false)).push(half(true)).i8x16Shuffle(LOW_HALVES)
}
/** reduce for f32 lanes: through f64, where the products are exact. */
const reduceThroughDouble = (v: Vec, w: Vec, lanes: 2 | 4, a: Local, t: Local): void => {
  const { f } = v
  v.let(
    v.block(() => f.op(OP.f64x2_promote_low_f32x4, a)),
    (low) =>
      v.let(v.c(0), (lowBits) => {
        reduce(w, low, lowBits, HALF_PI_SHORT)
        if (lanes === 2) {
          v.set(a, () => f.op(OP.f32x4_demote_f64x2_zero, low))
          v.set(t, () => f.get(lowBits).get(lowBits).i8x16Shuffle(LOW_WORDS))
          return
        }
        v.let(
          v.block(() => f.get(a).get(a).i8x16Shuffle(HIGH).op(OP.f64x2_promote_low_f32x4)),
          (high) => {
            reduce(w, high, t, HALF_PI_SHORT)
            v.set(t, () => f.get(lowBits).get(t).i8x16Shuffle(LOW_WORDS))
            v.set(a, () => f.op(OP.f32x4_demote_f64x2_zero, low).op(OP.f32x4_demote_f64x2_zero, high).i8x16Shuffle(LOW_HALVES))
          },
        )
      }),
  )
}

/** sin x or cos x for |x| up to the limit: quadrants by Cody-Waite, then one of two polynomials. `w` is arithmetic in f64, without which the reduction is in the format itself. */
export const sinOrCos = (v: Vec, w: Vec | undefined, lanes: 2 | 4, kind: 'sin' | 'cos', x: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(v.c(0), (t) => {
        if (v.wide || w === undefined) reduce(v, a, t, v.wide ? HALF_PI : HALF_PI_OF_F32)
        else reduceThroughDouble(v, w, lanes, a, t)
        v.let(v.mul(a, a), (z) => {
          const sinCoefficients = v.wide
            ? [
                1.5896230157654656806e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
                8.33333333332211858878e-3, -1.66666666666666307295e-1,
              ]
            : [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]
          const cosCoefficients = v.wide
            ? [
                -1.135853652138768173e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
                -1.38888888888730564116e-3, 4.16666666666665929218e-2,
              ]
            : [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2]
          v.let(v.add(v.mul(v.mul(v.horner(z, sinCoefficients), z), a), a), (s) =>
            v.let(v.add(v.sub(v.mul(v.mul(v.horner(z, cosCoefficients), z), z), v.mul(v.c(0.5), z)), v.c(1)), (c) => {
              // Odd quadrants swap the polynomials; the sign comes from bit 1 of the quadrant (shifted by one for cos).
              const one = v.wide ? v.bits(1n) : v.bits(1)
              const odd = v.isub(v.wide ? v.bits(0n) : v.bits(0), v.and(t, one))
              const q: E = kind === 'sin' ? t : v.iadd(t, one)
              v.set(z, v.select(odd, kind === 'sin' ? c : s, kind === 'sin' ? s : c))
              v.let(v.and(v.shl(q, v.wide ? 62 : 30), v.c(-0)), (sign) =>
                v.push(kind === 'sin' ? v.xor(v.xor(z, sign), v.sign(x)) : v.xor(z, sign)),
              )
            }),
          )
        })
      }),
    ),
  )
/** tan x in f64 for |x| up to the limit. */
export const tan = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(v.c(0), (t) => {
        reduce(v, a, t, HALF_PI)
        v.let(v.mul(a, a), (z) => {
          const p = v.horner(z, [-1.30936939181383734205e4, 1.1535166483858741614e6, -1.79565251976484877988e7])
          const q = v.horner(
            z,
            [1, 1.36812963470692954678e4, -1.32089234440210967447e6, 2.50083801823357915839e7, -5.38695755929454629881e7],
          )
          v.set(a, v.add(a, v.mul(a, v.div(v.mul(z, p), q))))
        })
        const odd = v.isub(v.bits(0n), v.and(t, v.bits(1n)))
        v.push(v.xor(v.select(odd, v.div(v.c(-1), a), a), v.sign(x)))
      }),
    ),
  )
/** Of numbers that were f32 and become f32: (a q + a^3 p) / q, or minus its inverse, to 3e-11. */
export const tanOfF32 = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(v.c(0), (t) => {
        reduce(v, a, t, HALF_PI_SHORT)
        v.let(v.mul(a, a), (z) =>
          v.let(v.horner(z, [1.597251008101543e-2, -4.446925824556111e-1, 1]), (q) => {
            v.set(a, v.mul(a, v.add(q, v.mul(z, v.horner(z, [-1.4897509016833177e-2, 3.333333320252535e-1])))))
            v.set(t, v.shl(t, 63))
            v.set(z, v.isub(v.bits(0n), v.ushr(t, 63)))
            v.push(v.xor(v.div(v.select(z, q, a), v.select(z, a, q)), v.xor(t, v.sign(x))))
          }),
        )
      }),
    ),
  )

/** atan t for 0 <= t <= 1. */
const atanUnit = (v: Vec, t: Local): void => {
  const tan = v.wide ? 0.66 : 0.414213562373095
  v.let(v.compare('gt', t, v.c(tan)), (big) => {
    v.set(t, v.select(big, v.div(v.sub(t, v.c(1)), v.add(t, v.c(1))), t))
    v.let(v.mul(t, t), (z) => {
      if (v.wide) {
        const p = v.horner(
          z,
          [
            -8.750608600031904122785e-1, -1.615753718733365076637e1, -7.50085579231470466734e1, -1.22886668449013617341e2,
            -6.485021904942025371773e1,
          ],
        )
        const q = v.horner(
          z,
          [
            1, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2, 4.853903996359136964868e2,
            1.945506571482613964425e2,
          ],
        )
        v.set(t, v.add(v.mul(t, v.div(v.mul(z, p), q)), t))
      } else v.set(t, v.add(v.mul(v.mul(v.horner(z, [8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1]), z), t), t))
    })
    v.set(t, v.add(t, v.and(big, v.c(Math.PI / 4))))
  })
}

/** The angle of (x, y), in every quadrant; signs of zero as IEEE 754 says. */
export const atan2 = (v: Vec, y0: E, x0: E): E =>
  v.block(() => {
    v.let(y0, (y) =>
      v.let(x0, (x) =>
        v.let(v.abs(y), (ay) =>
          v.let(v.abs(x), (ax) =>
            v.let(v.div(v.pmin(ay, ax), v.pmax(ay, ax)), (t) => {
              // 0/0 is 0 here, Infinity/Infinity is 1; NaN arguments come back at the end.
              v.set(t, v.select(v.compare('eq', v.add(ax, ay), v.c(0)), v.c(0), t))
              v.set(
                t,
                v.select(
                  v.and(v.compare('eq', ax, v.c(Number.POSITIVE_INFINITY)), v.compare('eq', ay, v.c(Number.POSITIVE_INFINITY))),
                  v.c(1),
                  t,
                ),
              )
              atanUnit(v, t)
              v.set(t, v.select(v.compare('gt', ay, ax), v.sub(v.c(Math.PI / 2), t), t))
              // Negative x, -0 included: the sign bit spread over the lane.
              v.set(ax, v.compare('lt', v.copysign(v.c(1), x), v.c(0)))
              v.set(t, v.select(ax, v.sub(v.c(Math.PI), t), t))
              v.set(t, v.copysign(t, y))
              v.let(v.add(x, y), (s) => v.push(v.select(v.compare('eq', x, x), v.select(v.compare('eq', y, y), t, s), s)))
            }),
          ),
        ),
      ),
    )
  })
/** asin(s) / s = 1 + z r(z), z = s^2 <= 1/4: r to 5e-18 of the whole, least squares at Chebyshev's points with 50 digits. */
const ARCSINE_P = [
  3.630024018932073e-5, 8.142012914942911e-4, -4.0669406226207065e-2, 2.0294151563799265e-1, -3.2678222278520586e-1, 1.666666666666666e-1,
]
const ARCSINE_Q = [7.838966416508407e-2, -6.961584533116544e-1, 2.034603952495681, -2.410693336711315, 1]
/** In f32, to 5e-9. */
const ARCSINE_OF_F32 = [4.2218568040032274e-2, 2.41476003119715e-2, 4.547709898848528e-2, 7.49524176924739e-2, 1.6666753927975783e-1]
/** pi / 2 in two parts. */
const QUARTER = [Math.PI / 2, 6.123233995736766e-17] as const
/** What f32 lacks of it. */
const QUARTER_REST = Math.PI / 2 - Math.fround(Math.PI / 2)

/** The arc of sine |x| <= 1/2, or half of the arc from 1 where |x| is `big`: s and what the arc is longer by. NaN beyond 1. */
const arc = (v: Vec, x: Local, body: (s: Local, more: Local, big: Local) => void): E =>
  v.block(() =>
    v.let(v.abs(x), (s) =>
      v.let(v.compare('gt', s, v.c(0.5)), (big) =>
        v.let(v.select(big, v.mul(v.sub(v.c(1), s), v.c(0.5)), v.mul(s, s)), (z) => {
          v.set(s, v.select(big, v.sqrt(z), s))
          v.set(z, v.mul(v.mul(s, z), v.wide ? v.div(v.horner(z, ARCSINE_P), v.horner(z, ARCSINE_Q)) : v.horner(z, ARCSINE_OF_F32)))
          body(s, z, big)
        }),
      ),
    ),
  )
/** pi / 2 - 2 (s + more). */
const toQuarter = (v: Vec, s: Local, more: Local): E =>
  v.sub(v.sub(v.c(QUARTER[0]), v.add(s, s)), v.sub(v.add(more, more), v.c(QUARTER[1])))
/** asin x: x + x^3 r(x^2) up to 1/2, beyond pi / 2 - 2 asin(sqrt((1 - x) / 2)); NaN outside [-1, 1]. */
export const asin = (v: Vec, x: Local): E =>
  arc(v, x, (s, more, big) => v.push(v.copysign(v.select(big, toQuarter(v, s, more), v.add(s, more)), x)))
/** acos x: pi / 2 - asin x up to 1/2, beyond 2 asin(sqrt((1 - x) / 2)). */
export const acos = (v: Vec, x: Local): E =>
  arc(v, x, (s, more, big) => {
    const twice = v.mul(v.c(2), v.add(s, more))
    const far = v.select(v.compare('lt', x, v.c(0)), v.sub(v.c(Math.PI), v.sub(twice, v.c(2 * QUARTER[1]))), twice)
    const near = v.sub(v.c(QUARTER[0]), v.xor(v.add(s, v.sub(more, v.c(QUARTER[1]))), v.sign(x)))
    v.push(v.select(big, far, near))
  })
/** In f32, by arithmetic with the mask: y, or pi / 2 - 2 y. */
export const asinOfF32 = (v: Vec, x: Local): E =>
  arc(v, x, (s, more, big) => {
    v.set(more, v.add(s, v.sub(more, v.and(big, v.c(QUARTER_REST / 2)))))
    v.push(v.xor(v.add(v.mul(more, v.sub(v.c(1), v.and(big, v.c(3)))), v.and(big, v.c(QUARTER[0]))), v.sign(x)))
  })
/** In f32: pi / 2 - y, or 2 y, or pi - 2 y where x is negative. */
export const acosOfF32 = (v: Vec, x: Local): E =>
  arc(v, x, (s, more, big) =>
    v.let(v.sign(x), (sign) => {
      const twice = v.mul(v.c(2), v.add(s, more))
      const far = v.xor(v.sub(twice, v.and(v.compare('lt', x, v.c(0)), v.c(Math.PI))), sign)
      const near = v.sub(v.c(QUARTER[0]), v.xor(v.add(s, v.sub(more, v.c(QUARTER_REST))), sign))
      v.push(v.select(big, far, near))
    }),
  )
