// What the comment behind an example says, read as a pattern and held against the value. The grammar, by example:
//   3   0.25   -0   1e300   NaN   Infinity   true   'text'   [1, 2]   { a: 1 }   Right(1)   NoTangent   Tensor f32 [2] [1, 2]   throws NotScalar
// `...` stands for anything left out of a string, a list or a record. Words after `: `, `; ` or ` (` are prose. A number of four or more
// significant digits with a point is rounded to what it shows; any other is exact (to 1e-12 in f64, to 1e-6 in f32).
import { evaluate } from '../../src/index.js'

/** A pattern of values. */
export type Pattern =
  | { readonly _tag: 'Number'; readonly text: string }
  | { readonly _tag: 'Word'; readonly text: string }
  | { readonly _tag: 'Text'; readonly text: string }
  | { readonly _tag: 'List'; readonly items: readonly Pattern[] }
  | { readonly _tag: 'Record'; readonly fields: readonly (readonly [string, Pattern])[]; readonly open: boolean }
  | { readonly _tag: 'Side'; readonly name: 'Left' | 'Right'; readonly of: Pattern }
  | { readonly _tag: 'Tensor'; readonly dtype: string; readonly shape: Pattern; readonly data: Pattern }
  | { readonly _tag: 'Throws'; readonly tag: string }
  | { readonly _tag: 'Rest' }

class NoPattern extends Error {}

/** The pattern of a comment (without its slashes), or undefined when it does not begin with one. */
export const patternOf = (comment: string): Pattern | undefined => {
  let rest = comment.trim()
  const skip = (token: RegExp): string | undefined => {
    const m = token.exec(rest)
    if (m === null || m.index !== 0) return undefined
    rest = rest.slice(m[0].length).trimStart()
    return m[0].trimEnd()
  }
  const need = (token: RegExp): string => {
    const got = skip(token)
    if (got === undefined) throw new NoPattern(rest)
    return got
  }
  const many = <A>(close: RegExp, one: () => A): A[] => {
    const items: A[] = []
    while (skip(close) === undefined) {
      items.push(one())
      if (skip(/^,/) === undefined) {
        need(close)
        break
      }
    }
    return items
  }
  const value = (): Pattern => {
    if (skip(/^\.\.\./) !== undefined) return { _tag: 'Rest' }
    const number = skip(/^-?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity|NaN)(?![\w.])/)
    if (number !== undefined) return { _tag: 'Number', text: number }
    const text = skip(/^'(\\.|[^'\\])*'/)
    if (text !== undefined) return { _tag: 'Text', text: text.slice(1, -1).replaceAll('\\n', '\n').replaceAll(/\\(.)/g, '$1') }
    if (skip(/^\[/) !== undefined) return { _tag: 'List', items: many(/^\]/, value) }
    if (skip(/^\{/) !== undefined) {
      const fields = many(/^\}/, (): readonly [string, Pattern] => {
        if (skip(/^\.\.\./) !== undefined) return ['...', { _tag: 'Rest' }]
        const name = need(/^\w+/)
        need(/^:/)
        return [name, value()]
      })
      return { _tag: 'Record', fields: fields.filter(([name]) => name !== '...'), open: fields.some(([name]) => name === '...') }
    }
    const side = skip(/^(Left|Right)\(/)
    if (side !== undefined) {
      const of = value()
      need(/^\)/)
      return { _tag: 'Side', name: side === 'Left(' ? 'Left' : 'Right', of }
    }
    if (skip(/^Tensor /) !== undefined) return { _tag: 'Tensor', dtype: need(/^(f64|f32|i32|bool)/), shape: value(), data: value() }
    if (skip(/^throws /) !== undefined) return { _tag: 'Throws', tag: need(/^[A-Z]\w+/) }
    return { _tag: 'Word', text: need(/^(true|false|null|undefined|NoTangent|ZeroTangent)(?!\w)/) }
  }
  try {
    const pattern = value()
    return rest === '' || /^[:;(]/.test(rest) ? pattern : undefined
  } catch (e) {
    if (e instanceof NoPattern) return undefined
    throw e
  }
}

const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> => typeof x === 'object' && x !== null
interface TensorLike {
  readonly shape: readonly number[]
  readonly dtype: string
  toArray(): unknown
}
const isTensor = (x: unknown): x is TensorLike => isRecord(x) && x._tag === 'Tensor'

const sameNumber = (shown: string, x: number, f32: boolean): boolean => {
  const y = Number(shown)
  if (!Number.isFinite(y)) return Object.is(x, y)
  if (y === 0) return x === 0 && (shown !== '-0' || Object.is(x, -0))
  const [, whole = '', part = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(shown) ?? []
  const significant = `${whole}${part}`.replace(/^0+/, '').length
  const rounded = part !== '' && significant >= 4 ? 0.5 * 10 ** (Number(exponent) - part.length) : 0
  return Math.abs(x - y) <= rounded + (f32 ? 1e-6 : 1e-12) * Math.max(1, Math.abs(y))
}

const sameList = (items: readonly Pattern[], xs: readonly unknown[], f32: boolean): boolean => {
  const at = items.findIndex((p) => p._tag === 'Rest')
  if (at < 0) return items.length === xs.length && items.every((p, i) => fits(p, xs[i], f32))
  const after = items.slice(at + 1)
  return (
    xs.length >= items.length - 1 &&
    items.slice(0, at).every((p, i) => fits(p, xs[i], f32)) &&
    after.every((p, i) => fits(p, xs[xs.length - after.length + i], f32))
  )
}

/** Does a value fit a pattern? An expression without inputs is evaluated; a tensor fits its numbers. */
export const fits = (p: Pattern, x: unknown, f32 = false): boolean => {
  if (isRecord(x) && x._tag === 'Expr') return fits(p, evaluate(x as never), f32)
  if (p._tag === 'Tensor')
    return isTensor(x) && x.dtype === p.dtype && fits(p.shape, x.shape) && fits(p.data, x.toArray(), x.dtype === 'f32')
  if (isTensor(x)) return fits(p, x.toArray(), x.dtype === 'f32')
  switch (p._tag) {
    case 'Rest':
      return true
    case 'Number':
      return typeof x === 'number' && sameNumber(p.text, x, f32)
    case 'Word':
      return p.text.endsWith('Tangent') ? isRecord(x) && x._tag === p.text : String(x) === p.text && typeof x !== 'string'
    case 'Text':
      return typeof x === 'string' && sameText(p.text.split('...'), x)
    case 'List':
      return (
        (Array.isArray(x) || ArrayBuffer.isView(x)) &&
        sameList(p.items, Array.from(x as ArrayLike<unknown>), f32 || x instanceof Float32Array)
      )
    case 'Record':
      return (
        isRecord(x) &&
        p.fields.every(([name, field]) => name in x && fits(field, x[name], f32)) &&
        (p.open || Object.keys(x).every((name) => p.fields.some(([n]) => n === name)))
      )
    case 'Side':
      return isRecord(x) && x._tag === p.name && fits(p.of, x[p.name === 'Left' ? 'left' : 'right'], f32)
    case 'Throws':
      return false
  }
}

const sameText = ([first = '', ...parts]: readonly string[], text: string): boolean => {
  if (parts.length === 0) return text === first
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const part of parts.slice(0, -1)) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  const last = parts.at(-1)!
  return text.length - last.length >= from && text.endsWith(last)
}

/** A value as a failing test shows it. */
export const shown = (x: unknown): string => {
  if (isRecord(x) && x._tag === 'Expr') return shown(evaluate(x as never))
  if (isTensor(x)) return String(x)
  if (Array.isArray(x)) return `[${x.map(shown).join(', ')}]`
  if (ArrayBuffer.isView(x)) return `[${Array.from(x as unknown as ArrayLike<number>).join(', ')}]`
  if (typeof x === 'string') return `'${x.replaceAll('\n', '\\n')}'`
  if (isRecord(x))
    return `{ ${Object.entries(x)
      .map(([k, v]) => `${k}: ${typeof v === 'function' ? 'function' : shown(v)}`)
      .join(', ')} }`
  return Object.is(x, -0) ? '-0' : String(x)
}
