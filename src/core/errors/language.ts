/**
 * Where JavaScript meets arrays: its operators do not see expressions and tensors, so what they would make of them (NaN, a loop that
 * never runs) is an error that names the operation instead; and objects that another copy of codual made are told from ours.
 */
import { isAdException } from './error.js'
import { badInput } from './explain.js'
import { membersOfOthers } from './hints.js'

const method = (prototype: object, key: string | symbol, value: unknown): void => {
  Object.defineProperty(prototype, key, { value, enumerable: false, configurable: true, writable: true })
}

/** What to write in place of an operator. */
const operations = 'use the operations of codual: mul(x, 2), add(x, 1), sub, div, neg(x), gt(x, 0), eq, where(c, a, b), sin(x)'
/** What to write in place of an operator of JavaScript; also where the numbers are, if there are any. */
export const operationsOr = (numbers?: string): string => `${operations}${numbers === undefined ? '' : `; ${numbers}`}.`
/** `+x`, `x * 2`, `x > 0`, `x + 1`, `Math.sin(x)` raise; text (`${x}`, String(x)) is as it was. */
export const refuseCoercion = (prototype: object, what: string, fix: string | ((x: object) => string)): void =>
  method(prototype, Symbol.toPrimitive, function (this: object, hint: string): string {
    if (hint === 'string') return this.toString()
    return badInput(
      'operator',
      `an operator of JavaScript, or a function of Math, was given ${what}: it would see NaN.`,
      typeof fix === 'string' ? fix : fix(this),
    )
  })

/** A member that is not there, as an error that says what to write: when it is read, and when it is written to. */
const absent = (
  prototype: object,
  key: string | symbol,
  use: string,
  says: (x: object) => readonly [reason: string, fix: string],
): void => {
  const refuse = (x: object): never => {
    const [reason, fix] = says(x)
    return badInput(use, reason, fix)
  }
  Object.defineProperty(prototype, key, {
    enumerable: false,
    configurable: true,
    get(this: object): never {
      return refuse(this)
    },
    set(this: object): never {
      return badInput(`${use} = ...`, 'arrays do not change.', 'set(x, 0, v) gives a new one; addAt adds to a part.')
    },
  })
}

/** Members of arrays that neither an expression nor a tensor has: `x[0]`, `x.length`, `x.map(f)`, `x.sum()`. */
const refuseMembers = (prototype: object, noun: string, parts: string): void => {
  const says = (reason: string, fix: string) => (): readonly [string, string] => [reason, fix]
  for (let i = -1; i < 10; i++) absent(prototype, `${i}`, `x[${i}]`, says(`${noun} has no entries: it is not an array.`, parts))
  absent(prototype, 'length', 'x.length', says(`${noun} has no length: it is not an array.`, parts))
  for (const [name, reason, fix] of membersOfOthers(noun)) absent(prototype, name, `x.${name}`, says(reason, fix))
}

/** How the numbers of an expression without inputs are had. */
export const toEvaluate = 'evaluate(x) gives its numbers: evaluate(x).toArray(), .item(), .data'
/** What arrays and tensors have and expressions have not: `x[0]`, `[...x]`, `x.item()` raise and say what to use. `isClosed`: it can be evaluated. */
export const refuseNumbers = (prototype: object, isClosed: (x: object) => boolean): void => {
  const parts = 'use at(x, 0) for an entry, unstack(x) for a list of all, slice, take or split for parts, x.shape for its sizes'
  refuseMembers(prototype, 'an expression', `${parts}.`)
  absent(prototype, Symbol.iterator, '[...x]', (x) => [
    'an expression is not iterable.',
    isClosed(x) ? `${parts}; ${toEvaluate}.` : `${parts}.`,
  ])
  for (const name of ['item', 'toArray', 'data'])
    absent(prototype, name, name, (x) =>
      isClosed(x)
        ? ['this is an expression: it has no numbers before it is evaluated.', `${toEvaluate}.`]
        : [
            'this is an expression: it has no numbers while a function is traced, and depends on what it captured.',
            'compute with it by operations and return it; the numbers are in the result of the outermost call.',
          ],
    )
}
/** What arrays have and tensors have not. */
export const refuseArray = (prototype: object): void =>
  refuseMembers(prototype, 'a tensor', 'use x.data[0] or x.toArray()[0] for a number, at(x, 0) in a computation, x.shape for its sizes.')

const BRAND = Symbol.for('codual.brand')
/** Marks what a class makes, for other copies of codual: a registered symbol, which JSON cannot write. */
export const brand = (prototype: object, kind: 'expression' | 'tensor'): void => method(prototype, BRAND, kind)

/** An expression or a tensor in words, of any copy: `an expression (f64 [2])`; undefined for anything else. */
export const arrayInWords = (x: object): string | undefined => {
  const { [BRAND]: kind, dtype, shape } = x as { readonly [BRAND]?: unknown; readonly dtype?: unknown; readonly shape?: unknown }
  if (typeof kind !== 'string') return undefined
  return `${kind === 'tensor' ? 'a' : 'an'} ${kind}${Array.isArray(shape) ? ` (${String(dtype)} [${shape.join(', ')}])` : ''}`
}

/** An object in a few words: a Map, a Promise, an instance of Model. */
export const objectInWords = (x: object): string => {
  const proto: unknown = Object.getPrototypeOf(x)
  if (proto === null || proto === Object.prototype) return 'an object'
  const name = (proto as { readonly constructor?: { readonly name?: unknown } }).constructor?.name
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object'
  if (Object.hasOwn(globalThis, name)) return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
  return `an instance of ${name.slice(0, 40)}`
}

/** What an object that is no array of this copy claims to be: an article and a noun; undefined where it claims nothing. */
export const claimed = (x: object): string | undefined => {
  const kind = (x as { readonly [BRAND]?: unknown })[BRAND]
  if (typeof kind === 'string') return `${kind === 'tensor' ? 'a' : 'an'} ${kind} of another copy of codual (or a Proxy of one)`
  const tag = (x as { readonly _tag?: unknown })._tag
  return tag === 'Expr' || tag === 'Tensor' ? `an object that only looks like ${tag === 'Expr' ? 'an expression' : 'a tensor'}` : undefined
}

/** A node that this copy did not make. */
export const ofAnotherCopy = (x: unknown): never =>
  badInput(
    'program',
    `${typeof x === 'object' && x !== null ? (claimed(x) ?? 'an object') : typeof x} stands where an expression must be.`,
    'load codual once: by import or by require, in one version; programs pass between copies as JSON (toJSON, fromJSON).',
  )

/** An error of reading an argument (a getter that throws, a Proxy that was revoked) as one that names it; ours are thrown on. */
export const unreadable = (e: unknown, where: string): never => {
  if (isAdException(e)) throw e
  const said = e instanceof Error ? e.message : typeof e
  return badInput(
    where,
    `it cannot be read: ${said.slice(0, 120)}${/[.!?]$/.test(said) ? '' : '.'}`,
    'pass plain arrays, records, numbers or tensors; of a Proxy or an object with getters pass a copy.',
  )
}
/** Is it so? Not of what cannot be looked at. */
export const holds = (test: () => boolean): boolean => {
  try {
    return test()
  } catch {
    return false
  }
}
/** What `read` gives; what it throws is a BadInput about the argument. */
export const reading = <A>(where: string, read: () => A): A => {
  try {
    return read()
  } catch (e) {
    return unreadable(e, where)
  }
}

const SKIPPED = /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|`(?:\\[\s\S]|[^`])*`/y
/**
 * How many parameters a function names, those with defaults too; Infinity with a rest. `length` leaves both out, so it is read in the
 * function's text.
 */
export const parametersOf = (f: (...xs: never[]) => unknown): number => {
  const text = Function.prototype.toString.call(f)
  if (/\{\s*\[native code\]\s*\}$/.test(text) || /^(?:async\s+)?[\w$]+\s*=>/.test(text)) return f.length
  let depth = 1
  let commas = 0
  let named = false
  for (let i = text.indexOf('(') + 1; i < text.length && depth > 0; i++) {
    SKIPPED.lastIndex = i
    const c = SKIPPED.test(text) ? '' : text[i]!
    if (c === '') i = SKIPPED.lastIndex - 1
    else if (c === '(' || c === '[' || c === '{') depth++
    else if (c === ')' || c === ']' || c === '}') depth--
    if (depth !== 1) continue
    if (text.startsWith('...', i)) return Number.POSITIVE_INFINITY
    if (c === ',') commas++
    named = c === ',' ? false : named || c.trim() !== ''
  }
  return commas + (named ? 1 : 0)
}
