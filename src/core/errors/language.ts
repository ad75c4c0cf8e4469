/**
 * Where JavaScript meets arrays: its operators do not see expressions and tensors, so what they would make of them (NaN, a loop that
 * never runs) is an error that names the operation instead; and objects that another copy of codual made are told from ours.
 */
import { isAdException } from './error.js'
import { raise } from './explain.js'

const method = (prototype: object, key: string | symbol, value: unknown): void => {
  Object.defineProperty(prototype, key, { value, enumerable: false, configurable: true, writable: true })
}

/** What to write in place of an operator. */
export const operations = 'use the operations of codual: mul(x, 2), add(x, 1), sub, div, neg(x), gt(x, 0), eq, where(c, a, b), sin(x)'
/** `+x`, `x * 2`, `x > 0`, `x + 1`, `Math.sin(x)` raise; text (`${x}`, String(x)) is as it was. */
export const refuseCoercion = (prototype: object, what: string, fix = `${operations}.`): void =>
  method(prototype, Symbol.toPrimitive, function (this: object, hint: string): string {
    if (hint === 'string') return this.toString()
    return raise({
      _tag: 'BadInput',
      where: 'operator',
      reason: `an operator of JavaScript, or a function of Math, was given ${what}: it would see NaN.`,
      fix,
    })
  })

const absent = (prototype: object, key: string | symbol, use: string, reason: string, fix: string): void => {
  Object.defineProperty(prototype, key, {
    enumerable: false,
    configurable: true,
    get: () => raise({ _tag: 'BadInput', where: use, reason, fix }),
  })
}

/** What arrays and tensors have and expressions have not: `x[0]`, `x.length`, `[...x]`, `x.item()` raise and say what to use. */
export const refuseNumbers = (prototype: object): void => {
  const parts = 'use slice, take, split or unstack for its parts, x.shape for its sizes.'
  absent(prototype, '0', 'x[0]', 'an expression has no entries: it is not an array.', parts)
  absent(prototype, 'length', 'x.length', 'an expression has no length: it is not an array.', parts)
  absent(prototype, Symbol.iterator, '[...x]', 'an expression is not iterable.', parts)
  for (const name of ['item', 'toArray'])
    absent(
      prototype,
      name,
      name,
      'this is an expression: it has no numbers while a function is traced, and depends on what it captured.',
      'compute with it by operations and return it; the numbers are in the result of the outermost call.',
    )
}

const BRAND = Symbol.for('codual.brand')
/** Marks what a class makes, for other copies of codual: a registered symbol, which JSON cannot write. */
export const brand = (prototype: object, kind: 'expression' | 'tensor'): void => method(prototype, BRAND, kind)

/** What an object that is no array of this copy claims to be: an article and a noun; undefined where it claims nothing. */
export const claimed = (x: object): string | undefined => {
  const kind = (x as { readonly [BRAND]?: unknown })[BRAND]
  if (typeof kind === 'string') return `${kind === 'tensor' ? 'a' : 'an'} ${kind} of another copy of codual (or a Proxy of one)`
  const tag = (x as { readonly _tag?: unknown })._tag
  return tag === 'Expr' || tag === 'Tensor' ? `an object that only looks like ${tag === 'Expr' ? 'an expression' : 'a tensor'}` : undefined
}

/** A node that this copy did not make. */
export const ofAnotherCopy = (x: unknown): never =>
  raise({
    _tag: 'BadInput',
    where: 'program',
    reason: `${typeof x === 'object' && x !== null ? (claimed(x) ?? 'an object') : typeof x} stands where an expression must be.`,
    fix: 'load codual once: by import or by require, in one version; programs pass between copies as JSON (toJSON, fromJSON).',
  })

/** An error of reading an argument (a getter that throws, a Proxy that was revoked) as one that names it; ours are thrown on. */
export const unreadable = (e: unknown, where: string): never => {
  if (isAdException(e)) throw e
  const said = e instanceof Error ? e.message : typeof e
  return raise({
    _tag: 'BadInput',
    where,
    reason: `it cannot be read: ${said.slice(0, 120)}${/[.!?]$/.test(said) ? '' : '.'}`,
    fix: 'pass plain arrays, records, numbers or tensors; of a Proxy or an object with getters pass a copy.',
  })
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
