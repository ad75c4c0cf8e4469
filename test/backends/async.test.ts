/** Asynchronous backends: a toy one (the reference behind Promises) shows the queue, the copies at the call, the locks and the errors. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as RTE from 'fp-ts/lib/ReaderTaskEither.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import * as RNEA from 'fp-ts/lib/ReadonlyNonEmptyArray.js'
import { describe, expect, it } from 'vitest'
import type { TypedArray } from '../../src/core/graph/ndarray.js'
import * as cd from '../../src/index.js'

/** Lets other work run for a while. */
const turns = async (n: number): Promise<void> => {
  for (let i = 0; i < n; i++) await Promise.resolve()
}

interface Toy extends cd.AsyncBackend {
  /** What happened, in order. */
  readonly log: string[]
  /** Makes the next preparation, or run, fail. */
  fail: 'prepare' | 'run' | undefined
  /** Resolves each run; a closed gate holds them all. */
  gate: Promise<void>
}
const device = (): cd.AdError => ({ _tag: 'Device', backend: 'toy', reason: 'the device was lost.' })
const lost = (): never => {
  const e = new Error('lost') as Error & { _tag: string; error: cd.AdError }
  e._tag = 'AdException'
  e.error = device()
  throw e
}

const toy = (): Toy => {
  const inner = cd.reference()
  const log: string[] = []
  let running = 0
  const backend: Toy = {
    kind: 'async',
    name: 'toy',
    log,
    fail: undefined,
    gate: Promise.resolve(),
    prepare: async (program) => {
      log.push(`prepare ${program.inputs.length}`)
      await turns(3)
      if (backend.fail === 'prepare') {
        backend.fail = undefined
        lost()
      }
      const x = inner.prepare(program)
      return {
        run: async (inputs, into, accumulate) => {
          expect(running).toBe(0)
          running++
          log.push('run')
          try {
            await turns((inputs[0] as TypedArray).length) // longer inputs take longer
            await backend.gate
            if (backend.fail === 'run') {
              backend.fail = undefined
              lost()
            }
            return x.run(inputs as readonly TypedArray[], into as readonly TypedArray[], accumulate)
          } finally {
            running--
          }
        },
        explain: x.explain,
        dispose: () => void log.push('dispose'),
      }
    },
  }
  return backend
}
/** A gate and its key. */
const closed = (): { readonly gate: Promise<void>; readonly open: () => void } => {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return { gate, open }
}
const failure = async (p: Promise<unknown>): Promise<cd.AdError> => {
  try {
    await p
  } catch (e) {
    if (cd.isAdException(e)) return e.error
    throw e
  }
  throw new Error('no error was raised')
}

const double = cd.fn({ x: cd.f64('n') }, ({ x }) => cd.mul(x, 2))
const array = (...data: readonly number[]): cd.Tensor<[number], 'f64'> => cd.tensor(Float64Array.from(data))

describe('calls', () => {
  it('resolve with tensors of their own; one preparation per signature', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    const [y, z] = await Promise.all([c({ x: [1, 2] }), c({ x: array(3, 4) })])
    expect([y.toArray(), z.toArray()]).toEqual([[2, 4], [6, 8]]) // biome-ignore format: one row
    await c({ x: [1, 2, 3] })
    expect(b.log).toEqual(['prepare 1', 'run', 'run', 'prepare 1', 'run'])
  })
  it('queue: they end in the order they were made, one at a time', async () => {
    const c = cd.compile(double, toy())
    const ended: number[] = []
    await Promise.all([5, 3, 1].map((n) => c({ x: new Float64Array(n) }).then(() => ended.push(n))))
    expect(ended).toEqual([5, 3, 1])
  })
  it('evaluate expressions without inputs at the call, on each kind of backend', async () => {
    const t = array(1, 2)
    const compiled = [cd.compile(double, toy()), cd.compileAsync(double, cd.reference()), cd.compileAsync(double, cd.cpu())]
    const results = compiled.map((c) => [c({ x: cd.add(t, 1) }), c({ x: cd.zeros([3]) }), c.into(array(0, 0))({ x: cd.neg(t) })] as const)
    t.data.fill(9) // what they read, they have read
    for (const [sum, zeros, into] of results)
      expect([[...(await sum).data], [...(await zeros).data], [...(await into).data]]).toEqual([
        [4, 6],
        [0, 0, 0],
        [-2, -4],
      ])
    let message = ''
    cd.grad((x: cd.Expr<[2], 'f64'>) => {
      void compiled[0]!({ x }).catch((e: Error) => {
        message = e.message
      })
      return cd.sum(x)
    })([1, 2])
    await Promise.resolve()
    await Promise.resolve()
    expect(message).toMatch(/an expression of an input where a concrete array is wanted/)
  })
  it('copy their inputs at the call: arguments and captured tensors', async () => {
    const w = array(10)
    const f = cd.fn({ x: cd.f64('n') }, ({ x }) => cd.mul(x, w))
    const c = cd.compile(f, toy())
    const x = array(1)
    const first = c({ x })
    x.data[0] = 2
    const second = c({ x })
    w.data[0] = 100
    const third = c({ x })
    x.data[0] = 0
    expect((await Promise.all([first, second, third])).map((t) => t.toArray())).toEqual([[10], [20], [200]])
  })
  it('bad arguments reject, and the queue goes on', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    const bad = failure(c({ x: [[1]] as never }))
    const good = c({ x: [1] })
    expect((await bad)._tag).toBe('ShapeMismatch')
    expect((await good).toArray()).toEqual([2])
  })
  it('a failed run rejects once, and the queue goes on', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    await c({ x: [1] })
    b.fail = 'run'
    const bad = failure(c({ x: [1] }))
    const good = c({ x: [2] })
    expect(await bad).toEqual(device())
    expect((await good).toArray()).toEqual([4])
  })
  it('a failed preparation rejects, and the next call prepares again', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    b.fail = 'prepare'
    expect(await failure(c({ x: [1] }))).toEqual(device())
    expect((await c({ x: [1] })).toArray()).toEqual([2])
    expect(b.log).toEqual(['prepare 1', 'prepare 1', 'run'])
  })
  it('compileAsync takes a synchronous backend too', async () => {
    const c = cd.compileAsync(double, cd.reference())
    expect((await c({ x: [1, 2] })).toArray()).toEqual([2, 4])
  })
})

describe('into', () => {
  it('writes and accumulates; may name an input', async () => {
    const c = cd.compile(double, toy())
    const y = array(1, 2)
    expect(await c.into(y)({ x: y })).toBe(y)
    expect(y.toArray()).toEqual([2, 4])
    await c.into(y, { accumulate: true })({ x: [1, 1] })
    expect(y.toArray()).toEqual([4, 6])
  })
  it('adds on a device by a program of its own: where that cannot be prepared, the next call tries again; all is freed', async () => {
    const b = toy()
    /** Elements that the toy holds: the host sees them by `read` alone. */
    const held = new Map<cd.Elements, TypedArray>()
    const there = (x: cd.Elements): cd.Elements => held.get(x) ?? x
    const onToy: cd.AsyncBackend = {
      ...b,
      place: async ({ data }) => {
        const array = { backend: 'toy', read: async () => data.slice(), dispose: () => undefined }
        held.set(array, data.slice())
        array.read = async () => held.get(array)!.slice()
        return array
      },
      prepare: async (program) => {
        const x = await b.prepare(program)
        return { ...x, run: async (inputs, into, accumulate) => x.run(inputs.map(there), into?.map(there), accumulate) }
      },
    }
    const sum = await cd.onDevice(cd.tensor([10, 20]), onToy)
    const f = cd.compile((x: cd.AnyExpr) => cd.mul(x as never, 3), onToy) as unknown as {
      (x: cd.Tensor): Promise<cd.Tensor>
      into: (t: unknown, options: object) => (x: cd.Tensor) => Promise<unknown>
      dispose: () => Promise<void>
    }
    const x = cd.tensor([1, 2]) as unknown as cd.Tensor
    expect((await f(x)).toArray()).toEqual([3, 6])
    const add = f.into(sum, { accumulate: true })
    b.fail = 'prepare'
    await expect(add(x)).rejects.toMatchObject({ error: { _tag: 'Device' } })
    expect((await cd.onHost(sum)).toArray()).toEqual([10, 20])
    await add(x)
    await add(x)
    expect((await cd.onHost(sum)).toArray()).toEqual([16, 32])
    await f.dispose()
    expect(b.log.filter((l) => l !== 'run')).toEqual(['prepare 1', 'prepare 2', 'prepare 2', 'dispose', 'dispose'])
  })
  it('a target is locked until its call has resolved: for writing, and for reading', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    const other = cd.compile(double, toy())
    const sync = cd.compile(double, cd.reference())
    const y = array(0, 0)
    const { gate, open } = closed()
    b.gate = gate
    const step = c.into(y)
    const first = step({ x: [1, 2] })
    for (const late of [step({ x: [5, 5] }), other.into(y)({ x: [5, 5] })])
      expect(await failure(late)).toMatchObject({ _tag: 'BadInput', reason: expect.stringMatching(/has not resolved/) })
    expect(await failure(other({ x: y }))).toMatchObject({ reason: expect.stringMatching(/an argument is a target/) })
    expect(() => sync.into(y)({ x: [5, 5] })).toThrow(/has not resolved/)
    expect(() => sync({ x: y })).toThrow(/an argument is a target/)
    expect(y.toArray()).toEqual([0, 0])
    open()
    await first
    expect(y.toArray()).toEqual([2, 4])
    expect(sync({ x: y }).toArray()).toEqual([4, 8])
    await step({ x: [3, 3] })
    expect(y.toArray()).toEqual([6, 6])
  })
  it('a failed call unlocks its targets and leaves them as they were', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    const y = array(7)
    const step = c.into(y)
    b.fail = 'run'
    expect(await failure(step({ x: [1] }))).toEqual(device())
    expect(y.toArray()).toEqual([7])
    await step({ x: [1] })
    expect(y.toArray()).toEqual([2])
    expect(await failure(c.into(array(0, 0))({ x: [1] }))).toMatchObject({ _tag: 'ShapeMismatch' })
  })
})

describe('explain, prepare, dispose', () => {
  it('explain is a Promise of the figures; prepare makes the plan only', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    await c.prepare({ x: [1, 2] })
    expect(b.log).toEqual(['prepare 1'])
    expect((await c.explain()).counts).toEqual({ mul: 1 })
    expect((await c.explain({ n: 5 } as never)).counts).toEqual({ mul: 1 })
  })
  it('dispose lets the calls made before it end, then frees, and refuses new ones', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    const { gate, open } = closed()
    b.gate = gate
    const last = c({ x: [1] })
    const freed = c.dispose()
    expect(await failure(c({ x: [1] }))).toMatchObject({ _tag: 'BadInput', reason: expect.stringMatching(/was disposed/) })
    expect(b.log).not.toContain('dispose')
    open()
    expect((await last).toArray()).toEqual([2])
    await freed
    await c.dispose()
    expect(b.log.filter((x) => x === 'dispose')).toEqual(['dispose'])
  })
  it('using and await using dispose', async () => {
    const b = toy()
    let sync: cd.Fn<[{ readonly x: cd.Spec<['n'], 'f64'> }], cd.Expr<['n'], 'f64'>> | undefined
    {
      await using c = cd.compile(double, b)
      await c({ x: [1] })
      using d = cd.compile(double, cd.reference())
      sync = d as unknown as typeof double
      expect(d({ x: [1] }).toArray()).toEqual([2])
    }
    expect(b.log).toEqual(['prepare 1', 'run', 'dispose'])
    expect(() => sync?.({ x: [1] })).toThrow(/was disposed/)
  })
  it('Symbol.asyncDispose is dispose; a failed preparation is freed without an error', async () => {
    const b = toy()
    const c = cd.compile(double, b)
    b.fail = 'prepare'
    const bad = failure(c({ x: [1] }))
    const symbol = (Symbol as { readonly asyncDispose?: symbol }).asyncDispose
    await (symbol === undefined ? c.dispose() : (c as unknown as Record<symbol, () => Promise<void>>)[symbol]!())
    expect(await bad).toEqual(device())
    expect(b.log).toEqual(['prepare 1'])
  })
})

describe('synchronous targets', () => {
  it('a call from inside a kernel may not write what the outer call writes', () => {
    const y = array(0)
    let inner: 'same' | 'own' = 'same'
    let said = ''
    const nested = cd.compile(double, cd.reference())
    const spy = cd.unary({
      name: 'spyOnTargets',
      source: 'identity',
      scalar: (v = 0) => {
        try {
          nested.into(inner === 'same' ? y : array(0))({ x: [v] })
        } catch (e) {
          said = (e as Error).message
        }
        return v
      },
    })
    const outer = cd.compile(
      cd.fn({ x: cd.f64(1) }, ({ x }) => spy(x)),
      cd.reference(),
    )
    const step = outer.into(y as never)
    step({ x: [3] })
    expect(said).toMatch(/being written by the call that made this one/)
    expect(y.toArray()).toEqual([3])
    inner = 'own'
    said = ''
    step({ x: [4] })
    expect([said, y.toArray()]).toEqual(['', [4]])
  })
  it('two targets that share a part of one buffer', () => {
    const two = cd.compile(
      cd.fn({ x: cd.f64(2) }, ({ x }) => ({ a: cd.mul(x, 2), b: cd.mul(x, 3) })),
      cd.reference(),
    )
    const buffer = new ArrayBuffer(48)
    const view = (offset: number): cd.Tensor<[2], 'f64'> =>
      Object.assign(Object.create(Object.getPrototypeOf(cd.tensor([0, 0]))), {
        shape: [2],
        dtype: 'f64',
        data: new Float64Array(buffer, offset, 2),
      })
    const t = view(0)
    expect(() => two.into({ a: t, b: t })).toThrow(/two outputs are the same array/)
    expect(() => two.into({ a: view(0), b: view(8) })).toThrow(/a and b: two outputs share a part of one ArrayBuffer/)
    const apart = { a: view(0), b: view(16) }
    two.into(apart)({ x: [1, 2] })
    expect(Array.from(new Float64Array(buffer))).toEqual([2, 4, 3, 6, 0, 0])
  })
})

describe('captured values', () => {
  for (const backend of [cd.reference(), cd.cpu()])
    it(`on ${backend.name}: a tensor is read at every call, a number is what it was when compiled`, () => {
      const w = array(1, 2)
      let rate = 2
      const c = cd.compile(
        cd.fn({ x: cd.f64(2) }, ({ x }) => cd.mul(cd.mul(x, w as never), rate)),
        backend,
      )
      expect(Array.from(c({ x: [1, 1] }).data)).toEqual([2, 4])
      w.data[0] = 10
      rate = 3
      expect(Array.from(c({ x: [1, 1] }).data)).toEqual([20, 4])
    })
})

describe('run', () => {
  const loss = cd.fn({ w: cd.f64(2), x: cd.f64('n', 2), y: cd.f64('n') }, ({ w, x, y }) => cd.mean(cd.square(cd.sub(cd.matmul(x, w), y))))
  const data = { x: [[1, 0], [0, 1], [1, 1]], y: [2, -1, 1] } // biome-ignore format: one row
  const step = cd.run(cd.grad(loss, { wrt: 'w' }))
  type W = cd.Tensor<[2], 'f64'>
  const descend = (w: W): RTE.ReaderTaskEither<cd.Env, cd.AdError, W> =>
    pipe(
      step({ w, ...data }),
      RTE.map((g) => cd.vectorSpace.axpy(-0.5, g, w)),
    )
  /** Gradient descent: an effect for each step, put together before any of them runs. */
  const train = (steps: number): RTE.ReaderTaskEither<cd.Env, cd.AdError, W> =>
    pipe(
      RNEA.range(1, steps),
      RA.reduce(RTE.right<cd.Env, cd.AdError, W>(cd.tensor([0, 0], [2])), (before) => pipe(before, RTE.chain(descend))),
    )
  for (const backend of [cd.cpu(), toy()])
    it(`a training loop is one pipe; ${backend.name} prepares once and tells the log`, async () => {
      const events: cd.RunEvent[] = []
      const result = await train(60)({ backend, log: (e) => events.push(e) })()
      if (E.isLeft(result)) throw new Error(cd.explain(result.left))
      result.right.toArray().forEach((w, i) => {
        expect(w).toBeCloseTo([2, -1][i]!, 5)
      })
      expect(events.filter((e) => e._tag === 'Prepared')).toMatchObject([
        { backend: backend.name, inputs: ['f64 [2]', 'f64 [3, 2]', 'f64 [3]'], explanation: { backend: expect.any(String) } },
      ])
      expect(events.filter((e) => e._tag === 'Ran').length).toBe(60)
    })
  it('a program that needs more than Env widens it', async () => {
    const program = pipe(
      RTE.asks((env: { readonly seed: number }) => cd.vectorSpace.random(env.seed, cd.tensor([0, 0], [2]))),
      RTE.chainW((w) => step({ w, ...data })),
      RTE.map(cd.vectorSpace.norm),
    )
    const [one, same, other] = await Promise.all([1, 1, 2].map((seed) => program({ seed, backend: cd.reference() })()))
    expect(one).toEqual(same)
    expect(one).not.toEqual(other)
  })
  it('a failure is a value, and is told', async () => {
    const events: cd.RunEvent[] = []
    const bad = await step({ w: [1, 2, 3] as never, ...data })({ backend: cd.reference(), log: (e) => events.push(e) })()
    expect(bad).toMatchObject({ _tag: 'Left', left: { _tag: 'ShapeMismatch' } })
    expect(events).toMatchObject([{ _tag: 'Failed', backend: 'reference', error: { _tag: 'ShapeMismatch' } }])
  })
  it('nothing happens before the task runs', async () => {
    let traced = 0
    const effect = cd.run((x: cd.AnyExpr) => {
      traced++
      return cd.mul(x, 2)
    })(1 as never)({ backend: cd.reference() })
    expect(traced).toBe(0)
    expect(await effect()).toMatchObject({ _tag: 'Right' })
    expect(traced).toBe(1)
  })
  it('runSync gives an Either', () => {
    const f = cd.runSync(cd.reference())(double)
    expect(
      pipe(
        f({ x: [1, 2] }),
        E.map((t) => t.toArray()),
      ),
    ).toEqual(E.right([2, 4]))
    expect(f({ x: [[1]] as never })).toMatchObject({ _tag: 'Left', left: { _tag: 'ShapeMismatch' } })
  })
})
