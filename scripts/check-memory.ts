// Does a process that keeps making functions keep its memory? Each way of making them in turn: the resident memory, and what the backend
// says that it holds, must stay once the caches are full. `node --expose-gc --import tsx scripts/check-memory.ts --functions 20000`
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
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
    return (i) => void f(cd.tensor(new Float64Array(1 + (i % 1000)), [1, 1 + (i % 1000), ...new Array<number>(Math.floor(i / 1000)).fill(1)]))
  },
}

const chosen = given.way ?? Object.keys(ways)
const resident = (): number => {
  collect()
  collect()
  return process.memoryUsage().rss
}
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`
let failed = false
for (const name of chosen) {
  const backend = makeCpu({ cacheBytes, ...(given.plain && { simd: false }) })
  const make = ways[name]!(backend)
  let before = 0
  let kernels = 0
  for (let i = 0; i < count; i++) {
    make(i)
    if (i % 64 === 63) {
      if (name === 'forgotten' && i % 256 === 255) collect()
      await setImmediate() // where the engine says what is gone
      kernels = Math.max(kernels, backend.kernels())
    }
    if (i === Math.floor(count / 4)) before = resident()
  }
  const grown = resident() - before
  const cache = backend.cache()
  const { modules, slots } = backend.stats()
  // Beyond what is cached there are kernels of functions that the engine has not collected yet.
  const held = cache.bytes <= cacheBytes && backend.kernels() <= cache.plans * 4 + 1024 && slots <= kernels + 64
  backend.clearCache()
  const left = name === 'shapes' || name === 'forgotten' ? 0 : backend.kernels()
  const fine = grown < bound && held && left === 0
  failed ||= !fine
  console.log(
    `${fine ? 'ok  ' : 'FAIL'}  ${name.padEnd(9)} ${count} functions: grew by ${mib(grown)} after the first ${Math.floor(count / 4)} (bound ${mib(bound)}); ` +
      `${cache.plans} plans of ${mib(cache.bytes)}, ${modules} modules, at most ${kernels} kernels in ${slots} slots; ${left} kernels after clearCache`,
  )
}
process.exitCode = failed ? 1 : 0
