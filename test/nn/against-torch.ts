/** Layers against PyTorch's values and gradients (test/golden/layers.json), with the parameters of its state dict. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import type { AnyLayer, InTorch } from '../../src/nn/index.js'

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
const all = JSON.parse(readFileSync(new URL('../golden/layers.json', import.meta.url), 'utf8')) as readonly Case[]
const given = ({ shape, data }: Listed, dtype: Dtype): cd.Tensor => cd.tensor(data as number[], shape as number[], dtype) as cd.Tensor

/** The part of PyTorch's array that is ours. */
const ours = (x: cd.Tensor, { slice, axes }: InTorch): cd.Tensor => {
  const cut =
    slice === undefined ? x : cd.slice(x, x.shape.map((_, i) => (i === slice.axis ? slice.from : 0)), x.shape.map((d, i) => (i === slice.axis ? slice.from + slice.size : d))) // biome-ignore format: one row
  return cd.evaluate((axes === undefined ? cd.add(cut, 0) : cd.transpose(cut as cd.AnyExpr, axes)) as cd.AnyExpr) as cd.Tensor
}
/** Our arrays by path, of PyTorch's by name. Every name is one of the layer's. */
export const byPath = (layer: AnyLayer, state: Readonly<Record<string, cd.Tensor>>): ReadonlyMap<string, cd.Tensor> => {
  expect(Object.keys(state).sort()).toEqual(Object.keys(layer.torch!).sort())
  return new Map(
    Object.entries(layer.torch!).flatMap(([name, how]) =>
      [how].flat().map((h) => [(h as InTorch).at, ours(state[name]!, h as InTorch)] as const),
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
const backends = { cpu: cd.cpu(), reference: cd.reference() }

/** Holds each case of the kinds to PyTorch: outputs, and gradients of sum(y cos(i)) by parameters and inputs. */
export const against = (
  kinds: readonly string[],
  made: (c: Case, dtype: Dtype) => AnyLayer,
  outputs: (layer: AnyLayer, params: never, inputs: Inputs) => readonly cd.AnyExpr[],
): void => {
  const cases = all.filter((c) => kinds.includes(c.kind))
  it.each(
    ([['f64', 'cpu', 'reverse', 1e-10], ['f64', 'cpu', 'forward', 1e-10], ['f32', 'cpu', 'reverse', 2e-5], ['f64', 'reference', 'reverse', 1e-10], ['f32', 'reference', 'forward', 2e-5]] as const).flatMap((how) => cases.map((c) => [c.name, ...how, c] as const)), // biome-ignore format: one row
  )('%s: %s on %s, %s', (_name, dtype, backend, mode, tolerance, c) => {
    const layer = made(c, dtype)
    const tensors = (of: Readonly<Record<string, Listed>>) => Object.fromEntries(Object.entries(of).map(([k, x]) => [k, given(x, dtype)]))
    const arrays = byPath(layer, tensors(c.state))
    const params = cd.treeMap((_: unknown, path) => arrays.get(path)!, layer.declared as never)
    const inputs = tensors(c.inputs)
    const declaration = {
      p: layer.declared,
      ...Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, (dtype === 'f32' ? cd.f32 : cd.f64)(...t.shape)])),
    }
    const of = ({ p, ...xs }: { readonly p: never } & Inputs) => outputs(layer, p, xs)
    const run = cd.compile as unknown as (f: unknown, b: unknown) => (x: unknown) => unknown
    const program = cd.fn as unknown as (d: unknown, f: unknown) => unknown
    const ys = run(program(declaration, of), backends[backend])({ p: params, ...inputs }) as readonly cd.Tensor[]
    expect(ys.length).toBe(c.outputs.length)
    ys.forEach((y, i) => {
      near(y, given(c.outputs[i]!, dtype), tolerance, `output ${i}`)
    })
    const loss = program(declaration, (all: never) => {
      const row = cd.concat(of(all).map((y) => cd.reshape(y, [-1]) as cd.AnyExpr))
      return cd.sum(cd.mul(row, cd.cos(cd.arange(row.shape[0] as number, dtype))))
    })
    const gradient = (cd.grad as unknown as (f: unknown, o: unknown) => unknown)(loss, { mode })
    const got = run(gradient, backends[backend])({ p: params, ...inputs }) as Readonly<Record<string, unknown>>
    const wanted = byPath(layer, tensors(Object.fromEntries(Object.entries(c.grads).filter(([k]) => !k.startsWith('input ')))))
    let leaves = 0
    cd.treeMap((g: unknown, path) => {
      near(g as cd.Tensor, wanted.get(path)!, 4 * tolerance, `gradient of ${path}`)
      leaves++
      return g
    }, got.p as never)
    expect(leaves).toBe(wanted.size)
    for (const k of Object.keys(inputs)) near(got[k] as cd.Tensor, given(c.grads[`input ${k}`]!, dtype), 4 * tolerance, `gradient of ${k}`)
  })
}
