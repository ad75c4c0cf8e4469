/** What random programs reached: operations, primitives in values and in derivatives, pairs of neighbours, dtypes, ranks. */
import { INPUT, linearize, type Node, OUTPUT } from '../../../src/core/graph/expr.js'
import type { Program } from '../../../src/core/graph/program.js'
import { families } from '../../../src/core/ops/families.js'
import { opsOf } from './draw.js'
import { planFactsOf } from './loop-plans.js'
import { loopShapesOf } from './loop-shapes.js'
import type { RandomProgram } from './program.js'

type Counts = Record<string, number>
const bump = (c: Counts, key: string, by = 1): void => {
  c[key] = (c[key] ?? 0) + by
}

/** Counts as plain data: those of two processes are added. */
export interface Coverage {
  programs: number
  nodes: number
  readonly kinds: Counts
  readonly ops: Counts
  readonly values: Counts
  readonly derivatives: Counts
  readonly pairs: Counts
  readonly dtypes: Counts
  readonly ranks: Counts
  readonly refused: Counts
  readonly checks: Counts
  /** Programs with loops of each shape; plans, of a part of them, that came to each fact. */
  readonly shapes: Counts
  readonly plans: Counts
}
const COUNTED = ['kinds', 'ops', 'values', 'derivatives', 'pairs', 'dtypes', 'ranks', 'refused', 'checks', 'shapes', 'plans'] as const
export const emptyCoverage = (): Coverage => ({
  programs: 0,
  nodes: 0,
  kinds: {},
  ops: {},
  values: {},
  derivatives: {},
  pairs: {},
  dtypes: {},
  ranks: {},
  refused: {},
  checks: {},
  shapes: {},
  plans: {},
})
export const addCoverage = (into: Coverage, from: Coverage): void => {
  into.programs += from.programs
  into.nodes += from.nodes
  for (const key of COUNTED) for (const [k, n] of Object.entries(from[key])) bump(into[key], k, n)
}

const primitiveOf = (n: Node): string | undefined => (n.kind === OUTPUT ? n.args[0]!.prim!.name : n.prim?.name)
/** Counts the nodes of a program as those of values or of derivatives. */
export const countProgram = (c: Coverage, p: Program, as: 'values' | 'derivatives'): void => {
  for (const n of linearize(p.outputs).nodes) {
    c.nodes++
    bump(c.dtypes, n.dtype)
    bump(c.ranks, String(n.shape.length))
    if (n.kind === INPUT || n.prim === null) continue
    bump(c[as], n.prim.name)
    for (const a of n.args) {
      const from = primitiveOf(a)
      if (from !== undefined) bump(c.pairs, `${from} -> ${n.prim.name}`)
    }
  }
}
export const countSteps = (c: Coverage, p: RandomProgram): void => {
  c.programs++
  bump(c.kinds, p.kind)
  opsOf(p.steps, (op) => bump(c.ops, op))
}
/** Counts what loops a program has. */
export const countShapes = (c: Coverage, p: RandomProgram): void => {
  for (const shape of loopShapesOf(p)) bump(c.shapes, shape)
}
/** Counts what the loops of a program became in its plan. */
export const countPlan = (c: Coverage, p: Program): void => {
  bump(c.plans, 'plans')
  for (const fact of planFactsOf(p)) bump(c.plans, fact)
}
export const countCheck = (c: Coverage, name: string): void => bump(c.checks, name)
export const countRefused = (c: Coverage, refused: ReadonlyMap<string, number>): void => {
  for (const [k, n] of refused) bump(c.refused, k, n)
}

/** Names of all shipped primitives. */
export const primitives: readonly string[] = Object.values(families).flatMap((f) => Object.values(f).map((p) => p.name))

const LOOPS = ['scan', 'fori', 'whileLoop']
/** The table of programs of loops: how many, and of each shape. */
export const loopTable = (c: Coverage): string => {
  const steps = Object.values(c.ops).reduce((a, b) => a + b, 0)
  const loops = LOOPS.map((op) => c.ops[op] ?? 0)
  return [
    `${c.programs} programs, ${steps} steps, ${loops.reduce((a, b) => a + b, 0)} loops (${LOOPS.map((op, i) => `${op} ${loops[i]}`).join(', ')}), ${c.nodes} nodes`,
    'programs with loops of each shape:',
    columns(c.shapes),
    `plans of values and gradients (${c.plans.plans ?? 0} of them looked at) that came to:`,
    columns(c.plans),
    'operations by steps:',
    columns(c.ops),
    'checks:',
    columns(c.checks),
  ].join('\n')
}

const columns = (counts: Counts, width = 4): string => {
  const rows = Object.entries(counts).sort((a, b) => b[1] - a[1])
  const cells = rows.map(([k, n]) => `${k} ${n}`)
  const w = Math.max(0, ...cells.map((x) => x.length)) + 2
  const lines: string[] = []
  const perLine = Math.max(width, Math.floor(140 / w))
  for (let i = 0; i < cells.length; i += perLine)
    lines.push(
      `  ${cells
        .slice(i, i + perLine)
        .map((x) => x.padEnd(w))
        .join('')
        .trimEnd()}`,
    )
  return lines.join('\n')
}
/** The table that `npm run check:programs` prints. */
export const coverageTable = (c: Coverage): string => {
  const both = primitives.map((p) => [p, c.values[p] ?? 0, c.derivatives[p] ?? 0] as const).sort((a, b) => b[1] + b[2] - a[1] - a[2])
  const cells = both.map(([p, v, g]) => `${p} ${v} / ${g}`)
  const w = Math.max(...cells.map((x) => x.length)) + 2
  const lines: string[] = []
  const perLine = Math.floor(140 / w)
  for (let i = 0; i < cells.length; i += perLine)
    lines.push(
      `  ${cells
        .slice(i, i + perLine)
        .map((x) => x.padEnd(w))
        .join('')
        .trimEnd()}`,
    )
  const reached = (counts: Counts): number => primitives.filter((p) => (counts[p] ?? 0) > 0).length
  const pairs = Object.entries(c.pairs).sort((a, b) => b[1] - a[1])
  return [
    `primitives, in values / in derivatives (${reached(c.values)} and ${reached(c.derivatives)} of ${primitives.length}):`,
    lines.join('\n'),
    `operations by steps (${Object.keys(c.ops).length}):`,
    columns(c.ops),
    `pairs of neighbours: ${pairs.length} kinds; the most frequent:`,
    columns(Object.fromEntries(pairs.slice(0, 30))),
    'dtypes of nodes:',
    columns(c.dtypes),
    'ranks of nodes:',
    columns(c.ranks),
    'kinds of programs:',
    columns(c.kinds),
    'checks:',
    columns(c.checks),
    ...(Object.keys(c.refused).length > 0 ? ['refused while drawing, and drawn again:', columns(c.refused)] : []),
  ].join('\n')
}
