// A library of layers in ten lines: what a layer declares, and its function. Sizes are types, so layers that do not fit do not compile.
import {
  add,
  compile,
  type Decl,
  type Expr,
  type Exprs,
  evaluate,
  f32,
  fn,
  matmul,
  mean,
  square,
  sub,
  type Tensors,
  tanh,
  tensor,
  valueAndGrad,
  zeros,
} from 'codual'
import { adam, applyUpdates } from 'codual/optim'
import { foldIn, glorotNormal, type Key, key } from 'codual/random'
import { plot } from 'playground'

type Rows<W extends number> = Expr<['n', W], 'f32'>
interface Layer<P extends Decl, I extends number, O extends number> {
  readonly declared: P
  readonly init: (key: Key) => Tensors<P>
  readonly apply: (p: Exprs<P>, x: Rows<I>) => Rows<O>
}
const dense = <I extends number, O extends number>(inputs: I, outputs: O) => ({
  declared: { w: f32(inputs, outputs), b: f32(outputs) },
  init: (key: Key) => evaluate({ w: glorotNormal(key, [inputs, outputs], { dtype: 'f32' }), b: zeros([outputs], 'f32') }),
  apply: (p: { w: Expr<[I, O], 'f32'>; b: Expr<[O], 'f32'> }, x: Rows<I>): Rows<O> => add(matmul(x, p.w), p.b) as Rows<O>,
})
const joined = <P extends Decl, Q extends Decl, I extends number, H extends number, O extends number>(
  first: Layer<P, I, H>,
  second: Layer<Q, H, O>,
) => ({
  declared: { first: first.declared, second: second.declared },
  init: (key: Key) => ({ first: first.init(foldIn(key, 0)), second: second.init(foldIn(key, 1)) }),
  apply: (p: { first: Exprs<P>; second: Exprs<Q> }, x: Rows<I>) => second.apply(p.second, tanh(first.apply(p.first, x)) as Rows<H>),
})
const net = joined(dense(1, 16), dense(16, 1))
const loss = fn({ p: net.declared, x: f32('n', 1), y: f32('n', 1) }, ({ p, x, y }) => mean(square(sub(net.apply(p, x), y))))
const optimiser = adam({ learningRate: 0.03 })
const step = compile(
  fn({ p: net.declared, state: optimiser.init(net.declared), x: f32('n', 1), y: f32('n', 1) }, ({ p, state, x, y }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, x, y })
    const { updates, state: next } = optimiser.update(grad, state, p)
    return { p: applyUpdates(p, updates), state: next, value }
  }),
)
const places = Array.from({ length: 60 }, (_, i) => -3 + i / 10)
const x = tensor(Float32Array.from(places), [60, 1])
const y = tensor(Float32Array.from(places, Math.sin), [60, 1])
const start = net.init(key(1))
let now = { p: start, state: optimiser.init(start) }
let last = 1
for (let i = 0; i < 300; i++) {
  const { value, ...next } = step({ ...now, x, y })
  now = next
  last = value.item()
}
const learned = compile(fn({ p: net.declared, x: f32('n', 1) }, ({ p, x }) => net.apply(p, x)))({ p: now.p, x })
plot(places, { learned: learned.data, sine: places.map(Math.sin) }, { title: 'a sine, learned' })
last < 0.01 // true
