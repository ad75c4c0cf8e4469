/*
 * The WebAssembly encoder: LEB128, control flow, locals, imports, tables, and every opcode accepted by the engine.
 */

import { describe, expect, it } from 'vitest'
import { ByteBuffer } from '../../src/backends/cpu/wasm/bytes.js'
import { type FunctionBuilder, Module, type Op, type ValType } from '../../src/backends/cpu/wasm/encoder.js'
import { noSimd, relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import * as OP from '../../src/backends/cpu/wasm/opcodes.js'

type Exports = Record<string, (...xs: number[]) => number>

const instantiate = (m: Module, imports: WebAssembly.Imports = {}): Exports =>
  new WebAssembly.Instance(new WebAssembly.Module(m.finish()), imports).exports as unknown as Exports

const decode = (bytes: Uint8Array, signed: boolean): bigint => {
  let value = 0n
  bytes.forEach((b, i) => {
    value |= BigInt(b & 127) << BigInt(7 * i)
  })
  const last = bytes[bytes.length - 1]!
  return signed && last & 64 ? value - (1n << BigInt(7 * bytes.length)) : value
}

describe('LEB128', () => {
  const edges = [0, 1, 63, 64, 127, 128, 8191, 8192, 16383, 16384, 0x7fffffff, 0x80000000, 0xffffffff]
  it('round-trips unsigned integers', () => {
    for (const n of edges) expect(decode(new ByteBuffer().u32(n).copy(), false)).toBe(BigInt(n))
  })
  it('round-trips signed integers of 32 and 64 bits', () => {
    for (const n of [...edges.map((x) => x | 0), ...edges.map((x) => -x | 0), -64, -65, -8192, -8193]) {
      expect(decode(new ByteBuffer().s32(n).copy(), true)).toBe(BigInt(n))
      for (const wide of [BigInt(n), BigInt(n) << 31n, (1n << 63n) - 1n, -(1n << 63n)]) {
        expect(decode(new ByteBuffer().s64(wide).copy(), true)).toBe(wide)
      }
    }
  })
  it('grows past its capacity', () => {
    const b = new ByteBuffer(1)
    for (let i = 0; i < 1000; i++) b.byte(i & 255)
    b.bytes(Uint8Array.from({ length: 5000 }, (_, i) => i & 255))
    expect(b.length).toBe(6000)
    expect(b.copy()[1001]).toBe(1)
    expect(b.copy()[999]).toBe(999 & 255)
  })
})

// The type an opcode works on, read off its name, with the exceptions of the specification.
const signature = (name: keyof typeof OP): { params: ValType[]; result: ValType | undefined } | undefined => {
  if (name === 'unreachable' || name === 'return' || name === 'drop' || name === 'select') return undefined
  const scalar = /^(i32|i64|f32|f64)_(.*)$/.exec(name)
  if (scalar) {
    const type = scalar[1] as ValType
    const rest = scalar[2]!
    const from = /^(?:wrap|extend|convert|demote|promote|reinterpret|trunc_sat)_([if]\d\d)/.exec(rest)
    if (from) return { params: [from[1] as ValType], result: type }
    if (rest === 'eqz') return { params: [type], result: 'i32' }
    if (/^(clz|ctz|popcnt|extend\d+_s|abs|neg|ceil|floor|trunc|nearest|sqrt)$/.test(rest)) return { params: [type], result: type }
    return { params: [type, type], result: /^(eq|ne|[lg][te])(_[su])?$/.test(rest) ? 'i32' : type }
  }
  const rest = name.slice(name.indexOf('_') + 1)
  const lane = name.startsWith('i64x2') ? 'i64' : name.startsWith('f32x4') ? 'f32' : name.startsWith('f64x2') ? 'f64' : 'i32'
  if (rest === 'splat') return { params: [lane], result: 'v128' }
  if (/^(any_true|all_true|bitmask)$/.test(rest)) return { params: ['v128'], result: 'i32' }
  if (/^sh[lr]/.test(rest)) return { params: ['v128', 'i32'], result: 'v128' }
  if (rest === 'bitselect' || rest.startsWith('relaxed')) return { params: ['v128', 'v128', 'v128'], result: 'v128' }
  const unary = /^(not|abs|neg|ceil|floor|trunc|nearest|sqrt)$|^(extend|convert|trunc_sat|demote|promote)_/.test(rest)
  return { params: unary ? ['v128'] : ['v128', 'v128'], result: 'v128' }
}

describe('opcodes', () => {
  it('are distinct', () => {
    expect(new Set<number>(Object.values(OP)).size).toBe(Object.keys(OP).length)
  })
  for (const [name, code] of Object.entries(OP) as [keyof typeof OP, Op][]) {
    const type = signature(name)
    if (type === undefined || (name.includes('relaxed') && !relaxedSimd())) continue
    it(`${name} has the type of its name`, () => {
      const m = new Module()
      const f = m.func('f', type.params, type.result ? [type.result] : [])
      f.op(code, ...type.params.map((_, i) => f.param(i)))
      expect(WebAssembly.validate(m.finish())).toBe(true)
    })
  }
  it('compute what their names say', () => {
    const m = new Module()
    m.importMemory({ min: 1 })
    const twoArgs: readonly Op[] = [
      OP.f32x4_add,
      OP.f32x4_sub,
      OP.f32x4_mul,
      OP.f32x4_div,
      OP.f32x4_min,
      OP.f32x4_max,
      OP.f32x4_pmin,
      OP.f32x4_pmax,
    ]
    const wideArgs: readonly Op[] = [
      OP.f64x2_add,
      OP.f64x2_sub,
      OP.f64x2_mul,
      OP.f64x2_div,
      OP.f64x2_min,
      OP.f64x2_max,
      OP.f64x2_pmin,
      OP.f64x2_pmax,
    ]
    twoArgs.forEach((op, i) => {
      m.func(`s${i}`, ['f32', 'f32'], ['f32'])
        .localGet({ index: 0, type: 'f32' })
        .op(OP.f32x4_splat)
        .localGet({ index: 1, type: 'f32' })
        .op(OP.f32x4_splat)
        .op(op)
        .f32x4ExtractLane(3)
    })
    wideArgs.forEach((op, i) => {
      m.func(`d${i}`, ['f64', 'f64'], ['f64'])
        .localGet({ index: 0, type: 'f64' })
        .op(OP.f64x2_splat)
        .localGet({ index: 1, type: 'f64' })
        .op(OP.f64x2_splat)
        .op(op)
        .f64x2ExtractLane(1)
    })
    const e = instantiate(m, { env: { memory: new WebAssembly.Memory({ initial: 1 }) } })
    const expected = [
      (a: number, b: number) => a + b,
      (a: number, b: number) => a - b,
      (a: number, b: number) => a * b,
      (a: number, b: number) => a / b,
      Math.min,
      Math.max,
      Math.min,
      Math.max,
    ]
    for (const [a, b] of [
      [1.5, -2],
      [3, 0.25],
      [-7, 8],
    ] as const) {
      expected.forEach((op, i) => {
        expect(e[`s${i}`]!(a, b)).toBe(Math.fround(op(a, b)))
        expect(e[`d${i}`]!(a, b)).toBe(op(a, b))
      })
    }
  })
})

describe('functions', () => {
  it('has SIMD here', () => {
    expect(noSimd()).toBe(undefined)
    expect(typeof relaxedSimd()).toBe('boolean')
  })

  it('loops, branches and nests labels by name', () => {
    const m = new Module()
    const f = m.func('sum', ['i32', 'i32'], ['i32'])
    const [from, to] = [f.param(0), f.param(1)]
    const total = f.local('i32')
    const i = f.local('i32')
    f.forLoop(i, from, to, 1, () =>
      f.block((next) => {
        f.op(OP.i32_and, i, 1).brIf(next)
        f.block(() =>
          f.loop(() =>
            f.ifThen(
              () => f.op(OP.i32_gt_u, i, 10),
              () => f.br(next),
            ),
          ),
        )
        f.increment(total, i)
      }),
    )
    f.get(total)
    const { sum } = instantiate(m)
    expect(sum!(0, 100)).toBe(30)
    expect(sum!(5, 5)).toBe(0)
    expect(sum!(6, 5)).toBe(0)
  })

  it('counts down, chooses and calls', () => {
    const m = new Module()
    const square = m.func(undefined, ['f64'], ['f64'])
    square.op(OP.f64_mul, square.param(0), square.param(0))
    const f = m.func('f', ['i32', 'f64'], ['f64'])
    const [n, x] = [f.param(0), f.param(1)]
    f.countDown(n, () => f.call(square, x).set(x))
    f.ifThen(
      () => {
        f.get(x).f64Const(100).op(OP.f64_gt)
      },
      () => f.f64Const(-1),
      () => f.get(x),
      'f64',
    )
    const e = instantiate(m)
    expect(e.f!(2, 1.5)).toBe(1.5 ** 4)
    expect(e.f!(3, 2)).toBe(-1)
  })

  it('declares locals of all types at any time, zeroed', () => {
    const m = new Module()
    const f = m.func('f', ['i32'], ['f64'])
    const types: ValType[] = ['v128', 'i32', 'i32', 'f64', 'v128', 'i64', 'f32', 'f64']
    const ls = types.map((t) => f.local(t))
    f.get(ls[3]!)
    f.set(ls[7]!, () => f.f64Const(2.5))
    const late = f.local('f64')
    f.set(late, ls[7]!).get(late).op(OP.f64_add)
    f.get(ls[5]!).op(OP.f64_convert_i64_s).op(OP.f64_add)
    f.get(ls[0]!).f64x2ExtractLane(1).op(OP.f64_add)
    expect(instantiate(m).f!(0)).toBe(2.5)
    expect(() => f.param(1)).toThrow('1 parameters')
  })

  it('imports functions, a table and a shared memory; call_indirect runs kernels of the table', () => {
    const m = new Module()
    m.importMemory({ min: 1, max: 2, shared: true })
    m.importTable({ min: 4 })
    const log = m.importFunction('env', 'log', ['i32'])
    const twice = m.kernel()
    twice.get(twice.param(0)).get(twice.param(0)).i32Load().i32Const(2).op(OP.i32_mul).i32Store()
    const report = m.kernel()
    report.call(log, () => report.get(report.param(0)).i32Load())
    m.element(2, [twice, report])
    const run = m.func('run', ['i32', 'i32'])
    run.get(run.param(1)).get(run.param(0)).callIndirect(['i32'])
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true })
    const table = new WebAssembly.Table({ element: 'anyfunc', initial: 4 })
    const seen: number[] = []
    const e = instantiate(m, { env: { memory, table, log: (x: number) => seen.push(x) } })
    new Int32Array(memory.buffer)[4] = 21
    e.run!(2, 16)
    e.run!(3, 16)
    expect(seen).toEqual([42])
    expect(() => e.run!(0, 16)).toThrow(WebAssembly.RuntimeError)
    expect(() => m.importFunction('env', 'late', [])).toThrow('before')
    expect(() => new Module().importMemory({ min: 1, shared: true })).toThrow('maximum')
  })

  it('reads and writes memory by every width, lane and shuffle', () => {
    const memory = new WebAssembly.Memory({ initial: 1 })
    const f32 = new Float32Array(memory.buffer)
    const f64 = new Float64Array(memory.buffer)
    const i32 = new Int32Array(memory.buffer)
    const u8 = new Uint8Array(memory.buffer)
    const runWith = (write: (f: FunctionBuilder) => unknown): void => {
      const m = new Module()
      m.importMemory({ min: 1 })
      write(m.func('f', []))
      instantiate(m, { env: { memory } }).f!()
    }
    f32.set([1, 2, 3, 4, 5, 6, 7, 8])
    runWith((f) => f.i32Const(64).i32Const(0).v128Load(4).i32Const(16).v128Load().i32x4Shuffle(0, 7, 1, 4).v128Store(0))
    expect([...f32.slice(16, 20)]).toEqual([2, 8, 3, 5])
    runWith((f) => f.i32Const(64).i32Const(0).v128Load32Splat(8).v128Store(16))
    expect([...f32.slice(20, 24)]).toEqual([3, 3, 3, 3])
    runWith((f) => f.i32Const(64).i32Const(0).v128Load32Zero(12).v128Store(16))
    expect([...f32.slice(20, 24)]).toEqual([4, 0, 0, 0])
    runWith((f) => f.i32Const(64).i32Const(0).v128Load64Zero(8).v128Store(16))
    expect([...f32.slice(20, 24)]).toEqual([3, 4, 0, 0])
    runWith((f) => f.i32Const(64).i32Const(4).i32Const(0).v128Load().v128Load32Lane(2).v128Store(16))
    expect([...f32.slice(20, 24)]).toEqual([1, 2, 2, 4])
    runWith((f) => f.i32Const(64).i32Const(16).v128Load().v128Store32Lane(1, 20))
    expect(f32[21]).toBe(6)
    f64.set([1.5, 2.5, 3.5, 4.5], 64)
    runWith((f) => f.i32Const(640).i32Const(512).v128Load().i32Const(528).v128Load().i64x2Shuffle(1, 2).v128Store())
    expect([...f64.slice(80, 82)]).toEqual([2.5, 3.5])
    runWith((f) => f.i32Const(640).i32Const(0).v128Load64Splat(536).v128Store())
    expect([...f64.slice(80, 82)]).toEqual([4.5, 4.5])
    runWith((f) => f.i32Const(640).i32Const(512).i32Const(640).v128Load().v128Load64Lane(1).v128Store())
    expect([...f64.slice(80, 82)]).toEqual([4.5, 1.5])
    runWith((f) => f.i32Const(648).i32Const(528).v128Load().v128Store64Lane(0))
    expect(f64[81]).toBe(3.5)
    runWith((f) => f.i32Const(64).i32x4Const(-5).v128Store().i32Const(80).i64x2Const(-7n).v128Store())
    expect([...i32.slice(16, 24)]).toEqual([-5, -5, -5, -5, -7, -1, -7, -1])
    runWith((f) => f.i32Const(64).f32x4Const(0.1).v128Store().i32Const(80).f64x2Const(0.1).v128Store())
    expect([...f32.slice(16, 20)]).toEqual(new Array(4).fill(Math.fround(0.1)))
    expect([...f64.slice(10, 12)]).toEqual([0.1, 0.1])
    const bytes = Array.from({ length: 16 }, (_, i) => i * 15)
    runWith((f) => f.i32Const(96).v128Const(bytes).v128Store())
    expect([...u8.slice(96, 112)]).toEqual(bytes)
    runWith((f) => f.i32Const(200).i32Const(0xab).i32Const(10).memoryFill().i32Const(300).i32Const(198).i32Const(6).memoryCopy())
    expect([...u8.slice(299, 307)]).toEqual([0, 0, 0, 0xab, 0xab, 0xab, 0xab, 0])
    runWith((f) => f.i32Const(400).i32Const(200).i32Load8S().i32Store().i32Const(404).i32Const(200).i32Load8U().i32Store())
    expect([...i32.slice(100, 102)]).toEqual([-85, 171])
  })
})
