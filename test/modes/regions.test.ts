// Programs of scalars know no size: a trace at another size takes those of the traces before it, with their partials. One whose nodes are looked at makes its own.
import { expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { aval } from '../../src/core/graph/aval.js'
import { asExpr, asNode, input, linearize, type Node } from '../../src/core/graph/expr.js'
import type { Program } from '../../src/core/graph/program.js'
import { recordingSites } from '../../src/core/graph/source-lines.js'
import { type MapParams, mapPrimitive } from '../../src/core/ops/map.js'
import * as cd from '../../src/index.js'
import { regionized } from '../../src/modes/mixed.js'

type E = cd.AnyExpr
const op = cd as unknown as Record<string, (...xs: readonly unknown[]) => E>
const programs = (outputs: readonly Node[]): readonly Program[] =>
  linearize(outputs).nodes.flatMap((n) => (n.prim === (mapPrimitive as unknown) ? [(n.payload as MapParams).program] : []))
/** The programs of the regions of f at an array of n. */
const regionsOf = (f: (x: E) => E, n: number, dtype: 'f64' | 'f32' = 'f64'): readonly Program[] => {
  const x = input(aval([n], dtype))
  return programs(regionized([asNode(f(asExpr(x)))], [x]))
}
const wave =
  (k: number) =>
  (x: E): E =>
    op.sum!(op.exp!(op.sin!(op.mul!(x, k))))

it('a region of another size has the same program', () => {
  const [first] = regionsOf(wave(2), 5)
  expect(first === undefined).toBe(false)
  expect(regionsOf(wave(2), 7)[0] === first).toBe(true)
  // literals are arguments
  expect(regionsOf(wave(3), 7)[0] === first).toBe(true)
  expect(regionsOf(wave(2), 5, 'f32')[0] === first).toBe(false)
  expect(regionsOf((x) => op.sum!(op.sin!(op.exp!(op.mul!(x, 2)))), 5)[0] === first).toBe(false)
})

it('a trace whose nodes are looked at makes all of them', () => {
  const [first] = regionsOf(wave(2), 5)
  const observed = recordingSites(() => regionsOf(wave(2), 5))[0]
  expect(observed === undefined).toBe(false)
  expect(observed === first).toBe(false)
  expect(regionsOf(wave(2), 5)[0] === first).toBe(true)
})

it('what is kept is bounded', () => {
  const [first] = regionsOf(wave(2), 5)
  const functions = ['sin', 'cos', 'exp', 'tanh', 'sigmoid', 'atan', 'sinh', 'cosh']
  // eight to the fourth different chains of twelve
  for (let i = 0; i < 700; i++)
    regionsOf((x) => {
      let y = x
      for (let k = 0; k < 12; k++) y = op[functions[(i >> (3 * (k % 4))) % 8]!]!(y)
      return op.sum!(y)
    }, 3)
  expect(regionsOf(wave(2), 5)[0] === first).toBe(false)
})

it('gradients at sizes in turn are those of a backend that met one size, to the bit', () => {
  const f = (x: E): E => op.sum!(op.mul!(op.tanh!(op.mul!(x, 0.5)), op.sigmoid!(op.exp!(op.neg!(x)))))
  const on = (b: cd.SyncBackend) => cd.compile(cd.grad(f as never), b) as unknown as (x: cd.Tensor) => cd.Tensor
  const run = on(makeCpu({ verify: true }))
  for (const n of [5, 1, 16, 3, 5, 33]) {
    const x = cd.tensor(Array.from({ length: n }, (_, i) => Math.sin(1 + i))) as unknown as cd.Tensor
    expect(run(x).data).toEqual(on(makeCpu())(x).data)
  }
})

it('errors at a second size have the line of their equation', () => {
  const lines: (string | undefined)[] = []
  const f = (x: E): E => op.sum!(op.sqrt!(op.sub!(op.square!(x), op.square!(x))))
  const run = cd.compile(cd.grad(f as never), cd.cpu(), { trap: 'nonFinite' } as never) as unknown as (x: cd.Tensor) => cd.Tensor
  for (const n of [3, 4, 3, 5])
    try {
      run(cd.tensor(Array.from({ length: n }, (_, i) => 1 + i)) as unknown as cd.Tensor)
    } catch (e) {
      lines.push(/regions\.test\.ts:(\d+)/.exec((e as Error).message)?.[1])
    }
  expect(lines).toHaveLength(4)
  expect(lines[0]).toBeDefined()
  expect(new Set(lines).size).toBe(1)
})
