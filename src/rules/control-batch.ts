/** Loops under vmap: what has the axis of examples, and a loop that goes on until all examples have ended. */

import type { Batching } from '../core/calculus/rule.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { apply, asExpr, asExprs, asNode, constant, input, type Node } from '../core/graph/expr.js'
import { orderOf } from '../core/graph/order.js'
import { dependents, flatProgram, type Program } from '../core/graph/program.js'
import { masked, type ScanParams, scanNodes } from '../core/ops/control/control.js'
import { stopGradient, where } from '../core/ops/elementwise.js'
import { dynamicSliceNode } from '../core/ops/indexing/dynamic.js'
import { concatNode } from '../core/ops/layout/join.js'
import { broadcastNode, reshapeNode, transposeNode } from '../core/ops/layout/move.js'
import { argmaxPrimitive } from '../core/ops/reduce.js'
import { any } from '../core/ops/reductions.js'
import type { AnyExpr } from '../core/types/expr.js'

const step = (inputs: readonly Node[], outputs: readonly Node[]): Program => flatProgram('step', inputs, outputs)

/** Which inputs and results of a step have the axis of examples, where some arguments have it: a carry has it from the first step on. */
const widened = (
  { program, carries }: ScanParams,
  batched: readonly boolean[],
): { readonly inputs: readonly boolean[]; readonly outputs: readonly boolean[] } => {
  const linear = orderOf(program.outputs)
  let wide = [...batched]
  for (;;) {
    const depends = dependents(
      linear,
      program.inputs.filter((_, i) => wide[i]),
    )
    const outputs = program.outputs.map((o) => depends[linear.index.get(o)] === 1)
    const next = wide.map((w, i) => w || (i < carries && outputs[i]!))
    if (next.every((w, i) => w === wide[i])) return { inputs: wide, outputs }
    wide = next
  }
}
/** The first example whose flag holds, in the place of those whose flag does not: nothing is computed from what no step would see. */
const ofTaken = (flags: Node, x: Node): Node => {
  const [size] = x.shape as readonly [number]
  const first = reshapeNode(apply(argmaxPrimitive, [flags], { axis: 0 }), [1])
  const rest = x.shape.slice(1)
  const starts = rest.length === 0 ? first : concatNode([first, broadcastNode(constant(0, 'i32'), [rest.length])], 0)
  const one = dynamicSliceNode(x, starts, { sizes: [1, ...rest], batchDims: 0 })
  const each = reshapeNode(flags, [size, ...x.shape.slice(1).map(() => 1)])
  return asNode(where(asExpr(each), asExpr(x), isFloat(x.dtype) ? stopGradient(asExpr(one)) : asExpr(one)))
}

/**
 * A step for all examples at once: which of its results have the axis, and what they are. Where the flag has it, each example that has ended stays as it is, and takes part in
 * the step as a copy of one that has not: what the step would make of its own carry may be infinite or NaN, and derivatives with it.
 */
const stepOfAll = (
  params: ScanParams,
  inputs: readonly Node[],
  wide: readonly boolean[],
  size: number,
  through: Batching,
): readonly Node[] => {
  const { program, carries, until } = params
  const flags = until !== undefined && wide[until] ? inputs[until]! : undefined
  const seen = inputs.map((x, i) => (wide[i] && flags !== undefined ? ofTaken(flags, x) : x))
  const made = through(
    asExprs(program.outputs),
    new Map(program.inputs.flatMap((x, i) => (wide[i] ? [[asExpr(x), asExpr(seen[i]!)] as const] : []))),
    size,
  ).map(asNode)
  if (flags === undefined) return made
  return made.map((y, i) => {
    if (i < carries && program.outputs[i] === program.inputs[i]) return wide[i] ? inputs[i]! : y
    const each = asExpr(reshapeNode(flags, [size, ...y.shape.slice(1).map(() => 1)]))
    return asNode(where(each, asExpr(y), i < carries ? asExpr(inputs[i]!) : 0))
  })
}

/** A loop over a leading axis of some arguments: whatever depends on them has it. One whose flag has it goes on until all examples have ended. */
export const scanBatch = (
  xs: readonly AnyExpr[],
  batched: readonly boolean[],
  params: ScanParams,
  size: number,
  through: Batching,
): readonly AnyExpr[] => {
  const { carries, slices, until, program } = params
  const own = until !== undefined && widened(params, batched).inputs[until]!
  // Where each example has a flag, whatever is taken or not has the axis.
  const { inputs: wide, outputs: isWide } = widened(own ? { ...params, program: masked(params) } : params, batched)
  const inputs = program.inputs.map((x, i) => (wide[i] ? input(aval([size, ...x.shape], x.dtype)) : x))
  const made = stepOfAll(params, inputs, wide, size, through)
  // A carry that depends on none stays what it is; one that has the axis before the first step has it after each.
  const outputs = program.outputs.map((o, i) => (isWide[i] || (i < carries && wide[i]) ? made[i]! : o))
  const args = xs.map((x, i) => {
    const n = asNode(x)
    if (i < carries) return wide[i] && !batched[i] ? broadcastNode(n, [size, ...n.shape]) : n
    return i < carries + slices && batched[i] ? swapped(n) : n
  })
  const loop = { ...params, program: step(inputs, outputs) }
  return (own ? untilAll(args, loop) : scanNodes(args, loop)).map((y, i) => {
    if (i < carries) return asExpr(wide[i] ? y : broadcastNode(y, [size, ...y.shape]))
    return asExpr(isWide[i] ? swapped(y) : broadcastNode(y, [size, ...y.shape]))
  })
}
/** A loop whose flag is one for each example: a step is taken while any of them holds, which is a carry or a slice more. */
const untilAll = (args: readonly Node[], params: ScanParams): readonly Node[] => {
  const { program, carries, slices, until } = params as ScanParams & { readonly until: number }
  const { inputs, outputs } = program
  const some = (flags: Node, axis: number): Node => asNode(any(asExpr(flags), { axis }))
  const flag = input(aval([], 'bool'))
  const isCarry = until < carries
  const at = isCarry ? carries : carries + slices
  const all = {
    ...params,
    program: step(
      [...inputs.slice(0, at), flag, ...inputs.slice(at)],
      isCarry ? [...outputs.slice(0, at), some(outputs[until]!, 0), ...outputs.slice(at)] : outputs,
    ),
    carries: carries + (isCarry ? 1 : 0),
    slices: slices + (isCarry ? 0 : 1),
    until: at,
  }
  const results = scanNodes([...args.slice(0, at), some(args[until]!, isCarry ? 0 : 1), ...args.slice(at)], all)
  return isCarry ? results.filter((_, i) => i !== at) : results
}
/** The axis of steps and that of examples exchanged. */
const swapped = (n: Node): Node =>
  transposeNode(
    n,
    n.shape.map((_, i) => (i < 2 ? 1 - i : i)),
  )
