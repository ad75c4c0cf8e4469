/** A program made ready to run. What was laid out for it may be dropped at any time, and is made again at the next call. */

import { badInput } from '../../core/errors/explain.js'
import type { Executable, Explanation } from '../../core/functions/backend.js'
import type { TypedArray } from '../../core/graph/ndarray.js'
import type { Tensor } from '../../core/graph/tensor.js'
import type { Plan } from '../plan/plan.js'
import type { LaidOut } from './laid-out.js'

/** What a program runs as now, and the tensors that it captured. The plan that is laid out knows neither the program nor these. */
export interface Awake {
  readonly laidOut: LaidOut
  readonly captured: readonly Tensor[]
}
/** How a backend keeps what programs run as. */
export interface Keeper {
  /** Lays the program out again. */
  readonly wake: () => Awake
  /** It is about to run. */
  readonly use: (laidOut: LaidOut) => void
  readonly drop: (laidOut: LaidOut) => void
  readonly explain: (plan: Plan) => Explanation
}

export class CpuExecutable implements Executable {
  private disposed = false
  readonly bytes: number

  constructor(
    private awake: Awake,
    private readonly keeper: Keeper,
  ) {
    this.bytes = awake.laidOut.bytes
  }

  private ready(): Awake {
    if (this.disposed) badInput('cpu', 'this executable was disposed.', 'prepare the program again.')
    if (this.awake.laidOut.disposed) this.awake = this.keeper.wake()
    return this.awake
  }
  explain(): Explanation {
    return this.keeper.explain(this.ready().laidOut.plan)
  }
  run(inputs: readonly TypedArray[], into?: readonly TypedArray[], accumulate = false): readonly TypedArray[] {
    const { laidOut, captured } = this.ready()
    this.keeper.use(laidOut)
    return laidOut.run(inputs, captured, into, accumulate)
  }
  /** Gives back all that is held; after the run that is on the stack, where there is one. */
  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    this.keeper.drop(this.awake.laidOut)
  }
}
