// What `explain` says that derivatives leave out, and why: exact, for programs small enough to see it.
import { describe, expect, it } from 'vitest'
import { dropListener, recordingDropped } from '../../src/core/calculus/dropped.js'
import {
  type AnyExpr,
  type AnyFunction,
  add,
  compile,
  compileAsync,
  coreRegistry,
  cpu,
  type Dropped,
  type Explanation,
  evaluate,
  f64,
  floor,
  fn,
  grad,
  gt,
  linearRecurrence,
  makeCodual,
  matmul,
  mul,
  reference,
  rule,
  sin,
  stopGradient,
  sum,
  tensor,
  vjp,
  where,
} from '../../src/index.js'

const a = tensor([1, 2, 3, 4], [2, 2])
const b = tensor([5, 6, 7, 8], [2, 2])
/** What is left out, without the words. */
const facts = (dropped: readonly Dropped[] | undefined) =>
  dropped!.map(({ primitive, argument, reason, count }) => [primitive, argument, reason, count])
const droppedBy = (f: unknown, ...args: readonly unknown[]) =>
  facts(
    (compile(f as AnyFunction, reference()) as unknown as { readonly explain: (...xs: readonly unknown[]) => Explanation }).explain(...args)
      .dropped,
  )
const product = (x: AnyExpr, y: AnyExpr): AnyExpr => sum(matmul(x, y))

describe('explain().dropped', () => {
  it('has the cotangent of a product that nobody asked for', () => {
    expect(droppedBy(grad(product), a, b)).toEqual([['matmul', 1, 'inactive', 1]])
    expect(droppedBy(grad(product, { wrt: 1 }), a, b)).toEqual([['matmul', 0, 'inactive', 1]])
    expect(droppedBy(grad(product, { wrt: [0, 1] }), a, b)).toEqual([])
    expect(droppedBy(vjp(product, { wrt: 0 }), [a, b], 1)).toEqual([['matmul', 1, 'inactive', 1]])
  })

  it('counts them, and says so in words', () => {
    const twice = grad((x: AnyExpr, y: AnyExpr) => add(product(x, y), product(matmul(x, y), y)))
    const { dropped } = compile(twice, cpu()).explain(a, b)
    expect(dropped).toEqual([
      {
        primitive: 'matmul',
        argument: 1,
        reason: 'inactive',
        count: 3,
        text: 'matmul: the cotangent of argument 1 is never made, because nothing that is differentiated leads there (3 times).',
      },
    ])
  })

  it('has zeros, and what they keep from being asked', () => {
    expect(
      droppedBy(
        grad((x: AnyExpr) => product(floor(x), x), { mode: 'reverse' }),
        a,
      ),
    ).toEqual([['floor', 0, 'zero', 1]])
    expect(
      droppedBy(
        grad((x: AnyExpr) => sum(stopGradient(matmul(x, x)))),
        a,
      ),
    ).toEqual([
      ['stopGradient', 0, 'zero', 1],
      ['matmul', 0, 'unreached', 1],
      ['matmul', 1, 'unreached', 1],
    ])
  })

  it('has thunks that were never forced', () => {
    const f = (x: AnyExpr, y: AnyExpr): AnyExpr => sum(where(gt(x, 0), x, y))
    expect(droppedBy(grad(f, { mode: 'reverse' }), a, b)).toEqual([['where', 2, 'unforced', 1]])
    expect(droppedBy(grad(f, { mode: 'reverse', wrt: 1 }), a, b)).toEqual([['where', 1, 'unforced', 1]])
  })

  it('has no thunk that another cotangent was made of', () => {
    // aBar is bBar times what was before.
    expect(
      droppedBy(
        grad((x: AnyExpr, y: AnyExpr) => sum(linearRecurrence(x, y))),
        a,
        b,
      ),
    ).toEqual([])
    expect(
      droppedBy(
        grad((x: AnyExpr, y: AnyExpr) => sum(linearRecurrence(x, y)), { wrt: 1 }),
        a,
        b,
      ),
    ).toEqual([['linearRecurrence', 0, 'unforced', 1]])
  })

  it('has what a rule built without being asked', () => {
    const eager = rule(coreRegistry.rules.get('matmul')!.primitive, {
      rrule: (xs, _params, { y }) => [y, (yBar) => xs.map((_x, i) => (i === 0 ? yBar : sin(yBar))) as never],
    })
    const codual = makeCodual(coreRegistry.with(eager), cpu())
    const f = codual.compile(codual.grad(product))
    expect(facts(f.explain(a, b).dropped)).toEqual([['matmul', 1, 'unused', 1]])
    // The result's own cotangent, handed on, was not built for the argument.
    const g = codual.compile(codual.grad(product, { wrt: 1 }))
    expect(facts(g.explain(a, b).dropped)).toEqual([['matmul', 0, 'inactive', 1]])
  })

  it('has captured tensors, and no literals: nobody could ask for those', () => {
    expect(
      droppedBy(
        grad((x: AnyExpr) => product(x, b as unknown as AnyExpr)),
        a,
      ),
    ).toEqual([['matmul', 1, 'inactive', 1]])
    expect(
      droppedBy(
        grad((x: AnyExpr) => sum(mul(sin(x), 2)), { mode: 'reverse' }),
        a,
      ),
    ).toEqual([])
  })

  it('is there for declared sizes and for promises, and empty without a derivative', async () => {
    const declared = fn({ x: f64('n', 2), w: f64(2, 2) }, ({ x, w }) => product(x, w))
    expect(droppedBy(grad(declared, { wrt: 'w' }), { n: 3 })).toEqual([['matmul', 0, 'inactive', 1]])
    const g = compileAsync(grad(product), cpu())
    expect(facts((await g.explain(a as never, b as never)).dropped)).toEqual([['matmul', 1, 'inactive', 1]])
    expect(compile(product, cpu()).explain(a, b).dropped).toEqual([])
  })
})

describe('recording', () => {
  it('is done by explain alone, by one more trace', () => {
    let traces = 0
    const f = compile(
      grad((x: AnyExpr, y: AnyExpr) => {
        traces++
        return product(x, y)
      }),
      cpu(),
    )
    f(a, b)
    f(a, b)
    expect(traces).toBe(1)
    f.explain()
    expect(traces).toBe(2)
  })

  it('ends, also where the trace raises', () => {
    expect(() =>
      recordingDropped(() => {
        expect(dropListener([])).toBeDefined()
        throw new Error('the body')
      }),
    ).toThrow('the body')
    expect(dropListener([])).toBeUndefined()
    expect(evaluate(grad(product)(a, b)).toArray()).toEqual([
      [11, 15],
      [11, 15],
    ])
  })
})
