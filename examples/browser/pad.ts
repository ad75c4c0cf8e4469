// A canvas to draw a digit on, made into an image as the network knows them: 20 pixels high or wide, its centre of mass in the middle.
import { pixels, side } from '../digits/batches.js'

const box = 20

/** The drawing as 28 x 28 pixels; undefined where nothing was drawn. */
const imageOf = (canvas: HTMLCanvasElement): Float32Array | undefined => {
  const { width, height } = canvas
  const drawn = canvas.getContext('2d')!.getImageData(0, 0, width, height).data
  let [left, right, top, bottom, mass, sumX, sumY] = [width, -1, height, -1, 0, 0, 0]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const ink = drawn[4 * (y * width + x) + 3]!
      if (ink === 0) continue
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = Math.max(bottom, y)
      mass += ink
      sumX += ink * x
      sumY += ink * y
    }
  if (mass === 0) return undefined
  const scale = box / Math.max(right - left + 1, bottom - top + 1)
  const small = new OffscreenCanvas(side, side).getContext('2d')!
  small.imageSmoothingQuality = 'high'
  small.translate(side / 2, side / 2)
  small.scale(scale, scale)
  small.drawImage(canvas, -sumX / mass, -sumY / mass)
  const { data } = small.getImageData(0, 0, side, side)
  return Float32Array.from({ length: pixels }, (_, i) => data[4 * i + 3]! / 255)
}

/** Calls `changed` with the drawing while one is drawn, and with undefined when it is cleared. */
export const makePad = (canvas: HTMLCanvasElement, clear: HTMLButtonElement, changed: (image: Float32Array | undefined) => void): void => {
  const context = canvas.getContext('2d', { willReadFrequently: true })!
  context.lineWidth = 24
  context.lineCap = 'round'
  context.lineJoin = 'round'
  let last: readonly [number, number] | undefined
  const place = (e: PointerEvent): readonly [number, number] => {
    const { left, top, width, height } = canvas.getBoundingClientRect()
    return [((e.clientX - left) / width) * canvas.width, ((e.clientY - top) / height) * canvas.height]
  }
  const lineTo = (e: PointerEvent): void => {
    const to = place(e)
    const from = last ?? to
    context.strokeStyle = getComputedStyle(canvas).color
    context.beginPath()
    context.moveTo(...from)
    context.lineTo(...to)
    context.stroke()
    last = to
  }
  canvas.addEventListener('pointerdown', (e) => {
    canvas.setPointerCapture(e.pointerId)
    last = undefined
    lineTo(e)
  })
  canvas.addEventListener('pointermove', (e) => {
    if (canvas.hasPointerCapture(e.pointerId)) for (const part of e.getCoalescedEvents?.() ?? [e]) lineTo(part)
  })
  canvas.addEventListener('pointerup', () => changed(imageOf(canvas)))
  clear.addEventListener('click', () => {
    context.clearRect(0, 0, canvas.width, canvas.height)
    changed(undefined)
  })
}
