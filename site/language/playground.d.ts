declare module 'playground' {
  import type { Backend, Tensor } from 'codual'

  /** Numbers in a row: an array, a typed array or a tensor. */
  export type Numbers = ArrayLike<number> | Tensor
  export interface PlotOptions {
    /** The heading of the plot. */
    readonly title?: string
    /** Points instead of lines. */
    readonly points?: boolean
  }
  /**
   * Draws y over x, or several curves by name.
   * @example plot([0, 1, 2], { squares: [0, 1, 4], cubes: [0, 1, 8] })
   */
  export function plot(x: Numbers, y: Numbers | Readonly<Record<string, Numbers>>, options?: PlotOptions): void
  /**
   * A curve that grows while the program runs.
   * @example const loss = curve('loss'); for (let i = 0; i < 100; i++) loss(i, 1 / (i + 1))
   */
  export function curve(title: string): (x: number, y: number) => void
  /**
   * The backend that is chosen above the program: `cpu()` or `webgpu()`.
   * @example await compileAsync(f, backend)(x)
   */
  export const backend: Backend
  /** A slider beside the output, and where it stands now. Moving it runs the program again. */
  export function slider(name: string, min: number, max: number, start?: number): number
}
