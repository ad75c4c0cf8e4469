/** The mistakes of a first hour, one a row: the call, and what its message must say. Each row's error names that row's line. */
import * as cd from '../../src/index.js'

/** A call that fails, the line that it is at, and parts of its message: what is wrong, and what to write. */
export interface Mistake {
  readonly call: () => unknown
  readonly says: readonly string[]
  readonly line: number
}
type F = (...xs: readonly unknown[]) => unknown
/** Everything of codual as JavaScript has it: without types. */
const u = cd as unknown as Readonly<Record<string, F & Readonly<Record<string, F>>>>
type X = Readonly<Record<string, unknown>> & number & readonly unknown[] & F
const any = (x: unknown): X => x as X

const here = (): number => Number(/mistakes\.\w+:(\d+)/.exec(new Error().stack!.split('\n')[3]!)?.[1])
const row = (call: () => unknown, ...says: readonly string[]): Mistake => ({ call, says, line: here() })
const traced = (body: (x: X) => unknown, at: unknown = [1, 2]): unknown => (cd.grad(body as never) as unknown as F)(at)

const v = cd.tensor([1, 2])
const m = cd.tensor([[1, 2], [3, 4]]) // biome-ignore format: one row
const i = cd.tensor([1, 0], [2], 'i32')
const [x, y, zeros] = [any(cd.add(v, 1)), any(cd.add(v, 2)), any(cd.zeros([2]))]
const one = u.fn!({ x: cd.f32(2) }, ({ x }: never) => cd.sum(x)) as F
const two = u.fn!({ w: cd.f64(2), x: cd.f64(2) }, ({ w, x }: never) => cd.sum(cd.mul(w, x))) as F
const f = (x: X): unknown => u.sum!(x)

// biome-ignore format: a table, one row a line
export const mistakes: readonly Mistake[] = [
  // a list, or none
  row(() => u.concat!(x, y), 'concat takes a list: concat([a, b])'),
  row(() => u.concat!(x), 'concat takes a list: concat([a, b])'),
  row(() => u.stack!(x, y), 'stack takes a list: stack([a, b])'),
  row(() => u.stack!(x), 'stack takes a list: stack([a, b])'),
  row(() => u.concat!([x, y], 1), '1 where options may stand', 'write { axis: 1 }'),
  row(() => u.sum!([x, y]), 'found an expression (f64 [2])', 'stack([a, b]) makes one array'),
  row(() => u.matmul!([v, v], m), 'found a tensor (f64 [2])', 'stack([a, b])'),
  row(() => u.tensor!([x, y]), 'stack([a, b])'),
  row(() => u.add!([[1, 2], x], 1), 'stack([a, b])'),
  row(() => u.unstack!([x, y]), 'stack([a, b])'),
  row(() => u.tensor!(x), 'an expression (f64 [2]) is not', 'use it as it is', 'evaluate(x)'),
  row(() => u.max!(x, y), 'an expression (f64 [2]) where options may stand', 'maximum(a, b)'),
  row(() => u.min!(1, 2), '2 where options may stand'),
  row(() => u.min!(v, v), 'minimum(a, b)'),
  row(() => u.einsum!('ij,jk->ik', [m, m]), 'names 2 operands, got 1'),
  // options
  row(() => u.sum!(m, 0), '0 where options may stand', 'write { axis: 0 }', 'options: { axis, keepdims, where, initial }'),
  row(() => [v, v].map(u.sum! as never), 'write { axis: 0 }', 'xs.map((x) => sum(x))'),
  row(() => u.sum!(m, { axis: '0' }), "axis '0' is not a whole number", 'axes go from -2 to 1'),
  row(() => u.sum!(m, { axis: 2 }), 'axis 2 is out of range for rank 2'),
  row(() => u.sum!(m, { dim: 1 }), 'there is no option dim', 'perhaps you meant axis'),
  row(() => u.sum!(m, { axes: [0] }), 'perhaps you meant axis'),
  row(() => u.sum!(m, { keepDims: true }), 'perhaps you meant keepdims'),
  // What other libraries take by its place, or have another name for.
  row(() => u.sum!(m, [0, 1]), 'write { axis: [0, 1] }'),
  row(() => u.sum!(m, { dtype: 'f32' }), 'there is no option dtype', "cast(x, 'f32')"),
  row(() => u.max!(m, { where: m }), 'there is no max', '{ initial }'),
  row(() => u.norm!(v, 1), 'write { ord: 1 }'),
  row(() => u.norm!(m, { ord: 'fro' }), 'matrixNorm'),
  row(() => u.round!(v, 2), 'write { decimals: 2 }'),
  row(() => u.diff!(v, 1), 'write { n: 1 }'),
  row(() => u.trace!(m, 1), 'write { offset: 1 }'),
  row(() => u.sort!(m, true), 'write { descending: true }'),
  row(() => u.argsort!(m, { kind: 'stable' }), 'there is no option kind', 'always stable'),
  row(() => u.searchsorted!(v, 2, 'right'), "write { side: 'right' }"),
  row(() => u.convolve!(v, v, 'same'), "write { mode: 'same' }"),
  row(() => u.quantile!(v, 0.5, { interpolation: 'linear' }), 'perhaps you meant method'),
  row(() => u.trapezoid!(v, cd.tensor([0, 1])), 'write { x }'),
  row(() => u.average!(v, cd.tensor([0, 1])), 'write { weights }'),
  row(() => u.qr!(m, 'complete'), 'write { complete: true }'),
  row(() => u.svd!(m, { compute_uv: false }), 'svdvals'),
  row(() => u.pinv!(m, 1e-3), 'write { rcond: 0.001 }'),
  row(() => u.isclose!(v, v, 1e-3), 'write { rtol: 0.001 }'),
  row(() => u.gather!(m, 1, [[0]]), "PyTorch's gather", 'takeAlongAxis(x, indices, { axis })'),
  row(() => u.vstack!(cd.tensor([1]), cd.tensor([2])), 'vstack takes a list: vstack([a, b])'),
  row(() => u.meshgrid!(cd.tensor([1]), cd.tensor([2])), 'meshgrid takes a list'),
  row(() => u.einsum!('ij,jk->ik', [m, m]), 'one after the other'),
  row(() => u.pad!(v, 1, { mode: 'replicate' }), "'replicate' is 'edge' here"),
  row(() => u.pad!(v, 1, { mode: 'circular' }), "'circular' is 'wrap' here"),
  row(() => u.pad!(v, [[-1, 0]]), 'non-negative', 'slice'),
  row(() => u.clamp!(v, { min: 0, max: 1 }), 'write clamp(x, low, high)', 'null is no bound'),
  // What would be left out in silence.
  row(() => u.maximum!(v, 2, 3), '3 stands behind its two arguments', 'maximum(maximum(a, b), c)'),
  row(() => u.add!(v, v, { out: v }), 'an object stands behind its two arguments', 'it takes no options'),
  row(() => u.sqrt!(v, { out: v }), 'an object stands behind its argument', 'nothing is written in place', 'write sqrt(x)'),
  row(() => u.eigh!(m, { UPLO: 'L' }), 'the mean of x and its transpose is taken', 'write eigh(x): it takes no options'),
  row(() => u.inv!(m, { check: false }), 'write inv(x): it takes no options'),
  row(() => u.softsign!(v, {}), 'write softsign(x): it takes no options'),
  row(() => u.tile!(v, 2, 3), '3 stands behind reps', 'write a list: tile(x, [2, 3])'),
  row(() => u.softmax!(m, -1), 'write { axis: -1 }'),
  row(() => u.std!(v, { unbiased: true }), 'perhaps you meant ddof'),
  row(() => u.variance!(v, { correction: 1 }), 'perhaps you meant ddof'),
  row(() => u.norm!(v, { p: 1 }), 'perhaps you meant ord'),
  row(() => u.sort!(v, { reverse: true }), 'perhaps you meant descending'),
  row(() => u.layerNorm!(m, { gamma: v }), 'perhaps you meant scale'),
  row(() => u.layerNorm!(m, v, v), 'a tensor (f64 [2]) where options may stand', 'options: { eps, scale, bias, axis }'),
  row(() => u.leakyRelu!(v, { negative_slope: 0.1 }), 'perhaps you meant slope'),
  row(() => u.maxPool!(u.zeros!([1, 1, 4, 4]), 2), 'write { window: 2 }'),
  row(() => u.maxPool!(u.zeros!([1, 1, 4, 4]), { kernelSize: 2 }), 'perhaps you meant window'),
  row(() => u.maxPool!(u.zeros!([1, 1, 4, 4])), 'window undefined', 'write window: 2, or [2, 2]'),
  row(() => u.conv!(u.zeros!([1, 1, 4, 4]), u.zeros!([1, 1, 3, 3]), { strides: 2 }), 'perhaps you meant stride'),
  row(() => u.grad!(f, { argnums: 0 }), 'perhaps you meant wrt'),
  row(() => u.grad!(f, { has_aux: true }), 'perhaps you meant aux'),
  row(() => u.vmap!(f, { in_axes: 0 }), 'perhaps you meant inAxes'),
  row(() => u.dropout!(m, 0.5), 'rate undefined', 'dropout(x, mask, rate)'),
  // shapes and dtypes
  row(() => u.zeros!(2, 3), 'not 2', 'sizes come in a list: [2]'),
  row(() => u.reshape!(m, 4, 1), 'sizes come in a list: [4]'),
  row(() => u.reshape!(m, '4'), 'a shape is a list of whole numbers: [2, 3]'),
  row(() => u.reshape!(m, [3]), 'has 4 elements'),
  row(() => u.transpose!(m, 0, 1), 'transpose(x, [1, 0])'),
  row(() => u.tensor!([1, 2], { dtype: 'f32' }), "tensor(data, 'f32')"),
  row(() => u.cast!(x, 'float32'), "'float32' is not a dtype", "write 'f32'"),
  row(() => u.cast!(x, cd.f32), "a dtype is text: 'f32'"),
  row(() => u.arange!(0, 10, 2, 3), 'arange(start, stop, step, dtype)'),
  row(() => u.eye!(2, 3, 1, 4), '4 is not a dtype', 'eye(n, m, k, dtype)'),
  row(() => u.f64!([2, 3]), 'give sizes one by one: f64(2, 3)'),
  // what is no array
  row(() => u.add!(x), 'undefined is not', 'an argument is missing'),
  row(() => u.mul!(x, '2'), "'2' is not", 'write 2'),
  row(() => u.add!(x, Math.sin), 'a function is not', 'call it'),
  row(() => u.sum!({ a: x }), 'treeMap'),
  row(() => u.matmul!(m, [1, 2, 3]), 'inner axes differ', '2 is not 3'),
  row(() => u.linear!(m, m, [1, 2, 3]), 'linear: shapes [2, 2] and [3] do not broadcast'),
  row(() => u.embedding!(i, m), 'embedding: indices are i32, got f64', 'cast them to i32'),
  row(() => u.crossEntropy!(m, v), 'crossEntropy: indices are i32, got f64'),
  // expressions as values
  row(() => zeros.data, 'no numbers before it is evaluated', 'evaluate(x)'),
  row(() => any(zeros.toArray)(), 'evaluate(x).toArray()'),
  row(() => any(zeros.item)(), 'evaluate(x)'),
  row(() => [...zeros], 'not iterable', 'at(x, 0)', 'unstack(x)', 'evaluate(x)'),
  row(() => Number(zeros), 'it would see NaN', 'evaluate(x)'),
  row(() => zeros * 2, 'mul(x, 2)', 'evaluate(x)'),
  row(() => JSON.stringify({ zeros }), 'which is no data of JSON', 'evaluate(x)'),
  row(() => zeros[0], 'x[0]', 'at(x, 0)', 'unstack(x)'),
  row(() => zeros[1], 'x[1]', 'at(x, 0)', 'unstack(x)'),
  row(() => { (zeros as unknown as number[])[0] = 1 }, 'x[0] = ...', 'arrays do not change', 'set(x, 0, v)', 'addAt'),
  row(() => zeros.length, 'x.length', 'x.shape'),
  row(() => zeros.map((a) => a), 'x.map', 'vmap(f)(x)', 'unstack(x)'),
  row(() => zeros.sum, 'operations are functions: sum(x, ...)'),
  row(() => zeros.T, 'transpose(x)'),
  row(() => v[0 as never], 'x.data[0]', 'at(x, 0)'),
  row(() => v['length' as never], 'x.shape'),
  row(() => v['sum' as never], 'sum(x, ...)'),
  row(() => traced((x) => any(x.toArray)()), 'no numbers while a function is traced', 'result of the outermost call'),
  row(() => traced((x) => u.sum!(cd.evaluate(x as never))), 'evaluate', 'inside a function that is traced use it as it is'),
  row(() => traced((x) => x[0]), 'x[0]', 'at(x, 0)'),
  row(() => traced((x) => Math.sin(x)), 'a function of Math', 'sin(x)'),
  row(() => traced((x) => (x > 0 ? x : 0)), 'where(c, a, b)'),
  row(() => traced((x) => x.backward), 'grad((x) => ...)(x)'),
  // functions and their gradients
  row(() => traced((x) => u.sum!(x), i), 'f returned i32 []', "cast(x, 'f64')"),
  row(() => traced((x) => u.sum!(u.gt!(x, 0))), 'f returned i32 []', "cast(x, 'f64')"),
  row(() => traced((x) => u.gt!(x, 0), 3), 'f returned bool []', 'where(c, a, b)'),
  row(() => (u.grad!((x: X) => x) as F)(v), 'f returned f64 [2]', 'jacrev(f), or sum the result'),
  row(() => traced((x) => [u.sum!(x), 1]), 'f returned [*, *]', '{ aux: true }'),
  row(() => (u.grad!(() => undefined) as F)(v), 'the result of f', 'return y'),
  row(() => (u.grad!(async (x: X) => x) as F)(v), 'a Promise', 'await outside'),
  row(() => (u.hessian!((x: X) => x) as F)(v), 'NotScalar: hessian needs a scalar'),
  row(() => (u.hvp!((x: X) => x) as F)(v, v), 'NotScalar: hvp needs a scalar'),
  row(() => u.grad!(cd.mul(v, v)), 'an expression (f64 [2]) is not a function', 'grad(f)(x)'),
  row(() => u.grad!(f, v), 'a tensor (f64 [2]) where options may stand', 'grad(f)(x)'),
  row(() => u.vjp!(f, v), 'vjp(f)(x, yBar)'),
  row(() => (u.vjp!(f) as F)(v), 'takes 2 arguments, got 1', 'vjp(f)(x, yBar)'),
  row(() => (u.jvp!(f) as F)(v), 'takes 2 arguments, got 1', 'jvp(f)(x, dx)'),
  row(() => (u.grad!(f, { wrt: 'params' }) as F)(v), 'names nothing', 'leave wrt out'),
  row(() => (u.grad!((a: X, b: X) => u.sum!(u.mul!(a, b)), { wrt: 2 }) as F)(v, v), 'use one of 0, 1'),
  row(() => (u.valueAndGrad!(f, { aux: true }) as F)(v), 'returns a pair', 'return [loss, aux]'),
  row(() => (u.jacrev!(f) as F)(i), 'only i32 leaves', 'cast first'),
  // fn
  row(() => one([1, 2]), 'takes one record { x }', 'f({ x: ... })'),
  row(() => one(v), 'takes one record { x }, got a tensor'),
  row(() => one(x), 'takes one record { x }, got an expression'),
  row(() => two([1, 2], [3, 4]), 'takes one record { w, x }, got 2 arguments', 'f({ w: ..., x: ... })'),
  row(() => two({ w: v }), 'x is missing', '{ w: *, x: * }'),
  row(() => one({ x: v }), 'got f64, declared f32', "tensor(data, shape, 'f32')"),
  row(() => one({ x }), 'got f64, declared f32', "cast(x, 'f32')"),
  row(() => one({ x: new Float64Array(2) }), 'got a Float64Array, declared f32', "tensor(data, shape, 'f32')", 'Float32Array.from(x)'),
  row(() => one({ x: [1, 2, 3] }), 'got [3], declared [2]', 'pass f32 [2]'),
  row(() => u.fn!(f), 'a function where the declaration', 'fn({ x: f64(3) }, ({ x }) => ...)'),
  row(() => u.fn!({ x: cd.f64(2) }), 'it has no body', 'fn({ x: f64(3) }, ({ x }) => ...)'),
  row(() => u.fn!({ x: 'f64' }, f), 'the declaration of fn: x', "f32('batch', 3)"),
  row(() => u.fn!({ x: cd.f64 }, f), 'the declaration of fn: x', 'f64() a number'),
  row(() => u.fn!({ x: [2, 3] }, f), 'is not a dtype with a shape: 2', 'f64(2, 3)'),
  // vmap
  row(() => (u.vmap!(two) as F)({ w: [1, 2], x: [[1, 2]] }), 'w: got [2], declared [vmap, 2]', 'inAxes: { w: null, x: 0 }'),
  row(() => (u.vmap!((a: X, b: X) => u.mul!(a, b)) as F)([1, 2, 3], m), 'argument 0 has 3 examples', 'argument 1 2 examples (f64 [2, 2], axis 0)', 'inAxes: [0, null]'),
  row(() => u.vmap!(two, { inAxes: { w: null, y: 0 } }), 'inAxes is a record of w, y; the argument there is a record of w, x', 'a beginning of the tree'),
  row(() => u.vmap!(two, { inAxes: { w: null, x: 2 } }), 'inAxes is 2 at x, which is declared f64 [2]', 'axes -2 to 1'),
  row(() => u.vmap!(two, { inAxes: { w: null, x: 0.5 } }), 'inAxes at x is 0.5', 'give the number of an axis'),
  row(() => u.vmap!(f, { inAxes: null }), 'inAxes maps no argument', 'give the axis of at least one'),
  row(() => (u.vmap!(f, { inAxes: 2 }) as F)(m), 'the argument is f64 [2, 2]: it has no axis 2 to map'),
  row(() => (u.vmap!(f, { outAxes: 1 }) as F)(m), 'outAxes is 1 at the result, [] for one example', 'axes -1 to 0'),
  row(() => (u.vmap!(f, { outAxes: null }) as F)(m), 'outAxes is null at the result, which differs', 'give it an axis'),
  row(() => u.vmap!(f, { out_axes: 0 }), 'perhaps you meant outAxes'),
  // running
  row(() => u.compile!(cd.sum(v)), 'is not a function', 'compile(f)(x)'),
  row(() => u.compile!(f, cd.cpu), 'is not a backend', 'call it, as cpu()'),
  row(() => u.compile!(f, 'webgpu'), "'webgpu' is not a backend", 'cpu(), webgpu() or reference()'),
  row(() => (u.compile!(f) as F)(x), 'an expression where a concrete array is wanted', 'call the function itself'),
  row(() => (u.compile!((x: X) => x) as F & { into: (x: unknown) => F }).into(u.zeros!([2]))([1, 2]), 'is not a tensor', 'tensor(0, [2])'),
  row(() => u.evaluate!(f), 'a function is not a number', 'call it'),
  row(() => u.show!(f), 'not declared', 'show(toProgram(f)(...examples))'),
  row(() => u.show!(u.fn!({ x: cd.f64('n') }, ({ x }: never) => x)), "the size of 'n' is not known", '{ n: n }'),
]
