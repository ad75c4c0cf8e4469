/** The inverse of erf, by polynomials in -log(1 - u^2), as XLA has it.   Source  Giles 2010, Approximating the erfinv function. */
import { type AnyExpr, add, customRule, exp, type Float, log, lt, mul, neg, sqrt, square, sub, where } from '../index.js'

/** Coefficients from the highest power, of a variable from which `centre` is subtracted. */
interface Piece {
  readonly centre: number
  readonly coefficients: readonly number[]
}
const single: readonly [Piece, Piece] = [
  {
    centre: 2.5,
    coefficients: [
      2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
    ],
  },
  {
    centre: 3,
    coefficients: [
      -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
    ],
  },
]
const double: readonly [Piece, Piece, Piece] = [
  {
    centre: 3.125,
    coefficients: [
      -3.6444120640178197e-21, -1.6850591381820166e-19, 1.28584807152564e-18, 1.1157877678025181e-17, -1.333171662854621e-16,
      2.0972767875968562e-17, 6.637638134358324e-15, -4.054566272975207e-14, -8.151934197605472e-14, 2.6335093153082323e-12,
      -1.2975133253453532e-11, -5.415412054294628e-11, 1.0512122733215323e-9, -4.112633980346984e-9, -2.9070369957882005e-8,
      4.2347877827932404e-7, -1.3654692000834679e-6, -1.3882523362786469e-5, 0.00018673420803405714, -0.000740702534166267,
      -0.006033670871430149, 0.24015818242558962, 1.6536545626831027,
    ],
  },
  {
    centre: 3.25,
    coefficients: [
      2.2137376921775787e-9, 9.075656193888539e-8, -2.7517406297064545e-7, 1.8239629214389228e-8, 1.5027403968909828e-6,
      -4.013867526981546e-6, 2.9234449089955446e-6, 1.2475304481671779e-5, -4.7318229009055734e-5, 6.828485145957318e-5,
      2.4031110387097894e-5, -0.0003550375203628475, 0.0009532893797373805, -0.0016882755560235047, 0.002491442096107851,
      -0.003751208507569241, 0.005370914553590064, 1.0052589676941592, 3.0838856104922208,
    ],
  },
  {
    centre: 5,
    coefficients: [
      -2.7109920616438573e-11, -2.5556418169965252e-10, 1.5076572693500548e-9, -3.789465440126737e-9, 7.61570120807834e-9,
      -1.496002662714924e-8, 2.914795345090108e-8, -6.771199775845234e-8, 2.2900482228026655e-7, -9.9298272942317e-7, 4.526062597223154e-6,
      -1.968177810553167e-5, 7.599527703001776e-5, -0.00021503011930044477, -0.00013871931833622122, 1.0103004648645344, 4.849906401408584,
    ],
  },
]
const pieceAt = ({ centre, coefficients }: Piece, x: AnyExpr): AnyExpr => {
  const t = sub(x, centre)
  let y: AnyExpr = mul(t, coefficients[0]!)
  for (const c of coefficients.slice(1, -1)) y = mul(t, add(y, c))
  return add(y, coefficients.at(-1)!)
}

/** erfinv without a derivative of its own: that of its polynomials is good to half of the digits. */
export const erfinvOf = (u: AnyExpr, dtype: Float): AnyExpr => {
  // 1 - u is exact where u is near 1, where XLA's 1 - u^2 is not.
  const w = neg(log(mul(sub(1, u), add(1, u))))
  const far = sqrt(w)
  if (dtype === 'f32') return mul(u, where(lt(w, 5), pieceAt(single[0], w), pieceAt(single[1], far)))
  return mul(u, where(lt(w, 6.25), pieceAt(double[0], w), where(lt(w, 16), pieceAt(double[1], far), pieceAt(double[2], far))))
}

/** erfinv with dy = sqrt(pi) / 2 e^(y^2) du. */
export const erfinv = (u: AnyExpr, dtype: Float): AnyExpr => {
  const f = (x: AnyExpr): AnyExpr => erfinvOf(x, dtype)
  return rulesOf(f)(u)
}
const HALF_ROOT_PI = 0.886226925452758
const rulesOf = (f: (x: AnyExpr) => AnyExpr): ((u: AnyExpr) => AnyExpr) =>
  customRule(f, {
    name: 'erfinv',
    frule: (x: AnyExpr, dx: AnyExpr) => {
      const y = rulesOf(f)(x)
      return [y, mul(dx, mul(HALF_ROOT_PI, exp(square(y))))]
    },
  } as never) as never
