/** The backends that random programs run on, with memory that other programs have used and that was filled with NaN. */
import { type CpuBackend, makeCpu } from '../../../src/backends/cpu/index.js'
import { passes } from '../../../src/backends/plan/passes.js'
import { reference } from '../../../src/backends/reference/index.js'
import type { Executable, SyncBackend } from '../../../src/core/functions/backend.js'
import { metaOf, traceMeta } from '../../../src/core/functions/function.js'
import { aval } from '../../../src/core/graph/aval.js'
import type { TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import { add, cumsum, mul } from '../../../src/index.js'

/** A backend of a lane, with a way to fill its memory with NaN. */
export interface Lane {
  readonly name: string
  readonly backend: SyncBackend
  readonly poison: () => void
}
/** What is held against what: the oracle, and backends that plan. `passes` are the plan's, one of which may be left out. */
export interface Lanes {
  readonly oracle: SyncBackend
  readonly lanes: readonly Lane[]
  /** The backend without one pass of its plans, where it can be left out. */
  readonly without: ReadonlyMap<string, () => SyncBackend>
}

const POISON = 1 << 12
/** A program whose buffers, all NaN, cover the memory that small programs get. */
const poisonOf = (backend: SyncBackend): (() => void) => {
  let ready: Executable | undefined
  const data = new Float64Array(POISON).fill(Number.NaN)
  return () => {
    ready ??= backend.prepare(
      traceMeta(
        metaOf((x: never) => {
          // Running sums stand between them, so that nothing is fused away.
          const a = cumsum(add(x, Number.NaN))
          const b = cumsum(mul(a, 0.5))
          return [cumsum(add(a, b)), b]
        }),
        { _tag: 'Tuple', items: [{ _tag: 'Leaf' }] },
        [aval([POISON], 'f64')],
      ),
    )
    ready.run([data])
  }
}
export const laneOf = (name: string, backend: SyncBackend): Lane => ({ name, backend, poison: poisonOf(backend) })

/** Tiles for arrays as small as those of random programs. */
const tile = { side: 2, from: 0, aligned: 4, narrow: 1, long: 2, turned: 16 }
/** Every other product of few rows or columns as such: random programs have no large ones. */
const eager = (sizes: readonly number[]): boolean => sizes.reduce((a, b) => a + b) % 2 === 0
type Make = (options: Record<string, unknown>) => CpuBackend
/** The CPU backend with vectors and without, their plans verified, against the reference; and one without each pass of the plan, which names the pass that a failure needs. */
export const cpuLanes = (): Lanes => ({
  oracle: reference(),
  lanes: [
    laneOf('simd', makeCpu({ verify: true, simd: true, tile, eager })),
    laneOf('plain', makeCpu({ verify: true, simd: false, tile })),
  ],
  without: new Map(
    passes.map((pass) => [pass, () => (makeCpu as unknown as Make)({ verify: true, simd: true, tile, eager, without: [pass] })]),
  ),
})

/** Runs a program once on a backend and frees it. */
export const runOn = (backend: SyncBackend, program: Program, inputs: readonly TypedArray[]): readonly TypedArray[] => {
  const executable = backend.prepare(program)
  try {
    return executable.run(inputs)
  } finally {
    executable.dispose()
  }
}
