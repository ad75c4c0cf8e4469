/** A matrix product with tiles of its operands in workgroup memory, and a tile of results in the registers of each invocation. */
import { floatAt, setFloat, shader } from './dispatch.js'
import { i32, inBlocks, type Operands, orderOf, record, u32 } from './gemm-record.js'

/** The tiles of a product. */
export interface Tiles {
  /** Results of a workgroup, down and across. */
  readonly m: number
  readonly n: number
  /** Results of an invocation: 1, 2 or multiples of 4. */
  readonly tm: number
  readonly tn: number
  /** Terms of a tile of the operands. */
  readonly k: number
}

/** Invocations of a workgroup. */
export const lanesOf = ({ m, n, tm, tn }: Tiles): number => (m / tm) * (n / tn)

/** Numbers that are moved to and from workgroup memory at once. */
const wide = (t: number): 1 | 2 | 4 => (t >= 4 ? 4 : t === 2 ? 2 : 1)
const typeOf = (v: number): string => (v === 1 ? 'f32' : `vec${v}<f32>`)
const zeroOf = (v: number): string => (v === 1 ? '0.0' : `vec${v}<f32>()`)
const part = (name: string, v: number, c: number): string => (v === 1 ? name : `${name}.${'xyzw'[c]}`)

/** One operand's tile: `m` is its length along the results, `v` how many numbers lie together. */
interface Side {
  readonly of: 'a' | 'b'
  readonly m: number
  readonly v: number
  /** Slots of `v` numbers in a row of the tile, and the distance between rows. */
  readonly slots: number
  readonly pitch: number
  /** Neighbouring invocations read neighbouring terms; otherwise neighbouring results. */
  readonly alongK: boolean
  /** Slots that an invocation fills, the last one perhaps not. */
  readonly turns: number
}
const sideOf = (of: 'a' | 'b', m: number, t: number, alongK: boolean, k: number, lanes: number): Side => {
  const v = wide(t)
  const slots = m / v
  // Those who write a column of the tile are an odd number of slots apart, so that they meet in no bank.
  return { of, m, v, slots, pitch: alongK ? slots + 1 - (slots % 2) : slots, alongK, turns: Math.ceil((slots * k) / lanes) }
}

/** Which workgroup this is: `bt` of the batch, `part` of the sum, `tm` and `tn` among the tiles. */
const who = (): string => `  let tn = g % ${u32('tilesAcross')}; let g1 = g / ${u32('tilesAcross')};
  let tm = g1 % ${u32('tilesDown')}; let g2 = g1 / ${u32('tilesDown')};
  let bt = i32(g2 % ${u32('batch')}); let part = g2 / ${u32('batch')};
  if (part >= ${u32('parts')}) { return; }
  let cb = ${i32('c')} + bt * ${i32('cBatch')} + i32(part * ${u32('batch')} * ${u32('m')} * ${u32('n')});
  let M = ${i32('m')}; let N = ${i32('n')};
  let k0 = i32(part * ${u32('chunk')}); let k1 = min(${i32('k')}, k0 + ${i32('chunk')});
`

/** The number of the `e`-th slot that an invocation fills, in its row, and the row. */
const slotOf = ({ slots, alongK }: Side, e: number, k: number, lanes: number): readonly [slot: string, row: string] => {
  const flat = e === 0 ? 'i32(l)' : `(i32(l) + ${e * lanes})`
  return alongK ? [`${flat} / ${k}`, `${flat} % ${k}`] : [`${flat} % ${slots}`, `${flat} / ${slots}`]
}

/**
 * The shader. A slot holds numbers that are `slots` rows (columns of B) apart, so that neighbouring invocations read neighbouring elements one
 * at a time, wherever the operand begins, and yet move four at once in workgroup memory. The next tile is read from memory into registers
 * before the products of this one are made. Rows and columns past the edge read the last ones: their results are not stored.
 */
export const tiled = ([oc, oa, ob]: Operands, tiles: Tiles, accumulate: boolean, terms: number): string => {
  const { m, n, tm, tn, k: K } = tiles
  const lanes = lanesOf(tiles)
  const [gx, gy] = [n / tn, m / tm]
  const a = sideOf('a', m, tm, orderOf(oa) !== 'column', K, lanes)
  const b = sideOf('b', n, tn, orderOf(ob) === 'column', K, lanes)
  const sides = [a, b] as const
  const operand = { a: oa, b: ob }
  const [rows, columns] = [tm / a.v, tn / b.v] // slots of an invocation
  let s = who()
  s += `  let lx = i32(l) % ${gx}; let ly = i32(l) / ${gx};\n`
  s += `  let i0 = i32(tm) * ${m}; let j0 = i32(tn) * ${n};\n`
  const sums = [...Array(tm).keys()].flatMap((r) => [...Array(columns).keys()].map((c) => `s${r}_${c}`))
  for (const sum of sums) s += `  var ${sum} = ${zeroOf(b.v)};\n`
  // Where the slots that this invocation fills begin in memory.
  for (const side of sides)
    for (let e = 0; e < side.turns; e++) {
      const { of, v, slots } = side
      const [slot, row] = slotOf(side, e, K, lanes)
      s += `  let ${of}s${e} = ${slot}; let ${of}k${e} = ${row}; var ${of}r${e} = ${zeroOf(v)};\n`
      for (let c = 0; c < v; c++) {
        const at =
          of === 'a'
            ? `min(i0 + as${e} + ${c * slots}, M - 1) * ${i32('aRow')}`
            : `min(j0 + bs${e} + ${c * slots}, N - 1) * ${i32('bColumn')}`
        s += `  let ${of}p${e}_${c} = ${i32(of)} + bt * ${i32(`${of}Batch`)} + ${at} + ${of}k${e} * ${i32(of === 'a' ? 'aColumn' : 'bRow')};\n`
      }
    }
  const full = (side: Side, e: number): string =>
    (e + 1) * lanes <= side.slots * K ? '' : `if (i32(l) + ${e * lanes} < ${side.slots * K}) `
  const read = (from: string): string =>
    sides
      .flatMap((side) =>
        [...Array(side.turns).keys()].map((e) => {
          const { of, v } = side
          const step = i32(of === 'a' ? 'aColumn' : 'bRow')
          const loads = [...Array(v).keys()].map((c) => floatAt(operand[of], `${of}p${e}_${c} + ${from} * ${step}`))
          return `    ${of}r${e} = ${zeroOf(v)}; if (${from} + ${of}k${e} < k1) { ${of}r${e} = ${v === 1 ? loads[0] : `${typeOf(v)}(${loads.join(', ')})`}; }\n`
        }),
      )
      .join('')
  const write = sides
    .flatMap((side) =>
      [...Array(side.turns).keys()].map((e) => {
        const { of, pitch } = side
        return `    ${full(side, e)}{ t${of}[${of}k${e} * ${pitch} + ${of}s${e}] = ${of}r${e}; }\n`
      }),
    )
    .join('')
  let term = ''
  for (let r = 0; r < rows; r++) term += `      let a${r} = ta[k * ${a.pitch} + ly + ${r * gy}];\n`
  for (let c = 0; c < columns; c++) term += `      let b${c} = tb[k * ${b.pitch} + lx + ${c * gx}];\n`
  for (let r = 0; r < tm; r++)
    for (let c = 0; c < columns; c++) term += `      s${r}_${c} += ${part(`a${Math.floor(r / a.v)}`, a.v, r % a.v)} * b${c};\n`
  const tile = `${write}    workgroupBarrier();
    if (kk + ${K} < k1) {\n${read(`(kk + ${K})`)}    }
    for (var k = 0; k < ${K}; k++) {\n${term}    }
    workgroupBarrier();\n`
  s += read('k0')
  s += inBlocks(terms, sums, (from, to) => `  for (var kk = ${from}; kk < ${to}; kk += ${K}) {\n${tile}  }\n`, {
    zero: zeroOf(b.v),
    lost: b.v === 1 ? 'cd_lost' : 'lost',
  })
  // Stores of one row after the other: written out, they would take longer to compile than all the rest.
  for (let r = 0; r < tm; r++) {
    s += `  { let i = i0 + ly + ${Math.floor(r / a.v) * gy + (r % a.v) * a.slots}; if (i < M) { let q = cb + i * ${i32('cRow')};\n`
    for (let c = 0; c < tn; c++) {
      const value = part(`s${r}_${Math.floor(c / b.v)}`, b.v, c % b.v)
      s += `    { let j = j0 + lx + ${Math.floor(c / b.v) * gx + (c % b.v) * b.slots}; if (j < N) { let e = q + j * ${i32('cColumn')}; ${setFloat(oc, 'e', `${accumulate ? `${floatAt(oc, 'e')} + ` : ''}${value}`)} } }\n`
    }
    s += '  } }\n'
  }
  const shared = sides.map((x) => `var<workgroup> t${x.of}: array<${typeOf(x.v)}, ${K * x.pitch}>;\n`).join('')
  const lost =
    b.v === 1
      ? ''
      : `fn lost(a: ${typeOf(b.v)}, b: ${typeOf(b.v)}, s: ${typeOf(b.v)}) -> ${typeOf(b.v)} { return ${typeOf(b.v)}(${[...Array(b.v).keys()].map((c) => `cd_lost(${part('a', b.v, c)}, ${part('b', b.v, c)}, ${part('s', b.v, c)})`).join(', ')}); }\n`
  return shader({ width: lanes, words: record.words, view: 'f32', body: s, declared: s.includes('lost(') ? shared + lost : shared })
}
