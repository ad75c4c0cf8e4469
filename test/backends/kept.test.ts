/** Tensors that stay in the memory of a CPU backend: what is copied is counted exactly; growth, disposal, nesting and mistakes leave every number right. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Run = ((...args: readonly unknown[]) => cd.Tensor) & {
  readonly into: (t: unknown, o?: unknown) => (...args: readonly unknown[]) => unknown
  readonly dispose: () => void
}
const compiled = (f: (...xs: readonly E[]) => unknown, backend: cd.Backend<'sync'>): Run =>
  cd.compile(((x: E, y: E) => f(x, y)) as never, backend as never) as unknown as Run
const compiled1 = (f: (x: E) => unknown, backend: cd.Backend<'sync'>): Run => cd.compile(f as never, backend as never) as unknown as Run
type Kept = cd.Tensor & { readonly dispose: () => void }
const keep = async (x: unknown, backend: cd.Backend): Promise<Kept> => (await cd.onDevice(x as never, backend)) as unknown as Kept
const thrown = (f: () => unknown): unknown => {
  try {
    f()
  } catch (e) {
    return (e as { readonly error?: unknown }).error
  }
  return undefined
}
const list = (n: number, of: (i: number) => number = (i) => i + 1): cd.Tensor =>
  cd.tensor(
    Float64Array.from({ length: n }, (_, i) => of(i)),
    [n],
  ) as never

describe.each([
  ['with vectors', {}],
  ['in plain JavaScript', { simd: false }],
] as const)('kept tensors %s', (_, options) => {
  it('are read and written where they are: no byte is copied where kernels are WebAssembly, results of fresh calls once', async () => {
    const backend = makeCpu(options)
    const [x, y, out] = await Promise.all([list(1000), list(1000, (i) => 2 * i), list(1000, () => 0)].map((t) => keep(t, backend)))
    const f = compiled((a, b) => cd.add(a!, b!), backend)
    const before = backend.stats()
    expect([...f(x, y).data.slice(0, 3)]).toEqual([1, 4, 7])
    const fresh = backend.stats()
    expect([fresh.bytesIn - before.bytesIn, fresh.bytesOut - before.bytesOut]).toEqual([0, 8000])
    expect(f.into(out)(x, y)).toBe(out)
    const after = backend.stats()
    // A kernel in JavaScript may throw, and a target is as it was then: it is written at the end.
    expect([after.bytesIn - fresh.bytesIn, after.bytesOut - fresh.bytesOut]).toEqual([0, 'simd' in options ? 8000 : 0])
    expect([...out!.data.slice(0, 3)]).toEqual([1, 4, 7])
    // Beside arrays of the caller, and again without.
    expect([...f(x, list(1000)).data.slice(0, 3)]).toEqual([2, 4, 6])
    expect([...f(list(1000), y).data.slice(0, 3)]).toEqual([1, 4, 7])
    expect([...f(x, y).data.slice(0, 3)]).toEqual([1, 4, 7])
    expect([...x!.data.slice(0, 3)]).toEqual([1, 2, 3])
  })

  it('are read where they are by results that are parts of them, unless a target lies over them', async () => {
    const backend = makeCpu(options)
    const [x, y] = await Promise.all([list(1000), list(1000, (i) => -i)].map((t) => keep(t, backend)))
    const [p, q] = await Promise.all([list(300, () => 0), list(1000, () => 0)].map((t) => keep(t, backend)))
    const parts = compiled((a, b) => [cd.slice(a!, [100], [400]), b!], backend)
    const before = backend.stats()
    const [fresh] = parts(x, y) as unknown as readonly cd.Tensor[]
    expect([...fresh!.data.slice(0, 2)]).toEqual([101, 102])
    parts.into([p, q])(x, y)
    const after = backend.stats()
    expect([after.bytesIn - before.bytesIn, after.bytesOut - before.bytesOut]).toEqual([0, 2 * (2400 + 8000)])
    expect([p!.data[0], p!.data[299], q!.data[999]]).toEqual([101, 400, -999])
    // What a fresh call gave is no view.
    parts.into([p, q])(y, x)
    expect([fresh!.data[0], p!.data[0], q!.data[0]]).toEqual([101, -100, 1])
    // Each is the other's target, and beside a result that steps write.
    compiled((a, b) => [b, a], backend).into([x, y])(x, y)
    expect([x!.data[5], y!.data[5]]).toEqual([-5, 6])
    compiled((a, b) => [b, cd.add(a!, b!), a], backend).into([x, q, y])(x, y)
    expect([x!.data[5], q!.data[5], y!.data[5]]).toEqual([6, 1, -5])
    const shifted = compiled1((a) => cd.slice(a, [1], [1000]), backend)
    expect([...shifted(x).data.slice(0, 2)]).toEqual([2, 3])
    // Memory that grew, and one argument of the caller.
    expect([...(parts(x, list(1000)) as unknown as readonly cd.Tensor[])[1]!.data.slice(0, 2)]).toEqual([1, 2])
  })

  it('are replaced in place by a step of an optimiser', async () => {
    const backend = makeCpu(options)
    const w = await keep(list(64), backend)
    const step = compiled1((p) => cd.sub(p, cd.mul(0.1, p)), backend).into(w)
    for (let i = 0; i < 10; i++) step(w)
    w.data.forEach((v, i) => {
      expect(v).toBeCloseTo((i + 1) * 0.9 ** 10, 10)
    })
  })

  it('keep what they hold when the memory grows, and when calls nest', async () => {
    const backend = makeCpu(options)
    const x = await keep(list(50), backend)
    const view = x.data
    const g = compiled1((a) => cd.mul(a, 2), backend)
    const inner = compiled1((a) => cd.cumsum(cd.concat([a, a, a, a] as never, { axis: 0 }) as never), backend)
    const big = compiled1((a) => cd.sum(cd.matmul(cd.reshape(a, [50, 1]) as never, cd.ones([1, 100_000]) as never)), backend)
    expect(big(x).item()).toBe(1275 * 100_000)
    expect(backend.stats().growths).toBeGreaterThan(0)
    expect([...g(x).data]).toEqual(Array.from({ length: 50 }, (_, i) => 2 * (i + 1)))
    expect(view === x.data || view.length === 0).toBe(true)
    expect(inner(x).data[199]).toBe(4 * 1275)
    // More is kept: programs that are laid out move.
    const more = await Promise.all(
      Array.from({ length: 40 }, (_, k) =>
        keep(
          list(5000, () => k),
          backend,
        ),
      ),
    )
    expect([...g(x).data]).toEqual(Array.from({ length: 50 }, (_, i) => 2 * (i + 1)))
    more.forEach((m, k) => {
      expect(m.data.every((v) => v === k)).toBe(true)
    })
  })

  it('captured by a function are read where they are', async () => {
    const backend = makeCpu(options)
    const w = await keep(list(100), backend)
    const f = compiled1((a) => cd.sum(cd.mul(a, w as never)), backend)
    const x = await keep(
      list(100, () => 2),
      backend,
    )
    const { bytesIn } = backend.stats()
    expect(f(x).item()).toBe(2 * 5050)
    expect(backend.stats().bytesIn - bytesIn).toBe(0)
    w.data[0] = 101
    expect(f(x).item()).toBe(2 * 5150)
  })

  it('that a plan writes over, and results that are arguments, are copied', async () => {
    const backend = makeCpu(options)
    const x = await keep(list(6), backend)
    const same = compiled1((a) => [a, cd.reshape(a, [2, 3]), cd.set(a, 0, 9 as never)], backend) as unknown as (
      x: unknown,
    ) => readonly cd.Tensor[]
    const [a, b, c] = same(x)
    expect([[...a!.data], [...b!.data], [...c!.data]]).toEqual([
      [1, 2, 3, 4, 5, 6],
      [1, 2, 3, 4, 5, 6],
      [9, 2, 3, 4, 5, 6],
    ])
    expect([...x.data]).toEqual([1, 2, 3, 4, 5, 6])
    // Two results, each where the argument of the other was.
    const y = await keep(
      list(6, (i) => -i),
      backend,
    )
    const swap = cd.compile(((p: E, q: E) => [cd.add(q, 1), cd.mul(p, 2)]) as never, backend) as unknown as Run
    swap.into([x, y])(x, y)
    expect([[...x.data], [...y.data]]).toEqual([
      [1, 0, -1, -2, -3, -4],
      [2, 4, 6, 8, 10, 12],
    ])
  })

  it('add up by accumulate', async () => {
    const backend = makeCpu(options)
    const [x, sum] = [
      await keep(list(5), backend),
      await keep(
        list(5, () => 10),
        backend,
      ),
    ]
    const add = compiled1((a) => cd.mul(a, 3), backend).into(sum, { accumulate: true })
    add(x)
    add(x)
    expect([...sum.data]).toEqual([16, 22, 28, 34, 40])
  })
})

it('room that was given back is used again, and what is gone says so', async () => {
  const backend = makeCpu()
  const f = compiled1((a) => cd.mul(a, 2), backend)
  const first = await keep(list(1000), backend)
  f(first)
  const { memoryBytes } = backend.stats()
  first.dispose()
  first.dispose()
  for (let k = 0; k < 200; k++) {
    const x = await keep(
      list(1000, () => k),
      backend,
    )
    expect(f(x).data[999]).toBe(2 * k)
    x.dispose()
  }
  expect(backend.stats().memoryBytes).toBe(memoryBytes)
  expect(thrown(() => f(first))).toMatchObject({ _tag: 'BadInput' })
  expect(thrown(() => f.into(first)(list(1000)))).toMatchObject({ _tag: 'BadInput' })
  expect(thrown(() => first.toArray())).toMatchObject({ _tag: 'BadInput' })
})

it('onHost copies them, and onDevice refuses them', async () => {
  const backend = makeCpu()
  const x = await keep({ a: list(3), b: [1, 2] }, backend)
  const tree = x as unknown as { readonly a: Kept; readonly b: Kept }
  const back = (await cd.onHost(tree as never)) as unknown as { readonly a: cd.Tensor }
  tree.a.data[0] = 7
  expect([...back.a.data]).toEqual([1, 2, 3])
  expect(tree.a.toArray()).toEqual([7, 2, 3])
  await expect(cd.onDevice(tree as never, backend)).rejects.toMatchObject({ error: { _tag: 'BadInput' } })
  expect(String(tree.a)).toBe('Tensor f64 [3] [7, 2, 3]')
  expect(JSON.parse(JSON.stringify(tree.a))).toEqual({ shape: [3], dtype: 'f64', data: [7, 2, 3] })
})

it('other backends copy them', async () => {
  const x = await keep(list(4), makeCpu())
  for (const other of [makeCpu(), makeCpu({ simd: false }), cd.reference()]) expect(compiled1((a) => cd.sum(a), other)(x).item()).toBe(10)
  expect(
    await (cd.compileAsync(((a: E) => cd.sum(a)) as never, cd.cpu()) as unknown as (x: unknown) => Promise<cd.Tensor>)(x),
  ).toMatchObject({ shape: [] })
})

it('are targets of calls that end later, though the memory moves before; and each has a lock of its own', async () => {
  const backend = makeCpu()
  const [x, y, out, other] = await Promise.all(
    [list(4), list(4, (i) => 10 * i), list(4, () => 5), list(4, () => 0)].map((t) => keep(t, backend)),
  )
  const f = cd.compileAsync(((a: E) => cd.mul(a, 2)) as never, backend) as unknown as {
    into(t: unknown, o?: unknown): (x: unknown) => Promise<unknown>
  }
  const later = f.into(out)(x)
  // Another target of the same memory is free; this one is not.
  compiled1((a) => cd.add(a, 1), backend).into(other)(y)
  expect(thrown(() => compiled1((a) => cd.add(a, 1), backend).into(out)(y))).toMatchObject({ _tag: 'BadInput' })
  expect(thrown(() => compiled1((a) => cd.add(a, 1), backend)(out))).toMatchObject({ _tag: 'BadInput' })
  // The memory grows, and views that were taken before are of nothing.
  compiled1((a) => cd.sum(cd.cumsum(cd.broadcastTo(cd.reshape(a, [4, 1]) as never, [4, 100_000]) as never)), backend)(y)
  await keep(list(100_000), backend)
  await later
  expect([...out!.data]).toEqual([2, 4, 6, 8])
  expect([...other!.data]).toEqual([1, 11, 21, 31])
  await f.into(out, { accumulate: true })(x)
  expect([...out!.data]).toEqual([4, 8, 12, 16])
})

it('empty ones, numbers and all dtypes', async () => {
  const backend = makeCpu()
  for (const x of [
    cd.tensor([]),
    cd.tensor(3),
    cd.tensor([1, 2], [2], 'i32'),
    cd.tensor([true, false]),
    cd.tensor([[1.5]], [1, 1], 'f32'),
  ]) {
    const k = await keep(x, backend)
    expect([k.shape, k.dtype, [...k.data]]).toEqual([x.shape, x.dtype, [...x.data]])
    const g = compiled1((a) => cd.where(cd.gt(cd.cast(a as never, 'f64') as never, 0), a as never, a as never), backend)
    expect([...g(k).data]).toEqual([...x.data])
  }
})

it('more than the memory takes is one error, and what is kept stays', async () => {
  const backend = makeCpu({ memoryBytes: 2 ** 20 })
  const x = await keep(list(10), backend)
  await expect(keep(list(2 ** 18), backend)).rejects.toMatchObject({ error: { _tag: 'OutOfMemory' } })
  expect(compiled1((a) => cd.sum(a), backend)(x).item()).toBe(55)
  // What fits is kept as ever, to the last part of the memory, and programs have theirs.
  const small = await keep(list(100), backend)
  const half = await keep(list(2 ** 15), backend)
  expect(compiled1((a) => cd.sum(a), backend)(small).item()).toBe(5050)
  expect(compiled1((a) => cd.sum(a), backend)(half).item()).toBe((2 ** 15 * (2 ** 15 + 1)) / 2)
})

describe("a kernel of a user's in the middle of a run", () => {
  const made = () => {
    let act = (): void => undefined
    const op = cd.primitive({
      name: 'during',
      family: 'mine',
      args: ['float'] as const,
      shapeRule: ([a]: readonly cd.Aval[]) => a!,
      source: 'test',
      meaning: () => undefined,
    })
    const kernels = cd.definePlugin({
      name: 'during',
      ops: { during: op },
      rules: { during: cd.missing('a test') },
      kernels: {
        cpu: {
          during: ([a]: readonly cd.NDArray[], _p: unknown, [y]: readonly cd.NDArray[]) => {
            y!.data.set(a!.data as never)
            act()
          },
        },
      },
    }).kernels.cpu!
    const backend = makeCpu({ kernels, poison: true })
    // Reads its arguments before that kernel and after it.
    const f = compiled((x, y) => cd.add(cd.mul(cd.applyPrimitive(op, [cd.add(x!, y!)])[0]!, x!), cd.mul(y!, 3)), backend)
    const during = (next: () => void): void => {
      act = next
    }
    return { backend, f, during }
  }
  const want = [1, 2, 3].map((v) => (v + 10 * v) * v + 30 * v)

  it('may run the same function on other arrays, and make the memory grow', async () => {
    const { backend, f, during } = made()
    const [x, y] = [
      await keep(list(3), backend),
      await keep(
        list(3, (i) => 10 * (i + 1)),
        backend,
      ),
    ]
    const grow = compiled1((a) => cd.sum(cd.cumsum(a)), backend)
    let inside = 0
    during(() => {
      if (inside++ > 0) return
      expect([...f(list(3), list(3)).data]).toEqual([1, 2, 3].map((v) => 2 * v * v + 3 * v))
      expect([...f(x, list(3)).data]).toEqual([1, 2, 3].map((v) => 2 * v * v + 3 * v))
      expect(grow(list(100_000, () => 0)).item()).toBe(0)
    })
    expect([...f(x, y).data]).toEqual(want)
    expect(inside).toBe(3)
    expect([...f(x, y).data]).toEqual(want)
    expect([...f(list(3), y).data]).toEqual(want)
  })

  it('may fail: targets are as they were', async () => {
    const { backend, f, during } = made()
    const [x, y, out] = [
      await keep(list(3), backend),
      await keep(
        list(3, (i) => 10 * (i + 1)),
        backend,
      ),
      await keep(
        list(3, () => 7),
        backend,
      ),
    ]
    during(() => {
      throw new Error('stop')
    })
    expect(() => f.into(out)(x, y)).toThrow('stop')
    expect([...out.data]).toEqual([7, 7, 7])
    during(() => undefined)
    f.into(out)(x, y)
    expect([...out.data]).toEqual(want)
  })

  it('finds no room to keep anything in: what is asked for then is an ordinary tensor', async () => {
    const { backend, f, during } = made()
    let asked: Promise<cd.Tensor> | undefined
    during(() => {
      asked = cd.onDevice(list(2) as never, backend) as never
    })
    expect([
      ...f(
        list(3),
        list(3, (i) => 10 * (i + 1)),
      ).data,
    ]).toEqual(want)
    const t = await asked!
    expect([...t.data]).toEqual([1, 2])
    expect('dispose' in t).toBe(false)
  })
})
