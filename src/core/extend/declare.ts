/** Declarations by others: checked, then made as those of codual are. */
import { functionOf, listOf, recordOf, shown } from '../errors/check-arguments.js'
import { badInput, showShape } from '../errors/explain.js'
import { type OptionsFor, part, readGiven, readOptions } from '../errors/options.js'
import { samplesIn } from '../graph/domain-samples.js'
import { type DTypeRule, isTakes } from '../graph/dtype-rule.js'
import {
  type ArgKind,
  type Declared,
  declared,
  NO_PARAMS,
  type NoParams,
  type Primitive,
  type Sample,
  type SampleArg,
} from '../graph/primitive.js'
import { sizeOf } from '../graph/shape.js'
import { binary as binaryOf, type Common, type Declaration, unary as unaryOf } from '../ops/lifted.js'
import type { DType } from '../types/dtype.js'
import type { BinaryOf, UnaryOf } from '../types/signatures/elementwise.js'

export const primitiveParts: OptionsFor<Primitive> = {
  name: part,
  family: part,
  args: part,
  variadic: part,
  multi: part,
  class: part,
  codec: part,
  dtypes: part,
  shapeRule: part,
  meaning: part,
  effect: part,
  scalar: part,
  integer: part,
  scalarWith: part,
  alias: part,
  identity: part,
  structure: part,
  zeros: part,
  accumulates: part,
  cost: part,
  flops: part,
  samples: part,
  hard: part,
  extremes: part,
  kinks: part,
  tolerance: part,
  showParams: part,
  programs: part,
  withPrograms: part,
  expand: part,
  parts: part,
  unbounded: part,
  gaps: part,
  again: part,
  when: part,
  ordered: part,
  stacked: part,
  source: part,
}

const nameOf = (name: unknown, where: string): void => {
  if (typeof name !== 'string' || name === '') badInput(where, `its name is ${shown(name)}.`, 'give a text.')
  else if (name.includes('/'))
    badInput(
      `${where} ${name}`,
      'a / stands between a plugin and its primitives.',
      'give the name alone: definePlugin puts it into the namespace of its plugin.',
    )
}
/** A declaration, where it is one; raises BadInput. */
export const checkedDeclaration = <N extends string, P, A extends readonly ArgKind[]>(given: Declared<N, P, A>): Declared<N, P, A> => {
  const d = readGiven(primitiveParts, recordOf(given, 'the declaration', 'primitive'), 'primitive') as unknown as Declared<N, P, A>
  const { name, meaning, expand } = d
  nameOf(name, 'primitive')
  const where = `primitive ${name}`
  listOf(d.args, 'args', where)
  functionOf(d.shapeRule, 'shapeRule', where)
  if (meaning !== undefined || expand === undefined) functionOf(meaning, 'meaning', where)
  if (expand !== undefined) functionOf(expand, 'expand', where)
  if ((d.programs === undefined) !== (d.withPrograms === undefined))
    badInput(where, 'it has one of programs and withPrograms.', 'give both, or neither.')
  const samples = (list: unknown, what: string): readonly Sample<P>[] =>
    listOf(list as readonly Sample<P>[], what, where).map((s) => drawn(name, s as Sample<P>))
  return {
    ...d,
    ...(d.dtypes !== undefined && { dtypes: dtypesOf(d.dtypes, name) }),
    ...(d.samples !== undefined && { samples: samples(d.samples, 'samples') }),
    ...(d.hard !== undefined && { hard: samples(d.hard, 'hard') }),
  }
}

/**
 * A primitive of your own: name, family, kinds of its arguments, shape rule, meaning (plain loops over row-major arrays) and source.
 *
 * A composition of other primitives gives `expand` in place of a meaning. A primitive with programs among its parameters gives `programs`
 * and `withPrograms`: then printing, saving and planning look into them. Everything else has a default: one result, opaque to planners, no
 * parameters, no samples for the checker. `unary` and `binary` declare elementwise ones. It is applied by `applyPrimitive`; its rules and
 * kernels are given to `definePlugin`.
 * Errors  BadInput that names the part which is missing or invalid.
 * @example
 * const reversed = primitive({
 *   name: 'reversed',
 *   family: 'mine',
 *   args: ['float'],
 *   shapeRule: ([x]) => x!,
 *   meaning: ([x], _params, [y]) => y!.data.set(x!.data.toReversed()),
 *   source: 'definition',
 * })
 * compile((x) => applyPrimitive(reversed, [x])[0], reference())([1, 2, 3])   // [3, 2, 1]
 */
export const primitive = <const N extends string, P = NoParams, const A extends readonly ArgKind[] = readonly ArgKind[]>(
  d: Declared<N, P, A>,
): Primitive<N, P, A> => declared<N, P, A>(checkedDeclaration(d))

/** A sample whose `draw` gives as many numbers as its shape has elements. */
const drawn = <P>(name: string, sample: Sample<P>): Sample<P> => {
  const where = `primitive ${name}: samples`
  const args = listOf(sample?.args, 'args', where) as readonly SampleArg[]
  if (args.every((a) => a.draw === undefined)) return sample
  const checked = (a: SampleArg): SampleArg => {
    if (a.draw === undefined) return a
    const draw: NonNullable<SampleArg['draw']> = functionOf(a.draw, 'draw', where)
    return {
      ...a,
      draw: (next, shape) => {
        const size = sizeOf(shape)
        const numbers = Array.from(draw(next, shape))
        if (numbers.length === size && numbers.every((x) => typeof x === 'number' && !Number.isNaN(x))) return numbers
        const what =
          numbers.length === size ? 'something that is not a number' : `${numbers.length} number${numbers.length === 1 ? '' : 's'}`
        return badInput(
          where,
          `draw gave ${what}, the shape ${showShape(shape)} has ${size} element${size === 1 ? '' : 's'}.`,
          'give them in row-major order, in one flat list.',
        )
      },
    }
  }
  return { ...sample, args: args.map(checked) }
}

/** The dtypes that are given, where they are some. */
const dtypesOf = (given: DTypeRule, name: string): DTypeRule => {
  if (given === 'own' || listOf(given, 'dtypes', `primitive ${name}`).every(isTakes)) return given
  return badInput(
    `primitive ${name}`,
    `its dtypes are ${shown(given)}.`,
    `give what each argument takes (float, number, any, i32, bool, discrete), or 'own'.`,
  )
}
export const commonParts: OptionsFor<Common<string>> = {
  name: part,
  integer: part,
  domain: part,
  extremes: part,
  kinks: part,
  cost: part,
  source: part,
  tolerance: part,
  integers: part,
  result: part,
  family: part,
  identity: part,
  zeros: part,
  alias: part,
  unbounded: part,
}
export const scalarParts: OptionsFor<Declaration<string>> = { ...commonParts, scalar: part, args: part }
/** The declaration that `unary`, `binary` or `elementwise` was given, where it is one. */
export const declaration = <D extends { readonly name: string }>(given: D, parts: OptionsFor<D>, where: string): D => {
  const d = readOptions(parts, recordOf(given, 'the declaration', where), where)
  nameOf(d.name, where)
  return given
}
const withScalar = <D extends Declaration<string>>(given: D, where: string): D => {
  const d = declaration<Declaration<string>>(given, scalarParts, where)
  functionOf(d.scalar, 'scalar', `${where} ${d.name}`)
  return given
}

/**
 * An elementwise operation of one argument: the function users call, with its primitive. i32 and bool arguments become f64 unless `integers`.
 *
 * Its derivative is a `scalarRule`; backends without a kernel for it call `scalar` at every element. `elementwise` has the general form.
 * Errors  BadInput for an invalid declaration: no name or function, an unknown option, or a / in the name.
 * @example unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })([1, 2])   // [2, 4]
 */
export const unary = <const N extends string, const I extends boolean = false, const R extends DType = never>(
  d: Declaration<N, I, R>,
): UnaryOf<N, I, NoInfer<R>> =>
  unaryOf(withScalar(d, 'unary'), (given) => declared({ ...given, samples: samplesIn(given.args, d.domain, [NO_PARAMS]) }))

/**
 * An elementwise operation of two arguments, which broadcast: the function users call, with its primitive. A literal takes the dtype of the
 * other argument.
 *
 * Errors  BadInput for an invalid declaration; when called, ShapeMismatch if the shapes do not broadcast.
 * @example binary({ name: 'times', scalar: (a, b) => a! * b!, source: 'definition' })([1, 2], 3)   // [3, 6]
 */
export const binary = <const N extends string, const I extends boolean = false, const R extends DType = never>(
  d: Declaration<N, I, R>,
): BinaryOf<N, I, NoInfer<R>> =>
  binaryOf(withScalar(d, 'binary'), (given) => declared({ ...given, samples: samplesIn(given.args, d.domain, [NO_PARAMS]) }))
