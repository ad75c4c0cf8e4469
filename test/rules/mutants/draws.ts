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
const transforms: readonly Mutant[] = [
  ...mistakes('draws', 'library/signals/fft-core', [
    ['a product of complex numbers adds', 're: sub(mul(a.re, b.re), mul(a.im, b.im))', 're: add(mul(a.re, b.re), mul(a.im, b.im))'],
    ['a product of complex numbers is half', 'im: add(mul(a.re, b.im), mul(a.im, b.re))', 'im: add(mul(a.re, b.im), mul(a.im, b.im))'],
    ['a transform has no scale', 'by === 1 ? x :', 'by !== 1 ? x :'],
    ['the inverse is the transform', 'sign === -1 ? dft(re, im, axis) : dft(im, re, axis)', 'dft(re, im, axis)'],
    ['parts do not change back', 'sign === -1 ? { re: a, im: b } : { re: b, im: a }', '{ re: a, im: b }'],
    ['all of a half stand for themselves', ': 2 * scale)),', ': scale)),'],
    ['the middle stands for two', 'k === 0 || 2 * k === n ? scale', 'k === 0 ? scale'],
    ['half of an odd length is one short', '0, (n + 1) / 2)', '0, (n - 1) / 2 + (n === 1 ? 1 : 0))'],
  ]),
  ...mistakes('draws', 'rules/fourier', [
    ['a transform is its own transpose', 'const [im, re] = op.dft(imBar!, reBar!, axis)', 'const [re, im] = op.dft(reBar!, imBar!, axis)'],
    ['cotangents of both parts change places', 'return [re, im]', 'return [im, re]'],
    [
      'cotangents of half a transform change places',
      'op.realDftTransposed(reBar!, imBar!, axis)',
      'op.realDftTransposed(imBar!, reBar!, axis)',
    ],
    ['a batch is transformed', 'op.dft(...batched(xs, flags, size), axis + 1)', 'op.dft(...batched(xs, flags, size), axis)'],
  ]),
  ...mistakes('draws', 'backends/cpu/fourier-plan', [
    ['twiddles have the other sign', 'rootOfUnity(-p * k, rows * r)\n        to[at++]', 'rootOfUnity(p * k, rows * r)\n        to[at++]'],
    [
      'twiddles along a run have the other sign',
      'rootOfUnity(-p * k, rows * r)\n          to[at + l]',
      'rootOfUnity(p * k, rows * r)\n          to[at + l]',
    ],
    ['twiddles along a run do not overlap', 'Math.min(v * lanes, rows - lanes)', 'v * lanes'],
    ['the weights of halves have the other sign', 'rootOfUnity(-k, n)', 'rootOfUnity(k, n)'],
    ['a convolution is as long as its argument', 'roundLength(2 * n - 1)', 'roundLength(n)'],
  ]),
  ...mistakes('draws', 'core/ops/fourier-loops', [
    ['a chirp is linear', '((k * k) % (2 * n))', '(k % (2 * n))'],
    ['a chirp is not its conjugate', 'im[k] = -s[k]! / m', 'im[k] = s[k]! / m'],
    ['a chirp does not go round', '[re[m - k], im[m - k]] = [re[k]!, im[k]!]', '[re[m - k], im[m - k]] = [re[k]!, -im[k]!]'],
    ['a pass turns the other way', 'const at = p * k * span', 'const at = (n - p * k * span) % n'],
  ]),
]

export const draws: readonly Mutant[] = [...gammas, ...implicit, ...transforms]
