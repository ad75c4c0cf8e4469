/** Checks the gradient of a user's function: three modes against each other and against finite differences. */
import { evaluateNodes } from '../backends/reference/index.js'
import { aval, isFloat } from '../core/aval.js'
import { metaOf, readArgs, traceMeta } from '../core/callable.js'
import { raise } from '../core/explain.js'
import { asExpr, input, isExpr, type Node } from '../core/expr.js'
import type { NDArray } from '../core/ndarray.js'
import type { Registry } from '../core/registry.js'
import { leafPaths } from '../core/tree.js'
import { instantiate, ones } from '../modes/common.js'
import { regionized } from '../modes/mixed.js'
import { pullback, pushforward } from '../modes/transform.js'
import { along, dot, drawArray, random } from './draw.js'
import { type Checked, Collector } from './findings.js'
import { derivative } from './finite-differences.js'

export interface GradientOptions {
  readonly seed?: number
  /** Random directions (default 3). */
  readonly directions?: number
  /** Relative to the size of the derivative (default 1e-7). Differences are taken in f64, whatever the dtype of the function. */
  readonly tolerance?: number
  /** The steps of the differences are relative to this (default 1): smaller for functions with many kinks, such as networks of relus. */
  readonly scale?: number
}

/** The function in f64: the same expression over promoted inputs, so that f32 rounding does not hide an error. */
const promoted = (args: readonly NDArray[]): NDArray[] =>
  args.map((a) => (a.dtype === 'f32' ? { ...a, dtype: 'f64', data: Float64Array.from(a.data) } : a))

/**
 * Checks the derivative of f at the arguments: jvp (forward) and vjp (reverse and mixed) along random directions against 5-point
 * differences, and the modes against each other. f32 functions without a declaration are checked in f64.
 *
 * @example checkGradWith(coreRegistry)((x) => sum(mul(x, x)), [[1, 2, 3]])   // Right({ of: 'f', comparisons: 9, seed: 1 })
 */
export const checkGradWith =
  (registry: Registry) =>
  (f: unknown, args: readonly unknown[], options: GradientOptions = {}): Checked => {
    const meta = metaOf(f)
    const seed = options.seed ?? 1
    const out = new Collector(meta.name, seed)
    const { leaves, def } = readArgs(meta, args)
    const given = leaves.map(
      (l): NDArray =>
        isExpr(l)
          ? raise({
              _tag: 'BadInput',
              where: 'checkGrad',
              reason: 'an expression where a concrete array is wanted.',
              fix: 'pass numbers, arrays or tensors.',
            })
          : (l as NDArray),
    )
    const values = meta.declared === undefined ? promoted(given) : given
    const program = traceMeta(
      meta,
      def,
      values.map((v) => aval(v.shape, v.dtype)),
    )
    const outputs = program.outputs.filter((o) => isFloat(o.dtype))
    if (outputs.length === 0) raise({ _tag: 'NotDifferentiable', op: 'checkGrad', reason: 'the function has no float result' })
    const inputs = program.inputs
    const active = inputs.map((x, i) => ({ x, i })).filter(({ x }) => isFloat(x.dtype))
    const f32 = [...inputs, ...outputs].some((n) => n.dtype === 'f32')
    const tolerance = options.tolerance ?? (f32 ? 1e-2 : 1e-7)
    const next = random(seed)
    const paths = leafPaths(def)
    const env = (v: readonly NDArray[]): Map<Node, NDArray> => new Map(inputs.map((x, i) => [x, v[i]!]))
    for (let k = 0; k < (options.directions ?? 3); k++) {
      // One leaf at a time for the first directions, then all together: a finding names its argument.
      const only = k < active.length ? [active[k]!] : active
      const path = only.length === 1 ? (paths[only[0]!.i] ?? '') : 'all arguments'
      const dx = new Map(only.map(({ x, i }) => [i, drawArray(aval(x.shape, x.dtype), next, [-1, 1])]))
      const yBar = outputs.map((o) => (o.shape.length === 0 && outputs.length === 1 ? undefined : drawArray(o.aval, next, [-1, 1])))
      const seeds = outputs.map((o, j) => (yBar[j] === undefined ? ones(o.aval) : input(o.aval)))
      const tangents = new Map(only.map(({ x }) => [x, input(x.aval)]))
      const full = new Map([
        ...env(values),
        ...only.map(({ x, i }) => [tangents.get(x)!, dx.get(i)!] as const),
        ...outputs.flatMap((_, j) => (yBar[j] === undefined ? [] : [[seeds[j]!, yBar[j]!] as const])),
      ])
      const weigh = (ys: readonly NDArray[]): number =>
        ys.reduce((s, y, j) => s + (yBar[j] === undefined ? y.data[0]! : dot(y, yBar[j]!)), 0)
      const push = pushforward(registry, outputs, tangents)
      const forward = weigh(
        evaluateNodes(
          push.tangents.map((t, j) => instantiate(t, outputs[j]!.aval)),
          full,
        ),
      )
      const reverseOf = (roots: readonly Node[]): number => {
        const wrt = only.map(({ x }) => x)
        const r = pullback(registry, roots, seeds.map(asExpr), wrt)
        return evaluateNodes(
          r.cotangents.map((c, j) => instantiate(c, wrt[j]!.aval)),
          full,
        ).reduce((s, g, j) => s + dot(g, dx.get(only[j]!.i)!), 0)
      }
      const reverse = reverseOf(outputs)
      const mixed = reverseOf(
        regionized(
          outputs,
          only.map(({ x }) => x),
        ),
      )
      const moved = (t: number): number =>
        weigh(evaluateNodes(outputs, env(values.map((v, i) => (dx.has(i) ? along(v, dx.get(i)!, t) : v)))))
      const difference = derivative(moved, options.scale)
      const size = Math.max(1, Math.abs(difference.value))
      const allowed = Math.max(tolerance, (4 * difference.error) / size)
      out.near('jvp', path, [forward / size], [difference.value / size], allowed)
      out.near('vjp', path, [reverse / size], [difference.value / size], allowed)
      out.near('modes', `${path}, mixed and reverse`, [mixed / size], [reverse / size], f32 ? 1e-5 : 1e-11)
      out.near('adjoint', `${path}, forward and reverse`, [forward / size], [reverse / size], f32 ? 1e-4 : 1e-11)
    }
    return out.result()
  }
