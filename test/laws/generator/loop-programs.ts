/** Whole programs of loops: several in a row, what they stack read in part, late or not at all, and results of which much is dead. */
import { sameShape } from '../../../src/core/graph/shape.js'
import { type Draw, dtypeOf, isFloatValue, opsOf, rankOf, redraw, ref, shapeOf } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { homely, homeOf, masking, weighted } from './loop-steps.js'
import {
  type Around,
  attempts,
  branching,
  checkpointed,
  gradient,
  hessianProduct,
  lateOf,
  loop,
  mapped,
  plain,
  pulled,
  tangents,
} from './loops.js'
import { refsOf, type Step, type Template } from './program.js'

/** What is read of rows: parts, from the back, all of them folded, one of them. */
const rowsRead: Around = (d, home) => {
  const rows = d.pick((v) => dtypeOf(v) === d.dtype && rankOf(v) === home.length + 1 && sameShape(shapeOf(v).slice(1), home))
  const n = shapeOf(rows)[0]!
  if (n === 0) return void d.op('sum', ref(rows), { axis: 0, ...masking(d, [], 'sum') })
  d.of<() => unknown>([
    () => d.op('at', ref(rows), d.between(-n, n - 1)),
    () => d.op('flip', ref(rows), { axis: 0 }),
    () => d.op('slice', ref(rows), [d.int(n)], [n]),
    () => d.op('at', ref(rows), d.of(['::-1', '1:', ':1', '::2'])),
    () => d.op('sum', ref(rows), { axis: 0 }),
    () => d.op('mul', ref(d.op('at', ref(rows), d.int(n))), ref(d.op('cos', ref(homely(d, home))))),
    () => d.op('addAt', ref(rows), [d.int(n)], d.of([7, 0.5])),
    () => d.op('mean', ref(rows), { axis: 0 }),
  ])()
}
/** What follows a loop. */
const topRows: readonly (readonly [number, Around])[] = [
  [5, loop],
  [7, rowsRead],
  [1.5, plain],
  [0.8, branching],
  [0.5, checkpointed],
  [0.8, gradient],
  [0.4, hessianProduct],
  [0.4, tangents],
  [0.4, pulled],
  [1, mapped],
]
/** A whole program of loops over values of one shape. */
export const loopProgram: Builder = (d) => {
  const home = homeOf(d)
  const inputs = d.between(1, 3)
  for (let i = 0; i < inputs; i++) d.input(home)
  if (d.chance(0.25)) d.input([], 'i32', [0, 4])
  if (d.chance(0.15)) d.input(home, 'bool')
  if (d.chance(0.2)) d.input([d.between(1, 4), ...home])
  if (d.chance(0.8)) attempts(d, 1, (x) => loop(x, home))
  attempts(d, d.of([0, 1, 2, 2, 3, 3, 4]), (x) => weighted(x, topRows)(x, home))
  if (d.steps.length === 0) redraw('no loop')
}
const anyLoop: Builder = (d) => {
  const v = d.float((x) => x.array.data.length <= 12 && rankOf(x) < 4)
  if (dtypeOf(v) !== d.dtype) redraw('another dtype')
  loop(d, shapeOf(v))
}
export const loopRows: readonly Row[] = [{ name: 'loop', weight: 1, build: anyLoop }]

const LOOPS = new Set(['scan', 'fori', 'whileLoop'])
/** The numbers of values that come from a loop. */
const ofLoops = (steps: readonly Step[]): ReadonlySet<number> => {
  const found = new Set<number>()
  for (const s of steps) {
    let loops = refsOf([...s.args, ...(s.applied ?? [])]).some((id) => found.has(id))
    opsOf([s], (op) => {
      loops ||= LOOPS.has(op)
    })
    if (loops) for (const id of refsOf(s.outs)) found.add(id)
  }
  return found
}
/** Results: mostly one or two late values, so that much of what loops carry and stack is read by no one, or by what is dead itself. */
export const loopOutputs = (d: Draw): readonly Template[] => {
  const looped = ofLoops(d.steps)
  const made = d.pool.filter((v) => looped.has(v.ref) && isFloatValue(v))
  if (made.length === 0) return redraw('no result')
  const out = [d.chance(0.4) ? made[made.length - 1]! : lateOf(d, made)]
  while (d.chance(0.35) && out.length < 5) out.push(d.chance(0.9) ? lateOf(d, made) : d.pick(isFloatValue))
  return out.map(ref)
}
