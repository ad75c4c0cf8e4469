/** Linear algebra beside NumPy and SciPy, its gradients beside PyTorch's, in f64. linalg.py made the values. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import golden from '../golden/linalg.json' with { type: 'json' }

type Nested = number | readonly Nested[]
type Loose = (...xs: readonly unknown[]) => cd.AnyExpr
const op = (name: string): Loose => (cd as unknown as Readonly<Record<string, Loose>>)[name]!
const flat = (x: Nested): readonly number[] => (typeof x === 'number' ? [x] : x.flatMap(flat))
const part =
  (name: string, f: (parts: Readonly<Record<string, cd.AnyExpr>>) => cd.AnyExpr): Loose =>
  (...xs) =>
    f(op(name)(...xs) as unknown as Readonly<Record<string, cd.AnyExpr>>)
const joined = (...xs: readonly cd.AnyExpr[]): cd.AnyExpr => cd.concat(xs.map((x) => cd.reshape(x, [-1]))) as cd.AnyExpr

/** Of what is unique but for a sign: its squares. */
const functions: Readonly<Record<string, Loose>> = {
  'slogdet.logdet': part('slogdet', ({ logdet }) => logdet!),
  'slogdet.sign': part('slogdet', ({ sign }) => sign!),
  'eigh.squared': part('eigh', ({ v }) => cd.square(v!)),
  'svd.squared': part('svd', ({ u, vh }) => joined(cd.square(u!), cd.square(vh!))),
  'svd.fourth': part('svd', ({ u, s }) => {
    const fourth = cd.mul(u!, cd.square(cd.square(s!)))
    return cd.trace(cd.matmul(fourth, cd.transpose(u!)) as never) as cd.AnyExpr
  }),
  'qr.q': part('qr', ({ q }) => q!),
  'qr.r': part('qr', ({ r }) => r!),
  lu: part('lu', ({ l, u }) => joined(l!, u!)),
}
/** f with its options behind the arguments; the sum of its result with the weights sin 1, sin 2, ... */
const functionOf = (name: string, options: unknown): Loose => {
  const f = functions[name] ?? op(name)
  const given = typeof options === 'number' || Object.keys(options as object).length > 0 ? [options] : []
  return (...xs) => f(...xs, ...given)
}
const weighed = (y: cd.AnyExpr): cd.AnyExpr => {
  const v = cd.reshape(y, [-1])
  return cd.sum(cd.mul(v, cd.sin(cd.add(cd.arange(v.shape[0] as number, 'f64'), 1)))) as cd.AnyExpr
}
const close = (got: cd.AnyExpr | cd.Tensor, want: readonly number[], what: string): void => {
  const data = Array.from((got as cd.Tensor).data)
  expect(data.length, what).toBe(want.length)
  const size = Math.max(1, ...want.map(Math.abs))
  want.forEach((w, i) => {
    expect(Math.abs(data[i]! - w), `${what}[${i}]: ${data[i]} is not ${w}`).toBeLessThan(2e-11 * size)
  })
}

describe('linear algebra as NumPy, SciPy and PyTorch have it', () => {
  it.each(golden.cases.map((c, i) => ({ ...c, name: `${i} ${c.op} ${JSON.stringify(c.options)}` })))('$name', (c) => {
    const args = c.args.map((a) => cd.tensor(a as never)) as readonly cd.Tensor[]
    const f = functionOf(c.op, c.options)
    close((cd.compile(f as never, cd.cpu()) as unknown as Loose)(...args), flat(c.value as Nested), 'value')
    const all = cd.grad(((xs: readonly cd.AnyExpr[]) => weighed(f(...xs))) as never)(args as never) as unknown as readonly (
      | cd.Tensor
      | cd.ZeroTangent
    )[]
    c.grads.forEach((g, i) => {
      close(all[i] as cd.Tensor, flat(g as Nested), `gradient ${i}`)
    })
  })
  it.each(golden.plainly.map((c, i) => ({ ...c, name: `${i} ${c.op}` })))('a rank below, and matrices of vectors: $name', (c) => {
    close(cd.evaluate(op(c.op)(...c.args)) as never, flat(c.value as Nested), c.op)
  })
})
