/** Twelve primitives of a user's, in one plugin, as a library of theirs would have them; and the same with one mistake in it. */
import * as t from 'io-ts'
import type { NDArray } from '../../src/core/graph/ndarray.js'
import type { Program } from '../../src/core/graph/program.js'
import {
  type AnyExpr,
  add,
  applyPrimitive,
  atan2,
  aval,
  bilinearRule,
  binary,
  broadcastTo,
  cast,
  cos,
  definePlugin,
  div,
  eq,
  exp,
  fromProgram,
  gt,
  inplaceableThunk,
  matmul,
  missing,
  mul,
  multiRule,
  neg,
  type Plugin,
  perElement,
  primitive,
  raise,
  repeat,
  reshape,
  rule,
  scalarRule,
  sin,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  type Tangent,
  tanh,
  tensor,
  toProgram,
  transpose,
  unary,
  where,
  ZeroTangent,
} from '../../src/index.js'

type F = (...xs: readonly unknown[]) => AnyExpr
/** Operations over expressions of any shape. */
const o = { add, atan2, broadcastTo, cast, cos, div, eq, exp, gt, matmul, mul, neg, repeat, reshape, sin, sqrt, square, stopGradient, sub, sum, tanh, transpose, where } as unknown as Record<string, F> // biome-ignore format: names
const shapeOf = (x: AnyExpr): readonly number[] => x.shape as readonly number[]
const isExpr = (x: Tangent): boolean => x._tag === 'Expr'

/** Each mistake, and the primitive to blame for it. */
export const mistakes = {
  sign: 'wave',
  'second derivative': 'wave',
  'f32 only': 'wave',
  'exchanged operands': 'blend',
  factor: 'softAbs',
  'wrong param': 'softAbs',
  JSON: 'softAbs',
  'kink choice': 'hinge',
  'second result forgotten': 'polar',
  'tangent of a second result': 'polar',
  'wrong batch': 'blockSums',
  'wrong kernel': 'blockSums',
  'int argument': 'pickRow',
  'shared argument': 'outer',
  accumulator: 'outer',
  lowering: 'smooth',
  guard: 'logOf',
  'sub-program': 'applied',
} as const
export type Mistake = keyof typeof mistakes

interface Params {
  readonly c: number
}
const paramsCodec = (wrong: boolean): t.Type<Params> => {
  const is = (u: unknown): u is Params => typeof u === 'object' && u !== null && typeof (u as Params).c === 'number'
  return new t.Type('{ c }', is, (u, k) => (is(u) ? t.success(wrong ? { c: Math.round(u.c) } : u) : t.failure(u, k)), t.identity)
}
interface Inner {
  readonly program: Program
}
const innerCodec: t.Type<Inner> = (() => {
  const is = (u: unknown): u is Inner => typeof u === 'object' && u !== null && Array.isArray((u as { program?: Program }).program?.outputs)
  return new t.Type<Inner>('{ program }', is, (u, k) => (is(u) ? t.success(u) : t.failure(u, k)), t.identity)
})()
const innerOf = (f: (x: AnyExpr) => AnyExpr): Inner => ({
  program: (toProgram as unknown as (g: unknown) => (x: unknown) => Program)(f)(tensor([0, 0, 0])),
})

const wave = unary({ name: 'wave', scalar: (x) => Math.sin(2 * x!), source: 'definition' })
const blend = binary({ name: 'blend', scalar: (x, y) => x! * y! + x!, source: 'definition' })
const logOf = unary({ name: 'logOf', scalar: (x) => Math.log(x!), domain: [[0.3, 4]], extremes: [0], source: 'definition' })
const hinge = unary({
  name: 'hinge',
  scalar: (x) => Math.max(x!, 0),
  kinks: [{ at: [0], partials: [0.5], why: 'the mean of both sides' }],
  source: 'definition',
})
/** sqrt(x^2 + c). */
const softAbsOf = (wrong: boolean) =>
  primitive<'softAbs', Params, readonly ['float']>({
    name: 'softAbs',
    family: 'mine',
    args: ['float'],
    class: 'elementwise',
    codec: paramsCodec(wrong),
    dtypes: ['float'],
    shapeRule: ([x]) => x!,
    scalarWith:
      ({ c }) =>
      (x) =>
        Math.sqrt(x! * x! + c),
    meaning: ([x], { c }, [y]) => {
      for (let i = 0; i < x!.data.length; i++) y!.data[i] = Math.sqrt(x!.data[i]! ** 2 + c)
    },
    samples: [0.3, 1.7].map((c) => ({ args: [{ shape: [2, 2] }], params: { c } })),
    showParams: ({ c }) => `c ${c}`,
    source: 'definition',
  })
/** Length and angle of (x, y). */
const polar = primitive({
  name: 'polar',
  family: 'mine',
  args: ['float', 'float'],
  multi: true,
  dtypes: ['float', 'float'],
  shapeRule: ([x]) => [x!, x!],
  meaning: ([x, y], _params, [r, a]) => {
    for (let i = 0; i < x!.data.length; i++) {
      r!.data[i] = Math.hypot(x!.data[i]!, y!.data[i]!)
      a!.data[i] = Math.atan2(y!.data[i]!, x!.data[i]!)
    }
  },
  samples: [[], [3], [2, 2]].map((shape) => ({
    args: [
      { shape, domain: [0.4, 2] },
      { shape, domain: [-2, 2] },
    ] as const,
    params: {},
  })),
  source: 'definition',
})
interface Width {
  readonly width: number
}
const blockSums = primitive<'blockSums', Width, readonly ['float']>({
  name: 'blockSums',
  family: 'mine',
  args: ['float'],
  codec: t.type({ width: t.number }) as unknown as t.Type<Width>,
  dtypes: ['float'],
  shapeRule: ([x], { width }) => aval([x!.shape[0]! / width], x!.dtype),
  meaning: ([x], { width }, [y]) => {
    y!.data.fill(0)
    for (let i = 0; i < x!.data.length; i++) y!.data[Math.floor(i / width)]! += x!.data[i]!
  },
  samples: [2, 3].map((width) => ({ args: [{ shape: [6] }], params: { width } })),
  showParams: ({ width }) => `width ${width}`,
  source: 'definition',
})
/** Row i of x. */
const pickRow = primitive({
  name: 'pickRow',
  family: 'mine',
  args: ['float', 'int'],
  dtypes: ['float', 'i32'],
  shapeRule: ([x]) => aval(x!.shape.slice(1), x!.dtype),
  meaning: ([x, i], _params, [y]) => {
    const m = y!.data.length
    for (let k = 0; k < m; k++) y!.data[k] = x!.data[i!.data[0]! * m + k]!
  },
  samples: [{ args: [{ shape: [3, 2] }, { shape: [], dtype: 'i32', domain: [0, 3] }], params: {} }],
  source: 'definition',
})
const outer = primitive({
  name: 'outer',
  family: 'mine',
  args: ['float', 'float'],
  dtypes: ['float', 'float'],
  shapeRule: ([a, b]) => aval([a!.shape[0]!, b!.shape[0]!], a!.dtype),
  meaning: ([a, b], _params, [y]) => {
    const m = b!.data.length
    for (let i = 0; i < a!.data.length; i++) for (let k = 0; k < m; k++) y!.data[i * m + k] = a!.data[i]! * b!.data[k]!
  },
  samples: [
    { args: [{ shape: [3] }, { shape: [3] }], params: {} },
    { args: [{ shape: [2] }, { shape: [3] }], params: {} },
  ],
  source: 'definition',
})
/** tanh(x) mean(x^2), a composition. */
const smooth = primitive({
  name: 'smooth',
  family: 'mine',
  args: ['float'],
  dtypes: ['float'],
  shapeRule: ([x]) => x!,
  meaning: ([x], _params, [y]) => {
    let s = 0
    for (const v of x!.data) s += v * v
    for (let i = 0; i < x!.data.length; i++) y!.data[i] = (Math.tanh(x!.data[i]!) * s) / x!.data.length
  },
  samples: [{ args: [{ shape: [4] }], params: {} }],
  source: 'definition',
})
/** f(x) + x of a program f. */
const appliedTo = (xs: readonly AnyExpr[], { program }: Inner): AnyExpr =>
  o.add!((fromProgram(program as never) as unknown as F)(xs[0]), xs[0])
const applied = primitive<'applied', Inner, readonly ['float']>({
  name: 'applied',
  family: 'mine',
  args: ['float'],
  codec: innerCodec,
  dtypes: ['float'],
  shapeRule: ([x], { program }) =>
    x!.dtype === 'f64' ? aval(program.inputs[0]!.shape, 'f64') : raise({ _tag: 'BadInput', where: 'applied', reason: 'it takes f64.' }),
  programs: ({ program }) => [program],
  withPrograms: (params, [program]) => ({ ...params, program: program! }),
  expand: appliedTo,
  samples: [
    { args: [{ shape: [3], dtype: 'f64' }], params: innerOf((x) => o.mul!(o.sin!(x), x)) },
    { args: [{ shape: [3], dtype: 'f64' }], params: innerOf((x) => wave(wave(x))) },
  ],
  source: 'definition',
})
/** Rank of each element: it has no derivative. */
const ranks = primitive({
  name: 'ranks',
  family: 'mine',
  args: ['float'],
  dtypes: ['float'],
  shapeRule: ([x]) => x!,
  meaning: ([x], _params, [y]) => {
    for (let i = 0; i < x!.data.length; i++) y!.data[i] = Array.from(x!.data).filter((v) => v < x!.data[i]!).length
  },
  samples: [{ args: [{ shape: [4] }], params: {} }],
  source: 'definition',
})

const wide = (x: AnyExpr, batched: boolean | undefined, size: number): AnyExpr => (batched ? x : o.broadcastTo!(x, [size, ...shapeOf(x)]))
const one = (p: unknown, xs: readonly unknown[], params: unknown = {}): AnyExpr => applyPrimitive(p as never, xs, params as never)[0]

const polarRule = (wrong: Mistake | undefined) =>
  multiRule(
    polar as never,
    {
      frule: ([x, y]: readonly AnyExpr[], [dx, dy]: readonly Tangent[], _params: unknown, { ys }: { readonly ys: readonly AnyExpr[] }) => {
        const r = ys[0]!
        const both = (a: AnyExpr, b: AnyExpr, by: AnyExpr): Tangent => {
          const terms = [isExpr(dx!) ? o.mul!(dx, a) : undefined, isExpr(dy!) ? o.mul!(dy, b) : undefined].filter((v) => v !== undefined)
          return terms.length === 0 ? ZeroTangent : o.div!(terms.length === 2 ? o.add!(terms[0], terms[1]) : terms[0], by)
        }
        const angle = both(o.neg!(y), x!, wrong === 'tangent of a second result' ? r : o.square!(r))
        return [ys, [both(x!, y!, r), angle]] as const
      },
      rrule: ([x, y]: readonly AnyExpr[], _params: unknown, { ys }: { readonly ys: readonly AnyExpr[] }) => [
        ys,
        ([rBar, aBar]: readonly Tangent[]) => {
          const r = ys[0]!
          const terms = (a: AnyExpr, b: AnyExpr): Tangent => {
            const u = isExpr(rBar!) ? o.div!(o.mul!(rBar, a), r) : undefined
            const v = isExpr(aBar!) && wrong !== 'second result forgotten' ? o.div!(o.mul!(aBar, b), o.square!(r)) : undefined
            return u === undefined ? (v ?? ZeroTangent) : v === undefined ? u : o.add!(u, v)
          }
          return [terms(x!, o.neg!(y)), terms(y!, x!)]
        },
      ],
      batch: ([x, y]: readonly AnyExpr[], batched: readonly boolean[], _params: unknown, size: number) =>
        applyPrimitive(polar as never, [wide(x!, batched[0], size), wide(y!, batched[1], size)] as never),
    } as never,
  )

const blockSumsRule = (wrong: Mistake | undefined) =>
  rule(blockSums, {
    frule: (_xs, [dx], params, { y }) => [y, isExpr(dx) ? one(blockSums, [dx], params) : dx],
    rrule: (_xs, { width }, { y }) => [y, (yBar) => [o.repeat!(yBar, width)]],
    batch: ([x], _batched, { width }, size) =>
      wrong === 'wrong batch'
        ? o.sum!(o.reshape!(x, [size, width, shapeOf(x)[1]! / width]), { axis: 1 })
        : o.sum!(o.reshape!(x, [size, shapeOf(x)[1]! / width, width]), { axis: 2 }),
  })

/** 1 at i of n, in rows for a batch. */
const oneHot = (i: AnyExpr, n: number): AnyExpr => {
  const places = tensor(
    Array.from({ length: n }, (_, k) => k),
    [n],
    'i32',
  )
  return o.where!(o.eq!(o.reshape!(i, [...shapeOf(i), 1]), places), 1, 0)
}
const pickRowRule = (wrong: Mistake | undefined) =>
  rule(pickRow, {
    frule: ([_x, i], [dx], _params, { y }) => [y, isExpr(dx) ? one(pickRow, [dx, i]) : dx],
    rrule: ([x, i], _params, { y }) => [
      y,
      (yBar) => {
        const [n, m] = shapeOf(x) as readonly [number, number]
        const at = wrong === 'int argument' ? o.mul!(i, 0) : i
        return [o.mul!(o.cast!(o.reshape!(oneHot(at, n), [n, 1]), x.dtype), o.reshape!(yBar, [1, m])), { _tag: 'NoTangent' }] as never
      },
    ],
    batch: ([x, i], batched, _params, size) => {
      const rows = wide(x, batched[0], size)
      const [, n] = shapeOf(rows)
      const hot = o.cast!(o.reshape!(oneHot(wide(i, batched[1], size), n!), [size, n!, 1]), x.dtype)
      return o.sum!(o.mul!(hot, rows), { axis: 1 })
    },
  })

const outerRule = (wrong: Mistake | undefined) => {
  const right = bilinearRule(outer, {
    transposeA: (yBar, _a, b) => o.matmul!(yBar, b),
    transposeB: (yBar, a) => o.matmul!(o.transpose!(yBar), a),
    batch: ([a, b], batched, _params, size) => {
      const [u, v] = [wide(a, batched[0], size), wide(b, batched[1], size)]
      return o.mul!(o.reshape!(u, [...shapeOf(u), 1]), o.reshape!(v, [size, 1, shapeOf(v)[1]]))
    },
  })
  if (wrong !== 'shared argument' && wrong !== 'accumulator') return right
  const reverse = rule(outer, {
    rrule: ([a, b], _params, { y }) => [
      y,
      (yBar) => {
        const [u, v] = [() => o.matmul!(yBar, b), () => o.matmul!(o.transpose!(yBar), a)]
        if (wrong === 'shared argument') return [u(), a === b ? ZeroTangent : v()]
        return [inplaceableThunk(u, (acc) => o.sub!(acc, u())), inplaceableThunk(v, (acc) => o.add!(acc, v()))] as never
      },
    ],
  })
  return { ...right, ...reverse }
}

const waveRule = (wrong: Mistake | undefined) =>
  scalarRule(wave, ({ x: [x] }) => {
    const dy = o.mul!(o.cos!(o.mul!(x, 2)), 2)
    if (wrong === 'sign') return [o.neg!(dy)]
    if (wrong === 'second derivative') return [o.stopGradient!(dy)]
    return [wrong === 'f32 only' && x.dtype === 'f32' ? o.mul!(dy, 1.01) : dy]
  })

/** The plugin; with a mistake, one row of it is wrong. */
export const ownPlugin = (wrong?: Mistake): Plugin => {
  const softAbs = softAbsOf(wrong === 'JSON')
  const cpu = {
    wave: perElement(),
    blend: perElement(),
    logOf: perElement(),
    hinge: perElement(),
    softAbs: perElement(),
    polar: ([x, y]: never[], params: never, outs: never) => polar.meaning([x, y] as never, params, outs),
    blockSums: ([x]: never[], params: Width, [y]: readonly NDArray[]) => {
      blockSums.meaning([x] as never, params, [y!])
      if (wrong === 'wrong kernel' && params.width === 3) y!.data[1]! *= 1 + 1e-6
    },
    pickRow: (xs: never, params: never, outs: never) => pickRow.meaning(xs, params, outs),
    outer: (xs: never, params: never, outs: never) => outer.meaning(xs, params, outs),
    ranks: (xs: never, params: never, outs: never) => ranks.meaning(xs, params, outs),
  }
  return definePlugin({
    name: 'mine',
    ops: { wave, blend, logOf, hinge, softAbs, polar, blockSums, pickRow, outer, smooth, applied, ranks },
    lower: {
      smooth: ([x]: readonly AnyExpr[]) => {
        const n = shapeOf(x!)[0]!
        return o.mul!(o.tanh!(x), o.div!(o.sum!(o.square!(x)), wrong === 'lowering' ? n + 1e-3 : n))
      },
      applied: appliedTo,
    },
    rules: {
      wave: waveRule(wrong),
      blend: scalarRule(blend, ({ x: [x, y] }) => (wrong === 'exchanged operands' ? [x, o.add!(y, 1)] : [o.add!(y, 1), x])),
      logOf:
        wrong === 'guard'
          ? rule(logOf.primitive, {
              frule: ([x], [dx], _params, { y }) => [y, isExpr(dx) ? o.div!(dx, x) : dx],
              rrule: ([x], _params, { y }) => [y, (yBar) => [o.div!(yBar, x)]],
              batch: ([x]) => logOf(x) as AnyExpr,
            })
          : scalarRule(logOf, ({ x: [x] }) => [o.div!(1, x)]),
      hinge: scalarRule(hinge, ({ x: [x] }) => [o.where!(o.eq!(x, 0), wrong === 'kink choice' ? 1 : 0.5, o.where!(o.gt!(x, 0), 1, 0))]),
      softAbs: scalarRule(softAbs, ({ x: [x], y, params: { c } }) => [
        wrong === 'wrong param' ? o.div!(x, o.sqrt!(o.add!(o.square!(x), 2 * c))) : o.mul!(o.div!(x, y), wrong === 'factor' ? 1.0001 : 1),
      ]),
      polar: polarRule(wrong),
      blockSums: blockSumsRule(wrong),
      pickRow: pickRowRule(wrong),
      outer: outerRule(wrong),
      ranks: missing('ranks are steps'),
      ...(wrong === 'sub-program' && {
        applied: rule(applied, {
          frule: ([x], [dx], _params, { y }) => [y, isExpr(dx) ? o.mul!(dx, o.cos!(x)) : dx],
        }),
      }),
    },
    kernels: { cpu },
  } as never)
}
