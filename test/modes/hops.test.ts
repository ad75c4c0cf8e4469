// How far it is from a user's call to the first rule: the frames of the library on the stack there.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type AnyExpr, coreRegistry, cpu, makeCodual, rule, sum, unary } from '../../src/index.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Is it a line of the library: of src, or of what test/native.ts makes of it? */
const ofLibrary = (line: string): boolean => {
  const at = line.indexOf(root)
  return at >= 0 && /^(?:out\/native-[^/]+\/)?src\//.test(line.slice(at + root.length))
}

/** A rule that takes the stack when it is asked, and codual with it. */
const probed = () => {
  const probe = unary({ name: 'probe', scalar: (x) => x!, source: 'definition' })
  const stacks: string[] = []
  const here = (): void => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 200
    stacks.push(new Error().stack!)
    Error.stackTraceLimit = limit
  }
  const asked = rule(probe.primitive, {
    frule: (_xs, [dx], _params, { y }) => {
      here()
      return [y, dx]
    },
    rrule: (_xs, _params, { y }) => {
      here()
      return [y, (yBar) => [yBar]]
    },
  })
  const codual = makeCodual(coreRegistry.with(asked), cpu())
  /** Names of the library's functions between the user's call and the rule that is asked first. */
  const frames = (call: () => unknown): readonly string[] => {
    stacks.length = 0
    call()
    return stacks[0]!.split('\n').flatMap((line) => (ofLibrary(line) ? [/at (\S+)/.exec(line)![1]!] : []))
  }
  // No two elementwise operations in a row: they would be one map, whose rule asks theirs.
  return { codual, frames, f: (x: AnyExpr) => sum(probe(x)) }
}

describe('the stack at the first rule', () => {
  const { codual, frames, f } = probed()
  const { grad, valueAndGrad, vjp, jvp } = codual

  it('of a gradient has at most 8 frames of the library', () => {
    const found = frames(() => grad(f)([1, 2]))
    expect(found[found.length - 1]).toContain('grad')
    expect(found.length).toBeLessThanOrEqual(8)
    expect(found.length).toBeGreaterThan(3)
  })

  it.each([
    ['grad in reverse', () => grad(f, { mode: 'reverse' })([1, 2])],
    ['valueAndGrad', () => valueAndGrad(f)([1, 2])],
    ['vjp', () => vjp(f)([1, 2], 1)],
  ])('of %s too', (_name, call) => {
    expect(frames(call).length).toBeLessThanOrEqual(8)
  })

  it('is as deep at the second call: nothing is put around a function by calling it', () => {
    const g = grad(f)
    const first = frames(() => g([1, 2]))
    expect(frames(() => g([3, 4]))).toEqual(first)
  })

  it('sees more frames where more happens: a gradient of a gradient', () => {
    expect(frames(() => jvp(grad(f))([1, 2], [1, 1])).length).toBeGreaterThan(frames(() => grad(f)([1, 2])).length)
  })
})
