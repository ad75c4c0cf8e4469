/** The workloads in f32 on lavapipe, in every way that the CPU's f32 lanes have, against values that PyTorch computed in float64. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import { half } from '../../depth.js'
import { inputsOf } from '../../golden/data.js'
import { agreement, golden, type Outputs, toleranceOf } from '../../golden/golden.js'
import { dtypesOf, withLoss, withoutLoss } from '../../golden/lanes.js'
import { programs, variants, type WorkloadProgram } from '../../golden/programs.js'
import { spec, type Workload, type WorkloadId, workloadIds } from '../../golden/spec.js'
import { findLane, useLane } from './adapter.js'

type Loose = (...args: readonly unknown[]) => unknown
type Mode = 'mixed' | 'reverse' | 'whole'
type Result = { readonly C: cd.Tensor } | { readonly value: cd.Tensor; readonly grad: Readonly<Record<string, cd.Tensor>> }

const lane = findLane('lavapipe')

/** Workloads that are in f64 by definition: WGSL has no f64. */
const onlyF64: readonly WorkloadId[] = workloadIds.filter((id) => !dtypesOf(id).includes('f32'))

interface Row {
  readonly name: string
  readonly of: WorkloadId
  readonly mode: Mode
  readonly program: WorkloadProgram
}
const inF32 = (ids: readonly WorkloadId[]): readonly WorkloadId[] => ids.filter((id) => !onlyF64.includes(id))
const rows: readonly Row[] = [
  ...(['mixed', 'reverse'] as const).flatMap((mode) => [
    ...inF32(withLoss).map((id): Row => ({ name: id, of: id, mode, program: programs[id]('f32') })),
    ...Object.entries(variants).map(([name, { of, program }]): Row => ({ name, of, mode, program: program('f32') })),
  ]),
  ...inF32(withoutLoss).map((id): Row => ({ name: id, of: id, mode: 'whole', program: programs[id]('f32') })),
]

const outputsOf = (r: Result): Outputs =>
  'C' in r
    ? { C: r.C.data as Float32Array }
    : { value: r.value.item(), ...Object.fromEntries(Object.entries(r.grad).map(([k, t]) => [k, t.data as Float32Array])) }

describe.skipIf(lane === undefined)('workloads on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())

  // In reverse mode half of them.
  const reverse = rows.filter((r) => r.mode === 'reverse')
  for (const { name, of, mode, program } of [...rows.filter((r) => !reverse.includes(r)), ...half(reverse, 0)])
    it(`${name} ${mode}: ${spec[of].doc}`, async () => {
      const { wrt }: Workload = spec[of]
      const f = mode === 'whole' ? program.whole : (cd.valueAndGrad as unknown as Loose)(program.primal, { wrt, mode })
      const step = (cd.compile as unknown as Loose)(f, backend) as ((x: unknown) => Promise<Result>) & { dispose: () => Promise<void> }
      const inputs = Object.entries(inputsOf(of, 'f32')).map(([k, { shape, data }]) => [k, (cd.tensor as unknown as Loose)(data, shape)])
      const x = Object.fromEntries(inputs)
      await step(x)
      const warm = await step(x)
      await step.dispose()
      expect(agreement(outputsOf(warm), golden[of], toleranceOf(of, 'f32')).failures).toEqual([])
    })

  it('counts its rows: a missing one fails', () => {
    // W5d and W6 are in f64: the device refuses them.
    expect(onlyF64).toEqual(['W5d', 'W6'])
    expect(rows.filter((r) => r.mode === 'mixed').map((r) => r.name)).toEqual([
      ...['W1', 'W2', 'W3', 'W4', 'W5', 'W7', 'W8', 'W9', 'W10', 'W11', 'W12', 'W14', 'W15s', 'W15l'],
      ...['W8/slices', 'W7/scan', 'W8/scan', 'W9/scan'],
    ])
    expect(rows.length).toBe(2 * 18 + 4)
  })
  for (const id of onlyF64)
    it(`${id} is refused: it is in f64`, async () => {
      const step = (cd.compile as unknown as Loose)(programs[id]('f64').whole, backend) as (x: unknown) => Promise<Result>
      const inputs = Object.entries(inputsOf(id, 'f64')).map(([k, { shape, data }]) => [k, (cd.tensor as unknown as Loose)(data, shape)])
      await expect(step(Object.fromEntries(inputs))).rejects.toMatchObject({ error: { _tag: 'Unsupported', backend: 'webgpu' } })
    })
})
