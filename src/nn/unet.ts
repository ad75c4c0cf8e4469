/** A U-Net: an image made coarser level by level and finer again, with what each level saw beside it. */
import { badInput } from '../core/errors/explain.js'
import { integer, kind, type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, add, concat, type Dim, type Expr, expandDims, type Float, resize, type Spec, silu, type Tensors } from '../index.js'
import { foldIn, type Key } from '../random/index.js'
import { conv2d } from './conv.js'
import { dense } from './dense.js'
import { floatOption, sizeIn, sizeOption } from './given.js'
import { guarded } from './guard.js'
import { type AnyLayer, type Described, type Given, type Run, runPart } from './layer.js'
import { groupNorm } from './norms.js'

const features = kind<readonly number[], readonly number[]>((given, what, op) =>
  given === undefined
    ? [16, 32]
    : Array.isArray(given) && given.length > 0
      ? given.map((n) => sizeIn(n, what, op))
      : badInput(op, `${what} is not a list of channels.`, 'give one number for each level: features: [16, 32].'),
)
export const unetOptions = {
  /** Channels of each level, from the finest on: [16, 32] unless given. */
  features,
  /** Channels of the result: as many as those of the input unless given. */
  outputs: integer(0),
  /** The number of features of a condition (a time, a class), which each block projects and adds. None unless given. */
  condition: integer(0),
  /** Groups of channels that are normalised together: 4 unless given; it divides all features. */
  groups: sizeOption(4),
  /** 'f32' unless given. */
  dtype: floatOption,
}
/** Options of `unet`. */
export interface UNetOptions<O extends number = number, D extends Float = Float>
  extends Omit<Partial<OptionsOf<typeof unetOptions>>, 'dtype' | 'outputs'> {
  /** Channels of the result: as many as those of the input unless given. */
  readonly outputs?: O | undefined
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
}
/** An array of parameters of a U-Net by the names of its layers. */
export type UNetParams = { readonly [layer: string]: { readonly [name: string]: Spec } }
/** A U-Net from C channels to O. */
export interface UNet<C extends number, O extends number, D extends Float> extends Described {
  readonly declared: UNetParams
  readonly init: (key: Key) => Tensors<UNetParams>
  apply<N extends Dim, H extends Dim, W extends Dim>(
    params: Given<UNetParams>,
    x: Expr<readonly [N, C, H, W], D>,
    run?: Run & { readonly condition?: Expr | undefined },
  ): Expr<[N, O, H, W], D>
}
/**
 * A U-Net over images: at each level a residual block of two convolutions, half of the positions from level to level, then back up, with the features of each level joined
 * to it.
 *
 * Shapes  x: [n, channels, h, w], h and w multiples of 2^(levels - 1) -> [n, outputs, h, w]; `run.condition`: [n, condition]. Options features, outputs, condition, groups,
 *         dtype.   Errors  BadInput for positions that cannot be halved that often, and groups that do not divide the features.
 * Source  Ronneberger et al. 2015; the blocks are those of Ho et al. 2020.
 * @example
 * const net = unet(1, { features: [4, 8], outputs: 2 })
 * fn({ p: net.declared, x: f32('n', 1, 8, 8) }, ({ p, x }) => net.apply(p, x))({ p: net.init(key(1)), x: tensor(0, [3, 1, 8, 8], 'f32') }).shape // [3, 2, 8, 8]
 */
export const unet = <const C extends number, const O extends number = C, D extends Float = 'f32'>(
  channels: C,
  options?: UNetOptions<O, D>,
): UNet<C, O, D> => {
  const given = readOptions(unetOptions, options as never, 'unet')
  const { features, condition, groups, dtype } = given
  const inputs = sizeIn(channels, 'channels', 'unet')
  const outputs = given.outputs === 0 ? inputs : sizeIn(given.outputs, 'outputs', 'unet')
  const parts: Record<string, AnyLayer> = {}
  const add1 = (name: string, layer: unknown): void => {
    parts[name] = layer as AnyLayer
  }
  const convolution = (name: string, from: number, to: number, window = 3, stride = 1): void =>
    add1(name, conv2d(from, to, window, { padding: Math.floor(window / 2), stride, dtype }))
  const block = (name: string, from: number, to: number): void => {
    add1(`${name}.norm1`, groupNorm(from % groups === 0 ? groups : 1, from, { dtype }))
    convolution(`${name}.conv1`, from, to)
    if (condition > 0) add1(`${name}.condition`, dense(condition, to, { dtype }))
    add1(`${name}.norm2`, groupNorm(groups, to, { dtype }))
    convolution(`${name}.conv2`, to, to)
    if (from !== to) convolution(`${name}.shortcut`, from, to, 1)
  }
  const levels = features.length
  convolution('first', inputs, features[0]!)
  features.forEach((f, i) => {
    block(`down${i}`, f, f)
    if (i + 1 < levels) convolution(`down${i}.halve`, f, features[i + 1]!, 3, 2)
  })
  for (let i = levels - 2; i >= 0; i--) {
    convolution(`up${i}.double`, features[i + 1]!, features[i]!)
    block(`up${i}`, 2 * features[i]!, features[i]!)
  }
  add1('norm', groupNorm(groups, features[0]!, { dtype }))
  convolution('last', features[0]!, outputs)
  // A dot in a name would be a step of its path.
  const named = Object.entries(parts).map(([name, layer], index) => [name.replace('.', '_'), layer, index] as const)
  const at = new Map(named.map(([name, layer, index]) => [name, { layer, index }]))

  const apply = (params: Readonly<Record<string, unknown>>, x: AnyExpr, run: Run & { readonly condition?: AnyExpr } = {}): AnyExpr => {
    const { condition: wanted, ...told } = run
    const need = 2 ** (levels - 1)
    const [h, w] = x.shape.slice(-2)
    if (x.shape.length !== 4 || h! % need !== 0 || w! % need !== 0)
      return badInput('unet', `the input is [${x.shape.join(', ')}].`, `give [n, ${inputs}, h, w] with h and w multiples of ${need}.`)
    if (condition > 0 !== (wanted !== undefined))
      return badInput(
        'unet',
        condition > 0 ? 'there is no condition.' : 'there is a condition, and the layer takes none.',
        'apply(params, x, { condition }) goes with the option condition.',
      )
    const go = (name: string, y: AnyExpr): AnyExpr => {
      const { layer, index } = at.get(name)!
      return runPart(layer, { name, index }, params[name], y, told)[0] as AnyExpr
    }
    const blockOf = (name: string, y: AnyExpr): AnyExpr => {
      const first = go(`${name}_conv1`, silu(go(`${name}_norm1`, y)) as AnyExpr)
      const told =
        wanted === undefined
          ? first
          : (add(first, expandDims(go(`${name}_condition`, silu(wanted) as AnyExpr), [2, 3] as never)) as AnyExpr)
      const second = go(`${name}_conv2`, silu(go(`${name}_norm2`, told)) as AnyExpr)
      return add(at.has(`${name}_shortcut`) ? go(`${name}_shortcut`, y) : y, second) as AnyExpr
    }
    let y = go('first', x)
    const seen: AnyExpr[] = []
    for (let i = 0; i < levels; i++) {
      y = blockOf(`down${i}`, y)
      if (i + 1 < levels) {
        seen.push(y)
        y = go(`down${i}_halve`, y)
      }
    }
    for (let i = levels - 2; i >= 0; i--) {
      const [hh, ww] = seen[i]!.shape.slice(-2)
      y = go(`up${i}_double`, resize(y, [hh!, ww!], { method: 'nearest' } as never) as AnyExpr)
      y = blockOf(`up${i}`, concat([y, seen[i]!], { axis: 1 }) as AnyExpr)
    }
    return go('last', silu(go('norm', y)) as AnyExpr)
  }
  const made: AnyLayer = {
    kind: 'unet',
    parts: Object.fromEntries(named.map(([name, layer]) => [name, layer])),
    declared: Object.fromEntries(named.map(([name, layer]) => [name, layer.declared])),
    init: (key) => Object.fromEntries(named.map(([name, layer, index]) => [name, layer.init(foldIn(key, index))])),
    apply: apply as never,
  }
  return guarded(made, { told: ['condition'] }) as unknown as UNet<C, O, D>
}
