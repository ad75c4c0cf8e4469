/** Programs in a worker: the bits of `cpu()`, tensors that stay there, errors, queues, and workers that end. */
import { MessageChannel, Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { Connection } from '../../src/backends/worker/connection.js'
import { serve, type WorkerBackend, worker } from '../../src/backends/worker/index.js'
import { PROTOCOL } from '../../src/backends/worker/protocol.js'
import type { TypedArray } from '../../src/core/graph/ndarray.js'
import * as cd from '../../src/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'
import { some } from '../depth.js'
import { caseOf } from './sample-cases.js'
import { startingFile } from './worker.js'

/** A primitive of one's own, and a second of the same name in the worker, which ends it where it is given a number below zero. */
const cube = cd.unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
const ownFile = `
import { cpu, definePlugin, unary, scalarRule, mul } from 'codual'
import { serve } from 'codual/worker'
import { workerData } from 'node:worker_threads'
const cube = unary({ name: 'cube', scalar: (x) => { if (x === -1) process.exit(3); if (x === -2) throw new Error('below zero'); return x ** 3 }, source: 'definition' })
serve({ primitives: [cube], backend: cpu({ memoryBytes: 2 ** 24 }) })
`
let usual: Awaited<ReturnType<typeof startingFile>>
let own: Awaited<ReturnType<typeof startingFile>>
let backend: WorkerBackend
let ownBackend: WorkerBackend
beforeAll(async () => {
  usual = await startingFile(`import { serve } from 'codual/worker'\nserve()`)
  own = await startingFile(ownFile)
  backend = worker({ start: usual.start })
  ownBackend = worker({ start: own.start })
})
afterAll(() => {
  backend.dispose()
  ownBackend.dispose()
})

const bits = (xs: readonly TypedArray[]): string =>
  xs.map((x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength).toString('base64')).join(' ')
const wave = (shape: readonly number[], seed = 0): cd.Tensor => {
  const n = shape.reduce((a, b) => a * b, 1)
  return cd.tensor(
    Float32Array.from({ length: n }, (_, i) => Math.sin((i + 1) * (1.37 + seed))),
    shape as never,
  ) as never
}
/** What was rejected, as an error of codual. */
const failed = async (p: Promise<unknown>): Promise<cd.AdException> => {
  const e = await p.then(
    (x) => new Error(`it gave ${String(x)}`),
    (e: unknown) => e,
  )
  if (!cd.isAdException(e)) throw e
  return e
}
const square = (x: cd.AnyExpr): cd.AnyExpr => cd.sum(cd.mul(x, x))

describe('bits', () => {
  const alone = makeCpu()
  const primitives = [...cd.coreRegistry.byPrimitive.keys()].filter((p) => p.name !== 'tap')
  it('every primitive at a sample, with its pullback, has those of cpu()', { timeout: 300_000 }, async () => {
    let held = 0
    for (const prim of some(primitives, 60))
      for (const float of ['f64', 'f32'] as const)
        for (const sample of some(prim.samples, 1)) {
          const c = caseOf(prim, sample as never, float)
          if (c === undefined) continue
          const want = alone.prepare(c.program)
          const got = await backend.prepare(c.program)
          expect(bits((await got.run(c.inputs.map((x) => x.slice()))) as TypedArray[]), `${prim.name} ${float}`).toBe(
            bits(want.run(c.inputs)),
          )
          want.dispose()
          got.dispose()
          held++
        }
    expect(held).toBeGreaterThan(90)
  })
  it("loops, conditionals, rules of one's own and captured tensors", async () => {
    const captured = wave([3])
    const safe = cd.customRule((x: cd.AnyExpr) => cd.mul(x, cd.exp(x)), { frule: (x, dx) => [cd.mul(x, cd.exp(x)), cd.mul(dx, cd.exp(x))] })
    const programs: readonly ((x: cd.AnyExpr) => unknown)[] = [
      (x) => cd.scan((c: cd.AnyExpr) => [cd.sin(cd.mul(c, captured)), cd.sum(c)], x, null, { length: 7 }),
      (x) =>
        cd.cond(
          cd.gt(cd.sum(x), 0),
          () => cd.exp(x),
          () => cd.cos(x),
        ),
      (x) =>
        cd.whileLoop(
          (c: cd.AnyExpr) => cd.lt(cd.sum(c), 50),
          (c: cd.AnyExpr) => cd.add(cd.mul(c, 1.5), 1),
          x,
        ),
      (x) => cd.valueAndGrad((y: cd.AnyExpr) => cd.sum(cd.mul(safe(y), captured)))(x),
      (x) => ({ a: cd.softmax(x), b: [cd.cumsum(x), cd.argmax(x)] }),
      (x) => cd.vmap((y: cd.AnyExpr) => safe(cd.mul(y, 2)))(x),
    ]
    for (const f of programs) {
      const x = wave([3], 1)
      const want = cd.compile(f as never)(x as never)
      const got = await cd.compileAsync(f as never, backend)(x as never)
      const leaves = (y: unknown) => cd.treeLeaves(y as never).map((t) => (t as unknown as cd.Tensor).data as TypedArray)
      expect(bits(leaves(got))).toBe(bits(leaves(want)))
      // A captured tensor is read at each call.
      captured.data[0]! += 1
      expect(bits(leaves(await cd.compileAsync(f as never, backend)(x as never)))).toBe(bits(leaves(cd.compile(f as never)(x as never))))
    }
  })
  it('texts among the arguments stay here', async () => {
    const f = cd.compileAsync(
      (({ mode, x }: { mode: string; x: cd.AnyExpr }) => (mode === 'sin' ? cd.sin(x) : cd.cos(x))) as never,
      backend,
    )
    const there = f as unknown as (x: unknown) => Promise<cd.Tensor>
    expect((await there({ mode: 'sin', x: 0 })).item()).toBe(0)
    expect((await there({ mode: 'cos', x: 0 })).item()).toBe(1)
  })
})

it('threads in the worker share its large steps, with the same bits', async () => {
  const { start } = await startingFile(`
import { cpu } from 'codual'
import { threads } from 'codual/threads'
import { serve } from 'codual/worker'
serve({ backend: cpu({ threads: threads({ count: 2 }) }) })
`)
  const shared = worker({ start })
  const f = (x: cd.AnyExpr) => cd.valueAndGrad((y: cd.AnyExpr) => cd.sum(cd.tanh(cd.matmul(y, y))))(x)
  const x = wave([256, 256])
  const want = bits([(cd.compile(f)(x as never) as unknown as { grad: cd.Tensor }).grad.data])
  const there = cd.compileAsync(f, shared)
  for (let k = 0; k < 20; k++) {
    expect(bits([((await there(x as never)) as unknown as { grad: cd.Tensor }).grad.data]) === want).toBe(true)
    // Threads begin within some milliseconds.
    await new Promise((later) => setTimeout(later, 10))
  }
  expect((await there.explain()).threads).toMatch(/^2, which share [3-9] steps$/)
  shared.dispose()
})

describe('calls', () => {
  it('queue, and arguments are copied at the call, before the worker listens too', async () => {
    const later = worker({ start: () => usual.start() })
    const f = cd.compileAsync(square, later)
    const x = cd.tensor([1, 2])
    const calls = Array.from({ length: 20 }, (_, i) => {
      x.data[0] = i
      return f(x)
    })
    x.data.fill(Number.NaN)
    expect((await Promise.all(calls)).map((y) => y.item())).toEqual(Array.from({ length: 20 }, (_, i) => i * i + 4))
    later.dispose()
  })
  it('.into writes and adds, also to parts of a buffer and to shared memory', async () => {
    const f = cd.compileAsync((x: cd.AnyExpr) => ({ y: cd.mul(x, 2), s: cd.sum(x) }), backend)
    const shared = cd.tensor(new Float64Array(new SharedArrayBuffer(24)))
    const part = cd.tensor(new Float64Array(8).subarray(3, 4), [])
    const into = f.into({ y: shared, s: part } as never)
    await into([1, 2, 3])
    expect([[...shared.data], [...part.data]]).toEqual([[2, 4, 6], [6]])
    await f.into({ y: shared, s: part } as never, { accumulate: true })([1, 2, 3])
    expect([[...shared.data], [...part.data]]).toEqual([[4, 8, 12], [12]])
    // As an argument.
    expect((await f(shared as never)).s.item()).toBe(24)
  })
  it('trap says which equation made a NaN', async () => {
    const f = cd.compileAsync((x: cd.AnyExpr) => cd.sum(cd.log(x)), backend, { trap: 'nan' })
    expect((await f([1])).item()).toBe(0)
    expect((await failed(f([-1]))).message).toMatch(/log/)
    await f.dispose()
  })
  it('no argument is given away: only the copies that a call made', async () => {
    const f = cd.compileAsync((x: cd.AnyExpr, y: cd.AnyExpr) => cd.add(x, y), backend)
    const [x, y] = [cd.tensor([1, 2]), cd.tensor([3, 4])]
    for (let k = 0; k < 3; k++) expect((await f(x, y)).toArray()).toEqual([4, 6])
    for (let k = 0; k < 3; k++) expect((await f(x, x)).toArray()).toEqual([2, 4])
    const there = (await cd.onDevice(cd.tensor([0, 0]), backend)) as unknown as cd.Tensor
    const g = cd.compileAsync((x: cd.AnyExpr) => ({ there: cd.mul(x, 2), here: cd.mul(x, 3) }), backend)
    const here = cd.tensor([0, 0])
    // Targets on both sides, which are added to there.
    for (let k = 0; k < 2; k++) await g.into({ there, here } as never, { accumulate: true })(x)
    expect([here.toArray(), ((await cd.onHost(there as never)) as unknown as cd.Tensor).toArray()]).toEqual([
      [6, 12],
      [4, 8],
    ])
  })
  it("explain is that of the worker's plan", async () => {
    const f = cd.compileAsync(square, backend)
    const { backend: name, steps } = await f.explain([1, 2, 3])
    expect([name, steps.length]).toEqual(['worker', cd.compile(square).explain([1, 2, 3]).steps.length])
  })
  it('run as an effect, with what was prepared', async () => {
    const told: string[] = []
    const y = await cd.run(square)([1, 2])({
      backend,
      log: (e) => void told.push(e._tag === 'Prepared' ? `Prepared ${e.explanation.steps.length}` : e._tag),
    })()
    expect(y._tag === 'Right' && y.right.item()).toBe(5)
    expect(told).toEqual(['Prepared 1', 'Ran'])
  })
  it('equal options are one backend', () => {
    expect(worker({ start: usual.start })).toBe(backend)
    expect(() => worker({ start: 1 as never })).toThrow(/start must be a function, not 1/)
    expect(() => worker({ stat: usual.start } as never)).toThrow(/stat/)
  })
})

describe('tensors that stay in the worker', () => {
  const net = { w: cd.f32(12, 4), b: cd.f32(4) }
  const loss = cd.fn({ params: net, x: cd.f32(8, 12), y: cd.i32(8) }, ({ params: { w, b }, x, y }) =>
    cd.crossEntropy(cd.add(cd.matmul(x, w), b), y),
  )
  const optimiser = adam({ learningRate: 0.05 })
  const step = cd.fn({ params: net, moments: optimiser.init(net), x: cd.f32(8, 12), y: cd.i32(8) }, ({ params, moments, x, y }) => {
    const { value, grad } = cd.valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
    const { updates, state } = optimiser.update(grad, moments, params)
    return { params: applyUpdates(params, updates), moments: state, value }
  })
  it('a training loop that writes its parameters in place has the bits of cpu()', async () => {
    const start = { w: wave([12, 4]), b: wave([4]) }
    const first = { params: start, moments: cd.evaluate(optimiser.init(start as never) as never) }
    const data = { x: wave([8, 12], 2), y: cd.tensor(Int32Array.from({ length: 8 }, (_, i) => i % 4)) }
    const here = cd.compile(step) as unknown as (x: unknown) => { params: unknown; moments: unknown; value: cd.Tensor }
    let state: { params: unknown; moments: unknown } = first
    const losses: number[] = []
    for (let i = 0; i < 30; i++) {
      const { value, ...next } = here({ ...state, ...data })
      state = next
      losses.push(value.item())
    }
    const there = (await cd.onDevice(first as never, backend)) as unknown as typeof first
    const value = cd.tensor(0, [], 'f32')
    const call = (cd.compileAsync(step, backend).into as unknown as (o: unknown) => (x: unknown) => Promise<unknown>)({ ...there, value })
    for (let i = 0; i < 30; i++) {
      await call({ ...there, ...data })
      expect(value.item()).toBe(losses[i])
    }
    const leaves = (y: unknown) => cd.treeLeaves(y as never).map((t) => (t as unknown as cd.Tensor).data as TypedArray)
    expect(bits(leaves(await cd.onHost(there as never)))).toBe(bits(leaves(state)))
  })
  it('adding to what stays there', async () => {
    const t = (await cd.onDevice(cd.tensor([1, 2]), backend)) as unknown as cd.Tensor
    const f = cd.compileAsync((x: cd.AnyExpr) => cd.mul(x, 10), backend)
    await f.into(t as never, { accumulate: true })([1, 1])
    await f.into(t as never, { accumulate: true })([1, 1])
    expect(((await cd.onHost(t as never)) as unknown as cd.Tensor).toArray()).toEqual([21, 22])
  })
  it('the array is copied at the call, and what was disposed of is an error', async () => {
    const later = worker({ start: () => usual.start() })
    const x = cd.tensor(new Float64Array(10).subarray(2, 4))
    const placing = cd.onDevice(x, later)
    x.data.fill(7)
    const t = (await placing) as unknown as cd.Tensor & { dispose: () => void }
    expect(String(t)).toBe('Tensor f64 [2] on worker')
    expect(((await cd.onHost(t as never)) as unknown as cd.Tensor).toArray()).toEqual([0, 0])
    expect((await failed(cd.compileAsync(square, backend)(t as never))).message).toContain('in another worker')
    t.dispose()
    expect((await failed(cd.onHost(t as never))).message).toContain('was disposed')
    expect((await failed(cd.compileAsync(square, later)(t as never))).message).toContain('was disposed')
    expect((await failed(cd.onDevice(x, later, { storage: 'f16' }))).error._tag).toBe('Unsupported')
    later.dispose()
  })
})

describe('errors', () => {
  it('a primitive that the worker does not know: which, where, and what to do', async () => {
    const e = await failed(cd.compileAsync((x: cd.AnyExpr) => cd.sum(cube(x)), backend)([1, 2]))
    expect(e.error).toMatchObject({ _tag: 'MissingKernel', primitive: 'cube', backend: 'worker' })
    expect(e.message).toContain('serve({ primitives: [...]')
    expect(e.message).toContain('worker.test.ts')
  })
  it('one that is given there runs, also within a loop', async () => {
    const f = (x: cd.AnyExpr): cd.AnyExpr => cd.sum(cd.fori(2, (_k, c: cd.AnyExpr) => cube(c), x))
    expect((await cd.compileAsync(f, ownBackend)([1, 2])).item()).toBe(513)
  })
  it('a tap, whose function is here', async () => {
    const e = await failed(cd.compileAsync((x: cd.AnyExpr) => cd.tap(cd.mul(x, 2), () => undefined), backend)([1, 2]))
    expect(e.error).toMatchObject({ _tag: 'MissingKernel', primitive: 'tap', backend: 'worker' })
    expect(e.message).toContain('worker.test.ts')
  })
  it('what a kernel throws, and memory that lacks, with the line', async () => {
    const f = cd.compileAsync((x: cd.AnyExpr) => cube(x), ownBackend)
    await expect(f([-2])).rejects.toThrow('below zero')
    expect((await f([2])).toArray()).toEqual([8])
    const large = await failed(cd.compileAsync((x: cd.AnyExpr) => cd.matmul(x, x), ownBackend)(cd.evaluate(cd.ones([1500, 1500])) as never))
    expect(large.error).toMatchObject({ _tag: 'OutOfMemory', backend: 'cpu' })
  })
})

describe('a worker that ends', () => {
  it('is one clear error for the calls that wait, what it held is lost, and the next call starts another', async () => {
    const before = own.workers.length
    const f = cd.compileAsync((x: cd.AnyExpr) => cube(x), ownBackend)
    expect((await f([2])).item()).toBe(8)
    const held = (await cd.onDevice(cd.tensor([1]), ownBackend)) as unknown as cd.Tensor
    const e = await failed(f([-1]))
    expect(e.error).toMatchObject({ _tag: 'Device', backend: 'worker', reason: 'the worker ended: exit code 3.' })
    expect((await failed(cd.onHost(held as never))).error).toMatchObject({ _tag: 'Device' })
    expect((await failed(f(held as never))).error).toMatchObject({ _tag: 'Device' })
    expect((await f([3])).item()).toBe(27)
    expect(own.workers.length - before).toBeLessThanOrEqual(2)
  })
  it('all calls that wait fail at dispose, and the next starts another', async () => {
    const one = worker({ start: () => usual.start() })
    const f = cd.compileAsync((x: cd.AnyExpr) => cd.sum(cd.fori(1e9, (_k, c: cd.AnyExpr) => cd.sin(c), x)), one)
    const g = cd.compileAsync(square, one)
    expect((await g([2])).item()).toBe(4)
    await f.prepare([1])
    const calls = [f([1]), g([1])]
    // The loop takes longer than anybody waits.
    setTimeout(() => one.dispose(), 50)
    for (const p of calls) expect((await failed(p)).error).toMatchObject({ _tag: 'Device', reason: 'the worker was ended by dispose().' })
    expect((await g([3])).item()).toBe(9)
    one.dispose()
    one.dispose()
  })
  it('a script that fails, one that serves nothing, and what is not a worker', async () => {
    const throwing = worker({ start: () => new Worker(`throw new Error('no such module')`, { eval: true }) })
    expect((await failed(cd.compileAsync(square, throwing)([1]))).error).toMatchObject({
      _tag: 'Device',
      reason: 'the worker ended: no such module.',
    })
    const nothing = worker({ start: () => 7 as never })
    expect((await failed(cd.compileAsync(square, nothing)([1]))).message).toContain('7 is not a worker')
    const refusing = worker({
      start: () => {
        throw new Error('no more workers')
      },
    })
    await expect(cd.compileAsync(square, refusing)([1])).rejects.toThrow('no more workers')
    const idle = new Connection(
      () => new Worker('setInterval(() => undefined, 1000)', { eval: true }),
      () => undefined,
      50,
    )
    expect((await failed(idle.ask('read', { array: 1 }).back)).message).toContain('did not call serve() within 0.05 seconds')
    expect(() => worker().prepare).not.toThrow()
    expect((await failed(cd.compileAsync(square, worker())([1]))).message).toContain("write one that calls serve() of 'codual/worker'")
  })
  it('another copy of the library, and messages of others', async () => {
    const { port1, port2 } = new MessageChannel()
    const other = worker({ start: () => port1 })
    const call = cd.compileAsync(square, other)([1])
    port2.postMessage('hello')
    port2.postMessage({ codual: PROTOCOL + 1, ready: true })
    expect((await failed(call)).message).toContain(`protocol ${PROTOCOL + 1}, not ${PROTOCOL}`)
    const { port1: page, port2: served } = new MessageChannel()
    serve({ port: served })
    const answers: unknown[] = []
    page.on('message', (m) => void answers.push(m))
    page.postMessage({ codual: PROTOCOL + 1, id: 1, kind: 'read', sent: { array: 1 } })
    page.postMessage(null)
    while (answers.length < 2) await new Promise((later) => setTimeout(later, 1))
    expect(answers).toEqual([
      { codual: PROTOCOL, ready: true },
      { codual: PROTOCOL, id: 1, failure: { error: expect.objectContaining({ _tag: 'BadInput' }) } },
    ])
    page.close()
  })
  it('serve outside of a worker, and what it is not given', () => {
    expect(() => serve()).toThrow(/this is not a worker/)
    expect(() => serve({ port: 1 as never })).toThrow(/port is 1/)
    expect(() => serve({ backend: { kind: 'async', name: 'x', prepare: () => undefined } as never })).toThrow(/asynchronous/)
  })
})
