// The type level: errors that name both shapes at the argument that clashes, budgets in instantiations and bytes. That all fixtures compile is in versions.deep.test.ts.
import { describe, expect, it } from 'vitest'
import { compile, declarationsOf, hoverOf, lineOf, listed, message, spanOf, textOf } from './harness.js'

describe.each(['errors', 'indexing', 'layer-errors'])('%s', (name) => {
  const text = textOf(name)
  const { errors } = compile(name, text.replaceAll('@ts-expect-error', 'expected'))
  const expected = text.split('\n').flatMap((line, i) => {
    const m = /^ *\/\/ @ts-expect-error at `(.*)`: (.*)$/.exec(line)
    return m === null ? [] : [{ line: i + 1, at: m[1] ?? '', says: m[2] ?? '' }]
  })

  // Layers have optional properties, of which the compiler says more with that option.
  if (name !== 'layer-errors')
    it('say the same with exactOptionalPropertyTypes', () => {
      const exact = compile(name, text.replaceAll('@ts-expect-error', 'expected'), { exactOptionalPropertyTypes: true })
      expect(exact.errors.map(message).join('\n')).not.toContain('exactOptionalPropertyTypes')
      expect(listed(exact.errors)).toEqual(listed(errors))
    })
  it('are as many as expected', () => {
    expect(expected.length).toBe(text.split('@ts-expect-error').length - 1)
    expect([...new Set(errors.map(lineOf))]).toEqual(expected.map((e) => e.line))
  })
  for (const e of expected)
    it(`line ${e.line + 1}: ${e.says}`, () => {
      const [error] = errors.filter((d) => lineOf(d) === e.line)
      expect(error === undefined ? '' : message(error)).toContain(e.says)
      expect(error === undefined ? '' : spanOf(error)).toBe(e.at)
    })
})

// ---- budgets: instantiations that checking the file takes, measured with TypeScript 6.0.3; the bound is 1 % above

const programs: Readonly<Record<string, () => string>> = {
  lenet: () => textOf('lenet'),
  lstm: () => textOf('lstm'),
  'broken lenet': () => brokenLeNet(),
  '200 operations of one shape': () => chain(200),
  '200 operations of different shapes': () => layers(100),
  '100 indexings': () => indexings(100),
}
const measured: Readonly<Record<string, number>> = {
  lenet: 25134,
  lstm: 13624,
  'broken lenet': 32482,
  '200 operations of one shape': 2065,
  '200 operations of different shapes': 14227,
  '100 indexings': 30143,
}
/** LeNet with mistakes of the kind users make while they edit. */
const brokenLeNet = (): string =>
  textOf('lenet')
    .replace('f32(16, 6, 5, 5)', 'f32(16, 3, 5, 5)')
    .replace('f32(120, 256)', 'f32(120, 255)')
    .replace('f32(84, 120)', 'f32(84, 121)')
    .replace('[-1, 256]', '[-1, 257]')
    .replace("wrt: 'params' }", "wrt: 'param' }")
const chain = (n: number): string => `
import { add, exp, f32, fn, mul, sum, tanh } from './api.js'
export const f = fn({ x: f32('batch', 64), b: f32(64) }, ({ x: x0, b }) => {
${Array.from({ length: n }, (_, i) => `  const x${i + 1} = ${[`add(x${i}, b)`, `tanh(x${i})`, `mul(x${i}, x${i})`, `exp(x${i})`][i % 4]}`).join('\n')}
  return sum(x${n})
})`
const layers = (n: number): string => `
import { f32, fn, matmul, sum, tanh } from './api.js'
export const f = fn({ x: f32('batch', 100), ${Array.from({ length: n }, (_, i) => `w${i}: f32(${100 + i}, ${101 + i})`).join(', ')} }, (p) => {
  const x0 = p.x
${Array.from({ length: n }, (_, i) => `  const x${i + 1} = tanh(matmul(x${i}, p.w${i}))`).join('\n')}
  return sum(x${n})
})`
const indexings = (n: number): string => `
import { at, f32, fn, i32, sum } from './api.js'
export const f = fn({ x: f32('batch', 64, 8), i: i32(), ids: i32('n') }, ({ x, i, ids }) => {
${Array.from({ length: n }, (_, k) => `  const x${k} = ${[`at(x, ${k}, ${k % 64})`, `at(x, ':', '${k}:${k + 4}')`, `at(x, i, '...', ${k % 8})`, `at(x, ids, null, '${k % 8}:')`][k % 4]}`).join('\n')}
  return sum(x${n - 1})
})`

describe('budgets', () => {
  for (const [name, text] of Object.entries(programs))
    it(`${name}: at most 1 % above ${measured[name]} instantiations`, () => {
      const c = compile('budget', text())
      expect(c.errors.length > 0).toBe(name === 'broken lenet')
      expect(c.instantiations).toBeGreaterThan(0)
      expect(c.instantiations).toBeLessThan(1.01 * (measured[name] ?? 0))
    })

  it('broken LeNet: the first error is at the kernel and names both shapes', () => {
    const [first] = compile('budget', brokenLeNet()).errors
    expect(first === undefined ? '' : spanOf(first)).toBe('p.c2.k')
    expect(first === undefined ? '' : message(first)).toContain('x is [batch, 6, 12, 12], k is [16, 3, 5, 5] (6 is not 3)')
  })
})

describe('a library under declaration: true', () => {
  const library = compile('library')
  const emitted = declarationsOf(library)

  it('is written without TS7056, TS2742, TS4023 or any other error', () => {
    expect(emitted.errors).toEqual([])
  })
  it.each(['library', 'library-more'])('%s.ts names nothing that the package does not export', (name) => {
    const { text, errors } = declarationsOf(compile(name))
    expect(errors).toEqual([])
    expect([...text.matchAll(/import\("\.[^"]*"\)\.(\w+)/g)].map(([, name]) => name)).toEqual([])
  })
  it('stays short', () => {
    expect(emitted.text).toContain('export declare const loss: a.Fn<')
    expect(emitted.text.length).toBeLessThan(1.25 * 3832)
  })
  it('generic functions without annotations are written too', () => {
    expect(declarationsOf(compile('generic')).errors).toEqual([])
  })
  it('shows short types in an editor', () => {
    expect(hoverOf(library, 'plain')).toBe('Fn<[x: AnyExpr], Expr<Shape, "f64" | "f32">>')
    expect(hoverOf(compile('generic'), 'dense')).toBe(
      '<B extends Dim, K extends Dim, N extends Dim>(x: Expr<[B, K], "f32">, w: Expr<[K, N], "f32">, b: Expr<[N], "f32">) => Expr<[B, N], "f32">',
    )
    expect(hoverOf(compile('generic'), 'rows')).toBe(
      '<S extends Shape>(x: Expr<S, "f32">) => Expr<Ok<ReduceAt<S, -1, false, "sum">>, "f32">',
    )
  })
})
