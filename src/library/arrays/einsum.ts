/** Sums of products over named axes: einsum and tensordot, as transposes, reshapes and matrix products. */

import { integersOf, settled, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { liftAll } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { range, sizeOf } from '../../core/graph/shape.js'
import { mul } from '../../core/ops/arithmetic.js'
import { diag } from '../../core/ops/construct.js'
import { matmulNode } from '../../core/ops/contract.js'
import { axesIn, reshapeNode, swapLast, transposeNode } from '../../core/ops/layout-move.js'
import { reduceNode, sumPrimitive } from '../../core/ops/reduce.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { EinsumFn, EinsumPathFn, TensordotFn } from '../../core/types/signatures/contract.js'
import { type Contraction, type Path, pathOf } from './einsum-path.js'

/** An array whose axes have names. */
interface Labelled {
  readonly node: Node
  readonly labels: readonly string[]
}
const sizeIn = ({ node, labels }: Labelled, label: string): number => node.shape[labels.indexOf(label)]!
const sizesIn = (x: Labelled, labels: readonly string[]): number[] => labels.map((l) => sizeIn(x, l))
const ordered = (x: Labelled, labels: readonly string[]): Node =>
  transposeNode(
    x.node,
    labels.map((l) => x.labels.indexOf(l)),
  )
const sameLabels = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((l, i) => l === b[i])

/** A stack of matrices [...batch, rows, columns]. Where columns come first already it is a transposed view, which products read as it is. */
const matrices = (x: Labelled, batch: readonly string[], rows: readonly string[], columns: readonly string[]): Node => {
  const [b, r, c] = [sizesIn(x, batch), sizeOf(sizesIn(x, rows)), sizeOf(sizesIn(x, columns))]
  return columns.length > 0 && rows.length > 0 && sameLabels(x.labels, [...batch, ...columns, ...rows])
    ? swapLast(reshapeNode(x.node, [...b, c, r]))
    : reshapeNode(ordered(x, [...batch, ...rows, ...columns]), [...b, r, c])
}
/** x under more labels: axes of length 1 for those it does not have. */
const spread = (x: Labelled, labels: readonly string[]): Node =>
  reshapeNode(
    ordered(
      x,
      labels.filter((l) => x.labels.includes(l)),
    ),
    labels.map((l) => (x.labels.includes(l) ? sizeIn(x, l) : 1)),
  )

/** The sum of a b over the labels that both have and `kept` does not. `order` is how the result's labels are wanted. */
const contractPair = (a: Labelled, b: Labelled, kept: ReadonlySet<string>, order: readonly string[]): Labelled => {
  const shared = a.labels.filter((l) => b.labels.includes(l))
  const inner = shared.filter((l) => !kept.has(l))
  const left = a.labels.filter((l) => !b.labels.includes(l))
  const right = b.labels.filter((l) => !a.labels.includes(l))
  if (inner.length === 0) {
    const own = [...a.labels, ...right]
    const labels = own.length === order.length && own.every((l) => order.includes(l)) ? order : own
    return { node: asNode(mul(asExpr(spread(a, labels)), asExpr(spread(b, labels)))), labels }
  }
  if (left.length > 0 && right.length > 0 && order.indexOf(right[0]!) >= 0 && order.indexOf(right[0]!) < order.indexOf(left[0]!))
    return contractPair(b, a, kept, order.filter((l) => !left.includes(l)).concat(left))
  const batch = shared.filter((l) => kept.has(l))
  const product = matmulNode(matrices(a, batch, left, inner), matrices(b, batch, inner, right))
  return {
    node: reshapeNode(product, [...sizesIn(a, batch), ...sizesIn(a, left), ...sizesIn(b, right)]),
    labels: [...batch, ...left, ...right],
  }
}

/** Axes of one label become one: their diagonal. */
const withoutRepeats = (x: Labelled): Labelled => {
  const at = x.labels.findIndex((l, i) => x.labels.indexOf(l) < i)
  if (at < 0) return x
  const first = x.labels.indexOf(x.labels[at]!)
  const others = range(x.labels.length).filter((i) => i !== first && i !== at)
  return withoutRepeats({
    node: asNode(diag(asExpr(transposeNode(x.node, [...others, first, at])))),
    labels: [...others.map((i) => x.labels[i]!), x.labels[at]!],
  })
}
/** Sums over the labels that nobody else reads. */
const summed = (x: Labelled, kept: ReadonlySet<string>): Labelled => {
  const axes = range(x.labels.length).filter((i) => !kept.has(x.labels[i]!))
  return axes.length === 0 ? x : { node: reduceNode(sumPrimitive, x.node, axes), labels: x.labels.filter((l) => kept.has(l)) }
}

/** Operands without repeated labels, and without those that nobody else reads. */
const termsOf = (operands: readonly Labelled[], output: readonly string[]): readonly Labelled[] => {
  const plain = operands.map(withoutRepeats)
  /** Labels that something other than operand i still needs. */
  const elsewhere = (i: number): Set<string> => new Set([...output, ...plain.flatMap((x, j) => (j === i ? [] : x.labels))])
  return plain.map((x, i) => summed(x, elsewhere(i)))
}
const contractionOf = (terms: readonly Labelled[], output: readonly string[]): Contraction => ({
  labels: terms.map((x) => x.labels),
  sizes: new Map(terms.flatMap((x) => x.labels.map((l) => [l, sizeIn(x, l)] as const))),
  output,
})
/** The sum over all labels that are not in the output, two operands at a time. */
const contractAll = (operands: readonly Labelled[], output: readonly string[]): Node => {
  const left = [...termsOf(operands, output)]
  for (const [i, j] of pathOf(contractionOf(left, output)).path) {
    // What was made before stands last; its labels come first, as those of what is read from the left.
    const isMade = left.length < operands.length && j === left.length - 1
    const [[y], [x]] = [left.splice(j, 1), left.splice(i, 1)] as [[Labelled], [Labelled]]
    const [a, b] = isMade ? [y, x] : [x, y]
    const kept = new Set([...output, ...left.flatMap((x) => x.labels)])
    left.push(contractPair(a, b, kept, left.length === 0 ? output : []))
  }
  return ordered(left[0]!, output)
}

type Bad = (reason: string, fix?: string) => never
const letters = (term: string, bad: Bad): string[] =>
  [...term].map((l) => (/[A-Za-z]/.test(l) ? l : bad(`'${l}' is not the name of an axis.`, 'name axes by letters, as in ij,jk->ik.')))

/** A term of the specification: letters, and where among them the axes stand that have none. */
interface Term {
  readonly before: readonly string[]
  readonly after: readonly string[]
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
const labelsOf = (t: Term, n: number): readonly string[] => [...t.before, ...(t.ellipsis ? unnamed(n) : []), ...t.after]

/** The operands of a specification with the labels of their axes, and those of the output. */
const labelled = (
  op: string,
  spec: unknown,
  xs: readonly unknown[],
): { readonly operands: readonly Labelled[]; readonly output: readonly string[] } => {
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
  const nodes = liftAll(xs, op, 'number')
  const mismatch = (reason: string, fix?: string): never =>
    raise({ _tag: 'ShapeMismatch', op, shapes: nodes.map((n) => n.shape), reason, ...(fix && { fix }) })
  const labels = terms.map((t, i) => {
    const s = nodes[i]!.shape
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
    const s = nodes[i]!.shape
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
  const once = (): readonly string[] => all.filter((l) => !isUnnamed(l) && all.indexOf(l) === all.lastIndexOf(l)).sort()
  const result = out === undefined ? undefined : termOf(out, bad)
  if (result !== undefined && most > 0 && !result.ellipsis)
    bad("the output leaves out the axes of '...'.", 'write ... in the output too; name axes by letters to sum over them.')
  const output = result === undefined ? [...unnamed(most), ...once()] : labelsOf(result, most)
  output.forEach((l, i) => {
    if (!sizes.has(l)) bad(`the output letter '${l}' is in no operand.`)
    if (output.indexOf(l) !== i) bad(`the output names '${l}' twice.`, 'take the diagonal of a result with diag.')
  })
  // An axis that broadcasts is left out: what has it not is the same along it.
  const operands = nodes.map((node, i) => {
    const kept = range(node.shape.length).filter((axis) => node.shape[axis] === sizes.get(labels[i]![axis]!))
    return {
      node: reshapeNode(
        node,
        kept.map((axis) => node.shape[axis]!),
      ),
      labels: kept.map((axis) => labels[i]![axis]!),
    }
  })
  return { operands, output }
}

/**
 * Einstein's summation: every axis has a letter; axes of one letter run together, and letters not in the output are summed.
 * A letter twice in one operand takes its diagonal. An ellipsis stands for axes without letters, which broadcast. Without an arrow the output
 * is those of the ellipsis, then the letters that occur once, in alphabetical order.
 *
 * Shapes  as the letters say; axes of one letter are equally long.   Dtype  promoted; bool becomes i32, i32 wraps.
 * Rule    of the matrix products, two operands at a time in the order of `einsumPath`, that it is made of.   Source  NumPy einsum.
 * Errors  ShapeMismatch when ranks or lengths differ, BadInput for letters that do not fit and an ellipsis that the output leaves out.
 * @example einsum('...ij,...jk->...ik', [[[1, 2]], [[5, 6]]], [[3], [4]])   // [[[11]], [[39]]]
 */
export const einsum: EinsumFn = typed((spec: string, ...xs: readonly unknown[]): AnyExpr => {
  const { operands, output } = labelled('einsum', spec, xs)
  return asExpr(contractAll(operands, output))
})

/**
 * The order in which `einsum` contracts these operands, two at a time: in `path` their positions in the list of what is left, which loses both and gets
 * their product at its end; `flops` is how many multiplications and additions that takes, `largest` the size of the largest product. Up to 8 operands it
 * is the cheapest of all orders, beyond the pair comes first that shortens the operands most.
 *
 * Shapes  those of `einsum`; data, no expression.   Source  Smith and Gray 2018, opt_einsum: optimal, greedy.   Errors  as `einsum`.
 * @example einsumPath('ij,jk,k->i', ones([2, 8]), ones([8, 8]), ones([8]))   // { path: [[1, 2], [0, 1]], flops: 160, largest: 8 }
 */
export const einsumPath: EinsumPathFn = typed((spec: string, ...xs: readonly unknown[]): Path => {
  const { operands, output } = labelled('einsumPath', spec, xs)
  return pathOf(contractionOf(termsOf(operands, output), output))
})

/**
 * The sum of a b over axes of a and axes of b: a number n means the last n of a and the first n of b (2 by default).
 *
 * Shapes  the axes of a that are left, then those of b.   Dtype  promoted; bool becomes i32.
 * Rule    of the matrix product that it is.   Source  NumPy tensordot.
 * Errors  ShapeMismatch when two axes differ in length, BadInput for axes that do not exist or do not pair up.
 * @example tensordot([[1, 2]], [[3], [4]], 1)   // [[11]]
 */
export const tensordot: TensordotFn = typed(
  (a: unknown, b: unknown, given: number | readonly [readonly number[], readonly number[]] = 2): AnyExpr => {
    const axes = settled(given, 'axes', 'tensordot')
    const [x, y] = liftAll([a, b], 'tensordot', 'number') as [Node, Node]
    const [rx, ry] = [x.shape.length, y.shape.length]
    const wrong = (reason: string): never =>
      raise({ _tag: 'BadInput', where: 'tensordot', reason, fix: 'give a number of axes, or two lists of axes, equally long.' })
    if (typeof axes !== 'number' && !(Array.isArray(axes) && axes.length === 2)) wrong(`${shown(axes)} does not say which axes.`)
    if (typeof axes === 'number' && !(Number.isInteger(axes) && axes >= 0 && axes <= Math.min(rx, ry)))
      wrong(`${axes} is not a number of axes of ${showShape(x.shape)} and ${showShape(y.shape)}.`)
    const [p, q] =
      typeof axes === 'number'
        ? [range(axes).map((i) => rx - axes + i), range(axes)]
        : [
            axesIn(integersOf(axes[0], 'axes of a', 'tensordot'), rx, 'tensordot'),
            axesIn(integersOf(axes[1], 'axes of b', 'tensordot'), ry, 'tensordot'),
          ]
    if (p.length !== q.length || new Set(p).size !== p.length || new Set(q).size !== q.length)
      wrong(`axes [${p.join(', ')}] and [${q.join(', ')}] do not pair up.`)
    p.forEach((i, k) => {
      if (x.shape[i] !== y.shape[q[k]!])
        raise({
          _tag: 'ShapeMismatch',
          op: 'tensordot',
          shapes: [x.shape, y.shape],
          reason: `axis ${i} of a ${showShape(x.shape)} is ${x.shape[i]}, axis ${q[k]} of b ${showShape(y.shape)} is ${y.shape[q[k]!]}.`,
        })
    })
    const left = range(rx).map((i) => `a${i}`)
    const right = range(ry).map((i) => (q.includes(i) ? `a${p[q.indexOf(i)]}` : `b${i}`))
    const output = [...left.filter((_, i) => !p.includes(i)), ...right.filter((_, i) => !q.includes(i))]
    return asExpr(
      contractAll(
        [
          { node: x, labels: left },
          { node: y, labels: right },
        ],
        output,
      ),
    )
  },
)
