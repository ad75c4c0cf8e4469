// Single operations, most on a million f32, beside PyTorch's of one thread, by turns: forward, and with the gradient of the sum, of tensors that stay in the backend's memory.
// `npm run bench:operations [-- --only NAME,NAME] [--rounds 3] [--budget ms] [--above 2] [--no-blas] [--arrays] [--compare FILE]` (--arrays: arrays of the caller, that are copied; --compare fails where the ratio is a tenth above that of an earlier out/operations.json); CODUAL_PYTHON names the Python that has torch (python3 unless given).
import { mkdir, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { blas } from '../src/backends/blas/index.js'
import { relaxedSimd } from '../src/backends/cpu/wasm/features.js'
import * as cd from '../src/index.js'
import { compare, readTook, type Took } from './compare.js'
import { inputs, rows } from './operations-table.js'
import { torchServer } from './torch-server.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    budget: { type: 'string', default: '30' },
    above: { type: 'string', default: '0' },
    'no-blas': { type: 'boolean', default: false },
    arrays: { type: 'boolean', default: false },
    compare: { type: 'string' },
  },
})
const [rounds, budget, above] = [Number(values.rounds), Number(values.budget), Number(values.above)]

type E = cd.AnyExpr
const kinds: Readonly<Record<string, (i: number) => number>> = {
  wave: (i) => 2 * Math.sin(i) + 0.1,
  positive: (i) => Math.cos(i) + 2,
  unit: (i) => 0.95 * Math.sin(i),
  small: (i) => 0.1 * Math.sin(i),
  index: (i) => (i * 7919) % 1000,
  bool: (i) => (Math.sin(i) > 0 ? 1 : 0),
}
type ArrayOf = new (size: number) => { map(f: (x: number, i: number) => number): ArrayLike<number> }
const arrays: Readonly<Record<string, ArrayOf>> = { f32: Float32Array, f64: Float64Array, i32: Int32Array, bool: Uint8Array }
const given = Object.fromEntries(
  Object.entries(inputs).map(([name, [shape, kind, dtype]]) => {
    const data = new arrays[dtype]!(shape.reduce((a, b) => a * b, 1)).map((_: number, i: number) => kinds[kind]!(i))
    return [name, cd.tensor(data as never, shape as number[], dtype as never) as unknown as cd.Tensor]
  }),
)

/** The least milliseconds of calls during the budget, three at least. */
const least = (f: () => void): number => {
  let best = Number.POSITIVE_INFINITY
  const end = performance.now() + budget
  for (let k = 0; k < 3 || performance.now() < end; k++) {
    const start = performance.now()
    f()
    best = Math.min(best, performance.now() - start)
  }
  return best
}
const library = values['no-blas'] ? undefined : blas({ threads: 1 })
const backend = library === undefined ? cd.cpu() : cd.cpu({ blas: library })
const placed = async <T>(x: T): Promise<T> => (values.arrays ? x : ((await cd.onDevice(x as never, backend)) as unknown as T))
const kept = await placed(given)
type Run = ((g: unknown) => unknown) & { into(out: unknown): (g: unknown) => unknown; dispose(): void }
/** A call, and the sum of what it gives. */
const runner = async (f: (g: Readonly<Record<string, E>>) => E, wrt: readonly string[], args: unknown) => {
  const whole =
    wrt.length === 0 ? f : (cd.grad as unknown as (f: unknown, o: unknown) => unknown)((g: never) => cd.sum(f(g) as never), { wrt })
  const run = (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(whole, backend)
  const made = await placed(run(args))
  const into = run.into(made)
  into(args)
  const first = (wrt.length === 0 ? made : (made as Readonly<Record<string, unknown>>)[wrt[0]!]) as unknown as cd.Tensor
  let total = 0
  for (const v of first.data) total += Number(v)
  const free = (): void => {
    run.dispose()
    for (const t of cd.treeLeaves(made as never)) (t as unknown as { readonly dispose?: () => void }).dispose?.()
  }
  return { call: () => void into(args), total, free }
}

const server = await torchServer('torch-operations.py', 1)
await server.ask({ inputs })
console.log(`node ${process.version}; BLAS: ${library?.library ?? 'not asked'}`)
const wanted = values.only?.split(',')
const found: { readonly name: string; readonly forward?: number; readonly gradient?: number; readonly ms: number }[] = []
const cell = (x: number | undefined): string => (x === undefined ? '' : x.toPrecision(2)).padStart(9)
console.log(`${'time over PyTorch'.padEnd(34)}  forward gradient   ms`)
for (const { name, f, torch, of, wrt } of rows) {
  if (wanted !== undefined && !wanted.some((w) => name.startsWith(w))) continue
  const args = Object.fromEntries(of.map((k) => [k, kept[k]!]))
  const ratios: (number | undefined)[] = []
  let ms = 0
  for (const by of [[], wrt]) {
    if (by !== wrt || wrt.length > 0) {
      const { call, total, free } = await runner(f, by, args)
      least(call)
      let [own, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      for (let r = 0; r < rounds; r++) {
        own = Math.min(own, least(call))
        const answer = await server.ask({ of: torch, wrt: by, ms: budget })
        if (typeof answer === 'string') {
          console.log(`${name}: PyTorch says ${answer}`)
          break
        }
        const [t, sum] = answer as readonly [number, number]
        if (r === 0 && !(Math.abs(sum - total) <= 1e-3 * Math.max(1, Math.abs(sum)) + 1e-6 * 1e6))
          console.log(`${name}${by.length > 0 ? ' gradient' : ''}: the sum is ${total}, PyTorch's ${sum}`)
        other = Math.min(other, t)
      }
      free()
      if (by.length === 0) ms = own
      ratios.push(own / other)
    }
  }
  const [forward, gradient] = ratios
  found.push({ name, ...(forward !== undefined && { forward }), ...(gradient !== undefined && { gradient }), ms })
  if (Math.max(forward ?? 0, gradient ?? 0) >= above)
    console.log(`${name.padEnd(34)}${cell(forward)}${cell(gradient)}  ${ms.toPrecision(3)}`)
}
const mean = (xs: readonly number[]): string => Math.exp(xs.reduce((s, x) => s + Math.log(x), 0) / xs.length).toPrecision(3)
const of = (key: 'forward' | 'gradient'): readonly number[] => found.flatMap((r) => (Number.isFinite(r[key]) ? [r[key]!] : []))
for (const key of ['forward', 'gradient'] as const)
  console.log(`${key}: ${of(key).length} rows, geometric mean ${mean(of(key))}, above 2: ${of(key).filter((x) => x > 2).length}`)
/** The ratios of a row, forward and gradient. */
const tookOf = ({ name, forward, gradient }: Readonly<Record<string, unknown>>): Took => ({
  ...(typeof forward === 'number' && { [`${name}`]: forward }),
  ...(typeof gradient === 'number' && { [`${name} gradient`]: gradient }),
})
// An earlier run is read before this one is written, maybe over it.
const before = values.compare === undefined ? undefined : readTook(values.compare, tookOf)
await mkdir('out', { recursive: true })
await writeFile('out/operations.json', JSON.stringify({ node: process.version, date: new Date().toISOString(), rows: found }, null, 1))
await server.end()
if (before !== undefined) compare(before, Object.assign({}, ...found.map((row) => tookOf({ ...row }))))

if (relaxedSimd() && wanted === undefined) {
  const products = [
    [128, 784, 32],
    [512, 512, 512],
    [1024, 1024, 1024],
  ] as const
  const kinds = (['f32', 'f64'] as const).flatMap((dtype) => products.map((size) => [dtype, ...size] as const))
  console.table(
    Object.fromEntries(
      kinds.map(([dtype, m, k, n]) => {
        const of = (r: number, c: number) =>
          cd.tensor(new arrays[dtype]!(r * c).map((_: number, i: number) => Math.sin(i)) as never, [r, c], dtype)
        const [a, b] = [of(m, k), of(k, n)]
        const calls = [false, true].map((relaxed) => {
          const run = cd.compile((x: E, y: E) => cd.matmul(x as never, y as never) as E, cd.cpu({ relaxed })) as unknown as Run
          const into = (run as unknown as (x: unknown, y: unknown) => unknown)(a, b)
          const again = run.into(into) as unknown as (x: unknown, y: unknown) => unknown
          return () => void again(a, b)
        })
        const [apart, fused] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY].map((x, i) =>
          Math.min(x, ...[0, 1, 2].map(() => least(calls[i]!))),
        ) as [number, number]
        const rate = (ms: number): string => ((2 * m * k * n) / ms / 1e6).toFixed(1)
        return [`${dtype} ${m} x ${k} x ${n}`, { 'GFLOP/s': rate(apart), relaxed: rate(fused), times: (apart / fused).toFixed(2) }]
      }),
    ),
  )
}
