/** Inverses of the error functions and the normal distribution, in f64, within 4 units in the last place. Coefficients were computed with 40 digits. */
import { chebyshev, erf, erfc, erfcxUpper } from './functions.js'

/** erfinv(x) / x for |x| <= 0.75, in 2 x^2 / 0.5625 - 1. */
export const central: readonly number[] = [
  0.9744859196197088, 0.09767121365429762, 0.0106798426748877, 0.00145839261934236, 0.00022139561793534646, 3.5754642695386944e-5,
  6.013052435846527e-6, 1.0405605281919531e-6, 1.8393099988652242e-7, 3.3048595802566894e-8, 6.015922964924221e-9, 1.1067505460742694e-9,
  2.0540500062873634e-10, 3.8404854958353785e-11, 7.226135143013051e-12, 1.3670906380006421e-12, 2.598708098538055e-13,
  4.960649711523937e-14, 9.504612363589054e-15, 1.8271407438754928e-15, 3.5229350975383005e-16, 6.810937482440025e-17,
  1.319990081950303e-17, 2.5639064134405433e-18,
]
/** erfcinv(q) / s with s = sqrt(-log q), for 1.17 <= s <= 3. */
export const tailNear: readonly number[] = [
  0.8206445922961426, 0.10347846730415464, -0.022987533370192624, 0.00444949954221625, -0.0007675753484738446, 0.00011609644231606377,
  -1.431111975742353e-5, 1.029438308093747e-6, 1.2755491779069347e-7, -7.836054609553193e-8, 2.2458529500844657e-8, -4.993843470286642e-9,
  9.309619067903892e-10, -1.4382320305037467e-10, 1.620512918136126e-11, -3.413403076414859e-13, -4.964438220038141e-13,
  1.9181377716979986e-13, -5.00275215192804e-14, 1.0638925729520365e-14, -1.9013244514458636e-15, 2.7260727934909613e-16,
  -2.4093856186459327e-17, -2.0545857799650762e-18, 1.7199467527312804e-18,
]
/** For 3 <= s <= 8. */
export const tailMiddle: readonly number[] = [
  0.952677613610321, 0.03433609724297647, -0.009939342859989576, 0.002620808533517178, -0.0006551808020575866, 0.00015793425525966509,
  -3.7017070872068734e-5, 8.472864680838432e-6, -1.897993643875506e-6, 4.163862009115386e-7, -8.94178539632276e-8, 1.8765135468726992e-8,
  -3.8362892268693285e-9, 7.599637613739166e-10, -1.4457295369130303e-10, 2.598762367716464e-11, -4.2713823256409115e-12,
  5.904354886474535e-13, -4.759364279185891e-14, -8.482982233210038e-15, 6.134516318915291e-15, -2.289001132337623e-15,
  7.05296417774188e-16, -1.9728382779458997e-16, 5.1905928544844674e-17, -1.3063251295992597e-17, 3.1728698512666387e-18,
]
/** For 8 <= s <= 27.4, the smallest number. */
export const tailFar: readonly number[] = [
  0.9917617940659823, 0.00790184260054956, -0.00306174898237124, 0.0010862232191517353, -0.00036724376406033075, 0.00012044951919596244,
  -3.8686914588149235e-5, 1.2236322711641932e-5, -3.824799666192089e-6, 1.1843445470776953e-6, -3.639077278738354e-7, 1.1109153185836877e-7,
  -3.3724450319556596e-8, 1.0187942264019648e-8, -3.064369429201994e-9, 9.18108134221661e-10, -2.7408892402701324e-10,
  8.155515688428074e-11, -2.4191774294937256e-11, 7.155099814128046e-12, -2.1103540421824272e-12, 6.207742991054976e-13,
  -1.8213235823559965e-13, 5.3301831191602225e-14, -1.5560263874542362e-14, 4.531291755676022e-15, -1.3163171025675322e-15,
  3.8144215747175114e-16, -1.1025947303691081e-16, 3.179103342874846e-17, -9.142607639644028e-18, 2.62227841761703e-18,
]

const erfinvCentral = (x: number): number => x * chebyshev(central, (2 / 0.5625) * x * x - 1)
/** erfcinv for 0 < q <= 0.25. */
const erfcinvTail = (q: number): number => {
  const s = Math.sqrt(-Math.log(q))
  if (s < 3) return s * chebyshev(tailNear, (s - 2.085) / 0.915)
  return s * (s < 8 ? chebyshev(tailMiddle, (s - 5.5) / 2.5) : chebyshev(tailFar, (s - 17.7) / 9.7))
}
/** The number whose erf is x. */
export const erfinv = (x: number): number => {
  const a = Math.abs(x)
  if (a <= 0.75) return erfinvCentral(x)
  if (a >= 1) return a === 1 ? x * Number.POSITIVE_INFINITY : Number.NaN
  return Math.sign(x) * erfcinvTail(1 - a)
}
/** The number whose erfc is q. */
export const erfcinv = (q: number): number => {
  if (!(q > 0 && q < 2)) return q === 0 ? Number.POSITIVE_INFINITY : q === 2 ? Number.NEGATIVE_INFINITY : Number.NaN
  return q < 0.25 ? erfcinvTail(q) : q > 1.75 ? -erfcinvTail(2 - q) : erfinvCentral(1 - q)
}
/** exp(x^2) without the rounding of x^2. */
const expSquare = (x: number): number => {
  const h = Math.fround(x)
  return Math.exp(h * h) * Math.exp((x - h) * (x + h))
}
/** exp(x^2) erfc(x). */
export const erfcx = (x: number): number => {
  if (x >= 0.5) return x > 1e8 ? 1 / (x * Math.sqrt(Math.PI)) : erfcxUpper(x)
  return x < -27 ? Number.POSITIVE_INFINITY : expSquare(x) * erfc(x)
}
/** The normal distribution function below -0.7: exp(-x^2 / 2) erfcx(-x / sqrt 2) / 2, without the rounding of x^2. */
const ndtrTail = (x: number): number => {
  if (x < -39) return 0
  const h = Math.fround(x)
  return 0.5 * Math.exp(-0.5 * h * h) * (Math.exp(-0.5 * (x - h) * (x + h)) * erfcxUpper(-x * Math.SQRT1_2))
}
/** The normal distribution function. */
export const ndtr = (x: number): number => (x < -0.75 ? ndtrTail(x) : x > 0.75 ? 1 - ndtrTail(-x) : 0.5 + 0.5 * erf(x * Math.SQRT1_2))
/** Its logarithm. */
export const logNdtr = (x: number): number => {
  if (x >= 0) return Math.log1p(-ndtr(-x))
  return x < -1 ? -0.5 * x * x + Math.log(0.5 * erfcx(-x * Math.SQRT1_2)) : Math.log(ndtr(x))
}
