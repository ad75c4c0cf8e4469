/** Rows of loops, branches and programs of others. */

import type { Node } from '../../../core/graph/expr.js'
import { isUnbounded, masked, type ScanParams, type SwitchParams } from '../../../core/ops/control/control.js'
import type { families } from '../../../core/ops/families.js'
import { expansion, type Inside, type Row, type RowsOf } from '../row.js'
import { type GraphData, type Ref, typeNameOf, type Writer } from '../writer.js'

const refOf = (w: Writer, stem: string, n: Node): Ref => w.ref(stem, typeNameOf[n.dtype], n.shape)
const likes = (refs: readonly Ref[], length?: number) =>
  refs.map(({ type, shape }) => ({ type, shape: length === undefined ? shape : [length, ...shape] }))

/** Steps over slices: Scan. What is the same at every step is read where it is. */
const overSlices = (w: Writer, xs: readonly Ref[], p: ScanParams, inside: Inside): readonly Ref[] => {
  const { inputs, outputs } = masked(p)
  const { carries, slices, length } = p
  const own = inputs.slice(0, carries + slices)
  const body = w.inner()
  const given = own.map((n, i) => refOf(w, i < carries ? 'carry' : 'slice', n))
  const made = inside(body, outputs, new Map(inputs.map((n, i) => [n, given[i] ?? xs[i]!])))
  const graph = body.graph('step', given, made)
  const back = p.reverse ? 1 : 0
  return w.all(
    'Scan',
    xs.slice(0, own.length),
    {
      body: { graph },
      num_scan_inputs: slices,
      scan_input_directions: own.slice(carries).map(() => back),
      ...(outputs.length > carries && { scan_output_directions: outputs.slice(carries).map(() => back) }),
    },
    [...likes(graph.outputs.slice(0, carries)), ...likes(graph.outputs.slice(carries), length)],
  )
}
/** Steps without slices, or until a carry ends them: Loop. */
const repeated = (w: Writer, xs: readonly Ref[], p: ScanParams, inside: Inside): readonly Ref[] => {
  const { carries, slices, length, until, reverse } = p
  // What is stacked has a row for every step, so that no step is left out.
  const ends = until !== undefined && until < carries && p.program.outputs.length === carries
  const { inputs, outputs } = ends ? p.program : masked(p)
  const body = w.inner()
  const k = w.ref('k', 'int64', [])
  const on = w.ref('on', 'bool', [])
  const given = inputs.slice(0, carries).map((n) => refOf(w, 'carry', n))
  const place = reverse ? body.each('Sub', w.constant('int64', [], [length - 1]), k) : k
  const rows = xs.slice(carries, carries + slices).map((x) => body.node('Gather', [x, place], { axis: 0 }, { shape: x.shape.slice(1) }))
  const values = [...given, ...rows, ...xs.slice(carries + slices)]
  const made = inside(body, outputs, new Map(inputs.map((n, i) => [n, values[i]!])))
  const going = body.node('Identity', [ends ? made[until]! : on])
  const graph = body.graph('step', [k, on, ...given], [going, ...made])
  const most = isUnbounded(p) ? undefined : w.constant('int64', [], [length])
  const stacked = graph.outputs.slice(1 + carries)
  const results = w.all('Loop', [most, ends ? xs[until]! : w.constant('bool', [], [1]), ...xs.slice(0, carries)], { body: { graph } }, [
    ...likes(graph.outputs.slice(1, 1 + carries)),
    ...likes(stacked, length),
  ])
  if (!reverse) return results
  return results.map((y, i) =>
    i < carries ? y : w.node('Slice', [y, w.ints([-1]), w.ints([-(2 ** 31)]), w.ints([0]), w.ints([-1])], {}, { shape: y.shape }),
  )
}
const scanRow: Row<ScanParams> = {
  write: (w, xs, p, results, inside) => {
    if (p.length === 0) return results.map((y, i) => (i < p.carries ? xs[i]! : w.constant(typeNameOf[y.dtype], y.shape, [])))
    const ends = p.until !== undefined && p.until < p.carries
    return p.slices > 0 && !ends ? overSlices(w, xs, p, inside) : repeated(w, xs, p, inside)
  },
}

/** The first branch for an index of 0 and below, the last for one behind it: an If for each but the last. */
const switchRow: Row<SwitchParams> = {
  write: (w, [index, ...args], { branches }, _results, inside) => {
    const graphOf = (v: Writer, i: number): GraphData => {
      const { inputs, outputs } = branches[i]!
      return v.graph(`branch ${i}`, [], inside(v, outputs, new Map(inputs.map((n, j) => [n, args[j]!]))))
    }
    const from = (v: Writer, i: number): readonly Ref[] => {
      const chosen = graphOf(v.inner(), i)
      const rest = v.inner()
      const others = i + 2 === branches.length ? graphOf(rest, i + 1) : rest.graph('others', [], from(rest, i + 1))
      const isThis = v.test('LessOrEqual', index!, v.scalar('int32', i))
      return v.all('If', [isThis], { then_branch: { graph: chosen }, else_branch: { graph: others } }, likes(chosen.outputs))
    }
    const [only] = branches
    return branches.length === 1 ? inside(w, only!.outputs, new Map(only!.inputs.map((n, j) => [n, args[j]!]))) : from(w, 0)
  },
}

export const controlRows: RowsOf<typeof families.control> = { scan: scanRow, switchCase: switchRow }
export const mapRows: RowsOf<typeof families.map> = { map: expansion }
export const customRows: RowsOf<typeof families.custom> = { customRule: expansion }
/** Nobody is shown anything there. */
export const tapRows: RowsOf<typeof families.tap> = { tap: { write: (w, [x]) => w.node('Identity', [x]) } }
export const heldRows: RowsOf<typeof families.held> = { finiteUnless: expansion }
