// Random programs as files: what ONNX Runtime makes of them against the reference.
import { expect, it } from 'vitest'
import { reference } from '../../../src/backends/reference/index.js'
import type { Program } from '../../../src/core/graph/program.js'
import { toProgramCore } from '../../../src/core/programs/json.js'
import { isAdException, tensor } from '../../../src/index.js'
import { type OnnxFile, toONNX } from '../../../src/onnx/index.js'
import { difference } from '../../backends/sample-cases.js'
import { count } from '../../depth.js'
import { generate } from '../../laws/generator/generate.js'
import { argumentsOf, arrayOf, functionOf, type RandomProgram } from '../../laws/generator/program.js'
import { runFile } from './runtime.js'

/** Chains of up to fourteen operations and loops, which amplify the rounding of each. */
const BOUND = { f32: 1e-4, f64: 1e-10, i32: 1e-12, bool: 1e-12 } as const
const oracle = reference()

const traced = (p: RandomProgram): Program => {
  const given = argumentsOf(p).map((x) => {
    const { data, shape, dtype } = arrayOf(x)
    return tensor(data as never, shape as never, dtype)
  })
  return (toProgramCore(functionOf(p)) as (...xs: readonly unknown[]) => Program)(...given)
}
/** The file, or the primitive that is refused. */
const fileOf = (program: Program): OnnxFile | string => {
  try {
    return toONNX(program as never)
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'MissingKernel') return e.error.primitive
    throw e
  }
}
/** What is wrong with a program, if anything; undefined where it is not written, or cannot be traced or evaluated. */
const verdict = async (seed: number): Promise<readonly string[] | undefined> => {
  const { program: p } = generate(seed)
  if (p.wild === true) return undefined
  const data = argumentsOf(p).map((x) => arrayOf(x).data)
  let program: Program
  let want: readonly { readonly length: number }[]
  try {
    program = traced(p)
    want = oracle.prepare(program).run(data)
  } catch {
    return undefined // of a program that the library itself refuses, other tests say why
  }
  const file = fileOf(program)
  if (typeof file === 'string') return undefined
  const got = await runFile(file, data)
  return program.outputs.flatMap((y, i) => {
    const d = difference(got[i]!.data, want[i] as never)
    return d < BOUND[y.dtype] ? [] : [`seed ${seed}, result ${i} (${y.dtype}): ${d}`]
  })
}

it('random programs run on ONNX Runtime as on the reference', { timeout: 1_800_000 }, async () => {
  const many = count(12, 200, 500)
  let ran = 0
  const wrong: string[] = []
  for (let seed = 1; seed <= many; seed++) {
    const found = await verdict(seed)
    if (found === undefined) continue
    ran++
    wrong.push(...found)
  }
  expect(wrong).toEqual([])
  expect(ran).toBeGreaterThan(0.8 * many)
})
