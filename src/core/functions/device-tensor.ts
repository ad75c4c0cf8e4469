/** Tensors whose elements a device holds: made by `onDevice`, read back by `onHost`, written in place by `.into`. */

import { badInput, raise } from '../errors/explain.js'
import { readOptions } from '../errors/options.js'
import type { NDArray, TypedArray } from '../graph/ndarray.js'
import { typed } from '../graph/operation.js'
import { isTensor, makeTensor, Tensor } from '../graph/tensor.js'
import { flatten, leafPaths, unflatten } from '../graph/tree.js'
import type { DType } from '../types/dtype.js'
import type { OnDeviceFn, OnHostFn } from '../types/signatures/device.js'
import { type Backend, backendOf, type DeviceArray, type Elements, type KeptArray, type PlaceOptions, placeOptions } from './backend.js'

/** Frees the memory of tensors that were forgotten; `dispose` is at once. */
const forgotten = /*#__PURE__*/ new FinalizationRegistry<DeviceArray | KeptArray>((array) => array.dispose())

/** A tensor on a device. Its elements are read by `onHost` alone: `data`, `item` and `toArray` are errors that say so. */
export class DeviceTensor extends Tensor {
  constructor(
    shape: readonly number[],
    dtype: DType,
    readonly array: DeviceArray,
  ) {
    super(shape, dtype, undefined as never)
    Object.defineProperty(this, 'data', {
      enumerable: false,
      get: (): never =>
        badInput(
          'data',
          `the elements of this tensor are on the device (${array.backend}).`,
          'const { data } = await onHost(tensor); functions compiled for that backend take the tensor as it is.',
        ),
    })
    Object.defineProperty(this, 'array', { enumerable: false })
    forgotten.register(this, array, this)
  }
  override intact(): this {
    return this
  }
  /** Frees the device's memory now; using the tensor afterwards is an error. */
  dispose(): void {
    forgotten.unregister(this)
    this.array.dispose()
  }
  override toArray(): never {
    return this.data as never
  }
  override item(): never {
    return this.data as never
  }
  override toJSON(): never {
    return this.data as never
  }
  override toString(): string {
    return `Tensor ${this.dtype} [${this.shape.join(', ')}] on ${this.array.backend}${this.array.half === true ? ' as f16' : ''}`
  }
}
/** The arrays that views of such memory are of: many share one buffer. */
const keptOf = /*#__PURE__*/ new WeakMap<TypedArray, KeptArray>()
/** What a view of elements belongs to, where they are kept by themselves. */
export const keptStore = (view: TypedArray): object | undefined => keptOf.get(view)
/** A tensor in the memory in which a backend computes. `data` is a view of that memory as it is now. */
export class KeptTensor extends Tensor {
  readonly #array: KeptArray
  constructor(shape: readonly number[], dtype: DType, array: KeptArray) {
    super(shape, dtype, undefined as never)
    this.#array = array
    let last: TypedArray | undefined
    const get = (): TypedArray => {
      const { data } = array
      if (data !== last) {
        keptOf.set(data, array)
        last = data
      }
      return data
    }
    Object.defineProperty(this, 'data', { enumerable: true, get })
    if (symbol !== undefined) Object.defineProperty(this, symbol, { value: () => this.dispose() })
    forgotten.register(this, array, this)
  }
  /** Frees the memory now; using the tensor afterwards is an error. */
  dispose(): void {
    forgotten.unregister(this)
    this.#array.dispose()
  }
}
const symbol = (Symbol as { readonly dispose?: symbol }).dispose
if (symbol !== undefined) Object.defineProperty(DeviceTensor.prototype, symbol, { value: DeviceTensor.prototype.dispose })

/** The elements of an array, wherever they are. */
export const elementsOf = (x: NDArray): Elements => (x instanceof DeviceTensor ? x.array : x.data)
/** Elements that a device holds. */
export const onADevice = (x: Elements): x is DeviceArray => !ArrayBuffer.isView(x)
/** A copy of elements in the host's memory; those that a device holds, as they are. */
export const copyOf = (x: Elements): Elements => (onADevice(x) ? x : (x.slice() as TypedArray))
/** The elements where they must be in the host's memory. */
export const hosted = (xs: readonly Elements[], where: string): readonly TypedArray[] => {
  for (const x of xs)
    if (onADevice(x))
      badInput(
        where,
        `an argument is on the device (${x.backend}), and this function runs elsewhere.`,
        'compile the function for that backend, or read the tensor back with onHost.',
      )
  return xs as readonly TypedArray[]
}

/**
 * A tree of tensors with their elements on the backend's device: functions compiled for it take them as they are, and `.into` writes them in place, so that a training loop moves
 * no parameter. On cpu() they are in the memory of its kernels: calls copy nothing, and `data` is a view that you read again after each call. A backend without such memory makes
 * copies.
 *
 * `storage: 'f16'` stores f32 tensors in half of the memory: rounded to 11 significant bits here and wherever `.into` writes them, f32 in every computation, read back as f32.
 * Other dtypes stay as they are. `dispose()` on a tensor frees its memory at once; a tensor that is no longer reachable is freed some time later.
 * Errors  Unsupported for a dtype or a storage that the device lacks; OutOfMemory; BadInput for a tensor that is on a device already.
 * @example
 * const w = await onDevice(tensor([1, 2], [2], 'f32'), cpu())
 * await onHost(w)   // Tensor f32 [2] [1, 2]
 */
export const onDevice: OnDeviceFn = typed(async (tree: unknown, backend: Backend, options?: PlaceOptions): Promise<unknown> => {
  const { leaves, def } = flatten(tree, 'onDevice')
  backendOf(backend, 'onDevice')
  const paths = leafPaths(def)
  const tensors = leaves.map((x, i) => {
    if (x instanceof DeviceTensor || x instanceof KeptTensor)
      badInput(`onDevice: ${paths[i]}`, 'the tensor is on a device already.', 'use it as it is.')
    return makeTensor(x, undefined, undefined, 'onDevice')
  })
  const place = backend.place
  const { storage } = readOptions(placeOptions, options, 'onDevice')
  if (place === undefined) {
    if (storage === 'f16')
      raise({ _tag: 'Unsupported', backend: backend.name, what: 'storage as f16', fix: "leave out storage: 'f16', or use webgpu()." })
    const { keep } = backend
    return unflatten(
      def,
      tensors.map((t) => {
        const kept = keep?.(t)
        return kept === undefined ? t : new KeptTensor(t.shape, t.dtype, kept)
      }),
    )
  }
  const placed = await Promise.allSettled(tensors.map(async (t) => new DeviceTensor(t.shape, t.dtype, await place(t, { storage }))))
  const failed = placed.find((r) => r.status === 'rejected')
  if (failed === undefined)
    return unflatten(
      def,
      placed.map((r) => (r as PromiseFulfilledResult<DeviceTensor>).value),
    )
  for (const r of placed) if (r.status === 'fulfilled') r.value.dispose()
  throw failed.reason
})

/**
 * The same tree in the host's memory: device tensors are read back after all earlier work of the device; others stay as they are.
 *
 * Errors  Device if the device is lost, with what was on it.
 * @example (await onHost({ w: tensor([1, 2], [2]) })).w   // Tensor f64 [2] [1, 2]
 */
export const onHost: OnHostFn = typed(async (tree: unknown): Promise<unknown> => {
  const { leaves, def } = flatten(tree, 'onHost')
  const read = await Promise.all(
    leaves.map(async (x) =>
      x instanceof DeviceTensor
        ? new Tensor(x.shape, x.dtype, await x.array.read())
        : x instanceof KeptTensor
          ? new Tensor(x.shape, x.dtype, x.intact('onHost').data.slice() as TypedArray)
          : isTensor(x)
            ? x
            : makeTensor(x),
    ),
  )
  return unflatten(def, read)
})
