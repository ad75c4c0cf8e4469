// One rank of the native tests: `rank.ts results FOLDER COUNT`, `digits FOLDER EPOCHS` and `fit FOLDER WORK` write what it computed, `steps FOLDER WHICH` runs steps and writes how many, `memory FOLDER WHERE` trains and writes what memory it took, `rank.ts fault KIND [meanwhile]` goes wrong on rank 1, when a thread talks to MPI.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../../examples/ranks.js'
import { main as tensorParallel } from '../../examples/tensor-parallel.js'
import * as cd from '../../src/index.js'
import { allReduce, ranks, shard, world } from '../../src/mpi/index.js'
import { type FitWork, fitted, ranksOf } from './fits.js'
import { stepsIn, type Where } from './placed.js'
import { broadcasts, TIMES, works } from './scaled.js'
import { arrays, drawn, losses } from './work.js'

const [what, ...rest] = process.argv.slice(2)
/** Losses of the example whose hidden units are cut over ranks. */
const cut = (steps: number): readonly number[] => tensorParallel(() => undefined, { steps }).losses
const one = (): unknown => cd.evaluate(allReduce([1]))

const results = (folder: string, count: number): void => {
  const { rank, size, library, threadLevel } = world
  const found = {
    rank,
    size,
    library,
    threadLevel,
    arrays: arrays(size).map((f) => f(rank)),
    drawn: size === 3 ? drawn(count).map((f) => f(rank)) : [],
    losses: losses(8),
    cut: cut(8),
    // From here on a thread talks to MPI.
    meanwhile: losses(8, true),
    thereafter: arrays(size).map((f) => f(rank)),
  }
  writeFileSync(join(folder, `${rank}.json`), JSON.stringify(found))
  world.barrier()
}
/** The derivative of a mean of all ranks' numbers, whose sum over ranks goes on while `looks` is called. */
const meanwhile = (looks: (x: unknown) => void): unknown => {
  const f = ({ w, x }: { readonly w: cd.AnyExpr; readonly x: cd.AnyExpr }) => cd.mean(cd.mul(w, x))
  const given = { w: cd.tensor([2]), x: cd.tensor([1 + world.rank]) }
  const gradient = (at: typeof given) =>
    cd.add(
      cd.tap(cd.exp(at.x as never), looks),
      cd.grad(shard(f, { data: { x: 0 }, overlap: true }), { wrt: 'w' } as never)(at as never) as never,
    )
  return (cd.compile(gradient as never) as unknown as (at: typeof given) => unknown)(given)
}
const faults: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('no data here')
  },
  rejects: () => Promise.reject(new Error('no data came')),
  'bad input': () => cd.evaluate(cd.matmul([[1]], [[1], [2]] as never)),
  shapes: () => cd.evaluate(allReduce([1, 2])),
  'another collective': () => world.barrier(),
  ends: () => process.exit(0),
  'ends with a code': () => process.exit(3),
  'throws in between': () =>
    meanwhile(() => {
      throw new Error('no data here')
    }),
  dies: () => process.kill(process.pid, 'SIGKILL'),
  hangs: () => {
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  },
}
/** LeNet's losses, as the example has them. */
const digits = async (folder: string, epochs: number): Promise<void> => {
  const losses = await main(() => undefined, { images: 128, epochs, batch: 32 })
  writeFileSync(join(folder, `${world.rank}.json`), JSON.stringify(losses))
}
/** A fit; whoever kills this process finds its number before MPI is opened. */
const fitting = async (folder: string, work: FitWork): Promise<void> => {
  writeFileSync(join(folder, `${process.pid}.pid`), '')
  const outcome = await fitted(ranks(ranksOf(work)), work)
  writeFileSync(join(folder, `${world.rank}.json`), JSON.stringify(outcome))
}
/** Steps whose messages are counted: nothing else is exchanged. */
const steps = (folder: string, which: string): void => {
  const all = which === 'broadcasts' ? broadcasts : works(world.size)
  for (const { f, args } of all) {
    const step = cd.compile(f as never) as unknown as (...xs: readonly unknown[]) => unknown
    for (let k = 0; k < TIMES; k++) step(...args())
  }
  writeFileSync(join(folder, `${world.rank}.json`), JSON.stringify(TIMES * all.length))
}
/** Bytes of this process before and after training steps of a network of 1.3 million parameters, and at its most. */
const memory = (folder: string, where: Where): void => {
  const found = stepsIn(where)
  writeFileSync(join(folder, `${world.rank}.json`), JSON.stringify(found))
}
if (what === 'results') results(rest[0]!, Number(rest[1]))
else if (what === 'digits') await digits(rest[0]!, Number(rest[1]))
else if (what === 'steps') steps(rest[0]!, rest[1]!)
else if (what === 'memory') memory(rest[0]!, rest[1] as Where)
else if (what === 'fit') await fitting(rest[0]!, JSON.parse(rest[1]!) as FitWork)
else {
  if (rest[1] === 'meanwhile') meanwhile(() => undefined)
  one()
  if (world.rank === 1) faults[rest[0]!]!()
  // The others go on when promises have had their turn.
  setImmediate(() => {
    one()
    if (rest[0] === 'throws in between') meanwhile(() => undefined)
    one()
  })
}
