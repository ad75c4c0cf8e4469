/** Values as tables, folded where they are large; matrices are coloured by their elements. */
import type { Printed } from '../run/messages.js'
import { html } from './dom.js'
import { count, elementText } from './numbers.js'

const ROWS = 20
const COLUMNS = 12
/** Rows that a table has when it is unfolded, and characters of a text before it is folded. */
const MOST_ROWS = 500
const MOST_CHARACTERS = 4000

type TensorPrinted = Extract<Printed, { readonly kind: 'tensor' }>

/** Where an element stands between the largest sizes: -1 to 1. */
const scaleOf = (data: readonly number[]): ((x: number) => number) => {
  const most = data.reduce((m, x) => (Number.isFinite(x) ? Math.max(m, Math.abs(x)) : m), 0)
  return (x) => (most === 0 || !Number.isFinite(x) ? 0 : x / most)
}
const tint = (share: number): string =>
  `color-mix(in srgb, var(--${share < 0 ? 'cold' : 'hot'}) ${Math.round(Math.abs(share) * 30)}%, transparent)`

/** Rows of a matrix as a table, of as many columns as are shown. */
const rowsOf = (
  t: TensorPrinted,
  [first, last]: readonly [number, number],
  columns: number,
  from: number,
  coloured: boolean,
): HTMLElement => {
  const scale = scaleOf(t.data)
  const body = html('tbody')
  const shownColumns = Math.min(columns, COLUMNS)
  for (let i = first; i < last; i++) {
    const row = html('tr')
    for (let j = 0; j < shownColumns; j++) {
      const x = t.data[from + i * columns + j]
      const cell = html('td', {}, x === undefined ? '...' : elementText(x, t.dtype))
      if (coloured && x !== undefined) cell.style.backgroundColor = tint(scale(x))
      row.append(cell)
    }
    if (columns > shownColumns) row.append(html('td', {}, '...'))
    body.append(row)
  }
  return html('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Elements' }, html('table', {}, body))
}
/** What is made when it is unfolded. */
const folded = (summary: string, make: () => HTMLElement): HTMLElement => {
  const details = html('details', {}, html('summary', { class: 'about' }, summary))
  details.addEventListener('toggle', () => details.append(make()), { once: true })
  return details
}
const matrix = (t: TensorPrinted, rows: number, columns: number, from: number, coloured: boolean): HTMLElement => {
  const known = Math.min(rows, Math.ceil((t.data.length - from) / Math.max(1, columns)))
  const unfolded = Math.min(known, MOST_ROWS)
  return html(
    'div',
    {},
    rowsOf(t, [0, Math.min(rows, ROWS)], columns, from, coloured),
    ...(unfolded > ROWS
      ? [folded(`${count.format(rows - ROWS)} more rows`, () => rowsOf(t, [ROWS, unfolded], columns, from, coloured))]
      : rows > ROWS
        ? [html('p', { class: 'about' }, `and ${count.format(rows - ROWS)} more rows`)]
        : []),
    ...(columns > COLUMNS ? [html('p', { class: 'about' }, `and ${count.format(columns - COLUMNS)} more columns`)] : []),
  )
}
/** A large matrix as a picture, a pixel for each element. */
const picture = (t: TensorPrinted, rows: number, columns: number): HTMLElement => {
  const canvas = html('canvas', {
    class: 'heat',
    role: 'img',
    'aria-label': `The elements of a matrix of ${rows} rows and ${columns} columns as colours`,
  })
  canvas.width = columns
  canvas.height = rows
  canvas.style.width = `${Math.max(columns, Math.min(480, columns * 8))}px`
  const image = new ImageData(columns, rows)
  const scale = scaleOf(t.data)
  t.data.forEach((x, i) => {
    const share = scale(x)
    const [r, g, b] = share < 0 ? [28, 126, 214] : [232, 89, 12]
    image.data.set([r, g, b, Math.round(255 * Math.abs(share))], 4 * i)
  })
  canvas.getContext('2d')!.putImageData(image, 0, 0)
  return canvas
}

const tensorView = (t: TensorPrinted): HTMLElement => {
  const head = html('span', { class: 'label' }, `${t.dtype} [${t.shape.join(', ')}]`)
  if (t.shape.length === 0) return html('div', {}, html('code', {}, elementText(t.data[0]!, t.dtype)), ' ', head)
  const columns = t.shape.at(-1)!
  const rows = t.shape.length === 1 ? 1 : t.shape.at(-2)!
  const blocks = t.shape.slice(0, -2).reduce((a, b) => a * b, 1)
  const parts: HTMLElement[] = []
  for (let k = 0; k < Math.min(blocks, 4); k++) {
    if (blocks > 1) parts.push(html('p', { class: 'about' }, `[${place(k, t.shape.slice(0, -2)).join(', ')}]`))
    parts.push(matrix(t, rows, columns, k * rows * columns, t.shape.length > 1))
  }
  if (blocks > 4) parts.push(html('p', { class: 'about' }, `and ${count.format(blocks - 4)} more`))
  if (blocks === 1 && t.shape.length > 1 && (rows > ROWS || columns > COLUMNS) && t.data.length === t.size)
    parts.push(picture(t, rows, columns))
  return html('div', {}, head, ...parts)
}
const place = (k: number, shape: readonly number[]): readonly number[] => {
  const at: number[] = []
  for (const n of [...shape].reverse()) {
    at.unshift(k % n)
    k = Math.floor(k / n)
  }
  return at
}

/** A value, whatever it is. */
export const valueView = (value: Printed): HTMLElement => {
  if (value.kind === 'text') {
    const { text } = value
    if (text.length <= MOST_CHARACTERS) return html('pre', {}, text)
    const rest = text.length - MOST_CHARACTERS
    return html(
      'div',
      {},
      html('pre', {}, text.slice(0, MOST_CHARACTERS)),
      folded(`${count.format(rest)} more characters`, () => html('pre', {}, text.slice(MOST_CHARACTERS))),
    )
  }
  if (value.kind === 'tensor') return tensorView(value)
  const rows = value.entries.map(([name, v]) =>
    html('tr', {}, html('th', { class: 'word', scope: 'row' }, name), html('td', { class: 'word' }, valueView(v))),
  )
  return html(
    'div',
    { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Fields' },
    ...(value.label === '' ? [] : [html('span', { class: 'label' }, value.label)]),
    html('table', {}, html('tbody', {}, ...rows)),
  )
}
