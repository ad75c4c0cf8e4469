// A library of layers in forty lines, on nothing but expressions, and two spirals told apart with it. `npm run example:own-layers`
//
// A layer is a value: what it declares, how that begins, and a function. Sizes are type parameters, so layers that do not fit do not compile.
import {
  add,
  compile,
  cpu,
  crossEntropy,
  type Decl,
  type Dim,
  type Expr,
  type Exprs,
  evaluate,
  f32,
  fn,
  i32,
  matmul,
  type Spec,
  softmax,
  type Tensors,
  tanh,
  tensor,
  valueAndGrad,
  zeros,
} from '../src/index.js'
import { adam, applyUpdates, cosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, glorotNormal, type Key, key } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

// ---- the library

type Rows<N extends Dim, W extends number> = Expr<[N, W], 'f32'>
export interface Layer<P extends Decl, I extends number, O extends number> {
  readonly declared: P
  readonly init: (key: Key) => Tensors<P>
  readonly apply: <N extends Dim>(p: Exprs<P>, x: Rows<N, I>) => Rows<N, O> // a property, not a method, whose parameters TypeScript would not hold against each other
}
type Affine<I extends number, O extends number> = { readonly w: Spec<[I, O], 'f32'>; readonly b: Spec<[O], 'f32'> }
export const dense = <I extends number, O extends number>(inputs: I, outputs: O): Layer<Affine<I, O>, I, O> => ({
  declared: { w: f32(inputs, outputs), b: f32(outputs) },
  init: (key) => evaluate({ w: glorotNormal(key, [inputs, outputs], { dtype: 'f32' }), b: zeros([outputs], 'f32') }),
  apply: (p, x) => add(matmul(x, p.w), p.b),
})
/** One after the other. */
export const joined = <P extends Decl, Q extends Decl, I extends number, H extends number, O extends number>(
  first: Layer<P, I, H>,
  second: Layer<Q, H, O>,
): Layer<{ readonly first: P; readonly second: Q }, I, O> => ({
  declared: { first: first.declared, second: second.declared },
  init: (key) => ({ first: first.init(foldIn(key, 0)), second: second.init(foldIn(key, 1)) }),
  apply: (p, x) => second.apply(p.second, first.apply(p.first, x)),
})
/** With a function behind it. */
export const activated = <P extends Decl, I extends number, O extends number>(
  layer: Layer<P, I, O>,
  f: <N extends Dim>(x: Rows<N, O>) => Rows<N, O>,
): Layer<P, I, O> => ({ ...layer, apply: (p, x) => f(layer.apply(p, x)) })
/** Added to what went in. */
export const residual = <P extends Decl, I extends number>(layer: Layer<P, I, I>): Layer<P, I, I> => ({
  ...layer,
  apply: (p, x) => add(x, layer.apply(p, x)),
})

// ---- what it is used for

const hidden = () => residual(activated(dense(32, 32), tanh))
export const model = joined(joined(activated(dense(2, 32), tanh), joined(hidden(), hidden())), dense(32, 2))

/** Points of two spirals, each with the number of its spiral. */
export const spirals = (count: number, shift = 0) => {
  const points = Array.from({ length: count }, (_, i) => {
    const [which, turn] = [i % 2, 0.25 + 3 * Math.sqrt((i + 0.5 + shift) / count)]
    return { which, at: [turn * Math.cos(2 * turn + Math.PI * which), turn * Math.sin(2 * turn + Math.PI * which)] }
  })
  return {
    points,
    x: tensor(points.map(({ at }) => at), [count, 2], 'f32'),
    y: tensor(points.map(({ which }) => which), [count], 'i32'),
  } // biome-ignore format: one table
}

export interface OwnLayersOptions {
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}
export const main = async (log: Log, { steps = 400, seed = 1, out = 'out' }: OwnLayersOptions = {}) => {
  const optimiser = adam({ learningRate: cosineDecaySchedule({ initValue: 0.01, decaySteps: steps }) })
  const declared = model.declared
  const loss = fn({ p: declared, x: f32('n', 2), y: i32('n') }, ({ p, x, y }) => crossEntropy(model.apply(p, x), y))
  const learn = compile(
    fn({ p: declared, state: optimiser.init(declared), x: f32('n', 2), y: i32('n') }, ({ p, state, x, y }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, x, y })
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { p: applyUpdates(p, updates), state: next, value }
    }),
    cpu(),
  )
  const chances = compile(
    fn({ p: declared, x: f32('n', 2) }, ({ p, x }) => softmax(model.apply(p, x))),
    cpu(),
  )
  const { x, y } = spirals(400)
  const p = model.init(key(seed))
  let now = { p, state: optimiser.init(p), value: tensor(0, [], 'f32') }
  for (let i = 0; i < steps; i++) now = learn({ p: now.p, state: now.state, x, y })

  const fresh = spirals(1000, 0.25)
  const said = chances({ p: now.p, x: fresh.x }).toArray()
  const right = fresh.points.filter(({ which }, i) => said[i]![which]! > 0.5).length / fresh.points.length
  log(`loss ${now.value.item().toFixed(4)} after ${steps} steps; ${(100 * right).toFixed(1)} % of 1000 other points are told right`)
  expectThat(steps < 400 || right > 0.99, 'more than 99 %')

  const side = Array.from({ length: 49 }, (_, i) => (i - 24) / 6.5)
  const grid = side.flatMap((v) => side.map((u) => [u, v]))
  const at = chances({ p: now.p, x: tensor(grid, [grid.length, 2], 'f32') }).toArray()
  const file = await plot(out, 'own-layers', {
    title: 'Which spiral a place belongs to',
    x: 'x',
    y: 'y',
    extent: 3.7,
    points: {
      'taken for the first': grid.filter((_, i) => at[i]![0]! > 0.5),
      'the first': fresh.points.filter(({ which }) => which === 0).map(({ at }) => at),
      'the second': fresh.points.filter(({ which }) => which === 1).map(({ at }) => at),
    },
  })
  log(`picture: ${file}`)
  return { right, loss: now.value.item(), file }
}
start(import.meta.url, main)
