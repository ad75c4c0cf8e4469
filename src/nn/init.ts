/** First parameters of a declaration, by patterns of their paths. */
import { recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type AnyExpr, type Decl, evaluate, type Float, fn, full, ones, type Tensors, toProgram, treeMap, zeros } from '../index.js'
import { foldIn, type Key, lecunNormal } from '../random/index.js'
import { isSpec } from './guard.js'

/** A function of key, shape and dtype. */
type Drawn = (key: Key, shape: readonly number[], options: { readonly dtype: Float }) => AnyExpr
/** How an array is initialised: by a function of key, shape and dtype from codual/random (or your own), by `zeros`, `ones`, or a number. */
// `object` puts `zeros` behind the function: of one that does not fit TypeScript says what it lacks to be the first that is callable
export type Initial = number | Drawn | (typeof zeros & object)
/** How the arrays of a tree are initialised, by their names or paths: `b`, `layers.*.w`, `*`. The first match decides. */
export type Initials = Readonly<Record<string, Initial>>

/** Does the pattern name the path? A name alone is that of the last step; a star is any one step, two stars are any number of them. */
const names = (pattern: string, path: string): boolean => {
  if (pattern === '*' || pattern === '**') return true
  const steps = path.split('.')
  const wanted = pattern.split('.')
  if (wanted.length === 1) return steps[steps.length - 1] === pattern
  const fits = (i: number, j: number): boolean => {
    if (i === wanted.length) return j === steps.length
    if (wanted[i] === '**') return fits(i + 1, j) || (j < steps.length && fits(i, j + 1))
    return j < steps.length && (wanted[i] === '*' || wanted[i] === steps[j]) && fits(i + 1, j + 1)
  }
  return fits(0, 0)
}
/** An array begun. */
const begun = (how: Initial, key: Key, shape: readonly number[], dtype: Float, path: string): AnyExpr => {
  if (typeof how === 'number') return full(shape as number[], how, dtype) as AnyExpr
  if (typeof how !== 'function')
    return badInput(
      'init',
      `the initialiser of ${path} is ${shown(how)}.`,
      'give heNormal, zeros, ones, a number, or a function (key, shape, { dtype }) => expression.',
    )
  if ((how as unknown) === zeros || (how as unknown) === ones) return (how as typeof zeros)(shape as number[], dtype) as AnyExpr
  return (how as (key: Key, shape: readonly number[], options: { readonly dtype: Float }) => AnyExpr)(key, shape, { dtype })
}
/** What begins as what where nobody says it: arrays of two axes and more by `lecunNormal`, `scale` as ones, all others as zeros. */
const standard = (path: string, shape: readonly number[]): Initial =>
  /(^|\.)scale$/.test(path) ? 1 : shape.length >= 2 ? (lecunNormal as Initial) : 0

/**
 * Initial parameters for any declaration: `{ w: heNormal, b: zeros }` says how by name, `'blocks.*.w'` by path.
 *
 * An initialiser is a number or a function of key, shape and dtype, one of your own too: `(key, shape, { dtype }) => normal(key, shape, { dtype })`. If no pattern matches, arrays
 * of two or more axes are drawn by `lecunNormal`, arrays named `scale` are ones, and all others zeros; integers are zeros. Each array has a key of its own.
 * Dtype   as declared.   Errors  BadInput for a pattern that matches nothing, and for an axis with a name.
 * @example init({ w: f32(2, 3), b: f32(3) }, key(1), { w: heNormal, b: 0.5 }).b   // [0.5, 0.5, 0.5]
 */
export const init = <const P extends Decl | null>(declared: P, key: Key, given: Initials = {}): Tensors<P> => {
  if (declared === null) return null as Tensors<P>
  const how: Initials = reading('init: how', () => ({ ...recordOf(given, 'how arrays begin', 'init') }))
  const used = new Set<string>()
  let k = 0
  const tree = treeMap((leaf: unknown, path) => {
    if (!isSpec(leaf))
      return leaf === null || typeof leaf === 'string' || typeof leaf === 'function'
        ? leaf
        : badInput('init', `${path === '' ? 'the declaration' : path} is ${shown(leaf)}.`, 'declare arrays: f32(2, 3).')
    const { shape, dtype } = leaf
    const named = shape.find((d) => typeof d === 'string')
    if (named !== undefined) badInput('init', `${path} has an axis '${named}' of no size.`, 'declare parameters with sizes alone.')
    const sizes = shape as readonly number[]
    const own = foldIn(key, k++)
    const pattern = Object.keys(how).find((p) => names(p, path))
    if (pattern !== undefined) used.add(pattern)
    if (dtype === 'i32' || dtype === 'bool') return zeros(sizes as number[], dtype)
    return begun(pattern === undefined ? standard(path, sizes) : how[pattern]!, own, sizes, dtype as Float, path)
  }, declared as unknown)
  const lost = Object.keys(how).find((p) => !used.has(p) && p !== '*' && p !== '**')
  // A pattern behind one that fits first is no mistake; one that fits nothing is.
  if (lost !== undefined) {
    let fits = false
    treeMap((_: unknown, path) => {
      fits ||= names(lost, path)
    }, declared as unknown)
    if (!fits)
      badInput(
        'init',
        `the pattern '${lost}' matches nothing in the declaration.`,
        'write the name of a leaf, or a path in which * stands for one whole step, not for a part of a name.',
      )
  }
  try {
    return evaluate(tree as never) as Tensors<P>
  } catch (e) {
    if (isOfTrace(key))
      badInput(
        'init',
        'the key depends on an input of a function that is being traced (vmap, fn, scan), but init computes numbers at once.',
        'call it outside: keys.map((k) => layer.init(k)) for a list of keys; treeZip((...all) => stack(all), ...trees) stacks the results.',
      )
    throw e
  }
}
/** Does it depend on an input of a function that is being traced? Then no function without inputs gives it. */
const isOfTrace = (key: Key): boolean => {
  try {
    toProgram(fn({}, () => key as AnyExpr) as never)
    return false
  } catch {
    return true
  }
}
