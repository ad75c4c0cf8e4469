const roots = [process.argv[2]!, process.argv[3]!]
const only = process.argv[4]
const x = Array.from({ length: 8 }, (_, i) => Math.sin(i + 1))
const make = (c: any): Record<string, () => unknown> => {
  const { fn, f64, grad, sum, mul, softmax, sort, set, addAt, matmul, add, tanh, logSoftmax, concat, slice, where, gt, cumsum, norm, mean, reshape, transpose, expandDims, take, square, sub, max, exp, tensor } = c
  const fs: Record<string, (x: any) => any> = {
    'mul sum': (x) => sum(mul(x, x)),
    'softmax+sort': (x) => sum(mul(softmax(x), sort(x))),
    'set': (x) => sum(set(x, 2, 3)),
    'addAt': (x) => sum(mul(addAt(x, 2, 1), x)),
    'mlp': (x) => { const m = reshape(x, [2, 4]); return sum(square(sub(tanh(matmul(m, transpose(m))), 1))) },
    'concat+cumsum': (x) => sum(cumsum(concat([x, mul(x, 2)]))),
    'mean+max': (x) => add(mean(x), max(exp(x))),
    'where+take': (x) => sum(where(gt(x, 0), take(x, [1, 1, 2, 3, 4, 5, 6, 7]), 0)),
    'norm': (x) => norm(x),
    'logSoftmax': (x) => sum(mul(logSoftmax(x), x)),
  }
  const xt = tensor(x)
  return Object.fromEntries(Object.entries(fs).flatMap(([n, f]) => [[`g ${n}`, () => grad((y: any) => f(y))(x)], [`t ${n}`, () => f(xt)]]))
}
const sets = await Promise.all(roots.map(async (r) => make(await import(r + '/src/index.ts'))))
for (const name of Object.keys(sets[0]!)) {
  if (only && !name.includes(only)) continue
  const fs = sets.map((s) => s[name]!)
  for (let i = 0; i < 2000; i++) for (const f of fs) f()
  const t: number[][] = [[], []]
  const N = name[0] === 't' ? 200 : 10
  for (let r = 0; r < 150; r++) for (const k of r % 2 ? [0, 1] : [1, 0]) { const t0 = performance.now(); for (let i = 0; i < N; i++) fs[k]!(); t[k]!.push((performance.now() - t0) / N * 1000) }
  for (const l of t) l.sort((a, b) => a - b)
  const q = (k: number, p: number) => t[k]![Math.floor(150 * p)]!
  console.log(name.padEnd(18), q(0, 0.1).toFixed(2), q(1, 0.1).toFixed(2), (q(1, 0.1) / q(0, 0.1)).toFixed(3), ' med', (q(1, 0.5) / q(0, 0.5)).toFixed(3))
}
