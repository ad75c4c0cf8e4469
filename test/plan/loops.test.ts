/** Loops in plans: one step is planned, whatever their length; what they run, copy and hold is counted; a step's kernels may lie anywhere. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
interface Compiled {
  (...xs: readonly unknown[]): unknown
  readonly explain: (...xs: readonly unknown[]) => cd.Explanation
}
const compiled = (f: unknown, backend: cd.SyncBackend): Compiled => (cd.compile as (f: unknown, b: cd.SyncBackend) => Compiled)(f, backend)
const random = (n: number, s = 1): Float64Array => Float64Array.from({ length: n }, (_, i) => 0.3 * Math.sin(1.3 * i + s))
const numbers = (x: unknown): number[] => cd.treeLeaves(x as never).flatMap((t) => [...(t as unknown as cd.Tensor).data])
const runs = (e: cd.Explanation): number => e.steps.reduce((n, s) => n + s.times, 0)

const [B, H] = [3, 4]
/** An LSTM of one product for all gates, its states stacked and read at the end. */
const ops = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
const { add, matmul, mul, sigmoid, split, tanh } = ops
const cell = (x: E, [h, c]: readonly [E, E], w: E, u: E, b: E): readonly [E, E] => {
  const gates = add!(add!(matmul!(x, w), matmul!(h, u)), b)
  const [i, f, g, o] = split!(gates, 4, { axis: 1 }) as unknown as readonly [E, E, E, E]
  const next = add!(mul!(sigmoid!(f), c), mul!(sigmoid!(i), tanh!(g)))
  return [mul!(sigmoid!(o), tanh!(next)), next]
}
const lstm = (T: number, how: 'scan' | 'unrolled') =>
  cd.fn({ w: cd.f64(H, 4 * H), u: cd.f64(H, 4 * H), b: cd.f64(4 * H), xs: cd.f64(T, B, H) }, ({ w, u, b, xs }) => {
    const zero = cd.zeros([B, H]) as unknown as E
    if (how === 'scan') {
      const step = (s: readonly [E, E], x: E) => {
        const next = cell(x, s, w as never, u as never, b as never)
        return [next, next[0]] as const
      }
      const [, hs] = ops.scan!(step, [zero, zero], xs) as unknown as readonly [unknown, E]
      return cd.sum(cd.mul(hs, hs))
    }
    let s: readonly [E, E] = [zero, zero]
    const hs: E[] = []
    for (const x of cd.unstack(xs as never) as unknown as E[]) {
      s = cell(x, s, w as never, u as never, b as never)
      hs.push(s[0])
    }
    const stacked = cd.stack(hs as never)
    return cd.sum(cd.mul(stacked, stacked))
  })
const lstmArgs = (T: number) => ({
  w: cd.tensor(random(4 * H * H), [H, 4 * H]),
  u: cd.tensor(random(4 * H * H, 2), [H, 4 * H]),
  b: cd.tensor(random(4 * H, 3), [4 * H]),
  xs: cd.tensor(random(T * B * H, 4), [T, B, H]),
})
const trained = (T: number, how: 'scan' | 'unrolled'): Compiled =>
  compiled(cd.valueAndGrad(lstm(T, how) as never, { wrt: ['w', 'u', 'b'] } as never), makeCpu({ verify: true }))

describe('an LSTM as a loop, with its gradient', () => {
  const T = 16
  const [scan, unrolled] = [trained(T, 'scan'), trained(T, 'unrolled')]
  const [s, u] = [scan.explain(lstmArgs(T)), unrolled.explain(lstmArgs(T))]
  it('is proven, and gives the numbers of the loop written out', () => {
    expect(s.verified).toBe('provenance')
    const [got, want] = [numbers(scan(lstmArgs(T))), numbers(unrolled(lstmArgs(T)))]
    got.forEach((x, i) => {
      expect(x).toBeCloseTo(want[i]!, 12)
    })
  })
  it('has two loops, and as many kernels in a step as where it is written out', () => {
    expect(s.loops.map(({ count }) => count)).toEqual([T, T])
    const inside = s.loops.reduce((n, l) => n + l.end - l.first, 0)
    expect(inside).toBe(8)
    expect(runs(u)).toBeGreaterThanOrEqual(8 * T - 4)
    expect(runs(s)).toBeLessThanOrEqual(runs(u) + 10)
  })
  it('adds each gradient of weights up in one accumulator, in place', () => {
    expect(s.copiedAccumulators).toBe(0)
    expect(s.steps.filter((x) => x.kernel === 'gemm f64 +=' && x.times === T).length).toBe(2)
  })
  it('stacks gates and states once', () => {
    const state = 8 * B * H
    // i, f, g, o and tanh c, T each; h and c with one more; nothing behind the loop back
    expect(s.loops.map((l) => l.stackedBytes)).toEqual([5 * T * state + 2 * (T + 1) * state, 0])
  })
  it('is the same plan for any number of steps, but for the sizes of what is stacked', () => {
    const long = trained(500, 'scan').explain(lstmArgs(500))
    expect(long.steps.length).toBe(s.steps.length)
    expect(long.steps.map((x) => x.kernel)).toEqual(s.steps.map((x) => x.kernel))
    expect(long.kernels).toBe(s.kernels)
  })
  it('is what explain tells', () => {
    const text = String(s)
    expect(text).toMatch(/loop: steps \d+ to \d+, 16 times, [\d,]+ bytes moved by each, [\d,]+ stacked\./)
    expect(text).toContain('(16 times)')
  })
})

describe('a carry', () => {
  const explain = (f: unknown, ...args: readonly unknown[]) => compiled(f, makeCpu({ verify: true })).explain(...args)
  const copies = (e: cd.Explanation) => e.steps.filter((x) => x.times > 1 && x.kernel === 'loop copy').length
  const x = cd.tensor([1, 2, 3])
  it('is written in place where nothing reads it afterwards', () => {
    const e = explain((a: E) => ops.fori!(5, ((_k: E, c: E) => cd.sin(cd.mul(c, 0.5))) as never, a as never), x)
    expect(e.steps.filter((s) => s.times === 5).length).toBe(1)
    expect(copies(e)).toBe(0)
  })
  it('is copied where it is read at other points', () => {
    const e = explain((a: E) => ops.fori!(5, ((_k: E, c: E) => cd.add(c, cd.flip(c))) as never, a as never), x)
    expect(copies(e)).toBe(1)
  })
  it('two that change places are', () => {
    const e = explain((a: E) => ops.fori!(5, ((_k: E, [p, q]: readonly [E, E]) => [q, cd.sin(p)]) as never, [a, cd.cos(a)] as never), x)
    expect(copies(e)).toBeGreaterThan(0)
    expect(e.verified).toBe('provenance')
  })
  it('that is stacked is never copied, forward and back', () => {
    for (const reverse of [false, true]) {
      const f = (a: E, xs: E) =>
        ops.scan!(((c: E, y: E) => [cd.tanh(cd.add(cd.matmul(c, c), y)), c]) as never, a as never, xs as never, { reverse } as never)
      const e = explain(f, cd.tensor(random(4), [2, 2]), cd.tensor(random(12), [3, 2, 2]))
      expect(copies(e)).toBe(0)
      expect(e.verified).toBe('provenance')
    }
  })
  it('nobody reads, and what is stacked for nobody, is not computed', () => {
    const f = (a: E, b: E) => {
      const [[p]] = ops.scan!(
        (([c, d]: readonly [E, E]) => [[cd.sin(c), cd.exp(d)], cd.cos(d)]) as never,
        [a, b] as never,
        null as never,
        { length: 4 } as never,
      ) as unknown as readonly [readonly [E, E], E]
      return p
    }
    const e = explain(f, x, x)
    expect(e.steps.flatMap((s) => s.ops)).toEqual(['sin'])
  })
})

describe('what a loop keeps for the way back', () => {
  const [T, n] = [100, 16]
  const state = 8 * n * n
  const peak = (checkpoint: unknown) => {
    const f = cd.valueAndGrad(((w: E, x: E) => {
      const step = (h: E): readonly [E, null] => [tanh!(matmul!(ops.sin!(h), w)), null]
      const [h] = ops.scan!(step, x, null, { length: T, checkpoint }) as unknown as readonly [E]
      return cd.sum(h)
    }) as never)
    const c = compiled(f, makeCpu())
    const args = [cd.tensor(random(n * n), [n, n]), cd.tensor(random(n * n, 2), [n, n])]
    return { value: numbers(c(...args)), states: c.explain(...args).peakBytes / state }
  }
  const all = peak('everything')
  it('is known before it runs: three arrays of a step, or its carry alone', () => {
    expect(Math.abs(all.states - 3 * T)).toBeLessThan(10)
    expect(Math.abs(peak('nothing').states - T)).toBeLessThan(10)
  })
  it("is a carry for each segment and all of one segment with 'sqrt', and the same numbers", () => {
    const some = peak('sqrt')
    expect(some.states).toBeLessThan(4 * Math.sqrt(T) + 10)
    expect(some.value).toEqual(all.value)
  })
  it('is at most so many carries with `snapshots`, and the same numbers', () => {
    for (const snapshots of [100, 50, 20, 14]) {
      const some = peak({ snapshots })
      // Beside them the arguments and results, and what a step needs.
      expect(some.states).toBeLessThan(snapshots + 10)
      expect(some.value).toEqual(all.value)
    }
  })
})

describe('loops share plans', () => {
  it('where they differ in numbers alone', () => {
    const backend = makeCpu({ verify: true })
    const f = (k: number) => (a: E) => ops.fori!(6, ((_i: E, c: E) => cd.mul(c, k)) as never, a as never)
    const got = [1.5, 2.5, 3.5].map((k) => compiled(f(k), backend)(2))
    got.forEach((y, i) => {
      expect(numbers(y)[0]).toBeCloseTo(2 * (1.5 + i) ** 6, 9)
    })
    expect(backend.cache().plans).toBe(1)
  })
  it('and not where they differ in length or direction', () => {
    const backend = makeCpu({ verify: true })
    const f = (n: number) => (a: E) => ops.fori!(n, ((_i: E, c: E) => cd.mul(c, 3)) as never, a as never)
    expect(numbers(compiled(f(4), backend)(1))).toEqual([81])
    expect(numbers(compiled(f(5), backend)(1))).toEqual([243])
  })
})

describe('kernels in JavaScript inside of loops', () => {
  it('may run compiled functions, and be thrown out of, and are where they were afterwards', () => {
    const inner = compiled((x: E) => cd.add(x, 1), cd.cpu())
    let left = Number.POSITIVE_INFINITY
    const prim = cd.primitive({
      name: 'calling',
      family: 'mine',
      args: ['float'] as const,
      shapeRule: ([a]) => a!,
      meaning: ([a], _params, [y]) => y!.data.set(a!.data as never),
      samples: [],
      source: 'a test',
    })
    const calling = (x: E): E => cd.applyPrimitive(prim as never, [x] as never)[0] as E
    const plugin = cd.definePlugin({
      name: 'mine',
      ops: { calling: prim },
      kernels: {
        cpu: {
          calling: ([a]: readonly cd.NDArray[], _params: unknown, [y]: readonly cd.NDArray[]) => {
            if (left-- <= 0) throw new Error('enough')
            // Larger than what is there: the memory grows under the loop.
            const [first] = numbers(inner(cd.tensor(new Float64Array(50_000).fill(a!.data[0]!), [50_000])))
            y!.data.set(Array.from(a!.data, (v) => v + first! - a!.data[0]!) as never)
          },
        },
      },
    } as never) as unknown as { readonly kernels: { readonly cpu: never } }
    const f = compiled(
      (a: E, xs: E) => ops.scan!(((c: E, x: E) => [cd.add(calling(c), x), cd.mul(c, x)]) as never, a as never, xs as never),
      makeCpu({ kernels: plugin.kernels.cpu }),
    )
    const given = [cd.tensor([0, 10]), cd.tensor(random(10), [5, 2])] as const
    const want = numbers(f(...given))
    expect(want[0]).toBeCloseTo(
      5 +
        random(10)
          .filter((_, i) => i % 2 === 0)
          .reduce((n, x) => n + x, 0),
      12,
    )
    left = 3
    expect(() => f(...given)).toThrow()
    left = Number.POSITIVE_INFINITY
    expect(numbers(f(...given))).toEqual(want)
  })
  it('and functions of numbers that WebAssembly calls may throw in a loop: the next call begins where loops begin', () => {
    let left = Number.POSITIVE_INFINITY
    const fussy = cd.unary({
      name: 'fussy',
      source: 'a test',
      scalar: (x) => {
        if (left-- <= 0) throw new Error('enough')
        return x! + 1
      },
    }) as unknown as (x: E) => E
    const f = compiled((a: E, xs: E) => ops.scan!((c: E, x: E) => [add!(fussy(c), x), mul!(c, x)], a, xs), makeCpu({ poison: true }))
    const given = [cd.tensor([0, 10]), cd.tensor(random(10), [5, 2])] as const
    const want = numbers(f(...given))
    left = 5
    expect(() => f(...given)).toThrow()
    left = Number.POSITIVE_INFINITY
    expect(numbers(f(...given))).toEqual(want)
  })
  const nested = (a: E, xs: E) => {
    const inner = (c: E, x: E) => {
      const [d] = ops.scan!(
        ((e: E, y: E) => [cd.sort(cd.add(e, y) as never), null]) as never,
        c as never,
        x as never,
      ) as unknown as readonly [E]
      return [d, cd.sum(d)]
    }
    return ops.scan!(inner as never, a as never, xs as never)
  }
  const args = [cd.tensor([3, 1, 2]), cd.tensor(random(2 * 4 * 3), [2, 4, 3])] as const
  it.each([true, false])('loops in loops over them, SIMD %s, give what the reference gives', (simd) => {
    const want = numbers(compiled(nested, cd.reference())(...args))
    const f = compiled(nested, makeCpu({ verify: true, simd, poison: true }))
    for (let i = 0; i < 3; i++) expect(numbers(f(...args))).toEqual(want)
  })

  it.each([true, false])('loops that end early inside of loops, with their gradient, SIMD %s', (simd) => {
    const { tensor, sort, whileLoop, scan, lt, sin } = ops as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
    const f = (a: E, xs: E) =>
      scan!(
        (c: E, x: E) => {
          const [[s], { steps }] = whileLoop!(
            ([v]: readonly [E]) => lt!(cd.sum(v), 6),
            ([v, k]: readonly [E, E]) => [sort!(add!(v, mul!(x, x))), add!(k, 1)],
            [c, tensor!(0, [], 'i32')],
            { maxSteps: 12 },
          ) as unknown as readonly [readonly [E], { steps: E }]
          return [mul!(s, 0.5), [steps, s]]
        },
        a,
        xs,
      )
    const loss = (a: E, xs: E) => {
      const [c, [, s]] = f(a, xs) as unknown as readonly [E, readonly [E, E]]
      return add!(cd.sum(sin!(c)), cd.sum(mul!(s, s)))
    }
    const given = [cd.tensor([3, -1, 2]), cd.tensor(random(12), [4, 3])]
    const gradient = (cd.grad as unknown as (f: unknown, o: object) => unknown)(loss, { wrt: [0, 1] })
    for (const g of [f, gradient]) {
      const want = numbers(compiled(g, cd.reference())(...given))
      const run = compiled(g, makeCpu({ verify: true, simd, poison: true }))
      for (let i = 0; i < 2; i++)
        numbers(run(...given)).forEach((x, k) => {
          expect(x).toBeCloseTo(want[k]!, 10)
        })
    }
  })
})
