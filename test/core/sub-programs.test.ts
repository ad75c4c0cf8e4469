// Programs among parameters: a primitive made here, with no word of it in the library, prints, saves, plans, runs, is differentiated, batched and lowered.
import { isRight } from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { buildIr } from '../../src/backends/plan/ir.js'
import type { Aval } from '../../src/core/graph/aval.js'
import { Identities } from '../../src/core/graph/identity.js'
import type { Program } from '../../src/core/graph/program.js'
import {
  type AnyExpr,
  add,
  applyPrimitive,
  codualWith,
  compile,
  coreRegistry,
  cos,
  cpu,
  definePlugin,
  fromJSON,
  fromProgram,
  makeCodual,
  map,
  mul,
  primitive,
  reference,
  scalarRule,
  show,
  sin,
  sum,
  type Tensor,
  tensor,
  toJSON,
  toProgram,
  unary,
} from '../../src/index.js'
import { twice, twicePrimitive, twiceRule } from './twice.js'

const registry = coreRegistry.with(twiceRule)
const cd = makeCodual(registry, cpu())
const numbers = (x: unknown): number[] => Array.from((x as Tensor).data)
const close = (got: unknown, want: readonly number[]): void =>
  numbers(got).forEach((x, i) => {
    expect(x).toBeCloseTo(want[i]!, 12)
  })
const w = tensor([0.5, -1.5, 2])
/** sin(w sin(w x)), by a program that captures a tensor. */
const f = (x: AnyExpr): AnyExpr => twice((u) => sin(mul(w, u)), x)
const x = tensor([0.3, 0.7, -1.1])
/** map, of expressions of any shape. */
const every = map as unknown as (g: (v: AnyExpr) => AnyExpr, u: AnyExpr) => AnyExpr
const at = [0.3, 0.7, -1.1].map((v, i) => ({ v, w: [0.5, -1.5, 2][i]! }))
const value = at.map(({ v, w: a }) => Math.sin(a * Math.sin(a * v)))
const first = at.map(({ v, w: a }) => Math.cos(a * Math.sin(a * v)) * a * Math.cos(a * v) * a)
/** The derivative of that once more. */
const second = at.map(({ v, w: a }) => {
  const [s, c] = [Math.sin(a * v), Math.cos(a * v)]
  return -Math.sin(a * s) * (a * a * c) ** 2 - Math.cos(a * s) * a * a * a * s
})

describe('twice(f, x), a primitive with a program of its own', () => {
  it('prints its body, indented', () => {
    expect(show(toProgram(f)(x))).toBe(
      [
        'f(x0: f64 [3])',
        '  y0 = twice(x0, captured0) : f64 [3]',
        '    twice(x0: f64 [3], x1: f64 [3])',
        '      y0 = mul(x1, x0) : f64 [3]',
        '      y1 = sin(y0) : f64 [3]',
        '      return 0: y1',
        '  return y0',
      ].join('\n'),
    )
  })
  it('runs on every backend, written out where plans are made', () => {
    for (const backend of [reference(), cpu(), cpu({ simd: false })]) {
      const run = compile(f, backend)
      close(run(x), value)
    }
    expect(compile(f, cpu()).explain(x).kernels).toBe(1)
  })
  it('is saved and read back', () => {
    const json = JSON.parse(JSON.stringify(toJSON(toProgram(f)(x))))
    const read = fromJSON(json, [twicePrimitive as never])
    expect(isRight(read)).toBe(true)
    if (isRight(read)) close((fromProgram(read.right as never) as unknown as (y: unknown) => unknown)(x), value)
    expect(isRight(fromJSON(json))).toBe(false)
  })
  it.each(['mixed', 'reverse', 'forward'] as const)('is differentiated twice: %s', (mode) => {
    const g = (u: AnyExpr): AnyExpr => cd.grad((v: AnyExpr) => sum(f(v)), { mode })(u as never) as unknown as AnyExpr
    close(cd.compile(g)(x as never), first)
    close(cd.compile(cd.grad((v: AnyExpr) => sum(g(v)), { mode }))(x as never), second)
  })
  it('its forward mode is a program of the same primitive', () => {
    const forward = toProgram(cd.jvp(f as never) as never) as unknown as (...xs: readonly unknown[]) => never
    const text = cd.show(forward(x, x))
    expect(text.match(/= twice\(/g)?.length).toBe(1)
    expect(text).toMatch(/cos/)
  })
  it('is batched, over x and over what f captured', () => {
    const rows = tensor([
      [0.3, 0.7, -1.1],
      [1, 2, 3],
    ])
    const got = numbers(cd.compile(cd.vmap(f))(rows as never))
    close({ data: got.slice(0, 3) }, value)
    const over = cd.vmap((a: AnyExpr) => twice((u) => sin(mul(a, u)), x))
    close({ data: numbers(cd.compile(over)(tensor([[0.5, -1.5, 2]]) as never)) }, value)
  })
  it('what its program applies is lowered by plugins, at any depth', () => {
    const wave = unary({ name: 'wave', scalar: (v) => Math.sin(v!), source: 'sin' })
    const plugin = definePlugin({
      name: 'waves',
      ops: { wave, twice: twicePrimitive as never },
      rules: { wave: scalarRule(wave, ({ x: [v] }) => [cos(v)]), twice: twiceRule },
      lower: { wave: ([v]: readonly AnyExpr[]) => sin(v!) },
    } as never)
    const own = codualWith(plugin)
    const g = (u: AnyExpr): AnyExpr => twice((v) => twice((z) => every((y) => wave(mul(0.5, y)) as AnyExpr, z), v), u)
    const want = [0.3, 0.7, -1.1].map((v) => [0, 0, 0, 0].reduce((s) => Math.sin(0.5 * s), v))
    close(own.compile(g)(x as never), want)
    expect(JSON.stringify(own.compile(g).explain(x as never))).not.toMatch(/wave/)
  })
  it('two traces share a plan: programs are equal by what they compute', () => {
    const backend = makeCpu()
    for (const scale of [2, 2, 3])
      compile(
        (u: AnyExpr) =>
          add(
            twice((v) => sin(mul(scale, v)), u),
            u,
          ),
        backend,
      )(x as never)
    expect(backend.cache()).toMatchObject({ plans: 1, misses: 1, hits: 2 })
  })
})

describe('a primitive that is made of others', () => {
  const declared = { name: 'own', family: 'mine', args: ['float'], shapeRule: ([a]: readonly Aval[]) => a!, source: 'a test' } as const
  it('needs no meaning of its own, on any backend', () => {
    const own = primitive({ ...declared, expand: ([v]) => sin(v!) })
    const g = (u: AnyExpr): AnyExpr => applyPrimitive(own as never, [u] as never)[0] as AnyExpr
    for (const backend of [reference(), cpu(), cpu({ simd: false })]) close(compile(g, backend)(x), [0.3, 0.7, -1.1].map(Math.sin))
  })
  it('that holds itself is one error, not a stack overflow or a loop without end', () => {
    const self: { readonly own: unknown } = {
      own: primitive({ ...declared, expand: ([v]) => applyPrimitive(self.own as never, [v] as never)[0] as AnyExpr }),
    }
    const g = (u: AnyExpr): AnyExpr => applyPrimitive(self.own as never, [u] as never)[0] as AnyExpr
    for (const backend of [reference(), cpu()])
      expect(() => compile(g, backend)(x)).toThrow(/composition applies the primitive that it stands for/)
  })
  it('is declared wholly: a meaning or an expansion, and both of programs and withPrograms', () => {
    expect(() => primitive(declared as never)).toThrow(/meaning/)
    expect(() => primitive({ ...declared, expand: ([v]: readonly AnyExpr[]) => v!, programs: () => [] } as never)).toThrow(
      /one of programs and withPrograms/,
    )
  })
})

describe('identity of programs in parameters', () => {
  const squares = (depth: number): Program =>
    toProgram((u: AnyExpr) => {
      const go = (v: AnyExpr, d: number): AnyExpr => (d === 0 ? v : twice((z) => mul(go(z, d - 1), go(z, d - 1)), v))
      return go(u, depth)
    })(0.5 as never) as unknown as Program
  it('names do not matter, literals do; in time linear in the graph', () => {
    const ids = new Identities()
    const paramsOf = (p: Program): unknown => p.outputs[0]!.args[0]!.payload
    const id = (p: Program): number => ids.paramsId(twicePrimitive as never, paramsOf(p))
    const of = (k: number, name: string): Program =>
      toProgram((u: AnyExpr) => twice(Object.defineProperty((v: AnyExpr) => mul(k, v), 'name', { value: name }) as never, u))(
        0.5 as never,
      ) as unknown as Program
    expect(id(of(2, 'a'))).toBe(id(of(2, 'b')))
    expect(id(of(2, 'a'))).not.toBe(id(of(3, 'a')))
    expect(id(squares(2))).toBe(id(squares(2)))
  })
  it('z = z z: one node and one value a level, at any depth', () => {
    const chain = (depth: number): Program =>
      toProgram((u: AnyExpr) => {
        let z = u
        for (let d = 0; d < depth; d++) {
          const y = z
          z = every((v) => mul(v, v), y)
        }
        return z
      })(0.5 as never) as unknown as Program
    const count = (depth: number): number => buildIr(chain(depth)).values.length
    expect(count(14) - count(13)).toBe(count(13) - count(12))
    const inner = (depth: number): Program =>
      toProgram((u: AnyExpr) =>
        every((v) => {
          let z = v
          for (let d = 0; d < depth; d++) z = mul(z, z)
          return z
        }, u),
      )(0.5 as never) as unknown as Program
    const values = (depth: number): number => buildIr(inner(depth)).values.length
    expect(values(14) - values(13)).toBe(1)
    const backend = makeCpu()
    for (let k = 0; k < 2; k++) backend.prepare(inner(14))
    expect(backend.cache()).toMatchObject({ misses: 1, hits: 1 })
  })
})
