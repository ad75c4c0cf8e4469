// The order of test files: by size, as the runner has them, but for short files that take long. One of these at the end would run beside an idle worker.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** By CPU seconds, in depth and at `npm test`: the ends of these paths. */
const LONG = [
  'plan/mutants.test.ts',
  'rules/mutants.test.ts',
  'check/registry.test.ts',
  'types/versions.deep.test.ts',
  'types/drawn/drawn.deep.test.ts',
  'types/types.deep.test.ts',
  'architecture/facets.deep.test.ts',
  'check/mutations.deep.test.ts',
  'check/mutants.test.ts',
  'docs/examples.test.ts',
  'docs/examples-types.deep.test.ts',
  'types/types.test.ts',
  'laws/programs.test.ts',
  'check/checks.test.ts',
  'check/programs.test.ts',
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
