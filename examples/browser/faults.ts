// What went wrong with the GPU, as one line that says what to do.
import { isAdException } from 'codual'

/** Why, in the library's words. */
const reason = (e: unknown): string => {
  const said = isAdException(e) && e.error._tag === 'Device' ? e.error.reason : String((e as Error).message ?? e).split('\n')[0]!
  return said.replace(/[.\s]+$/, '')
}

const withoutGpu = 'use a current Chrome, Edge, Safari or Firefox, and open the page over https or on localhost'
const withoutAdapter = 'turn on hardware acceleration in the browser’s settings, or update the graphics driver'

/** The page asked for WebGPU, and there is none. */
export const noWebGpu = (e: unknown): string =>
  `No WebGPU here, so the CPU trains: ${reason(e)}. To have it, ${'gpu' in navigator ? withoutAdapter : withoutGpu}.`

/** WebGPU failed in the middle of the training. */
export const afterLoss = (e: unknown, at: number, from: number): string =>
  `WebGPU stopped at step ${at}: ${reason(e)}. The CPU goes on from step ${from}; choose WebGPU to go back to it.`
