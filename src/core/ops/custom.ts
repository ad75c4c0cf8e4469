/** `customRule` as a primitive: a closed program with rules of its own. Planners see what it computes. */
import { badDtype, badInput, badShape } from '../errors/explain.js'
import { type Aval, aval, sameAval, showAval } from '../graph/aval.js'
import { type Codec, codecOf } from '../graph/codec.js'
import { evaluateNodes } from '../graph/evaluate.js'
import { asExpr, asNode, input, type Node } from '../graph/expr.js'
import { type Primitive, primitive, type Sample } from '../graph/primitive.js'
import { flatProgram, inline, type Program } from '../graph/program.js'
import { type Forced, type Tangent, ZeroTangent } from '../graph/tangent.js'
import type { AnyExpr } from '../types/expr.js'
import { add, cos, mul, sin } from './elementwise.js'

/** Values and tangents of the results, at arguments and tangents of the arguments (and of what f captured: none). */
export type CustomFRule = (
  xs: readonly Node[],
  dxs: readonly Forced[],
) => { readonly ys: readonly Node[]; readonly dys: readonly Tangent[] }
/** Values of the results, and cotangents of the arguments for those of the results. */
export type CustomRRule = (xs: readonly Node[]) => {
  readonly ys: readonly Node[]
  readonly pullback: (yBars: readonly Forced[], active: readonly boolean[]) => readonly Tangent[]
}

/** The distribution function of each result at these values, each of its own element and of the arguments: for numbers that are drawn. */
export type CustomDistribution = (ys: readonly Node[], xs: readonly Node[]) => readonly Node[]

export interface CustomParams {
  /** The function's own name. */
  readonly name: string
  /** Closed: captured expressions and tensors are inputs, behind the arguments. */
  readonly program: Program
  /** Number of arguments. */
  readonly arity: number
  /** For each captured input whether it is a stopGradient: then it has no derivative, and none is missing. */
  readonly stopped: readonly boolean[]
  /** Its rules are deliberately not the derivative of its program: true where their mean over keys is that of the mean, else biased. */
  readonly estimates: boolean | 'biased'
  /** Its results are drawn, and move so that their place in the distribution stays. */
  readonly distribution?: CustomDistribution
  readonly frule?: CustomFRule
  readonly rrule?: CustomRRule
}

/** f(x, y) = sin(x) y with its true rules. */
const sampleParams = (shape: readonly number[]): CustomParams => {
  const [x, y] = [input(aval(shape, 'f64'), 'x'), input(aval(shape, 'f64'), 'y')]
  const value = (a: Node, b: Node): Node => asNode(mul(sin(asExpr(a)), asExpr(b)))
  const partials = (a: Node, b: Node): readonly (() => AnyExpr)[] => [() => mul(cos(asExpr(a)), asExpr(b)), () => sin(asExpr(a))]
  return {
    name: 'sample',
    program: flatProgram('sample', [x, y], [value(x, y)]),
    arity: 2,
    stopped: [],
    estimates: false,
    frule: ([a, b], dxs) => {
      const terms = partials(a!, b!).flatMap((p, i) => (dxs[i]!._tag === 'Expr' ? [mul(p(), dxs[i] as AnyExpr) as AnyExpr] : []))
      return { ys: [value(a!, b!)], dys: [terms.reduce(addTerms)] }
    },
    rrule: ([a, b]) => ({
      ys: [value(a!, b!)],
      pullback: ([yBar], active) => partials(a!, b!).map((p, i) => (active[i] ? mul(p(), yBar as AnyExpr) : ZeroTangent)),
    }),
  }
}

/** [sin(x) y, x + 2 y] with the frule alone, which reverse mode transposes. */
const twoResults = (shape: readonly number[]): CustomParams => {
  const [x, y] = [input(aval(shape, 'f64'), 'x'), input(aval(shape, 'f64'), 'y')]
  const values = (a: Node, b: Node): readonly Node[] =>
    [mul(sin(asExpr(a)), asExpr(b)), add(asExpr(a), mul(2, asExpr(b)))].map((v) => asNode(v as AnyExpr))
  return {
    name: 'sample of two results',
    program: flatProgram('sample of two results', [x, y], [...values(x, y)]),
    arity: 2,
    stopped: [],
    estimates: false,
    frule: ([a, b], [da, db]) => {
      const terms = (p: () => AnyExpr | number, q: () => AnyExpr | number): Tangent => {
        const list = [
          ...(da!._tag === 'Expr' ? [mul(p(), da!) as AnyExpr] : []),
          ...(db!._tag === 'Expr' ? [mul(q(), db!) as AnyExpr] : []),
        ]
        return list.length === 0 ? ZeroTangent : list.reduce(addTerms)
      }
      const first = terms(
        () => mul(cos(asExpr(a!)), asExpr(b!)),
        () => sin(asExpr(a!)),
      )
      return {
        ys: values(a!, b!),
        dys: [
          first,
          terms(
            () => 1,
            () => 2,
          ),
        ],
      }
    },
  }
}

const addTerms = (a: AnyExpr, b: AnyExpr): AnyExpr => add(a, b)

const sample = (shape: readonly number[], params = sampleParams): Sample<CustomParams> => ({
  args: [
    { shape, dtype: 'f64' },
    { shape, dtype: 'f64' },
  ],
  get params() {
    return params(shape)
  },
})

/** A rule is a function, so these parameters never come from JSON. */
const isCustom = (u: unknown): u is CustomParams => {
  const p = typeof u === 'object' && u !== null ? (u as Partial<CustomParams>) : {}
  return p.program !== undefined && (typeof p.frule === 'function' || typeof p.rrule === 'function')
}
const customCodec: Codec<CustomParams> = codecOf('a function with its rules', isCustom)

export const customPrimitive: Primitive<'customRule', CustomParams, readonly 'float'[]> = primitive({
  name: 'customRule',
  family: 'custom',
  args: ['float'] as readonly 'float'[],
  variadic: true,
  multi: true,
  codec: customCodec,
  dtypes: 'own',
  shapeRule: (args, { name, program }): readonly Aval[] => {
    if (args.length > program.inputs.length) badInput(name, `the function takes ${program.inputs.length} arguments, got ${args.length}.`)
    program.inputs.forEach((x, i) => {
      const a = args[i]
      if (a !== undefined && a.dtype !== x.dtype)
        badDtype(
          name,
          args.map((y) => y.dtype),
          `argument ${i} is ${a.dtype}, the function was traced with ${x.dtype}`,
          'cast the argument.',
        )
      if (a === undefined || !sameAval(a, x.aval))
        badShape(
          name,
          [a?.shape ?? [], x.shape],
          `argument ${i} is ${a === undefined ? 'missing' : showAval(a)}, the function was traced with ${showAval(x.aval)}`,
        )
    })
    return program.outputs.map((o) => o.aval)
  },
  meaning: (args, { program }, outs) => {
    evaluateNodes(program.outputs, new Map(program.inputs.map((x, i) => [x, args[i]!]))).forEach((y, i) => {
      outs[i]!.data.set(y.data as never)
    })
  },
  programs: ({ program }) => [program],
  withPrograms: (params, [program]) => ({ ...params, program: program! }),
  expand: (xs, { program }) => inline(program, xs.map(asNode)).map(asExpr),
  samples: [sample([]), sample([2, 3]), sample([0])],
  hard: [sample([3], twoResults)],
  showParams: ({ name }) => name,
  source: 'the function itself; its rules are those of its author',
})

/** Primitives of this family, by name. */
export const customFamily = { customRule: customPrimitive } as const
