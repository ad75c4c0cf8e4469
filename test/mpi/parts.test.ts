/** Parameters and an optimiser's state in parts: the same numbers as whole ones, in less memory. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import { within } from '../../src/mpi/communicator.js'
import * as mpi from '../../src/mpi/index.js'
import { countedRank } from '../../src/mpi/scale/counted.js'
import * as optim from '../../src/optim/index.js'
import * as random from '../../src/random/index.js'
import { count, some } from '../depth.js'
import { LAYERS, layerBytes, placedStep, type Where } from './placed.js'

type Tree = Readonly<Record<string, AnyExpr>>
const drawn = (seed: number, shape: readonly number[], dtype: 'f32' | 'f64' = 'f64'): cd.Tensor =>
  cd.evaluate(cd.cast(random.normal(random.key(seed), shape as number[]) as AnyExpr, dtype)) as cd.Tensor
const params = {
  w1: drawn(1, [5, 7]),
  b1: drawn(2, [7]),
  scale: cd.tensor(1.5),
  w2: drawn(3, [7, 3], 'f32'),
  b2: drawn(4, [3], 'f32'),
}
const batch = { x: drawn(5, [6, 5]), y: drawn(6, [6, 3]) }
const loss = ({ params: p, x, y }: { readonly params: Tree; readonly x: AnyExpr; readonly y: AnyExpr }): AnyExpr => {
  const h = cd.mul(p.scale!, cd.tanh(cd.add(cd.matmul(x, p.w1!), p.b1!)))
  const out = cd.add(cd.matmul(h, cd.cast(p.w2!, 'f64') as AnyExpr), cd.cast(p.b2!, 'f64') as AnyExpr)
  return cd.mean(cd.square(cd.sub(out, y)))
}
const data = { x: 0, y: 0 }
type Made = { readonly params: unknown; readonly loss: number }
/** Three steps with whole parameters, or with parts. */
const trained = (optimizer: optim.Transformation<unknown>, how: mpi.Placing | undefined): Made => {
  const placed = how === undefined ? undefined : mpi.inParts(params, how)
  const opt = (placed?.optimizer(optimizer as never) ?? optimizer) as typeof optimizer
  const f = placed === undefined ? mpi.shard(loss, { data }) : mpi.shard(loss, { data, parts: { params: placed } })
  const step = cd.compile((p: never, state: never, x: never, y: never) => {
    const { value, grad } = cd.valueAndGrad((q: never) => (f as typeof loss)({ params: q, x, y }))(p) as { value: AnyExpr; grad: never }
    const { updates, state: next } = opt.update(grad, state, p)
    return [optim.applyUpdates(p, updates as never), next, value]
  })
  let p: unknown = placed?.cut(params) ?? params
  let state: unknown = opt.init(p as never)
  let value = 0
  const mine = mpi.localRows(batch)
  for (let i = 0; i < 3; i++) {
    const [next, s, v] = step(p as never, state as never, mine.x as never, mine.y as never) as unknown as [unknown, unknown, cd.Tensor]
    ;[p, state, value] = [next, s, v.item() as number]
  }
  return { params: placed === undefined ? p : placed.join(p), loss: value }
}
const bits = (made: Made): unknown => [made.loss, ...cd.treeLeaves(made.params).map((t) => Array.from((t as unknown as cd.Tensor).data))]

type Any = optim.Transformation<unknown>
const rate = { learningRate: 0.01 }
/** Those that treat each element by itself: the bits of parts are those of the whole. */
const byElement: Readonly<Record<string, () => unknown>> = {
  sgd: () => optim.sgd({ ...rate, weightDecay: 0.1 }),
  momentum: () => optim.momentum(rate),
  nesterov: () => optim.nesterov(rate),
  adam: () => optim.adam(rate),
  adamw: () => optim.adamw(rate),
  amsgrad: () => optim.amsgrad(rate),
  adamax: () => optim.adamax(rate),
  radam: () => optim.radam(rate),
  adadelta: () => optim.adadelta(rate),
  adagrad: () => optim.adagrad(rate),
  rmsprop: () => optim.rmsprop(rate),
  lion: () => optim.lion(rate),
  'clip, ema, scale': () => optim.chain(optim.clip(0.1), optim.ema({ decay: 0.9 }), optim.scale(-0.1)),
  'weight decay by a schedule': () =>
    optim.chain(optim.weightDecay(optim.linearSchedule({ initValue: 0.1, endValue: 0, transitionSteps: 10 })), optim.sgd(rate)),
  multiSteps: () => optim.multiSteps(optim.adam(rate), 2),
  lookahead: () => optim.lookahead(optim.sgd(rate), { every: 2 }),
  masked: () => optim.masked(optim.adam(rate), (path) => path.startsWith('w')),
  only: () => optim.only(optim.adam(rate), (path) => path !== 'w2'),
  leafwise: () =>
    optim.leafwise('signs', { mean: 1 }, ({ g, slots, rate: at }) => ({
      update: cd.mul(at(-0.1), cd.sign(g)),
      slots: { mean: cd.add(slots.mean, g) },
    })),
}
/** Those with sums of all elements of a leaf: up to rounding. */
const bySums: Readonly<Record<string, () => unknown>> = {
  lamb: () => optim.lamb(rate),
  clipByGlobalNorm: () => optim.chain(optim.clipByGlobalNorm(0.5), optim.adam(rate)),
  'sums and the largest of what is not 0 where parts are filled up': () => ({
    init: () => ({}),
    update: (g: Tree) => ({
      updates: cd.treeMap((x: AnyExpr) => cd.add(cd.mul(x, cd.sum(cd.exp(x))), cd.max(cd.sub(x, 9))), g),
      state: {},
    }),
  }),
  'the largest of all': () => ({
    init: () => ({}),
    update: (g: Tree) => ({ updates: cd.treeMap((x: AnyExpr) => cd.div(x, cd.max(cd.abs(x))), g), state: {} }),
  }),
}
const whole: Readonly<Record<string, () => unknown>> = {
  muon: () => optim.muon(rate),
  shampoo: () => optim.shampoo(rate),
  adafactor: () => optim.adafactor(rate),
  'the largest sum of a column': () => ({
    init: () => ({}),
    update: (g: Tree) => ({
      updates: cd.treeMap((x: AnyExpr) => (x.shape.length === 2 ? cd.mul(x, cd.max(cd.sum(x, { axis: 0 }))) : x), g),
      state: {},
    }),
  }),
  'one element as a scalar': () => ({
    init: () => ({}),
    update: (g: Tree) => ({
      updates: cd.treeMap((x: AnyExpr) => cd.mul(x, cd.reshape(cd.exp(cd.sum(x, { keepdims: true })), [])), g),
      state: {},
    }),
  }),
  'a mean of rows': () => ({
    init: () => ({}),
    update: (g: Tree) => ({
      updates: cd.treeMap((x: AnyExpr) => (x.shape.length === 2 ? cd.sub(x, cd.mean(x, { axis: 0, keepdims: true })) : x), g),
      state: {},
    }),
  }),
}
const programOf = cd.toProgram as unknown as (f: unknown) => (params: unknown) => never
const gradients = [11, 12, 13].map((seed) => cd.treeMap((x: cd.Tensor) => drawn(seed + x.shape.length, x.shape, x.dtype as 'f64'), params))
const flat = (tree: unknown): readonly number[] =>
  cd.treeLeaves(tree).flatMap((t) => Array.from((cd.evaluate(t as AnyExpr) as cd.Tensor).data))
/** Updates and states of several steps on given gradients. */
const stepped = (optimizer: Any, how: mpi.Placing | undefined): readonly number[] => {
  const placed = how === undefined ? undefined : mpi.inParts(params, how)
  const own = placed?.optimizer(optimizer as never) as unknown as (Any & { readonly join: (s: unknown) => unknown }) | undefined
  const opt = own ?? optimizer
  let p: unknown = placed?.cut(params) ?? params
  let state: unknown = opt.init(p as never)
  for (const g of gradients) {
    const next = opt.update((placed?.cut(g) ?? g) as never, state as never, p as never)
    const both = cd.evaluate({ p: optim.applyUpdates(p as never, next.updates as never), state: next.state } as never) as unknown as {
      readonly p: unknown
      readonly state: unknown
    }
    ;[p, state] = [both.p, both.state]
  }
  return placed === undefined ? [...flat(p), ...flat(state)] : [...flat(placed.join(p)), ...flat(own!.join(state))]
}

describe('parameters in parts', () => {
  it.each(['zero1', 'zero3'] as const)('%s: steps of Adam have the bits of whole parameters', (how) => {
    for (const n of some([3, 2, 1, 4, 7], 1)) {
      const adam = optim.adam({ learningRate: 0.01 }) as Any
      const want = mpi.simulateRanks(n, () => bits(trained(adam, undefined)))
      const got = mpi.simulateRanks(n, () => bits(trained(adam, how)))
      expect(got, `${n} ranks`).toEqual(want)
    }
  })
  it.each(some(Object.entries(byElement), 6))('%s has the bits of whole parameters', (_name, make) => {
    const want = stepped(make() as Any, undefined)
    expect(want.every(Number.isFinite)).toBe(true)
    for (const got of mpi.simulateRanks(3, () => stepped(make() as Any, 'zero1'))) expect(got).toEqual(want)
  })
  it.each(Object.entries(bySums))('%s is that of whole parameters up to rounding', (_name, make) => {
    const want = stepped(make() as Any, undefined)
    for (const n of some([4, 9, 2], 1))
      for (const got of mpi.simulateRanks(n, () => stepped(make() as Any, 'zero1')))
        for (const [i, v] of got.entries()) expect(Math.abs(v - want[i]!)).toBeLessThan(4e-6 * (1 + Math.abs(want[i]!)))
  })
  it.each(Object.entries(whole))('%s needs whole arrays, and says so', (_name, make) => {
    expect(() => mpi.simulateRanks(2, () => stepped(make() as Any, 'zero1'))).toThrow(
      /needs whole arrays, and each rank has a part of them/,
    )
  })

  it('cuts and joins arrays of every size: scalars, empty ones, fewer elements than ranks, integers', () => {
    const tree = {
      s: cd.tensor(3),
      none: cd.tensor([], [0, 2]),
      few: cd.tensor([[1, 2]]),
      i: cd.tensor([1, 2, 3, 4, 5], [5], 'i32'),
      b: cd.tensor([true, false, true]),
    }
    for (const n of [1, 2, 4]) {
      const got = mpi.simulateRanks(n, () => {
        const placed = mpi.inParts(tree, 'zero1')
        const parts = placed.cut(tree)
        return {
          shapes: Object.values(parts).map((t) => t.shape),
          declared: Object.values(placed.parts).map((t) => t.shape),
          back: placed.join(parts),
        }
      })
      for (const { shapes, declared, back } of got as readonly {
        readonly shapes: unknown
        readonly declared: unknown
        readonly back: Readonly<Record<string, cd.Tensor>>
      }[]) {
        expect(shapes).toEqual([[Math.ceil(3 / n)], [Math.ceil(2 / n)], [Math.ceil(5 / n)], [0], []])
        expect(declared).toEqual(shapes)
        expect(Object.values(back).map((t) => [t.shape, t.dtype, t.toArray()])).toEqual(
          Object.values(Object.fromEntries(Object.entries(tree).sort())).map((t) => [t.shape, t.dtype, t.toArray()]),
        )
      }
    }
  })
  it('differentiates in both modes, again, and in batches', () => {
    const q = { w1: params.w1, b1: params.b1, scale: params.scale, w2: params.w2, b2: params.b2 }
    const direction = cd.treeMap((x: cd.Tensor) => drawn(31 + x.shape.length, x.shape, x.dtype as 'f64'), q)
    type F = (p: never) => AnyExpr
    const asked: Readonly<Record<string, (f: F, p: unknown, d: unknown) => unknown>> = {
      jvp: (f, p, d) => cd.jvp(f as never)(p as never, d as never),
      'a Hessian-vector product': (f, p, d) => cd.hvp(f as never)(p as never, d as never),
      'the gradient of a norm of the gradient': (f, p) =>
        cd.grad((u: never) =>
          cd
            .treeLeaves(cd.grad(f as never)(u))
            .reduce(
              (s: AnyExpr, g) => cd.add(s, cd.sum(cd.square(cd.cast(g as AnyExpr, 'f64') as AnyExpr))) as AnyExpr,
              cd.full([], 0) as AnyExpr,
            ),
        )(p as never),
    }
    for (const [name, ask] of Object.entries(asked))
      for (const how of ['zero1', 'zero3'] as const) {
        const want = flat(ask(((p: never) => loss({ params: p, ...batch } as never)) as F, q, direction))
        const got = mpi.simulateRanks(2, () => {
          const placed = mpi.inParts(q, how)
          const f = mpi.shard(loss, { data, parts: { params: placed } }) as unknown as typeof loss
          const mine = mpi.localRows(batch)
          const result = ask(((p: never) => f({ params: p, ...mine } as never)) as F, placed.cut(q), placed.cut(direction))
          // Scalars and trees of parts.
          return name === 'jvp' ? flat(result) : flat(placed.join(cd.evaluate(result as never)))
        })
        for (const g of got)
          for (const [i, v] of g.entries()) expect(Math.abs(v - want[i]!), `${name}, ${how}`).toBeLessThan(1e-5 * (1 + Math.abs(want[i]!)))
      }
  })

  const WIDTH = 128
  /** Bytes at the peak of a step as one of n ranks has it, arguments among them, and its kernels. */
  const peakOf = (n: number, where: Where) =>
    within(countedRank(n).communicator, () => {
      const { step } = placedStep(where, WIDTH)
      const { peakBytes, steps } = step.explain()
      step.dispose()
      return { peakBytes, kernels: steps.map((s) => s.kernel) }
    })
  it('holds 3 P / n of parts between steps; within one all parameters (zero1), or two layers (zero3), and one gradient', () => {
    const layer = layerBytes(WIDTH)
    const all = LAYERS * layer
    const small = 2 * LAYERS * 2 * 6 * WIDTH * 4
    for (const n of [2, 4, 8, 64]) {
      const parts = (3 * all) / n
      const [zero1, zero3] = [peakOf(n, 'zero1').peakBytes, peakOf(n, 'zero3').peakBytes]
      expect(zero1).toBeGreaterThan(parts + all)
      expect(zero1).toBeLessThanOrEqual(parts + all + layer + (2 * layer) / n + small)
      expect(zero3).toBeGreaterThan(parts + 2 * layer)
      expect(zero3).toBeLessThanOrEqual(parts + 3 * layer + (2 * layer) / n + small)
      expect(peakOf(n, 'whole').peakBytes).toBeGreaterThan(4 * all)
    }
  })
  it('gathers a layer before it is read, once more in the reverse pass, and sums its gradient where that is made', () => {
    const collectives = (how: mpi.Placing) => peakOf(4, how).kernels.filter((k) => /^(allGather|reduceScatter)$/.test(k))
    expect(collectives('zero1')).toEqual([...Array(LAYERS).fill('allGather'), ...Array(LAYERS).fill('reduceScatter')])
    // The last layer is needed by both passes one after the other, and gathered twice all the same.
    expect(collectives('zero3')).toEqual([...Array(LAYERS).fill('allGather'), ...Array(LAYERS).fill(['allGather', 'reduceScatter']).flat()])
  })

  it('does not run a loop twice for a parameter that it reads', () => {
    const loops = (how: mpi.Placing) =>
      within(countedRank(2).communicator, () => {
        const declared = { w: cd.f64(3, 3) }
        const placed = mpi.inParts(declared, how)
        const f = ({ params: p, x }: { readonly params: Tree; readonly x: AnyExpr }): AnyExpr =>
          cd.mean(cd.fori(5, (_: AnyExpr, c: AnyExpr) => cd.tanh(cd.matmul(c, p.w!)) as AnyExpr, x) as AnyExpr)
        const g = mpi.shard(f, { data: { x: 0 }, parts: { params: placed } }) as unknown as typeof f
        const step = cd.compile(
          cd.fn(
            { params: placed.parts, x: cd.f64(2, 3) } as never,
            (({ params: p, x }: { readonly params: never; readonly x: AnyExpr }) =>
              cd.grad((q: never) => g({ params: q, x }) as never)(p)) as never,
          ),
        ) as unknown as { readonly explain: () => cd.Explanation }
        return step.explain().loops.length
      })
    expect(loops('zero1')).toBe(2)
    expect(loops('zero3')).toBe(2)
  })

  it('computes with what is made again as with what is kept: random programs of parameters', () => {
    let reached = 0
    const views: readonly ((w: AnyExpr) => AnyExpr)[] = [
      (w) => cd.transpose(w) as AnyExpr,
      (w) => cd.tanh(w) as AnyExpr,
      (w) => cd.mul(w, w) as AnyExpr,
      (w) => cd.flip(w, { axis: 0 }) as AnyExpr,
      (w) => cd.mul(2, cd.exp(cd.neg(w))) as AnyExpr,
      (w) => cd.reshape(cd.reshape(w, [9]), [3, 3]) as AnyExpr,
      (w) => cd.cast(cd.cast(w, 'f32'), 'f64') as AnyExpr,
      (w) => cd.softmax(w) as AnyExpr,
      (w) => cd.where(cd.gt(w, 0), w, 0.5) as AnyExpr,
      (w) => cd.inv(cd.add(w, cd.mul(5, cd.eye(3)))) as AnyExpr,
    ]
    const uses: readonly ((h: AnyExpr, w: AnyExpr) => AnyExpr)[] = [
      (h, w) => cd.matmul(h, w) as AnyExpr,
      (h, w) => cd.tanh(cd.add(h, cd.sum(w, { axis: 0 }))) as AnyExpr,
      (h, w) => cd.mul(cd.relu(h), cd.max(w)) as AnyExpr,
      (h, w) => cd.scan((c: AnyExpr, r: AnyExpr) => [cd.tanh(cd.add(c, cd.mul(r, cd.sum(w)))), c], h, w)[0] as AnyExpr,
      (h, w) => cd.fori(2, (_: AnyExpr, c: AnyExpr) => cd.tanh(cd.matmul(c, w)) as AnyExpr, h) as AnyExpr,
      (h, w) => cd.checkpoint((a: AnyExpr, b: AnyExpr) => cd.sin(cd.matmul(a, b)))(h, w) as AnyExpr,
    ]
    const layer = fc.record({ w: fc.nat(1), views: fc.array(fc.nat(views.length - 1), { maxLength: 3 }), use: fc.nat(uses.length - 1) })
    const two = { a: drawn(41, [3, 3]), b: drawn(42, [3, 3]) }
    const input = drawn(43, [4, 3])
    fc.assert(
      fc.property(fc.array(layer, { minLength: 1, maxLength: 4 }), fc.boolean(), (layers, twice) => {
        const f = ({ params: p, x }: { readonly params: Tree; readonly x: AnyExpr }): AnyExpr =>
          cd.mean(
            cd.square(
              layers.reduce(
                (h, l) =>
                  uses[l.use]!(
                    h,
                    l.views.reduce((w, v) => views[v]!(w), [p.a!, p.b!][l.w]!),
                  ),
                x,
              ),
            ),
          )
        const gradient = (how: mpi.Placing) =>
          mpi.simulateRanks(2, () => {
            const placed = mpi.inParts(two, how)
            const g = mpi.shard(f, { data: { x: 0 }, parts: { params: placed } }) as unknown as typeof f
            const at = (q: never): AnyExpr => g({ params: q, x: mpi.localRows(input) as never })
            const parts = placed.cut(two) as never
            const made = twice ? cd.hvp(at as never)(parts, parts) : cd.grad(at as never)(parts)
            if (how === 'zero3' && /again/.test(JSON.stringify(cd.toJSON(programOf((q: never) => cd.grad(at as never)(q))(parts)))))
              reached++
            return flat(made)
          })
        // A sum over a parameter may be taken in another order, where a loop has it beside something else.
        const [got, want] = [gradient('zero3').flat(), gradient('zero1').flat()]
        for (const [i, v] of got.entries()) expect(Math.abs(v - want[i]!)).toBeLessThanOrEqual(1e-7 * (1 + Math.abs(want[i]!)))
      }),
      { numRuns: count(8, 100, 300) },
    )
    expect(reached).toBeGreaterThan(8)
  })

  it('raises one clear error for what does not fit', () => {
    const tree = { w: cd.tensor([[1, 2, 3]]) }
    const placed = mpi.inParts(tree, 'zero1')
    const f = ({ params: p, x }: { readonly params: Tree; readonly x: AnyExpr }): AnyExpr => cd.mean(cd.mul(p.w!, x))
    const call = (options: object, params: unknown) => () =>
      (mpi.shard(f, { data: { x: 0 }, ...options } as never) as unknown as typeof f)({ params, x: cd.tensor([1]) } as never)
    expect(() => mpi.inParts(tree, 'zero2' as never)).toThrow("inParts: the placement is 'zero2'")
    expect(() => mpi.inParts({ w: cd.f64('n', 2) }, 'zero1')).toThrow("inParts: w: the axis 'n' has no size.")
    expect(call({ parts: { params: tree } }, tree)).toThrow('is no placement')
    expect(call({ parts: { other: placed } }, tree)).toThrow('there is no input other beside the data')
    expect(call({ parts: { x: placed } }, tree)).toThrow('there is no input x beside the data')
    expect(call({ parts: { params: placed } }, tree)).toThrow('a part of f64 [1, 3] on 1 ranks is f64 [3]')
    expect(call({ parts: { params: placed } }, { v: cd.tensor([1]) })).toThrow(/inParts: parts/)
    expect(() => placed.optimizer({} as never)).toThrow('init of the optimizer')
    const adam = placed.optimizer(optim.adam(rate))
    expect(() => adam.update({ w: cd.tensor([1, 2]) } as never, adam.init(placed.cut(tree)) as never)).toThrow('the gradient at w')
    expect(() => adam.update(placed.cut(tree) as never, {} as never)).toThrow('the state')
    expect(() => adam.update({ v: cd.tensor([1]) } as never, adam.init(placed.cut(tree)) as never)).toThrow(
      'the parameters have no such leaf',
    )
  })
})
