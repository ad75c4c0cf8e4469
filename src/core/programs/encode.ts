/** `toJSON`: a program as one flat table of nodes, arguments before users. */

import { badInput } from '../errors/explain.js'
import { holds } from '../errors/language.js'
import { programsOf } from '../graph/expand.js'
import { CONST, capturedTensor, INPUT, type InputInfo, linearize, type Node, OUTPUT, resultAvals } from '../graph/expr.js'
import { qualifiedName } from '../graph/namespace.js'
import { bytesToJSON, numberToJSON } from '../graph/numbers.js'
import type { Program } from '../graph/program.js'
import { showDef, type TreeDef } from '../graph/tree.js'
import type { DType } from '../types/dtype.js'
import type { JSONValue } from '../types/program.js'

/** The version of the format that this copy writes, and the only one it reads. */
export const FORMAT = 1
/** At most this many levels of programs within parameters, and of records and arrays within parameters. */
export const MAX_PROGRAMS = 16
export const MAX_PARAMS = 64
/** At most this many characters in a name. */
export const MAX_NAME = 10_000

interface Typed {
  readonly dtype: DType
  readonly shape: readonly number[]
}
const typed = (a: Typed) => ({ dtype: a.dtype, shape: [...a.shape] })

/** Is x a program? */
export const isProgram = (x: unknown): x is Program =>
  typeof x === 'object' && x !== null && holds(() => 'outputTree' in x && 'inputTree' in x && 'captured' in x && 'outputs' in x)

/** Leaf '*', a place without tangent space 'none', a tuple as a list, a record as { keys, items }, a text or null as { value }, undefined as {}. */
const treeToJSON = (d: TreeDef): JSONValue => {
  if (d._tag === 'Leaf') return '*'
  if (d._tag === 'NoTangent') return 'none'
  if (d._tag === 'Tuple') return d.items.map(treeToJSON)
  if (d._tag === 'Record') return { keys: d.keys, items: d.items.map(treeToJSON) }
  if (d._tag === 'Static' && typeof d.value !== 'function') return d.value === undefined ? {} : { value: d.value as string | null }
  return badInput('toJSON', `a tree of the program holds ${showDef(d)}.`, 'functions and objects of classes are not data: capture them.')
}

const encode = (p: Program, programs: number): JSONValue => {
  const refuse = (what: string, reason: string): never =>
    badInput(`toJSON: ${what}`, reason, 'write another program; functions and class instances are not data.')
  if (programs > MAX_PROGRAMS) refuse(p.name, `programs are nested deeper than ${MAX_PROGRAMS} levels.`)
  const name = (s: string): string => (s.length <= MAX_NAME ? s : refuse('a name', `it has more than ${MAX_NAME} characters.`))
  const params = (x: unknown, what: string, depth: number): JSONValue => {
    if (depth > MAX_PARAMS) refuse(what, `its parameters are nested deeper than ${MAX_PARAMS} levels.`)
    if (x === null || typeof x === 'boolean' || typeof x === 'string') return x
    if (typeof x === 'number') {
      const n = numberToJSON(x)
      return typeof n === 'number' ? n : { $number: n }
    }
    if (isProgram(x)) refuse(what, 'its parameters hold a program that it does not list in programs.')
    if (Array.isArray(x)) return x.map((y) => params(y, what, depth + 1))
    if (typeof x !== 'object' || ArrayBuffer.isView(x)) return refuse(what, `its parameters hold a ${typeof x}.`)
    const proto = Object.getPrototypeOf(x)
    if (proto !== Object.prototype && proto !== null) refuse(what, 'its parameters hold an instance of a class.')
    const out: Record<string, JSONValue> = {}
    for (const [k, v] of Object.entries(x)) {
      if (v === undefined) continue
      if (k === '__proto__' || k.startsWith('$')) refuse(what, `its parameters have the key ${k}.`)
      out[k] = params(v, what, depth + 1)
    }
    return out
  }
  const { nodes, index } = linearize([...p.inputs, ...p.outputs])
  const own = new Set(p.inputs)
  const node = (n: Node): JSONValue => {
    if (n.kind === INPUT) {
      const captured = own.has(n) ? undefined : capturedTensor(n)
      if (captured !== undefined) return { tensor: bytesToJSON(captured.intact('toJSON').data), ...typed(n) }
      return { input: name((n.payload as InputInfo).name ?? ''), ...typed(n) }
    }
    if (n.kind === CONST) return { literal: numberToJSON(n.payload as number), dtype: n.dtype }
    if (n.kind === OUTPUT) return { result: n.payload as number, of: index.get(n.args[0]!) }
    const prim = n.prim!
    const args = n.args.map((a) => index.get(a))
    const within = programsOf(prim, n.payload)
    return {
      apply: name(qualifiedName(prim)),
      args,
      params: params(within.length === 0 ? n.payload : prim.withPrograms!(n.payload, []), prim.name, 0),
      ...(within.length > 0 && { programs: within.map((q) => encode(q, programs + 1)) }),
      results: resultAvals(n).map(typed),
    }
  }
  return {
    format: FORMAT,
    name: name(p.name),
    inputs: p.inputs.map((x) => index.get(x)),
    inputTree: treeToJSON(p.inputTree),
    outputs: p.outputs.map((x) => index.get(x)),
    outputTree: treeToJSON(p.outputTree),
    nodes: nodes.map(node),
  }
}

/** A program as plain JSON: its node table, with captured tensors as base64. */
export const programToJSON = (p: Program): JSONValue => encode(p, 1)
