// Convolutions, pools, einsum and normalisations of random geometry: the CPU backend against the reference, values and gradients.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byProduct } from '../../src/backends/cpu/wasm/conv-pointwise.js'
import { byWinograd } from '../../src/backends/cpu/wasm/conv-winograd.js'
import {
  type AnyExpr,
  add,
  avgPool,
  batchNorm,
  compile,
  conv,
  cpu,
  crossEntropy,
  einsum,
  grad,
  layerNorm,
  maxPool,
  mul,
  reference,
  sin,
  softmax,
  square,
  sum,
  type Tensor,
  tensor,
  vmap,
} from '../../src/index.js'

/** The public functions, without shapes in their types: these tests draw shapes at run time. */
type Loose = (...args: readonly unknown[]) => AnyExpr
const [conv_, maxPool_, avgPool_, einsum_, batchNorm_, layerNorm_, add_, sin_] = [
  conv,
  maxPool,
  avgPool,
  einsum,
  batchNorm,
  layerNorm,
  add,
  sin,
].map((f) => f as unknown as Loose) as [Loose, Loose, Loose, Loose, Loose, Loose, Loose, Loose]
type Values = Readonly<Record<string, Tensor>>
type Body = (xs: Readonly<Record<string, AnyExpr>>) => unknown
const compiled = compile as unknown as (f: unknown, backend: unknown) => (xs: unknown) => unknown
const gradient = grad as unknown as (f: unknown) => Body
const batched = vmap as unknown as (f: unknown) => Body

const numbers = (x: unknown): number[] =>
  typeof x !== 'object' || x === null
    ? []
    : 'data' in x
      ? Array.from((x as { readonly data: ArrayLike<number> }).data)
      : Object.values(x).flatMap(numbers)
/** Both backends agree on f at xs. */
const agree = (f: Body, xs: Values, tolerance: number, what: string): void => {
  const got = numbers(compiled(f, cpu())(xs))
  const want = numbers(compiled(f, reference())(xs))
  expect(got.length, what).toBe(want.length)
  got.forEach((v, i) => {
    if (!(Math.abs(v - want[i]!) <= tolerance * Math.max(1, Math.abs(want[i]!)))) expect.fail(`${what}, entry ${i}: ${v}, not ${want[i]}`)
  })
}
/** Tensors with numbers that differ from place to place. */
const drawer = (dtype: 'f32' | 'f64') => {
  let at = 0
  return (shape: readonly number[]): Tensor => {
    const data = Array.from({ length: shape.reduce((p, d) => p * d, 1) }, () => Math.sin(++at))
    return (tensor as unknown as (...args: readonly unknown[]) => Tensor)(data, shape, dtype)
  }
}
const lossOf =
  (f: Body): Body =>
  (xs) =>
    sum(square(f(xs) as AnyExpr))

const int = (max: number, min = 1) => fc.integer({ min, max })
const geometries = fc
  .record({
    n: int(3, 0),
    groups: int(4),
    ci: int(5),
    perGroup: int(5),
    h: int(9),
    w: int(11),
    kh: int(4),
    kw: int(4),
    stride: fc.tuple(int(3), int(3)),
    dilation: fc.tuple(int(2), int(2)),
    padding: fc.tuple(fc.tuple(int(3, 0), int(3, 0)), fc.tuple(int(3, 0), int(3, 0))),
    dtype: fc.constantFrom('f32' as const, 'f64' as const),
  })
  .filter(
    (g) =>
      g.h + g.padding[0][0] + g.padding[0][1] > g.dilation[0] * (g.kh - 1) &&
      g.w + g.padding[1][0] + g.padding[1][1] > g.dilation[1] * (g.kw - 1),
  )
// f32 kernels sum a few hundred products in f32, the reference in f64.
const toleranceOf = (dtype: 'f32' | 'f64'): number => (dtype === 'f32' ? 2e-4 : 1e-11)

describe('cpu agrees with the reference', () => {
  it('on convolutions, their gradients, and batches of those', () => {
    fc.assert(
      fc.property(geometries, (g) => {
        const draw = drawer(g.dtype)
        const { stride, dilation, padding, groups } = g
        const [xs, ks] = [
          [g.n, groups * g.ci, g.h, g.w],
          [groups * g.perGroup, g.ci, g.kh, g.kw],
        ]
        const f: Body = ({ x, k }) => conv_(x, k, { stride, dilation, padding, groups })
        const one = { x: draw(xs), k: draw(ks) }
        agree(f, one, toleranceOf(g.dtype), 'conv')
        agree(gradient(lossOf(f)), one, toleranceOf(g.dtype), 'gradient')
        agree(batched(gradient(lossOf(f))), { x: draw([2, ...xs]), k: draw([2, ...ks]) }, toleranceOf(g.dtype), 'batch of gradients')
      }),
      { numRuns: 60 },
    )
  })
  it('on 3 x 3 convolutions of many channels, which are computed by minimal filtering', () => {
    const reached = { forward: 0, input: 0, kernel: 0 }
    fc.assert(
      fc.property(
        int(2),
        int(12, 8),
        int(18, 16),
        int(13, 6),
        int(18, 6),
        fc.tuple(int(3, 0), int(3, 0), int(2, 0), int(2, 0)),
        (n, ci, co, h, w, p) => {
          const draw = drawer('f32')
          const padding = [
            [p[0], p[1]],
            [p[2], p[3]],
          ] as const
          // Two users of x, so that one cotangent is added to the other.
          const f: Body = ({ x, k }) => add_(conv_(x, k, { padding }), conv_(sin_(x), k, { padding }))
          const xs = { x: draw([n, ci, h, w]), k: draw([co, ci, 3, 3]) }
          agree(f, xs, 1e-4, 'conv')
          agree(gradient(lossOf(f)), xs, 1e-3, 'gradient')
          const shape = {
            channels: ci,
            height: h,
            width: w,
            outChannels: co,
            kernel: [3, 3],
            stride: [1, 1],
            padding,
            dilation: [1, 1],
            groups: 1,
          } as const
          for (const of of ['forward', 'input', 'kernel'] as const) if (byWinograd('f32', shape, of)) reached[of]++
        },
      ),
      { numRuns: 25 },
    )
    expect(reached.forward).toBeGreaterThan(8)
    expect(reached.input).toBeGreaterThan(4)
    expect(reached.kernel).toBeGreaterThan(8)
  })
  it('on 1 x 1 convolutions, which are products from 8 channels and pixels on', () => {
    const reached = { forward: 0, input: 0, neither: 0 }
    const draws = fc.record({
      n: int(3),
      ci: int(20, 5),
      co: int(20, 5),
      h: int(5),
      w: int(9),
      dtype: fc.constantFrom('f32' as const, 'f64' as const),
    })
    fc.assert(
      fc.property(draws, ({ n, ci, co, h, w, dtype }) => {
        const draw = drawer(dtype)
        // Two users of x, so that one cotangent is added to the other.
        const f: Body = ({ x, k }) => add_(conv_(x, k), conv_(sin_(x), k))
        const one = { x: draw([n, ci, h, w]), k: draw([co, ci, 1, 1]) }
        agree(f, one, toleranceOf(dtype), 'conv')
        agree(gradient(lossOf(f)), one, 10 * toleranceOf(dtype), 'gradient')
        const padding = [
          [0, 0],
          [0, 0],
        ] as const
        const shape = {
          channels: ci,
          height: h,
          width: w,
          outChannels: co,
          kernel: [1, 1],
          stride: [1, 1],
          padding,
          dilation: [1, 1],
          groups: 1,
        } as const
        const of = (['forward', 'input'] as const).filter((direction) => byProduct(shape, direction))
        for (const direction of of) reached[direction]++
        if (of.length === 0) reached.neither++
      }),
      { numRuns: 40 },
    )
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(4)
  })
  it('on pools and their gradients', () => {
    fc.assert(
      fc.property(geometries, fc.boolean(), (g, countIncludePad) => {
        const draw = drawer(g.dtype)
        const window = [g.kh, g.kw]
        const padding = g.padding.map((p, i) => p.map((d) => Math.min(d, window[i]! - 1)))
        fc.pre([g.h, g.w].every((d, i) => d + padding[i]![0]! + padding[i]![1]! >= window[i]!))
        const x = draw([g.n, g.ci, g.h, g.w])
        for (const pool of [maxPool_, avgPool_]) {
          const f: Body = (xs) => pool(xs.x, { window, stride: g.stride, padding, ...(pool === avgPool_ && { countIncludePad }) })
          agree(f, { x }, toleranceOf(g.dtype), 'pool')
          agree(gradient(lossOf(f)), { x }, toleranceOf(g.dtype), 'gradient')
        }
      }),
      { numRuns: 60 },
    )
  })
  it('on einsum and its gradients', () => {
    const letters = ['i', 'j', 'k', 'l']
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(...letters), { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
        fc.shuffledSubarray(letters),
        fc.array(int(4, 0), { minLength: 4, maxLength: 4 }),
        (terms, order, sizes) => {
          const draw = drawer('f64')
          const xs = Object.fromEntries(terms.map((t, i) => [`x${i}`, draw(t.map((l) => sizes[letters.indexOf(l)]!))]))
          const spec = `${terms.map((t) => t.join('')).join(',')}->${order.filter((l) => terms.flat().includes(l)).join('')}`
          const f: Body = (args) => einsum_(spec, ...terms.map((_, i) => args[`x${i}`]))
          agree(f, xs, 1e-11, spec)
          agree(gradient(lossOf(f)), xs, 1e-11, `gradient of ${spec}`)
        },
      ),
      { numRuns: 100 },
    )
  })
  it('on normalisations, softmax and cross entropy', () => {
    for (const shape of [
      [2, 3, 4, 5],
      [1, 1, 1, 1],
      [5, 7],
      [0, 3],
    ]) {
      const draw = drawer('f64')
      const xs = { x: draw(shape), w: draw(shape), s: draw([shape[1]!]) }
      const functions: readonly Body[] = [
        ({ x, s }) => batchNorm_(x, { scale: s, bias: s }),
        ({ x, s }) => layerNorm_(x, { axis: 1, scale: s, bias: s }),
        ({ x }) => softmax(x!),
      ]
      for (const f of functions)
        agree(
          gradient((args: Record<string, AnyExpr>) => sum(mul(args.w!, f(args) as AnyExpr))),
          xs,
          1e-10,
          `[${shape}]`,
        )
      if (!shape.includes(0))
        agree(
          gradient((args: Record<string, AnyExpr>) => crossEntropy(args.x!, softmax(args.w!))),
          xs,
          1e-10,
          'cross entropy',
        )
    }
    const classes = { x: drawer('f64')([3, 4]), y: tensor([0, 3, 1], [3], 'i32') as unknown as Tensor }
    agree(
      gradient((args: Record<string, AnyExpr>) => crossEntropy(args.x!, args.y!)),
      classes,
      1e-12,
      'cross entropy of classes',
    )
  })
})
