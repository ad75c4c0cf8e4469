// interpret: an algebra folded over expressions. Eager duals and coduals are an oracle of every rule that goes through no mode.

import { describe, expect, it } from 'vitest'
import { drawArray, random } from '../../src/check/draw.js'
import { interpretNodes } from '../../src/core/functions/interpret.js'
import { aval, isFloat } from '../../src/core/graph/aval.js'
import { evaluateNodes } from '../../src/core/graph/evaluate.js'
import { applyAny, asExpr, input, type Node } from '../../src/core/graph/expr.js'
import { lift } from '../../src/core/graph/lift.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { Tensor as TensorClass } from '../../src/core/graph/tensor.js'
import { families } from '../../src/core/ops/families.js'
import {
  type Algebra,
  type AnyExpr,
  add,
  CoDual,
  coreRegistry,
  cos,
  customRule,
  Dual,
  dualAlgebra,
  type EagerDual,
  f64,
  fn,
  i32,
  interpret,
  isAdException,
  map,
  mul,
  NoTangent,
  reverseAlgebra,
  sin,
  sum,
  type Tensor,
  take,
  tensor,
  ZeroTangent,
} from '../../src/index.js'
import { instantiate } from '../../src/modes/common.js'
import { pullback, pushforward } from '../../src/modes/transform.js'
import { implemented } from '../rules/mutants/partly.js'

const face = (x: TensorClass): Tensor => x as unknown as Tensor
const numbers = (x: { readonly data: ArrayLike<number> }): number[] => Array.from(x.data)
/** Equal to 1e-12 of the largest entry; a NaN or an infinity must be the same. */
const near = (got: readonly number[], want: readonly number[], rounding: number, what: string): void => {
  expect(got.length, what).toBe(want.length)
  const size = Math.max(1, ...want.filter(Number.isFinite).map(Math.abs))
  got.forEach((x, i) => {
    const y = want[i]!
    if (Number.isFinite(y)) expect(Math.abs(x - y), `${what}[${i}]: ${x}, ${y}`).toBeLessThanOrEqual(rounding * size)
    else expect(x, `${what}[${i}]`).toBe(y)
  })
}

describe('eager duals and coduals against jvp and vjp, every primitive and sample', () => {
  for (const [family, table] of Object.entries(families))
    describe(family, () => {
      for (const prim of Object.values(table) as AnyPrimitive[])
        it(prim.name, () => {
          const next = random(7)
          for (const sample of prim.samples) {
            const avals = sample.args.map((a) => aval(a.shape, a.dtype ?? 'f64'))
            const drawn = avals.map((a, i) => {
              const x = drawArray(a, next, sample.args[i]!.domain)
              const { values, draw } = sample.args[i]!
              ;(draw === undefined ? values : Array.from(draw(next, a.shape)))?.forEach((v, k) => {
                x.data[k] = v
              })
              return new TensorClass(a.shape, a.dtype, x.data)
            })
            const xs = avals.map((a) => input(a))
            const ys = applyAny(prim, xs, sample.params)
            const rounding = [...xs, ...ys].some((n) => n.dtype === 'f32') ? 1e-6 : 1e-12
            const moved = xs.map((x, i) => isFloat(x.dtype) && prim.args[prim.variadic ? 0 : i] === 'float' && implemented(prim.name, i))
            const dxs = avals.map((a, i) => (moved[i] ? new TensorClass(a.shape, a.dtype, drawArray(a, next, [-1, 1]).data) : undefined))
            const env = new Map<Node, TensorClass>(xs.map((x, i) => [x, drawn[i]!]))

            const tangents = xs.map((x) => input(x.aval))
            const push = pushforward(coreRegistry, ys, new Map(xs.flatMap((x, i) => (moved[i] ? [[x, tangents[i]!] as const] : []))))
            const full = new Map([...env, ...tangents.flatMap((t, i) => (dxs[i] === undefined ? [] : [[t, dxs[i]] as const]))])
            const dual = (i: number): EagerDual =>
              Dual(face(drawn[i]!), dxs[i] !== undefined ? face(dxs[i]) : isFloat(avals[i]!.dtype) ? ZeroTangent : NoTangent)
            const duals = interpretNodes(
              dualAlgebra(coreRegistry, ({ path }) => expect.unreachable(path)),
              ys,
              new Map(xs.map((x, i) => [x, dual(i)])),
            )
            ys.forEach((y, i) => {
              const { primal, tangent } = duals[i]!
              near(numbers(primal), numbers(evaluateNodes([y], env)[0]!), 0, 'y')
              if (!isFloat(y.dtype)) expect(tangent).toBe(NoTangent)
              else {
                const want = numbers(evaluateNodes([instantiate(push.tangents[i]!, y.aval)], full)[0]!)
                near(tangent._tag === 'Tensor' ? numbers(tangent) : want.map(() => 0), want, rounding, 'dy')
              }
            })

            const yBars = ys.map((y) =>
              isFloat(y.dtype) ? new TensorClass(y.shape, y.dtype, drawArray(y.aval, next, [-1, 1]).data) : undefined,
            )
            const seeds = ys.map((y) => input(y.aval))
            const pull = pullback(
              coreRegistry,
              ys,
              ys.map((_, i) => (yBars[i] === undefined ? ZeroTangent : asExpr(seeds[i]!))),
              xs,
            )
            const seeded = new Map([...env, ...seeds.flatMap((s, i) => (yBars[i] === undefined ? [] : [[s, yBars[i]] as const]))])
            // What has no derivative is captured, not an input.
            const named = xs.map((x, i) => (implemented(prim.name, i) ? input(x.aval, `x${i}`) : lift(drawn[i]!, 'captured')))
            const { algebra, back } = reverseAlgebra(coreRegistry, ({ path }) => face(drawn[Number(path.slice(1))]!))
            interpretNodes(algebra, applyAny(prim, named, sample.params)).forEach((y, i) => {
              if (yBars[i] !== undefined) y.add(face(yBars[i]))
            })
            const xBars = back()
            let [forward, reverse, size] = [0, 0, 1]
            const addDot = (a: readonly number[], b: readonly number[]): number =>
              a.reduce((sum, x, k) => {
                size = Math.max(size, Math.abs(x * b[k]!))
                return sum + x * b[k]!
              }, 0)
            duals.forEach(({ tangent }, i) => {
              if (tangent._tag === 'Tensor') forward += addDot(numbers(tangent), numbers(yBars[i]!))
            })
            xs.forEach((x, i) => {
              if (!moved[i]) return
              const want = numbers(evaluateNodes([instantiate(pull.cotangents[i]!, x.aval)], seeded)[0]!)
              const got = xBars.get(`x${i}`)
              near(got?._tag === 'Tensor' ? numbers(got as Tensor) : want.map(() => 0), want, rounding, 'xBar')
              reverse += addDot(want, numbers(dxs[i]!))
            })
            // The frule by eager duals against the rrule by reverse mode: <yBar, J dx> = <J' yBar, dx>.
            near([forward / size], [reverse / size], 10 * rounding, 'adjoint')
          }
        })
    })
})

const count: Algebra<number> = {
  input: () => 0,
  literal: () => 0,
  captured: () => 0,
  apply: (at, args) => at.results.map(() => Math.max(0, ...args) + 1),
}

describe('interpret', () => {
  const net = fn({ p: { w: f64(2) }, x: f64('n', 2) }, ({ p, x }) => ({ y: sum(mul(sin(x), p.w)), z: [p.w, x] as const }))
  it('gives the tree of the result, for a function and for expressions', () => {
    expect(interpret(count)(net, { n: 3 })).toEqual({ y: 3, z: [0, 0] })
    const x = sin(tensor([1, 2]))
    expect(interpret(count)({ a: x, b: [mul(x, x)] })).toEqual({ a: 1, b: [2] })
    expect(interpret(count)(x)).toBe(1)
  })
  it('names inputs by their path, and tells shapes and dtypes', () => {
    const shown: Algebra<string> = {
      input: (at) => `${at.path}: ${at.dtype} [${at.shape}]`,
      literal: (value, dtype) => `${value} ${dtype}`,
      captured: (t) => `captured [${t.shape}]`,
      apply: (at, args) => at.results.map((r) => `${at.primitive.name}(${args.join('; ')}) [${r.shape}]`),
    }
    expect(interpret(shown)(net, { n: 3 }).z).toEqual(['p.w: f64 [2]', 'x: f64 [3,2]'])
    expect(interpret(shown)(fn({ x: f64() }, ({ x }) => mul(add(x, 2), tensor([1, 2]))))).toBe(
      'mul(add(x: f64 []; 2 f64) []; captured [2]) [2]',
    )
  })
  it('takes values of expressions, and does not look below them', () => {
    let asked = 0
    const counted: Algebra<number> = { ...count, captured: () => ++asked }
    const x = sin(tensor([1, 2]))
    expect(interpret(counted)(mul(x, x), new Map<AnyExpr, number>([[x, 10]]))).toBe(11)
    expect(asked).toBe(0)
  })
  it('makes shared nodes once, at any depth', () => {
    let made = 0
    const once: Algebra<number> = {
      ...count,
      apply: (at, args) => {
        made++
        return count.apply(at, args)
      },
    }
    let x: AnyExpr = sin(tensor([1]))
    for (let i = 0; i < 100; i++) x = mul(x, x)
    expect(interpret(once)(x)).toBe(101)
    expect(made).toBe(101)
    let y: AnyExpr = sin(tensor([1]))
    for (let i = 0; i < 1_000_000; i++) y = add(y, 1)
    expect(interpret(count)(y)).toBe(1_000_001)
  })
  it('needs declared shapes', () => {
    const plain = (x: AnyExpr) => x
    let error: unknown
    try {
      interpret(count)(plain as never)
    } catch (e) {
      error = e
    }
    expect(isAdException(error) && error.error._tag).toBe('BadInput')
  })
})

describe('eager derivatives of whole functions', () => {
  const f = fn({ w: f64(3), x: f64(3), i: i32(2) }, ({ w, x, i }) => sum(map((a, b) => mul(sin(a), b), take(mul(w, x), i), take(x, i))))
  const at: Readonly<Record<string, Tensor>> = { w: tensor([1, 2, 3]), x: tensor([0.1, 0.2, 0.3]), i: tensor([0, 2], undefined, 'i32') }
  const wx = (k: number): readonly [number, number] => [numbers(at.w as never)[k]!, numbers(at.x as never)[k]!]
  it('duals', () => {
    const y = interpret(
      dualAlgebra(coreRegistry, ({ path, dtype }) =>
        Dual(at[path]!, dtype === 'i32' ? NoTangent : path === 'x' ? tensor([1, 1, 1]) : ZeroTangent),
      ),
    )(f)
    const want = [0, 2].reduce((s, k) => {
      const [w, x] = wx(k)
      return s + w * Math.cos(w * x) * x + Math.sin(w * x)
    }, 0)
    expect((y.tangent as Tensor).item()).toBeCloseTo(want, 12)
  })
  it('coduals', () => {
    const { algebra, back } = reverseAlgebra(coreRegistry, ({ path }) => at[path]!)
    interpret(algebra)(f).add(tensor(1))
    const bars = back()
    const w = numbers(bars.get('w') as never)
    ;[0, 1, 2].forEach((k) => {
      const [u, x] = wx(k)
      expect(w[k]).toBeCloseTo(k === 1 ? 0 : Math.cos(u * x) * x * x, 12)
    })
    expect(bars.get('i')).toBe(NoTangent)
  })
  it('of a function with its own rule, and a MissingRule', () => {
    const own = customRule((x: AnyExpr) => sin(x), { frule: (x, dx) => [sin(x), mul(2, mul(cos(x), dx))] })
    const g = fn({ x: f64() }, ({ x }) => own(x))
    expect((interpret(dualAlgebra(coreRegistry, () => Dual(tensor(0), tensor(1))))(g).tangent as Tensor).item()).toBe(2)
    const { algebra, back } = reverseAlgebra(coreRegistry, () => tensor(0))
    interpret(algebra)(g).add(tensor(1))
    expect((back().get('x') as Tensor).item()).toBe(2)
    const h = fn({ x: f64() }, ({ x }) => customRule((u: AnyExpr) => sin(u), { rrule: (u) => [sin(u), (yBar) => mul(cos(u), yBar)] })(x))
    let error: unknown
    try {
      interpret(dualAlgebra(coreRegistry, () => Dual(tensor(0), tensor(1))))(h)
    } catch (e) {
      error = e
    }
    expect(isAdException(error) && error.error._tag).toBe('MissingRule')
  })
  it('coduals ask rules for the inputs alone: a captured tensor has no cotangent, and none is missing', () => {
    const weights = tensor([2, 3])
    const asked: boolean[] = []
    const own = customRule((x: AnyExpr) => mul(x, weights), {
      rrule: (x) => [
        mul(x, weights),
        (yBar) => {
          asked.push(true)
          return mul(yBar, weights)
        },
      ],
    })
    const g = fn({ x: f64(2) }, ({ x }) => own(x))
    const { algebra, back } = reverseAlgebra(coreRegistry, () => tensor([5, 7]))
    interpret(algebra)(g).add(tensor([1, 10]))
    expect(numbers(back().get('x') as never)).toEqual([2, 30])
    expect(asked).toEqual([true])
  })
  it('Dual and CoDual carry anything', () => {
    expect(Dual('x', 1)).toEqual({ primal: 'x', tangent: 1 })
    const x = CoDual(3, (a: number, b: number) => a + b)
    expect(x.total()).toBeUndefined()
    for (const bar of [1, 2, 4]) x.add(bar)
    expect([x.primal, x.total()]).toEqual([3, 7])
  })
})
