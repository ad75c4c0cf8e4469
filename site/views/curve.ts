/** A function and its derivative over an interval that the reader chooses. */
import type { CurveAsked, CurveGiven, Unsure } from '../run/messages.js'
import { newChart } from './chart.js'
import { about, html } from './dom.js'
import { numberText } from './numbers.js'

const field = (label: string, value: string, step: string): readonly [HTMLElement, HTMLInputElement] => {
  const input = html('input', { type: 'number', value, step })
  return [html('label', {}, label, ' ', input), input]
}

const MOST_PLACES = 8
/** What the checker says of all places; `until` is the last one that it had time for, if that is not all. */
const verdict = (unsure: readonly Unsure[], of: number, until: number | undefined): string => {
  const where = until === undefined ? `all ${of} points` : `the points up to x = ${numberText(until)}, where time ran out`
  return unsure.length === 0
    ? `Differences confirm the derivative at ${where}.`
    : `Of ${where}, the checker is not sure of ${unsure.length}, which are marked; differences confirm the derivative at the others.`
}

/** `entries` is how many numbers the first argument has. */
export const curveView = (entries: number, curve: (asked: CurveAsked) => Promise<CurveGiven>): HTMLElement => {
  const [fromLabel, from] = field('from', '-3', 'any')
  const [toLabel, to] = field('to', '3', 'any')
  const [entryLabel, at] = field('entry', '0', '1')
  at.min = '0'
  at.max = String(entries - 1)
  const note = html('p', { class: 'fault', role: 'status' })
  const sure = html('p', { class: 'about', role: 'status' })
  const places = html('ul')
  const chart = newChart()
  let turn = 0
  const show = ({ x, y, dy, sure: told }: CurveGiven): void => {
    const marked = new Map(told?.unsure.map((u) => [u.x, u.y]))
    const curves = [
      { name: 'f', y },
      { name: "f'", y: dy },
      ...(marked.size === 0 ? [] : [{ name: 'not sure', y: x.map((t) => marked.get(t) ?? Number.NaN), points: true }]),
    ]
    chart.draw({ title: '', points: false, x, curves })
    if (told === undefined) return
    const { unsure, checkedTo } = told
    sure.textContent = verdict(unsure, x.length, checkedTo < x.at(-1)! ? checkedTo : undefined)
    places.replaceChildren(...unsure.slice(0, MOST_PLACES).map((u) => html('li', {}, `x = ${numberText(u.x)}: ${u.text}`)))
    if (unsure.length > MOST_PLACES) places.append(html('li', {}, `and ${unsure.length - MOST_PLACES} more`))
  }
  /** The curves at once, and what the checker says of them when it has. */
  const draw = async (): Promise<void> => {
    const mine = ++turn
    for (const text of [note, sure]) text.textContent = ''
    places.replaceChildren()
    const asked = { entry: Number(at.value), from: Number(from.value), to: Number(to.value) }
    try {
      for (const sure of [false, true]) {
        const given = await curve({ ...asked, sure })
        if (mine !== turn) return
        show(given)
      }
    } catch (e) {
      note.textContent = (e as Error).message
    }
  }
  for (const input of [from, to, at]) input.addEventListener('change', () => void draw())
  void draw()
  return html(
    'div',
    {},
    about('The function and its derivative, where one entry of the arguments moves and the others stay.'),
    html('div', { class: 'fields' }, fromLabel, toLabel, ...(entries > 1 ? [entryLabel] : [])),
    note,
    chart.element,
    sure,
    places,
  )
}
