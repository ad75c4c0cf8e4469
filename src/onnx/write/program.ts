/** From the nodes of a program to those of a graph: each application by the row of its primitive. */
import { raise } from '../../core/errors/explain.js'
import { expansionOf } from '../../core/graph/expand.js'
import { APPLY, asExpr, CONST, capturedTensor, input, linearize, type Node, OUTPUT, resultAvals } from '../../core/graph/expr.js'
import { printedName } from '../../core/graph/namespace.js'
import { type AnyPrimitive, isShipped } from '../../core/graph/primitive.js'
import type { Tensor } from '../../core/graph/tensor.js'
import type { Row } from './row.js'
import { type Ref, typeNameOf, type Writer } from './writer.js'

/** What writing a program needs beside its nodes. */
export interface Writing {
  readonly rows: Readonly<Record<string, Row>>
  /** The value of a captured tensor: the same for the same tensor. */
  readonly tensor: (t: Tensor) => Ref
  /** Is told of each application that is written as other operations. */
  readonly decomposed: (primitive: string) => void
}

/** The row of a primitive: of one of others the composition that it declares, if any. */
const rowOf = ({ rows }: Writing, prim: AnyPrimitive): Row | undefined => (isShipped(prim) ? rows[prim.name] : {})

const missing = (prim: AnyPrimitive, reason: string, fix: string): never =>
  raise({ _tag: 'MissingKernel', primitive: printedName(prim), backend: 'ONNX', reason, fix })

const isDirect = (row: Row, w: Writer, n: Node): boolean =>
  row.write !== undefined &&
  (row.since === undefined || w.opset >= row.since) &&
  (row.only === undefined || row.only.includes((n.args[0] ?? n).dtype))

/** The argument that the result is, where the other one is a literal that changes nothing. */
const unchanged = (n: Node): number => {
  const at = n.prim!.identity?.findIndex((x, k) => x !== null && n.args[k]!.kind === CONST && n.args[k]!.payload === x) ?? -1
  const other = n.args[1 - at]
  return at >= 0 && other!.shape.length === n.shape.length && other!.aval.size === n.aval.size ? 1 - at : -1
}

/** The results of one application. */
const written = (w: Writer, writing: Writing, n: Node, args: readonly Ref[]): readonly Ref[] => {
  const prim = n.prim!
  const same = unchanged(n)
  if (same >= 0) return [args[same]!]
  const row = rowOf(writing, prim)
  const results = resultAvals(n)
  // Nothing needs no operator, and some of ONNX Runtime's fail at it.
  if (results.every((y) => y.size === 0)) return results.map(({ dtype, shape }) => w.constant(typeNameOf[dtype], shape, []))
  if (row !== undefined && isDirect(row, w, n)) {
    const made = row.write!(w, args, n.payload, results, (inner, outputs, given) => writeNodes(inner, writing, outputs, given))
    return Array.isArray(made) ? (made as readonly Ref[]) : [made as Ref]
  }
  const xs = n.args.map((x) => input(x.aval))
  const by = row?.as ?? prim.expand
  const ys = row?.refused !== undefined && row.as === undefined ? undefined : by?.(xs.map(asExpr), n.payload)
  if (ys === undefined) {
    if (row?.refused !== undefined) return missing(prim, `${row.refused}.`, 'compute it outside, and give it as an input.')
    if (row?.since !== undefined && w.opset < row.since)
      return missing(prim, `its operator is in operator set ${row.since} and later.`, `write toONNX(f, { opset: ${row.since} }).`)
    return missing(
      prim,
      'it has no operator, and says no composition of others.',
      'declare it with decompose, or give its value as an input.',
    )
  }
  writing.decomposed(printedName(prim))
  return writeNodes(w, writing, expansionOf(prim, ys, results), new Map(xs.map((x, i) => [x, args[i]!])))
}

/** The values of nodes, of those of some that are given. */
export const writeNodes = (w: Writer, writing: Writing, outputs: readonly Node[], given: ReadonlyMap<Node, Ref>): readonly Ref[] => {
  const values = new Map<Node, readonly Ref[]>([...given].map(([n, r]) => [n, [r]]))
  // Leaves are written where they are first read: a tensor that an earlier trace captured has an older node than what stands before it here.
  const refsOf = (n: Node): readonly Ref[] => {
    const known = values.get(n)
    if (known !== undefined) return known
    const leaf = [n.kind === CONST ? w.scalar(typeNameOf[n.dtype], n.payload as number) : writing.tensor(capturedTensor(n)!)]
    values.set(n, leaf)
    return leaf
  }
  for (const n of linearize(outputs, (x) => given.has(x)).nodes) {
    if (values.has(n)) continue
    if (n.kind === OUTPUT) values.set(n, [refsOf(n.args[0]!)[n.payload as number]!])
    else if (n.kind === APPLY) {
      const before = w.of
      if (before === '') w.of = printedName(n.prim!)
      values.set(
        n,
        written(
          w,
          writing,
          n,
          n.args.map((a) => refsOf(a)[0]!),
        ),
      )
      w.of = before
    }
  }
  return outputs.map((n) => refsOf(n)[0]!)
}
