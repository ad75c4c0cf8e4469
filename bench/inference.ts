// What NUTS costs beside its gradients: time per gradient over a bare call of the compiled value and gradient, and four chains by one mapped gradient over four in turn.
// Long runs of small densities draw by a program of many draws, short ones step by step on the host; the four chains are short runs.
// `npm run bench:inference`
import * as cd from '../src/index.js'
import { nuts } from '../src/prob/index.js'
import { gradientsFor, targetOf } from '../src/prob/inference/density.js'
import { chainOf, settle, type Transition } from '../src/prob/inference/hamiltonian.js'
import { manyDraws } from '../src/prob/inference/many-draws.js'
import { diagonalMass } from '../src/prob/inference/mass.js'
import { streamOf } from '../src/prob/inference/stream.js'
import { key } from '../src/random/index.js'
import { correlated, effects, schools } from '../test/prob/inference/posteriors.js'

type E = cd.AnyExpr
interface Subject {
  readonly name: string
  readonly density: (x: never) => E
  readonly start: unknown
  /** Draws of a chain: as many as run for a tenth of a second or more, and by the program if there is one. */
  readonly draws: number
  /** Draws of each of four chains. */
  readonly few: number
}
const wave = (n: number, k: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(k * (i + 1)))

/** A logistic regression of 500 rows and 20 columns, the labels drawn evenly around what the first column says. */
const regression = (): ((w: E) => E) => {
  const x = cd.tensor(wave(500 * 20, 1.7), [500, 20] as never) as unknown as E
  const signs = cd.tensor(
    Float64Array.from({ length: 500 }, (_, i) => (Math.sin(1.7 * (20 * i + 1)) + Math.sin(9.1 * i) > 0 ? 1 : -1)),
  ) as unknown as E
  return (w) =>
    cd.sub(
      cd.sum(cd.logSigmoid(cd.mul(signs, cd.matmul(x as never, w as never) as never) as never) as never),
      cd.mul(0.5, cd.sum(cd.square(w) as never)),
    ) as E
}
const subjects: readonly Subject[] = [
  {
    name: 'eight schools, 10 numbers',
    density: schools as never,
    start: { mu: 0, logTau: 0, z: effects.map(() => 0) },
    draws: 40_000,
    few: 2000,
  },
  {
    name: 'a normal of 50 dimensions, dense',
    density: correlated(50, 0.9).logDensity as never,
    start: new Array(50).fill(0),
    draws: 20_000,
    few: 500,
  },
  {
    name: 'a normal of 200 dimensions, dense',
    density: correlated(200, 0.5).logDensity as never,
    start: new Array(200).fill(0),
    draws: 20_000,
    few: 600,
  },
  {
    name: 'a logistic regression, 500 rows, 20 columns',
    density: regression() as never,
    start: new Array(20).fill(0),
    draws: 400,
    few: 400,
  },
]

/** Milliseconds that this process has computed: what else the machine does is not in it. */
const computed = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}
/** Microseconds of one bare call. */
const bareCall = ({ density, start }: Subject): (() => number) => {
  const [flat, unravel] = cd.ravel(
    cd.treeMap((leaf: unknown) => (Array.isArray(leaf) || typeof leaf === 'number' ? cd.tensor(leaf as number) : leaf), start as E),
  ) as unknown as readonly [E, (v: E) => never]
  const n = (flat.shape as readonly number[])[0]!
  const f = cd.compile(
    cd.fn({ x: cd.f64(n) }, ({ x }) => cd.valueAndGrad(((v: E) => density(unravel(v))) as never)(x as never) as never),
  ) as unknown as {
    into(outputs: unknown): (args: unknown) => unknown
  }
  const call = f.into({ value: cd.tensor(0), grad: cd.tensor(new Float64Array(n)) })
  const args = { x: cd.tensor(new Float64Array(n).fill(0.1)) }
  return () => {
    const t = computed()
    for (let k = 0; k < 20_000; k++) call(args)
    return ((computed() - t) / 20_000) * 1e3
  }
}
/** Microseconds for each gradient of the program of many draws, the numbers of the stream included, at the step size and mass that `nuts` learns. */
const inProgram = ({ density, start, few }: Subject): (() => number) => {
  const target = targetOf(density as never, start, 'nuts')
  const gradient = gradientsFor(target, 1)
  const { stats } = nuts(key(1), density as never, { start, chains: 1, warmup: 1000, draws: 1 } as never)
  const mass = diagonalMass(Float64Array.from(stats.inverseMass.data, Number))
  const chain = chainOf(target.size, gradient.chains[0]!, streamOf(key(5)), mass)
  chain.stepSize = stats.stepSize.data[0]!
  chain.live.q.set(target.start)
  gradient.run()
  settle(chain)
  const many = manyDraws(target, 10, false)
  const into: Transition = { acceptance: 0, divergent: false, depth: 0, steps: 0, energy: 0 }
  return () => {
    let steps = 0
    const t = computed()
    for (let k = 0; k < 4 * few; )
      k += many.run(chain, 64, into, () => {
        steps += into.steps
        return true
      })
    return ((computed() - t) / steps) * 1e3
  }
}
/** Milliseconds and gradients of one chain's run. */
const runOf = ({ density, start }: Subject, draws: number): readonly [number, number] => {
  const t = computed()
  const { stats } = nuts(key(1), density as never, { start, chains: 1, warmup: 300, draws } as never)
  return [computed() - t, stats.gradients]
}
/** Microseconds of four chains, the whole run, for each gradient. */
const chains = ({ density, start, few: draws }: Subject, together: boolean): number => {
  const t = computed()
  const { stats } = nuts(key(1), density as never, { start, chains: 4, together, warmup: 300, draws } as never)
  return ((computed() - t) / stats.gradients) * 1e3
}

const only = process.argv[2]
for (const subject of subjects.filter(({ name }) => only === undefined || name.includes(only))) {
  const [bare, program] = [bareCall(subject), inProgram(subject)]
  const list = (): number[] => []
  const [calls, own, short, long, mapped, turns] = [list(), list(), list(), list(), list(), list()]
  let gradients = 0
  for (let r = 0; r < 4; r++) {
    for (let k = 0; k < 4; k++) {
      calls.push(bare())
      own.push(program())
    }
    const [[a, few], [b, many]] = [runOf(subject, subject.draws), runOf(subject, 3 * subject.draws)]
    short.push(a)
    long.push(b)
    gradients = many - few
    mapped.push(chains(subject, true))
    turns.push(chains(subject, false))
  }
  const least = (xs: readonly number[]) => Math.min(...xs)
  // A long run less a short one, each the least of its kind, so that warm-up and compiling cancel.
  const whole = ((least(long) - least(short)) / gradients) * 1e3
  console.log(
    `${subject.name}: a gradient ${least(calls).toFixed(2)} us, in the program of many draws ${least(own).toFixed(2)} us, ${(least(own) / least(calls)).toFixed(2)} of it, in NUTS, with all that is kept, ${whole.toFixed(2)} us, ${(whole / least(calls)).toFixed(2)}; four chains mapped over four in turn ${(least(mapped) / least(turns)).toFixed(2)} (${least(mapped).toFixed(2)}, ${least(turns).toFixed(2)} us)`,
  )
}
