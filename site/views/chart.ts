/** Curves over x, drawn by uPlot in the page's colours. It is loaded by the first chart. */
import 'uplot/dist/uPlot.min.css'
import type uPlot from 'uplot'
import type { Series } from '../run/messages.js'
import { html } from './dom.js'
import { numberText } from './numbers.js'

const names = ['accent', 'second', 'good', 'keyword']
const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

export interface Chart {
  readonly element: HTMLElement
  readonly draw: (series: Series) => void
}

/** A chart, which follows its width and the theme. It is drawn once it stands in the page. */
export const newChart = (): Chart => {
  // Until something is drawn there is neither a heading nor a picture to be named.
  const heading = html('h2', { hidden: '' })
  const keys = html('p')
  const place = html('div', { class: 'plot' })
  const element = html('div', {}, heading, keys, place)
  let plot: uPlot | undefined
  let series: Series | undefined
  let look = ''
  const dataOf = ({ x, curves }: Series): uPlot.AlignedData => {
    const order = x.map((_, i) => i).sort((a, b) => x[a]! - x[b]!)
    return [order.map((i) => x[i]!), ...curves.map((c) => order.map((i) => (Number.isFinite(c.y[i]) ? c.y[i]! : null)))]
  }
  const make = async (): Promise<void> => {
    const { default: UPlot } = await import('uplot')
    if (series === undefined || place.clientWidth === 0) return
    plot?.destroy()
    const axis = (): uPlot.Axis => ({
      stroke: colour('quiet'),
      font: '12px system-ui, sans-serif',
      grid: { stroke: colour('grid'), width: 1 },
      ticks: { show: false },
    })
    plot = new UPlot(
      {
        width: place.clientWidth,
        height: place.clientHeight,
        legend: { show: false },
        scales: { x: { time: false } },
        axes: [axis(), { ...axis(), size: 64, values: (_, ticks) => ticks.map(numberText) }],
        series: [
          {},
          ...series.curves.map(
            (c, i): uPlot.Series => ({
              label: c.name,
              stroke: colour(names[i % names.length]!),
              width: 2,
              pxAlign: 0,
              ...((c.points ?? series!.points)
                ? { paths: () => null, points: { show: true, size: 6, fill: colour(names[i % names.length]!) } }
                : { points: { show: false } }),
            }),
          ),
        ],
      },
      dataOf(series),
      place,
    )
  }
  new ResizeObserver(() => void make()).observe(place)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => void make())
  return {
    element,
    draw: (next) => {
      series = next
      const now = `${next.title} ${next.points} ${next.curves.map((c) => c.name).join('\n')}`
      if (now === look && plot !== undefined) {
        plot.setData(dataOf(next))
        return
      }
      look = now
      heading.textContent = next.title
      heading.hidden = next.title === ''
      keys.replaceChildren(
        ...(next.curves.length < 2 ? [] : next.curves.map((c, i) => html('span', { class: `key c${i % names.length}` }, c.name))),
      )
      place.setAttribute('role', 'img')
      place.setAttribute(
        'aria-label',
        `A plot${next.title === '' ? '' : ` of ${next.title}`}: ${next.curves.map((c) => c.name).join(', ')} over x`,
      )
      void make()
    },
  }
}
