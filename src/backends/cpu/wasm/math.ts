/**
 * Exponentials and logarithms on vectors of f32 or f64, written once over a `Vec`. Sources: Cephes (Moshier) and fdlibm, with
 * Cody-Waite reduction; no fused multiply-add, so results do not depend on the machine.
 */
import type { Local } from './encoder.js'
import * as OP from './opcodes.js'
import type { E, Vec } from './vec.js'

const LOG2E = 1.4426950408889634

/** Runs `body` where all lanes of the mask are set, else `otherwise`. */
const whereAll = (v: Vec, mask: E, body: () => void, otherwise: () => void): void =>
  void v.f.op(OP.i32_eq, () => v.f.op(v.wide ? OP.i64x2_bitmask : OP.i32x4_bitmask, mask), v.wide ? 3 : 15).if(body, otherwise)
/** `usual` where the mask is set, else `rare`, which is computed only where a lane wants it: what a lane becomes does not depend on the others. */
export const usually = (v: Vec, mask: E, usual: E, rare: E): E =>
  v.block(() =>
    v.let(mask, (m) =>
      v.let(usual, (y) => {
        whereAll(
          v,
          m,
          () => {},
          () => v.set(y, v.select(m, y, rare)),
        )
        v.push(y)
      }),
    ),
  )

/** Rounds to an integer when added: the integer then lies in the low bits. */
export const roundingConstant = (v: Vec): number => (v.wide ? 6755399441055744 : 12582912)

/** 1/2!, 1/3!, ... 1/13! */
const INVERSE_FACTORIALS: readonly number[] = [
  1 / 2,
  1 / 6,
  1 / 24,
  1 / 120,
  1 / 720,
  1 / 5040,
  1 / 40320,
  1 / 362880,
  1 / 3628800,
  1 / 39916800,
  1 / 479001600,
  1 / 6227020800,
]
/** exp(x) - 1 for |x| <= log(2) / 2, in place. `plusOne` gives exp(x). */
const expReduced = (v: Vec, x: Local, plusOne: boolean): void =>
  v.let(v.mul(x, x), (z) => {
    if (v.wide && plusOne) {
      v.set(x, v.mul(x, v.horner(z, [1.26177193074810590878e-4, 3.029944077074419613e-2, 9.9999999999999999991e-1])))
      v.set(z, v.sub(v.horner(z, [3.00198505138664455042e-6, 2.52448340349684104192e-3, 2.27265548208155028766e-1, 2]), x))
      v.set(x, v.div(x, z))
      v.set(x, v.add(v.c(1), v.add(x, x)))
    } else if (v.wide) {
      // Without the 1 the error of a quotient would show: x + x^2 (1/2! + x/3! + ... + x^11/13!), paired so that few operations wait for another.
      const pair = (k: number): E => v.add(v.mul(x, v.c(INVERSE_FACTORIALS[k + 1]!)), v.c(INVERSE_FACTORIALS[k]!))
      v.let(v.mul(z, z), (z2) => {
        const quad = (k: number): E => v.add(v.mul(pair(k + 2), z), pair(k))
        const w = v.add(v.mul(v.add(v.mul(quad(8), z2), quad(4)), z2), quad(0))
        v.set(x, v.add(v.mul(w, z), x))
      })
    } else {
      const q0 = v.add(v.mul(x, v.c(1.6666665459e-1)), v.c(5.0000001201e-1))
      const q1 = v.add(v.mul(x, v.c(8.3334519073e-3)), v.c(4.1665795894e-2))
      const q2 = v.add(v.mul(x, v.c(1.98756915e-4)), v.c(1.3981999507e-3))
      const p = v.add(v.mul(v.add(v.mul(v.add(v.mul(q2, z), q1), z), q0), z), x)
      v.set(x, plusOne ? v.add(p, v.c(1)) : p)
    }
  })

/** Takes n = the integer nearest to x log2(e) out of x; `t` keeps n in its low bits. */
const reduceExp = (v: Vec, x: Local, body: (t: Local, n: Local) => void): void =>
  v.let(v.add(v.mul(x, v.c(LOG2E)), v.c(roundingConstant(v))), (t) =>
    v.let(v.sub(t, v.c(roundingConstant(v))), (n) => {
      const hi = v.wide ? 6.93145751953125e-1 : 0.693359375
      const lo = v.wide ? 1.42860682030941723212e-6 : -2.1219444e-4
      v.set(x, v.sub(v.sub(x, v.mul(n, v.c(hi))), v.mul(n, v.c(lo))))
      body(t, n)
    }),
  )

/** x 2^n, n in the low bits of t, in two factors: subnormal results are rounded once, large ones overflow. Uses t and n. */
const scaled = (v: Vec, x: Local, t: Local, n: Local, halve = false): E => {
  const shift = v.wide ? 52 : 23
  const bias = v.wide ? v.bits(1023n) : v.bits(127)
  return () => {
    v.set(t, v.wide ? v.isub(t, v.c(roundingConstant(v))) : v.isub(t, v.bits(0x4b400000 + (halve ? 1 : 0))))
    if (v.wide && halve) v.set(t, v.isub(t, v.bits(1n)))
    v.set(n, v.shr(t, 1))
    v.push(v.mul(v.mul(x, v.shl(v.iadd(n, bias), shift)), v.shl(v.iadd(v.isub(t, n), bias), shift)))
  }
}
/**
 * The same, also where the result is below the normal range: such products take the processor a hundred times as long. There x 2^(n + 64) (2^(n + 512) in f64) is added to a power of two whose last place is
 * that of the smallest number, which rounds once; how many last places were added are the bits of the result.
 */
const scaledDown =
  (v: Vec, x: Local, t: Local, n: Local): E =>
  () => {
    const [least, up, one] = v.wide ? [-1022, 512, 2 ** -510] : [-126, 64, 2 ** -62]
    const [shift, bias] = v.wide ? [52, v.bits(BigInt(1023 + up))] : [23, v.bits(127 + up)]
    v.let(v.compare('lt', n, v.c(least)), (low) => {
      const exponent = v.isub(t, v.wide ? v.c(roundingConstant(v)) : v.bits(0x4b400000))
      v.let(v.add(v.mul(x, v.shl(v.iadd(v.and(exponent, low), bias), shift)), v.c(one)), (sum) => {
        // Where that is the result, nothing that underflows is computed beside it.
        v.set(t, v.select(low, v.c(roundingConstant(v)), t))
        v.push(v.select(low, v.isub(sum, v.c(one)), scaled(v, x, t, n)))
      })
    })
  }
const clamp = (v: Vec, x: E, low: number, high: number): E => v.pmax(v.pmin(x, v.c(high)), v.c(low))

/** exp x, in place, of numbers whose result is neither below the normal range nor too large. */
const expNormal = (v: Vec, x: Local): void =>
  reduceExp(v, x, (t) => {
    expReduced(v, x, true)
    v.set(x, v.iadd(x, v.shl(t, v.wide ? 52 : 23)))
  })
/** Where x is below `bottom` its result is 0, and 0 is computed with in its place: a product that underflows takes the processor a hundred times as long, and masked scores (-Infinity) are many. */
const above = (v: Vec, x: Local, bottom: number, compute: () => void): void =>
  v.let(v.compare('lt', x, v.c(bottom)), (none) => {
    v.set(x, v.andNot(x, none))
    compute()
    v.set(x, v.andNot(x, none))
  })
/** exp x, in place: results below the normal range are rounded once, large ones overflow. */
const expAny = (v: Vec, x: Local): void => {
  v.set(x, v.pmin(x, v.c(v.wide ? 710 : 89)))
  above(v, x, v.wide ? -746 : -104, () =>
    reduceExp(v, x, (t, n) => {
      expReduced(v, x, true)
      v.set(x, scaledDown(v, x, t, n))
    }),
  )
}
/** Where exp x and exp -x are normal numbers. */
const isModest = (v: Vec, x: Local): E => v.compare('lt', v.abs(x), v.c(v.wide ? 708 : 87))
/** exp x. `full` handles results below the normal range and overflow, where a lane has one; without it x must be neither. */
export const exp = (v: Vec, x0: E, full = true): E =>
  v.block(() =>
    v.let(x0, (x) => {
      if (!full) expNormal(v, x)
      else
        whereAll(
          v,
          isModest(v, x),
          () => expNormal(v, x),
          () => expAny(v, x),
        )
      v.push(x)
    }),
  )
/** exp(x) / 2, which overflows only where the hyperbolic functions do. */
const halfExp = (v: Vec, x0: E): E =>
  v.block(() =>
    v.let(v.pmin(x0, v.c(v.wide ? 711 : 90)), (x) =>
      reduceExp(v, x, (t, n) => {
        expReduced(v, x, true)
        v.push(scaled(v, x, t, n, true))
      }),
    ),
  )
/** 2^x; exact at integers. */
export const exp2 = (v: Vec, x0: E): E =>
  v.block(() =>
    v.let(v.pmin(x0, v.c(v.wide ? 1025 : 129)), (x) => {
      above(v, x, v.wide ? -1076 : -151, () =>
        v.let(v.add(x, v.c(roundingConstant(v))), (t) =>
          v.let(v.sub(t, v.c(roundingConstant(v))), (n) => {
            v.set(x, v.mul(v.sub(x, n), v.c(Math.LN2)))
            expReduced(v, x, true)
            v.set(x, scaledDown(v, x, t, n))
          }),
        ),
      )
      v.push(x)
    }),
  )
/** exp x - 1 = 2^n ((exp r - 1) + (1 - 2^-n)), which has the sign of x: also where x is -0. */
const expm1OfAny = (v: Vec, x0: E): E =>
  v.block(() =>
    v.let(clamp(v, x0, v.wide ? -39 : -19, v.wide ? 710 : 89), (x) =>
      v.let(v.sign(x), (sign) =>
        reduceExp(v, x, (t, n) => {
          expReduced(v, x, false)
          // n = 0 keeps exp r - 1 itself, and with it subnormal numbers.
          v.let(v.compare('eq', n, v.c(0)), (zero) => {
            // What is in t beside n has no bits that stay.
            const [shift, bias, less] = v.wide ? [52, v.bits(1023n), v.bits(1022n)] : [23, v.bits(127), v.bits(126)]
            // 2^-n, 0 where n is so large that it does not matter.
            v.set(n, v.and(v.shl(v.isub(bias, t), shift), v.compare('le', n, v.c(v.wide ? 900 : 120))))
            // Times 2 and 2^(n - 1), which is a number where 2^n is none.
            const scaled = (y: Local): E => v.mul(v.add(y, y), v.shl(v.iadd(t, less), shift))
            v.let(v.add(x, v.sub(v.c(1), n)), (y) => v.push(v.or(v.select(zero, x, scaled(y)), sign)))
          })
        }),
      ),
    ),
  )

/** That in f32, where 2^n is a number. */
const expm1OfModest = (v: Vec, x0: Local): E =>
  v.block(() =>
    v.let(x0, (x) =>
      reduceExp(v, x, (t, n) => {
        expReduced(v, x, false)
        v.set(t, v.shl(v.iadd(t, v.bits(127)), 23))
        v.set(n, v.sub(t, v.c(1)))
        v.push(v.or(v.add(v.mul(x, t), n), v.sign(x0)))
      }),
    ),
  )
export const expm1 = (v: Vec, x: Local): E =>
  v.wide ? expm1OfAny(v, x) : usually(v, isModest(v, x), expm1OfModest(v, x), expm1OfAny(v, x))

/** tanh x: a polynomial below 0.625, else 1 - 2 / (exp(2|x|) + 1). */
export const tanh = (v: Vec, x0: E): E =>
  v.block(() => {
    v.let(x0, (x) =>
      v.let(v.abs(x), (a) =>
        v.let(v.mul(x, x), (z) => {
          if (v.wide) {
            const p = v.horner(z, [-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3])
            const q = v.horner(z, [1, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3])
            v.set(z, v.add(x, v.mul(v.mul(x, z), v.div(p, q))))
          } else
            v.set(
              z,
              v.add(
                v.mul(
                  v.mul(v.horner(z, [-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1]), z),
                  x,
                ),
                x,
              ),
            )
          const big = v.sub(v.c(1), v.div(v.c(2), v.add(exp(v, v.pmin(v.add(a, a), v.c(v.wide ? 88 : 40)), false), v.c(1))))
          v.push(v.or(v.select(v.compare('lt', a, v.c(0.625)), z, big), v.sign(x)))
        }),
      ),
    )
  })
/** sinh x: a polynomial below 1, else h - 1 / (4 h) with h = exp(|x|) / 2. */
export const sinh = (v: Vec, x0: E): E =>
  v.block(() =>
    v.let(x0, (x) =>
      v.let(halfExp(v, v.abs(x)), (h) => {
        v.set(h, v.copysign(v.sub(h, v.div(v.c(0.25), h)), x))
        v.let(v.mul(x, x), (z) => {
          const p = v.wide
            ? v.div(
                v.horner(z, [-7.89474443963537015605e-1, -1.63725857525983828727e2, -1.15614435765005216044e4, -3.517549648081513948e5]),
                v.horner(z, [1, -2.77711081420602794433e2, 3.61578279834431989373e4, -2.11052978884890840399e6]),
              )
            : v.horner(z, [2.03721912945e-4, 8.33028376239e-3, 1.66667160211e-1])
          v.push(v.select(v.compare('lt', v.abs(x), v.c(1)), v.add(x, v.mul(v.mul(p, z), x)), h))
        })
      }),
    ),
  )
export const cosh = (v: Vec, x: E): E => v.block(() => v.let(halfExp(v, v.abs(x)), (h) => v.push(v.add(h, v.div(v.c(0.25), h)))))

/** tanh(r / 2) = r (1 + a r^2) / (2 + b r^2) for |r| <= log(2) / 2, to 7e-10: least squares of the relative error. */
const TANH_OF_HALF = [1.664670125003362e-2, 1.9995994528249011e-1] as const
/** In f32: exp(-x) is 2^n (u + w) / (u - w) with w / u = tanh(r / 2), so one division gives (u - w) / (u - w + 2^n (u + w)). */
const sigmoidOfModest = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.neg(x), (w) =>
      reduceExp(v, w, (t, u) => {
        const [a, b] = TANH_OF_HALF
        v.set(u, v.mul(w, w))
        v.set(w, v.add(v.mul(v.mul(u, v.c(a)), w), w))
        v.set(u, v.add(v.mul(u, v.c(b)), v.c(2)))
        v.set(t, v.iadd(v.add(u, w), v.shl(t, 23)))
        v.set(u, v.sub(u, w))
        v.push(v.div(u, v.add(u, t)))
      }),
    ),
  )
/** 1 / (1 + exp(-x)); in f64, and of large numbers, from exp(-|x|), so that small values keep their accuracy. */
export const sigmoid = (v: Vec, x0: E): E =>
  v.block(() =>
    v.let(x0, (x) => {
      const accurate = v.block(() =>
        v.let(exp(v, v.neg(v.abs(x))), (e) => v.push(v.div(v.select(v.compare('lt', x, v.c(0)), e, v.c(1)), v.add(v.c(1), e)))),
      )
      v.push(v.wide ? accurate : usually(v, isModest(v, x), sigmoidOfModest(v, x), accurate))
    }),
  )
/** (m - log1p m) / m^2 for -1/4 <= m <= 1/2, to 6e-9 of log1p m; of this and the next: least squares at Chebyshev's points with 50 digits. */
const LOG1P_UNIT = [
  4.337220962126883e-2, -1.027380276913829e-1, 1.3123386927556116e-1, -1.4499683003028938e-1, 1.665409739951442e-1, -1.9990121448181286e-1,
  2.4999804507235615e-1, -3.333345801976698e-1, 5.000000333800535e-1,
]
/** That for 0 <= u <= 1, to 1e-17. */
const LOG1P_UNIT_P = [
  1.5502531610662193e-3, 4.212291845727327e-2, 3.1450102739865327e-1, 9.224761172062579e-1, 1.1427950149742367, 4.9999999999999784e-1,
]
const LOG1P_UNIT_Q = [
  1.5731504487665432e-3, 4.894630304896322e-2, 4.4966857937793364e-1, 1.761622616607221, 3.313123365502131, 2.952256696614738, 1,
]
/** log(1 + u) for 0 <= u <= 1; in f32 log 2 + log(1 + (u - 1) / 2) above 1/2, where a polynomial from 0 would be rounded too often. */
export const log1pOfUnit = (v: Vec, u0: E): E =>
  v.block(() =>
    v.let(u0, (u) => {
      if (v.wide) v.push(v.sub(u, v.mul(v.mul(u, u), v.div(v.estrin(u, LOG1P_UNIT_P), v.estrin(u, LOG1P_UNIT_Q)))))
      else
        v.let(v.compare('gt', u, v.c(0.5)), (big) => {
          v.set(u, v.select(big, v.mul(v.sub(u, v.c(1)), v.c(0.5)), u))
          v.push(v.add(v.sub(u, v.mul(v.mul(u, u), v.estrin(u, LOG1P_UNIT))), v.and(big, v.c(Math.LN2))))
        })
    }),
  )
/** max(x, 0) + log1p(exp(-|x|)). */
export const softplus = (v: Vec, x0: E): E =>
  v.block(() => v.let(x0, (x) => v.push(v.add(v.pmax(x, v.c(0)), log1pOfUnit(v, exp(v, v.neg(v.abs(x))))))))

/** Where x lies: its bits and this, as an integer, have the exponent of x / sqrt(1/2) in their place. */
const ROOT_HALF = {
  f32: [0x3f3504f3, 0x3f800000 - 0x3f3504f3],
  f64: [0x3fe6a09e667f3bcdn, 0x3ff0000000000000n - 0x3fe6a09e667f3bcdn],
} as const
/** The positive number m (not subnormal) as 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt 2), in place. */
export const separate = (v: Vec, m: Local, e: Local): void => {
  const [root, toOne] = ROOT_HALF[v.dtype]
  v.set(m, v.iadd(m, v.bits(toOne)))
  // Exponent to float: small positive integers, by the magic-number trick.
  const [digits, magic, bias] = v.wide ? [52, 4503599627370496, 1023] : [23, 8388608, 127]
  v.set(e, v.sub(v.or(v.ushr(m, digits), v.c(magic)), v.c(magic + bias)))
  v.set(m, v.sub(v.iadd(v.and(m, v.wide ? v.bits(0x000fffffffffffffn) : v.bits(0x007fffff)), v.bits(root)), v.c(1)))
}
/**
 * Logarithm of x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt 2): log(1 + m) = m - m^2 / 2 + y. `finish` sets m to the result. `least` says that x is 0 or at
 * least that of normal numbers.
 */
const logarithm = (v: Vec, x0: E, finish: (m: Local, halfSquare: E, y: Local, e: Local) => void, least = false): E =>
  v.block(() => {
    v.let(x0, (x) =>
      v.let(x, (m) =>
        v.let(v.c(0), (e) => {
          if (least) separate(v, m, e)
          // Subnormal arguments are scaled up first.
          else
            v.let(v.compare('lt', m, v.c(v.wide ? 2.2250738585072014e-308 : 1.17549435e-38)), (low) => {
              v.set(m, v.select(low, v.mul(m, v.c(v.wide ? 2 ** 54 : 2 ** 25)), m))
              separate(v, m, e)
              v.set(e, v.sub(e, v.and(low, v.c(v.wide ? 54 : 25))))
            })
          v.let(v.mul(m, m), (z) => {
            const half = v.mul(v.c(0.5), z)
            if (v.wide) {
              const p = v.estrin(
                m,
                [
                  1.01875663804580931796e-4, 4.97494994976747001425e-1, 4.70579119878881725854, 1.44989225341610930846e1,
                  1.79368678507819816313e1, 7.70838733755885391666,
                ],
              )
              const q = v.estrin(
                m,
                [
                  1, 1.1287358718916745059e1, 4.52279145837532221105e1, 8.29875266912776603211e1, 7.11544750618563894466e1,
                  2.31251620126765340583e1,
                ],
              )
              v.let(v.mul(m, v.div(v.mul(z, p), q)), (y) => finish(m, half, y, e))
            } else {
              const p = v.estrin(
                m,
                [
                  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
                  -2.4999993993e-1, 3.3333331174e-1,
                ],
              )
              v.let(v.mul(v.mul(m, z), p), (y) => finish(m, half, y, e))
            }
          })
          // Infinity and NaN as they are; 0 gives -Infinity; negative gives NaN.
          const ordinary = v.and(v.compare('gt', x, v.c(0)), v.compare('lt', x, v.c(Number.POSITIVE_INFINITY)))
          v.whereAny(v.not(ordinary), () => {
            v.set(m, v.select(v.compare('lt', x, v.c(Number.POSITIVE_INFINITY)), m, x))
            v.set(m, v.select(v.compare('eq', x, v.c(0)), v.c(Number.NEGATIVE_INFINITY), m))
            v.set(m, v.select(v.compare('lt', x, v.c(0)), v.c(Number.NaN), m))
          })
          v.push(m)
        }),
      ),
    )
  })
const natural =
  (v: Vec) =>
  (m: Local, half: E, y: Local, e: Local): void => {
    v.set(y, v.sub(y, v.mul(e, v.c(v.wide ? 2.121944400546905827679e-4 : 2.1219444e-4))))
    v.set(y, v.sub(y, half))
    v.set(m, v.add(v.add(m, y), v.mul(e, v.c(0.693359375))))
  }
export const log = (v: Vec, x: E): E => logarithm(v, x, natural(v))
/** Logarithm to base 2; exact at powers of two. */
export const log2 = (v: Vec, x: E): E =>
  logarithm(v, x, (m, half, y, e) => {
    const l = v.c(LOG2E - 1)
    v.set(y, v.sub(y, half))
    v.set(m, v.add(v.add(v.add(v.add(v.mul(y, l), v.mul(m, l)), y), m), e))
  })
/** Logarithm to base 10, with log10(e) and log10(2) in two parts each. */
export const log10 = (v: Vec, x: E): E =>
  logarithm(v, x, (m, half, y, e) => {
    const [eHigh, eLow, twoHigh, twoLow] = [4.3359375e-1, 7.00731903251827651129e-4, 3.0078125e-1, 2.48745663981195213739e-4]
    v.set(y, v.sub(y, half))
    const low = v.add(v.mul(v.add(m, y), v.c(eLow)), v.mul(e, v.c(twoLow)))
    v.set(m, v.add(v.add(v.add(low, v.mul(y, v.c(eHigh))), v.mul(m, v.c(eHigh))), v.mul(e, v.c(twoHigh))))
  })

/** log(1 + x), exact near 0: the logarithm of u = 2^e (1 + m) = 1 + x rounded, and c / (1 + m), to the third power of m, with c = (x - (u - 1)) 2^-e. */
export const log1p = (v: Vec, x0: E): E =>
  v.block(() =>
    v.let(x0, (x) =>
      v.let(v.add(x, v.c(1)), (u) => {
        const finish = (m: Local, half: E, y: Local, e: Local): void => {
          // 2^-e; from 2^100 on nothing is added any more.
          const [bias, shift] = v.wide ? [v.bits(1023n), 52] : [v.bits(127), 23]
          const scale = v.shl(v.isub(bias, v.add(v.pmin(e, v.c(100)), v.c(roundingConstant(v)))), shift)
          v.set(y, v.add(y, v.mul(v.mul(v.sub(x, v.sub(u, v.c(1))), scale), v.add(v.sub(v.mul(m, m), m), v.c(1)))))
          natural(v)(m, half, y, e)
        }
        const y = logarithm(v, u, finish, true)
        // 1 + x == 1: x itself (keeps -0).
        v.push(v.select(v.compare('eq', u, v.c(1)), x, y))
      }),
    ),
  )
