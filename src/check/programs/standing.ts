/** Which findings stand: those that neither rounding nor a kink nearby explains. */
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, input, linearize } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import { pullback, pushforward } from '../../modes/transform.js'
import { checkDifferences } from '../derivative.js'
import { random } from '../draw.js'
import { Collector, type Finding } from '../findings.js'
import { checkSecondOrder } from '../second-order.js'
import { bind, type Derived, dense, derive, drawLike, liftedSubject, type Subject } from '../subject.js'
import type { Setting } from './options.js'
import type { RandomProgram } from './program.js'
import { isRegular } from './regular.js'
import { roundingOf } from './rounding.js'

/** A finding of differences, of which kinks make nonsense; of another arithmetic; or of the same numbers computed in another way. */
type Kind = 'differences' | 'arithmetic' | 'algebra'
const kindOf = ({ check, path }: Finding): Kind => {
  if (check === 'backend' || check === 'f32') return 'arithmetic'
  // A rule that follows from a composition computes its value by that, and rounds as that does.
  if (check === 'value' && /^[fr]rule result/.test(path)) return 'arithmetic'
  if (check === 'jacobian' && path.includes('reverse and forward')) return 'algebra'
  if (check === 'kink') return path.includes(' at (') ? 'algebra' : 'differences'
  if (check === 'second order' && /differences|symmetric/.test(path)) return 'differences'
  return check === 'jvp' || check === 'vjp' || check === 'jacobian' || check === 'inconclusive' ? 'differences' : 'algebra'
}

/** Rounding of values, first and, where they were compared, second derivatives. */
const noiseOf = (d: Derived, order: 1 | 2, seed: number): number => {
  const next = random(seed + 3)
  const weights = d.wrt.map((x) => input(x.aval))
  const xBars = dense(d.xBars, d.wrt)
  const first = [...d.ys, ...dense(d.dys, d.outs), ...xBars]
  const again =
    order === 1 || d.wrt.length === 0
      ? []
      : [
          ...dense(pushforward(d.registry, xBars, new Map(d.wrt.map((x, j) => [x, d.tangents[j]!]))).tangents, d.wrt),
          ...dense(pullback(d.registry, xBars, weights.map(asExpr), d.wrt).cotangents, d.wrt),
        ]
  const symbols = [...d.tangents, ...d.seeds, ...weights]
  return roundingOf([...first, ...again], new Map([...d.env, ...bind(symbols, drawLike(symbols, next))]))
}

/** Differences at smaller steps find the same. */
const confirmed = (d: Derived, setting: Setting, seed: number): boolean => {
  const out = new Collector('program', seed, { jacobian: false })
  const closer = { ...d, scale: d.scale / 8 }
  checkDifferences(closer, 2, random(seed + 5), out)
  if (setting.order === 2) checkSecondOrder(closer, 1, random(seed + 7), out)
  return out.findings.some((f) => f.check !== 'inconclusive')
}

/** Below this share of what is compared, a difference may be rounding: then it is looked at. */
const SMALL = 1e-6

export const standing = (
  findings: readonly Finding[],
  p: RandomProgram,
  values: ReadonlyMap<number, NDArray>,
  s: Subject,
  setting: Setting,
  seed: number,
): readonly Finding[] => {
  const float32 = linearize(s.ys).nodes.some((n) => n.dtype === 'f32')
  const lazily = <A>(make: () => A): (() => A) => {
    let made: { readonly value: A } | undefined
    return () => {
      made ??= { value: make() }
      return made.value
    }
  }
  const differentiable = s.ys.some((y) => isFloat(y.dtype)) && s.active.length > 0
  const own = lazily(() => derive(s))
  const exact = lazily(() => (float32 ? derive(liftedSubject(s)) : own()))
  const noise = {
    arithmetic: lazily(() => noiseOf(own(), 1, seed)),
    algebra: lazily(() => noiseOf(exact(), setting.order, seed)),
  }
  const differences = lazily(
    () =>
      differentiable &&
      isRegular(p, values, random(seed + 9)) &&
      isRegular(p, values, random(seed + 11)) &&
      confirmed(exact(), setting, seed),
  )
  return findings.filter((f) => {
    const kind = kindOf(f)
    if (f.check === 'inconclusive') return false
    if (kind === 'differences') return differences()
    const [want, got] = [Number(f.expected), Number(f.actual)]
    if ((f.tolerance === 0 && kind === 'algebra') || Number.isNaN(want) !== Number.isNaN(got) || Number.isNaN(got)) return true
    const by = Math.abs(got - want)
    if (kind === 'algebra' && by > SMALL * Math.max(1, Math.abs(want))) return true
    return by > 16 * noise[kind]()
  })
}
