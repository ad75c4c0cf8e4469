// Errors name the user's own line: at once where it is on the stack, by tracing again where it is not.
import { describe, expect, it } from 'vitest'
import { userFrame } from '../../src/core/errors/explain.js'
import * as cd from '../../src/index.js'

const loose = (f: unknown): ((...xs: readonly unknown[]) => unknown) => f as never
const [grad, compile, sum, mul, add] = [cd.grad, cd.compile, cd.sum, cd.mul, cd.add].map(loose) as [Loose, Loose, Loose, Loose, Loose]
type Loose = (...xs: readonly unknown[]) => unknown
const cube = loose(cd.unary({ name: 'ruleless', scalar: (x) => x! ** 3, source: 'definition' }))
const mine = cd.primitive({
  name: 'kernelless',
  family: 'mine',
  args: ['float'],
  shapeRule: ([x]) => x!,
  meaning: () => undefined,
  source: 'test',
})

/** The line of this file that the caller is at. */
const here = (): number => Number(/lines\.test\.ts:(\d+)/.exec(new Error().stack!.split('\n')[2]!)?.[1])
interface Located {
  readonly tag: string
  /** The line in this file; NaN where the error names none. */
  readonly at: number
  readonly equation: string | undefined
}
const located = (f: () => unknown): Located => {
  try {
    f()
  } catch (e) {
    if (!cd.isAdException(e)) throw e
    const { site } = e.error as { readonly site?: { readonly source?: string; readonly equation?: string } }
    return { tag: e.error._tag, at: Number(/lines\.test\.ts:(\d+)/.exec(site?.source ?? '')?.[1]), equation: site?.equation }
  }
  throw new Error('nothing was raised')
}

describe('an error names the line', () => {
  it('of shapes that clash, which is on the stack', () => {
    let line = 0
    const f = (x: unknown) => {
      line = here() + 1
      return sum(add(x, [1, 2, 3, 4]))
    }
    expect(located(() => loose(grad(f))([1, 2, 3]))).toMatchObject({ tag: 'ShapeMismatch', at: line })
    expect(line).toBeGreaterThan(0)
  })

  it('of the operation that has no rule, not that of grad', () => {
    let line = 0
    const f = (x: unknown) => {
      const y = mul(x, 2)
      line = here() + 1
      const z = cube(y)
      return sum(mul(z, z))
    }
    const e = located(() => loose(grad(f))([1, 2, 3]))
    expect(e).toMatchObject({ tag: 'MissingRule', at: line })
    expect(e.equation).toMatch(/= ruleless\(y0\)/)
  })

  it('of the operation that has no kernel, through a gradient-free plan', () => {
    let line = 0
    const f = (x: unknown) => {
      const y = mul(x, 2)
      line = here() + 1
      const z = cd.applyPrimitive(mine, [y])[0]
      return sum(z)
    }
    expect(located(() => loose(compile(f, cd.cpu()))([1, 2, 3]))).toMatchObject({ tag: 'MissingKernel', at: line })
  })

  it('each its own, where one operation is applied at several lines', () => {
    const lines: number[] = []
    const f = (at: number) => (x: unknown) => {
      lines[0] = here() + 1
      const a = at === 0 ? cube(x) : mul(x, 2)
      lines[1] = here() + 1
      const b = at === 1 ? cube(a) : mul(a, 2)
      return sum(b)
    }
    for (const at of [0, 1]) expect(located(() => loose(grad(f(at)))([1, 2]))).toMatchObject({ tag: 'MissingRule', at: lines[at] })
    expect(lines[0]).not.toBe(lines[1])
  })

  it('traces again only when it fails', () => {
    let traced = 0
    const f = (rule: boolean) => (x: unknown) => {
      traced++
      return sum(rule ? mul(x, x) : cube(x))
    }
    loose(grad(f(true)))([1, 2])
    expect(traced).toBe(1)
    located(() => loose(grad(f(false)))([1, 2]))
    expect(traced).toBe(1 + 3)
  })

  it('or none within a function that is not pure: it builds another number of operations each time', () => {
    let times = 0
    const f = (x: unknown) => {
      times++
      let y = x
      for (let i = 0; i < times; i++) y = mul(y, 2)
      return sum(cube(y))
    }
    const e = located(() => loose(grad(f))([1, 2]))
    expect(e.tag).toBe('MissingRule')
    expect(e.equation).toBeUndefined()
  })
})

describe('lines without an error', () => {
  it('show prints that of each operation of a program traced with sites', () => {
    let line = 0
    const f = (x: unknown) => {
      line = here() + 1
      return sum(mul(x, x))
    }
    const trace = loose(cd.toProgram)
    const text = (options: readonly unknown[]): string => cd.show(loose(trace(f, ...options))([1, 2]) as never)
    expect(text([{ sites: true }])).toMatch(new RegExp(`mul\\(x0, x0\\).*lines\\.test\\.ts:${line}`))
    expect(text([])).not.toContain('lines.test.ts')
  })
})

describe('the first frame outside the library, wherever it lies', () => {
  const packed = '/srv/u/app/node_modules/codual'
  it.each([
    ['packed, ESM', `file://${packed}/dist/chunk-A1.js`, `file://${packed}/dist/index.js`, 'file:///srv/u/app/main.mjs'],
    ['packed, CommonJS', `${packed}/dist/chunk-A1.cjs`, `${packed}/dist/index.cjs`, '/srv/u/app/main.cjs'],
    ['its checker', `${packed}/dist/chunk-A1.js`, `${packed}/dist/check/index.js`, '/srv/u/app/main.js'],
    ['all in the file of the checker', `${packed}/dist/check/index.cjs`, `${packed}/dist/index.cjs`, '/srv/u/app/main.js'],
    ['mapped back to sources in part', `${packed}/src/core/errors/explain.ts`, `${packed}/dist/chunk-A1.cjs`, '/srv/u/app/src/main.ts'],
    ['mapped back to sources', `${packed}/src/core/explain.ts`, `${packed}/src/modes/operators.ts`, '/srv/u/app/src/main.ts'],
    [
      'sources that the root of them exports',
      `${packed}/src/core/graph/source-lines.ts`,
      `${packed}/src/index.ts`,
      `${packed}/test/a.test.ts`,
    ],
    [
      'a folder with spaces and brackets',
      '/srv/u/a b (c)/codual/dist/index.js',
      '/srv/u/a b (c)/codual/dist/chunk-A1.js',
      '/srv/u/a b (c)/main.ts',
    ],
    ['Windows', 'C:\\app\\codual\\dist\\index.cjs', 'C:\\app\\codual\\dist\\chunk-A1.cjs', 'C:\\app\\main.cjs'],
    ['a browser', 'https://cdn.example/codual/dist/index.js', 'https://cdn.example/codual/dist/chunk-A1.js', 'https://app.example/main.js'],
  ])('%s', (_, top, next, user) => {
    const want = `${user.replace('file://', '')}:7:3`
    const v8 = (named: boolean, place: string): string => (named ? `    at Object.f [as g] (${place})` : `    at ${place}`)
    for (const named of [true, false])
      expect(
        userFrame(
          [
            'Error',
            v8(true, `${top}:1:2`),
            v8(named, `${next}:3:4`),
            '    at new Promise (<anonymous>)',
            v8(named, `${user}:7:3`),
            v8(true, '/x/other.js:1:1'),
          ].join('\n'),
        ),
      ).toBe(want)
    expect(userFrame([`raise@${top}:1:2`, `f@${next}:3:4`, `@${user}:7:3`].join('\n'))).toBe(want)
  })
  it('none, where all frames are its own', () => {
    expect(userFrame(`Error\n    at raise (${packed}/dist/index.js:1:2)\n    at node:internal/modules:1:1`)).toBeUndefined()
  })
  it('is found below more frames than an engine keeps by itself', () => {
    let line = 0
    const deep = (n: number): ((x: unknown) => unknown) => (n === 0 ? (x) => sum(add(x, [1, 2, 3, 4])) : loose(grad(deep(n - 1))))
    const e = located(() => {
      line = here() + 1
      return loose(cd.tensor)([[[1, 2], [3]]])
    })
    expect(e.at).toBe(line)
    expect(located(() => deep(2)([1, 2, 3])).at).toBeGreaterThan(0)
  })
})
