/** One order of a graph, made once: how often graphs are put in order. */
import { describe, expect, it, vi } from 'vitest'

const counted = vi.hoisted(() => {
  vi.resetModules() // what the set-up of tests has loaded
  return { made: 0 }
})
vi.mock('../../src/core/graph/expr.js', async (original) => {
  const m = await original<typeof import('../../src/core/graph/expr.js')>()
  const linearize: typeof m.linearize = (...of) => {
    counted.made++
    return m.linearize(...of)
  }
  return { ...m, linearize }
})

import { makeCpu } from '../../src/backends/cpu/index.js'
import { aval } from '../../src/core/graph/aval.js'
import { input, linearize, type Node, NodeIndex } from '../../src/core/graph/expr.js'
import { orderOf } from '../../src/core/graph/order.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Op = (...xs: readonly unknown[]) => E
const { compile, grad, matmul, mean, mul, scan, sin, square, sub, sum, tanh, tensor, valueAndGrad } = cd as unknown as Readonly<
  Record<string, Op>
>
type Call = (...xs: readonly unknown[]) => unknown
const compiled = (f: unknown): Call => compile!(f, makeCpu()) as unknown as Call
const gradient = (f: (x: E) => E): Call => grad!(f) as unknown as Call
/** Orders that are made while f runs. */
const orders = (f: () => unknown): number => {
  const before = counted.made
  f()
  return counted.made - before
}

const product = (x: E): E => sum!(mul!(sin!(x), x))
const loop = (x: E): E => sum!((scan!((c: E, w: E) => [sin!(mul!(c, w)), c], x, [0.7, 0.2]) as unknown as readonly [E, E])[0])
const data = tensor!(Float64Array.from([1, 2, 2, 3]), [2, 2])
const target = tensor!(Float64Array.from([1, 2]), [2, 1])
const layers = ({ w, v }: { w: E; v: E }): E => mean!(square!(sub!(matmul!(tanh!(matmul!(data, w)), v), target)))
const weights = { w: tensor!(Float64Array.from([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), [2, 3]), v: tensor!(Float64Array.from([1, 2, 3]), [3, 1]) }

describe('orders that are made', () => {
  it('in a gradient and its call: of the function, of the derivatives of its region, of the gradient', () => {
    expect(orders(() => gradient(product)([1, 2, 3]))).toBe(3)
    // the derivatives of its region know no size
    expect(orders(() => gradient(product)([1, 2]))).toBe(2)
  })
  it('in a gradient without regions: of the function and of the gradient', () => {
    expect(orders(() => gradient((x) => sum!(mul!(x, x)))([1, 2, 3]))).toBe(2)
  })
  it('in a first compiled call, and none in the second', () => {
    const f = compiled(grad!((x: E) => sum!(mul!(tanh!(x), sin!(x)))))
    expect(orders(() => f([1, 2, 3]))).toBe(3)
    expect(orders(() => f([3, 2, 1]))).toBe(0)
    const net = compiled(valueAndGrad!(layers))
    expect(orders(() => net(weights))).toBe(3)
    expect(orders(() => net(weights))).toBe(0)
  })
  it('in the gradient of a scan: of its step three, one of the function, four of the steps of both ways, one of the gradient', () => {
    expect(orders(() => gradient(loop)([1, 2]))).toBe(9)
    expect(orders(() => compiled(grad!(loop))([1, 2]))).toBe(9)
  })
})

describe('an order', () => {
  it('is kept no longer than its roots', async () => {
    let roots: readonly Node[] | undefined = [input(aval([2], 'f64'))]
    orderOf(roots)
    const node = new WeakRef(roots[0]!)
    expect(orders(() => orderOf(roots!))).toBe(0)
    roots = undefined
    for (let i = 0; i < 5 && node.deref() !== undefined; i++) {
      await new Promise((r) => setTimeout(r))
      ;(globalThis as { gc?: () => void }).gc?.()
    }
    expect(node.deref()).toBeUndefined()
  })
  it('is by number, of nodes that were built far from each other too', () => {
    const nodes = Array.from({ length: 3000 }, () => input(aval([], 'f64')))
    for (const step of [1, 7, 400, 2999]) {
      const some = nodes.filter((_, i) => i % step === 0)
      for (const roots of [some, [...some].reverse(), [...some.slice(3), ...some.slice(0, 3)]]) {
        const { nodes: made, index } = linearize(roots)
        expect(made.length).toBe(some.length)
        expect(made.every((n, i) => n === some[i])).toBe(true)
        expect(made.every((n, i) => index.get(n) === i)).toBe(true)
        expect(nodes.every((n, i) => index.has(n) === (i % step === 0))).toBe(true)
      }
    }
  })
  it('is found in a table that grows on both sides', () => {
    const nodes = Array.from({ length: 5000 }, () => input(aval([], 'f64')))
    const table = new NodeIndex()
    const at = new Map<number, number>()
    for (let i = 0, k = 2500; i < 3000; i++, k = (k * 2897 + (i % 11)) % 5000) {
      table.set(nodes[k]!, i)
      at.set(k, i)
    }
    expect(nodes.map((n) => table.get(n))).toEqual(nodes.map((_, k) => at.get(k) ?? -1))
  })
})
