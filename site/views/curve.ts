/** A function and its derivative over an interval that the reader chooses. */
import type { CurveAsked, CurveGiven } from '../run/messages.js'
import { newChart } from './chart.js'
import { about, html } from './dom.js'

const field = (label: string, value: string, step: string): readonly [HTMLElement, HTMLInputElement] => {
  const input = html('input', { type: 'number', value, step })
  return [html('label', {}, label, ' ', input), input]
}

/** `entries` is how many numbers the first argument has. */
export const curveView = (entries: number, curve: (asked: CurveAsked) => Promise<CurveGiven>): HTMLElement => {
  const [fromLabel, from] = field('from', '-3', 'any')
  const [toLabel, to] = field('to', '3', 'any')
  const [entryLabel, at] = field('entry', '0', '1')
  at.min = '0'
  at.max = String(entries - 1)
  const note = html('p', { class: 'fault', role: 'status' })
  const chart = newChart()
  const draw = (): void => {
    note.textContent = ''
    curve({ entry: Number(at.value), from: Number(from.value), to: Number(to.value) }).then(
      ({ x, y, dy }) => {
        const curves = [
          { name: 'f', y },
          { name: "f'", y: dy },
        ]
        chart.draw({ title: '', points: false, x, curves })
      },
      (e: Error) => {
        note.textContent = e.message
      },
    )
  }
  for (const input of [from, to, at]) input.addEventListener('change', draw)
  draw()
  return html(
    'div',
    {},
    about('The function and its derivative, where one entry of the arguments moves and the others stay.'),
    html('div', { class: 'fields' }, fromLabel, toLabel, ...(entries > 1 ? [entryLabel] : [])),
    note,
    chart.element,
  )
}
