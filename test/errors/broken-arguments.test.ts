/** Every exported function, with what breaks when it is looked at in the place of each argument: a right result or one AdError. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { broken } from './hostile.js'

type Call = (...args: readonly unknown[]) => unknown
/** Not called: what each is instead. */
const left: Readonly<Record<string, string>> = {
  raise: 'throws what it is given: its argument is an AdError by definition',
  webgpu: 'opens a device at the first call',
}
const names = Object.entries(cd as Readonly<Record<string, unknown>>)
  .filter(([name, f]) => typeof f === 'function' && !/^[A-Z]/.test(name) && left[name] === undefined)
  .map(([name]) => name)
/** In the domain of every function: a NaN comes of what is broken. */
const matrix = cd.tensor([[1, 1], [1, 1]]) // biome-ignore format: one row
const f = (x: unknown): unknown => (cd.sum as Call)((cd.mul as Call)(x, x))
/** Arguments beside the broken one: arrays, and a function for what takes one. */
const beside = async (g: Call): Promise<readonly unknown[]> => {
  try {
    await g(f)
    return [matrix, f]
  } catch {
    return [matrix]
  }
}

const holdsNaN = (x: unknown): boolean =>
  typeof x === 'number'
    ? Number.isNaN(x)
    : ArrayBuffer.isView(x)
      ? Array.from(x as Float64Array).some(Number.isNaN)
      : Array.isArray(x)
        ? x.some(holdsNaN)
        : (x as { _tag?: unknown } | null | undefined)?._tag === 'Tensor'
          ? holdsNaN((x as cd.Tensor).toArray())
          : (x as { _tag?: unknown } | null | undefined)?._tag === 'Expr' && holdsNaN((cd.evaluate as Call)(x))
/** What was not an AdError. A function that is given is called in its turn. */
const misfit = async (call: () => unknown, bad: unknown): Promise<string | undefined> => {
  try {
    let y = await call()
    if (typeof y === 'function' && y !== f) y = await (y as Call)(matrix, bad)
    return holdsNaN(y) ? 'NaN' : undefined
  } catch (e) {
    return cd.isAdException(e) ? undefined : e instanceof Error ? `${e.name}: ${e.message}` : String(e)
  }
}

describe('broken arguments', () => {
  it.each(names)('%s', async (name) => {
    const g = (cd as unknown as Readonly<Record<string, Call>>)[name]!
    const wrong: string[] = []
    for (const other of await beside(g))
      for (let arity = 1; arity <= 3; arity++)
        for (let at = 0; at < arity; at++)
          for (const [label, make] of broken)
            for (const [shape, wrap] of [
              ['', (x: unknown) => x],
              [' in a list', (x: unknown) => [x]],
              [' in a record', (x: unknown) => ({ axis: x })],
            ] as const) {
              const bad = wrap(make())
              const args = Array.from({ length: arity }, (_, i) => (i === at ? bad : other))
              const said = await misfit(() => g(...args), bad)
              if (said !== undefined) wrong.push(`${name}, argument ${at} of ${arity}: ${label}${shape}: ${said.slice(0, 100)}`)
            }
    expect(wrong).toEqual([])
    expect(({} as { axis?: unknown }).axis).toBeUndefined()
  })
  it('leaves out nothing else', () => {
    expect(Object.keys(left).filter((name) => !(name in cd))).toEqual([])
  })
})
