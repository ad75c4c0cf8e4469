/** What `toONNX` may be told beside the function. */
import { recordOf, shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { choice, integer, type OptionsFor, or } from '../../core/errors/options.js'
import { fileTypes } from './types.js'
import type { FileType } from './writer.js'

/** The operator sets that are written. */
export const OPSETS = { from: 17, to: 22 } as const
/** Options of `toONNX`. */
export interface ToONNXOptions {
  /** The version of the operator set, 17 to 22; 18 unless it is given, which ONNX Runtime 1.14 and later read. */
  readonly opset?: number | undefined
  /** Names of inputs and outputs in the file, by their places in the arguments and the result: `{ 'params.w': 'weight' }`. */
  readonly names?: Readonly<Record<string, string>> | undefined
  /** Element types of inputs, outputs and weights in the file, by the same places, where they are others than what is computed: `{ 'params.w': 'float16', y: 'int64' }`. They are cast at the edges. */
  readonly types?: Readonly<Record<string, FileType>> | undefined
  /** Where the tensors are that the function captured, and `values`: in the file, or beside it as `weights`, which callers give as inputs. */
  readonly weights?: 'initializers' | 'inputs' | undefined
  /** Values of arguments, which are weights then: `{ params }` of a function of `{ params, x }`. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  /** Sizes of named axes: a file for these alone. Axes that are not here stay named. */
  readonly sizes?: Readonly<Record<string, number>> | undefined
}
const record = (given: unknown, what: string, where: string): never => recordOf(given, what, where) as never
export const toONNXOptions = {
  opset: integer(18, { ...OPSETS, fix: `give a version from ${OPSETS.from} to ${OPSETS.to}.` }),
  names: or<Readonly<Record<string, string>>, undefined>(undefined, (given, what, where) => {
    for (const [path, name] of Object.entries(recordOf(given, what, where) as Readonly<Record<string, unknown>>))
      if (typeof name !== 'string' || name === '') badInput(where, `${what}: ${path} is ${shown(name)}.`, 'give a text.')
    return given as never
  }),
  types: or<Readonly<Record<string, FileType>>, undefined>(undefined, (given, what, where) => {
    for (const [path, type] of Object.entries(recordOf(given, what, where) as Readonly<Record<string, unknown>>))
      if (!fileTypes.includes(type as FileType))
        badInput(where, `${what}: ${path} is ${shown(type)}.`, `give one of ${fileTypes.join(', ')}.`)
    return given as never
  }),
  weights: choice(['initializers', 'inputs'], 'initializers'),
  values: or<Readonly<Record<string, unknown>>, undefined>(undefined, record),
  sizes: or<Readonly<Record<string, number>>, undefined>(undefined, record),
} satisfies OptionsFor<ToONNXOptions>
