/** A program as data for another thread. What holds functions is written out before, where it is composed of other primitives. */
import { raise } from '../../core/errors/explain.js'
import { lowerProgram } from '../../core/extend/decompose.js'
import { type Expansion, programsOf } from '../../core/graph/expand.js'
import { APPLY } from '../../core/graph/expr.js'
import { orderOf } from '../../core/graph/order.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { flatProgram, type Program } from '../../core/graph/program.js'
import { isProgram, programToJSON } from '../../core/programs/encode.js'
import type { JSONValue } from '../../core/types/program.js'

const holdsFunction = (x: unknown): boolean =>
  typeof x === 'function' ||
  (typeof x === 'object' && x !== null && !isProgram(x) && !ArrayBuffer.isView(x) && Object.values(x).some(holdsFunction))

/** The primitives of a program, and of those within, whose parameters hold functions: what stands in their place. */
const compositions = (p: Program, found = new Map<AnyPrimitive, Expansion>()): ReadonlyMap<AnyPrimitive, Expansion> => {
  for (const n of orderOf(p.outputs).nodes) {
    if (n.kind !== APPLY) continue
    const prim = n.prim!
    for (const q of programsOf(prim, n.payload)) compositions(q, found)
    if (found.has(prim) || !holdsFunction(n.payload)) continue
    if (prim.expand === undefined)
      raise({
        _tag: 'MissingKernel',
        primitive: prim.name,
        backend: 'worker',
        reason: 'its parameters hold a function, which stays in the thread that has it.',
        fix: 'leave it out of what runs in a worker, or run on cpu().',
      })
    found.set(prim, prim.expand)
  }
  return found
}

/** The program as plain data, with its inputs and outputs as lists. */
export const sentProgram = (program: Program): JSONValue => {
  const { name, inputs, outputs } = lowerProgram(program, compositions(program))
  return programToJSON(flatProgram(name, inputs, outputs))
}
