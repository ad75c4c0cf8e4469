/** Saliency: the model hears vowels and nothing else as speech; what matters most to it is not what is loudest; derivatives by the gains are those of differences. */
import { describe, expect, it } from 'vitest'
import * as saliency from '../../examples/saliency.js'
import { compile, cpu, tensor } from '../../src/index.js'
import { pictured } from './told.js'

describe('saliency', () => {
  it('without the cells that matter most there is no speech, without the loudest there is', async () => {
    const { result, text } = await pictured((log, out) => saliency.main(log, { out }))
    const { chances, found, frames, x, weights, total } = result
    // Steps of 32 ms: the vowels are from 0.3 to 1.3 s, the whistle from 1.7 to 2.2 s, the hiss from 2.5 to 3.0 s.
    const between = (from: number, to: number): readonly number[] => chances.slice(Math.ceil(from / 0.032), Math.floor(to / 0.032))
    expect(Math.min(...between(0.36, 1.28))).toBeGreaterThan(0.5)
    expect(Math.max(...between(0, 0.28), ...between(1.45, 3.3))).toBeLessThan(0.3)
    expect(found.whole).toBeGreaterThan(1.5)
    expect(found.salient).toBeLessThan(0)
    expect(found.loudest).toBeGreaterThan(1)
    expect(text).toMatch(/^speech from 0\.3\d s to 1\.3\d s, says the model$/m)

    // A step reads what was before it: of what begins behind the last one that is explained, nothing matters.
    const heard = [...weights.data].lastIndexOf(1)
    const first = Math.ceil(((heard + 1) * 512 + 256) / 128)
    expect(frames).toBeGreaterThan(first + 100)
    const { data } = result.saliency
    for (let k = 0; k < 257; k++) expect(data.subarray(k * frames + first, (k + 1) * frames).every((v) => v === 0)).toBe(true)
    expect(data.some((v) => v > 0) && data.some((v) => v < 0)).toBe(true)

    // All gains together: their derivatives add up to that by the loudness of the whole sound.
    const ask = compile(saliency.score, cpu())
    const at = (gain: number): number => ask({ gains: tensor(new Float32Array(257 * frames).fill(gain), [257, frames]), x, weights }).item()
    for (const h of [0.03, 0.01]) expect((at(1 + h) - at(1 - h)) / (2 * h) / total).toBeCloseTo(1, 1)
  })
  it('the sound is the same for the same seed', () => {
    const [one, two] = [saliency.sound(1), saliency.sound(2)]
    expect(saliency.sound(1).data).toEqual(one.data)
    expect(two.data).not.toEqual(one.data)
    expect(one.shape[0] % 512).toBe(0)
  })
})
