/** Fitting: a model, data and a loss in; the best parameters and a history out. A layer over `train`. */

import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { shown } from '../../core/errors/check-arguments.js'
import { left, right } from '../../core/errors/either.js'
import { badInput } from '../../core/errors/explain.js'
import { type ReadOf, readOptions } from '../../core/errors/options.js'
import { type AdError, compile, evaluate, type Tensor, tensor } from '../../index.js'
import type { Source } from '../batches.js'
import { isRecord } from '../given.js'
import { isTraced } from '../measure.js'
import { attempt, Failure, failureOf, isThenable, trainEvents } from '../train.js'
import { asTensor, fitOptions, keyAt, pairOf, setupOf, weightOf, where } from './options.js'
import { type Program, programsOf } from './programs.js'
import { Progress } from './progress.js'
import type { FitError, FitMetrics, FitOptions, FitPart, FitRanks, Fittable, Fitted, MaskRows, ParamsOf, RunningOf } from './types.js'

/** A place in a place. */
const within = (outer: string, inner: string): string => (inner === outer ? outer : `${outer}: ${inner}`)
const numberIn = (x: unknown): number => Number((x as Tensor).item())
/** A callback is told; a Left that it answers with ends the fit. */
const told = async (what: string, f: ((given: never) => unknown) | undefined, given: unknown): Promise<void> => {
  if (f === undefined) return
  const answer = await attempt(what, () => f(given as never))
  if (isRecord(answer) && answer._tag === 'Left')
    throw isRecord(answer.left) && typeof answer.left._tag === 'string'
      ? new Failure(answer.left as unknown as AdError)
      : new Failure({ _tag: 'BadInput', where: what, reason: `it gave a Left of ${shown(answer.left)}.` })
}
/** An error that knows what the fit had come to. */
class Ended {
  constructor(readonly error: AdError) {}
}

/** What a fit does, made of what it is given: its programs, its metrics, and where it begins. */
const prepared = async (model: Fittable, data: unknown, o: ReadOf<typeof fitOptions>, ranks: FitRanks | undefined) => {
  const setup = setupOf(model, data, o)
  const { loss, optimizer, names, stateful, better } = setup
  const compiled = (f: unknown): Program => compile(f as never, o.backend as never) as unknown as Program
  const params = await attempt('the model', () => evaluate((o.params ?? model.init(asTensor(o.key))) as never) as unknown)
  const placed = ranks?.placed?.(params, optimizer)
  const programs = programsOf(model, loss, placed?.optimizer ?? optimizer, stateful, placed ?? ranks)
  const running = stateful ? await attempt('the model', () => evaluate((o.state ?? model.initState!()) as never) as unknown) : undefined
  const run = new Progress({ params, optimizer: optimizer.init(params as never), running, sum: 0, rows: 0 }, names, better)
  if (o.from !== undefined) run.from(o.from)
  return { ...setup, step: compiled(programs.step), test: compiled(programs.test), run, placed }
}
type Prepared = Awaited<ReturnType<typeof prepared>>

/** What measures the validation data after an epoch: its loss, and the metrics. */
const testOf = ({ test, run, names, watched, validation }: Prepared, given: FitMetrics, whole: () => unknown) => {
  const metrics = Object.values(given)
  const adders = metrics.map((m) => {
    const add = m.add.bind(m) as unknown as (...xs: unknown[]) => unknown
    return isTraced(m) ? (compile(add as never) as unknown as typeof add) : add
  })
  /** What a metric gives; an error in it names it. */
  const ofMetric = async <A>(k: number, f: () => A | PromiseLike<A>): Promise<A> => {
    const what = `the metric ${names[k]}`
    try {
      return await attempt(what, f)
    } catch (e) {
      const { error, cause } = failureOf(e, what)
      const place = 'where' in error ? { where: within(what, error.where) } : 'op' in error ? { op: within(what, error.op) } : {}
      throw new Failure({ ...error, ...place } as AdError, cause)
    }
  }
  const numberOf = (value: unknown): number =>
    typeof value === 'number' ? value : badInput('value', `it is ${shown(value)}.`, 'give a number.')
  return async (epoch: number): Promise<{ readonly loss: number; readonly metrics: Record<string, number> }> => {
    if (watched === undefined) return { loss: Number.NaN, metrics: {} }
    let [sum, rows] = [0, 0]
    const given = { ...run.parts, params: await whole() }
    const accs: unknown[] = metrics.map((m) => m.zero)
    for (let i = 0; i < watched.steps; i++) {
      const batch = await attempt('the validation batch', async () =>
        pairOf(await watched.at(validation === undefined ? epoch : 0, i), 'the validation batch'),
      )
      const { out, loss: value } = await test({ ...given, ...batch })
      const n = weightOf(batch)
      if (n > 0) sum += n * numberIn(value)
      rows += n
      const mask = batch.mask === undefined ? [] : [batch.mask]
      for (const [k, add] of adders.entries()) accs[k] = await ofMetric(k, () => add(accs[k], out, batch.y, ...mask))
    }
    const values: Record<string, number> = {}
    for (const [k, name] of names.entries()) values[name] = await ofMetric(k, () => numberOf(metrics[k]!.value(accs[k] as never)))
    return { loss: sum / rows, metrics: values }
  }
}

/** Runs a fit; what it throws is a Failure. */
const fitting = async (model: Fittable, data: unknown, options: unknown): Promise<unknown> => {
  const o = readOptions(fitOptions, options, where)
  const ranks = o.ranks !== undefined && o.ranks.size > 1 ? o.ranks : undefined
  const group = ranks?.group({ signal: o.signal, weight: weightOf })
  const prepare = (): Promise<Prepared> => prepared(model, data, o, ranks)
  const made = await (group === undefined
    ? prepare()
    : group.alike(prepare, ({ run, source: { steps }, epochs, placed }) => ({
        ...run.position,
        epochs,
        steps,
        key: o.key,
        // Of parts all ranks make a checkpoint together.
        ...(placed && { saves: o.checkpoint !== undefined }),
        state: run.checkpoint().state,
      })))
  const { run, step, source, epochs, validation, monitor, placed } = made
  if (placed !== undefined) Object.assign(run, run.place(placed.cut, placed.cut))
  /** What a checkpoint holds, and the parameters, whole. */
  const trees = () => (placed === undefined ? run : ranks!.run(() => run.place(placed.params, placed.state)))
  const params = () => (placed === undefined ? run.now.params : ranks!.run(() => placed.params(run.now.params)))
  const fitted = async (ended: Fitted<unknown>['ended']): Promise<unknown> => run.fitted(ended, await trees())
  const test = testOf(made, o.metrics, params)
  // On several ranks what rank 0 measures, so that all judge alike if their machines round differently.
  const tested = (epoch: number): ReturnType<typeof test> => (group === undefined ? test(epoch) : group.first(() => test(epoch)))
  const outOfPatience = (): boolean => o.patience !== undefined && run.worse >= o.patience
  /** Tells of a step or an epoch; several ranks read their next batch, and agree that they go on. */
  const turn = async (tell?: () => Promise<void>): Promise<void> => {
    if (group === undefined) return tell?.()
    const { epoch, step: i } = run.position
    const more = epoch < epochs && i < source.steps && !outOfPatience()
    return group.turn(tell, more ? () => attempt('the batch', async () => pairOf(await source.at(epoch, i), 'the batch')) : undefined)
  }
  const afterEpoch = async (epoch: number): Promise<Readonly<Record<string, number>>> => {
    const { loss: held, metrics } = await tested(epoch)
    const mean = run.mean
    const score = monitor === undefined ? Number.NaN : monitor === 'loss' ? held : metrics[monitor]!
    const best = run.judged({ epoch, validation: validation && held, metrics, score })
    const whole = placed && o.checkpoint ? await trees() : undefined
    await turn(async () => {
      await told('checkpoint', o.checkpoint, run.checkpoint(whole))
      await told('onProgress', o.onProgress, { _tag: 'Epoch', epoch, loss: mean, validation: validation && held, metrics, best })
    })
    return validation === undefined ? {} : { validation: held }
  }
  /** Does the backend answer at once? Then steps write by turns to two sets of arrays: fresh ones are pages that the system has to find. */
  let here = false
  const calls = new WeakMap<object, ReturnType<Program['into']>>()
  const stepInto = (results: object | undefined): ReturnType<Program['into']> => {
    const call = results === undefined ? step : (calls.get(results) ?? step.into(results))
    if (results !== undefined) calls.set(results, call)
    return (given) => {
      const next = call(given)
      here = !isThenable(next)
      return next
    }
  }
  if (outOfPatience()) return fitted('patience')
  await turn()
  const events = trainEvents(
    async (_: unknown, batch: unknown, at) => {
      const part = group && (batch as FitPart)
      const pair = part?.pair ?? pairOf(batch, 'the batch')
      const given = { ...run.parts, optimizer: run.now.optimizer, key: keyAt(o.key, at, ranks?.rank), ...pair }
      const call = stepInto(run.take())
      const next = await (ranks === undefined ? call(given) : ranks.run(() => call({ ...given, weight: tensor(part!.weight) })))
      const value = numberIn(next.loss)
      if (!Number.isFinite(value)) return { state: null, loss: value }
      run.stepped(next as never, at, value, part?.whole ?? weightOf(pair), here)
      const { epoch, step: i, done, steps } = at
      await turn(() => told('onProgress', o.onProgress, { _tag: 'Step', epoch, step: i, done: done + 1, steps, loss: value }))
      return { state: null, loss: value }
    },
    group === undefined ? (source as Source<unknown>) : { steps: source.steps, at: group.take },
    { state: null, epochs, position: run.position, evaluate: (_, epoch) => afterEpoch(epoch), signal: group ?? o.signal },
  )
  for await (const event of events) {
    // Where parameters are in parts a result so far would take all ranks.
    if (event._tag === 'Failed')
      throw new Ended({ ...event.error, last: placed === undefined ? run.fitted('error') : undefined } as unknown as AdError)
    if (event._tag === 'Epoch' && outOfPatience()) return fitted('patience')
    if (event._tag === 'Done') return fitted(event.trained.done ? 'epochs' : 'signal')
  }
  return badInput(where, 'the fit has no end.') // trainEvents gives one always
}

/**
 * Fits a model to data, as a TaskEither: steps of an optimiser over minibatches, by `train`; after each epoch the loss of validation data and metrics.
 *
 * A model is a layer of codual/nn, or { init(key), apply(params, x, { training, key, state }) } of your own. Data is { x, y } of arrays, or of trees of arrays, whose first axis counts the rows, or a source of
 * such batches; a third field `mask`, one bool or weight for each row or target, says what counts. The result has the best parameters (by validation loss, or `monitor`), a history of plain numbers and a checkpoint. The step is compiled once, and once more for a smaller last batch.
 * Everything random follows from `key`: parameters begin as `model.init(key)`, and each step has a key of its own. The same key gives the same fit, and `{ from: checkpoint }` continues it bit for bit.
 * On several ranks, `{ ranks: ranks() }` of codual/mpi, each has its rows of every batch, and the loss is that of the whole batch; callbacks are called on rank 0 alone.
 * Errors  Left of an AdError that names epoch and step, with the result so far in `last`: for a loss that is NaN or not a scalar, targets that do not fit, and exceptions of
 *         callbacks; BadInput for invalid options.
 * @example
 * const line = { init: () => ({ w: tensor(0, [1, 1]) }), apply: ({ w }: { w: Expr<[1, 1], 'f64'> }, x: Expr<[number, 1], 'f64'>) => matmul(x, w) }
 * const data = { x: [[1], [2], [3]], y: [[2], [4], [6]] }
 * await fit(line, data, { loss: 'mseLoss', optimizer: sgd({ learningRate: 0.1 }), epochs: 30 })()   // Right({ params: { w: [[2.0000]] }, ended: 'epochs', ... })
 */
export const fit =
  <M extends Fittable, D, K extends string = never>(
    model: M,
    data: D & { readonly mask?: MaskRows | undefined },
    options: FitOptions<D, K>,
  ): TaskEither<FitError<ParamsOf<M>, RunningOf<M>, K>, Fitted<ParamsOf<M>, RunningOf<M>, K>> =>
  async () => {
    type Result = Fitted<ParamsOf<M>, RunningOf<M>, K>
    try {
      return right((await fitting(model, data, options)) as Result)
    } catch (e) {
      if (e instanceof Ended) return left(e.error as FitError<ParamsOf<M>, RunningOf<M>, K>)
      const { error, cause } = failureOf(e, 'fit')
      return left({ ...error, ...(cause !== undefined && { cause }) } as FitError<ParamsOf<M>, RunningOf<M>, K>)
    }
  }
