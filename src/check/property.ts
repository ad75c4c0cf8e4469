/** Gradients of declared functions at arguments that fast-check draws: the entry `codual/check/property`, the one that needs fast-check. */

import fc from 'fast-check'
import type { Either } from 'fp-ts/lib/Either.js'
import { left, right } from '../core/errors/either.js'
import { type AdError, isAdException } from '../core/errors/error.js'
import { badInput, explain } from '../core/errors/explain.js'
import { readGiven } from '../core/errors/options.js'
import { metaOf, traceMeta } from '../core/functions/function.js'
import { aval } from '../core/graph/aval.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { sizeOf } from '../core/graph/shape.js'
import { showProgram } from '../core/graph/show.js'
import type { Spec } from '../core/graph/spec.js'
import { Tensor } from '../core/graph/tensor.js'
import { unflatten } from '../core/graph/tree.js'
import { coreRegistry } from '../packs/all.js'
import { argumentsOf, arrayAt, type Choices, choicesOf, type Drawn, drawnOf } from './declared.js'
import type { Checked, Finding } from './findings.js'
import { checkGradWith, shownOptions } from './gradient.js'
import { type PropertyOptions, propertyOptions } from './property-options.js'
import { report } from './report.js'

export type { PropertyOptions } from './property-options.js'

/** The smallest arguments that fast-check found to fail, and what reproduces the failure. */
export interface Counterexample {
  readonly of: string
  /** Sizes of the named dimensions. */
  readonly sizes: Readonly<Record<string, number>>
  /** The argument, as nested numbers at the leaves of the declaration. */
  readonly argument: unknown
  /** The function as equations, at these sizes; empty where it raises. */
  readonly expression: string
  readonly findings: readonly Finding[]
  /** What was raised in the place of findings. */
  readonly error?: AdError
  /** Options that draw it again. */
  readonly replay: PropertyOptions & { readonly seed: number; readonly path: string }
  readonly shrinks: number
}
/** How much was drawn, when nothing failed. */
export interface PropertyPassed {
  readonly of: string
  readonly runs: number
  readonly comparisons: number
  readonly seed: number
}
/** Left of the smallest counterexample, Right of how much was drawn. */
export type PropertyChecked = Either<Counterexample, PropertyPassed>

/** Arguments of a declaration. Sizes are drawn first and shrink first; values after them. */
const arbitrary = (choices: Choices): fc.Arbitrary<Drawn> =>
  fc.tuple(...choices.axes.map(({ range: [min, max] }) => fc.integer({ min, max }))).chain((sizes) => {
    const leaves = choices.leavesAt(sizes).map((leaf) => {
      const { min, max, count } = leaf
      return fc.array(fc.integer({ min, max }), { minLength: count, maxLength: count }).map((ks) => arrayAt(leaf, ks))
    })
    return fc.tuple(...leaves).map((arrays) => drawnOf(choices, sizes, arrays))
  })

/** An array without entry k of each axis that has this name. */
const without = (a: NDArray, s: Spec, name: string, k: number): NDArray => {
  let { shape, data } = a
  s.shape.forEach((d, axis) => {
    if (d !== name) return
    const inner = sizeOf(shape.slice(axis + 1))
    const n = shape[axis]!
    data = data.filter((_: number, i: number) => Math.floor(i / inner) % n !== k) as NDArray['data']
    shape = shape.map((x, j) => (j === axis ? x - 1 : x))
  })
  return { shape, dtype: a.dtype, data }
}

/** What remains when no entry of a named dimension can be left out without losing the failure. */
const smallest = (from: Drawn, specs: readonly Spec[], o: PropertyOptions, fails: (d: Drawn) => boolean): Drawn => {
  let worst = from
  for (const name of Object.keys(from.sizes))
    for (let k = worst.sizes[name]! - 1; k >= 0; k--) {
      if (worst.sizes[name]! <= (o.sizes?.[name]?.[0] ?? 1)) break
      const less: Drawn = {
        sizes: { ...worst.sizes, [name]: worst.sizes[name]! - 1 },
        leaves: worst.leaves.map((a, i) => without(a, specs[i]!, name, k)),
      }
      if (fails(less)) worst = less
    }
  return worst
}

const readable = (a: NDArray): unknown => new Tensor(a.shape, a.dtype, a.data).toArray()

/**
 * The derivative of a declared function at arguments of every size and value that fast-check draws from its declaration. A failure is shrunk: first the sizes of named
 * dimensions, then the values, then entries are left out one by one. It comes with the seed that reproduces it and with the function as equations.
 *
 * @example
 * const square = fn({ x: f64('n') }, ({ x }) => sum(mul(x, x)))
 * reportProperty(forAll(square, { runs: 5, seed: 1 }))   // 'ok   fn: 5 draws, ...'
 */
export const forAll = (f: unknown, given?: PropertyOptions): PropertyChecked => {
  const options = readGiven(propertyOptions, given, 'forAll')
  const meta = metaOf(f, 'forAll')
  const declared =
    meta.declared ??
    badInput('forAll', `${meta.name} does not declare its inputs.`, "make it with fn: fn({ x: f64('n') }, ({ x }) => ...).")
  const choices = choicesOf(declared, meta.name, options, 'forAll')
  const check = checkGradWith(options.registry ?? coreRegistry)
  const at = (d: Drawn): Either<AdError, Checked> => {
    try {
      return right(check(f, argumentsOf(declared, d), { order: 1, ...options.check }, 'forAll', true))
    } catch (e) {
      if (!isAdException(e)) throw e
      return left(e.error)
    }
  }
  const shownAt = (d: Drawn): string => {
    try {
      return showProgram(
        traceMeta(
          meta,
          declared.def,
          d.leaves.map((a) => aval(a.shape, a.dtype)),
        ),
      )
    } catch {
      return '' // the function raises while it is traced: the error says where
    }
  }
  let comparisons = 0
  const fails = (d: Drawn): boolean => {
    const c = at(d)
    return c._tag === 'Left' || c.right._tag === 'Left'
  }
  const property = fc.property(arbitrary(choices), (d) => {
    const c = at(d)
    if (c._tag === 'Left' || c.right._tag === 'Left') return false
    comparisons += c.right.right.comparisons
    return true
  })
  const { runs: numRuns = 25, seed, path } = options
  const run = fc.check(property, { numRuns, ...(seed === undefined ? {} : { seed }), ...(path === undefined ? {} : { path }) })
  if (!run.failed) return right({ of: meta.name, runs: run.numRuns, comparisons, seed: run.seed })
  if (run.counterexample === null) throw run.errorInstance
  const worst = smallest(run.counterexample[0], declared.specs, options, fails)
  const c = at(worst)
  if (c._tag === 'Right' && c.right._tag === 'Right') throw run.errorInstance ?? new Error(`${meta.name} does not give the same twice`)
  return left({
    of: meta.name,
    sizes: worst.sizes,
    argument: (unflatten(declared.def, worst.leaves.map(readable)) as readonly unknown[])[0],
    expression: shownAt(worst),
    findings: c._tag === 'Right' && c.right._tag === 'Left' ? c.right.left : [],
    ...(c._tag === 'Left' ? { error: c.left } : {}),
    replay: { ...options, seed: run.seed, path: run.counterexamplePath ?? '' },
    shrinks: run.numShrinks,
  })
}

/** The options of a counterexample as they are written; a registry has a name that only its owner knows. */
const shownReplay = ({ registry, ...options }: PropertyOptions): string =>
  registry === undefined ? shownOptions(options) : shownOptions(options).replace(/ }$/, ', registry }')

/**
 * A result of forAll in words: one line when it passed; else the sizes, the argument, the function, the findings and how to reproduce them.
 *
 * @example reportProperty(forAll(fn({ x: f64() }, ({ x }) => sin(x)), { runs: 3, seed: 2 }))   // 'ok   fn: 3 draws, ...'
 */
export const reportProperty = (c: PropertyChecked): string => {
  if (c._tag === 'Right') return `ok   ${c.right.of}: ${c.right.runs} draws, ${c.right.comparisons} comparisons (seed ${c.right.seed})`
  const { of, sizes, argument, expression, findings, error, replay, shrinks } = c.left
  const lines = [
    `${of} fails at ${JSON.stringify(argument)}${Object.keys(sizes).length === 0 ? '' : `, sizes ${JSON.stringify(sizes)}`} (after ${shrinks} shrinks)`,
    expression,
    error === undefined ? report(left(findings)) : explain(error),
    `replay: forAll(${of}, ${shownReplay(replay)})`,
  ]
  return lines.filter((l) => l !== '').join('\n')
}
