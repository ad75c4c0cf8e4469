/** Matrix products as dispatches: a register tile per invocation, with or without a tile in workgroup memory; long sums in parts. */
import type { GemmKernel } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { layout } from '../record.js'
import { floatAt, itemOf, place, SCRATCH, setFloat, shader, signed, type Word, word } from './dispatch.js'
import type { Dispatches, Machine } from './kernel.js'
import { sumOfParts } from './loop.js'
import { BLOCK, totalsOf } from './sums.js'

/** C, A and B. */
type Operands = readonly [Operand, Operand, Operand]

/** How an operand's two axes lie: rows of unit stride, columns of unit stride, or neither. */
type Order = 'row' | 'column' | 'any'
const orderOf = (o: Operand): Order => (o.strides[2] === itemOf(o) ? 'row' : o.strides[1] === itemOf(o) ? 'column' : 'any')

interface Shape {
  readonly batch: number
  readonly m: number
  readonly n: number
  readonly k: number
}

/**
 * The record. Of C, A and B: place and strides. With parts (of `chunk` products) each stretch of k goes to scratch, [part, batch, m, n], and a
 * loop adds them up. Of the form in registers: invocations of a workgroup along n, whether to add to C, and whether tiles go down first.
 */
const record = /*#__PURE__*/ layout(
  'batch m n k parts chunk tilesDown tilesAcross',
  'c cBatch cRow cColumn',
  'a aBatch aRow aColumn',
  'b bBatch bRow bColumn',
  'gx add down',
)
type Field = keyof typeof record.at
/** Fields of the record as u32, and as i32. */
const u32 = (field: Field): string => word(record.at[field])
const i32 = (field: Field): string => signed(record.at[field])

/** Offset of an element (row, column) of an operand. */
const element = (order: Order, of: 'a' | 'b' | 'c', row: string, column: string): string => {
  const down = order === 'column' ? row : `${row} * ${i32(`${of}Row`)}`
  const across = order === 'row' ? column : `${column} * ${i32(`${of}Column`)}`
  return `${of}b + ${down} + ${across}`
}

/** The sums of so many terms, over k from k0 to k1: `inner` takes the products from `from` to `to`. Long ones go block by block. */
const inBlocks = (terms: number, sums: readonly string[], inner: (from: string, to: string) => string): string => {
  if (terms <= BLOCK) return inner('k0', 'k1')
  const { declared, flush, done } = totalsOf(sums, terms)
  return `${declared}  for (var block = k0; block < k1; block += ${BLOCK}) {
  let end = min(k1, block + ${BLOCK});
${inner('block', 'end')}${flush}  }
${done}`
}

const words = (
  s: Shape,
  [parts, chunk]: readonly [number, number],
  form: Form,
  [tilesDown, tilesAcross]: readonly [number, number],
  [c, a, b]: Operands,
  accumulate: boolean,
): Word[] => {
  const [cBatch, cRow, cColumn] = steps(c)
  const [aBatch, aRow, aColumn] = steps(a)
  const [bBatch, bRow, bColumn] = steps(b)
  return record.of<Word>({
    ...s,
    parts,
    chunk,
    tilesDown,
    tilesAcross,
    c: place(c),
    cBatch,
    cRow,
    cColumn,
    a: place(a),
    aBatch,
    aRow,
    aColumn,
    b: place(b),
    bBatch,
    bRow,
    bColumn,
    gx: form.gx,
    add: accumulate ? 1 : 0,
    down: s.m < s.n ? 1 : 0, // the smaller operand is the one that is read again and again
  })
}
/** Strides in elements. */
const steps = (o: Operand) => o.strides.map((s) => s / itemOf(o)) as unknown as readonly [number, number, number] // an axis of batches, rows, columns

/** Which workgroup this is: `bt` of the batch, `part` of the sum, `tm` and `tn` among the tiles. */
const who = (): string => `  let tn = g % ${u32('tilesAcross')}; let g1 = g / ${u32('tilesAcross')};
  let tm = g1 % ${u32('tilesDown')}; let g2 = g1 / ${u32('tilesDown')};
  let bt = i32(g2 % ${u32('batch')}); let part = g2 / ${u32('batch')};
  if (part >= ${u32('parts')}) { return; }
  let cb = ${i32('c')} + bt * ${i32('cBatch')} + i32(part * ${u32('batch')} * ${u32('m')} * ${u32('n')});
  let ab = ${i32('a')} + bt * ${i32('aBatch')};
  let bb = ${i32('b')} + bt * ${i32('bBatch')};
  let M = ${i32('m')}; let N = ${i32('n')};
  let k0 = i32(part * ${u32('chunk')}); let k1 = min(${i32('k')}, k0 + ${i32('chunk')});
`

/**
 * A tile of TM x TN results held in registers, operands read straight from memory. Invocations lie in rows of `gx`, and a tile's columns are
 * `gx` apart, so that neighbours read neighbouring columns. Strides, `gx` and whether to add are words: one shader for all orders.
 */
const registers = (TM: number, TN: number, lanes: number, [oc, oa, ob]: Operands, terms: number): string => {
  const rows = [...Array(TM).keys()]
  const columns = [...Array(TN).keys()]
  let s = `  let gx = ${u32('gx')}; let first = select(${u32('tilesAcross')}, ${u32('tilesDown')}, ${u32('down')} != 0u);
  let t = g % (${u32('tilesDown')} * ${u32('tilesAcross')}); let g2 = g / (${u32('tilesDown')} * ${u32('tilesAcross')});
  let tn = select(t % first, t / first, ${u32('down')} != 0u); let tm = select(t / first, t % first, ${u32('down')} != 0u);
  let bt = g2 % ${u32('batch')}; let part = g2 / ${u32('batch')};
  if (part >= ${u32('parts')}) { return; }
  let M = ${u32('m')}; let N = ${u32('n')};
  let k0 = part * ${u32('chunk')}; let k1 = min(${u32('k')}, k0 + ${u32('chunk')});
  let i0 = (tm * (${lanes}u / gx) + l / gx) * ${TM}u; let j0 = tn * gx * ${TN}u + l % gx;
  let ak = ${u32('aColumn')}; let bk = ${u32('bRow')};
`
  // Rows and columns past the edge read the last one; their results are not stored. Sums wrap: strides may be negative.
  for (const r of rows) s += `  var pa${r} = ${u32('a')} + bt * ${u32('aBatch')} + min(i0 + ${r}u, M - 1u) * ${u32('aRow')} + k0 * ak;\n`
  for (const c of columns)
    s += `  var pb${c} = ${u32('b')} + bt * ${u32('bBatch')} + min(j0 + ${c}u * gx, N - 1u) * ${u32('bColumn')} + k0 * bk;\n`
  const sums = rows.flatMap((r) => columns.map((c) => `s${r}_${c}`))
  for (const sum of sums) s += `  var ${sum} = 0.0;\n`
  let products = ''
  for (const r of rows) products += `    let a${r} = ${floatAt(oa, `pa${r}`)}; pa${r} += ak;\n`
  for (const c of columns) products += `    let b${c} = ${floatAt(ob, `pb${c}`)}; pb${c} += bk;\n`
  for (const r of rows) for (const c of columns) products += `    s${r}_${c} += a${r} * b${c};\n`
  s += inBlocks(terms, sums, (from, to) => `  for (var k = ${from}; k < ${to}; k++) {\n${products}  }\n`)
  // A loop over rows: stores written out one by one take longer to compile than all the rest.
  s += `  let cb = ${u32('c')} + bt * ${u32('cBatch')} + part * ${u32('batch')} * M * N;
  for (var r = 0u; r < ${TM}u && i0 + r < M; r++) {
    let q = cb + (i0 + r) * ${u32('cRow')} + j0 * ${u32('cColumn')};
`
  for (const c of columns) {
    s += `    if (j0 + ${c}u * gx < N) { let e = q + ${c}u * gx * ${u32('cColumn')}; var v = s0_${c};`
    for (const r of rows.slice(1)) s += ` v = select(v, s${r}_${c}, r == ${r}u);`
    s += ` if (${u32('add')} != 0u) { v += ${floatAt(oc, 'e')}; } ${setFloat(oc, 'e', 'v')} }\n`
  }
  return shader({ width: lanes, words: record.words, view: 'f32', body: `${s}  }\n` })
}

/** Tiles of A and B in workgroup memory: 16 x 16 invocations, each T x T results. */
const tiled = ([oc, oa, ob]: Operands, T: number, accumulate: boolean, terms: number): string => {
  const [a, b] = [orderOf(oa), orderOf(ob)]
  const KT = 16
  const W = 16 * T
  const per = (W * KT) / 256
  let s = who()
  s += `  let ly = i32(l) / 16; let lx = i32(l) % 16;\n  let i0 = i32(tm) * ${W}; let j0 = i32(tn) * ${W};\n`
  const rows = [...Array(T).keys()]
  const sums = rows.flatMap((r) => rows.map((c) => `s${r}_${c}`))
  for (const sum of sums) s += `  var ${sum} = 0.0;\n`
  let tile = ''
  // Neighbouring invocations read neighbouring elements of memory.
  for (let e = 0; e < per; e++) {
    const flat = `(i32(l) + ${e * 256})`
    const [ai, ak] = a === 'column' ? [`${flat} % ${W}`, `${flat} / ${W}`] : [`${flat} / ${KT}`, `${flat} % ${KT}`]
    tile += `    { let i = ${ai}; let k = ${ak}; var x = 0.0; if (i0 + i < M && kk + k < k1) { x = ${floatAt(oa, element(a, 'a', '(i0 + i)', '(kk + k)'))}; } ta[k * ${W + 1} + i] = x; }\n`
    const [bk, bj] = b === 'column' ? [`${flat} % ${KT}`, `${flat} / ${KT}`] : [`${flat} / ${W}`, `${flat} % ${W}`]
    tile += `    { let k = ${bk}; let j = ${bj}; var x = 0.0; if (j0 + j < N && kk + k < k1) { x = ${floatAt(ob, element(b, 'b', '(kk + k)', '(j0 + j)'))}; } tb[k * ${W + 1} + j] = x; }\n`
  }
  tile += `    workgroupBarrier();\n    for (var k = 0; k < ${KT}; k++) {\n`
  for (const r of rows) tile += `      let a${r} = ta[k * ${W + 1} + ly + ${16 * r}];\n`
  for (const c of rows) tile += `      let b${c} = tb[k * ${W + 1} + lx + ${16 * c}];\n`
  for (const r of rows) for (const c of rows) tile += `      s${r}_${c} += a${r} * b${c};\n`
  tile += '    }\n    workgroupBarrier();\n'
  s += inBlocks(terms, sums, (from, to) => `  for (var kk = ${from}; kk < ${to}; kk += ${KT}) {\n${tile}  }\n`)
  for (let r = 0; r < T; r++)
    for (let c = 0; c < T; c++)
      s += `  { let i = i0 + ly + ${16 * r}; let j = j0 + lx + ${16 * c}; if (i < M && j < N) { let q = ${element('row', 'c', 'i', 'j')}; ${setFloat(oc, 'q', `${accumulate ? `${floatAt(oc, 'q')} + ` : ''}s${r}_${c}`)} } }\n`
  const shared = `var<workgroup> ta: array<f32, ${KT * (W + 1)}>;\nvar<workgroup> tb: array<f32, ${KT * (W + 1)}>;\n`
  return shader({ width: 256, words: record.words, view: 'f32', body: s, declared: shared })
}

/** The form of a product: results and invocations of a workgroup, and its text. */
interface Form {
  readonly m: number
  readonly n: number
  readonly lanes: number
  readonly gx: number
  readonly text: (operands: Operands, accumulate: boolean, terms: number) => string
}

/** Tiles in registers that are worth a shader. Software pays by the load, hardware by the invocation that waits. */
const tilesOf = (machine: Machine): readonly (readonly [number, number])[] =>
  machine.lanes > 1
    ? [
        [1, 1],
        [4, 4],
      ]
    : [
        [8, 8],
        [4, 4],
        [8, 1],
        [1, 8],
      ]

/**
 * The tile and the workgroup's shape whose loads and products, padding included, take least time. Where they are equal, fewer cache lines are
 * better: an operand of unit stride along k has one for each row (or column) of the workgroup.
 */
const inRegisters = (s: Shape, a: Order, b: Order, machine: Machine): Form => {
  const lanes = machine.lanes > 1 ? 64 : 16
  let best: { readonly cost: number; readonly gx: number; readonly tile: readonly [number, number] } | undefined
  for (const tile of tilesOf(machine)) {
    const [TM, TN] = tile
    for (let gx = lanes; gx >= 1; gx /= 2) {
      const groups = s.batch * Math.ceil(s.m / ((TM * lanes) / gx)) * Math.ceil(s.n / (TN * gx))
      const lines = ((TM * lanes) / gx) * (a === 'column' ? 1 / 16 : 1) + TN * gx * (b === 'row' ? 1 / 16 : 1)
      const cost = (1 + (groups * lanes) / machine.fill) * (TM + TN + 0.15 * TM * TN) * (1 + lines / 200)
      if (best === undefined || cost < best.cost) best = { cost, gx, tile }
    }
  }
  const { gx, tile } = best!
  return {
    m: (tile[0] * lanes) / gx,
    n: tile[1] * gx,
    lanes,
    gx,
    text: (operands, _, terms) => registers(tile[0], tile[1], lanes, operands, terms),
  }
}

const choose = (s: Shape, a: Order, b: Order, machine: Machine): Form => {
  if (!(machine.lanes > 1 && s.m >= 32 && s.n >= 32 && s.k >= 16)) return inRegisters(s, a, b, machine)
  const T = s.batch * s.m * s.n >= 64 * 64 * 128 ? 4 : 2
  return { m: 16 * T, n: 16 * T, lanes: 256, gx: 16, text: (operands, accumulate, terms) => tiled(operands, T, accumulate, terms) }
}

/** Dispatches of C = A B or C += A B. */
export const gemmDispatches = (kernel: GemmKernel, { sizes, reads, writes }: Work, machine: Machine): Dispatches => {
  const [batch, m, n, k] = sizes as readonly [number, number, number, number]
  const shape = { batch, m, n, k }
  const operands: Operands = [writes[0]!, reads[0]!, reads[1]!]
  const [c, a, b] = operands
  if (batch * m * n === 0) return { dispatches: [], scratchBytes: 0 }
  const form = choose(shape, orderOf(a), orderOf(b), machine)
  const tiles = [Math.ceil(m / form.m), Math.ceil(n / form.n)] as const
  const invocations = batch * tiles[0] * tiles[1] * form.lanes
  const parts = Math.max(1, Math.min(Math.floor(machine.fill / invocations), Math.floor(k / 256), 64))
  const chunk = Math.ceil(k / parts)
  const groups = batch * tiles[0] * tiles[1] * parts
  if (parts === 1)
    return {
      dispatches: [
        {
          wgsl: form.text([c, a, b], kernel.accumulate, chunk),
          words: words(shape, [1, k], form, tiles, operands, kernel.accumulate),
          groups,
        },
      ],
      scratchBytes: 0,
    }
  const partial: Operand = { storage: SCRATCH, offset: 0, strides: [4 * m * n, 4 * n, 4] }
  const size = 4 * batch * m * n
  const sum = sumOfParts(parts, [batch, m, n], c, kernel.accumulate, { ...machine, lanes: 1 })
  return {
    dispatches: [
      {
        wgsl: form.text([partial, a, b], false, chunk),
        words: words(shape, [parts, chunk], form, tiles, [partial, a, b], false),
        groups,
      },
      ...sum.dispatches,
    ],
    scratchBytes: parts * size,
  }
}
