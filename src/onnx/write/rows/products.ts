/** Rows of products of matrices and of Fourier transforms. */
import type { contract, fourier } from '../../../core/ops/families.js'
import type { RowsOf } from '../row.js'
import type { Ref, Writer } from '../writer.js'

const product = (w: Writer, a: Ref, b: Ref, shape: readonly number[]): Ref => w.node('MatMul', [a, b], {}, { shape })
export const contractRows: RowsOf<typeof contract> = {
  matmul: { write: (w, [a, b], _params, [y]) => product(w, a!, b!, y!.shape) },
  matmulAdd: { write: (w, [acc, a, b], _params, [y]) => w.each('Add', acc!, product(w, a!, b!, y!.shape)) },
}

/** The transform of numbers [..., n, parts] along an axis. Up to operator set 19 the axis is an attribute. */
const dft = (w: Writer, x: Ref, axis: number, attributes: Readonly<Record<string, number>>, shape: readonly number[]): Ref =>
  w.opset < 20
    ? w.node('DFT', [x], { axis, ...attributes }, { shape })
    : w.node('DFT', [x, undefined, w.constant('int64', [], [axis])], attributes, { shape })
const paired = (w: Writer, parts: readonly Ref[]): Ref =>
  w.concat(
    parts.map((p) => w.reshape(p, [...p.shape, 1])),
    parts[0]!.shape.length,
  )
const part = (w: Writer, x: Ref, i: number): Ref =>
  w.node('Gather', [x, w.constant('int64', [], [i])], { axis: x.shape.length - 1 }, { shape: x.shape.slice(0, -1) })
/** DFT has a batch in front. */
const batched = (w: Writer, x: Ref): Ref => w.reshape(x, [1, ...x.shape])
/** Both parts of the transform of pairs. */
const both = (w: Writer, re: Ref, im: Ref, axis: number): readonly [Ref, Ref] => {
  const x = batched(w, paired(w, [re, im]))
  const y = w.reshape(dft(w, x, axis + 1, {}, x.shape), x.shape.slice(1))
  return [part(w, y, 0), part(w, y, 1)]
}
const along = (x: Ref, axis: number, n: number): readonly number[] => x.shape.map((d, i) => (i === axis ? n : d))
const cut = (w: Writer, x: Ref, axis: number, from: number, to: number): Ref =>
  w.node('Slice', [x, w.ints([from]), w.ints([to]), w.ints([axis])], {}, { shape: along(x, axis, to - from) })
const nothing = (w: Writer, x: Ref, shape: readonly number[]): Ref => w.expand(w.scalar(x.type, 0), shape)

export const fourierRows: RowsOf<typeof fourier> = {
  dft: {
    write: (w, [re, im], { axis }) => both(w, re!, im!, axis),
  },
  realDft: {
    write: (w, [x], { axis }, [y]) => {
      const m = y!.shape[axis]!
      const [re, im] = both(w, x!, nothing(w, x!, x!.shape), axis)
      // The imaginary parts of the first and the last are sums of zeros.
      const none = nothing(w, x!, along(x!, axis, 1))
      const middle = m > 2 ? [cut(w, im, axis, 1, m - 1)] : []
      return [cut(w, re, axis, 0, m), w.concat([none, ...middle, none], axis)]
    },
  },
  realDftTransposed: {
    write: (w, [re, im], { axis }, [x]) => {
      const m = re!.shape[axis]!
      const n = x!.shape[axis]!
      const none = nothing(w, re!, along(re!, axis, 1))
      const inner = m > 2 ? [w.node('Neg', [cut(w, im!, axis, 1, m - 1)])] : []
      const rest = n > m ? [nothing(w, re!, along(re!, axis, n - m))] : []
      const imaginary = w.concat([none, ...inner, none, ...rest], axis)
      const real = rest.length === 0 ? re! : w.concat([re!, ...rest], axis)
      return both(w, real, imaginary, axis)[0]
    },
  },
}
