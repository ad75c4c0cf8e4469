/** Loops and branches as primitives that hold programs: `scan`, a program applied again and again; `switchCase`, one program of several. */
import * as t from 'io-ts'
import { raise, showShape } from '../errors/explain.js'
import { type Aval, aval, sameAval, showAval } from '../graph/aval.js'
import { evaluateNodes } from '../graph/evaluate.js'
import { applyMulti, asExpr, asNode, constant, input, Node } from '../graph/expr.js'
import type { NDArray } from '../graph/ndarray.js'
import { type Primitive, primitive, type Sample } from '../graph/primitive.js'
import { flatProgram, inline, type Program } from '../graph/program.js'
import { sizeOf } from '../graph/shape.js'
import type { AnyExpr } from '../types/expr.js'
import { eq, le } from './compare.js'
import { add, mul, sin, where } from './elementwise.js'
import { concatNode } from './layout-join.js'
import { broadcastNode, reshapeNode } from './layout-move.js'
import { sliceAxis } from './layout-slice.js'

const family = 'control'

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
}

/** The order in which steps are taken: the slice that each one reads and writes. */
const order = ({ length, reverse }: ScanParams): readonly number[] => Array.from({ length }, (_, k) => (reverse ? length - 1 - k : k))

/** Do these parameters fit each other? What comes from elsewhere (JSON) is held against this. */
const isScan = (u: unknown): u is ScanParams => {
  const p = typeof u === 'object' && u !== null ? (u as Partial<ScanParams>) : {}
  const { program, length, carries, slices } = p
  const counts = [length, carries, slices].every((n) => Number.isSafeInteger(n) && (n as number) >= 0)
  const lists = [program?.inputs, program?.outputs].every((l) => Array.isArray(l) && l.every((n) => n instanceof Node))
  if (!counts || !lists || typeof p.reverse !== 'boolean' || program!.captured.length > 0) return false
  const { inputs, outputs } = program!
  return (
    inputs.length >= carries! + slices! &&
    outputs.length >= carries! &&
    inputs.slice(0, carries).every((x, i) => sameAval(x.aval, outputs[i]!.aval))
  )
}
const scanCodec: t.Type<ScanParams> = new t.Type<ScanParams>(
  'a program of one step, with its carry first on both sides',
  isScan,
  (u, c) => (isScan(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
)

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
  if (args.length !== want.length) raise({ _tag: 'BadInput', where: op, reason: `it takes ${want.length} arguments, got ${args.length}.` })
  want.forEach((w, i) => {
    const a = args[i]!
    if (sameAval(a, w)) return
    const reason = `argument ${i} is ${showAval(a)}, the program wants ${showAval(w)}`
    if (a.dtype !== w.dtype) raise({ _tag: 'DTypeMismatch', op, dtypes: [a.dtype, w.dtype], reason, fix: 'cast it.' })
    raise({ _tag: 'ShapeMismatch', op, shapes: [a.shape, w.shape], reason, fix: `pass ${showShape(w.shape)}.` })
  })
}

/** The loop in full: every step's program, its slices and what it stacks. */
const unrolled = (params: ScanParams, args: readonly Node[]): readonly Node[] => {
  const { program, length, carries, slices } = params
  const same = args.slice(carries + slices)
  const rows: Node[][] = program.outputs.slice(carries).map(() => new Array<Node>(length))
  let carry: readonly Node[] = args.slice(0, carries)
  for (const k of order(params)) {
    const at = args.slice(carries, carries + slices).map((x, i) => reshapeNode(sliceAxis(x, 0, k, 1), program.inputs[carries + i]!.shape))
    const made = inline(program, [...carry, ...at, ...same])
    carry = made.slice(0, carries)
    rows.forEach((row, i) => {
      const y = made[carries + i]!
      row[k] = reshapeNode(y, [1, ...y.shape])
    })
  }
  return [...carry, ...rows.map((row, i) => (length === 0 ? noRows(program.outputs[carries + i]!.aval) : concatNode(row, 0)))]
}
const noRows = ({ shape, dtype }: Aval): Node => broadcastNode(constant(0, dtype), [0, ...shape])

/** Plain loops: a step's program by the meanings of its primitives, over views of the slices. */
const scanMeaning = (args: readonly NDArray[], params: ScanParams, outs: readonly NDArray[]): void => {
  const { program, carries, slices } = params
  const row = (a: NDArray, x: Node, k: number): NDArray => {
    const n = sizeOf(x.shape)
    return { shape: x.shape, dtype: x.dtype, data: a.data.slice(k * n, (k + 1) * n) as never }
  }
  let carry: readonly NDArray[] = args.slice(0, carries)
  for (const k of order(params)) {
    const values = new Map(
      program.inputs.map((x, i) => [x, i < carries ? carry[i]! : i < carries + slices ? row(args[i]!, x, k) : args[i]!] as const),
    )
    const made = evaluateNodes(program.outputs, values)
    carry = made.slice(0, carries)
    for (let i = carries; i < made.length; i++) outs[i]!.data.set(made[i]!.data as never, k * made[i]!.data.length)
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
/** A carry of two, of which one moves the other; nothing is stacked, and nothing captured. */
const samplePair = (): Program => {
  const [p, q, x] = [f64([]), f64([]), f64([])]
  return flatProgram('pair', [p, q, x], [asNode(add(asExpr(p), mul(asExpr(q), asExpr(x)))), asNode(sin(asExpr(q)))])
}
const arg = (...shape: number[]): { readonly shape: readonly number[]; readonly dtype: 'f64' } => ({ shape, dtype: 'f64' })

export const scanPrimitive: Primitive<'scan', ScanParams, readonly 'float'[]> = primitive({
  name: 'scan',
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
  expand: (xs, params) => unrolled(params, xs.map(asNode)).map(asExpr),
  samples: [
    {
      args: [arg(2), arg(3, 2), arg(2)],
      get params() {
        return { program: sampleStep(), length: 3, carries: 1, slices: 1, reverse: false }
      },
    },
    {
      args: [arg(), arg(), arg(4)],
      get params() {
        return { program: samplePair(), length: 4, carries: 2, slices: 1, reverse: true }
      },
    },
    {
      args: [arg(2), arg(0, 2), arg(2)],
      get params() {
        return { program: sampleStep(), length: 0, carries: 1, slices: 1, reverse: false }
      },
      note: 'no steps',
    },
  ],
  showParams: ({ length, reverse }) => `${length} steps${reverse ? ', from the last' : ''}`,
  source: 'c_k, y_k = f(c_(k-1), x_k)',
})

/** A scan: its last carry, then what was stacked. */
export const scanNodes = (args: readonly Node[], params: ScanParams): readonly Node[] => applyMulti(scanPrimitive, args, params)

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
const switchCodec: t.Type<SwitchParams> = new t.Type<SwitchParams>(
  'programs of the same arguments and results',
  isSwitch,
  (u, c) => (isSwitch(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
)

/** Every branch, and at each result the one that is chosen; an index below 0 is the first, one behind the last the last. */
export const selected = ({ branches }: SwitchParams, [index, ...args]: readonly Node[]): readonly Node[] => {
  const made = branches.map((p) => inline(p, args))
  return made[0]!.map((_, i) => {
    const last = made.length - 1
    let y = made[last]![i]!
    for (let b = last - 1; b >= 0; b--) y = asNode(where(chosen(index!, b), asExpr(made[b]![i]!), asExpr(y)))
    return y
  })
}
/** Is it the index of this branch (of the first one also below)? */
const chosen = (index: Node, branch: number): AnyExpr => (branch === 0 ? le : eq)(asExpr(index), branch)

const sampleBranches = (): readonly Program[] => {
  const branch = (make: (x: AnyExpr, w: AnyExpr) => readonly AnyExpr[]): Program => {
    const [x, w] = [f64([3]), f64([])]
    return flatProgram('branch', [x, w], make(asExpr(x), asExpr(w)).map(asNode))
  }
  return [branch((x, w) => [sin(mul(x, w)), x]), branch((x, w) => [add(x, w), mul(x, x)]), branch((x) => [x, sin(x)])]
}
const sampleSwitch = (index: number): Sample<SwitchParams> => ({
  args: [{ shape: [], dtype: 'i32', values: [index] }, arg(3), arg()],
  get params() {
    return { branches: sampleBranches() }
  },
})

export const switchPrimitive: Primitive<'switchCase', SwitchParams, readonly 'float'[]> = primitive({
  name: 'switchCase',
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
  expand: (xs, params) => selected(params, xs.map(asNode)).map(asExpr),
  samples: [sampleSwitch(0), sampleSwitch(1), sampleSwitch(2), sampleSwitch(-1), sampleSwitch(7)],
  showParams: ({ branches }) => `${branches.length} branches`,
  source: 'y = f_i(x)',
})

/** The results of the branch at the index. */
export const switchNodes = (args: readonly Node[], params: SwitchParams): readonly Node[] => applyMulti(switchPrimitive, args, params)

/** Primitives of this family, by name. */
export const controlFamily = { scan: scanPrimitive, switchCase: switchPrimitive } as const
