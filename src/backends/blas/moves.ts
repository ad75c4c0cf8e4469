/** Copies of arrays with steps within the memory, in WebAssembly: in JavaScript those of a convolution take as long as its products. */
import { Module } from '../cpu/wasm/encoder.js'
import { type FloatName, floats } from '../cpu/wasm/float.js'
import * as OP from '../cpu/wasm/opcodes.js'

type Three = readonly [number, number, number]
/** to[i, j, k] = from[i, j, k], or += it, of these sizes; the arrays by the address of their first elements and the distances along their axes in bytes. */
export type Move = (to: number, from: number, sizes: Three, toSteps: Three, fromSteps: Three) => void
export interface Moves {
  readonly copy: Move
  readonly add: Move
}

/** The bytes of every second element of two vectors. */
const SECONDS: Readonly<Record<FloatName, readonly number[]>> = {
  f32: [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27],
  f64: [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23],
}
const emitMove = (module: Module, type: FloatName, add: boolean): void => {
  const F = floats[type]
  const f = module.func(`${type}${add ? ' +=' : ''}`, new Array<'i32'>(11).fill('i32'))
  const { to, from, n0, n1, n2, t0, t1, t2, s0, s1, s2 } = f.namedParameters('to from n0 n1 n2 t0 t1 t2 s0 s1 s2')
  const { j, left, count, p, q, row, line } = f.namedLocals('i32', 'j left count p q row line')
  const one = (): void => {
    const x = (): unknown => F.load(f.get(q))
    f.get(p).push(add ? () => f.op(F.add, () => F.load(f.get(p)), x) : x)
    F.store(f)
  }
  const vector = (x: () => unknown): void => {
    f.get(p)
      .push(add ? () => f.op(F.vadd, () => f.get(p).v128Load(), x) : x)
      .v128Store()
  }
  /** As many vectors as `elements` fills, then those are done. */
  const vectors = (elements: () => unknown, step: number, x: () => unknown): void => {
    f.op(OP.i32_div_u, elements, F.lanes).set(count)
    f.op(OP.i32_sub, left, () => f.op(OP.i32_mul, count, F.lanes)).set(left)
    f.ifThen(count, () =>
      f.countDown(count, () => {
        vector(x)
        f.increment(p, 16).increment(q, step)
      }),
    )
  }
  const is = (step: typeof t2, bytes: number) => () => f.op(OP.i32_eq, step, bytes)
  const inner = (): void => {
    f.ifThen(is(t2, F.bytes), () => {
      f.ifThen(
        is(s2, F.bytes),
        () =>
          vectors(
            () => f.get(left),
            16,
            () => f.get(q).v128Load(),
          ),
        () =>
          // The last element is read without the one behind it, which may be behind the memory.
          f.ifThen(is(s2, 2 * F.bytes), () =>
            vectors(
              () => f.op(OP.i32_sub, left, 1),
              32,
              () => f.get(q).v128Load().get(q).v128Load(16).i8x16Shuffle(SECONDS[type]),
            ),
          ),
      )
    })
    f.ifThen(left, () =>
      f.countDown(left, () => {
        one()
        f.increment(p, t2).increment(q, s2)
      }),
    )
  }
  f.ifThen(n0, () =>
    f.ifThen(n1, () =>
      f.ifThen(n2, () =>
        f.countDown(n0, () => {
          f.set(row, to).set(line, from).set(j, n1)
          f.countDown(j, () => {
            f.set(p, row).set(q, line).set(left, n2)
            inner()
            f.increment(row, t1).increment(line, s1)
          })
          f.increment(to, t0).increment(from, s0)
        }),
      ),
    ),
  )
}
/** The copies of a memory, made once. */
export const movesOf = (memory: WebAssembly.Memory): Readonly<Record<FloatName, Moves>> => {
  const module = new Module()
  module.importMemory({ min: 1 })
  for (const type of ['f32', 'f64'] as const) for (const add of [false, true]) emitMove(module, type, add)
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } })
  const moveOf = (name: string): Move => {
    const f = exports[name] as (...given: readonly number[]) => void
    return (to, from, [a, b, c], [ta, tb, tc], [sa, sb, sc]) => f(to, from, a, b, c, ta, tb, tc, sa, sb, sc)
  }
  const both = (type: FloatName): Moves => ({ copy: moveOf(type), add: moveOf(`${type} +=`) })
  return { f32: both('f32'), f64: both('f64') }
}
