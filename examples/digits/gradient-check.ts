// Is the gradient right? In f64 against finite differences, in every mode; then what trains, compiled f32, beside compiled f64.
import { type Checked, makeCheck } from '../../src/check/index.js'
import {
  compile,
  coreRegistry,
  cpu,
  type Exprs,
  type Shape,
  type Tensor,
  type Tensors,
  tensor,
  treeMap,
  treeZip,
  valueAndGrad,
  vectorSpace,
} from '../../src/index.js'
import { lenet, lenetInF64 } from './models.js'
import type { Batch } from './train.js'

type Params = Tensors<typeof lenet.params>
/** Any array of a float dtype. */
type Floats = Tensor<Shape, 'f32' | 'f64'>

const inF64 = (t: Floats): Floats => tensor(Float64Array.from(t.data), t.shape)

/** LeNet's arguments in f64: the type keeps saying f32, as that of lenetInF64 does. */
const promoted = (params: Params, x: Batch['x']) => ({
  params: treeMap(inF64, params) as unknown as Params,
  x: inF64(x) as unknown as Batch['x'],
})

/**
 * `codual/check` on the loss of some images: forward, reverse and mixed mode against 5-point differences along random directions, one
 * for each array of parameters and one for all. Steps are small, so that few relus change their side within one. The images are captured,
 * not varied: on blank paper every maximum of a pool is a tie, where there is no derivative to compare with.
 */
export const checkModes = (params: Params, { x, y }: Batch): Checked => {
  const exact = promoted(params, x)
  const loss = (p: Exprs<typeof lenet.params>) => lenetInF64.loss({ params: p, x: exact.x, y })
  return makeCheck(coreRegistry).checkGrad(loss, { scale: 1e-4 })(exact.params)
}

/** The largest distance between the compiled gradients in f32 and in f64, in the Euclidean norm, relative to the gradient's. */
export const distanceToF64 = (params: Params, { x, y }: Batch): number => {
  const { grad: inF32 } = compile(valueAndGrad(lenet.loss, { wrt: 'params' }), cpu())({ params, x, y })
  const { grad: exact } = compile(valueAndGrad(lenetInF64.loss, { wrt: 'params' }), cpu())({ ...promoted(params, x), y })
  let largest = 0
  treeZip(
    (a: Floats, b: Floats) => {
      largest = Math.max(largest, vectorSpace.norm(vectorSpace.axpy(-1, b, inF64(a))) / vectorSpace.norm(b))
    },
    inF32,
    exact,
  )
  return largest
}
