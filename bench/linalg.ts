// Linear algebra on the CPU, with own kernels and with a library of the system (codual/blas), beside PyTorch and ml-matrix: one thread for all, least times of alternating rounds.
// `npm run bench:linalg [-- --sizes 100,500] [--dtypes f32,f64] [--only qr,svd] [--rounds 7] [--budget ms]`; CODUAL_PYTHON names the Python that has torch (python3 unless given).
import { parseArgs } from 'node:util'
import {
  CholeskyDecomposition,
  determinant,
  EigenvalueDecomposition,
  inverse,
  LuDecomposition,
  Matrix,
  QrDecomposition,
  SVD,
} from 'ml-matrix'
import { blas } from '../src/backends/blas/index.js'
import * as cd from '../src/index.js'
import { torchServer } from './torch-server.js'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '2,5,20,100,500,stacks' },
    dtypes: { type: 'string', default: 'f64,f32' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    budget: { type: 'string', default: '30' },
  },
})
const [sizes, dtypes] = [values.sizes, values.dtypes].map((list) => list.split(',')) as [string[], ('f32' | 'f64')[]]
const [rounds, budget] = [Number(values.rounds), Number(values.budget)]
const isWanted = (name: string): boolean => values.only?.split(',').includes(name) ?? true

type E = cd.AnyExpr
type Run = ((...args: readonly unknown[]) => unknown) & { into(out: unknown): (...args: readonly unknown[]) => unknown }
/** All that ours gives, of ml-matrix's. */
const peers: Readonly<Record<string, (m: Matrix) => unknown>> = {
  cholesky: (m) => new CholeskyDecomposition(m).lowerTriangularMatrix,
  lu: (m) => {
    const all = new LuDecomposition(m)
    return [all.pivotPermutationVector, all.lowerTriangularMatrix, all.upperTriangularMatrix]
  },
  solve: (m) => new LuDecomposition(m).solve(Matrix.columnVector(Array.from({ length: m.rows }, (_, i) => Math.cos(i)))),
  inv: (m) => inverse(m),
  det: (m) => determinant(m),
  qr: (m) => {
    const all = new QrDecomposition(m)
    return [all.orthogonalMatrix, all.upperTriangularMatrix]
  },
  eigh: (m) => new EigenvalueDecomposition(m, { assumeSymmetric: true }),
  svd: (m) => new SVD(m),
}
const library = blas({ threads: 1 })
const backends = { own: cd.cpu(), ...(library.library !== undefined && { blas: cd.cpu({ blas: library }) }) }
const torch = await torchServer('linalg.py', 1).then(async (server) =>
  (await server.ask({ of: 'lu', n: 2, dtype: 'f64', stack: 0, ms: 0 }).catch(() => undefined)) ? server : undefined,
)
console.log(`node ${process.version}; BLAS: ${library.library ?? `none, ${library.reason}`}; ${torch ? '' : 'no '}PyTorch`)
console.log('ms, and times over those of PyTorch (with ml-matrix over ml-matrix); "into": results into arrays that are there')

/** Least milliseconds of each: in rounds by turns, so that what else the machine does slows all of them. Short calls are timed together. */
const leastOf = async (
  calls: Readonly<Record<string, () => unknown>>,
  ask?: () => Promise<number>,
): Promise<Readonly<Record<string, number>>> => {
  const least: Record<string, number> = {}
  const keep = (name: string, t: number): void => {
    least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, t)
  }
  const timed = (f: () => unknown, count: number): number => {
    const start = performance.now()
    for (let i = 0; i < count; i++) f()
    return (performance.now() - start) / count
  }
  const counts = Object.values(calls).map((f) => {
    timed(f, 2)
    return Math.max(1, Math.floor(0.5 / timed(f, 2)))
  })
  for (let round = 0; round < rounds; round++) {
    if (ask !== undefined) keep('torch', await ask())
    for (const [i, [name, f]] of Object.entries(calls).entries()) {
      const end = performance.now() + budget
      do keep(name, timed(f, counts[i]!))
      while (performance.now() < end)
    }
  }
  return least
}
const row = async (
  label: string,
  of: string,
  f: (...xs: never[]) => unknown,
  args: readonly unknown[],
  peer: (() => unknown) | undefined,
  asked: { readonly n: number; readonly dtype: string; readonly stack: number },
): Promise<void> => {
  const calls: Record<string, () => unknown> = {}
  for (const [name, backend] of Object.entries(backends)) {
    const run = (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(f, backend)
    const into = run.into(run(...args))
    calls[name] = () => run(...args)
    calls[`${name} into`] = () => into(...args)
  }
  if (peer !== undefined) calls['ml-matrix'] = peer
  const t = await leastOf(calls, torch && (() => torch.ask({ of, ms: budget, ...asked }) as Promise<number>))
  const over = (name: string, by: string): string => (t[by] === undefined ? '' : `   ${name} ${(t[name]! / t[by]!).toFixed(2)}`)
  console.log(
    `${label.padEnd(34)} own ms ${t.own!.toPrecision(3).padEnd(8)} torch ms ${(t.torch?.toPrecision(3) ?? '').padEnd(8)}` +
      `${Object.keys(calls)
        .filter((name) => name !== 'ml-matrix')
        .map((name) => over(name, 'torch'))
        .join('')}` +
      `${peer === undefined ? '' : `   with ml-matrix ${(t.own! / t['ml-matrix']!).toFixed(2)}`}`,
  )
}

const single: Readonly<Record<string, readonly [f: (m: E, w: E) => unknown, of: 'a' | 's']>> = {
  cholesky: [(m) => cd.cholesky(m as never), 's'],
  'cholesky and gradient': [
    (m, w) => cd.valueAndGrad(((x: E) => cd.sum(cd.mul(w, cd.cholesky(x as never) as E))) as never)(m as never),
    's',
  ],
  lu: [(m) => cd.lu(m as never), 's'],
  solve: [(m, w) => cd.solve(m, cd.at(w, 0) as never), 's'],
  inv: [(m) => cd.inv(m as never), 's'],
  qr: [(m) => cd.qr(m as never), 'a'],
  eigh: [(m) => cd.eigh(m as never), 's'],
  svd: [(m) => cd.svd(m as never), 'a'],
}
for (const n of sizes.filter((size) => size !== 'stacks').map(Number)) {
  const a = Float64Array.from({ length: n * n }, (_, i) => Math.sin(0.37 * i * i))
  const s = Float64Array.from({ length: n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n]
    let sum = i === j ? n : 0
    for (let k = 0; k < n; k++) sum += a[i * n + k]! * a[j * n + k]!
    return sum
  })
  const given = { a, s, w: a.map((_, i) => Math.cos(i)) }
  for (const dtype of dtypes)
    for (const [name, [f, of]] of Object.entries(single)) {
      if (!isWanted(name)) continue
      const m = Matrix.from1DArray(n, n, given[of])
      const [x, w] = [given[of], given.w].map((data) => cd.tensor(data as never, [n, n], dtype))
      const peer = dtype === 'f64' && name in peers ? () => peers[name]!(m) : undefined
      await row(`${name} ${n} ${dtype}`, name, f, [x, w], peer, { n, dtype, stack: 0 })
    }
}

// Stacks of tiny matrices, beside ml-matrix one after the other.
const STACK = 10_000
const stacked: Readonly<Record<string, (m: E, b: E) => unknown>> = {
  cholesky: (m) => cd.cholesky(m as never),
  lu: (m) => cd.lu(m as never),
  solve: (m, b) => cd.solve(m, b as never),
  triangularSolve: (m, b) => cd.triangularSolve(m, b as never, { lower: true }),
  inv: (m) => cd.inv(m as never),
  det: (m) => cd.det(m as never),
  qr: (m) => cd.qr(m as never),
  eigh: (m) => cd.eigh(m as never),
  svd: (m) => cd.svd(m as never),
}
for (const n of sizes.includes('stacks') ? [2, 3, 4, 8] : []) {
  const entry = (i: number, j: number, k: number): number => Math.cos(k + i + j) + (i === j ? 2 * n : 0)
  const stack = Float64Array.from({ length: STACK * n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n) % n, at % n]
    return entry(i, j, Math.floor(at / (n * n)))
  })
  const each = Array.from({ length: STACK }, (_, k) => Matrix.from1DArray(n, n, stack.subarray(k * n * n, (k + 1) * n * n)))
  for (const dtype of dtypes)
    for (const [name, f] of Object.entries(stacked)) {
      if (!isWanted(name)) continue
      const args = [cd.tensor(stack as never, [STACK, n, n], dtype), cd.tensor(stack.slice(0, STACK * n) as never, [STACK, n, 1], dtype)]
      const peer = dtype === 'f64' && name in peers ? () => each.map(peers[name]!) : undefined
      await row(`${name} ${STACK} of ${n} ${dtype}`, name, f, args, peer, { n, dtype, stack: STACK })
    }
}
await torch?.end()
