// Unseen digits on canvases, each with what the network takes it for.
import { type Digits, pixels, side } from '../digits/batches.js'

const shown = 24

/** One image in a colour, ink by ink. */
const paint = (canvas: HTMLCanvasElement, image: Float32Array): void => {
  const context = canvas.getContext('2d')!
  context.clearRect(0, 0, side, side)
  context.fillStyle = getComputedStyle(canvas).color
  for (let i = 0; i < pixels; i++) {
    context.globalAlpha = image[i]!
    context.fillRect(i % side, Math.floor(i / side), 1, 1)
  }
}

export const makeGallery = (element: HTMLElement, digits: Digits) => {
  // The golden ratio walks through all ten digits, and never twice to the same image.
  const at = Array.from({ length: shown }, (_, k) => Math.floor(((0.618034 * (k + 1)) % 1) * digits.count))
  const figures = at.map((index) => {
    const figure = document.createElement('figure')
    const canvas = document.createElement('canvas')
    canvas.width = side
    canvas.height = side
    canvas.setAttribute('role', 'img')
    canvas.setAttribute('aria-label', `a handwritten ${digits.labels[index]}`)
    const caption = document.createElement('figcaption')
    caption.textContent = '?'
    figure.append(canvas, caption)
    element.append(figure)
    return { index, figure, canvas, caption }
  })
  const paintAll = (): void => {
    for (const { index, canvas } of figures) paint(canvas, digits.images.subarray(index * pixels, (index + 1) * pixels))
  }
  paintAll()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paintAll)
  return {
    /** Writes what each was taken for, and marks the mistakes. */
    show: (predicted: Int32Array | undefined): void => {
      for (const { index, figure, caption } of figures) {
        const read = predicted?.[index]
        caption.textContent = read === undefined ? '?' : String(read)
        const wrong = read !== undefined && read !== digits.labels[index]
        figure.classList.toggle('wrong', wrong)
        figure.title = wrong ? `it is a ${digits.labels[index]}` : ''
      }
    },
  }
}
