/** Declared functions, arguments for them, and what ONNX Runtime and the reader make of their files. */
import { metaOf } from '../../../src/core/functions/function.js'
import type { Spec } from '../../../src/core/graph/spec.js'
import { flatten, type TreeDef, unflatten } from '../../../src/core/graph/tree.js'
import { add, compile, cpu, explain, type Fn, fn, square, sum, type Tensor, tensor, valueAndGrad } from '../../../src/index.js'
import { fromONNX, type OnnxFile } from '../../../src/onnx/index.js'
import { difference } from '../../backends/sample-cases.js'
import { random } from '../../programs/data/random.js'
import { runFile } from './runtime.js'

// biome-ignore lint/suspicious/noExplicitAny: functions of any declaration
export type AnyDeclared = Fn<any, any>
type Sizes = Readonly<Record<string, number>>

/** What is declared: specs by leaf, and the tree of the one argument. */
export const declarationOf = (
  f: AnyDeclared,
): { readonly specs: readonly Spec[]; readonly def: TreeDef; readonly axes: readonly string[] } => {
  const { def, specs } = metaOf(f).declared!
  const axes = [...new Set(specs.flatMap((s) => s.shape.filter((d): d is string => typeof d === 'string')))]
  return { specs, def: (def as Extract<TreeDef, { _tag: 'Tuple' }>).items[0]!, axes }
}
/** Drawn arguments, in [low, low + 0.8); square matrices are far from singular. */
export const argumentsOf = (
  f: AnyDeclared,
  sizes: Sizes,
  low = -0.3,
  seed = 1,
): { readonly leaves: readonly Tensor[]; readonly tree: unknown } => {
  const { uniform } = random(seed)
  const { specs, def } = declarationOf(f)
  const leaves = specs.map(({ shape, dtype }) => {
    const own = shape.map((d) => (typeof d === 'number' ? d : sizes[d]!))
    const n = own.reduce((a, b) => a * b, 1)
    const last = own[own.length - 1] ?? 0
    const isSquare = own.length >= 2 && own[own.length - 2] === last
    const at = (i: number): number =>
      dtype === 'i32' || dtype === 'bool'
        ? Math.floor(2 * uniform())
        : low + 0.8 * uniform() + (isSquare && Math.floor(i / last) % last === i % last ? 2 : 0)
    return tensor(Array.from({ length: n }, (_, i) => at(i)) as never, own as never, dtype) as unknown as Tensor
  })
  return { leaves, tree: unflatten(def, leaves) }
}
const leavesOf = (tree: unknown): readonly Tensor[] => flatten(tree, 'leaves').leaves as readonly Tensor[]

/** The sum of the squares of all results of floats, with its gradient by all arguments. */
export const gradientOf = (f: AnyDeclared): AnyDeclared => {
  const { specs, def } = declarationOf(f)
  const total = (x: unknown) => {
    const floats = leavesOf((f as (x: unknown) => unknown)(x)).filter((y) => y.dtype === 'f32' || y.dtype === 'f64')
    return floats.map((y) => sum(square(y as never))).reduce((a, b) => add(a, b) as never)
  }
  return valueAndGrad(fn(unflatten(def, specs) as never, total as never, { name: 'total' }) as never) as unknown as AnyDeclared
}

/** How far results may be from those of codual, relative to the largest. */
export const BOUND = { f32: 1e-5, f64: 1e-12, i32: 1e-12, bool: 1e-12 } as const
/** The largest difference of results from the CPU's, as a part of what is allowed; infinite where a shape differs. */
const worst = (got: readonly { readonly data: ArrayLike<number>; readonly dims: readonly number[] }[], want: readonly Tensor[]): number =>
  Math.max(
    0,
    ...want.map((w, i) =>
      got[i]!.dims.join() === w.shape.join() ? difference(got[i]!.data as never, w.data) / BOUND[w.dtype] : Number.POSITIVE_INFINITY,
    ),
  )
/** Of a file run by ONNX Runtime, at sizes of its named axes. */
export const runtimeError = async (f: AnyDeclared, file: OnnxFile, sizes: Sizes, low?: number): Promise<number> => {
  const { leaves, tree } = argumentsOf(f, sizes, low)
  const want = leavesOf((compile(f as never, cpu()) as (x: unknown) => unknown)(tree))
  return worst(
    await runFile(
      file,
      leaves.map((t) => t.data),
      sizes,
    ),
    want,
  )
}
/** The results of a file that is read back, of inputs by name. */
export const readBack = (file: OnnxFile, inputs: Readonly<Record<string, Tensor>>): readonly Tensor[] => {
  const made = fromONNX(file.bytes)
  if (made._tag === 'Left') throw new Error(explain(made.left))
  const { f, params } = made.right
  const given = Object.entries(inputs).filter(([name]) => !(name in params))
  const own = { ...params, ...Object.fromEntries(Object.entries(inputs).filter(([name]) => name in params)) }
  const out = compile(f, cpu())({ params: own, inputs: Object.fromEntries(given) } as never) as unknown as Readonly<Record<string, Tensor>>
  return Object.keys(file.outputs).map((name) => out[name]!)
}
/** The same of the function's own arguments, against the CPU's results. */
export const backError = (f: AnyDeclared, file: OnnxFile, sizes: Sizes, low?: number): number => {
  const { leaves, tree } = argumentsOf(f, sizes, low)
  const want = leavesOf((compile(f as never, cpu()) as (x: unknown) => unknown)(tree))
  const got = readBack(file, Object.fromEntries(Object.keys(file.inputs).map((name, i) => [name, leaves[i]!])))
  return worst(
    got.map((t) => ({ data: t.data, dims: t.shape })),
    want,
  )
}
