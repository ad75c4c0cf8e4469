/** What runs along the lines of a scan, as WGSL: sums, products and linear recurrences. */
import type { DType } from '../../core/types/dtype.js'
import { ordered } from './ordered.js'
import { collect } from './sums.js'

/**
 * A state that takes elements one after the other. Words are u32. An element of the scan itself is `words` of memory; one of a scan over
 * chunks is a chunk's total. `k` is the element's position in its line.
 */
export interface ScanKind {
  readonly functions: readonly string[]
  /** Declares the state before the first element. */
  readonly state: string
  /** Takes an element into it, and the total of a chunk. */
  readonly step: (x: readonly string[]) => string
  readonly join: (x: readonly string[]) => string
  /** What is done to the state after so many elements, whatever they are. */
  readonly block?: { readonly size: number; readonly end: string }
  /** The word that is stored. */
  readonly value: string
  /** The words that go from one chunk to the next, and how the state is made from them. */
  readonly carry: readonly string[]
  readonly resume: (x: readonly string[]) => string
  /** A chunk's total, where it is more than the carry: beside the state there is another, with steps of its own. */
  readonly beside?: {
    readonly state: string
    readonly step: (x: readonly string[]) => string
    readonly join: (x: readonly string[]) => string
    readonly words: readonly string[]
  }
}

/**
 * Products as a number in [0.5, 1) times a power of two, so that they leave the range of f32 only where the result does: a zero, an
 * infinity or a NaN stays as it is. `scaled` takes subnormal numbers from their bits, since arithmetic may flush them.
 */
const SCALED = `struct Scaled { x: f32, e: i32 }
fn scaled(x: f32, e: i32) -> Scaled {
  let field = (bitcast<u32>(x) >> 23u) & 0xffu;
  if (field == 0xffu || cd_abs_bits(x) == 0u) { return Scaled(x, e); }
  var y = x; var shift = -126;
  if (field == 0u) { y = cd_copysign(f32(cd_abs_bits(x)), x); shift = -126 - 149; }
  let b = bitcast<u32>(y);
  return Scaled(bitcast<f32>((b & 0x807fffffu) | 0x3f000000u), clamp(e + shift + i32((b >> 23u) & 0xffu), -1073741824, 1073741823));
}
fn times(a: Scaled, b: Scaled) -> Scaled { return scaled(a.x * b.x, a.e + b.e); }
fn unscaled(s: Scaled) -> u32 {
  let b = bitcast<u32>(s.x);
  let field = (b >> 23u) & 0xffu;
  if (field == 0u || field == 0xffu) { return b; }
  let sign = b & 0x80000000u;
  let k = s.e + 126;
  if (k > 254) { return sign | 0x7f800000u; }
  if (k > 0) { return sign | (u32(k) << 23u) | (b & 0x7fffffu); }
  if (k < -23) { return sign; }
  let shift = u32(1 - k);
  return sign | (((b & 0x7fffffu) + 0x800000u + (1u << (shift - 1u))) >> shift);
}`

const float = (word: string): string => `bitcast<f32>(${word})`
const scaledWords = ([x, e]: readonly string[]): string => `Scaled(${float(x!)}, bitcast<i32>(${e}))`

/** One word that takes each element by an operator of integers. */
const wrapping = (start: string, operator: string): ScanKind => {
  const step = ([x]: readonly string[]): string => `s = s ${operator} ${x};`
  return { functions: [], state: `var s = ${start};`, step, join: step, value: 's', carry: ['s'], resume: ([x]) => `s = ${x};` }
}

const sumStep = ([x]: readonly string[]): string => `s += ${float(x!)};`
const sumSoFar = 'bitcast<u32>(total + s)'
const floatSum: ScanKind = {
  functions: [],
  state: 'var total = 0.0; var lost = 0.0; var s = 0.0;',
  step: sumStep,
  join: sumStep,
  block: { size: 32, end: `${collect('total', 'lost', 's')} s = 0.0;` },
  value: sumSoFar,
  carry: [sumSoFar],
  resume: ([x]) => `total = ${float(x!)};`,
}

const floatProduct: ScanKind = {
  functions: [SCALED],
  state: 'var s = Scaled(0.5, 1);',
  step: ([x]) => `s = times(s, scaled(${float(x!)}, 0));`,
  join: (x) => `s = times(s, ${scaledWords(x)});`,
  value: 'unscaled(s)',
  carry: ['bitcast<u32>(s.x)', 'bitcast<u32>(s.e)'],
  resume: (x) => `s = ${scaledWords(x)};`,
}

/** s = a s + b; a chunk takes s to A s + B, where A, the product of its a, may leave the range of f32. The first a is not read. */
export const recurrence: ScanKind = {
  functions: [SCALED],
  state: 'var s = 0.0; var started = false;',
  step: ([a, b]) => `s = select(${float(b!)}, ${float(a!)} * s + ${float(b!)}, started); started = true;`,
  join: ([x, e, b]) =>
    `if (started) { s = ${float(`unscaled(times(${scaledWords([x!, e!])}, scaled(s, 0)))`)} + ${float(b!)}; } else { s = ${float(b!)}; } started = true;`,
  value: 'bitcast<u32>(s)',
  carry: ['bitcast<u32>(s)'],
  resume: ([x]) => `s = ${float(x!)}; started = true;`,
  beside: {
    state: 'var a = Scaled(0.5, 1);',
    step: ([a]) => `a = times(a, scaled(${float(a!)}, 0));`,
    join: (x) => `a = times(a, ${scaledWords(x)});`,
    words: ['bitcast<u32>(a.x)', 'bitcast<u32>(a.e)'],
  },
}

/** The greatest (or smallest) so far, as a key. */
export const extremes = (mode: 'max' | 'min', dtype: DType): ScanKind => {
  const { functions, key, word } = ordered(mode, dtype)
  return {
    functions,
    state: 'var s = 0u;',
    step: ([x]) => `s = max(s, ${key(x!)});`,
    join: ([x]) => `s = max(s, ${x});`,
    value: word('s'),
    carry: ['s'],
    resume: ([x]) => `s = ${x};`,
  }
}

const isFloat = (dtype: DType): boolean => dtype === 'f32'
export const sums = (dtype: DType): ScanKind => (isFloat(dtype) ? floatSum : wrapping('0u', '+'))
export const products = (dtype: DType): ScanKind => (isFloat(dtype) ? floatProduct : wrapping('1u', '*'))
