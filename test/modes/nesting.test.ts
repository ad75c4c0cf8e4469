/** Nesting: perturbations never mix, every order exists, sharing stays linear, depth has no limit. */

import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { metaOf, traceMeta } from '../../src/core/functions/function.js'
import { aval } from '../../src/core/graph/aval.js'
import { linearize } from '../../src/core/graph/expr.js'
import * as cd from '../../src/index.js'
import { deep, whole } from '../depth.js'

type Any = cd.AnyExpr
const D = (f: (x: Any) => Any) => cd.grad(f as never) as unknown as (x: unknown) => Any
const number = (x: unknown): number => (x as cd.Tensor).item()

describe('perturbation confusion', () => {
  it('D(x -> x D(y -> x + y, 1), 1) is 1', () => {
    expect(number(D((x) => cd.mul(x, D((y) => cd.add(x, y))(1)))(1))).toBe(1)
  })
  it('grad(y => x y)(x) inside f gives x', () => {
    const f = (x: Any): Any => D((y) => cd.mul(x, y))(x)
    expect(number((cd.evaluate as (e: unknown) => unknown)(f(cd.tensor(3) as unknown as Any)))).toBe(3)
    expect(number(D(f)(3))).toBe(1)
  })
  it('a map body that captures an outer scalar, to order 3', () => {
    // f(s) = sum over x of sin(s x): derivatives -1^k x^k ...
    const x = [0.5, 1, 2]
    const f = (s: Any): Any =>
      cd.sum((cd.map as (g: (u: Any) => Any, xs: unknown) => Any)((u) => cd.sin(cd.mul(s, u) as never) as Any, x)) as Any
    const s = 0.7
    const want = [
      (u: number) => Math.sin(s * u),
      (u: number) => u * Math.cos(s * u),
      (u: number) => -u * u * Math.sin(s * u),
      (u: number) => -u * u * u * Math.cos(s * u),
    ].map((g) => x.reduce((t, u) => t + g(u), 0))
    expect(number((cd.compile(f as never) as unknown as (v: number) => cd.Tensor)(s))).toBeCloseTo(want[0]!, 12)
    expect(number(D(f)(s))).toBeCloseTo(want[1]!, 12)
    expect(number(D(D(f))(s))).toBeCloseTo(want[2]!, 12)
    expect(number(D(D(D(f)))(s))).toBeCloseTo(want[3]!, 12)
  })
  it('third derivative of tanh', () => {
    const x = 0.3
    const t = Math.tanh(x)
    expect(number(D(D(D((y) => cd.tanh(y as never) as Any)))(x))).toBeCloseTo(-2 * (1 - t * t) * (1 - 3 * t * t), 12)
  })
})

describe('hvp', () => {
  it('forward over reverse equals reverse over reverse', () => {
    const f = (x: Any): Any => cd.sum(cd.mul(cd.tanh(cd.mul(x, x)), cd.sin(x))) as Any
    const x = [0.3, -0.7, 1.1]
    const v = [1, 2, -1]
    const over = (cd.hvp(f as never) as unknown as (x: unknown, v: unknown) => cd.Tensor)(x, v).toArray() as number[]
    const twice = (D((y) => cd.sum(cd.mul(D(f)(y), v)) as Any)(x) as unknown as cd.Tensor).toArray() as number[]
    over.forEach((a, i) => {
      expect(a).toBeCloseTo(twice[i]!, 12)
    })
  })
})

describe('sharing and depth', () => {
  it('z = z z, 100 times, stays linear', () => {
    const f = (x: Any): Any => {
      let z: Any = x
      for (let i = 0; i < 100; i++) z = cd.mul(z, z) as Any
      return z
    }
    const p = traceMeta(metaOf(cd.grad(f as never)), { _tag: 'Tuple', items: [{ _tag: 'Leaf' }] }, [aval([], 'f64')])
    expect(linearize(p.outputs).nodes.length).toBeLessThan(2000)
    expect(number(D(f)(1))).toBe(2 ** 100)
  })

  const chain = (n: number, shape: readonly number[]) => {
    const c = Array.from({ length: n }, (_, k) => 1e-3 * Math.sin(k + 1))
    const f = (x: Any): Any => {
      let y: Any = x
      for (let k = 0; k < n; k++) y = cd.add(cd.mul(cd.sin(y as never), c[k]!), y) as Any
      return (shape.length === 0 ? y : cd.sum(y)) as Any
    }
    const loop = (x: number): readonly [value: number, derivative: number] => {
      let y = x
      let d = 1
      for (let k = 0; k < n; k++) {
        d = Math.cos(y) * c[k]! * d + d
        y = Math.sin(y) * c[k]! + y
      }
      return [y, d]
    }
    return { f, loop }
  }
  type Chain = readonly [n: number, shape: readonly number[]]
  const short: readonly Chain[] = [[10_000, []], [10_000, [4]]] // biome-ignore format: one row
  /** Each length at one shape in depth, at both in the whole run. */
  const long: readonly Chain[] = [[100_000, [4]], [1_000_000, []]] // biome-ignore format: one row
  const longer: readonly Chain[] = [[100_000, []], [1_000_000, [4]]] // biome-ignore format: one row
  for (const [n, shape] of [...short, ...(deep ? long : []), ...(whole ? longer : [])])
    it(`a chain of ${n} steps at shape [${shape}]: value and gradient as a plain loop`, () => {
      const { f, loop } = chain(n, shape)
      const xs = shape.length === 0 ? [0.4] : [0.4, -0.2, 1.3, 0.9]
      const c = cd.compile(cd.valueAndGrad(f as never), makeCpu()) as unknown as (x: unknown) => { value: cd.Tensor; grad: cd.Tensor }
      const r = c(shape.length === 0 ? xs[0] : xs)
      const want = xs.map(loop)
      const value = want.reduce((s, [y]) => s + y, 0)
      expect(Math.abs(r.value.item() - value) / Math.abs(value)).toBeLessThan(1e-9)
      want.forEach(([, d], i) => {
        expect(Math.abs(r.grad.data[i]! - d) / Math.abs(d)).toBeLessThan(1e-9)
      })
    })
})

describe('a map of arguments of several shapes', () => {
  it('has results of the common shape in forward mode too, whichever arguments they use', () => {
    const f = (x: Any): Any => {
      const [a] = cd.map((u, v) => [cd.sin(u), cd.mul(u, v)], x as never, cd.ones([2, 3])) as unknown as readonly Any[]
      return cd.sum(cd.slice(a as never, [1, 0], [2, 2]) as never) as Any
    }
    const [y, dy] = cd.jvp(f as never)([1, 2, 3] as never, [1, 1, 1] as never) as unknown as readonly [cd.Tensor, cd.Tensor]
    expect(y.item()).toBeCloseTo(Math.sin(1) + Math.sin(2), 12)
    expect(dy.item()).toBeCloseTo(Math.cos(1) + Math.cos(2), 12)
  })
})
