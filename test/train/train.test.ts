// The training loop: what it computes, what it tells, how it ends, and that whatever goes wrong is a value that loses nothing.
import { isRight } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import {
  type AdError,
  add,
  compile,
  compileAsync,
  cpu,
  explain,
  f64,
  fn,
  matmul,
  mean,
  mul,
  raise,
  square,
  sub,
  type Tensor,
  tensor,
  valueAndGrad,
} from '../../src/index.js'
import { batches, type TrainError, type TrainEvent, type Trained, train, trainEvents } from '../../src/train/index.js'

const line = { x: tensor([0, 1, 2, 3], [4, 1]), y: tensor([1, 3, 5, 7], [4, 1]) }
const linear = { w: f64(1, 1), b: f64(1) }
const loss = fn({ params: linear, x: f64('n', 1), y: f64('n', 1) }, ({ params: { w, b }, x, y }) =>
  mean(square(sub(add(matmul(x, w), b), y))),
)
const descend = fn({ params: linear, x: f64('n', 1), y: f64('n', 1) }, ({ params, x, y }) => {
  const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
  return { state: { w: sub(params.w, mul(0.05, grad.w)), b: sub(params.b, mul(0.05, grad.b)) }, loss: value }
})
const start = { w: tensor(0, [1, 1]), b: tensor(0, [1]) }
const counter = batches([1, 2, 3, 4], { size: 1 })

const right = <A>(e: { readonly _tag: 'Left'; readonly left: AdError } | { readonly _tag: 'Right'; readonly right: A }): A => {
  if (e._tag === 'Left') throw new Error(explain(e.left))
  return e.right
}
const left = <S, R, V>(
  e: { readonly _tag: 'Left'; readonly left: TrainError<S, R, V> } | { readonly _tag: 'Right' },
): TrainError<S, R, V> => {
  if (e._tag === 'Right') throw new Error('no error')
  return e.left
}

describe('train', () => {
  it('runs a compiled step over every batch of every epoch', async () => {
    const step = compile(descend)
    const run = train((params, batch) => step({ params, ...batch }), batches(line, { size: 2, seed: 1 }), { state: start, epochs: 300 })
    const { state, metrics, position, done, evaluations } = right(await run())
    expect(state.w.item()).toBeCloseTo(2, 6)
    expect(state.b.item()).toBeCloseTo(1, 6)
    expect([metrics.length, position, done, evaluations]).toEqual([600, { epoch: 300, step: 0 }, true, []])
    const shape: readonly [1, 1] = state.w.shape
    expect(shape).toEqual([1, 1])
  })
  it('runs an asynchronous step alike, to the bit', async () => {
    const step = compile(descend)
    const later = compileAsync(descend, cpu())
    const data = batches(line, { size: 3, seed: 2 })
    const options = { state: start, epochs: 5 }
    const one = right(await train((params, batch) => step({ params, ...batch }), data, options)())
    const other = right(await train((params, batch) => later({ params, ...batch }), data, options)())
    expect(other.metrics).toEqual(one.metrics)
    expect([other.state.w.data, other.state.b.data]).toEqual([one.state.w.data, one.state.b.data])
  })
  it('does nothing before it is run, and the same each time it is', async () => {
    let calls = 0
    const run = train((n: number) => ({ state: n + ++calls * 0 + 1 }), counter, { state: 0, epochs: 2 })
    expect(calls).toBe(0)
    expect(right(await run()).state).toBe(8)
    expect(right(await run()).state).toBe(8)
    expect(calls).toBe(16)
  })
  it('tells each step where it is', async () => {
    const seen: unknown[] = []
    right(
      await train(
        (n: number, x, at) => {
          seen.push([x.item(), at])
          return { state: n }
        },
        batches([5, 6], { size: 1 }),
        { state: 0, epochs: 2 },
      )(),
    )
    expect(seen).toEqual([
      [5, { epoch: 0, step: 0, done: 0, steps: 4 }],
      [6, { epoch: 0, step: 1, done: 1, steps: 4 }],
      [5, { epoch: 1, step: 0, done: 2, steps: 4 }],
      [6, { epoch: 1, step: 1, done: 3, steps: 4 }],
    ])
  })
  it('evaluates after each epoch, and tells every event in its order', async () => {
    const events: TrainEvent[] = []
    const run = train((n: number, x) => ({ state: n + x.item(), n }), batches([1, 2], { size: 1 }), {
      state: 0,
      epochs: 2,
      evaluate: async (n, epoch) => ({ score: tensor(10 * n), epoch }),
      onProgress: (event) => void events.push(event),
    })
    const trained = right(await run())
    const scores: readonly number[] = trained.evaluations.map((e) => e.metrics.score)
    expect(scores).toEqual([30, 60])
    const shown = events.map(({ elapsed, ...e }) => {
      expect(elapsed).toBeGreaterThanOrEqual(0)
      return e
    })
    expect(shown).toEqual([
      { _tag: 'Step', epoch: 0, step: 0, done: 1, steps: 4, metrics: { n: 0 }, state: 1, position: { epoch: 0, step: 1 } },
      { _tag: 'Step', epoch: 0, step: 1, done: 2, steps: 4, metrics: { n: 1 }, state: 3, position: { epoch: 0, step: 2 } },
      { _tag: 'Epoch', epoch: 0, evaluation: { score: 30, epoch: 0 }, state: 3, position: { epoch: 1, step: 0 } },
      { _tag: 'Step', epoch: 1, step: 0, done: 3, steps: 4, metrics: { n: 3 }, state: 4, position: { epoch: 1, step: 1 } },
      { _tag: 'Step', epoch: 1, step: 1, done: 4, steps: 4, metrics: { n: 4 }, state: 6, position: { epoch: 1, step: 2 } },
      { _tag: 'Epoch', epoch: 1, evaluation: { score: 60, epoch: 1 }, state: 6, position: { epoch: 2, step: 0 } },
      { _tag: 'Done', trained },
    ])
  })
  it('composes in a pipe: an AdError is on the left', async () => {
    const better = (trained: Trained<number>): TE.TaskEither<AdError, string> => TE.right(`trained to ${trained.state}`)
    const told = pipe(
      train((n: number) => ({ state: n + 1 }), counter, { state: 0, epochs: 1 }),
      TE.mapLeft((e): AdError => e),
      TE.chain(better),
    )
    expect(await told()).toEqual({ _tag: 'Right', right: 'trained to 4' })
  })
  it('takes batches from anywhere', async () => {
    const source = { steps: 3, at: async (epoch: number, step: number) => 10 * epoch + step }
    expect(right(await train((n: number, x) => ({ state: n + x }), source, { state: 0, epochs: 2 })()).state).toBe(0 + 1 + 2 + 10 + 11 + 12)
  })
  it('of no epochs is done', async () => {
    expect(right(await train((n: number) => ({ state: n + 1 }), counter, { state: 7, epochs: 0 })())).toMatchObject({
      state: 7,
      done: true,
    })
  })
  it('goes on from a position, with the evaluation that is due', async () => {
    const evaluate = (n: number) => ({ n })
    const go = (state: number, epoch: number, step: number) =>
      train((n: number, x) => ({ state: 2 * n + x.item() }), counter, { state, epochs: 2, position: { epoch, step }, evaluate })()
    const whole = right(await go(0, 0, 0))
    expect(whole.evaluations).toEqual([
      { epoch: 0, metrics: { n: 26 } },
      { epoch: 1, metrics: { n: 16 * 26 + 26 } },
    ])
    expect(right(await go(26, 0, 4)).evaluations).toEqual(whole.evaluations)
    expect(right(await go(26, 1, 0)).evaluations).toEqual(whole.evaluations.slice(1))
    expect(right(await go(5, 2, 0))).toMatchObject({ state: 5, done: true, evaluations: [] })
  })
  it('lets the event loop turn while steps are synchronous, so that a timer can stop it', async () => {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), 60)
    const run = train((n: number) => ({ state: n + 1 }), counter, { state: 0, epochs: Number.MAX_SAFE_INTEGER, signal: abort.signal })
    const { state, position, done } = right(await run())
    clearTimeout(timer)
    expect(done).toBe(false)
    expect(4 * position.epoch + position.step).toBe(state)
    expect(state).toBeGreaterThan(0)
  })
  it('stops at once for a signal that is aborted', async () => {
    const run = train((n: number) => ({ state: n + 1 }), counter, { state: 0, epochs: 1, signal: AbortSignal.abort() })
    expect(right(await run())).toMatchObject({ state: 0, done: false, position: { epoch: 0, step: 0 } })
  })
})

describe('a failure', () => {
  const upTo = (most: number, f: () => unknown) => (n: number, x: Tensor) => {
    if (n >= most) f()
    return { state: n + x.item(), loss: n }
  }
  const boom = (): never => {
    throw new TypeError('no such thing')
  }
  it('of a step names epoch and step, and keeps the last good state, the position and the cause', async () => {
    const error = left(await train(upTo(13, boom), counter, { state: 0, epochs: 9 })())
    expect(explain(error)).toBe('BadInput: the step: it threw TypeError: no such thing.\n  in epoch 1, step 2')
    expect(error.last).toMatchObject({
      state: 13,
      position: { epoch: 1, step: 2 },
      done: false,
      metrics: [0, 1, 3, 6, 10, 11].map((loss) => ({ loss })),
    })
    expect(error.cause).toBeInstanceOf(TypeError)
  })
  it('that is an AdError stays the one it is', async () => {
    const mismatch = (): unknown => compile((x) => add(x, [1, 2, 3]))([1, 2])
    const error = left(await train(upTo(1, mismatch), counter, { state: 0, epochs: 1 })())
    expect([error._tag, error.cause]).toEqual(['ShapeMismatch', undefined])
    expect(explain(error)).toMatch(/\[2\][\s\S]*epoch 0, step 1 {3}at /)
    const lost = (): never => raise({ _tag: 'Device', backend: 'webgpu', reason: 'it was lost.' })
    expect(explain(left(await train(upTo(1, lost), counter, { state: 0, epochs: 1 })()))).toMatch(
      /Device: webgpu: it was lost\.\n {2}in epoch 0, step 1/,
    )
  })
  it('of a promise is one as well', async () => {
    const run = train(async (n: number) => (n > 1 ? boom() : { state: n + 1 }), counter, { state: 0, epochs: 1 })
    expect(left(await run())).toMatchObject({ where: 'the step', last: { state: 2, position: { epoch: 0, step: 2 } } })
  })
  it('of a thing that is no error is one as well', async () => {
    const hostile = new Proxy({}, { get: boom, getPrototypeOf: boom })
    for (const thrown of ['text', undefined, null, 7, hostile]) {
      const throwing = () => {
        throw thrown
      }
      expect(left(await train(throwing as () => { state: number }, counter, { state: 0, epochs: 1 })())._tag).toBe('BadInput')
    }
  })
  it.each([Number.NaN, Number.POSITIVE_INFINITY])('is a loss of %s: the state before the step is kept', async (bad) => {
    const step = (n: number) => ({ state: n + 1, loss: n === 5 ? bad : 1 })
    const error = left(await train(step, counter, { state: 0, epochs: 3 })())
    expect(explain(error)).toContain(`the metric loss is ${bad}.`)
    expect(explain(error)).toContain('in epoch 1, step 1')
    expect(error.last).toMatchObject({ state: 5, position: { epoch: 1, step: 1 }, metrics: Array(5).fill({ loss: 1 }) })
    expect(right(await train(step, counter, { state: 0, epochs: 3, onNonFinite: 'ignore' })()).metrics[5]?.loss).toBe(bad)
  })
  it('of evaluate comes after the last step', async () => {
    const options = { state: 0, epochs: 2 }
    const step = (n: number) => ({ state: n + 1 })
    const thrown = left(await train(step, counter, { ...options, evaluate: (_, epoch) => (epoch === 1 ? boom() : { a: 1 }) })())
    expect(explain(thrown)).toContain('in epoch 1, after its last step')
    expect(thrown.last).toMatchObject({ state: 8, position: { epoch: 1, step: 4 }, evaluations: [{ epoch: 0, metrics: { a: 1 } }] })
    expect(explain(left(await train(step, counter, { ...options, evaluate: () => ({ a: Number.NaN }) })()))).toContain(
      'evaluate: the metric a is NaN',
    )
    expect(explain(left(await train(step, counter, { ...options, evaluate: () => 3 as never })()))).toContain('evaluate: it gave 3.')
    expect(explain(left(await train(step, counter, { ...options, evaluate: () => undefined as never })()))).toContain(
      'evaluate: it gave undefined.',
    )
  })
  it('of the batch is one', async () => {
    const source = { steps: 2, at: (_: number, step: number) => (step === 1 ? boom() : step) }
    expect(explain(left(await train((n: number, x) => ({ state: n + x }), source, { state: 0, epochs: 1 })()))).toMatch(
      /the batch: it threw TypeError.*\n {2}in epoch 0, step 1/,
    )
  })
  it('of onProgress is of the step it was told of, whose state is kept', async () => {
    const told = (f: () => unknown) =>
      train((n: number) => ({ state: n + 1 }), counter, {
        state: 0,
        epochs: 1,
        onProgress: (e) => (e._tag === 'Step' && e.step === 1 ? f() : undefined),
      })()
    for (const f of [boom, async () => boom()]) {
      const error = left(await told(f))
      expect(explain(error)).toBe('BadInput: onProgress: it threw TypeError: no such thing.\n  in epoch 0, step 1')
      expect(error.last).toMatchObject({ state: 2, position: { epoch: 0, step: 2 } })
    }
    const refused: AdError = { _tag: 'BadInput', where: 'disk', reason: 'full.' }
    expect(left(await told(async () => ({ _tag: 'Left', left: refused })))).toMatchObject({ ...refused, last: { state: 2 } })
    expect(right(await told(() => ({ _tag: 'Right', right: 1 }))).state).toBe(4)
    expect(explain(left(await told(() => ({ _tag: 'Left', left: 3 }))))).toContain('a Left of 3')
  })
  it('of onProgress at the end is one, and one at a failure does not hide it', async () => {
    const at = (tag: string) => (e: TrainEvent) => (e._tag === tag ? boom() : undefined)
    const done = left(await train((n: number) => ({ state: n + 1 }), counter, { state: 0, epochs: 1, onProgress: at('Done') })())
    expect(explain(done)).toContain('in the event Done')
    expect(done.last.state).toBe(4)
    const failed = left(
      await train(
        upTo(0, () => raise({ _tag: 'BadInput', where: 'first', reason: 'x.' })),
        counter,
        { state: 0, epochs: 1, onProgress: at('Failed') },
      )(),
    )
    expect(failed).toMatchObject({ where: 'first' })
  })
  it('keeps the first failure where the step gives what is no result', async () => {
    const gives = async (x: unknown) => explain(left(await train(() => x as { state: number }, counter, { state: 0, epochs: 1 })()))
    expect(await gives(3)).toContain('the step: it gave 3.')
    expect(await gives(undefined)).toContain('the step: it gave undefined.')
    expect(await gives({ loss: 1 })).toContain('the step: it gave no state.')
    expect(await gives({ state: 1, loss: 'low' })).toContain("the metric loss is 'low'")
    expect(await gives({ state: 1, loss: tensor([1, 2]) })).toContain('the metric loss is a tensor of shape [2].')
    expect(await gives({ state: 1, loss: null })).toContain('the metric loss is null.')
  })
  it.each<readonly [string, Parameters<typeof train>, RegExp]>([
    ['a step that is none', [3 as never, counter, { state: 0, epochs: 1 }], /the step must be a function, not 3/],
    ['data that is none', [() => ({ state: 0 }), [1] as never, { state: 0, epochs: 1 }], /gives no batches[\s\S]*pass batches/],
    [
      'data without steps',
      [() => ({ state: 0 }), { steps: 0, at: () => 0 }, { state: 0, epochs: 1 }],
      /the data's steps must be a whole number of at least 1, not 0/,
    ],
    ['no options', [() => ({ state: 0 }), counter, undefined as never], /no state/],
    ['no state', [() => ({ state: 0 }), counter, { epochs: 1 } as never], /the options have no state/],
    ['no epochs', [() => ({ state: 0 }), counter, { state: 0 } as never], /epochs must be a whole number of at least 0, not undefined/],
    ['epochs without end', [() => ({ state: 0 }), counter, { state: 0, epochs: Number.POSITIVE_INFINITY }], /epochs must be/],
    [
      'an unknown option',
      [() => ({ state: 0 }), counter, { state: 0, epochs: 1, epoch: 2 } as never],
      /there is no option epoch\.[\s\S]*onProgress/,
    ],
    [
      'a position beyond the epoch',
      [() => ({ state: 0 }), counter, { state: 0, epochs: 1, position: { epoch: 0, step: 5 } }],
      /the position's step must be a whole number from 0 to 4, not 5/,
    ],
    ['a position that is none', [() => ({ state: 0 }), counter, { state: 0, epochs: 1, position: 3 as never }], /the position must be/],
    [
      'a signal that is none',
      [() => ({ state: 0 }), counter, { state: 0, epochs: 1, signal: 3 as never }],
      /the signal must be an AbortSignal, not 3/,
    ],
    [
      'onNonFinite that is none',
      [() => ({ state: 0 }), counter, { state: 0, epochs: 1, onNonFinite: 'warn' as never }],
      /onNonFinite is 'warn'/,
    ],
    [
      'evaluate that is none',
      [() => ({ state: 0 }), counter, { state: 0, epochs: 1, evaluate: 1 as never }],
      /evaluate must be a function, not 1/,
    ],
    [
      'onProgress that is none',
      [() => ({ state: 0 }), counter, { state: 0, epochs: 1, onProgress: 1 as never }],
      /onProgress must be a function, not 1/,
    ],
  ])('is %s', async (_, args, message) => {
    // biome-ignore format: a table
    expect(explain(left(await train(...args)()))).toMatch(message)
  })
})

describe('trainEvents', () => {
  it('gives the events of train, a step when it is asked for', async () => {
    let steps = 0
    const step = (n: number) => {
      steps++
      return { state: n + 1, n }
    }
    const tags: string[] = []
    for await (const event of trainEvents(step, counter, { state: 0, epochs: 1 })) {
      tags.push(event._tag)
      if (event._tag === 'Step') expect(steps).toBe(event.done)
      if (event._tag === 'Done') expect(event.trained).toMatchObject({ state: 4, metrics: [0, 1, 2, 3].map((n) => ({ n })) })
    }
    expect(tags).toEqual(['Step', 'Step', 'Step', 'Step', 'Epoch', 'Done'])
  })
  it('stops where the loop is left', async () => {
    let steps = 0
    const events = trainEvents((n: number) => ({ state: n + ++steps * 0 + 1 }), counter, { state: 0, epochs: 9 })
    for await (const event of events) if (event._tag === 'Step' && event.done === 3) break
    expect(steps).toBe(3)
  })
  it('ends with Failed, and never throws', async () => {
    const last = async (events: AsyncIterable<TrainEvent>) => {
      let event: TrainEvent | undefined
      for await (event of events) if (event._tag === 'Done') break
      return event
    }
    const boom = (): { state: number } => {
      throw new Error('x')
    }
    expect(await last(trainEvents(boom, counter, { state: 0, epochs: 1 }))).toMatchObject({ _tag: 'Failed', error: { last: { state: 0 } } })
    expect(await last(trainEvents(boom, counter, { state: 0 } as never))).toMatchObject({ _tag: 'Failed', error: { _tag: 'BadInput' } })
    expect(await last(trainEvents(boom, counter, null as never))).toMatchObject({ _tag: 'Failed', error: { _tag: 'BadInput' } })
  })
})

describe('types', () => {
  it('follow from data, state and step', () => {
    const run = train((n: number, x) => ({ state: n + x.item(), loss: n }), counter, {
      state: 0,
      epochs: 1,
      evaluate: () => ({ score: 1 }),
      onProgress: (e) => (e._tag === 'Step' ? e.metrics.loss.toFixed() : e._tag === 'Epoch' ? e.evaluation.score.toFixed() : ''),
    })
    // @ts-expect-error the state of a step is the state of the next
    train((n: number) => ({ state: String(n) }), counter, { state: 0, epochs: 1 })
    // @ts-expect-error a metric is a number or a tensor
    train((n: number) => ({ state: n, loss: 'low' }), counter, { state: 0, epochs: 1 })
    // @ts-expect-error every batch has the type of the data
    train((n: number, x: Tensor<[2], 'f32'>) => ({ state: n + x.item() }), counter, { state: 0, epochs: 1 })
    const losses = async (): Promise<readonly number[]> => {
      const e = await run()
      return isRight(e) ? e.right.metrics.map((m) => m.loss) : []
    }
    expect(losses).toBeTypeOf('function')
  })
})
