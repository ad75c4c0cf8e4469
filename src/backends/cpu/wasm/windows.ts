/*
 * Windows whose place is computed: parts of an array copied or added where indices say. What the window has whole of the last axes, and the part of the axis before them, is one run
 * of neighbours. Sizes are in the record; how many axes lead to a run, and a short run's bytes, are in the code.
 */
import { itemBytes } from '../../../core/graph/aval.js'
import { sizeOf, stridesOf } from '../../../core/graph/shape.js'
import type { WindowParams } from '../../../core/ops/indexing/dynamic.js'
import type { DType } from '../../../core/types/dtype.js'
import { noElements, type WholeKernel } from '../kernel.js'
import type { FunctionBuilder, Local, Module } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'
import { copyRow, WRITTEN_OUT } from './take-along.js'

/** What is done with a window: it is read, written, or added to. */
export type WindowUse = 'read' | 'write' | 'add'

/** A window of [batches, ...axes]: bytes of an array of a batch, of a run, and for each axis up to that of the run its length, the window's, and the bytes from one place to the next. */
interface Layout {
  readonly batches: number
  readonly whole: number
  readonly run: number
  /** How many starts there are for each batch. */
  readonly starts: number
  readonly axes: readonly { readonly length: number; readonly size: number; readonly stride: number }[]
}
const layoutOf = (shape: readonly number[], { sizes, batchDims }: WindowParams, item: number): Layout => {
  const rest = shape.slice(batchDims)
  const strides = stridesOf(rest)
  let last = Math.max(0, sizes.length - 1)
  while (last > 0 && sizes[last] === rest[last]) last--
  return {
    batches: sizeOf(shape.slice(0, batchDims)),
    whole: item * sizeOf(rest),
    run: item * sizeOf(sizes.slice(last)),
    starts: rest.length,
    axes: rest.slice(0, last + 1).map((length, i) => ({ length, size: sizes[i]!, stride: item * strides[i]! })),
  }
}
/** Words of the record before those of axes, and of each axis. */
const FIXED = 8
const PER_AXIS = 3

interface Code {
  readonly use: WindowUse
  readonly dtype: DType
  readonly axes: number
  /** Bytes of a run that is written out; 0 of a long one, whose bytes are in the record. */
  readonly short: number
}
/** Adds so many elements at two addresses, which move on. */
const addRun = (f: FunctionBuilder, dtype: DType, to: Local, from: Local, bytes: Local | number): void => {
  const item = itemBytes[dtype]
  const [left, rest] = f.locals('i32', 2)
  const each = (width: number, load: (at: Local) => void, add: number, store: () => void): void => {
    f.get(to)
    load(to)
    load(from)
    f.op(add)
    store()
    f.increment(to, width).increment(from, width)
  }
  const ops = dtype === 'f64' ? [OP.f64x2_add, OP.f64_add] : dtype === 'f32' ? [OP.f32x4_add, OP.f32_add] : [OP.i32x4_add, OP.i32_add]
  const single = (at: Local): FunctionBuilder =>
    dtype === 'f64' ? f.get(at).f64Load() : dtype === 'f32' ? f.get(at).f32Load() : f.get(at).i32Load()
  f.set(left, () => f.op(OP.i32_shr_u, bytes, 4)).set(rest, () => f.op(OP.i32_shr_u, () => f.op(OP.i32_and, bytes, 15), Math.log2(item)))
  f.ifThen(left, () =>
    f.countDown(left, () =>
      each(
        16,
        (at) => f.get(at).v128Load(),
        ops[0]!,
        () => f.v128Store(),
      ),
    ),
  )
  f.ifThen(rest, () =>
    f.countDown(rest, () =>
      each(item, single, ops[1]!, () => {
        if (dtype === 'f64') f.f64Store()
        else if (dtype === 'f32') f.f32Store()
        else f.i32Store()
      }),
    ),
  )
}

const emitWindow = (module: Module, { use, dtype, axes, short }: Code, name: string): void => {
  const f = module.kernel(name)
  const [out, first, second, , batches, whole, run, starts] = pointers(f, FIXED)
  // A window that is read: out, x, starts. Else the array is the result: out, starts, update.
  const [x, indices, packed] = use === 'read' ? [first, second, out] : [out, first, second]
  const { add, mul, sub } = address(f)
  const [at, index] = f.locals('i32', 2)
  const ofAxes = Array.from({ length: axes }, (_, i) => {
    const words = f.locals('i32', PER_AXIS)
    words.forEach((word, j) => {
      f.get(f.param(0))
        .i32Load(4 * (FIXED + PER_AXIS * i + j))
        .set(word)
    })
    const [length, size, stride] = words
    return { length, size, stride }
  })
  const bytes = short > 0 ? short : run
  const moveRun = (place: Local): void => {
    if (use === 'add') {
      const [to, from] = f.locals('i32', 2)
      f.set(to, place).set(from, packed)
      addRun(f, dtype, to, from, bytes)
    } else copyRow(f, ...(use === 'read' ? ([packed, place] as const) : ([place, packed] as const)), bytes)
    f.set(packed, add(packed, bytes))
  }
  /** The runs of the axes from i on; the last one is that of the run itself. */
  const from = (i: number, place: Local): void => {
    if (i >= axes - 1) {
      moveRun(place)
      return
    }
    const { size, stride } = ofAxes[i]!
    const [left, next] = f.locals('i32', 2)
    f.set(next, place).set(left, size)
    f.countDown(left, () => {
      from(i + 1, next)
      f.set(next, add(next, stride))
    })
  }
  f.countDown(batches, () => {
    f.set(at, x)
    for (let i = 0; i < axes; i++) {
      const { length, size, stride } = ofAxes[i]!
      // The window is moved inside: as an index of the places where it may begin, but that a negative one counts from the end of the axis.
      const last = sub(length, size)
      f.get(indices)
        .i32Load(4 * i)
        .set(index)
      f.op(OP.i32_add, index, () => f.op(OP.select, length, 0, () => f.op(OP.i32_lt_s, index, 0))).set(index)
      f.op(OP.select, index, 0, () => f.op(OP.i32_gt_s, index, 0)).set(index)
      f.set(index, () => f.op(OP.select, index, last, () => f.op(OP.i32_lt_s, index, last)))
      f.set(at, add(at, mul(index, stride)))
    }
    from(0, at)
    f.set(x, add(x, whole))
    f.set(
      indices,
      add(indices, () => f.op(OP.i32_shl, starts, 2)),
    )
  })
}

/** The kernel of a window of arrays of this shape. */
export const windowKernel = (use: WindowUse, dtype: DType, shape: readonly number[], p: WindowParams): WholeKernel => {
  const layout = layoutOf(shape, p, itemBytes[dtype])
  const { batches, whole, run, starts, axes } = layout
  if (batches * sizeOf(p.sizes) === 0) return noElements
  const code: Code = { use, dtype: use === 'add' ? dtype : 'f64', axes: axes.length, short: use !== 'add' && run <= WRITTEN_OUT ? run : 0 }
  return {
    emit: (module, name) => emitWindow(module, code, name),
    scratchBytes: 0,
    shared: {
      code: `window ${code.use} ${code.dtype} ${code.axes} ${code.short}`,
      sizes: [batches, whole, run, starts, ...axes.flatMap(({ length, size, stride }) => [length, size, stride])],
    },
  }
}
