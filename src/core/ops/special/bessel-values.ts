/** Bessel functions of integer order and real argument, in f64. Chebyshev coefficients were computed with 40 digits. */
import { chebyshev } from './functions.js'

/** A Bessel function divided by x - its zero there (in two parts), on an interval: what it is near the zero stays relative. */
interface Piece {
  readonly zero: number
  readonly low: number
  readonly center: number
  readonly half: number
  readonly c: readonly number[]
}
/** J_0 for 2 <= x <= 4. */
const j0a: Piece = {
  zero: 2.404825557695773,
  low: -1.176691651530894e-16,
  center: 3,
  half: 1,
  c: [
    -0.41882564559204427, 0.15509735134893662, 0.017960236643990126, -0.003077793893708708, -0.0001474739320950248, 2.3254355491425774e-5,
    6.506469877605295e-7, -9.46695175079027e-8, -1.797734157889901e-9, 2.4240604245712045e-10, 3.404735609153571e-12, -4.27365071589242e-13,
    -4.694978204233092e-15, 5.509227172478109e-16, 4.923163307336341e-18, -5.421750467120349e-19,
  ],
}
/** J_0 for 4 <= x <= 8. */
const j0b: Piece = {
  zero: 5.520078110286311,
  low: 8.088597146146722e-17,
  center: 6,
  half: 2,
  c: [
    0.2365560492217255, -0.10975099796853037, -0.0742671394827574, 0.014229241996940315, 0.0030123265667870384, -0.0005138773529063617,
    -5.914838214501658e-5, 9.167636947198515e-6, 6.968651368988365e-7, -9.916958743387154e-8, -5.508146950252537e-9, 7.249557171678868e-10,
    3.131499547590402e-11, -3.833828906668835e-12, -1.3436042058550137e-13, 1.5375286360283826e-14, 4.507634004784421e-16,
    -4.841571907033517e-17, -1.2151773647270777e-18,
  ],
}
/** J_1 for 2 <= x <= 5. */
const j1a: Piece = {
  zero: 3.8317059702075125,
  low: -1.5269184090088067e-16,
  center: 3.5,
  half: 1.5,
  c: [
    -0.35444923466853706, 0.018762132830591693, 0.05824805326815709, -0.0015629000161495443, -0.0014398169846277984, 3.394372182035455e-5,
    1.7292744074051217e-5, -3.5585211956545226e-7, -1.232272303310061e-7, 2.2343210049882983e-9, 5.823209413453651e-10,
    -9.408446551236158e-12, -1.960040838437706e-12, 2.8513869812203925e-14, 4.939871759280168e-15, -6.529706170772261e-17,
    -9.673373780202951e-18,
  ],
}
/** J_1 for 5 <= x <= 8. */
const j1b: Piece = {
  zero: 7.015586669815619,
  low: -9.414165653410389e-17,
  center: 6.5,
  half: 1.5,
  c: [
    0.24809241182819347, 0.03904717258702938, -0.04895540097248089, -0.001143378088174608, 0.00131660782975213, 1.047690614332913e-5,
    -1.6526394760463177e-5, -3.159909748252348e-8, 1.20826699339029e-7, -1.0628621147519574e-10, -5.802500363421862e-10,
    1.3223946697892592e-12, 1.974121380588743e-12, -5.929284260221455e-15, -5.0126338193935416e-15, 1.6908622220828518e-17,
    9.868886575179941e-18,
  ],
}
/** Hankel's P and x Q / 8 for x >= 8, in 2 (8 / x)^2 - 1. */
const p0: readonly number[] = [
  0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-6, -5.1705945376060975e-8, 1.6306464635151382e-9, -7.86409137723707e-11,
  5.168262387349193e-12, -4.3045788699253914e-13, 4.3265957431549404e-14, -5.069034095935236e-15, 6.748072215733872e-16,
  -1.0011513723467746e-16, 1.6305919233743123e-17, -2.8808661694800207e-18,
]
/** Of order 0. */
const q0: readonly number[] = [
  -0.015555854605337009, 6.838519942611649e-5, -7.414498411060647e-7, 1.7972457247968992e-8, -7.27191593686632e-10, 4.2201219046687385e-11,
  -3.206747420996635e-12, 3.006145125351706e-13, -3.336328185322427e-14, 4.255225040245461e-15, -6.099930131640047e-16,
  9.662128970303175e-17, -1.6686065214376035e-17, 3.1082440486682303e-18, -6.191115787208355e-19, 1.3091448713140766e-19,
  -2.92116270397676e-20,
]
/** Of order 1. */
const p1: readonly number[] = [
  1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-6, 6.177633960644299e-8, -1.8718907491063067e-9, 8.816898659582339e-11,
  -5.704863640395645e-12, 4.699195515230542e-13, -4.6842237839904895e-14, 5.452674896044717e-15, -7.221180842274016e-16,
  1.0667689114335372e-16, -1.731231321611524e-17, 3.049299119763646e-18,
]
/** Of order 1. */
const q1: readonly number[] = [
  0.04677778706953532, -9.62772354915708e-5, 9.138615257955454e-7, -2.0959781384083424e-8, 8.229193327650554e-10, -4.686363688176945e-11,
  3.5152187949686082e-12, -3.2643156743279e-13, 3.5967765829165294e-14, -4.5612523950772974e-15, 6.508282957783381e-16,
  -1.026914753182316e-16, 1.7676355487762615e-17, -3.2834519872924017e-18, 6.524081149434688e-19, -1.3765771480637728e-19,
]
/** sqrt(x) exp(-x) I_0(x) for x >= 8, in 16 / x - 1. */
const i0Far: readonly number[] = [
  0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-5, 2.8913705208347567e-6, 2.0489185894690638e-7, 2.266668990498178e-8,
  3.3962320257083865e-9, 4.94060238822497e-10, 1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11,
  -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13, 1.540086217521415e-14, -4.150569347287224e-14,
  -9.554846698828476e-15, 3.811680669352971e-15, 1.7725601330566224e-15, -3.425485619692254e-16, -2.8276239804969706e-16,
  3.4612228679909e-17, 4.4656214190710166e-17, -4.830504479509467e-18, -7.233180447476745e-18, 9.92147456622666e-19, 1.1936508429264363e-18,
]
/** That of I_1. */
const i1Far: readonly number[] = [
  0.38928811750914005, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-6, -2.512236237870209e-7, -2.6314688468895196e-8,
  -3.835380385964237e-9, -5.589743462196584e-10, -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11,
  2.0356285441470896e-12, -7.198551776245908e-13, -4.083551111092197e-13, -2.1015418427726697e-14, 4.2724400167119536e-14,
  1.0420276984128972e-14, -3.814403072437366e-15, -1.8803547755108634e-15, 3.3082023109361146e-16, 2.962628997625507e-16,
  -3.209525922280163e-17, -4.650305367239895e-17, 4.414348316004607e-18, 7.517296270388092e-18, -9.314177993915563e-19,
  -1.2421932309485427e-18,
]

/** J_0 or J_1 for x >= 8. The one of sin x +- cos x that cancels comes from -cos 2x. */
const hankel = (order: 0 | 1, x: number): number => {
  if (x === Number.POSITIVE_INFINITY) return 0
  const [s, c] = [Math.sin(x), Math.cos(x)]
  let [sum, difference] = [s + c, s - c]
  if (x < 1e307) {
    if (s * c < 0) sum = -Math.cos(2 * x) / difference
    else difference = -Math.cos(2 * x) / sum
  }
  const z = 8 / x
  const t = 2 * z * z - 1
  const root = 1 / (Math.sqrt(x) * Math.sqrt(Math.PI))
  if (order === 0) return root * (chebyshev(p0, t) * sum - z * chebyshev(q0, t) * difference)
  return root * (chebyshev(p1, t) * difference + z * chebyshev(q1, t) * sum)
}
const at = (p: Piece, x: number): number => (x - p.zero - p.low) * chebyshev(p.c, (x - p.center) / p.half)
/** The power series, for 0 <= x <= 2. */
const jSeries = (n: 0 | 1, x: number): number => {
  const z = 0.25 * x * x
  let sum = 1
  for (let k = 12; k >= 1; k--) sum = 1 - (sum * z) / (k * (k + n))
  return n === 0 ? sum : 0.5 * x * sum
}
const j0 = (x: number): number => (x <= 2 ? jSeries(0, x) : x <= 8 ? at(x <= 4 ? j0a : j0b, x) : hankel(0, x))
const j1 = (x: number): number => (x <= 2 ? jSeries(1, x) : x <= 8 ? at(x <= 5 ? j1a : j1b, x) : hankel(1, x))

/** J_n of x >= 0: recurrence upwards as far as the order is below x; above, ratios of neighbours by a continued fraction. */
const jPositive = (n: number, x: number): number => {
  if (n === 0) return j0(x)
  if (n === 1) return j1(x)
  if (x === 0 || x === Number.POSITIVE_INFINITY) return 0
  const upTo = Math.min(n, Math.floor(x))
  let [before, y] = [0, j0(x)]
  for (let k = 0; k < upTo; k++) {
    const next = k === 0 ? j1(x) : (2 * k * y) / x - before
    before = y
    y = next
  }
  if (upTo === n) return y
  let ratio = 0
  let product = 1
  for (let k = n + 30 + Math.ceil(8 * Math.cbrt(x)); k > upTo; k--) {
    ratio = x / (2 * k - x * ratio)
    if (k <= n) product *= ratio
  }
  return y * product
}
/** J_n(x), the Bessel function of the first kind, for integers n >= 0. */
export const besselJ = (n: number, x: number): number => {
  if (Number.isNaN(x)) return x
  const y = jPositive(n, Math.abs(x))
  return (x < 0 || Object.is(x, -0)) && n % 2 === 1 ? -y : y
}

const inverseFactorial = (n: number): number => {
  let f = 1
  for (let k = 2; k <= n; k++) f *= k
  return 1 / f
}
/** I_n(x) for x <= 8: a series of positive terms, from its last. */
const iSeries = (n: number, x: number): number => {
  const z = 0.25 * x * x
  let sum = 1
  for (let k = 30; k >= 1; k--) sum = 1 + (sum * z) / (k * (k + n))
  return n === 0 ? sum : (n === 1 ? 0.5 * x : (0.5 * x) ** n * inverseFactorial(n)) * sum
}
/** exp(-x) I_n(x) for large x: Hankel's expansion. */
const iAsymptotic = (n: number, x: number): number => {
  let term = 1
  let sum = 1
  for (let k = 1; k < 60; k++) {
    term *= -(4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
    sum += term
    if (Math.abs(term) < 1e-17) break
  }
  return sum / (Math.sqrt(x) * Math.sqrt(2 * Math.PI))
}
/** exp(-x) I_n(x) for x >= 8. */
const iFar = (n: number, x: number): number => {
  if (x === Number.POSITIVE_INFINITY) return 0
  if (n === 0) return chebyshev(i0Far, 16 / x - 1) / Math.sqrt(x)
  if (n === 1) return chebyshev(i1Far, 16 / x - 1) / Math.sqrt(x)
  if (x > 50 + 2 * n * n) return iAsymptotic(n, x)
  let ratio = 0
  let product = 1
  for (let k = n + 30 + Math.ceil(9 * Math.sqrt(x)); k >= 1; k--) {
    ratio = x / (2 * k + x * ratio)
    if (k <= n) product *= ratio
  }
  return product * iFar(0, x)
}
const odd = (n: number, x: number, y: number): number => ((x < 0 || Object.is(x, -0)) && n % 2 === 1 ? -y : y)
/** exp(-|x|) I_n(x). */
export const besselIe = (n: number, x: number): number => {
  const a = Math.abs(x)
  return odd(n, x, Number.isNaN(x) ? x : a <= 8 ? Math.exp(-a) * iSeries(n, a) : iFar(n, a))
}
/** I_n(x), the modified Bessel function of the first kind, for integers n >= 0. */
export const besselI = (n: number, x: number): number => {
  const a = Math.abs(x)
  if (a <= 8) return odd(n, x, iSeries(n, a))
  if (Number.isNaN(x)) return x
  if (a > 720) return odd(n, x, n * n < a || a > 1e6 ? Number.POSITIVE_INFINITY : scaledUp(n, a))
  return odd(n, x, scaledUp(n, a))
}
/** exp(x) iFar, without an overflow before there is one. */
const scaledUp = (n: number, x: number): number => {
  const half = Math.exp(0.5 * x)
  return half * iFar(n, x) * half
}
