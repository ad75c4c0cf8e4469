/**
 * Elementary functions on vectors of f32 or f64, written once over a `Vec`. Sources: Cephes (Moshier), with Cody-Waite
 * reduction; no fused multiply-add, so results do not depend on the machine.
 */
import { type FunctionBuilder, type Local, OP, type Op, type Operand } from './encoder.js'
import type { Registers } from './lanes.js'

type Name =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'min'
  | 'max'
  | 'pmin'
  | 'pmax'
  | 'abs'
  | 'neg'
  | 'sqrt'
  | 'eq'
  | 'ne'
  | 'lt'
  | 'gt'
  | 'le'
  | 'ge'
  | 'nearest'
  | 'floor'
  | 'ceil'
  | 'trunc'
const op = (type: 'f32x4' | 'f64x2', name: Name): Op => OP[`${type}_${name}`]

/** An expression: pushes its value when emitted. */
export type E = Operand

/** Vector arithmetic in one format. */
export class Vec {
  readonly wide: boolean
  private readonly type: 'f32x4' | 'f64x2'
  constructor(
    readonly f: FunctionBuilder,
    readonly regs: Registers,
    readonly dtype: 'f32' | 'f64',
  ) {
    this.wide = dtype === 'f64'
    this.type = this.wide ? 'f64x2' : 'f32x4'
  }
  /** A constant in every lane. */
  c(x: number): E {
    return () => (this.wide ? this.f.f64x2Const(x) : this.f.f32x4Const(x))
  }
  private two(name: Name, a: E, b: E): E {
    return () => this.f.op(op(this.type, name), a, b)
  }
  private one(name: Name, a: E): E {
    return () => this.f.op(op(this.type, name), a)
  }
  add(a: E, b: E): E {
    return this.two('add', a, b)
  }
  sub(a: E, b: E): E {
    return this.two('sub', a, b)
  }
  mul(a: E, b: E): E {
    return this.two('mul', a, b)
  }
  div(a: E, b: E): E {
    return this.two('div', a, b)
  }
  /** Maximum and minimum that keep NaN. */
  max(a: E, b: E): E {
    return this.two('max', a, b)
  }
  min(a: E, b: E): E {
    return this.two('min', a, b)
  }
  /** b < a ? b : a, and a < b ? b : a: NaN in a is kept, in one instruction. */
  pmin(a: E, b: E): E {
    return this.two('pmin', a, b)
  }
  pmax(a: E, b: E): E {
    return this.two('pmax', a, b)
  }
  abs(a: E): E {
    return this.one('abs', a)
  }
  neg(a: E): E {
    return this.one('neg', a)
  }
  sqrt(a: E): E {
    return this.one('sqrt', a)
  }
  compare(name: 'eq' | 'ne' | 'lt' | 'gt' | 'le' | 'ge', a: E, b: E): E {
    return this.two(name, a, b)
  }
  round(name: 'nearest' | 'floor' | 'ceil' | 'trunc', a: E): E {
    return this.one(name, a)
  }
  /** mask ? a : b, lane by lane. */
  select(mask: E, a: E, b: E): E {
    return () => this.f.op(OP.v128_bitselect, a, b, mask)
  }
  and(a: E, b: E): E {
    return () => this.f.op(OP.v128_and, a, b)
  }
  or(a: E, b: E): E {
    return () => this.f.op(OP.v128_or, a, b)
  }
  xor(a: E, b: E): E {
    return () => this.f.op(OP.v128_xor, a, b)
  }
  andNot(a: E, b: E): E {
    return () => this.f.op(OP.v128_andnot, a, b)
  }
  /** The sign bit of x. */
  sign(x: E): E {
    return this.and(x, this.c(-0))
  }
  copysign(magnitude: E, sign: E): E {
    return this.or(this.abs(magnitude), this.sign(sign))
  }
  /** Integer lanes of the format's width. */
  iadd(a: E, b: E): E {
    return () => this.f.op(this.wide ? OP.i64x2_add : OP.i32x4_add, a, b)
  }
  isub(a: E, b: E): E {
    return () => this.f.op(this.wide ? OP.i64x2_sub : OP.i32x4_sub, a, b)
  }
  shl(a: E, n: number): E {
    return () => this.f.op(this.wide ? OP.i64x2_shl : OP.i32x4_shl, a, n)
  }
  shr(a: E, n: number): E {
    return () => this.f.op(this.wide ? OP.i64x2_shr_s : OP.i32x4_shr_s, a, n)
  }
  ushr(a: E, n: number): E {
    return () => this.f.op(this.wide ? OP.i64x2_shr_u : OP.i32x4_shr_u, a, n)
  }
  bits(n: number | bigint): E {
    return () => (this.wide ? this.f.i64x2Const(BigInt(n)) : this.f.i32x4Const(Number(n)))
  }
  /** Names a value: computed once, read often. */
  let(e: E, body: (x: Local) => void): void {
    this.regs.hold(e, body)
  }
  /** Replaces the value of a register by an expression of it. */
  set(x: Local, e: E): void {
    this.f.set(x, e)
  }
  /** Horner's rule: coefficients from the highest power. */
  horner(x: E, cs: readonly number[]): E {
    let e = this.c(cs[0]!)
    for (const c of cs.slice(1)) e = this.add(this.mul(e, x), this.c(c))
    return e
  }
  /** As an expression: runs `body`, which must push one value. */
  block(body: () => void): E {
    return () => {
      body()
    }
  }
  push(e: E): void {
    this.f.push(e)
  }
}

const LOG2E = 1.4426950408889634

/** exp x. `full` handles results below the normal range and overflow. */
export const exp = (v: Vec, x0: E, full = true): E =>
  v.block(() => {
    const magic = v.wide ? 6755399441055744 : 12582912
    v.let(full ? v.pmax(v.pmin(x0, v.c(v.wide ? 710 : 89)), v.c(v.wide ? -746 : -104)) : x0, (x) =>
      v.let(v.add(v.mul(x, v.c(LOG2E)), v.c(magic)), (t) =>
        v.let(v.sub(t, v.c(magic)), (n) => {
          const hi = v.wide ? 6.93145751953125e-1 : 0.693359375
          const lo = v.wide ? 1.42860682030941723212e-6 : -2.1219444e-4
          v.set(x, v.sub(v.sub(x, v.mul(n, v.c(hi))), v.mul(n, v.c(lo))))
          v.let(v.mul(x, x), (z) => {
            if (v.wide) {
              v.set(x, v.mul(x, v.horner(z, [1.26177193074810590878e-4, 3.029944077074419613e-2, 9.9999999999999999991e-1])))
              v.set(z, v.sub(v.horner(z, [3.00198505138664455042e-6, 2.52448340349684104192e-3, 2.27265548208155028766e-1, 2]), x))
              v.set(x, v.div(x, z))
              v.set(x, v.add(v.c(1), v.add(x, x)))
            } else {
              const q0 = v.add(v.mul(x, v.c(1.6666665459e-1)), v.c(5.0000001201e-1))
              const q1 = v.add(v.mul(x, v.c(8.3334519073e-3)), v.c(4.1665795894e-2))
              const q2 = v.add(v.mul(x, v.c(1.98756915e-4)), v.c(1.3981999507e-3))
              const p = v.add(v.mul(v.add(v.mul(q2, z), q1), z), q0)
              v.set(x, v.add(v.add(v.mul(p, z), x), v.c(1)))
            }
          })
          const shift = v.wide ? 52 : 23
          if (!full) {
            v.push(v.iadd(x, v.shl(t, shift)))
            return
          }
          // 2^n in two factors, so that subnormal results are rounded once and large ones overflow to Infinity.
          v.set(t, v.wide ? v.isub(t, v.c(magic)) : v.isub(t, v.bits(0x4b400000)))
          v.set(n, v.shr(t, 1))
          const bias = v.wide ? v.bits(1023n) : v.bits(127)
          v.push(v.mul(v.mul(x, v.shl(v.iadd(n, bias), shift)), v.shl(v.iadd(v.isub(t, n), bias), shift)))
        }),
      ),
    )
  })

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

export const sigmoid = (v: Vec, x: E): E => v.div(v.c(1), v.add(v.c(1), exp(v, v.neg(x))))

/** log x: x = 2^e m with m in [sqrt(1/2), sqrt 2). */
export const log = (v: Vec, x0: E): E =>
  v.block(() => {
    v.let(x0, (x) =>
      v.let(v.c(0), (e) => {
        const tiny = v.wide ? 2.2250738585072014e-308 : 1.17549435e-38
        const scale = v.wide ? 2 ** 54 : 2 ** 25
        const bits = v.wide ? 52 : 23
        v.let(x, (m) => {
          // Subnormal arguments are scaled up first.
          v.let(v.compare('lt', m, v.c(tiny)), (low) => {
            v.set(m, v.select(low, v.mul(m, v.c(scale)), m))
            v.set(e, v.and(low, v.c(v.wide ? -54 : -25)))
          })
          v.let(v.ushr(m, bits), (k) => {
            // Exponent to float: small positive integers, by the magic-number trick.
            if (v.wide) v.set(k, v.sub(v.or(v.and(k, v.bits(0x7ffn)), v.c(4503599627370496)), v.c(4503599627370496 + 1022)))
            else v.set(k, v.sub(v.or(v.and(k, v.bits(0xff)), v.c(8388608)), v.c(8388608 + 126)))
            v.set(e, v.add(e, k))
          })
          // m in [0.5, 1)
          v.set(m, v.wide ? v.or(v.and(m, v.bits(0x000fffffffffffffn)), v.c(0.5)) : v.or(v.and(m, v.bits(0x007fffff)), v.c(0.5)))
          v.let(v.compare('lt', m, v.c(Math.SQRT1_2)), (small) => {
            v.set(e, v.sub(e, v.and(small, v.c(1))))
            v.set(m, v.sub(v.add(m, v.and(small, m)), v.c(1)))
          })
          v.let(v.mul(m, m), (z) => {
            if (v.wide) {
              const p = v.horner(
                m,
                [
                  1.01875663804580931796e-4, 4.97494994976747001425e-1, 4.70579119878881725854, 1.44989225341610930846e1,
                  1.79368678507819816313e1, 7.70838733755885391666,
                ],
              )
              const q = v.horner(
                m,
                [
                  1, 1.1287358718916745059e1, 4.52279145837532221105e1, 8.29875266912776603211e1, 7.11544750618563894466e1,
                  2.31251620126765340583e1,
                ],
              )
              v.let(v.mul(m, v.div(v.mul(z, p), q)), (y) => {
                v.set(y, v.sub(y, v.mul(e, v.c(2.121944400546905827679e-4))))
                v.set(y, v.sub(y, v.mul(v.c(0.5), z)))
                v.set(m, v.add(v.add(m, y), v.mul(e, v.c(0.693359375))))
              })
            } else {
              const p = v.horner(
                m,
                [
                  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
                  -2.4999993993e-1, 3.3333331174e-1,
                ],
              )
              v.let(v.mul(v.mul(m, z), p), (y) => {
                v.set(y, v.sub(y, v.mul(e, v.c(2.1219444e-4))))
                v.set(y, v.sub(y, v.mul(v.c(0.5), z)))
                v.set(m, v.add(v.add(m, y), v.mul(e, v.c(0.693359375))))
              })
            }
          })
          // Infinity and NaN as they are; 0 gives -Infinity; negative gives NaN.
          v.set(m, v.select(v.compare('lt', x, v.c(Number.POSITIVE_INFINITY)), m, x))
          v.set(m, v.select(v.compare('eq', x, v.c(0)), v.c(Number.NEGATIVE_INFINITY), m))
          v.push(v.select(v.compare('lt', x, v.c(0)), v.c(Number.NaN), m))
        })
      }),
    )
  })

/** log(1 + x), exact near 0: log(u) - ((u - 1) - x) / u with u = 1 + x. */
export const log1p = (v: Vec, x0: E): E =>
  v.block(() => {
    v.let(x0, (x) =>
      v.let(v.add(x, v.c(1)), (u) =>
        v.let(log(v, u), (l) => {
          const corrected = v.sub(l, v.div(v.sub(v.sub(u, v.c(1)), x), u))
          // Where u is 0 or Infinity the correction has no meaning.
          v.let(v.and(v.compare('gt', u, v.c(0)), v.compare('lt', u, v.c(Number.POSITIVE_INFINITY))), (ok) =>
            v.set(l, v.select(ok, corrected, l)),
          )
          // 1 + x == 1: x itself (keeps -0).
          v.push(v.select(v.compare('eq', u, v.c(1)), x, l))
        }),
      ),
    )
  })

/** exp x - 1: by the series near 0, tanh(x/2) (exp x + 1) elsewhere below 1, exp x - 1 above. */
export const expm1 = (v: Vec, x0: E): E =>
  v.block(() => {
    v.let(x0, (x) =>
      v.let(exp(v, x), (y) =>
        v.let(v.mul(tanh(v, v.mul(x, v.c(0.5))), v.add(y, v.c(1))), (near) =>
          v.push(v.select(v.compare('lt', v.abs(x), v.c(1)), near, v.sub(y, v.c(1)))),
        ),
      ),
    )
  })

/** Largest argument that the reduction of sin and cos handles; larger ones go to the caller's fallback. */
export const trigLimit = (v: Vec): number => (v.wide ? 1e6 : 8192)

/** sin x or cos x for |x| up to trigLimit: octants by Cody-Waite, then one of two polynomials. */
export const sinOrCos = (v: Vec, kind: 'sin' | 'cos', x0: E): E =>
  v.block(() => {
    v.let(x0, (x) =>
      v.let(v.abs(x), (a) => {
        const magic = v.wide ? 6755399441055744 : 12582912
        // Quadrant: nearest integer to |x| * 2 / pi.
        v.let(v.add(v.mul(a, v.c(2 / Math.PI)), v.c(magic)), (t) =>
          v.let(v.sub(t, v.c(magic)), (n) => {
            const parts = v.wide
              ? [1.57079632673412561417, 6.0771005063039659766e-11, 2.02226624879595063154e-21]
              : [1.5703125, 4.837512969970703e-4, 7.549789954891882e-8]
            for (const p of parts) v.set(a, v.sub(a, v.mul(n, v.c(p))))
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
                  const odd = (k: E): E => v.isub(v.wide ? v.bits(0n) : v.bits(0), v.and(k, one))
                  const top = v.wide ? 62 : 30
                  const q: E = kind === 'sin' ? t : v.iadd(t, one)
                  v.set(z, v.select(odd(t), kind === 'sin' ? c : s, kind === 'sin' ? s : c))
                  v.let(v.and(v.shl(q, top), v.c(-0)), (sign) => {
                    if (kind === 'sin') v.push(v.xor(v.xor(z, sign), v.sign(x)))
                    else v.push(v.xor(z, sign))
                  })
                }),
              )
            })
          }),
        )
      }),
    )
  })

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
