/*
 * Fourier transforms. How a length is cut is data (`cpu/fourier-plan.ts`): nodes of words beside their twiddles in a table, which the same code follows whatever the length is.
 *
 *   line    Stockham's passes, over vectors of s bytes beside each other
 *   blocks  n = n1 n2, each in blocks of columns that stay in the cache, twiddles and a transposition between
 *   chirp   a convolution with exp(i pi k^2 / n)
 *
 * Source  Stockham 1966; Bailey 1990; Bluestein 1970.
 */
import { layout } from '../../record.js'
import { OpaqueRecord } from '../records.js'
import type { FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { type FloatName, floats } from './float.js'
import { emitPasses, transposed } from './fourier-passes.js'
import * as OP from './opcodes.js'

/** Bytes of a block's rows, in `blocks` and along axes that are not the last. */
export const BLOCK = 64
/** Kinds of nodes. */
export const LINE = 0
export const BLOCKS = 1
export const CHIRP = 2
/** Words of nodes and of the table's head; offsets are bytes from the node. */
export const lineNode = /*#__PURE__*/ layout('kind n count')
export const passEntry = /*#__PURE__*/ layout('radix rows twiddles first')
export const blocksNode = /*#__PURE__*/ layout('kind n1 n2 line1 line2 coarse fine')
export const chirpNode = /*#__PURE__*/ layout('kind n m node chirp transformed')
/** `n`: points of a line of the node; `outer`, `inner`: lines before and behind the axis; `weights`: those of a real transform; `columns`, `beside`: the node goes along columns, of the array or of lines turned into such. */
export const tableHead = /*#__PURE__*/ layout('outer inner n node weights columns beside')

/** Which transform: of complex numbers, of real ones to half of theirs, and the transpose of that. */
export type FourierKind = 'complex' | 'real' | 'realTransposed'
export interface FourierCode {
  readonly kind: FourierKind
  readonly type: FloatName
  readonly radices: readonly number[]
}

const i32s = (n: number): 'i32'[] => Array.from({ length: n }, () => 'i32')
/** A function of named numbers. */
const named = <const S extends string>(module: Module, names: S) => {
  const f = module.func(undefined, i32s(names.split(' ').length))
  return [f, f.namedParameters(names)] as const
}
const sum =
  (f: FunctionBuilder, ...xs: readonly Operand[]): Operand =>
  () => {
    xs.forEach((x, i) => {
      f.push(x)
      if (i > 0) f.op(OP.i32_add)
    })
  }
const times =
  (f: FunctionBuilder, a: Operand, b: Operand): Operand =>
  () =>
    f.op(OP.i32_mul, a, b)
const word =
  (f: FunctionBuilder, at: Local, k: number): Operand =>
  () =>
    f.get(at).i32Load(4 * k)
/** The address that a word says from where it stands. */
const place = (f: FunctionBuilder, at: Local, k: number): Operand => sum(f, at, word(f, at, k))

/** The passes of a line: rows of s bytes, xRow and yRow apart. Two pairs of buffers, or one where the rows of y lie together, in `work`. */
const emitLine = (module: Module, type: FloatName, radices: readonly number[]): FunctionBuilder => {
  const { pass, first } = emitPasses(module, type, radices)
  const [f, o] = named(module, 'node xr xi xRow yr yi yRow s size work')
  const v = f.namedLocals('i32', 'left entry rows done span together fr fi from step tr ti tw r')
  f.localSet(v.left, word(f, o.node, lineNode.at.count))
  f.localSet(v.entry, sum(f, o.node, 4 * lineNode.words))
  f.localSet(v.together, () => f.op(OP.i32_eq, o.yRow, o.s))
  f.localSet(v.span, o.s).localSet(v.done, 1).localSet(v.fr, o.xr).localSet(v.fi, o.xi).localSet(v.from, o.xRow)
  f.countDown(v.left, () => {
    f.localSet(v.r, word(f, v.entry, passEntry.at.radix)).localSet(v.rows, word(f, v.entry, passEntry.at.rows))
    f.localSet(v.tw, word(f, v.entry, passEntry.at.twiddles))
    f.get(v.tw).if(() => f.localSet(v.tw, sum(f, o.node, v.tw)))
    // Results lie in y at the end, so every second pass before it writes there too, if it can.
    f.op(OP.i32_eq, v.left, 1).if(
      () => f.localSet(v.tr, o.yr).localSet(v.ti, o.yi),
      () =>
        f.op(OP.i32_and, v.left, 1).if(
          () =>
            f.get(v.together).if(
              () => f.localSet(v.tr, o.yr).localSet(v.ti, o.yi),
              () => f.localSet(v.tr, sum(f, o.work, times(f, o.size, 2))).localSet(v.ti, sum(f, v.tr, o.size)),
            ),
          () => f.localSet(v.tr, o.work).localSet(v.ti, sum(f, o.work, o.size)),
        ),
    )
    f.localSet(v.step, times(f, v.from, v.rows))
    f.push(word(f, v.entry, passEntry.at.first)).if(
      () => f.call(first, v.r, v.fr, v.fi, v.tr, v.ti, v.step, v.tw),
      () =>
        f.op(OP.i32_eq, v.left, 1).if(
          () =>
            f.get(v.together).if(
              () => f.call(pass, v.r, v.fr, v.fi, v.tr, v.ti, 1, v.span, v.span, v.step, v.span, v.span, v.tw),
              () => f.call(pass, v.r, v.fr, v.fi, v.tr, v.ti, v.done, o.s, o.s, v.step, o.yRow, times(f, o.yRow, v.done), 0),
            ),
          () => f.call(pass, v.r, v.fr, v.fi, v.tr, v.ti, v.rows, v.span, v.from, v.step, times(f, v.span, v.r), v.span, v.tw),
        ),
    )
    f.localSet(v.fr, v.tr).localSet(v.fi, v.ti)
    f.localSet(v.done, times(f, v.done, v.r))
      .localSet(v.span, times(f, v.span, v.r))
      .localSet(v.from, v.span)
    f.increment(v.entry, 4 * passEntry.words)
  })
  return f
}

/** A block of columns [n1, BLOCK] times twiddles, as rows of n1: those of its first column, times those of the column in it. */
const emitTurned = (module: Module, type: FloatName): FunctionBuilder => {
  const F = floats[type]
  const [f, o] = named(module, 'xr xi yr yi size coarse fine')
  const columns = BLOCK / F.bytes
  const v = f.namedLocals('i32', 'group k left from to row dx dy tw ct')
  const vec = (x: Operand): Local => {
    const y = f.local('v128')
    f.set(y, x)
    return y
  }
  const op = (code: number, a: Local, b: Local): Local => vec(() => f.op(code, a, b))
  f.localSet(v.dx, () => f.op(OP.i32_sub, o.xi, o.xr)).localSet(v.dy, () => f.op(OP.i32_sub, o.yi, o.yr))
  f.localSet(v.left, columns / F.lanes)
  f.countDown(v.left, () => {
    f.localSet(v.from, o.xr).localSet(v.k, 0)
    f.loop((again) => {
      const tile = (shift?: Local): readonly Local[] => {
        const rows = Array.from({ length: F.lanes }, (_, l) =>
          vec(() => f.push(shift === undefined ? v.from : sum(f, v.from, shift)).v128Load(BLOCK * l)),
        )
        return transposed(f, rows)
      }
      const [re, im] = [tile(), tile(v.dx)]
      f.localSet(v.ct, sum(f, o.coarse, v.k))
      const [cr, ci] = [vec(() => f.get(v.ct).v128Load()), vec(() => f.push(sum(f, v.ct, o.size)).v128Load())]
      f.localSet(v.to, sum(f, o.yr, v.k)).localSet(v.tw, sum(f, o.fine, v.k))
      for (let l = 0; l < F.lanes; l++) {
        const [fr, fi] = [vec(() => f.get(v.tw).v128Load()), vec(() => f.push(sum(f, v.tw, o.size)).v128Load())]
        const wr = op(F.vsub, op(F.vmul, cr, fr), op(F.vmul, ci, fi))
        const wi = op(F.vadd, op(F.vmul, cr, fi), op(F.vmul, ci, fr))
        const [a, b] = [re[l]!, im[l]!]
        f.get(v.to)
          .get(op(F.vsub, op(F.vmul, a, wr), op(F.vmul, b, wi)))
          .v128Store()
        f.push(sum(f, v.to, v.dy))
          .get(op(F.vadd, op(F.vmul, a, wi), op(F.vmul, b, wr)))
          .v128Store()
        f.increment(v.to, o.size).increment(v.tw, times(f, o.size, 2))
      }
      f.increment(v.from, BLOCK * F.lanes).increment(v.k, 16)
      f.op(OP.i32_lt_u, v.k, o.size).if(() => f.br(again))
    })
    f.increment(o.xr, 16)
      .increment(o.yr, times(f, o.size, F.lanes))
      .increment(o.fine, times(f, o.size, 2 * F.lanes))
  })
  return f
}
/** y = x w of `size` bytes, at least a vector; y is none of the others unless that is whole vectors. */
const emitProducts = (module: Module, type: FloatName): FunctionBuilder => {
  const F = floats[type]
  const [f, o] = named(module, 'xr xi wr wi yr yi size')
  const [q, last] = f.locals('i32', 2)
  f.localSet(last, () => f.op(OP.i32_sub, o.size, 16))
  const at = (base: Local) => sum(f, base, q)
  const load = (base: Local): Local => {
    const x = f.local('v128')
    f.set(x, () => f.push(at(base)).v128Load())
    return x
  }
  const product =
    (a: Local, b: Local): Operand =>
    () =>
      f.op(F.vmul, a, b)
  f.loop((again) => {
    const [a, b, c, d] = [load(o.xr), load(o.xi), load(o.wr), load(o.wi)]
    f.push(at(o.yr)).op(F.vsub, product(a, c), product(b, d)).v128Store()
    f.push(at(o.yi)).op(F.vadd, product(a, d), product(b, c)).v128Store()
    f.increment(q, 16)
    f.op(OP.i32_lt_s, q, o.size).if(() => {
      f.op(OP.i32_gt_s, q, last).if(() => f.set(q, last))
      f.br(again)
    })
  })
  return f
}

/** The transform of a line of elements that lie beside each other. */
const emitNode = (module: Module, type: FloatName, line: FunctionBuilder): FunctionBuilder => {
  const { bytes } = floats[type]
  const turned = emitTurned(module, type)
  const products = emitProducts(module, type)
  const [f, o] = named(module, 'node xr xi yr yi work')
  const v = f.namedLocals('i32', 'kind n1 n2 c tr ti zr zi room coarse line1 line2 n m child size ar ai br bi chirp')
  f.localSet(v.kind, word(f, o.node, 0))
  f.op(OP.i32_eqz, v.kind).if(() => {
    f.localSet(v.size, times(f, word(f, o.node, lineNode.at.n), bytes))
    f.call(line, o.node, o.xr, o.xi, bytes, o.yr, o.yi, bytes, bytes, v.size, o.work)
  })
  f.op(OP.i32_eq, v.kind, BLOCKS).if(() => {
    const at = blocksNode.at
    f.localSet(v.n1, times(f, word(f, o.node, at.n1), bytes)).localSet(v.n2, times(f, word(f, o.node, at.n2), bytes))
    f.localSet(v.line1, place(f, o.node, at.line1))
      .localSet(v.line2, place(f, o.node, at.line2))
      .localSet(v.coarse, place(f, o.node, at.coarse))
    const n1 = word(f, o.node, at.n1)
    const n2 = word(f, o.node, at.n2)
    // Between the two the blocks lie where the results will: each is read as a whole before these are written.
    f.localSet(v.zr, o.work).localSet(v.zi, sum(f, v.zr, times(f, n1, BLOCK)))
    f.localSet(v.room, sum(f, v.zi, times(f, n1, BLOCK)))
    f.forLoop(v.c, 0, v.n2, BLOCK, () => {
      f.call(line, v.line1, sum(f, o.xr, v.c), sum(f, o.xi, v.c), v.n2, v.zr, v.zi, BLOCK, BLOCK, times(f, n1, BLOCK), v.room)
      const to = times(f, v.c, n1)
      f.call(turned, v.zr, v.zi, sum(f, o.yr, to), sum(f, o.yi, to), v.n1, v.coarse, place(f, o.node, at.fine))
      f.increment(v.coarse, times(f, v.n1, 2))
    })
    f.forLoop(v.c, 0, v.n1, BLOCK, () =>
      f.call(
        line,
        v.line2,
        sum(f, o.yr, v.c),
        sum(f, o.yi, v.c),
        v.n1,
        sum(f, o.yr, v.c),
        sum(f, o.yi, v.c),
        v.n1,
        BLOCK,
        times(f, n2, BLOCK),
        v.room,
      ),
    )
  })
  f.op(OP.i32_eq, v.kind, CHIRP).if(() => {
    const at = chirpNode.at
    f.localSet(v.n, times(f, word(f, o.node, at.n), bytes)).localSet(v.m, times(f, word(f, o.node, at.m), bytes))
    f.localSet(v.child, place(f, o.node, at.node)).localSet(v.chirp, place(f, o.node, at.chirp))
    f.localSet(v.ar, o.work)
      .localSet(v.ai, sum(f, v.ar, v.m))
      .localSet(v.br, sum(f, v.ai, v.m))
      .localSet(v.bi, sum(f, v.br, v.m))
    f.localSet(v.room, sum(f, v.bi, v.m))
    const [wr, wi] = [v.chirp, sum(f, v.chirp, v.n)]
    f.call(products, o.xr, o.xi, wr, wi, v.ar, v.ai, v.n)
    for (const a of [v.ar, v.ai])
      f.push(sum(f, a, v.n))
        .push(0)
        .op(OP.i32_sub, v.m, v.n)
        .memoryFill()
    f.call(f, v.child, v.ar, v.ai, v.br, v.bi, v.room)
    f.localSet(v.tr, place(f, o.node, at.transformed))
    f.call(products, v.br, v.bi, v.tr, sum(f, v.tr, v.m), v.br, v.bi, v.m)
    // Parts that change places make the inverse of it.
    f.call(f, v.child, v.bi, v.br, v.ai, v.ar, v.room)
    f.call(products, v.ar, v.ai, wr, wi, o.yr, o.yi, v.n)
  })
  return f
}

/** Pushes a vector's lanes, the last first. */
const reversed = (f: FunctionBuilder, lanes: number, x: Local): FunctionBuilder => {
  f.get(x).get(x)
  return lanes === 2 ? f.i64x2Shuffle(1, 0) : f.i32x4Shuffle(3, 2, 1, 0)
}

/** Real numbers beside each other and a line of pairs of them: from x to the parts, or back. `size`: bytes of a part. */
const emitZip = (module: Module, type: FloatName, apart: boolean): FunctionBuilder => {
  const F = floats[type]
  const [f, o] = named(module, 'x re im size')
  const [q, from, end] = f.locals('i32', 3)
  const [a, b] = f.locals('v128', 2)
  const [evens, odds, low, high] = (
    F.lanes === 2
      ? [
          [0, 2],
          [1, 3],
          [0, 2],
          [1, 3],
        ]
      : [
          [0, 2, 4, 6],
          [1, 3, 5, 7],
          [0, 4, 1, 5],
          [2, 6, 3, 7],
        ]
  ) as [number[], number[], number[], number[]]
  const shuffled = (lanes: readonly number[]): unknown => {
    f.get(a).get(b)
    return lanes.length === 2 ? f.i64x2Shuffle(lanes[0]!, lanes[1]!) : f.i32x4Shuffle(...(lanes as [number, number, number, number]))
  }
  f.localSet(end, () => f.op(OP.i32_and, o.size, -16))
  const at = (base: Local) => sum(f, base, q)
  f.forLoop(q, 0, end, 16, () => {
    f.localSet(from, sum(f, o.x, q, q))
    if (apart) {
      f.localSet(a, () => f.get(from).v128Load()).localSet(b, () => f.get(from).v128Load(16))
      f.push(at(o.re))
        .push(() => shuffled(evens))
        .v128Store()
      f.push(at(o.im))
        .push(() => shuffled(odds))
        .v128Store()
    } else {
      f.localSet(a, () => f.push(at(o.re)).v128Load()).localSet(b, () => f.push(at(o.im)).v128Load())
      f.get(from)
        .push(() => shuffled(low))
        .v128Store()
      f.get(from)
        .push(() => shuffled(high))
        .v128Store(16)
    }
  })
  f.forLoop(q, end, o.size, F.bytes, () => {
    f.localSet(from, sum(f, o.x, q, q))
    const parts = [
      [o.re, 0],
      [o.im, F.bytes],
    ] as const
    for (const [part, by] of parts)
      if (apart) F.store(F.load(f.push(at(part)).get(from), by))
      else F.store(F.load(f.get(from).push(at(part))), by)
  })
  return f
}

/** Between a real transform of n and the complex one of n / 2: pairs of elements k and n / 2 - k, whose weights are exp(-2 pi i k / n) / 2. `back`: of its transpose. */
const emitPairs = (module: Module, type: FloatName, back: boolean): FunctionBuilder => {
  const F = floats[type]
  const [f, o] = named(module, 'xr xi yr yi weights half')
  const [k, end, mirrored, size, imaginary] = f.locals('i32', 5)
  const body = (single: boolean): void => {
    const vec = (x: Operand): Local => {
      const y = f.local('v128')
      f.set(y, x)
      return y
    }
    const op = (code: number, a: Local, b: Local): Local => vec(() => f.op(code, a, b))
    const load = (base: Operand, mirror: boolean): Local => {
      const x = vec(() => {
        f.push(sum(f, base, mirror ? mirrored : k))
        return single ? F.loadOne(f) : f.v128Load()
      })
      return mirror && !single ? vec(() => reversed(f, F.lanes, x)) : x
    }
    const store = (base: Local, mirror: boolean, x: Local): void => {
      f.push(sum(f, base, mirror ? mirrored : k))
      if (single) F.storeLane(f.get(x), 0)
      else (mirror ? reversed(f, F.lanes, x) : f.get(x)).v128Store()
    }
    const half = vec(() => (F.name === 'f64' ? f.f64x2Const(0.5) : f.f32x4Const(0.5)))
    f.localSet(mirrored, () => f.op(OP.i32_sub, () => f.op(OP.i32_sub, size, k), single ? 0 : 16 - F.bytes))
    const [a, b, c, d] = [load(o.xr, false), load(o.xi, false), load(o.xr, true), load(o.xi, true)]
    const [wr, wi] = [load(o.weights, false), load(imaginary, false)]
    const [er, ei] = [op(F.vmul, half, op(F.vadd, a, c)), op(F.vmul, half, op(F.vsub, b, d))]
    const [dr, di] = [op(F.vsub, a, c), op(F.vadd, b, d)]
    if (back) {
      const re = op(F.vadd, op(F.vmul, dr, wr), op(F.vmul, di, wi))
      const im = op(F.vsub, op(F.vmul, di, wr), op(F.vmul, dr, wi))
      store(o.yr, false, op(F.vsub, er, im))
      store(o.yi, false, op(F.vadd, ei, re))
      store(o.yr, true, op(F.vadd, er, im))
      store(o.yi, true, op(F.vsub, re, ei))
    } else {
      // w times (di - i dr).
      const re = op(F.vadd, op(F.vmul, di, wr), op(F.vmul, dr, wi))
      const im = op(F.vsub, op(F.vmul, di, wi), op(F.vmul, dr, wr))
      store(o.yr, false, op(F.vadd, er, re))
      store(o.yi, false, op(F.vadd, ei, im))
      store(o.yr, true, op(F.vsub, er, re))
      store(o.yi, true, op(F.vsub, im, ei))
    }
  }
  f.localSet(size, times(f, o.half, F.bytes))
  f.localSet(
    imaginary,
    sum(
      f,
      o.weights,
      F.bytes,
      times(f, () => f.op(OP.i32_shr_u, o.half, 1), F.bytes),
    ),
  )
  const [first, last] = back ? [o.xr, sum(f, o.xr, size)] : [o.xr, o.xi]
  const both =
    (add: boolean): Operand =>
    () =>
      f.op(
        add ? F.add : F.sub,
        () => F.load(f.push(first)),
        () => F.load(f.push(last)),
      )
  F.store(f.get(o.yr).push(both(true)))
  F.store(f.push(back ? o.yi : sum(f, o.yr, size)).push(both(false)))
  if (!back) for (const at of [o.yi, sum(f, o.yi, size)]) F.store(F.constant(f.push(at), 0))
  // Vectors that lie before the middle, then the elements up to it.
  f.localSet(k, F.bytes)
  f.localSet(end, () => f.op(OP.i32_sub, size, 32 - 2 * F.bytes))
  f.block((done) => {
    f.loop((again) => {
      f.op(OP.i32_ge_s, times(f, k, 2), end).brIf(done)
      body(false)
      f.increment(k, 16).br(again)
    })
  })
  f.block((done) => {
    f.loop((again) => {
      f.op(OP.i32_gt_s, times(f, k, 2), size).brIf(done)
      body(true)
      f.increment(k, F.bytes).br(again)
    })
  })
  return f
}

/** A matrix, transposed: squares of lanes, of which the last overlap, or element by element where it is too narrow for them. Sizes and distances of rows are in bytes. */
const emitTransposed = (module: Module, type: FloatName): FunctionBuilder => {
  const F = floats[type]
  const [f, o] = named(module, 'x xRow y yRow rows columns')
  const v = f.namedLocals('i32', 'r c from to last lastColumn rowStep')
  const elements = (n: Operand): Operand => (F.bytes === 8 ? () => f.op(OP.i32_shr_u, n, 3) : () => f.op(OP.i32_shr_u, n, 2))
  const at = (base: Local, row: Local, rowBytes: Local, column: Local): Operand => sum(f, base, times(f, elements(row), rowBytes), column)
  const square = (): void => {
    f.localSet(v.from, at(o.x, v.r, o.xRow, v.c)).localSet(v.to, at(o.y, v.c, o.yRow, v.r))
    const rows = Array.from({ length: F.lanes }, () => {
      const x = f.local('v128')
      f.localSet(x, () => f.get(v.from).v128Load()).increment(v.from, o.xRow)
      return x
    })
    for (const y of transposed(f, rows)) {
      f.get(v.to).get(y).v128Store()
      f.increment(v.to, o.yRow)
    }
  }
  const narrow: Operand = () => f.op(OP.i32_lt_u, () => f.op(OP.select, o.rows, o.columns, () => f.op(OP.i32_lt_u, o.rows, o.columns)), 16)
  f.push(narrow).if(
    () =>
      f.forLoop(v.r, 0, o.rows, F.bytes, () =>
        f.forLoop(v.c, 0, o.columns, F.bytes, () => {
          f.localSet(v.from, at(o.x, v.r, o.xRow, v.c)).localSet(v.to, at(o.y, v.c, o.yRow, v.r))
          F.store(F.load(f.get(v.to).get(v.from)))
        }),
      ),
    () => {
      f.localSet(v.last, () => f.op(OP.i32_sub, o.rows, 16)).localSet(v.lastColumn, () => f.op(OP.i32_sub, o.columns, 16))
      f.forLoop(v.r, 0, o.rows, 16, () => {
        f.op(OP.i32_gt_u, v.r, v.last).if(() => f.set(v.r, v.last))
        f.forLoop(v.c, 0, o.columns, 16, () => {
          f.op(OP.i32_gt_u, v.c, v.lastColumn).if(() => f.set(v.c, v.lastColumn))
          square()
        })
      })
    },
  )
  return f
}

/** The kernel; its record has the table's address behind the scratch. */
export const emitFourier = (module: Module, { kind, type, radices }: FourierCode, name: string): void => {
  const { bytes } = floats[type]
  const line = emitLine(module, type, radices)
  const node = emitNode(module, type, line)
  const [one, p] = named(module, 'head xr xi yr yi work')
  const { at } = tableHead
  const [h, zr, zi, tr, ti] = one.locals('i32', 5)
  if (kind === 'complex') one.call(node, place(one, p.head, at.node), p.xr, p.xi, p.yr, p.yi, p.work)
  else {
    const half: Operand = () => one.op(OP.i32_shr_u, word(one, p.head, at.n), 1)
    const zip = emitZip(module, type, kind === 'real')
    const pairs = emitPairs(module, type, kind !== 'real')
    one.localSet(h, times(one, half, bytes))
    one
      .localSet(zr, p.work)
      .localSet(zi, sum(one, zr, h))
      .localSet(tr, sum(one, zi, h))
      .localSet(ti, sum(one, tr, h))
    one.localSet(p.work, sum(one, ti, h))
    const weights = place(one, p.head, at.weights)
    if (kind === 'real') {
      one.call(zip, p.xr, zr, zi, h)
      one.call(node, place(one, p.head, at.node), zr, zi, tr, ti, p.work)
      one.call(pairs, tr, ti, p.yr, p.yi, weights, half)
    } else {
      one.call(pairs, p.xr, p.xi, zr, zi, weights, half)
      one.call(node, place(one, p.head, at.node), zi, zr, ti, tr, p.work)
      one.call(zip, p.yr, tr, ti, h)
    }
  }
  const [args, results] = [kind === 'real' ? 1 : 2, kind === 'realTransposed' ? 1 : 2]
  const record = new OpaqueRecord(results, args)
  const turn = emitTransposed(module, type)
  const f = module.kernel(name)
  const of = f.param(0)
  const v = f.namedLocals('i32', 'head outer inner n lengthX lengthY xr xi yr yi work c s room rows left gr gi hr hi')
  f.localSet(v.head, word(f, of, record.behind))
  f.localSet(v.outer, word(f, v.head, at.outer))
    .localSet(v.inner, word(f, v.head, at.inner))
    .localSet(v.n, word(f, v.head, at.n))
  const most = (own: boolean): Operand => (own ? sum(f, 1, () => f.op(OP.i32_shr_u, v.n, 1)) : v.n)
  f.localSet(v.lengthX, times(f, most(kind === 'realTransposed'), bytes)).localSet(v.lengthY, times(f, most(kind === 'real'), bytes))
  f.localSet(v.yr, word(f, of, record.result(0))).localSet(v.xr, word(f, of, record.argument(0)))
  if (results > 1) f.localSet(v.yi, word(f, of, record.result(1)))
  if (args > 1) f.localSet(v.xi, word(f, of, record.argument(1)))
  f.localSet(v.work, word(f, of, record.scratch))
  const each = (block: () => void): void => {
    f.localSet(v.c, 0)
    f.loop((again) => {
      f.localSet(v.s, () => f.op(OP.select, BLOCK, v.inner, () => f.op(OP.i32_gt_u, v.inner, BLOCK)))
      f.op(OP.i32_gt_s, sum(f, v.c, v.s), v.inner).if(() => f.localSet(v.c, () => f.op(OP.i32_sub, v.inner, v.s)))
      block()
      f.increment(v.c, BLOCK)
      f.op(OP.i32_lt_u, v.c, v.inner).if(() => f.br(again))
    })
  }
  const byColumns = (): void =>
    each(() =>
      f.call(
        line,
        place(f, v.head, at.node),
        ...[sum(f, v.xr, v.c), sum(f, v.xi, v.c), v.inner, sum(f, v.yr, v.c), sum(f, v.yi, v.c), v.inner, v.s],
        times(f, v.n, v.s),
        v.work,
      ),
    )
  const byRows = (): void =>
    each(() => {
      const columns: Operand = () => f.op(OP.i32_div_u, v.s, bytes)
      f.localSet(v.gr, v.work)
      f.localSet(v.gi, sum(f, v.gr, times(f, v.lengthX, columns)))
      f.localSet(v.hr, args > 1 ? sum(f, v.gi, times(f, v.lengthX, columns)) : v.gi)
      f.localSet(v.hi, sum(f, v.hr, times(f, v.lengthY, columns)))
      f.localSet(v.room, results > 1 ? sum(f, v.hi, times(f, v.lengthY, columns)) : v.hi)
      f.call(turn, sum(f, v.xr, v.c), v.inner, v.gr, v.lengthX, v.lengthX, v.s)
      if (args > 1) f.call(turn, sum(f, v.xi, v.c), v.inner, v.gi, v.lengthX, v.lengthX, v.s)
      f.localSet(v.left, columns)
      f.countDown(v.left, () => {
        f.call(one, v.head, v.gr, v.gi, v.hr, v.hi, v.room)
        f.increment(v.gr, v.lengthX).increment(v.gi, v.lengthX).increment(v.hr, v.lengthY).increment(v.hi, v.lengthY)
      })
      for (const x of [v.hr, v.hi]) f.localSet(x, () => f.op(OP.i32_sub, x, times(f, v.lengthY, columns)))
      f.call(turn, v.hr, v.lengthY, sum(f, v.yr, v.c), v.inner, v.s, v.lengthY)
      if (results > 1) f.call(turn, v.hi, v.lengthY, sum(f, v.yi, v.c), v.inner, v.s, v.lengthY)
    })
  const elements: Operand = () => f.op(OP.i32_div_u, v.inner, bytes)
  const eachOuter = (): void => {
    f.countDown(v.outer, () => {
      f.op(OP.i32_eq, v.inner, bytes).if(
        () => f.call(one, v.head, v.xr, v.xi, v.yr, v.yi, v.work),
        () => (kind === 'complex' ? f.push(word(f, v.head, at.columns)).if(byColumns, byRows) : byRows()),
      )
      for (const x of [v.xr, v.xi]) f.increment(x, times(f, v.lengthX, elements))
      for (const y of [v.yr, v.yi]) f.increment(y, times(f, v.lengthY, elements))
    })
  }
  /** Short lines: blocks of them, as columns. */
  const beside = (): void => {
    f.localSet(v.gr, v.work).localSet(v.s, times(f, v.n, BLOCK))
    f.localSet(v.gi, sum(f, v.gr, v.s))
      .localSet(v.hr, sum(f, v.gi, v.s))
      .localSet(v.hi, sum(f, v.hr, v.s))
      .localSet(v.room, sum(f, v.hi, v.s))
    f.localSet(v.rows, () => f.op(OP.i32_sub, v.outer, BLOCK / bytes))
    f.localSet(v.c, 0)
    f.loop((again) => {
      const line1 = (base: Local): Operand => sum(f, base, times(f, v.c, v.lengthX))
      f.call(turn, line1(v.xr), v.lengthX, v.gr, BLOCK, BLOCK, v.lengthX)
      f.call(turn, line1(v.xi), v.lengthX, v.gi, BLOCK, BLOCK, v.lengthX)
      f.call(line, place(f, v.head, at.node), v.gr, v.gi, BLOCK, v.hr, v.hi, BLOCK, BLOCK, v.s, v.room)
      f.call(turn, v.hr, BLOCK, line1(v.yr), v.lengthX, v.lengthX, BLOCK)
      f.call(turn, v.hi, BLOCK, line1(v.yi), v.lengthX, v.lengthX, BLOCK)
      f.increment(v.c, BLOCK / bytes)
      f.op(OP.i32_lt_u, v.c, v.outer).if(() => {
        f.op(OP.i32_gt_u, v.c, v.rows).if(() => f.set(v.c, v.rows))
        f.br(again)
      })
    })
  }
  f.get(v.outer).if(() => {
    if (kind === 'complex') f.push(word(f, v.head, at.beside)).if(beside, eachOuter)
    else eachOuter()
  })
}
