/** Compiling for backends that answer later: calls queue, inputs are copied at the call, targets are locked until resolved. */

import { readOptions } from '../errors/options.js'
import { evaluateNodes } from '../graph/evaluate.js'
import { apply, capturedTensor, input } from '../graph/expr.js'
import type { NDArray, TypedArray } from '../graph/ndarray.js'
import { NO_PARAMS } from '../graph/primitive.js'
import type { Program } from '../graph/program.js'
import { add } from '../ops/elementwise.js'
import type { CompileOptions, IntoOptions } from '../types/signatures/run.js'
import {
  type AsyncBackend,
  type AsyncExecutable,
  type Backend,
  backendOf,
  type Elements,
  type Explanation,
  type SyncBackend,
} from './backend.js'
import { accumulates, type CompiledCore, capturesIntact, compileOptions, compileSync, evaluated, toTensors } from './compile.js'
import { copyOf, elementsOf, hosted, onADevice } from './device-tensor.js'
import { assertReadable, holdForReading, Targets } from './output-locks.js'
import { type Prepared, Signatures } from './signatures.js'
import { type Trap, type Trapped, trappingLater } from './trap.js'

/** A function compiled for an asynchronous backend. */
export interface CompiledAsyncCore {
  (...args: readonly unknown[]): Promise<unknown>
  into: (outputs: unknown, options?: IntoOptions) => (...args: readonly unknown[]) => Promise<unknown>
  explain: (...args: readonly unknown[]) => Promise<Explanation>
  /** Makes the plan without running it. */
  prepare: (...args: readonly unknown[]) => Promise<void>
  /** Refuses calls from now on; resolves when those made before have ended and everything is freed. */
  dispose: () => Promise<void>
  [Symbol.dispose]: () => void
  [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * The same program with its captured tensors as inputs, after its own: so they too are copied at the call, and a change of their data
 * between the call and its turn in the queue is not seen.
 */
const withoutCaptures = (p: Program): Program => ({ ...p, inputs: [...p.inputs, ...p.captured], captured: [] })

/** The same program with the targets of a call as further inputs, and their sums with the results in place of those: it adds on the device. */
const intoSums = (p: Program): Program => {
  const held = p.outputs.map((o, i) => input(o.aval, `target ${i}`))
  return { ...p, inputs: [...p.inputs, ...held], outputs: p.outputs.map((o, i) => apply(add.primitive, [held[i]!, o], NO_PARAMS)) }
}

/** What is kept for a signature: the executables, once they are there, and the tensors that calls read beside their arguments. */
interface Later {
  readonly executable: Promise<AsyncExecutable>
  /** That of `intoSums`, made when first asked for, and again where that failed. */
  readonly adding: () => Promise<AsyncExecutable>
  /** All that there are. */
  readonly made: () => readonly Promise<AsyncExecutable>[]
  readonly captured: readonly NDArray[]
}

/** The executable of a program on any backend; a synchronous one runs when its turn comes. */
const prepareOn = async (backend: Backend, program: Program): Promise<AsyncExecutable> => {
  if (backend.kind === 'async') return (backend as AsyncBackend).prepare(program)
  const x = (backend as SyncBackend).prepare(program)
  return {
    run: async (inputs, into, accumulate) =>
      x.run(hosted(inputs, program.name), into === undefined ? undefined : hosted(into, program.name), accumulate),
    explain: () => x.explain(),
    dispose: () => x.dispose(),
    ...(x.bytes !== undefined && { bytes: x.bytes }),
  }
}

const nothing = (): void => undefined

/** The executables of a program: preparing starts now, that of sums when it is asked for. */
const laterOf = (backend: Backend, program: Program, located: (e: unknown) => unknown, trapped?: Omit<Trapped, 'program'>): Later => {
  const prepared = (p: Program): Promise<AsyncExecutable> =>
    prepareOn(backend, p).then(
      (x) => trappingLater(x, trapped && { ...trapped, program: p }),
      (e) => {
        throw located(e)
      },
    )
  const whole = withoutCaptures(program)
  const executable = prepared(whole)
  executable.catch(nothing) // whoever calls sees the rejection
  let adding: Promise<AsyncExecutable> | undefined
  return {
    executable,
    adding: () => {
      adding ??= prepared(intoSums(whole)).catch((e) => {
        adding = undefined
        throw e
      })
      return adding
    },
    made: () => (adding === undefined ? [executable] : [executable, adding]),
    captured: program.captured.map((n) => capturedTensor(n)!),
  }
}

/** Jobs one after the other: each starts when those before it have settled, also those that failed. */
class Queue {
  private last: Promise<unknown> = Promise.resolve()
  add<A>(job: () => Promise<A>): Promise<A> {
    const done = this.last.then(job)
    this.last = done.then(nothing, nothing) // keeps no result alive
    return done
  }
}

/** A call that has begun: what it runs, and what it reads, as it was then. */
interface Begun {
  readonly p: Prepared<Later>
  readonly inputs: readonly Elements[]
}

/** The calls of one compiled function. */
class Calls {
  private readonly queue = new Queue()
  private readonly signatures: Signatures<Later, Elements>
  private disposed: Promise<void> | undefined

  constructor(f: unknown, backend: Backend, where: string, trap: Trap | undefined) {
    /** Frees what was prepared, once the calls before have ended. */
    const drop = (later: Later): void =>
      void this.queue.add(async () => {
        for (const r of await Promise.allSettled(later.made())) if (r.status === 'fulfilled') r.value.dispose()
      })
    this.signatures = new Signatures(
      f,
      {
        read: elementsOf,
        // an argument is read before the call returns, which a device does not do
        evaluate: (nodes) => (backend.kind === 'sync' ? evaluated(backend as SyncBackend, nodes) : evaluateNodes(nodes).map((x) => x.data)),
        make: (program, located, retrace) => laterOf(backend, program, located, trap && { name: this.signatures.name, trap, retrace }),
        bytes: () => undefined, // an executable says what it weighs once it is there
        drop,
      },
      where,
    )
  }

  /** The executable; a signature whose preparation failed is forgotten, so that the next call tries again. */
  private async ready(p: Prepared<Later>): Promise<AsyncExecutable> {
    try {
      const executable = await p.executable.executable
      this.signatures.weigh(p, executable.bytes)
      return executable
    } catch (e) {
      this.signatures.forget(p)
      throw e
    }
  }
  /** What a call needs, read and copied now. */
  private begin(args: readonly unknown[]): Begun {
    const { p, inputs } = this.signatures.find(args)
    capturesIntact(p.program)
    const all = [...inputs, ...p.executable.captured.map(elementsOf)]
    assertReadable(all, this.signatures.name)
    return { p, inputs: all.map(copyOf) }
  }
  /** A call in its turn; what it reads on a device is no target of another until it has ended. */
  private async inTurn<A>(inputs: readonly Elements[], job: () => Promise<A>): Promise<A> {
    const release = holdForReading(inputs)
    try {
      return await this.queue.add(job)
    } finally {
      release()
    }
  }

  async call(args: readonly unknown[]): Promise<unknown> {
    const { p, inputs } = this.begin(args)
    return this.inTurn(inputs, async () => toTensors(p.program, (await (await this.ready(p)).run(inputs)) as readonly TypedArray[]))
  }
  async callInto(args: readonly unknown[], targets: Targets, accumulate: boolean): Promise<void> {
    const { p, inputs } = this.begin(args)
    targets.check(p.program)
    targets.hold('async')
    try {
      await this.inTurn(inputs, async () => {
        const onDevice = accumulate && targets.data.some(onADevice)
        const executable = await (onDevice ? p.executable.adding() : this.ready(p))
        targets.check(p.program)
        const data = targets.copies()
        const held = onDevice ? (executable.takes === true ? data.map(copyOf) : data) : []
        await executable.run([...inputs, ...held], data, accumulate && !onDevice)
        targets.put(data)
      })
    } finally {
      targets.release()
    }
  }
  async explain(args: readonly unknown[]): Promise<Explanation> {
    const p = this.signatures.explained(args)
    return this.signatures.whole(p, await (await this.ready(p)).explain())
  }
  async prepare(args: readonly unknown[]): Promise<void> {
    await this.ready(this.signatures.find(args).p)
  }
  dispose(): Promise<void> {
    if (this.disposed === undefined) {
      this.signatures.close()
      this.disposed = this.queue.add(async () => undefined)
    }
    return this.disposed
  }
}

/**
 * A function of promises. A call traces and plans a signature that is new, and copies its arguments, before it returns; then it has its
 * turn after those before it. A failed call rejects its own Promise, and the queue goes on.
 */
export const compileAsync = (f: unknown, given: Backend, where = 'compileAsync', options?: CompileOptions): CompiledAsyncCore => {
  const calls = new Calls(f, backendOf(given, where), where, readOptions(compileOptions, options, where).trap)
  const dispose = (): Promise<void> => calls.dispose()
  return Object.assign((...args: readonly unknown[]) => calls.call(args), {
    into: (outputs: unknown, options?: IntoOptions) => {
      const accumulate = accumulates(options)
      const targets = new Targets(outputs, accumulate)
      return async (...args: readonly unknown[]) => {
        await calls.callInto(args, targets, accumulate)
        return outputs
      }
    },
    explain: (...args: readonly unknown[]) => calls.explain(args),
    prepare: (...args: readonly unknown[]) => calls.prepare(args),
    dispose,
    ...(typeof Symbol.dispose === 'symbol' && { [Symbol.dispose]: () => void dispose() }),
    ...(typeof Symbol.asyncDispose === 'symbol' && { [Symbol.asyncDispose]: dispose }),
  }) as CompiledAsyncCore // which has the two symbols, in engines that know them
}

/** `compile`, on this backend unless given one: at once where the backend answers at once. */
export const compileOn =
  (usual: SyncBackend) =>
  (f: unknown, b: Backend = usual, options?: CompileOptions): CompiledCore | CompiledAsyncCore =>
    backendOf(b, 'compile').kind === 'sync' ? compileSync(f, b as SyncBackend, 'compile', options) : compileAsync(f, b, 'compile', options)
