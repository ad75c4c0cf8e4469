/** A program line by line, forward and reverse beside each other. */
import type { ModeRow, Printed } from '../run/messages.js'
import { html } from './dom.js'
import { short } from './numbers.js'

const cell = (value: Printed | undefined): HTMLElement => html('td', { class: 'word' }, value === undefined ? '' : short(value))

export const modesView = (asked: Promise<readonly ModeRow[]>): HTMLElement => {
  const place = html('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Equations' })
  asked.then(
    (rows) => {
      const head = ['equation', 'value', 'tangent', 'cotangent'].map((text) => html('th', { scope: 'col', class: 'word' }, text))
      place.append(
        html(
          'table',
          {},
          html('thead', {}, html('tr', {}, ...head)),
          html(
            'tbody',
            {},
            ...rows.map((row) =>
              html('tr', {}, html('td', { class: 'word' }, row.equation), cell(row.primal), cell(row.tangent), cell(row.cotangent)),
            ),
          ),
        ),
      )
    },
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
