// Concrete arrays and trees of them: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import { codec as codecOf } from '../codec.js'
import { onDevice as onDeviceOf, onHost as onHostOf } from '../device-tensor.js'
import { makeTensor } from '../tensor.js'
import { duplicated as duplicatedOf } from '../vector-space.js'
import { type Public, typed } from './typed.js'

/**
 * The io-ts codec of the inputs a function declares.
 *
 * Decodes numbers, nested arrays, typed arrays, tensors and their JSON into fresh tensors; named sizes must agree between leaves.
 * Encodes to nested arrays that JSON keeps to the bit. Every error has its path; `decodeError` makes one AdError of them.
 * @example codec({ x: f64('n', 2) }).decode({ x: [[1, 2]] })   // Right({ x: Tensor f64 [1, 2] [[1, 2]] })
 */
export const codec: Public['codec'] = typed(codecOf)

/**
 * Parameters and zeroed buffers for their gradient, to accumulate micro-batches into (Enzyme's Duplicated).
 *
 * @example
 * const p = duplicated({ w: tensor([1, 2], [2]) })
 * const step = compile(grad(fn({ w: f64(2) }, ({ w }) => sum(mul(w, w))))).into(p.tangent, { accumulate: true })
 * step(p.primal)
 * p.tangent.w   // [2, 4]
 */
export const duplicated: Public['duplicated'] = typed(duplicatedOf)

/**
 * A concrete array from numbers, nested arrays or a typed array; the data is copied. f64, or the typed array's dtype, unless given.
 *
 * Takes what JSON.stringify wrote of a tensor too, once parsed: every number comes back, NaN and -0 among them.
 * Errors  BadInput for ragged or non-numeric data, for what is no shape or dtype, and for what an i32 does not hold (fractions, NaN, 2^31);
 * ShapeMismatch where the data does not fill the shape.
 * @example tensor([1, 2, 3, 4], [2, 2], 'f32')   // Tensor f32 [2, 2] [[1, 2], [3, 4]]
 */
export const tensor: Public['tensor'] = typed(makeTensor)

/**
 * A tree of tensors with their elements on the backend's device: functions compiled for it take them as they are, and `.into` writes them
 * in place, so that a training loop moves no parameter. On a backend without a device: copies.
 *
 * `storage: 'f16'` stores f32 tensors in half of the memory: rounded to 11 significant bits here and wherever `.into` writes them, f32 in
 * every computation, read back as f32. Other dtypes stay as they are.
 * `dispose()` on a tensor frees its memory at once; what is forgotten is freed some time later.
 * Errors  Unsupported for a dtype or a storage that the device lacks; OutOfMemory; BadInput for a tensor that is on a device already.
 * @example
 * const w = await onDevice(tensor([1, 2], [2], 'f32'), cpu())
 * await onHost(w)   // Tensor f32 [2] [1, 2]
 */
export const onDevice: Public['onDevice'] = typed(onDeviceOf)

/**
 * The same tree in the host's memory: device tensors are read back, after all that was asked of the device before; others stay as they are.
 *
 * Errors  Device where the device, and what was on it, is lost.
 * @example (await onHost({ w: tensor([1, 2], [2]) })).w   // Tensor f64 [2] [1, 2]
 */
export const onHost: Public['onHost'] = typed(onHostOf)
