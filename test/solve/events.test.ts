/** The time of an event: closed forms, derivatives to second order, directions, what does not happen, and what is refused. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { odeEvent, rodas5P } from '../../src/solve/index.js'
import { type E, message, near, onCpu, ops, value } from './run.js'

const { add, cos, mul, neg, sub, tensor, vmap } = ops as Record<string, (...xs: readonly unknown[]) => E>
type Options = NonNullable<Parameters<typeof odeEvent>[5]>
type Found = { t: E; y: never; happened: E; steps: E; done: E }
type Got<Y> = { t: number; y: Y; happened: boolean; steps: number; done: boolean }
const until = (f: unknown, event: unknown, y0: unknown, ts: unknown, params: unknown = {}, options: Options = {}): Found =>
  odeEvent(f as never, event as never, y0 as never, ts as never, params as never, { maxSteps: 60, ...options }) as never

type Ball = { x: E; v: E }
const fall = (_t: E, { v }: Ball, g: E): Ball => ({ x: v, v: neg!(g) })
const ground = (_t: E, { x }: Ball): E => x
const spring = (_t: E, { x, v }: Ball): Ball => ({ x: v, v: neg!(x) })

/** A derivative, without types. */
const transformed = (by: unknown, f: unknown): ((...xs: readonly unknown[]) => unknown) => (by as (f: unknown) => never)(f)

describe('odeEvent', () => {
  it('finds the time and the state to the accuracy of the steps, on both backends', () => {
    for (const run of [value, (x: unknown) => onCpu(() => x)]) {
      const got = run(until(fall, ground, { x: 10, v: 0 }, [0, 5], 9.81)) as Got<{ x: number; v: number }>
      near([got.t, got.y.x, got.y.v], [Math.sqrt(20 / 9.81), 0, -Math.sqrt(2 * 9.81 * 10)], 1e-9)
      expect([got.happened, got.done]).toEqual([true, true])
    }
    const stiff = value(until((t: E, y: E) => sub!(mul!(-1e5, sub!(y, cos!(t))), 0), (_t: E, y: E) => y, tensor!(1), [0, 3], {}, { method: rodas5P })) as Got<number> // biome-ignore format: one line
    near(stiff.t, Math.PI / 2, 1e-4)
    const single = value(until(fall, ground, { x: tensor!(10, [], 'f32'), v: tensor!(0, [], 'f32') }, [0, 5], 9.81)) as Got<Ball>
    near(single.t, Math.sqrt(20 / 9.81), 1e-5)
  })
  it('tells up from down, does not count a zero at the start, goes back in time', () => {
    const from = (x: number, v: number, direction: Options['direction'], ts = [0, 20]): number =>
      (value(until(spring, ground, { x, v }, ts, {}, { direction: direction!, rtol: 1e-9, atol: 1e-11, maxSteps: 400 })) as Got<Ball>).t
    near(from(1, 0, 'both'), Math.PI / 2, 1e-7)
    near(from(1, 0, 'down'), Math.PI / 2, 1e-7)
    near(from(1, 0, 'up'), 1.5 * Math.PI, 1e-7)
    near(from(0, 1, 'both'), Math.PI, 1e-7)
    near(from(0, 1, 'up'), 2 * Math.PI, 1e-7)
    near(from(1, 0, 'both', [0, -20]), -Math.PI / 2, 1e-7)
  })
  it('says what did not happen: the last time, too few steps, a NaN', () => {
    const never = value(until(fall, (_t: E, { x }: Ball) => add!(x, 100), { x: 10, v: 0 }, [0, 3], 9.81)) as Got<{ x: number }>
    expect([never.t, never.happened, never.done]).toEqual([3, false, true])
    near(never.y.x, 10 - 4.5 * 9.81, 1e-8)
    const few = value(until(spring, ground, { x: 1, v: 0 }, [0, 20], {}, { maxSteps: 2 })) as Got<Ball>
    expect([few.happened, few.done]).toEqual([false, false])
    expect(few.t).toBeLessThan(Math.PI / 2)
    const nan = value(
      until(
        (_t: E, y: E) => mul!(y, Number.NaN),
        (_t: E, y: E) => y,
        tensor!(1),
        [0, 1],
      ),
    ) as Got<number>
    expect([nan.happened, nan.done]).toEqual([false, false])
  })
  it('has derivatives of the time and of the state, to second order, and none where it did not happen but those of the state', () => {
    const time = (g: E): E => until(fall, ground, { x: 10, v: 0 }, [0, 5], g).t
    near(value(transformed(cd.grad, time)(9.81)), -0.5 * Math.sqrt(20) * 9.81 ** -1.5, 1e-9)
    near((value(transformed(cd.jvp, time)(9.81, 1)) as number[])[1], -0.5 * Math.sqrt(20) * 9.81 ** -1.5, 1e-9)
    near(value(transformed(cd.hessian, time)(9.81)), 0.75 * Math.sqrt(20) * 9.81 ** -2.5, 1e-8)
    // v at the ground is -sqrt(2 g x0)
    const speed = (x0: E): E => (until(fall, ground, { x: x0, v: 0 }, [0, 5], 9.81).y as Ball).v
    near(value(transformed(cd.grad, speed)(10)), -Math.sqrt(9.81 / 20), 1e-8)
    const height = (g: E): E => (until(fall, (_t: E, { x }: Ball) => add!(x, 100), { x: 10, v: 0 }, [0, 3], g).y as Ball).x
    near(value(transformed(cd.grad, height)(9.81)), -4.5, 1e-8)
    const many = vmap!(((g: E) => until(fall, ground, { x: 10, v: 0 }, [0, 5], g).t) as never) as unknown as (g: unknown) => E
    near(value(many(tensor!([1.62, 9.81, 0.01]))), [Math.sqrt(20 / 1.62), Math.sqrt(20 / 9.81), 5], 1e-8)
  })
  it('refuses other than two times, an event that is no scalar, unknown options', () => {
    expect(message(() => until(fall, ground, { x: 1, v: 0 }, [0, 1, 2], 1))).toMatch(/^BadInput: odeEvent: the times are of shape \[3\]/)
    expect(
      message(() =>
        until(
          (_t: E, y: E) => y,
          (_t: E, y: E) => y,
          [1, 2],
          [0, 1],
        ),
      ),
    ).toMatch(/the event is of shape \[2\]/)
    expect(message(() => until(fall, ground, { x: 1, v: 0 }, [0, 1], 1, { direction: 'left' as never }))).toMatch(/direction/)
    expect(message(() => until(fall, ground, { x: 1, v: 0 }, [0, 1], 1, { method: 'rodas5P' as never }))).toMatch(
      /import \{ odeint, rodas5P \}/,
    )
    const own = (_t: E, y: E): E => y
    expect(message(() => odeEvent(own as never, own as never, 1, [0, 1], { rtol: 1e-3 } as never))).toMatch(/options stand in the place/)
  })
})
