// A primitive with a program among its parameters, made outside the library: twice(f, x) = f(f(x)).
import * as t from 'io-ts'
import type { Batching } from '../../src/core/calculus/rule.js'
import { raise } from '../../src/core/errors/explain.js'
import { composedRules } from '../../src/core/extend/decompose.js'
import { aval } from '../../src/core/graph/aval.js'
import { builtBefore, close } from '../../src/core/graph/close.js'
import { applyAny, asExpr, asNode, constant, input, type Node, nodesBuilt } from '../../src/core/graph/expr.js'
import { lift } from '../../src/core/graph/lift.js'
import { type AnyPrimitive, primitive } from '../../src/core/graph/primitive.js'
import { flatProgram, inline, liftTree, type Program } from '../../src/core/graph/program.js'
import { unthunk } from '../../src/core/graph/tangent.js'
import { broadcastNode } from '../../src/core/ops/layout/move.js'
import type { AnyExpr, Rule, Tangent } from '../../src/index.js'

export interface TwiceParams {
  /** From the states, then what f captured, to the states. */
  readonly program: Program
}
const isTwice = (u: unknown): u is TwiceParams =>
  typeof u === 'object' && u !== null && Array.isArray((u as { program?: Program }).program?.outputs)

const again = ({ program }: TwiceParams, xs: readonly Node[]): readonly Node[] => {
  const captured = xs.slice(program.outputs.length)
  return inline(program, [...inline(program, xs), ...captured])
}
export const twicePrimitive = primitive({
  name: 'twice',
  family: 'mine',
  args: ['float'] as readonly 'float'[],
  variadic: true,
  multi: true,
  dtypes: 'own',
  codec: new t.Type<TwiceParams>('a program', isTwice, (u, c) => (isTwice(u) ? t.success(u) : t.failure(u, c)), t.identity),
  shapeRule: (args, { program }) =>
    args.length === program.inputs.length
      ? program.outputs.map((o) => o.aval)
      : raise({ _tag: 'BadInput', where: 'twice', reason: `it takes ${program.inputs.length} arguments.` }),
  programs: ({ program }) => [program],
  withPrograms: (params, [program]) => ({ ...params, program: program! }),
  expand: (xs, params) => again(params, xs.map(asNode)).map(asExpr),
  source: 'f o f',
})

/** f(f(x)); what f captures is handed to it both times. */
export const twice = (f: (x: AnyExpr) => AnyExpr, given: unknown): AnyExpr => {
  const x = lift(given, 'twice')
  const mark = nodesBuilt()
  const inputs = [input(x.aval, 'x')]
  const { nodes } = liftTree(f(asExpr(inputs[0]!)), 'twice')
  const { program, captured } = close('twice', inputs, nodes, builtBefore(mark))
  return asExpr(applyAny(twicePrimitive, [x, ...captured], { program })[0]!)
}

const composed = composedRules((xs, params) => again(params as TwiceParams, xs.map(asNode)).map(asExpr))
const batchedProgram = ({ program }: TwiceParams, batched: readonly boolean[], size: number, through: Batching): Program => {
  const states = program.outputs.length
  const wide = program.inputs.map((x, i) => (i < states || batched[i] ? input(aval([size, ...x.shape], x.dtype)) : x))
  const at = new Map(program.inputs.flatMap((x, i) => (wide[i] === x ? [] : [[asExpr(x), asExpr(wide[i]!)] as const])))
  return flatProgram('twice', wide, through(program.outputs.map(asExpr), at, size).map(asNode))
}

/** Forward mode of twice(f) is twice of f's forward mode: the program's is asked of the mode that runs. Reverse goes through f(f(x)). */
export const twiceRule: Rule = {
  primitive: twicePrimitive as unknown as AnyPrimitive,
  ...composed,
  frule: ((xs: readonly AnyExpr[], dxs: readonly Tangent[], { program }: TwiceParams, { config }: Parameters<typeof composed.frule>[3]) => {
    const n = program.outputs.length
    const live = dxs.map(unthunk)
    const captured = program.inputs.slice(n)
    const moving = captured.map((_, i) => live[n + i]!._tag === 'Expr')
    const dus = program.inputs.map((u, i) => (i < n || moving[i - n] ? input(u.aval, 'dx') : undefined))
    const { ys, dys } = config.pushforward(
      program.outputs.map(asExpr),
      new Map(program.inputs.flatMap((u, i) => (dus[i] === undefined ? [] : [[asExpr(u), asExpr(dus[i])] as const]))),
    )
    const zero = (i: number): AnyExpr => (live[i]!._tag === 'Expr' ? (live[i] as AnyExpr) : asExpr(inZeros(program.inputs[i]!)))
    const outputs = [...ys.map(asNode), ...dys.map((dy, i) => (dy._tag === 'Expr' ? asNode(dy) : inZeros(program.outputs[i]!)))]
    const inputs = [...program.inputs.slice(0, n), ...dus.slice(0, n), ...captured, ...dus.slice(n)].filter((x) => x !== undefined)
    const args = [
      ...xs.slice(0, n),
      ...xs.slice(0, n).map((_, i) => zero(i)),
      ...xs.slice(n),
      ...captured.flatMap((_, i) => (moving[i] ? [zero(n + i)] : [])),
    ]
    const both = applyAny(twicePrimitive, args.map(asNode), { program: flatProgram('twice', inputs, outputs) }).map(asExpr)
    return { ys: both.slice(0, n), dys: both.slice(n) }
  }) as never,
  batch: ((xs: readonly AnyExpr[], batched: readonly boolean[], params: TwiceParams, size: number, through: Batching) => {
    const n = params.program.outputs.length
    const states = xs.slice(0, n).map((x, i) => (batched[i] ? x : asExpr(broadcastNode(asNode(x), [size, ...asNode(x).shape]))))
    const program = batchedProgram(params, batched, size, through)
    return applyAny(twicePrimitive, [...states, ...xs.slice(n)].map(asNode), { program }).map(asExpr)
  }) as never,
}

const inZeros = (like: Node): Node => broadcastNode(constant(0, like.dtype), like.shape)
