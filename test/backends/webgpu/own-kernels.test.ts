/** Mistakes in kernels of one's own, found by checkPluginAsync on lavapipe: WGSL that does not compile, that is wrong, that reads what is not there; functions; a device that is lost. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend, type WebGpuOptions } from '../../../src/backends/webgpu/index.js'
import { type Checked, checkPluginAsync } from '../../../src/check/index.js'
import * as cd from '../../../src/index.js'
import { findLane, openDevice, openGpu } from './adapter.js'

const lane = findLane('lavapipe')
const { mul, sin, cos } = cd as unknown as Readonly<Record<'mul' | 'sin' | 'cos', (...xs: readonly unknown[]) => cd.AnyExpr>>

/** a sin(2 x). */
const wave = cd.elementwise({ name: 'wave', args: ['float', 'float'], scalar: (x, a) => a! * Math.sin(2 * x!), source: 'test' })
const polar = cd.elementwise({
  name: 'polar',
  args: ['float', 'float'],
  results: ['float', 'float'],
  scalar: (r, t) => [r! * Math.cos(t!), r! * Math.sin(t!)],
  source: 'test',
})
const backwards = cd.primitive({
  name: 'backwards',
  family: 'test',
  args: ['float'],
  shapeRule: ([x]) => x!,
  meaning: ([x], _p, [y]) => void y!.data.set(x!.data.slice().reverse() as never),
  samples: [{ args: [{ shape: [4] }], params: {} }],
  source: 'test',
})
const reversed = (x: cd.AnyExpr): cd.AnyExpr => cd.applyPrimitive(backwards as never, [x])[0]!
const ops = { wave, polar, backwards }
const rules = {
  wave: cd.scalarRule(wave as never, (({ x: [x, a] }: { x: cd.AnyExpr[] }) => [mul(2, mul(a, cos(mul(2, x)))), sin(mul(2, x))]) as never),
  polar: cd.multiScalarRule(
    polar as never,
    (({ x: [r, t] }: { x: cd.AnyExpr[] }) => [
      [cos(t), mul(-1, mul(r, sin(t)))],
      [sin(t), mul(r, cos(t))],
    ]) as never,
  ),
  backwards: cd.linearRule(
    backwards as never,
    { transpose: (yBar: cd.AnyExpr) => [reversed(yBar)], batch: ([x]: cd.AnyExpr[]) => x } as never,
  ),
}
type Code = (at: { readonly x: readonly string[] }) => unknown
type Kernel = (args: readonly { readonly data: Float32Array }[], params: unknown, outs: readonly { readonly data: Float32Array }[]) => void

describe.skipIf(lane === undefined)('a kernel of your own on lavapipe', () => {
  let open: WebGpuBackend | undefined
  beforeAll(async () => void (await openGpu(lane!)), 60_000)
  afterEach(() => open?.dispose())
  const checked = async (name: keyof typeof ops, row: unknown, options: WebGpuOptions = { dawn: ['backend=vulkan'] }): Promise<Checked> => {
    const p = cd.definePlugin({
      name: 'own',
      ops: { [name]: ops[name] },
      rules: { [name]: rules[name] },
      kernels: { webgpu: { [name]: row } },
    } as never)
    open = makeWebGpu({ ...options, kernels: p.kernels.webgpu as never })
    return checkPluginAsync(p, { backends: [open] })
  }
  const found = async (...given: Parameters<typeof checked>) => {
    const c = await checked(...given)
    return c._tag === 'Left' ? c.left[0]! : undefined
  }
  const inline = (code: Code): unknown => cd.inline(code as never)
  const right: Code = ({ x }) => `sin(2.0 * ${x[0]}) * ${x[1]}`
  const reverse: Kernel = ([x], _p, [y]) => y!.data.set(x!.data.slice().reverse())

  it('that is right passes, and nothing is said of f64, which no device has', async () => {
    expect(await checked('wave', inline(right))).toMatchObject({ _tag: 'Right', right: { notImplemented: [] } })
    expect(await checked('backwards', reverse)).toMatchObject({ _tag: 'Right', right: { notImplemented: [] } })
    expect(
      await checked(
        'polar',
        inline(({ x: [r, t] }) => [`${r} * cos(${t})`, `${r} * sin(${t})`]),
      ),
    ).toMatchObject({ _tag: 'Right' })
  }, 60_000)

  it('with a typo: the primitive, the line with its number, and what the driver says', async () => {
    const cases: readonly (readonly [Code, string, string])[] = [
      [({ x }) => `sine(2.0 * ${x[0]}) * ${x[1]}`, '/* wave */ sine(2.0 * v0) * v1;', "unresolved call target 'sine'"],
      [({ x }) => `sin(2.0 * ${x[0]} * ${x[1]}`, '/* wave */ sin(2.0 * v0 * v1;', "expected ',' for function call"],
      [({ x }) => `sin(2.0 * ${x[0]}) * 2i`, '/* wave */ sin(2.0 * v0) * 2i;', "no matching overload for 'operator * (f32, i32)'"],
      [({ x }) => `${x[0]} > ${x[1]}`, '/* wave */ v0 > v1;', 'cannot initialize'],
    ]
    for (const [code, line, words] of cases) {
      const f = await found('wave', inline(code))
      expect(f).toMatchObject({ check: 'raises', of: 'wave', path: 'webgpu' })
      expect(f!.actual).toMatch(/a shader was refused at line \d+, `let v\d+: f32 = /)
      expect(f!.actual).toContain(line)
      expect(f!.actual).toContain(words)
    }
  }, 60_000)

  it('with a typo: nothing is printed, on either stream', () => {
    const script = fileURLToPath(new URL('./wrong-kernels.ts', import.meta.url))
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8' })
    expect(JSON.parse(stdout)).toEqual([expect.stringContaining("unresolved call target 'doubled'")])
    expect(stderr).not.toMatch(/WGSL|[Ss]hader|validation|doubled/)
  }, 60_000)

  it('that compiles and is wrong: which array, and which entry', async () => {
    expect(
      await found(
        'wave',
        inline(({ x }) => `${right({ x })} + 0.01`),
      ),
    ).toMatchObject({ check: 'backend', of: 'wave', path: 'result 0', how: 'webgpu' })
    const off: Kernel = ([x], _p, [y]) => {
      y!.data.set(x!.data.slice().reverse())
      y!.data[2]! += 0.5
    }
    expect(await found('backwards', off)).toMatchObject({ check: 'backend', path: 'result 0', index: 2, entry: '[2]' })
    const swapped = await found(
      'polar',
      inline(({ x: [r, t] }) => [`${r} * cos(${t})`, `${r} * cos(${t})`]),
    )
    expect(swapped).toMatchObject({ check: 'backend', path: 'result 1' })
  }, 60_000)

  it('that reads an argument too many, or gives no text, or too few: said in its own words', async () => {
    const told = async (name: 'wave' | 'polar', code: Code): Promise<string> => (await found(name, inline(code)))!.actual
    expect(await told('wave', ({ x }) => `sin(${x[2]})`)).toMatch(
      /the webgpu kernel of wave: it is `sin\(undefined\)`.*2 arguments, x\[0\] to x\[1\]/,
    )
    expect(await told('wave', () => 2)).toMatch(/the webgpu kernel of wave: its inline code gave 2/)
    expect(await told('wave', ({ x }) => [x[0], x[1]])).toMatch(/the webgpu kernel of wave: its inline code gave an array/)
    expect(await told('polar', ({ x }) => x[0])).toMatch(/the inline kernel of polar: it gave '\w+', and polar has 2 results/)
    expect(await told('polar', ({ x }) => [x[0]])).toMatch(/a list of 1, and polar has 2 results/)
    expect((await found('backwards', (([, x], _p, [y]) => y!.data.set(x!.data)) as Kernel))!.actual).toContain('TypeError')
  }, 60_000)

  it('that loses the device: a finding, and the check ends', async () => {
    const device = await openDevice(lane!)
    const f = await found(
      'backwards',
      ((args, p, outs) => {
        device.destroy()
        reverse(args, p, outs)
      }) as Kernel,
      { device },
    )
    expect(f).toMatchObject({ check: 'raises', of: 'backwards', path: 'webgpu' })
    expect(f!.actual).toMatch(/the device was lost/)
  }, 60_000)
})
