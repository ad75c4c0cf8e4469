/** argmax and argmin: one invocation per line, or per part of one and then again over what the parts found. */
import type { AxisParams } from '../../core/ops/layout/join.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import { type Dispatch, place, type Word, wordAt } from './dispatch.js'
import { acceptsF16, type Machine, type WholeShader } from './kernel.js'
import { ORDER, orderOf, perItem, scratch } from './shader.js'

/** Elements of a line that are worth an invocation. */
const LEAST = 32

interface Lines {
  readonly before: number
  readonly size: number
  readonly after: number
}
/** Scores and positions of elements (b size + i) after + c: of the numbers themselves, or what parts of lines have found. */
interface Scores {
  readonly functions: readonly string[]
  readonly words: Readonly<Record<string, Word>>
  readonly score: (e: string) => string
  readonly position: (i: string, e: string) => string
}

/**
 * The position of the largest score of each line, the smaller of equals. Where lines are few, part q of a line takes its elements q,
 * q + parts, ... (so that neighbours read neighbours) and leaves the best and its position in scratch, where the same is done again.
 */
const best = (
  { before, size, after }: Lines,
  s: Scores,
  out: Word,
  machine: Machine,
  taken: number,
): { readonly dispatches: readonly Dispatch[]; readonly taken: number } => {
  const lines = before * after
  const wanted = lines >= machine.fill / 2 ? 1 : Math.min(Math.ceil(machine.fill / lines), Math.floor(size / LEAST))
  const parts = Math.max(1, wanted)
  const found = parts === 1 ? undefined : { score: scratch(taken), position: scratch(taken + lines * parts) }
  const dispatches = perItem({
    items: lines * parts,
    words: { size, after, parts, op: found?.position ?? out, ...s.words, ...(found && { np: found.score }) },
    functions: s.functions,
    body: `  let c = t % after; let q = (t / after) % parts; let base = (t / after / parts) * size;
  var e = (base + q) * after + c;
  var best = ${s.score('e')};
  var at = ${s.position('q', 'e')};
  for (var i = q + parts; i < size; i += parts) {
    e = (base + i) * after + c;
    let score = ${s.score('e')};
    let position = ${s.position('i', 'e')};
    if (score > best || (score == best && position < at)) { best = score; at = position; }
  }
  m[op + t] = at;
${found === undefined ? '' : '  m[np + t] = bitcast<u32>(best);\n'}`,
  })
  if (found === undefined) return { dispatches, taken }
  const rest = best(
    { before, size: parts, after },
    {
      functions: [],
      words: { sp: found.score, pp: found.position },
      score: (e) => `bitcast<i32>(m[sp + ${e}])`,
      position: (_, e) => `m[pp + ${e}]`,
    },
    out,
    machine,
    taken + 2 * lines * parts,
  )
  return { dispatches: [...dispatches, ...rest.dispatches], taken: rest.taken }
}

/** The score of a number is its order, or the order's complement for argmin; a NaN is above all. */
const argShader = (least: boolean): WholeShader =>
  acceptsF16((kernel, [out, x], machine) => {
    const { shape, dtype } = kernel.args[0]!
    const around = aroundAxis(shape, (kernel.params as AxisParams).axis)
    if (around.before * around.after === 0) return { dispatches: [], scratchBytes: 0 }
    const order = (e: string): string => orderOf(dtype, wordAt(x!, `xp + ${e}`))
    // The order of a NaN has no complement that is above all: -1 - order is at most 0x7f800000 for numbers.
    const score = (e: string): string => (!least ? order(e) : dtype === 'f32' ? `from_below(${order(e)})` : `~${order(e)}`)
    const { dispatches, taken } = best(
      around,
      {
        functions: [ORDER, 'fn from_below(order: i32) -> i32 { return select(~order, order, order == 0x7fffffff); }'],
        words: { xp: place(x!) },
        score,
        position: (i) => i,
      },
      place(out!),
      machine,
      0,
    )
    return { dispatches, scratchBytes: 4 * taken }
  })
export const argmaxShader: WholeShader = argShader(false)
export const argminShader: WholeShader = argShader(true)
