/** Loops and branches as primitives that hold programs: `scan`, a program applied again and again; `switchCase`, one program of several. */
import { badDtype, badInput, badShape, showShape } from '../../errors/explain.js'
import { type Aval, aval, sameAval, showAval } from '../../graph/aval.js'
import { close } from '../../graph/close.js'
import { type Codec, codecOf } from '../../graph/codec.js'
import { evaluateNodes } from '../../graph/evaluate.js'
import { applyMulti, asExpr, asNode, constant, INPUT, input, Node } from '../../graph/expr.js'
import type { NDArray } from '../../graph/ndarray.js'
import { orderOf } from '../../graph/order.js'
import { type Primitive, primitive, type Sample } from '../../graph/primitive.js'
import { flatProgram, inline, type Program } from '../../graph/program.js'
import { sizeOf } from '../../graph/shape.js'
import type { AnyExpr } from '../../types/expr.js'
import { eq, ge, le, lt } from '../compare.js'
import { add, mul, sin, where } from '../elementwise.js'
import { concatNode } from '../layout/join.js'
import { broadcastNode, reshapeNode } from '../layout/move.js'
import { sliceAxis } from '../layout/slice.js'
import { sum } from '../reductions.js'

const family = 'control'

/** What the steps of a loop keep for the way back: what is not cheap to make again, the products alone, or nothing but what a step begins with. */
export const KEEPS = ['everything', 'contractions', 'nothing'] as const
export type Keep = (typeof KEEPS)[number]

export interface ScanParams {
  /** One step: from the carry, the slices of this step and what f captured, to the next carry and what is stacked. */
  readonly program: Program
  /** Number of steps. */
  readonly length: number
  /** How many inputs (and first outputs) are the carry, and how many inputs behind them are slices. The rest is the same at every step. */
  readonly carries: number
  readonly slices: number
  /** From the last slice to the first. */
  readonly reverse: boolean
  /**
   * The place, among carry and slices, of a scalar bool: a step is taken only while it is true. Of a step that is not taken the carry stays as it is, and
   * zeros are stacked; so once a carry is false, nothing changes any more.
   */
  readonly until?: number
  /** The residuals that its steps keep; `everything` unless given. */
  readonly keep?: Keep
}

/** The number of steps of a loop that ends when its condition says so, and in no other way. */
export const UNBOUNDED = 2 ** 31 - 1
/** Has a loop no end but that of its condition? */
export const isUnbounded = ({ length, until }: ScanParams): boolean => length === UNBOUNDED && until !== undefined

/** The slice that is read and written by the i-th step that is taken. */
const sliceAt = ({ length, reverse }: ScanParams, i: number): number => (reverse ? length - 1 - i : i)

/** Do these parameters fit each other? What comes from elsewhere (JSON) is held against this. */
const isScan = (u: unknown): u is ScanParams => {
  const p = typeof u === 'object' && u !== null ? (u as Partial<ScanParams>) : {}
  const { program, length, carries, slices, until } = p
  const counts = [length, carries, slices].every((n) => Number.isSafeInteger(n) && (n as number) >= 0)
  const lists = [program?.inputs, program?.outputs].every((l) => Array.isArray(l) && l.every((n) => n instanceof Node))
  if (!counts || !lists || typeof p.reverse !== 'boolean' || program!.captured.length > 0) return false
  if (p.keep !== undefined && !KEEPS.includes(p.keep)) return false
  const { inputs, outputs } = program!
  const flag = until === undefined ? undefined : inputs[until]?.aval
  const flagged = until === undefined || (until < carries! + slices! && flag?.dtype === 'bool' && flag.shape.length === 0)
  return (
    flagged &&
    inputs.length >= carries! + slices! &&
    outputs.length >= carries! &&
    inputs.slice(0, carries).every((x, i) => sameAval(x.aval, outputs[i]!.aval))
  )
}
const scanCodec: Codec<ScanParams> = codecOf('a program of one step, with its carry first on both sides', isScan)

/** What argument i of a scan is. */
export const scanArgument = ({ program, length, carries, slices }: ScanParams, i: number): Aval => {
  const { shape, dtype } = program.inputs[i]!.aval
  return i >= carries && i < carries + slices ? aval([length, ...shape], dtype) : program.inputs[i]!.aval
}

const scanShape = (args: readonly Aval[], params: ScanParams): readonly Aval[] => {
  const { program, length, carries } = params
  checkArguments(
    'scan',
    args,
    program.inputs.map((_, i) => scanArgument(params, i)),
  )
  return program.outputs.map((o, i) => (i < carries ? o.aval : aval([length, ...o.shape], o.dtype)))
}
/** Arguments must be what the programs were traced with. */
const checkArguments = (op: string, args: readonly Aval[], want: readonly Aval[]): void => {
  if (args.length !== want.length) badInput(op, `it takes ${want.length} arguments, got ${args.length}.`)
  want.forEach((w, i) => {
    const a = args[i]!
    if (sameAval(a, w)) return
    const reason = `argument ${i} is ${showAval(a)}, the program wants ${showAval(w)}`
    if (a.dtype !== w.dtype) badDtype(op, [a.dtype, w.dtype], reason, 'cast it.')
    badShape(op, [a.shape, w.shape], reason, `pass ${showShape(w.shape)}.`)
  })
}

/** The program of a step that is taken or not, without `until`: where its flag is false the carry stays, and zeros are stacked. */
export const masked = ({ program, carries, until }: ScanParams): Program => {
  if (until === undefined) return program
  const { inputs, outputs } = program
  const flag = asExpr(inputs[until]!)
  const either = (made: Node, i: number): Node => {
    const old = i < carries ? inputs[i]! : zeros(made.aval)
    return made === old ? made : asNode(where(flag, asExpr(made), asExpr(old)))
  }
  return flatProgram('step', inputs, outputs.map(either))
}
const zeros = ({ shape, dtype }: Aval): Node => broadcastNode(constant(0, dtype), shape)

/** The loop in full: every step's program, its slices and what it stacks. */
export const unrolled = (args: readonly Node[], params: ScanParams): readonly Node[] => {
  if (isUnbounded(params))
    badInput('whileLoop', 'a loop without maxSteps cannot be written out step by step.', 'give { maxSteps }, or run it on reference().')
  const { length, carries, slices } = params
  const program = masked(params)
  const same = args.slice(carries + slices)
  const rows: Node[][] = program.outputs.slice(carries).map(() => new Array<Node>(length))
  let carry: readonly Node[] = args.slice(0, carries)
  for (let i = 0; i < length; i++) {
    const k = sliceAt(params, i)
    const at = args.slice(carries, carries + slices).map((x, j) => reshapeNode(sliceAxis(x, 0, k, 1), program.inputs[carries + j]!.shape))
    const made = inline(program, [...carry, ...at, ...same])
    carry = made.slice(0, carries)
    rows.forEach((row, j) => {
      const y = made[carries + j]!
      row[k] = reshapeNode(y, [1, ...y.shape])
    })
  }
  return [...carry, ...rows.map((row, i) => (length === 0 ? noRows(program.outputs[carries + i]!.aval) : concatNode(row, 0)))]
}
const noRows = ({ shape, dtype }: Aval): Node => zeros(aval([0, ...shape], dtype))

/** Plain loops: a step's program by the meanings of its primitives, over views of the slices. */
const scanMeaning = (args: readonly NDArray[], params: ScanParams, outs: readonly NDArray[]): void => {
  const { program, carries, slices, length, until } = params
  const row = (a: NDArray, x: Node, k: number): NDArray => {
    const n = sizeOf(x.shape)
    return { shape: x.shape, dtype: x.dtype, data: a.data.slice(k * n, (k + 1) * n) as never }
  }
  let carry: readonly NDArray[] = args.slice(0, carries)
  if (until !== undefined) for (const y of outs.slice(carries)) y.data.fill(0)
  for (let i = 0; i < length; i++) {
    const k = sliceAt(params, i)
    const values = new Map(
      program.inputs.map((x, j) => [x, j < carries ? carry[j]! : j < carries + slices ? row(args[j]!, x, k) : args[j]!] as const),
    )
    if (until !== undefined && values.get(program.inputs[until]!)!.data[0] === 0) {
      if (until < carries) break
      continue
    }
    const made = evaluateNodes(program.outputs, values, undefined, k)
    carry = made.slice(0, carries)
    for (let j = carries; j < made.length; j++) outs[j]!.data.set(made[j]!.data as never, k * made[j]!.data.length)
  }
  carry.forEach((c, i) => {
    outs[i]!.data.set(c.data as never)
  })
}

const f64 = (shape: readonly number[]): Node => input(aval(shape, 'f64'))
/** h' = sin(h w + x), y = h h'; of several results, with a captured array. */
const sampleStep = (): Program => {
  const [h, x, w] = [f64([2]), f64([2]), f64([2])]
  const next = sin(add(mul(asExpr(h), asExpr(w)), asExpr(x)))
  return flatProgram('step', [h, x, w], [asNode(next), asNode(mul(asExpr(h), next))])
}
/** Carries of which the fourth, which stays what it is, is the third one's next, which moves the second, that the first; nothing is stacked, and nothing captured. */
const sampleCarries = (): Program => {
  const [p, q, r, s, x] = [f64([]), f64([]), f64([]), f64([]), f64([])]
  const [first, second] = [add(asExpr(p), mul(mul(asExpr(q), asExpr(x)), asExpr(s))), add(sin(asExpr(q)), asExpr(r))]
  return flatProgram('carries', [p, q, r, s, x], [asNode(first), asNode(second), s, s])
}
/** h' = sin(h w + x), y = h h', until three steps are taken; what counts them is carried beside it. */
const sampleWhile = (): Program => {
  const [h, x, w] = [f64([2]), f64([2]), f64([2])]
  const [more, n] = [input(aval([], 'bool')), input(aval([], 'i32'))]
  const next = sin(add(mul(asExpr(h), asExpr(w)), asExpr(x)))
  const count = add(asExpr(n), 1)
  return flatProgram('while', [more, n, h, x, w], [asNode(lt(count, 3)), asNode(count), asNode(next), asNode(mul(asExpr(h), next))])
}
/** The same recurrence at the steps that a slice marks. */
const sampleMarked = (): Program => {
  const [h, x, mark] = [f64([2]), f64([2]), input(aval([], 'bool'))]
  const next = sin(add(asExpr(h), asExpr(x)))
  return flatProgram('marked', [h, mark, x], [asNode(next), asNode(mul(asExpr(h), next))])
}
/** The first recurrence twice at each step: a loop within. */
const sampleNested = (): Program => {
  const [h, x, w] = [f64([2]), f64([2, 2]), f64([2])]
  const [last] = scanNodes([h, x, w], { program: sampleStep(), length: 2, carries: 1, slices: 1, reverse: false })
  return flatProgram('nested', [h, x, w], [last!])
}
const arg = (...shape: number[]): { readonly shape: readonly number[]; readonly dtype: 'f64' } => ({ shape, dtype: 'f64' })

export const scanPrimitive: Primitive<'scan', ScanParams, readonly 'float'[]> = primitive({
  name: 'scan',
  structure: { kind: 'loop' },
  // What its programs make keeps its zeros there.
  unbounded: false,
  family,
  args: ['float'] as readonly 'float'[],
  variadic: true,
  multi: true,
  dtypes: 'own',
  codec: scanCodec,
  shapeRule: scanShape,
  meaning: scanMeaning,
  programs: ({ program }) => [program],
  withPrograms: (params, [program]) => ({ ...params, program: program! }),
  expand: (xs, params) => unrolled(xs.map(asNode), params).map(asExpr),
  samples: [
    {
      args: [arg(2), arg(3, 2), arg(2)],
      get params() {
        return { program: sampleStep(), length: 3, carries: 1, slices: 1, reverse: false }
      },
    },
    {
      args: [arg(), arg(), arg(), arg(), arg(4)],
      get params() {
        return { program: sampleCarries(), length: 4, carries: 4, slices: 1, reverse: true }
      },
    },
    {
      args: [arg(2), arg(0, 2), arg(2)],
      get params() {
        return { program: sampleStep(), length: 0, carries: 1, slices: 1, reverse: false }
      },
      note: 'no steps',
    },
    {
      args: [{ shape: [], dtype: 'bool', values: [1] }, { shape: [], dtype: 'i32', values: [0] }, arg(2), arg(5, 2), arg(2)],
      get params() {
        return { program: sampleWhile(), length: 5, carries: 3, slices: 1, reverse: false, until: 0 }
      },
      note: 'three of five steps',
    },
    {
      args: [arg(2), { shape: [4], dtype: 'bool', values: [1, 0, 1, 0] }, arg(4, 2)],
      get params() {
        return { program: sampleMarked(), length: 4, carries: 1, slices: 2, reverse: true, until: 1 }
      },
      note: 'the steps that a slice marks',
    },
    {
      args: [arg(2), arg(3, 2, 2), arg(2)],
      get params() {
        return { program: sampleNested(), length: 3, carries: 1, slices: 1, reverse: true, keep: 'nothing' }
      },
      note: 'nothing is kept but the carry',
    },
  ],
  showParams: (params: ScanParams) => {
    const { length, reverse, until, keep } = params
    const steps = isUnbounded(params) ? 'steps' : `${length} steps`
    return `${steps}${reverse ? ', from the last' : ''}${until === undefined ? '' : `, while argument ${until} holds`}${keep === undefined ? '' : `, keeping ${keep}`}`
  },
  source: 'c_k, y_k = f(c_(k-1), x_k)',
})

/** A scan: its last carry, then what was stacked. */
export const scanNodes = (args: readonly Node[], params: ScanParams): readonly Node[] => {
  // A rule that somebody wrote may have put a tensor into a step: an argument of its own.
  const { inputs, outputs } = params.program
  const own = new Set(inputs)
  const free = (n: Node): boolean => n.kind === INPUT && !own.has(n)
  if (!orderOf(outputs).nodes.some(free)) return applyMulti(scanPrimitive, args, params)
  const { program, captured } = close('scan', inputs, outputs, free)
  return applyMulti(scanPrimitive, [...args, ...captured], { ...params, program })
}

// ---- switchCase: one of several programs ---------------------------------------------------------------------------

export interface SwitchParams {
  /** Of the same arguments and results. */
  readonly branches: readonly Program[]
}
const isSwitch = (u: unknown): u is SwitchParams => {
  const { branches } = typeof u === 'object' && u !== null ? (u as Partial<SwitchParams>) : {}
  if (!Array.isArray(branches) || branches.length === 0) return false
  const isProgram = (p: Partial<Program>): boolean =>
    Array.isArray(p?.inputs) && Array.isArray(p.outputs) && [...p.inputs, ...p.outputs].every((n) => n instanceof Node)
  if (!branches.every((p) => isProgram(p) && p.captured.length === 0)) return false
  const [first] = branches as readonly Program[]
  const same = (a: readonly Node[], b: readonly Node[]): boolean => a.length === b.length && a.every((n, i) => sameAval(n.aval, b[i]!.aval))
  return branches.every((p) => same(p.inputs, first!.inputs) && same(p.outputs, first!.outputs))
}
const switchCodec: Codec<SwitchParams> = codecOf('programs of the same arguments and results', isSwitch)

/**
 * The result of the branch at the index; one below 0 is the first, one behind the last the last. Where all branches are what fuses with a choice (operations
 * element by element, and views) both sides of each choice are computed, at each element; of others the chosen one runs alone.
 */
export const branched = (params: SwitchParams, [index, ...args]: readonly Node[]): readonly Node[] =>
  params.branches.length > 1 && params.branches.some((p) => orderOf(p.outputs).nodes.some((n) => n.prim?.class === 'opaque'))
    ? alone(params, index!, args)
    : selected(params, index!, args)
const selected = ({ branches }: SwitchParams, index: Node, args: readonly Node[]): readonly Node[] => {
  const made = branches.map((p) => inline(p, args))
  return made[0]!.map((_, i) => {
    const last = made.length - 1
    let y = made[last]![i]!
    for (let b = last - 1; b >= 0; b--) y = asNode(where(chosen(index, b, branches.length), asExpr(made[b]![i]!), asExpr(y)))
    return y
  })
}
/** Each branch as a loop of one step, which is taken where its mark is true. Its arguments are slices: what they have in common is not computed before it. */
const alone = ({ branches }: SwitchParams, index: Node, args: readonly Node[]): readonly Node[] => {
  const row = (n: Node): Node => reshapeNode(n, [1, ...n.shape])
  let carry: readonly Node[] = branches[0]!.outputs.map((o) => zeros(o.aval))
  for (const [b, { inputs, outputs }] of branches.entries()) {
    const olds = carry.map((c) => input(c.aval))
    const mark = input(aval([], 'bool'))
    const slices = [asNode(chosen(index, b, branches.length)), ...args].map(row)
    const program = flatProgram('branch', [...olds, mark, ...inputs], outputs)
    const rest = { length: 1, carries: olds.length, slices: slices.length, reverse: false, until: olds.length }
    carry = scanNodes([...carry, ...slices], { program, ...rest })
  }
  return carry
}
/** Is it the index of this branch, that of the first one also below, that of the last also behind it? */
const chosen = (index: Node, branch: number, branches: number): AnyExpr =>
  (branch === 0 ? le : branch === branches - 1 ? ge : eq)(asExpr(index), branch)

type SampleBranch = (x: AnyExpr, w: AnyExpr) => readonly AnyExpr[]
/** Computed side by side, in one kernel. */
const light: readonly SampleBranch[] = [(x, w) => [sin(mul(x, w)), x], (x, w) => [add(x, w), mul(x, x)], (x) => [x, sin(x)]]
/** Each is more than operations element by element, and runs alone. */
const heavy: readonly SampleBranch[] = [(x, w) => [mul(sum(sin(x)), x), mul(x, w)], (x, w) => [mul(x, sum(mul(x, w))), sin(x)]]
const sampleSwitch = (index: number, of = light): Sample<SwitchParams> => ({
  args: [{ shape: [], dtype: 'i32', values: [index] }, arg(3), arg()],
  get params() {
    const branches = of.map((make) => {
      const [x, w] = [f64([3]), f64([])]
      return flatProgram('branch', [x, w], make(asExpr(x), asExpr(w)).map(asNode))
    })
    return { branches }
  },
})

export const switchPrimitive: Primitive<'switchCase', SwitchParams, readonly 'float'[]> = primitive({
  name: 'switchCase',
  structure: { kind: 'branches' },
  // What its programs make keeps its zeros there.
  unbounded: false,
  family,
  args: ['float'] as readonly 'float'[],
  variadic: true,
  multi: true,
  dtypes: 'own',
  codec: switchCodec,
  shapeRule: (args, { branches }) => {
    const [first] = branches as readonly [Program]
    checkArguments('switchCase', args, [aval([], 'i32'), ...first.inputs.map((x) => x.aval)])
    return first.outputs.map((o) => o.aval)
  },
  meaning: ([index, ...args], { branches }, outs) => {
    const p = branches[Math.max(0, Math.min(branches.length - 1, index!.data[0]!))]!
    evaluateNodes(p.outputs, new Map(p.inputs.map((x, i) => [x, args[i]!]))).forEach((y, i) => {
      outs[i]!.data.set(y.data as never)
    })
  },
  programs: ({ branches }) => branches,
  withPrograms: (params, branches) => ({ ...params, branches }),
  expand: (xs, params) => branched(params, xs.map(asNode)).map(asExpr),
  samples: [...[0, 1, 2, -1, 7].map((i) => sampleSwitch(i)), sampleSwitch(0, heavy), sampleSwitch(1, heavy)],
  showParams: ({ branches }) => `${branches.length} branches`,
  source: 'y = f_i(x)',
})

/** The results of the branch at the index. */
export const switchNodes = (args: readonly Node[], params: SwitchParams): readonly Node[] => applyMulti(switchPrimitive, args, params)

/** Primitives of this family, by name. */
export const controlFamily = { scan: scanPrimitive, switchCase: switchPrimitive } as const
