// A graph net learns how far each node is from a marked one, and then knows it for graphs larger than any that it learned from. `npm run example:graph-net`
//
// Messages go along the edges (`gather`) and each node keeps the largest that it gets (`segmentMax`), six rounds by the same layers (Gilmer et al. 2017).
// Graphs have any size. A batch is several as one; `bucket` and `padTo` pad its nodes and edges to a few sizes, so the compiled step has a few plans, and a mask says which nodes count.
import {
  add,
  argmax,
  bool,
  cast,
  concat,
  crossEntropy,
  div,
  type Expr,
  type Exprs,
  evaluate,
  explain,
  f32,
  fn,
  gather,
  i32,
  maximum,
  relu,
  segmentMax,
  sum,
  tanh,
  tensor,
  where,
} from '../src/index.js'
import { dense } from '../src/nn/index.js'
import { adam, cosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, type Key, key, uniform } from '../src/random/index.js'
import { accuracy, bucket, fit, measured, padTo } from '../src/train/index.js'
import { expectThat, type Log, start } from './entry.js'
import { type Path, plot } from './plot.js'

export type GraphNetOptions = { readonly steps?: number; readonly seed?: number; readonly out?: string }

/** Places of the nodes, and edges by the numbers of their ends: each both ways. */
export interface Graph {
  readonly places: Path
  readonly edges: readonly (readonly [from: number, to: number])[]
}
/** Places at random, each joined to its four nearest. */
const graphOf = (xs: ArrayLike<number>): Graph => {
  const places = Array.from({ length: xs.length / 2 }, (_, i) => [xs[2 * i]!, xs[2 * i + 1]!])
  const far = (i: number, j: number) => Math.hypot(places[i]![0]! - places[j]![0]!, places[i]![1]! - places[j]![1]!)
  const nearest = places.map((_, i) => [...places.keys()].filter((j) => j !== i).sort((a, b) => far(i, a) - far(i, b)).slice(0, 4)) // biome-ignore format: one thought
  return { places, edges: nearest.flatMap((to, i) => to.flatMap((j) => [[i, j], [j, i]] as const)) } // biome-ignore format: pairs
}
/** Distances are 0 to 5, and 6 for what is farther or not reached at all. */
const [farthest, classes] = [6, 7] as const
/** The number of edges from node 0 to each, by breadth first search. */
const distances = ({ places, edges }: Graph): readonly number[] => {
  const found: number[] = places.map((_, i) => (i === 0 ? 0 : farthest))
  for (let d = 0; d < farthest; d++) for (const [from, to] of edges) if (found[from] === d) found[to] = Math.min(found[to]!, d + 1)
  return found
}

const width = 24
const first = dense(1, width)
const message = dense(2 * width, width)
const update = dense(2 * width, width)
const last = dense(width, classes)
const declared = { first: first.declared, message: message.declared, update: update.declared, last: last.declared }
/** 1 at the marked node, 0 at the others; the ends of the edges. */
export const input = { marked: f32('nodes', 1), from: i32('edges'), to: i32('edges') }
export const target = { distance: i32('nodes'), mask: bool('nodes') }
export const model = {
  declared,
  init: (k: Key) => ({
    first: first.init(foldIn(k, 0)),
    message: message.init(foldIn(k, 1)),
    update: update.init(foldIn(k, 2)),
    last: last.init(foldIn(k, 3)),
  }),
  /** A score for each distance of each node. An edge to no node carries nothing. */
  apply: (p: Exprs<typeof declared>, { marked, from, to }: Exprs<typeof input>) => {
    let h = first.apply(p.first, marked)
    for (let round = 0; round < farthest; round++) {
      const sent = relu(message.apply(p.message, concat([gather(h, from), gather(h, to)], { axis: 1 })))
      const got = maximum(segmentMax(sent, to, marked.shape[0]), 0) // 0 where nothing arrives
      h = add(h, tanh(update.apply(p.update, concat([h, got], { axis: 1 }))))
    }
    return last.apply(p.last, h)
  },
}
export const scores = fn({ p: declared, x: input }, ({ p, x }) => model.apply(p, x))
/** The mean over the nodes of the mask. */
export const loss = (scores: Expr<['nodes', 7], 'f32'>, { distance, mask }: Exprs<typeof target>) =>
  div(sum(where(mask, crossEntropy(scores, distance, { reduction: 'none' }), 0)), sum(cast(mask, 'f32')))

/** Several graphs as one, padded: an edge that is padding goes to node -1, which is none. */
export const batchOf = (graphs: readonly Graph[]) => {
  const starts = graphs.map((_, g) => graphs.slice(0, g).reduce((n, { places }) => n + places.length, 0))
  const ends = (side: 0 | 1) => Int32Array.from(graphs.flatMap(({ edges }, g) => edges.map((edge) => edge[side] + starts[g]!)))
  const marked = Float32Array.from(graphs.flatMap(({ places }) => places.map((_, i) => (i === 0 ? 1 : 0))))
  const distance = Int32Array.from(graphs.flatMap(distances))
  const nodes = padTo({ marked: tensor(marked, [marked.length, 1]), distance: tensor(distance) }, bucket(distance.length))
  const edges = padTo({ from: tensor(ends(0)), to: tensor(ends(1)) }, bucket(ends(0).length), { fill: -1 })
  return {
    x: { marked: nodes.data.marked, ...edges.data },
    y: { distance: nodes.data.distance, mask: nodes.mask },
    nodes: nodes.count,
    edges: edges.count,
  }
}
/** Graph i of a seed. */
export const drawn = (seed: number, i: number, least: number, most: number): Graph => {
  const [size = 0, ...places] = evaluate(uniform(foldIn(key(seed), i), [1 + 2 * most])).data
  return graphOf(places.slice(0, 2 * (least + Math.floor(size * (most + 1 - least)))))
}

export const main = async (log: Log, { steps = 300, seed = 1, out = 'out' }: GraphNetOptions = {}) => {
  const [seen, planned] = [new Set<string>(), new Set<string>()]
  const source = {
    steps,
    at: (_epoch: number, i: number) => {
      const batch = batchOf([0, 1, 2, 3].map((g) => drawn(seed, 4 * i + g, 6, 30)))
      seen.add(`${batch.nodes} nodes, ${batch.edges} edges`)
      planned.add(`${batch.x.marked.shape[0]} nodes and ${batch.x.from.shape[0]} edges`)
      return batch
    },
  }
  const optimizer = adam({ learningRate: cosineDecaySchedule({ initValue: 0.01, decaySteps: steps }) })
  const run = await fit(model, source, { loss, optimizer, epochs: 1, key: seed })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { params } = run.right
  log(`graphs of 6 to 30 nodes, batches of ${seen.size} sizes: a plan for each of ${planned.size}, ${[...planned].sort().join(', ')}`)

  const larger = Array.from({ length: 20 }, (_, i) => drawn(seed, 1e6 + i, 50, 90))
  const { x, y } = batchOf(larger)
  const right = measured(accuracy(), evaluate(scores({ p: params, x })), y.distance, y.mask)
  log(`graphs of 50 to 90 nodes: ${(100 * right).toFixed(2)} % of the distances are those of breadth first search`)
  expectThat(steps < 300 || right > 0.98, 'more than 98 % of the distances')
  const graph = larger[0]!
  const found = evaluate(argmax(scores({ p: params, x: batchOf([graph]).x }), { axis: 1 })).data
  const labels = ['0', '1', '2', '3', '4', '5', '6 or more']
  const named = (path: (d: number) => Path) => Object.fromEntries(labels.map((label, d) => [label, path(d)]))
  const edges = (d: number) => graph.edges.filter(([from]) => found[from] === d).flatMap((edge) => [...edge.map((i) => graph.places[i]!), [Number.NaN, Number.NaN]]) // biome-ignore format: one thought
  const file = await plot(out, 'graph-net', {
    title: 'Edges from node 0, as the net says',
    x: '',
    y: '',
    lines: named(edges),
    points: named((d) => graph.places.filter((_, i) => found[i] === d)),
  })
  log(`picture: ${file}`)
  return { right, params, losses: run.right.history.loss, seen: seen.size, planned: planned.size, file }
}
start(import.meta.url, main)
