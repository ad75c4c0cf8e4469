// The page: ONNX Runtime reads the file that codual wrote, and says which digit an image shows.

import address from 'virtual:model'
import wasm from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url'
import * as ort from 'onnxruntime-web/wasm'
import { fetchDigits } from '../browser/digits.js'
import { makeGallery } from '../browser/gallery.js'
import { makePad } from '../browser/pad.js'
import { pixels, side } from '../digits/batches.js'

const the = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E
const classes = 10

const start = async (): Promise<void> => {
  ort.env.wasm.wasmPaths = { wasm }
  ort.env.wasm.numThreads = 1
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the model did not load (${answer.status}).`)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] })
  /** The chances of the ten digits for each image: the file takes any number of them. */
  const read = async (images: Float32Array): Promise<Float32Array> => {
    const { chances } = await session.run({ images: new ort.Tensor('float32', images, [images.length / pixels, 1, side, side]) })
    return chances!.data as Float32Array
  }
  const likeliest = (chances: Float32Array): Int32Array =>
    Int32Array.from({ length: chances.length / classes }, (_, i) => {
      const row = chances.subarray(i * classes, (i + 1) * classes)
      return row.indexOf(Math.max(...row))
    })

  const { unseen } = await fetchDigits()
  const gallery = makeGallery(the('gallery'), unseen)
  await read(unseen.images) // the first run makes room
  const from = performance.now()
  const chances = await read(unseen.images)
  const took = (performance.now() - from) / unseen.count
  const digits = likeliest(chances)
  gallery.show(digits)
  const right = digits.reduce((n, digit, i) => n + (digit === unseen.labels[i] ? 1 : 0), 0)
  the('unseen').textContent = `${((100 * right) / unseen.count).toFixed(1)} %`
  the('size').textContent = `${(bytes.length / 1000).toFixed(0)} kB`
  the('speed').textContent = `${took.toPrecision(2)} ms`
  const pad = the<HTMLCanvasElement>('pad')
  makePad(pad, the<HTMLButtonElement>('clear'), (image) => {
    if (image === undefined) the('own').textContent = '–'
    else
      read(image).then(
        (own) => {
          const [digit] = likeliest(own)
          the('own').textContent = `${digit} (${(100 * own[digit!]!).toFixed(0)} %)`
        },
        () => {
          the('own').textContent = '?'
        },
      )
  })
  the('status').textContent =
    `Read by ONNX Runtime, in this page: inputs ${session.inputNames.join(', ')}, outputs ${session.outputNames.join(', ')}`
  // For the test.
  Object.assign(window, { served: { chances, digits } })
}
start().catch((e: unknown) => {
  the('status').textContent = `The page did not start: ${(e as Error).message.split('\n')[0]} Reload it to try again.`
})
