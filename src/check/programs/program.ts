/** A random program as data: what it is given, its steps and its results; and the nodes that it stands for. */
import { aval } from '../../core/graph/aval.js'
import { evaluateNodes } from '../../core/graph/evaluate.js'
import { applyAny, constant, input, type Node } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { flatProgram } from '../../core/graph/program.js'
import { showProgram } from '../../core/graph/show.js'
import { Tensor } from '../../core/graph/tensor.js'
import { LEAF } from '../../core/graph/tree.js'

/** A value that no step makes: an input, a tensor that the program captures, or a literal. Values are known by their numbers. */
export interface Given {
  readonly id: number
  readonly kind: 'input' | 'captured' | 'literal'
  readonly value: NDArray
  /** Is it differentiated? Only float inputs are. */
  readonly active: boolean
  /** What other examples of it are: near to it, the same, or integers drawn from [low, high). */
  readonly examples: 'near' | 'same' | readonly [low: number, high: number]
}
/** One application: its arguments and its results by number. */
export interface Step {
  readonly primitive: AnyPrimitive
  readonly params: unknown
  readonly args: readonly number[]
  readonly outs: readonly number[]
  /** The first argument may be singular where `where` leaves the result out: with `safe` in its place there, it is not. */
  readonly guard?: { readonly condition: number; readonly safe: number }
}
/** A program: `outputs` are numbers of values, in the order of the results. */
export interface RandomProgram {
  readonly given: readonly Given[]
  readonly steps: readonly Step[]
  readonly outputs: readonly number[]
}

/** The nodes of a program. */
export interface Built {
  readonly inputs: readonly Node[]
  /** The given that each input is. */
  readonly from: readonly Given[]
  readonly values: readonly NDArray[]
  readonly ys: readonly Node[]
  /** Every value's node, by its number. */
  readonly at: ReadonlyMap<number, Node>
}

const givenNode = (g: Given, name: string): Node =>
  g.kind === 'literal'
    ? constant(g.value.data[0]!, g.value.dtype)
    : g.kind === 'captured'
      ? new Tensor(g.value.shape, g.value.dtype, g.value.data).node
      : input(aval(g.value.shape, g.value.dtype), name)

/** Applies the steps. `guardedArgument`: what a guarded step reads in place of its first argument. */
export const built = (
  p: RandomProgram,
  guardedArgument: (x: Node, guard: NonNullable<Step['guard']>, at: ReadonlyMap<number, Node>) => Node = (x) => x,
): Built => {
  const from = p.given.filter((g) => g.kind === 'input')
  const at = new Map<number, Node>()
  let k = 0
  for (const g of p.given) at.set(g.id, givenNode(g, g.kind === 'input' ? `x${k++}` : ''))
  for (const s of p.steps) {
    const args = s.args.map((id, i) => (i === 0 && s.guard !== undefined ? guardedArgument(at.get(id)!, s.guard, at) : at.get(id)!))
    applyAny(s.primitive, args, s.params).forEach((y, i) => {
      at.set(s.outs[i]!, y)
    })
  }
  return { inputs: from.map((g) => at.get(g.id)!), from, values: from.map((g) => g.value), ys: p.outputs.map((id) => at.get(id)!), at }
}

/** The value of everything in the program, by number. */
export const valuesOf = (p: RandomProgram, b: Built = built(p)): ReadonlyMap<number, NDArray> => {
  const ids = [...p.given.map((g) => g.id), ...p.steps.flatMap((s) => s.outs)]
  const values = evaluateNodes(
    ids.map((id) => b.at.get(id)!),
    new Map(b.inputs.map((x, i) => [x, b.values[i]!])),
  )
  return new Map(ids.map((id, i) => [id, values[i]!]))
}

/** The program as equations; its inputs are x0, x1 ... */
export const equations = (p: RandomProgram): string => {
  const { inputs, ys } = built(p)
  const items = inputs.map(() => LEAF)
  const program = flatProgram('program', inputs, ys)
  return showProgram({ ...program, inputTree: { _tag: 'Record', keys: inputs.map((_, i) => `x${i}`), items } })
}

/** Without steps whose results nothing reads, and without what only those were given. */
export const swept = (p: RandomProgram): RandomProgram => {
  const used = new Set(p.outputs)
  const steps: Step[] = []
  for (const s of p.steps.toReversed())
    if (s.outs.some((id) => used.has(id))) {
      steps.push(s)
      for (const id of s.args) used.add(id)
      if (s.guard !== undefined) used.add(s.guard.condition)
    }
  return { ...p, steps: steps.reverse(), given: p.given.filter((g) => used.has(g.id)) }
}
