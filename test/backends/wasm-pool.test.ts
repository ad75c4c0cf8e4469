/*
 * The pooling kernels against plain loops: values, indices, gradients; any window, stride and padding; NaN and infinities.
 *
 * Max pooling and its gradient on distinct windows are exact. An average of k numbers in precision u has error at most
 * (k + 1) u times the average of their sizes (Higham 2002, 3.1); so has a sum of k shares.
 */

import { describe, expect, it } from 'vitest'
import { type FunctionBuilder, Module } from '../../src/backends/cpu/wasm/encoder.js'
import type { FloatName } from '../../src/backends/cpu/wasm/float.js'
import {
  emitAvgPool,
  emitAvgPoolGradient,
  emitMaxPool,
  emitMaxPoolGradient,
  type PoolShape as Geometry,
  poolOutput,
} from '../../src/backends/cpu/wasm/pool.js'

const memory = new WebAssembly.Memory({ initial: 16 })

let seed = 7
const random = (): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return seed / 2 ** 32
}
const below = (n: number): number => Math.floor(random() * n)

/** The cells of every window, by output, as places in x. */
/** Of so many planes. */
interface PoolShape extends Geometry {
  readonly planes: number
}
const windows = (s: PoolShape): number[][] => {
  const [oh, ow] = poolOutput(s)
  const all: number[][] = []
  for (let p = 0; p < s.planes; p++)
    for (let oy = 0; oy < oh; oy++)
      for (let ox = 0; ox < ow; ox++) {
        const cells: number[] = []
        for (let ky = 0; ky < s.window[0]; ky++)
          for (let kx = 0; kx < s.window[1]; kx++) {
            const iy = oy * s.stride[0] + ky - s.padding[0][0]
            const ix = ox * s.stride[1] + kx - s.padding[1][0]
            if (iy >= 0 && ix >= 0 && iy < s.height && ix < s.width) cells.push((p * s.height + iy) * s.width + ix)
          }
        all.push(cells)
      }
  return all
}

type Data = Float32Array | Float64Array | Int32Array

/** Calls a kernel on arrays laid out in memory with guards between them; returns the arrays after. */
const call = (emit: (m: Module) => FunctionBuilder, arrays: readonly Data[], planes: number): Data[] => {
  const m = new Module()
  m.importMemory({ min: 1 })
  m.exportFunction('f', emit(m))
  const code = m.finish()
  expect(WebAssembly.validate(code)).toBe(true)
  let top = 64
  const pointers = arrays.map((a) => {
    const at = top
    top = (at + a.byteLength + 32 + 15) & ~15
    return at
  })
  const bytes = new Uint8Array(memory.buffer)
  bytes.fill(0xff, 0, top)
  arrays.forEach((a, i) => {
    bytes.set(new Uint8Array(a.buffer, a.byteOffset, a.byteLength), pointers[i]!)
  })
  new Int32Array(memory.buffer, 0, arrays.length + 2).set([...pointers, 0, planes])
  const run = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } }).exports.f as (record: number) => void
  run(0)
  arrays.forEach((a, i) => {
    for (let g = 0; g < 32; g++) if (bytes[pointers[i]! + a.byteLength + g] !== 0xff) throw new Error(`wrote past array ${i}`)
  })
  return arrays.map((a, i) => {
    const copy = a.slice()
    new Uint8Array(copy.buffer).set(bytes.subarray(pointers[i]!, pointers[i]! + a.byteLength))
    return copy
  })
}

const fresh = (type: FloatName, n: number, value: (i: number) => number = () => Number.NaN): Float32Array | Float64Array => {
  const a = type === 'f32' ? new Float32Array(n) : new Float64Array(n)
  return a.map((_, i) => value(i))
}

const checkMax = (shape: PoolShape, type: FloatName, value: (i: number) => number): void => {
  const label = JSON.stringify({ shape, type })
  const cells = windows(shape)
  const pixels = shape.height * shape.width
  const x = fresh(type, shape.planes * pixels, value)
  const [y, index] = call(
    (m) => emitMaxPool(m, { type, shape }),
    [fresh(type, cells.length), new Int32Array(cells.length), x],
    shape.planes,
  ) as [Data, Int32Array]
  const perPlane = cells.length / Math.max(1, shape.planes)
  cells.forEach((places, i) => {
    let best = -1
    for (const p of places) if (best < 0 || x[p]! > x[best]! || (Number.isNaN(x[p]) && !Number.isNaN(x[best]))) best = p
    const expected = best < 0 ? Number.NEGATIVE_INFINITY : x[best]!
    const place = best < 0 ? -1 : best - Math.floor(i / perPlane) * pixels
    if (!Object.is(y[i], expected) || index[i] !== place)
      throw new Error(`${label}: [${i}] = ${y[i]} at ${index[i]}, not ${expected} at ${place}`)
  })
  // small integers: sums in any order are exact
  const dY = fresh(type, cells.length, () => below(9) - 4)
  const [dX] = call((m) => emitMaxPoolGradient(m, { type, shape }), [fresh(type, x.length), dY, index], shape.planes) as [Data]
  const expected = fresh(type, x.length, () => 0)
  index.forEach((p, i) => {
    if (p >= 0) expected[Math.floor(i / perPlane) * pixels + p]! += dY[i]!
  })
  expect([...dX], label).toEqual([...expected])
}

const checkAvg = (shape: PoolShape, type: FloatName, countIncludePad: boolean): void => {
  const label = JSON.stringify({ shape, type, countIncludePad })
  const u = type === 'f32' ? 2 ** -24 : 2 ** -52
  const cells = windows(shape)
  const x = fresh(type, shape.planes * shape.height * shape.width, () => random() * 2 - 1)
  const close = (actual: number, expected: number, terms: number, size: number, what: string): void => {
    if (Object.is(actual, expected)) return
    if (!(Math.abs(actual - expected) <= (terms + 3) * u * size)) throw new Error(`${label} ${what}: ${actual}, not ${expected}`)
  }
  const count = (places: number[]): number => (countIncludePad ? shape.window[0] * shape.window[1] : places.length)
  const [y] = call((m) => emitAvgPool(m, { type, shape, countIncludePad }), [fresh(type, cells.length), x], shape.planes) as [Data]
  cells.forEach((places, i) => {
    const sum = places.reduce((s, p) => s + x[p]!, 0)
    const size = places.reduce((s, p) => s + Math.abs(x[p]!), 0)
    close(y[i]!, sum / count(places), places.length, size / count(places), `y[${i}]`)
  })
  const dY = fresh(type, cells.length, () => random() * 2 - 1)
  const [dX] = call((m) => emitAvgPoolGradient(m, { type, shape, countIncludePad }), [fresh(type, x.length), dY], shape.planes) as [Data]
  const expected = new Float64Array(x.length)
  const size = new Float64Array(x.length)
  const terms = new Float64Array(x.length)
  cells.forEach((places, i) => {
    for (const p of places) {
      expected[p]! += dY[i]! / count(places)
      size[p]! += Math.abs(dY[i]! / count(places))
      terms[p]!++
    }
  })
  expected.forEach((v, p) => {
    close(dX[p]!, v, terms[p]!, size[p]!, `dX[${p}]`)
  })
}

const none: PoolShape['padding'] = [
  [0, 0],
  [0, 0],
]
const shapes: PoolShape[] = [
  { planes: 12, height: 24, width: 24, window: [2, 2], stride: [2, 2], padding: none },
  {
    planes: 2,
    height: 9,
    width: 13,
    window: [3, 3],
    stride: [2, 2],
    padding: [
      [1, 1],
      [1, 1],
    ],
  },
  { planes: 2, height: 7, width: 7, window: [7, 7], stride: [1, 1], padding: none },
  {
    planes: 3,
    height: 5,
    width: 11,
    window: [3, 2],
    stride: [1, 1],
    padding: [
      [2, 0],
      [0, 1],
    ],
  },
  {
    planes: 2,
    height: 6,
    width: 23,
    window: [2, 5],
    stride: [3, 3],
    padding: [
      [0, 3],
      [4, 2],
    ],
  },
  { planes: 1, height: 1, width: 40, window: [1, 3], stride: [1, 2], padding: none },
  { planes: 1, height: 1, width: 1, window: [1, 1], stride: [1, 1], padding: none },
  {
    planes: 1,
    height: 2,
    width: 2,
    window: [3, 3],
    stride: [2, 2],
    padding: [
      [1, 1],
      [1, 1],
    ],
  },
  {
    planes: 2,
    height: 3,
    width: 3,
    window: [2, 2],
    stride: [2, 2],
    padding: [
      [3, 3],
      [3, 3],
    ],
  },
  { planes: 0, height: 4, width: 4, window: [2, 2], stride: [2, 2], padding: none },
  { planes: 2, height: 1, width: 4, window: [2, 2], stride: [2, 2], padding: none },
]
for (let i = 0; i < 80; i++) {
  const window = [1 + below(4), 1 + below(5)] as const
  const pad = (k: number): readonly [number, number] => [below(k + 1), below(k + 1)]
  shapes.push({
    planes: 1 + below(3),
    height: window[0] + below(8),
    width: window[1] + below(24),
    window,
    stride: [1 + below(3), 1 + below(4)],
    padding: [pad(window[0]), pad(window[1])],
  })
}

for (const type of ['f32', 'f64'] as const) {
  describe(`pooling ${type}`, () => {
    it('max of distinct and of tied values, and its gradient', () => {
      for (const shape of shapes) {
        checkMax(shape, type, () => Math.fround(random() * 2 - 1))
        checkMax(shape, type, () => below(3) - 1)
      }
    })
    it('max with NaN, infinities and signed zeros: the first NaN wins, else the first maximum', () => {
      const special = [Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0, -0, 1]
      for (const shape of shapes) {
        checkMax(shape, type, () => special[below(6)]!)
        checkMax(shape, type, () => special[1 + below(5)]!)
        checkMax(shape, type, () => Number.NEGATIVE_INFINITY)
        checkMax(shape, type, () => Number.NaN)
      }
    })
    it('average, padding counted or not, and its gradient', () => {
      for (const shape of shapes) for (const countIncludePad of [false, true]) checkAvg(shape, type, countIncludePad)
    })
    it('average: NaN reaches exactly the windows that hold it', () => {
      const shape: PoolShape = {
        planes: 1,
        height: 6,
        width: 19,
        window: [3, 3],
        stride: [2, 2],
        padding: [
          [1, 1],
          [1, 1],
        ],
      }
      const [y] = call(
        (m) => emitAvgPool(m, { type, shape }),
        [fresh(type, windows(shape).length), fresh(type, 6 * 19, (i) => (i === 47 ? Number.NaN : 1))],
        shape.planes,
      ) as [Data]
      windows(shape).forEach((places, i) => {
        expect(y[i]).toBe(places.includes(47) ? Number.NaN : 1)
      })
    })
  })
}
