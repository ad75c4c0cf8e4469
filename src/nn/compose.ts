/** Layers made of layers: one after the other, side by side, around a shortcut, many alike. */
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type OptionsOf, raw, readOptions } from '../core/errors/options.js'
import { type AnyExpr, add, concat, evaluate, scan, stack, treeZip } from '../index.js'
import { foldIn, type Key, splitKey } from '../random/index.js'
import type { CheckedRepeat, Joining, ParallelFn, Parts, Repeated, ResidualFn, SequentialFn } from './compositions.js'
import { sizeIn } from './given.js'
import { guarded, inputIn } from './guard.js'
import {
  type AnyLayer,
  gathered,
  isStateful,
  layerOf,
  type Part,
  type PartsRead,
  partsOf,
  type Run,
  type RunWith,
  runPart,
  shapeOf,
  stackedDeclaration,
} from './layer.js'

interface Made {
  readonly kind: string
  readonly parts: PartsRead
  readonly apply: (params: never, x: unknown, run: Partial<RunWith<unknown>>) => readonly [y: unknown, state: unknown]
}
/** The layer of some parts: parameters and state in their form, a key for each. */
const composed = ({ kind, parts, apply }: Made): AnyLayer => {
  const stateful = parts.named.some(([, l]) => isStateful(l))
  const layer: AnyLayer = {
    kind,
    parts: Object.fromEntries(parts.named),
    declared: gathered(parts, (l) => l.declared),
    init: (key) => gathered(parts, (l, i) => l.init(foldIn(key, i))),
    ...(stateful && {
      state: gathered(parts, (l) => l.state ?? null),
      initState: () => gathered(parts, (l) => l.initState?.() ?? null),
    }),
    apply: (params: never, x: never, run: never) => {
      const made = apply(params, x, run)
      return stateful ? made : made[0]
    },
  }
  return guarded(layer, { inputs: false })
}
/** What a part has of a tree by the names of parts. */
const part = (tree: unknown, name: string): unknown =>
  reading('a composition', () => (tree as Readonly<Record<string, unknown>> | null | undefined)?.[name]) ?? null

/** Every part on the same input. */
const sideBySide = (parts: PartsRead, params: unknown, x: unknown, run: Partial<RunWith<unknown>>) => {
  const ys: AnyExpr[] = []
  const states = gathered(parts, (layer, index, name) => {
    const [y, state] = runPart(layer, { name, index }, part(params, name), x, run, part(run.state, name))
    ys.push(y as AnyExpr)
    return state
  })
  return { ys, states }
}

/**
 * Layers in sequence: a list, `sequential(dense(2, 8), tanh, dense(8, 1))`, or a record, in whose order they run. Functions of arrays are layers too.
 *
 * Parameters  a list or record of theirs, null for functions.   State  the same, where a layer has some.   Key  each layer folds its position into it.
 * Types       a size that does not match the layer before does not compile.   Errors  BadInput without a layer.
 * @example
 * const model = sequential(dense(2, 8), tanh, dense(8, 1))
 * fn({ p: model.declared, x: f32('n', 2) }, ({ p, x }) => model.apply(p, x))({ p: model.init(key(1)), x: [[0, 0]] }) // [[0]]
 */
export const sequential: SequentialFn = ((...given: readonly unknown[]): unknown => {
  const [first] = given
  const isRecord = given.length === 1 && typeof first === 'object' && first !== null && reading('sequential', () => !('apply' in first))
  const parts = partsOf((isRecord ? first : given) as Parts, 'sequential')
  return composed({
    kind: 'sequential',
    parts,
    apply: (params, x, run) => {
      let y: unknown = x
      const states = gathered(parts, (layer, index, name) => {
        const [made, state] = runPart(layer, { name, index }, part(params, name), y, run, part(run.state, name))
        y = made
        return state
      })
      return [y, states]
    },
  })
}) as never
/**
 * Layers side by side on one input; their results are added, joined along the last axis (`concat`), or given to a function.
 *
 * Parameters  a list or record of theirs, as for `sequential`.   Errors  BadInput without a layer, and if results to be added differ in shape.
 * @example
 * const both = parallel([dense(2, 3), dense(2, 4)], 'concat')
 * fn({ p: both.declared, x: f32('n', 2) }, ({ p, x }) => both.apply(p, x))({ p: both.init(key(1)), x: [[0, 0]] }).shape // [1, 7]
 */
export const parallel: ParallelFn = ((layers: Parts, join: Joining = 'add'): unknown => {
  const parts = partsOf(layers, 'parallel')
  if (join !== 'add' && join !== 'concat' && typeof join !== 'function')
    badInput('parallel', `the second argument is neither 'add' nor 'concat' nor a function.`)
  return composed({
    kind: 'parallel',
    parts,
    apply: (params, x, run) => {
      const { ys, states } = sideBySide(parts, params, x, run)
      const y = join === 'add' ? added(ys, parts) : join === 'concat' ? concat(ys, { axis: -1 }) : join(...ys)
      return [y, states]
    },
  })
}) as never

/** The sum of what stands side by side, where all of it has one shape. */
const added = (ys: readonly AnyExpr[], { named }: PartsRead): AnyExpr => {
  const [first, ...others] = ys.map((y) => y.shape as readonly number[])
  const at = 1 + others.findIndex((s) => s.length !== first!.length || s.some((d, i) => d !== first![i]))
  if (at > 0)
    badInput(
      'parallel',
      `${named[at]![0]} makes [${others[at - 1]!.join(', ')}], ${named[0]![0]} makes [${first!.join(', ')}], which are to be added.`,
      "give layers that make one shape, or join them: parallel(layers, 'concat').",
    )
  return ys.reduce((a, b) => add(a, b) as AnyExpr)
}

/**
 * A shortcut around a layer: x + layer(x), or shortcut(x) + layer(x) if the shapes differ.
 *
 * Parameters  { body, shortcut }.   Source  He et al. 2016.
 * @example
 * const block = residual(dense(2, 2))
 * fn({ p: block.declared, x: f32('n', 2) }, ({ p, x }) => block.apply(p, x))({ p: block.init(key(1)), x: [[0, 0]] }) // [[0, 0]]
 */
export const residual: ResidualFn = ((body: Part, shortcut?: Part): unknown => {
  const parts = partsOf({ body, shortcut: shortcut ?? identity }, 'residual')
  return composed({
    kind: 'residual',
    parts,
    apply: (params, x, run) => {
      const { ys, states } = sideBySide(parts, params, x, run)
      return [add(ys[1]!, ys[0]!), states]
    },
  })
}) as never
const identity: AnyLayer = { kind: 'identity', declared: null, init: () => null, apply: (_, x) => x }

export const repeatOptions = {
  /** The residuals of each: as for `scan`. */
  checkpoint: raw<'everything' | 'contractions' | 'nothing' | 'sqrt' | number>(),
}
/** Options of `repeat`. */
export type RepeatOptions = OptionsOf<typeof repeatOptions>
/** repeat(layer, n, options). */
export type RepeatFn = <const L extends Part, const N extends number>(
  layer: L & CheckedRepeat<L>,
  n: N,
  options?: RepeatOptions,
) => Repeated<L, N>
/**
 * n layers of the same kind in sequence, as one loop: a plan for 48 of them is no longer than one for 2, and with a checkpoint it keeps few
 * residuals.
 *
 * Parameters  those of the layer, each array with an axis of length n in front.   Options  checkpoint, as for `scan`.
 * Errors  BadInput for a layer with running state, or one that changes the shape.
 * @example
 * const deep = repeat(residual(dense(2, 2)), 48)
 * fn({ p: deep.declared, x: f32('n', 2) }, ({ p, x }) => deep.apply(p, x))({ p: deep.init(key(1)), x: [[0, 0]] }) // [[0, 0]]
 */
export const repeat: RepeatFn = ((layer: Part, n: number, options?: RepeatOptions): unknown => {
  const { checkpoint } = readOptions(repeatOptions, options, 'repeat')
  const count = sizeIn(n, 'n', 'repeat')
  const one = layerOf(layer, 'repeat')
  if (isStateful(one))
    badInput(
      'repeat',
      'the layer has running state.',
      'write them one after the other with sequential, or use layers without running state (layerNorm, groupNorm).',
    )
  const made: AnyLayer = {
    kind: `repeat ${count}`,
    parts: { each: one },
    repeated: count,
    declared: one.declared === null ? null : stackedDeclaration(one.declared, count),
    init: (key) => {
      const each = Array.from({ length: count }, (_, i) => one.init(foldIn(key, i)))
      if (one.declared === null) return null
      const [first, ...others] = each
      return evaluate(treeZip((...leaves: readonly AnyExpr[]) => stack(leaves), first as never, ...(others as never[])) as never)
    },
    apply: (params: never, x: never, run?: Run) => {
      const keys = run?.key === undefined ? null : splitKey(run.key, count)
      const begin: AnyExpr = inputIn(x, 'the input', 'repeat')
      const [y] = scan(
        (h: AnyExpr, [p, key]: readonly [unknown, Key | null]) => {
          const { onLayer: _, ...told } = run ?? {}
          const [next] = runPart(one, { name: 'each', index: 0 }, p, h, { ...told, ...(key !== null && { key }) })
          const [made, taken] = [shapeOf(next), begin.shape as readonly number[]]
          if (made.length !== taken.length || made.some((d, i) => d !== taken[i]))
            badInput(
              'repeat',
              `the layer makes [${made.join(', ')}] of [${taken.join(', ')}].`,
              'repeat one that keeps the shape, or write them one after the other with sequential.',
            )
          return [next, null] as never
        },
        begin,
        [params, keys] as never,
        { length: count, ...(checkpoint !== undefined && { checkpoint }) },
      ) as unknown as readonly [AnyExpr, unknown]
      return y
    },
  }
  return guarded(made, { inputs: false })
}) as never
