// Signatures of what moves tensors to a device and back.
import type { Backend, PlaceOptions } from '../../functions/backend.js'
import type { DType } from '../dtype.js'
import type { Tensor } from '../expr.js'
import type { Shape } from '../shape.js'
import type { NoTangent, Static, Tensors, TensorTree } from '../tree.js'

/** Where the elements of a tensor are on a device. */
export interface OnItsDevice {
  /** Frees the device's memory now. */
  dispose(): void
}
/** A tensor whose elements a device holds. `onHost` reads them; `data`, `item` and `toArray` are errors that say so (on cpu() they work as for other tensors). */
export type DeviceTensor<S extends Shape = Shape, D extends DType = DType> = Tensor<S, D> & OnItsDevice
/** The tree with device tensors for tensors. */
export type OnDevice<T> = T extends NoTangent | Static
  ? T
  : T extends Tensor<infer S, infer D>
    ? DeviceTensor<S, D>
    : { -readonly [K in keyof T]: OnDevice<T[K]> }
/** onDevice(tree, backend, { storage }): the same tensors with their elements on the backend's device. */
export type OnDeviceFn = <T extends TensorTree<T>>(tree: T, backend: Backend, options?: PlaceOptions) => Promise<OnDevice<T>>
/** onHost(tree): the same tensors with their elements in the host's memory. */
export type OnHostFn = <T extends TensorTree<T>>(tree: T) => Promise<Tensors<T>>
