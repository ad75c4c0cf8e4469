// The two charts, drawn by uPlot in the page's own colours.
import 'uplot/dist/uPlot.min.css'
import uPlot from 'uplot'
import type { Look } from './training.js'

export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

/** The running mean of a curve: each step back counts a twelfth less, from the first value on. */
export const smoothed = (values: readonly number[]): number[] => {
  const keep = 11 / 12
  let [sum, weight] = [0, 0]
  return values.map((v) => {
    sum = keep * sum + v
    weight = keep * weight + 1
    return sum / weight
  })
}

interface Curve {
  readonly colour: string
  readonly width: number
  readonly dots?: boolean
}
interface Chart {
  readonly draw: (data: uPlot.AlignedData) => void
}

const font = '13px system-ui, sans-serif'

/** A chart that fills its element, follows its width, and is made anew when the colours change. */
const chart = (
  element: HTMLElement,
  curves: readonly Curve[],
  y: { readonly scale: uPlot.Scale; readonly text: (v: number) => string },
): Chart => {
  let plot: uPlot | undefined
  let data: uPlot.AlignedData = [[], ...curves.map(() => [])]
  const axis = (): uPlot.Axis => ({
    stroke: colour('quiet'),
    font,
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { show: false },
  })
  const make = (): void => {
    plot?.destroy()
    const series = curves.map(
      (c): uPlot.Series => ({
        stroke: colour(c.colour),
        width: c.width,
        spanGaps: true,
        points: c.dots === true ? { show: true, size: 6, fill: colour(c.colour) } : { show: false },
      }),
    )
    plot = new uPlot(
      {
        width: element.clientWidth,
        height: element.clientHeight,
        legend: { show: false },
        cursor: { show: false },
        padding: [10, 22, 0, 0],
        scales: { x: { time: false, range: (_, __, max) => [0, Math.max(20, max ?? 0)] }, y: y.scale },
        series: [{}, ...series],
        axes: [
          {
            ...axis(),
            size: 30,
            label: 'steps',
            labelSize: 18,
            labelFont: font,
            values: (_, at) => at.map((v) => (Number.isInteger(v) ? v.toLocaleString('en') : '')),
          },
          { ...axis(), size: 52, values: (_, at) => at.map((v) => (v === null ? '' : y.text(v))) },
        ],
      },
      data,
      element,
    )
  }
  make()
  new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: element.clientHeight })).observe(element)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', make)
  return {
    draw: (next) => {
      data = next
      plot?.setData(data)
    },
  }
}

/** Loss and accuracy over the steps. */
export const makeCharts = (lossElement: HTMLElement, accuracyElement: HTMLElement) => {
  const loss = chart(
    lossElement,
    [
      { colour: 'faint', width: 1 },
      { colour: 'accent', width: 2 },
    ],
    {
      // Decades would leave a curve that spans one and a half of them without lines: powers of two.
      scale: {
        distr: 3,
        log: 2,
        range: (_, min, max) => [2 ** Math.floor(Math.log2(Math.max(min ?? 1, 1e-4))), 2 ** Math.ceil(Math.log2(max ?? 4))],
      },
      text: (v) => String(Number(v.toPrecision(v < 0.1 ? 2 : 3))),
    },
  )
  const accuracy = chart(
    accuracyElement,
    [
      { colour: 'accent', width: 2 },
      { colour: 'second', width: 2, dots: true },
    ],
    { scale: { range: [0, 1] }, text: (v) => `${Math.round(100 * v)} %` },
  )
  return {
    draw: (losses: readonly number[], correct: readonly number[], looks: readonly Look[]): void => {
      const steps = Array.from({ length: losses.length + 1 }, (_, i) => i)
      const unseen: (number | null)[] = steps.map(() => null)
      for (const { step, accuracy } of looks) unseen[step] = accuracy
      loss.draw([steps, [null, ...losses.map((v) => Math.max(v, 1e-4))], [null, ...smoothed(losses).map((v) => Math.max(v, 1e-4))]])
      accuracy.draw([steps, [null, ...smoothed(correct)], unseen])
    },
  }
}
