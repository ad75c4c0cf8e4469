/** A matrix product with a tile of results in the registers of each invocation, its operands read straight from memory. */
import { floatAt, setFloat, shader } from './dispatch.js'
import { inBlocks, type Operands, record, u32 } from './gemm-record.js'

/**
 * A tile of TM x TN results held in registers, operands read straight from memory. Invocations lie in rows of `gx`, and a tile's columns are
 * `gx` apart, so that neighbours read neighbouring columns. Strides, `gx` and whether to add are words: one shader for all orders.
 */
export const registers = (TM: number, TN: number, lanes: number, [oc, oa, ob]: Operands, terms: number): string => {
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
