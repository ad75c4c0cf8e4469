/** Identities of real numbers that drivers must not use: at NaN, infinities, signed zeros and where sums round, they do not hold. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import { findLane, type LaneName, openGpu } from './adapter.js'

type Op = (...args: readonly unknown[]) => cd.AnyExpr
const { add, sub, neg, mul, div, square, sqrt, reciprocal, abs } = cd as unknown as Readonly<
  Record<'add' | 'sub' | 'neg' | 'mul' | 'div' | 'square' | 'sqrt' | 'reciprocal' | 'abs', Op>
>
const expressions: Readonly<Record<string, (x: cd.AnyExpr, y: cd.AnyExpr) => cd.AnyExpr>> = {
  'x + -x': (x) => add(x, neg(x)),
  '-x + x': (x) => add(neg(x), x),
  'x - x': (x) => sub(x, x),
  '(x - x) y': (x, y) => mul(sub(x, x), y),
  '(x + 1) - x': (x) => sub(add(x, 1), x),
  '(x + y) - y': (x, y) => sub(add(x, y), y),
  '(x - y) + y': (x, y) => add(sub(x, y), y),
  '-(x - y)': (x, y) => neg(sub(x, y)),
  'x y - y x': (x, y) => sub(mul(x, y), mul(y, x)),
  'x y / y': (x, y) => div(mul(x, y), y),
  '0 - x': (x) => sub(0, x),
  'x + 0': (x) => add(x, 0),
  'x * -1': (x) => mul(x, -1),
  'x 0 y': (x, y) => mul(mul(x, 0), y),
  'x y + 3 x': (x, y) => add(mul(x, y), mul(x, 3)),
  '--x': (x) => neg(neg(x)),
  '|-x|': (x) => abs(neg(x)),
  'sqrt(x)^2': (x) => square(sqrt(x)),
  '1 / (1 / x)': (x) => reciprocal(reciprocal(x)),
}
const x = cd.tensor(Float32Array.of(Number.NaN, Infinity, -Infinity, 0, -0, 1, 1e-8, 1e30), [8])
const y = cd.tensor(Float32Array.of(2, 3, Number.NaN, -0, 0, 1e10, 1, -1e30), [8])

/** The tests of a lane, in a process of their own. */
export const algebraSuite = (name: LaneName): void => {
  const lane = findLane(name)
  describe.skipIf(lane === undefined)(`arithmetic on ${name} keeps every bit of`, () => {
    let backend: WebGpuBackend
    beforeAll(async () => {
      await openGpu(lane!)
      backend = makeWebGpu({ dawn: ['backend=vulkan'] })
      await backend.adapter()
    }, 60_000)
    afterAll(() => backend.dispose())
    for (const [text, f] of Object.entries(expressions))
      it(text, async () => {
        const run = cd.compile as unknown as (f: unknown, b: unknown) => (...args: readonly unknown[]) => Promise<cd.Tensor>
        const got = await run(f, backend)(x, y)
        const want = await run(f, cd.reference())(x, y)
        expect(Array.from(got.data)).toEqual(Array.from(want.data))
      }, 60_000)
  })
}
