/** Further functions on vectors of f64 (f32 lanes come through f64: see throughDouble). Sources: Cephes (Moshier), fdlibm. */
import type { Local } from './encoder.js'
import { exp, log, log1p, log1pOfUnit, roundingConstant, separate } from './math.js'
import { throughDouble } from './trigonometric.js'
import type { E, Vec } from './vec.js'

const INF = Number.POSITIVE_INFINITY

/** x + x^3 p(x^2) / q(x^2). */
const odd = (v: Vec, x: Local, p: readonly number[], q: readonly number[]): E =>
  v.block(() => v.let(v.mul(x, x), (z) => v.push(v.add(x, v.mul(v.mul(x, z), v.div(v.horner(z, p), v.horner(z, q)))))))

/** A rational function below 1/2, else log(a + sqrt(a^2 + 1)), log(2 a) where a^2 would overflow. */
export const asinh = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(v.compare('gt', a, v.c(1e9)), (huge) => {
        const inner = v.select(huge, a, v.add(a, v.sqrt(v.add(v.mul(a, a), v.c(1)))))
        v.let(v.add(log(v, inner), v.and(huge, v.c(Math.LN2))), (l) => {
          const near = odd(
            v,
            x,
            [
              -4.33231683752342103572e-3, -5.91750212056387121207e-1, -4.3739022619435668357, -9.09030533308377316566,
              -5.5668222723085964045,
            ],
            [1, 1.28757002067426453537e1, 4.86042483805291788324e1, 6.95722521337257608734e1, 3.34009336338516356383e1],
          )
          v.push(v.copysign(v.select(v.compare('lt', a, v.c(0.5)), near, l), x))
        })
      }),
    ),
  )
/** log1p(t + sqrt(t (t + 2))) with t = x - 1; NaN below 1. */
export const acosh = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.sub(x, v.c(1)), (t) =>
      v.let(v.compare('gt', t, v.c(1e9)), (huge) => {
        const inner = v.select(huge, t, v.add(t, v.sqrt(v.mul(t, v.add(t, v.c(2))))))
        const y = v.add(log1p(v, inner), v.and(huge, v.c(Math.LN2)))
        v.push(v.select(v.compare('lt', x, v.c(1)), v.c(Number.NaN), y))
      }),
    ),
  )
/** A rational function below 1/2, else log((1 + a) / (1 - a)) / 2. */
export const atanh = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) => {
      const near = odd(
        v,
        x,
        [
          -8.54074331929669305196e-1, 1.20426861384072379242e1, -4.61252884198732692637e1, 6.54566728676544377376e1,
          -3.0909253937986694257e1,
        ],
        [
          1, -1.95638849376911654834e1, 1.08938092147140262656e2, -2.49839401325893582852e2, 2.52006675691344555838e2,
          -9.27277618139601130017e1,
        ],
      )
      const far = v.mul(v.c(0.5), log(v, v.div(v.add(v.c(1), a), v.sub(v.c(1), a))))
      v.push(v.select(v.compare('lt', a, v.c(0.5)), near, v.copysign(far, x)))
    }),
  )
/** exp(log|x| / 3), then one Newton step. */
export const cbrt = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(exp(v, v.mul(log(v, a), v.c(1 / 3))), (y) => {
        v.set(y, v.sub(y, v.mul(v.sub(y, v.div(a, v.mul(y, y))), v.c(1 / 3))))
        const ordinary = v.and(v.compare('gt', a, v.c(0)), v.compare('lt', a, v.c(INF)))
        v.push(v.select(ordinary, v.copysign(y, x), x))
      }),
    ),
  )

/** erf x for |x| <= 1. */
const erfNear = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.mul(x, x), (z) => {
      const p = v.horner(
        z,
        [9.60497373987051638749, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3, 5.55923013010394962768e4],
      )
      const q = v.horner(
        z,
        [
          1, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4,
          4.92673942608635921086e4,
        ],
      )
      v.push(v.mul(x, v.div(p, q)))
    }),
  )
/** erfc a for a >= 1: exp(-a^2) times a rational function; the square is split, so that it is not rounded. */
const erfcFar = (v: Vec, a: Local): E =>
  v.block(() =>
    v.let(v.and(a, v.bits(0xfffffffff8000000n)), (h) =>
      v.let(v.mul(exp(v, v.neg(v.mul(h, h))), exp(v, v.neg(v.mul(v.sub(a, h), v.add(a, h))), false)), (e) => {
        const p = v.horner(
          a,
          [
            2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687, 4.86371970985681366614e1,
            1.96520832956077098242e2, 5.26445194995477358631e2, 9.3452852717195760754e2, 1.02755188689515710272e3, 5.57535335369399327526e2,
          ],
        )
        const q = v.horner(
          a,
          [
            1, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
            1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2,
          ],
        )
        const r = v.horner(
          a,
          [
            5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414, 6.16021097993053585195, 7.4097426995044893916,
            2.9788666537210024067,
          ],
        )
        const s = v.horner(
          a,
          [
            1, 2.2605286322011727659, 9.39603524938001434673, 1.20489539808096656605e1, 1.70814450747565897222e1, 9.60896809063285878198,
            3.3690764510008151605,
          ],
        )
        v.set(h, v.compare('lt', a, v.c(8)))
        v.push(v.mul(e, v.div(v.select(h, p, r), v.select(h, q, s))))
      }),
    ),
  )
export const erf = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.pmin(v.abs(x), v.c(7)), (a) =>
      v.let(v.sub(v.c(1), erfcFar(v, a)), (far) => v.push(v.select(v.compare('le', a, v.c(1)), erfNear(v, x), v.copysign(far, x)))),
    ),
  )
export const erfc = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.pmin(v.abs(x), v.c(28)), (a) =>
      v.let(erfcFar(v, a), (far) => {
        v.set(far, v.select(v.compare('lt', x, v.c(0)), v.sub(v.c(2), far), far))
        v.push(v.select(v.compare('le', a, v.c(1)), v.sub(v.c(1), erfNear(v, x)), far))
      }),
    ),
  )

/** 2^t for |t| <= 1/2, to 4e-11, for numbers that become f32: least squares of the relative error at Chebyshev's points, as all of these. */
const EXP2_OF_F32 = [
  1.5195577484334636e-5, 1.5469236479859503e-4, 1.3333950083634688e-3, 9.618027457974873e-3, 5.5504103194877565e-2, 2.4022651196252742e-1,
  6.93147180738832e-1, 9.999999999619436e-1,
]
/** 2^x of an f64 that becomes f32, where x is neither NaN nor beyond the exponents of f64. */
export const exp2OfF32 = (v: Vec, x: E): E =>
  v.block(() =>
    v.let(x, (z) =>
      v.let(v.add(z, v.c(roundingConstant(v))), (t) => {
        v.set(z, v.sub(z, v.sub(t, v.c(roundingConstant(v)))))
        v.push(v.iadd(v.horner(z, EXP2_OF_F32), v.shl(t, 52)))
      }),
    ),
  )
/** erf of numbers that were f32 and become f32: erf(x) / x as a quotient of polynomials in x^2, to 2e-10 up to 3.94, where it has rounded to 1. */
export const erfOfF32 = (v: Vec, x: Local): E =>
  v.block(() =>
    v.let(v.pmax(v.pmin(x, v.c(3.94)), v.c(-3.94)), (y) =>
      v.let(v.mul(y, y), (z) => {
        const p = v.horner(
          z,
          [
            8.776662577475427e-7, 5.0096162884542886e-5, 7.856234885589544e-4, 9.361500584214616e-3, 7.264760190030305e-2,
            2.9570837783625104e-1, 1.1283791670039331,
          ],
        )
        const q = v.horner(
          z,
          [
            3.768080957036154e-8, 8.719526536678528e-6, 2.0696524077953244e-4, 2.9077436452535545e-3, 2.6848775720991376e-2,
            1.6284831737908526e-1, 5.953980554902842e-1, 1,
          ],
        )
        v.push(v.div(v.mul(y, p), q))
      }),
    ),
  )
/**
 * Of erfc, for 0 <= a <= 10.3, where the result has become 0: exp(-a^2) = 2^n (u + v) / (u - v), v / u = tanh of half the rest, times exp(a^2) erfc(a), a quotient of polynomials too, to 6e-9.
 */
const erfcOfPositive = (v: Vec, a: Local): E =>
  v.block(() =>
    v.let(v.mul(v.mul(a, a), v.c(-Math.LOG2E)), (r) =>
      v.let(v.add(r, v.c(roundingConstant(v))), (t) => {
        v.set(r, v.sub(r, v.sub(t, v.c(roundingConstant(v)))))
        v.let(v.mul(r, r), (u) => {
          v.set(r, v.mul(r, v.horner(u, [2.771044355782867e-3, 3.4657358963259e-1])))
          v.set(u, v.horner(u, [4.803323504646392e-2, 1]))
          const p = v.horner(a, [3.297055260470225e-2, 2.3004677423617134e-1, 7.333397706868822e-1, 1.2400658737891015, 1.0000000059611318])
          const q = v.horner(a, [5.843811191802601e-2, 4.077728963116519e-1, 1.3286087825952293, 2.405834837668478, 2.3684456403429652, 1])
          v.push(v.iadd(v.div(v.mul(v.add(u, r), p), v.mul(v.sub(u, r), q)), v.shl(t, 52)))
        })
      }),
    ),
  )
/** erfc of f32; what it is of |x| through f64. */
export const erfcOfF32 = (v: Vec, w: Vec, lanes: 2 | 4, x: Local): E =>
  v.block(() =>
    v.let(v.pmin(v.abs(x), v.c(10.3)), (a) =>
      v.let(
        throughDouble(v, w, lanes, [a], (w, a) => erfcOfPositive(w, a!)),
        (e) => v.push(v.select(v.compare('lt', x, v.c(0)), v.sub(v.c(2), e), e)),
      ),
    ),
  )

/** The larger times sqrt(1 + ratio^2). */
export const hypot = (v: Vec, x: Local, y: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(v.abs(y), (b) =>
        v.let(v.pmax(a, b), (m) => {
          v.let(v.div(v.pmin(a, b), m), (r) => {
            v.set(r, v.mul(m, v.sqrt(v.add(v.c(1), v.mul(r, r)))))
            // 0/0, then a NaN argument, then an infinite one, which wins.
            v.set(r, v.select(v.compare('eq', v.add(a, b), v.c(0)), v.c(0), r))
            v.set(r, v.select(v.compare('eq', a, a), v.select(v.compare('eq', b, b), r, b), a))
            const infinite = v.or(v.compare('eq', a, v.c(INF)), v.compare('eq', b, v.c(INF)))
            v.push(v.select(infinite, v.c(INF), r))
          })
        }),
      ),
    ),
  )
/** x^y = exp(y log|x|) with the signs and the exceptions of IEEE 754. */
const everyPower = (v: Vec, x: Local, y: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(exp(v, v.mul(y, log(v, a))), (r) =>
        v.let(v.copysign(v.c(1), x), (s) => {
          v.set(s, v.compare('lt', s, v.c(0)))
          // Negative finite base: an exponent that is no integer gives NaN; an odd one (halves to a fraction) the sign.
          const fraction = v.compare('ne', v.round('floor', y), y)
          const negative = v.and(v.compare('lt', x, v.c(0)), v.compare('lt', a, v.c(INF)))
          v.set(r, v.select(v.and(negative, fraction), v.c(Number.NaN), r))
          const halfOf = v.mul(y, v.c(0.5))
          const oddExponent = v.andNot(v.compare('ne', v.round('floor', halfOf), halfOf), fraction)
          v.set(r, v.xor(r, v.and(v.and(s, oddExponent), v.c(-0))))
          const one = v.or(v.compare('eq', x, v.c(1)), v.or(v.compare('eq', y, v.c(0)), minusOneToInfinity(v, x, y)))
          v.push(v.select(one, v.c(1), r))
        }),
      ),
    ),
  )
/** log2 a = e + s p(s^2) with s = m / (2 + m), to 3e-14. */
const LOG2_OF_F32 = [
  2.8289706415932914e-1, 3.199059869219511e-1, 4.1220924331673786e-1, 5.770779424766636e-1, 9.617966941128713e-1, 2.8853900817778504,
]
/** log2 of a positive normal number, in the place of `m`; `e` is taken for its exponent. */
export const log2OfF32 = (v: Vec, m: Local, e: Local): void => {
  separate(v, m, e)
  v.set(m, v.div(m, v.add(m, v.c(2))))
  v.let(v.mul(m, m), (z) => v.set(m, v.add(e, v.mul(m, v.horner(z, LOG2_OF_F32)))))
}
/** x^y = 2^(y log2|x|), good enough for a result that is rounded to f32; 0, what is not finite, and negative x where there are such lanes. */
export const powForSingle = (v: Vec, x: Local, y: Local): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(a, (m) =>
        v.let(y, (r) => {
          log2OfF32(v, m, r)
          v.set(r, exp2OfF32(v, v.pmax(v.pmin(v.mul(m, y), v.c(200)), v.c(-200))))
          v.set(m, v.and(v.and(v.compare('gt', a, v.c(0)), v.compare('lt', a, v.c(INF))), v.compare('lt', v.abs(y), v.c(INF))))
          v.whereAny(v.and(m, v.compare('lt', x, v.c(0))), () => {
            const fraction = v.compare('ne', v.round('floor', y), y)
            v.let(v.mul(y, v.c(0.5)), (half) => {
              const odd = v.compare('ne', v.round('floor', half), half)
              v.set(r, v.select(v.compare('lt', x, v.c(0)), v.select(fraction, v.c(Number.NaN), v.xor(r, v.and(odd, v.c(-0)))), r))
            })
          })
          v.whereAny(v.not(m), () => v.set(r, v.select(m, r, everyPower(v, x, y))))
          v.push(r)
        }),
      ),
    ),
  )
const minusOneToInfinity = (v: Vec, x: Local, y: Local): E => v.and(v.compare('eq', x, v.c(-1)), v.compare('eq', v.abs(y), v.c(INF)))

/** max(a, b) + log1p(exp(-|a - b|)), from `rest` of |a - b|. */
const logaddexpBy =
  (rest: (v: Vec, d: E) => E) =>
  (v: Vec, a: Local, b: Local): E =>
    v.block(() =>
      v.let(v.add(v.max(a, b), rest(v, v.neg(v.abs(v.sub(a, b))))), (y) =>
        v.push(v.select(v.compare('eq', a, b), v.add(a, v.c(Math.LN2)), y)),
      ),
    )
export const logaddexp = logaddexpBy((v, d) => log1pOfUnit(v, exp(v, d)))
/** Of numbers that were f32 and become f32: log1p u = u - u^2 h(u) for 0 <= u <= 1, to 7e-11; below exp(-150) nothing is left. */
export const logaddexpOfF32 = logaddexpBy((v, d) =>
  v.block(() =>
    v.let(exp2OfF32(v, v.mul(v.pmax(d, v.c(-150)), v.c(Math.LOG2E))), (u) => {
      const p = v.horner(u, [3.216921120604298e-4, 1.1354760927067797e-1, 5.267287515759812e-1, 4.9999999220539454e-1])
      const q = v.horner(u, [1.2311083386661995e-1, 8.738506354681316e-1, 1.7201236371453812, 1])
      v.push(v.sub(u, v.mul(v.mul(u, u), v.div(p, q))))
    }),
  ),
)
/** x log y; 0 where x is 0, unless y is NaN. */
export const xlogy = (v: Vec, x: Local, y: Local): E =>
  v.block(() => v.let(v.and(v.compare('eq', x, v.c(0)), v.compare('eq', y, y)), (zero) => v.push(v.andNot(v.mul(x, log(v, y)), zero))))
