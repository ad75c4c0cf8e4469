/** Signatures of a compiled function: found without a search, bounded in bytes, and a word where there are many. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import type { AsyncBackend, Executable, SyncBackend } from '../../src/core/functions/backend.js'
import { Lru } from '../../src/core/functions/lru.js'
import { Signatures } from '../../src/core/functions/signatures.js'
import * as cd from '../../src/index.js'

/** The CPU, with each program weighing so many bytes, and a tally of what was prepared and disposed. */
const weighed = (bytes: number) => {
  const inner = makeCpu()
  const live = new Set<Executable>()
  const tally = { prepared: 0, disposed: 0, live }
  const backend: SyncBackend = {
    kind: 'sync',
    name: 'weighed',
    prepare: (program) => {
      const x = inner.prepare(program)
      const own: Executable = {
        bytes,
        run: (inputs, into, accumulate) => x.run(inputs, into, accumulate),
        explain: () => x.explain(),
        dispose: () => {
          tally.disposed++
          live.delete(own)
          x.dispose()
        },
      }
      tally.prepared++
      live.add(own)
      return own
    },
  }
  return { backend, tally }
}
const ones = (n: number): cd.Tensor => cd.tensor(new Float64Array(n).fill(1))
const total = (x: cd.AnyExpr): cd.AnyExpr => cd.sum(cd.mul(x, 3))
const value = (y: unknown): number => (y as cd.Tensor).item()

const warnings: string[] = []
beforeEach(() => {
  warnings.length = 0
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warnings.push(text))
})
afterEach(() => void vi.restoreAllMocks())

describe('signatures', () => {
  it('are found again, however many there are and in whatever order they come', () => {
    const { backend, tally } = weighed(1)
    const f = cd.compile(total, backend)
    for (let n = 1; n <= 500; n++) expect(value(f(ones(n)))).toBe(3 * n)
    for (let k = 0; k < 2000; k++) {
      const n = 1 + ((k * 7919) % 500)
      expect(value(f(ones(n)))).toBe(3 * n)
    }
    expect(tally.prepared).toBe(500)
  })

  it('are found in a time that does not grow with their number', () => {
    const time = (count: number): number => {
      const f = (x: cd.AnyExpr, y: cd.AnyExpr): cd.AnyExpr => cd.add(total(x), cd.sum(y))
      // only what finds them: nothing is prepared, nothing runs
      const signatures = new Signatures<object, Float64Array>(
        f,
        { read: (x) => x.data as Float64Array, evaluate: () => [], make: () => ({}), bytes: () => 1, drop: () => undefined },
        'test',
      )
      const given = Array.from({ length: count }, (_, n) => [
        cd.tensor(new Float64Array(4), [4, ...new Array<number>(n % 20).fill(1)]),
        cd.tensor(new Float64Array(1 + Math.floor(n / 20))),
      ])
      const found = given.map((args) => signatures.find(args).p)
      // the quickest of many short ones: other processes are at work too
      const times = Array.from({ length: 200 }, (_, r) => {
        const t = performance.now()
        for (let k = 100 * r; k < 100 * (r + 1); k++) signatures.find(given[(k * 7919) % count]!)
        return performance.now() - t
      })
      for (const [k, args] of given.entries()) expect(signatures.find(args).p).toBe(found[k])
      return Math.min(...times)
    }
    // a search through 3,000 takes a hundred times as long
    expect(time(3000)).toBeLessThan(20 * time(30))
  })

  it('differ by structure, names, dtype and shape, and by nothing else', () => {
    const { backend, tally } = weighed(1)
    const leaves = (x: unknown): cd.AnyExpr[] =>
      typeof x === 'object' && x !== null && (x as { _tag?: string })._tag !== 'Expr' ? Object.values(x).flatMap(leaves) : [x as cd.AnyExpr]
    const f = cd.compile(
      (...xs: readonly unknown[]) => leaves(xs).map((l, i) => cd.sum(cd.mul(l, i + 1))) as never,
      backend,
    ) as unknown as (...xs: readonly unknown[]) => cd.Tensor[]
    const [a, b] = [ones(2), cd.tensor([1, 1], [2], 'f32')]
    const all: readonly (readonly unknown[])[] = [
      [a],
      [b],
      [ones(1)],
      [cd.tensor([1, 1], [2, 1])],
      [cd.tensor([1, 1], [1, 2])],
      [a, a],
      [[a, a]],
      [[a], [a]],
      [{ p: a, q: b }],
      [{ p: b, q: a }],
      [{ p: { q: a }, r: b }],
      [{ p: { q: a, r: b } }],
      [{ 'p":f64[2],"q': a }],
      [{ 'p,q': a, r: b }],
      [{ p: a, 'q,r': b }],
    ]
    const sizes = (x: unknown): number => (x instanceof Object && 'data' in x ? (x as cd.Tensor).data.length : 0)
    const want = (xs: unknown): number[] => (sizes(xs) > 0 ? [sizes(xs)] : Object.values(xs as object).flatMap(want))
    for (let round = 0; round < 3; round++)
      for (const args of all) expect(f(...args).map((y) => y.item())).toEqual(want(args).map((n, i) => n * (i + 1)))
    expect(tally.prepared).toBe(all.length)
    // the order of a record's keys is no difference, and numbers are read as before
    f({ q: b, p: a })
    f([1, 1])
    f(1)
    expect(tally.prepared).toBe(all.length + 1)
    // an expression without inputs is evaluated, which is a program of its own
    expect(f(cd.add(1, 2)).map((y) => y.item())).toEqual(f(3).map((y) => y.item()))
    expect(tally.prepared).toBe(all.length + 2)
    let deep: unknown = a
    for (let k = 0; k < 100; k++) deep = { deep }
    for (let k = 0; k < 2; k++) expect(f(deep)[0]!.item()).toBe(2)
    expect(tally.prepared).toBe(all.length + 3)
  })

  it('beyond a bound the least recently used are freed, and prepared again when they come back', () => {
    const { backend, tally } = weighed(2 ** 20)
    const f = cd.compile(total, backend)
    const held = ones(1000)
    f(held)
    for (let n = 1; n <= 300; n++) {
      expect(value(f(ones(n)))).toBe(3 * n)
      if (n % 10 === 0) expect(value(f(held))).toBe(3000) // used again and again: it stays
      expect(tally.live.size).toBeLessThanOrEqual(64)
    }
    expect([tally.prepared, tally.disposed]).toEqual([301, 301 - 64])
    f(ones(300))
    expect(tally.prepared).toBe(301)
    expect(value(f(ones(1)))).toBe(3)
    expect(tally.prepared).toBe(302)
    f.dispose()
    expect(tally.live.size).toBe(0)
  })

  it('that were found without a search are not the first to go', () => {
    const { backend, tally } = weighed(2 ** 20)
    const f = cd.compile(total, backend)
    const [a, b] = [ones(1001), ones(1002)]
    f(a)
    f(b)
    for (let n = 1; n <= 62; n++) f(ones(n))
    for (let k = 0; k < 10; k++) f([a, b][k % 2]!) // the pair, last of all
    for (let n = 101; n <= 162; n++) f(ones(n))
    expect(tally.prepared).toBe(126)
    f(a)
    f(b)
    expect(tally.prepared).toBe(126)
  })

  it('.into goes on with a signature that was freed and came back', () => {
    const { backend } = weighed(2 ** 20)
    const f = cd.compile(total, backend)
    const out = cd.tensor(0)
    const into = f.into(out as never) as unknown as (x: cd.Tensor) => unknown
    for (const n of [1, ...Array.from({ length: 100 }, (_, i) => i + 2), 1, 2, 1]) {
      into(ones(n))
      expect(out.item()).toBe(3 * n)
    }
  })

  it('of a function that calls itself while it is prepared are prepared once', () => {
    const { backend, tally } = weighed(1)
    let nested = true
    const f: cd.AnyFunction = cd.compile((x: cd.AnyExpr) => total(x), {
      ...backend,
      prepare: (program) => {
        if (nested) {
          nested = false
          expect(value((f as (x: cd.Tensor) => unknown)(ones(2)))).toBe(6)
        }
        return backend.prepare(program)
      },
    }) as never
    for (let k = 0; k < 3; k++) expect(value((f as (x: cd.Tensor) => unknown)(ones(2)))).toBe(6)
    expect([tally.prepared, tally.disposed, tally.live.size]).toEqual([2, 1, 1])
  })

  it('on an asynchronous backend are freed too, after the calls that use them', async () => {
    const { backend, tally } = weighed(2 ** 20)
    const later: AsyncBackend = {
      kind: 'async',
      name: 'later',
      prepare: async (program) => {
        const x = backend.prepare(program)
        return {
          bytes: x.bytes!,
          run: async (inputs) => {
            await null
            expect(tally.live.has(x)).toBe(true)
            return x.run(inputs as Float64Array[])
          },
          explain: x.explain,
          dispose: x.dispose,
        }
      },
    }
    const f = cd.compile(total, later)
    const sizes = Array.from({ length: 150 }, (_, i) => 1 + (i % 100))
    const ys = await Promise.all(sizes.map((n) => f(ones(n))))
    expect(ys.map(value)).toEqual(sizes.map((n) => 3 * n))
    await f(ones(100))
    expect(tally.live.size).toBeLessThanOrEqual(64)
    await f.dispose()
    expect(tally.live.size).toBe(0)
  })
})

describe('many signatures', () => {
  it('are worth one word at the 32nd, with the name and what to do', () => {
    const f = cd.compile(function widths(x: cd.AnyExpr) {
      return total(x)
    }, makeCpu())
    for (let n = 1; n < 32; n++) for (let k = 0; k < 3; k++) f(ones(n))
    expect(warnings).toEqual([])
    for (let n = 32; n < 100; n++) f(ones(n))
    expect(warnings).toEqual([
      'codual: 32 plans of widths, the last for f64 [32]: each new shape is planned anew. Pad arguments to a few shapes, or compile a function for each use.',
    ])
  })
})

describe('the word of many signatures', () => {
  it('is one line with the name, of however many arguments and whatever name', () => {
    const long = 'f'.repeat(500)
    const named = { [`a name\nof two lines ${long}`]: (xs: readonly cd.AnyExpr[]) => cd.sum(cd.concat([...xs])) }
    const f = cd.compile(Object.values(named)[0]!, makeCpu())
    for (let n = 1; n <= 40; n++) f(Array.from({ length: 20 }, () => ones(n)))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      /^codual: 32 plans of a name of two lines f+\.\.\., the last for f64 \[32\], f64 \[32\], f64 \[32\] and 17 more: .*$/,
    )
    expect(warnings[0]!.length).toBeLessThan(300)
  })
})

describe('Lru', () => {
  it('drops the least recently used beyond its bytes, in any mix of operations (against a list)', () => {
    let seed = 1
    const draw = (n: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return (seed >> 8) % n
    }
    for (const least of [1, 3]) {
      const dropped: number[] = []
      const lru = new Lru<number, number>(100, (v) => void dropped.push(v), least)
      let model: { key: number; value: number; bytes: number }[] = []
      const gone: number[] = []
      const total = (): number => model.reduce((n, e) => n + e.bytes, 0)
      const shrink = (): void => {
        while (model.length > least && total() > 100) gone.push(model.shift()!.value)
      }
      for (let k = 0; k < 5000; k++) {
        const key = draw(20)
        const known = model.find((e) => e.key === key)
        const others = model.filter((e) => e.key !== key)
        const what = draw(10)
        if (what < 4) {
          expect(lru.get(key)).toBe(known?.value)
          if (known !== undefined) model = [...others, known]
        } else if (what < 8) {
          const bytes = draw(60)
          if (known !== undefined) {
            lru.weigh(key, bytes)
            known.bytes = bytes
          } else {
            lru.add(key, k, bytes)
            model.push({ key, value: k, bytes })
          }
          shrink()
        } else if (what < 9) {
          lru.delete(key)
          if (known !== undefined) gone.push(known.value)
          model = others
        }
        expect([lru.size, lru.bytes]).toEqual([model.length, total()])
        expect(dropped).toEqual(gone)
      }
      lru.clear()
      expect(dropped).toEqual([...gone, ...model.map((e) => e.value)])
      expect([lru.size, lru.bytes]).toEqual([0, 0])
    }
  })
})
