/** Programs of functions, and functions of programs. */

import { typed } from '../core/graph/operation.js'
import { fromProgramCore, toJSONCore, toProgramCore } from '../core/programs/json.js'
import type * as programs from '../core/types/program.js'
import { coreRegistry } from '../packs/all.js'
import { context } from './context.js'
import { fromJSONOf } from './functions.js'

/**
 * A function as a program: a closed computation at fixed shapes, as data. A declared function is traced at the sizes of its named axes,
 * `toProgram(f, sizes)`; any other at the shapes of example arguments, `toProgram(f)(...examples)`. Captured numbers become literals. `{
 * sites: true }`, after the sizes or where a plain function has none, records the line of each operation, and `show` prints it.
 *
 * Errors  BadInput if the size of a named axis is not known.
 * @example show(toProgram((x) => sum(mul(x, x)))([1, 2]))   // 'f(x0: f64 [2])\n  y0 = mul(x0, x0) : f64 [2]...'
 */
export const toProgram: programs.ToProgramFn = /*#__PURE__*/ typed(toProgramCore)
/**
 * The function of a program: it runs, compiles, inlines and is differentiated like any other.
 *
 * Errors  ShapeMismatch or DTypeMismatch if an argument differs from the one that was traced.
 * @example grad(fromProgram(toProgram((x) => sum(mul(x, x)))([1, 2])))([3, 4])   // [6, 8]
 */
export const fromProgram: programs.FromProgramFn = /*#__PURE__*/ typed(fromProgramCore(context.runtime))
/**
 * A program as plain JSON that keeps every bit: one table of nodes, captured tensors as base64. `fromJSON` reads it.
 *
 * Errors  BadInput if parameters hold functions (a customRule).
 * @example toJSON(toProgram((x) => sum(x))([1, 2]))   // { format: 1, name: 'f', inputs: [0], ... }
 */
export const toJSON: programs.ToJSONFn = /*#__PURE__*/ typed(toJSONCore)
/**
 * The program that `toJSON` wrote; primitives of your own are given in addition. Every parameter is decoded and every shape recomputed.
 *
 * Errors  Left of a Decode with every error and its path. It never throws, whatever it is given.
 * @example fromJSON({ format: 1 })   // Left({ _tag: 'Decode', errors: [...] })
 */
export const fromJSON: programs.FromJSONFn = /*#__PURE__*/ typed(fromJSONOf(coreRegistry))
