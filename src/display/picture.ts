/** A graph as SVG: layers from top to bottom, each node below what it reads. */
import { greatestOf } from '../core/errors/extremes.js'
import type { Graph, GraphNode } from './graph.js'
import { element, type Markup } from './html.js'
import { typeText } from './tensor.js'

/** Larger graphs have no picture: nobody could read it. */
const MOST_NODES = 150
const MOST_PLACES = 1500
const LETTER = 7.3
const HEIGHT = 24
const BETWEEN = 44
const BESIDE = 18

interface Place {
  readonly node: GraphNode | undefined
  readonly label: string
  readonly width: number
  readonly above: Place[]
  x: number
  y: number
  order: number
}

/** The most characters of a name in the picture. */
const LONGEST = 32
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}\u2026` : text)

/** Where each node lies, numbers in the labels of those that read them; undefined where there are too many. */
const laidOut = ({ nodes, edges, outputs }: Graph): readonly (readonly Place[])[] | undefined => {
  const numbers = new Map(nodes.filter((n) => n.kind === 'literal').map((n) => [n.id, n.label]))
  const drawn = nodes.filter((n) => n.kind !== 'literal' || outputs.some((o) => o.id === n.id))
  if (drawn.length > MOST_NODES) return undefined
  const reads = new Map<string, string[]>()
  for (const { from, to } of edges) reads.set(to, [...(reads.get(to) ?? []), from])
  const level = new Map<string, number>()
  const layers: Place[][] = []
  const place = (node: GraphNode | undefined, label: string, at: number): Place => {
    const made: Place = { node, label, width: node === undefined ? 6 : short(label).length * LETTER + 18, above: [], x: 0, y: 0, order: 0 }
    while (layers.length <= at) layers.push([])
    layers[at]!.push(made)
    return made
  }
  const places = new Map<string, Place>()
  // Nodes come after what they read, so one pass knows every level.
  for (const n of drawn) {
    const args = reads.get(n.id) ?? []
    const read = args.filter((id) => places.has(id))
    const at = read.reduce((most, id) => Math.max(most, level.get(id)! + 1), 0)
    const inside = args.flatMap((id) => numbers.get(id) ?? [])
    level.set(n.id, at)
    const made = place(n, [n.label, ...inside].join(' '), at)
    places.set(n.id, made)
    for (const id of new Set(read)) {
      let from = places.get(id)!
      for (let l = level.get(id)! + 1; l < at; l++) {
        const bend = place(undefined, '', l)
        bend.above.push(from)
        from = bend
      }
      made.above.push(from)
    }
    if (layers.reduce((sum, l) => sum + l.length, 0) > MOST_PLACES) return undefined
  }
  for (const layer of layers) {
    layer.forEach((p, i) => {
      p.order = p.above.length === 0 ? i : p.above.reduce((sum, q) => sum + q.x, 0) / p.above.length
    })
    layer.sort((a, b) => a.order - b.order)
    // As near to the middle of what it reads as its neighbour to the left allows.
    let end = 0
    for (const p of layer) {
      p.x = Math.max(end + p.width / 2, p.above.length === 0 ? 0 : p.order)
      end = p.x + p.width / 2 + BESIDE
    }
  }
  layers.forEach((layer, l) => {
    for (const p of layer) p.y = l * (HEIGHT + BETWEEN) + HEIGHT
  })
  return layers
}

/** The picture, or undefined where the graph is too large for one. */
export const picture = (graph: Graph): Markup | undefined => {
  const layers = laidOut(graph)
  const all = layers?.flat() ?? []
  if (layers === undefined || all.length === 0) return undefined
  const given = new Set(graph.outputs.map((o) => o.id))
  const width = Math.ceil(greatestOf(all.map((p) => p.x + p.width / 2))) + 8
  const height = layers.length * (HEIGHT + BETWEEN)
  const n = (x: number): string => x.toFixed(1)
  const lines = all.flatMap((p) =>
    p.above.map((q) => {
      const [y0, y1] = [q.node === undefined ? q.y : q.y + HEIGHT / 2, p.node === undefined ? p.y : p.y - HEIGHT / 2]
      const middle = n((y0 + y1) / 2)
      return element('path', {
        d: `M${n(q.x)},${n(y0)}C${n(q.x)},${middle} ${n(p.x)},${middle} ${n(p.x)},${n(y1)}`,
        fill: 'none',
        stroke: 'currentColor',
        'stroke-opacity': 0.45,
      })
    }),
  )
  const boxes = all.flatMap((p) =>
    p.node === undefined
      ? []
      : [
          element(
            'g',
            {},
            element('title', {}, `${p.label}: ${typeText(p.node)}`),
            element('rect', {
              x: n(p.x - p.width / 2),
              y: n(p.y - HEIGHT / 2),
              width: n(p.width),
              height: HEIGHT,
              rx: p.node.kind === 'apply' ? 4 : 12,
              fill: p.node.kind === 'apply' ? '#7f7f7f22' : '#3b78c733',
              stroke: 'currentColor',
              'stroke-opacity': 0.6,
              'stroke-width': given.has(p.node.id) ? 2.5 : 1,
            }),
            element('text', { x: n(p.x), y: n(p.y + 4), 'text-anchor': 'middle' }, short(p.label)),
            element(
              'text',
              { x: n(p.x), y: n(p.y + HEIGHT / 2 + 12), 'text-anchor': 'middle', 'font-size': 9, opacity: 0.7 },
              typeText(p.node),
            ),
          ),
        ],
  )
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width,
      height,
      viewBox: `-4 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `a graph of ${graph.nodes.filter((x) => x.kind === 'apply').length} operations`,
      'font-family': 'ui-monospace, monospace',
      'font-size': 12,
      fill: 'currentColor',
    },
    ...lines,
    ...boxes,
  )
}
