/** What notebooks are shown: the numbers and names that are there, folded where there are many, and every text escaped. */
import { describe, expect, it } from 'vitest'
import { checkGrad, checkRule } from '../../src/check/index.js'
import * as display from '../../src/display/index.js'
import * as cd from '../../src/index.js'
import { dense, sequential } from '../../src/nn/index.js'
import { adam } from '../../src/optim/index.js'
import { key } from '../../src/random/index.js'
import { accuracy, batches, fit as learn, train } from '../../src/train/index.js'
import { broken } from '../errors/hostile.js'

const { graphOf, plot, render, renderInNotebooks } = display
const { add, compile, f32, fn, fromProgram, grad, mean, mul, sin, sum, tanh, tensor, toProgram } = cd
const JUPYTER = Symbol.for('Jupyter.display')

/** Elements that are written, each opened and closed in turn; throws where markup is not well formed. */
const tagsOf = (html: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const open: string[] = []
  const rest = html.replace(/<(\/?)([a-z]+)((?: [a-zA-Z][a-zA-Z0-9-]*="[^"<>]*")*)>/g, (_, close: string, tag: string) => {
    if (close === '') open.push(tag)
    else if (open.pop() !== tag) throw new Error(`</${tag}> closes another element`)
    found.add(tag)
    return ''
  })
  if (open.length > 0) throw new Error(`<${open.at(-1)}> is not closed`)
  if (/[<>]/.test(rest)) throw new Error(`text that is not escaped: ${/.{0,40}[<>].{0,40}/.exec(rest)?.[0]}`)
  return found
}
const KNOWN = [
  ...['div', 'style', 'table', 'thead', 'tbody', 'tr', 'td', 'th', 'pre', 'span', 'details', 'summary'],
  ...['svg', 'g', 'path', 'rect', 'text', 'title', 'line', 'circle'],
]
/** The HTML, which is well formed and has only elements of the library's. */
const html = (x: unknown, options?: display.RenderOptions): string => {
  const made = render(x, options).html
  expect([...tagsOf(made)].filter((tag) => !KNOWN.includes(tag))).toEqual([])
  return made
}
/** Texts of the cells of a table. */
const cells = (made: string): readonly string[] => [...made.matchAll(/<td[^>]*>(?:<span[^>]*>)?([^<]*)/g)].map((m) => m[1]!)

describe('a tensor', () => {
  it('of rank 0 is its number', () => {
    for (const [
      x,
      shown,
    ] of [[3, '3'], [Number.NaN, 'NaN'], [-0, '-0'], [1 / 3, '0.333333'], [1e300, '1e+300'], [Number.NEGATIVE_INFINITY, '-Infinity']] as const) // biome-ignore format: a row
      expect(html(tensor(x))).toContain(`f64 []</div>${shown}</div>`)
  })

  it('of rank 1 is a row, in every dtype', () => {
    expect(cells(html(tensor([1, Number.NaN, -0, 0.1])))).toEqual(['1', 'NaN', '-0', '0.1'])
    expect(cells(html(tensor([0.1, 2], [2], 'f32')))).toEqual(['0.1', '2'])
    expect(cells(html(tensor([1, -2_000_000_000], [2], 'i32')))).toEqual(['1', '-2000000000'])
    expect(cells(html(cd.evaluate(cd.gt(tensor([1, 2]), 1))))).toEqual(['false', 'true'])
  })

  it('of rank 2 is a table with its places', () => {
    const made = html(tensor([[1, 2, 3], [4, 5, 6]])) // biome-ignore format: a row
    expect(made).toContain('f64 [2, 3]')
    expect(cells(made)).toEqual(['0', '1', '2', '3', '1', '4', '5', '6'])
  })

  it('of rank 3 is a table for each place along the leading axes', () => {
    const made = html(
      tensor(
        Float64Array.from({ length: 12 }, (_, i) => i),
        [3, 2, 2],
      ),
    )
    expect([...made.matchAll(/\[\d, :, :\]/g)].map((m) => m[0])).toEqual(['[0, :, :]', '[1, :, :]', '[2, :, :]'])
    expect(cells(made)).toEqual(['0', '0', '1', '1', '2', '3', '0', '4', '5', '1', '6', '7', '0', '8', '9', '1', '10', '11'])
    const many = html(tensor(new Float64Array(2 * 5 * 1 * 1), [2, 5, 1, 1]))
    expect([...many.matchAll(/\[(\d, \d), :, :\]/g)].map((m) => m[1])).toEqual(['0, 0', '0, 1', '1, 3', '1, 4'])
  })

  it('of many elements shows the first and the last, and says what lies between', () => {
    const x = tensor(
      Float64Array.from({ length: 10_000 }, (_, i) => i),
      [100, 100],
    )
    const made = html(x, { most: 4 })
    const rows = cells(made)
    expect(rows.slice(0, 6)).toEqual(['0', '0', '1', '…', '98', '99'])
    expect(rows.slice(-6)).toEqual(['99', '9900', '9901', '…', '9998', '9999'])
    expect(made).toContain('from 0 to 9999, mean 4999.5')
    expect(html(tensor([1, Number.NaN, 3, 4, 5]), { most: 2 })).toContain('from 1 to 5, mean 3.25; 1 NaN')
    expect(html(tensor([Number.NaN, Number.NaN, Number.NaN]), { most: 2 })).toContain('f64 [3], 3 NaN')
    expect(html(cd.evaluate(cd.gt(tensor([1, 2, 3, 4]), 1)), { most: 2 })).toContain('3 of 4 true')
  })

  it('of any size takes some thousand characters', () => {
    for (const shape of [[1e6], [1000, 1000], [100, 100, 100], [10, 10, 10, 1000]])
      expect(html(tensor(new Float32Array(1e6), shape as never)).length, `${shape}`).toBeLessThan(12_000)
    expect(html(tensor(new Float64Array(1e6), [100, 100, 100]), { most: 50 }).length).toBeLessThan(300_000)
  })

  it('without elements says so, and one whose buffer was given away too', () => {
    for (const shape of [[0], [2, 0], [0, 3], [2, 0, 3]]) expect(html(tensor(new Float64Array(0), shape as never))).toContain('no elements')
    const x = tensor(new Float64Array([1, 2]))
    structuredClone(x.data.buffer, { transfer: [x.data.buffer as ArrayBuffer] })
    expect(html(x)).toContain('without its elements')
  })
})

describe('an expression and a program', () => {
  it('are equations and a graph', () => {
    const made = html(sum(mul(sin(tensor([1, 2])), 2)))
    expect(made).toContain('y1 = mul(y0, 2) : f64 [2]')
    expect(made).toContain('graph of 3 operations')
    expect([...made.matchAll(/<title>([^<]*)/g)].map((m) => m[1])).toEqual([
      'tensor: f64 [2]',
      'sin: f64 [2]',
      'mul 2: f64 [2]',
      'sum: f64 []',
    ])
    const loss = fn({ w: f32(2, 3), x: f32('n', 3) }, ({ w, x }) => mean(tanh(cd.matmul(x, cd.transpose(w)))))
    const program = toProgram(grad(loss, { wrt: 'w' }), { n: 8 })
    const text = cd.show(program)
    expect(html(program)).toContain(text.replaceAll('>', '&gt;').slice(0, 200))
    expect(html(program)).toContain('w: f32 [2, 3]')
  })

  it('inside of a function are the graph of what leads to them', () => {
    let made = ''
    grad((x) => {
      const y = mul(x, x)
      made = html(y)
      return sum(y)
    })([1, 2])
    expect(made).toContain('graph of 1 operation<')
    expect(made).toContain('mul: f64 [2]')
  })

  it('have no picture where nobody could read it', () => {
    let x: cd.AnyExpr = sin([1, 2])
    for (let i = 1; i < 2000; i++) x = sin(x)
    const made = html(x)
    expect(made).toContain('2,000 operations: too many for a picture')
    expect(made.length).toBeLessThan(30_000)
  })

  it('are graphs as data: shared parts once, literals, results by their paths', () => {
    const f = fn({ p: { w: f32(3) }, x: f32(3) }, ({ p, x }) => {
      const y = mul(p.w, x)
      return { a: add(y, y), b: mul(y, -0) }
    })
    const { nodes, edges, outputs } = graphOf(toProgram(f))
    expect(graphOf(fromProgram(toProgram(f)))).toEqual({ nodes, edges, outputs })
    const labels = (of: ReturnType<typeof graphOf>): readonly string[] => of.nodes.map((n) => n.label).sort()
    expect(labels(graphOf(f))).toEqual(labels({ nodes, edges, outputs }))
    expect(() => graphOf((() => 1) as never)).toThrow('BadInput')
    expect(nodes.map((n) => `${n.kind} ${n.label}: ${n.dtype} [${n.shape}]`)).toEqual(
      expect.arrayContaining(['input p.w: f32 [3]', 'input x: f32 [3]', 'apply mul: f32 [3]', 'apply add: f32 [3]', 'literal -0: f32 []']),
    )
    expect(nodes.filter((n) => n.label === 'mul')).toHaveLength(2)
    expect(edges.filter((e) => e.to === nodes.find((n) => n.label === 'add')!.id)).toHaveLength(2)
    expect(outputs.map((o) => [o.path, nodes.find((n) => n.id === o.id)!.label])).toEqual([['a', 'add'], ['b', 'mul']]) // biome-ignore format: a row
  })
})

describe('what functions tell', () => {
  const cube = cd.unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
  const wrong = cd.scalarRule(cube, ({ x: [x] }) => [mul(2, mul(x, x))])

  it('an explanation is its figures and a table of steps', () => {
    const f = compile((x: cd.AnyExpr) => sum(mul(x, x)))
    f([1, 2, 3])
    const e = f.explain()
    const made = html(e)
    expect(made).toContain(`${e.steps.length} steps`)
    expect(made).toContain(e.steps[0]!.kernel)
    expect(cells(made).length).toBe(7 * e.steps.length)
  })

  it('a check is what it found', () => {
    const checked = checkRule(wrong)
    if (checked._tag !== 'Left') throw new Error('it is wrong')
    const made = html(checked)
    expect(made).toContain(`${checked.left.length} finding`)
    for (const text of [checked.left[0]!.expected, checked.left[0]!.actual, 'cube']) expect(cells(made)).toContain(text)
    expect(html(checked.left)).toBe(made)
    expect(render(checked).text.split('\n')[0]).toBe(`wrong: ${checked.left.length} finding${checked.left.length === 1 ? '' : 's'}`)
    expect(render({ a: tensor([[1], [2]]), '<b>': 3 }).text).toBe(
      'path  type  numbers\na  f64 [2, 1]  from 1 to 2, mean 1.5\n<b>  number  3',
    )
    expect(html(checkGrad((x: cd.AnyExpr) => sum(mul(x, x)))([1, 2]))).toMatch(/right: f, \d+ comparisons/)
  })

  it('errors are their messages', () => {
    try {
      add([1, 2], [1, 2, 3] as never)
    } catch (e) {
      expect(html(e)).toContain('add: shapes [2] and [3] do not broadcast.')
      expect(html({ _tag: 'Left', left: (e as cd.AdException).error })).toContain('fix: ')
    }
    expect(html(new TypeError('a & b'))).toContain('TypeError: a &amp; b')
    expect.assertions(6)
  })

  it('runs of training are curves', async () => {
    const x = tensor(
      Float32Array.from({ length: 40 }, (_, i) => Math.sin(i * i)),
      [20, 2],
    )
    const y = tensor(Int32Array.from({ length: 20 }, (_, i) => Number(x.data[2 * i]! > x.data[2 * i + 1]!)))
    const options = { loss: 'crossEntropy', optimizer: adam({ learningRate: 0.02 }), batchSize: 10, epochs: 5, key: key(1) } as const
    const fitted = await learn(sequential(dense(2, 4), tanh, dense(4, 2)), { x, y }, { ...options, metrics: { accuracy: accuracy() } })()
    if (fitted._tag !== 'Right') throw new Error('it learns')
    const made = html(fitted)
    expect(made).toContain('ended by epochs')
    expect(made).toContain('5 epochs; at the end loss ')
    expect(made.match(/<svg/g)).toHaveLength(2)
    expect(made).toContain('>accuracy</text>')
    expect(html(fitted.right.history).match(/<svg/g)).toHaveLength(2)
    expect(cells(html(fitted.right.params))).toEqual(expect.arrayContaining(['0.w', 'f32 [2, 4]', '2.b']))
    const run = train((n: number, v) => ({ state: n + v.item(), loss: v.item() }), batches([1, 2, 3], { size: 1, seed: 1 }), {
      state: 0,
      epochs: 2,
    })
    expect(html(await run())).toContain('done after 6 steps')
  })
})

describe('a plot', () => {
  const points = (made: string): readonly string[] => [...made.matchAll(/ d="([^"]*)" fill="none" stroke="#/g)].map((m) => m[1]!)

  it('goes through the points, and leaves gaps where there is none', () => {
    const { svg, text } = plot({ a: [0, 1, 2, 3], b: [1, Number.NaN, 2, Number.POSITIVE_INFINITY] })
    tagsOf(svg!)
    const [a, b] = points(svg!)
    expect(a!.match(/[ML]/g)!.join('')).toBe('MLLL')
    expect(b!.match(/[ML]/g)!.join('')).toBe('MM')
    const heights = [...a!.matchAll(/,([\d.]+)/g)].map((m) => Number(m[1]))
    expect(heights[0]! - heights[1]!).toBeCloseTo(heights[1]! - heights[2]!, 0)
    expect(text).toBe('plot of a (4), b (4)')
  })

  it('in powers of ten is straight for a geometric series, and leaves out what is not above zero', () => {
    const heights = [...points(plot({ a: [1, 10, 100, 1000, 0] }, { log: true }).svg!)[0]!.matchAll(/,([\d.]+)/g)].map((m) => Number(m[1]))
    expect(heights).toHaveLength(4)
    expect(heights[0]! - heights[1]!).toBeCloseTo(heights[2]! - heights[3]!, 0)
  })

  it('of many numbers keeps the least and the greatest', () => {
    const ys = new Float64Array(1e6)
    ys[123_456] = 5
    ys[654_321] = -5
    const { svg } = plot({ ys })
    expect(svg!.length).toBeLessThan(30_000)
    const heights = [...points(svg!)[0]!.matchAll(/,([\d.]+)/g)].map((m) => Number(m[1]))
    expect(new Set(heights).size).toBe(3)
  })

  it('of nothing, of one number and of equal ones is drawn', () => {
    for (const ys of [[], [1], [2, 2, 2], [0, 0], [Number.NaN]]) expect(plot({ ys }).svg).not.toMatch(/NaN|Infinity/)
    const many = Object.fromEntries(
      Array.from({ length: 400 }, (_, k) => [`y${k}`, Array.from({ length: 1500 }, (_, i) => Math.sin(i * k))]),
    )
    expect(plot(many).svg).not.toMatch(/NaN|Infinity/)
    expect(plot({}).svg).toContain('<svg')
  })

  it('is given curves by name', () => {
    for (const bad of [undefined, null, [1, 2], 3, { a: 'x' }, { a: ['x'] }, { a: null }, new Float64Array(2)])
      expect(() => plot(bad as never)).toThrow(/plot: the curve/)
    expect(() => plot({ a: [1] }, { logs: true } as never)).toThrow(/logs/)
  })
})

describe('texts from elsewhere', () => {
  const nasty = `<img src=x onerror="alert(1)">'&</pre></svg><script>\u0000`
  const shows = (made: string): void => {
    expect([...tagsOf(made)].filter((tag) => !KNOWN.includes(tag))).toEqual([])
    expect(made).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;')
    expect(made).not.toContain('\u0000')
  }

  it('are escaped: names of arguments, metrics, curves, messages, texts and paths', () => {
    shows(html(toProgram(fn({ [nasty]: f32(2) }, (x) => sum(x[nasty]!)))))
    shows(plot({ [nasty]: [1, 2] }).html.replaceAll('…', ''))
    shows(html({ loss: [1], validation: [], metrics: { [nasty]: [1] } }))
    shows(html(new Error(nasty)))
    shows(html(nasty))
    shows(html({ [nasty]: tensor([1, 2]) }))
    shows(html({ _tag: 'Left', left: { _tag: 'BadInput', where: 'f', reason: nasty } }))
    shows(html({ _tag: 'Right', right: { comparisons: 1, looked: {}, of: nasty, undecided: [nasty] } }))
    shows(html([{ check: 'jacobian', of: nasty, path: '', entry: '', expected: nasty, actual: '', how: '', fix: '', replay: '' }]))
    shows(html({ backend: nasty, steps: [], loops: [], kernels: 1, flops: 1, bytes: 1, peakBytes: 1, cached: true, planMs: 0 }))
    shows(html({ _tag: 'Tensor', dtype: 'f64', shape: [nasty], data: new Float64Array(1) }))
  })
})

describe('render', () => {
  it('takes anything, and tells of what it does not know as text', () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const own = new Proxy({}, { get: () => { throw new Error('nobody may look') }, has: () => true }) // biome-ignore format: one row
    for (const x of [
      undefined,
      null,
      3,
      'x',
      Symbol('s'),
      1n,
      [],
      {},
      cyclic,
      own,
      new Map(),
      () => 1,
      new Date(0),
      Object.create(null),
      ...broken.map(([, make]) => make()),
    ]) {
      const made = render(x)
      tagsOf(made.html)
      expect(typeof made.text).toBe('string')
      expect(made.text.length).toBeLessThan(30_000)
    }
    for (const half of [{ _tag: 'Right' }, { _tag: 'Left', left: [] }, { _tag: 'Tensor' }, { inputs: [], outputs: [], inputTree: 1, outputTree: 1, captured: 1 }, { backend: 1, steps: 1, loops: 1, kernels: 1, flops: 1 }]) // biome-ignore format: a row
      tagsOf(render(half).html)
  })

  it('reads its options', () => {
    for (const most of [1, 51, 2.5, 'x', Number.NaN]) expect(() => render(1, { most } as never)).toThrow(/render: .*most/)
    expect(() => render(1, { rows: 3 } as never)).toThrow(/rows/)
  })

  it('answers the kernels of Jupyter, and hides how', () => {
    const made = render(tensor([1, 2])) as display.Rendered & { [JUPYTER]?: () => unknown }
    expect(made[JUPYTER]!()).toEqual({ 'text/plain': 'Tensor f64 [2] [1, 2]', 'text/html': made.html })
    expect(Object.keys(made)).toEqual(['html', 'text', 'element'])
    const drawn = plot({ a: [1, 2] }) as display.Rendered & { [JUPYTER]?: () => unknown }
    expect(drawn[JUPYTER]!()).toEqual({ 'text/plain': drawn.text, 'text/html': drawn.html, 'image/svg+xml': drawn.svg })
  })

  it('makes an element where there is a document, and says what to do where there is none', () => {
    expect(() => render(1).element()).toThrow(/html is the text of one/)
    Object.assign(globalThis, { document: { createElement: (tag: string) => ({ tag, innerHTML: '' }) } })
    try {
      expect(render(1).element()).toEqual({ tag: 'div', innerHTML: render(1).html })
    } finally {
      Reflect.deleteProperty(globalThis, 'document')
    }
  })

  it('makes tensors and expressions show themselves, when it is asked to', () => {
    const x = tensor([1, 2]) as unknown as Record<symbol, (() => Record<string, string>) | undefined>
    const y = mul(tensor([1, 2]), 2) as unknown as typeof x
    // Examples of docstrings, which may have run before in this process, ask for it too.
    for (const z of [x, y]) Reflect.deleteProperty(Object.getPrototypeOf(z) as object, JUPYTER)
    expect([x[JUPYTER], y[JUPYTER]]).toEqual([undefined, undefined])
    renderInNotebooks()
    renderInNotebooks()
    try {
      expect(x[JUPYTER]!()['text/html']).toBe(render(x).html)
      expect(y[JUPYTER]!()['text/html']).toContain('mul(captured0, 2)')
      expect(JSON.stringify(x)).toBe('{"shape":[2],"dtype":"f64","data":[1,2]}')
      expect(Object.keys(x)).not.toContain('Jupyter.display')
    } finally {
      for (const z of [x, y]) Reflect.deleteProperty(Object.getPrototypeOf(z) as object, JUPYTER)
    }
  })
})
