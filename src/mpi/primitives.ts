/** The collectives as primitives: one array in, one array out, blocks along the first axis. */
import { badInput, badShape, raise } from '../core/errors/explain.js'
import { Again } from '../core/graph/again.js'
import { type Aval, aval, isFloat } from '../core/graph/aval.js'
import { type Codec, codecOf, ints, natural, oneOf, record } from '../core/graph/codec.js'
import { apply, asExpr, asNode, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive } from '../core/graph/primitive.js'
import { concatNode, splitNode } from '../core/ops/layout/join.js'
import { reshapeNode } from '../core/ops/layout/move.js'
import type { AnyExpr } from '../core/types/expr.js'
import type { Collective } from './collective.js'
import { alone, fits } from './communicator.js'
import { summedMeanwhile } from './overlap.js'
import { current } from './world.js'

export interface LinearOp {
  readonly op: 'sum' | 'mean'
}
export interface Root {
  readonly root: number
}
export interface Ranks {
  readonly ranks: number
}
/** `again`: the whole is not kept for the reverse pass, which gathers it anew; it counts how often that was. */
export interface Gathered extends Ranks {
  readonly again?: number | undefined
}
export interface Routes {
  readonly to: readonly number[]
}
type One = readonly ['float']
type Made<N extends string, P> = Primitive<N, P, One>

/** What a rank takes part in when it computes a primitive, by the primitive's name. */
const collectives = new Map<string, (params: never) => Collective>()
export const collectiveOf = (name: string): ((params: unknown) => Collective) => collectives.get(name) as (params: unknown) => Collective

const family = 'mpi'
const collective = <const N extends string, P>(
  name: N,
  codec: Codec<P>,
  of: (params: P) => Collective,
  shapeRule: (x: Aval, params: P) => Aval,
  samples: Primitive<N, P, One>['samples'],
  source: string,
  dtypes: 'any' | 'number' = 'any',
  more?: Partial<Pick<Made<N, P>, 'gaps' | 'again' | 'when'>>,
): Made<N, P> => {
  collectives.set(name, of)
  return primitive<N, P, One>({
    name,
    family,
    args: ['float'],
    dtypes: [dtypes],
    codec,
    shapeRule: ([x], params) => shapeRule(x!, params),
    // Evaluation by meanings knows one rank: it may ask twice, or on one rank alone, and others would wait.
    meaning: ([x], params, [y]) => {
      const c = of(params)
      const { size } = current()
      if (size > 1)
        raise({
          _tag: 'Unsupported',
          backend: 'reference',
          what: `${c.name} of ${size} ranks`,
          fix: 'compute it on cpu(): evaluation by meanings (codual/reference, trap) knows one rank.',
        })
      fits(c, 1)
      alone.run(c, x as NDArray, y as NDArray)
    },
    unbounded: false,
    // Those of one name could be taken for each other: the ranks tell each other no more than it and the shape.
    ordered: name,
    ...more,
    samples,
    source,
  })
}
const MPI = 'MPI 4.0, chapter 6'
const same = (x: Aval): Aval => x
const sample = <P>(params: P) => [
  { args: [{ shape: [2, 3] }], params },
  { args: [{ shape: [4] }], params },
]
const positive = codecOf('a whole number from 1', (u): u is number => natural.is(u) && u > 0)
/** The first axis by a factor. */
const lengthened = (name: string, x: Aval, by: number): Aval => {
  const [n, ...rest] = x.shape
  if (n === undefined) return badShape(name, [x.shape], 'a scalar has no axis.', 'reshape it to [1].')
  const length = n * by
  if (!Number.isInteger(length))
    return badShape(
      name,
      [x.shape],
      `${Math.round(1 / by)} ranks do not divide an axis of ${n}.`,
      'pad the axis, or give it another length.',
    )
  return aval([length, ...rest], x.dtype)
}

export const allReducePrimitive: Made<'allReduce', LinearOp> = collective(
  'allReduce',
  record({ op: oneOf('sum', 'mean') }),
  ({ op }) => ({ name: 'allReduce', op }),
  (x, { op }) => (op === 'mean' && x.dtype === 'i32' ? badInput('allReduce', 'a mean of whole numbers is none.', 'cast to f64.') : x),
  [...sample<LinearOp>({ op: 'sum' }), ...sample<LinearOp>({ op: 'mean' })],
  `${MPI}.9`,
  'number',
)
export const allReduceMaxPrimitive: Made<'allReduceMax', NoParams> = collective(
  'allReduceMax',
  record<NoParams>({}),
  () => ({ name: 'allReduce', op: 'max' }),
  same,
  sample(NO_PARAMS),
  `${MPI}.9`,
  'number',
)
const root = record<Root>({ root: natural })
export const broadcastPrimitive: Made<'broadcast', Root> = collective(
  'broadcast',
  root,
  (p) => ({ name: 'broadcast', root: p.root }),
  same,
  sample({ root: 0 }),
  `${MPI}.4`,
)
export const reduceToPrimitive: Made<'reduceTo', Root> = collective(
  'reduceTo',
  root,
  (p) => ({ name: 'reduceTo', root: p.root }),
  same,
  sample({ root: 0 }),
  `${MPI}.9`,
  'number',
  // A rank that receives nothing has zeros that are no sums: they stay zero beside an infinite slope.
  { gaps: () => true },
)
const ranks = record<Ranks>({ ranks: positive })
export const allGatherPrimitive: Made<'allGather', Gathered> = collective(
  'allGather',
  record<Gathered>({ ranks: positive, again: natural }, 'again'),
  (p) => ({ name: 'allGather', ranks: p.ranks }),
  (x, p) => lengthened('allGather', x, p.ranks),
  [...sample<Gathered>({ ranks: 1 }), ...sample<Gathered>({ ranks: 1, again: 0 })],
  `${MPI}.7`,
  'any',
  {
    again: {
      params: ({ ranks, again }) => (again === undefined ? undefined : { ranks, again: again + 1 }),
      pass: () => new Again(),
    },
    when: 'late',
  },
)
export const reduceScatterPrimitive: Made<'reduceScatter', Ranks> = collective(
  'reduceScatter',
  ranks,
  (p) => ({ name: 'reduceScatter', ranks: p.ranks }),
  (x, p) => lengthened('reduceScatter', x, 1 / p.ranks),
  sample({ ranks: 1 }),
  `${MPI}.10`,
  'number',
  { when: 'early' },
)
export const allToAllPrimitive: Made<'allToAll', Ranks> = collective(
  'allToAll',
  ranks,
  (p) => ({ name: 'allToAll', ranks: p.ranks }),
  (x, p) => {
    lengthened('allToAll', x, 1 / p.ranks)
    return x
  },
  sample({ ranks: 1 }),
  `${MPI}.8`,
)
export const sendRecvPrimitive: Made<'sendRecv', Routes> = collective(
  'sendRecv',
  record<Routes>({ to: ints }),
  (p) => ({ name: 'sendRecv', to: p.to }),
  (x, { to }) => {
    const there = to.filter((r) => r !== -1)
    if (there.some((r) => r < 0 || r >= to.length) || new Set(there).size < there.length)
      badInput('sendRecv', `to is [${to.join(', ')}].`, 'give for each rank another rank that receives, or -1.')
    return x
  },
  [...sample<Routes>({ to: [0] }), ...sample<Routes>({ to: [-1] })],
  `${MPI}: 3.10`,
  'any',
  { gaps: ({ to }) => to.includes(-1) },
)

const SUM: LinearOp = { op: 'sum' }
/** The sum over ranks. */
export const sumNode = (x: Node): Node => apply(allReducePrimitive, [x], SUM)
/** Arrays as one line, summed over the ranks at once, and taken apart again. */
const together = (xs: readonly AnyExpr[]): readonly AnyExpr[] => {
  const nodes = xs.map(asNode)
  const line = concatNode(
    nodes.map((x) => reshapeNode(x, [x.aval.size])),
    0,
  )
  const sums = splitNode(
    sumNode(line),
    0,
    nodes.map((x) => x.aval.size),
  )
  return sums.map((y, i) => asExpr(reshapeNode(y, nodes[i]!.shape)))
}
/** `overlap`: the sums go on while what does not need them is computed. */
export interface Meanwhile {
  readonly overlap?: true | undefined
}
type Many<N extends string> = Primitive<N, Meanwhile, readonly ['float']>
const meanwhile = record<Meanwhile>({ overlap: codecOf('true', (u): u is true => u === true) }, 'overlap')
const manySamples = ([{}, { overlap: true }] as const).map((params) => ({ args: [{ shape: [2] }, { shape: [] }], params }) as const)
/** Values that are equal on all ranks, as values of each rank: a copy whose transpose is `total`. */
export const spreadPrimitive: Many<'spread'> = primitive<'spread', Meanwhile, readonly ['float']>({
  name: 'spread',
  family,
  args: ['float'],
  variadic: true,
  multi: true,
  dtypes: ['any'],
  codec: meanwhile,
  shapeRule: (xs) => xs,
  expand: (xs) => xs,
  unbounded: false,
  samples: manySamples,
  source: 'Shoeybi et al. 2019, the operator f',
})
/** Sums over ranks, equal on all of them, of arrays of one dtype in a single allReduce; its transpose is `spread`. */
export const totalPrimitive: Many<'total'> = primitive<'total', Meanwhile, readonly ['float']>({
  name: 'total',
  family,
  args: ['float'],
  variadic: true,
  multi: true,
  dtypes: ['number'],
  codec: meanwhile,
  shapeRule: (xs) => xs,
  expand: (xs, { overlap }) => (overlap === true && isFloat(xs[0]!.dtype) && current().size > 1 ? summedMeanwhile(xs) : together(xs)),
  unbounded: false,
  samples: manySamples,
  source: 'Shoeybi et al. 2019, the operator g',
})

/** Primitives of this family, by name. */
export const mpiFamily = {
  allReduce: allReducePrimitive,
  allReduceMax: allReduceMaxPrimitive,
  broadcast: broadcastPrimitive,
  reduceTo: reduceToPrimitive,
  allGather: allGatherPrimitive,
  reduceScatter: reduceScatterPrimitive,
  allToAll: allToAllPrimitive,
  sendRecv: sendRecvPrimitive,
  spread: spreadPrimitive,
  total: totalPrimitive,
} as const
