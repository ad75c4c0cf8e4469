// Products and factorisations by a library of the system (codual/blas, one thread) beside the backend's own kernels, by turns: the library's time over the own one's, least times.
// `npm run bench:blas`
import { blas } from '../src/backends/blas/index.js'
import { findLibrary } from '../src/backends/blas/library.js'
import { blasOf } from '../src/backends/blas/over.js'
import { makeCpu } from '../src/backends/cpu/index.js'
import * as cd from '../src/index.js'
import { OF_ANY_SIZE } from '../test/backends/system-blas.js'

type E = cd.AnyExpr
type Run = ((...args: readonly unknown[]) => unknown) & { into(out: unknown): (...args: readonly unknown[]) => unknown }
const found = findLibrary()
if (typeof found === 'string') throw new Error(found)
blas({ threads: 1 })
// Asked at every size, so that the sizes show from which on it pays.
const backends = [
  makeCpu(),
  makeCpu({
    blas: blasOf(found, OF_ANY_SIZE),
  }),
]
console.log(`node ${process.version}; ${found.name}; least of several milliseconds of calls into arrays that are there`)

/** Least microseconds of a call on each backend, by turns. */
const times = (f: (...xs: never[]) => unknown, args: readonly unknown[]): readonly number[] => {
  const calls = backends.map((backend) => {
    const run = (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(f, backend)
    const into = run.into(run(...args))
    return () => into(...args)
  })
  const least = calls.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < 12; round++)
    calls.forEach((call, i) => {
      const end = performance.now() + 8
      do {
        const start = performance.now()
        for (let k = 0; k < 5; k++) call()
        least[i] = Math.min(least[i]!, ((performance.now() - start) / 5) * 1000)
      } while (performance.now() < end)
    })
  return least
}
const drawn = (shape: readonly number[], dtype: 'f32' | 'f64', add = 0): cd.Tensor => {
  const n = shape.at(-1)!
  const data = Array.from(
    { length: shape.reduce((a, b) => a * b, 1) },
    (_, i) => Math.sin(0.7 * i * (1 + (i % 7))) + (i % (n + 1) === 0 ? add : 0),
  )
  return cd.tensor(data, shape as number[], dtype) as unknown as cd.Tensor
}
const line = (name: string, [own, library]: readonly number[]): void =>
  console.log(
    `${name.padEnd(28)}${own!.toPrecision(3).padStart(9)} us${library!.toPrecision(3).padStart(9)} us  ${(library! / own!).toFixed(2)}`,
  )

console.log(`${''.padEnd(28)}      own     library  library / own`)
const sizes = [
  [4, 4, 4],
  [8, 8, 8],
  [12, 12, 12],
  [16, 16, 16],
  [24, 24, 24],
  [32, 32, 32],
  [128, 128, 128],
  [512, 512, 512],
  [128, 784, 32],
  [1, 512, 512],
  [512, 512, 1],
  [1000, 4, 1000],
] as const
for (const dtype of ['f32', 'f64'] as const)
  for (const [m, k, n] of sizes)
    line(
      `${dtype} ${m} x ${k} x ${n}`,
      times((a: never, b: never) => cd.matmul(a, b), [drawn([m, k], dtype), drawn([k, n], dtype)]),
    )
for (const n of [12, 16, 24, 48, 100]) {
  const [a, b] = [drawn([n, n], 'f64', 2 * n), drawn([n, n], 'f64')]
  const s = cd.evaluate(cd.add(cd.matmul(a as never, cd.transpose(a as never) as never) as E, cd.mul(n, cd.eye(n))) as never)
  const fs: Readonly<Record<string, readonly [(...xs: never[]) => unknown, readonly unknown[]]>> = {
    cholesky: [(x: never) => cd.cholesky(x), [s]],
    lu: [(x: never) => cd.lu(x), [a]],
    triangularSolve: [(x: never, y: never) => cd.triangularSolve(x, y, { lower: true }), [a, b]],
    qr: [(x: never) => cd.qr(x), [b]],
    eigh: [(x: never) => cd.eigh(x), [s]],
    svd: [(x: never) => cd.svd(x), [b]],
  }
  for (const [name, [f, args]] of Object.entries(fs)) line(`${name} ${n}`, times(f, args))
}
