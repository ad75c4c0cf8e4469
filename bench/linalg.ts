// Linear algebra on the CPU beside ml-matrix and PyTorch (one thread), f64, best of several calls in ms and as ratios: codual's time over the peer's.
// `npm run bench:linalg`; CODUAL_PYTHON names the Python that has torch (python3 unless given), whose columns are left out where it has none.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { CholeskyDecomposition, EigenvalueDecomposition, inverse, LuDecomposition, Matrix, QrDecomposition, SVD } from 'ml-matrix'
import * as cd from '../src/index.js'

type E = cd.AnyExpr
/** The least times of each: in turns, so that what else the machine does slows all of them. */
const bestOf = (fs: readonly (() => unknown)[], rounds: number): readonly number[] => {
  const least = fs.map(() => Number.POSITIVE_INFINITY)
  for (const f of fs) f()
  for (let i = 0; i < rounds; i++)
    fs.forEach((f, k) => {
      const start = performance.now()
      f()
      least[k] = Math.min(least[k]!, performance.now() - start)
    })
  return least
}
const torch = (() => {
  const { status, stdout } = spawnSync(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, 'linalg.py')], {
    encoding: 'utf8',
  })
  return status === 0 ? (JSON.parse(stdout) as Readonly<Record<string, Readonly<Record<string, number>>>>) : undefined
})()
const cell = (x: number | undefined, digits = 2): string => (x === undefined ? '' : x.toFixed(digits)).padStart(11)

console.log(`${''.padEnd(28)}${['codual ms', 'ml-matrix', 'ratio', 'torch', 'ratio'].map((t) => t.padStart(11)).join('')}`)
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
    ['cholesky', ours((m) => cd.cholesky(m as never), y), () => new CholeskyDecomposition(my)],
    [
      'cholesky and gradient',
      ours(cd.valueAndGrad(((m: E) => cd.sum(cd.mul(w, cd.cholesky(m as never) as E))) as never) as never, y),
      undefined,
    ],
    ['lu', ours((m) => cd.lu(m as never), y), () => new LuDecomposition(my)],
    ['solve', ours((m) => cd.solve(m, cd.at(w, 0) as never), y), () => new LuDecomposition(my).solve(column)],
    ['inv', ours((m) => cd.inv(m as never), y), () => inverse(my)],
    ['qr', ours((m) => cd.qr(m as never), x), () => new QrDecomposition(mx).orthogonalMatrix],
    ['eigh', ours((m) => cd.eigh(m as never), y), () => new EigenvalueDecomposition(my, { assumeSymmetric: true })],
    ['svd', ours((m) => cd.svd(m as never), x), () => new SVD(mx)],
  ]
  for (const [name, own, peer] of cases) {
    // Often enough that engines have compiled what runs.
    const long = name === 'eigh' || name === 'svd'
    const rounds = n === 500 ? (long ? 2 : 4) : n === 100 ? 30 : 3000
    const [t, p] = bestOf(peer === undefined ? [own] : [own, peer], rounds) as readonly [number, number?]
    const q = torch?.[n]?.[name]
    console.log(`${`${name} ${n}`.padEnd(28)}${cell(t, 3)}${cell(p, 3)}${cell(p && t / p)}${cell(q, 3)}${cell(q && t / q)}`)
  }
}

// Stacks of tiny matrices: 10,000 of n x n. ml-matrix has none, so what stands beside is PyTorch's batched functions.
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
  ]
  for (const [name, f] of cases) {
    const g = cd.compile(f as never) as unknown as (m: unknown) => unknown
    const [[t], q] = [bestOf([() => g(x)], 10) as readonly [number], torch?.[`${STACK} of ${n}`]?.[name]]
    console.log(`${`${name} ${STACK} of ${n}`.padEnd(28)}${cell(t, 3)}${cell(undefined)}${cell(undefined)}${cell(q, 3)}${cell(q && t / q)}`)
  }
}
