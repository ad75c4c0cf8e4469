/** Compiling for backends that answer later: calls queue, inputs are copied at the call, targets are locked until resolved. */
import {
  type AsyncBackend,
  type AsyncExecutable,
  type Backend,
  backendOf,
  type Elements,
  type Explanation,
  type SyncBackend,
} from './backend.js'
import { elementsOf, hosted, onADevice } from './device-tensor.js'
import { apply, input } from './expr.js'
import type { NDArray, TypedArray } from './ndarray.js'
import { elementwise } from './ops/families.js'
import { NO_PARAMS } from './primitive.js'
import { capturedTensor, type Program } from './program.js'
import { accumulates, capturesIntact, type IntoOptions, toTensors } from './run.js'
import { type Prepared, Signatures } from './signatures.js'
import { assertReadable, holdForReading, readTargets } from './targets.js'

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
  return { ...p, inputs: [...p.inputs, ...held], outputs: p.outputs.map((o, i) => apply(elementwise.add, [held[i]!, o], NO_PARAMS)) }
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

/** Traces once per signature; each call has its turn after those before it. A failed call rejects its own Promise, and the queue goes on. */
export const compileAsync = (f: unknown, given: Backend, where = 'compileAsync'): CompiledAsyncCore => {
  const backend = backendOf(given, where)
  const make = (program: Program, located: (e: unknown) => unknown): Later => {
    const prepared = (p: Program): Promise<AsyncExecutable> =>
      prepareOn(backend, p).catch((e) => {
        throw located(e)
      })
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
  let queue: Promise<unknown> = Promise.resolve()
  const enqueue = <A>(job: () => Promise<A>): Promise<A> => {
    const done = queue.then(job)
    queue = done.then(nothing, nothing) // keeps no result alive
    return done
  }
  /** Frees what was prepared, once the calls before have ended. */
  const drop = (later: Later): void =>
    void enqueue(async () => {
      for (const r of await Promise.allSettled(later.made())) if (r.status === 'fulfilled') r.value.dispose()
    })
  // An executable says what it weighs once it is there.
  const signatures = new Signatures<Later, Elements>(f, { read: elementsOf, make, bytes: () => undefined, drop }, where)
  /** The executable; a signature whose preparation failed is forgotten, so that the next call tries again. */
  const ready = async (p: Prepared<Later>): Promise<AsyncExecutable> => {
    try {
      const executable = await p.executable.executable
      signatures.weigh(p, executable.bytes)
      return executable
    } catch (e) {
      signatures.forget(p)
      throw e
    }
  }
  /** What a call needs, read and copied now. */
  const begin = (args: readonly unknown[]): { readonly p: Prepared<Later>; readonly inputs: readonly Elements[] } => {
    const { p, inputs } = signatures.find(args)
    capturesIntact(p.program)
    const all = [...inputs, ...p.executable.captured.map(elementsOf)]
    assertReadable(all, signatures.name)
    return { p, inputs: all.map((x) => (onADevice(x) ? x : x.slice())) }
  }

  /** A call in its turn; what it reads on a device is no target of another until it has ended. */
  const reading = async <A>(inputs: readonly Elements[], job: () => Promise<A>): Promise<A> => {
    const release = holdForReading(inputs)
    try {
      return await enqueue(job)
    } finally {
      release()
    }
  }
  const call = async (...args: readonly unknown[]): Promise<unknown> => {
    const { p, inputs } = begin(args)
    return reading(inputs, async () => toTensors(p.program, (await (await ready(p)).run(inputs)) as readonly TypedArray[]))
  }
  const compiled = call as unknown as CompiledAsyncCore
  compiled.into = (outputs, options) => {
    const accumulate = accumulates(options)
    const targets = readTargets(outputs)
    const onDevice = accumulate && targets.data.some(onADevice)
    let checked: Prepared<Later> | undefined
    return async (...args) => {
      const { p, inputs } = begin(args)
      targets.intact()
      if (checked !== p) {
        targets.check(p.program, accumulate)
        checked = p
      }
      targets.hold('async')
      try {
        await reading(inputs, async () => {
          if (!onDevice) return (await ready(p)).run(inputs, targets.data, accumulate)
          return (await p.executable.adding()).run([...inputs, ...targets.data], targets.data)
        })
      } finally {
        targets.release()
      }
      return outputs
    }
  }
  compiled.explain = async (...args) => (await ready(signatures.explained(args))).explain()
  compiled.prepare = async (...args) => {
    await ready(signatures.find(args).p)
  }
  let disposed: Promise<void> | undefined
  compiled.dispose = () => {
    if (disposed === undefined) {
      signatures.close()
      disposed = enqueue(async () => undefined)
    }
    return disposed
  }
  if (typeof Symbol.dispose === 'symbol') compiled[Symbol.dispose] = () => void compiled.dispose()
  if (typeof Symbol.asyncDispose === 'symbol') compiled[Symbol.asyncDispose] = compiled.dispose
  return compiled
}
