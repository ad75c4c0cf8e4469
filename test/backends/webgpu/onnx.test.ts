/** The backend tests of ONNX on WebGPU: the values of its authors, but where a model has f64. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { sample } from '../../depth.js'
import { casesOf } from '../../onnx/cases.js'
import { laterOutcomeOf } from '../../onnx/outcome.js'
import { findLane, openGpu } from './adapter.js'

const lane = findLane('lavapipe')
/** What other tests say of these: refused everywhere, of numbers that are not ONNX's, or of another meaning (test/onnx/nodes.test.ts). */
const elsewhere =
  /bernoulli|training_dropout|STRING|string|strnorm|regex|tfidf|FLOAT8|E4M3|E5M2|E8M0|e4m3|e5m2|e8m0|FLOAT4|float4|_fp8_|INT2(_|$)|int2$|image_decoder|ai_onnx_ml|flexattention|linear_attention|causal_conv|bitcast|col2im_5d|gradient_of|window|adam_multiple|scales_(cubic|linear)_align_corners|roialign_mode_max|cast(like)?_FLOAT_to_BFLOAT16/

describe.skipIf(lane === undefined)('the backend tests of ONNX on WebGPU', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    await backend.adapter()
  }, 60_000)
  afterAll(() => backend.dispose())

  for (const version of ['1.12', '1.23'] as const)
    it(`give the expected values: ONNX ${version}`, { timeout: 1_200_000 }, async () => {
      const tried = sample(
        casesOf(version).cases.filter(({ name }) => !elsewhere.test(name) && !name.includes('expanded')),
        150,
      )
      let passed = 0
      const unexpected: string[] = []
      for (const c of tried) {
        const o = await laterOutcomeOf(c, backend, 2e-4)
        if (o.tag === 'passed') passed++
        else if (o.tag === 'wrong' || !/f64/.test(o.reason)) unexpected.push(`${c.name}: ${o.reason}`)
      }
      console.log(`ONNX ${version} on WebGPU: ${passed} of ${tried.length} cases passed, the others have f64`)
      expect(unexpected).toEqual([])
      expect(passed).toBeGreaterThan(0.9 * tried.length)
    })
})
