/** Checks one primitive's rule at one sample: values, tangents, cotangents, kinds, accumulation, second order, batches. */
import { evaluateNodes } from '../backends/reference/index.js'
import { type Aval, aval, isFloat, sameAval, showAval } from '../core/aval.js'
import { applyAny, asExpr, asNode, input, type Node } from '../core/expr.js'
import type { NDArray } from '../core/ndarray.js'
import type { AnyPrimitive, Sample } from '../core/primitive.js'
import { type Registry, ruleFor } from '../core/registry.js'
import { type Forced, type Tangent, unthunk, ZeroTangent } from '../core/tangent.js'
import { instantiate, ones } from '../modes/common.js'
import { configOf, pullback, pushforward } from '../modes/transform.js'
import { batch } from '../modes/vmap.js'
import { along, dot, drawArray, random } from './draw.js'
import { type Checked, Collector } from './findings.js'
import { derivative } from './finite-differences.js'

export interface RuleOptions {
  readonly seed?: number
  /** Random directions for each comparison (default 2). */
  readonly directions?: number
  /** Relative to the largest entry (default 1e-8; the primitive's own where it declares one). */
  readonly tolerance?: number
}

const bind = (inputs: readonly Node[], values: readonly NDArray[]): Map<Node, NDArray> => new Map(inputs.map((n, i) => [n, values[i]!]))

/**
 * Everything that must hold of a rule at one sample, on the reference, in f64; dtypes in f32 too.
 *
 * value: the rule's own result is the meaning's. jvp and vjp: against finite differences. adjoint: <yBar, J dx> = <J' yBar, dx> to 1e-12.
 * tangent: NoTangent exactly where there is no tangent space. accumulate: addTo(acc) = acc + c. thunk: a seed is forced at most once.
 * second order: forward over reverse against differences of the gradient. batch: the batch rule is the stack of single results.
 */
export const checkRule = (registry: Registry, prim: AnyPrimitive, sample: Sample, options: RuleOptions = {}): Checked => {
  const seed = options.seed ?? 1
  const next = random(seed)
  const tolerance = options.tolerance ?? prim.tolerance?.relative ?? 1e-8
  const out = new Collector(prim.name, seed)
  // f32 anywhere in the sample: results are rounded to it.
  const rounded = (nodes: readonly Node[]): boolean => nodes.some((n) => n.dtype === 'f32')
  const avals = sample.args.map((a) => aval(a.shape, a.dtype ?? 'f64'))
  const draw = (): NDArray[] =>
    avals.map((a, i) => {
      const { values, domain } = sample.args[i]!
      const drawn = drawArray(a, next, domain)
      values?.forEach((v, k) => {
        drawn.data[k] = v
      })
      return drawn
    })
  const values = draw()
  const inputs = avals.map((a) => input(a))
  const ys = applyAny(prim, inputs, sample.params)
  const env = bind(inputs, values)
  const exact = rounded([...inputs, ...ys]) ? 1e-6 : 1e-12
  const primal = evaluateNodes(ys, env)
  const floats = ys.map((y, i) => ({ y, i })).filter(({ y }) => isFloat(y.dtype))
  const active = inputs.map((x, i) => ({ x, i })).filter(({ x, i }) => isFloat(x.dtype) && prim.args[prim.variadic ? 0 : i] === 'float')

  checkKinds(registry, prim, sample, out)
  // An alias is an identity with a rule of its own: differences of its value say nothing of it.
  if (floats.length === 0 || active.length === 0 || prim.alias === true) return out.result()

  const seeds = ys.map((y) => (isFloat(y.dtype) ? input(y.aval) : undefined))
  const tangents = inputs.map((x) => input(x.aval))
  const push = pushforward(registry, ys, new Map(active.map(({ x, i }) => [x, tangents[i]!])))
  const pull = pullback(
    registry,
    ys,
    seeds.map((s) => (s === undefined ? ZeroTangent : asExpr(s))),
    inputs,
  )
  for (const [values_, name] of [
    [push.values, 'frule'],
    [pull.values, 'rrule'],
  ] as const)
    evaluateNodes(values_, env).forEach((v, i) => {
      out.near('value', `${name} result ${i}`, v.data, primal[i]!.data, 0)
    })
  for (const t of [...push.tangents, ...pull.cotangents])
    if (t._tag === 'NotImplemented') out.note('not implemented', t.rule, 0, 'a derivative', t.reason)
  if (out.findings.length > 0) return out.result()
  const dys = floats.map(({ y, i }) => instantiate(push.tangents[i]!, y.aval))
  const xBars = active.map(({ x, i }) => instantiate(pull.cotangents[i]!, x.aval))

  for (let k = 0; k < (options.directions ?? 2); k++) {
    const dx = values.map(
      (v, i) => drawArray(avals[i]!, next, [-1, 1]) && { ...v, data: drawArray(aval(avals[i]!.shape, 'f64'), next, [-1, 1]).data },
    )
    const yBar = floats.map(({ y }) => drawArray(aval(y.shape, 'f64'), next, [-1, 1]))
    const full = new Map([...env, ...bind(tangents, dx), ...floats.map(({ i }, j) => [seeds[i]!, yBar[j]!] as const)])
    const dyValues = evaluateNodes(dys, full)
    const xBarValues = evaluateNodes(xBars, full)
    const moved = (t: number): NDArray[] =>
      evaluateNodes(
        floats.map(({ y }) => y),
        bind(
          inputs,
          values.map((v, i) => (active.some((a) => a.i === i) ? along(v, dx[i]!, t) : v)),
        ),
      )
    // Differences of <yBar, f>: one number for each direction and side.
    const difference = derivative((t) => moved(t).reduce((s, y, j) => s + dot(y, yBar[j]!), 0), scaleOf(sample))
    const size = Math.max(1, Math.abs(difference.value))
    const allowed = Math.max(tolerance, (4 * difference.error) / size)
    const forward = dyValues.reduce((s, dy, j) => s + dot(dy, yBar[j]!), 0)
    const reverse = xBarValues.reduce((s, x, j) => s + dot(x, dx[active[j]!.i]!), 0)
    out.near('jvp', 'along a random direction', [forward / size], [difference.value / size], allowed)
    out.near('vjp', 'along a random direction', [reverse / size], [difference.value / size], allowed)
    out.near('adjoint', "<yBar, J dx> and <J' yBar, dx>", [reverse / size], [forward / size], exact)
    // Second order: the tangent of the gradient along dx against its own differences.
    const wrt = active.map(({ i }) => inputs[i]!)
    const second = pushforward(registry, xBars, new Map(wrt.map((x, j) => [x, tangents[active[j]!.i]!])))
    const secondValues = evaluateNodes(
      second.tangents.map((t, j) => instantiate(t, xBars[j]!.aval)),
      full,
    )
    const gradientAt = (t: number): number => {
      const at = new Map([
        ...full,
        ...bind(
          inputs,
          values.map((v, i) => (active.some((a) => a.i === i) ? along(v, dx[i]!, t) : v)),
        ),
      ])
      return evaluateNodes(xBars, at).reduce((s, g, j) => s + dot(g, dx[active[j]!.i]!), 0)
    }
    const curvature = derivative(gradientAt, scaleOf(sample))
    const bend = Math.max(1, Math.abs(curvature.value))
    out.near(
      'second order',
      'forward over reverse',
      [secondValues.reduce((s, g, j) => s + dot(g, dx[active[j]!.i]!), 0) / bend],
      [curvature.value / bend],
      Math.max(10 * tolerance, (4 * curvature.error) / bend),
    )
  }
  checkPullback(registry, prim, sample, inputs, ys, env, next, out)
  checkBatch(registry, inputs, ys, draw, out)
  return out.result()
}

/** Differences stay inside narrow domains. */
const scaleOf = (sample: Sample): number =>
  Math.min(1, ...sample.args.map((a) => (a.domain === undefined || a.dtype !== undefined ? 1 : (a.domain[1] - a.domain[0]) / 8)))

/** Dtype, shape and kind of every tangent and cotangent, in both float dtypes. */
const checkKinds = (registry: Registry, prim: AnyPrimitive, sample: Sample, out: Collector): void => {
  for (const float of ['f64', 'f32'] as const) {
    const inputs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? float)))
    let ys: readonly Node[]
    try {
      ys = applyAny(prim, inputs, sample.params)
    } catch (e) {
      if (float === 'f64') throw e
      continue // a sample of fixed dtypes
    }
    const floats = inputs.filter((x) => isFloat(x.dtype))
    const pushed = pushforward(registry, ys, new Map(floats.map((x) => [x, input(x.aval)])))
    const pulled = pullback(
      registry,
      ys,
      ys.map((y) => (isFloat(y.dtype) ? asExpr(input(y.aval)) : ZeroTangent)),
      inputs,
    )
    const one = (t: Forced, like: Aval, path: string): void => {
      if (!isFloat(like.dtype)) out.is('tangent', path, t._tag, 'NoTangent')
      else if (t._tag === 'Expr') {
        if (!sameAval(asNode(t).aval, like))
          out.note(asNode(t).dtype === like.dtype ? 'shape' : 'dtype', path, 0, showAval(like), showAval(asNode(t).aval))
        else out.comparisons++
      } else if (t._tag === 'NoTangent') out.note('tangent', path, 0, 'ZeroTangent or a value', 'NoTangent')
    }
    pushed.tangents.forEach((t, i) => {
      one(t, ys[i]!.aval, `dy ${i} (${float})`)
    })
    pulled.cotangents.forEach((t, i) => {
      one(t, inputs[i]!.aval, `xBar ${i} (${float})`)
    })
  }
}

const scaledBy = (c: number, a: NDArray): NDArray => ({ ...a, data: Float64Array.from(a.data, (v) => c * v) })

/** The pullback itself: seeds in every form, linear, repeatable, forced once; addTo adds. */
const checkPullback = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  inputs: readonly Node[],
  ys: readonly Node[],
  env: ReadonlyMap<Node, NDArray>,
  next: () => number,
  out: Collector,
): void => {
  const rrule = ruleFor(registry, prim, 'rrule', 'the checker')
  const mask = inputs.map((x) => isFloat(x.dtype))
  const exact = [...inputs, ...ys].some((n) => n.dtype === 'f32') ? 1e-6 : 1e-12
  const made = rrule(inputs.map(asExpr), sample.params as never, {
    y: asExpr(ys[0]!),
    ys: ys.map(asExpr),
    active: mask,
    config: configOf(registry),
  })
  const yBars = ys.map((y) => (isFloat(y.dtype) ? input(y.aval) : undefined))
  const numbers = new Map([
    ...env,
    ...yBars.flatMap((s) => (s === undefined ? [] : [[s, drawArray(aval(s.shape, 'f64'), next, [-1, 1])] as const])),
  ])
  const seedsOf = (f: (s: Node) => Forced): Forced[] => yBars.map((s) => (s === undefined ? ZeroTangent : f(s)))
  const valuesOf = (ts: readonly Tangent[]): (ArrayLike<number> | undefined)[] =>
    ts.map((t, i) => {
      const f = unthunk(t)
      return f._tag === 'Expr' && mask[i] ? evaluateNodes([asNode(f)], numbers)[0]!.data : undefined
    })
  const first = made.pullback(seedsOf(asExpr), mask)
  const base = valuesOf(first)
  valuesOf(made.pullback(seedsOf(asExpr), mask)).forEach((v, i) => {
    if (v !== undefined && base[i] !== undefined) out.near('linear', `pullback called again, argument ${i}`, v, base[i]!, 0)
  })
  // Linear in the seed: P(-3 yBar) = -3 P(yBar).
  const scaled = new Map([...numbers, ...yBars.flatMap((s) => (s === undefined ? [] : [[s, scaledBy(-3, numbers.get(s)!)] as const]))])
  first.forEach((t, i) => {
    const f = unthunk(t)
    if (f._tag !== 'Expr' || base[i] === undefined) return
    const want = Float64Array.from(base[i]!, (v) => -3 * v)
    out.near('linear', `-3 times the seed, argument ${i}`, evaluateNodes([asNode(f)], scaled)[0]!.data, want, exact)
  })
  // A cotangent is built at most once, however often it is forced; one alone is what it is among all.
  first.forEach((t, i) => {
    out.is('thunk', `forced again, argument ${i}`, unthunk(t), unthunk(t))
    if (base[i] === undefined) return
    const only = mask.map((_, k) => k === i)
    const alone = unthunk(made.pullback(seedsOf(asExpr), only)[i]!)
    if (alone._tag !== 'Expr') out.note('tangent', `argument ${i} alone`, 0, 'a value', alone._tag)
    else out.near('tangent', `argument ${i} alone`, evaluateNodes([asNode(alone)], numbers)[0]!.data, base[i]!, exact)
  })
  for (const t of made.pullback(
    seedsOf(() => ZeroTangent),
    mask,
  )) {
    const f = unthunk(t)
    if (f._tag === 'Expr') out.note('linear', 'zero seed', 0, 'ZeroTangent', 'an expression')
  }
  first.forEach((t, i) => {
    if (t._tag !== 'InplaceableThunk' || base[i] === undefined) return
    const acc = input(inputs[i]!.aval)
    const start = drawArray(aval(inputs[i]!.shape, 'f64'), next, [-1, 1])
    const sum = evaluateNodes([asNode(t.addTo(asExpr(acc)))], new Map([...numbers, [acc, start]]))[0]!.data
    out.near(
      'accumulate',
      `addTo of argument ${i}`,
      sum,
      Float64Array.from(start.data, (v, k) => v + base[i]![k]!),
      1e-12,
    )
  })
}

/** The batch rule against single results, for the first argument batched, and all. */
const checkBatch = (registry: Registry, inputs: readonly Node[], ys: readonly Node[], draw: () => NDArray[], out: Collector): void => {
  const size = 3
  const examples = Array.from({ length: size }, draw)
  const masks =
    inputs.length === 0
      ? []
      : inputs.length === 1
        ? [[true]]
        : [inputs.map(() => true), inputs.map((_, i) => i === 0), inputs.map((_, i) => i === inputs.length - 1)]
  for (const mask of masks) {
    const wide = inputs.map((x, i) => (mask[i] ? input(aval([size, ...x.shape], x.dtype)) : x))
    const batched = batch(registry, ys, new Map(inputs.flatMap((x, i) => (mask[i] ? [[x, wide[i]!] as const] : []))), size)
    const stacked = inputs.map((x, i): NDArray => {
      if (!mask[i]) return examples[0]![i]!
      const data = new Float64Array(size * x.aval.size)
      examples.forEach((e, b) => {
        data.set(e[i]!.data, b * x.aval.size)
      })
      return {
        shape: [size, ...x.shape],
        dtype: x.dtype,
        data: x.dtype === 'i32' ? Int32Array.from(data) : x.dtype === 'bool' ? Uint8Array.from(data) : data,
      }
    })
    const got = evaluateNodes(batched, new Map([...bind(inputs, examples[0]!), ...bind(wide, stacked)]))
    for (let b = 0; b < size; b++) {
      const single = evaluateNodes(
        ys,
        bind(
          inputs,
          examples[0]!.map((v, i) => (mask[i] ? examples[b]![i]! : v)),
        ),
      )
      single.forEach((s, r) => {
        const n = s.data.length
        out.near(
          'batch',
          `result ${r}, example ${b}, batched ${mask.map((m) => (m ? 1 : 0)).join('')}`,
          got[r]!.data.slice(b * n, (b + 1) * n),
          s.data,
          1e-12,
        )
      })
    }
  }
}

/** At every kink that the primitive declares, both modes give the declared partials, exactly. */
export const checkKinks = (registry: Registry, prim: AnyPrimitive): Checked => {
  const out = new Collector(prim.name, 0)
  for (const kink of prim.kinks) {
    const inputs = kink.at.map(() => input(aval([], 'f64')))
    const env = bind(
      inputs,
      kink.at.map((v): NDArray => ({ shape: [], dtype: 'f64', data: Float64Array.of(v) })),
    )
    const ys = applyAny(prim, inputs, prim.samples[0]?.params ?? {})
    const seeds = ys.map((y) => asExpr(ones(y.aval)))
    const pulled = pullback(registry, ys, seeds, inputs).cotangents
    inputs.forEach((x, i) => {
      const pushed = pushforward(registry, ys, new Map([[x, ones(x.aval)]])).tangents[0]!
      const both = evaluateNodes([instantiate(pulled[i]!, x.aval), instantiate(pushed, ys[0]!.aval)], env)
      both.forEach((v, k) => {
        out.near(
          'kink',
          `${k === 0 ? 'vjp' : 'jvp'} at (${kink.at.join(', ')}), argument ${i}: ${kink.why}`,
          v.data,
          [kink.partials[i]!],
          0,
        )
      })
    })
  }
  return out.result()
}
