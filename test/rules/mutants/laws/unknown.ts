/** A derivative that is not known is never a number: whoever asks for it is told, whatever is added to it and however it is passed on. */
import * as cd from '../../../../src/index.js'
import { coreRegistry } from '../../../../src/packs/all.js'
import type { Laws } from './law.js'

type E = cd.AnyExpr
type F = (...xs: readonly unknown[]) => E
const { add, mul, sum, scan, map, customRule, stack } = cd as unknown as Readonly<
  Record<'add' | 'mul' | 'sum' | 'scan' | 'map' | 'customRule' | 'stack', F>
>
const { scalarRule, binary } = cd as unknown as { readonly scalarRule: (...xs: readonly unknown[]) => cd.Rule } & {
  readonly binary: (x: unknown) => F
}
/** a + b, of which one derivative is not known. */
const half = (name: string, which: 0 | 1) => {
  const op = binary({ name, scalar: (a: number, b: number) => a + b, source: 'definition' })
  const gap = cd.notImplemented(name, 'the law')
  return { op, rule: scalarRule(op, () => (which === 0 ? [gap, 1] : [1, gap])) }
}
const [first, second] = [half('firstUnknown', 0), half('secondUnknown', 1)]
const own = cd.makeCodual(coreRegistry.with(first.rule, second.rule), cd.reference()) as unknown as Readonly<
  Record<'grad' | 'jvp' | 'jet' | 'vmap', (f: unknown, o?: unknown) => (...xs: readonly unknown[]) => unknown>
>
/** 1 where whoever asks is told that the derivative of `name` is not known, 0 where there is a number. */
const told = (name: string, ask: () => unknown): number => {
  try {
    ask()
    return 0
  } catch (e) {
    return cd.isAdException(e) && e.error._tag === 'NotImplemented' && e.error.rule === name ? 1 : 2
  }
}
const functions = (op: F): Readonly<Record<string, (x: E) => E>> => ({
  alone: (x) => sum(op(x, x)),
  'beside a known one': (x) => add(sum(op(x, x)), sum(mul(x, x))),
  'behind a known one': (x) => add(sum(mul(x, x)), sum(op(mul(x, 2), x))),
  'in a map': (x) => sum(map((v: E) => mul(op(v, v), v), x)),
  'in a loop': (x) => (scan((c: E, v: E) => [op(c, v), v], 0, x) as unknown as readonly E[])[0]!,
  'in a rule': (x) =>
    sum(
      (customRule as unknown as (f: unknown, r: unknown) => F)((v: E) => mul(v, 2), {
        frule: (v: E, dv: E) => [mul(v, 2), mul(op(dv, dv), 1)],
      })(op(x, x)),
    ),
})
export const unknowns: Laws = {
  'what is not known is told': function* () {
    const x = [0.5, 2]
    for (const [name, { op }] of [
      ['firstUnknown', first],
      ['secondUnknown', second],
    ] as const)
      for (const f of Object.values(functions(op)))
        for (const ask of [
          () => own.grad(f)(x),
          () => own.grad(f, { mode: 'forward' })(x),
          () => own.grad(f, { mode: 'mixed' })(x),
          () => own.jvp(f)(x, [1, -1]),
          () => own.jet(f)(x, [[1, -1]]),
          () => own.grad((v: E) => sum((own.vmap as unknown as (g: unknown) => F)(f)(stack([v, v]))))(x),
        ])
          yield [1, told(name, ask)]
  },
  'rules that know less are believed': function* () {
    const gap = cd.notImplemented('author', 'the law')
    const rules = {
      frule: { frule: (v: E) => [mul(v, v), gap] },
      rrule: { rrule: (v: E) => [mul(v, v), () => gap] },
    }
    const of = (r: unknown): F => (customRule as unknown as (f: unknown, r: unknown) => F)((v: E) => mul(v, v), r)
    yield [1, told('author', () => own.jvp((v: E) => of(rules.frule)(v))(2, 1))]
    yield [1, told('author', () => own.grad((v: E) => of(rules.frule)(v))(2))]
    yield [1, told('author', () => own.grad((v: E) => of(rules.rrule)(v))(2))]
  },
}
