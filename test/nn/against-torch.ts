/** Layers against PyTorch's values and gradients (test/golden/layers.json), with the parameters of its state dict. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as nn from '../../src/nn/index.js'

interface Listed {
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
export interface Case {
  readonly name: string
  readonly kind: string
  readonly args: readonly number[]
  readonly options: Readonly<Record<string, unknown>>
  readonly state: Readonly<Record<string, Listed>>
  readonly inputs: Readonly<Record<string, Listed>>
  readonly outputs: readonly Listed[]
  readonly grads: Readonly<Record<string, Listed>>
}
type Dtype = 'f32' | 'f64'
type Inputs = Readonly<Record<string, cd.AnyExpr>>
export const all = JSON.parse(readFileSync(new URL('../golden/layers.json', import.meta.url), 'utf8')) as readonly Case[]
const given = ({ shape, data }: Listed, dtype: Dtype): cd.Tensor => cd.tensor(data as number[], shape as number[], dtype) as cd.Tensor

/** The part of PyTorch's array that is ours. */
const ours = (x: cd.Tensor, { slice, axes }: nn.InTorch): cd.Tensor => {
  const cut =
    slice === undefined ? x : cd.slice(x, x.shape.map((_, i) => (i === slice.axis ? slice.from : 0)), x.shape.map((d, i) => (i === slice.axis ? slice.from + slice.size : d))) // biome-ignore format: one row
  return cd.evaluate((axes === undefined ? cd.add(cut, 0) : cd.transpose(cut as cd.AnyExpr, axes)) as cd.AnyExpr) as cd.Tensor
}
/** Our arrays by path, of PyTorch's by name. Every name is one of the layer's. */
export const byPath = (layer: nn.AnyLayer, state: Readonly<Record<string, cd.Tensor>>): ReadonlyMap<string, cd.Tensor> => {
  expect(Object.keys(state).sort()).toEqual(Object.keys(layer.torch!).sort())
  return new Map(
    Object.entries(layer.torch!).flatMap(([name, how]) =>
      [how].flat().map((h) => [(h as nn.InTorch).at, ours(state[name]!, h as nn.InTorch)] as const),
    ),
  )
}
const near = (got: cd.Tensor, want: cd.Tensor, tolerance: number, what: string): void => {
  expect({ what, shape: got.shape, dtype: got.dtype }).toEqual({ what, shape: want.shape, dtype: want.dtype })
  const size = Math.max(1, ...[...want.data].map((x) => Math.abs(Number(x))))
  want.data.forEach((w, i) => {
    const g = Number(got.data[i])
    if (!(Math.abs(g - Number(w)) <= tolerance * size)) expect({ what, i, g }).toEqual({ what, i, g: Number(w) })
  })
}
type Run = (layer: nn.AnyLayer, params: never, inputs: Inputs) => readonly cd.AnyExpr[]
type Maker = (input: number, size: number, options: object) => nn.AnyLayer
const attends: Run = (layer, params, { x, context }) => [
  layer.apply(params, x as never, { ...(context !== undefined && { context }) } as never) as cd.AnyExpr,
]
type Carry = readonly Readonly<Record<string, cd.AnyExpr>>[]
const scans: Run = (layer, params, { x, h, c }) => {
  const { scan } = layer as unknown as { scan: (p: never, x: unknown, carry?: unknown) => readonly [Carry, cd.AnyExpr] }
  const [last, ys] = scan(params, x, h === undefined ? undefined : [{ h: cd.squeeze(h, 0), c: cd.squeeze(c!, 0) }])
  return [ys, ...['h', 'c'].filter((name) => name in last[0]!).map((name) => cd.stack(last.map((one) => one[name]!)) as cd.AnyExpr)]
}
/** How each kind of case is made and run. */
const kinds: Readonly<Record<string, readonly [Maker, Run]>> = {
  rnn: [nn.rnn as unknown as Maker, scans],
  gru: [nn.gru as unknown as Maker, scans],
  lstm: [nn.lstm as unknown as Maker, scans],
  attention: [nn.multiHeadAttention as unknown as Maker, attends],
  block: [nn.transformerBlock as unknown as Maker, attends],
}

/** A case as a program with its gradient of sum(y cos(i)) by parameters and inputs, its arguments, and what PyTorch gave. */
export const prepared = (c: Case, dtype: Dtype, tolerance: number) => {
  const [make, outputs] = kinds[c.kind]!
  const layer = make(c.args[0]!, c.args[1]!, { ...c.options, dtype })
  const tensors = (of: Readonly<Record<string, Listed>>) => Object.fromEntries(Object.entries(of).map(([k, x]) => [k, given(x, dtype)]))
  const arrays = byPath(layer, tensors(c.state))
  const inputs = tensors(c.inputs)
  const declaration = {
    p: layer.declared,
    ...Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, (dtype === 'f32' ? cd.f32 : cd.f64)(...t.shape)])),
  }
  const of = ({ p, ...xs }: { readonly p: never } & Inputs) => outputs(layer, p, xs)
  const program = cd.fn as unknown as (d: unknown, f: unknown) => never
  const loss = program(declaration, (all: never) => {
    const row = cd.concat(of(all).map((y) => cd.reshape(y, [-1]) as cd.AnyExpr))
    return cd.sum(cd.mul(row, cd.cos(cd.arange(row.shape[0] as number, dtype))))
  })
  return {
    values: program(declaration, of),
    gradient: (mode: 'reverse' | 'forward') => (cd.grad as unknown as (f: unknown, o: unknown) => never)(loss, { mode }),
    given: { p: cd.treeMap((_: unknown, path) => arrays.get(path)!, layer.declared as never), ...inputs } as never,
    holdValues: (ys: readonly cd.Tensor[]) => {
      expect(ys.length).toBe(c.outputs.length)
      ys.forEach((y, i) => {
        near(y, given(c.outputs[i]!, dtype), tolerance, `output ${i}`)
      })
    },
    holdGradient: (got: Readonly<Record<string, unknown>>) => {
      const wanted = byPath(layer, tensors(Object.fromEntries(Object.entries(c.grads).filter(([k]) => !k.startsWith('input ')))))
      let leaves = 0
      cd.treeMap((g: unknown, path) => {
        near(g as cd.Tensor, wanted.get(path)!, 4 * tolerance, `gradient of ${path}`)
        leaves++
        return g
      }, got.p as never)
      expect(leaves).toBe(wanted.size)
      for (const k of Object.keys(inputs))
        near(got[k] as cd.Tensor, given(c.grads[`input ${k}`]!, dtype), 4 * tolerance, `gradient of ${k}`)
    },
  }
}

const backends = { cpu: cd.cpu(), reference: cd.reference() }
/** Holds each case of the kinds to PyTorch: outputs and gradients. */
export const against = (...kinds: readonly string[]): void => {
  const cases = all.filter((c) => kinds.includes(c.kind))
  it.each(
    ([['f64', 'cpu', 'reverse', 1e-10], ['f64', 'cpu', 'forward', 1e-10], ['f32', 'cpu', 'reverse', 2e-5], ['f64', 'reference', 'reverse', 1e-10], ['f32', 'reference', 'forward', 2e-5]] as const).flatMap((how) => cases.map((c) => [c.name, ...how, c] as const)), // biome-ignore format: one row
  )('%s: %s on %s, %s', (_name, dtype, backend, mode, tolerance, c) => {
    const { values, gradient, given, holdValues, holdGradient } = prepared(c, dtype, tolerance)
    holdValues(cd.compile(values, backends[backend])(given))
    holdGradient(cd.compile(gradient(mode), backends[backend])(given))
  })
}
