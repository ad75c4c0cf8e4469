// Fitting: what it comes to, by hand beside `train`; that it follows from its key, goes on to the bit, ends early, and says what is wrong.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import { adafactor, adam, applyUpdates, chain, clipByGlobalNorm, muon, only, scheduleFree, sgd } from '../../src/optim/index.js'
import * as random from '../../src/random/index.js'
import {
  accuracy,
  auc,
  batches,
  type Checkpoint,
  decodeCheckpoint,
  encodeCheckpoint,
  type FitEvent,
  f1,
  fit as fitTo,
  meanSquaredError,
  perplexity,
  r2,
  topKAccuracy,
} from '../../src/train/index.js'

type Result<A> = { readonly _tag: 'Left'; readonly left: cd.AdError } | { readonly _tag: 'Right'; readonly right: A }
const right = <A>(e: Result<A>): A => {
  if (e._tag === 'Left') throw new Error(cd.explain(e.left))
  return e.right
}
const reason = (e: { readonly _tag: 'Left'; readonly left: cd.AdError } | { readonly _tag: 'Right' }): string => {
  if (e._tag === 'Right') throw new Error('no error')
  return cd.explain(e.left)
}

/** A layer as codual/nn has it. */
const dense = (from: number, to: number) => {
  const declared = { w: cd.f64(from, to), b: cd.f64(to) }
  return {
    declared,
    init: (key: random.Key) => cd.evaluate({ w: random.heNormal(key, [from, to]), b: cd.full([to], 0) }),
    apply: ({ w, b }: cd.Exprs<typeof declared>, x: cd.Expr<[number, number], 'f64'>) => cd.add(cd.matmul(x, w), b),
  }
}
const numbers = (seed: number, ...shape: number[]): number[] => [...cd.evaluate(random.normal(random.key(seed), shape)).data]
const rows = 23
const x = cd.tensor(numbers(1, rows, 3), [rows, 3])
const y = cd.tensor(
  Array.from({ length: rows }, (_, i) => 2 * x.data[3 * i]! - x.data[3 * i + 1]! + 0.5),
  [rows, 1],
)
const line = dense(3, 1)
const options = { loss: 'mseLoss', optimizer: adam({ learningRate: 0.1 }), epochs: 60, batchSize: 8, key: 3 } as const

/** Two classes that no line separates; dropout and running statistics. */
const net = {
  ...(() => {
    const declared = { hidden: dense(2, 16).declared, out: dense(16, 1).declared }
    return { declared }
  })(),
  init: (key: random.Key) => ({ hidden: dense(2, 16).init(random.foldIn(key, 0)), out: dense(16, 1).init(random.foldIn(key, 1)) }),
  state: { mean: cd.f64(16) },
  initState: () => ({ mean: cd.tensor(0, [16]) }),
  apply: (
    p: { readonly hidden: cd.Exprs<ReturnType<typeof dense>['declared']>; readonly out: cd.Exprs<ReturnType<typeof dense>['declared']> },
    inputs: cd.Expr<[number, 2], 'f64'>,
    run: { readonly training: boolean; readonly key?: random.Key; readonly state: { readonly mean: cd.Expr<[16], 'f64'> } },
  ) => {
    const h = cd.tanh(dense(2, 16).apply(p.hidden, inputs))
    const mean = run.training ? cd.mean(h, { axis: 0 }) : run.state.mean
    const next = run.training ? cd.add(cd.mul(0.9, run.state.mean), cd.mul(0.1, mean)) : run.state.mean
    const centred = cd.sub(h, mean)
    const kept = run.training ? random.dropout(centred, 0.1, run.key!) : centred
    return [dense(16, 1).apply(p.out, kept as cd.Expr<[number, number], 'f64'>), { mean: next }] as const
  },
}
const points = numbers(5, 60, 2)
const circle = {
  x: cd.tensor(points, [60, 2]),
  y: cd.tensor(
    Array.from({ length: 60 }, (_, i) => (points[2 * i]! ** 2 + points[2 * i + 1]! ** 2 > 1.2 ? 1 : 0)),
    [60, 1],
  ),
}
const classify = {
  loss: 'bceWithLogits',
  optimizer: chain(clipByGlobalNorm(1), adam({ learningRate: 0.05 })),
  batchSize: 16,
  key: 7,
  validation: 0.25,
  metrics: { accuracy: accuracy({ threshold: 0 }), auc: auc(), f1: f1({ threshold: 0 }) },
} as const

it('an optimiser of some leaves: the others stay to the bit, and the loss falls all the same', async () => {
  const params = { w: cd.tensor([0.5, 0.25, -1], [3, 1]), b: cd.tensor([0.125], [1]) }
  const seen: number[] = []
  const optimizer = only(sgd({ learningRate: 0.1 }), (path) => path === 'w')
  const done = right(await fitTo(line, { x, y }, { ...options, optimizer, params, onProgress: ({ loss }) => void seen.push(loss) })())
  expect([...done.params.b.data]).toEqual([0.125])
  expect([...done.params.w.data].every((w, i) => Math.abs(w - [2, -1, 0][i]!) < 0.5)).toBe(true)
  expect(seen.at(-1)!).toBeLessThan(seen[0]! / 4)
  expect(
    reason(await fitTo(line, { x, y }, { ...options, optimizer: only(sgd({ learningRate: 0.1 }), (path) => path === 'W') })()),
  ).toMatch(/only: the mask takes none of the leaves: b, w\./)
})

describe('fit', () => {
  it('is the same as the loop by hand, to the bit', async () => {
    const done = right(await fitTo(line, { x, y }, { ...options, epochs: 3, shuffle: false })())
    const step = cd.compile(({ params, state, x, y }: never) => {
      const { value, grad } = cd.valueAndGrad((p: never) => cd.mseLoss(line.apply(p, x), y) as cd.Expr<[], 'f64'>)(params) as never
      const { updates, state: next } = options.optimizer.update(grad as never, state as never, params as never)
      return { params: applyUpdates(params as never, updates as never), state: next, loss: value } as never
    }) as unknown as (given: object) => { params: { w: cd.Tensor; b: cd.Tensor }; state: never; loss: cd.Tensor }
    let params: { w: cd.Tensor; b: cd.Tensor } = line.init(random.key(3))
    let state: unknown = options.optimizer.init(params)
    const means: number[] = []
    const data = batches({ x, y }, { size: 8 })
    for (let epoch = 0; epoch < 3; epoch++) {
      let sum = 0
      for (const batch of data.epoch(epoch)) {
        const next = step({ params, state, ...batch })
        params = next.params
        state = next.state
        sum += batch.y.shape[0]! * next.loss.item()
      }
      means.push(sum / rows)
    }
    expect(done.params.w.toArray()).toEqual(params.w.toArray())
    expect(done.params.b.toArray()).toEqual(params.b.toArray())
    expect(done.history.loss).toEqual(means)
    expect([done.ended, done.best.epoch, done.history.validation]).toEqual(['epochs', 2, []])
  })
  it('steps write to the arrays of the step before the last, unless somebody has seen them', async () => {
    const runs: boolean[] = []
    const cpu = makeCpu()
    const backend = {
      ...cpu,
      prepare: (program: Parameters<typeof cpu.prepare>[0]) => {
        const made = cpu.prepare(program)
        return Object.assign(made, {
          run: ((run) => (inputs: never, into: never, accumulate: never) => {
            runs.push(into !== undefined)
            return run.call(made, inputs, into, accumulate)
          })(made.run),
        })
      },
    }
    const plain = right(await fitTo(line, { x, y }, { ...options, epochs: 4 })())
    const seen: (readonly [object, string])[] = []
    const checkpoint = (c: object) => void seen.push([c, JSON.stringify(c)])
    const done = right(await fitTo(line, { x, y }, { ...options, epochs: 4, backend, checkpoint })())
    // The arrays of an epoch's end are in its checkpoint, and so the next step but one has none to write to.
    const later = [true, false, true]
    expect(runs).toEqual([false, false, true, ...later, ...later, ...later])
    expect(JSON.stringify(done)).toBe(JSON.stringify(plain))
    for (const [c, before] of seen) expect(JSON.stringify(c)).toBe(before)
  })
  it('the best parameters are those of their epoch, whatever steps come after it', async () => {
    const [at, states, seen]: [number[], string[], (readonly [object, string])[]] = [[], [], []]
    const done = right(
      await fitTo(net, circle, {
        ...classify,
        epochs: 25,
        optimizer: adam({ learningRate: 0.8 }),
        monitor: 'accuracy',
        onProgress: (e) => void (e._tag === 'Epoch' && e.best && at.push(e.epoch)),
        checkpoint: (c) => {
          states.push(JSON.stringify((c.state as { params: unknown }).params))
          seen.push([c, JSON.stringify(c)])
        },
      })(),
    )
    expect(done.best.epoch).toBe(at.at(-1)!)
    expect(done.best.epoch).toBeLessThan(24)
    expect(JSON.stringify(done.params)).toBe(states[done.best.epoch]!)
    expect(new Set(states).size).toBe(25)
    for (const [c, before] of seen) expect(JSON.stringify(c)).toBe(before)
  })
  it('weighs the batches of a source by their rows, whatever arrays they are', async () => {
    const zero = {
      init: () => ({ w: cd.tensor(0) }),
      apply: ({ w }: { readonly w: cd.Expr<[], 'f64'> }, of: cd.Expr<[number], 'f64'>) => cd.mul(w, of),
    }
    const parts = [[1, 2, 3], [10]]
    for (const as of [
      (v: readonly number[]) => Float64Array.from(v),
      (v: readonly number[]) => [...v],
      (v: readonly number[]) => cd.tensor([...v]),
    ]) {
      const source = { steps: 2, at: (_epoch: number, step: number) => ({ x: as(parts[step]!), y: as(parts[step]!) }) }
      const done = right(await fitTo(zero, source as never, { loss: 'l1Loss', optimizer: sgd({ learningRate: 0 }), epochs: 1 })())
      expect(done.history.loss).toEqual([4])
    }
  })
  it('finds the line, and measures the data where there is no other', async () => {
    const done = right(await fitTo(line, { x, y }, { ...options, metrics: { r2: r2(), mse: meanSquaredError() } })())
    expect(done.history.metrics.r2).toHaveLength(60)
    expect(done.history.metrics.r2.at(-1)).toBeGreaterThan(0.999)
    const [a, b, c]: number[] = [...done.params.w.data] as number[]
    expect(a).toBeCloseTo(2, 1)
    expect(b).toBeCloseTo(-1, 1)
    expect(c).toBeCloseTo(0, 1)
    expect(done.history.metrics.mse.at(-1)).toBeLessThan(done.history.metrics.mse[0]!)
  })
  it('takes a model with a state, keys, validation, metrics; the parameters are the best', async () => {
    const events: FitEvent[] = []
    const done = right(await fitTo(net, circle, { ...classify, epochs: 40, monitor: 'accuracy', onProgress: (e) => events.push(e) })())
    const { history, best } = done
    expect(Object.keys(history.metrics)).toEqual(['accuracy', 'auc', 'f1'])
    expect(history.validation).toHaveLength(40)
    expect(best.score).toBe(Math.max(...history.metrics.accuracy))
    expect(best.epoch).toBe(history.metrics.accuracy.indexOf(best.score))
    expect(best.score).toBeGreaterThan(0.85)
    const last = done.checkpoint.state as { readonly params: unknown; readonly running: { readonly mean: cd.Tensor } }
    expect(last.params).not.toEqual(done.params)
    expect(done.state.mean.data.some((m) => m !== 0)).toBe(true)
    const epochs = events.filter((e) => e._tag === 'Epoch')
    expect(epochs.map((e) => e.validation)).toEqual(history.validation)
    expect(epochs.filter((e) => e.best).at(-1)!.epoch).toBe(best.epoch)
    const steps = events.filter((e) => e._tag === 'Step')
    expect(steps).toHaveLength(40 * 3)
    expect([steps.at(-1)!.done, steps.at(-1)!.steps]).toEqual([120, 120])
  })
  it('begins with a state that is given, and refuses one of a model that keeps none', async () => {
    const mean = cd.evaluate(cd.linspace(0, 1, 16))
    const before = right(await fitTo(net, circle, { ...classify, epochs: 0, state: { mean } })())
    expect(before.state.mean.toArray()).toEqual(mean.toArray())
    const refused = await fitTo(
      line,
      { x: [[1]], y: [[1]] },
      { loss: 'mseLoss', optimizer: sgd({ learningRate: 0.1 }), epochs: 1, state: {} },
    )()
    expect(refused).toMatchObject({ _tag: 'Left', left: { _tag: 'BadInput', where: 'fit' } })
  })
  it('follows from its key', async () => {
    const run = async (key: number | cd.Tensor<[2], 'i32'>) => right(await fitTo(net, circle, { ...classify, epochs: 4, key })())
    const [a, b, c] = [await run(7), await run(random.key(7)), await run(8)]
    expect(a).toEqual(b)
    expect(a.history).not.toEqual(c.history)
  })
  it('goes on from a checkpoint, or its bytes, to the bit', async () => {
    const kept: Checkpoint<unknown>[] = []
    const all = { ...classify, epochs: 9, monitor: 'auc' } as const
    const whole = right(await fitTo(net, circle, { ...all, checkpoint: (c) => kept.push(c) })())
    expect(kept.map((c) => c.position)).toEqual(Array.from({ length: 9 }, (_, i) => ({ epoch: i + 1, step: 0 })))
    for (const from of [kept[3]!, encodeCheckpoint(kept[0]!), encodeCheckpoint(whole.checkpoint)])
      expect(right(await fitTo(net, circle, { ...all, from })())).toEqual(whole)
    expect(decodeCheckpoint(encodeCheckpoint(kept[2]!), { like: kept[2]!.state })).toEqual({ _tag: 'Right', right: kept[2] })
    const plain = right(await fitTo(line, { x, y }, { ...options, epochs: 4 })())
    const half = right(await fitTo(line, { x, y }, { ...options, epochs: 2 })())
    expect(right(await fitTo(line, { x, y }, { ...options, epochs: 4, from: encodeCheckpoint(half.checkpoint) })())).toEqual(plain)
  })
  it('goes on from the middle of an epoch, where a signal stopped it', async () => {
    const whole = right(await fitTo(net, circle, { ...classify, epochs: 3 })())
    const signal = { aborted: false }
    const onProgress = (e: FitEvent): void => {
      if (e._tag === 'Step' && e.done === 5) signal.aborted = true
    }
    const half = right(await fitTo(net, circle, { ...classify, epochs: 3, signal, onProgress })())
    expect([half.ended, half.checkpoint.position]).toEqual(['signal', { epoch: 1, step: 2 }])
    expect(right(await fitTo(net, circle, { ...classify, epochs: 3, from: half.checkpoint })())).toEqual(whole)
    const bytes = encodeCheckpoint(half.checkpoint)
    expect(right(await fitTo(net, circle, { ...classify, epochs: 3, from: bytes })())).toEqual(whole)
  })
  it('ends by patience, and a checkpoint of there ends at once', async () => {
    const noise = { x: numbers(11, 40), y: numbers(12, 40) }
    const column = (v: number[]) => cd.tensor(v, [40, 1])
    const data = { x: column(noise.x), y: column(noise.y) }
    const o = { loss: 'mseLoss', optimizer: sgd({ learningRate: 0.2 }), epochs: 500, validation: 0.5, patience: 4, key: 1 } as const
    const done = right(await fitTo(dense(1, 1), data, o)())
    expect(done.ended).toBe('patience')
    expect(done.history.validation).toHaveLength(done.best.epoch + 5)
    expect(done.best.score).toBe(Math.min(...done.history.validation))
    expect(right(await fitTo(dense(1, 1), data, { ...o, from: done.checkpoint })())).toEqual(done)
  })
  it('takes batches of any source, a loss and parameters of your own, and another backend', async () => {
    const source = batches({ x, y }, { size: 10, seed: 4 })
    const start = { w: cd.tensor([2, -1, 0], [3, 1]), b: cd.tensor([0.5], [1]) }
    const loss = (p: cd.Expr<[number, 1], 'f64'>, t: cd.Expr<[number, 1], 'f64'>) => cd.mean(cd.square(cd.sub(p, t)))
    const o = { loss, optimizer: sgd({ learningRate: 0.1 }), epochs: 1, params: start, backend: cd.reference() } as const
    const done = right(await fitTo(line, source, { ...o, validation: source })())
    expect(Math.max(...done.history.loss, ...done.history.validation)).toBeLessThan(1e-28)
    expect(source.steps).toBe(3) // the last of them smaller
  })
  it('takes f32, classes, parameters with parts that have none, and any optimiser', async () => {
    const layer = { w: cd.f32(2, 8), b: cd.f32(8) }
    const last = { w: cd.f32(8, 3) }
    const model = {
      init: (key: random.Key) =>
        [
          { w: random.heNormal(key, [2, 8], { dtype: 'f32' }), b: cd.full([8], 0, 'f32') },
          null,
          { w: random.heNormal(random.foldIn(key, 1), [8, 3], { dtype: 'f32' }) },
        ] as const,
      apply: ([a, , c]: readonly [cd.Exprs<typeof layer>, null, cd.Exprs<typeof last>], inputs: cd.Expr<[number, 2], 'f32'>) =>
        cd.matmul(cd.tanh(cd.add(cd.matmul(inputs, a.w), a.b)), c.w),
    }
    const at = numbers(1, 64, 2)
    const classes = Array.from({ length: 64 }, (_, i) => (at[2 * i]! > 0 ? (at[2 * i + 1]! > 0 ? 0 : 1) : 2))
    const data = { x: cd.tensor(Float32Array.from(at), [64, 2]), y: cd.tensor(classes, [64], 'i32') }
    const metrics = { accuracy: accuracy(), top2: topKAccuracy(2), perplexity: perplexity() }
    for (const optimizer of [
      muon({ learningRate: 0.05 }),
      scheduleFree({ learningRate: 0.05 }),
      adafactor({ learningRate: 0.1 }),
    ] as const) {
      const o = {
        loss: 'crossEntropy',
        optimizer,
        epochs: 40,
        batchSize: 10,
        validation: 0.2,
        metrics,
        monitor: 'accuracy',
        key: 4,
      } as const
      const done = right(await fitTo(model, data, o)())
      expect(done.best.score).toBeGreaterThan(0.9)
      expect(done.history.metrics.top2.at(-1)).toBeGreaterThanOrEqual(done.history.metrics.accuracy.at(-1)!)
      expect(done.history.metrics.perplexity.at(-1)).toBeCloseTo(Math.exp(done.history.validation.at(-1)!), 5)
      expect([done.params[0].w.dtype, done.params[1]]).toEqual(['f32', null])
    }
    const floats = await fitTo(
      model,
      { x: data.x, y: classes },
      { loss: 'crossEntropy', optimizer: adam({ learningRate: 0.1 }), epochs: 1 },
    )()
    expect(reason(floats)).toMatch(/crossEntropy: indices are i32, got f64[\s\S]*epoch 0, step 0[\s\S]*cast them to i32/)
  })
  it('plans a step once for each size of a batch', async () => {
    let traced = 0
    const counted = {
      ...line,
      apply: (...xs: Parameters<typeof line.apply>) => {
        traced++
        return line.apply(...xs)
      },
    }
    right(await fitTo(counted, { x, y }, { ...options, epochs: 6 })())
    expect(traced).toBe(2)
  })
})

describe('validation data', () => {
  it('has rows and containers of its own, and plain numbers take the dtypes of the data', async () => {
    const w = cd.tensor([1, 0, 0, 1], [2, 2], 'f32')
    const model = {
      init: () => ({ w }),
      apply: (p: { w: cd.Expr<[2, 2], 'f32'> }, inputs: cd.Expr<[number, 2], 'f32'>) => cd.matmul(inputs, p.w),
    }
    const data = { x: cd.tensor([1, 0, 0, 1, 2, 0], [3, 2], 'f32'), y: Int32Array.from([0, 1, 0]) }
    const o = { loss: 'crossEntropy', optimizer: sgd({ learningRate: 0.1 }), epochs: 2, metrics: { accuracy: accuracy() } } as const
    const held = { x: cd.tensor([3, 1, 0, 2], [2, 2], 'f32'), y: Int32Array.from([0, 0]) }
    const wanted = right(await fitTo(model, data, { ...o, validation: held })())
    expect(wanted.history.metrics.accuracy).toEqual([0.5, 0.5])
    const plain = right(await fitTo(model, data, { ...o, validation: { x: [[3, 1], [0, 2]], y: [0, 0] } })()) // biome-ignore format: rows
    expect(plain.history).toEqual(wanted.history)
    const lists = right(await fitTo(line, { x: x.toArray(), y: y.toArray() }, { ...options, epochs: 2, validation: { x, y } })())
    expect(lists.history.validation).toEqual(
      right(await fitTo(line, { x, y }, { ...options, epochs: 2, validation: { x, y } })()).history.validation,
    )
    const wrong = await fitTo(model, data, { ...o, validation: { x: [[3, 1]], y: [0.5] } })()
    expect(reason(wrong)).toMatch(/^BadInput: fit: validation y.*entry 0 is 0\.5, not a whole number[\s\S]*the data is i32 there/)
  })
  it('is a tree where the data is one, of which apply gets the batch', async () => {
    type Parts = { readonly a: cd.Expr<[number], 'f32'>; readonly b: { readonly c: cd.Expr<[number], 'f64'> } }
    const model = {
      init: () => ({ w: cd.tensor(1) }),
      apply: ({ w }: { w: cd.Expr<[], 'f64'> }, { a, b }: Parts) => cd.mul(w, cd.add(cd.cast(a, 'f64'), b.c)),
    }
    const dtypes: string[] = []
    const seen = { ...model, apply: (...[p, parts]: Parameters<typeof model.apply>) => {
      dtypes.push(parts.a.dtype)
      return model.apply(p, parts)
    } } // biome-ignore format: one function
    const data = { x: { a: Float32Array.from([1, 2]), b: { c: [0, 1] } }, y: [1, 3] }
    const o = { loss: 'mseLoss', optimizer: sgd({ learningRate: 0 }), epochs: 1 } as const
    const done = right(await fitTo(seen, data, { ...o, validation: { x: { a: [1], b: { c: [2] } }, y: [1] } })())
    expect([done.history.loss, done.history.validation]).toEqual([[0], [4]])
    expect(new Set(dtypes)).toEqual(new Set(['f32']))
  })
})

describe('a mask', () => {
  /** Predictions w x, w = 1 at first. */
  const times = {
    init: () => ({ w: cd.tensor(1) }),
    apply: ({ w }: { w: cd.Expr<[], 'f64'> }, inputs: cd.Expr<[number], 'f64'>) => cd.mul(w, inputs),
  }
  const data = { x: [1, 2, 3, 4], y: [0, Number.NaN, 0, 3], mask: [1, 0, 2, 1] }
  const still = { loss: 'mseLoss', optimizer: sgd({ learningRate: 0 }), epochs: 1, shuffle: false } as const
  it('weighs the loss, its gradient, the history and the metrics', async () => {
    // Squares 1, -, 9, 1 of weights 1, 0, 2, 1: batches of (1 / 1), (18 + 1) / 3, by 1 and 3.
    const two = right(await fitTo(times, data, { ...still, batchSize: 2, metrics: { mse: meanSquaredError() } })())
    expect(two.history.loss).toEqual([5])
    expect(two.history.metrics.mse).toEqual([5])
    const losses: number[] = []
    const tell = (e: FitEvent) => void (e._tag === 'Step' && losses.push(e.loss))
    right(await fitTo(times, data, { ...still, batchSize: 2, onProgress: tell })())
    expect(losses).toEqual([1, 19 / 3])
    // The derivative is (2 1 1 + 2 (2 3 3) + 2 4 1) / 4 = 11.5.
    const moved = right(await fitTo(times, data, { ...still, optimizer: sgd({ learningRate: 0.1 }) })())
    expect(moved.params.w.item()).toBeCloseTo(1 - 1.15, 12)
  })
  it('is of each part its own, and shared out with the rows', async () => {
    const held = { x: [5, 7, 1], y: [4, 0, 3], mask: [true, false, true] }
    const o = { ...still, metrics: { mse: meanSquaredError() } } as const
    const own = right(await fitTo(times, { x: [1], y: [1] }, { ...o, validation: held })())
    expect([own.history.validation, own.history.metrics.mse, own.history.loss]).toEqual([[2.5], [2.5], [0]])
    const none = right(await fitTo(times, data, { ...o, validation: { x: [5], y: [4] } })())
    expect([none.history.validation, none.history.loss]).toEqual([[1], [5]])
    const same = { x: [2, 2, 2, 2], y: [0, 0, 0, 0], mask: [3, 3, 3, 3] }
    const shared = right(await fitTo(times, same, { ...o, validation: 0.5 })())
    expect([shared.history.validation, shared.history.loss]).toEqual([[4], [4]])
    const source = right(await fitTo(times, batches(data, { size: 3 }), { ...still })())
    expect(source.history.loss).toEqual([5])
  })
  it('leaves positions of sequences out, and every loss by name is the weighted mean of what it is without a reduction', async () => {
    const logits = numbers(9, 2, 3, 4)
    const shift = {
      init: () => ({ b: cd.tensor(0, [4]) }),
      apply: ({ b }: { b: cd.Expr<[4], 'f64'> }, inputs: cd.Expr<[number, 3, 4], 'f64'>) => cd.add(inputs, b),
    }
    const targets = cd.tensor([0, 3, -1, 2, -1, -1], [2, 3], 'i32')
    const sequences = { x: cd.tensor(logits, [2, 3, 4]), y: targets, mask: [[true, true, false], [true, false, false]] } // biome-ignore format: rows
    const metrics = { accuracy: accuracy(), perplexity: perplexity() }
    const done = right(await fitTo(shift, sequences, { ...still, loss: 'crossEntropy', metrics })())
    const ignored = cd.evaluate(cd.crossEntropy(sequences.x, targets, { ignoreIndex: -1 })).item()
    expect(done.history.loss[0]).toBeCloseTo(ignored, 12)
    expect(done.history.metrics.perplexity[0]).toBeCloseTo(Math.exp(ignored), 12)
    const chosen = right(await fitTo(shift, { x: sequences.x, y: targets }, { ...still, loss: (p: cd.Expr<[number, 3, 4], 'f64'>, t: cd.Expr<[number, 3], 'i32'>) => cd.crossEntropy(p, t, { ignoreIndex: -1 }), metrics: { accuracy: accuracy({ ignoreIndex: -1 }) } })()) // biome-ignore format: one call
    expect(chosen.history.metrics.accuracy).toEqual(done.history.metrics.accuracy)

    const p = [0.2, 0.6, 0.9, 0.5]
    const [t, w] = [[0, 1, 0, 1], [1, 0, 2.5, 0.5]] as const // biome-ignore format: pairs
    const { mseLoss, l1Loss, huberLoss, bceWithLogits, binaryCrossEntropy } = cd
    for (const [loss, f] of Object.entries({ mseLoss, l1Loss, huberLoss, bceWithLogits, binaryCrossEntropy })) {
      const each = cd.evaluate((f as typeof mseLoss)(p, [...t], { reduction: 'none' }) as cd.AnyExpr).data
      const got = right(await fitTo(times, { x: p, y: [...t], mask: [...w] }, { ...still, loss: loss as 'mseLoss' })()).history.loss[0]
      expect(got).toBeCloseTo((each[0]! + 2.5 * each[2]! + 0.5 * each[3]!) / 4, 12)
    }
  })
  it('is the third argument of a loss of your own', async () => {
    type V = cd.Expr<[number], 'f64'>
    const loss = (p: V, t: V, m?: V) => cd.div(cd.sum(cd.mul(m!, cd.square(cd.sub(p, t)))), cd.sum(m!))
    const finite = { ...data, y: [0, 100, 0, 3] }
    expect(right(await fitTo(times, finite, { ...still, loss, batchSize: 2 })()).history.loss).toEqual([5])
    let given: readonly unknown[] = []
    const told = (...xs: V[]) => {
      given = xs
      return cd.mean(xs[0]!)
    }
    right(await fitTo(times, { x: [1], y: [1] }, { ...still, loss: told })())
    expect(given).toHaveLength(2)
  })
  it('of zeros in a batch makes its loss 0, which does not count', async () => {
    const done = right(
      await fitTo(times, { x: [2, 2, 9, 9], y: [0, 0, 0, 0], mask: [true, true, false, false] }, { ...still, batchSize: 2 })(),
    )
    expect(done.history.loss).toEqual([4])
    const unseen = { steps: 2, at: (_: number, i: number) => ({ x: cd.tensor([2]), y: cd.tensor([0]), mask: [i] }) }
    expect(right(await fitTo(times, { x: [2], y: [0] }, { ...still, validation: unseen })()).history.validation).toEqual([4])
  })
  it('goes on from the middle of an epoch, to the bit', async () => {
    const o = { ...still, optimizer: adam({ learningRate: 0.1 }), epochs: 3, batchSize: 1, shuffle: true } as const
    const whole = right(await fitTo(times, data, o)())
    const signal = { aborted: false }
    let steps = 0
    const stop = (e: FitEvent) => {
      if (e._tag === 'Step' && ++steps === 6) signal.aborted = true
    }
    const half = right(await fitTo(times, data, { ...o, signal, onProgress: stop })())
    expect(half.ended).toBe('signal')
    const rest = right(await fitTo(times, data, { ...o, from: encodeCheckpoint(half.checkpoint) })())
    expect([rest.history, rest.params.w.item()]).toEqual([whole.history, whole.params.w.item()])
  })
  it('that is none, or does not belong, is one BadInput', async () => {
    const of = async (mask: unknown, more: object = {}): Promise<string> =>
      reason(await fitTo(times, { ...data, mask } as never, { ...still, ...more } as never)())
    for (const mask of ['all', 3, null, {}, [1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, -1], [1, 1, 1, Number.NaN], [1, 1, 1, Infinity], [[1], [1], [1], [1]], [[1, 1], [1, 1]], [], [0, 0, 0, 0], new Uint8Array([1, 2, 1, 1]), () => 1]) // biome-ignore format: one row
      expect(await of(mask)).toMatch(/^BadInput: fit: data: the mask: [\s\S]*for each row or for each target/)
    expect(await of([1, 1, 1])).toContain('it has the shape [3] beside targets [4].')
    expect(await of([1, 1, 1, -1])).toContain('its element 3 is -1.')
    expect(await of(data.mask, { validation: { x: [1], y: [1], mask: [1, 1] } })).toContain(
      'fit: validation: the mask: it has the shape [2] beside targets [1].',
    )
    const source = { steps: 1, at: () => ({ x: cd.tensor([1]), y: cd.tensor([1]), mask: 'x' }) }
    expect(reason(await fitTo(times, source, still)())).toMatch(/^BadInput: the batch: the mask[\s\S]*epoch 0, step 0/)
    // One element for each number of targets that are probabilities is none of rows.
    const rows = { x: cd.tensor([1, 2], [1, 2]), y: [[0, 1]], mask: [[1, 1]] }
    expect(reason(await fitTo(times as never, rows, { ...still, loss: 'crossEntropy' })())).toContain(
      'crossEntropy: the mask [1, 2] does not fit [1].',
    )
  })
})

describe('a metric of your own', () => {
  const metric = {
    zero: { sum: cd.tensor(0), count: cd.tensor(0) },
    add: (acc: { sum: cd.AnyExpr; count: cd.AnyExpr }, p: cd.AnyExpr, t: cd.AnyExpr, mask?: cd.AnyExpr) => {
      const w = mask ?? cd.ones(t.shape as [number])
      return { sum: cd.add(acc.sum, cd.sum(cd.mul(w, cd.abs(cd.sub(p, t))))), count: cd.add(acc.count, cd.sum(w)) }
    },
    value: ({ sum, count }: { sum: cd.Tensor; count: cd.Tensor }) => Number(sum.item()) / Number(count.item()),
  }
  it('is compiled unless it says that it is not traced, and gets the mask', async () => {
    const data = { x, y, mask: Array.from({ length: rows }, (_, i) => i % 3) }
    let calls = 0
    const counted = {
      ...metric,
      add: (...xs: Parameters<typeof metric.add>) => {
        calls++
        return metric.add(...xs)
      },
    }
    const plain = { zero: 0, traced: false, add: (n: number, p: cd.Tensor) => n + p.shape[0]!, value: (n: number) => n }
    const column = { ...data, y: [...y.data] }
    const flat = { ...line, apply: (...xs: Parameters<typeof line.apply>) => cd.reshape(line.apply(...xs), [-1]) }
    const o = { ...options, epochs: 3, metrics: { mae: counted, rows: plain } } as const
    const done = right(await fitTo(flat, column, o)())
    expect(calls).toBe(2) // one trace for each size of a batch
    expect(done.history.metrics.rows).toEqual([rows, rows, rows])
    const predicted = cd.evaluate(flat.apply(done.params as never, x as never) as cd.AnyExpr).data
    const [sum, weights] = column.y.reduce(([s, w], t, i) => [s! + (i % 3) * Math.abs(predicted[i]! - t), w! + (i % 3)], [0, 0])
    expect(done.history.metrics.mae[2]).toBeCloseTo(sum! / weights!, 12)
  })
  it('is named by what goes wrong in it', async () => {
    const of = async (own: object): Promise<string> =>
      reason(await fitTo(line, { x, y }, { ...options, metrics: { own: { ...metric, ...own } } } as never)())
    const fails = () => {
      throw new Error('no number')
    }
    expect(await of({ value: fails })).toMatch(/^BadInput: the metric own: it threw Error: no number/)
    expect(await of({ add: fails })).toMatch(/^BadInput: the metric own: it threw Error: no number/)
    expect(await of({ value: () => 'x' })).toMatch(/^BadInput: the metric own: value: it is 'x'/)
    expect(await of({ add: (_: unknown, p: cd.AnyExpr) => cd.add(p, cd.zeros([7, 7])) })).toMatch(/the metric own: add/)
    const counts = await fitTo(line, { x, y: cd.tensor(Array.from({ length: rows }, () => 3), [rows, 1]) }, { ...options, epochs: 1, metrics: { own: f1() } })() // biome-ignore format: one call
    expect(reason(counts)).toMatch(/^BadInput: the metric own: f1: classes of 23 rows are not from 0 to 1/)
  })
})

describe('what goes wrong is a Left that says what', () => {
  it('of the loss', async () => {
    const wrong = await fitTo(line, { x, y }, { ...options, optimizer: sgd({ learningRate: 1e200 }) })()
    expect(reason(wrong)).toMatch(/the metric loss is (NaN|Infinity)[\s\S]*epoch 0, step [12]/)
    if (wrong._tag === 'Left') expect(wrong.left.last!.ended).toBe('error')
    expect(reason(await fitTo(line, { x, y }, { ...options, loss: (p: cd.Expr, t: cd.Expr) => cd.sub(p, t) })())).toContain(
      'it gave the shape [8, 1]',
    )
    expect(reason(await fitTo(line, { x, y }, { ...options, loss: () => 1 })())).toContain('the loss: it gave 1.')
    expect(reason(await fitTo(line, { x, y: [...y.data] }, options)())).toMatch(/mseLoss[\s\S]*epoch 0, step 0/)
    expect(reason(await fitTo(line, { x, y: y.data.slice(1) }, options)())).toContain('x has 23 rows, y has 22.')
  })
  it('of options', async () => {
    const of = async (more: object): Promise<string> => reason(await fitTo(line, { x, y }, { ...options, ...more } as never)())
    expect(await of({ loss: 'mse' })).toContain("the loss is 'mse'.")
    expect(await of({ loss: undefined })).toContain('the options have no loss')
    expect(await of({ optimizer: 'adam' })).toContain("the optimizer is 'adam'")
    expect(await of({ optimizer: undefined })).toContain('the options have no optimizer')
    expect(await of({ patience: 2 })).toContain('patience needs to know what is better')
    expect(await of({ monitor: 'auc' })).toContain("there is no metric 'auc' to monitor")
    expect(await of({ monitor: 'loss' })).toContain('there is no validation loss to monitor')
    expect(await of({ validation: 1.5 })).toContain('the share of validation is 1.5')
    expect(await of({ validation: { x } })).toContain('{ x } lacks x or y')
    expect(await of({ metrics: { a: 1 } })).toContain('fit: a: the argument is not a metric')
    expect(await of({ metrics: 1 })).toContain('metrics are 1')
    expect(await of({ key: -1 })).toContain('the key must be a whole number')
    expect(await of({ epoch: 1 })).toContain('epoch')
    expect(await of({ from: { state: 1, position: { epoch: 0, step: 0 } } })).toContain('the checkpoint is not one of a fit')
    expect(await of({ from: new Uint8Array(3) })).toContain('Decode')
    expect(reason(await fitTo({} as never, { x, y }, options)())).toContain('the model lacks init or apply')
    expect(reason(await fitTo(line, batches({ x, y }, { size: 4 }), { ...options, validation: 0.5 })())).toContain('a share of batches')
  })
  it('of callbacks', async () => {
    const of = async (more: object): Promise<string> => reason(await fitTo(line, { x, y }, { ...options, ...more } as never)())
    const fails = () => {
      throw new Error('no disk')
    }
    expect(await of({ checkpoint: fails })).toContain('checkpoint: it threw Error: no disk')
    expect(await of({ onProgress: async () => fails() })).toContain('onProgress: it threw Error: no disk')
    expect(await of({ checkpoint: () => ({ _tag: 'Left', left: 'full' }) })).toContain("checkpoint: it gave a Left of 'full'")
    expect(reason(await fitTo({ ...line, state: {}, initState: () => ({}) }, { x, y }, options)())).toContain('its apply gave no pair')
    expect(reason(await fitTo({ ...line, init: fails }, { x, y }, options)())).toContain('the model: it threw Error: no disk')
  })
})
