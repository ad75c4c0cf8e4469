// What stands beside a verdict: where the checker looked, which rules ran, what authors expect, and advice.

import { describe, expect, it } from 'vitest'
import { cpu } from '../../src/backends/cpu/index.js'
import {
  audit,
  type Checked,
  checkGrad,
  checkPlugin,
  checkRule,
  type Finding,
  type Looked,
  makeCheck,
  report,
  rowsOf,
} from '../../src/check/index.js'
import type { Rule } from '../../src/core/calculus/rule.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { op } from './operations.js'

const { add, cos, customRule, exp, fori, log, mul, relu, sin, sqrt, square, sub, sum, where, whileLoop } = op
const lookedOf = (c: Checked): Looked => (c._tag === 'Right' ? c.right.looked : c.left[0]!.looked)
const findings = (c: Checked): readonly Finding[] => (c._tag === 'Left' ? c.left : [])
/** What costs most and is asked elsewhere. */
const quick = { order: 1, checks: { 'non-finite': false, commute: false, activity: false, seed: false, accumulate: false } } as const
const reason = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    return (e as Error).message
  }
  return 'nothing was raised'
}
/** x^3 with a derivative of one's own. */
const cubed = (partial: (x: AnyExpr) => AnyExpr): ((x: AnyExpr) => AnyExpr) =>
  customRule((x: AnyExpr) => mul(x, mul(x, x)), {
    frule: (x: AnyExpr, dx: AnyExpr) => [mul(x, mul(x, x)), mul(dx, partial(x))],
    rrule: (x: AnyExpr) => [mul(x, mul(x, x)), (yBar: AnyExpr) => mul(yBar, partial(x))],
  } as never) as unknown as (x: AnyExpr) => AnyExpr
const right = (x: AnyExpr): AnyExpr => mul(3, square(x))
const eq = (x: AnyExpr, v: number): AnyExpr => cd.eq(x as never, v as never) as never
const wrongWhere =
  (at: (x: AnyExpr) => AnyExpr) =>
  (x: AnyExpr): AnyExpr =>
    sum(cubed((u) => where(at(u), add(right(u), 1), right(u)))(x))

describe('points beside the given one', () => {
  it.each([
    ['at whole numbers', (x: AnyExpr) => eq(sub(x, op.floor(x)), 0), 'whole numbers'],
    ['at 0', (x: AnyExpr) => eq(x, 0), 'zeros'],
    ['below 0', (x: AnyExpr) => cd.lt(x as never, 0 as never) as never, 'the other sign'],
    ['far away', (x: AnyExpr) => cd.gt(op.abs(x) as never, 9 as never) as never, 'far away'],
    ['at a point alone that is given', (x: AnyExpr) => cd.ne(op.round(mul(x, 100)) as never, 130 as never) as never, ''],
  ])('a derivative wrong %s', (_what, at, where) => {
    const c = checkGrad(wrongWhere(at) as never, quick)([1.3, 0.7])
    expect(c._tag).toBe('Left')
    if (where !== '') {
      expect(findings(c)[0]).toMatchObject({ check: 'beside', in: `at ${where}` })
      expect(report(c)).toMatch(
        new RegExp(`^wrong f: the derivative is wrong: argument 0\\[\\d\\]\\n {2}true .*, found .* \\(at ${where}; `),
      )
    }
    expect(checkGrad(wrongWhere(at) as never, { ...quick, checks: { ...quick.checks, beside: false } })([1.3, 0.7])._tag).toBe(
      where === '' ? 'Left' : 'Right',
    )
  })
  it('a derivative wrong in f32', () => {
    const f = (x: AnyExpr) => sum(cubed((u) => (u.dtype === 'f32' ? add(right(u), 1) : right(u)))(x))
    expect(findings(checkGrad(f as never, quick)([1.3, 0.7]))[0]).toMatchObject({ check: 'beside', in: 'in f32' })
  })
  it('passes over points without a value, and counts them', () => {
    const { points, passedOver } = lookedOf(checkGrad((x: AnyExpr) => sum(log(x)), quick)([0.3, 2.5]))
    expect(points).toEqual(['as given', 'beside it', 'whole numbers', 'far away', 'in f32'])
    expect(passedOver).toEqual(['zeros: no value there', 'zeros among the entries: no value there', 'the other sign: no value there'])
  })
  it("passes over what codual documents as NaN, and holds a rule of one's own to it", () => {
    expect(lookedOf(checkGrad((x: AnyExpr) => sum(square(sqrt(x))), quick)([0.3, 2.5])).passedOver).toContain(
      'zeros: the rules give NaN there',
    )
    const f = (x: AnyExpr) => sum(cubed((u) => op.div(mul(3, mul(u, square(u))), u))(x))
    expect(findings(checkGrad(f as never, quick)([1.3, 2.5]))[0]).toMatchObject({ actual: 'NaN', in: 'at zeros' })
  })
  it('lie in the domain, by the path of an input or the place of an argument', () => {
    const wrong = wrongWhere((x) => cd.gt(op.abs(x) as never, 4 as never) as never)
    expect(checkGrad(wrong as never, { ...quick, domain: { 0: [-4, 4] } })([1.3, 0.7])._tag).toBe('Right')
    const c = checkGrad(
      cd.fn({ x: cd.f64(2) }, ({ x }) => wrong(x) as never),
      { domain: { x: [0.5, 3] } },
    )({ x: [1.3, 0.7] })
    expect(lookedOf(c).regions[0]!.range![0]).toBeGreaterThanOrEqual(0.5)
    expect(lookedOf(c).regions[0]!.range![1]).toBeLessThanOrEqual(3)
    expect(reason(() => checkGrad(wrong as never, { domain: { y: [0, 1] } })([1, 2]))).toContain("has no input 'y'")
  })
  it('are left out of a loop that might not end there, and of what is large', () => {
    const f = (x: AnyExpr) =>
      whileLoop(
        (c: AnyExpr) => cd.lt(c as never, 10 as never),
        (c: AnyExpr) => mul(c, 2),
        x,
      )
    const c = checkGrad(f as never, { ...quick, modes: ['forward'] })(1.5)
    expect(c._tag, report(c)).toBe('Right')
    expect(lookedOf(c).leftOut.join()).toContain('a loop that only its condition ends')
    const large = checkGrad((x: AnyExpr) => sum(square(x)), quick)(Array.from({ length: 2000 }, (_, i) => i / 7))
    expect(large).toMatchObject({ _tag: 'Right', right: { skipped: expect.arrayContaining(['beside']) as unknown } })
    const many = checkGrad((x: AnyExpr) => sum(fori(20, (_: AnyExpr, c: AnyExpr) => sin(c), x)))(
      Array.from({ length: count(20, 60) }, (_, i) => i / 7),
    )
    expect(many._tag, report(many)).toBe('Right')
  })
})

describe('where it looked', () => {
  it('is data, and a few lines', () => {
    const c = checkGrad((x: AnyExpr) => sum(mul(sin(x), x)))([0.3, -0.7, 2])
    expect(lookedOf(c)).toMatchObject({
      points: ['as given', 'beside it', 'whole numbers', 'zeros', 'zeros among the entries', 'the other sign', 'far away', 'in f32'],
      passedOver: [],
      orders: [1, 2],
      modes: ['forward', 'reverse'],
      backends: ['reference', 'cpu'],
      leftOut: ['the WebGPU shaders of mul, sin, sum: no device was asked for'],
      rules: [],
      overrides: [],
    })
    const [region] = lookedOf(c).regions
    expect(region).toMatchObject({ of: 'f', argument: 'argument 0', shapes: [[3]], dtypes: ['f64', 'f32'] })
    expect(
      report(c)
        .split('\n')
        .map((line) => line.replace(/-?\d+(\.\d+)?/g, '#')),
    ).toEqual([
      'ok   f: # comparisons (seed #)',
      'looked at argument # [#] f#/f# from # to #',
      '  points: as given, beside it, whole numbers, zeros, zeros among the entries, the other sign, far away, in f#',
      '  orders # and #, forward and reverse mode, on reference and cpu',
      '  left out: the WebGPU shaders of mul, sin, sum: no device was asked for',
    ])
  })
  it('of what is wrong too', () => {
    const c = checkGrad((x: AnyExpr) => sum(cubed((u) => mul(2, u))(x)) as never, { modes: ['reverse'], order: 1 })([1, 2])
    expect(lookedOf(c)).toMatchObject({ points: ['as given'], modes: ['reverse'], orders: [1] })
    expect(report(c)).toContain('\nlooked at argument 0 [2] f64 from 1 to 2\n  points: as given\n')
    expect(report(c).split('\n').length).toBeLessThanOrEqual(12)
  })
  it("of a plugin: shaders by name, and what stands in the place of codual's", () => {
    const wave = cd.unary({ name: 'wave', scalar: (x) => Math.sin(2 * x!), source: 'definition' })
    const sine = cd.coreRegistry.rules.get('sin')!.primitive
    const c = checkPlugin(
      cd.definePlugin({
        name: 'waves',
        ops: { wave, sin: sine as never },
        rules: {
          wave: cd.scalarRule(wave, ({ x: [x] }) => [mul(2, cos(mul(2, x)))]),
          sin: cd.scalarRule(sine as never, (({ x: [x] }: { x: AnyExpr[] }) => [cos(x)]) as never),
        },
        kernels: {
          webgpu: { wave: cd.inline(({ x }) => `sin(2.0 * ${x[0]})`) },
        },
      } as never),
      { order: 1, checks: { backend: false } },
    )
    expect(c._tag, report(c)).toBe('Right')
    expect(lookedOf(c)).toMatchObject({
      overrides: ['sin'],
      leftOut: ['the WebGPU shaders of wave: no device was asked for'],
      rules: [
        { name: 'wave', ran: ['frule', 'rrule', 'batch'] },
        { name: 'sin', ran: ['frule', 'rrule', 'batch'] },
      ],
    })
    expect(report(c)).toContain('  overrides: sin')
  })
  it("of a registry: which rules are not codual's", () => {
    const mine = cd.coreRegistry.with(cd.scalarRule(cd.sin as never, (({ x: [x] }: { x: AnyExpr[] }) => [cos(x)]) as never))
    expect(rowsOf(mine).flatMap((r) => (r.overrides ? [r.name] : []))).toEqual(['sin'])
    expect(lookedOf(audit(mine)).overrides).toEqual(['sin'])
    expect(lookedOf(audit(cd.coreRegistry)).overrides).toEqual([])
  })
})

describe('this rule ran', () => {
  const cube = cd.unary({ name: 'cube', scalar: (x) => x! * (x! * x!), source: 'definition' })
  const rule = (by: number) => cd.scalarRule(cube, ({ x: [x] }) => [mul(by, mul(x!, x!))])
  const declining = (when: (x: AnyExpr) => boolean, by = 3): Rule =>
    cd.optOut(cube, rule(by), { when: ({ x: [x] }) => when(x!), via: ({ x: [x] }) => mul(x!, mul(x!, x!)) })
  it('a rule that opts out of every sample is told of, right or wrong', () => {
    const c = checkRule(
      declining(() => true, 2),
      { order: 1 },
    )
    expect(c._tag, report(c)).toBe('Right')
    const [ran] = lookedOf(c).rules
    expect(ran).toMatchObject({ name: 'cube', has: ['frule', 'rrule', 'batch'], ran: ['batch'] })
    expect(ran!.declined).toBeGreaterThan(0)
    expect(report(c)).toMatch(/\n {2}the rule of cube never ran: it opted out each of the \d+ times that it was asked/)
  })
  it('one that opts out of some, or of none, ran', () => {
    const some = checkRule(
      declining((x) => x.shape.length === 0),
      { order: 1 },
    )
    expect(lookedOf(some).rules).toMatchObject([{ ran: ['frule', 'rrule', 'batch'] }])
    expect(
      checkRule(
        declining((x) => x.shape.length === 0, 2),
        { order: 1 },
      )._tag,
    ).toBe('Left')
    expect(lookedOf(checkRule(rule(3), { order: 1 })).rules).toMatchObject([
      { name: 'cube', ran: ['frule', 'rrule', 'batch'], declined: 0 },
    ])
  })
  it('checkGrad says which overrides ran, and which nothing reached', () => {
    const tanh = cd.coreRegistry.rules.get('tanh')!.primitive
    const registry = cd.coreRegistry.with(rule(3), cd.scalarRule(tanh as never, (({ y }: { y: AnyExpr }) => [sub(1, square(y))]) as never))
    const c = makeCheck(registry).checkGrad((x: AnyExpr) => sum(cube(x) as never), quick)([1.5, 2])
    expect(lookedOf(c).rules).toMatchObject([
      { name: 'tanh', ran: [] },
      { name: 'cube', ran: ['frule', 'rrule', 'batch'] },
    ])
    expect(report(c)).toContain('rules that ran: cube (frule, rrule, batch)')
    expect(report(c)).toContain('rules that never ran: tanh')
    expect(lookedOf(c).overrides).toEqual([])
    expect(lookedOf(makeCheck(registry).checkGrad((x: AnyExpr) => sum(op.tanh(x)), quick)([1.5])).overrides).toEqual(['tanh'])
  })
  it('a rule over one that opts out does not', () => {
    expect(
      cd.coreRegistry
        .with(declining(() => true))
        .with(rule(3))
        .rules.get('own/cube')!.optsOut,
    ).toBeUndefined()
  })
})

describe('what the author expects', () => {
  const f = (x: AnyExpr) => sum(mul(sin(x), x))
  const x = [0.3, -0.7]
  const gradient = x.map((v) => Math.cos(v) * v + Math.sin(v))
  it('a gradient: values, or a function of the arguments', () => {
    expect(checkGrad(f, { ...quick, expected: { gradient } })(x)._tag).toBe('Right')
    expect(checkGrad(f, { ...quick, expected: { gradient: (v: number[]) => v.map((u) => Math.cos(u) * u + Math.sin(u)) } })(x)._tag).toBe(
      'Right',
    )
    expect(
      checkGrad(f, { ...quick, expected: { gradient: (v: number[]) => add(mul(cos(v as never), v as never), sin(v as never)) } })(x)._tag,
    ).toBe('Right')
    const wrong = checkGrad(f, { ...quick, expected: { gradient: [gradient[0], 7] } })(x)
    expect(findings(wrong)).toMatchObject([
      { check: 'expected', path: 'argument 0', index: 1, expected: '7', how: 'reverse mode, against the expected gradient' },
    ])
  })
  it('of several arguments a list, null for what is not held', () => {
    const g = (a: AnyExpr, p: { readonly w: AnyExpr }) => sum(mul(a, p.w))
    const args = [[1, 2], { w: [3, 4] }] as const
    expect(checkGrad(g as never, { ...quick, expected: { gradient: [[3, 4], { w: [1, 2] }] } })(...args)._tag).toBe('Right')
    expect(checkGrad(g as never, { ...quick, expected: { gradient: [null, { w: [1, 2] }] } })(...args)._tag).toBe('Right')
    expect(findings(checkGrad(g as never, { ...quick, expected: { gradient: [null, { w: [1, 3] }] } })(...args))[0]).toMatchObject({
      path: 'argument 1.w',
    })
  })
  it('tangents, cotangents, and what goes with them', () => {
    const g = (a: AnyExpr) => mul(a, a)
    const given = { tangents: [[1, 2]], cotangents: [10, 100] } as const
    expect(checkGrad(g, { ...quick, ...given, expected: { tangent: [6, 16], gradient: [60, 800] } })([3, 4])._tag).toBe('Right')
    expect(findings(checkGrad(g, { ...quick, ...given, expected: { tangent: [6, 17] } })([3, 4]))[0]).toMatchObject({
      check: 'expected',
      how: 'forward mode, along the given tangents',
    })
    expect(findings(checkGrad(g, { ...quick, ...given, expected: { gradient: [60, 801] } })([3, 4]))[0]).toMatchObject({
      check: 'expected',
    })
  })
  it('a direction that the random ones hide: a derivative wrong there alone is found', () => {
    // Wrong where the tangent is exactly (1, 0): no random direction is.
    const odd = customRule((a: AnyExpr) => mul(a, 2), {
      frule: (a: AnyExpr, da: AnyExpr) => [mul(a, 2), mul(da, where(eq(at1(da), 0.125), 3, 2))],
      rrule: (a: AnyExpr) => [mul(a, 2), (yBar: AnyExpr) => mul(yBar, 2)],
    } as never)
    const at1 = (a: AnyExpr): AnyExpr => op.at(a, 1)
    const checks = { linear: false } as const
    expect(checkGrad(odd as never, { checks, order: 1 })([1, 2])._tag).toBe('Right')
    expect(findings(checkGrad(odd as never, { checks, order: 1, tangents: [[0, 0.125]] })([1, 2]))[0]).toMatchObject({
      check: 'jvp',
      how: 'forward mode, along the given tangents',
    })
  })
  it('of a rule at one sample, or by functions at all', () => {
    const cube = cd.unary({ name: 'cube', scalar: (u) => u! ** 3, source: 'definition' })
    const rule = cd.scalarRule(cube, ({ x: [u] }) => [mul(3, mul(u!, u!))])
    const cotangents = (v: { readonly data: ArrayLike<number> }) => [Float64Array.from(v.data, (u) => 3 * u * u)]
    expect(checkRule(rule, { order: 1, sample: 0, expected: { gradient: (v: cd.Tensor) => cotangents(v as never)[0] } })._tag).toBe('Right')
    expect(findings(checkRule(rule, { order: 1, sample: 0, expected: { gradient: () => 7 } }))[0]).toMatchObject({
      check: 'expected',
      expected: '7',
    })
    expect(reason(() => checkRule(rule, { tangents: [1] }))).toContain('say which sample they are for')
  })
  it('says what does not fit', () => {
    expect(reason(() => checkGrad(f, { tangents: 3 as never })(x))).toContain('tangents is 3')
    expect(reason(() => checkGrad(f, { expected: {} })(x))).toContain('expected says nothing')
    expect(reason(() => checkGrad(f, { expected: { tangent: 1 } })(x))).toContain('give tangents too')
    expect(report(checkGrad(f, { ...quick, expected: { gradient: [1, 2, 3] } })(x))).toContain('what it belongs to has 2 elements')
    expect(report(checkGrad((v: AnyExpr) => mul(v, v), { expected: { gradient: [1, 2] } })(x))).toContain('give cotangents too')
  })
})

describe('nondeterminism and budgets', () => {
  const noisy: ReturnType<typeof cpu> = {
    ...cpu(),
    name: 'noisy',
    prepare: (p) => {
      const e = cpu().prepare(p)
      let runs = 0
      return {
        ...e,
        explain: () => e.explain(),
        dispose: () => e.dispose(),
        run: (...a) => e.run(...a).map((d) => (runs++ > 0 ? (d.map((v) => v * (1 + 1e-12 * runs)) as typeof d) : d)),
      }
    },
  }
  const f = (x: AnyExpr) => sum(square(x))
  const checks = { mutation: false, beside: false } as const
  it('a backend gives the same bits again, unless it is allowed not to', () => {
    const strict = checkGrad(f, { backends: [noisy], checks: { ...checks, backend: true }, order: 1 })([1.5, 2])
    expect(findings(strict).flatMap((x) => [x.check, ...x.also])).toContain('repeat')
  })
  it('a function may give another expression each time', () => {
    let k = 1
    const g = (x: AnyExpr) => mul(k++, square(x))
    expect(findings(checkGrad(g, { order: 1, checks: { ...quick.checks, beside: false } })(2)).map((x) => x.check)).toEqual(['trace'])
    expect(checkGrad(g, { order: 1, nondeterminism: 0, checks: { ...quick.checks, beside: false } })(2)._tag).toBe('Right')
  })
  it('a budget of kernels, allocations and bytes', () => {
    const options = { order: 1, checks: { ...quick.checks, beside: false } } as const
    const g = (x: AnyExpr) => sum(exp(op.matmul(x, op.matmul(x, x))))
    const args = [[[1, 0.2], [0.3, 1]]] // biome-ignore format: a matrix
    const wide = checkGrad(g, { ...options, budget: { kernels: 100, allocations: 100, bytes: 1e6, calls: 1 } })(...args)
    expect(wide._tag, report(wide)).toBe('Right')
    for (const name of ['kernels', 'allocations', 'bytes'])
      expect(findings(checkGrad(g, { ...options, budget: { [name]: 1 } })(...args))).toMatchObject([
        { check: 'budget', path: `${name} on cpu`, expected: 'at most 1' },
      ])
    expect(findings(checkGrad(g, { ...options, budget: { calls: 0 } })(...args))).toMatchObject([{ check: 'trace', actual: '1' }])
    expect(reason(() => checkGrad(g, { budget: { kernels: -1 } })(...args))).toContain('budget.kernels is -1')
  })
})

describe('advice', () => {
  const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
  type Product = (d: AnyExpr, p: AnyExpr | number) => AnyExpr
  const first: Product = (d, p) => mul(d, p)
  const second: Product = (d, p) => mul(p, d)
  const written = (
    primitive: cd.AnyPrimitive,
    call: (x: AnyExpr) => AnyExpr,
    partial: (x: AnyExpr, y: AnyExpr) => AnyExpr | number,
    forward: Product,
    reverse: Product,
  ): Rule =>
    cd.rule(primitive, {
      frule: ([x]: readonly AnyExpr[], [dx]: readonly AnyExpr[], _params: unknown, { y }: { y: AnyExpr }) => [
        y,
        dx!._tag === 'Expr' ? forward(dx!, partial(x!, y)) : dx!,
      ],
      rrule: ([x]: readonly AnyExpr[], _params: unknown, { y }: { y: AnyExpr }) => [y, (yBar: AnyExpr) => [reverse(yBar, partial(x!, y))]],
      batch: ([x]: readonly AnyExpr[]) => call(x!),
    } as never)
  const ofTwice = (forward: Product, reverse: Product): Checked =>
    checkRule(
      written(
        twice.primitive as never,
        (x) => twice(x) as never,
        () => 2,
        forward,
        reverse,
      ),
      { order: 1 },
    )
  it('names the product that loses a zero, and what to write', () => {
    expect(ofTwice(first, first)._tag).toBe('Right')
    expect(report(ofTwice(second, first))).toContain(
      '  fix: in the frule, write mul(dx, 2) for mul(2, dx): a product keeps the zeros of its first factor, which is the tangent\n',
    )
    expect(report(ofTwice(first, second))).toContain('  fix: in the pullback, write mul(yBar, 2) for mul(2, yBar): ')
  })
  it('says scaleTangent where the partial may be infinite', () => {
    const root = cd.unary({ name: 'root', scalar: (x) => Math.sqrt(x!), domain: [[0.5, 2]], source: 'definition' })
    const c = checkRule(
      written(
        root.primitive as never,
        (x) => root(x) as never,
        (_x, y) => op.div(0.5, y),
        first,
        first,
      ),
      { order: 1 },
    )
    expect(findings(c)[0]!.fix).toContain('write scaleTangent(')
    expect(findings(c)[0]!.fix).toContain('div(0.5, y), config)')
  })
  it('says thunk where a pullback builds what is not asked for, and which arguments were', () => {
    const times = (a: AnyExpr, b: AnyExpr): AnyExpr => cd.applyPrimitive(pairs, [a, b])[0]
    const pairs = cd.primitive({
      name: 'pairs',
      family: 'mine',
      args: ['float', 'float'],
      shapeRule: ([a, b]) => {
        if (a!.shape.join() !== b!.shape.join())
          cd.raise({ _tag: 'BadInput', where: 'pairs', reason: 'shapes differ.', fix: 'give equal shapes.' })
        return a!
      },
      meaning: ([a, b], _params, [y]) => y!.data.set(Float64Array.from(a!.data, (v, i) => v * b!.data[i]!)),
      samples: [{ args: [{ shape: [2] }, { shape: [2] }], params: {} }],
      source: 'definition',
    })
    const ofTimes = (later: (make: () => AnyExpr) => unknown): Checked =>
      checkRule(
        cd.rule(pairs, {
          frule: ([a, b], [da, db], _params, { y }) => {
            const sides = [da._tag === 'Expr' ? mul(da, b) : da, db._tag === 'Expr' ? mul(db, a) : db] as const
            return [y, cd.addTangents(...sides)]
          },
          rrule: ([a, b], _params, { y }) => [y, ((yBar: AnyExpr) => [later(() => mul(yBar, b)), later(() => mul(yBar, a))]) as never],
          batch: (xs, batched, _params, size) => {
            const [a, b] = cd.batchAll(xs, batched, size)
            return times(a!, b!)
          },
        }),
        { order: 1 },
      )
    expect(report(ofTimes(cd.thunk))).toMatch(/^ok /)
    expect(report(ofTimes((make) => make()))).toContain(
      [
        'wrong pairs: activity: nodes built for nothing',
        '  activity: expected 0, found 1 (sample 0; the cotangent of argument 0 alone is asked for)',
      ].join('\n'),
    )
    expect(report(ofTimes((make) => make()))).toContain(
      '\n  fix: a pullback of several arguments builds each cotangent when it is asked for: wrap it in thunk(...)\n',
    )
  })
  it('is not given where no zero is lost', () => {
    const c = checkGrad((x: AnyExpr) => sum(relu(cubed((u) => mul(2, u))(x))) as never)([1, 2])
    expect(findings(c)[0]!.fix).toBe('')
  })
})
