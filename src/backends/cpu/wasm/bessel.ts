/**
 * I_0 and I_1, the modified Bessel functions of the first kind, on vectors of f64 (f32 lanes come through f64): a power series up to 8, beyond exp(x) / sqrt(x) times a
 * polynomial of 1 / x, where a lane asks for it. Those of f64 beyond 8 are the Chebyshev series of the meaning; the others were fitted with 50 digits, least squares of the
 * relative error at Chebyshev's points.
 */
import type { Local } from './encoder.js'
import { exp } from './math.js'
import { exp2OfF32 } from './special.js'
import type { E, Vec } from './vec.js'

type Order = 0 | 1
/** I_n(x) (2 / x)^n in x^2 / 4, to 4e-17, and to 3e-10 for numbers that become f32. */
const NEAR: readonly (readonly number[])[] = [
  [
    3.507446567854226e-27, 5.110201993371607e-25, 1.341543635179783e-22, 2.5729993435506546e-20, 4.359345451121596e-18,
    6.275970071549753e-16, 7.594067929666364e-14, 7.59405783097981e-12, 6.151187354252342e-10, 3.936759888229197e-8, 1.9290123457003076e-6,
    6.944444444441074e-5, 0.0017361111111111453, 0.02777777777777776, 0.25, 1.0, 1.0,
  ],
  [
    2.0314345881408906e-28, 3.2320695274992896e-26, 8.922903161853151e-24, 1.838527417796775e-21, 3.353198333013391e-19,
    5.2299968271744183e-17, 6.903695752712713e-15, 7.594058018352768e-13, 6.834652605002532e-11, 4.920949860739694e-9, 2.755731922415545e-7,
    1.1574074074071212e-5, 0.0003472222222222253, 0.006944444444444442, 0.08333333333333333, 0.5, 1.0,
  ],
]
const NEAR_OF_F32: readonly (readonly number[])[] = [
  [
    1.4213374235134864e-13, 5.22840302055303e-12, 6.596843914338283e-10, 3.8868725814983e-8, 1.932459793899414e-6, 6.942978236192756e-5,
    0.0017361481136347944, 0.027777726461022327, 0.2500000338872629, 0.9999999920544423, 1.0000000002730844,
  ],
  [
    1.2505330310859623e-14, 5.526315755111476e-13, 7.240252319759576e-11, 4.873293915201664e-9, 2.759221026606077e-7, 1.1572483667975088e-5,
    0.0003472265872769118, 0.00694443773516873, 0.08333333836730208, 0.49999999861367095, 1.0,
  ],
]
/** sqrt(x) exp(-x) I_n(x) in 16 / x - 1. */
const FAR: readonly (readonly number[])[] = [
  [
    4.0052276040717787e-11, 1.66454721836091e-11, -3.2101610963181264e-10, -1.2429480540798134e-10, 1.2061856696162718e-9,
    4.388860799534864e-10, -2.8718659380435673e-9, -1.0267340160694112e-9, 4.990501214902378e-9, 1.9833589968630227e-9,
    -6.9389962294916356e-9, -3.820995095784228e-9, 7.92317804476861e-9, 7.697662006443489e-9, -5.573331412585236e-9, -1.3453822927604166e-8,
    -6.709029658417306e-9, 7.563772014751123e-9, 2.154269734279975e-8, 3.9324708328841976e-8, 8.872269443433759e-8, 2.973599383079073e-7,
    1.4838475432345024e-6, 1.1143033788352455e-5, 0.000136216074392334, 0.0033605519836678865, 0.40217650944500805,
  ],
  [
    -4.168108829872317e-11, -1.562659760663681e-11, 3.339867255738483e-10, 1.1618135384069144e-10, -1.2547972193904544e-9,
    -4.0869839799434406e-10, 2.9887349858249522e-9, 9.56852322012687e-10, -5.202221701638824e-9, -1.8736450056534342e-9,
    7.268242518833355e-9, 3.7219797164981098e-9, -8.401102156210708e-9, -7.778592750920682e-9, 6.149852303063677e-9, 1.40763954967004e-8,
    6.6942656144828875e-9, -8.43629042941175e-9, -2.336801656098497e-8, -4.3128111749824237e-8, -1.0001340021777288e-7,
    -3.483856506923666e-7, -1.834910109185862e-6, -1.5038547198145533e-5, -0.00021923576383430914, -0.00974957719323576,
    0.38939845902587233,
  ],
]
/** In 1 / x, to 2e-10. */
const FAR_OF_F32: readonly (readonly number[])[] = [
  [
    8.486252507652475, -1.889398613630176, 0.33465904581397643, 0.030350361820818524, 0.029661884991984636, 0.02804410878957494,
    0.04986782106575048, 0.39894228036917845,
  ],
  [
    -9.610861930119658, 2.1456470947249446, -0.39201461435618623, -0.04074134076081744, -0.04143019372650221, -0.04674322204885458,
    -0.14960339915148277, 0.39894228044165936,
  ],
]

const near = (v: Vec, a: Local, n: Order, narrow: boolean): E =>
  v.block(() =>
    v.let(v.mul(v.mul(a, a), v.c(0.25)), (z) => {
      const y = v.horner(z, (narrow ? NEAR_OF_F32 : NEAR)[n]!)
      v.push(n === 0 ? y : v.mul(y, v.mul(a, v.c(0.5))))
    }),
  )
/** exp(-a) I_n(a) for a >= 8. */
const far = (v: Vec, a: Local, n: Order, narrow: boolean): E =>
  v.block(() =>
    v.let(narrow ? v.div(v.c(1), a) : v.sub(v.div(v.c(16), a), v.c(1)), (t) =>
      v.push(v.div(v.horner(t, (narrow ? FAR_OF_F32 : FAR)[n]!), v.sqrt(a))),
    ),
  )
/** exp(x), of an f64 that becomes f32 not beyond the exponents of f64. */
const expOf = (v: Vec, x: E, narrow: boolean): E => (narrow ? exp2OfF32(v, v.mul(x, v.c(Math.LOG2E))) : exp(v, x))

const both = (v: Vec, x: Local, n: Order, nearly: (a: Local) => E, afar: (a: Local) => E): E =>
  v.block(() =>
    v.let(v.abs(x), (a) =>
      v.let(nearly(a), (y) => {
        v.whereAny(v.compare('gt', a, v.c(8)), () => v.set(y, v.select(v.compare('gt', a, v.c(8)), afar(a), y)))
        v.push(n === 0 ? y : v.copysign(y, x))
      }),
    ),
  )
/** I_n(x). Beyond 8 in f64 exp(x - 8) and exp(8) apart, so that nothing overflows before the result. */
export const besselI =
  (n: Order, narrow: boolean) =>
  (v: Vec, x: Local): E =>
    both(
      v,
      x,
      n,
      (a) => near(v, a, n, narrow),
      (a) =>
        v.block(() => {
          v.set(a, v.pmin(a, v.c(narrow ? 200 : 1500)))
          const y = far(v, a, n, narrow)
          v.push(narrow ? v.mul(expOf(v, a, true), y) : v.mul(v.mul(expOf(v, v.sub(a, v.c(8)), false), y), v.c(2980.9579870417283)))
        }),
    )
/** exp(-|x|) I_n(x). */
export const besselIe =
  (n: Order, narrow: boolean) =>
  (v: Vec, x: Local): E =>
    both(
      v,
      x,
      n,
      (a) => v.mul(near(v, a, n, narrow), expOf(v, v.neg(v.pmin(a, v.c(8))), narrow)),
      (a) => far(v, a, n, narrow),
    )
