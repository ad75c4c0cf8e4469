// Linear algebra on the CPU beside ml-matrix and PyTorch (one thread), f64, best of several calls in ms and as ratios: codual's time over the peer's.
// `npm run bench:linalg`; CODUAL_PYTHON names the Python that has torch (python3 unless given), whose columns are left out where it has none.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
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
import * as cd from '../src/index.js'

type E = cd.AnyExpr
/** The least times of each: in turns, so that what else the machine does slows all of them. `calls` are timed at once, results and all. */
const bestOf = (fs: readonly (() => unknown)[], rounds: number, calls = 1): readonly number[] => {
  const least = fs.map(() => Number.POSITIVE_INFINITY)
  for (const f of fs) f()
  for (let i = 0; i < rounds; i++)
    fs.forEach((f, k) => {
      const start = performance.now()
      for (let c = 0; c < calls; c++) f()
      least[k] = Math.min(least[k]!, (performance.now() - start) / calls)
    })
  return least
}
/** All that ours gives, of ml-matrix's. */
const peers = {
  cholesky: (m) => new CholeskyDecomposition(m).lowerTriangularMatrix,
  lu: (m) => {
    const all = new LuDecomposition(m)
    return [all.pivotPermutationVector, all.lowerTriangularMatrix, all.upperTriangularMatrix]
  },
  inv: (m) => inverse(m),
  det: (m) => determinant(m),
  qr: (m) => {
    const all = new QrDecomposition(m)
    return [all.orthogonalMatrix, all.upperTriangularMatrix]
  },
  eigh: (m) => new EigenvalueDecomposition(m, { assumeSymmetric: true }),
  svd: (m) => new SVD(m),
} as const satisfies Readonly<Record<string, (m: Matrix) => unknown>>
const torch = (() => {
  const { status, stdout } = spawnSync(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, 'linalg.py')], {
    encoding: 'utf8',
  })
  return status === 0 ? (JSON.parse(stdout) as Readonly<Record<string, Readonly<Record<string, number>>>>) : undefined
})()
const cell = (text: string | undefined): string => (text ?? '').padStart(11)
const ms = (x: number | undefined): string => cell(x?.toPrecision(3))
const ratio = (x: number, of: number | undefined): string => cell(of === undefined ? of : (x / of).toFixed(2))
const line = (name: string, t: number, p: number | undefined, q: number | undefined): void =>
  console.log(`${name.padEnd(28)}${ms(t)}${ms(p)}${ratio(t, p)}${ms(q)}${ratio(t, q)}`)

console.log(`${''.padEnd(28)}${['codual ms', 'ml-matrix', 'ratio', 'torch', 'ratio'].map(cell).join('')}`)
for (const n of [2, 5, 20, 100, 500]) {
  const a = Float64Array.from({ length: n * n }, (_, i) => Math.sin(0.37 * i * i))
  const s = Float64Array.from({ length: n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n]
    let sum = i === j ? n : 0
    for (let k = 0; k < n; k++) sum += a[i * n + k]! * a[j * n + k]!
    return sum
  })
  const w = cd.tensor(
    Float64Array.from({ length: n * n }, (_, i) => Math.cos(i)),
    [n, n],
  )
  const [x, y] = [cd.tensor(a, [n, n]), cd.tensor(s, [n, n])]
  const [mx, my] = [Matrix.from1DArray(n, n, a), Matrix.from1DArray(n, n, s)]
  const column = Matrix.columnVector(Array.from({ length: n }, (_, i) => Math.cos(i)))
  const ours = (f: (m: E) => unknown, at: unknown): (() => unknown) => {
    const g = cd.compile(f as never) as unknown as (m: unknown) => unknown
    return () => g(at)
  }
  const cases: readonly (readonly [string, () => unknown, (() => unknown) | undefined])[] = [
    ['cholesky', ours((m) => cd.cholesky(m as never), y), () => peers.cholesky(my)],
    [
      'cholesky and gradient',
      ours(cd.valueAndGrad(((m: E) => cd.sum(cd.mul(w, cd.cholesky(m as never) as E))) as never) as never, y),
      undefined,
    ],
    ['lu', ours((m) => cd.lu(m as never), y), () => peers.lu(my)],
    ['solve', ours((m) => cd.solve(m, cd.at(w, 0) as never), y), () => new LuDecomposition(my).solve(column)],
    ['inv', ours((m) => cd.inv(m as never), y), () => peers.inv(my)],
    ['qr', ours((m) => cd.qr(m as never), x), () => peers.qr(mx)],
    ['eigh', ours((m) => cd.eigh(m as never), y), () => peers.eigh(my)],
    ['svd', ours((m) => cd.svd(m as never), x), () => peers.svd(mx)],
  ]
  for (const [name, own, peer] of cases) {
    // Often enough that engines have compiled what runs.
    const long = name === 'eigh' || name === 'svd'
    const [rounds, calls] = n === 500 ? [long ? 2 : 4, 1] : n === 100 ? [30, 1] : [30, 1000]
    const [t, p] = bestOf(peer === undefined ? [own] : [own, peer], rounds, calls) as readonly [number, number?]
    const q = torch?.[n]?.[name]
    line(`${name} ${n}`, t, p, q)
  }
}

// Stacks of tiny matrices, 10,000 of n x n, beside PyTorch's and ml-matrix one after the other.
const STACK = 10_000
for (const n of [2, 3, 4, 8]) {
  const entry = (i: number, j: number, k: number): number => Math.cos(k + i + j) + (i === j ? 2 * n : 0)
  const stack = Float64Array.from({ length: STACK * n * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n) % n, at % n]
    return entry(i, j, Math.floor(at / (n * n)))
  })
  const x = cd.tensor(stack, [STACK, n, n])
  const b = cd.tensor(stack.slice(0, STACK * n), [STACK, n, 1])
  const cases: readonly (readonly [string, (m: E) => unknown])[] = [
    ['cholesky', (m) => cd.cholesky(m as never)],
    ['lu', (m) => cd.lu(m as never)],
    ['solve', (m) => cd.solve(m, b as never)],
    ['triangularSolve', (m) => cd.triangularSolve(m, b as never, { lower: true })],
    ['inv', (m) => cd.inv(m as never)],
    ['det', (m) => cd.det(m as never)],
    ['qr', (m) => cd.qr(m as never)],
    ['eigh', (m) => cd.eigh(m as never)],
    ['svd', (m) => cd.svd(m as never)],
  ]
  const each = Array.from({ length: STACK }, (_, k) => Matrix.from1DArray(n, n, stack.subarray(k * n * n, (k + 1) * n * n)))
  for (const [name, f] of cases) {
    const g = cd.compile(f as never) as unknown as (m: unknown) => unknown
    const peer: ((m: Matrix) => unknown) | undefined = name in peers ? peers[name as keyof typeof peers] : undefined
    const fs = [() => g(x), ...(peer ? [() => each.map(peer)] : [])]
    const [[t, p], q] = [bestOf(fs, 5) as readonly [number, number?], torch?.[`${STACK} of ${n}`]?.[name]]
    line(`${name} ${STACK} of ${n}`, t, p, q)
  }
}
