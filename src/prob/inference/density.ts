/** The log density of a tree as a function of vectors: for some chains at once, compiled once. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, raise } from '../../core/errors/explain.js'
import { type AnyExpr, cast, compile, f64, fn, isExpr, isTensor, type Tensor, tensor, valueAndGrad, vmap } from '../../index.js'
import { pointOf } from '../../minimize/objective.js'
import type { Live } from './hamiltonian.js'

/** What is sampled: a log density of vectors, and the tree that a vector stands for. */
export interface Target {
  readonly size: number
  /** The log density of a vector, inside a program. */
  readonly logDensity: (x: AnyExpr) => AnyExpr
  /** The tree of a vector, inside a program: in the space that the user knows. */
  readonly tree: (x: AnyExpr) => unknown
  /** Where chains begin, before the jitter. */
  readonly start: Float64Array
  /** The log density by the names of what it is a sum of, inside a program. */
  readonly parts?: (x: AnyExpr) => Readonly<Record<string, AnyExpr>>
}

/** A function of trees as a function of vectors: `start` says what a tree is. */
export const targetOf = (logDensity: (x: unknown) => unknown, start: unknown, op: string): Target => {
  if (start === undefined) badInput(op, 'start is not given.', 'give a tree of floats at which the log density is finite.')
  const point = pointOf(start, op, 'start', 'sample floats; sums over discrete values have to be part of the log density.')
  return {
    size: point.start.length,
    start: point.start,
    tree: point.inside,
    logDensity: (x) => scalarOf(logDensity(point.inside(x)), op),
  }
}
/** The value of a log density: a scalar float, in f64. */
export const scalarOf = (y: unknown, op: string): AnyExpr => {
  if (typeof y === 'number') return tensor(y) as AnyExpr
  if (!isExpr(y) && !isTensor(y)) return badInput(op, `the log density is ${shown(y)}.`, 'return a scalar.')
  const e = y as AnyExpr
  return e.shape.length > 0 || (e.dtype !== 'f64' && e.dtype !== 'f32')
    ? raise({ _tag: 'NotScalar', op, shape: e.shape, dtype: e.dtype })
    : (cast(e, 'f64') as AnyExpr)
}

/** Gradients for some chains by one call. */
export interface Gradients {
  readonly chains: readonly Live[]
  /** The values and gradients at what the chains hold. */
  readonly run: () => void
  /** Operations of one gradient, as the plan counts them. */
  readonly operations: number
  readonly dispose: () => void
}
interface Compiled {
  readonly into: (outputs: unknown) => (args: unknown) => unknown
  readonly explain: () => { readonly flops: number }
  readonly dispose: () => void
}
/** One compiled call of the value and gradient, for a single chain or mapped over several. */
export const gradientsFor = (target: Target, chains: number): Gradients => {
  const n = target.size
  const shape = chains === 1 ? [n] : [chains, n]
  const q = tensor(new Float64Array(chains * n), shape as never)
  const result = {
    value: tensor(new Float64Array(chains), (chains === 1 ? [] : [chains]) as never),
    grad: tensor(new Float64Array(chains * n), shape as never),
  }
  const one = valueAndGrad(target.logDensity as never) as unknown as (x: AnyExpr) => unknown
  const all = chains === 1 ? one : (vmap(one as never) as unknown as (x: AnyExpr) => unknown)
  const compiled = compile(fn(f64(...(shape as [number])), (x) => all(x as AnyExpr) as never)) as unknown as Compiled
  const call = compiled.into(result)
  const [places, slopes, values] = [q.data, result.grad.data, result.value.data] as unknown as readonly Float64Array[]
  return {
    chains: Array.from({ length: chains }, (_, c) => ({
      q: places!.subarray(c * n, (c + 1) * n),
      g: slopes!.subarray(c * n, (c + 1) * n),
      value: values!.subarray(c, c + 1),
    })),
    run: () => {
      call(q)
    },
    operations: compiled.explain().flops / chains,
    dispose: () => compiled.dispose(),
  }
}

/** Which parts of a log density are not finite at a vector, in words: empty if there are no parts. */
export const badParts = ({ parts, size }: Target, x: Float64Array): string => {
  if (parts === undefined) return ''
  const compiled = compile(fn({ x: f64(size) }, ({ x }) => parts(x as AnyExpr) as never)) as unknown as (
    args: unknown,
  ) => Record<string, Tensor>
  const bad = Object.entries(compiled({ x: tensor(x.slice()) })).filter(([, value]) => !Number.isFinite(value.item()))
  return bad.map(([name, value]) => `site '${name}' has ${value.item()}`).join(', ')
}
