/** Programs as JSON: what is written is read back to the bit, and what is not a program is told with every error and its path. */
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { metaOf, traceMeta } from '../../src/core/functions/function.js'
import { aval } from '../../src/core/graph/aval.js'
import { apply, applyAny, CONST, constant, input, linearize, type Node } from '../../src/core/graph/expr.js'
import { bytesFromJSON, bytesToJSON, numberFromJSON, numberToJSON } from '../../src/core/graph/numbers.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { flatProgram, makeProgram, type Program } from '../../src/core/graph/program.js'
import { showProgram } from '../../src/core/graph/show.js'
import { families } from '../../src/core/ops/families.js'
import { programToJSON } from '../../src/core/programs/encode.js'
import { fromJSONCore } from '../../src/core/programs/json.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { randomFunction } from '../laws/programs.js'

type Any = (...xs: readonly unknown[]) => never
const read = fromJSONCore(cd.coreRegistry)
const oracle = cd.reference()
const right = <A>(e: E.Either<cd.AdError, A>): A => {
  if (E.isLeft(e)) throw new Error(cd.explain(e.left))
  return e.right
}
const errorsOf = (u: unknown): readonly { readonly path: string; readonly reason: string }[] => {
  const e = read(u)
  if (E.isRight(e) || e.left._tag !== 'Decode') throw new Error('it was read')
  return e.left.errors
}
const sent = (u: unknown): unknown => JSON.parse(JSON.stringify(u))

const programs = Object.values(families).flatMap((family) => Object.values(family)) as unknown as readonly AnyPrimitive[]
const shapes = [
  [3, 4],
  [2, 3],
] as const
const programOf = (seed: number, mode?: 'mixed' | 'reverse'): Program => {
  const f = randomFunction(seed, 4 + (seed % 12))
  const g = mode === undefined ? f : (cd.valueAndGrad as unknown as Any)(f, { wrt: [0, 1], mode })
  return traceMeta(
    metaOf(g),
    { _tag: 'Tuple', items: [{ _tag: 'Leaf' }, { _tag: 'Leaf' }] },
    shapes.map((s) => aval(s, 'f64')),
  )
}

describe('numbers and bytes', () => {
  it('every f64 keeps its bits', () => {
    const view = new DataView(new ArrayBuffer(8))
    const bits = (x: number): bigint => {
      view.setFloat64(0, x)
      return view.getBigUint64(0)
    }
    const holds = (x: number): boolean => bits(numberFromJSON(sent(numberToJSON(x)))!) === bits(x)
    for (const x of [0, -0, Number.NaN, Infinity, -Infinity, 5e-324, Number.MAX_VALUE, 0.1, 2 ** 53]) expect(holds(x), String(x)).toBe(true)
    fc.assert(
      fc.property(fc.double(), (x) => holds(x)),
      { seed: 1, numRuns: count(100, 500) },
    )
  })
  it('what is no number is none', () => {
    for (const u of ['nan', 'NaN:', 'NaN:7ff0000000000000', '1', '', null, true, [], {}, 'NaN:7ff80000000000000'])
      expect(numberFromJSON(u), String(u)).toBeUndefined()
  })
  it('bytes keep every bit, and only the canonical text is read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (x) => {
        const bits = x.map((b) => b & 1)
        const text = bytesToJSON(bits)
        expect(text).toBe(Buffer.from(bits).toString('base64'))
        expect(bytesFromJSON(text, 'bool', bits.length)).toEqual(bits)
      }),
      { seed: 2, numRuns: count(50, 200) },
    )
    const floats = Float64Array.of(1, -0, Number.NaN, -Infinity, 5e-324)
    const back = bytesFromJSON(bytesToJSON(floats), 'f64', 5) as Float64Array
    expect(new Uint8Array(back.buffer)).toEqual(new Uint8Array(floats.buffer))
    for (const [
      text,
      n,
    ] of [['AB==', 1], ['A===', 1], ['AA==', 2], ['AAA=', 1], ['A!==', 1], ['', 1], ['Ag==', 1], ['AQE=é', 2], ['AAF=', 2]] as const) // biome-ignore format: one row
      expect(typeof bytesFromJSON(text, 'bool', n), text).toBe('string')
  })
})

describe('round trips', () => {
  it('random programs and their gradients: the same text, the same table, the same bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.constantFrom(undefined, 'mixed' as const, 'reverse' as const), (seed, mode) => {
        const p = programOf(seed, mode)
        const json = programToJSON(p)
        const q = right(read(sent(json)))
        expect(showProgram(q)).toBe(showProgram(p))
        expect(programToJSON(q)).toEqual(json)
        const next = random(seed)
        const xs = shapes.map(([m, n]) => Float64Array.from({ length: m * n }, () => 2 * next() - 1))
        expect(oracle.prepare(q).run(xs)).toEqual(oracle.prepare(p).run(xs))
      }),
      { seed: 3, numRuns: count(15, 60) },
    )
  })
  it('every sample of every shipped primitive, but what holds functions', () => {
    let count = 0
    for (const prim of programs) {
      if (prim.name === 'customRule' || prim.name === 'tap') continue
      for (const sample of prim.samples) {
        const inputs = sample.args.map((a, i) => input(aval(a.shape, a.dtype ?? 'f64'), `x${i}`))
        const p = flatProgram(prim.name, inputs, applyAny(prim, inputs, sample.params))
        const json = programToJSON(p)
        const q = right(fromJSONCore(cd.coreRegistry, programs)(sent(json)))
        expect(programToJSON(q), prim.name).toEqual(json)
        expect(showProgram(q)).toBe(showProgram(p))
        count++
      }
    }
    expect(count).toBeGreaterThan(300)
  })
  it('every shipped primitive is found in the registry', () => {
    expect(programs.filter((p) => cd.coreRegistry.rules.get(p.name)?.primitive !== p).map((p) => p.name)).toEqual([])
  })
  it('a function with rules of its own is refused, in words', () => {
    const f = cd.customRule((x: cd.AnyExpr) => cd.sin(x), { frule: ((x: cd.AnyExpr, dx: cd.AnyExpr) => [cd.sin(x), dx]) as never })
    expect(() => cd.toJSON((cd.toProgram(f as never) as unknown as Any)(1))).toThrow(/customRule: its parameters hold a function/)
  })
  it('captured tensors, literals of every kind, trees with odd keys, and inputs that nothing reads', () => {
    const w = cd.tensor(Float32Array.of(-0, Number.NaN, Infinity), [3])
    const p = (cd.toProgram as unknown as Any)((x: cd.AnyExpr, unused: cd.AnyExpr) => {
      const out: Record<string, unknown> = { constructor: cd.add(x, w), a: [cd.mul(x, -0), cd.mul(x, Number.NaN), unused, 2] }
      Object.defineProperty(out, '__proto__', { value: cd.mul(w, -Infinity), enumerable: true })
      return out
    }) as unknown as (...xs: readonly unknown[]) => cd.Program
    const program = p(Float32Array.of(1, 2, 3), [1, 2])
    const q = right(cd.fromJSON(sent(cd.toJSON(program))))
    expect(cd.show(q)).toBe(cd.show(program))
    const [a, b] = [program, q].map((x) => cd.fromProgram(x)(Float32Array.of(1, 2, 3), [5, 6])) as [object, object]
    expect(Object.keys(b).sort()).toEqual(['__proto__', 'a', 'constructor'])
    expect(Object.getPrototypeOf(b)).toBe(Object.prototype)
    expect(JSON.stringify(b)).toBe(JSON.stringify(a))
    const read32 = (x: object): unknown => (x as { constructor: { data: Float32Array } }).constructor.data
    expect(read32(b)).toEqual(read32(a))
  })
  it('a chain of 100,000 operations', () => {
    let y: Node = input(aval([], 'f64'), 'x')
    const x = y
    for (let i = 0; i < 1e5; i++) y = apply(families.elementwise.sin, [y], {})
    const q = right(read(sent(programToJSON(flatProgram('chain', [x], [y])))))
    expect(linearize(q.outputs).nodes.length).toBe(100_001)
  })
  it('a program is a function again: declared, run, compiled, differentiated; other shapes are refused', () => {
    const f = cd.fn({ x: cd.f64('n'), w: cd.f64('n') }, ({ x, w }) => cd.sum(cd.mul(x, cd.tanh(w))))
    const g = cd.fromProgram(cd.toProgram(f, { n: 2 }))
    const at = { x: [1, 2], w: [0.5, -1] }
    expect(g(at)).toEqual(f(at))
    expect(cd.compile(cd.grad(g))(at)).toEqual(cd.compile(cd.grad(f))(at))
    expect(() => g({ x: [1, 2, 3], w: [1, 2, 3] })).toThrow(/declared \[2\]/)
    const two = cd.fromProgram(cd.toProgram((x: cd.AnyExpr, y: cd.AnyExpr) => cd.sub(x, y))(3, 1))
    expect(two(5, 2).item()).toBe(3)
    expect(() => cd.fromProgram({ name: 'x' } as never)).toThrow(/not a program/)
  })
  it("a primitive of the user's own is given beside the JSON", () => {
    const cube = cd.unary({ name: 'cubeForJSON', scalar: (x) => x! ** 3, source: 'definition' })
    const json = sent(cd.toJSON(cd.toProgram((x: cd.AnyExpr) => cube(x) as cd.AnyExpr)(2)))
    expect(E.isLeft(cd.fromJSON(json))).toBe(true)
    expect((cd.fromProgram(right(cd.fromJSON(json, [cube.primitive as never])))(2) as { item(): number }).item()).toBe(8)
  })
})

type Json = Record<string, never>
const small = (): Json => sent(programToJSON(programOf(11, 'mixed'))) as Json
const node = (name: string, args: readonly number[], params: unknown = {}, shape: readonly number[] = [2]) => ({
  apply: name,
  args,
  params,
  results: [{ dtype: 'f64', shape }],
})
const x2 = { input: 'x', dtype: 'f64', shape: [2] }
const table = (nodes: readonly unknown[], more: object = {}) => ({
  format: 1,
  name: 'f',
  inputs: [0],
  inputTree: ['*'],
  outputs: [nodes.length - 1],
  outputTree: '*',
  nodes,
  ...more,
})

describe('what is not a program', () => {
  it('a good table is read', () => expect(E.isRight(read(table([x2, node('sin', [0])])))).toBe(true))
  const cases: readonly (readonly [name: string, json: unknown, path: string, reason: RegExp])[] = [
    ['nothing', undefined, 'program', /not a program/],
    ['another format', { format: 2 }, 'format', /2 is not 1/],
    ['an unknown primitive', table([x2, node('sine', [0])]), 'nodes.1.apply', /'sine' is not a known primitive/],
    ['a name on the prototype', table([x2, node('constructor', [0])]), 'nodes.1.apply', /not a known primitive/],
    ['an argument that points forward', table([x2, node('sin', [2]), node('sin', [1])]), 'nodes.1.args.0', /not the number of an earlier/],
    ['an argument that points at itself', table([x2, node('sin', [1])]), 'nodes.1.args.0', /not the number/],
    ['too many arguments', table([x2, node('sin', [0, 0])]), 'nodes.1.args', /takes 1 argument, got 2/],
    ['another shape', table([x2, node('sin', [0], {}, [3])]), 'nodes.1.results.0', /declared f64 \[3\], it is f64 \[2\]/],
    ['no params', table([x2, { ...node('sin', [0]), params: undefined }]), 'nodes.1.params', /undefined/],
    ['a parameter too many', table([x2, node('sin', [0], { constructor: 1 })]), 'nodes.1.params', /"constructor" is not expected/],
    ['__proto__', table([x2, node('sin', [0], JSON.parse('{"__proto__":{"polluted":1}}'))]), 'nodes.1.params', /__proto__.*not allowed/],
    ['an axis that is no whole number', table([x2, node('sum', [0], { axes: [0.5] }, [])]), 'nodes.1.params.axes.0', /whole number/],
    ['an axis that is not there', table([x2, node('sum', [0], { axes: [7] }, [])]), 'nodes.1', /./],
    ['a huge shape', table([{ ...x2, shape: [2 ** 30, 2 ** 30] }]), 'nodes.0.shape', /not a shape/],
    ['a rank of 100', table([{ ...x2, shape: new Array(100).fill(1) }]), 'nodes.0.shape', /64/],
    ['a dtype', table([{ ...x2, dtype: 'f16' }]), 'nodes.0.dtype', /f16/],
    ['an f32 literal beyond f32', table([x2, { literal: 0.1, dtype: 'f32' }]), 'nodes.1.literal', /0.1 is not f32/],
    ['a tensor without its bytes', table([x2, { tensor: 'AAAA', dtype: 'f64', shape: [1] }]), 'nodes.1.tensor', /8 bytes/],
    ['a free input', table([x2, x2]), 'nodes.1', /not listed in inputs/],
    ['an input listed twice', table([x2], { inputs: [0, 0], inputTree: ['*', '*'] }), 'inputs', /twice/],
    ['a tree of other leaves', table([x2], { outputTree: ['*', '*'] }), 'outputTree', /2 leaves for 1/],
    ['keys out of order', table([x2], { outputTree: { keys: ['b', 'a'], items: ['*', 'none'] } }), 'outputTree.keys.1', /sorted/],
    ['a result of one that has one', table([x2, node('sin', [0]), { result: 0, of: 1 }]), 'nodes.2.of', /one result/],
    [
      'a map whose program is none',
      table([x2, node('map', [0], { program: { inputs: [], outputs: [] } })]),
      'nodes.1.params',
      /closed program/,
    ],
    [
      'a map over arrays',
      table([x2, { ...node('map', [0], {}), programs: [table([x2, node('sin', [0])])] }]),
      'nodes.1.params',
      /closed program of scalars/,
    ],
    ['programs of what takes none', table([x2, { ...node('sin', [0]), programs: [] }]), 'nodes.1.programs', /sin takes no programs/],
    ['programs that are no list', table([x2, { ...node('map', [0]), programs: 7 }]), 'nodes.1.programs', /not a list/],
    ['a map without its program', table([x2, { ...node('map', [0]), programs: [] }]), 'nodes.1.params', /closed program/],
    [
      'an error within a nested program',
      table([x2, { ...node('map', [0], {}), programs: [table([{ ...x2, shape: [] }, node('sine', [0])])] }]),
      'nodes.1.programs.0.nodes.1.apply',
      /sine/,
    ],
  ]
  for (const [name, json, path, reason] of cases)
    it(name, () => {
      const errors = errorsOf(json)
      expect(errors.map((e) => e.path)).toContain(path)
      expect(
        errors.filter((e) => e.path === path).some((e) => reason.test(e.reason)),
        JSON.stringify(errors),
      ).toBe(true)
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    })
  it('every error, each with its path', () => {
    const errors = errorsOf(
      table([x2, node('sine', [9]), node('sum', [0], { axes: 'all' }, []), { literal: 'x', dtype: 'f64' }, 7], { name: 1, more: 1 }),
    )
    expect(errors.map((e) => e.path)).toEqual(
      expect.arrayContaining(['program', 'name', 'nodes.1.apply', 'nodes.1.args.0', 'nodes.2.params.axes', 'nodes.3.literal', 'nodes.4']),
    )
  })
  it('many errors are listed up to a bound', () => {
    const errors = errorsOf(table([x2, ...Array.from({ length: 5000 }, () => 7)]))
    expect(errors.length).toBe(1001)
    expect(errors.at(-1)!.reason).toMatch(/and \d+ more/)
  })
  it('programs and parameters without end, and objects that throw', () => {
    const params: Record<string, unknown> = {}
    params.a = [params, params]
    const nested = table([x2]) as Record<string, unknown>
    nested.nodes = [x2, { ...node('map', [0], {}), programs: [nested, nested] }, { ...node('map', [0], {}), programs: [nested] }]
    let tree: unknown = '*'
    for (let i = 0; i < 1000; i++) tree = [tree, tree]
    const hostile = new Proxy({}, { getOwnPropertyDescriptor: () => { throw new Error('no') }, ownKeys: () => { throw new Error('no') } }) // biome-ignore format: one row
    for (const json of [table([x2, node('sin', [0], params)]), nested, table([x2], { outputTree: tree }), hostile])
      expect(errorsOf(json).length).toBeGreaterThan(0)
    expect(errorsOf(table([x2], { outputTree: tree })).at(-1)!.reason).toBe('and more than 10000 others')
  })
})

describe('mutations', () => {
  const junk: readonly unknown[] = [null, true, -1, 0.5, 1e308, 2 ** 31, 2 ** 53, 'text', '__proto__', 'constructor', [], {}, [0], { programs: 1 }, { $number: 'NaN' }, [[[]]]] // biome-ignore format: one row
  /** Changes one place of the JSON. */
  const mutate = (json: unknown, next: () => number): void => {
    let at = json as Record<string, unknown>
    for (;;) {
      const keys = Object.keys(at)
      const key = keys[Math.floor(next() * keys.length)]
      if (key === undefined) return
      const value = at[key]
      if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && next() < 0.85) {
        at = value as Record<string, unknown>
        continue
      }
      const kind = Math.floor(next() * 4)
      if (kind === 0) {
        if (Array.isArray(at)) at.splice(Number(key), 1)
        else delete at[key]
      } else if (kind === 1 && typeof value === 'number') at[key] = value + Math.floor(next() * 9) - 4
      else if (kind === 2)
        Object.defineProperty(at, next() < 0.5 ? '__proto__' : 'constructor', { value: junk[Math.floor(next() * junk.length)], enumerable: true, configurable: true, writable: true }) // biome-ignore format: one row
      else at[key] = junk[Math.floor(next() * junk.length)]
      return
    }
  }
  it('never throw: Left, or a program that prints, writes and prepares', () => {
    let lefts = 0
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const next = random(seed)
        const json = sent(programToJSON(programOf(seed % 50, seed % 2 === 0 ? 'mixed' : undefined)))
        for (let i = 0; i <= seed % 3; i++) mutate(json, next)
        const e = read(json)
        if (E.isLeft(e)) {
          lefts++
          expect(e.left._tag === 'Decode' && e.left.errors.length > 0 && e.left.errors.every((x) => x.path !== '' && x.reason !== '')).toBe(
            true,
          )
          expect(cd.explain(e.left).length).toBeLessThan(1e6)
        } else {
          showProgram(e.right)
          expect(E.isRight(read(sent(programToJSON(e.right))))).toBe(true)
          if (linearize(e.right.outputs).nodes.every((n) => n.aval.size < 1e5)) oracle.prepare(e.right)
        }
      }),
      { seed: 4, numRuns: count(150, 600) },
    )
    expect(lefts).toBeGreaterThan(count(75, 300))
  })
  it('any JSON at all', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (x) => E.isLeft(read(x))),
      { seed: 5, numRuns: count(60, 300) },
    )
    fc.assert(
      fc.property(fc.anything(), (x) => E.isLeft(read({ ...small(), nodes: [x] }))),
      { seed: 6, numRuns: count(50, 200) },
    )
  })
})

describe('what a program is made of', () => {
  it('literals without inputs', () => {
    const p = makeProgram({ name: 'c', inputs: [], inputTree: { _tag: 'Tuple', items: [] }, outputs: [constant(-0, 'f64')], outputTree: { _tag: 'Leaf' } }) // biome-ignore format: one row
    const q = right(read(sent(programToJSON(p))))
    expect(q.outputs[0]!.kind).toBe(CONST)
    expect(q.outputs[0]!.payload).toBe(-0)
  })
})
