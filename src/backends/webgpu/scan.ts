/** Scans along lines: one invocation per line, or per chunk of one, with the chunks' totals scanned in between. */
import { aroundAxis } from '../../core/ops/reduce.js'
import type { RecurrenceParams, RunningParams, ScanParams } from '../../core/ops/scans.js'
import type { Operand } from '../plan/step.js'
import { type Dispatch, place, setWord, type Word, wordAt } from './dispatch.js'
import { acceptsF16, type Dispatches, type Machine } from './kernel.js'
import { extremes, products, recurrence, type ScanKind, sums } from './scan-kinds.js'
import { perItem, scratch } from './shader.js'

/** Elements of a line that are worth an invocation; shorter lines than this many of them stay whole. */
const LEAST = 32
const WHOLE = 256

/** Lines of elements (b size + k) after + c, in memory as words at places of the record. */
interface Lines {
  readonly before: number
  readonly size: number
  readonly after: number
}
/** Words in memory: where they begin, and how one of them is read. */
interface Source {
  readonly place: Word
  readonly at: (index: string) => string
}
interface Level extends Lines {
  readonly kind: ScanKind
  /** The words of an element; where values go, or undefined where carries take the place of totals. */
  readonly from: readonly Source[]
  readonly to: Operand | undefined
  readonly reverse: boolean
  readonly exclusive: boolean
  readonly machine: Machine
  /** Words of scratch that are taken. */
  readonly taken: number
}

/**
 * Three passes where lines are few and long: the total of each chunk, a scan of the totals that leaves in each place what comes before,
 * and the chunks again from there. The scan of totals is one of these itself.
 */
const scanDispatches = (s: Level): { readonly dispatches: readonly Dispatch[]; readonly taken: number } => {
  const { kind, before, size, after, from, to, machine } = s
  const lines = before * after
  const total = to === undefined
  const wanted = size < WHOLE || lines >= machine.fill / 2 ? 1 : Math.min(Math.ceil(machine.fill / lines), Math.floor(size / LEAST))
  const chunk = Math.max(1, Math.ceil(size / wanted))
  const chunks = Math.ceil(size / chunk)
  const many = lines * chunks

  const places = Object.fromEntries(from.map(({ place: w }, i) => [`p${i}`, w]))
  const x = from.map((_, i) => `x${i}`)
  const take = total ? kind.join : kind.step
  const who = `  let c = t % after; let q = (t / after) % chunks; let base = (t / after / chunks) * size;
  let k0 = q * chunk; let k1 = min(k0 + chunk, size);
`
  const elements = (from: string, to: string, first: string, last: string): string => `  for (var k = ${from}; k < ${to}; k++) {
    let e = (base + ${s.reverse ? '(size - 1u - k)' : 'k'}) * after + c;
    ${s.from.map(({ at }, i) => `let x${i} = ${at(`p${i} + e`)};`).join(' ')}
    ${first}
    ${last}
  }
`
  const loop = (first: string, last: string): string =>
    kind.block === undefined
      ? elements('k0', 'k1', first, last)
      : `  for (var b0 = k0; b0 < k1; b0 += ${kind.block.size}u) {
  let b1 = min(b0 + ${kind.block.size}u, k1);
${elements('b0', 'b1', first, last)}  ${kind.block.end}
  }
`
  const words = { ...places, size, after, chunk, chunks }
  const put = to === undefined ? kind.carry.map((w, i) => `m[p${i} + e] = ${w};`).join(' ') : setWord(to, 'op + e', kind.value)
  const apply = (carries: readonly Word[]): readonly Dispatch[] =>
    perItem({
      items: many,
      words: { ...words, ...(to !== undefined && { op: place(to) }), ...Object.fromEntries(carries.map((w, i) => [`c${i}`, w])) },
      functions: kind.functions,
      body: `${who}  ${kind.state}\n${
        carries.length === 0 ? '' : `  if (q > 0u) { ${kind.resume(carries.map((_, i) => `m[c${i} + t]`))} }\n`
      }${s.exclusive ? loop(put, take(x)) : loop(take(x), put)}`,
    })
  if (chunks <= 1) return { dispatches: apply([]), taken: s.taken }

  const { beside } = kind
  const totals = [...(beside?.words ?? []), ...kind.carry]
  const at = totals.map((_, i) => scratch(s.taken + i * many))
  const first = perItem({
    items: many,
    words: { ...words, ...Object.fromEntries(at.map((w, i) => [`o${i}`, w])) },
    functions: kind.functions,
    body: `${who}  ${kind.state} ${beside?.state ?? ''}\n${loop(beside === undefined ? '' : (total ? beside.join : beside.step)(x), take(x))}${totals
      .map((w, i) => `  m[o${i} + t] = ${w};\n`)
      .join('')}`,
  })
  const middle = scanDispatches({
    kind,
    before,
    size: chunks,
    after,
    from: at.map((w) => ({ place: w, at: (index) => `m[${index}]` })),
    to: undefined,
    reverse: false,
    exclusive: true,
    machine,
    taken: s.taken + totals.length * many,
  })
  return { dispatches: [...first, ...middle.dispatches, ...apply(at.slice(0, kind.carry.length))], taken: middle.taken }
}

const scanned = (
  kind: ScanKind,
  shape: readonly number[],
  [out, ...args]: readonly Operand[],
  params: { readonly axis: number; readonly reverse: boolean; readonly exclusive?: boolean },
  machine: Machine,
): Dispatches => {
  const around = aroundAxis(shape, params.axis)
  if (around.before * around.size * around.after === 0) return { dispatches: [], scratchBytes: 0 }
  const { dispatches, taken } = scanDispatches({
    ...around,
    kind,
    from: args.map((x) => ({ place: place(x), at: (index) => wordAt(x, index) })),
    to: out!,
    reverse: params.reverse,
    exclusive: params.exclusive === true,
    machine,
    taken: 0,
  })
  return { dispatches, scratchBytes: 4 * taken }
}

export const cumsumShader = acceptsF16(({ args, params }, operands, machine) =>
  scanned(sums(args[0]!.dtype), args[0]!.shape, operands, params as ScanParams, machine),
)
export const cumprodShader = acceptsF16(({ args, params }, operands, machine) =>
  scanned(products(args[0]!.dtype), args[0]!.shape, operands, params as ScanParams, machine),
)
const extremeShader = (mode: 'max' | 'min') =>
  acceptsF16(({ args, params }, operands, machine) =>
    scanned(extremes(mode, args[0]!.dtype), args[0]!.shape, operands, params as RunningParams, machine),
  )
export const cummaxShader = extremeShader('max')
export const cumminShader = extremeShader('min')
export const recurrenceShader = acceptsF16(({ args, params }, operands, machine) =>
  scanned(recurrence, args[0]!.shape, operands, params as RecurrenceParams, machine),
)
