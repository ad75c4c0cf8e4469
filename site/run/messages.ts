/** What the page and the worker that runs a program tell each other. */
import type { Belongs } from './together.js'

/** A value as data: what a message can hold and the page can draw. */
export type Printed =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'tensor'
      readonly dtype: string
      readonly shape: readonly number[]
      /** The first elements, in row-major order; `size` counts all of them. */
      readonly data: readonly number[]
      readonly size: number
    }
  | { readonly kind: 'tree'; readonly label: string; readonly entries: readonly (readonly [string, Printed])[] }

/** `points`: of all curves, or of one, points in place of lines. */
export interface Series {
  readonly title: string
  readonly points: boolean
  readonly x: readonly number[]
  readonly curves: readonly { readonly name: string; readonly y: readonly number[]; readonly points?: boolean }[]
}
export interface SliderAt {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly value: number
}
/** A step of a plan, as `explain()` tells it. */
export interface ExplainedStep {
  readonly kernel: string
  readonly sizes: readonly number[]
  readonly flops: number
  readonly bytes: number
  readonly times: number
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}
export interface Explained {
  readonly backend: string
  readonly steps: readonly ExplainedStep[]
  readonly kernels: number
  readonly flops: number
  readonly bytes: number
  readonly peakBytes: number
  readonly planMs: number
  readonly copiedAccumulators: number
  readonly dropped?: readonly { readonly primitive: string; readonly argument: number; readonly count: number; readonly text: string }[]
}
/** What the tabs show of a statement. */
export interface Look {
  /** The program of the function, or of the expression. */
  readonly program?: string
  readonly derivative?: { readonly of: string; readonly text: string; readonly belongs: readonly (Belongs | undefined)[] }
  readonly explained?: Explained
  /** Whether `check` and `plot` can run: arguments with floats are known. */
  readonly entries: number
  /** What is missing, where something is. */
  readonly note?: string
}
/** An equation of a program with what forward and reverse mode have for its first result. */
export interface ModeRow {
  readonly equation: string
  readonly primal: Printed
  /** Where all inputs move by one; none where nothing moves it. */
  readonly tangent?: Printed
  /** Of the sum of the results; none where no result depends on it. */
  readonly cotangent?: Printed
}
export interface CurveAsked {
  readonly entry: number
  readonly from: number
  readonly to: number
  /** Asks also where the checker is not sure, which takes longer. */
  readonly sure: boolean
}
export interface CurveGiven {
  readonly x: readonly number[]
  readonly y: readonly number[]
  readonly dy: readonly number[]
  /** What the checker says of the places; where it was asked. */
  readonly sure?: Sureness
}
export interface Sureness {
  /** Where differences of f do not confirm the derivative, and why. */
  readonly unsure: readonly Unsure[]
  /** Up to which x this was asked: all of them, unless it would take too long. */
  readonly checkedTo: number
}
/** A place of a curve where the checker is not sure of the derivative. */
export interface Unsure {
  readonly x: number
  readonly y: number
  readonly text: string
}
/** Where a program runs what it compiles for `backend` of `playground`. */
export type Where = 'cpu' | 'webgpu'

export type ToWorker =
  | {
      readonly kind: 'run'
      readonly script: string
      readonly names: readonly string[]
      readonly sliders: Readonly<Record<string, number>>
      readonly where: Where
    }
  | { readonly kind: 'look'; readonly id: number; readonly mark: number }
  | { readonly kind: 'check'; readonly id: number; readonly mark: number }
  | { readonly kind: 'modes'; readonly id: number; readonly mark: number }
  | ({ readonly kind: 'curve'; readonly id: number; readonly mark: number } & CurveAsked)

export type FromWorker =
  | { readonly kind: 'ready' }
  /** `looks`: the statement calls a function, or gives an expression, so that the tabs may show something. */
  | { readonly kind: 'told'; readonly mark: number; readonly value: Printed; readonly looks: boolean }
  | { readonly kind: 'console'; readonly level: 'log' | 'warn' | 'error'; readonly values: readonly Printed[] }
  | { readonly kind: 'plot'; readonly series: Series }
  | { readonly kind: 'curve'; readonly title: string; readonly x: number; readonly y: number }
  | { readonly kind: 'slider'; readonly slider: SliderAt }
  | { readonly kind: 'fault'; readonly message: string; readonly line: number | undefined }
  | { readonly kind: 'done'; readonly ms: number }
  | { readonly kind: 'progress'; readonly id: number; readonly done: number; readonly of: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown; readonly error?: string }
