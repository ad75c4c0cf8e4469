// Single operations on a million f32, with outputs that stay, beside PyTorch's of one thread in the same run; and products with and without the relaxed multiply-add where the engine has it.
// `npm run bench:operations`; CODUAL_PYTHON names the Python that has torch (python3 unless given), whose columns are left out where it has none.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { relaxedSimd } from '../src/backends/cpu/wasm/features.js'
import * as cd from '../src/index.js'

type E = cd.AnyExpr
const N = 1_000_000
const f32 = (n: number, f: (i: number) => number, shape: readonly number[]): cd.Tensor =>
  cd.tensor(
    Float32Array.from({ length: n }, (_, i) => f(i)),
    shape as number[],
  ) as unknown as cd.Tensor
const given = {
  x: f32(N, (i) => 2 * Math.sin(i) + 0.1, [N]),
  y: f32(N, (i) => Math.cos(i) + 2, [N]),
  m: f32(N, (i) => 2 * Math.sin(i) + 0.1, [1000, 1000]),
  at: cd.tensor([37, 0], [2], 'i32') as unknown as cd.Tensor,
}
type Given = { readonly [K in keyof typeof given]: E }
const rows: Readonly<Record<string, (g: Given) => E>> = {
  sin: ({ x }) => cd.sin(x),
  tanh: ({ x }) => cd.tanh(x),
  sigmoid: ({ x }) => cd.sigmoid(x),
  'pow(x, 3)': ({ x }) => cd.pow(x, 3),
  'pow(x, -2)': ({ x }) => cd.pow(x, -2),
  mod: ({ x, y }) => cd.mod(x, y) as E,
  'topk 10': ({ x }) => cd.topk(x, 10 as never).values as E,
  median: ({ x }) => cd.median(x),
  sort: ({ x }) => cd.sort(x),
  '900 of 1000 rows': ({ m, at }) => cd.dynamicSlice(m, at as never, [900, 1000]) as E,
}
/** The least milliseconds of some calls, by turns where there are several. */
const best = (fs: readonly (() => void)[], rounds: number): readonly number[] => {
  const least = fs.map(() => Number.POSITIVE_INFINITY)
  for (let r = 0; r <= rounds; r++)
    fs.forEach((f, i) => {
      const start = performance.now()
      f()
      if (r > 0) least[i] = Math.min(least[i]!, performance.now() - start)
    })
  return least
}
type Run = ((g: unknown) => unknown) & { into(out: unknown): (g: unknown) => unknown }
const runner = (f: (g: never) => E, args: unknown, backend = cd.cpu()): (() => void) => {
  const run = (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(f, backend)
  const into = run.into(run(args))
  return () => void into(args)
}
const { status, stdout } = spawnSync(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, 'operations.py')], {
  encoding: 'utf8',
})
const torch = status === 0 ? (JSON.parse(stdout) as Record<string, number>) : {}
const shown = (x: number | undefined): string => (x === undefined ? '' : x.toFixed(2))
const measured = [...Object.entries(rows).map(([name, f]) => [name, best([runner(f as never, given)], 15)[0]!] as const)]
console.table(
  Object.fromEntries(
    measured.map(([name, ms]) => [name, { ms: shown(ms), torch: shown(torch[name]), ratio: torch[name] && shown(ms / torch[name]) }]),
  ),
)
if (relaxedSimd()) {
  const products = [
    [128, 784, 32],
    [512, 512, 512],
    [1024, 1024, 1024],
  ] as const
  const kinds = (['f32', 'f64'] as const).flatMap((dtype) => products.map((size) => [dtype, ...size] as const))
  console.table(
    Object.fromEntries(
      kinds.map(([dtype, m, k, n]) => {
        const of = (r: number, c: number) => cd.cast(f32(r * c, (i) => Math.sin(i), [r, c]) as never, dtype) as E
        const args = cd.evaluate({ a: of(m, k), b: of(k, n) } as never)
        const product = (({ a, b }: { a: E; b: E }) => cd.matmul(a as never, b as never)) as never
        const [apart, fused] = best(
          [false, true].map((relaxed) => runner(product, args, cd.cpu({ relaxed }))),
          30,
        ) as [number, number]
        const rate = (ms: number): string => shown((2 * m * k * n) / ms / 1e6)
        return [`${dtype} ${m} x ${k} x ${n}`, { 'GFLOP/s': rate(apart), relaxed: rate(fused), times: shown(apart / fused) }]
      }),
    ),
  )
}
