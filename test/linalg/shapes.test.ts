/** Shapes, dtypes, views, batches, modes, and what is refused. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Loose = (...xs: readonly unknown[]) => unknown
const fn = (name: string): Loose => (cd as unknown as Readonly<Record<string, Loose>>)[name]!
const data = (x: unknown): number[] => Array.from((cd.evaluate(x as E) as unknown as cd.Tensor).data)
const shapes = (x: unknown): unknown => ((x as E)._tag === 'Expr' ? (x as E).shape : Object.values(x as object).map((y) => (y as E).shape))
const a = cd.tensor([[4, 1, 0.5], [1, 5, 1.5], [0.25, 1, 6]]) // biome-ignore format: one row
const stack = cd.tensor([[[4, 1], [1, 3]], [[5, 0.5], [0.5, 2]]]) // biome-ignore format: one row
const square = ['cholesky', 'inv', 'expm', 'det', 'slogdet', 'eigh', 'eigvalsh']
const any = ['lu', 'qr', 'svd', 'svdvals', 'pinv', 'matrixRank', 'matrixNorm', 'diagonal']

describe('shapes', () => {
  it('without elements', () => {
    for (const lead of [[], [3], [0]] as const) {
      const empty = cd.zeros([...lead, 0, 0])
      for (const name of square) for (const x of [fn(name)(empty)].flat()) cd.evaluate(x as never)
      expect(data(fn('det')(empty)).every((x) => x === 1)).toBe(true)
      expect(data((fn('slogdet')(empty) as { logdet: unknown }).logdet).every((x) => x === 0)).toBe(true)
      expect((fn('solve')(empty, cd.zeros([...lead, 0, 2])) as E).shape).toEqual([...lead, 0, 2])
    }
    for (const [m, n] of [[0, 3], [3, 0], [0, 0]] as const) // biome-ignore format: one row
      for (const name of any) cd.evaluate(fn(name)(cd.zeros([2, m, n])) as never)
    expect(data(cd.pinv(cd.zeros([3, 0])))).toEqual([])
    expect(data(cd.lstsq(cd.zeros([3, 0]), [1, 2, 3] as never))).toEqual([])
    expect(data(cd.lstsq(cd.zeros([0, 2]), cd.zeros([0]) as never))).toEqual([0, 0])
    expect(data(cd.matrixNorm(cd.zeros([2, 0, 3]), { ord: 2 }))).toEqual([0, 0])
    for (const f of ['cholesky', 'inv', 'det', 'eigvalsh', 'svdvals', 'expm', 'pinv'])
      expect((cd.grad(((x: E) => cd.sum(fn(f)(x) as E)) as never)(cd.zeros([2, 0, 0]) as never) as unknown as cd.Tensor).shape, f).toEqual([
        2, 0, 0,
      ])
  })
  it('of right sides: a vector where there is one axis, else matrices whose leading axes broadcast', () => {
    const cases: readonly (readonly [readonly number[], readonly number[], readonly number[]])[] = [
      [[3, 3], [3], [3]],
      [[2, 3, 3], [3], [2, 3]],
      [
        [3, 3],
        [3, 1],
        [3, 1],
      ],
      [
        [3, 3],
        [5, 3, 2],
        [5, 3, 2],
      ],
      [
        [2, 1, 3, 3],
        [4, 3, 2],
        [2, 4, 3, 2],
      ],
      [
        [4, 3, 3],
        [1, 3, 2],
        [4, 3, 2],
      ],
      [[0, 3, 3], [3], [0, 3]],
    ]
    for (const [s, u, want] of cases) {
      const m = cd.add(cd.zeros([...s]), a as never) as E
      const b = cd.add(cd.zeros([...u]), 1) as E
      for (const name of ['solve', 'triangularSolve', 'lstsq']) expect(shapes(fn(name)(m, b)), `${name} ${s} ${u}`).toEqual(want)
      const x = fn('solve')(m, b) as E
      const one = data(cd.solve(a, cd.ones([3, 1]) as never))
      const back = u.length === 1 ? cd.expandDims(x, -1) : x
      expect(data(cd.sub(cd.matmul(m, back), u.length === 1 ? cd.expandDims(b, -1) : b)).every((e) => Math.abs(e) < 1e-14)).toBe(true)
      expect(one.length).toBe(3)
    }
  })
  describe('of views', () => {
    const wide = cd.tensor(
      Float64Array.from({ length: 72 }, (_, i) => Math.sin(i * i) + (i % 14 === 0 ? 4 : 0)),
      [6, 12],
    ) as unknown as E
    const views: Readonly<Record<string, (x: E) => unknown>> = {
      transposed: (x) => cd.transpose(cd.slice(x, [0, 0], [3, 3])),
      strided: (x) => cd.slice(x, [0, 0], [6, 6], [2, 2]),
      reversed: (x) => cd.flip(cd.slice(x, [0, 0], [3, 3])),
      'a block within': (x) => cd.slice(x, [1, 2], [4, 5]),
      'the same for a batch': (x) => cd.broadcastTo(cd.slice(x, [0, 0], [3, 3]), [2, 3, 3]),
      'a stack whose axes stand elsewhere': (x) => cd.transpose(cd.reshape(cd.slice(x, [0, 0], [3, 12]), [3, 3, 4]), [2, 0, 1]),
      'one row for all': (x) => cd.broadcastTo(cd.slice(x, [0, 0], [1, 3]), [3, 3]),
    }
    const leaves = (y: unknown): readonly E[] => ((y as E)._tag === 'Expr' ? [y as E] : Object.values(y as Readonly<Record<string, E>>))
    const b = (v: E): E =>
      cd.slice(cd.transpose(cd.broadcastTo(cd.tensor([1, -2, 3]), [2, 3])) as E, [0, 0], [3, 1 + (v.shape.length % 2)]) as E
    const functions: Readonly<Record<string, (v: E) => unknown>> = {
      ...Object.fromEntries(['inv', 'det', 'slogdet', 'expm', 'eigvalsh', 'eigh', ...any].map((name) => [name, (v: E) => fn(name)(v)])),
      cholesky: (v) => cd.cholesky(cd.add(v, cd.mul(9, cd.eye(3))) as never),
      ...Object.fromEntries(['solve', 'triangularSolve', 'lstsq'].map((name) => [name, (v: E) => fn(name)(v, b(v))])),
    }
    it.each(Object.entries(functions))('%s', (name, f) => {
      for (const [which, view] of Object.entries(views)) {
        // Its values and its gradient are those of the same matrices that lie in order.
        if (which === 'one row for all' && !['eigvalsh', 'matrixNorm', 'diagonal', 'expm', 'cholesky', 'svdvals'].includes(name)) continue
        const floats = (v: E): E => leaves(f(v)).filter((y) => y.dtype === 'f64').map((y) => cd.sum(cd.sin(y)) as E).reduce((p, q) => cd.add(p, q) as E) // biome-ignore format: one row
        const plain = cd.evaluate(view(wide) as E) as unknown as cd.Tensor
        const [seen, want] = [
          cd.compile(((x: E) => leaves(f(view(x) as E))) as never, cd.cpu())(wide as never) as unknown as readonly cd.Tensor[],
          leaves(f(cd.tensor(Float64Array.from(plain.data), plain.shape as never) as unknown as E)),
        ]
        expect(
          seen.map((y) => Array.from(y.data)),
          which,
        ).toEqual(want.map(data))
        if (name === 'matrixRank' || which === 'one row for all') continue
        const grad = (g: (x: E) => E, x: unknown): number[] => data(cd.grad(g as never)(x as never))
        const direct = grad((x) => floats(view(x) as E), wide)
        const own = cd.tensor(
          Float64Array.from(grad(floats, cd.tensor(Float64Array.from(plain.data), plain.shape as never))),
          plain.shape as never,
        )
        const through = grad((x) => cd.sum(cd.mul(view(x) as E, own)) as E, wide)
        through.forEach((x, i) => {
          expect(Math.abs(x - direct[i]!), `${which} ${i}`).toBeLessThan(1e-9 * Math.max(1, Math.abs(x)))
        })
      }
    })
  })
  it('in f32: the dtype stays, and results are those of f64 to rounding', () => {
    const single = cd.cast(stack, 'f32')
    for (const name of ['cholesky', 'inv', 'expm', 'det', 'eigvalsh', 'svdvals', 'pinv', 'matrixNorm']) {
      const y = fn(name)(single) as E
      expect(y.dtype, name).toBe('f32')
      const [got, want] = [data(y), data(fn(name)(stack))]
      want.forEach((w, i) => {
        expect(Math.abs(got[i]! - w), name).toBeLessThan(3e-6 * Math.max(1, Math.abs(w), ...want.map(Math.abs)))
      })
    }
    expect((cd.solve(single, cd.tensor([1, 2], [2], 'f32') as never) as E).dtype).toBe('f32')
    expect((cd.inv(cd.tensor([[2, 0], [0, 1]], 'i32') as never) as E).dtype).toBe('f64') // biome-ignore format: one row
  })
  it('of one row are numbers', () => {
    expect(data(cd.cholesky([[9]] as never))).toEqual([3])
    expect(data(cd.eigh([[-2]] as never).w)).toEqual([-2])
    expect(data(cd.svd([[-2]] as never).s)).toEqual([2])
    expect(data(cd.qr([[-2]] as never).r)).toEqual([2])
    expect(data(cd.inv([[4]] as never))).toEqual([0.25])
    expect(data(cd.expm([[1]] as never))[0]).toBeCloseTo(Math.E, 14)
  })
})

describe('derivatives', () => {
  const definite = (x: E): E => cd.add(cd.matmul(x, cd.transpose(x)), cd.eye(2, 'f64')) as E
  const m = cd.tensor([[1.2, 0.3], [-0.4, 0.8]]) // biome-ignore format: one row
  const functions: Readonly<Record<string, (x: E) => E>> = {
    cholesky: (x) => cd.sum(cd.sin(cd.cholesky(definite(x) as never) as E)) as E,
    'cholesky of what is not symmetric': (x) => cd.sum(cd.sin(cd.cholesky(cd.add(x, cd.mul(3, cd.eye(2))) as never) as E)) as E,
    inv: (x) => cd.sum(cd.sin(cd.inv(x as never) as E)) as E,
    solve: (x) => cd.sum(cd.sin(cd.solve(x, cd.sin(x) as never) as E)) as E,
    logdet: (x) => cd.slogdet(definite(x) as never).logdet as E,
    det: (x) => cd.sin(cd.det(x as never) as E) as E,
    expm: (x) => cd.sum(cd.sin(cd.expm(cd.mul(x, 4) as never) as E)) as E,
    eigh: (x) => cd.sum(cd.square(cd.eigh(x as never).v as E)) as E,
    eigvalsh: (x) => cd.sum(cd.sin(cd.eigvalsh(x as never) as E)) as E,
    svd: (x) => {
      const { u, s, vh } = cd.svd(cd.concat([x, cd.sin(x)]) as never)
      return cd.sum(cd.sin(cd.matmul(cd.mul(cd.square(u as E), s as E), cd.square(vh as E)))) as E
    },
    qr: (x) =>
      cd.sum(cd.sin(cd.concat([cd.qr(x as never).q, cd.qr(cd.concat([x, x], { axis: 1 }) as never).r] as never, { axis: 1 }))) as E,
    lstsq: (x) => cd.sum(cd.sin(cd.lstsq(cd.concat([x, cd.sin(x)]), cd.tensor([1, 2, 3, 4]) as never) as E)) as E,
    lu: (x) => {
      const { l, u } = cd.lu(cd.concat([x, cd.sin(x)], { axis: 1 }) as never)
      return cd.sum(cd.sin(cd.matmul(l as E, u as E))) as E
    },
    matrixPower: (x) => cd.sum(cd.matrixPower(x as never, -3) as E) as E,
    toeplitz: (x) => cd.sum(cd.sin(cd.toeplitz(cd.reshape(x, [4]) as never) as E)) as E,
    cross: (x) =>
      cd.sum(cd.sin(cd.cross(cd.slice(cd.reshape(x, [4]), [0], [3]), cd.slice(cd.reshape(x, [4]), [1], [4]) as never) as E)) as E,
  }
  it.each(Object.entries(functions))('%s: every mode, to the second order', (_name, f) => {
    const checked = checkGrad(f as never)(m as never)
    expect(checked._tag, report(checked)).toBe('Right')
  })
  it('have no more than one factorisation of a matrix, whatever is asked of it', () => {
    const f = (x: E): E =>
      cd.add(
        cd.sum(cd.solve(x, cd.tensor([1, 2, 3]) as never) as E),
        cd.add(cd.slogdet(x as never).logdet as E, cd.det(x as never) as E),
      ) as E
    const text = JSON.stringify(cd.compile(cd.valueAndGrad(f as never) as never, cd.cpu()).explain(a as never).steps)
    expect(text.match(/"kernel":"lu"/g)?.length ?? 0, text.slice(0, 2000)).toBe(1)
  })
  it('of a complete q are not known, and said so', () => {
    expect(() =>
      cd.grad(((x: E) => cd.sum(cd.qr(x as never, { complete: true }).q as E)) as never)(cd.ones([3, 2], 'f64') as never),
    ).toThrow(/reduced form/)
  })
  it('under vmap: systems of one matrix are one system', () => {
    const f = (b: E): E => cd.solve(a, b as never) as E
    const g = (x: E): E => cd.inv(x as never) as E
    const b = cd.tensor([[1, 2, 3], [4, 5, 6]]) // biome-ignore format: one row
    const each = [0, 1].flatMap((i) => data(f(cd.gather(b, i as never) as E)))
    data((cd.vmap(f as never) as unknown as Loose)(b)).forEach((x, i) => {
      expect(x).toBeCloseTo(each[i]!, 14)
    })
    expect(data((cd.vmap(g as never) as unknown as Loose)(stack))).toEqual(data(cd.inv(stack as never)))
  })
})

describe('what is refused', () => {
  const v = cd.tensor([1, 2])
  const wide = cd.tensor([[1, 2, 3], [4, 5, 6]]) // biome-ignore format: one row
  it.each(square)('%s: all but square matrices', (name) => {
    for (const bad of [v, wide, 3]) expect(() => fn(name)(bad), name).toThrow(/needs (a matrix|square matrices)/)
    for (const bad of ['x', undefined, null, {}, Symbol('x'), () => 1]) expect(() => fn(name)(bad), name).toThrow()
  })
  it.each(any)('%s: all but matrices', (name) => {
    for (const bad of [v, 3]) expect(() => fn(name)(bad), name).toThrow(/needs a matrix/)
    for (const bad of ['x', undefined, null]) expect(() => fn(name)(bad), name).toThrow()
  })
  it.each(['solve', 'triangularSolve', 'lstsq'])('%s: right-hand sides that do not fit', (name) => {
    for (const b of [cd.zeros([4]), cd.zeros([4, 1]), cd.zeros([2, 4, 3])])
      expect(() => fn(name)(a, b)).toThrow(/right-hand sides .* do not fit/)
    expect(() => fn(name)(cd.zeros([2, 3, 3]), cd.zeros([4, 3, 1]))).toThrow(/right-hand sides/)
    expect(() => fn(name)(a, 3)).toThrow(/needs a matrix/)
  })
  it('options and numbers that are none', () => {
    const cases: readonly (readonly [string, readonly unknown[], RegExp])[] = [
      ['triangularSolve', [a, [1, 2, 3], { lower: 1 }], /lower must be true or false/],
      ['triangularSolve', [a, [1, 2, 3], { left: 'no' }], /left must be true or false/],
      ['triangularSolve', [a, [1, 2, 3], { right: true }], /there is no option right/],
      ['qr', [a, { complete: 'yes' }], /complete must be true or false/],
      ['svd', [a, { full: true }], /there is no option full/],
      ['lstsq', [a, [1, 2, 3], { rcond: -1 }], /rcond is -1/],
      ['pinv', [a, { rcond: Number.NaN }], /rcond is NaN/],
      ['matrixRank', [a, { rcond: 'x' }], /rcond must be a number/],
      ['matrixPower', [a, 1.5], /n must be a whole number/],
      ['matrixPower', [a, '2'], /n must be a whole number/],
      ['matrixNorm', [a, { ord: 3 }], /order 3 is not a norm/],
      ['matrixNorm', [a, { ord: 'x' }], /order 'x' is not a norm/],
      [
        'cross',
        [
          [1, 2],
          [3, 4],
        ],
        /3 elements along axis -1/,
      ],
      ['cross', [[1, 2, 3], [3, 4, 5], { axis: 1 }], /axis 1 is out of range/],
      ['multiDot', [[]], /the list is empty/],
      ['multiDot', [a], /the matrices must be an array/],
      ['multiDot', [[a, wide]], /matrix 0 is \[3, 3\], matrix 1 is \[2, 3\]/],
      ['multiDot', [[a, v, a]], /matrix 1 is \[2\]/],
      ['toeplitz', [a], /needs vectors/],
      ['blockDiag', [], /no block was given/],
      ['blockDiag', [stack], /a block is \[2, 2, 2\]/],
      ['diagonal', [a, { axis1: 1, axis2: -1 }], /are both axis 1/],
      ['diagonal', [a, { axis1: 5 }], /axis 5 is out of range/],
      ['diagonal', [a, { offset: 0.5 }], /offset must be a whole number/],
      ['trace', [a, { axis1: 1, axis2: -1 }], /are both axis 1/],
      ['trace', [a, { offset: '1' }], /offset must be a whole number/],
      ['trace', [v], /needs a matrix/],
    ]
    for (const [name, args, message] of cases) expect(() => fn(name)(...args), name).toThrow(message)
  })
})
