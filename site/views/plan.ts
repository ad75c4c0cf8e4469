/** A plan: its steps as a table, and its buffers as a picture of when they live. */
import type { Explained } from '../run/messages.js'
import { html, svg } from './dom.js'
import { inPlace, livesOf } from './lives.js'
import { count } from './numbers.js'

const many = (n: number, one: string): string => `${count.format(n)} ${one}${n === 1 ? '' : 's'}`
const figures = (e: Explained): string =>
  [
    many(e.steps.length, 'step'),
    many(e.kernels, 'kernel'),
    many(e.flops, 'flop'),
    `${many(e.bytes, 'byte')} moved`,
    `${count.format(e.peakBytes)} at the peak`,
    `planned in ${e.planMs.toFixed(1)} ms`,
    ...(e.copiedAccumulators > 0 ? [`${many(e.copiedAccumulators, 'accumulator')} copied`] : []),
  ].join(', ')

export const planView = (e: Explained): HTMLElement => {
  const head = ['step', 'kernel', 'sizes', 'flops', 'bytes', 'reads', 'writes']
  const words = new Set(['kernel', 'sizes', 'reads', 'writes'])
  const rows = e.steps.map((s, i) =>
    [
      s.times === 1 ? String(i) : `${i} (${count.format(s.times)} times)`,
      s.kernel,
      `[${s.sizes.join(', ')}]`,
      count.format(s.flops),
      count.format(s.bytes),
      s.reads.join(', '),
      s.writes.join(', '),
    ].map((text, k) => html('td', words.has(head[k]!) ? { class: 'word' } : {}, text)),
  )
  const table = html(
    'table',
    {},
    html('thead', {}, html('tr', {}, ...head.map((h) => html('th', { scope: 'col', ...(words.has(h) && { class: 'word' }) }, h)))),
    html('tbody', {}, ...rows.map((cells) => html('tr', {}, ...cells))),
  )
  const dropped = e.dropped ?? []
  return html(
    'div',
    {},
    html('p', { class: 'about' }, `${e.backend}: ${figures(e)}.`),
    html('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Steps' }, table),
    ...(dropped.length === 0
      ? []
      : [html('h2', {}, 'Left out of the derivative'), html('ul', {}, ...dropped.map((d) => html('li', {}, d.text)))]),
  )
}

const ROW = 24
const LEFT = 190
export const memoryView = (e: Explained): HTMLElement => {
  const lives = livesOf(e.steps)
  const step = Math.max(18, Math.min(90, 520 / Math.max(1, e.steps.length)))
  const width = LEFT + step * e.steps.length + 10
  const height = ROW * (lives.length + 1) + 8
  const parts: SVGElement[] = e.steps.map((s, i) =>
    svg('text', { class: 'quiet', x: LEFT + step * (i + 0.5), y: 14, 'text-anchor': 'middle' }, svg('title', {}, s.kernel), String(i)),
  )
  lives.forEach((life, k) => {
    const uses = [...life.writes, ...life.reads]
    const from = life.writes.length === 0 ? 0 : Math.min(...uses)
    const to = life.reads.length === 0 ? e.steps.length - 1 : Math.max(...uses)
    const y = ROW * (k + 1)
    const label = life.bytes === 0 ? life.name : `${life.name}, ${count.format(life.bytes)} B`
    parts.push(
      svg('text', { x: LEFT - 8, y: y + 15, 'text-anchor': 'end' }, label),
      svg(
        'rect',
        { class: 'life', x: LEFT + step * from, y: y + 3, width: step * (to - from + 1), height: ROW - 8, rx: 4 },
        svg(
          'title',
          {},
          `${label}: written by ${life.writes.join(', ') || 'the caller'}, read by ${life.reads.join(', ') || 'the caller'}`,
        ),
      ),
    )
    for (const i of inPlace(life))
      parts.push(
        svg(
          'circle',
          { class: 'in-place', cx: LEFT + step * (i + 0.5), cy: y + ROW / 2 - 1, r: 5 },
          svg('title', {}, `step ${i} writes it in place`),
        ),
      )
  })
  const picture = svg(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `The lives of ${lives.length} buffers over ${e.steps.length} steps`,
    },
    ...parts,
  )
  return html(
    'div',
    {},
    html(
      'p',
      { class: 'about' },
      `${count.format(e.peakBytes)} bytes at the peak. Each bar is a buffer, from the step that writes it to the last that reads it; a dot marks a write in place.`,
    ),
    html('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Buffers' }, picture as unknown as Node),
  )
}
