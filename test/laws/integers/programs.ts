// What takes functions, keeps trees or makes arrays, under the law of integers.
import * as codual from '../../../src/index.js'
import type { Exact, Row } from './law.js'

type Any = Record<string, (...xs: readonly unknown[]) => unknown>
type Call = (...xs: readonly unknown[]) => unknown
const cd = codual as unknown as Any
const V: Row['shapes'] = [[4]] // biome-ignore format: one row
const VV: Row['shapes'] = [[4], [4]] // biome-ignore format: one row
const INTS: Row['only'] = [['i32'], ['bool']] // biome-ignore format: one row
const I32: Row['only'] = [['i32']] // biome-ignore format: one row
const squares: Exact = (x) => x!.map((v) => v * v)
const times = (n: number): Exact => (x, y) => x!.map((v, i) => v * y![i]! ** BigInt(n)) // biome-ignore format: one row
const prefix: Exact = (x) => x!.map((_, k) => x!.slice(0, k + 1).reduce((a, b) => a * b, 1n))
const same = (name: string, f: Row['f'], only: Row['only'] = INTS): Row => ({
  name,
  becomes: ['stays'],
  shapes: V,
  f,
  exact: (x) => x!,
  only,
})
const square = (x: unknown): unknown => cd.mul!(x, x)

export const programRows: readonly Row[] = [
  { name: 'map', becomes: ['stays'], shapes: V, f: (x) => cd.map!(square, x), exact: squares, only: I32 },
  { name: 'checkpoint', becomes: ['counts'], shapes: V, f: (x) => (cd.checkpoint!(square) as Call)(x), exact: squares },
  { name: 'vmap', becomes: ['counts'], shapes: V, f: (x) => (cd.vmap!(square) as Call)(x), exact: squares },
  { name: 'fn', becomes: ['stays'], shapes: V, f: (x) => (cd.fn!({ x: codual.i32(4) }, ({ x: y }: { x: unknown }) => square(y)) as Call)({ x }), exact: squares, only: I32 }, // biome-ignore format: one row
  { name: 'customRule', becomes: ['counts'], shapes: V, f: (x) => (cd.customRule!(square, { frule: (_: unknown, d: unknown) => [0, d] }) as Call)(x), exact: squares }, // biome-ignore format: one row
  { name: 'cond', becomes: ['counts'], shapes: V, f: (x) => cd.cond!(true, square, (y: unknown) => cd.add!(y, 0), x), exact: squares },
  {
    name: 'switchCase',
    becomes: ['counts'],
    shapes: V,
    f: (x) => cd.switchCase!(1, [(y: unknown) => cd.add!(y, 0), square], x),
    exact: squares,
  },
  { name: 'fori', becomes: ['stays'], shapes: VV, f: (x, y) => cd.fori!(5, (_: unknown, c: unknown) => cd.mul!(c, y), x), exact: times(5), only: [['i32', 'i32'], ['i32', 'bool']] }, // biome-ignore format: one row
  { name: 'scan', becomes: ['stays'], shapes: VV, f: (x, y) => (cd.scan!((c: unknown) => [cd.mul!(c, y), null], x, null, { length: 5 }) as readonly unknown[])[0], exact: times(5), only: [['i32', 'i32'], ['i32', 'bool']] }, // biome-ignore format: one row
  { name: 'whileLoop', becomes: ['stays'], shapes: VV, f: (x, y) => (cd.whileLoop!(([k]: readonly unknown[]) => cd.lt!(k, 5), ([k, c]: readonly unknown[]) => [cd.add!(k, 1), cd.mul!(c, y)], [codual.tensor(0, [], 'i32'), x], { maxSteps: 9 }) as readonly (readonly unknown[])[])[0]![1], exact: times(5), only: [['i32', 'i32'], ['i32', 'bool']] }, // biome-ignore format: one row
  { name: 'associativeScan', becomes: ['counts'], shapes: V, f: (x) => cd.associativeScan!(cd.mul, x), exact: prefix, only: I32 },
  { name: 'cast', becomes: ['i32'], shapes: V, f: (x) => cd.cast!(x, 'i32') },
  { name: 'elementwise', becomes: ['counts'], shapes: VV, exact: (a, b) => a!.map((x, i) => x * b![i]!), f: cd.elementwise!({ name: 'times', args: ['float', 'float'], scalar: (a: number, b: number) => a * b, integer: Math.imul, integers: true, source: 'definition' }) as Row['f'] }, // biome-ignore format: one row
  {
    name: 'unary',
    becomes: ['floats'],
    shapes: V,
    f: cd.unary!({ name: 'half', scalar: (x: number) => x / 2, source: 'definition' }) as Row['f'],
  },
  { name: 'binary', becomes: ['floats'], shapes: VV, f: cd.binary!({ name: 'mean2', scalar: (a: number, b: number) => (a + b) / 2, source: 'definition' }) as Row['f'] }, // biome-ignore format: one row
  same('clipGradient', (x) => cd.clipGradient!(x, 1)),
  same('reverseGradient', (x) => cd.reverseGradient!(x)),
  same('tapGradient', (x) => cd.tapGradient!(x, () => undefined)),
  same('straightThrough', (x) => (cd.straightThrough!((y: unknown) => y) as Call)(x)),
  same('treeMap', (x) => cd.treeMap!((y: unknown) => y, { x })),
  same('treeZip', (x) => cd.treeZip!((y: unknown) => y, { x }, { x })),
  same('treeLeaves', (x) => cd.treeLeaves!({ x })),
  same('treeReduce', (x) => cd.treeReduce!((_: unknown, y: unknown) => y, { x }, 0)),
  same('treeFlatten', (x) => { const [leaves, back] = cd.treeFlatten!({ x }) as readonly [unknown, Call]; return back(leaves) }), // biome-ignore format: one row
  same('ravel', (x) => { const [, back] = cd.ravel!({ x }) as readonly [unknown, Call]; return back((cd.ravel!({ x }) as readonly unknown[])[0]) }), // biome-ignore format: one row
]
