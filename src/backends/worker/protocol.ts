/** What a page and its worker say to each other: requests, which a worker handles one after the other, and an answer to each. */
import type { AdError } from '../../core/errors/error.js'
import type { Explanation } from '../../core/functions/backend.js'
import type { TypedArray } from '../../core/graph/ndarray.js'
import type { DType } from '../../core/types/dtype.js'
import type { JSONValue } from '../../core/types/program.js'

/** Copies of the library that say another number do not understand each other. */
export const PROTOCOL = 1

/** Elements that are sent, or the number of an array that the worker holds. */
export type Sent = TypedArray | number

/** What is asked, by kind: what goes to the worker, and what comes back. Programs and arrays have the numbers of the requests that made them. */
export interface Asked {
  readonly prepare: { readonly sent: { readonly program: JSONValue }; readonly back: { readonly bytes: number | undefined } }
  /** A result in `into` that is a number is written there; the others come back, in order. */
  readonly run: {
    readonly sent: {
      readonly program: number
      readonly inputs: readonly Sent[]
      readonly into: readonly (number | undefined)[] | undefined
    }
    readonly back: readonly TypedArray[]
  }
  readonly explain: { readonly sent: { readonly program: number }; readonly back: Explanation }
  readonly place: {
    readonly sent: { readonly data: TypedArray; readonly dtype: DType; readonly shape: readonly number[] }
    readonly back: undefined
  }
  readonly read: { readonly sent: { readonly array: number }; readonly back: TypedArray }
  /** A program or an array that nobody has any more. */
  readonly forget: { readonly sent: { readonly of: number }; readonly back: undefined }
}
export type Kind = keyof Asked

/** One request. */
export interface Request<K extends Kind = Kind> {
  readonly codual: number
  readonly id: number
  readonly kind: K
  readonly sent: Asked[K]['sent']
}
/** A failure as data: an error of codual, or what another that was thrown says. */
export type Failure = { readonly error: AdError } | { readonly message: string }
/** What a worker says: that it is there, and the answers. */
export type Said =
  | { readonly codual: number; readonly ready: true }
  | { readonly codual: number; readonly id: number; readonly back: unknown }
  | { readonly codual: number; readonly id: number; readonly failure: Failure }

/** Is this a message of codual? A worker may have others. */
export const isOurs = (x: unknown): x is { readonly codual: number } =>
  typeof x === 'object' && x !== null && typeof (x as { readonly codual?: unknown }).codual === 'number'
