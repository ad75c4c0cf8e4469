// The law of integers: what every function makes of i32 and bool is what it makes of the same whole numbers in the dtype that its docs promise, to the bit.
// Functions that pick and order keep the dtype, arithmetic counts booleans in i32 and wraps, functions of floats compute in f64, never through f32.
import type { SyncBackend } from '../../../src/core/functions/backend.js'
import { dtypes, promote } from '../../../src/core/graph/aval.js'
import type { DType } from '../../../src/core/types/dtype.js'
import type { AnyExpr, Tensor } from '../../../src/core/types/expr.js'
import { cast, compile, tensor } from '../../../src/index.js'

/** What becomes of the dtype that the arguments have together: it stays; bool becomes i32; that and i32 become f64; or one whatever they are. */
export type Becomes = 'stays' | 'counts' | 'floats' | 'i32' | 'bool'
/** Whole numbers in row-major order as exact as can be, and what is exactly made of them; i32 results wrap. */
export type Exact = (...xs: readonly (readonly bigint[])[]) => readonly bigint[]
export interface Row {
  readonly name: string
  /** Of each result, in the order of a tree's leaves. */
  readonly becomes: readonly Becomes[]
  readonly shapes: readonly (readonly number[])[]
  readonly f: (...xs: readonly never[]) => unknown
  /** Where f64 would round, or i32 wraps: the first result of integers. */
  readonly exact?: Exact
  /** The whole numbers of the arguments, where not any will do. */
  readonly data?: readonly (readonly number[])[]
  /** The dtypes that go together, where not all do. */
  readonly only?: readonly (readonly DType[])[]
}

const EXTREMES = [2147483647, -2147483648, 16777217, -16777219, 46341, 3, -1, 0, 65537, 1000000007, -7]
const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
/** Integers of an i32 over its whole range. */
const drawn = (shape: readonly number[], at: number): readonly number[] =>
  Array.from({ length: sizeOf(shape) }, (_, i) =>
    i % 4 === 3 ? Math.imul(i * 31 + at, 0x9e3779b1) : EXTREMES[(i + 5 * at) % EXTREMES.length]!,
  )

/** The lists of dtypes that the law looks at. */
const combinations: Readonly<Record<number, readonly (readonly DType[])[]>> = {
  1: [['i32'], ['bool']],
  2: [
    ['i32', 'i32'],
    ['bool', 'bool'],
    ['i32', 'bool'],
    ['bool', 'i32'],
    ['i32', 'f64'],
    ['f32', 'i32'],
    ['bool', 'f32'],
  ],
  3: [
    ['i32', 'i32', 'i32'],
    ['bool', 'bool', 'bool'],
    ['bool', 'i32', 'i32'],
    ['i32', 'f64', 'bool'],
    ['f32', 'i32', 'i32'],
  ],
}
const discrete = (d: DType): boolean => d === 'i32' || d === 'bool'
const resultOf = (becomes: Becomes, d: DType): DType =>
  becomes === 'i32' || becomes === 'bool'
    ? becomes
    : becomes === 'floats' && discrete(d)
      ? 'f64'
      : becomes === 'counts' && d === 'bool'
        ? 'i32'
        : d

const leavesOf = (tree: unknown): readonly AnyExpr[] => {
  const leaf = (tree as AnyExpr)._tag
  return leaf === 'Expr' || leaf === 'Tensor' ? [tree as AnyExpr] : Object.values(tree as object).flatMap(leavesOf)
}
interface Variation {
  readonly dtypes: readonly DType[]
  readonly common: DType
  readonly data: readonly (readonly number[])[]
}
const variationsOf = (row: Row): readonly Variation[] =>
  (row.only ?? combinations[row.shapes.length] ?? []).map((list) => ({
    dtypes: list,
    common: list.reduce(promote, dtypes[0]!),
    data: row.shapes.map((shape, i) => (row.data?.[i] ?? drawn(shape, i)).map((x) => (list[i] === 'bool' ? x & 1 : x))),
  }))
const same = (got: number, want: number): boolean => Object.is(got, want) || got === want
/** Where what was computed is not what it should be. */
const differ = (got: Tensor, dtype: DType, want: readonly number[]): string | undefined => {
  const ys = Array.from(got.data)
  const right = got.dtype === dtype && ys.length === want.length && ys.every((y, k) => same(y, want[k]!))
  return right ? undefined : `${got.dtype} [${ys.slice(0, 12)}], not ${dtype} [${want.slice(0, 12)}]`
}

/** Is it held against whole numbers, and not against the same function in f64? */
const isExact = (row: Row, v: Variation): boolean => row.exact !== undefined && discrete(v.common)
/** All that a function makes of its arguments, in each dtype: as they are, and as what they are to become, in f64. One program. */
const resultsOf = (row: Row, vs: readonly Variation[], backend: SyncBackend): readonly (readonly Tensor[])[] => {
  const n = row.shapes.length
  const tensors = (v: Variation, dtypeOf: (i: number) => DType) => v.data.map((x, i) => tensor(x as number[], row.shapes[i]!, dtypeOf(i)))
  const alone = row.becomes.length === 1
  const calls = vs.flatMap((v) => [
    { args: tensors(v, (i) => v.dtypes[i]!), wide: false },
    // Of integers the same in f64, which holds them all; beside a float all in that float.
    ...(alone && isExact(row, v) ? [] : [{ args: tensors(v, () => (discrete(v.common) ? 'f64' : v.common)), wide: true }]),
  ])
  const counts: number[] = []
  const program = compile(
    ((...xs: readonly AnyExpr[]) =>
      calls.flatMap(({ wide }, k) => {
        const ys = leavesOf(row.f(...(xs.slice(k * n, k * n + n) as never[])))
        counts[k] = ys.length
        return wide ? ys.map((y) => cast(y, 'f64')) : ys
      })) as never,
    backend,
  ) as unknown as (...xs: readonly Tensor[]) => readonly Tensor[]
  const ys = program(...calls.flatMap((c) => c.args))
  const starts = counts.map((_, k) => counts.slice(0, k).reduce((a, b) => a + b, 0))
  return starts.map((start, k) => ys.slice(start, start + counts[k]!))
}

/** What a function does that it should not, on a backend. */
export const mistakesOf = (row: Row, backend: SyncBackend): readonly string[] => {
  const vs = variationsOf(row)
  const results = [...resultsOf(row, vs, backend)]
  return vs.flatMap((v) => {
    const got = results.shift()!
    const wide = row.becomes.length === 1 && isExact(row, v) ? undefined : results.shift()!
    const exact = isExact(row, v) ? row.exact!(...v.data.map((x) => x.map(BigInt))) : undefined
    if (got.length !== row.becomes.length) return [`${row.name} has ${got.length} results, not ${row.becomes.length}`]
    return row.becomes.flatMap((becomes, r) => {
      const dtype = resultOf(becomes, v.common)
      const whole = r === 0 && exact !== undefined ? exact.map((y) => Number(dtype === 'i32' ? BigInt.asIntN(32, y) : y)) : undefined
      const want = whole ?? Array.from(wide![r]!.data, (y) => (dtype === 'bool' ? Number(y !== 0) : y))
      const wrong = differ(got[r]!, dtype, want)
      return wrong === undefined ? [] : [`${row.name}(${v.dtypes}) ${row.becomes.length > 1 ? `result ${r} ` : ''}is ${wrong}`]
    })
  })
}

/** Where an array of plain JavaScript beside an i32 is not the i32 that it holds. */
export const plainMistakes = (row: Row, backend: SyncBackend): readonly string[] => {
  if (row.only !== undefined || row.shapes.length !== 2) return []
  const [x, y] = row.shapes.map((shape, i) => tensor((row.data?.[i] ?? drawn(shape, i)) as number[], shape, 'i32'))
  const call = row.f as (...xs: readonly unknown[]) => unknown
  const both = compile(
    ((a: AnyExpr, b: AnyExpr) => [leavesOf(call(a, y!.toArray())), leavesOf(call(a, b))]) as never,
    backend,
  ) as unknown as (...xs: readonly Tensor[]) => readonly (readonly Tensor[])[]
  const [got, want] = both(x!, y!)
  return got!.flatMap((g, r) => {
    const wrong = differ(g, want![r]!.dtype, Array.from(want![r]!.data))
    return wrong === undefined ? [] : [`${row.name}(i32, plain) is ${wrong}`]
  })
}
