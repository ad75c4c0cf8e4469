/** Fourier transforms as primitives, which the library's are made of. Each operation brings its pack. */
import '../packs/fourier.js'

export { dft, realDft, realDftTransposed } from '../core/ops/fourier.js'
