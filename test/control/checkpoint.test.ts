/** What a loop keeps for the way back, and how many steps its body has, change no bit of what it gives. */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { linearize } from '../../src/core/graph/expr.js'
import type { ScanParams } from '../../src/core/ops/control/control.js'
import * as cd from '../../src/index.js'
import { type Case, cases, type E } from './steps.js'

type Call = (...xs: readonly unknown[]) => never
const ops = cd as unknown as Readonly<Record<string, Call>>
const { add, compile, cos, grad, lt, mul, sin, sum, tensor, vmap } = ops
const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
const drawn = (shape: readonly number[], seed: number): cd.Tensor => {
  const next = random(seed)
  return cd.tensor(
    Array.from({ length: sizeOf(shape) }, () => 2 * next() - 0.9),
    [...shape],
  ) as unknown as cd.Tensor
}
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}
/** A zero has no sign here: a sum that begins with 0 has lost it. */
const numbers = (t: unknown): readonly number[] =>
  cd.isTensor(t) ? Array.from(t.data, (x) => x + 0) : typeof t === 'number' ? [t + 0] : Object.values(t as object).flatMap(numbers)
const total = (ys: readonly E[]): E => ys.map((y, i): E => mul!(sum!(sin!(add!(y, 0.1 * (i + 1)))), i + 1)).reduce((a, b) => add!(a, b))
const loop =
  (c: Case, options: object) =>
  (...xs: readonly E[]): E => {
    const n = c.carry.length
    const same = xs.slice(n + 1)
    const [carry, ys] = (cd.scan as unknown as Call)(
      (h: readonly E[], x: E) => c.step(h, x, same),
      xs.slice(0, n),
      xs[n],
      options,
    ) as unknown as [readonly E[], E | null]
    return total([...carry, ...(ys === null ? [] : [ys])])
  }
type F = (...xs: readonly E[]) => E
const wrtAll = (args: readonly unknown[]): readonly number[] => args.map((_, i) => i)
/** Value and gradient, on a backend. */
const first = (f: F, args: readonly unknown[], backend: unknown, mode = 'reverse'): readonly (readonly number[])[] =>
  [f, grad!(f, { wrt: wrtAll(args), mode })].map((h) => numbers((compile!(h, backend) as Call)(...args)))
/** The gradient of what the gradient gives. */
const second = (f: F, args: readonly unknown[]): readonly number[] => {
  const g = (...xs: readonly E[]) =>
    Object.values((grad!(f, { wrt: wrtAll(args) }) as Call)(...xs) as Readonly<Record<string, E>>)
      .map((d): E => sum!(cos!(d)))
      .reduce((a, b) => add!(a, b))
  return numbers((compile!(grad!(g, { wrt: wrtAll(args) }), cd.reference()) as Call)(...args))
}
const near = (got: readonly number[], want: readonly number[]): void => {
  const size = Math.max(1, ...want.map(Math.abs))
  expect(got.length).toBe(want.length)
  got.forEach((x, i) => {
    expect(Math.abs(x - want[i]!)).toBeLessThanOrEqual(1e-12 * size)
  })
}
const options: readonly object[] = [
  ...[2, 3, 5, 9].map((unroll) => ({ unroll })),
  ...['nothing', 'contractions', 'everything', 'sqrt', 1, 2, 3, 5, 9, { snapshots: 9 }].map((checkpoint) => ({ checkpoint })),
  { unroll: 2, checkpoint: 3 },
  { unroll: 2, checkpoint: 'nothing' },
]

const few: readonly object[] = [{ unroll: 2 }, { checkpoint: 'nothing' }, { checkpoint: 'sqrt' }, { unroll: 2, checkpoint: 3 }]

describe('values and gradients are the same to the bit', () => {
  for (const c of cases)
    it(c.name, () => {
      const argsOf = (length: number): readonly cd.Tensor[] => [...c.carry, [length, ...c.x], ...c.same].map((s, i) => drawn(s, 11 + i))
      const same = (length: number, reverse: boolean, list: readonly object[], backend: unknown, mode?: string): void => {
        const args = argsOf(length)
        const want = first(loop(c, { reverse }), args, backend, mode)
        for (const o of list) expect({ o, got: first(loop(c, { reverse, ...o }), args, backend, mode) }).toEqual({ o, got: want })
      }
      same(5, false, options, cd.reference())
      same(4, true, options, cd.reference())
      same(5, true, few, cd.cpu())
      same(5, false, few, cd.reference(), 'forward')
      for (const length of [0, 1]) same(length, false, few, cd.reference())
      // In mixed mode what is differentiated forward depends on what stands in one body.
      same(
        5,
        false,
        options.filter((o) => !('unroll' in o)),
        cd.reference(),
        'mixed',
      )
    })
  it('with snapshots: loops in loops, two and three of them, and what is left over', () => {
    for (const c of cases)
      for (const [length, snapshots, reverse] of [
        [9, 6, false],
        [11, 7, true],
        [17, 8, false],
      ] as const) {
        const args = [...c.carry, [length, ...c.x], ...c.same].map((s, i) => drawn(s, 11 + i))
        const want = first(loop(c, { reverse }), args, cd.reference())
        expect({ name: c.name, length, got: first(loop(c, { reverse, checkpoint: { snapshots } }), args, cd.reference()) }).toEqual({
          name: c.name,
          length,
          got: want,
        })
      }
    const count = (o: object) => (x: E) => (cd.fori as unknown as Call)(17, (_k: E, h: E) => sin!(add!(mul!(h, x), 0.3)), x, o)
    expect(first(count({ checkpoint: { snapshots: 8 } }) as never, [0.7], cd.cpu())).toEqual(first(count({}) as never, [0.7], cd.cpu()))
  })
  it('and second derivatives to rounding', () => {
    for (const c of cases) {
      const args = [...c.carry, [5, ...c.x], ...c.same].map((s, i) => drawn(s, 11 + i))
      const want = second(loop(c, {}), args)
      for (const o of few) near(second(loop(c, o), args), want)
    }
  })
  it('of fori and whileLoop, and under vmap', () => {
    const count = (o: object) => (x: E) => (cd.fori as unknown as Call)(5, (_k: E, h: E) => sin!(add!(mul!(h, x), 0.3)), x, o)
    const until = (o: object) => (x: E) =>
      (
        (cd.whileLoop as unknown as Call)(
          (h: E) => lt!(h, 4),
          (h: E) => add!(mul!(h, h), x),
          x,
          { maxSteps: 7, ...o },
        ) as unknown as readonly E[]
      )[0]!
    for (const f of [count, until])
      for (const o of options) {
        const [got, want] = [f(o), f({})].map((h) => first(h as never, [0.7], cd.reference()))
        expect({ o, got }).toEqual({ o, got: want })
        const [wide, plain] = [f(o), f({})].map((h) =>
          numbers((compile!(vmap!(grad!(h, { mode: 'reverse' })), cd.cpu()) as Call)([0.3, 0.7, 5])),
        )
        expect({ o, wide }).toEqual({ o, wide: plain })
      }
  })
  it('of a function', () => {
    const w = tensor!([0.5, -2])
    const f = (x: E) => sin!(mul!(sin!(mul!(x, w)), x))
    for (const keep of ['nothing', 'contractions', 'everything']) {
      const g = (cd.checkpoint as unknown as Call)(f, keep) as unknown as Call
      const twice = (h: (x: E) => E) => (x: E) => sum!(h(h(x)))
      const [got, want] = [g, f].map((h) => first(twice(h as never) as never, [tensor!([0.3, 1.2])], cd.reference()))
      expect(got).toEqual(want)
      const rows = vmap!(grad!(twice(g as never), { mode: 'reverse' }))
      expect(
        numbers(
          (rows as Call)([
            [0.3, 1.2],
            [2, 0],
          ]),
        ),
      ).toEqual(
        numbers(
          (vmap!(grad!(twice(f as never), { mode: 'reverse' })) as Call)([
            [0.3, 1.2],
            [2, 0],
          ]),
        ),
      )
    }
    const tree = (cd.checkpoint as unknown as Call)(({ a, b }: Record<string, E>, k: number) => ({
      y: mul!(a, b),
      z: mul!(a, k),
      one: 1,
    })) as Call
    expect(numbers((ops.evaluate as Call)((tree({ a: [1, 2], b: 3 }, 2) as Record<string, E>).y))).toEqual([3, 6])
  })
})

/** Numbers that the loops of a gradient stack beside their own results. */
const kept = (f: unknown, args: readonly cd.Tensor[], wrt: readonly number[]): readonly (readonly number[])[] => {
  const p = (cd.toProgram as unknown as Call)((...xs: readonly E[]) => (grad!(f, { wrt }) as Call)(...xs)) as unknown as Call
  const { outputs } = (p as Call)(...args) as unknown as { readonly outputs: readonly never[] }
  return linearize(outputs).nodes.flatMap((n) => {
    if (n.prim?.name !== 'scan') return []
    const { program, carries, length } = n.payload as ScanParams
    return [program.outputs.slice(carries).map((y) => length * sizeOf(y.shape))]
  })
}

describe('what is kept', () => {
  const n = 16
  // tanh(h w + x u): the way back reads h and the next h.
  const c = cases[0]!
  const args = [...c.carry, [n, ...c.x], ...c.same].map((s, i) => drawn(s, 5 + i))
  const wrt = args.map((_, i) => i)
  const of = (checkpoint: unknown) => {
    const f = (...xs: readonly E[]): E => {
      const same = xs.slice(2)
      const [[h]] = (cd.scan as unknown as Call)((s: readonly E[], x: E) => [c.step(s, x, same)[0], null], [xs[0]], xs[1], {
        ...(checkpoint !== undefined && { checkpoint }),
      }) as unknown as [[E]]
      return sum!(sin!(h))
    }
    const [forward] = kept(f, args, wrt)
    return forward
  }
  it('is what the policy says', () => {
    const carry = n * 6
    expect(of(undefined)).toEqual([carry, carry])
    expect(of('everything')).toEqual([carry, carry])
    expect(of('nothing')).toEqual([carry])
    // The two products, beside the carry.
    expect(of('contractions')).toEqual([carry, carry, carry])
    expect(of('sqrt')).toEqual([carry / 4])
    expect(of(8)).toEqual([carry / 8])
    expect(of(1)).toEqual([carry])
  })
  it('of a function is its arguments', () => {
    const f = (x: E) => sum!(((cd.checkpoint as unknown as Call)((u: E) => sin!(cos!(sin!(u)))) as Call)(x))
    const g = (x: E) => sum!(((cd.checkpoint as unknown as Call)((u: E) => sin!(cos!(sin!(u))), 'everything') as Call)(x))
    const x = drawn([4], 3)
    expect(kept(f, [x], [0])).toEqual([[4]])
    expect(kept(g, [x], [0]).map((r) => r.length)).not.toEqual([1])
  })
})

describe('what does not fit is one error', () => {
  const scan = (o: object) => (cd.scan as unknown as Call)((h: E, x: E) => [add!(h, x), null], 0, [1, 2, 3], o)
  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ['unroll 0', () => scan({ unroll: 0 }), 'scan: unroll is 0.'],
    ['half a step', () => scan({ unroll: 0.5 }), 'scan: unroll must be a whole number, not 0.5.'],
    ['another policy', () => scan({ checkpoint: 'some' }), "scan: checkpoint is 'some'."],
    ['no snapshots', () => scan({ checkpoint: { snapshots: 0 } }), 'scan: checkpoint: snapshots is 0.'],
    ['another name', () => scan({ checkpoint: { snapshot: 3 } }), 'scan: checkpoint: there is no option snapshot.'],
    [
      'too few snapshots',
      () => (cd.fori as unknown as Call)(100, (_k: E, h: E) => h, 0, { checkpoint: { snapshots: 5 } }),
      'fori: 5 snapshots are too few for 100 steps.',
    ],
    ['a checkpoint of no step', () => scan({ checkpoint: 0 }), 'scan: checkpoint is 0.'],
    [
      'a loop without an end',
      () =>
        (cd.whileLoop as unknown as Call)(
          (h: E) => lt!(h, 4),
          (h: E) => add!(h, 1),
          0,
          { unroll: 2 },
        ),
      'whileLoop: unroll and checkpoint need maxSteps.',
    ],
    ['another policy of a function', () => (cd.checkpoint as unknown as Call)((x: E) => x, 'sqrt'), "checkpoint: keep is 'sqrt'."],
    ['no function', () => (cd.checkpoint as unknown as Call)(3), 'checkpoint: f must be a function, not 3.'],
  ]
  it.each(wrong)('%s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})
