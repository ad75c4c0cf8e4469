// The hand-written peer: value and gradient of every workload as plain loops over typed arrays.
import type { Peer, Prepare, WorkloadId } from '../peer.js'
import type { Loops } from './handwritten/loops.js'

/**
 * A module instance of its own for each workload: an engine's type feedback belongs to a source position, so
 * a loop that has seen Float32Array and Float64Array would be slower for both.
 */
const own = (module: string, id: WorkloadId): Promise<Readonly<Record<string, (loops: Loops) => Prepare>>> =>
  import(/* @vite-ignore */ new URL(`./handwritten/${module}.ts?${id}`, import.meta.url).href)

const written =
  (module: string, id: WorkloadId, name: string = id): Prepare =>
  async (inputs) => {
    const loops = (await own('loops', id)) as unknown as Loops
    const make = (await own(module, id))[name]
    if (make === undefined) throw new Error(`${module}.ts has no ${name}`)
    return make(loops)(inputs)
  }

export const workloads = {
  W1: written('elementwise', 'W1'),
  W2: written('elementwise', 'W2'),
  W3: written('dense', 'W3'),
  W4: written('lenet', 'W4'),
  W5: written('dense', 'W5'),
  W5d: written('dense', 'W5d', 'W5'),
  W6: written('dense', 'W6'),
  W7: written('recurrent', 'W7'),
  W8: written('recurrent', 'W8'),
  W9: written('recurrent', 'W9'),
  W10: written('elementwise', 'W10'),
  W11: written('dense', 'W11'),
  W12: written('elementwise', 'W12'),
  W13: written('dense', 'W13'),
  W14: written('elementwise', 'W14'),
  W14h: written('elementwise', 'W14h'),
  W15s: written('dense', 'W15s', 'W15'),
  W15l: written('dense', 'W15l', 'W15'),
  M15s: written('dense', 'M15s', 'M15'),
  M15l: written('dense', 'M15l', 'M15'),
} satisfies Record<WorkloadId, Prepare>

export const handwritten: Peer = { name: 'handwritten', dtypes: ['f32', 'f64'], workloads }
