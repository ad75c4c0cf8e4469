// Does a process that goes on making functions stay as large as it is? Each way of making them in turn: the resident memory, and what the
// backend says that it holds, must stay once the caches are full. `npm run check:memory`
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { type CpuBackend, makeCpu } from '../src/backends/cpu/index.js'
import * as cd from '../src/index.js'

const { values: given } = parseArgs({
  options: {
    functions: { type: 'string', default: '20000' },
    /** MiB that cached plans may take, and that the process may grow by once a part of the functions was made. */
    cache: { type: 'string', default: '32' },
    growth: { type: 'string', default: '50' },
    way: { type: 'string', multiple: true },
    plain: { type: 'boolean', default: false },
  },
})
const count = Number(given.functions)
const cacheBytes = Number(given.cache) * 2 ** 20
const bound = Number(given.growth) * 2 ** 20
const collect = globalThis.gc ?? (() => undefined)

const unary = [cd.sin, cd.cos, cd.tanh, cd.exp, cd.square, cd.abs, cd.neg, cd.atan] as const
/** The i-th of ever different functions: the digits of i say what it does. */
const different =
  (i: number) =>
  (x: cd.AnyExpr): cd.AnyExpr => {
    let y: cd.AnyExpr = x
    for (let k = i + 1; k > 0; k = Math.floor(k / 8)) y = unary[k % 8]!(y)
    return cd.sum(y)
  }
const x = cd.tensor([0.1, 0.2, 0.3])

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

// Functions made in one loop that never lets the engine say which are gone: the whole process of a user must stay small. It is one of its own,
// which loads the library as one file, without what runs this one.
const LOOP = 'loop'
const LOOP_FUNCTIONS = 16_000
// What is kept without bound takes about 0.9 GB (510 MiB for half as many); collectors that wait for a busy machine leave some 30 MB more than the 270 of a quiet one.
const LOOP_BOUND = 350e6
const inOneLoop = async (): Promise<boolean> => {
  const contents = `
    import * as cd from './src/index.ts'
    const unary = [cd.sin, cd.cos, cd.tanh, cd.exp, cd.square, cd.abs, cd.neg, cd.atan]
    const different = ${different}
    const backend = cd.cpu({ simd: ${!given.plain} })
    const x = cd.tensor([0.1, 0.2, 0.3])
    let peak = 0
    for (let i = 0; i < ${LOOP_FUNCTIONS}; i++) {
      cd.compile(different(i), backend)(x)
      if (i % 100 === 99) peak = Math.max(peak, process.memoryUsage().rss)
    }
    console.log(JSON.stringify({ peak, plans: backend.cache().plans, kernels: backend.kernels() }))`
  const folder = mkdtempSync(join(tmpdir(), 'codual-memory-'))
  try {
    const outfile = join(folder, 'loop.mjs')
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    })
    const { peak, plans, kernels } = JSON.parse(execFileSync(process.execPath, [outfile], { encoding: 'utf8' }))
    const fine = peak < LOOP_BOUND
    console.log(
      `${fine ? 'ok  ' : 'FAIL'}  ${LOOP.padEnd(9)} ${LOOP_FUNCTIONS} functions in one loop: ${mib(peak)} at the peak (bound ${mib(LOOP_BOUND)}); ${plans} plans, ${kernels} kernels`,
    )
    return fine
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Makes the i-th function and calls it. */
type Way = (backend: CpuBackend) => (i: number) => void
const ways: Readonly<Record<string, Way>> = {
  /** Compiled, called, disposed. */
  disposed: (backend) => (i) => {
    const f = cd.compile(different(i), backend)
    f(x)
    f.dispose()
  },
  /** Compiled, called, and forgotten: the engine says when they are gone. */
  forgotten: (backend) => (i) => {
    cd.compile(different(i), backend)(x)
  },
  /** Plain calls of derivatives. */
  calls: (backend) => {
    const { grad } = cd.makeCodual(cd.coreRegistry, backend)
    return (i) => void grad(different(i) as never)(x as never)
  },
  /** One function at ever other shapes. */
  shapes: (backend) => {
    const f = cd.compile((y: cd.AnyExpr) => cd.sum(cd.mul(cd.tanh(y), y)), backend)
    return (i) =>
      void f(cd.tensor(new Float64Array(1 + (i % 1000)), [1, 1 + (i % 1000), ...new Array<number>(Math.floor(i / 1000)).fill(1)]))
  },
}

const chosen = given.way ?? [LOOP, ...Object.keys(ways)]
for (const name of chosen)
  if (name !== LOOP && ways[name] === undefined) throw new Error(`--way is one of ${[LOOP, ...Object.keys(ways)].join(', ')}, not ${name}`)
const settled = async (): Promise<void> => {
  for (let k = 0; k < 3; k++) {
    collect()
    await setImmediate() // where the engine says what is gone
  }
}

/** The functions after the first `from` are measured in parts. */
const PARTS = 7
const from = Math.floor(count / 4)
const part = Math.floor((count - 1 - from) / PARTS)
const middle = (of: readonly number[]): number => [...of].sort((a, b) => a - b)[of.length >> 1]!

let failed = chosen.includes(LOOP) && !(await inOneLoop())
for (const name of chosen.filter((way) => way !== LOOP)) {
  const backend = makeCpu({ cacheBytes, ...(given.plain && { simd: false }) })
  const make = ways[name]!(backend)
  const sizes: number[] = []
  let kernels = 0
  for (let i = 0; i < count; i++) {
    make(i)
    if (i % 64 === 63) {
      if (name === 'forgotten' && i % 256 === 255) collect()
      await setImmediate()
      kernels = Math.max(kernels, backend.kernels())
    }
    if (i >= from && (i - from) % part === 0) {
      await settled()
      sizes.push(process.memoryUsage().rss)
    }
  }
  // What is kept grows in every part; an engine that compiles its own code anew, or widens its heap, steps once.
  const grown = middle(sizes.slice(1).map((size, k) => size - sizes[k]!)) * PARTS
  const cache = backend.cache()
  const { modules, slots } = backend.stats()
  // A loop or two for each plan; and between two turns of the event loop those of functions that are forgotten.
  const held = cache.bytes <= cacheBytes && backend.kernels() <= 3 * cache.plans + 64 && slots <= kernels + 512
  backend.clearCache()
  // The function of many shapes lives; and the program that ran last is known to the memory.
  const left = backend.kernels()
  const fine = grown < bound && held && left <= 3
  failed ||= !fine
  console.log(
    `${fine ? 'ok  ' : 'FAIL'}  ${name.padEnd(9)} ${count} functions: grew by ${mib(grown)} after the first ${from}, by the middle of ${PARTS} parts (bound ${mib(bound)}); ` +
      `${cache.plans} plans of ${mib(cache.bytes)}, ${modules} modules, at most ${kernels} kernels in ${slots} slots; ${left} kernels after clearCache`,
  )
}
process.exitCode = failed ? 1 : 0
