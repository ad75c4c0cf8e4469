/** checkPlugin: rules, kernels, lowering and JSON of every primitive of a plugin; each mistake is one finding that names it. */
import { describe, expect, it } from 'vitest'
import { checkPlugin, checkPluginAsync, report } from '../../src/check/index.js'
import type { AsyncBackend } from '../../src/core/functions/backend.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as cd from '../../src/index.js'

const u = (f: unknown) => f as (...xs: readonly unknown[]) => AnyExpr
const [mul, cos, sin] = [u(cd.mul), u(cd.cos), u(cd.sin)]

const wave = (more: object = {}) =>
  cd.primitive({
    name: 'wave',
    family: 'mine',
    args: ['float'],
    class: 'elementwise',
    shapeRule: ([x]) => x!,
    scalar: (x) => Math.sin(2 * x),
    meaning: ([x], _params, [y]) => {
      for (let i = 0; i < x!.data.length; i++) y!.data[i] = Math.sin(2 * x!.data[i]!)
    },
    samples: [{ args: [{ shape: [2, 3] }], params: {} }],
    source: 'definition',
    ...more,
  })
const rule = (p: ReturnType<typeof wave>, factor = 2) => cd.scalarRule(p, ({ x: [x] }) => [mul(factor, cos(mul(2, x)))])
const plugin = (given: Partial<Parameters<typeof cd.definePlugin>[0]> = {}, p = wave()) =>
  cd.definePlugin({
    name: 'waves',
    ops: { wave: p },
    rules: { wave: rule(p) },
    kernels: { cpu: { wave: cd.perElement() } },
    ...given,
  } as never)

describe('checkPlugin', () => {
  it('passes a right one, with its kernel', () => expect(report(checkPlugin(plugin()))).toMatch(/^ok {3}waves: \d+ comparisons/))
  it('names a wrong rule', () => {
    const p = wave()
    const c = checkPlugin(plugin({ rules: { wave: rule(p, 3) } } as never, p))
    expect(c).toMatchObject({ _tag: 'Left', left: [{ of: 'wave', path: 'argument 0' }] })
  })
  it('names a kernel that is not the meaning', () => {
    const p = wave({ class: 'opaque', scalar: undefined })
    const reversed = cd.rule(p, {
      frule: ([x], [dx], _p, { y }) => [y, dx._tag === 'Expr' ? mul(dx, mul(2, cos(mul(2, x)))) : dx],
      rrule: ([x], _p, { y }) => [y, (yBar) => [mul(yBar, mul(2, cos(mul(2, x))))]],
      batch: ([x]) => cd.applyPrimitive(p, [x])[0],
    })
    const kernel = (
      [x]: readonly { readonly data: ArrayLike<number> }[],
      _p: unknown,
      [y]: readonly { readonly data: { [i: number]: number } }[],
    ) => {
      for (let i = 0; i < x!.data.length; i++) y!.data[i] = Math.sin(2 * x!.data[i]!) + (i === 4 ? 1e-3 : 0)
    }
    const c = checkPlugin(plugin({ rules: { wave: reversed }, kernels: { cpu: { wave: kernel } } } as never, p))
    expect(c).toMatchObject({ _tag: 'Left', left: [{ check: 'backend', path: 'result 0', index: 4 }] })
  })
  it('names a lowering that is not the meaning', () => {
    const p = wave()
    const c = checkPlugin(plugin({ lower: { wave: ([x]: readonly AnyExpr[]) => sin(mul(2.001, x)) }, rules: {}, kernels: {} } as never, p))
    expect(c).toMatchObject({ _tag: 'Left' })
    expect(report(c, { all: true })).toContain('lower of cpu against the meaning')
  })
  it('names a primitive without samples, and counts a rule that is missing', () => {
    const bare = wave({ samples: [] })
    expect(checkPlugin(plugin({}, bare))).toMatchObject({ _tag: 'Left', left: [{ check: 'registry', path: 'samples' }] })
    const missing = checkPlugin(plugin({ rules: { wave: cd.missing('not written') } } as never))
    expect(missing).toMatchObject({ _tag: 'Right', right: { notImplemented: ['wave: not written'] } })
  })
  it('takes plugins only', () => expect(() => checkPlugin({} as never)).toThrow(/is not a plugin/))
})

/** The reference, answering later; with a fault. */
const later = (fault: (x: number) => number): AsyncBackend => {
  const inner = cd.reference()
  return {
    _tag: 'Async',
    name: 'later',
    async prepare(program: never) {
      const e = inner.prepare(program)
      return {
        run: async (inputs: readonly never[]) => e.run(inputs).map((d) => d.map((x) => fault(x)) as typeof d),
        explain: () => e.explain(),
        dispose: () => e.dispose(),
      }
    },
  } as unknown as AsyncBackend
}
describe('checkPluginAsync', () => {
  it('holds a backend that answers later against the meaning', async () => {
    expect(await checkPluginAsync(plugin(), { backends: [later((x) => x)] })).toMatchObject({ _tag: 'Right' })
    const c = await checkPluginAsync(plugin(), { backends: [later((x) => x * 1.001)] })
    expect(c).toMatchObject({ _tag: 'Left', left: [{ check: 'backend', of: 'wave', how: expect.stringContaining('later') }] })
  })
  it('what it raises is a finding with its words', async () => {
    const broken = {
      ...later((x) => x),
      prepare: () => Promise.reject(new Error("3:7 unresolved identifier 'sine'")),
    } as unknown as AsyncBackend
    const c = await checkPluginAsync(plugin(), { backends: [broken] })
    expect(c).toMatchObject({ _tag: 'Left', left: [{ check: 'raises', actual: expect.stringContaining("unresolved identifier 'sine'") }] })
  })
})

describe('a primitive that is made of others', () => {
  const soft = (expand: unknown) =>
    cd.primitive({
      name: 'soft',
      family: 'mine',
      args: ['float'],
      shapeRule: ([x]) => x!,
      expand: expand as never,
      samples: [{ args: [{ shape: [3] }], params: {} }],
      source: 'definition',
    })
  const checked = (expand: unknown) => checkPlugin(cd.definePlugin({ name: 'softs', ops: { soft: soft(expand) }, rules: {} } as never))
  it('by expand alone has its rules from that', () => {
    expect(report(checked(([x]: readonly AnyExpr[]) => u(cd.div)(x, u(cd.add)(1, u(cd.abs)(x)))))).toMatch(/^ok {3}softs/)
  })
  it('says what its expansion gave, where that is not what belongs there', () => {
    expect(report(checked(([x]: readonly AnyExpr[]) => u(cd.sum)(x)))).toContain(
      'the expansion of soft: it is f64 [], the shape rule says f64 [3]',
    )
    expect(report(checked(() => 2))).toContain('the expansion of soft: it gave 2. fix: give an expression')
    expect(report(checked(() => undefined))).toContain('the expansion of soft: it gave undefined')
  })
  it('that holds itself is a finding, and soon', () => {
    const self: { own?: unknown } = {}
    self.own = soft(([x]: readonly AnyExpr[]) => cd.applyPrimitive(self.own as never, [x])[0])
    const c = checkPlugin(cd.definePlugin({ name: 'softs', ops: { soft: self.own }, rules: {} } as never))
    expect(report(c)).toContain('a composition applies the primitive that it stands for')
  }, 60_000)
})

describe('what is drawn for a sample', () => {
  const with_ = (draw: unknown) => wave({ samples: [{ args: [{ shape: [2, 2], draw }], params: {} }] })
  it('is as many numbers as its shape has, or says so', () => {
    for (const [draw, words] of [
      [() => [1, 2], 'draw gave 2 numbers, the shape [2, 2] has 4 elements'],
      [() => [1, 2, 3, 4, 5], 'draw gave 5 numbers'],
      [() => [1, 2, 3, Number.NaN], 'draw gave something that is not a number'],
      [
        () => [
          [1, 2],
          [3, 4],
        ],
        'draw gave 2 numbers',
      ],
    ] as const)
      expect(report(checkPlugin(plugin({}, with_(draw))))).toContain(words)
    expect(() => with_([1, 2, 3, 4])).toThrow(/draw must be a function/)
    expect(
      checkPlugin(
        plugin(
          { rules: {} },
          with_(() => [1, 2, 3, 4]),
        ),
      ),
    ).toMatchObject({ _tag: 'Left' })
  })
})

describe('one mistake is one finding', () => {
  it('where a rule returns what is no list, in both modes and at several shapes', () => {
    const p = wave({ class: 'opaque', scalar: undefined, samples: [2, 3].map((n) => ({ args: [{ shape: [n] }], params: {} })) })
    const r = cd.rule(p, {
      frule: ([x], [dx], _p, { y }) => [y, dx._tag === 'Expr' ? mul(dx, mul(2, cos(mul(2, x)))) : dx],
      rrule: ([x], _p, { y }) => [y, ((yBar: AnyExpr) => mul(yBar, mul(2, cos(mul(2, x))))) as never],
      batch: ([x]) => cd.applyPrimitive(p, [x])[0],
    })
    const c = checkPlugin(plugin({ rules: { wave: r }, kernels: { cpu: { wave: () => undefined } } } as never, p))
    const raised = c._tag === 'Left' ? c.left.filter((f) => f.check === 'raises') : []
    expect(raised).toMatchObject([{ of: 'wave', actual: expect.stringContaining('as its list of cotangents, there is 1 argument') }])
  })
})
