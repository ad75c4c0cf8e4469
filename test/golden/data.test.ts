// The inputs of the workloads are the same numbers everywhere, and the comparison with golden values can fail.
import { describe, expect, it } from 'vitest'
import { draw, inputsOf } from './data.js'
import { agreement, type GoldenArray, golden, type Outputs, toleranceOf } from './golden.js'
import { spec, type Workload, workloadIds } from './spec.js'

const ends = (data: ArrayLike<number>): readonly (number | undefined)[] => [data[0], data[data.length - 1]]

describe('the generator', () => {
  it('draws the same numbers everywhere, bit for bit', () => {
    expect(ends(inputsOf('W1').x!.data)).toEqual([0.5903897881507874, -0.44059088826179504])
    expect(ends(inputsOf('W4').K2!.data)).toEqual([0.12057976424694061, 0.10945101082324982])
    expect(ends(inputsOf('W6').x!.data)).toEqual([0.10589371618721634, 0.013260379216633741])
    expect(ends(inputsOf('W6').z!.data)).toEqual([0.9284723417367786, 0.23973122728057206])
    expect(ends(inputsOf('W12').x!.data)).toEqual([-0.33830058574676514, -0.33830058574676514])
    expect(ends(inputsOf('M15l').B!.data)).toEqual([-0.0006578487227670848, -0.06185660511255264])
  })

  it('promotes the f32 draws instead of drawing f64 ones', () => {
    const promoted = inputsOf('W1', 'f64').x!.data
    expect(promoted).toBeInstanceOf(Float64Array)
    expect(promoted).toEqual(Float64Array.from(inputsOf('W1').x!.data))
  })

  it('stays inside the interval and never draws zero', () => {
    const xs = draw(7, 100_000, 0.25, 'f32')
    expect(xs.every((x) => x !== 0 && Math.abs(x) <= 0.25)).toBe(true)
  })

  it('fills every declared shape', () => {
    for (const id of workloadIds) {
      const { inputs }: Workload = spec[id]
      for (const [name, { shape, data }] of Object.entries(inputsOf(id))) {
        expect(shape).toEqual(inputs[name]![0])
        expect(data.length).toBe(shape.reduce((a, b) => a * b, 1))
      }
    }
  })
})

describe('the golden values', () => {
  it('have a value and one array for each gradient', () => {
    for (const id of workloadIds) {
      const { wrt, inputs }: Workload = spec[id]
      const names = wrt.length === 0 ? ['C'] : [...wrt, 'value']
      expect(Object.keys(golden[id]).sort()).toEqual([...names].sort())
      for (const name of wrt) {
        const length = inputs[name]![0].reduce((a, b) => a * b, 1)
        expect((golden[id][name] as GoldenArray).length).toBe(id === 'W14h' ? length ** 2 : length)
      }
    }
  })
})

describe('agreement', () => {
  const { a, b } = inputsOf('W10', 'f64')
  const computed = (): { value: number; a: Float64Array; b: Float64Array } => {
    const out = { value: 0, a: new Float64Array(10_000), b: new Float64Array(10_000) }
    for (let i = 0; i < 10_000; i++) {
      const t = Math.tanh(a!.data[i]!)
      const s = 1 / (1 + Math.exp(-b!.data[i]!))
      out.value += t * s
      out.a[i] = (1 - t * t) * s
      out.b[i] = t * s * (1 - s)
    }
    return out
  }
  const judged = (out: Outputs) => agreement(out, golden.W10, toleranceOf('W10', 'f64'))

  it('accepts what is right', () => {
    expect(judged(computed())).toMatchObject({ ok: true, failures: [] })
  })

  it('refuses a value, an entry, a sum or a norm that is off, and NaN', () => {
    const off = computed()
    off.value *= 1 + 1e-9
    expect(judged(off).failures).toHaveLength(1)
    const sampled = Number(Object.keys((golden.W10.a as GoldenArray).at)[0])
    const entry = computed()
    entry.a[sampled]! += 1e-6
    expect(judged(entry).failures.some((line) => line.startsWith(`a[${sampled}]:`))).toBe(true)
    const unsampled = computed()
    unsampled.b[1]! += 0.01
    expect(judged(unsampled).failures.map((line) => line.split(':')[0])).toEqual(['sum of b', 'norm of b'])
    const nan = computed()
    nan.b[1] = Number.NaN
    expect(judged(nan).failures.map((line) => line.split(':')[0])).toEqual(['sum of b', 'norm of b', 'max of b'])
    expect(judged({ ...computed(), value: Number.NaN }).ok).toBe(false)
  })

  it('refuses a missing array, a wrong length, and a number for an array', () => {
    const { value, a: aBar } = computed()
    expect(judged({ value, a: aBar }).failures).toEqual(['b: wanted an array of 10000, got nothing'])
    expect(judged({ value, a: aBar, b: aBar.subarray(1) }).failures).toEqual(['b: wanted an array of 10000, got one of 9999'])
    expect(judged({ value, a: aBar, b: 1 }).failures).toEqual(['b: wanted an array of 10000, got a number'])
  })
})
