// tap and tapGradient: values and cotangents are shown where they are computed, and stay what they are.
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  add,
  compile,
  cpu,
  evaluate,
  exp,
  fori,
  grad,
  isAdException,
  jet,
  jvp,
  mul,
  reference,
  type SyncBackend,
  scan,
  show,
  sin,
  sparsity,
  square,
  sub,
  sum,
  type Tensor,
  tap,
  tapGradient,
  tensor,
  toJSON,
  toProgram,
  vmap,
} from '../../src/index.js'

/** A list, and a function that puts what it is shown there. */
const seeing = (): { readonly seen: unknown[]; readonly see: (x: Tensor) => void } => {
  const seen: unknown[] = []
  return { seen, see: (x) => void seen.push(x.toArray()) }
}
const says = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.message
    throw e
  }
  return 'nothing was raised'
}
const backends: readonly (readonly [string, SyncBackend])[] = [
  ['cpu', cpu({ verify: true })],
  ['cpu in plain JavaScript', cpu({ simd: false })],
  ['reference', reference()],
]

for (const [name, backend] of backends)
  describe(`tap on ${name}`, () => {
    it('shows the value at every call, and changes none', () => {
      const { seen, see } = seeing()
      const f = compile((x: AnyExpr) => sum(exp(tap(mul(x, 2), see))), backend)
      const plain = compile((x: AnyExpr) => sum(exp(mul(x, 2))), backend)
      expect(f([1, 2]).item()).toBe(plain([1, 2]).item())
      expect(f([0, 0]).item()).toBe(2)
      expect(seen).toEqual([
        [2, 4],
        [0, 0],
      ])
    })
    it('shows tensors of their own memory, of the dtype of the value', () => {
      const kept: Tensor[] = []
      const f = compile(
        (x: AnyExpr) =>
          add(
            tap(mul(x, 2), (v) => kept.push(v)),
            1,
          ),
        backend,
      )
      f(new Float32Array([1, 2]))
      f(new Float32Array([3, 4]))
      expect(kept.map((x) => [x.dtype, x.toArray()])).toEqual([
        ['f32', [2, 4]],
        ['f32', [6, 8]],
      ])
    })
    it('shows zeros once, and arrays without elements', () => {
      const { seen, see } = seeing()
      compile((x: AnyExpr) => tap(mul(x, 0), see), backend)([1])
      compile((x: AnyExpr) => tap(x, see), backend)(tensor([], [0, 2]))
      expect(seen).toEqual([[0], []])
    })
    it('is seen at each step of a loop, and once where a loop does not change it', () => {
      const { seen, see } = seeing()
      const once = seeing()
      const f = compile((x: AnyExpr) => fori(4, (_k, c: AnyExpr) => tap(mul(c, tap(sin(x), once.see)), see), 1), backend)
      f(Math.PI / 2)
      expect(seen).toEqual([1, 1, 1, 1])
      expect(once.seen).toEqual([1])
      const steps = seeing()
      compile((xs: AnyExpr) => scan((c: AnyExpr, x: AnyExpr) => [tap(add(c, x), steps.see), null], 0, xs)[0], backend)([1, 2, 3])
      expect(steps.seen).toEqual([1, 3, 6])
    })
    it('shows cotangents on the way back, which stay what they are', () => {
      const { seen, see } = seeing()
      const f = (x: AnyExpr) => sum(square(tapGradient(mul(x, 3), see)))
      expect(compile(grad(f), backend)([1, 2]).toArray()).toEqual([18, 36])
      expect(compile(grad(f, { mode: 'reverse' }), backend)([1, 2]).toArray()).toEqual([18, 36])
      expect(seen).toEqual([
        [6, 12],
        [6, 12],
      ])
    })
    it('shows those of a loop from its last step to its first', () => {
      const { seen, see } = seeing()
      const f = (x: AnyExpr) => fori(3, (_k, c: AnyExpr) => tapGradient(mul(c, 2), see), x)
      expect(compile(grad(f), backend)(1).item()).toBe(8)
      expect(seen).toEqual([1, 2, 4])
    })
    it('may run compiled functions in what it shows values to, also in a loop', () => {
      const inner = compile((x: AnyExpr) => mul(x, x), backend)
      const seen: number[] = []
      const f = compile(
        (x: AnyExpr) => fori(3, (_k, c: AnyExpr) => tap(add(c, 1), (v) => seen.push(inner(v).item() as number)), x),
        backend,
      )
      expect(f(0).item()).toBe(3)
      expect(seen).toEqual([1, 4, 9])
    })
    it('ends the call where the function throws', () => {
      const f = compile(
        (x: AnyExpr) =>
          tap(x, (v) => {
            if ((v.item() as number) < 0) throw new Error('negative')
          }),
        backend,
      )
      expect(() => f(-1)).toThrow('negative')
      expect(f(2).item()).toBe(2)
    })
  })

describe('tap', () => {
  it('shows nothing of what no result needs', () => {
    const { seen, see } = seeing()
    const f = compile((x: AnyExpr) => {
      tap(exp(x), see)
      return mul(x, 2)
    }, cpu())
    f(1)
    expect(seen).toEqual([])
    const g = (x: AnyExpr) => sum(tapGradient(mul(x, 0), see))
    compile((x: AnyExpr) => g(x), cpu())([1])
    expect(seen).toEqual([])
  })
  it('shows the same value once to one function, and to each of two', () => {
    const [a, b] = [seeing(), seeing()]
    compile((x: AnyExpr) => add(tap(x, a.see), add(tap(x, a.see), tap(x, b.see))), cpu())(2)
    expect([a.seen, b.seen]).toEqual([[2], [2]])
  })
  it('shows every leaf of a tree, integers too; of cotangents those of floats', () => {
    const { seen, see } = seeing()
    const f = compile((p: { a: AnyExpr; b: readonly [AnyExpr] }) => {
      const { a, b } = tap(p, see)
      return add(sum(a), sum(b[0]))
    }, cpu())
    f({ a: [1, 2], b: [new Int32Array([3])] })
    expect(seen).toEqual([[1, 2], [3]])
    const back = seeing()
    const g = (p: { readonly a: AnyExpr; readonly k: AnyExpr }) => {
      const q = tapGradient(p, back.see)
      return sum(mul(q.a, q.k))
    }
    grad(g, { wrt: 'a' })({ a: [1], k: new Int32Array([5]) })
    expect(back.seen).toEqual([[5]])
  })
  it('has the derivatives of the identity, in every mode and order, and shows its value in them', () => {
    const { seen, see } = seeing()
    const f = (x: AnyExpr) => sum(mul(tap(square(x), see), x))
    expect(jvp(f)([2], [1]).map((x) => (x as Tensor).toArray())).toEqual([8, 12])
    for (const mode of ['mixed', 'reverse', 'forward'] as const) expect(grad(f, { mode })([2]).toArray()).toEqual([12])
    expect(grad((x: AnyExpr) => sum(grad(f)(x)))([2]).toArray()).toEqual([12])
    expect(seen.length).toBeGreaterThan(0)
    expect(new Set(seen.map(String))).toEqual(new Set(['4']))
    expect(
      (jet((x: AnyExpr) => mul(tap(x, see), x))([3], [[1]]) as unknown as readonly [Tensor, readonly Tensor[]])[1][0]!.toArray(),
    ).toEqual([6])
    expect(sparsity((x: AnyExpr) => square(tap(x, see)))([1, 2])).toEqual(sparsity((x: AnyExpr) => square(x))([1, 2]))
  })
  it('leaves values and derivatives alone in forward mode, where no cotangent is', () => {
    const { seen, see } = seeing()
    expect(jvp((x: AnyExpr) => tapGradient(mul(x, 3), see))([2], [1]).map((x) => (x as Tensor).toArray())).toEqual([[6], [3]])
    expect(seen).toEqual([])
    // g = 3 y y, whose square has the derivative 36 y^3
    const g = grad((y: AnyExpr) => sum(mul(y, square(tapGradient(y, see)))))
    expect(grad((x: AnyExpr) => sum(square(g(x))))([2]).toArray()).toEqual([288])
    expect(seen.length).toBeGreaterThan(0)
  })
  it('shows all examples at once under vmap, values and cotangents', () => {
    const [a, b] = [seeing(), seeing()]
    const f = (x: AnyExpr) => sum(square(tapGradient(tap(mul(x, 2), a.see), b.see)))
    expect(compile(vmap(grad(f)), cpu())([[1], [2]]).toArray()).toEqual([[8], [16]])
    expect(a.seen).toEqual([[[2], [4]]])
    expect(b.seen).toEqual([[[4], [8]]])
  })
  it('prints by the name of its function, and is no JSON', () => {
    const looksAt = (): void => undefined
    const p = toProgram((x: AnyExpr) => tap(x, looksAt))(1)
    expect(show(p)).toContain('tap(x0) {looksAt}')
    expect(says(() => toJSON(p))).toMatch(/BadInput: toJSON: tap: its parameters hold a function/)
  })
  it('refuses what is no function', () => {
    expect(says(() => tap(1, 2 as never))).toMatch(/BadInput: tap: f must be a function, not 2/)
    expect(says(() => tapGradient(1, 'x' as never))).toMatch(/BadInput: tapGradient: f must be a function, not 'x'/)
  })
  it('shows nothing to what only looks at numbers', () => {
    const { seen, see } = seeing()
    expect(says(() => compile((x: AnyExpr) => exp(tap(sub(x, x), see)), cpu(), { trap: 'nan' })(Number.POSITIVE_INFINITY))).toMatch(/sub/)
    expect(seen).toEqual([Number.NaN])
  })
  it('is shown by evaluate', () => {
    const { seen, see } = seeing()
    evaluate(tap(add(1, 2), see))
    expect(seen).toEqual([3])
  })
})
