/** A dispatch as data: one compute shader, the words of its uniform record, and how many workgroups it needs. */
import type { DType } from '../../core/types/dtype.js'
import type { Operand } from '../plan/step.js'
import { preludeOf } from './wgsl/library.js'

/**
 * A word of a record: a number, the place of an operand (in elements) once memory is assigned, or the bits of a literal of the
 * program: programs of one plan differ in them.
 */
export type Word =
  | number
  | { readonly storage: number; readonly byteOffset: number; readonly advance?: readonly number[] }
  | { readonly literal: number }

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

/** Memory and record as every shader declares them; and the memory of f16, where the text uses it. */
const header = (words: number, view: View, f16: boolean): string =>
  `@group(0) @binding(0) var<storage, read_write> m: array<${view}>;
@group(0) @binding(1) var<uniform> p: array<vec4<u32>, ${Math.max(1, Math.ceil(words / 4))}>;
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
  let g = w.x + w.y * nw.x;
${body}}
`

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
  return `${f16 ? 'enable f16;\n' : ''}${subgroups ? SUBGROUPS : ''}${header(words, view, f16)}${preludeOf(text)}\n${text}`
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
/** A dispatch in these iterations of the loops around it: the same shader, another record. */
export const movedDispatch = (d: Dispatch, at: readonly number[]): Dispatch =>
  at.length === 0
    ? d
    : {
        ...d,
        words: d.words.map((w) => {
          if (typeof w === 'number' || !('storage' in w) || w.advance === undefined) return w
          const { storage, byteOffset, advance } = w
          return { storage, byteOffset: advance.reduce((n, by, k) => n + by * (at[k] ?? 0), byteOffset) }
        }),
      }

/** An element of an operand as a value of its dtype: f32 is widened where it is stored as f16. */
export const load = (o: Operand, dtype: DType, index: string, view: View): string =>
  o.f16 === true
    ? `f32(h[${index}])`
    : view === 'f32'
      ? `m[${index}]`
      : dtype === 'f32'
        ? `bitcast<f32>(m[${index}])`
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
export const wordAt = (o: Operand, index: string): string => (o.f16 === true ? `bitcast<u32>(f32(h[${index}]))` : `m[${index}]`)
export const setWord = (o: Operand, index: string, word: string): string =>
  o.f16 === true ? `h[${index}] = cd_half(bitcast<f32>(${word}));` : `m[${index}] = ${word};`

/** Bits of a number of this dtype. */
const cell = new DataView(new ArrayBuffer(4))
export const bits = (x: number, dtype: DType): number => {
  if (dtype === 'f32') cell.setFloat32(0, x)
  else cell.setInt32(0, x)
  return cell.getUint32(0)
}
