// Programs of very many equations, parts and inputs: nothing spreads a list whose length a user decides, and nothing is counted anew for each.
import { expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Run = (...xs: readonly unknown[]) => cd.Tensor
const compiled = (f: (x: E) => E): Run => (cd.compile as unknown as (f: unknown) => Run)(f)
const gradOf =
  (f: (x: E) => E) =>
  (x: E): E =>
    (cd.grad as unknown as (f: unknown) => (x: E) => E)(f)(x)

it('the gradient of 50,000 chained products', () => {
  const turn = cd.tensor([0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0], [4, 4])
  const chain = (x: E): E => {
    let h = x
    for (let i = 0; i < 50_000; i++) h = cd.matmul(h, x) as E
    return cd.sum(h) as E
  }
  // each of the 50,001 factors gives one turn of ones: in all 50,001 for each element
  expect(compiled(gradOf(chain))(turn).toArray()).toEqual(new Array(4).fill(new Array(4).fill(50_001)))
})
it('300,000 equations one after the other', () => {
  const f = (x: E): E => {
    let h = x
    for (let i = 0; i < 150_000; i++) h = cd.neg(cd.abs(h)) as E
    return h
  }
  expect(compiled(f)([1, -2]).toArray()).toEqual([-1, -2])
})
it('a concat of 60,000 parts, its gradient, and as many terms and slices', () => {
  const n = 60_000
  const parts = (x: E): E => cd.sum(cd.square(cd.concat(Array.from({ length: n }, (_, i) => cd.mul(x, i % 7) as E) as never) as E)) as E
  let squares = 0
  for (let i = 0; i < n; i++) squares += (i % 7) ** 2
  expect(compiled(gradOf(parts))([1, 2]).toArray()).toEqual([2 * squares, 4 * squares])
  const terms = (x: E): E => {
    let s = cd.sum(x) as E
    for (let i = 0; i < n; i++) s = cd.add(s, cd.at(x as never, i) as never) as E
    return s
  }
  expect(new Set(compiled(gradOf(terms))(new Float64Array(n)).data)).toEqual(new Set([2]))
})
it('100,000 inputs, their gradient uncompiled, and as many outputs', () => {
  const n = 100_000
  const xs = Array.from({ length: n }, (_, i) => cd.tensor(i % 5))
  const total = (d: readonly E[]): E => cd.sum(cd.square(cd.stack(d as never) as E)) as E
  const g = (cd.grad as unknown as (f: unknown) => (xs: unknown) => readonly cd.Tensor[])(total)(xs)
  expect(g.length).toBe(n)
  expect(g.slice(0, 5).map((t) => t.item())).toEqual([0, 2, 4, 6, 8])
  const many = (cd.compile as unknown as (f: unknown) => (x: unknown) => readonly cd.Tensor[])((x: E) =>
    Array.from({ length: n }, (_, i) => cd.mul(x, i)),
  )([1, 2])
  expect(many[n - 1]!.toArray()).toEqual([n - 1, 2 * (n - 1)])
})
