/** Bad input: each kind has its own clear error, as data and in words, and nothing is lost by it. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

type Any = (...args: readonly unknown[]) => unknown
const loose = (f: unknown): Any => f as Any

const failure = (f: () => unknown): { readonly error: cd.AdError; readonly message: string } => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return { error: e.error, message: e.message }
    throw e
  }
  throw new Error('no error was raised')
}

const model = cd.fn({ p: { w: cd.f64(2, 3) }, x: cd.f64('n', 3) }, ({ p, x }) => cd.sum(cd.matmul(x, cd.transpose(p.w))))
const good = { p: { w: [[1, 2, 3], [4, 5, 6]] }, x: [[1, 1, 1]] } // biome-ignore format: one row
const w = good.p.w

describe('arguments of a declared function', () => {
  const cases: readonly (readonly [name: string, argument: unknown, tag: cd.AdError['_tag'], message: RegExp])[] = [
    ['wrong shape', { p: { w: [[1, 2]] }, x: [[1, 1, 1]] }, 'ShapeMismatch', /p\.w: got \[1, 2\], declared \[2, 3\]/],
    ['wrong rank', { p: { w }, x: 1 }, 'ShapeMismatch', /x: got \[\], declared \[n, 3\]/],
    [
      'wrong dtype',
      { p: { w: cd.tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]) }, x: [[1, 1, 1]] },
      'DTypeMismatch',
      /got f32, declared f64/,
    ],
    ['wrong typed array', { p: { w: Float32Array.of(1, 2, 3, 4, 5, 6) }, x: [[1, 1, 1]] }, 'DTypeMismatch', /Float32Array, declared f64/],
    ['a typed array without a dtype', { p: { w: new Int8Array(6) }, x: [[1, 1, 1]] }, 'BadInput', /Int8Array has no dtype/],
    ['missing leaf', { p: {}, x: [[1, 1, 1]] }, 'BadInput', /p\.w is missing/],
    ['extra leaf', { p: { w, b: 1 }, x: [[1, 1, 1]] }, 'BadInput', /p\.b is not expected/],
    ['wrong tree', { p: w, x: [[1, 1, 1]] }, 'BadInput', /p must be \{ w: \* \}/],
    ['undefined', { p: { w: undefined }, x: [[1, 1, 1]] }, 'BadInput', /undefined is not a number/],
    ['ragged', { p: { w: [[1, 2, 3], [4, 5]] }, x: [[1, 1, 1]] }, 'BadInput', /ragged array/], // biome-ignore format: one row
    ['sparse', { p: { w: [[1, 2, 3], Object.assign(new Array(3), { 0: 1, 2: 3 })] }, x: [[1, 1, 1]] }, 'BadInput', /sparse array/],
    ['text', { p: { w: 'abc' }, x: [[1, 1, 1]] }, 'BadInput', /'abc'/],
  ]
  for (const [name, argument, tag, message] of cases) {
    it(name, () => {
      for (const call of [
        () => loose(model)(argument),
        () => loose(cd.compile(model, makeCpu()))(argument),
        () => loose(cd.compile(cd.grad(model), cd.reference()))(argument),
      ]) {
        const e = failure(call)
        expect(e.error._tag).toBe(tag)
        expect(e.message).toMatch(message)
      }
    })
  }
  it('a list of another length, which the compiler does not count', () => {
    const f = cd.fn({ hs: [cd.f64(2), cd.f64(2)] }, ({ hs }) => ({ hs: hs.map((h) => cd.add(h, 1)) }))
    const steps = [f, cd.compile(f, makeCpu()), cd.compile(f, cd.reference())]
    const of = (n: number) => ({ hs: Array.from({ length: n }, () => cd.tensor([1, 2])) })
    for (const step of steps) {
      expect(step(step(of(2))).hs.map((h) => [...h.data])).toEqual([
        [3, 4],
        [3, 4],
      ])
      for (const n of [0, 1, 3]) {
        const e = failure(() => step(of(n)))
        expect(e.error._tag).toBe('BadInput')
        // A list of nothing is an array of no numbers.
        expect(e.message).toContain(n === 0 ? 'hs must be [*, *], found one array' : `hs must have 2 entries, found ${n}`)
      }
    }
  })
  it('a named axis that differs', () => {
    const f = cd.fn({ a: cd.f64('n'), b: cd.f64('n') }, ({ a, b }) => cd.sum(cd.mul(a, b)))
    expect(failure(() => f({ a: [1, 2], b: [1, 2, 3] })).message).toMatch(/'n' is 3 here and 2 in/)
  })
  it('a declaration with a number in it', () => {
    expect(failure(() => loose(cd.fn)({ p: { w: 3 } }, () => 0)).message).toMatch(/a leaf of the declaration is not a dtype with a shape/)
  })
  it('a function still works after an error', () => {
    const c = cd.compile(model, makeCpu())
    expect(failure(() => loose(c)({ p: { w }, x: [[1, 2]] })).error._tag).toBe('ShapeMismatch')
    expect(loose(c)(good)).toMatchObject({ dtype: 'f64' })
  })
  it('a tensor and an expression in one argument: called, it inlines and the tensor is read at each call; compiled, it is an error', () => {
    const x = cd.tensor([1, 2, 3, 4, 5, 6], [2, 3])
    const traced = cd.compile(cd.fn({ v: cd.f64(2, 3) }, ({ v }) => cd.add(model({ p: { w: v }, x } as never), 0)))
    expect(traced({ v: w }).item()).toBe(model({ p: { w }, x: x.toArray() } as never).item())
    x.data.fill(1)
    expect(traced({ v: w }).item()).toBe(42)
    const compiled = loose(cd.compile(model))
    expect(failure(() => loose(cd.grad((v: cd.AnyExpr) => compiled({ p: { w: v }, x }) as never))(w)).message).toMatch(
      /an expression of an input where a concrete array/,
    )
  })
  it('an expression to a compiled function', () => {
    expect(
      failure(() =>
        cd.grad(
          (x) =>
            loose(
              cd.compile(
                cd.fn({ x: cd.f64() }, (a) => a.x),
                makeCpu(),
              ),
            )({ x }) as never,
        )(1),
      ).message,
    ).toMatch(/an expression of an input where a concrete array/)
  })
  it('a record with a prototype of its own', () => {
    class Box {
      w = 1
    }
    expect(failure(() => loose(cd.compile((x) => cd.sum(x)))(new Box())).message).toMatch(/class Box is not a plain record/)
  })
  it('a key named __proto__ writes no prototype', () => {
    const r = loose(cd.compile((x: unknown) => x as never))(JSON.parse('{"__proto__": 1, "a": 2}')) as Record<string, unknown>
    expect(Object.getPrototypeOf(r)).toBe(Object.prototype)
    expect(Object.hasOwn(r, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })
})

describe('operations', () => {
  it('booleans are not added by scatterAdd', () => {
    const e = failure(() => loose(cd.scatterAdd)(cd.tensor([true, false]), [0, 0], cd.tensor([true, true])))
    expect(e.error).toMatchObject({ _tag: 'DTypeMismatch', op: 'scatterAdd', dtypes: ['bool', 'bool'] })
    expect(e.message).toMatch(/cast\(x, 'i32'\)/)
  })
})

describe('transforms', () => {
  it('grad of a result that is not a scalar says what to use', () => {
    const e = failure(() => loose(cd.grad((x) => cd.mul(x, 2) as never))([1, 2]))
    expect(e.error).toMatchObject({ _tag: 'NotScalar', shape: [2] })
    expect(e.message).toMatch(/Perhaps you meant jacrev/)
  })
  it('integers to wrt', () => {
    const f = cd.fn({ n: cd.i32(2), x: cd.f64(2) }, ({ n, x }) => cd.sum(cd.mul(x, cd.cast(n, 'f64'))))
    expect(failure(() => loose(loose(cd.grad)(f, { wrt: 'n' }))({ n: [1, 2], x: [1, 2] })).error._tag).toBe('NotDifferentiable')
  })
  it('wrt that names nothing', () => {
    expect(failure(() => loose(loose(cd.grad)(model, { wrt: 'q' }))(good)).message).toMatch(/'q' names nothing/)
  })
  it('a fraction beside an i32', () => {
    expect(failure(() => cd.evaluate(loose(cd.add)(cd.tensor(Int32Array.of(1)), 0.5) as never)).error._tag).toBe('DTypeMismatch')
  })
  it('a primitive without a rule', () => {
    const empty = cd.makeCodual(cd.emptyRegistry, cd.reference())
    const e = failure(() => loose(empty.grad((x) => cd.sin(x) as never))(1))
    expect(e.error).toMatchObject({ _tag: 'MissingRule', primitive: 'sin', rule: 'rrule' })
    expect(e.message).toMatch(/registry\.with\(scalarRule\(sin/)
  })
  it('an expression that leaks out of its trace', () => {
    let leaked: unknown
    cd.grad((x) => {
      leaked = x
      return cd.mul(x, x) as never
    })(2)
    expect(failure(() => cd.evaluate(leaked as never)).message).toMatch(/leaked out of another trace/)
  })
  it("names the user's own line", () => {
    const e = failure(() => cd.matmul(cd.tensor([[1, 2]]) as never, cd.tensor([[1, 2]]) as never))
    expect(e.message).toMatch(/input\.test\.ts:\d+:\d+/)
    expect(e.message).toMatch(/inner axes differ: a is \[1, 2\], b is \[1, 2\] \(2 is not 1\)/)
  })
})

describe('into', () => {
  const f = cd.fn({ x: cd.f64(3) }, ({ x }) => cd.mul(x, 2))
  const x = cd.tensor([1, 2, 3])
  it('a target of another shape names both', () => {
    const c = cd.compile(f, makeCpu())
    expect(failure(() => loose(loose(c.into)(cd.tensor([0, 0])))({ x })).message).toMatch(/the target is f64 \[2\], the result f64 \[3\]/)
  })
  it('one array for two outputs', () => {
    const two = cd.compile(
      cd.fn({ x: cd.f64(3) }, (a) => ({ a: cd.mul(a.x, 2), b: cd.mul(a.x, 3) })),
      makeCpu(),
    )
    const t = cd.tensor([0, 0, 0])
    expect(failure(() => loose(two.into)({ a: t, b: t })).message).toMatch(/two outputs are the same array/)
  })
  it('may name an input, may accumulate, and touches nothing else', () => {
    const c = cd.compile(f, makeCpu())
    const y = cd.tensor([1, 2, 3])
    loose(loose(c.into)(y))({ x: y })
    expect(y.toArray()).toEqual([2, 4, 6])
    loose(loose(c.into)(y, { accumulate: true }))({ x })
    expect(y.toArray()).toEqual([4, 8, 12])
    expect(x.toArray()).toEqual([1, 2, 3])
  })
  it('are not added to where they are booleans', async () => {
    const positive = (a: cd.AnyExpr) => cd.gt(a as never, 0)
    const t = cd.compile(positive, makeCpu())(x as never) as cd.Tensor
    expect(failure(() => loose(loose(cd.compile(positive, makeCpu()).into)(t, { accumulate: true }))(x)).error).toMatchObject({
      _tag: 'DTypeMismatch',
      dtypes: ['bool'],
      fix: expect.stringContaining('i32'),
    })
    expect(t.toArray()).toEqual([true, true, true])
  })
})

describe('sizes', () => {
  it('a shape that no array can have', () => {
    expect(failure(() => cd.broadcastTo(cd.tensor(1) as never, [70_000, 70_000])).error._tag).toBe('BadInput')
  })
  it('more memory than allowed is refused before running', () => {
    const small = makeCpu({ memoryBytes: 1 << 20 })
    const c = cd.compile((a: cd.AnyExpr) => cd.sum(cd.sin(cd.broadcastTo(a, [512, 512]))), small)
    expect(loose(c)(1)).toBeDefined()
    const big = cd.compile(
      (a: cd.AnyExpr) => cd.matmul(cd.broadcastTo(a, [4096, 4096]) as never, cd.broadcastTo(a, [4096, 4096]) as never),
      small,
    )
    expect(failure(() => loose(big)(1)).error._tag).toBe('OutOfMemory')
  })
  it('empty axes and rank 0 work', () => {
    const f = (a: cd.AnyExpr) => cd.sum(cd.exp(a as never))
    expect((loose(cd.grad(f as never))([]) as cd.Tensor).shape).toEqual([0])
    expect((loose(cd.compile(f as never))([]) as cd.Tensor).item()).toBe(0)
    expect((loose(cd.grad(f as never))(0) as cd.Tensor).item()).toBe(1)
  })
  it('NaN in an input is allowed', () => {
    expect((loose(cd.compile((a: cd.AnyExpr) => cd.sum(a)))([1, Number.NaN]) as cd.Tensor).item()).toBeNaN()
  })
})

describe('captured tensors', () => {
  it('are read at every call, so a change of their data is seen', () => {
    const w = cd.tensor([1, 2])
    const c = cd.compile((x: cd.AnyExpr) => cd.sum(cd.mul(x, w as never)))
    expect((loose(c)([1, 1]) as cd.Tensor).item()).toBe(3)
    w.data[0] = 10
    expect((loose(c)([1, 1]) as cd.Tensor).item()).toBe(12)
  })
  it('results are owned: a hundred of them, none changes', () => {
    const c = cd.compile((x: cd.AnyExpr) => cd.mul(x, 2), makeCpu())
    const kept = Array.from({ length: 100 }, (_, i) => loose(c)([i, i + 1]) as cd.Tensor)
    kept.forEach((t, i) => {
      expect(t.toArray()).toEqual([2 * i, 2 * i + 2])
    })
  })
})
