/** A dispatch as data: one compute shader, the words of its uniform record, and how many workgroups it needs. */
import type { DType } from '../../core/types/dtype.js'
import type { Operand } from '../plan/step.js'
import { preludeOf } from './wgsl/library.js'

/**
 * A word of a record: a number, the place of an operand (in elements) once memory is assigned, the bits of a literal of the
 * program (programs of one plan differ in them), or the place of a mark: a word behind all scratch that says whether an iteration of a loop is taken.
 */
export type Word =
  | number
  | { readonly storage: number; readonly byteOffset: number; readonly advance?: readonly number[] }
  | { readonly literal: number }
  | { readonly mark: number }

/** A storage number of the plan; `scratch` is a region behind the arena that belongs to one step. */
export const SCRATCH = 1 << 30

export interface Dispatch {
  /** The shader; equal text, equal pipeline. Reads its record through `p`. */
  readonly wgsl: string
  readonly words: readonly Word[]
  /** Workgroups in all; folded into two dimensions where they pass 65,535. */
  readonly groups: number
}

/** How a shader sees the memory's words. */
export type View = 'f32' | 'u32' | 'atomic<u32>'

/** The record as every shader declares it. */
const record = (words: number): string => `var<uniform> p: array<vec4<u32>, ${Math.max(1, Math.ceil(words / 4))}>;`
const memory = (view: View): string => `@group(0) @binding(0) var<storage, read_write> m: array<${view}>;`
/** Arguments that lie where the caller has them, by their numbers in the step, as the shader sees memory. */
const givenIn = (text: string, view: View): string =>
  [...new Set(text.match(/\bgiven\d\b/g) ?? [])]
    .map((n) => `@group(1) @binding(${n.slice(5)}) var<storage, read> ${n}: array<${view === 'f32' ? 'f32' : 'u32'}>;\n`)
    .join('')
/** Memory and record; and the memory of f16, where the text uses it. */
const header = (words: number, view: View, f16: boolean): string =>
  `${memory(view)}
@group(0) @binding(1) ${record(words)}
${f16 ? '@group(0) @binding(2) var<storage, read_write> h: array<f16>;\n' : ''}`

/** A word of the record, as u32 or as i32. */
export const word = (k: number): string => `p[${k >> 2}].${'xyzw'[k & 3]}`
export const signed = (k: number): string => `bitcast<i32>(${word(k)})`

/** Comes first in a shader whose entry point has `subgroups`. */
const SUBGROUPS = 'enable subgroups;\nrequires subgroup_id;\n'
const ofSubgroups =
  ', @builtin(subgroup_size) ss: u32, @builtin(subgroup_invocation_id) si: u32, @builtin(subgroup_id) sg: u32, @builtin(num_subgroups) ns: u32'

/**
 * The entry point: `g` is the flat number of the workgroup, `l` the invocation in it; with `subgroups`, `ss` is the size of a subgroup, `si`
 * the invocation in it, `sg` its number and `ns` how many there are.
 */
const entry = (size: number, body: string, subgroups = false): string =>
  `@compute @workgroup_size(${size})
fn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) nw: vec3<u32>, @builtin(local_invocation_index) l: u32${subgroups ? ofSubgroups : ''}) {
${BEGIN}${body}}
`
const BEGIN = '  let g = w.x + w.y * nw.x;\n'

/** A shader before it is text. */
export interface Source {
  /** Invocations of a workgroup. */
  readonly width: number
  /** Words of the record. */
  readonly words: number
  readonly view?: View
  readonly body: string
  /** Functions and variables of its own, beside the library's. */
  readonly declared?: string
  readonly subgroups?: boolean
}
/** The whole text: what is enabled, memory, the library functions that are called, and the entry point. */
export const shader = ({ width, words, view = 'u32', body, declared = '', subgroups = false }: Source): string => {
  const text = `${declared}\n${entry(width, body, subgroups)}`
  const f16 = /\bh\[/.test(text)
  return `${f16 ? 'enable f16;\n' : ''}${subgroups ? SUBGROUPS : ''}${header(words, view, f16)}${givenIn(text, view)}${preludeOf(text)}\n${text}`
}

/** How a dtype is held in registers. Memory words are 32 bits; bool is 0 or 1. */
export const register: Readonly<Record<Exclude<DType, 'f64'>, string>> = { f32: 'f32', i32: 'i32', bool: 'bool' }

/** Bytes of an element of an operand. */
export const itemOf = (o: Operand): 2 | 4 => (o.f16 === true ? 2 : 4)
/** Where an operand starts, and where one of its elements lies. */
export const placeAt = (o: Operand, element: number): Word => ({
  storage: o.storage,
  byteOffset: o.offset + itemOf(o) * element,
  ...(o.advance !== undefined && { advance: o.advance }),
})
export const place = (o: Operand): Word => placeAt(o, 0)
/** What a mark is, by the view of memory: all of 0 or the f32 1, which no view takes for a number that it flushes to 0. */
const markAt: Readonly<Record<View, (index: string) => string>> = {
  f32: (i) => `bitcast<u32>(m[${i}])`,
  u32: (i) => `m[${i}]`,
  'atomic<u32>': (i) => `atomicLoad(&m[${i}])`,
}
const VIEWS = Object.keys(markAt) as View[]
/** A dispatch whose workgroups return at once where the mark is 0: as `indirect` ones of no workgroups, but the mark needs no buffer of its own. */
export const guarded = (d: Dispatch, mark: number): Dispatch => {
  const at = d.words.length
  const view = VIEWS.find((v) => d.wgsl.includes(memory(v)))!
  const wgsl = d.wgsl
    .replace(record(at), record(at + 1))
    .replace('@compute', 'var<workgroup> cd_taken: u32;\n@compute')
    .replace(
      BEGIN,
      `  if (l == 0u) { cd_taken = ${markAt[view](word(at))}; }\n  if (workgroupUniformLoad(&cd_taken) == 0u) { return; }\n${BEGIN}`,
    )
  return { ...d, wgsl, words: [...d.words, { mark }] }
}
/** Marks an iteration: taken where its flag is true, and where the iteration of the loop around is taken. */
export const marking = (flag: Operand, mark: number, around: number | undefined): Dispatch => ({
  wgsl: shader({
    width: 1,
    words: 3,
    body: `  m[${word(1)}] = select(0u, 0x3f800000u, m[${word(0)}] != 0u${around === undefined ? '' : ` && m[${word(2)}] != 0u`});\n`,
  }),
  words: [place(flag), { mark }, { mark: around ?? mark }],
  groups: 1,
})

const moves = (w: Word): boolean => typeof w !== 'number' && 'advance' in w && w.advance?.some((by) => by !== 0) === true
/** A dispatch in these iterations of the loops around it: the same shader, another record; itself, where no operand moves. */
export const movedDispatch = (d: Dispatch, at: readonly number[]): Dispatch =>
  at.length === 0 || !d.words.some(moves)
    ? d
    : {
        ...d,
        words: d.words.map((w) => {
          if (typeof w === 'number' || !('storage' in w) || w.advance === undefined) return w
          const { storage, byteOffset, advance } = w
          return { storage, byteOffset: advance.reduce((n, by, k) => n + by * (at[k] ?? 0), byteOffset) }
        }),
      }

/** The memory that holds an operand, where it is not of f16. */
const memoryOf = (o: Operand): string => (o.given === undefined ? 'm' : `given${o.given}`)
/** An element of an operand as a value of its dtype: f32 is widened where it is stored as f16. */
export const load = (o: Operand, dtype: DType, index: string, view: View): string =>
  o.f16 === true
    ? `f32(h[${index}])`
    : view === 'f32'
      ? `${memoryOf(o)}[${index}]`
      : dtype === 'f32'
        ? `bitcast<f32>(${memoryOf(o)}[${index}])`
        : dtype === 'i32'
          ? `bitcast<i32>(m[${index}])`
          : `(m[${index}] != 0u)`
export const store = (o: Operand, dtype: DType, index: string, value: string, view: View): string =>
  o.f16 === true
    ? `h[${index}] = cd_half(${value});`
    : `m[${index}] = ${view === 'f32' ? value : dtype === 'bool' ? `select(0u, 1u, ${value})` : `bitcast<u32>(${value})`};`

/** The same of f32 in a shader that sees f32, and of the bits of any dtype in one that sees words. */
export const floatAt = (o: Operand, index: string): string => load(o, 'f32', index, 'f32')
export const setFloat = (o: Operand, index: string, value: string): string => store(o, 'f32', index, value, 'f32')
export const wordAt = (o: Operand, index: string): string =>
  o.f16 === true ? `bitcast<u32>(f32(h[${index}]))` : `${memoryOf(o)}[${index}]`
export const setWord = (o: Operand, index: string, word: string): string =>
  o.f16 === true ? `h[${index}] = cd_half(bitcast<f32>(${word}));` : `m[${index}] = ${word};`

/** Bits of a number of this dtype. */
const cell = new DataView(new ArrayBuffer(4))
export const bits = (x: number, dtype: DType): number => {
  if (dtype === 'f32') cell.setFloat32(0, x)
  else cell.setInt32(0, x)
  return cell.getUint32(0)
}
