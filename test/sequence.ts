// The order of test files: by size, as the runner has them, but for short files that take long. One of these at the end would run beside an idle worker.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By CPU seconds with those of what they start, in depth and at `npm test`: the ends of these paths. */
const LONG = [
  'plan/mutants.test.ts',
  'rules/mutants.test.ts',
  'mpi/native.deep.test.ts',
  'mpi/fit.deep.test.ts',
  'site/playground.deep.test.ts',
  'check/registry.test.ts',
  'backends/memory.deep.test.ts',
  'types/versions.deep.test.ts',
  'laws/programs.test.ts',
  'types/drawn/drawn.deep.test.ts',
  'webgpu/conformance.test.ts',
  'check/right-functions.test.ts',
  'webgpu/sums.test.ts',
  'architecture/facets.deep.test.ts',
  'backends/blas.deep.test.ts',
  'webgpu/conformance-strict.test.ts',
  'laws/facts-left-out.deep.test.ts',
  'webgpu/digits.test.ts',
  'types/weak.deep.test.ts',
  'golden/reference.test.ts',
  'types/types.deep.test.ts',
  'check/mutations.deep.test.ts',
  'check/mutants.test.ts',
  'docs/examples.test.ts',
  'docs/examples-types.deep.test.ts',
  'types/types.test.ts',
  'check/checks.test.ts',
  'laws/reach.test.ts',
  'laws/harness.test.ts',
  'check/programs.test.ts',
  'check/programs-options.test.ts',
  'random/random.test.ts',
  'backends/sums.test.ts',
  'mpi/parts.test.ts',
  'laws/worker.test.ts',
  'laws/threads.test.ts',
  'examples/gpt.test.ts',
  'examples/diffusion.deep.test.ts',
  'webgpu/special.test.ts',
  'webgpu/loose.test.ts',
  'minimize/projections.test.ts',
]

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((end) => moduleId.endsWith(`/test/${end}`))
      return at < 0 ? LONG.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
