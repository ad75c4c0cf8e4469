import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type AnyExpr, compile, cpu, type Expr, type Tensor, tensor, valueAndGrad } from '../../src/index.js'

/** What `main` returns, and the lines it printed. */
export const told = <R>(main: (log: (line: string) => void) => R): { readonly result: R; readonly text: () => string } => {
  const lines: string[] = []
  const result = main((line) => lines.push(line))
  return { result, text: () => lines.join('\n') }
}

/** Calls f with a folder of its own, which is gone afterwards. */
export const inFolder = async <R>(f: (folder: string) => Promise<R>): Promise<R> => {
  const folder = mkdtempSync(join(tmpdir(), 'codual-example-'))
  try {
    return await f(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs an example that writes one picture: its result and its lines; the picture is looked at. */
export const pictured = <R extends { readonly file: string }>(main: (log: (line: string) => void, out: string) => Promise<R>) =>
  inFolder(async (out) => {
    const { result, text } = told((log) => main(log, out))
    const done = await result
    expect(readFileSync(done.file, 'utf8')).toMatch(/^<svg[\s\S]*<path[\s\S]*<\/svg>$/)
    expect(text()).toContain(`picture: ${done.file}`)
    return { result: done, text: text() }
  })

/** How fast f of an f32 array grows along its gradient, by a difference of step h, in units of the gradient's length: 1 where the gradient is right. For networks that the checker would take minutes for. */
export const alongGradient = (f: (x: Expr) => AnyExpr, x: Tensor, h: number): number => {
  const { grad: g } = compile(valueAndGrad(f as never), cpu())(x as never) as unknown as { readonly grad: Tensor }
  const run = compile(f as never, cpu()) as unknown as (x: Tensor) => Tensor<[], 'f32'>
  const norm = Math.sqrt(Array.from(g.data).reduce((s, v) => s + v * v, 0))
  expect(norm).toBeGreaterThan(0)
  const at = (step: number): number => {
    const moved = Float32Array.from(x.data, (v, i) => v + (step * g.data[i]!) / norm)
    return run(tensor(moved, x.shape as number[]) as Tensor).item()
  }
  return (at(h) - at(-h)) / (2 * h) / norm
}
