// optOut: a rule declines some signatures; the mode then differentiates a composition, or says which rule is missing.
import { describe, expect, it } from 'vitest'
import { pow as powOf, sin as sinOf } from '../../src/core/ops/elementwise.js'
import {
  type AnyExpr,
  add,
  coreRegistry,
  cos,
  cpu,
  exp,
  isAdException,
  log,
  makeCodual,
  mul,
  neg,
  optOut,
  pow,
  scalarRule,
  sin,
  sum,
  tensor,
} from '../../src/index.js'

const close = (got: { toArray(): unknown }, want: readonly number[]) => expect(got.toArray()).toEqual(want.map((x) => expect.closeTo(x, 5)))
const f32 = (data: number[]) => tensor(data, [data.length], 'f32')
const points = [0.5, 1]

describe('optOut', () => {
  it('keeps the rule where it applies, differentiates the composition where it does not', () => {
    // A wrong derivative marks the rule; cos(x - pi/2) is the sine.
    const rule = optOut(
      sinOf,
      scalarRule(sinOf, () => [100]),
      { when: ({ x: [x] }) => x.dtype === 'f32', via: ({ x: [x] }) => cos(add(x, -Math.PI / 2)) },
    )
    const { grad, jvp, vmap, hvp } = makeCodual(coreRegistry.with(rule), cpu())
    for (const mode of ['mixed', 'reverse', 'forward'] as const) {
      const g = grad((x: AnyExpr) => sum(mul(sin(x), sin(x))), { mode })
      close(
        g(f32(points)),
        points.map((x) => 2 * Math.sin(x) * Math.cos(x)),
      )
      close(
        g(points),
        points.map((x) => 200 * Math.sin(x)),
      )
    }
    close(
      jvp((x: AnyExpr) => sin(x))(f32(points), f32([1, 2]))[1],
      points.map((x, k) => (k + 1) * Math.cos(x)),
    )
    close(vmap(grad((x: AnyExpr) => sin(x)))(f32(points)), points.map(Math.cos))
    close(
      hvp((x: AnyExpr) => sum(sin(x)))(f32(points), f32([1, 1])),
      points.map((x) => -Math.sin(x)),
    )
  })
  it('an argument used twice has both its derivatives', () => {
    const rule = optOut(powOf, coreRegistry.rules.get('pow')!, { when: () => true, via: ({ x: [x, n] }) => exp(mul(n, log(x))) })
    const { grad } = makeCodual(coreRegistry.with(rule), cpu())
    for (const mode of ['mixed', 'reverse', 'forward'] as const)
      close(
        grad((x: AnyExpr) => sum(pow(x, x)), { mode })(points),
        points.map((x) => x ** x * (Math.log(x) + 1)),
      )
  })
  it('without a composition: a MissingRule that names the signature', () => {
    const rule = optOut(sinOf, coreRegistry.rules.get('sin')!, { when: ({ x: [x] }) => x.shape.length === 1 })
    const { grad } = makeCodual(coreRegistry.with(rule), cpu())
    expect(grad((x: AnyExpr) => sin(x))(0).toArray()).toBe(1)
    for (const mode of ['reverse', 'forward'] as const) {
      let error: unknown
      try {
        grad((x: AnyExpr) => neg(sum(sin(x))), { mode })(points)
      } catch (e) {
        error = e
      }
      expect(isAdException(error) && error.error).toMatchObject({
        _tag: 'MissingRule',
        primitive: 'sin',
        rule: mode === 'forward' ? 'frule' : 'rrule',
      })
      expect(isAdException(error) && error.message).toContain('its rule opts out at f64 [2]')
    }
  })
})
