/** A program line by line, forward and reverse beside each other, all at once or one equation at a time. */
import type { ModeRow, Printed } from '../run/messages.js'
import { html } from './dom.js'
import { short } from './numbers.js'

/** What is known after some steps: of n equations, n steps go forward with values and tangents, and n more back with cotangents. */
export interface Progress {
  /** How many equations have their value and tangent. */
  readonly forward: number
  /** From this equation on there are cotangents. */
  readonly reverse: number
  /** The equation of the last step; none before the first. */
  readonly at: number | undefined
}
export const progressOf = (steps: number, n: number): Progress => ({
  forward: Math.min(steps, n),
  reverse: Math.min(n, 2 * n - steps),
  at: steps === 0 ? undefined : steps <= n ? steps - 1 : 2 * n - steps,
})
const told = (value: Printed | undefined, none: string): string => (value === undefined ? none : short(value))
/** The last step in words. */
export const stepInWords = (steps: number, rows: readonly ModeRow[]): string => {
  const n = rows.length
  const { at } = progressOf(steps, n)
  if (at === undefined) return 'Before the first equation.'
  const { equation, primal, tangent, cotangent } = rows[at]!
  const line = equation.replace(/ : .*/, '')
  return steps <= n
    ? `Forward, ${steps} of ${n}: ${line} is ${short(primal)}, its tangent ${told(tangent, 'is zero')}.`
    : `Reverse, ${steps - n} of ${n}: the cotangent of ${line.replace(/ = .*/, '')} is ${told(cotangent, 'zero: no result depends on it')}.`
}

const view = (rows: readonly ModeRow[]): HTMLElement => {
  const last = 2 * rows.length
  const head = ['equation', 'value', 'tangent', 'cotangent'].map((text) => html('th', { scope: 'col', class: 'word' }, text))
  const lines = rows.map((row) => {
    const cells = [row.primal, row.tangent, row.cotangent].map((v) => html('td', { class: 'word' }, v === undefined ? '' : short(v)))
    return { row: html('tr', {}, html('td', { class: 'word' }, row.equation), ...cells), cells }
  })
  const slider = html('input', { type: 'range', min: '0', max: String(last), value: String(last), step: '1', 'aria-label': 'Steps done' })
  const words = html('p', { class: 'about', role: 'status' })
  const button = (text: string, by: (steps: number) => number): HTMLElement => {
    const b = html('button', { type: 'button' }, text)
    b.addEventListener('click', () => {
      slider.value = String(by(Number(slider.value)))
      show()
    })
    return b
  }
  const show = (): void => {
    const steps = Number(slider.value)
    const { forward, reverse, at } = progressOf(steps, rows.length)
    lines.forEach(({ row, cells: [value, tangent, cotangent] }, i) => {
      row.classList.toggle('together', i === at && steps !== last)
      for (const cell of [value!, tangent!]) cell.classList.toggle('later', i >= forward)
      cotangent!.classList.toggle('later', i < reverse)
    })
    words.textContent = steps === last ? 'All steps are done.' : stepInWords(steps, rows)
    slider.ariaValueText = words.textContent
  }
  slider.addEventListener('input', show)
  show()
  return html(
    'div',
    {},
    html(
      'div',
      { class: 'fields' },
      button('From the start', () => 0),
      button('Back', (s) => s - 1),
      button('Next', (s) => s + 1),
      button('All', () => last),
      html('span', { class: 'slider' }, slider),
    ),
    words,
    html(
      'div',
      { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Equations' },
      html('table', {}, html('thead', {}, html('tr', {}, ...head)), html('tbody', {}, ...lines.map((l) => l.row))),
    ),
  )
}

export const modesView = (asked: Promise<readonly ModeRow[]>): HTMLElement => {
  const place = html('div')
  asked.then(
    (rows) => place.append(view(rows)),
    (e: Error) => place.append(html('p', { class: 'about' }, e.message)),
  )
  return html(
    'div',
    {},
    html(
      'p',
      { class: 'about' },
      'Forward from the first line, where every input moves by one; reverse from the last, for the sum of the results.',
    ),
    place,
  )
}
