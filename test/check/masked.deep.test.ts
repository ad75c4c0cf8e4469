// What is masked away has no say: rules that lose a zero of a mask beside an infinite partial are found, and what keeps it is called right.
import { describe, expect, it } from 'vitest'
import { type Checked, checkRule, forAllPrograms, makeCheck, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type X = cd.AnyExpr
interface At {
  readonly y: X
  readonly config: Parameters<typeof cd.scaleTangent>[2]
}
const { add, div, mul, square, sum, where, gt, sqrt } = cd as unknown as Readonly<
  Record<'add' | 'div' | 'mul' | 'square' | 'sum' | 'where' | 'gt' | 'sqrt', (...xs: readonly unknown[]) => X>
>
const ruleOf = cd.rule as unknown as (primitive: unknown, r: object) => cd.Rule
/** A rule of one argument with this product of a (co)tangent and the slope. */
const ruleBy = (op: { readonly primitive: unknown }, times: (d: X, x: X, at: At) => unknown): cd.Rule =>
  ruleOf(op.primitive, {
    frule: ([x]: readonly X[], [dx]: readonly X[], _p: unknown, at: At) => [at.y, dx!._tag === 'Expr' ? times(dx!, x!, at) : dx],
    rrule: ([x]: readonly X[], _p: unknown, at: At) => [at.y, (yBar: X) => [times(yBar, x!, at)]],
    batch: ([x]: readonly X[]) => (op as unknown as (x: X) => X)(x!),
  })
const names = (c: Checked): readonly string[] => (c._tag === 'Left' ? c.left.map((f) => f.check) : [])

/** sqrt by another name: its slope is infinite at the end of its domain. */
const root = cd.unary({ name: 'root', scalar: (x) => Math.sqrt(x!), domain: [[0.2, 3]], extremes: [0], source: 'definition' })
/** 2 x. */
const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
const twiceRight = ruleBy(twice, (d) => mul(d, 2))
/** Right at every number, but what is added to a hard zero is none that is known: 0 times what comes before it is NaN. */
const twiceSoft = ruleBy(twice, (d, x) => add(mul(d, 2), mul(x, 0)))

describe('a rule that is written out', () => {
  it('is right where it multiplies as the walk does', () => {
    const c = checkRule(ruleBy(root, (d, _x, { y, config }) => cd.scaleTangent(d, div(0.5, y as never) as never, config)))
    expect(c._tag, report(c)).toBe('Right')
  })
  it('is found where it multiplies a hard zero with an infinite slope', () => {
    expect(checkRule(ruleBy(root, (d, _x, { y }) => mul(d, div(0.5, y))))._tag).toBe('Left')
  })
  it('is found where it loses the zeros of what goes through it', () => {
    expect(checkRule(twiceRight)._tag).toBe('Right')
    expect(names(checkRule(twiceSoft))).toEqual(['non-finite'])
  })
})

describe('a function', () => {
  it('is called right where masks before and behind it hold, in matmul and scans too', () => {
    const f = (x: X): X =>
      sum(
        cd.cumprod(
          cd.matmul(cd.tanh(x as never), [
            [0.3, 1.1],
            [0.7, -0.4],
          ] as never) as never,
        ) as never,
      )
    const c = makeCheck(cd.coreRegistry).checkGrad(f)([
      [0.3, -0.7],
      [1.1, 0.4],
    ])
    expect(c._tag, report(c)).toBe('Right')
  })
  it('is found where a rule in it loses the zeros of a mask', () => {
    const f = (x: X): X => sum(square((twice as unknown as (x: X) => X)(x)))
    const by = (rule: cd.Rule): Checked => makeCheck(cd.coreRegistry.with(rule)).checkGrad(f)([0.3, -0.7, 1.1])
    expect(by(twiceRight)._tag).toBe('Right')
    expect(names(by(twiceSoft))).toEqual(['non-finite'])
    // What it means for whoever calls it: the gradient of a guarded root.
    const guarded = (x: X): X => sum(where(gt(x, 0), (twice as unknown as (x: X) => X)(sqrt(x)), 0))
    const at = (rule: cd.Rule): number[] =>
      (
        (cd.makeCodual(cd.coreRegistry.with(rule), cd.cpu()).grad as unknown as (f: unknown) => (x: unknown) => { toArray(): number[] })(
          guarded,
        )([0, 4]) as { toArray(): number[] }
      ).toArray()
    expect(at(twiceRight)).toEqual([0, 0.5])
    expect(at(twiceSoft)).toEqual([Number.NaN, 0.5])
  })
  it('says nothing of masks where the check is off, or something plainer is wrong', () => {
    expect(checkRule(twiceSoft, { checks: { 'non-finite': false } })._tag).toBe('Right')
    expect(names(checkRule(ruleBy(twice, (d) => mul(d, 3))))).not.toContain('non-finite')
  })
})

describe('random programs', () => {
  it('find it too, and name the primitive', () => {
    const plugin = (rule: cd.Rule) =>
      cd.definePlugin({ name: 'mine', ops: { twice }, rules: { twice: rule }, kernels: { cpu: { twice: cd.perElement() } } })
    const by = (rule: cd.Rule) => forAllPrograms(plugin(rule), { runs: 40, only: ['twice', 'sin', 'add', 'slice'] })
    expect(by(twiceRight)._tag).toBe('Right')
    expect(by(twiceSoft)).toMatchObject({ _tag: 'Left', left: { guilty: 'twice' } })
  })
})
