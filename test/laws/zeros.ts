// Every primitive at every singular point behind every guard, made from declarations: several examples at once, all of which but the last are guarded off.
import { random } from '../../src/check/index.js'
import { aval } from '../../src/core/graph/aval.js'
import type { AnyPrimitive, Sample, SampleArg } from '../../src/core/graph/primitive.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => never>

/** One call of a primitive, as its declaration says. */
export interface Case {
  readonly prim: AnyPrimitive
  readonly sample: Sample
  /** Which arguments are differentiated. */
  readonly floats: readonly number[]
}
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)
const isFloat = (prim: AnyPrimitive, a: SampleArg, i: number): boolean =>
  prim.args[prim.variadic ? 0 : i] === 'float' && (a.dtype === undefined || a.dtype === 'f64')

const makesFloats = (prim: AnyPrimitive, { args, params }: Sample): boolean =>
  [
    prim.shapeRule(
      args.map((a) => aval(a.shape, a.dtype ?? 'f64')),
      params,
    ),
  ]
    .flat()
    .some((y) => (y as { readonly dtype: string }).dtype === 'f64')
/** The samples of a primitive whose float arguments have elements: small ones first, at most so many. */
export const casesOf = (prim: AnyPrimitive, most: number): readonly Case[] =>
  (prim.samples as readonly Sample[])
    .map((sample) => ({ prim, sample, floats: sample.args.flatMap((a, i) => (isFloat(prim, a, i) ? [i] : [])) }))
    .filter(({ sample, floats }) => floats.length > 0 && makesFloats(prim, sample) && sample.args.every((a) => sizeOf(a.shape) > 0))
    .map((k) => ({ k, size: k.sample.args.reduce((n, a) => n + sizeOf(a.shape), 0) }))
    .filter(({ size }) => size <= 60)
    .sort(
      (a, b) =>
        Number(b.k.sample.args.some((x) => x.shape.length > 0)) - Number(a.k.sample.args.some((x) => x.shape.length > 0)) ||
        a.size - b.size,
    )
    .slice(0, most)
    .map(({ k }) => k)

/** What its arguments are at one point: all elements alike, the ends of what is declared, and matrices of dependent rows (all ones). */
export const pointsOf = ({ prim, sample, floats }: Case): readonly number[] => {
  const ends = floats.flatMap((i) => [...(sample.args[i]!.domain ?? [])])
  const declared = [...prim.extremes.slice(0, 4), ...prim.kinks.flatMap((k) => k.at)]
  return [...new Set([0, 1, -1, ...ends, ...declared, 1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])].filter(
    (x) => !Number.isNaN(x),
  )
}
const regular = (a: SampleArg, next: () => number): readonly number[] => {
  const [low, high] = a.domain ?? (a.dtype === 'i32' ? [0, 4] : a.dtype === 'bool' ? [0, 2] : [-2, 2])
  const drawn = a.values ?? (a.draw === undefined ? undefined : Array.from(a.draw(next, a.shape)))
  const whole = a.dtype === 'i32' || a.dtype === 'bool'
  return (
    drawn ??
    Array.from({ length: sizeOf(a.shape) }, () =>
      whole ? Math.floor(low + (high - low) * next()) : low + (high - low) * (0.1 + 0.8 * next()),
    )
  )
}
const tensor = (flat: readonly number[], shape: readonly number[], dtype = 'f64'): E => c.tensor!(flat, shape, dtype) as E

/** What a number is before it comes to the primitive: itself, of infinite slope at 0, or infinite itself at 0. */
export const befores = {
  itself: (x: E): E => x,
  root: (x: E): E => c.cbrt!(x) as E,
  logarithm: (x: E): E => c.log!(x) as E,
} as const
export type Before = keyof typeof befores

type Body = (xs: readonly E[]) => E
const other = (xs: readonly E[]): E => c.sum!(c.mul!(xs[0], 2)) as E
/** A function of one example, which the flag lets through or not. */
export const guards: Readonly<Record<string, (f: Body) => (flag: E, xs: readonly E[]) => E>> = {
  where: (f) => (flag, xs) => c.where!(flag, f(xs), other(xs)) as E,
  cond: (f) => (flag, xs) =>
    c.cond!(
      flag,
      (...us: readonly E[]) => f(us),
      (...us: readonly E[]) => other(us),
      ...xs,
    ) as E,
  switchCase: (f) => (flag, xs) =>
    c.switchCase!(c.cast!(flag, 'i32'), [(...us: readonly E[]) => other(us), (...us: readonly E[]) => f(us)], ...xs) as E,
  whileLoop: (f) => (flag, xs) => {
    const count = c.cast!(flag, 'i32') as E
    const [ys] = c.whileLoop!(
      ([, k]: readonly E[]) => c.lt!(k, count),
      ([, k, ...us]: readonly E[]) => [f(us), c.add!(k, 1), ...us],
      [other(xs), 0, ...xs],
      { maxSteps: 2 },
    ) as unknown as readonly (readonly E[])[]
    return ys![0]!
  },
}
export type Guard = 'where' | 'cond' | 'switchCase' | 'whileLoop'

/** The primitive's float results, added up with weights after a function that bends. */
export const bodyOf =
  ({ prim, sample, floats }: Case, before: Before): Body =>
  (xs) => {
    let k = 0
    const next = random(5)
    const args = sample.args.map((a, i) =>
      floats.includes(i) ? befores[before](xs[k++]!) : tensor(regular(a, random(3 + i)), a.shape, a.dtype ?? 'f64'),
    )
    const ys = cd.applyPrimitive(prim as never, args as never, sample.params as never) as unknown as readonly E[]
    return ys
      .filter((y) => y.dtype === 'f64')
      .map((y) => {
        const shape = y.shape as readonly number[]
        const w = tensor(
          Array.from({ length: sizeOf(shape) }, () => 0.2 + next()),
          shape,
        )
        return c.sum!(c.mul!(c.mul!(y, y), w)) as E
      })
      .reduce((a, b) => c.add!(a, b) as E)
  }

type Many = (xs: readonly E[]) => readonly E[]
type Scalar = (xs: readonly E[]) => E
/** Several arrays as one argument. */
type Tree = Readonly<Record<string, E>>
const treeOf = (xs: readonly E[]): Tree => Object.fromEntries(xs.map((x, i) => [`x${i}`, x]))
const listOf = (t: Tree): readonly E[] => Object.values(t)
const gradient =
  (mode: string) =>
  (f: Scalar): Many =>
  (xs) =>
    listOf((c.grad!((t: Tree) => f(listOf(t)), { mode }) as unknown as (t: Tree) => Tree)(treeOf(xs)))
const inner = (ds: readonly E[]): E => ds.map((d) => c.sum!(c.mul!(d, 0.7)) as E).reduce((a, b) => c.add!(a, b) as E)
/** The derivative along a direction as a function of the point, or of the direction: linear in that, so its gradient is the gradient. */
const along = (f: Scalar, xs: readonly E[], ds: readonly E[]): E =>
  (c.jvp!((t: Tree) => f(listOf(t))) as unknown as (p: Tree, t: Tree) => readonly E[])(treeOf(xs), treeOf(ds))[1]!
const tangent =
  (f: Scalar): Scalar =>
  (xs) =>
    along(
      f,
      xs,
      xs.map((x) => c.mul!(c.onesLike!(x), 0.7) as E),
    )
/** Derivatives of the sum of a function over examples: by `first` of the whole, or of each example. */
export type Operator = (each: (flag: E, xs: readonly E[]) => E, flags: E) => Many
const overAll =
  (each: (flag: E, xs: readonly E[]) => E, flags: E): Scalar =>
  (xs) =>
    c.sum!((c.vmap!((flag: E, t: Tree) => each(flag, listOf(t))) as unknown as (f: E, t: Tree) => E)(flags, treeOf(xs))) as E
const ofEach =
  (made: (f: Scalar) => Many): Operator =>
  (each, flags) =>
  (xs) =>
    listOf(
      (c.vmap!((flag: E, t: Tree) => treeOf(made((vs) => each(flag, vs))(listOf(t)))) as unknown as (f: E, t: Tree) => Tree)(
        flags,
        treeOf(xs),
      ),
    )
const ofAll =
  (made: (f: Scalar) => Many): Operator =>
  (each, flags) =>
    made(overAll(each, flags))
const [reverse, mixed, forward] = [gradient('reverse'), gradient('mixed'), gradient('forward')]
/** Of the first order, and of the second; forward mode of a whole has one pass for each element, so of examples it is asked alone. */
export const operators: Readonly<Record<string, { readonly order: 1 | 2; readonly of: Operator }>> = {
  'reverse of vmap': { order: 1, of: ofAll(reverse) },
  'mixed of vmap': { order: 1, of: ofAll(mixed) },
  'vmap of reverse': { order: 1, of: ofEach(reverse) },
  'vmap of mixed': { order: 1, of: ofEach(mixed) },
  'vmap of forward': { order: 1, of: ofEach(forward) },
  'gradient of jvp of vmap': { order: 1, of: (each, flags) => (xs) => reverse((us) => along(overAll(each, flags), xs, us))(xs) },
  'reverse of reverse of vmap': { order: 2, of: ofAll((f) => reverse((us) => inner(reverse(f)(us)))) },
  'mixed of mixed of vmap': { order: 2, of: ofAll((f) => mixed((us) => inner(mixed(f)(us)))) },
  'reverse of jvp of vmap': { order: 2, of: ofAll((f) => reverse(tangent(f))) },
  'vmap of reverse of reverse': { order: 2, of: ofEach((f) => reverse((us) => inner(reverse(f)(us)))) },
  'vmap of reverse of jvp': { order: 2, of: ofEach((f) => reverse(tangent(f))) },
  'vmap of forward of mixed': { order: 2, of: ofEach((f) => forward((us) => inner(mixed(f)(us)))) },
}
const oracle = cd.reference()
const run = (f: Many, xs: readonly E[]): readonly (readonly number[])[] => {
  const compiled = (cd.compile as unknown as (f: unknown, b: unknown) => (t: Tree) => Tree)((t: Tree) => treeOf(f(listOf(t))), oracle)
  return listOf(compiled(treeOf(xs))).map((t) => Array.from((t as unknown as { readonly data: ArrayLike<number> }).data))
}

/** What the law found of one case, guard and operator: nothing, or what is wrong at which points; or why it does not say anything. */
export interface Finding {
  readonly wrong: readonly string[]
  readonly points: number
}
/** The derivatives of the example that is let through, alone and without a guard; undefined where there are none, or they are not finite. */
const plain = new Map<string, readonly (readonly number[])[] | undefined>()
export const lookedAt = (k: Case, before: Before, guard: Guard, name: string): Finding | undefined => {
  const body = bodyOf(k, before)
  const { order, of } = operators[name]!
  const points = before === 'itself' ? pointsOf(k) : [0]
  const shapes = k.floats.map((i) => k.sample.args[i]!.shape)
  const value = (i: number): readonly number[] => {
    const drawn = regular(k.sample.args[i]!, random(11 + i))
    return before === 'itself' ? drawn : before === 'root' ? drawn.map((x) => x ** 3) : drawn.map(Math.exp)
  }
  const key = `${k.prim.name} ${k.prim.samples.indexOf(k.sample as never)} ${before} ${order}`
  if (!plain.has(key)) plain.set(key, alone(k, body, value, order))
  const want = plain.get(key)
  if (want === undefined) return undefined
  const flags = tensor([...points.map(() => 0), 1], [points.length + 1], 'bool')
  const xs = k.floats.map((i, j) =>
    tensor([...points.flatMap((p) => value(i).map(() => p)), ...value(i)], [points.length + 1, ...shapes[j]!]),
  )
  const got = run(of(guards[guard]!(body), flags), xs)
  const wrong: string[] = []
  got.forEach((d, j) => {
    const n = sizeOf(shapes[j]!)
    points.forEach((p, at) => {
      const mine = d.slice(at * n, (at + 1) * n)
      const expected = order === 1 && j === 0 ? 2 : 0
      if (mine.some((v) => v !== expected)) wrong.push(`at ${p}, argument ${j}: ${mine.find((v) => v !== expected)}, not ${expected}`)
    })
    const last = d.slice(points.length * n)
    if (last.some((v, i) => !(Math.abs(v - want[j]![i]!) <= 1e-7 * Math.max(1, Math.abs(want[j]![i]!)))))
      wrong.push(`argument ${j} of what is let through: ${last}, not ${want[j]}`)
  })
  return { wrong, points: points.length }
}
const alone = (k: Case, body: Body, value: (i: number) => readonly number[], order: 1 | 2): readonly (readonly number[])[] | undefined => {
  const xs = k.floats.map((i) => tensor(value(i), k.sample.args[i]!.shape))
  try {
    const found = run(order === 1 ? forward(body) : reverse((us) => tangent(body)(us)), xs)
    return found.flat().every(Number.isFinite) ? found : undefined
  } catch (e) {
    const tag = (e as { readonly error?: { readonly _tag: string } }).error?._tag ?? ''
    if (['MissingRule', 'NotImplemented', 'NotDifferentiable'].includes(tag)) return undefined
    throw e
  }
}
