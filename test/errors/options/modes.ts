/** Transforms, compiling, running, backends and the checker, each with options: every call is valid with {}. */
import * as check from '../../../src/check/index.js'
import { forAll } from '../../../src/check/property.js'
import * as cd from '../../../src/index.js'

const { f64, fn, mul, sum, tensor } = cd
const f = (x: cd.AnyExpr) => sum(mul(x, x))
const square = (x: cd.AnyExpr) => mul(x, x)
const declared = fn({ x: f64('n') }, ({ x }) => sum(mul(x, x)))
const fixed = fn({ x: f64(2) }, ({ x }) => sum(mul(x, x)))
const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
const doubling = cd.definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: cd.scalarRule(twice, () => [2]) } })
const values = { input: () => 0, literal: () => 0, captured: () => 0, apply: () => [0] }

const isEmpty = (o: unknown): boolean =>
  o === undefined || (typeof o === 'object' && o !== null && !Array.isArray(o) && Object.keys(o).length === 0)

export const rows: readonly (readonly [name: string, call: (options: never) => unknown])[] = [
  ['grad', (o) => cd.grad(f, o)([1, 2])],
  ['valueAndGrad', (o) => cd.valueAndGrad(f, o)([1, 2])],
  ['vjp', (o) => cd.vjp(square, o)([1, 2], [1, 10])],
  ['hvp', (o) => cd.hvp(f, o)([1, 2], [1, 0])],
  ['linearize', (o) => cd.linearize(square, o)([1, 2])],
  ['vmap', (o) => cd.vmap(f, o)([[1, 2]])],
  ['jacfwd', (o) => cd.jacfwd(square, o)([1, 2])],
  ['jacrev', (o) => cd.jacrev(square, o)([1, 2])],
  ['hessian', (o) => cd.hessian(f, o)([1, 2])],
  ['fn', (o) => fn({ x: f64(2) }, ({ x }) => x, o)({ x: [1, 2] })],
  ['toProgram', (o) => cd.toProgram(f, o)([1, 2])],
  ['show', (o) => cd.show(fixed, o)],
  ['interpret', (o) => cd.interpret<number>(values)(fixed, o)],
  ['into', (o) => cd.compile(square).into(tensor([0, 0]), o)([1, 2])],
  ['cpu', (o) => cd.cpu(o)],
  ['onDevice', (o) => cd.onDevice(tensor([1, 2]), cd.cpu(), o)],
  ['webgpu', (o) => cd.webgpu(o)],
  ['codualWith', (o) => cd.codualWith(doubling, o)],
  ['checkGrad', (o) => check.checkGrad(f, o)([1, 2])],
  ['expectGradient', (o) => check.makeCheck(cd.coreRegistry).expectGradient(f, o)([1, 2])],
  ['checkRule', (o) => check.checkRule(cd.coreRegistry.rules.get('neg')!.primitive, o)],
  ['checkPlugin', (o) => check.checkPlugin(doubling, o)],
  // No options are 250 programs: what is given where none may be left out is what is tried here.
  ['forAllPrograms', (o) => check.forAllPrograms(doubling, isEmpty(o) ? ({ runs: 3 } as never) : o)],
  ['forAll', (o) => forAll(declared, o)],
]
