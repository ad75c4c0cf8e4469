const c = await import('../src/index.js')
const x = c.tensor(Array.from({ length: 8 }, (_, i) => Math.sin(i + 1)))
const fs: any = { norm: () => c.norm(x), softmax: () => c.softmax(x), sort: () => c.sort(x), sum: () => c.sum(x, { axis: [0], keepdims: true }), set: () => c.set(x, 2, 3), cumsum: () => c.cumsum(x) }
const f = fs[process.argv[2]!]
for (let i = 0; i < 3e5; i++) f()
const t0 = performance.now(); for (let i = 0; i < 1e6; i++) f(); console.log(process.argv[2], (performance.now() - t0).toFixed(0), 'ns')
