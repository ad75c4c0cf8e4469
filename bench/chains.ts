// Chains of 10^4, 10^5 and 10^6 steps x = sin(x) c_k + x: time of build, grad, plan and run, and the ratio to the chain a tenth as long.
// `npm run bench:chains`
import { makeCpu } from '../src/backends/cpu/index.js'
import { metaOf, traceMeta } from '../src/core/functions/function.js'
import { aval } from '../src/core/graph/aval.js'
import * as cd from '../src/index.js'

type Any = cd.AnyExpr
type Loose = (...xs: readonly unknown[]) => Any
const [add, mul, sin, sum] = [cd.add, cd.mul, cd.sin, cd.sum] as unknown as readonly [Loose, Loose, Loose, Loose]

const timed = <A>(f: () => A): readonly [A, number] => {
  const t = performance.now()
  const a = f()
  return [a, performance.now() - t]
}

/** The time alone: the frame of the caller then keeps no graph alive while the next one is made. */
const timeOf = (f: () => unknown): number => timed(f)[1]

const row = (n: number, shape: readonly number[]) => {
  const c = Float64Array.from({ length: n }, (_, k) => 1e-3 * Math.sin(k + 1))
  const f = (x: Any): Any => {
    let y = x
    for (let k = 0; k < n; k++) y = add(mul(sin(y), c[k]!), y)
    return shape.length === 0 ? y : sum(y)
  }
  const tree = { _tag: 'Tuple' as const, items: [{ _tag: 'Leaf' as const }] }
  const avals = [aval(shape, 'f64')]
  const build = timeOf(() => traceMeta(metaOf(f), tree, avals))
  const [program, whole] = timed(() => traceMeta(metaOf((cd.valueAndGrad as unknown as Loose)(f)), tree, avals))
  const backend = makeCpu()
  const [executable, plan] = timed(() => backend.prepare(program))
  const x = [Float64Array.from({ length: avals[0]!.size }, (_, i) => 0.4 + 0.1 * i)]
  executable.run(x)
  const run = Array.from({ length: 5 }, () => timeOf(() => executable.run(x))).sort((a, b) => a - b)[2]!
  return { build, grad: whole - build, plan, run, kernels: executable.explain().kernels }
}

for (const shape of [[], [4]]) {
  let before: ReturnType<typeof row> | undefined
  for (const n of [10_000, 100_000, 1_000_000]) {
    const r = row(n, shape)
    const cell = (k: 'build' | 'grad' | 'plan' | 'run'): string =>
      `${k} ${r[k].toFixed(1)} ms${before === undefined ? '' : ` (x${(r[k] / before[k]).toFixed(1)})`}`
    console.log(`[${shape}] ${n} steps: ${cell('build')}, ${cell('grad')}, ${cell('plan')}, ${cell('run')}; ${r.kernels} kernels`)
    before = r
  }
}
