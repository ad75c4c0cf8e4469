/** What reads at computed places, one invocation per element of the result: iota, gather, takeAlongAxis, searchsorted, windows. */

import { sizeOf } from '../../core/graph/shape.js'
import type { SearchParams } from '../../core/ops/indexing/along.js'
import type { WindowParams } from '../../core/ops/indexing/dynamic.js'
import type { GatherParams } from '../../core/ops/indexing/gather.js'
import type { AxisParams } from '../../core/ops/layout/join.js'
import type { IotaParams } from '../../core/ops/positions.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { Operand } from '../plan/step.js'
import { place, setWord, type Word, wordAt } from './dispatch.js'
import { acceptsF16, type WholeShader } from './kernel.js'
import { addWords, ORDER, orderOf, perItem, RESOLVE } from './shader.js'

export const iotaShader: WholeShader = (kernel, [out]) => {
  const { shape, axis, dtype } = kernel.params as IotaParams
  const { size, after } = aroundAxis(shape, axis)
  const value = dtype === 'f32' ? 'bitcast<u32>(f32(i))' : 'i'
  return {
    dispatches: perItem({
      items: sizeOf(shape),
      words: { op: place(out!), size, after },
      body: `  let i = (t / after) % size;\n  m[op + t] = ${value};\n`,
    }),
    scratchBytes: 0,
  }
}

/** How lists of indices lie among the arrays: of gather and its adjoints, and of takeAlongAxis and its adjoint. */
export interface Indexed {
  /** Lists of indices, indices in each, and the places that an index chooses from. */
  readonly lines: number
  readonly count: number
  readonly size: number
  /** Elements that one index moves. */
  readonly columns: number
  /**
   * The words that `LINE` and `at` work with. Index i of line (lo, li) is element (lo count + i) after + li; of the moved elements,
   * column (a, c) of it is element ((lo outer + a) count + i) wide + c after + li; where it points, the same with n for count.
   */
  readonly words: { readonly count: number; readonly n: number; readonly columns: number; readonly inner: number; readonly after: number }
}
export const gatherGeometry = (x: readonly number[], indices: readonly number[], { axis, batchDims }: GatherParams): Indexed => {
  const outer = sizeOf(x.slice(batchDims, axis))
  const inner = sizeOf(x.slice(axis + 1))
  const count = sizeOf(indices.slice(batchDims))
  const columns = outer * inner
  return { lines: sizeOf(x.slice(0, batchDims)), count, size: x[axis]!, columns, words: { count, n: x[axis]!, columns, inner, after: 1 } }
}
export const alongGeometry = (x: readonly number[], indices: readonly number[], { axis }: AxisParams): Indexed => {
  const { before, size, after } = aroundAxis(x, axis)
  const count = indices[axis]!
  return { lines: before * after, count, size, columns: 1, words: { count, n: size, columns: 1, inner: 1, after } }
}
/** `lo`, `li` of a line, and `a`, `c` of a column, from `line` and `col`. */
export const LINE = `  let lo = line / after; let li = line % after;
  let a = col / inner; let c = col % inner;
  let block = lo * (columns / inner) + a; let wide = inner * after; let rest = c * after + li;
`
/** The element of a moved array (of `count` rows) or of the array that is pointed into (of `n` rows). */
export const at = (rows: 'count' | 'n', row: string): string => `(block * ${rows} + ${row}) * wide + rest`

const reading = (geometry: (kernel: Parameters<WholeShader>[0]) => Indexed): WholeShader =>
  acceptsF16((kernel, [out, x, indices]) => {
    const g = geometry(kernel)
    // Elements of the result in their own order: ((lo outer + a) count + i) wide + rest.
    return {
      dispatches: perItem({
        items: g.lines * g.count * g.columns,
        words: { op: place(out!), xp: place(x!), ip: place(indices!), ...g.words },
        functions: [RESOLVE],
        body: `  let wide = inner * after;
  let rest = t % wide; let li = t % after;
  let i = (t / wide) % count; let block = t / wide / count; let lo = block / (columns / inner);
  let row = resolve(m[ip + (lo * count + i) * after + li], n);
  ${setWord(out!, 'op + t', wordAt(x!, `xp + ${at('n', 'row')}`))}
`,
      }),
      scratchBytes: 0,
    }
  })
export const gatherShader: WholeShader = reading((k) => gatherGeometry(k.args[0]!.shape, k.args[1]!.shape, k.params as GatherParams))
export const takeAlongShader: WholeShader = reading((k) => alongGeometry(k.args[0]!.shape, k.args[1]!.shape, k.params as AxisParams))

/** A binary search for each value. */
export const searchShader = acceptsF16((kernel, [out, sorted, values]) => {
  const { side, batchDims } = kernel.params as SearchParams
  const [s, v] = kernel.args
  const go = `${orderOf(s!.dtype, wordAt(sorted!, 'base + middle'))} ${side === 'left' ? '<' : '<='} v`
  return {
    dispatches: perItem({
      items: sizeOf(v!.shape),
      words: { op: place(out!), sp: place(sorted!), vp: place(values!), n: s!.shape[batchDims]!, each: sizeOf(v!.shape.slice(batchDims)) },
      functions: [ORDER],
      body: `  let base = sp + (t / each) * n;
  let v = ${orderOf(v!.dtype, wordAt(values!, 'vp + t'))};
  var low = 0u; var high = n;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (${go}) { low = middle + 1u; } else { high = middle; }
  }
  m[op + t] = low;
`,
    }),
    scratchBytes: 0,
  }
})

/** One invocation per element of the windows; the number of axes is in the text. `x` is the larger array, `w` the windows'. */
const windows = (
  move: (kernel: Parameters<WholeShader>[0], operands: readonly Operand[]) => string,
  order: (operands: readonly Word[]) => Record<'xp' | 'ip' | 'wp', Word>,
) =>
  acceptsF16((kernel, operands) => {
    const { sizes, batchDims } = kernel.params as WindowParams
    const shape = kernel.args[0]!.shape
    const lengths = shape.slice(batchDims)
    const words: Record<string, Word> = order(operands.map(place))
    sizes.forEach((size, k) => {
      words[`s${k}`] = size
      words[`d${k}`] = lengths[k]!
    })
    let body = '  var rest = t; var at = 0u; var stride = 1u;\n'
    const starts = sizes.map((_, k) => `m[ip + b * ${sizes.length}u + ${k}u]`)
    // Positions inside the window first: what is left of `rest` is the batch.
    for (let k = sizes.length - 1; k >= 0; k--) body += `  let i${k} = rest % s${k}; rest = rest / s${k};\n`
    body += '  let b = rest;\n'
    for (let k = sizes.length - 1; k >= 0; k--) body += `  at += (i${k} + start(${starts[k]}, d${k}, s${k})) * stride; stride *= d${k};\n`
    body += `  let x = xp + b * stride + at; let own = wp + t;\n  ${move(kernel, operands)}\n`
    return {
      dispatches: perItem({
        items: sizeOf(shape.slice(0, batchDims)) * sizeOf(sizes),
        words,
        functions: [
          `fn start(word: u32, d: u32, s: u32) -> u32 {
  let i = bitcast<i32>(word);
  return u32(clamp(select(i, i + i32(d), i < 0), 0, i32(d - s)));
}`,
        ],
        body,
      }),
      scratchBytes: 0,
    }
  })
export const dynamicSliceShader: WholeShader = windows(
  (_, [out, x]) => setWord(out!, 'own', wordAt(x!, 'x')),
  ([out, x, starts]) => ({ xp: x!, ip: starts!, wp: out! }),
)
export const dynamicSliceAddShader: WholeShader = windows(
  (k, [, , u]) => `m[x] = ${addWords(k.results[0]!.dtype, 'm[x]', wordAt(u!, 'own'))};`,
  ([acc, starts, u]) => ({ xp: acc!, ip: starts!, wp: u! }),
)
export const dynamicUpdateSliceShader: WholeShader = windows(
  (_, [, , u]) => `m[x] = ${wordAt(u!, 'own')};`,
  ([acc, starts, u]) => ({ xp: acc!, ip: starts!, wp: u! }),
)
