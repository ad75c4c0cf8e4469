/** A dispatch as data: one compute shader, the words of its uniform record, and how many workgroups it needs. */
import type { DType } from '../../core/types/dtype.js'

/**
 * A word of a record: a number, the place of an operand (in elements of four bytes) once memory is assigned, or the bits of a literal of the
 * program: programs of one plan differ in them.
 */
export type Word = number | { readonly storage: number; readonly byteOffset: number } | { readonly literal: number }

/** A storage number of the plan; `scratch` is a region behind the arena that belongs to one step. */
export const SCRATCH = 1 << 30

export interface Dispatch {
  /** The shader; equal text, equal pipeline. Reads its record through `p`. */
  readonly wgsl: string
  readonly words: readonly Word[]
  /** Workgroups in all; folded into two dimensions where they pass 65,535. */
  readonly groups: number
  /** Storages that the shader touches, in the order of its banks' first use. */
  readonly label: string
}

/** Memory and record as every shader declares them; `type` is how the memory's words are seen. */
export const header = (words: number, type: 'f32' | 'u32' | 'vec4<f32>' = 'u32'): string =>
  `@group(0) @binding(0) var<storage, read_write> m: array<${type}>;
@group(0) @binding(1) var<uniform> p: array<vec4<u32>, ${Math.max(1, Math.ceil(words / 4))}>;
`

/** A word of the record, as u32 or as i32. */
export const word = (k: number): string => `p[${k >> 2}].${'xyzw'[k & 3]}`
export const signed = (k: number): string => `bitcast<i32>(${word(k)})`

/** Comes first in a shader whose entry point has `subgroups`. */
export const SUBGROUPS = 'enable subgroups;\nrequires subgroup_id;\n'
const ofSubgroups =
  ', @builtin(subgroup_size) ss: u32, @builtin(subgroup_invocation_id) si: u32, @builtin(subgroup_id) sg: u32, @builtin(num_subgroups) ns: u32'

/**
 * The entry point: `g` is the flat number of the workgroup, `l` the invocation in it; with `subgroups`, `ss` is the size of a subgroup, `si`
 * the invocation in it, `sg` its number and `ns` how many there are.
 */
export const entry = (size: number, body: string, subgroups = false): string =>
  `@compute @workgroup_size(${size})
fn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(num_workgroups) nw: vec3<u32>, @builtin(local_invocation_index) l: u32${subgroups ? ofSubgroups : ''}) {
  let g = w.x + w.y * nw.x;
${body}}
`

/** How a dtype is held in registers. Memory words are 32 bits; bool is 0 or 1. */
export const register: Readonly<Record<Exclude<DType, 'f64'>, string>> = { f32: 'f32', i32: 'i32', bool: 'bool' }

/** An element of memory as a value of its dtype. */
export const load = (dtype: DType, index: string, type: 'f32' | 'u32'): string =>
  type === 'f32'
    ? `m[${index}]`
    : dtype === 'f32'
      ? `bitcast<f32>(m[${index}])`
      : dtype === 'i32'
        ? `bitcast<i32>(m[${index}])`
        : `(m[${index}] != 0u)`
export const store = (dtype: DType, index: string, value: string, type: 'f32' | 'u32'): string =>
  `m[${index}] = ${type === 'f32' ? value : dtype === 'bool' ? `select(0u, 1u, ${value})` : `bitcast<u32>(${value})`};`

/** Bits of a number of this dtype. */
const cell = new DataView(new ArrayBuffer(4))
export const bits = (x: number, dtype: DType): number => {
  if (dtype === 'f32') cell.setFloat32(0, x)
  else cell.setInt32(0, x)
  return cell.getUint32(0)
}
