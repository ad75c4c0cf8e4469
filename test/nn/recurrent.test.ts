// Recurrent layers: PyTorch's numbers and gradients, step by step and whole, both directions, junk.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'
import { key } from '../../src/random/index.js'
import { against } from './against-torch.js'

const { evaluate, tensor } = cd
const makers = { rnn: nn.rnn, gru: nn.gru, lstm: nn.lstm } as unknown as Readonly<
  Record<string, (i: number, h: number, o?: object) => nn.Recurrent<number, number, number, string, 'f32', true>>
>
const wave = (shape: readonly number[], k = 0): cd.Tensor<readonly [...number[], number], 'f32'> =>
  tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1 + k + 3 * i)),
    shape as number[],
    'f32',
  ) as never
const values = (t: unknown): readonly unknown[] => cd.treeLeaves(evaluate(t as never)).map((x) => (x as cd.Tensor).toArray())

describe('as PyTorch', () => {
  against('rnn', 'gru', 'lstm')
})

describe.each(['rnn', 'gru', 'lstm'])('%s', (kind) => {
  const make = makers[kind]!
  it('step by step is the whole, and a sequence goes on from the carry of its first part', () => {
    const layer = make(3, 4, { layers: 2 })
    const p = layer.init(key(1)) as never
    const x = wave([6, 2, 3])
    const [last, ys] = layer.scan(p, x)
    let carry: unknown = layer.initCarry(2)
    const each: unknown[] = []
    for (let t = 0; t < 6; t++) {
      const [next, y] = layer.step(p, carry as never, cd.at(x, t) as never)
      carry = next
      each.push(y)
    }
    const close = (a: unknown, b: unknown) => expect(cd.treeAllClose(evaluate(a as never), evaluate(b as never), { rtol: 1e-5, atol: 1e-6 })).toBe(true) // biome-ignore format: one row
    close(cd.stack(each as cd.AnyExpr[]), ys)
    close(carry, last)
    const [half, first] = layer.scan(p, cd.at(x, ':4') as never)
    const [end, second] = layer.scan(p, cd.at(x, '4:') as never, half)
    close(cd.concat([first, second] as cd.AnyExpr[]), ys)
    close(end, last)
    expect(values(layer.apply(p, x))).toEqual(values(ys))
  })
  it('one compiled step goes round: a carry is declared as it begins, and comes back so', () => {
    const layer = make(3, 4, { layers: 2 })
    const p = layer.init(key(1)) as never
    const step = cd.compile(
      cd.fn({ p: layer.declared, carry: layer.declaredCarry([2, 5]), x: cd.f32(2, 5, 3) }, ({ p, carry, x }) => layer.step(p, carry, x)),
      cd.cpu(),
    )
    let carry = layer.initCarry([2, 5])
    const x = wave([3, 2, 5, 3])
    const ys: unknown[] = []
    for (let t = 0; t < 3; t++) {
      const [next, y] = step({ p, carry, x: evaluate(cd.at(x, t)) as never })
      carry = next
      ys.push(y)
    }
    expect(cd.treeAllClose(evaluate(cd.stack(ys as cd.AnyExpr[])), evaluate(layer.apply(p, x)), { rtol: 1e-5, atol: 1e-6 })).toBe(true)
    expect(cd.treeMap((s) => [s.shape, s.dtype], layer.declaredCarry(7))).toEqual(cd.treeMap((t) => [t.shape, t.dtype], layer.initCarry(7)))
    expect(cd.treeMap((s) => [s.shape, s.dtype], layer.declaredCarry([]))).toEqual(
      cd.treeMap((t) => [t.shape, t.dtype], layer.initCarry([])),
    )
    expect(() => layer.declaredCarry(-1)).toThrow(kind)
  })
  it('from the end is the reversed sequence, and its result reversed', () => {
    const [to, fro] = [make(2, 3), make(2, 3, { reverse: true })]
    const p = to.init(key(2)) as never
    const x = wave([5, 2])
    expect(values(fro.apply(p, x))).toEqual(values(cd.flip(to.apply(p, cd.flip(x, { axis: 0 }) as never) as never, { axis: 0 })))
  })
  it('the batch may come first, and have any axes, or none', () => {
    const [time, batch] = [make(2, 3), make(2, 3, { batchFirst: true })]
    const p = time.init(key(3)) as never
    const x = wave([4, 2, 3, 2])
    expect(values(batch.apply(p, cd.moveaxis(x, 0, -2) as never))).toEqual(values(cd.moveaxis(time.apply(p, x) as never, 0, -2)))
    expect(values(batch.apply(p, wave([4, 2])))).toEqual(values(time.apply(p, wave([4, 2]))))
    expect((evaluate(time.apply(p, wave([0, 2]))) as cd.Tensor).shape).toEqual([0, 3])
  })
  it('vmap goes through it, and a long sequence plans as a short one', () => {
    const layer = make(2, 3)
    const p = layer.init(key(4)) as never
    const x = wave([3, 5, 2])
    const each = cd.vmap((row: cd.AnyExpr) => layer.apply(p, row as never) as cd.AnyExpr)(x as never) as unknown as cd.Tensor
    const first = evaluate(layer.apply(p, cd.at(x, 0) as never) as cd.AnyExpr) as cd.Tensor
    expect(cd.treeAllClose(cd.evaluate(cd.at(each, 0) as cd.AnyExpr), first, { rtol: 1e-5, atol: 1e-6 })).toBe(true)
    const steps = (n: number) => {
      const f = cd.compile(
        cd.grad((q: cd.AnyExpr) => cd.sum(layer.apply(cd.treeMap((w) => cd.mul(w as never, cd.cast(q, 'f32')), p) as never, wave([n, 2])))),
        cd.cpu(),
      )
      f(1)
      return f.explain().steps.length
    }
    expect(steps(50)).toBe(steps(5))
  })
  it('drops between layers in training alone', () => {
    const layer = make(2, 64, { layers: 2, dropout: 0.5 })
    const p = layer.init(key(5)) as never
    const x = wave([1, 2])
    expect(values(layer.apply(p, x))).toEqual(values(make(2, 64, { layers: 2 }).apply(p, x)))
    expect(values(layer.apply(p, x, { training: true, key: key(1) }))).not.toEqual(values(layer.apply(p, x)))
    expect(() => layer.apply(p, x, { training: true })).toThrow(/there is no key/)
  })
  it('says what is wrong', () => {
    for (const bad of [0, -1, 1.5, Number.NaN, '3', undefined, null]) {
      expect(() => make(bad as never, 2)).toThrow(kind)
      expect(() => make(2, bad as never)).toThrow(kind)
    }
    expect(() => make(2, 3, { layers: 0 })).toThrow(/layers is 0/)
    expect(() => make(2, 3, { dropout: 1 })).toThrow(/dropout is 1/)
    expect(() => make(2, 3, { bidirectionl: true })).toThrow(/bidirectionl/)
    expect(() => make(2, 3, { bidirectional: true, reverse: true })).toThrow(/bidirectional and reversed/)
    const layer = make(2, 3, { layers: 2 })
    const p = layer.init(key(1)) as never
    expect(() => layer.apply(p, wave([2]))).toThrow(/no axis of steps/)
    expect(() => layer.scan(p, wave([4, 2]), [] as never)).toThrow(/not a list of 2/)
    expect(() => layer.scan(p, wave([4, 5, 2]), layer.initCarry(4) as never)).toThrow(/'h' of the carry is not \[5, 3\]/)
    expect(() => layer.scan(p, wave([4, 2]), [{}, {}] as never)).toThrow(/no 'h'/)
    expect(() => layer.initCarry(-1)).toThrow(/batch is -1/)
    const both = make(2, 3, { bidirectional: true })
    expect(() => both.step(both.init(key(1)) as never, both.initCarry([]) as never, wave([2]))).toThrow(/no single step/)
  })
  it('begins as it is told', () => {
    const layer = make(2, 3, { init: { bh: 1, wh: 0.5 }, dtype: 'f64' })
    const [p] = layer.init(key(1)) as unknown as readonly [Readonly<Record<string, cd.Tensor>>]
    expect([new Set(p.bh!.data), new Set(p.wh!.data), new Set(p.bi!.data), p.wi!.dtype]).toEqual([
      new Set([1]),
      new Set([0.5]),
      new Set([0]),
      'f64',
    ])
    expect(layer.initCarry([]).map((c) => Object.values(c).map((x) => [x.shape, x.dtype]))[0]![0]).toEqual([[3], 'f64'])
  })
})
it('rnn has tanh or relu', () => {
  expect(() => nn.rnn(2, 3, { activation: 'gelu' as never })).toThrow(/'tanh' or 'relu'/)
})
