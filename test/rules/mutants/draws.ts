// Mistakes in how gamma numbers move with their parameters, and in Fourier transforms, whose rules are those of what they are made of.
import { type Mutant, mistakes } from './mutant.js'

const gammas: readonly Mutant[] = [
  ...mistakes('draws', 'random/gamma', [
    ['a slope falls', 'return [y, mul(da, logs ? div(slope, x) : slope)]', 'return [y, mul(da, logs ? div(slope, x) : neg(slope))]'],
    ['a slope is that of the number, not of its logarithm', 'logs ? div(slope, x) : slope', 'slope'],
    ['every slope is that of the logarithm', 'logs ? div(slope, x) : slope', 'div(slope, x)'],
    [
      'a slope is at the logarithm',
      'const x = logs ? maximum(exp(y), tinyOf(dtype)) : y',
      'const x = logs ? maximum(y, tinyOf(dtype)) : y',
    ],
    ['parameters have no tangent', 'return [y, mul(da, logs', 'return [y, mul(0, logs'],
  ]),
  ...mistakes('draws', 'random/gamma-gradient', [
    [
      'the fraction falls',
      'mul(add(end.slope!, mul(end.value!, sub(log(x), digamma(a)))), x)',
      'neg(mul(add(end.slope!, mul(end.value!, sub(log(x), digamma(a)))), x))',
    ],
    ['the fraction has no logarithm', 'mul(end.value!, sub(log(x), digamma(a)))', 'mul(end.value!, neg(digamma(a)))'],
    ['the fraction is of a + 1', 'sub(log(x), digamma(a))', 'sub(log(x), digamma(add(a, 1)))'],
    ['the fraction forgets its own slope', 'add(end.slope!, mul(end.value!', 'add(0, mul(end.value!'],
    ['convergents move by one term', 'add(sub(next(du, dv), u), mul(v, c))', 'sub(next(du, dv), u)'],
    ['the series falls', 'return neg(div(mul(add(end.dsum!', 'return (div(mul(add(end.dsum!'],
    ['the series is of a', 'digamma(add(a, 1))', 'digamma(a)'],
    ['the series forgets how its terms move', 'mul(add(end.dsum!, mul(end.sum!', 'mul(add(0, mul(end.sum!'],
    ['terms move by the term before', 'sub(mul(dc!, ratio), div(mul(c!, ratio), n))', 'sub(mul(dc!, ratio), div(c!, n))'],
    ['terms do not move with their divisors', 'sub(mul(dc!, ratio), div(mul(c!, ratio), n))', 'mul(dc!, ratio)'],
    ['the series is not over the density', ', x), a))\n}', ', 1), a))\n}'],
    ['sums begin with the second term', 'c: one, sum: one', 'c: one, sum: zero'],
    ['large parameters have no correction', 'add(leading, div(add(1 / 6, mul(e, 23 / 270)), a))', 'leading'],
    ['large parameters have another leading term', 'mul(add(1, e), log1p(e))', 'log1p(e)'],
  ]),
]
const stop = "require('../index.js').stopGradient"
/** Parameters that the numbers move with only in part. */
const implicit: readonly Mutant[] = mistakes('draws', 'random/gamma', [
  [
    'beta numbers do not move with b',
    'gammaOf(second, parameters[1]!, dtype, true, op)',
    `gammaOf(second, ${stop}(parameters[1]!), dtype, true, op)`,
  ],
  [
    'beta numbers do not move with a',
    'gammaOf(first, parameters[0]!, dtype, true, op)',
    `gammaOf(first, ${stop}(parameters[0]!), dtype, true, op)`,
  ],
  ['the larger logarithm of a beta number moves one of both', 'exp(sub(y, most))]', `exp(sub(y, ${stop}(most)))]`],
  ['the sum under a beta number stands still', 'return div(p, add(p, q)) as never', `return div(p, ${stop}(add(p, q))) as never`],
  [
    'Dirichlet parameters stand still',
    'softmax(gammaOf(wordsOf(key, op), spread(a, shape)',
    `softmax(gammaOf(wordsOf(key, op), ${stop}(spread(a, shape))`,
  ],
  [
    'the gamma number of a Student number stands still',
    'sqrt(div(half, gammaOf(second, half,',
    `sqrt(div(half, gammaOf(second, ${stop}(half),`,
  ],
  ['the freedom of a Student number stands still', 'sqrt(div(half, gammaOf(', `sqrt(div(${stop}(half), gammaOf(`],
  [
    'a Student number moves with twice its half',
    'const half = div(parameters[0]!, 2)',
    `const half = add(div(parameters[0]!, 1), ${stop}(div(parameters[0]!, -2)))`,
  ],
])
const transforms: readonly Mutant[] = mistakes('draws', 'library/signals/fft-core', [
  ['the small matrix is real', 'm[j * 2 * n + n + k] = s', 'm[j * 2 * n + n + k] = 0'],
  ['imaginary parts have the other sign', 'm[(n + j) * 2 * n + k] = -s', 'm[(n + j) * 2 * n + k] = s'],
  ['the small matrix forgets its direction', 'unit(sign * j * k, n)', 'unit(-j * k, n)'],
  ['twiddles forget their direction', 'sign * (i % n2)', '-(i % n2)'],
  ['twiddles are of n1', 'Math.floor(i / n2), n)', 'Math.floor(i / n2), n1)'],
  ['twiddles are real', 'im: part(y, 1, n1, n1) }, twiddles)', 'im: part(y, 1, n1, n1) }, { ...twiddles, im: mul(twiddles.im, 0) })'],
  ['blocks are not turned', 'reshape(transpose(reshape(v, [rows, n1, n2])), [rows, n])', 'reshape(v, [rows, n])'],
  ['a product of complex numbers adds', 're: sub(mul(a.re, b.re), mul(a.im, b.im))', 're: add(mul(a.re, b.re), mul(a.im, b.im))'],
  ['a product of complex numbers is half', 'im: add(mul(a.re, b.im), mul(a.im, b.re))', 'im: add(mul(a.re, b.im), mul(a.im, b.im))'],
  ['a chirp is linear', '((k * k) % (2 * n))', '(k % (2 * n))'],
  ['a chirp is not its conjugate', 'hi[k] = -s[k]! / m', 'hi[k] = s[k]! / m'],
  ['a chirp does not go round', '[hr[m - k], hi[m - k]] = [hr[k]!, hi[k]!]', '[hr[m - k], hi[m - k]] = [hr[k]!, -hi[k]!]'],
  ['a convolution is as long as its argument', 'const m = 2 ** Math.ceil(Math.log2(2 * n - 1))', 'const m = 2 ** Math.ceil(Math.log2(n))'],
  ['a transform has no scale', 'const scaled = scale === 1 ? v :', 'const scaled = scale !== 1 ? v :'],
  ['axes do not come back', 'axis === last ? whole : transpose(whole, back)', 'axis === last ? whole : transpose(whole, [...order, axis])'],
])

export const draws: readonly Mutant[] = [...gammas, ...implicit, ...transforms]
