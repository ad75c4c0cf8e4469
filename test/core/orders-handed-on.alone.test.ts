/** An order that is handed on is that of its roots: held against the one that a walk from these makes. */
import { describe, expect, it, vi } from 'vitest'

const counted = vi.hoisted(() => {
  vi.resetModules() // what the set-up of tests has loaded
  return { handedOn: 0, wrong: [] as string[] }
})
vi.mock('../../src/core/graph/order.js', async (original) => {
  const m = await original<typeof import('../../src/core/graph/order.js')>()
  const held = <R extends readonly Node[]>(roots: R): R => {
    const [known, again] = [m.orderOf(roots), linearize(roots)]
    const same = known.nodes.length === again.nodes.length && known.nodes.every((n, i) => n === again.nodes[i] && known.index.get(n) === i)
    if (!same) counted.wrong.push(new Error().stack!)
    counted.handedOn++
    return roots
  }
  return {
    ...m,
    inOrder: ((roots, linear) => held(m.inOrder(roots, linear))) satisfies typeof m.inOrder,
    among: ((linear, roots) => held(m.among(linear, roots))) satisfies typeof m.among,
  }
})

import { makeCpu } from '../../src/backends/cpu/index.js'
import { linearize, type Node } from '../../src/core/graph/expr.js'
import * as cd from '../../src/index.js'
import { inputsOf } from '../golden/data.js'
import { programs, variants } from '../golden/programs.js'

type E = cd.AnyExpr
type Op = (...xs: readonly unknown[]) => E
const {
  add,
  compile,
  cond,
  cos,
  fori,
  gt,
  grad,
  jvp,
  lt,
  map: over,
  matmul,
  mul,
  reference,
  scan,
  sin,
  sum,
  tensor,
  vmap,
  whileLoop,
} = cd as unknown as Readonly<Record<string, Op>>
type Call = (...xs: readonly unknown[]) => unknown
const compiled = (f: unknown): Call => compile!(f, makeCpu()) as unknown as Call
const gradient = (f: (x: E) => E): Call => grad!(f) as unknown as Call
const product = (x: E): E => sum!(mul!(sin!(x), x))
const loop = (x: E): E => sum!((scan!((c: E, w: E) => [sin!(mul!(c, w)), c], x, [0.7, 0.2]) as unknown as readonly [E, E])[0])

describe('an order that is handed on', () => {
  const held = (run: () => unknown): void => {
    run()
    expect(counted.wrong).toEqual([])
  }
  const while_ = (x: E): E =>
    whileLoop!(
      (c: E) => lt!(sum!(c), 9),
      (c: E) => add!(mul!(c, c), 1),
      x,
      { maxSteps: 3 },
    ) as unknown as E
  const functions: Readonly<Record<string, (x: E) => E>> = {
    product,
    loop,
    'a region whose results are read by turns': (x) => {
      const a = sin!(x)
      const b = cos!(mul!(a, x))
      return add!(mul!(sum!(a), sum!(mul!(b, sum!(a)))), sum!(mul!(add!(a, b), matmul!(b, a))))
    },
    'what a map is beside': (x) =>
      sum!(
        mul!(
          over!((y: E) => mul!(sin!(y), y), x),
          cos!(x),
        ),
      ),
    'carries that stay, rows that nobody reads': (x) =>
      sum!(
        (
          scan!(
            ([a, b, s]: readonly E[], w: E) => [[mul!(a!, w), add!(b!, mul!(a!, s!)), s], sin!(b!)],
            [x, x, mul!(x, 2)],
            [0.7, 0.2],
          ) as unknown as readonly [readonly E[], E]
        )[0][1]!,
      ),
    'a loop in a loop': (x) => sum!(fori!(2, (_i: E, c: E) => fori!(2, (_j: E, d: E) => mul!(sin!(d), x), c), x)),
    'a loop that ends': (x) => sum!((while_(x) as unknown as readonly [E])[0]),
    'of branches': (x) =>
      sum!(
        cond!(
          gt!(sum!(x), 0),
          (y: E) => mul!(y, sum!(y)),
          (y: E) => sin!(y),
          x,
        ),
      ),
  }
  it.each(Object.entries(functions))('%s: gradient, second derivative, batch', (_name, f) => {
    const before = counted.handedOn
    const g = (x: E): E => gradient(f)(x) as E
    held(() => gradient(f)([1, 2]))
    held(() => compiled(grad!(f))([1, 2]))
    held(() => (jvp!(g) as unknown as Call)([1, 2], [1, 0]))
    held(() => gradient((x) => sum!(mul!(g(x), x)))([1, 2]))
    held(() =>
      (vmap!(g) as unknown as Call)([
        [1, 2],
        [3, 4],
      ]),
    )
    held(() => (compile!(grad!(f), reference!()) as unknown as Call)([1, 2]))
    expect(counted.handedOn).toBeGreaterThan(before)
  })
  const workloads: Readonly<Record<string, typeof programs.W1>> = {
    ...programs,
    ...Object.fromEntries(Object.entries(variants).map(([id, v]) => [id, v.program])),
  }
  it.each(['W4', 'W5', 'W7/scan', 'W8/scan', 'W9/scan'])('workload %s', (id) => {
    const of = variants[id]?.of ?? (id as keyof typeof programs)
    const inputs = Object.fromEntries(Object.entries(inputsOf(of, 'f64')).map(([k, { shape, data }]) => [k, tensor!(data, shape)]))
    held(() => {
      const f = compile!(workloads[id]!('f64').whole, makeCpu()) as unknown as { prepare: Call; dispose: () => void }
      f.prepare(inputs)
      f.dispose()
    })
  })
})
