/** Sums of products over named axes: einsum and tensordot, as transposes, reshapes and matrix products. */

import { integersOf, shown } from '../../core/errors/check-arguments.js'
import { badInput, raise, showShape } from '../../core/errors/explain.js'
import { raw } from '../../core/errors/options.js'
import { typed } from '../../core/graph/operation.js'
import { range, sizeOf } from '../../core/graph/shape.js'
import { mul } from '../../core/ops/arithmetic.js'
import { arraysOf, misfit } from '../../core/ops/arrays.js'
import { diag } from '../../core/ops/construct.js'
import { reshape, transpose } from '../../core/ops/layout/layout.js'
import { axesIn } from '../../core/ops/layout/move.js'
import { numbers, operation } from '../../core/ops/operation.js'
import { sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { EinsumFn, EinsumPathFn, TensordotFn } from '../../core/types/signatures/contract.js'
import { matmul } from '../../families/contract.js'
import { type Contraction, pathOf, taken } from './einsum-path.js'

type Labels = readonly string[]
/** An array whose axes have names. */
interface Labelled {
  readonly x: AnyExpr
  readonly labels: Labels
}
const sizeIn = ({ x, labels }: Labelled, label: string): number => x.shape[labels.indexOf(label)]!
const sizesIn = (a: Labelled, labels: Labels): number[] => labels.map((l) => sizeIn(a, l))
const ordered = ({ x, labels }: Labelled, order: Labels): AnyExpr => transpose(x, order.map((l) => labels.indexOf(l))) // biome-ignore format: one row

/** A stack of matrices [...batch, rows, columns]. Where columns come first already it is a transposed view, which products read as it is. */
const matrices = (a: Labelled, batch: Labels, rows: Labels, columns: Labels): AnyExpr => {
  const [b, r, c] = [sizesIn(a, batch), sizeOf(sizesIn(a, rows)), sizeOf(sizesIn(a, columns))]
  return columns.length > 0 && rows.length > 0 && a.labels.join() === [...batch, ...columns, ...rows].join()
    ? transpose(reshape(a.x, [...b, c, r]))
    : reshape(ordered(a, [...batch, ...rows, ...columns]), [...b, r, c])
}
/** a under more labels: axes of length 1 for those it does not have. */
const aligned = (a: Labelled, labels: Labels): AnyExpr => {
  const own = labels.filter((l) => a.labels.includes(l))
  return reshape(ordered(a, own), labels.map((l) => (own.includes(l) ? sizeIn(a, l) : 1))) // biome-ignore format: one row
}

/** The sum of a b over the labels that both have and `kept` does not. `order` is how the result's labels are wanted. */
const contractPair = (a: Labelled, b: Labelled, kept: ReadonlySet<string>, order: Labels): Labelled => {
  const shared = a.labels.filter((l) => b.labels.includes(l))
  const inner = shared.filter((l) => !kept.has(l))
  const left = a.labels.filter((l) => !b.labels.includes(l))
  const right = b.labels.filter((l) => !a.labels.includes(l))
  if (inner.length === 0) {
    const own = [...a.labels, ...right]
    const labels = own.length === order.length && own.every((l) => order.includes(l)) ? order : own
    return { x: mul(aligned(a, labels), aligned(b, labels)), labels }
  }
  if (left.length > 0 && right.length > 0 && order.indexOf(right[0]!) >= 0 && order.indexOf(right[0]!) < order.indexOf(left[0]!))
    return contractPair(b, a, kept, order.filter((l) => !left.includes(l)).concat(left))
  const batch = shared.filter((l) => kept.has(l))
  const product = matmul(matrices(a, batch, left, inner), matrices(b, batch, inner, right))
  return {
    x: reshape(product, [...sizesIn(a, batch), ...sizesIn(a, left), ...sizesIn(b, right)]),
    labels: [...batch, ...left, ...right],
  }
}

/** Axes of one label become one: their diagonal. */
const withoutRepeats = ({ x, labels }: Labelled): Labelled => {
  const at = labels.findIndex((l, i) => labels.indexOf(l) < i)
  if (at < 0) return { x, labels }
  const first = labels.indexOf(labels[at]!)
  const others = range(labels.length).filter((i) => i !== first && i !== at)
  return withoutRepeats({ x: diag(transpose(x, [...others, first, at])), labels: [...others, at].map((i) => labels[i]!) })
}
/** Sums over the labels that nobody else reads. */
const summed = ({ x, labels }: Labelled, kept: ReadonlySet<string>): Labelled => {
  const axis = range(labels.length).filter((i) => !kept.has(labels[i]!))
  return { x: axis.length === 0 ? x : sum(x, { axis }), labels: labels.filter((l) => kept.has(l)) }
}

/** Operands without repeated labels, and without those that nobody else reads. */
const termsOf = (operands: readonly Labelled[], output: Labels): readonly Labelled[] => {
  const plain = operands.map(withoutRepeats)
  /** Labels that something other than operand i still needs. */
  const elsewhere = (i: number): Set<string> => new Set([...output, ...plain.flatMap((a, j) => (j === i ? [] : a.labels))])
  return plain.map((a, i) => summed(a, elsewhere(i)))
}
const contractionOf = (terms: readonly Labelled[], output: Labels): Contraction => ({
  labels: terms.map((a) => a.labels),
  sizes: new Map(terms.flatMap((a) => a.labels.map((l) => [l, sizeIn(a, l)] as const))),
  output,
})
/** The sum over all labels that are not in the output, two operands at a time. */
const contractAll = (operands: readonly Labelled[], output: Labels): AnyExpr => {
  const left = [...termsOf(operands, output)]
  for (const [i, j] of pathOf(contractionOf(left, output)).path) {
    // What was made before stands last; its labels come first, as those of what is read from the left.
    const isMade = left.length < operands.length && j === left.length - 1
    const [x, y] = taken(left, i, j)
    const [a, b] = isMade ? [y, x] : [x, y]
    const kept = new Set([...output, ...left.flatMap((z) => z.labels)])
    left.push(contractPair(a, b, kept, left.length === 0 ? output : []))
  }
  return ordered(left[0]!, output)
}

type Bad = (reason: string, fix?: string) => never
const letters = (term: string, bad: Bad): string[] =>
  [...term].map((l) => (/[A-Za-z]/.test(l) ? l : bad(`'${l}' is not the name of an axis.`, 'name axes by letters, as in ij,jk->ik.')))

/** A term of the specification: letters, and where among them the axes stand that have none. */
interface Term {
  readonly before: Labels
  readonly after: Labels
  readonly ellipsis: boolean
}
const termOf = (text: string, bad: Bad): Term => {
  const [before, after, ...more] = text.split('...')
  if (more.length > 0) bad(`'${text}' has more than one ellipsis.`)
  return { before: letters(before!, bad), after: letters(after ?? '', bad), ellipsis: after !== undefined }
}
/** The labels of n axes under an ellipsis: they line up from the right. */
const unnamed = (n: number): string[] => range(n).map((k) => `...${n - 1 - k}`)
const isUnnamed = (label: string): boolean => label.startsWith('.')
const labelsOf = (t: Term, n: number): Labels => [...t.before, ...(t.ellipsis ? unnamed(n) : []), ...t.after]

/** The operands of a specification with the labels of their axes, and those of the output. */
const labelled = (
  op: string,
  spec: unknown,
  xs: readonly unknown[],
): { readonly operands: readonly Labelled[]; readonly output: Labels } => {
  const bad: Bad = (reason, fix) => raise({ _tag: 'BadInput', where: op, reason, ...(fix && { fix }) })
  const text = typeof spec === 'string' ? spec.replace(/\s/g, '') : bad('the first argument is not a string.', "give one, as 'ij,jk->ik'.")
  const [inputs, out, ...rest] = text.split('->')
  if (rest.length > 0) bad(`'${spec}' has more than one arrow.`)
  const terms = inputs!.split(',').map((t) => termOf(t, bad))
  if (terms.length !== xs.length)
    bad(
      `'${spec}' names ${terms.length} operands, got ${xs.length}.`,
      xs.length === 1 && Array.isArray(xs[0]) && xs[0].length === terms.length
        ? `give them one after the other: ${op}('${spec}', a, b), or ...list.`
        : 'separate operands by commas.',
    )
  const arrays = arraysOf(xs, op, 'number')
  const mismatch = (reason: string, fix?: string): never => misfit(op, arrays, reason, fix)
  const labels = terms.map((t, i) => {
    const s = arrays[i]!.shape
    const more = s.length - t.before.length - t.after.length
    if (t.ellipsis ? more < 0 : more !== 0)
      mismatch(
        `operand ${i} is ${showShape(s)}, '${t.before.join('')}${t.ellipsis ? '...' : ''}${t.after.join('')}' names ${s.length - more} axes.`,
        'give one letter to each axis.',
      )
    return labelsOf(t, more)
  })
  const sizes = new Map<string, number>()
  labels.forEach((own, i) => {
    const s = arrays[i]!.shape
    own.forEach((l, axis) => {
      const d = s[axis]!
      const known = sizes.get(l) ?? d
      if (known !== d && !(isUnnamed(l) && (known === 1 || d === 1)))
        mismatch(`'${isUnnamed(l) ? '...' : l}' is ${known} and, in operand ${i} of shape ${showShape(s)}, ${d}.`)
      sizes.set(l, known === 1 ? d : known)
    })
  })
  const all = labels.flat()
  const most = all.filter((l, i) => isUnnamed(l) && all.indexOf(l) === i).length
  const once = (): Labels => all.filter((l) => !isUnnamed(l) && all.indexOf(l) === all.lastIndexOf(l)).sort()
  const result = out === undefined ? undefined : termOf(out, bad)
  if (result !== undefined && most > 0 && !result.ellipsis)
    bad("the output leaves out the axes of '...'.", 'write ... in the output too; name axes by letters to sum over them.')
  const output = result === undefined ? [...unnamed(most), ...once()] : labelsOf(result, most)
  output.forEach((l, i) => {
    if (!sizes.has(l)) bad(`the output letter '${l}' is in no operand.`)
    if (output.indexOf(l) !== i) bad(`the output names '${l}' twice.`, 'take the diagonal of a result with diag.')
  })
  // An axis that broadcasts is left out: what has it not is the same along it.
  const operands = arrays.map((x, i) => {
    const kept = range(x.shape.length).filter((axis) => x.shape[axis] === sizes.get(labels[i]![axis]!))
    return { x: reshape(x, kept.map((axis) => x.shape[axis]!)), labels: kept.map((axis) => labels[i]![axis]!) } // biome-ignore format: one row
  })
  return { operands, output }
}

/** What is made of the operands of a specification. */
const specified = <F>(op: string, make: (operands: readonly Labelled[], output: Labels) => unknown): F =>
  typed<F>((spec: unknown, ...xs: readonly unknown[]) => {
    const { operands, output } = labelled(op, spec, xs)
    return make(operands, output)
  })

/**
 * Einstein's summation: every axis has a letter; axes with the same letter have the same index, and letters that are not in the output are
 * summed. A letter that occurs twice in an operand takes its diagonal. An ellipsis stands for axes without letters, which broadcast. Without
 * an arrow the output has the axes of the ellipsis, then the letters that occur once, in alphabetical order.
 *
 * Shapes  as the letters say; axes with the same letter have the same length.   Dtype  promoted; bool becomes i32, i32 wraps.
 * Rule    that of its matrix products, two operands at a time in the order of `einsumPath`.   Source  NumPy einsum.
 * Errors  ShapeMismatch when ranks or lengths differ, BadInput for letters that do not fit and an ellipsis that the output leaves out.
 * @example einsum('...ij,...jk->...ik', [[[1, 2]], [[5, 6]]], [[3], [4]])   // [[[11]], [[39]]]
 */
export const einsum: EinsumFn = specified('einsum', contractAll)

/**
 * The order in which `einsum` contracts these operands, two at a time: `path` has their positions in the list of remaining operands, which loses both
 * and gains their product at its end; `flops` is the number of multiplications and additions, `largest` the size of the largest product. For up to 8
 * operands it is the cheapest of all orders; for more, the pair that shrinks the operands most comes first.
 *
 * Shapes  those of `einsum`; the result is data, not an expression.   Source  Smith and Gray 2018, opt_einsum: optimal, greedy.   Errors  as `einsum`.
 * @example einsumPath('ij,jk,k->i', ones([2, 8]), ones([8, 8]), ones([8]))   // { path: [[1, 2], [0, 1]], flops: 160, largest: 8 }
 */
export const einsumPath: EinsumPathFn = specified('einsumPath', (operands, output) =>
  pathOf(contractionOf(termsOf(operands, output), output)),
)

/**
 * The sum of a b over axes of a and axes of b: a number n means the last n of a and the first n of b (2 by default).
 *
 * Shapes  the remaining axes of a, then those of b.   Dtype  promoted; bool becomes i32.
 * Rule    that of the matrix product.   Source  NumPy tensordot.
 * Errors  ShapeMismatch when two axes differ in length, BadInput for axes that do not exist or do not pair up.
 * @example tensordot([[1, 2]], [[3], [4]], 1)   // [[11]]
 */
export const tensordot: TensordotFn = operation(
  'tensordot',
  { a: numbers, b: numbers, axes: raw<unknown, number>(2) },
  {},
  ({ a, b, axes }, _options, op) => {
    const [m, n] = [a.shape.length, b.shape.length]
    const wrong = (reason: string): never => badInput(op, reason, 'give a number of axes, or two lists of axes, equally long.')
    const counted = (k: number): readonly (readonly number[])[] =>
      Number.isInteger(k) && k >= 0 && k <= Math.min(m, n)
        ? [range(k).map((i) => m - k + i), range(k)]
        : wrong(`${k} is not a number of axes of ${showShape(a.shape)} and ${showShape(b.shape)}.`)
    const listed = (given: unknown): readonly (readonly number[])[] =>
      Array.isArray(given) && given.length === 2
        ? [axesIn(integersOf(given[0], 'axes of a', op), m, op), axesIn(integersOf(given[1], 'axes of b', op), n, op)]
        : wrong(`${shown(given)} does not say which axes.`)
    const [p, q] = (typeof axes === 'number' ? counted(axes) : listed(axes)) as readonly [readonly number[], readonly number[]]
    if (p.length !== q.length || new Set(p).size !== p.length || new Set(q).size !== q.length)
      wrong(`axes [${p.join(', ')}] and [${q.join(', ')}] do not pair up.`)
    p.forEach((i, k) => {
      const j = q[k]!
      if (a.shape[i] !== b.shape[j])
        misfit(op, [a, b], `axis ${i} of a ${showShape(a.shape)} is ${a.shape[i]}, axis ${j} of b ${showShape(b.shape)} is ${b.shape[j]}.`)
    })
    const left = range(m).map((i) => `a${i}`)
    const right = range(n).map((i) => (q.includes(i) ? `a${p[q.indexOf(i)]}` : `b${i}`))
    const output = [...left.filter((_, i) => !p.includes(i)), ...right.filter((_, i) => !q.includes(i))]
    return contractAll([{ x: a, labels: left }, { x: b, labels: right }], output) // biome-ignore format: one row
  },
)
