/** A program within checkpoint, and with arguments behind stopGradient, against the program itself. */
import { asExpr, asNode, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { substitute } from '../core/graph/rewrite.js'
import { checkpoint } from '../core/ops/control/flow.js'
import { stopGradient } from '../core/ops/elementwise.js'
import type { AnyExpr } from '../core/types/expr.js'
import { pullback, pushforward } from '../modes/transform.js'
import { roundingOf, SAME, withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { type Derived, dense, drawLike, evaluate } from './subject.js'

type Wrapper = (f: (...xs: readonly AnyExpr[]) => readonly AnyExpr[], keep: string) => (...xs: readonly AnyExpr[]) => readonly AnyExpr[]
/** The outputs as results of a checkpoint; of its inputs the first are arguments, and the others it captures. */
const remembered = (d: Derived, keep: string, count: number): readonly Node[] => {
  const args = d.wrt.slice(0, count)
  const f = (...xs: readonly AnyExpr[]): readonly AnyExpr[] =>
    substitute(d.outs, new Map(args.map((x, i) => [x, asNode(xs[i]!)]))).map(asExpr)
  return (checkpoint as unknown as Wrapper)(f, keep)(...args.map(asExpr)).map(asNode)
}
/** Values, tangents and cotangents of other outputs over the same inputs are those of the program. */
const checkSame = (what: string, ys: readonly Node[], d: Derived, env: ReadonlyMap<Node, NDArray>, out: Collector): void => {
  const same = (paths: (i: number) => string, how: string, got: readonly Node[], want: readonly Node[]): void => {
    const rounding = roundingOf([...got, ...want], env)
    const exact = evaluate(want, env)
    evaluate(got, env).forEach((v, i) => {
      const bound = (): ArrayLike<number> => {
        const [a, b] = [rounding(i)(), rounding(got.length + i)()]
        return Float64Array.from(a, (x, j) => x + b[j]!)
      }
      out.near('wrapped', paths(i), v.data, exact[i]!.data, SAME, bound, { shape: v.shape, how: `${how}, ${what}` })
    })
  }
  const result = (i: number): string => `result ${i}`
  same(result, 'the value', ys, d.outs)
  if (d.dys !== undefined) {
    const { tangents } = pushforward(d.registry, ys, new Map(d.wrt.map((x, i) => [x, d.tangents[i]!])))
    same(result, 'forward mode', dense(tangents, d.outs), dense(d.dys, d.outs))
  }
  if (d.xBars !== undefined) {
    const { cotangents } = pullback(d.registry, ys, d.seeds.map(asExpr), d.wrt)
    same((i) => d.paths[d.active[i]!]!, 'reverse mode', dense(cotangents, d.wrt), dense(d.xBars, d.wrt))
  }
}

/** Within checkpoint nothing changes, whatever is an argument and whatever is captured; what is behind stopGradient stays still, and nothing else does. */
export const checkWrapped = (d: Derived, next: () => number, out: Collector): void => {
  if (d.outs.length === 0 || d.wrt.length === 0 || !out.on('wrapped')) return
  const env = withAll(withAll(d.env, d.seeds, drawLike(d.seeds, next)), d.tangents, drawLike(d.tangents, next))
  const half = Math.ceil(d.wrt.length / 2)
  checkSame('within checkpoint', remembered(d, 'nothing', half), d, env, out)
  checkSame('within checkpoint that keeps contractions', remembered(d, 'contractions', d.wrt.length), d, env, out)
  d.wrt.forEach((x, j) => {
    const stopped = substitute(d.outs, new Map([[x, asNode(stopGradient(asExpr(x)))]]))
    const name = d.paths[d.active[j]!]!
    const how = `with ${name} behind stopGradient`
    const zeros = { shape: x.shape, dtype: x.dtype, data: new Float64Array(x.aval.size) }
    const still = withAll(env, [d.tangents[j]!], [zeros])
    if (d.dys !== undefined) {
      const { tangents } = pushforward(d.registry, stopped, new Map(d.wrt.map((w, i) => [w, d.tangents[i]!])))
      const want = evaluate(dense(d.dys, d.outs), still)
      evaluate(dense(tangents, d.outs), env).forEach((v, i) => {
        out.near('wrapped', `result ${i}`, v.data, want[i]!.data, SAME, roundingOf(dense(d.dys!, d.outs), still)(i), {
          shape: v.shape,
          how: `forward mode, ${how}`,
        })
      })
    }
    if (d.xBars === undefined) return
    const { cotangents } = pullback(d.registry, stopped, d.seeds.map(asExpr), d.wrt)
    const want = evaluate(dense(d.xBars, d.wrt), env)
    evaluate(dense(cotangents, d.wrt), env).forEach((v, i) => {
      const exact = i === j ? zeros.data : want[i]!.data
      const place = { shape: v.shape, how: `reverse mode, ${how}` }
      out.near('wrapped', d.paths[d.active[i]!]!, v.data, exact, SAME, roundingOf(dense(d.xBars!, d.wrt), env)(i), place)
    })
  })
}
