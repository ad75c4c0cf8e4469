/** Primitives at points where no difference can be taken: NaN, infinities, zeros of both signs; literals against arrays; whole numbers in batches. */
import { random } from '../../../../src/check/index.js'
import { type Aval, aval, isFloat } from '../../../../src/core/graph/aval.js'
import { evaluateNodes } from '../../../../src/core/graph/evaluate.js'
import { applyAny, asExpr, asNode, constant, input, type Node } from '../../../../src/core/graph/expr.js'
import { allocate, type NDArray } from '../../../../src/core/graph/ndarray.js'
import type { AnyPrimitive, SampleArg } from '../../../../src/core/graph/primitive.js'
import type { Forced } from '../../../../src/core/graph/tangent.js'
import type { AnyExpr } from '../../../../src/core/types/expr.js'
import * as cd from '../../../../src/index.js'
import { instantiate } from '../../../../src/modes/common.js'
import { pullback, pushforward } from '../../../../src/modes/transform.js'
import { batch } from '../../../../src/modes/vmap.js'
import { coreRegistry } from '../../../../src/packs/all.js'
import { implemented } from '../partly.js'
import type { Laws } from './law.js'

const { max, min, sum, mean, cumsum, sort, logsumexp, reshape, broadcastTo } = cd as unknown as Readonly<
  Record<
    'max' | 'min' | 'sum' | 'mean' | 'cumsum' | 'sort' | 'logsumexp' | 'reshape' | 'broadcastTo',
    (x: AnyExpr, ...more: readonly unknown[]) => AnyExpr
  >
>
const all = (): readonly AnyPrimitive[] => [...coreRegistry.rules.values()].map((r) => r.primitive)
/** Functions of one element of each argument, all of them floats. */
const smooth = (): readonly AnyPrimitive[] =>
  all().filter((p) => p.class === 'elementwise' && !p.variadic && !p.multi && p.name !== 'cast' && p.args.every((k) => k === 'float'))

const vector = (data: readonly number[]): NDArray => ({ shape: [data.length], dtype: 'f64', data: Float64Array.from(data) })
const ones = (n: number): NDArray => vector(new Array<number>(n).fill(1))
const read = (nodes: readonly Node[], env: ReadonlyMap<Node, NDArray>): readonly (readonly number[])[] =>
  evaluateNodes(nodes, env).map((r) => Array.from(r.data))
const dense = (t: Forced, like: Node): Node => instantiate(t, like.aval)
const SPECIAL = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, 1, -1, 2.5, -0.5, 0.3]
/** Every choice of one of these for each argument, as columns. */
const grid = (count: number): readonly (readonly number[])[] => {
  const size = SPECIAL.length ** count
  return Array.from({ length: count }, (_, i) =>
    Array.from({ length: size }, (_x, k) => SPECIAL[Math.floor(k / SPECIAL.length ** i) % SPECIAL.length]!),
  )
}
const params = (p: AnyPrimitive): unknown => p.samples[0]!.params

/** y of vectors of this length, its inputs, and the partials by each of them that has one in both modes. */
const partials = (p: AnyPrimitive, n: number) => {
  const xs = p.args.map(() => input(aval([n], 'f64')))
  const seed = input(aval([n], 'f64'))
  const [y] = applyAny(p, xs, params(p))
  const moved = xs.filter((_, i) => implemented(p.name, i))
  const forward = moved.map((x) => dense(pushforward(coreRegistry, [y!], new Map([[x, seed]])).tangents[0]!, y!))
  const reverse = pullback(coreRegistry, [y!], [asExpr(seed)], moved).cotangents.map((t, i) => dense(t, moved[i]!))
  return { xs, seed, y: y!, forward, reverse }
}
/** Arguments where everything is smooth: as samples draw them. */
const drawn = (a: SampleArg, next: () => number): NDArray => {
  const { shape, dtype = 'f64', domain = [-2, 2], values, draw } = a
  const size = shape.reduce((m, d) => m * d, 1)
  const data = allocate(dtype, size)
  const given = values ?? draw?.(next, shape)
  for (let i = 0; i < size; i++) {
    const v = given?.[i] ?? domain[0] + (domain[1] - domain[0]) * next()
    data[i] = given === undefined && !isFloat(dtype) ? Math.floor(v) : v
  }
  return { shape, dtype, data }
}

/** Functions along the last axis. Products are not among them: zeros of a tangent that is folded are not those of a cotangent beside a NaN. */
const FOLDS: Readonly<Record<string, (x: AnyExpr) => AnyExpr>> = {
  max: (x) => max(x, { axis: 1 }),
  min: (x) => min(x, { axis: 1 }),
  sum: (x) => sum(x, { axis: 1 }),
  mean: (x) => mean(x, { axis: 1 }),
  cumsum: (x) => cumsum(x, { axis: 1 }),
  sort: (x) => sort(x, { axis: 1 }),
  logsumexp: (x) => logsumexp(x, { axis: 1 }),
}

export const points: Laws = {
  'both modes where values are special': function* () {
    for (const p of smooth()) {
      const columns = grid(p.args.length)
      const { xs, seed, forward, reverse } = partials(p, columns[0]!.length)
      const env = new Map([...xs.map((x, i) => [x, vector(columns[i]!)] as const), [seed, ones(columns[0]!.length)] as const])
      yield [read(forward, env), read(reverse, env)]
    }
  },
  'both modes in rows of special values': function* () {
    const [a, b] = grid(2)
    const n = a!.length
    const data = Float64Array.from({ length: 2 * n }, (_, k) => (k % 2 === 0 ? a! : b!)[k >> 1]!)
    const rows: NDArray = { shape: [n, 2], dtype: 'f64', data }
    for (const [, f] of Object.entries(FOLDS)) {
      const [x, dx, yBar] = [input(aval([n, 2], 'f64')), input(aval([n, 2], 'f64')), input(aval([n, 2], 'f64'))]
      // What is folded is there twice.
      const y = asNode(broadcastTo(reshape(f(asExpr(x)), [n, -1]), [n, 2]))
      const dy = dense(pushforward(coreRegistry, [y], new Map([[x, dx]])).tangents[0]!, y)
      const xBar = dense(pullback(coreRegistry, [y], [asExpr(yBar)], [x]).cotangents[0]!, x)
      const column = (j: number): NDArray => ({
        shape: [n, 2],
        dtype: 'f64',
        data: Float64Array.from({ length: 2 * n }, (_, k) => (k % 2 === j ? 1 : 0)),
      })
      for (const i of [0, 1])
        for (const j of [0, 1]) {
          const [pushed] = read(
            [dy],
            new Map([
              [x, rows],
              [dx, column(j)],
            ]),
          )
          const [pulled] = read(
            [xBar],
            new Map([
              [x, rows],
              [yBar, column(i)],
            ]),
          )
          yield [pushed!.filter((_, k) => k % 2 === i), pulled!.filter((_, k) => k % 2 === j)]
        }
    }
  },
  // Of a product of three, or of logaddexp: a partial that changes as an argument does is NaN where that is NaN.
  'what depends on a NaN is NaN': function* () {
    const n = 6
    const next = random(7)
    for (const p of smooth()) {
      const { xs, seed, forward, reverse } = partials(p, n)
      const at = p.samples[0]!.args.map((a) => vector(Array.from({ length: n }, () => drawn({ ...a, shape: [] }, next).data[0]!)))
      const env = new Map([...xs.map((x, i) => [x, at[i]!] as const), [seed, ones(n)] as const])
      for (let k = 0; k < xs.length; k++) {
        if (!implemented(p.name, k, 2)) continue
        const second = forward.map((d) => dense(pushforward(coreRegistry, [d], new Map([[xs[k]!, seed]])).tangents[0]!, d))
        const moves = read(second, env).map((row) => row.every((v) => Number.isFinite(v) && v !== 0))
        const broken = new Map(env).set(xs[k]!, vector(new Array<number>(n).fill(Number.NaN)))
        for (const found of [read(forward, broken), read(reverse, broken)])
          for (let i = 0; i < forward.length; i++) if (moves[i]) yield [found[i]!, new Array<number>(n).fill(Number.NaN)]
      }
    }
  },
  'a literal and an array of its value': function* () {
    const n = SPECIAL.length
    for (const p of smooth().filter((q) => q.args.length === 2))
      for (const c of SPECIAL.slice(1))
        for (const place of [0, 1]) {
          // 0^x is a constant where the 0 is a literal; of an array it has the slope of 0^0 at 0.
          if ((p.name === 'pow' && place === 0 && c === 0) || !implemented(p.name, 1 - place)) continue
          const of = (y: Node, x: Node, seed: Node): readonly Node[] => [
            dense(pushforward(coreRegistry, [y], new Map([[x, seed]])).tangents[0]!, y),
            dense(pullback(coreRegistry, [y], [asExpr(seed)], [x]).cotangents[0]!, x),
          ]
          const [x, other, seed] = [input(aval([n], 'f64')), input(aval([n], 'f64')), input(aval([n], 'f64'))]
          const y = (second: Node): Node => applyAny(p, place === 1 ? [x, second] : [second, x], params(p))[0]!
          const env = new Map([
            [x, vector(SPECIAL)],
            [other, vector(SPECIAL.map(() => c))],
            [seed, vector(SPECIAL.map((_, k) => k % 2))],
          ])
          yield [read(of(y(constant(c, 'f64')), x, seed), env), read(of(y(other), x, seed), env)]
        }
  },
  // Where there are ties, and integers alone.
  'batches of whole numbers': function* () {
    const next = random(11)
    for (const p of all()) {
      if (coreRegistry.rules.get(p.name)?.batch === undefined || p.args.length === 0) continue
      for (const sample of p.samples) {
        const example = (): readonly NDArray[] =>
          sample.args.map((a) => {
            const v = drawn(a, next)
            return a.values === undefined && a.draw === undefined && isFloat(v.dtype) ? { ...v, data: v.data.map(Math.round) } : v
          })
        const two = [example(), example()]
        const xs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
        const ys = applyAny(p, xs, sample.params)
        const wider = (a: Aval): Aval => aval([2, ...a.shape], a.dtype)
        const wide = xs.map((x) => input(wider(x.aval)))
        const both = (i: number): NDArray => {
          const data = allocate(xs[i]!.dtype, 2 * xs[i]!.aval.size)
          two.forEach((e, b) => {
            data.set(e[i]!.data as never, b * xs[i]!.aval.size)
          })
          return { shape: wide[i]!.shape, dtype: xs[i]!.dtype, data }
        }
        const got = evaluateNodes(
          batch(coreRegistry, ys, new Map(xs.map((x, i) => [x, wide[i]!])), 2),
          new Map(wide.map((w, i) => [w, both(i)])),
        )
        const each = two.map((e) => evaluateNodes(ys, new Map(xs.map((x, i) => [x, e[i]!]))))
        for (let r = 0; r < ys.length; r++)
          yield [
            [...got[r]!.data, 0],
            [...each.flatMap((e) => [...e[r]!.data]), 0],
          ]
      }
    }
  },
}
