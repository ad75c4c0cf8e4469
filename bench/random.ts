// Uniform and normal numbers, a million at a time: codual, a loop of the same hash in JavaScript, jax-js. Least times, in turns.
// `npm run bench:random`
import { init, jit, numpy as np, random as other } from '@jax-js/jax'
import * as cd from '../src/index.js'
import * as random from '../src/random/index.js'

const N = 1_000_000
const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24]
/** Uniform f32 by the same hash, number by number, its rounds written out. */
const plain = (() => {
  let body = 'let x = k0 | 0, y = (i + k1) | 0;'
  for (let round = 0; round < 20; round++) {
    const n = ROTATIONS[round % 8]!
    body += `x = (x + y) | 0; y = ((y << ${n}) | (y >>> ${32 - n})) ^ x;`
    const block = (round + 1) / 4
    if (round % 4 === 3) body += `x = (x + k${block % 3}) | 0; y = (y + k${(block + 1) % 3} + ${block}) | 0;`
  }
  const text = `const k2 = k0 ^ k1 ^ 0x1bd11bda; for (let i = 0; i < ${N}; i++) { ${body} out[i] = ((x ^ y) >>> 9) * 2 ** -23 }`
  return new Function('out', 'k0', 'k1', text) as (out: Float32Array, k0: number, k1: number) => void
})()
const numbers = new Float32Array(N)

const timed = async (f: () => unknown): Promise<number> => {
  const t = performance.now()
  await f()
  return performance.now() - t
}
const key = random.key(5)
const ours = (draw: (k: cd.AnyExpr) => unknown) => {
  const f = cd.compile(draw as never) as unknown as { (k: unknown): cd.Tensor; into(out: unknown): (k: unknown) => unknown }
  const into = f.into(f(key))
  return () => into(key)
}
const theirs = async (draw: (k: never) => unknown) => {
  await init('wasm')
  const f = jit(draw as never) as unknown as (k: unknown) => { blockUntilReady(): Promise<{ dispose(): void }> }
  return async () => (await f(other.key(np.array(5, { dtype: np.uint32 }))).blockUntilReady()).dispose()
}
const runs: Readonly<Record<string, () => unknown>> = {
  'uniform f32, codual': ours((k) => random.uniform(k, [N], { dtype: 'f32' })),
  'uniform f32, JavaScript': () => plain(numbers, 0, 5),
  'uniform f32, jax-js': await theirs((k) => other.uniform(k, [N])),
  'normal f32, codual': ours((k) => random.normal(k, [N], { dtype: 'f32' })),
  'normal f32, jax-js': await theirs((k) => other.normal(k, [N])),
  'uniform f64, codual': ours((k) => random.uniform(k, [N])),
  'normal f64, codual': ours((k) => random.normal(k, [N])),
  'gamma of 2, f32, codual': ours((k) => random.gamma(k, 2, { shape: [N], dtype: 'f32' })),
}
const same = cd.evaluate(random.uniform(key, [N], { dtype: 'f32' })).data as Float32Array
plain(numbers, 0, 5)
if (!numbers.every((x, i) => x === same[i])) throw new Error('not the same numbers')
const best = new Map<string, number>()
for (let turn = 0; turn < 12; turn++)
  for (const [name, f] of Object.entries(runs)) best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, await timed(f)))
for (const [name, t] of best) console.log(`${name.padEnd(28)} ${t.toFixed(2).padStart(8)} ms`)
const ratio = (a: string, b: string): string => `${(best.get(a)! / best.get(b)!).toFixed(2)}`
console.log(
  `uniform f32: ${ratio('uniform f32, codual', 'uniform f32, JavaScript')} of JavaScript's time, ${ratio('uniform f32, codual', 'uniform f32, jax-js')} of jax-js's`,
)
console.log(`normal f32: ${ratio('normal f32, codual', 'normal f32, jax-js')} of jax-js's time`)
