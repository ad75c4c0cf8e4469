/** Layers and losses against PyTorch: values, gradients of sum(y cos(i)), in f64 and f32 (nn.py made nn.json, vision.py vision.json). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Any = (...xs: readonly unknown[]) => never
interface Listed {
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
interface Arg extends Partial<Listed> {
  readonly shape: readonly number[]
  readonly dtype: 'f64' | 'i32' | 'bool'
  readonly k?: number
  readonly size?: number
  readonly shift?: number
}
interface Case {
  readonly name: string
  readonly fn: string
  readonly options: Readonly<Record<string, unknown>> | null
  readonly args: readonly Arg[]
  readonly value: Listed
  readonly grads: Readonly<Record<string, Listed>>
}
const cases = ['nn', 'vision'].flatMap(
  (name) => JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8')) as readonly Case[],
)
const op = cd as unknown as Readonly<Record<string, Any>>

/** How a case is called, where its options are not the last argument. */
const calls: Readonly<Record<string, (xs: readonly E[], o: Readonly<Record<string, unknown>>) => E>> = {
  'ctcLoss of logits': ([x, ...rest], o) => op.ctcLoss!(op.logSoftmax!(x), ...rest, o),
  'crossEntropy, weighted': ([x, targets, weight], o) => op.crossEntropy!(x, targets, { ...o, weight }),
  'nllLoss, weighted': ([x, targets, weight], o) => op.nllLoss!(x, targets, { ...o, weight }),
  groupNorm: ([x, scale, bias], { groups }) => op.groupNorm!(x, groups, { scale, bias }),
  instanceNorm: ([x, scale, bias]) => op.instanceNorm!(x, { scale, bias }),
  rmsNorm: ([x, scale], o) => op.rmsNorm!(x, { ...o, scale }),
  'scaledDotProductAttention, masked': ([q, k, v, mask]) => op.scaledDotProductAttention!(q, k, v, { mask }),
  adaptiveAvgPool: ([x], { size }) => op.adaptiveAvgPool!(x, size),
  adaptiveMaxPool: ([x], { size }) => op.adaptiveMaxPool!(x, size),
  resize: ([x], { size, ...o }) => op.resize!(x, size, o),
  maxPoolWithIndices: ([x], o) => {
    const { values, indices } = op.maxPoolWithIndices!(x, o) as { values: E; indices: E }
    return op.mul!(values, op.cast!(indices, values.dtype))
  },
  affineGrid: ([theta], { size, ...o }) => op.affineGrid!(theta, size, o),
  'spatial transformer': ([x, theta], { alignCorners }) =>
    op.gridSample!(x, op.affineGrid!(theta, [4, 3], { alignCorners }), { alignCorners }),
  depthToSpace: ([x], { factor, ...o }) => op.depthToSpace!(x, factor, o),
  spaceToDepth: ([x], { factor, ...o }) => op.spaceToDepth!(x, factor, o),
  localResponseNorm: ([x], { size, ...o }) => op.localResponseNorm!(x, size, o),
  pad: ([x], { widths, ...o }) => op.pad!(x, widths, o),
  'softmax of topkFilter': ([x], { k, ...o }) => op.softmax!(op.topkFilter!(x, k, o), o),
  'softmax of toppFilter': ([x], { p, least, ...o }) => op.softmax!(op.toppFilter!(x, p, { ...o, least }), o),
  pixelShuffle: ([x], { factor }) => op.pixelShuffle!(x, factor),
  pixelUnshuffle: ([x], { factor }) => op.pixelUnshuffle!(x, factor),
}
const called = ({ fn, options }: Case, xs: readonly E[]): E =>
  calls[fn]?.(xs, options ?? {}) ?? (options === null ? op[fn]!(...xs) : op[fn]!(...xs, options))
const given = (a: Arg, dtype: 'f64' | 'f32'): cd.Tensor => {
  const n = a.shape.reduce((p, d) => p * d, 1)
  const data = a.data ?? Array.from({ length: n }, (_, i) => a.shift! + a.size! * Math.sin(1 + a.k! + 3 * i))
  return (cd.tensor as unknown as Any)(data, a.shape, a.dtype === 'f64' ? dtype : a.dtype) as unknown as cd.Tensor
}
const near = (got: cd.Tensor, want: Listed, tolerance: number, what: string): void => {
  expect({ what, shape: got.shape }).toEqual({ what, shape: want.shape })
  const size = Math.max(1, ...want.data.filter(Number.isFinite).map(Math.abs))
  want.data.forEach((w, i) => {
    const g = Number(got.data[i])
    if (!Number.isFinite(w)) expect({ what, i, g }).toEqual({ what, i, g: w })
    else if (!(Math.abs(g - w) <= tolerance * size)) expect({ what, i, g }).toEqual({ what, i, g: w })
  })
}
const backends = { cpu: cd.cpu(), reference: cd.reference() }

describe.each([
  ['f64', 'cpu', 1e-11],
  ['f32', 'cpu', 3e-5],
  ['f64', 'reference', 1e-11],
] as const)('%s on %s', (dtype, backend, tolerance) => {
  it.each(cases.map((c) => [c.name, c] as const))('%s', (_name, c) => {
    const args = c.args.map((a) => given(a, dtype))
    const f = (...xs: readonly E[]): E => called(c, xs)
    const run = cd.compile as unknown as (f: unknown, b: unknown) => (...xs: readonly unknown[]) => never
    const declared = (g: (...xs: readonly E[]) => unknown): unknown => Object.defineProperty(g, 'length', { value: args.length })
    near(run(declared(f), backends[backend])(...args), c.value, tolerance, 'value')
    const weights = cd.tensor(
      Float64Array.from(c.value.data, (_, i) => Math.cos(i)),
      [...c.value.shape],
    )
    const loss = declared((...xs) => op.sum!(op.mul!(f(...xs), op.cast!(weights, dtype))))
    const wrt = Object.keys(c.grads).map(Number)
    if (wrt.length === 0) return
    const grads = run((cd.grad as unknown as Any)(loss, { wrt }), backends[backend])(...args) as unknown as readonly cd.Tensor[]
    wrt.forEach((i, k) => {
      near(Array.isArray(grads) ? grads[k]! : (grads as Record<number, cd.Tensor>)[i]!, c.grads[String(i)]!, tolerance * 4, `gradient ${i}`)
    })
  })
})
