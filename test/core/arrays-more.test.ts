// unwrap, distances of trapezoid, stacks of polynomials, slices that differ, takeAlongAxis that broadcasts, two-sided stft: NumPy's values, and derivatives.
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

const { evaluate, polyval, stft, istft, sum, takeAlongAxis, tensor, trapezoid, unique, unwrap } = cd
const x = tensor(Array.from({ length: 12 }, (_, i) => Math.sin(1 + 3 * i)), [3, 4]) // biome-ignore format: one row
const near = (got: cd.AnyExpr | cd.Tensor, want: unknown): void => {
  const t = evaluate(got as cd.AnyExpr) as cd.Tensor
  const flat = (want as readonly unknown[]).flat(9) as readonly number[]
  expect(t.data.length).toBe(flat.length)
  for (const [i, w] of flat.entries()) expect(t.data[i]).toBeCloseTo(w, 10)
}
const right = (f: (x: cd.AnyExpr) => cd.AnyExpr, ...at: readonly unknown[]): void => {
  expect(
    report(
      checkGrad((...v: readonly cd.AnyExpr[]) => sum(cd.sin((f as (...x: readonly cd.AnyExpr[]) => cd.AnyExpr)(...v))), { order: 1 })(
        ...at,
      ),
    ),
  ).toMatch(/^ok/)
}

describe('unwrap', () => {
  const phases = tensor([[0, 2.5, -2.9, 0.4, 3.4, -3.1], [1, 1.5, 7.9, 8, -6, 0]]) // biome-ignore format: rows
  it("is NumPy's", () => {
    near(unwrap(phases), [[0.0, 2.5, 3.38318530718, 0.4, 3.4, 3.18318530718], [1.0, 1.5, 1.61681469282, 1.71681469282, 0.28318530718, 0.0]]) // biome-ignore format: rows
    near(unwrap(phases, { axis: 0 }), [[0.0, 2.5, -2.9, 0.4, 3.4, -3.1], [1.0, 1.5, -4.666370614359, 1.71681469282, 0.28318530718, 0.0]]) // biome-ignore format: rows
    near(unwrap(phases, { discont: 4, period: 5 }), [[0.0, 2.5, 2.1, 5.4, 8.4, 6.9], [1.0, 1.5, 2.9, 3.0, 4.0, 5.0]]) // biome-ignore format: rows
    near(unwrap([0, 3, 0, 1.5, 4.5], { period: 3 }), [0.0, 0.0, 0.0, 1.5, 1.5])
    for (const few of [[], [2]]) near(unwrap(few), few)
  })
  it('moves with x, and says what is wrong', () => {
    right((v) => unwrap(v), phases)
    expect(() => unwrap([1, 2], { period: 0 })).toThrow(/the period is 0/)
    expect(() => unwrap([1, 2], { axis: 1 as never })).toThrow(/axis/)
  })
})

describe('trapezoid', () => {
  it("takes distances as NumPy's", () => {
    near(trapezoid(x, { dx: [0.5, 1, 2] }), [0.08422466191, 0.105078776912, 0.093117621842])
    near(trapezoid(x, { dx: [[1], [2], [3]] }), [0.04890904037, 0.135263513532, 0.195700832988])
    near(trapezoid(x, { dx: [[0.5], [2]], axis: 0 }), [0.603224792138, -0.27817398135, -0.052444483565, 0.382013271785])
    near(trapezoid(tensor([0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121], [4, 3]), { dx: [1, 10, 100], axis: 0 }), [85.5, 1155, 15150])
    near(
      trapezoid(x, { dx: 2 }),
      (evaluate(trapezoid(x)).toArray() as number[]).map((v) => 2 * v),
    )
  })
  it('has derivatives in both, and says what does not fit', () => {
    right(((v: cd.AnyExpr, d: cd.AnyExpr) => trapezoid(v, { dx: d })) as never, x, tensor([0.5, 1, 2]))
    expect(() => trapezoid(x, { dx: [1, 2] })).toThrow(/3 distances along the axis/)
    expect(() => trapezoid(x, { dx: [1, 2, 3], x: [1, 2, 3, 4] })).toThrow(/give one of them/)
  })
})

describe('polyval', () => {
  it('of stacks broadcasts', () => {
    near(polyval([[1, 2], [0, 1]], 3), [3, 7]) // biome-ignore format: rows
    near(polyval(tensor([[1, 2], [0, 1]]), [1, 10]), [1, 21]) // biome-ignore format: rows
    const p = tensor([1, 2, 3, 4, 5, 6], [3, 2, 1])
    near(polyval(p, [0, 1, 2]), [[5, 9, 15], [6, 12, 22]].map((r, i) => r.map((_, k) => [[5, 1 + 3 + 5, 4 + 6 + 5], [6, 2 + 4 + 6, 8 + 8 + 6]][i]![k]!))) // biome-ignore format: rows
    expect(polyval(p, [0, 1, 2]).shape).toEqual([2, 3])
    expect(evaluate(polyval(tensor([], [0, 2]), [[1], [2]])).toArray()).toEqual([[0, 0], [0, 0]]) // biome-ignore format: rows
  })
  it('has derivatives, and says what does not broadcast', () => {
    right(
      ((p: cd.AnyExpr, v: cd.AnyExpr) => polyval(p, v)) as never,
      tensor([
        [1, 2],
        [0.5, -1],
        [3, 1],
      ]),
      tensor([[0.3], [1.2]]),
    )
    expect(() => polyval(tensor([[1, 2]]) as never, [1, 2, 3])).toThrow(/do not broadcast/)
    expect(() => polyval(tensor(1) as never, 2)).toThrow(/a scalar/)
  })
})

describe('unique along an axis', () => {
  const u = tensor([[1, 0, 2], [0, 1, 1], [1, 0, 2], [0, 1, 0], [1, 0, 2]]) // biome-ignore format: rows
  it("is NumPy's, for rows and columns", () => {
    const rows = evaluate(unique(u, { axis: 0, size: 3 }))
    expect(rows.values.toArray()).toEqual([[0, 1, 0], [0, 1, 1], [1, 0, 2]]) // biome-ignore format: rows
    expect([rows.indices.toArray(), rows.inverse.toArray(), rows.counts.toArray()]).toEqual([
      [3, 1, 0],
      [2, 1, 2, 0, 2],
      [1, 1, 3],
    ])
    const columns = evaluate(unique(u, { axis: 1, size: 3 }))
    expect(columns.values.toArray()).toEqual([[0, 1, 2], [1, 0, 1], [0, 1, 2], [1, 0, 0], [0, 1, 2]]) // biome-ignore format: rows
    expect([columns.indices.toArray(), columns.inverse.toArray(), columns.counts.toArray()]).toEqual([
      [1, 0, 2],
      [1, 0, 2],
      [1, 1, 1],
    ])
  })
  it('fills what is left, cuts off what is over; NaN is one value; vectors, empty axes, ranks above two', () => {
    expect(
      evaluate(unique(u, { axis: 0, size: 4, fill: -1 }))
        .values.toArray()
        .at(-1),
    ).toEqual([-1, -1, -1])
    expect(evaluate(unique(u, { axis: 0, size: 2 })).values.toArray()).toEqual([[0, 1, 0], [0, 1, 1]]) // biome-ignore format: rows
    expect(evaluate(unique([Number.NaN, 1, Number.NaN], { axis: 0, size: 2 })).counts.toArray()).toEqual([1, 2])
    expect(evaluate(unique([3, 1, 3], { axis: 0, size: 2 })).values.toArray()).toEqual([1, 3])
    expect(evaluate(unique(tensor([], [0, 2]), { axis: 0, size: 1, fill: 7 })).values.toArray()).toEqual([[7, 7]])
    expect(evaluate(unique(tensor([], [2, 0]), { axis: 0, size: 1 })).counts.toArray()).toEqual([2])
    expect(evaluate(unique(cd.stack([u, u], { axis: 1 }), { axis: 1, size: 1 })).counts.toArray()).toEqual([2])
    expect(() => unique(u, { axis: 2 as never, size: 1 })).toThrow(/axis/)
  })
  it('has the derivative of the first of equals', () => {
    const g = cd.grad((v: cd.AnyExpr) => sum(cd.mul(unique(v, { axis: 0, size: 3 }).values, [[1], [10], [100]])))(u)
    expect(g.toArray()).toEqual([[100, 100, 100], [10, 10, 10], [0, 0, 0], [1, 1, 1], [0, 0, 0]]) // biome-ignore format: rows
  })
})

describe('takeAlongAxis', () => {
  it("broadcasts the other axes, as NumPy's", () => {
    near(takeAlongAxis(x, [[2, 0]]), [[0.656986598719, 0.841470984808], [0.149877209663, 0.420167036827], [-0.404037645323, -0.132351750098]]) // biome-ignore format: rows
    const column = cd.slice(x, [0, 0], [3, 1])
    near(takeAlongAxis(column, [[0, 1, 2, 0], [2, 2, 1, 1]], { axis: 0 }), [[0.841470984808, 0.420167036827, -0.132351750098, 0.841470984808], [-0.132351750098, -0.132351750098, 0.420167036827, 0.420167036827]]) // biome-ignore format: rows
    const typed: cd.Expr<[3, 2], 'f64'> = takeAlongAxis(x, tensor([[2, 0]], [1, 2], 'i32'))
    expect(typed.shape).toEqual([3, 2])
  })
  it('has derivatives, and says what does not broadcast', () => {
    right((v) => takeAlongAxis(v, [[2, 0, 2]]), x)
    expect(() => takeAlongAxis(x, [[0], [1]])).toThrow(/takeAlongAxis/)
  })
})

describe('two-sided stft', () => {
  const signal = { re: tensor([1, -2, 3, 0.5, 4, -1, 2, 2.5]), im: tensor([0.5, 1, -1, 2, 0, -3, 1, 1]) }
  it('of a real signal has the one-sided half, and its mirror', () => {
    const half = evaluate(stft(signal.re, { size: 4, hop: 2 }))
    const whole = evaluate(stft(signal.re, { size: 4, hop: 2, onesided: false }))
    expect(whole.re.shape).toEqual([4, 5])
    near(cd.slice(whole.re as never, [0, 0], [3, 5]) as cd.AnyExpr, half.re.toArray())
    near(
      cd.at(whole.im as never, 3) as cd.AnyExpr,
      (half.im.toArray() as number[][])[1]!.map((v) => -v),
    )
  })
  it('of a complex signal is linear in both parts, and istft leads back', () => {
    const o = { size: 4, hop: 1, onesided: false } as const
    const y = stft(signal, o)
    const [a, b] = [stft(signal.re, o), stft(signal.im, o)]
    near(y.re, (evaluate(cd.sub(a.re, b.im)) as cd.Tensor).toArray())
    near(y.im, (evaluate(cd.add(a.im, b.re)) as cd.Tensor).toArray())
    const back = istft(y, o)
    near(back.re, signal.re.toArray())
    near(back.im, signal.im.toArray())
    right(((re: cd.AnyExpr, im: cd.AnyExpr) => stft({ re, im }, o).im) as never, signal.re, signal.im)
  })
  it('a complex signal has no half, and frames of another number of frequencies are refused', () => {
    expect(() => stft(signal, { size: 4 })).toThrow(/the signal is complex/)
    expect(() => istft(stft(signal.re, { size: 4 }), { size: 4, onesided: false })).toThrow(/4 frequencies/)
  })
})
