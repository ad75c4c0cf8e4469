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
