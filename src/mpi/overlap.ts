/**
 * A sum over ranks as two steps of a plan, between which the rank goes on: what planners see in the place of `total` and `spread` where these overlap. Arrays are copied out by the first and in by
 * the second, so no memory of a plan is read or written in between, and nothing else knows that something is under way.
 */
import { type Pack, pack } from '../core/calculus/pack.js'
import { raise } from '../core/errors/explain.js'
import { callingOnViews } from '../core/extend/kernel-table.js'
import { aval } from '../core/graph/aval.js'
import { listOf, naturals, record } from '../core/graph/codec.js'
import { applyAny, asExpr, asNode } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { type NoParams, type Primitive, primitive } from '../core/graph/primitive.js'
import { notImplemented } from '../core/graph/tangent.js'
import type { Float } from '../core/types/dtype.js'
import type { AnyExpr } from '../core/types/expr.js'
import { multiRule, rule } from '../rules/define.js'
import { current } from './world.js'

interface Shapes {
  readonly shapes: readonly (readonly number[])[]
}
const SUM = { name: 'allReduce', op: 'sum' } as const
const begin = (xs: readonly NDArray[], [started]: readonly NDArray[]): void => {
  const length = xs.reduce((n, x) => n + x.data.length, 0)
  started!.data[0] = current().start(SUM, started!.dtype as Float, length, (line) => {
    let at = 0
    for (const { data } of xs) {
      line.set(data as never, at)
      at += data.length
    }
  })
}
const end = ([started]: readonly NDArray[], ys: readonly NDArray[]): void =>
  current().finish(started!.data[0]!, (line) => {
    let at = 0
    for (const { data } of ys) {
      data.set(line.subarray(at, at + data.length) as never)
      at += data.length
    }
  })
/** Evaluation by meanings knows one rank (docs/decisions/ranks.md), where sums are made at once. */
const severalRanks = (name: string) => (): never =>
  raise({
    _tag: 'Unsupported',
    backend: 'reference',
    what: `${name} of ${current().size} ranks`,
    fix: 'compute it on cpu(): evaluation by meanings (codual/reference, trap) knows one rank.',
  })

/** Begins the sum over ranks of arrays of one dtype; its result is the number by which `allReduceEnd` knows it. */
const allReduceBegin: Primitive<'allReduceBegin', NoParams, readonly ['float']> = primitive({
  name: 'allReduceBegin',
  family: 'mpi',
  args: ['float'],
  variadic: true,
  dtypes: ['any'],
  shapeRule: ([x]) => aval([], x!.dtype),
  meaning: severalRanks('allReduceBegin'),
  unbounded: false,
  when: 'early',
  ordered: 'allReduce',
  samples: [],
  source: 'MPI 4.0, chapter 6.12',
})
/** The sums, in the shapes of the arrays. */
const allReduceEnd: Primitive<'allReduceEnd', Shapes, readonly ['float']> = primitive({
  name: 'allReduceEnd',
  family: 'mpi',
  args: ['float'],
  multi: true,
  dtypes: ['any'],
  codec: record<Shapes>({ shapes: listOf(naturals) }),
  shapeRule: ([started], { shapes }) => shapes.map((shape) => aval(shape, started!.dtype)),
  meaning: severalRanks('allReduceEnd'),
  unbounded: false,
  when: 'last',
  samples: [],
  source: 'MPI 4.0, chapter 6.12',
})
/** Sums over ranks of arrays of one dtype, which go on while what does not need them is computed. */
export const summedMeanwhile = (xs: readonly AnyExpr[]): readonly AnyExpr[] => {
  const nodes = xs.map(asNode)
  return applyAny(allReduceEnd, applyAny(allReduceBegin, nodes, {}), { shapes: nodes.map((x) => x.shape) }).map(asExpr)
}

const WHY = 'it is half of a sum over ranks: the rule is that of the whole.'
const family = { allReduceBegin, allReduceEnd } as const
export const overlapPack: Pack = pack(family, {
  rules: {
    allReduceBegin: rule(allReduceBegin, {
      frule: (_xs, _dxs, _params, { y }) => [y, notImplemented('allReduceBegin', WHY)],
      rrule: (xs, _params, { y }) => [y, (() => xs.map(() => notImplemented('allReduceBegin', WHY))) as never],
    }),
    allReduceEnd: multiRule(allReduceEnd, {
      frule: (_xs, _dxs, _params, { ys }) => [ys, ys.map(() => notImplemented('allReduceEnd', WHY))],
      rrule: (_xs, _params, { ys }) => [ys, (() => [notImplemented('allReduceEnd', WHY)]) as never],
    }),
  },
  cpu: {
    allReduceBegin: callingOnViews<NoParams>((xs, _params, outs) => begin(xs, outs)),
    allReduceEnd: callingOnViews<Shapes>((xs, _params, outs) => end(xs, outs)),
  },
})
