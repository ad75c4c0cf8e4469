// Products of codual's own kernels beside what the registers of the same engine can do: multiply and add without a load (the ceiling), for f32 and f64, and all orders of both operands.
// Operands and results stay in the memory of the kernels, as arrays of a BLAS do (`--arrays`: arrays of the host, which are copied).
// `npm run bench:gemm [-- --rounds 5]`; on Node 22 and later also with the relaxed multiply-add, which has a ceiling of its own.
// `--few`: products of few rows or columns instead, beside the library of the system (codual/blas, one thread), if there is one.
import { parseArgs } from 'node:util'
import { findLibrary } from '../src/backends/blas/library.js'
import { blasOf } from '../src/backends/blas/over.js'
import { makeCpu } from '../src/backends/cpu/index.js'
import { Module } from '../src/backends/cpu/wasm/encoder.js'
import { relaxedSimd } from '../src/backends/cpu/wasm/features.js'
import * as OP from '../src/backends/cpu/wasm/opcodes.js'
import * as cd from '../src/index.js'
import { OF_ANY_SIZE } from '../test/backends/system-blas.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    arrays: { type: 'boolean', default: false },
    few: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
type Dtype = 'f32' | 'f64'
const lanes = { f32: 4, f64: 2 } as const

/** A call that does `count` rounds of 14 sums of products held in registers, and its floating-point operations a round. */
const registersOnly = (dtype: Dtype, madd: boolean): { readonly call: (count: number) => void; readonly flops: number } => {
  const m = new Module()
  const f = m.func('run', ['i32'])
  const sums = f.locals('v128', 14)
  const b = f.local('v128')
  const count = f.param(0)
  const [mul, add, fused] =
    dtype === 'f32'
      ? ([OP.f32x4_mul, OP.f32x4_add, OP.f32x4_relaxed_madd] as const)
      : ([OP.f64x2_mul, OP.f64x2_add, OP.f64x2_relaxed_madd] as const)
  const number = (x: number): unknown => (dtype === 'f32' ? f.f32x4Const(x) : f.f64x2Const(x))
  sums.forEach((s, i) => void f.localSet(s, () => number(1 + i)))
  f.localSet(b, () => number(1e-9))
  // Each sum grows by a share of itself, so that no product is that of another, and none is known before.
  f.countDown(count, () => {
    for (let repeat = 0; repeat < 8; repeat++)
      for (const s of sums) {
        if (madd) f.op(fused, s, b, s).localSet(s)
        else f.op(add, s, () => f.op(mul, s, b)).localSet(s)
      }
  })
  // Something reads them.
  const memory = new WebAssembly.Memory({ initial: 1 })
  m.importMemory({ min: 1 })
  sums.forEach(
    (s, i) =>
      void f
        .push(16 * i)
        .push(s)
        .v128Store(),
  )
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory } })
  return { call: exports.run as (count: number) => void, flops: 2 * lanes[dtype] * sums.length * 8 }
}
const least = (call: () => void, ms: number): number => {
  let best = Number.POSITIVE_INFINITY
  const end = performance.now() + ms
  for (let k = 0; k < 3 || performance.now() < end; k++) {
    const start = performance.now()
    call()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

type Run = ((a: unknown, b: unknown) => cd.Tensor) & { into(out: unknown): (a: unknown, b: unknown) => unknown }
const sizes = [
  [128, 784, 32],
  [512, 512, 512],
  [1024, 1024, 1024],
  [2048, 2048, 2048],
] as const
const orders = ['a b', 'aT b', 'a bT', 'aT bT'] as const
const filled = (dtype: Dtype, m: number, n: number): cd.Tensor => {
  const data = new (dtype === 'f32' ? Float32Array : Float64Array)(m * n)
  for (let i = 0; i < data.length; i++) data[i] = Math.sin(1 + 7 * i)
  return cd.tensor(data, [m, n]) as unknown as cd.Tensor
}
/** A product into what is there, of operands that stay in the backend's memory, or of arrays. */
const productBy = async (
  backend: cd.Backend,
  dtype: Dtype,
  [m, k, n]: readonly [number, number, number],
  order: (typeof orders)[number],
): Promise<() => void> => {
  const placed = async (x: cd.Tensor): Promise<cd.Tensor> => (values.arrays ? x : ((await cd.onDevice(x as never, backend)) as cd.Tensor))
  const [ta, tb] = [order.startsWith('aT'), order.endsWith('bT')]
  const a = await placed(ta ? filled(dtype, k, m) : filled(dtype, m, k))
  const b = await placed(tb ? filled(dtype, n, k) : filled(dtype, k, n))
  const t = (x: cd.AnyExpr): cd.AnyExpr => cd.transpose(x as never) as cd.AnyExpr
  const run = (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(
    (x: cd.AnyExpr, y: cd.AnyExpr) => cd.matmul((ta ? t(x) : x) as never, (tb ? t(y) : y) as never),
    backend,
  )
  const into = run.into(await placed(run(a, b)))
  return () => void into(a, b)
}

/** Few rows, few columns, and a short inner axis. */
const fewSizes = [2, 4, 8, 16].flatMap((few) => [
  [few, 512, 512] as const,
  [few, 1024, 1024] as const,
  [few, 2048, 2048] as const,
  [512, 512, few] as const,
  [1024, 1024, few] as const,
  [512, few, 512] as const,
])
const fewBeside = async (): Promise<void> => {
  // Every product goes to the library, also those that the backend would keep.
  const found = findLibrary()
  const library = typeof found === 'string' ? undefined : found
  library?.setThreads(1)
  const inside = library && blasOf(library, OF_ANY_SIZE)
  console.log(`node ${process.version}: GFLOP/s, and the time over that of ${library?.name ?? 'a library, of which there is none'}`)
  for (const dtype of ['f32', 'f64'] as const) {
    const table: Record<string, Record<string, string>> = {}
    for (const size of fewSizes) {
      const row: Record<string, string> = {}
      for (const order of orders) {
        const own = { call: await productBy(makeCpu(), dtype, size, order), best: Number.POSITIVE_INFINITY }
        const other = inside && { call: await productBy(makeCpu({ blas: inside }), dtype, size, order), best: Number.POSITIVE_INFINITY }
        for (let r = 0; r < rounds; r++)
          for (const p of other === undefined ? [own] : [own, other]) p.best = Math.min(p.best, least(p.call, 15))
        const rate = ((2 * size[0] * size[1] * size[2]) / own.best / 1e6).toFixed(1)
        row[order] = other === undefined ? rate : `${rate} (${(own.best / other.best).toFixed(2)})`
      }
      table[size.join(' x ')] = row
    }
    console.log(`\n${dtype}`)
    console.table(table)
  }
}
if (values.few) {
  await fewBeside()
  process.exit()
}

const modes = relaxedSimd() ? [false, true] : [false]
console.log(`node ${process.version}: GFLOP/s, and the share of the ceiling; transposed operands as a share of the plain product`)
for (const madd of modes)
  for (const dtype of ['f32', 'f64'] as const) {
    const registers = registersOnly(dtype, madd)
    const backend = cd.cpu({ relaxed: madd })
    const products: {
      readonly m: number
      readonly k: number
      readonly n: number
      readonly order: string
      readonly call: () => void
      best: number
    }[] = []
    for (const [m, k, n] of sizes)
      for (const order of orders) {
        products.push({ m, k, n, order, call: await productBy(backend, dtype, [m, k, n], order), best: Number.POSITIVE_INFINITY })
      }
    let ceiling = 0
    const count = 4000
    for (let r = 0; r < rounds; r++) {
      ceiling = Math.max(ceiling, (registers.flops * count) / least(() => registers.call(count), 30) / 1e6)
      for (const p of products) p.best = Math.min(p.best, least(p.call, p.m > 1000 ? 0 : 60))
    }
    console.log(`\n${dtype}, ${madd ? 'relaxed multiply-add' : 'multiply and add'}: the ceiling is ${ceiling.toFixed(1)} GFLOP/s`)
    console.table(
      Object.fromEntries(
        sizes.map(([m, k, n]) => {
          const of = (order: string): number => {
            const p = products.find((q) => q.m === m && q.order === order)!
            return (2 * m * k * n) / p.best / 1e6
          }
          const plain = of('a b')
          return [
            `${m} x ${k} x ${n}`,
            {
              'GFLOP/s': plain.toFixed(1),
              'of the ceiling': (plain / ceiling).toFixed(2),
              ...Object.fromEntries(orders.slice(1).map((o) => [o, (of(o) / plain).toFixed(2)])),
            },
          ]
        }),
      ),
    )
  }
