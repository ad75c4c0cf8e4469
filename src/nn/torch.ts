/** Parameters by the names and in the forms that PyTorch's state dicts have. */
import { recordOf, shown } from '../core/errors/check-arguments.js'
import { badDtype, badInput, badShape, showShape } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { func, type Kind, type OptionsOf, or, readOptions } from '../core/errors/options.js'
import { type AnyExpr, at, cast, concat, evaluate, isTensor, reshape, slice, stack, type Tensor, transpose, treeMap } from '../index.js'
import { inputIn, isSpec } from './guard.js'
import { type AnyLayer, type DeclaredOf, type InTorch, layerOf, type StateOf, shapeOf, type Tensors } from './layer.js'

/** Tensors by the names of a state dict. */
export type Flat = Readonly<Record<string, Tensor>>
/** An array of a model in PyTorch's: its name there, and how it is ours. */
interface Entry {
  readonly name: string
  readonly how: InTorch
  readonly path: string
  /** Of repeated layers: which of them, from the outside in. */
  readonly layers: readonly number[]
}
const joined = (...steps: readonly string[]): string => steps.filter((s) => s !== '').join('.')

/** The arrays of a layer that says nothing of PyTorch, each called as it is. */
const asTheyAre = ({ declared, state }: AnyLayer): NonNullable<AnyLayer['torch']> => {
  const found: Record<string, InTorch> = {}
  for (const [where, tree] of [
    ['params', declared],
    ['state', state],
  ] as const)
    if (tree !== null && tree !== undefined)
      treeMap((leaf: unknown, at) => {
        if (isSpec(leaf)) found[at === '' ? 'weight' : at] = { at, in: where }
      }, tree as unknown)
  return found
}
/** Every array that PyTorch has of the model. `path` is where the layer's arrays are, `name` the prefix of its names. */
const entriesOf = (layer: AnyLayer, path: string, name: string, layers: readonly number[]): readonly Entry[] => {
  const said = layer.torch ?? (layer.parts === undefined ? asTheyAre(layer) : {})
  const own = Object.entries(said).flatMap(([leaf, hows]) =>
    (Array.isArray(hows) ? (hows as readonly InTorch[]) : [hows as InTorch]).map((how) => ({
      name: joined(name, leaf),
      how,
      path: joined(path, how.at),
      layers,
    })),
  )
  if (layer.repeated !== undefined) {
    const [one] = Object.values(layer.parts ?? {})
    return [...own, ...Array.from({ length: layer.repeated }, (_, i) => entriesOf(one!, path, joined(name, `${i}`), [...layers, i])).flat()]
  }
  return [
    ...own,
    ...Object.entries(layer.parts ?? {}).flatMap(([key, part]) => entriesOf(part, joined(path, key), joined(name, key), layers)),
  ]
}

/** Names by PyTorch's own, each for one array of it. */
const namesIn = (entries: readonly Entry[], rename: (name: string) => string, op: string): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Map<string, string>()
  for (const { name } of entries) {
    if (names.has(name)) continue
    const other = rename(name)
    const before = taken.get(other)
    if (before !== undefined)
      badInput(
        op,
        `rename gives '${other}' for ${before} and for ${name}.`,
        'give each its own name; what two layers share is in the state dict under both.',
      )
    names.set(name, other)
    taken.set(other, name)
  }
  return names
}
const textOption = (standard: string): Kind<string> =>
  or<string, string>(standard, (given, what, where) =>
    typeof given === 'string' ? given : badInput(where, `${what} is ${shown(given)}.`, 'give a text.'),
  )
export const torchOptions = {
  /** The name in the state dict of an array that PyTorch's own layers would call `name`: of models whose layers have other names. */
  rename: func<((name: string) => string) | undefined>(),
  /** What the names of this model begin with in the state dict, where it is a part of the one there: 'backbone.'. What `rename` takes and gives is without it. */
  prefix: textOption(''),
}
export const fromTorchOptions = {
  ...torchOptions,
  /** Is an array of the state dict, which is no part of this model, left out? By its name, without the prefix. */
  ignore: func<((name: string) => boolean) | undefined>(),
}
/** Options of `toTorch`. */
export type TorchOptions = OptionsOf<typeof torchOptions>
/** Options of `fromTorch`. */
export type FromTorchOptions = OptionsOf<typeof fromTorchOptions>

const inverse = (axes: readonly number[]): readonly number[] => axes.map((_, i) => axes.indexOf(i))
const part = (x: AnyExpr, { axis, from, size }: NonNullable<InTorch['slice']>): AnyExpr => {
  const shape = shapeOf(x)
  return slice(
    x as never,
    shape.map((_, i) => (i === axis ? from : 0)) as never,
    shape.map((d, i) => (i === axis ? from + size : d)) as never,
  ) as AnyExpr
}
const ours = (x: Tensor, how: InTorch): AnyExpr => {
  const cut = how.slice === undefined ? (x as unknown as AnyExpr) : part(x, how.slice)
  return how.axes === undefined ? cut : (transpose(cut as never, how.axes as never) as unknown as AnyExpr)
}

/** A state dict, read: tensors by name. */
const tensorsIn = (given: Flat): Flat =>
  Object.fromEntries(
    reading('fromTorch: the tensors', () => Object.entries(recordOf(given, 'the state dict', 'fromTorch'))).map(([name, t]) => [
      name,
      isTensor(t)
        ? t
        : badInput('fromTorch', `${name} is ${shown(t)}, no tensor.`, 'decodeSafetensors(bytes) of codual/train gives { tensors }.'),
    ]),
  )

/** The tensors whose names begin so, by the rest of these. */
const under = (prefix: string, tensors: Flat): Flat => {
  if (prefix === '') return tensors
  const found = Object.entries(tensors).filter(([name]) => name.startsWith(prefix))
  if (found.length === 0)
    badInput(
      'fromTorch',
      `no tensor has a name that begins with '${prefix}': they are ${listed(Object.keys(tensors))}.`,
      'give a prefix of the names in the file, or none.',
    )
  return Object.fromEntries(found.map(([name, t]) => [name.slice(prefix.length), t]))
}
/** What to do about arrays that only one of model and file has. */
const adviceOn = (
  known: ReadonlySet<string>,
  missing: readonly string[],
  left: readonly string[],
  given: readonly string[],
  prefix: string,
): string => {
  const [first] = known
  const longer = first === undefined ? undefined : given.find((name) => name.endsWith(`.${first}`))?.slice(0, -first.length)
  if (longer !== undefined && [...known].every((name) => given.includes(`${longer}${name}`)))
    return `the model is a part of the one in the file: { prefix: '${prefix}${longer}' }.`
  if (missing.length === 0)
    return 'where the file has more than the model, such as a head, say what to leave out: { ignore: (name) => boolean }.'
  if (left.length === 0)
    return 'where the model has more than the file, such as a new head, load the part that both have: fromTorch(part, tensors), and init the rest.'
  return 'give the tensors of this model; where its layers have other names, say so by the option rename, where it is a part of a larger one by prefix, and what it does not have by ignore.'
}

/** A model's parameters and running state. */
export interface FromTorch<L> {
  readonly params: Tensors<DeclaredOf<L>>
  readonly state: Tensors<StateOf<L>>
}
/**
 * The parameters and the running state of a model from a state dict of PyTorch (tensors by name, as `decodeSafetensors` of codual/train gives them).
 *
 * Names are PyTorch's: `0.weight` in a sequence, `conv.bias` in a record; matrices are transposed, since PyTorch keeps them as [out, in]. Repeated layers are `0.`, `1.` ... there,
 * stacked here. Arrays of a layer of your own keep their names (`0.w`), unless it declares `torch: { weight: { at: 'w', axes: [1, 0] } }`. Other float dtypes are cast.
 * `num_batches_tracked` is ignored. Options rename: other names, by PyTorch's own; prefix: what names begin with where the model is a part of the one in the file, whose other arrays are left out; ignore:
 * which arrays of the file the model does not have.
 * Errors  BadInput that lists missing and unexpected arrays, and for two arrays of the same name; ShapeMismatch if a shape differs; DTypeMismatch for arrays that are not floats.
 * @example
 * const model = sequential(dense(2, 1))
 * fromTorch(model, { '0.weight': tensor([[3, 4]], [1, 2], 'f32'), '0.bias': tensor([5], [1], 'f32') }).params // [{ w: [[3], [4]], b: [5] }]
 */
export const fromTorch = <L extends AnyLayer>(layer: L, given: Flat, options?: FromTorchOptions): FromTorch<L> => {
  const { rename = (name: string) => name, prefix, ignore = () => false } = readOptions(fromTorchOptions, options, 'fromTorch')
  const entries = entriesOf(layerOf(layer, 'fromTorch'), '', '', [])
  const tensors = under(prefix, tensorsIn(given))
  const names = namesIn(entries, rename, 'fromTorch')
  const known = new Set(names.values())
  const missing = [...known].filter((name) => !Object.hasOwn(tensors, name))
  const left = Object.keys(tensors).filter((name) => !known.has(name) && !name.endsWith('num_batches_tracked') && !ignore(name))
  if (missing.length > 0 || left.length > 0)
    badInput(
      'fromTorch',
      [missing.length > 0 && `the tensors lack ${listed(missing)}`, left.length > 0 && `nothing in the model is called ${listed(left)}`]
        .filter(Boolean)
        .join('; ')
        .concat('.'),
      adviceOn(known, missing, left, Object.keys(tensors), prefix),
    )
  const filled = (declared: unknown, where: 'params' | 'state'): unknown =>
    declared === null || declared === undefined
      ? null
      : treeMap((leaf: unknown, path) => {
          const { shape, dtype } = leaf as { readonly shape: readonly number[]; readonly dtype: 'f32' | 'f64' }
          const found = entries.filter((e) => e.path === path && (e.how.in ?? 'params') === where)
          if (found.length === 0)
            return badInput(
              'fromTorch',
              `PyTorch has no array for ${path}.`,
              'the layer does not say where PyTorch keeps it: give its parameters by hand.',
            )
          const many = found.length > 1 || found[0]!.layers.length > 0
          const each = shape.slice(Math.max(found[0]!.layers.length, found.length > 1 ? 1 : 0))
          const put = found.map(({ name, how }) => {
            const called = names.get(name)!
            const given = tensors[called]!
            if (given.dtype !== 'f32' && given.dtype !== 'f64')
              badDtype(
                'fromTorch',
                [given.dtype, dtype],
                `${called} is ${given.dtype}, ${path} is ${dtype}.`,
                'give floats: what is stored as whole numbers has a scale of its own, which cast() and mul() apply.',
              )
            const x = ours(given, how)
            if (shapeOf(x).join() !== each.join())
              badShape(
                'fromTorch',
                [given.shape, each],
                `${called} is ${showShape(given.shape)}${how.slice === undefined ? `, wanted is ${showShape(theirs(each, how))}` : ''} for ${path}, which is ${showShape(each)} here.`,
                'give the tensors of a model of these sizes, as PyTorch has them: a matrix is [out, in].',
              )
            return x
          })
          const made = many ? (reshape(stack(put as never) as never, shape as never) as unknown as AnyExpr) : put[0]!
          return castTo(made, dtype)
        }, declared)
  return evaluate({ params: filled(layer.declared, 'params'), state: filled(layer.state, 'state') } as never) as unknown as FromTorch<L>
}
/** The shape that PyTorch has of an array of ours. */
const theirs = (shape: readonly number[], { axes }: InTorch): readonly number[] =>
  axes === undefined ? shape : inverse(axes).map((i) => shape[i]!)
const castTo = (x: AnyExpr, dtype: 'f32' | 'f64'): AnyExpr => (x.dtype === dtype ? x : (cast(x, dtype) as AnyExpr))
const listed = (names: readonly string[]): string =>
  `${names.slice(0, 6).join(', ')}${names.length > 6 ? ` and ${names.length - 6} more` : ''}`

/**
 * A model's parameters and running state as a state dict of PyTorch: the inverse of `fromTorch`, ready for `encodeSafetensors` of codual/train.
 *
 * Options rename, prefix, as for `fromTorch`.   Errors  BadInput if the parameters are not the model's.
 * @example
 * const model = sequential(dense(2, 1))
 * toTorch(model, [{ w: tensor([3, 4], [2, 1], 'f32'), b: tensor([5], [1], 'f32') }])['0.weight'] // [[3, 4]]
 */
export const toTorch = <L extends AnyLayer>(
  layer: L,
  params: Tensors<DeclaredOf<L>>,
  state: Tensors<StateOf<L>> | null = null,
  options?: TorchOptions,
): Flat => {
  const { rename = (name: string) => name, prefix } = readOptions(torchOptions, options, 'toTorch')
  layerOf(layer, 'toTorch')
  const leaves = new Map<string, AnyExpr>()
  for (const [where, tree] of [
    ['params', params],
    ['state', state],
  ] as const)
    if (tree !== null && tree !== undefined)
      treeMap((leaf: unknown, path) => {
        if (leaf !== null) leaves.set(`${where} ${path}`, inputIn(leaf, `${path} of the ${where}`, 'toTorch'))
      }, tree as unknown)
  const pieces = new Map<string, { readonly from: number; readonly axis: number; readonly x: AnyExpr }[]>()
  const entries = entriesOf(layer, '', '', [])
  const names = namesIn(entries, rename, 'toTorch')
  for (const { name, how, path, layers } of entries) {
    if (how.in === 'state' && state === null) continue
    const leaf = leaves.get(`${how.in ?? 'params'} ${path}`)
    if (leaf === undefined) return badInput('toTorch', `the ${how.in ?? 'params'} have no ${path}.`, "give the model's own.")
    const one = layers.reduce<AnyExpr>((x, i) => at(x as never, i) as AnyExpr, leaf)
    const x = how.axes === undefined ? one : (transpose(one as never, inverse(how.axes) as never) as unknown as AnyExpr)
    const called = names.get(name)!
    const list = pieces.get(called) ?? []
    pieces.set(called, [...list, { from: how.slice?.from ?? 0, axis: how.slice?.axis ?? 0, x }])
  }
  const joint = [...pieces].map(([name, list]) => {
    const sorted = [...list].sort((a, b) => a.from - b.from)
    return [
      prefix + name,
      sorted.length === 1 ? sorted[0]!.x : (concat(sorted.map(({ x }) => x) as never, { axis: sorted[0]!.axis }) as AnyExpr),
    ] as const
  })
  return evaluate(Object.fromEntries(joint) as never) as unknown as Flat
}
