// A primitive of one's own: what it is, its derivative, a check of both, and its use beside the library's operations.
import { isRight } from 'fp-ts/lib/Either.js'
import { makeCheck, report } from '../src/check/index.js'
import { type AnyExpr, coreRegistry, cpu, explain, grad, isAdException, makeCodual, scalarRule, sum, tanh, unary } from '../src/index.js'
import { expectThat, type Log, start } from './entry.js'

/** log(cosh x), without overflow: |x| + log(1 + e^(-2|x|)) - log 2. Backends without a kernel for it call this function at every element. */
const logCosh = unary({
  name: 'logCosh',
  scalar: (x) => Math.abs(x!) + Math.log1p(Math.exp(-2 * Math.abs(x!))) - Math.LN2,
  domain: [[-3, 3]],
  extremes: [-1000, 0, 1000],
  source: 'DLMF 4.28',
})

/** Its derivative is tanh x. From this line follow forward, reverse and mixed mode, derivatives of any order, and vmap. */
const logCoshRule = scalarRule(logCosh, ({ x: [x] }) => [tanh(x)])

export const main = (log: Log) => {
  // A registry is a value: this one knows one primitive more. Nothing global has changed.
  const registry = coreRegistry.with(logCoshRule)
  const codual = makeCodual(registry, cpu())

  // The checker compares the rule with finite differences of the meaning, at samples drawn from the domain.
  const checks = logCosh.primitive.samples.map((sample) => makeCheck(registry).checkRule(logCosh.primitive, { sample }))
  const passed = checks.filter(isRight).length
  log(`logCosh: ${passed} of ${checks.length} samples pass the checks of a rule; the first: ${report(checks[0]!).trim()}`)
  expectThat(passed === checks.length, 'a rule that agrees with finite differences')

  const loss = (x: AnyExpr) => sum(logCosh(x))
  const gradient = codual.grad(loss)([-1000, -1, 0, 1, 1000]).toArray()
  const second = codual
    .grad((x: AnyExpr) => sum(codual.grad(loss)(x)))([0, 1])
    .toArray()
  log(`gradient at -1000, -1, 0, 1, 1000: ${gradient}`)
  log(`second derivative at 0, 1: ${second}`)

  // The library's own `grad` does not know the primitive, and says what is missing.
  let missing = ''
  try {
    grad(loss)([1])
  } catch (e) {
    if (!isAdException(e)) throw e
    missing = explain(e.error)
  }
  log(missing)
  return { passed, samples: checks.length, gradient, second, missing }
}

start(import.meta.url, main)
