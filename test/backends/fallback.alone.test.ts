/** Where WebAssembly is missing or may not be compiled, kernels are plain JavaScript: the built library runs there, and says why. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

const root = join(import.meta.dirname, '..', '..')
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'codual-fallback-'))
  const lib = { entry: join(root, 'src/index.ts'), formats: ['es' as const], fileName: 'codual' }
  await build({ configFile: false, logLevel: 'error', root, build: { lib, outDir: folder, minify: false, emptyOutDir: false } })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a user may do first: a derivative, a compiled layer of some size, products, sums, sorts, f32, a larger memory, `.into`, an error. */
const program = `
const cd = await import('./codual.js')
const out = {}
out.slope = [...cd.grad((x) => cd.sum(cd.tanh(x)))([1, 2]).data]
const n = 64
const draw = (k) => Float64Array.from({ length: k }, (_, i) => Math.sin(i + 1))
const layer = cd.compile(cd.valueAndGrad(({ w, x }) => cd.mean(cd.square(cd.tanh(cd.matmul(x, w)))), { wrt: 'w' }))
const input = { w: cd.tensor(draw(n * n), [n, n]), x: cd.tensor(draw(3 * n), [3, n]) }
const made = layer(input)
out.layer = [made.value.item(), ...made.grad.data.slice(0, 5)]
out.sorted = [...cd.compile((x) => cd.sort(cd.add(x, 1)))(cd.tensor([3, 1, 2], [3], 'f32')).data]
const large = cd.tensor(new Float64Array(100000).fill(0.5))
out.large = cd.compile((x) => cd.sum(cd.mul(x, x)))(large).item()
const target = cd.tensor([0, 0])
cd.compile((x) => cd.mul(x, 2)).into(target)(cd.tensor([1, 2]))
out.into = [...target.data]
const explained = layer.explain()
out.fallback = explained.fallback
out.chosen = cd.compile((x) => cd.sin(x), cd.cpu({ simd: false })).explain(1).fallback ?? 'none'
out.asked = cd.runSync(cd.cpu())((x) => cd.mul(x, 2))(2)._tag
try { cd.cpu({ simd: true }); out.simd = 'there' } catch (e) { out.simd = e.error }
console.log(JSON.stringify(out))
`
/** What it gave, and the lines that it wrote to the console beside. */
const run = (before: string, ...flags: readonly string[]): Readonly<Record<string, unknown>> & { readonly warned: readonly string[] } => {
  writeFileSync(join(folder, 'program.mjs'), `${before}\n${program}`)
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, 'program.mjs'], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const warned = stderr.split('\n').filter((line) => line.includes('codual'))
  return { ...(JSON.parse(stdout) as Readonly<Record<string, unknown>>), warned }
}

describe('the library as it is built', () => {
  const close = (x: unknown, y: unknown): void => {
    expect(x).toHaveLength((y as readonly number[]).length)
    for (const [i, v] of (x as readonly number[]).entries()) expect(v).toBeCloseTo((y as readonly number[])[i]!, 12)
  }
  let want: ReturnType<typeof run> | undefined
  const same = (got: ReturnType<typeof run>): void => {
    want ??= run('')
    expect(want.fallback).toBe(undefined)
    expect(want.warned).toEqual([])
    // One word for all backends and programs of the process, with the reason and what to do.
    expect(got.warned).toHaveLength(1)
    expect(got.warned[0]).toMatch(
      new RegExp(`^codual: ${String(got.fallback).replace(/[()[\]]/g, '.')} .*'wasm-unsafe-eval'.*cpu.. simd: false ..`),
    )
    expect(want.simd).toBe('there')
    for (const name of ['slope', 'layer', 'sorted', 'into']) close(got[name], want[name])
    expect(got.large).toBe(25000)
    expect(got.asked).toBe('Right')
    expect(got.chosen).toBe('none')
  }

  it('runs where there is no WebAssembly (node --jitless)', () => {
    const got = run('', '--jitless')
    same(got)
    expect(got.fallback).toBe('kernels in plain JavaScript: this engine has no WebAssembly.')
    expect(got.simd).toMatchObject({
      _tag: 'Unsupported',
      backend: 'cpu',
      what: 'this engine has no WebAssembly',
      fix: 'cpu({ simd: false })',
    })
  })

  it('runs where WebAssembly may not be compiled (a policy without wasm-unsafe-eval)', () => {
    const got = run(
      `WebAssembly.Module = class { constructor() { throw new WebAssembly.CompileError('Refused by a policy') } }`,
      '--disallow-code-generation-from-strings',
    )
    same(got)
    expect(got.fallback).toBe('kernels in plain JavaScript: WebAssembly may not be compiled here (Refused by a policy).')
    expect(got.simd).toMatchObject({ _tag: 'Unsupported', backend: 'cpu' })
  })

  it('runs where WebAssembly is undefined, or is refused in any other way', () => {
    for (const [before, reason] of [
      ['delete globalThis.WebAssembly', 'this engine has no WebAssembly'],
      ['globalThis.WebAssembly = undefined', 'this engine has no WebAssembly'],
      ["WebAssembly.Module = function () { throw new EvalError('call to WebAssembly.Module() blocked by CSP') }", 'blocked by CSP'],
      ["WebAssembly.Instance = function () { throw 'no\\ninstances' }", 'no instances'],
      ['WebAssembly.validate = undefined', 'may not be compiled here'],
      ["WebAssembly.Memory = function () { throw new RangeError('no memory') }", 'no memory'],
    ] as const) {
      const got = run(before)
      same(got)
      expect(got.fallback).toContain(reason)
      expect(got.simd).toMatchObject({ _tag: 'Unsupported', backend: 'cpu' })
    }
  })

  it('does not say so where nobody wanted WebAssembly', () => {
    const text = "const cd = await import('./codual.js'); console.log(cd.compile((x) => cd.sin(x), cd.cpu({ simd: false }))(0).item())"
    writeFileSync(join(folder, 'asked.mjs'), `delete globalThis.WebAssembly\n${text}`)
    const { stdout, stderr } = spawnSync(process.execPath, ['asked.mjs'], { cwd: folder, encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['0\n', ''])
  })

  it('runs where WebAssembly has no SIMD', () => {
    const got = run('WebAssembly.validate = () => false')
    same(got)
    expect(got.fallback).toBe('kernels in plain JavaScript: this engine has no WebAssembly SIMD.')
  })
})

describe('an ordinary buffer as memory', () => {
  it('grows as often as it must, and raises OutOfMemory before anything runs', () => {
    const backend = makeCpu({ simd: false, memoryBytes: 2 ** 22 })
    const double = cd.compile((x: cd.AnyExpr) => cd.mul(x, 2), backend)
    const sizes = [10, 10_000, 30_000, 60_000, 100, 120_000, 20]
    for (const n of sizes) {
      const y = double(cd.tensor(Float64Array.from({ length: n }, (_, i) => i))) as unknown as cd.Tensor
      expect(y.data.every((v, i) => v === 2 * i)).toBe(true)
      expect(backend.memoryBytes()).toBeGreaterThanOrEqual(8 * n)
    }
    const before = backend.stats()
    expect(before.growths).toBeGreaterThan(1)
    expect(() => double(cd.tensor(new Float64Array(2 ** 19)))).toThrow(/OutOfMemory/)
    expect(backend.stats().calls).toBe(before.calls)
    for (const n of sizes) expect((double(cd.tensor(new Float64Array(n).fill(1))) as unknown as cd.Tensor).data[n - 1]).toBe(2)
  })

  it('leaves nothing of what it was before it grew', () => {
    const backend = makeCpu({ simd: false })
    const small = cd.compile((x: cd.AnyExpr) => cd.mul(x, 2), backend)
    const weigh = (): number => {
      globalThis.gc!()
      globalThis.gc!()
      return process.memoryUsage().arrayBuffers
    }
    small(cd.tensor([1, 2]))
    const grow = cd.compile((x: cd.AnyExpr) => cd.sum(cd.mul(x, 2)), backend)
    const before = weigh() - backend.memoryBytes()
    // Every function that ran holds views of the memory as it was then.
    const others = Array.from({ length: 6 }, (_, k) => {
      grow(cd.tensor(new Float64Array(100_000 << k)))
      const f = cd.compile((x: cd.AnyExpr) => cd.mul(x, 2), backend)
      f(cd.tensor([1, 2]))
      return f
    })
    expect(backend.stats().growths).toBeGreaterThan(4)
    expect(weigh() - backend.memoryBytes() - before).toBeLessThan(2 ** 20)
    for (const f of [small, ...others]) expect(Array.from((f(cd.tensor([1, 2])) as unknown as cd.Tensor).data)).toEqual([2, 4])
  })
})
