/** Every failure of codual as data: what, where, what to do. `explain` (explain.ts) alone turns it into prose. */
import type { DType } from '../types/dtype.js'
import type { Styles } from './print.js'

/** Where in a program something went wrong: the equation as `show` prints it and the user's own source line, when known. */
export interface Site {
  readonly equation?: string
  readonly source?: string
}

/** What made a number that is not finite, first of all: an argument that had it, or an equation that made it of others. */
export interface NonFiniteCause {
  /** NaN, Infinity or -Infinity. */
  readonly value: number
  /** The primitive; undefined of an argument. */
  readonly primitive?: string
  /** The argument's name. */
  readonly argument?: string
  /** The element, and the array that it is in, as text. */
  readonly index: readonly number[]
  readonly array: string
  /** What the primitive was given there: numbers of one that computes element by element, otherwise arrays with their range. */
  readonly given: readonly string[]
  /** The steps of the loops around, the outermost first. */
  readonly steps: readonly number[]
  /** The primitive of the function whose derivative it is part of, where that can be told. */
  readonly derivativeOf?: string
}

/** A failure, as data. `_tag` says what kind; never test with `instanceof` (ESM and CJS copies differ). */
export type AdError =
  | {
      readonly _tag: 'ShapeMismatch'
      readonly op: string
      readonly shapes: readonly (readonly number[])[]
      readonly reason: string
      readonly fix?: string
      readonly site?: Site
    }
  | {
      readonly _tag: 'DTypeMismatch'
      readonly op: string
      readonly dtypes: readonly DType[]
      readonly reason: string
      readonly fix?: string
      readonly site?: Site
    }
  | { readonly _tag: 'BadInput'; readonly where: string; readonly reason: string; readonly fix?: string; readonly site?: Site }
  | {
      readonly _tag: 'NotScalar'
      readonly op: string
      readonly shape: readonly number[]
      readonly dtype: DType
      /** What the function returned, where that is a tree and no array. */
      readonly tree?: string
      readonly site?: Site
    }
  | { readonly _tag: 'NotDifferentiable'; readonly op: string; readonly reason: string; readonly site?: Site }
  | {
      readonly _tag: 'MissingRule'
      readonly primitive: string
      readonly rule: 'frule' | 'rrule' | 'batch'
      readonly arity: number
      readonly neededBy: string
      readonly fix?: string
      readonly site?: Site
    }
  | { readonly _tag: 'NotImplemented'; readonly rule: string; readonly reason: string; readonly site?: Site }
  | {
      readonly _tag: 'MissingKernel'
      readonly primitive: string
      readonly backend: string
      readonly reason: string
      readonly fix?: string
      readonly site?: Site
    }
  | { readonly _tag: 'DuplicatePrimitive'; readonly name: string; readonly facet: string; readonly site?: Site }
  | {
      readonly _tag: 'OutOfMemory'
      readonly backend: string
      readonly neededBytes: number
      readonly limitBytes: number
      readonly site?: Site
    }
  | { readonly _tag: 'Unsupported'; readonly backend: string; readonly what: string; readonly fix?: string; readonly site?: Site }
  | { readonly _tag: 'Device'; readonly backend: string; readonly reason: string; readonly fix?: string; readonly site?: Site }
  | {
      readonly _tag: 'NonFinite'
      /** The compiled function, the result and its element. */
      readonly where: string
      readonly result: string
      readonly index: readonly number[]
      readonly value: number
      /** In the order in which they happened: an infinity may come before the NaN that is made of it. */
      readonly causes: readonly NonFiniteCause[]
      readonly site?: Site
    }
  | { readonly _tag: 'Decode'; readonly errors: readonly { readonly path: string; readonly reason: string }[] }
  | { readonly _tag: 'InternalLaw'; readonly law: string; readonly detail: string; readonly site?: Site }

/** The tag of an `AdError`. */
export type AdErrorTag = AdError['_tag']

/** The exception that carries an `AdError` through code that throws. The message is what `explain` says. */
export class AdException extends Error {
  declare readonly name: 'AdException'
  declare readonly _tag: 'AdException'
  /** The failure as data. Not enumerable, as `message` is not: consoles print the error once, in words. */
  declare readonly error: AdError
  constructor(error: AdError, message: string) {
    super(message)
    Object.defineProperty(this, 'error', { value: error })
  }
}
for (const key of ['name', '_tag']) Object.defineProperty(AdException.prototype, key, { value: 'AdException' })
Object.defineProperty(AdException.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: AdException, _depth: number, styles?: Styles): string {
    return inColour(this.message, this.stack ?? '', styles ?? {})
  },
})
/** An error for a console: what, where, what to do, each in its colour, and the frames of the stack. */
const inColour = (message: string, stack: string, { stylize = (text) => text }: Styles): string => {
  const [what = '', ...more] = message.split('\n')
  const styleOf = (line: string): string => (line.startsWith('  fix:') ? 'string' : 'special')
  const frames = stack.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line) && !message.includes(line.trim()))
  return [
    stylize(what, 'regexp'),
    ...more.map((line) => stylize(line, styleOf(line))),
    ...frames.map((line) => stylize(line, 'undefined')),
  ].join('\n')
}

/**
 * Is x an AdException of this or another copy of codual?
 *
 * @example isAdException(new Error('another'))   // false
 */
export const isAdException = (x: unknown): x is AdException => {
  try {
    return typeof x === 'object' && x !== null && (x as { _tag?: unknown })._tag === 'AdException'
  } catch {
    return false // it throws when looked at: whatever was thrown, it is not ours
  }
}
