/** Functions of which the way back keeps less: a loop of one step. */
import { functionOf } from '../errors/check-arguments.js'
import { builtBefore, close } from '../graph/close.js'
import { CONST, input, type Node, nodesBuilt } from '../graph/expr.js'
import { typed } from '../graph/operation.js'
import { isWeak } from '../graph/weak.js'
import type { CheckpointFn } from '../types/signatures/control.js'
import { scanNodes } from './control.js'
import { reshapeNode } from './layout-move.js'
import { keepOf } from './loop-segments.js'
import { type Leaves, leavesOf, treeOf } from './loop-step.js'

/**
 * The function f, of which reverse mode keeps less than it needs for the way back, and computes the rest again there.
 *
 * `keep`: 'nothing' but arguments and what f captured (the default), 'contractions' beside them, or 'everything', as without checkpoint. Values and gradients
 * are the same to the bit, second derivatives to rounding. Of a loop say it in the loop's own option `checkpoint`.
 *
 * Rule    that of f.
 * Errors  BadInput for another `keep`.
 * @example
 * const layer = checkpoint((x: AnyExpr) => sin(mul(x, x)))
 * grad((x: AnyExpr) => sum(layer(layer(x))))([1, 0])   // [0.8232822051543443, 0]
 */
export const checkpoint: CheckpointFn = typed((f: unknown, keep: unknown = 'nothing'): unknown => {
  const body = functionOf(f, 'f', 'checkpoint') as (...args: readonly unknown[]) => unknown
  const policy = keepOf(keep, 'keep', 'checkpoint')
  return (...args: readonly unknown[]): unknown => {
    const trees = args.map((a, i) => leavesOf(a, `checkpoint: argument ${i}`))
    const mark = nodesBuilt()
    const inputs: Node[] = []
    const given: Node[] = []
    // A constant to which nobody gave a dtype takes that of its neighbours in f; it has no gradient.
    const standIn = (n: Node): Node => {
      if (n.kind === CONST || isWeak(n)) return n
      const x = input(n.aval)
      inputs.push(x)
      given.push(n)
      return x
    }
    const made: Leaves = leavesOf(body(...trees.map((t) => treeOf(t, t.nodes.map(standIn)))), 'checkpoint: the result of f')
    const { program, captured } = close('checkpoint', inputs, made.nodes, builtBefore(mark))
    if (program.inputs.length === 0 || made.nodes.length === 0) return treeOf(made, made.nodes)
    // One step, whose arguments are slices: their cotangents are stacked, not added to zeros.
    const row = (n: Node): Node => reshapeNode(n, [1, ...n.shape])
    const rows = scanNodes([...given, ...captured].map(row), {
      program,
      length: 1,
      carries: 0,
      slices: program.inputs.length,
      reverse: false,
      keep: policy,
    })
    return treeOf(
      made,
      rows.map((y, i) => (isWeak(made.nodes[i]!) ? made.nodes[i]! : reshapeNode(y, y.shape.slice(1)))),
    )
  }
})
