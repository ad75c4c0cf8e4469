/** The only place with prose: an AdError in words, with the equation, the user's line and the fix. */
import type { DType } from '../types/dtype.js'
import { type AdError, type AdErrorTag, AdException, isAdException, type NonFiniteCause, type Site } from './error.js'

/** `[2, 3]`. */
export const showShape = (shape: readonly (number | string)[]): string => `[${shape.join(', ')}]`

const bytes = (n: number): string =>
  n >= 2 ** 30 ? `${(n / 2 ** 30).toFixed(2)} GiB` : n >= 2 ** 20 ? `${(n / 2 ** 20).toFixed(2)} MiB` : `${n} bytes`

const notScalar = ({ op, shape, dtype, tree }: Extract<AdError, { readonly _tag: 'NotScalar' }>): readonly [what: string, fix: string] => {
  const needs = `NotScalar: ${op} needs a scalar of a float dtype, f returned`
  if (tree !== undefined)
    return [`${needs} ${tree}.`, 'return the scalar alone; return other results beside it: [loss, aux] with { aux: true } of valueAndGrad.']
  const float = dtype === 'f64' || dtype === 'f32'
  if (float) return [`${needs} ${dtype} ${showShape(shape)}.`, 'Perhaps you meant jacrev(f), or sum the result.']
  const none = dtype === 'bool' ? 'a truth has no derivative' : 'integers have no derivative'
  return [
    `${needs} ${dtype} ${showShape(shape)}.`,
    `${none}: cast the inputs first, cast(x, 'f64'), or give floats; where(c, a, b) chooses between values.`,
  ]
}

/** `log(-1) is NaN (element [2] of f64 [3])`. */
const causeOf = ({ value, primitive, argument, index, array, given, steps, derivativeOf }: NonFiniteCause): string => {
  const at = index.length === 0 ? array : `element ${showShape(index)} of ${array}`
  if (primitive === undefined) return `${argument}${index.length === 0 ? '' : showShape(index)} is ${value} (${array})`
  const loops = steps.map((k) => `, step ${k} of a loop`).join('')
  return `${primitive}(${given.join(', ')}) is ${value} (${at})${loops}${derivativeOf === undefined ? '' : `, in the derivative of ${derivativeOf}`}`
}
const nonFinite = (e: Extract<AdError, { readonly _tag: 'NonFinite' }>): readonly [what: string, fix: string] => {
  const at = e.index.length === 0 ? e.result : `${e.result}, element ${showShape(e.index)},`
  const causes = e.causes.map((c, i) => `  ${i === 0 ? 'first' : 'then'}: ${causeOf(c)}`)
  const [first] = e.causes
  return [
    [`NonFinite: ${e.where}: ${at} is ${e.value}.`, ...causes].join('\n'),
    first === undefined
      ? 'evaluated operation by operation it is finite: this backend rounds or overflows differently. Compare with reference().'
      : first.primitive === undefined
        ? `look at the data: isfinite(x) is false where they are not finite.`
        : `choose what ${first.derivativeOf ?? first.primitive} is given, where(ok, x, safe), or among its results: what where leaves out reaches neither value nor derivative.`,
  ]
}

const headline = (e: AdError): readonly [what: string, fix?: string] => {
  switch (e._tag) {
    case 'ShapeMismatch':
      return [`${e.op}: ${e.reason}`, e.fix]
    case 'DTypeMismatch':
      return [`${e.op}: ${e.reason} (${e.dtypes.join(', ')})`, e.fix]
    case 'BadInput':
      return [`BadInput: ${e.where}: ${e.reason}`, e.fix]
    case 'NotScalar':
      return notScalar(e)
    case 'NotDifferentiable':
      return [`NotDifferentiable: ${e.op}: ${e.reason}`, `differentiate with respect to float leaves only (wrt), or cast first.`]
    case 'MissingRule':
      return [
        `MissingRule: no ${e.rule} for \`${e.primitive}\` (arity ${e.arity}), needed by ${e.neededBy}.`,
        e.fix !== undefined
          ? e.fix
          : e.rule === 'batch'
            ? `give the rule a batch, or lower the primitive to a composition.`
            : `registry.with(scalarRule(${e.primitive}, ({ x, y }) => [/* dy/dx */]))`,
      ]
    case 'NotImplemented':
      return [`NotImplemented: ${e.rule}: ${e.reason}`]
    case 'MissingKernel':
      return [`MissingKernel: ${e.backend} has no kernel for \`${e.primitive}\`: ${e.reason}`, e.fix]
    case 'DuplicatePrimitive':
      return [`DuplicatePrimitive: \`${e.name}\` is declared twice (${e.facet}).`, `rename one of them, or drop one plugin.`]
    case 'OutOfMemory':
      return [
        `OutOfMemory: ${e.backend} needs ${bytes(e.neededBytes)}, its limit is ${bytes(e.limitBytes)}.`,
        `use smaller batches, or checkpoint.`,
      ]
    case 'Unsupported':
      return [`Unsupported: ${e.backend}: ${e.what}`, e.fix]
    case 'Device':
      return [`Device: ${e.backend}: ${e.reason}`, e.fix ?? `make the backend again.`]
    case 'NonFinite':
      return nonFinite(e)
    case 'Decode':
      return [
        `Decode: ${e.errors.length} error${e.errors.length === 1 ? '' : 's'}\n${e.errors.map((x) => `  ${x.path}: ${x.reason}`).join('\n')}`,
      ]
    case 'InternalLaw':
      return [`InternalLaw: ${e.law}: ${e.detail}`, `this is a fault of codual: please report it with the program.`]
  }
}

/** Every tag, with the property of the error that is an array. */
const arrays: Readonly<Record<AdErrorTag, string | undefined>> = {
  ShapeMismatch: undefined,
  DTypeMismatch: 'dtypes',
  BadInput: undefined,
  NotScalar: 'shape',
  NotDifferentiable: undefined,
  MissingRule: undefined,
  NotImplemented: undefined,
  MissingKernel: undefined,
  DuplicatePrimitive: undefined,
  OutOfMemory: undefined,
  Unsupported: undefined,
  Device: undefined,
  NonFinite: 'causes',
  Decode: 'errors',
  InternalLaw: undefined,
}
const isAdError = (x: unknown): x is AdError => {
  try {
    return looksLikeAdError(x)
  } catch {
    return false
  }
}
const looksLikeAdError = (x: unknown): boolean => {
  if (typeof x !== 'object' || x === null) return false
  const { _tag: tag } = x as { readonly _tag?: unknown }
  if (typeof tag !== 'string' || !Object.hasOwn(arrays, tag)) return false
  const array = arrays[tag as AdErrorTag]
  return array === undefined || Array.isArray((x as Readonly<Record<string, unknown>>)[array])
}
/** The same error; BadInput where it is none. */
const known = (e: AdError, where: string): AdError =>
  isAdError(e)
    ? e
    : raise({
        _tag: 'BadInput',
        where,
        reason: 'this is not an AdError.',
        fix: 'give what run and runSync have in Left, or the error of an AdException: if (isAdException(e)) explain(e.error).',
      })

/**
 * An AdError in words: what, where (the equation and the user's own line), what to do.
 *
 * Errors  BadInput for anything but an AdError; for an AdException, pass its `error`.
 * @example explain({ _tag: 'NotScalar', op: 'grad', shape: [3], dtype: 'f64' })   // 'NotScalar: grad needs a scalar ...'
 */
export const explain = (given: AdError): string => {
  const e = known(given, 'explain')
  const [what, fix] = headline(e)
  const site: Site | undefined = 'site' in e ? e.site : undefined
  const where = site
    ? [site.equation ? `in ${site.equation}` : '', site.source ? `at ${site.source}` : ''].filter((s) => s !== '').join('   ')
    : ''
  return [what, where === '' ? '' : `  ${where}`, fix ? `  fix: ${fix}` : ''].filter((s) => s !== '').join('\n')
}

/** `file:line:column` of a stack's line, as V8 (`at f (place)`, `at place`) and the others (`f@place`) write it. */
const placeOf = (line: string): string | undefined => {
  const m = /^\s*at (?:.*? \((.*)\)|(?:async )?(.*))$/.exec(line) ?? /^[^@]*@(.*)$/.exec(line)
  const place = m?.[1] ?? m?.[2]
  return place !== undefined && /^(?:[A-Za-z]:[\\/]|\/|[\w-]+:\/\/).*:\d+:\d+$/.test(place) ? place.replace(/^file:\/\//, '') : undefined
}
/** The directory of the library that a file of its own is in: that of the sources, or of the built package. */
const rootOf = (place: string): string => {
  const directory = place.replace(/[/\\][^/\\]*$/, '')
  return `${/^(.*[/\\]src)[/\\](?:core|modes)(?:[/\\]|$)/.exec(directory)?.[1] ?? directory.replace(/[/\\]check$/, '')}${place.includes('\\') ? '\\' : '/'}`
}

/** Where else it lies: an engine may map some frames back to sources, and leave others in what was built of them. */
const roots = (root: string): readonly string[] => [root, root.replace(/src([/\\])$/, 'dist$1')]

/**
 * The first frame outside codual of a stack that codual took, as `file:line:column`, or undefined. The top frame is codual's own, so it says
 * where the library lies as this engine shows it: in its sources, packed, or mapped back to sources that are not there.
 */
export const userFrame = (stack: string | undefined): string | undefined => {
  let root: string | undefined
  for (const line of (stack ?? '').split('\n')) {
    const place = line.includes('node:internal') ? undefined : placeOf(line)
    if (place === undefined) continue
    root ??= rootOf(place)
    if (!roots(root).some((r) => place.startsWith(r))) return place
  }
  return undefined
}

/** The stack of the caller, as deep as a call through transforms is: V8 keeps ten frames unless told. */
export const deepStack = (): string | undefined => {
  const engine = Error as { stackTraceLimit?: number }
  const limit = engine.stackTraceLimit
  const adjustable = typeof limit === 'number' && Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable === true
  if (adjustable) engine.stackTraceLimit = 60
  const { stack } = new Error()
  if (adjustable) engine.stackTraceLimit = limit
  return stack
}

/** What `build` gives; an error of an operation that it is made of names `op`, which the user called. */
export const within = <A>(op: string, build: () => A): A => {
  try {
    return build()
  } catch (e) {
    if (!isAdException(e)) throw e
    const error = 'op' in e.error ? { ...e.error, op } : e.error._tag === 'BadInput' ? { ...e.error, where: op } : e.error
    const named = new AdException(error, explain(error))
    if (e.stack !== undefined) named.stack = e.stack.replace(e.message, named.message)
    throw named
  }
}

/**
 * Throws an AdError as an AdException, with the user's own line: what a primitive's shape rule does with arguments that do not fit.
 *
 * @example runSync(cpu())(() => raise({ _tag: 'BadInput', where: 'half', reason: 'needs an even length.' }))()   // Left({ _tag: 'BadInput', where: 'half', ... })
 */
export const raise: (error: AdError) => never = (given) => {
  const e = known(given, 'raise')
  let error = e
  if (!('site' in e && e.site?.source) && e._tag !== 'Decode') {
    const source = userFrame(deepStack())
    if (source !== undefined) error = { ...e, site: { ...('site' in e ? e.site : {}), source } } as AdError
  }
  throw new AdException(error, explain(error))
}

/** Raises BadInput: `where`, what is wrong in a sentence, and what to do. */
export const badInput: (where: string, reason: string, fix?: string) => never = (where, reason, fix) =>
  raise({ _tag: 'BadInput', where, reason, ...(fix !== undefined && { fix }) })
/** Raises ShapeMismatch: the operation, the shapes that do not fit, why, and what to do. */
export const badShape: (op: string, shapes: readonly (readonly number[])[], reason: string, fix?: string) => never = (
  op,
  shapes,
  reason,
  fix,
) => raise({ _tag: 'ShapeMismatch', op, shapes, reason, ...(fix !== undefined && { fix }) })
/** Raises DTypeMismatch: the operation, the dtypes that do not fit, why, and what to do. */
export const badDtype: (op: string, dtypes: readonly DType[], reason: string, fix?: string) => never = (op, dtypes, reason, fix) =>
  raise({ _tag: 'DTypeMismatch', op, dtypes, reason, ...(fix !== undefined && { fix }) })
