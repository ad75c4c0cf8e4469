/**
 * Laws of what is said of a primitive: what can be seen of it (by its meaning at drawn arguments and at singular ones, and by plans of it) is declared, as sharp as it is seen.
 * So a fact that is left out is found, though it makes no number wrong.
 */
import { buildIr } from '../../src/backends/plan/ir.js'
import { random } from '../../src/check/index.js'
import { dependence } from '../../src/core/calculus/dependence.js'
import { GUARDED, HardZeros, SOFT } from '../../src/core/calculus/hard-zeros.js'
import { IndexSets } from '../../src/core/calculus/index-sets.js'
import { aval } from '../../src/core/graph/aval.js'
import { isScalarProgram } from '../../src/core/graph/expand.js'
import { applyAny, asExpr, input, type Node } from '../../src/core/graph/expr.js'
import { lift } from '../../src/core/graph/lift.js'
import { emptyArray, type NDArray } from '../../src/core/graph/ndarray.js'
import { type AnyPrimitive, isScalarFunction, type Sample, scalarOf } from '../../src/core/graph/primitive.js'
import { makeProgram } from '../../src/core/graph/program.js'
import { families } from '../../src/core/ops/families.js'
import * as cd from '../../src/index.js'
import { cpuFamilies } from '../../src/packs/all.js'
import { befores, casesOf, lookedAt, operators, pointsOf } from './zeros.js'

type Found = readonly string[]
const c = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => never>>
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)
const isFloat = (dtype: string): boolean => dtype === 'f64' || dtype === 'f32'

/** Arguments of a sample, drawn. */
const drawn = (prim: AnyPrimitive, sample: Sample, seed: number): readonly NDArray[] =>
  sample.args.map((a, i) => {
    const next = random(seed * 31 + i)
    const x = emptyArray(aval(a.shape, a.dtype ?? (prim.args[prim.variadic ? 0 : i] === 'int' ? 'i32' : 'f64')))
    const given = a.values ?? (a.draw === undefined ? undefined : Array.from(a.draw(next, a.shape)))
    const [low, high] = a.domain ?? (x.dtype === 'i32' ? [0, 4] : x.dtype === 'bool' ? [0, 2] : [-2, 2])
    for (let k = 0; k < x.data.length; k++) {
      const u = low + (high - low) * (0.05 + 0.9 * next())
      x.data[k] =
        given !== undefined ? given[k % Math.max(1, given.length)]! : isFloat(x.dtype) ? u : Math.floor(low + (high - low) * next())
    }
    return x
  })
const meaning = (prim: AnyPrimitive, args: readonly NDArray[], sample: Sample): readonly NDArray[] => {
  const made = prim.shapeRule(
    args.map((a) => aval(a.shape, a.dtype)),
    sample.params,
  )
  const outs = [made].flat().map((y) => emptyArray(y as never))
  prim.meaning(args, sample.params, outs)
  return outs
}
const same = (a: number, b: number): boolean => Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))

/** Which element of a result moves with which element of the float arguments, and how much, in some draws. */
interface Seen {
  /** For each result and element the elements that it was seen to depend on. */
  readonly moved: readonly (readonly Set<number>[])[]
  /** Changes divided by those that made them, where they were the same in all draws; undefined where they were not. */
  readonly slopes: ReadonlyMap<string, number | undefined>
  readonly floats: readonly number[]
  readonly starts: readonly number[]
  readonly total: number
}
/** A small one, and others after which an element is the largest or the smallest. */
const STEPS = [1 / 64, 100, -100]
const seen = (prim: AnyPrimitive, sample: Sample, draws: number): Seen => {
  const first = drawn(prim, sample, 1)
  const floats = first.flatMap((x, i) => (x.dtype === 'f64' ? [i] : []))
  const starts: number[] = []
  let total = 0
  for (const i of floats) {
    starts.push(total)
    total += first[i]!.data.length
  }
  const moved = meaning(prim, first, sample).map((y) => Array.from(y.data, () => new Set<number>()))
  const slopes = new Map<string, number | undefined>()
  for (let d = 1; d <= draws; d++) {
    const args = drawn(prim, sample, d)
    const before = meaning(prim, args, sample)
    floats.forEach((i, f) => {
      for (let k = 0; k < args[i]!.data.length; k++) {
        for (const step of STEPS) {
          const x = { ...args[i]!, data: args[i]!.data.slice() }
          x.data[k]! += step
          const after = meaning(prim, args.map((a, j) => (j === i ? x : a)), sample) // biome-ignore format: one row
          after.forEach((y, r) => {
            for (let e = 0; e < y.data.length; e++) {
              if (!same(y.data[e]!, before[r]!.data[e]!)) moved[r]![e]!.add(starts[f]! + k)
              const key = `${r} ${e} ${starts[f]! + k}`
              const slope = (y.data[e]! - before[r]!.data[e]!) / step
              if (!slopes.has(key)) slopes.set(key, slope)
              else if (!(Math.abs(slopes.get(key)! - slope) <= 1e-9)) slopes.set(key, undefined)
            }
          })
        }
      }
    })
  }
  return { moved, slopes, floats, starts, total }
}
/** The sets that the library reads off an application; `known`: what is no float is a constant. */
const declaredSets = (prim: AnyPrimitive, sample: Sample, s: Seen, known: boolean): readonly (readonly ReadonlySet<number>[])[] => {
  const args = drawn(prim, sample, 1)
  const nodes = args.map(
    (a, i): Node =>
      known && !s.floats.includes(i)
        ? lift(cd.tensor(Array.from(a.data) as never, a.shape as never, a.dtype), 'facts')
        : input(aval(a.shape, a.dtype)),
  )
  const outs = applyAny(prim, nodes, sample.params)
  const sets = new IndexSets(s.total)
  const of = new Map(s.floats.map((i, f) => [nodes[i]!, Int32Array.from(args[i]!.data, (_, k) => sets.of(s.starts[f]! + k))]))
  const found = dependence(outs, of, sets)
  return outs.map((y, r) =>
    Array.from({ length: y.aval.size }, (_, e) => new Set(found[r] === undefined ? [] : sets.members(found[r]![e]!))),
  )
}
/** Small samples of f64, of different structures: at most so many. */
const smallOf = (prim: AnyPrimitive, most: number, room = 40): readonly Sample[] =>
  (prim.samples as readonly Sample[])
    .filter((s) => s.args.every((a) => (a.dtype ?? 'f64') !== 'f32'))
    .map((s) => ({ s, size: s.args.reduce((n, a) => n + sizeOf(a.shape), 0) }))
    .filter(({ size }) => size > 1 && size <= room)
    .sort((a, b) => Number(b.s.args.some((x) => x.shape.length > 1)) - Number(a.s.args.some((x) => x.shape.length > 1)) || a.size - b.size)
    .slice(0, most)
    .map(({ s }) => s)

/** No pattern is too small, and none is everything where less is seen; where indices are known, and where they are not. */
const patterns = (prim: AnyPrimitive, known: boolean): Found => {
  if (prim.class !== 'opaque') return []
  const wrong: string[] = []
  for (const [at, sample] of smallOf(prim, 4).entries()) {
    const hasInts = drawn(prim, sample, 1).some((a) => a.dtype !== 'f64')
    if (!known && !hasInts) continue
    const s = seen(prim, sample, known && hasInts ? 1 : 8)
    if (s.total === 0) continue
    const declared = declaredSets(prim, sample, s, known)
    let [more, less, all] = [0, 0, true]
    for (const [r, ys] of s.moved.entries())
      for (const [e, set] of ys.entries()) {
        const own = declared[r]![e]!
        for (const k of set) if (!own.has(k)) less++
        for (const k of own) if (!set.has(k)) more++
        all &&= own.size === s.total
      }
    if (less > 0) wrong.push(`sample ${at}: ${less} dependences are missing`)
    if (all && isFloat(resultOf(prim, sample)) && more > Math.max(1, s.total / 4))
      wrong.push(`sample ${at}: everything on everything, ${more} of that unseen`)
  }
  return wrong
}

/** What its kernel's row says is what the planner does: whole, or as loops and views. */
const planned = (prim: AnyPrimitive): Found => {
  const rows = cpuFamilies as unknown as Readonly<
    Record<string, Readonly<Record<string, { readonly kind: string; readonly otherwise?: string }>>>
  >
  const row = Object.values(rows).find((t) => Object.hasOwn(t, prim.name))?.[prim.name]
  if (row === undefined || row.otherwise !== undefined) return []
  const leaves = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
  const left = prim.samples.some((sample) => {
    const inputs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
    const outputs = applyAny(prim, inputs, sample.params)
    const ir = buildIr(
      makeProgram({ name: prim.name, inputs, inputTree: leaves(inputs.length), outputs, outputTree: leaves(outputs.length) }),
    )
    return ir.values.some((v) => v.kind === 'opaque' && (prim.expand === undefined || v.prim === prim))
  })
  return left === ['whole', 'byMeaning', 'call'].includes(row.kind)
    ? []
    : [`its row says ${row.kind}, and the planner leaves it ${left ? '' : 'not '}whole`]
}

/** Numbers among which bits may be lost. */
const BATTERY = [0, -0, 1, -1, 2, 0.1, -3.7, 1e-320, 1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]
const INTEGERS = [0, 1, -1, 2, 7, -8, 2 ** 31 - 1, -(2 ** 31)]
/** A literal that makes the other argument the result, bit for bit, is declared; so is what hands its argument on. */
const identities = (prim: AnyPrimitive): Found => {
  if (!isScalarFunction(prim) || prim.scalarWith !== undefined || prim.args.length > 2) return []
  const ints = prim.args.every((k) => k === 'int')
  const f = scalarOf(prim, {}, ints ? 'i32' : 'f64')
  const numbers = ints ? INTEGERS : BATTERY
  if (prim.args.length === 1) {
    const hands = prim.args[0] === 'float' && numbers.every((x) => same(f(x), x))
    return hands === (prim.alias === true) ? [] : [`it hands on its argument: ${hands}`]
  }
  const found = [0, 1].map((k) => [0, 1, -1].find((e) => numbers.every((x) => same(k === 0 ? f(e, x) : f(x, e), x))) ?? null)
  const said = prim.identity ?? [null, null]
  return found.every((e, k) => e === said[k]) ? [] : [`literals that change nothing: ${found}, declared ${said}`]
}

const numbersIn = (x: unknown): readonly number[] => {
  if (typeof x === 'number') return [x]
  const { data } = x as { readonly data?: ArrayLike<number> }
  return data !== undefined ? Array.from(data) : Object.values(x as object).flatMap(numbersIn)
}
/** What is finite wherever it was looked at, with its derivative, says so. */
const finite = (prim: AnyPrimitive): Found => {
  if (prim.class === 'layout' || prim.unbounded === false || isScalarProgram(prim)) return []
  const ks = casesOf(prim, 2)
  if (ks.length === 0) {
    // Nothing of it is differentiated.
    const floats = (prim.samples as readonly Sample[]).flatMap((s) => meaning(prim, drawn(prim, s, 1), s).filter((y) => isFloat(y.dtype)))
    return floats.length > 0 && floats.every((y) => y.data.every(Number.isFinite))
      ? ['it is finite at all of its samples, and does not say so']
      : []
  }
  for (const k of ks) {
    const points = [...pointsOf(k), 1000, -1000].filter((x) => Number.isFinite(x) && Math.abs(x) <= 1e6)
    const grid =
      prim.class === 'elementwise' && k.floats.length > 1 ? points.flatMap((p) => points.map((q) => [p, q])) : points.map((p) => [p, p])
    for (const [p, q] of grid) {
      const xs = k.floats.map((i, j) => {
        const { shape } = k.sample.args[i]!
        return cd.tensor(new Array(sizeOf(shape)).fill(j === 0 ? p : q) as never, shape as never) as never
      })
      const others = drawn(prim, k.sample, 3)
      const f = (tree: Readonly<Record<string, cd.AnyExpr>>): cd.AnyExpr => {
        let at = 0
        const args = k.sample.args.map((a, i) =>
          k.floats.includes(i) ? tree[`x${at++}`] : cd.tensor(Array.from(others[i]!.data) as never, a.shape as never, others[i]!.dtype),
        )
        return ([cd.applyPrimitive(prim as never, args as never, k.sample.params as never)].flat() as unknown as cd.AnyExpr[])
          .filter((y) => y.dtype === 'f64')
          .map((y) => cd.sum(y as never) as unknown as cd.AnyExpr)
          .reduce((a, b) => cd.add(a as never, b as never) as unknown as cd.AnyExpr)
      }
      try {
        const tree = Object.fromEntries(xs.map((x, i) => [`x${i}`, x]))
        const got = (cd.valueAndGrad as unknown as (f: unknown) => (t: object) => unknown)(f)(tree)
        const all = numbersIn(got)
        if (!all.every(Number.isFinite)) return []
      } catch {
        // No derivative is known.
        return []
      }
    }
  }
  return ['it is finite wherever it was looked at, and does not say so']
}

/** Elements that depend on nothing are gaps; and only where they are said to be. */
const gaps = (prim: AnyPrimitive): Found => {
  if (prim.class !== 'opaque') return []
  const said = (p: unknown): boolean => prim.gaps?.(p) === true
  const found = smallOf(prim, 12, 400).some((sample) => {
    const s = seen(prim, sample, 2)
    const linear = [...s.slopes.values()].every((slope) => slope !== undefined)
    return s.total > 0 && linear && s.moved.some((ys) => ys.some((set) => set.size === 0)) && !said(sample.params)
  })
  return found ? ['an element of its result depends on nothing, and it has no gaps'] : []
}
const resultOf = (prim: AnyPrimitive, sample: Sample): string => meaning(prim, drawn(prim, sample, 1), sample)[0]!.dtype

/** What is a kernel of its own and adds to an argument, or writes into it, is an accumulation into that. */
const accumulations = (prim: AnyPrimitive): Found => {
  if (prim.class !== 'opaque' || prim.multi || prim.programs !== undefined || prim.structure?.kind === 'same' || planned(prim).length > 0)
    return []
  const sample = smallOf(prim, 1, 200)[0]
  if (sample === undefined) return []
  const args = drawn(prim, sample, 1)
  const s = seen(prim, sample, 3)!
  const into = s.floats.findIndex((i, f) => {
    const n = args[i]!.data.length
    if (n < 2 || n !== s.moved[0]!.length) return false
    const own = s.moved[0]!.map((set) => [...set].filter((k) => k >= s.starts[f]! && k < s.starts[f]! + n))
    // Each element keeps its place: its own slope is 1, or what stood there is written over.
    return (
      own.every((ks, e) => ks.every((k) => k === s.starts[f]! + e)) &&
      own.some((ks, e) => ks.length === 1 && near(s.slopes.get(`0 ${e} ${ks[0]}`), 1))
    )
  })
  const found = into < 0 ? undefined : s.floats[into]
  return found === undefined || s.floats.length < 2 || found === prim.accumulates || planOf(prim, sample) === undefined
    ? []
    : [`it accumulates into argument ${found}`]
}
const near = (a: number | undefined, b: number): boolean => a !== undefined && Math.abs(a - b) < 1e-9
/** A plan of it alone that has it as a whole; undefined where it became loops. */
const planOf = (prim: AnyPrimitive, sample: Sample): object | undefined => {
  const leaves = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
  const inputs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
  const outputs = applyAny(prim, inputs, sample.params)
  const ir = buildIr(
    makeProgram({ name: prim.name, inputs, inputTree: leaves(inputs.length), outputs, outputTree: leaves(outputs.length) }),
  )
  return ir.values.find((v) => v.kind === 'opaque' && v.prim === prim)
}

/** Arrays whose leading axes do not see each other are a stack, where anything may be infinite. */
const stacks = (prim: AnyPrimitive): Found => {
  if (prim.class !== 'opaque' || prim.unbounded === false || prim.programs !== undefined) return []
  for (const sample of smallOf(prim, 12)) {
    const args = drawn(prim, sample, 1)
    const rank = args[0]!.shape.length
    const lead = args[0]!.shape[0] ?? 0
    if (rank < 3 || lead < 2 || args.some((a) => a.shape[0] !== lead || a.shape.length < 2)) continue
    const s = seen(prim, sample, 2)
    const sizes = s.floats.map((i) => args[i]!.data.length / lead)
    const blockOf = (k: number): number => {
      const f = s.starts.findLastIndex((start) => start <= k)
      return Math.floor((k - s.starts[f]!) / sizes[f]!)
    }
    const apart = s.moved.every(
      (ys) => ys.length % lead === 0 && ys.every((set, e) => [...set].every((k) => blockOf(k) === Math.floor(e / (ys.length / lead)))),
    )
    if (apart && (prim.stacked === undefined || rank - prim.stacked < 1)) return ['its first axis is a stack']
  }
  return []
}

/** Zeros that hold, by the law of zeros: some guards and operators. */
const zerosHold = (prim: AnyPrimitive): Found =>
  casesOf(prim, 1).flatMap((k) =>
    (Object.keys(befores) as (keyof typeof befores)[]).flatMap((before) =>
      Object.keys(operators)
        .filter((o) => before === 'itself' || operators[o]!.order === 1)
        .flatMap(
          (o) =>
            lookedAt(k, before, 'where', o)
              ?.wrong.slice(0, 1)
              .map((w) => `${before}, ${o}: ${w}`) ?? [],
        ),
    ),
  )

/** Its results where the float arguments `zero` are 0 and all others drawn. */
const withZeros = (prim: AnyPrimitive, sample: Sample, zero: readonly number[], seed: number): readonly NDArray[] =>
  meaning(
    prim,
    drawn(prim, sample, seed).map((x, i) => (zero.includes(i) ? emptyArray(aval(x.shape, x.dtype)) : x)),
    sample,
  )
const DRAWS = [1, 2, 3, 4, 5, 6]
const floatsOf = (prim: AnyPrimitive, sample: Sample): readonly number[] =>
  drawn(prim, sample, 1).flatMap((x, i) => (x.dtype === 'f64' ? [i] : []))
/** Is it of the first degree in this argument, whatever the others are? */
const isAffine = (prim: AnyPrimitive, sample: Sample, k: number): boolean =>
  DRAWS.every((seed) => {
    const at = (t: number): ArrayLike<number> =>
      meaning(
        prim,
        drawn(prim, sample, seed).map((x, i) =>
          i === k ? { ...x, data: Float64Array.from(x.data, (v, j) => (v + 3) * (t - 1.5) + (j % 3) * t) } : x,
        ),
        sample,
      )[0]!.data
    const [a, b, c] = [at(0), at(1), at(2)]
    return Array.from(a).every((_, e) => Math.abs(c[e]! - 2 * b[e]! + a[e]!) <= 1e-9 * Math.max(1, Math.abs(b[e]!)))
  })
/** What its zeros are said to be when those of one argument were put there. */
const claimed = (prim: AnyPrimitive, sample: Sample, k: number): number => {
  const zeros = new HardZeros()
  const nodes = drawn(prim, sample, 1).map((x) => input(aval(x.shape, x.dtype)))
  if (k >= 0) zeros.mark(asExpr(nodes[k]!), GUARDED)
  return zeros.of(asExpr(applyAny(prim, nodes, sample.params)[0]!))
}
/** Zeros of an argument are handed on where they are there; so are those of a whole, behind a flag. */
const zerosPassOn = (prim: AnyPrimitive): Found => {
  // Of what is copied or added at places the zeros of a part are those of a part.
  if (prim.programs !== undefined || prim.class === 'layout' || prim.structure?.kind === 'places' || prim.structure?.kind === 'adds')
    return []
  const wrong: string[] = []
  for (const sample of smallOf(prim, 3, 200)) {
    const floats = floatsOf(prim, sample)
    if (resultOf(prim, sample) !== 'f64' || floats.length === 0) continue
    if (floats.length > 1 && floats.some((k) => isAffine(prim, sample, k)))
      for (const k of floats) {
        const claim = claimed(prim, sample, k)
        const has = DRAWS.some((seed) => withZeros(prim, sample, [k], seed).some((y) => y.data.length === 0 || y.data.some((v) => v === 0)))
        if (claim !== SOFT && !has) wrong.push(`zeros of argument ${k} are said to be handed on, and are not`)
      }
    if (floats.length < sample.args.length) {
      // Zeros in the place of what is no number.
      const nothing = DRAWS.some(
        (seed) =>
        meaning(prim, drawn(prim, sample, seed).map((x, i) => (floats.includes(i) ? { ...x, data: x.data.map(() => Number.NaN) as Float64Array } : x)), sample)[0]!.data.some((v) => v === 0), // biome-ignore format: one row
      )
      if (nothing && prim.class === 'opaque' && prim.gaps?.(sample.params) !== true && claimed(prim, sample, -1) !== GUARDED)
        wrong.push('it puts zeros in the place of NaN, and does not say so')
    }
  }
  return wrong
}
/** A zero factor that nobody masked is a number: behind it both modes have the same derivative, NaN. */
const products = (prim: AnyPrimitive): Found => {
  if (prim.class !== 'elementwise' || prim.args.length !== 2 || prim.args.some((a) => a !== 'float')) return []
  const sample = smallOf(prim, 1)[0]
  if (sample === undefined || resultOf(prim, sample) !== 'f64') return []
  if ([0, 1].some((k) => DRAWS.some((seed) => withZeros(prim, sample, [k], seed)[0]!.data.some((v) => v !== 0)))) return []
  const f = (x: cd.AnyExpr): cd.AnyExpr =>
    c.sum!(
      c.log!([cd.applyPrimitive(prim as never, [x, c.where!(c.lt!(x, 0), 1, 0)] as never, sample.params as never)].flat()[0]),
    ) as cd.AnyExpr
  const by = (mode: string): number => numbersIn((c.grad!(f, { mode }) as unknown as (x: unknown) => unknown)([1.5]))[0]!
  const [forward, reverse] = [by('forward'), by('reverse')]
  return same(forward, reverse) ? [] : [`behind a factor of 0 the derivative is ${forward} forward and ${reverse} in reverse`]
}
/** Elements that are sums of products of two arguments' elements say so. */
const sumsOfProducts = (prim: AnyPrimitive): Found => {
  if (prim.class !== 'opaque' || prim.multi || prim.structure !== undefined || prim.programs !== undefined) return []
  const sample = smallOf(prim, 1, 200)[0]
  if (sample === undefined) return []
  const floats = floatsOf(prim, sample)
  const [a, b] = floats.slice(-2)
  if (floats.length < 2 || resultOf(prim, sample) !== 'f64') return []
  const before = floats.slice(0, -2)
  const none = [a!, b!].every(
    (k) => isAffine(prim, sample, k) && DRAWS.every((seed) => withZeros(prim, sample, [...before, k], seed)[0]!.data.every((v) => v === 0)),
  )
  return none ? ['its elements are sums of products'] : []
}
/** What holds programs is planned, not called. */
const inPlans = (prim: AnyPrimitive): Found =>
  prim.programs === undefined
    ? []
    : (prim.samples as readonly Sample[]).some((s) => planOf(prim, s) !== undefined)
      ? ['a plan calls it as a whole']
      : []

/** Points at which functions of one and of two numbers bend or jump, if they do anywhere. */
const GRID = [0, 1, -1, 0.5, 2]
/** A slope that is infinite, as differences see it. */
const STEEP = 8000
/** What bends or jumps at a simple point says so. */
const bends = (prim: AnyPrimitive): Found => {
  if (prim.class !== 'elementwise' || !isScalarFunction(prim) || prim.scalarWith !== undefined || prim.args.length > 2) return []
  if (prim.args.some((a) => a !== 'float') || prim.kinks.length > 0) return []
  const sample = prim.samples[0] as Sample
  if (sample === undefined || resultOf(prim, sample) !== 'f64') return []
  const f = scalarOf(prim, {}, 'f64')
  const h = 2 ** -26
  const points = prim.args.length === 1 ? GRID.map((x) => [x]) : GRID.flatMap((x) => GRID.map((y) => [x, y]))
  for (const at of points)
    for (let k = 0; k < at.length; k++) {
      const moved = (t: number): number => f(...at.map((x, j) => (j === k ? x + t : x)))
      const [left, here, right] = [moved(-h), moved(0), moved(h)]
      if (!Number.isFinite(here)) continue
      if ([left, right].some((y) => Math.abs(y) === Number.POSITIVE_INFINITY)) return [`it is finite at ${at}, and infinite beside that`]
      const [l, r] = [(here - left) / h, (right - here) / h]
      const slopes = [l, r].filter(Number.isFinite)
      if (slopes.some((x) => Math.abs(x) > STEEP)) return [`it jumps, or its slope is infinite, at ${at}: ${l}, then ${r}`]
      if (slopes.length === 2 && Math.abs(l - r) > 1e-3 * Math.max(1, Math.abs(l), Math.abs(r)))
        return [`it bends at ${at}: ${l}, then ${r}`]
    }
  return []
}

/** What a law does not hold for, and why. */
export const exceptions: readonly { readonly law: string; readonly names: readonly string[]; readonly why: string }[] = [
  { law: 'patterns', names: ['sort'], why: 'nothing says of an order along an axis that other axes do not see it' },
  {
    law: 'patterns',
    names: ['cholesky', 'eigh', 'lu', 'qr', 'svd', 'triangularSolve', 'det', 'slogdet', 'solve'],
    why: 'within one matrix everything is taken to depend on everything, and patterns do not read stacks',
  },
  {
    law: 'patterns',
    names: ['convInput', 'convKernel', 'conv', 'avgPoolInput', 'avgPool', 'maxPool', 'unpool'],
    why: 'nothing says which elements a window reads',
  },
  {
    law: 'patterns where places are unknown',
    names: ['scatterAdd', 'setAt', 'scatterReduce', 'scatterAddAlong', 'dynamicSliceAdd', 'dynamicSlice', 'dynamicUpdateSlice', 'unpool'],
    why: 'what is read or written at unknown places may be anywhere',
  },
  { law: 'identities', names: ['sub', 'pow'], why: 'x - 0 and x^1 are x; planners are not told, so they stay an operation' },
  {
    law: 'finite',
    names: ['tan', 'logNdtr'],
    why: 'infinite in real numbers at points that no float is, or only far outside of what was tried',
  },
  { law: 'finite', names: ['eigh', 'svd', 'det', 'lstsq'], why: 'derivatives are infinite at some matrices alone, or have none' },
  { law: 'finite', names: ['customRule'], why: 'what the rules of users are is not known' },
  {
    law: 'bends',
    names: ['acos', 'acosh', 'asin', 'gammainc', 'gammaincc', 'gammaincGradA'],
    why: 'an infinite slope at an end of the domain, where the partials are infinite too',
  },
  { law: 'bends', names: ['mod'], why: 'it jumps at multiples, where its derivative is that of the piece' },
  {
    law: 'zeros pass on',
    names: ['xlogy', 'triangularSolve', 'solve'],
    why: 'these arguments are values in every rule, never a (co)tangent',
  },
  { law: 'sums of products', names: ['lstsq'], why: 'at its sample it is: its matrix has no rows, or no columns' },
  { law: 'zeros hold', names: ['lstsq', 'customRule'], why: 'test/laws/zeros.test.ts says it' },
]
export const isExcepted = (law: string, name: string): boolean => exceptions.some((e) => e.law === law && e.names.includes(name))
/** Every shipped primitive by its name. */
export const shipped: ReadonlyMap<string, AnyPrimitive> = new Map(
  Object.values(families).flatMap((table) => (Object.values(table) as readonly AnyPrimitive[]).map((p) => [p.name, p] as const)),
)
export const laws: Readonly<Record<string, (prim: AnyPrimitive) => Found>> = {
  patterns: (p) => patterns(p, true),
  'patterns where places are unknown': (p) => patterns(p, false),
  planned,
  identities,
  finite,
  gaps,
  accumulations,
  stacks,
  bends,
  'zeros pass on': zerosPassOn,
  products,
  'sums of products': sumsOfProducts,
  'in plans': inPlans,
  'zeros hold': zerosHold,
}
