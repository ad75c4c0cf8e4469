/** Every exported function, with what breaks when it is looked at in the place of each argument: a right result or one AdError. */

import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { count, deep, half, some } from '../depth.js'
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
/** Their domain is another: positive definite, regular. */
const definite = cd.tensor([[2, 1], [1, 2]]) // biome-ignore format: one row
const matrixFor = (name: string): cd.Tensor => (['cholesky', 'solve'].includes(name) ? definite : matrix) as cd.Tensor
const f = (x: unknown): unknown => (cd.sum as Call)((cd.mul as Call)(x, x))
/** Arguments beside the broken one: arrays, and a function for what takes one. */
const beside = async (g: Call, name: string): Promise<readonly unknown[]> => {
  const own = matrixFor(name)
  try {
    await g(f)
    return [own, f]
  } catch {
    return [own]
  }
}

/** What lies within itself is looked at once, and arrays without end not at all. */
const holdsNaN = (x: unknown, seen = new Set<unknown>()): boolean => {
  if (typeof x === 'number') return Number.isNaN(x)
  if (seen.has(x)) return false
  seen.add(x)
  if (ArrayBuffer.isView(x)) return Array.from(x as Float64Array).some(Number.isNaN)
  if (Array.isArray(x)) return x.length < 1_000_000 && x.some((y) => holdsNaN(y, seen))
  const tag = (x as { _tag?: unknown } | null | undefined)?._tag
  if (tag === 'Tensor') return holdsNaN((x as cd.Tensor).toArray(), seen)
  return tag === 'Expr' && holdsNaN((cd.evaluate as Call)(x), seen)
}
/** Give leaves back as they are, also broken ones: there is nothing of their own to look at. */
const handBack: readonly string[] = ['treeFlatten', 'treeLeaves']
/** What was not an AdError. A function that is given is called in its turn. */
const misfit = async (name: string, call: () => unknown, bad: unknown): Promise<string | undefined> => {
  try {
    let y = await call()
    if (typeof y === 'function' && y !== f) y = await (y as Call)(matrix, bad)
    return !handBack.includes(name) && holdsNaN(y) ? 'NaN' : undefined
  } catch (e) {
    return cd.isAdException(e) ? undefined : e instanceof Error ? `${e.name}: ${e.message}` : String(e)
  }
}

describe('broken arguments', () => {
  it.each(names.map((name, k) => [name, k] as const))('%s', async (name, k) => {
    const g = (cd as unknown as Readonly<Record<string, Call>>)[name]!
    const wrong: string[] = []
    for (const other of await beside(g, name))
      for (let arity = 1; arity <= count(2, 3); arity++)
        for (let at = 0; at < arity; at++)
          for (const [label, make] of deep ? half(broken, k) : some(broken, 4))
            for (const [shape, wrap] of [
              ['', (x: unknown) => x],
              [' in a list', (x: unknown) => [x]],
              [' in a record', (x: unknown) => ({ axis: x })],
            ] as const) {
              const bad = wrap(make())
              const args = Array.from({ length: arity }, (_, i) => (i === at ? bad : other))
              const said = await misfit(name, () => g(...args), bad)
              if (said !== undefined) wrong.push(`${name}, argument ${at} of ${arity}: ${label}${shape}: ${said.slice(0, 100)}`)
            }
    expect(wrong).toEqual([])
    expect(({} as { axis?: unknown }).axis).toBeUndefined()
  })
  it('leaves out nothing else', () => {
    expect(Object.keys(left).filter((name) => !(name in cd))).toEqual([])
  })
})
