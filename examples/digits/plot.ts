// Pictures as SVG files, drawn on the server by vega-lite: the loss of every step, and some test images with what was predicted.
import { svg } from '../plot.js'
import { type Digits, pixels, side } from './data.js'

/** The loss of each training step, one curve for each model, with its running mean. */
export const lossCurves = (curves: Readonly<Record<string, readonly number[]>>): Promise<string> => {
  const values = Object.entries(curves).flatMap(([model, losses]) => {
    let mean = losses[0] ?? 0
    return losses.map((loss, i) => {
      mean = 0.95 * mean + 0.05 * loss
      return { model, step: i + 1, loss: mean }
    })
  })
  return svg({
    width: 520,
    height: 300,
    title: 'Cross entropy of the minibatches (running mean)',
    data: { values },
    mark: { type: 'line', strokeWidth: 1.5 },
    encoding: {
      x: { field: 'step', type: 'quantitative', title: 'step' },
      y: { field: 'loss', type: 'quantitative', scale: { type: 'log' }, title: 'loss' },
      color: { field: 'model', type: 'nominal', title: null },
    },
  })
}

/** 25 images in rows of 5, each with its prediction above it; wrong ones in red. */
export const predictionSheet = (digits: Digits, predicted: ArrayLike<number>, at: readonly number[]): Promise<string> => {
  const cell = side + 8
  const place = (k: number): readonly [x: number, y: number] => [cell * (k % 5), cell * Math.floor(k / 5)]
  const dots = at.flatMap((image, k) => {
    const [left, top] = place(k)
    return Array.from({ length: pixels }, (_, p) => {
      const [x, y] = [left + (p % side), top + 6 + Math.floor(p / side)]
      return { x, y, x2: x + 1, y2: y + 1, ink: digits.images[image * pixels + p]! }
    }).filter((dot) => dot.ink > 0.05)
  })
  const labels = at.map((image, k) => {
    const [left, top] = place(k)
    const right = predicted[image] === digits.labels[image]
    return {
      x: left + side / 2,
      y: top + 3,
      text: right ? `${predicted[image]}` : `${predicted[image]} (is ${digits.labels[image]})`,
      right,
    }
  })
  const scale = { domain: [0, 5 * cell], nice: false, zero: false }
  return svg({
    width: 5 * cell * 3,
    height: 5 * cell * 3,
    title: 'Predictions on images never seen',
    layer: [
      {
        data: { values: dots },
        mark: { type: 'rect', color: 'black' },
        encoding: {
          x: { field: 'x', type: 'quantitative', scale, axis: null },
          x2: { field: 'x2' },
          y: { field: 'y', type: 'quantitative', scale: { ...scale, reverse: true }, axis: null },
          y2: { field: 'y2' },
          opacity: { field: 'ink', type: 'quantitative', scale: { domain: [0, 1], range: [0, 1] }, legend: null },
        },
      },
      {
        data: { values: labels },
        mark: { type: 'text', fontSize: 13 },
        encoding: {
          x: { field: 'x', type: 'quantitative', scale },
          y: { field: 'y', type: 'quantitative', scale: { ...scale, reverse: true } },
          text: { field: 'text' },
          color: { field: 'right', type: 'nominal', scale: { domain: [true, false], range: ['#222', '#c00'] }, legend: null },
        },
      },
    ],
    config: { view: { stroke: null }, aria: false },
  })
}
