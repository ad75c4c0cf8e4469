// linearize: what the tangents need of the point is computed once, with the value; the derivative is what is left.
import { describe, expect, it } from 'vitest'
import { aval } from '../../src/core/graph/aval.js'
import { partition } from '../../src/core/graph/close.js'
import { asExpr, asNode, input, linearize as linear } from '../../src/core/graph/expr.js'
import {
  type AnyExpr,
  broadcastTo,
  compile,
  exp,
  grad,
  jvp,
  linearize,
  matmul,
  mul,
  NoTangent,
  sin,
  sum,
  type Tensor,
  tanh,
  tensor,
  toProgram,
} from '../../src/index.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data)
const x = tensor([0.3, -1.2, 2])
const w = tensor([[1, 2, 3], [0.5, -1, 2], [0, 1, 1]]) // biome-ignore format: one row
const f = (v: AnyExpr): AnyExpr => tanh(matmul(w, exp(sin(v))))
const primitives = (p: unknown): string[] =>
  linear((p as { outputs: never[] }).outputs).nodes.flatMap((n) => (n.prim === null ? [] : [n.prim.name]))

describe('linearize', () => {
  it('leaves a linear function: nothing of the point is computed again', () => {
    const [y, along] = linearize(f as never)(x as never) as unknown as [Tensor, (t: unknown) => Tensor]
    expect(numbers(y)).toEqual(numbers(compile(f)(x as never)))
    for (const t of [
      [1, 0, 0],
      [0.5, -2, 3],
      [0, 0, 0],
    ]) {
      const [, want] = jvp(f as never)(x as never, tensor(t) as never) as unknown as [unknown, Tensor]
      numbers(along(tensor(t))).forEach((v, i) => {
        expect(v).toBeCloseTo(numbers(want)[i]!, 12)
      })
    }
    const left = primitives(toProgram(along as never))
    expect(left).toContain('matmul')
    for (const name of ['exp', 'sin', 'cos', 'tanh']) expect(left).not.toContain(name)
  })
  it('traces f once, whatever it is asked along', () => {
    let traces = 0
    const g = (v: AnyExpr): AnyExpr => {
      traces++
      return mul(v, sin(v))
    }
    const [, along] = linearize(g as never)(x as never) as unknown as [unknown, (t: unknown) => Tensor]
    for (let k = 0; k < 3; k++) along(tensor([k, 1, 1]))
    expect(traces).toBe(1)
  })
  it('inside a trace, and of a function that captures its expressions', () => {
    const g = (v: AnyExpr): AnyExpr => {
      const [y, along] = linearize(((u: AnyExpr) => mul(u, sin(v))) as never)(mul(v, v) as never) as unknown as [
        AnyExpr,
        (t: unknown) => AnyExpr,
      ]
      return sum(mul(y, along(v)))
    }
    // v^2 sin v times v sin v
    const got = numbers(grad(g as never)(x as never))
    const h = (v: number): number => v ** 3 * Math.sin(v) ** 2
    got.forEach((d, i) => {
      const v = x.data[i]!
      expect(d).toBeCloseTo((h(v + 1e-5) - h(v - 1e-5)) / 2e-5, 6)
    })
  })
  it('results without a tangent, arguments without one, and nothing at all', () => {
    const [y, along] = linearize(((r: { a: AnyExpr; k: AnyExpr }) => [mul(r.a, 2), r.k]) as never)({
      a: x,
      k: tensor([1, 2], [2], 'i32'),
    } as never) as unknown as [readonly Tensor[], (t: unknown) => readonly unknown[]]
    expect(y.map(numbers)).toEqual([
      [0.6, -2.4, 4],
      [1, 2],
    ])
    const [da, dk] = along({ a: tensor([1, 10, 100]), k: NoTangent })
    expect([numbers(da), dk]).toEqual([[2, 20, 200], NoTangent])
    const [, still] = linearize(((v: AnyExpr) => mul(0, v)) as never)(tensor([], [0]) as never) as unknown as [
      unknown,
      (t: unknown) => Tensor,
    ]
    expect(numbers(still(tensor([], [0])))).toEqual([])
  })
})

describe('partition', () => {
  it('residuals are what the linear part reads, and a view is on its side', () => {
    const [p, dp] = [input(aval([], 'f64')), input(aval([4], 'f64'))]
    const wide = broadcastTo(sin(asExpr(p)), [4])
    const { program, captured } = partition('f', [asNode(mul(wide, asExpr(dp)))], [dp])
    expect(captured.map((n) => [n.prim!.name, n.shape])).toEqual([['sin', []]])
    expect(program.inputs.map((n) => n.shape)).toEqual([[4], []])
    expect(primitives(program)).toEqual(['broadcastTo', 'mul'])
  })
})
