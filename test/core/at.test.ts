// at, set and addAt against NumPy's rules written down once more, in plain loops: values, gradients and batches of random indices; and their errors.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { untyped } from '../rules/untyped.js'

const { at, set, addAt, gather, slice, take, mul, square, sum } = untyped
type AnyFunction = (...xs: readonly unknown[]) => unknown
const { compile, evaluate, grad, vmap, tensor } = cd as unknown as {
  readonly compile: (f: AnyFunction, backend: unknown) => (...xs: readonly unknown[]) => cd.Tensor
  readonly evaluate: (x: unknown) => cd.Tensor
  readonly grad: (
    f: AnyFunction,
    options?: object,
  ) => (...xs: readonly unknown[]) => cd.Tensor & { readonly 0: cd.Tensor; readonly 1: cd.Tensor }
  readonly vmap: (f: AnyFunction, options?: object) => (...xs: readonly unknown[]) => cd.Tensor
  readonly tensor: (data: unknown, shape?: readonly number[], dtype?: cd.DType) => cd.Tensor
}

// ---- what NumPy says, in loops

interface Slice {
  readonly start: number | null
  readonly end: number | null
  readonly step: number
}
/** An array of positions, written out or computed; of rank 0 it is computed. */
interface Positions {
  readonly shape: readonly number[]
  readonly data: readonly number[]
  readonly computed: boolean
}
type Item = number | null | '...' | Slice | Positions
const isSlice = (i: Item): i is Slice => typeof i === 'object' && i !== null && 'step' in i
const isArray = (i: Item): i is Positions => typeof i === 'object' && i !== null && 'data' in i

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, d) => a * d, 1)
/** The position of flat element k along each axis. */
const coordinates = (shape: readonly number[], k: number): number[] => {
  const out: number[] = []
  let rest = k
  for (let a = shape.length - 1; a >= 0; a--) {
    out.unshift(rest % shape[a]!)
    rest = Math.floor(rest / shape[a]!)
  }
  return out
}
const flat = (shape: readonly number[], place: readonly number[]): number => place.reduce((o, p, a) => o * shape[a]! + p, 0)
/** Element of an array at a place of a shape that it broadcasts to. */
const broadcastAt = (shape: readonly number[], place: readonly number[]): number =>
  flat(
    shape,
    shape.map((d, a) => (d === 1 ? 0 : place[place.length - shape.length + a]!)),
  )
/** The positions that Python's slice visits: one after the other, from where it begins. */
const visited = ({ start, end, step }: Slice, n: number): number[] => {
  const from = (p: number): number => (p < 0 ? p + n : p)
  const out: number[] = []
  if (step > 0)
    for (let p = start === null ? 0 : Math.max(from(start), 0); p < Math.min(end === null ? n : from(end), n); p += step) out.push(p)
  else
    for (let p = start === null ? n - 1 : Math.min(from(start), n - 1); p > Math.max(end === null ? -1 : from(end), -1); p += step)
      out.push(p)
  return out
}

/** The shape of x[items], and which element of x each of its elements is. */
const numpy = (
  shape: readonly number[],
  items: readonly Item[],
): { readonly shape: readonly number[]; readonly from: readonly number[] } => {
  const named = items.filter((i) => i !== null && i !== '...').length
  const whole = (count: number): Item[] => Array.from({ length: count }, () => ({ start: null, end: null, step: 1 }))
  // '...' stays in the list, though it takes no axis: it parts arrays.
  const all = items.flatMap((i): readonly Item[] => (i === '...' ? ['...', ...whole(shape.length - named)] : [i]))
  const list = items.includes('...') ? all : [...all, ...whole(shape.length - named)]
  const arrays = list.filter(isArray).filter((a) => a.shape.length > 0)
  const rank = Math.max(0, ...arrays.map((a) => a.shape.length))
  const group = Array.from({ length: rank }, (_, k) => {
    const sizes = arrays.map((a) => a.shape[a.shape.length - rank + k] ?? 1)
    return sizes.find((d) => d !== 1) ?? 1
  })
  // With arrays, numbers are arrays of rank 0. If anything stands between two arrays, their axes come first.
  const advanced = list.map((i) => arrays.length > 0 && (typeof i === 'number' || isArray(i)))
  const first = advanced.indexOf(true)
  const apart = first >= 0 && advanced.slice(first, advanced.lastIndexOf(true) + 1).includes(false)
  const axes: { readonly item: number; readonly size: number }[] = []
  const putGroup = (): void => {
    for (const size of group) axes.push({ item: -1, size })
  }
  if (apart) putGroup()
  const axisOf = new Map<number, number>()
  let axis = 0
  list.forEach((i, k) => {
    if (k === first && !apart) putGroup()
    if (i !== null && i !== '...') axisOf.set(k, axis++)
    if (i === null) axes.push({ item: k, size: 1 })
    if (typeof i === 'object' && i !== null && isSlice(i)) axes.push({ item: k, size: visited(i, shape[axisOf.get(k)!]!).length })
  })
  const out = axes.map((a) => a.size)
  const wrapped = (p: number, n: number): number => (p < 0 ? p + n : p)
  const from = Array.from({ length: sizeOf(out) }, (_, k) => {
    const place = coordinates(out, k)
    const inGroup = place.filter((_, a) => axes[a]!.item === -1)
    const source = list.flatMap((i, item) => {
      const n = shape[axisOf.get(item) ?? 0]!
      if (i === null || i === '...') return []
      if (typeof i === 'number') return [wrapped(i, n)]
      if (isSlice(i)) return [visited(i, n)[place[axes.findIndex((a) => a.item === item)]!]!]
      return [wrapped(i.data[broadcastAt(i.shape, inGroup)]!, n)]
    })
    return flat(shape, source)
  })
  return { shape: out, from }
}

// ---- random arrays and indices

interface Drawn {
  readonly shape: readonly number[]
  readonly items: readonly Item[]
  /** The shape of values for the part. */
  readonly v: readonly number[]
  readonly dtype: cd.DType
}
const sliceOf = (n: number): fc.Arbitrary<Slice> => {
  const bound = fc.option(fc.integer({ min: -n - 2, max: n + 2 }), { nil: null })
  return fc.record({ start: bound, end: bound, step: fc.constantFrom(1, 1, 1, 2, 3, -1, -1, -2) })
}
const arrayOf = (n: number, group: readonly number[]): fc.Arbitrary<Positions> =>
  fc
    .tuple(fc.integer({ min: 0, max: group.length - 1 }), fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }), fc.boolean())
    .chain(([from, ones, computed]) => {
      const shape = group.slice(from).map((d, k) => (ones[k] && d !== 0 ? 1 : d))
      const size = sizeOf(shape)
      return fc
        .array(fc.integer({ min: -n, max: n - 1 }), { minLength: size, maxLength: size })
        .map((data) => ({ shape, data, computed: computed || shape.length > 1 }))
    })
const itemOf = (n: number, group: readonly number[]): fc.Arbitrary<Item> =>
  n === 0
    ? sliceOf(n)
    : fc.oneof(
        sliceOf(n),
        sliceOf(n),
        fc.integer({ min: -n, max: n - 1 }),
        fc.integer({ min: -n, max: n - 1 }).map((k) => ({ shape: [], data: [k], computed: true })),
        arrayOf(n, group),
      )
const drawn: fc.Arbitrary<Drawn> = fc
  .tuple(
    fc.array(fc.constantFrom(0, 1, 1, 2, 2, 3, 4), { maxLength: 4 }).filter((s) => sizeOf(s) <= 24),
    fc.constantFrom([2], [3], [2, 3], [1], [2, 2], [0]),
    fc.constantFrom<cd.DType>('f64', 'f64', 'f32', 'i32', 'bool'),
    fc.nat(8),
    fc.array(fc.nat(5), { maxLength: 2 }),
    fc.boolean(),
    fc.tuple(fc.nat(4), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 })),
  )
  .chain(([shape, group, dtype, keep, news, ellipsis, [drop, ones]]) => {
    const count = Math.min(keep, shape.length)
    // With an ellipsis, the last `back` items are of the last axes.
    const back = ellipsis ? Math.min(drop, count) : 0
    const axes = [...shape.keys()]
    const named = [...axes.slice(0, count - back), ...axes.slice(shape.length - back)]
    return fc.tuple(...named.map((a) => itemOf(shape[a]!, group))).map((own): Drawn => {
      const items: Item[] = [...own]
      if (ellipsis) items.splice(count - back, 0, '...')
      for (const k of news) items.splice(Math.min(k, items.length), 0, null)
      const part = numpy(shape, items).shape
      const v = part.slice(Math.min(drop, part.length) * (ones[0] ? 1 : 0)).map((d, k) => (ones[k] && ones[7] ? 1 : d))
      return { shape, items, v, dtype }
    })
  })
  .filter((d) => sizeOf(numpy(d.shape, d.items).shape) <= 60)

/** The items as codual writes them; the computed ones are inputs. */
const written = (items: readonly Item[], inputs: readonly unknown[]): readonly unknown[] => {
  const rest = [...inputs]
  return items.map((i) =>
    isSlice(i)
      ? `${i.start ?? ''}:${i.end ?? ''}${i.step === 1 ? '' : `:${i.step}`}`
      : isArray(i)
        ? i.computed
          ? rest.shift()
          : [...i.data]
        : i,
  )
}
const inputsOf = (items: readonly Item[]): cd.Tensor[] =>
  items.flatMap((i) => (isArray(i) && i.computed ? [tensor(Int32Array.from(i.data), i.shape, 'i32')] : []))
const numbers = (shape: readonly number[], seed: number, dtype: cd.DType): cd.Tensor =>
  tensor(
    Float64Array.from({ length: sizeOf(shape) }, (_, i) =>
      dtype === 'bool' ? (i * 7 + seed) % 3 && 1 : seed + i / (dtype === 'i32' ? 1 : 4),
    ),
    shape,
    dtype,
  )
const plain = (t: cd.Tensor) => ({ dtype: t.dtype, shape: [...t.shape], data: Array.from(t.data) })
const runs = { numRuns: 250, seed: 7 }
const check = (test: (d: Drawn) => void, only: (d: Drawn) => boolean = () => true, numRuns = runs.numRuns): void =>
  fc.assert(fc.property(drawn.filter(only), test), { ...runs, numRuns })

describe('at, set, addAt: values', () => {
  it('at', () => {
    check(({ shape, items, dtype }) => {
      const x = numbers(shape, 1, dtype)
      const { shape: part, from } = numpy(shape, items)
      const y = compile((a, ...is) => at(a, ...written(items, is)), cd.cpu({ verify: true }))(x, ...inputsOf(items))
      expect(plain(y)).toEqual({ dtype, shape: part, data: from.map((k) => x.data[k]) })
    })
  })
  it('set: of places that come twice the last wins', () => {
    check(({ shape, items, v, dtype }) => {
      const [x, u] = [numbers(shape, 1, dtype), numbers(v, 50, dtype)]
      const { shape: part, from } = numpy(shape, items)
      const data = Array.from(x.data)
      from.forEach((to, k) => {
        data[to] = u.data[broadcastAt(v, coordinates(part, k))]!
      })
      const y = compile((a, b, ...is) => set(a, written(items, is), b), cd.cpu({ verify: true }))(x, u, ...inputsOf(items))
      expect(plain(y)).toEqual({ dtype, shape: [...shape], data })
    })
  })
  it('addAt: places that come twice are added to twice', () => {
    check(
      ({ shape, items, v, dtype }) => {
        const [x, u] = [numbers(shape, 1, dtype), numbers(v, 50, dtype)]
        const { shape: part, from } = numpy(shape, items)
        const data = Array.from(x.data)
        from.forEach((to, k) => {
          data[to]! += u.data[broadcastAt(v, coordinates(part, k))]!
        })
        const y = compile((a, b, ...is) => addAt(a, written(items, is), b), cd.cpu({ verify: true }))(x, u, ...inputsOf(items))
        expect(plain(y)).toEqual({ dtype, shape: [...shape], data })
      },
      (d) => d.dtype !== 'bool',
    )
  })
  it('a small part of a large array', () => {
    const shape = [130, 140]
    const x = numbers(shape, 1, 'f64')
    for (const [start, end, column] of [
      [0, 1, 0],
      [127, 130, 136],
      [50, 52, 7],
    ] as const) {
      const u = numbers([end - start, 4], -9, 'f64')
      const items = [`${start}:${end}`, `${column}:${column + 4}`]
      const places = Array.from(u.data, (_, k) => (start + Math.floor(k / 4)) * 140 + column + (k % 4))
      const data = Array.from(x.data)
      places.forEach((to, k) => {
        data[to] = u.data[k]!
      })
      const f: AnyFunction = (a, b) => set(a, items, b)
      expect(plain(compile(f, cd.cpu({ verify: true }))(x, u))).toEqual({ dtype: 'f64', shape, data })
      const { 0: dx, 1: du } = grad((a, b) => sum(mul(x, f(a, b))), { wrt: [0, 1] })(x, u)
      expect(Array.from(dx.data)).toEqual(Array.from(x.data, (y, k) => (places.includes(k) ? 0 : y)))
      expect(Array.from(du.data)).toEqual(places.map((k) => x.data[k]))
    }
  })
  it('everything else of x stays bit for bit: NaN, -0, infinities', () => {
    const x = tensor([-0, Number.NaN, Number.POSITIVE_INFINITY, -0, 1, -0])
    for (const f of [set, addAt])
      for (const i of [[1], ['1:2'], ['1:6:4'], ['4:0:-2'], [[1]]]) expect(Object.is(evaluate(f(x, i, 5)).data[0], -0)).toBe(true)
    expect(Array.from(evaluate(set(x, '::2', -0)).data)).toEqual([-0, Number.NaN, -0, -0, -0, -0])
  })
})

describe('at, set, addAt: derivatives and batches', () => {
  const isFloat = (d: Drawn): boolean => d.dtype === 'f64' || d.dtype === 'f32'
  it('gradients are those of the places', () => {
    check(({ shape, items, v, dtype }) => {
      const { shape: part, from } = numpy(shape, items)
      const is = inputsOf(items)
      const [x, u] = [numbers(shape, 1, dtype), numbers(v, 50, dtype)]
      const [w, wPart] = [numbers(shape, 3, dtype), numbers(part, 5, dtype)]
      const zeros = (n: number): number[] => new Array<number>(n).fill(0)
      const of = (k: number): number => broadcastAt(v, coordinates(part, k))

      const read = zeros(x.data.length)
      from.forEach((to, k) => {
        read[to]! += wPart.data[k]!
      })
      expect(Array.from(grad((a) => sum(mul(wPart, at(a, ...written(items, is)))))(x).data)).toEqual(read)

      const { 0: xAdd, 1: vAdd } = grad((a, b) => sum(mul(w, addAt(a, written(items, is), b))), { wrt: [0, 1] })(x, u)
      const added = zeros(u.data.length)
      from.forEach((to, k) => {
        added[of(k)]! += w.data[to]!
      })
      expect(Array.from(xAdd.data)).toEqual(Array.from(w.data))
      expect(Array.from(vAdd.data)).toEqual(added)

      const { 0: xSet, 1: vSet } = grad((a, b) => sum(mul(w, set(a, written(items, is), b))), { wrt: [0, 1] })(x, u)
      const winner = new Map(from.map((to, k) => [to, k] as const))
      const won = zeros(u.data.length)
      for (const [to, k] of winner) won[of(k)]! += w.data[to]!
      expect(Array.from(xSet.data)).toEqual(Array.from(w.data, (y, to) => (winner.has(to) ? 0 : y)))
      expect(Array.from(vSet.data)).toEqual(won)
    }, isFloat)
  })
  it('agree with finite differences in every mode and to the second order', () => {
    check(
      ({ shape, items, v }) => {
        const is = inputsOf(items)
        const i = (): readonly unknown[] => written(items, is)
        const [x, u] = [numbers(shape, 1, 'f64'), numbers(v, 2, 'f64')]
        expect(report(checkGrad((a: unknown) => sum(square(at(square(a), ...i()))))(x))).toMatch(/^ok/)
        expect(report(checkGrad((a: unknown, b: unknown) => sum(square(set(square(a), i(), square(b)))))(x, u))).toMatch(/^ok/)
        expect(report(checkGrad((a: unknown, b: unknown) => sum(square(addAt(square(a), i(), square(b)))))(x, u))).toMatch(/^ok/)
      },
      isFloat,
      count(6, 25),
    )
  })
  it('vmap: of x and v, and of computed places', () => {
    check(
      ({ shape, items, v, dtype }) => {
        const is = inputsOf(items)
        // Two examples: the other has its places turned round, each on its axis.
        const other = is.map((t) =>
          tensor(
            Int32Array.from(t.data).map((k) => -1 - k),
            t.shape,
            'i32',
          ),
        )
        const stacked = is.map((t, k) => tensor([...t.data, ...other[k]!.data], [2, ...t.shape], 'i32'))
        const [x, u] = [numbers([2, ...shape], 1, dtype), numbers([2, ...v], 50, dtype)]
        const half = (t: cd.Tensor, k: number): cd.Tensor =>
          tensor(t.data.slice((k * t.data.length) / 2, ((k + 1) * t.data.length) / 2), t.shape.slice(1), t.dtype)
        const functions: readonly ((a: unknown, b: unknown, ...c: readonly unknown[]) => unknown)[] = [
          (a, _b, ...c) => at(a, ...written(items, c)),
          (a, b, ...c) => set(a, written(items, c), b),
          (a, b, ...c) => (dtype === 'bool' ? a : addAt(a, written(items, c), b)),
        ]
        for (const f of functions) {
          const y = vmap(f as AnyFunction)(x, u, ...stacked)
          const each = [is, other].map((c, k) => compile(f as AnyFunction, cd.cpu())(half(x, k), half(u, k), ...c))
          expect(Array.from(y.data)).toEqual(each.flatMap((t) => Array.from(t.data)))
          expect(y.shape).toEqual([2, ...each[0]!.shape])
        }
      },
      undefined,
      120,
    )
  })
})

describe('slice', () => {
  it('null and what is left out are the ends of the axis, in the order that the stride reads it', () => {
    const of = (...args: readonly unknown[]): readonly number[] => Array.from(evaluate(slice([0, 1, 2, 3, 4], ...args)).data)
    expect(of([1])).toEqual([1, 2, 3, 4])
    expect(of([-2], [null])).toEqual([3, 4])
    expect(of([null], [2])).toEqual([0, 1])
    expect(of([null], [null], [-2])).toEqual([4, 2, 0])
    expect(of([3], undefined, [-1])).toEqual([3, 2, 1, 0])
    expect(of([null], [1], [-1])).toEqual([4, 3, 2])
    expect(of([], undefined)).toEqual([0, 1, 2, 3, 4])
    expect(() => of([null], [undefined])).toThrow('slice: starts')
  })
})

describe('plans', () => {
  const x = cd.f64(4, 6)
  const steps = (f: (x: unknown) => unknown): string =>
    (cd.show as (f: unknown) => string)((cd.fn as (d: object, f: unknown) => unknown)({ x }, (p: { x: unknown }) => f(p.x)))
  it('known places are views: no gather, no window', () => {
    for (const f of [
      (a: unknown) => at(a, 1),
      (a: unknown) => at(a, '1:3', '::-1'),
      (a: unknown) => take(a, 2),
      (a: unknown) => gather(a, -1, { axis: 1 }),
    ])
      expect(steps(f)).not.toMatch(/gather|dynamic/)
  })
  it('known places are written without a scatter', () => {
    for (const f of [(a: unknown) => set(a, 1, 0), (a: unknown) => set(a, [':', '::2'], 0), (a: unknown) => addAt(a, ['1:3', -1], 1)])
      expect(steps(f)).not.toMatch(/setAt|scatter|dynamic/)
  })
  it('a small part of a large array is a window, written in place', () => {
    const f = (cd.fn as (d: object, f: unknown) => AnyFunction)({ x: cd.f64(200, 100) }, ({ x }: { x: unknown }) => set(square(x), 3, 0))
    expect((cd.show as (f: unknown) => string)(f)).toMatch(/dynamicUpdateSlice/)
  })
  it('a number out of range is clamped by take, as an index is', () => {
    expect(evaluate(take([1, 2, 3], 7)).item()).toBe(3)
    expect(evaluate(take([1, 2, 3], -7)).item()).toBe(1)
  })
})
