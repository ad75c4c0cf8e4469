/** Recurrent layers as scans: LSTM, GRU and the plain one, over whole sequences or step by step. */
import { badInput, badShape } from '../core/errors/explain.js'
import { choice, flag, type OptionsFor, raw, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  concat,
  type Dim,
  type Expr,
  evaluate,
  type Float,
  linear,
  moveaxis,
  mul,
  relu,
  type Shape,
  type Size,
  type Spec,
  scan,
  sigmoid,
  split,
  sub,
  type Tensor,
  type Tensors,
  tanh,
  zeros,
} from '../index.js'
import { dropout as dropped, foldIn, type Key } from '../random/index.js'
import { floatOption, floatSpec, initials, leadingAxes, rateIn, sizeIn, sizeOption } from './given.js'
import { guarded } from './guard.js'
import { type Initials, init } from './init.js'
import { type Described, type Given, type InTorch, type Run, shapeOf } from './layer.js'

export const recurrentOptions = {
  /** The number of stacked layers: 1 unless given. */
  layers: sizeOption(1),
  /** Does each layer read the sequence in both directions, and join the results? */
  bidirectional: flag(),
  /** Is the sequence read from its last step to its first? */
  reverse: flag(),
  /** Is x [..., time, inputs]? False unless given: time is the first axis. */
  batchFirst: flag(),
  /** Does it have biases? True unless given. */
  bias: flag(true),
  /** The probability with which the input of each layer but the first is dropped in training: 0 unless given. */
  dropout: raw<number, 0>(0),
  /** 'f32' unless given. */
  dtype: floatOption,
  /** How parameters are initialised, by name: { wi, wh, bi, bh }. */
  init: initials,
  /** The residuals of each step, as for `scan`. */
  checkpoint: raw<'everything' | 'contractions' | 'nothing' | 'sqrt' | number>(),
} satisfies OptionsFor<RecurrentOptions>
/** Options of recurrent layers. */
export interface RecurrentOptions<B extends boolean = boolean, T extends boolean = boolean, D extends Float = Float> {
  /** The number of stacked layers: 1 unless given. */
  readonly layers?: number | undefined
  /** Does each layer read the sequence in both directions, and join the results? */
  readonly bidirectional?: T | undefined
  /** Is the sequence read from its last step to its first? */
  readonly reverse?: boolean | undefined
  /** Is x [..., time, inputs]? False unless given: time is the first axis. */
  readonly batchFirst?: boolean | undefined
  /** Does it have biases? True unless given. */
  readonly bias?: B | undefined
  /** The probability with which the input of each layer but the first is dropped in training: 0 unless given. */
  readonly dropout?: number | undefined
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
  /** How parameters are initialised, by name: { wi, wh, bi, bh }. */
  readonly init?: Initials | undefined
  /** The residuals of each step, as for `scan`. */
  readonly checkpoint?: 'everything' | 'contractions' | 'nothing' | 'sqrt' | number | undefined
}
export const rnnOptions = {
  ...recurrentOptions,
  /** 'tanh' unless given. */
  activation: choice(['tanh', 'relu'], 'tanh'),
} satisfies OptionsFor<RnnOptions>
/** Options of `rnn`. */
export interface RnnOptions<B extends boolean = boolean, T extends boolean = boolean, D extends Float = Float>
  extends RecurrentOptions<B, T, D> {
  /** 'tanh' unless given. */
  readonly activation?: 'tanh' | 'relu' | undefined
}

/** For each layer and each direction: the weights of all gates side by side, for the input and for the hidden state. */
export type RecurrentParams<D extends Float, B> = readonly {
  readonly wi: Spec<[number, number], D>
  readonly wh: Spec<[number, number], D>
  readonly bi: B extends false ? null : Spec<[number], D>
  readonly bh: B extends false ? null : Spec<[number], D>
}[]
/** The state between steps: for each layer and each direction, arrays [..., hidden] with the names C. */
export type Carry<C extends string, N extends Shape, H extends number, D extends Float> = {
  readonly [K in C]: Expr<[...N, H], D>
}[]
/** A carry as it is passed in. */
export type CarryIn<C extends string, H extends number, D extends Float> = readonly {
  readonly [K in C]: Expr<readonly [...Shape, H], D>
}[]
/** A recurrent layer from I features to H, of which O come out, with C in the carry. */
export interface Recurrent<I extends number, H extends number, O extends number, C extends string, D extends Float, B> extends Described {
  readonly declared: RecurrentParams<D, B>
  readonly init: (key: Key) => Tensors<RecurrentParams<D, B>>
  /** All hidden states of the last layer. */
  apply<N extends Shape>(params: Given<RecurrentParams<D, B>>, x: Expr<readonly [...N, I], D>, run?: Run): Expr<[...N, O], D>
  /** The declaration of a carry: for a number of sequences, or these leading axes. */
  declaredCarry<const N extends Dim>(batch: Size<N>): readonly { readonly [K in C]: Spec<[N, H], D> }[]
  declaredCarry<const N extends readonly number[]>(batch: N): readonly { readonly [K in C]: Spec<[...N, H], D> }[]
  declaredCarry(batch: number | readonly number[]): readonly { readonly [K in C]: Spec<[...number[], H], D> }[]
  /** The initial carry, zeros: for a number of sequences, or these leading axes. */
  initCarry<const N extends Dim>(batch: Size<N>): readonly { readonly [K in C]: Tensor<[N, H], D> }[]
  initCarry<const N extends readonly number[]>(batch: N): readonly { readonly [K in C]: Tensor<[...N, H], D> }[]
  initCarry(batch: number | readonly number[]): readonly { readonly [K in C]: Tensor<[...number[], H], D> }[]
  /** All hidden states of the last layer, and the carry after the last step, with which the rest of a sequence continues. */
  scan<N extends Shape>(
    params: Given<RecurrentParams<D, B>>,
    x: Expr<readonly [...N, I], D>,
    carry?: CarryIn<C, H, D>,
    run?: Run,
  ): [carry: Carry<C, Shape, H, D>, ys: Expr<[...N, O], D>]
  /** One step, x: [..., inputs]. */
  step<N extends Shape>(
    params: Given<RecurrentParams<D, B>>,
    carry: CarryIn<C, H, D>,
    x: Expr<readonly [...N, I], D>,
  ): [carry: Carry<C, N, H, D>, y: Expr<[...N, H], D>]
}

type Held = Readonly<Record<string, AnyExpr>> & { readonly h: AnyExpr }
interface Cell {
  readonly kind: string
  /** Gates side by side. */
  readonly gates: number
  /** What goes from step to step. */
  readonly carried: readonly string[]
  /** Are input and hidden state needed apart, not their sum alone? */
  readonly apart?: boolean
  /** One step, of what the gates get from the input and from the hidden state. */
  readonly step: (fromInput: AnyExpr, fromHidden: AnyExpr, carry: Held) => Held
}
const gatesOf = (x: AnyExpr, n: number): readonly AnyExpr[] => split(x, n, { axis: -1 }) as readonly AnyExpr[]
const lstmCell: Cell = {
  kind: 'lstm',
  gates: 4,
  carried: ['h', 'c'],
  step: (x, y, carry) => {
    const [i, f, g, o] = gatesOf(add(x, y) as AnyExpr, 4) as [AnyExpr, AnyExpr, AnyExpr, AnyExpr]
    const c = add(mul(sigmoid(f), carry.c!), mul(sigmoid(i), tanh(g))) as AnyExpr
    return { h: mul(sigmoid(o), tanh(c)) as AnyExpr, c }
  },
}
const gruCell: Cell = {
  kind: 'gru',
  gates: 3,
  carried: ['h'],
  apart: true,
  step: (x, y, { h }) => {
    const [xr, xz, xn] = gatesOf(x, 3) as [AnyExpr, AnyExpr, AnyExpr]
    const [yr, yz, yn] = gatesOf(y, 3) as [AnyExpr, AnyExpr, AnyExpr]
    const [r, z] = [sigmoid(add(xr, yr)), sigmoid(add(xz, yz))]
    const n = tanh(add(xn, mul(r, yn))) as AnyExpr
    return { h: add(n, mul(z, sub(h, n))) as AnyExpr }
  },
}
const rnnCell = (activation: 'tanh' | 'relu'): Cell => ({
  kind: 'rnn',
  gates: 1,
  carried: ['h'],
  step: (x, y) => ({ h: (activation === 'tanh' ? tanh : relu)(add(x, y) as AnyExpr) as AnyExpr }),
})

interface Weights {
  readonly wi: AnyExpr
  readonly wh: AnyExpr
  readonly bi: AnyExpr | null
  readonly bh: AnyExpr | null
}
/** What gates get from the input, with all that no step changes; and from the hidden state. */
const fromInput = (cell: Cell, { wi, bi, bh }: Weights, x: AnyExpr): AnyExpr =>
  bi === null ? linear(x, wi) : linear(x, wi, (cell.apart ? bi : add(bi, bh!)) as AnyExpr)
const fromHidden = (cell: Cell, { wh, bh }: Weights, h: AnyExpr): AnyExpr => (cell.apart && bh !== null ? linear(h, wh, bh) : linear(h, wh))

const recurrent = (
  cell: Cell,
  inputs: number,
  hidden: number,
  given: ReturnType<typeof read>,
): Recurrent<number, number, number, string, Float, boolean> => {
  const op = cell.kind
  const [i, h] = [sizeIn(inputs, 'inputs', op), sizeIn(hidden, 'hidden', op)]
  const { layers, bidirectional, dtype, bias, batchFirst, checkpoint } = given
  const rate = rateIn(given.dropout, 'dropout', op)
  if (bidirectional && given.reverse)
    badInput(op, 'it is both bidirectional and reversed.', 'leave reverse out where bidirectional is true.')
  const ways = bidirectional ? [false, true] : [given.reverse]
  const wide = cell.gates * h
  const places = Array.from({ length: layers }, (_, layer) => ways.map((reverse, way) => ({ layer, reverse, second: way === 1 }))).flat()
  const declared = places.map(({ layer }) => ({
    wi: floatSpec(dtype, [layer === 0 ? i : ways.length * h, wide]),
    wh: floatSpec(dtype, [h, wide]),
    bi: bias ? floatSpec(dtype, [wide]) : null,
    bh: bias ? floatSpec(dtype, [wide]) : null,
  }))
  const start = (batch: readonly number[]): readonly Held[] =>
    places.map(() => Object.fromEntries(cell.carried.map((name) => [name, zeros([...batch, h], dtype)])) as unknown as Held)
  const begun = (carry: unknown, batch: readonly number[]): readonly Held[] => {
    const held = carry === undefined || carry === null ? start(batch) : carry
    if (!Array.isArray(held) || held.length !== places.length)
      badInput(
        op,
        `the carry is not a list of ${places.length}: one for each layer and direction.`,
        'give what initCarry, scan or step gave.',
      )
    for (const one of held as readonly Held[])
      for (const name of cell.carried) {
        const shape = one?.[name] === undefined ? undefined : shapeOf(one[name])
        if (shape === undefined) badInput(op, `the carry has no '${name}'.`, 'give what initCarry, scan or step gave.')
        if (`${shape}` !== `${[...batch, h]}`)
          badShape(op, [shape!], `'${name}' of the carry is not [${[...batch, h].join(', ')}].`, 'give what initCarry, scan or step gave.')
      }
    return held as readonly Held[]
  }
  /** One layer in one direction over all steps, time first. */
  const over = (w: Weights, x: AnyExpr, carry: Held, reverse: boolean): readonly [Held, AnyExpr] =>
    scan(
      ((state: Held, gates: AnyExpr) => {
        const next = cell.step(gates, fromHidden(cell, w, state.h), state)
        return [next, next.h]
      }) as never,
      carry as never,
      fromInput(cell, w, x) as never,
      { reverse, ...(checkpoint !== undefined && { checkpoint }) },
    ) as unknown as readonly [Held, AnyExpr]
  const scanned = (params: readonly Weights[], x: AnyExpr, carry?: unknown, run: Run = {}): readonly [readonly Held[], AnyExpr] => {
    const shape = shapeOf(x)
    if (shape.length < 2)
      badShape(op, [shape], 'the input has no axis of steps.', `give ${batchFirst ? '[..., time, inputs]' : '[time, ..., inputs]'}.`)
    const drops = rate > 0 && run.training === true
    if (drops && run.key === undefined) badInput(op, 'there is no key.', 'in training give one: apply(params, x, { training: true, key }).')
    let y = (batchFirst ? moveaxis(x, -2, 0) : x) as AnyExpr
    const before = begun(carry, shapeOf(y).slice(1, -1))
    const after: Held[] = []
    for (let layer = 0; layer < layers; layer++) {
      const input = drops && layer > 0 ? (dropped(y, rate, foldIn(run.key!, layer)) as AnyExpr) : y
      const made = ways.map((reverse, way) => {
        const at = layer * ways.length + way
        return over(params[at]!, input, before[at]!, reverse)
      })
      after.push(...made.map(([last]) => last))
      y =
        made.length === 1
          ? made[0]![1]
          : (concat(
              made.map(([, ys]) => ys),
              { axis: -1 },
            ) as AnyExpr)
    }
    return [after, (batchFirst ? moveaxis(y, 0, -2) : y) as AnyExpr]
  }
  const torch: Record<string, InTorch> = {}
  for (const [at, { layer, second }] of places.entries()) {
    const name = `l${layer}${second ? '_reverse' : ''}`
    torch[`weight_ih_${name}`] = { at: `${at}.wi`, axes: [1, 0] }
    torch[`weight_hh_${name}`] = { at: `${at}.wh`, axes: [1, 0] }
    if (bias) Object.assign(torch, { [`bias_ih_${name}`]: { at: `${at}.bi` }, [`bias_hh_${name}`]: { at: `${at}.bh` } })
  }
  return guarded({
    kind: cell.kind,
    torch,
    declared,
    init: (key: Key) => init(declared as never, key, given.init),
    declaredCarry: (batch: unknown) => {
      const shape = [...leadingAxes(batch, op), h]
      return places.map(() => Object.fromEntries(cell.carried.map((name) => [name, floatSpec(dtype, shape)])))
    },
    initCarry: (batch: unknown) => evaluate(start(leadingAxes(batch, op)) as never),
    apply: (params: never, x: never, run?: Run) => scanned(params, x, undefined, run)[1],
    scan: scanned,
    step: (params: readonly Weights[], carry: unknown, x: AnyExpr) => {
      if (bidirectional) badInput(op, 'a bidirectional layer has no single step.', 'use scan or apply.')
      let y = x
      const after = begun(carry, shapeOf(x).slice(0, -1)).map((held, at) => {
        const w = params[at]!
        const next = cell.step(fromInput(cell, w, y), fromHidden(cell, w, held.h), held)
        y = next.h
        return next
      })
      return [after, y]
    },
  }) as never
}
const read = (options: unknown, op: string) => readOptions(recurrentOptions, options, op)

/**
 * Long short-term memory: c' = f c + i tanh(g), h' = o tanh(c'), of the gates i, f, g, o = x wi + bi + h wh + bh, all but g through a sigmoid.
 *
 * `apply` gives h of all steps; `scan(params, x, carry)` gives [carry, ys], `step(params, carry, x)` [carry, y] for one step; carries begin as `initCarry(batch)`, a list of { h, c } for
 * each layer ({ h } of `gru` and `rnn`). `declaredCarry(batch)` declares one, for a step that is compiled.
 * Shapes  x: [time, ..., inputs] -> [time, ..., hidden], or 2 hidden in both directions; wi: [inputs, 4 hidden], wh: [hidden, 4 hidden]; one { wi, wh, bi, bh } for each layer and direction.
 * Dtype   f32, or the option's.   Options layers, bidirectional, reverse, batchFirst, bias, dropout between layers, dtype, init, checkpoint.
 * Errors  BadInput for invalid sizes, ShapeMismatch for a carry of another shape.   Source  Hochreiter and Schmidhuber 1997; gates in the order of `torch.nn.LSTM`.
 * @example
 * const layer = lstm(2, 3)
 * fn({ p: layer.declared, x: f32('t', 1, 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[[0, 0]]] }) // [[[0, 0, 0]]]
 */
export const lstm = <
  const I extends number,
  const H extends number,
  B extends boolean = true,
  T extends boolean = false,
  D extends Float = 'f32',
>(
  inputs: I,
  hidden: H,
  options?: RecurrentOptions<B, T, D>,
): Recurrent<I, H, T extends false ? H : number, 'h' | 'c', D, B> => recurrent(lstmCell, inputs, hidden, read(options, 'lstm')) as never
/**
 * Gated recurrent unit: h' = (1 - z) n + z h, with r, z sigmoids of x wi + bi + h wh + bh, and n = tanh(x wi + bi + r (h wh + bh)).
 *
 * `apply`, `scan`, `step`, `initCarry` and `declaredCarry` are as for `lstm`.
 * Shapes  x: [time, ..., inputs] -> [time, ..., hidden]; wi: [inputs, 3 hidden], wh: [hidden, 3 hidden].
 * Dtype, Options, Errors  as for `lstm`.
 * Source  Cho et al. 2014; gates in the order of `torch.nn.GRU`, r after the product as there.
 * @example
 * const layer = gru(2, 3)
 * fn({ p: layer.declared, x: f32('t', 1, 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[[0, 0]]] }) // [[[0, 0, 0]]]
 */
export const gru = <
  const I extends number,
  const H extends number,
  B extends boolean = true,
  T extends boolean = false,
  D extends Float = 'f32',
>(
  inputs: I,
  hidden: H,
  options?: RecurrentOptions<B, T, D>,
): Recurrent<I, H, T extends false ? H : number, 'h', D, B> => recurrent(gruCell, inputs, hidden, read(options, 'gru')) as never
/**
 * The plain recurrent layer: h' = tanh(x wi + bi + h wh + bh), or relu of it.
 *
 * `apply`, `scan`, `step`, `initCarry` and `declaredCarry` are as for `lstm`.
 * Shapes  x: [time, ..., inputs] -> [time, ..., hidden]; wi: [inputs, hidden], wh: [hidden, hidden].   Dtype, Errors  as for `lstm`.   Options  as for `lstm`, and
 *         activation.
 * Source  Elman 1990; `torch.nn.RNN`.
 * @example
 * const layer = rnn(2, 3)
 * fn({ p: layer.declared, x: f32('t', 1, 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[[0, 0]]] }) // [[[0, 0, 0]]]
 */
export const rnn = <
  const I extends number,
  const H extends number,
  B extends boolean = true,
  T extends boolean = false,
  D extends Float = 'f32',
>(
  inputs: I,
  hidden: H,
  options?: RnnOptions<B, T, D>,
): Recurrent<I, H, T extends false ? H : number, 'h', D, B> => {
  const { activation, ...given } = readOptions(rnnOptions, options, 'rnn')
  return recurrent(rnnCell(activation), inputs, hidden, given) as never
}
