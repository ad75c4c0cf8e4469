/** A driver as WGSL allows it: quotients and square roots that are off by up to two units in the last place, as on hardware that takes both from an approximate reciprocal, which is 0 above 2^126 and infinite where the divisor is subnormal; and results of functions that are 0 where they were subnormal. */

const FUNCTIONS = `
fn loose_off(x: f32, by: u32) -> f32 {
  let b = bitcast<u32>(x);
  let e = b & 0x7f800000u;
  if ((b & 0x7fffffu) == 0u || e <= 0x01000000u || e >= 0x7f000000u) { return x; }
  let h = ((b * 2654435761u) >> 16u) % (2u * by + 1u);
  return bitcast<f32>(b + h - by);
}
fn loose_div(a: f32, b: f32) -> f32 {
  let u = bitcast<u32>(b) & 0x7fffffffu;
  let small = bitcast<f32>(bitcast<u32>(b) & 0x80000000u);
  var r = loose_off(1.0 / b, 1u);
  if (u >= 0x7e800000u && u <= 0x7f800000u) { r = small; }
  if (u < 0x00800000u) { r = 1.0 / small; }
  return select(a * r, a / b, u == 0u || u >= 0x7f800000u);
}
fn loose_sqrt(x: f32) -> f32 { return loose_off(sqrt(x), 2u); }
fn loose_flush(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  return bitcast<f32>(select(b, b & 0x80000000u, (b & 0x7fffffffu) < 0x00800000u));
}
`
/** Results that arithmetic makes; bits that are moved are not flushed. */
const COMPUTED = /\breturn (?!bitcast)([^;]*(?:\*|\+| - )[^;]*);/g
/** The text with each result of a function of floats flushed. */
const flushed = (wgsl: string): string => {
  const begin = /\bfn [\w]+\([^)]*\) -> f32 \{/g
  let s = ''
  let last = 0
  for (let m = begin.exec(wgsl); m !== null; m = begin.exec(wgsl)) {
    const from = m.index + m[0].length
    let to = from
    for (let depth = 1; depth > 0; to++) depth += wgsl[to] === '{' ? 1 : wgsl[to] === '}' ? -1 : 0
    s += wgsl.slice(last, from) + wgsl.slice(from, to).replace(COMPUTED, 'return loose_flush($1);')
    last = to
  }
  return s + wgsl.slice(last)
}
const TOKEN = /\/\/[^\n]*|[\w.]+|\s+|./gy
const tokensOf = (text: string): string[] => text.match(TOKEN)!
const blank = (t: string | undefined): boolean => t !== undefined && (/^\s+$/.test(t) || t.startsWith('//'))
const opens: Readonly<Record<string, string>> = { ')': '(', ']': '[' }
const closes: Readonly<Record<string, string>> = { '(': ')', '[': ']' }
const isWord = (t: string | undefined): boolean => t !== undefined && /^[\w.]+$/.test(t) && t !== 'return'

/** Where the operand that ends before `end` begins: products and quotients with what they are made of, and a minus before them. */
const leftOf = (t: readonly string[], end: number): number => {
  let i = end
  const skip = (): void => {
    while (blank(t[i - 1])) i--
  }
  for (;;) {
    skip()
    // one term, from its end: words, calls, indices, members
    let any = false
    for (;;) {
      const last = t[i - 1]
      const open = opens[last ?? '']
      if (open !== undefined) {
        let depth = 0
        do {
          i--
          if (t[i] === last) depth++
          if (t[i] === open) depth--
        } while (depth > 0)
      } else if (isWord(last)) i--
      else if (last === '>' && t[i - 2] === 'f32') i -= 3
      else break
      any = true
    }
    if (!any) throw new Error(`no operand before ${t.slice(end, end + 8).join('')}`)
    const begin = i
    skip()
    if (t[i - 1] === '*') {
      i--
      continue
    }
    if (t[i - 1] === '-') {
      i--
      skip()
      // a minus of its own, not a difference
      if (!isWord(t[i - 1]) && !(t[i - 1]! in opens)) return t.lastIndexOf('-', begin)
    }
    return begin
  }
}
/** Where the operand that begins at `begin` ends: one term. */
const rightOf = (t: readonly string[], begin: number): number => {
  let i = begin
  while (blank(t[i]) || t[i] === '-') i++
  if (isWord(t[i])) i++
  for (;;) {
    const open = t[i]!
    const close = closes[open]
    if (close !== undefined) {
      let depth = 0
      do {
        if (t[i] === open) depth++
        if (t[i] === close) depth--
        i++
      } while (depth > 0)
    } else if (open.startsWith('.') && isWord(open)) i++
    else return i
  }
}

/** Without the parentheses around all of it. */
const bare = (text: string): string => {
  if (!text.startsWith('(')) return text
  for (let i = 0, depth = 0; i < text.length; i++) {
    if (text[i] === '(') depth++
    if (text[i] === ')') depth--
    if (depth === 0) return i === text.length - 1 ? text.slice(1, -1) : text
  }
  return text
}
/** The text with its quotients of floats written as calls. Divisions by whole literals are of integers. */
export const withCalls = (wgsl: string, name: string): string => {
  let t = tokensOf(wgsl)
  for (let i = 0; i < t.length; i++) {
    if (t[i] !== '/') continue
    const right = bare(
      t
        .slice(i + 1, rightOf(t, i + 1))
        .join('')
        .trim(),
    )
    if (/^\d+[ui]?$/.test(right)) continue
    const begin = leftOf(t, i)
    const left = bare(t.slice(begin, i).join('').trim())
    t = [...t.slice(0, begin), ...tokensOf(`${name}(${left}, ${right})`), ...t.slice(rightOf(t, i + 1))]
    i = begin
  }
  return t.join('')
}
/** The text on such a driver. */
export const loosened = (wgsl: string): string =>
  withCalls(flushed(wgsl), 'loose_div').replace(/(?<![\w])sqrt\(/g, 'loose_sqrt(') + FUNCTIONS
