// ONNX's own checker, with full and strict inference of shapes, over files of every primitive and of whole programs; where Python has the package onnx.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { families } from '../../../src/core/ops/families.js'
import { isAdException } from '../../../src/index.js'
import { toONNX } from '../../../src/onnx/index.js'
import { caseOf } from '../../backends/sample-cases.js'
import * as transformer from '../../programs/transformer.js'
import * as vae from '../../programs/vae.js'
import { type AnyDeclared, gradientOf } from './given.js'

/** Debian's package is for the system's Python. */
const PYTHONS = ['/usr/bin/python3', 'python3']
/** Has this Python the package, and which version? */
const versionOf = (python: string): string | undefined => {
  try {
    return execFileSync(python, ['-c', 'import onnx; print(onnx.__version__)'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return undefined
  }
}
const python = PYTHONS.find((p) => versionOf(p) !== undefined)
/** The operator set that ONNX 1.12 knows. */
const opset = 17

const CHECK = `
import glob, sys, onnx
bad = []
files = sorted(glob.glob(sys.argv[1] + '/*.onnx'))
for f in files:
    try:
        m = onnx.load(f)
        onnx.checker.check_model(m, full_check=True)
        onnx.shape_inference.infer_shapes(m, check_type=True, strict_mode=True, data_prop=True)
    except Exception as e:
        bad.append(f.split('/')[-1] + ': ' + str(e)[:200])
print(len(files))
print('\\n'.join(bad))
`
/** How many files there were, and what is wrong with which. */
const checked = (files: Readonly<Record<string, Uint8Array>>): { readonly count: number; readonly bad: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'onnx-files-'))
  try {
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, `${name}.onnx`), bytes)
    const [count, ...bad] = execFileSync(python!, ['-c', CHECK, folder], { encoding: 'utf8', maxBuffer: 1e8 }).trim().split('\n')
    return { count: Number(count), bad: bad.join('\n') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
/** The bytes of what is written; undefined of what is refused. */
const bytesOf = (f: unknown): Uint8Array | undefined => {
  try {
    return toONNX(f as never, { opset }).bytes
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'MissingKernel') return undefined
    throw e
  }
}

describe.skipIf(python === undefined)("the checker of Python's onnx", () => {
  it('accepts the files of every primitive at every sample, with derivatives', { timeout: 600_000 }, () => {
    const files: Record<string, Uint8Array> = {}
    for (const prim of Object.values(families).flatMap((table) => Object.values(table) as unknown as AnyPrimitive[]))
      for (const float of ['f64', 'f32'] as const)
        prim.samples.forEach((sample, i) => {
          const c = caseOf(prim, sample, float)
          const bytes = c && bytesOf(c.program)
          if (bytes !== undefined) files[`${prim.name}-${float}-${i}`] = bytes
        })
    const { count, bad } = checked(files)
    expect(bad).toBe('')
    expect(count).toBe(Object.keys(files).length)
    expect(count).toBeGreaterThan(1500)
  })

  it('accepts programs with named axes, and their gradients', { timeout: 600_000 }, () => {
    const programs = { transformer: transformer.loss, vae: vae.loss } as unknown as Readonly<Record<string, AnyDeclared>>
    const files = Object.fromEntries(
      Object.entries(programs).flatMap(([name, f]) => [
        [name, bytesOf(f)!],
        [`${name}-gradient`, bytesOf(gradientOf(f))!],
      ]),
    )
    expect(checked(files)).toEqual({ count: 4, bad: '' })
  })

  it('finds a file that is wrong', () => {
    const prim = families.contract.matmul as unknown as AnyPrimitive
    const bytes = bytesOf(caseOf(prim, prim.samples[0]!, 'f32')!.program)!
    const text = Buffer.from(bytes).toString('latin1').replaceAll('MatMul', 'MatMux')
    expect(checked({ wrong: Buffer.from(text, 'latin1') }).bad).toContain('MatMux')
  })
})
