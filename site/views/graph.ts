/** A program as a picture: operations from top to bottom, shapes on the edges, cotangents that nothing needs greyed. */
import dagre from '@dagrejs/dagre'
import type { Explained } from '../run/messages.js'
import { html, svg } from './dom.js'
import { graphOf } from './program-graph.js'

const LETTER = 7.4
const MOST_NODES = 400

/** `dropped` says which arguments of which primitives have no cotangent, and why. */
export const graphView = (text: string, dropped: NonNullable<Explained['dropped']>): HTMLElement => {
  const { nodes, edges } = graphOf(text)
  if (nodes.length > MOST_NODES) return html('p', { class: 'about' }, `${nodes.length} nodes are too many for a picture: see the program.`)
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 26, ranksep: 38, edgesep: 14, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const n of nodes) graph.setNode(n.id, { width: Math.max(34, n.label.length * LETTER + 18), height: 26 })
  edges.forEach((e, i) => {
    graph.setEdge(e.from, e.to, { width: e.label.length * LETTER * 0.9, height: 14, labelpos: 'c' }, String(i))
  })
  dagre.layout(graph)
  const size = graph.graph() as { readonly width?: number; readonly height?: number }
  const width = Math.ceil(size.width ?? 0) + 8
  const height = Math.ceil(size.height ?? 0) + 8
  const labels = new Map(nodes.map((n) => [n.id, n]))
  const drawn: SVGElement[] = []
  let dead = 0
  edges.forEach((e, i) => {
    const { points, x, y } = graph.edge({ v: e.from, w: e.to, name: String(i) }) as {
      readonly points: readonly { readonly x: number; readonly y: number }[]
      readonly x?: number
      readonly y?: number
    }
    const reason = dropped.find((d) => d.primitive === labels.get(e.to)!.label && d.argument === e.argument)
    if (reason !== undefined) dead++
    const path = points.map((p, k) => `${k === 0 ? 'M' : 'L'}${p.x.toFixed(1)},${p.y.toFixed(1)}`).join('')
    const line = svg(
      'path',
      { class: reason === undefined ? 'edge' : 'edge dead', d: path, 'marker-end': 'url(#arrow)' },
      svg('title', {}, reason?.text ?? e.label),
    )
    drawn.push(line)
    if (e.label !== '' && x !== undefined && y !== undefined)
      drawn.push(svg('text', { class: 'quiet', x, y: y + 4, 'text-anchor': 'middle' }, e.label))
  })
  for (const n of nodes) {
    const {
      x,
      y,
      width: w,
      height: h,
    } = graph.node(n.id) as { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
    drawn.push(
      svg(
        'g',
        { class: `node ${n.kind}` },
        svg('title', {}, n.detail),
        svg('rect', { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: n.kind === 'apply' ? 5 : 13 }),
        svg('text', { x, y: y + 4, 'text-anchor': 'middle' }, n.label),
      ),
    )
  }
  const picture = svg(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `A graph of ${nodes.filter((n) => n.kind === 'apply').length} operations; the program has the same as text`,
    },
    svg(
      'defs',
      {},
      svg(
        'marker',
        { id: 'arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
        svg('path', { d: 'M0,0L8,4L0,8z', fill: 'var(--quiet)' }),
      ),
    ),
    ...drawn,
  )
  const reasons = dropped.map((d) => html('li', {}, d.text))
  return html(
    'div',
    {},
    html('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Graph' }, picture as unknown as Node),
    ...(dead === 0 || reasons.length === 0
      ? []
      : [html('p', { class: 'about' }, 'Dashed: cotangents that the derivative leaves out.'), html('ul', {}, ...reasons)]),
  )
}
