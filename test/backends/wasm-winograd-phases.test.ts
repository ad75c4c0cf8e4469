/** The kernel gradient by minimal filtering in phases: the bits of the whole kernel, whatever the parts, their order and the scratch that they find. */
import { describe, expect, it } from 'vitest'
import type { Phase, Phases } from '../../src/backends/cpu/kernel.js'
import { OpaqueRecord } from '../../src/backends/cpu/records.js'
import { convOutput } from '../../src/backends/cpu/wasm/conv-shape.js'
import { byWinograd, geometry } from '../../src/backends/cpu/wasm/conv-winograd.js'
import { emitWinogradKernel, winogradKernelScratchBytes, winogradSizes } from '../../src/backends/cpu/wasm/conv-winograd-kernel.js'
import { winogradPhases } from '../../src/backends/cpu/wasm/conv-winograd-phases.js'
import { Module } from '../../src/backends/cpu/wasm/encoder.js'
import { count } from '../depth.js'
import { below, type ConvShape, random } from './conv-harness.js'

const memory = new WebAssembly.Memory({ initial: 512 })
const RECORD = 64
const at = new OpaqueRecord(1, 2)

/** The parts of a phase, of random lengths and in random order: the record of each. */
const partsOf = ({ units }: Phase, whole: Int32Array): readonly Int32Array[] => {
  const parts: Int32Array[] = []
  const multiple = units.multiple ?? 1
  for (let from = 0; from < units.count; ) {
    const most = Math.ceil((units.count - from) / multiple)
    const of = Math.min(units.count - from, multiple * (1 + below(most)))
    const part = whole.slice()
    units.results.forEach((by, i) => {
      part[at.result(i)]! += from * by
    })
    units.args.forEach((by, i) => {
      part[at.argument(i)]! += from * by
    })
    part[at.behind + units.size] = of
    if (units.first !== undefined) part[at.behind + units.first]! += from
    parts.push(part)
    from += of
  }
  const by = parts.map(() => random())
  return parts
    .map((_, i) => i)
    .sort((i, j) => by[i]! - by[j]!)
    .map((i) => parts[i]!)
}

/** Both ways on the same data: x and dY as `data` gives them, dK as it was. */
const both = (shape: ConvShape, accumulate: boolean, data: (which: 0 | 1 | 2, i: number) => number) => {
  const [oh, ow] = convOutput(shape)
  const { batch, channels, height, width, outChannels } = shape
  const phases: Phases = winogradPhases({ shape, accumulate, images: batch })
  const m = new Module()
  m.importMemory({ min: 1 })
  emitWinogradKernel(m, { type: 'f32', madd: false, accumulate, shape }, 'whole')
  for (const [i, { emit }] of phases.each.entries()) emit(m, `phase${i}`)
  const exports = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory } }).exports as Readonly<
    Record<string, (record: number) => void>
  >
  let top = 1024
  const place = (bytes: number): number => {
    const here = top
    top = (top + bytes + 64 + 63) & ~63
    return here
  }
  const sizes = [9 * outChannels * channels, batch * channels * height * width, batch * outChannels * oh * ow] as const
  const [dK, x, dY] = sizes.map((n) => place(4 * n)) as [number, number, number]
  const shared = place(phases.sharedBytes)
  const scratch = place(Math.max(winogradKernelScratchBytes(shape), ...phases.each.map((p) => p.scratchBytes)))
  expect(top).toBeLessThan(memory.buffer.byteLength)
  const fill = (): void => {
    new Uint8Array(memory.buffer).fill(0xff)
    for (const [which, from] of [dK, x, dY].entries()) {
      const array = new Float32Array(memory.buffer, from, sizes[which])
      for (let i = 0; i < array.length; i++) array[i] = data(which as 0 | 1 | 2, i)
    }
  }
  const call = (name: string, record: Int32Array): void => {
    new Int32Array(memory.buffer, RECORD, record.length).set(record)
    exports[name]!(RECORD)
  }
  // The sign of a NaN is the engine's to choose, which another tier of its compilers does otherwise.
  const result = () => new Int32Array(new Float32Array(memory.buffer, dK, sizes[0]).map((x) => (Number.isNaN(x) ? Number.NaN : x)).buffer)
  const record = Int32Array.of(dK, x, dY, scratch, ...winogradSizes(batch, outChannels), shared)
  fill()
  call('whole', record)
  const expected = result()
  fill()
  let parts = 0
  for (const [i, phase] of phases.each.entries())
    for (const part of partsOf(phase, record)) {
      new Uint8Array(memory.buffer, scratch, top - scratch).fill(0xff)
      call(`phase${i}`, part)
      // What is not the phase's own stays as it was.
      expect(
        new Uint8Array(memory.buffer, shared + phases.sharedBytes, scratch - shared - phases.sharedBytes).every((b) => b === 0xff),
      ).toBe(true)
      expect(new Uint8Array(memory.buffer, scratch + phase.scratchBytes, 64).every((b) => b === 0xff)).toBe(true)
      parts++
    }
  return { expected, found: result(), parts }
}

const shapeOf = (large: boolean): ConvShape => {
  const pad = (): readonly [number, number] => [below(3), below(3)]
  return {
    batch: (large ? 4 : 1) + below(4),
    channels: 8 + below(12),
    outChannels: 16 + below(7),
    height: (large ? 40 : 6) + below(14),
    width: (large ? 50 : 6) + below(18),
    kernel: [3, 3],
    stride: [1, 1],
    padding: [pad(), pad()],
    dilation: [1, 1],
    groups: 1,
  }
}

describe('the kernel gradient by minimal filtering in phases', () => {
  it('has the bits of the whole: random shapes, parts, orders, and images that are not ordinary', { timeout: 300_000 }, () => {
    const reached = { shapes: 0, parts: 0, blocks: 0, others: 0, flushes: 0 }
    for (let i = 0; reached.shapes < count(16, 80, 200); i++) {
      const large = i % 4 === 0
      const shape = shapeOf(large)
      if (!byWinograd('f32', shape, 'kernel')) continue
      const { block, tileRows, vectors } = geometry(shape, 'forward', 256)
      const sizes = [0, shape.channels * shape.height * shape.width, shape.outChannels * convOutput(shape)[0] * convOutput(shape)[1]]
      // Images of x, and cotangents, with something that is not finite, or huge.
      const bad = new Map<string, number>()
      for (let image = 0; image < shape.batch; image++)
        if (below(3) === 0) {
          const which = 1 + below(2)
          bad.set(`${which} ${image * sizes[which]! + below(sizes[which]!)}`, [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 51][below(3)]!)
        }
      const data = (which: 0 | 1 | 2, k: number): number => bad.get(`${which} ${k}`) ?? Math.sin(1 + k + 1000 * which)
      const { expected, found, parts } = both(shape, i % 2 === 0, data)
      expect(found, JSON.stringify(shape)).toEqual(expected)
      reached.shapes++
      reached.parts += parts
      reached.blocks += Number(block < tileRows)
      reached.others += bad.size
      reached.flushes += Number(shape.batch * tileRows * vectors * 4 > 4096)
    }
    expect(reached.parts).toBeGreaterThan(5 * reached.shapes)
    expect(reached.blocks).toBeGreaterThan(2)
    expect(reached.others).toBeGreaterThan(4)
    expect(reached.flushes).toBeGreaterThan(0)
  })
})
