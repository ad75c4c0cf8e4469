/** The graph net: it knows distances in graphs larger than those trained on; the numbers of nodes and the padding do not matter; the same seed, the same bits. */
import { describe, expect, it } from 'vitest'
import * as net from '../../examples/graph-net.js'
import { evaluate, fn, grad } from '../../src/index.js'
import { foldIn, key } from '../../src/random/index.js'
import { padTo } from '../../src/train/index.js'
import { pictured } from './told.js'

/** Scores of the nodes that are there. */
const scoresOf = (params: ReturnType<typeof net.model.init>, graphs: readonly net.Graph[]) => {
  const { x, nodes } = net.batchOf(graphs)
  return evaluate(net.scores({ p: params, x }))
    .toArray()
    .slice(0, nodes)
}

describe('graph-net', () => {
  it('knows distances in larger graphs, with a few plans for batches of many sizes', async () => {
    const { result, text } = await pictured((log, out) => net.main(log, { steps: 150, out }))
    expect(result.right).toBeGreaterThan(0.97)
    expect(result.seen).toBeGreaterThan(40)
    expect(result.planned).toBeLessThan(7)
    expect(text).toMatch(/^graphs of 50 to 90 nodes: [\d.]+ % of the distances/m)
  })
  it('renumbering the nodes renumbers the scores; alone or in a batch they are the same', () => {
    const params = net.model.init(key(3))
    const graph = net.drawn(2, 5, 12, 12)
    const scores = scoresOf(params, [graph])
    expect(new Set(scores.map((row) => row[0]!.toFixed(4))).size).toBeGreaterThan(2)
    // Node 0 is the marked one; the others change places.
    const to = (i: number) => (i === 0 ? 0 : 1 + ((i * 5) % 11))
    const places = graph.places.map((_, j) => graph.places[[...graph.places.keys()].find((i) => to(i) === j)!]!)
    const renumbered = scoresOf(params, [{ places, edges: graph.edges.map(([i, j]) => [to(i), to(j)] as const) }])
    const beside = scoresOf(params, [net.drawn(2, 6, 9, 9), graph]).slice(9)
    for (const [i, row] of scores.entries())
      for (const [k, score] of row.entries()) {
        expect(renumbered[to(i)]![k]).toBeCloseTo(score, 5)
        expect(beside[i]![k]).toBeCloseTo(score, 5)
      }
  })
  it('the gradient does not depend on the padding', () => {
    const params = evaluate(net.model.init(foldIn(key(1), 2)))
    const { x, y } = net.batchOf([net.drawn(3, 1, 13, 13)])
    const loss = fn({ p: net.model.declared, x: net.input, y: net.target }, ({ p, x, y }) => net.loss(net.scores({ p, x }), y))
    const gradient = (batch: { readonly x: typeof x; readonly y: typeof y }) => evaluate(grad(loss, { wrt: 'p' })({ p: params, ...batch }))
    const more = {
      x: { marked: padTo(x.marked, 50, { fill: 1 }).data, ...padTo({ from: x.from, to: x.to }, 300, { fill: -1 }).data },
      y: { distance: padTo(y.distance, 50, { fill: 3 }).data, mask: padTo(y.mask, 50).data },
    }
    const [plain, padded] = [gradient({ x, y }), gradient(more)]
    for (const name of ['first', 'message', 'update', 'last'] as const) {
      expect(Math.max(...plain[name].w.data.map(Math.abs))).toBeGreaterThan(1e-3)
      for (const [i, v] of plain[name].w.data.entries()) expect(padded[name].w.data[i]).toBeCloseTo(v, 5)
    }
  })
  it('two runs of one seed give identical bits; another seed, others', async () => {
    const run = async (seed: number) => (await pictured((log, out) => net.main(log, { steps: 3, seed, out }))).result.params
    const first = await run(4)
    expect(await run(4)).toEqual(first)
    expect(await run(5)).not.toEqual(first)
  })
})
