// A network that codual trains in Node, when the page is built, and writes as an ONNX file.
import { compile, cpu, explain, f32, fn, relu, softmax, tensor } from '../../src/index.js'
import { conv2d, dense, flattened, sequential } from '../../src/nn/index.js'
import { toONNX } from '../../src/onnx/index.js'
import { adam, cosineDecaySchedule } from '../../src/optim/index.js'
import { fit } from '../../src/train/index.js'
import { type Digits, loadDigits, thinned } from '../digits/data.js'

const network = sequential(
  conv2d(1, 8, 5, { stride: 2, padding: 2 }),
  relu,
  conv2d(8, 16, 3, { stride: 2, padding: 1 }),
  relu,
  flattened(),
  dense(16 * 7 * 7, 10),
)
const dataOf = ({ images, labels, count }: Digits) => ({ x: tensor(images, [count, 1, 28, 28]), y: tensor(labels, [count]) })

/** Trains the network; `chances` is the function that the file computes. */
export const trained = async (images = 8000, epochs = 5) => {
  const data = dataOf(thinned(loadDigits().train, images))
  const learningRate = cosineDecaySchedule({ initValue: 0.003, decaySteps: epochs * Math.ceil(data.y.shape[0] / 32) })
  const run = await fit(network, data, { loss: 'crossEntropy', optimizer: adam({ learningRate }), epochs, key: 1 })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { params } = run.right
  const f = fn({ images: f32('n', 1, 28, 28) }, ({ images }) => ({ chances: softmax(network.apply(params, images)) }))
  return { chances: compile(f, cpu()), bytes: toONNX(f).bytes }
}
