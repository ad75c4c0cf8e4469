// customRule: the function's own rules in every mode, nested, batched, compiled; what it captures; what a wrong rule is told.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AdError,
  type AnyExpr,
  add,
  broadcastTo,
  type CustomRules,
  cast,
  compile,
  cos,
  cpu,
  customRule,
  type Expr,
  exp,
  f32,
  f64,
  fn,
  grad,
  hessian,
  hvp,
  i32,
  inplaceableThunk,
  isAdException,
  jacfwd,
  jacrev,
  jvp,
  log,
  matmul,
  mul,
  NoTangent,
  neg,
  reference,
  scan,
  show,
  sin,
  stack,
  stopGradient,
  sub,
  sum,
  switchCase,
  take,
  tanh,
  tensor,
  thunk,
  transpose,
  valueAndGrad,
  vjp,
  vmap,
  ZeroTangent,
} from '../../src/index.js'

const close = (got: unknown, want: number | readonly number[], digits = 12) => {
  const flat = (x: unknown): number[] => (Array.isArray(x) ? x.flatMap(flat) : [x as number])
  const a = flat((got as { toArray(): unknown }).toArray())
  const b = flat(want)
  expect(a.length).toBe(b.length)
  a.forEach((x, i) => {
    expect(x).toBeCloseTo(b[i]!, digits)
  })
}
const failure = (f: () => unknown): { readonly tag: AdError['_tag']; readonly says: string } => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return { tag: e.error._tag, says: e.message }
    throw e
  }
  throw new Error('nothing was thrown')
}

// The same function with its true rules, with an frule alone, and with an rrule alone.
const frule = (x: AnyExpr, dx: AnyExpr) => [sin(x), mul(cos(x), dx)] as const
const rrule = (x: AnyExpr) => [sin(x), (yBar: AnyExpr) => mul(cos(x), yBar)] as const
const both = customRule((x: AnyExpr) => sin(x), { frule, rrule })
const pushed = customRule((x: AnyExpr) => sin(x), { frule })
const pulled = customRule((x: AnyExpr) => sin(x), { rrule })
/** Its derivative says 3 y: seen wherever the rule is used. */
const marked = customRule((x: AnyExpr) => exp(x), {
  frule: (x, dx) => [exp(x), mul(3, mul(exp(x), dx))],
  rrule: (x) => [exp(x), (yBar) => mul(3, mul(exp(x), yBar))],
})

/** vmap of a function of expressions of any shape. */
const over =
  (f: (x: AnyExpr) => AnyExpr) =>
  (x: AnyExpr): AnyExpr =>
    vmap(f)(x)

describe('a function with rules of its own', () => {
  it('has the value of the function', () => {
    close(both([0.5, 1]), [Math.sin(0.5), Math.sin(1)])
    close(compile(both, cpu())([0.5, 1]), [Math.sin(0.5), Math.sin(1)])
    close(compile(both, reference())([0.5, 1]), [Math.sin(0.5), Math.sin(1)])
  })
  it('uses its rule, not the derivative of the function', () => {
    for (const mode of ['mixed', 'reverse', 'forward'] as const) close(grad(marked, { mode })(0), 3)
    close(jvp(marked)(0, 2)[1], 6)
    close(vjp(marked)(0, 2)[1], 6)
  })
  it('transposes the frule where there is no rrule', () => {
    for (const mode of ['mixed', 'reverse', 'forward'] as const)
      close(
        grad((x) => sum(mul(pushed(x), x)), { mode })([0.3, 2]),
        [0.3, 2].map((x) => Math.sin(x) + x * Math.cos(x)),
      )
  })
  it('transposes an frule of a matrix product', () => {
    const product = customRule((a: AnyExpr, b: AnyExpr) => matmul(a, b), {
      frule: ([a, b], [da, db]) => [matmul(a, b), add(matmul(da, b), matmul(a, db))],
    })
    const plain = (a: AnyExpr, b: AnyExpr) => sum(mul(matmul(a, b), matmul(a, b)))
    const own = (a: AnyExpr, b: AnyExpr) => sum(mul(product(a, b), product(a, b)))
    const [a, b] = [
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      [[1], [0.5], [-1]],
    ]
    for (const wrt of [0, 1] as const)
      expect(grad(own, { wrt, mode: 'reverse' })(a, b).toArray()).toEqual(grad(plain, { wrt, mode: 'reverse' })(a, b).toArray())
  })
  it('differentiates its rules further: orders 2 and 3, in both modes', () => {
    for (const f of [both, pushed]) {
      close(grad(grad(f))(0.4), -Math.sin(0.4))
      close(grad(grad(grad(f)))(0.4), -Math.cos(0.4))
      close(jvp(jvp(f))([tensor(0.4), tensor(1)], [tensor(1), tensor(0)])[1][1], -Math.sin(0.4))
      close(jacfwd(jacrev(jacfwd(f)))(0.4), -Math.cos(0.4))
      close(hvp((x: AnyExpr) => sum(f(x)))([0.4, 1], [1, 2]), [-Math.sin(0.4), -2 * Math.sin(1)])
    }
    close(grad(grad(grad(pulled)))(0.4), -Math.cos(0.4))
    close(hessian((x: AnyExpr) => sum(pulled(x)))([0.4]), [-Math.sin(0.4)])
  })
  it('may use itself in its rule', () => {
    const own: (x: AnyExpr) => AnyExpr = (x) =>
      customRule((u: AnyExpr) => exp(u), {
        frule: (u, du) => {
          const y = own(u)
          return [y, mul(2, mul(y, du))]
        },
      })(x)
    close(grad(own)(0), 2)
    close(grad(grad(grad(own)))(0), 8)
  })
  it('takes and gives trees; integers have no tangent', () => {
    const scaled = customRule(
      fn({ w: f64(3), i: i32(2), k: f64() }, ({ w, i, k }) => ({ picked: mul(k, take(w, i)), count: i })),
      {
        rrule: ({ w, i, k }) => [
          { picked: mul(k, take(w, i)), count: i },
          ({ picked }) => ({ w: broadcastTo(sum(picked), [3]), i: NoTangent, k: thunk(() => sum(mul(picked, take(w, i)))) }),
        ],
      },
    )
    const at = { w: [1, 2, 3] as const, i: tensor([0, 2], [2], 'i32'), k: 2 }
    const out = scaled(at)
    expect([out.picked.toArray(), out.count.toArray()]).toEqual([
      [2, 6],
      [0, 2],
    ])
    const [y, bar] = vjp(scaled)(at, { picked: [1, 10], count: NoTangent })
    expect(y.picked.toArray()).toEqual([2, 6])
    expect(bar.w.toArray()).toEqual([11, 11, 11])
    expect(bar.k.toArray()).toBe(31)
    expect(bar.i).toEqual(NoTangent)
  })
  it('accepts symbolic zeros and thunks, and builds only what is asked for', () => {
    let built = 0
    const f = customRule((a: AnyExpr, b: AnyExpr) => mul(a, b), {
      rrule: ([a, b]) => [
        mul(a, b),
        (yBar) => [
          inplaceableThunk(
            () => mul(yBar, b),
            (acc) => add(acc, mul(yBar, b)),
          ),
          thunk(() => {
            built++
            return ZeroTangent
          }),
        ],
      ],
    })
    close(grad((a) => sum(mul(f(a, add([3, 4], 0)), a)))([1, 2]), [6, 16])
    expect(built).toBe(0)
    expect(grad(f, { wrt: 1 })(2, 5).toArray()).toBe(0)
    expect(built).toBe(1)
  })
  it('nests: the outermost rule is the one that is used, the inner ones give values', () => {
    const outer = customRule((x: AnyExpr) => marked(marked(x)), {
      rrule: (x) => [marked(marked(x)), (yBar) => mul(5, mul(yBar, marked(x)))],
    })
    close(compile(outer, cpu())(0), Math.E)
    close(compile(outer, reference())(0), Math.E)
    close(grad(outer)(0), 5)
    close(grad(grad(outer))(0), 15)
    close(vmap(grad(outer))([0, 0]), [5, 5])
  })
  it('is a chain of any length', () => {
    const long = (x: AnyExpr): AnyExpr => {
      let y = x
      for (let i = 0; i < 3000; i++) y = pushed(y)
      return y
    }
    let [value, slope] = [1, 1]
    for (let i = 0; i < 3000; i++) {
      slope *= Math.cos(value)
      value = Math.sin(value)
    }
    for (const mode of ['reverse', 'forward'] as const) close(compile(grad(long, { mode }), reference())(1), slope)
  })
  it('is inlined before planning: the kernels of the plain function', () => {
    const plan = (f: (x: AnyExpr) => AnyExpr) => compile((x: AnyExpr) => sum(mul(f(x), x)), cpu()).explain([1, 2, 3]).counts
    expect(plan(both)).toEqual(plan((x) => sin(x)))
    expect(show(fn({ x: f64() }, ({ x }) => both(x)))).toContain('customRule(')
  })
})

describe('vmap', () => {
  const xs = [0.1, 0.2, 0.3]
  it('keeps the rule', () => {
    close(vmap(marked)([0, 0]), [1, 1])
    for (const mode of ['mixed', 'reverse', 'forward'] as const) {
      close(vmap(grad(marked, { mode }))([0, 0]), [3, 3])
      close(grad((x: AnyExpr) => sum(over(marked)(x)), { mode })([0, 0]), [3, 3])
      close(grad((x: AnyExpr) => sum(over(over(marked))(x)), { mode })([[0, 0]]), [3, 3])
    }
  })
  it('of an frule alone, of order 2, and of order 2 outside', () => {
    for (const f of [both, pushed]) {
      close(
        vmap(grad(grad(f)))(xs),
        xs.map((x) => -Math.sin(x)),
      )
      close(
        grad((x: AnyExpr) => sum(grad((u: AnyExpr) => sum(over(f)(u)))(x)))(xs),
        xs.map((x) => -Math.sin(x)),
      )
    }
    close(
      jvp(vmap(both))(xs, [1, 2, 3])[1],
      xs.map((x, i) => (i + 1) * Math.cos(x)),
    )
  })
  it('sums the cotangents of what the examples share', () => {
    const f = customRule((w: AnyExpr, x: AnyExpr) => mul(w, x), {
      rrule: ([w, x]) => [mul(w, x), (yBar) => [mul(yBar, x), mul(yBar, w)]],
    })
    const loss = (w: AnyExpr, x: AnyExpr) => sum(over((u) => f(w, u))(x))
    close(grad(loss)(2, xs), 0.1 + 0.2 + 0.3)
    close(grad(loss, { wrt: 1 })(2, xs), [2, 2, 2])
    const g = customRule((w: AnyExpr, x: AnyExpr) => mul(w, x), { frule: ([w, x], [dw, dx]) => [mul(w, x), add(mul(dw, x), mul(w, dx))] })
    const lossG = (w: AnyExpr, x: AnyExpr) => sum(over((u) => g(w, u))(x))
    for (const mode of ['mixed', 'reverse', 'forward'] as const) close(grad(lossG, { mode })(2, xs), 0.1 + 0.2 + 0.3)
  })
})

describe('captured values', () => {
  it('reads a captured tensor at every call', () => {
    const w = tensor([1, 2, 3])
    const f = customRule((x: AnyExpr) => mul(w, x), { frule: (x, dx) => [mul(w, x), mul(w, dx)] })
    const compiled = compile(
      grad((x: AnyExpr) => sum(f(x))),
      cpu(),
    )
    close(compiled([1, 1, 1]), [1, 2, 3])
    w.data[0] = 10
    close(compiled([1, 1, 1]), [10, 2, 3])
  })
  it('of an outer function: the rule sees the same expression, under vmap too', () => {
    const outer = (x: AnyExpr, s: AnyExpr) => {
      const e = stopGradient(exp(s))
      return customRule((u: AnyExpr) => mul(e, u), { rrule: (u) => [mul(e, u), (yBar) => mul(e, yBar)] })(x)
    }
    close(grad(outer)(2, 0.5), Math.exp(0.5))
    close(vmap(grad(outer))([1, 2], [0, 1]), [1, Math.E])
    close(grad((x: AnyExpr, s: AnyExpr) => sum(over((p) => outer(take(p, 0), take(p, 1)))(stack([x, s], { axis: 1 }))))([1, 2], [0, 1]), [
      1,
      Math.E,
    ])
    close(grad((x: AnyExpr) => grad(outer)(x, x))(0.5), 0)
    expect(grad(outer, { wrt: 1 })(2, 0.5).toArray()).toBe(0)
  })
  it('of which a derivative is asked for: an error that says what to do', () => {
    const scaled = (s: AnyExpr) => {
      const e = exp(s)
      return customRule((u: AnyExpr) => mul(e, u), { frule: (u, du) => [mul(e, u), mul(e, du)] })(neg(s))
    }
    for (const mode of ['reverse', 'forward'] as const) {
      const e = failure(() => grad(scaled, { mode })(1))
      expect(e.tag).toBe('NotImplemented')
      expect(e.says).toContain('pass it as an argument, or stopGradient it')
    }
  })
})

describe('what a wrong rule is told', () => {
  type Rules = CustomRules<[AnyExpr], AnyExpr>
  const named = (rules: unknown) => {
    const square = (x: AnyExpr) => mul(x, x)
    return customRule(square, rules as Rules)
  }
  const forward = (frule: unknown) => failure(() => jvp(named({ frule }))([1, 2, 3], [1, 1, 1]))
  const reverse = (rrule: unknown) => failure(() => vjp(named({ rrule }))([1, 2, 3], [1, 1, 1]))
  it('shapes', () => {
    for (const e of [forward((x: AnyExpr) => [x, sum(x)]), forward((x: AnyExpr, dx: AnyExpr) => [sum(x), dx])]) {
      expect(e.tag).toBe('ShapeMismatch')
      expect(e.says).toMatch(/customRule\(square\): frule: d?y is f64 \[\], it must be f64 \[3\]/)
    }
    const e = reverse((x: AnyExpr) => [x, () => sum(x)])
    expect(e.tag).toBe('ShapeMismatch')
    expect(e.says).toContain('customRule(square): pullback: xBar is f64 [], it must be f64 [3]')
    expect(reverse((x: AnyExpr) => [x, () => thunk(() => sum(x))]).tag).toBe('ShapeMismatch')
  })
  it('dtypes', () => {
    const e = forward((x: AnyExpr) => [x, cast(x, 'f32')])
    expect(e.tag).toBe('DTypeMismatch')
    expect(e.says).toContain('frule: dy is f32 [3], it must be f64 [3]')
  })
  it('trees', () => {
    expect(forward((x: AnyExpr) => x)).toMatchObject({ tag: 'BadInput', says: expect.stringContaining('the frule must return [y, dy]') })
    expect(reverse((x: AnyExpr) => [x, x])).toMatchObject({ tag: 'BadInput', says: expect.stringContaining('[y, pullback]') })
    expect(reverse((x: AnyExpr) => [x, () => undefined])).toMatchObject({
      tag: 'BadInput',
      says: expect.stringContaining('xBar is missing'),
    })
    const two = customRule((a: AnyExpr, b: AnyExpr) => mul(a, b), {
      rrule: (([a, b]: [AnyExpr, AnyExpr]) => [mul(a, b), () => [a]]) as never,
    })
    expect(failure(() => grad(two)(1, 2))).toMatchObject({ tag: 'BadInput', says: expect.stringContaining('structure [*, *]') })
  })
  it('a tangent of an integer', () => {
    const f = customRule(
      fn({ x: f64(2), i: i32(2) }, ({ x, i }) => take(x, i)),
      {
        rrule: (({ x, i }: { x: Expr<[2], 'f64'>; i: Expr<[2], 'i32'> }) => [
          take(x, i),
          (yBar: AnyExpr) => ({ x: yBar, i: yBar }),
        ]) as never,
      },
    )
    expect(failure(() => grad((x: AnyExpr) => sum(f({ x, i: [0, 1] } as never) as unknown as AnyExpr))([1, 2]))).toMatchObject({
      tag: 'BadInput',
      says: expect.stringContaining('pullback: xBar.i is i32: it has no tangent'),
    })
  })
  it('missing rules', () => {
    const e = failure(() => jvp(pulled)(1, 1))
    expect(e.tag).toBe('MissingRule')
    expect(e.says).toContain('no frule for `customRule(')
    expect(e.says).toContain('{ frule: (primals, tangents) => [y, dy] }')
    expect(failure(() => named({})).tag).toBe('BadInput')
    expect(failure(() => named({ frule: 3 })).tag).toBe('BadInput')
  })
  it('an frule that is not linear', () => {
    const f = named({ frule: (x: AnyExpr, dx: AnyExpr) => [mul(x, x), mul(dx, dx)] })
    const e = failure(() => grad((x: AnyExpr) => sum(f(x)))([1, 2]))
    expect(e.tag).toBe('NotDifferentiable')
    expect(e.says).toContain('not linear in the tangents')
  })
})

describe('an frule that is a jvp of loops and branches', () => {
  // Forward mode carries values and tangents in one loop; the way back reads the values alone.
  const twice = (x: AnyExpr): AnyExpr => scan((c: AnyExpr) => [mul(c, sin(c)), null], x, undefined, { length: 3 })[0] as AnyExpr
  const branch = (x: AnyExpr): AnyExpr =>
    switchCase(0, [(y: AnyExpr) => mul(sum(sin(y)), y), (y: AnyExpr) => add(y, sum(mul(x, y)))], x) as unknown as AnyExpr
  const within = (x: AnyExpr): AnyExpr => scan((c: AnyExpr) => [branch(mul(c, twice(c))), null], x, undefined, { length: 2 })[0] as AnyExpr
  it.each([
    ['a loop', twice],
    ['a branch', branch],
    ['both', within],
  ] as const)('is transposed: %s', (_, f) => {
    const own = customRule(f as never, { frule: (x: AnyExpr, dx: AnyExpr) => (jvp as never as (f: unknown) => (x: AnyExpr, dx: AnyExpr) => never)(f)(x, dx) } as never) as never as typeof f // biome-ignore format: one row
    const gradient = (g: typeof f) => (grad as never as (f: unknown) => (x: number[]) => { toArray: () => number[] })((x: AnyExpr) => sum(sin(g(x))))([0.3, -1.1]).toArray() // biome-ignore format: one row
    const [got, want] = [gradient(own), gradient(f)]
    got.forEach((v, k) => {
      expect(v).toBeCloseTo(want[k]!, 12)
    })
  })
})

describe('law: with the true rule, a customRule is the plain function', () => {
  const ops = {
    sin: { f: (x: AnyExpr) => sin(x), df: (x: AnyExpr) => cos(x) },
    tanh: { f: (x: AnyExpr) => tanh(x), df: (x: AnyExpr) => sub(1, mul(tanh(x), tanh(x))) },
    exp: { f: (x: AnyExpr) => exp(mul(0.5, x)), df: (x: AnyExpr) => mul(0.5, exp(mul(0.5, x))) },
    log: { f: (x: AnyExpr) => log(add(2, mul(x, x))), df: (x: AnyExpr) => mul(mul(2, x), exp(neg(log(add(2, mul(x, x)))))) },
  }
  const kinds = ['frule', 'rrule', 'both'] as const
  const step = fc.record({ op: fc.constantFrom(...(Object.keys(ops) as (keyof typeof ops)[])), kind: fc.constantFrom(...kinds) })
  const own = (op: keyof typeof ops, kind: (typeof kinds)[number]) => {
    const { f, df } = ops[op]
    return customRule(f, {
      ...(kind !== 'rrule' && { frule: (x: AnyExpr, dx: AnyExpr) => [f(x), mul(df(x), dx)] as const }),
      ...(kind !== 'frule' && { rrule: (x: AnyExpr) => [f(x), (yBar: AnyExpr) => mul(df(x), yBar)] as const }),
    })
  }
  const chain = (steps: readonly { op: keyof typeof ops; kind: (typeof kinds)[number] }[], custom: boolean) => (x: AnyExpr) =>
    sum(steps.reduce<AnyExpr>((y, { op, kind }) => mul(custom ? own(op, kind)(y) : ops[op].f(y), x), x))
  it('in value, gradient, Hessian product and batches', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('mixed' as const, 'reverse' as const),
        (steps, x, mode) => {
          const [f, g] = [chain(steps, true), chain(steps, false)]
          const want = valueAndGrad(g, { mode })(x)
          const got = valueAndGrad(f, { mode })(x)
          close(got.value, want.value.toArray() as number)
          close(got.grad, want.grad.toArray() as number[])
          const dx = x.map((_, i) => i + 1)
          close(hvp(f)(x, dx), hvp(g)(x, dx).toArray() as number[], 10)
          close(vmap(grad(f, { mode }))([x, x]), [...(want.grad.toArray() as number[]), ...(want.grad.toArray() as number[])])
        },
      ),
      { numRuns: 40 },
    )
  })
  it('in f32', () => {
    const f = fn({ w: f32(2, 2) }, ({ w }) => sum(both(transpose(w))))
    expect(
      grad(f)({
        w: [
          [0, 0],
          [0, 0],
        ],
      }).w.dtype,
    ).toBe('f32')
  })
})
