/** `map`: a closed program of scalar primitives at every index, with any number of results. */
import { functionOf } from '../errors/check-arguments.js'
import { badDtype, badInput, showShape } from '../errors/explain.js'
import { type Aval, aval } from '../graph/aval.js'
import { close, independentOf } from '../graph/close.js'
import { type Codec, codecOf } from '../graph/codec.js'
import { APPLY, applyMulti, asExpr, asNode, CONST, INPUT, input, Node } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import type { NDArray } from '../graph/ndarray.js'
import { typed } from '../graph/operation.js'
import { orderOf } from '../graph/order.js'
import { isScalarFunction, type Primitive, primitive, scalarOf } from '../graph/primitive.js'
import { flatProgram, liftTree, type Program } from '../graph/program.js'
import { rewrite } from '../graph/rewrite.js'
import { broadcastStrides, forEachIndex } from '../graph/shape.js'
import { unflatten } from '../graph/tree.js'
import type { AnyExpr } from '../types/expr.js'
import type { MapFn } from '../types/signatures/elementwise.js'
import { add, mul, sin } from './elementwise.js'
import { broadcastNode } from './layout/move.js'
import { broadcastAvals } from './lifted.js'

/** The shape of every result. */
const mapShape = (args: readonly Aval[]): readonly number[] => (args.length === 0 ? [] : broadcastAvals(args, 'map'))

export interface MapParams {
  /** Rank-0 inputs, one per argument; elementwise nodes and literals; rank-0 outputs. */
  readonly program: Program
}

/**
 * The program over arguments of any shape: the same elementwise nodes, broadcasting. Every result has the shape that all arguments
 * broadcast to, whichever of them it depends on.
 */
export const expandMap = (program: Program, args: readonly Node[]): Node[] => {
  const shape = mapShape(args.map((a) => a.aval))
  const at = new Map(program.inputs.map((x, i) => [x, args[i]!]))
  return rewrite(program.outputs, { at: (n) => at.get(n) }).map((y) => broadcastNode(y, shape))
}

/** The program at every index of arguments of any shape: a node for each result. */
export const mapped = (program: Program, args: readonly Node[]): readonly Node[] => applyMulti(mapPrimitive, args, { program })

const scalarFunction = (n: Node): ((...xs: number[]) => number) => scalarOf(n.prim!, n.payload, n.dtype)
const round = (x: number, dtype: Node['dtype']): number => (dtype === 'f32' ? Math.fround(x) : dtype === 'i32' ? x | 0 : x)

const mapMeaning = (args: readonly NDArray[], { program }: MapParams, outs: readonly NDArray[]): void => {
  const { nodes, index } = orderOf(program.outputs)
  const values = new Float64Array(nodes.length)
  const steps = nodes.flatMap((n, i) =>
    n.kind === APPLY ? [{ i, f: scalarFunction(n), args: n.args.map((a) => index.get(a)), dtype: n.dtype }] : [],
  )
  nodes.forEach((n, i) => {
    if (n.kind === CONST) values[i] = n.payload as number
  })
  const reads = program.inputs.map((x) => index.get(x))
  const writes = program.outputs.map((x) => index.get(x))
  const shape = outs[0]!.shape
  forEachIndex(
    shape,
    args.map((a) => broadcastStrides(a.shape, shape)),
    (offsets, flat) => {
      reads.forEach((r, k) => {
        if (r >= 0) values[r] = args[k]!.data[offsets[k]!]!
      })
      for (const s of steps) values[s.i] = round(s.f(...s.args.map((a) => values[a]!)), s.dtype)
      writes.forEach((w, k) => {
        outs[k]!.data[flat] = values[w]!
      })
    },
  )
}

const sampleProgram = (): Program => {
  const [x, y] = [input(aval([], 'f64'), 'x'), input(aval([], 'f64'), 'y')]
  return scalarProgram([x, y], [asNode(mul(sin(asExpr(x)), asExpr(y))), asNode(add(asExpr(x), asExpr(y)))])
}

/** A closed scalar program of these inputs and outputs. */
export const scalarProgram = (inputs: readonly Node[], outputs: readonly Node[]): Program => flatProgram('map', inputs, outputs)

/** Are these parameters a closed program of scalars? What comes from elsewhere (JSON) is held against this. */
const isScalar = (u: unknown): u is MapParams => {
  const p = typeof u === 'object' && u !== null ? (u as { readonly program?: Partial<Program> }).program : undefined
  const lists = [p?.inputs, p?.outputs]
  if (!Array.isArray(p?.captured) || p.outputs?.length === 0) return false
  if (!lists.every((l) => Array.isArray(l) && l.every((n) => n instanceof Node && n.shape.length === 0))) return false
  const own = new Set(p!.inputs)
  return orderOf(p!.outputs!).nodes.every((n) =>
    n.kind === INPUT ? own.has(n) : n.kind === CONST || (n.kind === APPLY && isScalarFunction(n.prim!)),
  )
}
const mapCodec: Codec<MapParams> = codecOf('a closed program of scalars', isScalar)

export const mapPrimitive: Primitive<'map', MapParams, readonly 'float'[]> = primitive({
  name: 'map',
  // What its programs make keeps its zeros there.
  unbounded: false,
  family: 'map',
  args: ['float'] as readonly 'float'[],
  variadic: true,
  multi: true,
  class: 'elementwise',
  codec: mapCodec,
  dtypes: 'own',
  shapeRule: (args, { program }): readonly Aval[] => {
    if (args.length < program.inputs.length) badInput('map', `the function takes ${program.inputs.length} arguments, got ${args.length}.`)
    args.forEach((a, i) => {
      const d = program.inputs[i]?.dtype
      if (a.dtype !== d)
        badDtype(
          'map',
          d === undefined ? [a.dtype] : [a.dtype, d],
          `argument ${i} is ${a.dtype}, the function takes ${d ?? 'fewer arguments'}`,
          'cast the argument.',
        )
    })
    const shape = mapShape(args)
    return program.outputs.map((o) => aval(shape, o.dtype))
  },
  meaning: mapMeaning,
  samples: [
    {
      args: [
        { shape: [3], dtype: 'f64' },
        { shape: [3], dtype: 'f64' },
      ],
      get params() {
        return { program: sampleProgram() }
      },
    },
    {
      args: [
        { shape: [2, 3], dtype: 'f64' },
        { shape: [], dtype: 'f64' },
      ],
      get params() {
        return { program: sampleProgram() }
      },
    },
    {
      args: [
        { shape: [0], dtype: 'f64' },
        { shape: [1], dtype: 'f64' },
      ],
      get params() {
        return { program: sampleProgram() }
      },
    },
  ],
  showParams: ({ program }) => `${program.inputs.length} -> ${program.outputs.length}`,
  programs: ({ program }) => [program],
  withPrograms: (params, [program]) => ({ ...params, program: program! }),
  expand: (xs, { program }) => expandMap(program, xs.map(asNode)).map(asExpr),
  source: 'functor map of the array, with broadcasting',
})

/**
 * f, a function of scalars, at every index of xs (which broadcast); f may return a tree of scalars.
 *
 * Rule    forward mode inside f: one partial per active argument; reverse outside.
 * Errors  BadInput when f uses an array or an operation that is not elementwise. A captured scalar expression becomes an argument.
 * @example map((x) => mul(x, x), [1, 2, 3])   // [1, 4, 9]
 */
export const map: MapFn = typed(<R>(f: (...xs: AnyExpr[]) => R, ...xs: readonly unknown[]): R => {
  functionOf(f, 'f', 'map')
  const args = xs.map((x) => lift(x, 'map'))
  const inputs = args.map((a, i) => input(aval([], a.dtype), `x${i}`))
  const traced = liftTree(f(...inputs.map(asExpr)), 'the result of map')
  // A map inside (that of a gradient taken there) is what it computes at each index.
  const outputs = rewrite(traced.nodes, {
    apply: (n, ys) => (n.prim === mapPrimitive ? expandMap((n.payload as MapParams).program, ys) : undefined),
  })
  const { program, captured } = close('map', inputs, outputs, independentOf(inputs, outputs))
  checkScalar(program, captured)
  const ys = mapped(program, [...args, ...captured])
  return unflatten(traced.def, ys.map(asExpr)) as R
})

/** What f may be made of: elementwise operations of scalars. */
const checkScalar = (program: Program, captured: readonly Node[]): void => {
  for (const n of orderOf(program.outputs).nodes)
    if (n.kind === APPLY && !isScalarFunction(n.prim!))
      badInput('map', `${n.prim!.name} is not elementwise.`, 'inside map use scalar operations only; apply the others outside.')
  for (const n of captured)
    if (n.shape.length !== 0) badInput('map', `f captures an array of shape ${showShape(n.shape)}.`, 'pass it to map as another argument.')
  for (const o of program.outputs)
    if (o.shape.length !== 0) badInput('map', `f returned shape ${showShape(o.shape)}.`, 'f maps scalars to scalars.')
}

/** Primitives of this family, by name. */
export const mapFamily = { map: mapPrimitive } as const
