/** What writes at computed places: scatterAdd, scatterAddAlong, setAt. The order of the indices decides, as in their meanings: no float is added atomically. */
import type { FoldParams } from '../../core/ops/indexing/fold.js'
import type { GatherParams } from '../../core/ops/indexing/gather.js'
import type { AxisParams } from '../../core/ops/layout/join.js'
import type { DType } from '../../core/types/dtype.js'
import type { Operand } from '../plan/step.js'
import { type Dispatch, place, type Word, wordAt } from './dispatch.js'
import { alongGeometry, at, gatherGeometry, type Indexed, LINE } from './gather.js'
import { acceptsF16, type Dispatches, type Machine, type WholeShader } from './kernel.js'
import { ordered } from './ordered.js'
import { addWords, perItem, RESOLVE, scratch } from './shader.js'
import { sortDispatches } from './sort.js'
import { BLOCK, collect } from './sums.js'

/** Lists up to this long are walked by every column. */
const SHORT = 64
/** A device that so many invocations fill has few cores: there to sort costs more than it brings. */
const FEW = 256
/** Ordered indices that one invocation adds up. */
const CHUNK = { least: 32, most: 1024 }

/** Do columns walk the whole list by themselves? Where they fill the device, where lists are short, and where cores are few. */
const walks = (g: Indexed, machine: Machine): boolean => g.count <= SHORT || g.lines * g.columns >= machine.fill || machine.fill <= FEW

/** One invocation per column of a line: it owns its column, and takes the indices in order. */
const walked = (
  g: Indexed,
  [acc, indices, u]: readonly Operand[],
  put: (to: string, from: string) => string,
  first: { readonly words: Readonly<Record<string, Word>>; readonly body: string } = { words: {}, body: '' },
): readonly Dispatch[] =>
  perItem({
    items: g.lines * g.columns,
    words: { xp: place(acc!), ip: place(indices!), up: place(u!), ...g.words, ...first.words },
    functions: [RESOLVE],
    body: `  let col = t % columns; let line = t / columns;
${LINE}${first.body}  for (var i = 0u; i < count; i++) {
    let row = resolve(m[ip + (lo * count + i) * after + li], n);
    let to = ${at('n', 'row')};
    ${put('to', wordAt(u!, `up + ${at('count', 'i')}`))}
  }
`,
  })

/** The same with what additions round off kept in scratch: a number for every element of the column. */
const walkedLong = (g: Indexed, operands: readonly Operand[]): Dispatches => {
  const put = (to: string, from: string): string => `var s = bitcast<f32>(m[xp + ${to}]); var lost = bitcast<f32>(m[hp + ${to}]);
    ${collect('s', 'lost', `bitcast<f32>(${from})`)}
    m[xp + ${to}] = bitcast<u32>(s); m[hp + ${to}] = bitcast<u32>(lost);`
  return {
    dispatches: walked(g, operands, put, {
      words: { hp: scratch(0) },
      body: `  for (var row = 0u; row < n; row++) { m[hp + ${at('n', 'row')}] = 0u; }\n`,
    }),
    scratchBytes: 4 * g.lines * g.columns * g.size,
  }
}

/** A sum `s` of words that hold elements of this dtype, begun anew with `start`: of floats, what additions round off is kept. */
const running = (dtype: DType) =>
  dtype === 'f32'
    ? {
        declared: 'var s = 0.0; var lost = 0.0;',
        start: (w: string): string => `s = bitcast<f32>(${w}); lost = 0.0;`,
        add: (w: string): string => collect('s', 'lost', `bitcast<f32>(${w})`),
        value: 'bitcast<u32>(s)',
      }
    : { declared: 'var s = 0u;', start: (w: string): string => `s = ${w};`, add: (w: string): string => `s += ${w};`, value: 's' }

/**
 * Sums of an ordered list: indices are sorted (stably) by where they point, and cut into chunks; each invocation adds up the runs of equal
 * ones in a chunk, for one column. A run that began in the chunk starts from what the result holds and is stored there; the part of a run
 * that began before goes to scratch, and a second pass adds those parts to the run's sum, in order.
 */
const summed = (g: Indexed, [acc, indices, u]: readonly Operand[], dtype: DType, machine: Machine): Dispatches => {
  const { lines, count, columns } = g
  const after = g.words.after
  const pairs = lines * count
  const chunk = Math.min(CHUNK.most, Math.max(CHUNK.least, Math.ceil((pairs * columns) / machine.fill)))
  const chunks = Math.ceil(count / chunk)
  const order = sortDispatches(
    {
      before: lines / after,
      size: count,
      after,
      functions: [RESOLVE],
      words: { ip: place(indices!), n: g.size },
      key: (e) => `i32(resolve(m[ip + ${e}], n))`,
      to: { keys: scratch(0), positions: scratch(pairs) },
      spare: { keys: scratch(2 * pairs), positions: scratch(3 * pairs) },
    },
    machine,
  )
  // The spare pairs are free again: the parts of runs lie there, or behind.
  const parts = lines * chunks * columns
  const words = { xp: place(acc!), kp: scratch(0), qp: scratch(pairs), hp: scratch(2 * pairs), ...g.words, chunk, chunks }
  const who = `  let col = t % columns; let u = t / columns;
  let line = (u / after / chunks) * after + u % after; let q = (u / after) % chunks;
${LINE}  let list = lo * count * after + li;
  let j0 = q * chunk; let j1 = min(j0 + chunk, count);
  let first = m[kp + list + j0 * after];
  let old = j0 > 0u && m[kp + list + (max(j0, 1u) - 1u) * after] == first;
`
  const sum = running(dtype)
  const runs = perItem({
    items: parts,
    words: { ...words, up: place(u!) },
    body: `${who}  var row = first;
  var place = xp + ${at('n', 'row')};
  ${sum.declared}
  if (old) { place = hp + t; } else { ${sum.start('m[place]')} }
  for (var j = j0; j < j1; j++) {
    let next = m[kp + list + j * after];
    if (next != row) {
      m[place] = ${sum.value};
      row = next; place = xp + ${at('n', 'row')}; ${sum.start('m[place]')}
    }
    let i = m[qp + list + j * after];
    ${sum.add(wordAt(u!, `up + ${at('count', 'i')}`))}
  }
  m[place] = ${sum.value};
`,
  })
  const joined = perItem({
    items: chunks === 1 ? 0 : parts,
    words,
    // Only the chunk where a run begins joins it: not one that the run passes through.
    body: `${who}  let row = m[kp + list + (j1 - 1u) * after];
  if (j1 == count || m[kp + list + j1 * after] != row || (old && row == first)) { return; }
  let place = xp + ${at('n', 'row')};
  ${sum.declared} ${sum.start('m[place]')}
  for (var k = q + 1u; k < chunks; k++) {
    if (m[kp + list + k * chunk * after] != row) { break; }
    let part = ((lo * chunks + k) * after + li) * columns + col;
    ${sum.add('m[hp + part]')}
  }
  m[place] = ${sum.value};
`,
  })
  return { dispatches: [...order, ...runs, ...joined], scratchBytes: 4 * (2 * pairs + Math.max(2 * pairs, parts)) }
}

const adding = (geometry: (kernel: Parameters<WholeShader>[0]) => Indexed): WholeShader =>
  acceptsF16((kernel, operands, machine) => {
    const g = geometry(kernel)
    const { dtype } = kernel.results[0]!
    if (g.lines * g.columns * g.count === 0) return { dispatches: [], scratchBytes: 0 }
    const plain = (): Dispatches => ({
      dispatches: walked(g, operands, (to, from) => `m[xp + ${to}] = ${addWords(dtype, `m[xp + ${to}]`, from)};`),
      scratchBytes: 0,
    })
    if (!walks(g, machine)) return summed(g, operands, dtype, machine)
    if (dtype !== 'f32' || g.count <= BLOCK) return plain()
    return g.size <= g.count ? walkedLong(g, operands) : summed(g, operands, dtype, machine)
  })
export const scatterAddShader: WholeShader = adding((k) => gatherGeometry(k.args[0]!.shape, k.args[1]!.shape, k.params as GatherParams))
export const scatterAddAlongShader: WholeShader = adding((k) => alongGeometry(k.args[0]!.shape, k.args[1]!.shape, k.params as AxisParams))

/** The last index of each place wins: found by an atomic maximum of positions (whole numbers, so that the order does not matter). */
export const setAtShader = acceptsF16((kernel, operands, machine) => {
  const g = gatherGeometry(kernel.args[0]!.shape, kernel.args[1]!.shape, kernel.params as GatherParams)
  if (g.lines * g.columns * g.count === 0) return { dispatches: [], scratchBytes: 0 }
  if (g.count <= SHORT || g.lines * g.columns >= machine.fill)
    return { dispatches: walked(g, operands, (to, from) => `m[xp + ${to}] = ${from};`), scratchBytes: 0 }
  const [x, indices, u] = operands as readonly [Operand, Operand, Operand]
  const words = { ip: place(indices), vp: scratch(0), ...g.words }
  // Lines are batches here: `after` is 1.
  const winner = `  let line = t / count; let slot = vp + line * n + resolve(INDEX, n);\n`
  const each = { items: g.lines * g.count, words, functions: [RESOLVE], atomic: true }
  const body = winner.replace('INDEX', 'atomicLoad(&m[ip + t])')
  return {
    dispatches: [
      perItem({ ...each, body: `${body}  atomicStore(&m[slot], 0u);\n` }),
      perItem({ ...each, body: `${body}  atomicMax(&m[slot], t % count + 1u);\n` }),
      perItem({
        items: g.lines * g.count * g.columns,
        words: { ...words, xp: place(x), up: place(u) },
        functions: [RESOLVE],
        body: `  let rest = t % inner; let i = (t / inner) % count; let block = t / inner / count; let line = block / (columns / inner);
  let wide = inner;
  let row = resolve(m[ip + line * count + i], n);
  if (m[vp + line * n + row] == i + 1u) { m[xp + ${at('n', 'row')}] = ${wordAt(u, 'up + t')}; }
`,
      }),
    ].flat(),
    scratchBytes: 4 * g.lines * g.size,
  }
})

/**
 * Maxima and minima do not depend on the order: of long lists each update's key goes to its place by an atomic maximum. Products are rounded in the
 * order of the indices, so there each column walks the list.
 */
export const scatterReduceShader: WholeShader = acceptsF16((kernel, operands) => {
  const { mode, ...p } = kernel.params as FoldParams
  const { dtype } = kernel.results[0]!
  const g = gatherGeometry(kernel.args[0]!.shape, kernel.args[1]!.shape, p)
  if (g.lines * g.columns * g.count === 0) return { dispatches: [], scratchBytes: 0 }
  const [x, indices, u] = operands as readonly [Operand, Operand, Operand]
  const float = (w: string): string => `bitcast<f32>(${w})`
  if (mode === 'mul') {
    const product = (a: string, b: string): string => (dtype === 'f32' ? `bitcast<u32>(${float(a)} * ${float(b)})` : `${a} * ${b}`)
    return { dispatches: walked(g, operands, (to, from) => `m[xp + ${to}] = ${product(`m[xp + ${to}]`, from)};`), scratchBytes: 0 }
  }
  const { functions, key, word } = ordered(mode, dtype)
  const [size, updates] = [g.lines * g.columns * g.size, g.lines * g.columns * g.count]
  const words = {
    xp: place(x),
    kp: scratch(0),
    vp: scratch(size),
    tp: scratch(size + updates),
    ip: place(indices),
    up: place(u),
    ...g.words,
  }
  const each = { words, functions: [RESOLVE, ...functions] }
  return {
    dispatches: [
      perItem({ ...each, items: size, body: `  let bits = m[xp + t]; m[kp + t] = ${key('bits')};\n` }),
      perItem({
        ...each,
        items: updates,
        body: `  let rest = t % inner; let i = (t / inner) % count; let block = t / inner / count; let line = block / (columns / inner);
  let wide = inner;
  let row = resolve(m[ip + line * count + i], n);
  let bits = ${wordAt(u, 'up + t')};
  m[vp + t] = ${key('bits')}; m[tp + t] = ${at('n', 'row')};
`,
      }),
      perItem({ ...each, items: updates, atomic: true, body: `  atomicMax(&m[kp + atomicLoad(&m[tp + t])], atomicLoad(&m[vp + t]));\n` }),
      perItem({ ...each, items: size, body: `  let best = m[kp + t]; m[xp + t] = ${word('best')};\n` }),
    ].flat(),
    scratchBytes: 4 * (size + 2 * updates),
  }
})
