/** What `fromONNX` may be told beside the bytes. */
import { functionOf, listOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { choice, type OptionsFor, or } from '../core/errors/options.js'
import type { DType, Shape, Spec, Tensor } from '../index.js'
import type { OwnOperators } from './run.js'
import type { External } from './tensors.js'

/** A value that is known beforehand: a tensor, or plain numbers, which get the type that the file declares; a list of such for a sequence, null for an optional that has nothing. */
export type Constant = Tensor | number | boolean | null | readonly Constant[]
/** Options of `fromONNX`. */
export interface OnnxOptions {
  /** Values of inputs that are known beforehand, by name: they are not inputs then, and shapes may depend on them. */
  readonly constants?: Readonly<Record<string, Constant>> | undefined
  /** Inputs declared otherwise than in the file, or where the file does not say a shape, by name: `{ x: f32('batch', 3) }`. */
  readonly inputs?: Readonly<Record<string, Spec<Shape, DType>>> | undefined
  /** Values inside the model by name, as a viewer shows them: they are its outputs then, and of the model there is what they are made from. For features, and for a head of your own. */
  readonly outputs?: readonly string[] | undefined
  /** Operators of your own, by name, with a domain as 'domain.Name': `{ MyOp: ([x], attributes) => ... }`. They come before those of the table. */
  readonly operators?: OwnOperators | undefined
  /**
   * 'parameters' unless given. With 'stored', weights of up to 16 bits, and integers of up to 16 bits such as those of quantised models, stay in memory as the file has them, and a program widens them where it reads
   * them: half of the bytes of f32, or a quarter, or less. They are constants of `f` then, and no parameters.
   */
  readonly weights?: 'parameters' | 'stored' | undefined
  /** The bytes of a file beside the model that holds weights, by its location as the model writes it. */
  readonly external?: External | undefined
}
const record = (given: unknown, what: string, where: string): never => recordOf(given, what, where) as never
export const onnxOptions = {
  constants: or<Readonly<Record<string, Constant>>, undefined>(undefined, record),
  inputs: or<Readonly<Record<string, Spec>>, undefined>(undefined, (given, what, where) => {
    for (const [name, spec] of Object.entries(recordOf(given, what, where) as Readonly<Record<string, unknown>>))
      if ((spec as Partial<Spec> | null | undefined)?._tag !== 'Spec')
        badInput(where, `${what}: ${name} is ${shown(spec)}.`, "declare it: { inputs: { x: f32('batch', 3) } }.")
    return given as never
  }),
  outputs: or<readonly string[], undefined>(undefined, (given, what, where) => {
    const names = listOf(given, what, where)
    const odd = names.findIndex((name, i) => typeof name !== 'string' || names.indexOf(name) !== i)
    if (names.length === 0) badInput(where, `${what} is an empty list.`, 'name a value: { outputs: ["features"] }.')
    if (odd >= 0)
      badInput(
        where,
        `${what}[${odd}] is ${shown(names[odd])}, ${typeof names[odd] === 'string' ? 'a second time' : 'no name of a value'}.`,
      )
    return names as never
  }),
  operators: or<OwnOperators, undefined>(undefined, (given, what, where) => {
    for (const [name, f] of Object.entries(recordOf(given, what, where) as Readonly<Record<string, unknown>>))
      functionOf(f, `the operator ${name}`, where)
    return given as never
  }),
  weights: choice(['parameters', 'stored'], 'parameters'),
  external: or<External, undefined>(undefined, (given, what, where) => functionOf(given, what, where) as never),
} satisfies OptionsFor<OnnxOptions>
