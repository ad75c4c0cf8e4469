/** The composition root: binds registry and default backend once, and exports all that is public. The one file that imports every layer. */
import { isLeft } from 'fp-ts/lib/Either.js'
import { concatAll } from 'fp-ts/lib/Monoid.js'
import { cpuFamilies } from './backends/cpu/facets.js'
import { type CpuOptions, cpu } from './backends/cpu/index.js'
import { type Registry, registryIn, registryOf } from './core/calculus/rule.js'
import { type Names as OptionNames, optionsOf, settled } from './core/errors/check-arguments.js'
import { raise } from './core/errors/explain.js'
import { makeCustomRule } from './core/extend/custom-rule.js'
import { type KernelTable, kernelTable } from './core/extend/kernel-table.js'
import { type Plugin, pluginIn, pluginMonoid, uniquePlugin } from './core/extend/plugin.js'
import { type Backend, type SyncBackend, syncBackendOf } from './core/functions/backend.js'
import { type CompileOptions, evaluateWith, makeRuntime } from './core/functions/compile.js'
import { compileAsync as compileAsyncCore, compileOn } from './core/functions/compile-async.js'
import { type Env, runCore, runSyncCore } from './core/functions/effects.js'
import { declare, metaOf, type Runtime, traceDeclared } from './core/functions/function.js'
import { typed } from './core/graph/operation.js'
import type { AnyPrimitive } from './core/graph/primitive.js'
import { showExpressions, showProgram } from './core/graph/show.js'
import { siteOf } from './core/graph/source-lines.js'
import { isTensor as isTensorCore } from './core/graph/tensor.js'
import { families } from './core/ops/families.js'
import { fromJSONCore, fromProgramCore, isProgram, toJSONCore, toProgramCore } from './core/programs/json.js'
import type { Tensor } from './core/types/expr.js'
import type * as programs from './core/types/program.js'
import type { Codual } from './core/types/signatures/codual.js'
import type * as estimators from './core/types/signatures/estimators.js'
import type * as running from './core/types/signatures/run.js'
import type * as sparse from './core/types/signatures/sparse.js'
import type * as transforms from './core/types/signatures/transforms.js'
import type { VmapFn } from './core/types/signatures/vmap.js'
import { makeOperators } from './modes/operators/index.js'
import { toDense as toDenseCore } from './modes/operators/sparse.js'
import { coreRegistry, ruleFamilies } from './rules/index.js'

/**
 * codual bound to a registry of rules and a default backend; no module state.
 *
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * const registry = coreRegistry.with(scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))]))
 * makeCodual(registry, cpu()).grad((x) => sum(cube(x)))([1, 2])   // [3, 12]
 */
export const makeCodual = (registry: Registry, backend: SyncBackend): Codual => {
  const runtime: Runtime = makeRuntime(syncBackendOf(backend, 'makeCodual'))
  registryIn(registry, 'makeCodual')
  const bound: Readonly<Record<keyof Codual, unknown>> = {
    ...makeOperators({ registry, runtime }),
    customRule: makeCustomRule(runtime),
    fn: (declaration: unknown, body: (x: unknown) => unknown, options?: { readonly name?: string }) =>
      declare(runtime, declaration, body, options),
    evaluate: evaluateWith(backend),
    compile: compileOn(backend),
    compileAsync: (f: unknown, b: Backend, options?: CompileOptions) => compileAsyncCore(f, b, 'compileAsync', options),
    show: (f: unknown, sizes?: Readonly<Record<string, number>>) =>
      typeof f === 'function' || isProgram(f)
        ? showProgram(isProgram(f) ? f : traceDeclared(metaOf(f, 'show'), sizes, 'show'), siteOf)
        : showExpressions(f, siteOf),
    toProgram: toProgramCore,
    fromProgram: fromProgramCore(runtime),
    fromJSON: (json: unknown, primitives?: readonly AnyPrimitive[]) => fromJSONCore(registry, primitives)(json),
    run: runCore,
    runSync: runSyncCore,
  }
  return bound as Codual // their types are in types/signatures
}

/**
 * The shipped primitives with their rules and their CPU kernels, as a plugin: the fold of their families.
 *
 * @example corePlugin.duplicates   // []
 */
export const corePlugin: Plugin = /*#__PURE__*/ concatAll(pluginMonoid)(
  (Object.keys(families) as (keyof typeof families)[]).map((family) => ({
    name: family,
    ops: new Map<string, AnyPrimitive>(Object.entries(families[family])),
    registry: registryOf(Object.values(ruleFamilies[family])),
    kernels: { cpu: kernelTable({ [family]: families[family] }, { [family]: cpuFamilies[family] }) as KernelTable },
    duplicates: [],
  })),
)

const codualOptions: OptionNames<Omit<CpuOptions, 'kernels'>> = {
  memoryBytes: true,
  simd: true,
  verify: true,
  poison: true,
  cacheBytes: true,
}

/**
 * codual with primitives of your own: their rules beside the shipped ones, their kernels in the CPU backend.
 *
 * A primitive is saved as `plugin/name`, so it may be called as a shipped one.   Errors  DuplicatePrimitive where two plugins of one name have one of one name, or a plugin has another rule for a shipped one.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const doubling = definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: scalarRule(twice, () => [2]) } })
 * codualWith(doubling).grad((x) => sum(twice(x)))([1, 2])   // [2, 2]
 */
export const codualWith = (plugins: Plugin | readonly Plugin[], options?: Omit<CpuOptions, 'kernels'>): Codual => {
  optionsOf(options, codualOptions, 'codualWith')
  const own = concatAll(pluginMonoid)([settled(plugins, 'the plugins', 'codualWith')].flat().map((p) => pluginIn(p, 'codualWith')))
  const all = uniquePlugin(pluginMonoid.concat(corePlugin, own))
  if (isLeft(all)) return raise(all.left)
  return makeCodual(all.right.registry, cpu({ ...options, ...(own.kernels.cpu && { kernels: own.kernels.cpu }) }))
}

const bound: Codual = /*#__PURE__*/ makeCodual(coreRegistry, cpu())
/**
 * A typed function of one tree of inputs: their declaration, and a body from expressions to an expression (or a tree of them).
 *
 * Called with values it runs, with expressions it inlines; `compile` traces it once per signature. Named axes are bound at each call.
 * `{ name }` is what errors and `show` call it, the body's own name unless given.
 * Errors  ShapeMismatch, DTypeMismatch or BadInput where an argument is not as declared.
 * @example fn({ x: f64('n'), w: f64('n') }, ({ x, w }) => sum(mul(x, w)))({ x: [1, 2], w: [3, 4] })   // 11
 */
export const fn: transforms.FnFn = bound.fn
/**
 * The gradient of a scalar function: f: R^n -> R becomes x |-> (df/dx_1, ..., df/dx_n), in the structure of its first argument.
 *
 * `wrt` names what is differentiated (a path, a list of paths, an argument's index), `mode` how: 'mixed' unless given. Nests to any order.
 * With `aux: true` f returns [scalar, aux], and the result is [gradient, aux].
 * Errors  NotScalar when f returns no scalar, NotDifferentiable when wrt is not a float, MissingRule.
 * @example
 * grad((x) => sum(mul(x, x)))([1, 2, 3])   // [2, 4, 6]
 * grad((x: AnyExpr) => [sum(x), neg(x)], { aux: true })([1, 2])   // [[1, 1], [-1, -2]]
 */
export const grad: transforms.GradFn = bound.grad
/**
 * f(x) and its gradient from one pass: { value, grad }; with `aux: true` f returns [scalar, aux] and aux is given too.
 *
 * Options and errors as for `grad`.
 * @example valueAndGrad((x) => sum(mul(x, x)))([1, 2, 3])   // { value: 14, grad: [2, 4, 6] }
 */
export const valueAndGrad: transforms.ValueAndGradFn = bound.valueAndGrad
/**
 * The Jacobian times a tangent, forward: (x, dx) |-> [f(x), f'(x) dx].
 *
 * Several arguments are given as their tuple; only what varies needs a tangent that is not 0. Cost: a small multiple of f's, whatever the
 * number of inputs.   Source  Griewank and Walther 2008, 3.1.
 * @example jvp((x) => mul(x, x))([1, 2], [1, 10])   // [[1, 4], [2, 40]]
 */
export const jvp: transforms.JvpFn = bound.jvp
/**
 * A cotangent times the Jacobian, in reverse: (x, yBar) |-> [f(x), f'(x)^T yBar].
 *
 * Several arguments are given as their tuple; `wrt` names those whose cotangents are wanted (all, unless given). Cost: a small multiple
 * of f's, whatever the number of inputs.   Source  Griewank and Walther 2008, 3.2.
 * @example vjp((x) => mul(x, x))([1, 2], [1, 10])   // [[1, 4], [2, 40]]
 */
export const vjp: transforms.VjpFn = bound.vjp
/**
 * The Hessian of a scalar function times a tangent: (x, dx) |-> f''(x) dx, without the matrix; forward over reverse.
 *
 * Errors  NotScalar when f returns no scalar.   Source  Pearlmutter 1994.
 * @example hvp((x) => sum(mul(x, mul(x, x))))([1, 2], [1, 0])   // [6, 0]
 */
export const hvp: transforms.HvpFn = bound.hvp
/**
 * f at a point: [f(x), dx |-> f'(x) dx], the derivative there as a linear function of the tangent alone.
 *
 * What the derivative needs of the point is computed once, with the value, and kept as long as the derivative is.
 * `wrt` names what varies (all, unless given): dx is a tangent of that alone.
 * @example linearize((x) => mul(x, x))([1, 2])[1]([1, 10])   // [2, 40]
 */
export const linearize: transforms.LinearizeFn = bound.linearize
/**
 * Derivatives of f along a curve x(t), in one pass: (x, [x', x'', ...]) |-> [f(x), [f(x(t))', f(x(t))'', ...]], at t = 0. Taylor mode.
 *
 * The series holds derivatives, not Taylor coefficients (those are d^k/k!), as that of jax.experimental.jet does; what is not given of `order`
 * many is 0, so jet(f, { order: 4 })(x, [v]) has the derivatives in the direction v. Cost: about order^2 times f's, where nested `jvp` takes
 * 2^order. Several arguments are given as their tuple.   Source  Griewank and Walther 2008, 13; Bettencourt, Johnson and Duvenaud 2019.
 * @example jet((x) => exp(x), { order: 3 })(0, [1])   // [1, [1, 1, 1]]
 */
export const jet: transforms.JetFn = bound.jet
/**
 * f at every index of an axis: x: [n, ...s] for f's x: [...s]; results get the axis in front.
 *
 * `inAxes` says which axis is mapped (0 unless given; null: none, the same at every index), `outAxes` where it stands in the results:
 * for all leaves, by argument ([null, -1]), or in their tree or a beginning of it ({ params: null, x: 0 }).
 * Errors  ShapeMismatch without such an axis, or of two sizes; BadInput for axes of another tree, or none; MissingRule without a batch rule.
 * @example vmap((w, x) => mul(w, x), { inAxes: [null, 1] })(10, [[1, 2, 3], [4, 5, 6]])   // [[10, 40], [20, 50], [30, 60]]
 * @example vmap((x) => mul(x, x), { outAxes: -1 })([[1, 2], [3, 4]])   // [[1, 9], [4, 16]]
 */
export const vmap: VmapFn = bound.vmap
/**
 * The Jacobian by columns, in forward mode: shape [...f(x), ...x], one pushed basis vector per input, all at once.
 *
 * For functions with fewer inputs than outputs; the other way round `jacrev` is cheaper. Trees give a tree of blocks. `chunk` says how many
 * vectors at once: less memory, more steps.
 * @example jacfwd((x) => mul(x, x))([1, 2])   // [[2, 0], [0, 4]]
 */
export const jacfwd: transforms.JacFn = bound.jacfwd
/**
 * The Jacobian by rows, in reverse mode: shape [...f(x), ...x], one pulled basis vector per output, all at once.
 *
 * For functions with fewer outputs than inputs; the other way round `jacfwd` is cheaper. Trees give a tree of blocks. `chunk` says how many
 * vectors at once: less memory, more steps.
 * @example jacrev((x) => sum(mul(x, x)))([1, 2])   // [2, 4]
 */
export const jacrev: transforms.JacFn = bound.jacrev
/**
 * The matrix of second derivatives of a scalar function, shape [...x, ...x]: forward over reverse.
 *
 * Errors  NotScalar when f returns no scalar. For a product with one vector use `hvp`: it never builds the matrix.
 * @example hessian((x) => prod(x))([2, 3])   // [[0, 1], [1, 0]]
 */
export const hessian: transforms.HessianFn = bound.hessian
/**
 * Where the Jacobian of f may be other than zero, read off its expression; f is not run, of its arguments the shapes are read.
 *
 * { rows, cols, shape, colours }: entry k stands in row rows[k], column cols[k], row by row; rows count the elements of f's float results, columns
 * those of what `wrt` names (the first argument), as `ravel` does. `colours` is how many products `sparseJacobian` takes. No entry is missing; what is not
 * known (an index that is computed from an argument, a primitive of somebody else's) counts as dense. Literal and captured indices are read now.
 * @example sparsity((x) => mul(at(x, '1:'), at(x, ':-1')))([1, 2, 3])   // { rows: [0, 0, 1, 1], cols: [0, 1, 1, 2], shape: [2, 3], ... }
 */
export const sparsity: sparse.SparsityFn = bound.sparsity
/**
 * Where the Hessian of a scalar function may be other than zero: as `sparsity`, of the gradient.
 *
 * Errors  NotScalar when f returns no scalar.
 * @example hessianSparsity((x) => sum(mul(x, mul(x, x))))([1, 2, 3])   // { rows: [0, 1, 2], cols: [0, 1, 2], shape: [3, 3], colours: 1 }
 */
export const hessianSparsity: sparse.HessianSparsityFn = bound.hessianSparsity
/**
 * The Jacobian as a sparse matrix: the entries that `sparsity` finds, { rows, cols, values, shape }, by one batch of products.
 *
 * Columns that have no row in common go together (`mode: 'forward'`: jvp), or rows that have no column in common ('reverse': vjp), whichever
 * take less, unless `mode` says. rows, cols and shape are i32. Indices that f captures are read when it is traced: they must stay what they are.
 * Errors  BadInput where it has more than 2^26 entries.   Source  Curtis, Powell and Reid 1974.
 * @example sparseJacobian((x) => mul(x, x))([1, 2]).values   // [2, 4]
 */
export const sparseJacobian: sparse.SparseJacobianFn = bound.sparseJacobian
/**
 * The Hessian of a scalar function as a sparse matrix, { rows, cols, values, shape }: by one batch of Hessian-vector products, one for each colour.
 *
 * Both halves are there; it is coloured as a symmetric matrix where that takes fewer products: a tridiagonal one takes 3, one whose first row, first column
 * and diagonal are full takes 2. Errors  NotScalar, and as for `sparseJacobian`.   Source  Coleman and More 1984.
 * @example sparseHessian((x) => sum(mul(x, mul(x, x))))([1, 2]).values   // [6, 12]
 */
export const sparseHessian: sparse.SparseHessianFn = bound.sparseHessian
/**
 * A sparse matrix, what `sparseJacobian` or `sparseHessian` gave, as an expression of rank 2.
 *
 * Errors  BadInput where its shape is not known before it runs: where the matrix is an argument of a traced function.
 * @example toDense(sparseJacobian((x) => mul(x, x))([1, 2]))   // [[2, 0], [0, 4]]
 */
export const toDense: sparse.ToDenseFn = /*#__PURE__*/ typed(toDenseCore)
/**
 * The Gauss-Newton matrix of x |-> loss(f(x)) times a tangent: (x, dx) |-> J^T H J dx, J that of f and H the Hessian of the loss at f(x).
 *
 * The Hessian without f's own second derivatives, so it is positive semidefinite for a convex loss; no matrix is built. `loss` takes f's result and
 * captures what else it needs (targets).   Errors  NotScalar when the loss is no scalar.   Source  Schraudolph 2002.
 * @example gaussNewtonProduct((x) => mul(x, x), (y) => sum(square(y)))([1, 2], [1, 1])   // [8, 32]
 */
export const gaussNewtonProduct: sparse.GaussNewtonFn = bound.gaussNewtonProduct
/**
 * f with derivatives of its own: frule(primals, tangents) gives [y, dy]; rrule(primals) gives [y, pullback], from yBar to primalsBar.
 *
 * Several arguments are given as their tuple; a cotangent may be a thunk or ZeroTangent, an integer's is NoTangent. A rule is traced where
 * a derivative is asked for, and differentiated further; an frule alone also serves reverse mode: it is linear in dx, and is transposed.
 * What f captures is read at every call, but asking for its derivative is NotImplemented: pass it as an argument. `estimates: true` says that
 * the rules are deliberately not f's derivative; `name` is what messages call it.
 * Errors  MissingRule in forward mode without frule; ShapeMismatch, DTypeMismatch, BadInput name the leaf that a rule got wrong.
 * @example grad(customRule((x) => exp(x), { frule: (x, dx) => [exp(x), mul(2, mul(exp(x), dx))] }))(0)   // 2
 */
export const customRule: transforms.CustomRuleFn = bound.customRule
/**
 * f's value with the derivative of `surrogate`, the identity unless given: a straight-through estimator, for rounding, thresholds and samples.
 *
 * Both take the same arguments, and their results have the same shapes. In every mode, of any order.   Source  Bengio et al. 2013.
 * Errors  ShapeMismatch or DTypeMismatch where the surrogate's tangent is not of f's result.
 * @example
 * grad((x) => sum(mul(straightThrough((v) => round(v))(x), x)))([1.4])                          // [2.4]
 * grad((x) => sum(straightThrough((v) => sign(v), (v) => tanh(v))(x)))([0])                     // [1]
 */
export const straightThrough: transforms.StraightThroughFn = bound.straightThrough
/**
 * x itself, whose cotangent is clamped to [-limit, limit] on its way back: what follows cannot send more. Of a tree: every float leaf.
 *
 * Errors  NotImplemented in forward mode, which has no cotangents; BadInput for a limit below 0.
 * @example grad((x) => sum(square(clipGradient(x, 1))))([0.1, 3])   // [0.2, 1]
 */
export const clipGradient: estimators.ClipGradientFn = bound.clipGradient
/**
 * x itself, whose derivative is -scale (1 unless given): gradient reversal, for adversarial training. Of a tree: every float leaf.
 *
 * `scale` is a number or a scalar expression, without a derivative of its own.   Source  Ganin and Lempitsky 2015.
 * @example grad((x) => sum(reverseGradient(x, 0.5)))([1, 2])   // [-0.5, -0.5]
 */
export const reverseGradient: estimators.ReverseGradientFn = bound.reverseGradient
/**
 * x itself, whose cotangent is shown to f as a tensor on the way back, in a loop at every step. Of a tree: every float leaf. Derivatives stay what they are.
 *
 * Forward mode has no cotangents; one that is zero, or that no result needs, is not computed. Under vmap f sees those of all examples at once.
 * Errors  BadInput where f is not a function.
 * @example grad((x) => sum(square(tapGradient(mul(x, 3), (v) => console.assert(v.shape[0] === 2)))))([1, 2])   // [18, 36]
 */
export const tapGradient: estimators.TapGradientFn = bound.tapGradient
/**
 * The values of expressions (a tree of them) that depend on no input, on the default backend.
 *
 * @example evaluate({ y: add([1, 2], 3) })   // { y: [4, 5] }
 */
export const evaluate: running.EvaluateFn = bound.evaluate
/**
 * A plain function that plans f once per signature (tree, shapes, dtypes) and then only runs; on the default backend unless given one.
 *
 * Captured tensors are read at every call; captured numbers stay what they were when it was traced. `.into(outputs)` writes into the
 * caller's tensors, `.explain()` tells what runs and what it costs. On an asynchronous backend it gives promises. `{ trap: 'nan' }`: a call
 * whose result holds a NaN is an error that says what made it first ('nonFinite': an infinity too).
 * Errors  thrown as AdException.
 * @example compile(grad((x) => sum(mul(x, x))))([1, 2, 3])   // [2, 4, 6]
 */
export const compile: running.CompileFn = bound.compile
/**
 * As `compile`, giving promises on any backend.
 *
 * @example await compileAsync((x) => sum(mul(x, x)), cpu())([1, 2, 3])   // 14
 */
export const compileAsync: running.CompileAsyncFn = bound.compileAsync
/**
 * The program of a function (or of expressions) as text: its inputs, one line per equation, its results. Deterministic.
 *
 * @example
 * show(fn({ x: f64(2) }, ({ x }) => sum(x)))   // 'fn(x: f64 [2])\n  y0 = sum(x) {axes [0]} : f64 []\n  return y0...'
 * show(mul(tensor([1, 2]), 3))                 // 'expression()\n  y0 = mul(captured0, 3) : f64 [2]\n  return y0'
 */
export const show: running.ShowFn = bound.show
/**
 * A function as a program: a closed computation at fixed shapes, as data. A declared function is traced at the sizes of its named axes,
 * `toProgram(f, sizes)`; any other at the shapes of example arguments, `toProgram(f)(...examples)`. Numbers of its closure become literals.
 * `{ sites: true }`, after the sizes or where a plain function has none, records the line of each operation, and `show` prints it.
 *
 * @example show(toProgram((x) => sum(mul(x, x)))([1, 2]))   // 'f(x0: f64 [2])\n  y0 = mul(x0, x0) : f64 [2]...'
 */
export const toProgram: programs.ToProgramFn = bound.toProgram
/**
 * The function of a program: it runs, compiles, inlines and is differentiated as any other.
 *
 * Errors  ShapeMismatch or DTypeMismatch where an argument is not as it was traced.
 * @example grad(fromProgram(toProgram((x) => sum(mul(x, x)))([1, 2])))([3, 4])   // [6, 8]
 */
export const fromProgram: programs.FromProgramFn = bound.fromProgram
/**
 * A program as plain JSON, to the bit: one table of nodes, captured tensors as base64. `fromJSON` reads it.
 *
 * Errors  BadInput where parameters hold functions (a customRule).
 * @example toJSON(toProgram((x) => sum(x))([1, 2]))   // { format: 1, name: 'f', inputs: [0], ... }
 */
export const toJSON: programs.ToJSONFn = /*#__PURE__*/ typed(toJSONCore)
/**
 * The program that `toJSON` wrote; primitives of your own are given beside it. Every parameter is decoded and every shape made again.
 *
 * Errors  Left of a Decode with every error and its path. It never throws, whatever it is given.
 * @example fromJSON({ format: 1 })   // Left({ _tag: 'Decode', errors: [...] })
 */
export const fromJSON: programs.FromJSONFn = bound.fromJSON
/**
 * A function as an effect of fp-ts: run(f)(...inputs) is a ReaderTaskEither. Nothing happens before it is given its Env and run;
 * then it is traced once per signature and backend.
 *
 * Errors  Left of an AdError.
 * @example await run((x) => sum(mul(x, x)))([1, 2])({ backend: cpu() })()   // Right(5)
 */
export const run: running.RunFn<Env> = bound.run
/**
 * A function run at once on a synchronous backend, its failure a value: Either of an AdError and the result.
 *
 * @example runSync(cpu())((x) => sum(mul(x, x)))([1, 2])   // Right(5)
 */
export const runSync: running.RunSyncFn = bound.runSync
/**
 * Is x a tensor of this copy of codual? It never throws.
 *
 * @example isTensor([1, 2])   // false
 */
export const isTensor = (x: unknown): x is Tensor => isTensorCore(x)

export { type CpuBackend, type CpuOptions, cpu } from './backends/cpu/index.js'
export { reference } from './backends/reference/index.js'
export { type DeviceStats, type WebGpuBackend, type WebGpuOptions, webgpu } from './backends/webgpu/index.js'
export type { Dropped, DropReason } from './core/calculus/dropped.js'
export { CoDual, Dual } from './core/calculus/dual.js'
export { emptyRegistry, type Form, type Registry, type Rule, registryMonoid, registryOf } from './core/calculus/rule.js'
export type { AdError, AdException } from './core/errors/error.js'
export { isAdException } from './core/errors/error.js'
export { explain, raise } from './core/errors/explain.js'
export * from './core/extend/public.js'
export { type Algebra, type ApplyAt, type InputAt, type Interpret, interpret } from './core/functions/interpret.js'
export * from './core/functions/public.js'
export { bool, f32, f64, i32 } from './core/graph/spec.js'
export { tensor } from './core/graph/tensor.js'
export * from './core/ops/index.js'
export { codec, decodeError } from './core/programs/codec.js'
export { ravel, treeAllClose, treeFlatten, treeLeaves, treeMap, treeReduce, treeZip } from './core/programs/trees.js'
export { duplicated, type RandomSource, type VectorSpace, vectorSpace } from './core/programs/vector-space.js'
export type * from './core/types/public.js'
export { dualAlgebra, type EagerCoDual, type EagerDual, type EagerReverse, reverseAlgebra } from './modes/dual.js'
export * from './rules/public.js'
