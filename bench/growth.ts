// How costs grow: a node of a program, a step of a loop, an element, a compiled function, over three decades and more. What grows as its work is a level line.
// `npm run bench:growth`; writes out/growth.json and the picture out/growth.svg.
import { mkdir, writeFile } from 'node:fs/promises'
import { plot } from '../examples/plot.js'
import * as cd from '../src/index.js'

type E = cd.AnyExpr
type Run = ((x: unknown) => unknown) & { into(out: unknown): (x: unknown) => unknown; dispose(): void }
const compiled = (f: (x: never) => unknown, backend = cd.cpu()): Run =>
  (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(f, backend)
const vector = (n: number): cd.Tensor =>
  cd.tensor(
    Float64Array.from({ length: n }, (_, i) => Math.sin(1 + i)),
    [n],
  ) as cd.Tensor

/** The least milliseconds of some calls: as many as fit into half a second, three at least. */
const least = (f: () => void): number => {
  let best = Number.POSITIVE_INFINITY
  const end = performance.now() + 500
  for (let k = 0; k < 3 || performance.now() < end; k++) {
    const start = performance.now()
    f()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

/** A chain of n operations, unlike each other, that the planner has to keep apart. */
const chain =
  (n: number) =>
  (x: E): E => {
    let y = x
    for (let i = 0; i < n / 2; i++) y = cd.sin(cd.mul(y, 1 + i / n)) as E
    return cd.sum(y as never) as E
  }
/** A loop of n steps on a small state. */
const loop =
  (n: number) =>
  (x: E): E =>
    cd.sum((cd.fori as unknown as (n: number, f: (i: E, y: E) => E, x: E) => E)(n, (_, y) => cd.sin(cd.mul(1.01, y)) as E, x) as never) as E

interface Curve {
  readonly of: string
  readonly sizes: readonly number[]
  /** Milliseconds at a size. */
  readonly at: (n: number) => number
}
const once = (f: (x: E) => unknown, x: unknown): number => {
  const start = performance.now()
  const run = compiled(f as never, cd.cpu({ cacheBytes: 0 } as never))
  run(x)
  const ms = performance.now() - start
  run.dispose()
  return ms
}
const decades = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i))
const small = vector(4)
const curves: readonly Curve[] = [
  { of: 'a node: value, first call', sizes: decades(2, 5), at: (n) => Math.min(once(chain(n), small), once(chain(n), small)) },
  {
    of: 'a node: gradient, first call',
    sizes: decades(2, 5),
    at: (n) => Math.min(...[1, 2].map(() => once(cd.grad(chain(n) as never) as never, small))),
  },
  {
    of: 'a step: value',
    sizes: decades(2, 6),
    at: (n) => {
      const run = compiled(loop(n) as never)
      run(small)
      const ms = least(() => void run(small))
      run.dispose()
      return ms
    },
  },
  {
    of: 'a step: gradient',
    sizes: decades(2, 5),
    at: (n) => {
      const run = compiled(cd.grad(loop(n) as never) as never)
      run(small)
      const ms = least(() => void run(small))
      run.dispose()
      return ms
    },
  },
  {
    of: 'an element: gradient of sum(sin(x) x)',
    sizes: decades(3, 7),
    at: (n) => {
      const run = compiled(cd.grad(((x: E) => cd.sum(cd.mul(cd.sin(x), x) as never)) as never) as never)
      const x = vector(n)
      const into = run.into(run(x))
      const ms = least(() => void into(x))
      run.dispose()
      return ms
    },
  },
  {
    of: 'a compiled function',
    sizes: decades(1, 4),
    at: (n) => {
      const backend = cd.cpu({ cacheBytes: 2 ** 30 } as never)
      const start = performance.now()
      const runs = Array.from({ length: n }, (_, i) => {
        const run = compiled(cd.grad(((x: E) => cd.sum(cd.sin(cd.mul(x, 1 + i / n)) as never)) as never) as never, backend)
        run(small)
        return run
      })
      const ms = performance.now() - start
      for (const run of runs) run.dispose()
      return ms
    },
  },
]

curves[0]!.at(1000) // so that the engine has seen the planner
const lines: Record<string, (readonly [number, number])[]> = {}
console.log(`node ${process.version}: microseconds of one, by how many there are`)
for (const { of, sizes, at } of curves) {
  const points = sizes.map((n) => [n, (1e3 * at(n)) / n] as const)
  const level = Math.min(...points.map(([, us]) => us))
  const last = points.at(-1)![1] / Math.min(...points.slice(-4).map(([, us]) => us))
  lines[of] = points.map(([n, us]) => [Math.log10(n), us / level])
  console.log(
    `${of.padEnd(40)}${points.map(([n, us]) => `1e${Math.log10(n)}: ${us.toPrecision(3)}`).join('   ')}   last over the least of three decades: ${last.toFixed(2)}`,
  )
}
await mkdir('out', { recursive: true })
await writeFile('out/growth.json', JSON.stringify({ node: process.version, date: new Date().toISOString(), lines }, null, 1))
const file = await plot('out', 'growth', {
  title: 'The cost of one, over its least',
  x: 'how many: powers of ten',
  y: 'times the least',
  logY: true,
  lines,
})
console.log(`picture: ${file}`)
