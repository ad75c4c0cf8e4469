// A primitive with its rule in a registry: the derivative of log cosh is tanh, and all modes follow from it.
import { type AnyExpr, coreRegistry, cpu, makeCodual, scalarRule, sum, tanh, unary } from 'codual'

const logCosh = unary({
  name: 'logCosh',
  scalar: (x) => Math.abs(x!) + Math.log1p(Math.exp(-2 * Math.abs(x!))) - Math.LN2,
  domain: [[-3, 3]],
  source: 'DLMF 4.28',
})
const codual = makeCodual(coreRegistry.with(scalarRule(logCosh, ({ x: [x] }) => [tanh(x)])), cpu())
const f = (x: AnyExpr) => sum(logCosh(x))

codual.grad(f)([-1, 0, 1]) // [-0.761594, 0, 0.761594]
codual.hessian(f)([0]) // [[1]]
