// Fitting: what it comes to, by hand beside `train`; that it follows from its key, goes on to the bit, ends early, and says what is wrong.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { adafactor, adam, applyUpdates, chain, clipByGlobalNorm, muon, scheduleFree, sgd } from '../../src/optim/index.js'
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
    expect(await of({ validation: { x } })).toContain('{ x } has not both x and y')
    expect(await of({ metrics: { a: 1 } })).toContain('fit: a: what was given is no metric')
    expect(await of({ metrics: 1 })).toContain('metrics are 1')
    expect(await of({ key: -1 })).toContain('the key must be a whole number')
    expect(await of({ epoch: 1 })).toContain('epoch')
    expect(await of({ from: { state: 1, position: { epoch: 0, step: 0 } } })).toContain('the checkpoint is not one of a fit')
    expect(await of({ from: new Uint8Array(3) })).toContain('Decode')
    expect(reason(await fitTo({} as never, { x, y }, options)())).toContain('the model has not both init and apply')
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
