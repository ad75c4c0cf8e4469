/** The output of a run: values, lines of the console, plots and sliders in the order in which they come. */
import type { Printed, Series, SliderAt } from '../run/messages.js'
import { type Chart, newChart } from './chart.js'
import { html } from './dom.js'
import { numberText } from './numbers.js'
import { valueView } from './values.js'

export interface Output {
  readonly element: () => HTMLElement
  /** Where the sliders stand. */
  readonly sliders: () => Readonly<Record<string, number>>
  /** Begins anew. The sliders stay where they are if one of them moved: the row that the pointer holds must stay in the page. */
  readonly clear: (keepSliders: boolean) => void
  readonly value: (name: string, value: Printed) => void
  readonly console: (level: string, values: readonly Printed[]) => void
  readonly fault: (message: string) => void
  readonly plot: (series: Series) => void
  /** A point of a curve that is drawn while the program runs. */
  readonly point: (title: string, x: number, y: number) => void
  readonly slider: (at: SliderAt) => void
}

interface Curve {
  readonly chart: Chart
  readonly x: number[]
  readonly y: number[]
}

/** `moved` hears that a slider has another value. */
export const newOutput = (moved: () => void): Output => {
  let element = html('div')
  let sliders: Record<string, number> = {}
  let plots = 0
  const rows = new Map<string, HTMLElement>()
  const charts = new Map<string, Curve>()
  const due = new Set<string>()

  const entry = (...children: readonly (Node | string)[]): void => element.append(html('div', { class: 'entry' }, ...children))
  const curveOf = (name: string): Curve => {
    const known = charts.get(name)
    if (known !== undefined) return known
    const made: Curve = { chart: newChart(), x: [], y: [] }
    charts.set(name, made)
    element.append(made.chart.element)
    return made
  }
  /** As many points as there are make one change of the page. */
  const drawSoon = (title: string): void => {
    if (due.size === 0)
      requestAnimationFrame(() => {
        for (const t of due) {
          const { chart, x, y } = curveOf(t)
          chart.draw({ title: t, points: false, x, curves: [{ name: t, y }] })
        }
        due.clear()
      })
    due.add(title)
  }
  const rowOf = ({ name, min, max, value }: SliderAt): HTMLElement => {
    const known = rows.get(name)
    if (known !== undefined) return known
    const input = html('input', {
      type: 'range',
      min: String(min),
      max: String(max),
      step: String((max - min) / 200),
      value: String(value),
    })
    const out = html('output', {}, numberText(value))
    input.addEventListener('input', () => {
      sliders[name] = Number(input.value)
      out.textContent = numberText(Number(input.value))
      moved()
    })
    const row = html('label', { class: 'slider' }, name, input, out)
    rows.set(name, row)
    return row
  }

  return {
    element: () => element,
    sliders: () => ({ ...sliders }),
    clear: (keepSliders) => {
      element = html('div')
      charts.clear()
      due.clear()
      plots = 0
      if (keepSliders) for (const row of [...rows.values()].reverse()) element.prepend(row)
      else {
        sliders = {}
        rows.clear()
      }
    },
    value: (name, value) => entry(html('div', { class: 'label' }, name), valueView(value)),
    console: (level, values) => {
      const box = html('div', { class: level })
      box.append(...values.map(valueView))
      entry(box)
    },
    fault: (message) => entry(html('pre', { class: 'fault' }, message)),
    plot: (series) => curveOf(`plot ${plots++}`).chart.draw(series),
    point: (title, x, y) => {
      const curve = curveOf(title)
      curve.x.push(x)
      curve.y.push(y)
      drawSoon(title)
    },
    slider: (at) => {
      const row = rowOf(at)
      if (!row.isConnected) element.prepend(row)
    },
  }
}
