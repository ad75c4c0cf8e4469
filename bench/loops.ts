// Loops: what a scan costs beside the same loop written out in JavaScript, to prepare and to run; long loops; the first call of a neural ODE and of a Kalman filter.
// `npm run bench:loops`
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { makeCpu } from '../src/backends/cpu/index.js'
import * as cd from '../src/index.js'
import { inputsOf } from '../test/golden/data.js'
import { programs, variants } from '../test/golden/programs.js'

type E = cd.AnyExpr
type Op = (...xs: readonly unknown[]) => E
const {
  add,
  div,
  dynamicSlice,
  dynamicUpdateSlice,
  fori,
  log,
  lt,
  matmul,
  mul,
  reshape,
  scan,
  slice,
  sub,
  sum,
  tanh,
  tensor,
  transpose,
  whileLoop,
  ...rest
} = cd as unknown as Readonly<Record<string, Op>>
type Call = (...xs: readonly unknown[]) => unknown
const compile = cd.compile as unknown as (
  f: unknown,
  b: cd.SyncBackend,
) => Call & { readonly prepare: (...xs: readonly unknown[]) => unknown }
const gradient = cd.valueAndGrad as unknown as (f: unknown, o?: object) => unknown
const wave = (n: number, k: number, size = 1): Float64Array => Float64Array.from({ length: n }, (_, i) => size * Math.sin(k * (i + 1)))
const ms = (f: () => unknown): number => {
  const t = performance.now()
  f()
  return performance.now() - t
}
const least = (n: number, f: () => number): number => Math.min(...Array.from({ length: n }, f))
/** Of at least n, and of half a second, in which what is short is compiled by the better compiler. */
const leastOfMany = (n: number, f: () => number): number => {
  const end = performance.now() + 500
  let best = least(n, f)
  while (performance.now() < end) best = Math.min(best, f())
  return best
}

/** Preparing (tracing, deriving, planning, kernels) and first call on a backend of its own, after another program has warmed the library up; then the least of many. */
const measured = (make: () => unknown, args: readonly unknown[], runs: number, calls = 5, loops = true) => {
  let call: Call | undefined
  let prepare = Number.POSITIVE_INFINITY
  const first = least(calls, () => {
    const f = compile(make(), makeCpu(loops ? {} : { without: ['loops'] }))
    call = f
    const preparing = ms(() => f.prepare(...args))
    prepare = Math.min(prepare, preparing)
    return preparing + ms(() => f(...args))
  })
  return { prepare, first, run: leastOfMany(runs, () => ms(() => call!(...args))) }
}

const workload = (id: 'W7' | 'W8' | 'W9') => {
  const args = [Object.fromEntries(Object.entries(inputsOf(id, 'f32')).map(([k, { shape, data }]) => [k, tensor!(data, shape)]))]
  const loop = measured(() => variants[`${id}/scan`]!.program('f32').whole, args, 30)
  const out = measured(() => programs[id]('f32').whole, args, 30)
  console.log(
    `${id} as a scan / written out: prepared ${(out.prepare / loop.prepare).toFixed(1)} times faster (${loop.prepare.toFixed(1)} ms), first call ${(out.first / loop.first).toFixed(1)} times, run ${(loop.run / out.run).toFixed(2)} (${loop.run.toFixed(2)} ms)`,
  )
}
for (const id of ['W7', 'W8', 'W9'] as const) workload(id)

/** A layer of 8 units over T steps, with its gradient. */
const layer = (how: 'scan' | 'out') =>
  gradient((w: E, xs: E) => {
    const step = (h: E, x: E): E => tanh!(add!(matmul!(h, w), x))
    const zero = (cd.zeros as unknown as Op)([1, 8])
    if (how === 'scan') {
      const [h] = scan!((c: E, x: E) => [step(c, x), null], zero, xs) as unknown as readonly [E]
      return sum!(mul!(h, h))
    }
    let h = zero
    for (const x of rest.unstack!(xs) as unknown as readonly E[]) h = step(h, x)
    return sum!(mul!(h, h))
  })
const layerArgs = (T: number) => [tensor!(wave(64, 1.3, 0.3), [8, 8]), tensor!(wave(8 * T, 0.7), [T, 1, 8])]
for (const T of [64, 512]) {
  const [s, o] = (['scan', 'out'] as const).map((how) => measured(() => layer(how), layerArgs(T), 200)) as [
    ReturnType<typeof measured>,
    ReturnType<typeof measured>,
  ]
  console.log(
    `a layer of 8 units, ${T} steps: prepared ${(o.prepare / s.prepare).toFixed(1)} times faster (${s.prepare.toFixed(1)} ms), first call ${(o.first / s.first).toFixed(1)} times, run ${(s.run / o.run).toFixed(2)} of the written-out one`,
  )
}
/** Tracing, deriving and planning alone, on one backend whose kernels are compiled. */
const prepared = (T: number): number => {
  const backend = makeCpu()
  const args = layerArgs(T)
  return least(10, () => {
    backend.clearCache()
    const f = compile(layer('scan'), backend)
    return ms(() => f.prepare(...args))
  })
}
const [short, long] = [10, 10_000].map(prepared) as [number, number]
console.log(`10,000 steps / 10 steps: preparing ${(long / short).toFixed(2)} (${long.toFixed(2)} ms)`)

/** 1,000 steps of Runge and Kutta of a network of 16 units, value and gradient. */
const ode = (N: number) =>
  gradient(({ w1, b1, w2, y0 }: Record<string, E>) => {
    const f = (y: E): E => matmul!(tanh!(add!(matmul!(y, w1), b1)), w2)
    const dt = 0.01
    const y = fori!(
      N,
      (_k: E, u: E) => {
        const k1 = f(u)
        const k2 = f(add!(u, mul!(k1, dt / 2)))
        const k3 = f(add!(u, mul!(k2, dt / 2)))
        const k4 = f(add!(u, mul!(k3, dt)))
        return add!(u, mul!(add!(add!(k1, mul!(k2, 2)), add!(mul!(k3, 2), k4)), dt / 6))
      },
      y0,
    )
    return sum!(mul!(y, y))
  }, {})
const odeArgs = [
  {
    w1: tensor!(wave(32, 1.1, 0.3), [2, 16]),
    b1: tensor!(wave(16, 0.9, 0.1), [16]),
    w2: tensor!(wave(32, 0.6, 0.3), [16, 2]),
    y0: tensor!(wave(2, 2), [2]),
  },
]
const rss = process.memoryUsage().rss
const o = measured(() => ode(1000), odeArgs, 20)
const grown = (process.memoryUsage().rss - rss) / 2 ** 20
const oOut = measured(() => ode(1000), odeArgs, 20, 2, false)
console.log(
  `neural ODE, 1,000 steps: first call ${o.first.toFixed(0)} ms, ${(oOut.first / o.first).toFixed(0)} times faster than written out, run ${o.run.toFixed(2)} ms, ${(o.run / oOut.run).toFixed(2)} of written out; resident memory grew by ${grown.toFixed(0)} MiB in five first calls`,
)

/** A Kalman filter of a state of 2 and a measurement of 1: its log likelihood by its noises. */
const kalman = () =>
  gradient((q: E, r: E, ys: E) => {
    const F = tensor!([1, 1, 0, 1].map(Number), [2, 2])
    const I = tensor!([1, 0, 0, 1], [2, 2])
    const step = ([m, P, l]: readonly [E, E, E], y: E) => {
      const [m1, P1] = [matmul!(F, m), add!(matmul!(matmul!(F, P), transpose!(F)), mul!(q, I))]
      const S = add!(slice!(P1, [0, 0], [1, 1]), r)
      const K = div!(slice!(P1, [0, 0], [2, 1]), S)
      const e = sub!(y, slice!(m1, [0, 0], [1, 1]))
      const row = slice!(P1, [0, 0], [1, 2])
      const like = add!(l, reshape!(add!(log!(S), div!(mul!(e, e), S)), []))
      return [[add!(m1, mul!(K, e)), sub!(P1, matmul!(K, row)), like], null]
    }
    const [[, , l]] = scan!(step, [(cd.zeros as unknown as Op)([2, 1]), I, 0], ys) as unknown as readonly [readonly [E, E, E]]
    return l
  })
const kArgs = [0.1, 0.5, tensor!(wave(200, 0.3), [200, 1, 1])]
const k = measured(() => kalman(), kArgs, 50)
const kOut = measured(() => kalman(), kArgs, 50, 2, false)
console.log(
  `Kalman filter, 200 steps: first call ${k.first.toFixed(0)} ms, ${(kOut.first / k.first).toFixed(0)} times faster than written out, run ${k.run.toFixed(2)} ms, ${(k.run / kOut.run).toFixed(2)} of written out`,
)

/** PyTorch's own loops, where a Python that has it is found: `python3`, or what CODUAL_PYTHON names. */
const python = process.env.CODUAL_PYTHON ?? 'python3'
const peer = spawnSync(python, [fileURLToPath(new URL('./peers/torch-loops.py', import.meta.url))], { encoding: 'utf8' })
if (peer.status === 0) {
  const torch = JSON.parse(peer.stdout) as { readonly version: string; readonly ode: number; readonly kalman: number }
  const times = (theirs: number, ours: number): string =>
    `${(theirs / ours).toFixed(0)} times (${theirs.toFixed(1)} ms / ${ours.toFixed(2)} ms)`
  console.log(
    `PyTorch ${torch.version} / codual, value and gradient: neural ODE ${times(torch.ode, o.run)}, Kalman filter ${times(torch.kalman, k.run)}`,
  )
} else console.log(`PyTorch is not compared: ${python} has none (CODUAL_PYTHON names another)`)

/** A loop that writes one row of a table at each step, until its condition ends it: masked as well as left out, and left out alone. */
const tabulated = (rows: number): number => {
  const f = (x: E): E => {
    const next = ({ k, table }: Record<string, E>) => {
      const row = dynamicSlice!(table, [k, 0], [1, 8])
      return { k: add!(k, 1), table: dynamicUpdateSlice!(table, mul!(tanh!(row), 0.5), [add!(k, 1), 0]) }
    }
    const start = { k: tensor!(0, [], 'i32'), table: x }
    const [{ table }] = whileLoop!((s: Record<string, E>) => lt!(s.k, rows - 1), next, start) as unknown as readonly [Record<'table', E>]
    return table
  }
  const x = tensor!(wave(8 * rows, 1.1), [rows, 8])
  const [masked, plain] = [['unmask'] as const, []].map((without) => {
    const call = compile(f, makeCpu({ without }))
    return leastOfMany(5, () => ms(() => call(x)))
  }) as [number, number]
  return plain / masked
}
console.log(
  `a whileLoop that writes a row of a table at each step, of the time with masks: ${[100, 1000, 4000].map((n) => `${tabulated(n).toFixed(3)} of ${n} rows`).join(', ')}`,
)

/** A loop that adds up elements of an array by their positions, and the same in JavaScript. */
const added = (n: number): readonly [ours: number, plain: number] => {
  const x = wave(n, 1.7)
  const call = compile((x: E) => fori!(n, (k: E, s: E) => add!(s, reshape!(dynamicSlice!(x, [k], [1]), [])), 0), makeCpu())
  const given = tensor!(x)
  let s = 0
  const plain = () => {
    for (let k = 0; k < n; k++) s += x[k]!
  }
  const times = [leastOfMany(5, () => ms(() => call(given))), leastOfMany(5, () => ms(plain))] as const
  if (Number.isNaN(s)) throw new Error('the sum is lost')
  return times
}
const [loop, plain] = added(100_000)
console.log(
  `a loop that reads 100,000 elements by their positions: ${(loop * 10).toFixed(1)} ns a step, ${(loop / plain).toFixed(1)} times JavaScript's loop`,
)
