/** Draws of chains by a program of many: what it is given and what it says. */
import { compile, type Tensor, tensor } from '../../index.js'
import type { Target } from './density.js'
import type { Chain, Transition } from './hamiltonian.js'
import { COLUMNS, DRAWS, programOf, uniformsOf } from './nuts-program.js'

/** Draws of chains, some at a time. */
export interface ManyDraws {
  /** Takes at most so many draws of a chain, at least one, and tells of each; `each` returns false to leave out the rest. Returns of how many it told. */
  readonly run: (chain: Chain, most: number, into: Transition, each: () => boolean) => number
  /** The draws of the last run, one after the other. */
  readonly vectors: Float64Array
  readonly dispose: () => void
}
interface Compiled {
  readonly into: (outputs: unknown) => (args: unknown) => unknown
  readonly dispose: () => void
}
export const manyDraws = (target: Target, maxDepth: number, dense: boolean): ManyDraws => {
  const n = target.size
  const floats = (...shape: number[]): Tensor =>
    tensor(new Float64Array(shape.reduce((a, b) => a * b, 1)), shape as never) as unknown as Tensor
  const int = (): Tensor => tensor(new Int32Array(1), [], 'i32') as unknown as Tensor
  const given = {
    q: floats(n),
    g: floats(n),
    value: floats(),
    mass: dense ? floats(n, n) : floats(n),
    momenta: floats(DRAWS * n),
    uniforms: floats(uniformsOf(maxDepth)),
    draws: int(),
    stepSize: floats(),
  }
  const result = {
    q: floats(n),
    g: floats(n),
    value: floats(),
    draw: int(),
    used: int(),
    vectors: floats(DRAWS * n),
    rows: floats(DRAWS * COLUMNS.length),
  }
  const compiled = compile(programOf(target, maxDepth, dense)) as unknown as Compiled
  const call = compiled.into(result)
  const data = (t: Tensor): Float64Array => t.data as unknown as Float64Array
  const [momenta, uniforms, vectors, rows] = [given.momenta, given.uniforms, result.vectors, result.rows].map(data) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  return {
    run: (chain, most, into, each) => {
      const { stream, mass } = chain
      data(given.q).set(chain.q)
      data(given.g).set(chain.g)
      data(given.value)[0] = chain.value
      data(given.stepSize)[0] = chain.stepSize
      data(given.draws)[0] = Math.min(most, DRAWS)
      if (dense) mass.lower(data(given.mass))
      else data(given.mass).set(mass.scales!)
      stream.ahead(momenta, uniforms)
      call(given)
      const taken = data(result.draw)[0]!
      stream.skip(taken * n, data(result.used)[0]!)
      chain.q.set(data(result.q))
      chain.g.set(data(result.g))
      for (let k = 0; k < taken; k++) {
        const from = k * COLUMNS.length
        chain.value = rows[from]!
        into.energy = rows[from + 1]!
        into.depth = rows[from + 2]!
        into.steps = rows[from + 3]!
        into.acceptance = rows[from + 4]!
        into.divergent = rows[from + 5]! === 1
        if (!each()) return k + 1
      }
      return taken
    },
    vectors,
    dispose: () => compiled.dispose(),
  }
}
