/** The parts of the playground that need no browser: what is made of a program's text, of a plan, of values. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Instrumented, instrument } from '../../site/run/instrument.js'
import { modeRows } from '../../site/run/modes.js'
import { together } from '../../site/run/together.js'
import { jumpsBetween, unsureAt } from '../../site/run/unsure.js'
import { hashOf, programOf } from '../../site/share.js'
import { aboutExample } from '../../site/views/gallery.js'
import { inPlace, livesOf } from '../../site/views/lives.js'
import { progressOf, stepInWords } from '../../site/views/modes.js'
import { numberText, short } from '../../site/views/numbers.js'
import { markedLines } from '../../site/views/program.js'
import { graphOf } from '../../site/views/program-graph.js'
import type { Program } from '../../src/core/graph/program.js'
import { add, compile, exp, f64, fn, grad, matmul, mul, scan, show, sin, sum, svd, toProgram } from '../../src/index.js'
import { agrees, expectedOf, plain } from './expected.js'

const read = (text: string): Instrumented => {
  const found = instrument(text)
  if ('message' in found) throw new Error(found.message)
  return found
}
/** Runs a script as the worker does; what it told, by mark. */
const ran = async (
  text: string,
  modules: Readonly<Record<string, object>> = {},
): Promise<{ told: Map<number, unknown>; calls: Map<number, readonly unknown[]> }> => {
  const told = new Map<number, unknown>()
  const calls = new Map<number, readonly unknown[]>()
  const scope: { program?: (...given: readonly unknown[]) => Promise<void> } = {}
  new Function('self', read(text).script)(scope)
  await scope.program!(
    (name: string) => ({ __esModule: true, ...modules[name] }),
    {},
    (mark: number, value: unknown) => {
      told.set(mark, value)
      return value
    },
    (mark: number, f: (...args: readonly unknown[]) => unknown, args: readonly unknown[]) => {
      calls.set(mark, args)
      return f(...args)
    },
  )
  return { told, calls }
}

describe('instrument', () => {
  it('tells constants and expressions, each at the line where it ends', async () => {
    const text = 'const a = 1, b = [a,\n  2]\nb\nlet c = 3\nc = 4\nexport const d = a + c;\n(d)'
    expect(read(text).marks.map(({ line, name }) => [line, name])).toEqual([
      [2, 'a'],
      [2, 'b'],
      [3, undefined],
      [6, 'd'],
      [7, undefined],
    ])
    expect([...(await ran(text)).told.values()]).toEqual([1, [1, 2], [1, 2], 5, 5])
  })

  it('keeps the arguments of calls, awaits, names of functions and lines', async () => {
    const text = `import { twice, type Twice } from 'm'
const f = (x: number): number => x + 1
twice(f)(1)
await twice(async (x: number) => x)(5)
f(...[2])
const shown = f.name
twice(f)(/* none */ 3, // behind
)
throw new Error('here')`
    const twice = (g: (x: unknown) => unknown) => (x: unknown) => g(x)
    const { script } = read(text)
    expect(script.split('\n')[8]).toContain('here')
    const { told, calls } = await ran(text.replace(/throw.*/, ''), { m: { twice } })
    expect([...told.values()].slice(1)).toEqual([2, 5, 3, 'f', 4])
    expect([...calls.values()]).toEqual([[1], [5], [2], [3]])
  })

  it('tells what a pattern takes apart, and the call within a member', async () => {
    const { told, calls } = await ran(
      'const f = (x: number) => ({ y: [x, 2 * x] })\nconst { y: [a, b] } = f(3)\nf(4).y.map((v) => v + 1)\na + b',
    )
    expect([...told.values()].slice(1)).toEqual([{ y: [3, 6] }, [5, 9], 9])
    expect([...calls.values()]).toEqual([[3], [4]])
  })

  it('says where a text cannot be read', () => {
    expect(instrument('const a = 1\nconst = 2')).toMatchObject({ line: 2 })
  })
})

describe('graphs', () => {
  const of = (f: unknown, ...args: readonly unknown[]): ReturnType<typeof graphOf> =>
    graphOf(show((toProgram as unknown as (f: unknown) => (...args: readonly unknown[]) => never)(f)(...args)))

  it('has a node for each operation, and an edge for each argument', () => {
    const { nodes, edges } = graphOf(show(toProgram(fn({ w: f64(2, 3), x: f64(3, 1) }, ({ w, x }) => sum(add(matmul(w, x), 1))))))
    expect(nodes.map((n) => `${n.kind} ${n.label}`)).toEqual([
      'input w',
      'input x',
      'apply matmul',
      'apply add',
      'literal 1',
      'apply sum',
      'output result',
    ])
    expect(edges.map((e) => [e.from, e.to, e.label, e.argument])).toEqual([
      ['w', 'y0', 'f64 [2, 3]', 0],
      ['x', 'y0', 'f64 [3, 1]', 1],
      ['y0', 'y1', 'f64 [2, 1]', 0],
      ['1 of y1 1', 'y1', '', 1],
      ['y1', 'y2', 'f64 [2, 1]', 0],
      ['y2', 'result 0', 'f64 []', 0],
    ])
  })

  it('joins several results to their equation, and keeps bodies as its detail', () => {
    const parts = of(
      (x: never) => svd(x),
      [
        [1, 2],
        [3, 4],
      ],
    )
    expect(parts.nodes.filter((n) => n.kind === 'output').map((n) => n.label)).toEqual(['s', 'u', 'vh'])
    expect(new Set(parts.edges.filter((e) => e.to.startsWith('result')).map((e) => e.from)).size).toBe(2)
    const loop = of((x: never) => scan((s, y) => [add(s, sin(y)), s], 0, x)[0], [1, 2])
    const node = loop.nodes.find((n) => n.label === 'scan')!
    expect(node.detail).toContain('sin(x1)')
    expect(loop.nodes.filter((n) => n.kind === 'apply').length).toBe(1)
  })

  it('names every node that an edge names, also of a derivative', () => {
    const { nodes, edges } = of(
      grad((x) => sum(sin(x))),
      [1, 2],
    )
    const ids = new Set(nodes.map((n) => n.id))
    expect(edges.every((e) => ids.has(e.from) && ids.has(e.to))).toBe(true)
    expect(edges.length).toBeGreaterThan(2)
  })
})

it('a program line by line: values, tangents where all inputs move by one, cotangents of the sum of the results', () => {
  const program = toProgram(fn({ w: f64(2), k: f64() }, ({ w, k }) => sum(mul(sin(w), k))))
  const inputs = new Map([
    ['w', { data: [0, 1], shape: [2] }],
    ['k', { data: [3], shape: [] }],
  ])
  const rows = modeRows(program, inputs).map(({ equation, primal, tangent, cotangent }) => [
    equation.replace(/ :.*/, ''),
    ...[primal, tangent, cotangent].map((x) => (x === undefined ? undefined : plain(x))),
  ])
  const [s, c] = [Math.sin(1), Math.cos(1)]
  expect(rows).toEqual([
    ['y0 = sin(w)', [0, s], [1, c], [3, 3]],
    ['y1 = mul(y0, k)', [0, 3 * s], [3, 3 * c + s], [1, 1]],
    ['y2 = sum(y1) {axes [0]}', 3 * s, 3 + (3 * c + s), 1],
  ])
  expect(() => modeRows(program, new Map())).toThrow(/is not among the arguments/)
})

describe('lines that belong together', () => {
  type F = (...args: readonly never[]) => unknown
  const traced = (f: unknown, ...args: readonly unknown[]) => {
    const made = (toProgram as unknown as (f: unknown) => unknown)(f)
    return (typeof made === 'function' ? (made as (...args: readonly unknown[]) => unknown)(...args) : made) as Program
  }
  const linesOf = (f: unknown, derivative: unknown, ...args: readonly unknown[]): readonly string[] => {
    const belongs = together(
      () => traced(f, ...args),
      () => traced(derivative, ...args),
    )
    return markedLines(show(traced(derivative, ...args) as never), (k) => belongs[k]).map(({ text, belongs: b }) =>
      `${b === undefined ? '' : `${b.equations}${b.derives ? "'" : ''}`} ${text.trim().replace(/ [:{].*/, '')}`.trim(),
    )
  }
  it('are an equation, the same computed again, and what its derivative is made of', () => {
    const f = fn({ w: f64(2, 3), x: f64(3, 1) }, ({ w, x }) => sum(matmul(w, x)))
    expect(linesOf(f, grad(f, { wrt: 'w' }))).toEqual([
      'grad(fn)(w: f64 [2, 3], x: f64 [3, 1])'.replace(/ [:{].*/, ''),
      "1' y0 = reshape(1)",
      "1' y1 = broadcastTo(y0)",
      "0' y2 = transpose(x)",
      "0' y3 = matmul(y1, y2)",
      'return y3',
    ])
    const again = fn({ w: f64(2, 2) }, ({ w }) => sum(exp(matmul(w, w))))
    expect(linesOf(again, grad(again)).slice(1, 3)).toEqual(['0 y0 = matmul(w, w)', '1 y1 = exp(y0)'])
  })
  it('are several equations where a map computes them, and the lines of its body', () => {
    const f: F = (x) => sum(mul(sin(x), exp(x)))
    const lines = linesOf(f, (grad as unknown as (f: F) => F)(f), [1, 2])
    expect(lines[1]).toBe("0,1,2' y0, y1 = map(x0)")
    expect(lines.slice(2, -4).every((line) => line.startsWith("0,1,2' "))).toBe(true)
    expect(lines.slice(-4)).toEqual(["3' y2 = reshape(1)", "3' y3 = broadcastTo(y2)", "0,1,2' y4 = mul(y3, y1)", 'return y4'])
  })
  it('are none of what the derivative adds by itself', () => {
    const f: F = (x) => matmul(x, x)
    const x = [
      [1, 2],
      [3, 4],
    ]
    const lines = linesOf(
      f,
      (grad as unknown as (f: F) => F)((x: never) => sum(f(x) as never)),
      x,
    )
    expect(lines.slice(1, 3)).toEqual(['y0 = reshape(1)', 'y1 = broadcastTo(y0)'])
    expect(lines.slice(3, -1).every((line) => line.startsWith("0' "))).toBe(true)
  })
})

it('modes go one equation at a time: forward to the last, then back to the first', () => {
  expect([0, 1, 3, 4, 6].map((steps) => progressOf(steps, 3))).toEqual([
    { forward: 0, reverse: 3, at: undefined },
    { forward: 1, reverse: 3, at: 0 },
    { forward: 3, reverse: 3, at: 2 },
    { forward: 3, reverse: 2, at: 2 },
    { forward: 3, reverse: 0, at: 0 },
  ])
  const one = { kind: 'tensor', dtype: 'f64', shape: [], data: [2], size: 1 } as const
  const rows = [
    { equation: 'y0 = sin(x0) : f64 []', primal: one, tangent: one },
    { equation: 'y1 = mul(y0, 3) : f64 []', primal: one, cotangent: one },
  ]
  expect([0, 1, 2, 3, 4].map((steps) => stepInWords(steps, rows))).toEqual([
    'Before the first equation.',
    'Forward, 1 of 2: y0 = sin(x0) is 2, its tangent 2.',
    'Forward, 2 of 2: y1 = mul(y0, 3) is 2, its tangent is zero.',
    'Reverse, 1 of 2: the cotangent of y1 is 2.',
    'Reverse, 2 of 2: the cotangent of y0 is zero: no result depends on it.',
  ])
})

describe('places that the checker is not sure of', () => {
  const x = Array.from({ length: 41 }, (_, i) => -2 + i / 10)
  it('are kinks and wrong derivatives, and nothing where both are right', () => {
    expect(unsureAt(Math.sin, x, x.map(Math.cos), false)).toEqual({ unsure: [], checkedTo: 2 })
    expect(
      unsureAt(
        Math.fround,
        x,
        x.map(() => 1),
        true,
      ).unsure,
    ).toEqual([])
    const kink = unsureAt(Math.abs, x, x.map(Math.sign), false).unsure
    expect(kink.map((u) => u.text)).toEqual(['a kink: the slopes of the two sides are -1 and 1, the derivative is 0'])
    expect(kink[0]!.x).toBeCloseTo(0, 12)
    const wrong = unsureAt(Math.exp, [0, 1], [1, 2], false).unsure
    expect(wrong).toEqual([{ x: 1, y: Math.E, text: expect.stringMatching(/^differences give 2\.71828\d*, the derivative is 2$/) }])
  })
  it('are jumps of the derivative between two points, and no steep part of a smooth one', () => {
    const slope = (t: number): number => (t > 0.637 ? 1 : 0)
    const [jump, ...more] = jumpsBetween(slope, x, x.map(slope))
    expect(more).toEqual([])
    expect(jump!.x).toBeCloseTo(0.637, 9)
    expect([jump!.left, jump!.right]).toEqual([0, 1])
    const steep = (t: number): number => Math.tanh(200 * t)
    expect(jumpsBetween(steep, x, x.map(steep))).toEqual([])
  })
})

describe('the gallery', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const examples = readdirSync(`${root}site/examples`).sort()
  it('has at least 30 examples, each with its picture and with words on what it shows', () => {
    expect(examples.length).toBeGreaterThan(30)
    expect(readdirSync(`${root}site/pictures`).sort()).toEqual(examples.map((file) => file.replace(/ts$/, 'jpg')))
    for (const file of examples) {
      const picture = readFileSync(`${root}site/pictures/${file.replace(/ts$/, 'jpg')}`)
      expect([file, picture.subarray(0, 3).toString('hex'), picture.length < 40_000]).toEqual([file, 'ffd8ff', true])
      expect([file, aboutExample(readFileSync(`${root}site/examples/${file}`, 'utf8')).length > 20]).toEqual([file, true])
    }
  })
  it('says of an example what its first comment says', () => {
    expect(aboutExample('// One line,\n// and one more.\nf(1) // 2')).toBe('One line, and one more.')
  })
})

it('buffers live from the step that writes them to the last that reads them', () => {
  const f = compile(
    grad(
      fn({ x: f64(8, 8), z: f64(8, 8) }, ({ x, z }) => sum(matmul(x, matmul(x, z)))),
      { wrt: 'x' },
    ),
  )
  const { steps } = f.explain()
  const lives = livesOf(steps)
  expect(lives.map((l) => l.name).filter((n) => n.startsWith('input')).length).toBe(2)
  expect(lives.filter((l) => l.bytes === 8 * 64).length).toBeGreaterThan(1)
  expect(lives.every((l) => l.writes.length > 0 || l.name.startsWith('input'))).toBe(true)
  // The second product of the gradient is added in place.
  expect(lives.map(inPlace).filter((steps) => steps.length > 0)).toEqual([[steps.length - 1]])
})

it('a program goes into an address and comes back; an address that was cut gives none', async () => {
  const text = 'grad(f)([1, 2]) // ü 中\n'.repeat(40)
  const hash = await hashOf(text)
  expect(hash).toMatch(/^#p=[\w-]+$/)
  expect(hash.length).toBeLessThan(200)
  expect(await programOf(hash)).toBe(text)
  expect(await programOf(hash.slice(0, -9))).toBeUndefined()
  expect(await programOf('#elsewhere')).toBeUndefined()
})

it('numbers and values in a few words', () => {
  expect([0.1 + 0.2, -0, 1234567, 12345678, 1e-7, Number.NaN].map(numberText)).toEqual(['0.3', '-0', '1234600', '1.235E7', '1E-7', 'NaN'])
  expect(short({ kind: 'tensor', dtype: 'f64', shape: [2, 2], data: [1, 2, 3, 4], size: 4 })).toBe('[[1, 2], [3, 4]]')
  const long = short({ kind: 'tensor', dtype: 'f64', shape: [100, 100], data: Array.from({ length: 10_000 }, (_, i) => i), size: 10_000 })
  expect(long.length).toBeLessThan(90)
})

it('what an example expects is read, and held to its last digit', () => {
  expect(expectedOf('a // [1, 0.5]\nb // words\n// 3\nc // true')).toEqual([
    { line: 1, value: [1, 0.5] },
    { line: 4, value: true },
  ])
  expect(agrees([0.333], [1 / 3])).toBe(true)
  expect(agrees([0.333], [0.3345])).toBe(false)
  expect(agrees([1], [1, 1])).toBe(false)
  expect(plain({ kind: 'tensor', dtype: 'f64', shape: [1, 2], data: [1, 2], size: 2 })).toEqual([[1, 2]])
})
