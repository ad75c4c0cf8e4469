// Fourier transforms on the CPU beside SciPy and NumPy (pocketfft, one thread), compiled, least times in ms and as ratios: codual's time over SciPy's, with results of
// its own and with `.into`. `npm run bench:fft [-- part of a row's name]`; CODUAL_PYTHON names the Python that has SciPy (python3 unless given), which runs before and after.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import * as cd from '../src/index.js'

type E = cd.AnyExpr
interface Row {
  readonly op: string
  readonly dtype: 'f64' | 'f32'
  readonly shape: readonly number[]
  readonly axis: number
}
const row = (op: string, dtype: Row['dtype'], shape: readonly number[], axis = shape.length - 1): Row => ({ op, dtype, shape, axis })
const nameOf = ({ op, dtype, shape, axis }: Row): string =>
  `${op} ${dtype} ${shape.join(' x ')}${axis === shape.length - 1 ? '' : ` axis ${axis}`}`
const wanted = process.argv[2] ?? ''
const rows = (['f64', 'f32'] as const)
  .flatMap((dtype) => [
    ...[1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1000, 59_049, 1009, 100_003].map((n) => row('fft', dtype, [n])),
    ...[1 << 10, 1 << 16, 1 << 20].map((n) => row('rfft', dtype, [n])),
    ...[1 << 10, 1 << 16].map((n) => row('irfft', dtype, [n / 2 + 1])),
    row('ifft', dtype, [1 << 16]),
    row('fft', dtype, [64, 1024]),
    row('fft', dtype, [1024, 64], 0),
    row('fft', dtype, [10_000, 8]),
    row('fft2', dtype, [512, 512]),
    row('stft', dtype, [1 << 17]),
  ])
  .filter((r) => nameOf(r).includes(wanted))

const peers = (): Readonly<Record<string, readonly [scipy: number, numpy: number]>> | undefined => {
  const given = JSON.stringify(rows.map((r) => ({ ...r, name: nameOf(r) })))
  const { status, stdout } = spawnSync(process.env.CODUAL_PYTHON ?? 'python3', [join(import.meta.dirname, 'fft.py'), given], {
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  })
  return status === 0 ? JSON.parse(stdout) : undefined
}
/** The least time of a call, in turns. */
const bestOf = (fs: readonly (() => unknown)[], calls: number): readonly number[] => {
  const least = fs.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < 25; round++)
    fs.forEach((f, k) => {
      const start = performance.now()
      for (let c = 0; c < calls; c++) f()
      least[k] = Math.min(least[k]!, (performance.now() - start) / calls)
    })
  return least
}
type Compiled = ((...xs: readonly unknown[]) => unknown) & { readonly into: (outs: unknown) => (...xs: readonly unknown[]) => unknown }
const timed = ({ op, dtype, shape, axis }: Row): readonly number[] => {
  const size = shape.reduce((a, b) => a * b, 1)
  const wave = (f: (x: number) => number): cd.Tensor =>
    cd.tensor(
      Float64Array.from({ length: size }, (_, i) => f(0.37 * i ** 1.5)),
      shape,
      dtype,
    )
  const [re, im] = [wave(Math.sin), wave(Math.cos)]
  const listed = ({ re, im }: cd.ComplexPair): unknown => [re, im]
  const ops: Readonly<Record<string, (re: E, im: E) => unknown>> = {
    fft: (re, im) => listed(cd.fft({ re, im }, { axis } as never) as never),
    ifft: (re, im) => listed(cd.ifft({ re, im }, { axis } as never) as never),
    rfft: (re) => listed(cd.rfft(re, { axis } as never) as never),
    irfft: (re, im) => cd.irfft({ re, im } as never, { axis } as never),
    fft2: (re, im) => listed(cd.fft2({ re, im } as never) as never),
    stft: (re) => listed(cd.stft(re, { size: 1024, hop: 256, window: cd.hann(1024, { periodic: true, dtype }) } as never) as never),
  }
  const given = ['rfft', 'stft'].includes(op) ? [re] : [re, im]
  const f = cd.compile(ops[op] as never) as unknown as Compiled
  const into = f.into(f(...given))
  return bestOf([() => f(...given), () => into(...given)], Math.max(1, Math.round(1e5 / size)))
}

const before = peers()
const ours = rows.map(timed)
const after = peers()
const cell = (text: string): string => text.padStart(10)
console.log(`${''.padEnd(26)}${['codual ms', 'into', 'SciPy', 'NumPy', 'ratio', 'into'].map(cell).join('')}`)
const logs = [0, 0]
rows.forEach((r, i) => {
  const [fresh, into] = ours[i]! as [number, number]
  const [scipy, numpy] = [0, 1].map((k) => Math.min(...[before, after].map((all) => all?.[nameOf(r)]?.[k] ?? Number.NaN))) as [
    number,
    number,
  ]
  logs[0]! += Math.log(fresh / scipy)
  logs[1]! += Math.log(into / scipy)
  const times = [fresh, into, scipy, numpy].map((x) => cell(x.toPrecision(3)))
  console.log(`${nameOf(r).padEnd(26)}${times.join('')}${[fresh / scipy, into / scipy].map((x) => cell(x.toFixed(2))).join('')}`)
})
console.log(`geometric means${''.padEnd(51)}${logs.map((x) => cell(Math.exp(x / rows.length).toFixed(2))).join('')}`)
