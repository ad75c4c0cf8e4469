/** `fromJSON`: a program read from anything, or every error in it with its path. Never throws, writes to no prototype, and always ends. */

import type { Either } from 'fp-ts/lib/Either.js'
import { left, right } from '../errors/either.js'
import { type AdError, isAdException } from '../errors/error.js'
import { type Aval, aval, sameAval, showAval } from '../graph/aval.js'
import { dtypeCodec } from '../graph/cast.js'
import { APPLY, constant, INPUT, input, Node, resultsOf } from '../graph/expr.js'
import { bytesFromJSON, numberFromJSON } from '../graph/numbers.js'
import { type AnyPrimitive, NO_PARAMS, noParams } from '../graph/primitive.js'
import { makeProgram, type Program } from '../graph/program.js'
import { describe, Tensor } from '../graph/tensor.js'
import { ABSENT, below, LEAF, leafCount, type TreeDef } from '../graph/tree.js'
import type { DType } from '../types/dtype.js'
import { FORMAT, MAX_NAME, MAX_PARAMS, MAX_PROGRAMS } from './encode.js'
import { keysOf, readParams } from './parameters.js'

/** At most this many nodes, sub-programs included; entries of parameters and trees are bounded beside them. */
const MAX_NODES = 2 ** 22
const MAX_ENTRIES = 2 ** 22
const MAX_ERRORS = 1000
/** Errors that are counted beyond those: after so many nothing more is read. */
const MAX_MORE = 10_000
const MAX_RANK = 64
const MAX_TREE = 200

type Fields = Readonly<Record<string, unknown>>
const BAD = Symbol('bad')
const isRecord = (u: unknown): u is Fields => typeof u === 'object' && u !== null && !Array.isArray(u)
const field = (o: Fields, k: string): unknown => (Object.hasOwn(o, k) ? o[k] : undefined)

/** What one decoding shares: errors, and how much it has met. */
interface State {
  readonly find: (name: string) => AnyPrimitive | undefined
  readonly errors: { path: string; reason: string }[]
  more: number
  nodes: number
  entries: number
}
const report = (s: State, path: string, reason: string): void => {
  if (s.errors.length < MAX_ERRORS) s.errors.push({ path, reason })
  else s.more++
}
/** Counts one entry; false when there were too many, or too many errors. */
const spend = (s: State, path: string): boolean => {
  if (s.more > MAX_MORE) return false
  if (++s.entries <= MAX_ENTRIES) return true
  if (s.entries === MAX_ENTRIES + 1) report(s, path, `more than ${MAX_ENTRIES} entries`)
  return false
}
const onlyKeys = (s: State, o: Fields, path: string, keys: readonly string[]): void => {
  let seen = 0
  for (const k of Object.keys(o)) {
    if (!keys.includes(k)) report(s, path, `the key ${JSON.stringify(k.slice(0, 40))} is not expected`)
    if (++seen > 100) return
  }
}

const treeAt = (s: State, u: unknown, path: string, depth = 0): TreeDef => {
  if (!spend(s, path)) return LEAF
  if (u === '*') return LEAF
  if (u === 'none') return ABSENT
  if (depth > MAX_TREE) report(s, path, `nested deeper than ${MAX_TREE} levels`)
  else if (Array.isArray(u)) return { _tag: 'Tuple', items: Array.from(u, (x, i) => treeAt(s, x, `${path}.${i}`, depth + 1)) }
  else if (isRecord(u) && !('keys' in u || 'items' in u)) {
    onlyKeys(s, u, path, ['value'])
    const value = field(u, 'value')
    if (value === undefined || value === null || (typeof value === 'string' && value.length <= MAX_NAME)) return { _tag: 'Static', value }
    report(s, `${path}.value`, `${describe(value)} is not a text or null`)
  } else if (isRecord(u)) {
    onlyKeys(s, u, path, ['keys', 'items'])
    const keys = field(u, 'keys')
    const items = field(u, 'items')
    if (Array.isArray(keys) && Array.isArray(items) && keys.length === items.length) {
      const strings = Array.from(keys)
      strings.forEach((k, i) => {
        if (typeof k !== 'string' || k.length > MAX_NAME) report(s, `${path}.keys.${i}`, `${describe(k)} is not a key`)
        else if (i > 0 && typeof strings[i - 1] === 'string' && !(strings[i - 1] < k))
          report(s, `${path}.keys.${i}`, 'keys must be distinct and sorted')
      })
      return { _tag: 'Record', keys: strings, items: Array.from(items, (x, i) => treeAt(s, x, `${path}.items.${i}`, depth + 1)) }
    }
    report(s, path, 'a record has as many keys as items')
  } else report(s, path, `${describe(u)} is not a tree: '*', 'none', a list of trees or { keys, items }`)
  return LEAF
}

const dtypeAt = (s: State, u: unknown, path: string): DType | undefined => {
  if (dtypeCodec.is(u)) return u
  report(s, path, `${describe(u)} is not a dtype: f64, f32, i32 or bool`)
  return undefined
}
const avalAt = (s: State, o: Fields, path: string): Aval | undefined => {
  const dtype = dtypeAt(s, field(o, 'dtype'), `${path}.dtype`)
  const shape = field(o, 'shape')
  const good =
    Array.isArray(shape) && shape.length <= MAX_RANK && Array.from(shape).every((d) => Number.isInteger(d) && d >= 0 && !Object.is(d, -0))
  if (!good) report(s, `${path}.shape`, `not a list of at most ${MAX_RANK} non-negative integers`)
  if (!good || dtype === undefined) return undefined
  try {
    return aval(Object.freeze([...(shape as number[])]), dtype)
  } catch (e) {
    report(s, `${path}.shape`, reasonOf(e))
    return undefined
  }
}
const reasonOf = (e: unknown): string => {
  if (!isAdException(e)) return 'the shape rule failed'
  const x = e.error
  return 'reason' in x ? ('op' in x ? `${x.op}: ${x.reason}` : x.reason) : x._tag
}

/** Parameters as plain values; BAD, with errors reported, where they are none. */
const plainAt = (s: State, u: unknown, path: string, depth: number): unknown => {
  if (!spend(s, path)) return BAD
  if (depth > MAX_PARAMS) {
    report(s, path, `nested deeper than ${MAX_PARAMS} levels`)
    return BAD
  }
  if (u === null || typeof u === 'boolean' || typeof u === 'number' || typeof u === 'string') return u
  if (Array.isArray(u)) {
    const out = Array.from(u, (x, i) => plainAt(s, x, `${path}.${i}`, depth + 1))
    return out.includes(BAD) ? BAD : out
  }
  if (!isRecord(u)) {
    report(s, path, `${typeof u} is not JSON`)
    return BAD
  }
  if (Object.hasOwn(u, '$number')) {
    onlyKeys(s, u, path, ['$number'])
    const n = numberFromJSON(u.$number)
    if (n === undefined || typeof u.$number === 'number') report(s, `${path}.$number`, `${describe(u.$number)} is not the text of a number`)
    return n ?? BAD
  }
  const out: Record<string, unknown> = {}
  let bad = false
  for (const k of Object.keys(u)) {
    if (k === '__proto__' || k.startsWith('$') || k.length > MAX_NAME) {
      report(s, path, `the key ${JSON.stringify(k.slice(0, 40))} is not allowed`)
      bad = true
      continue
    }
    const v = plainAt(s, u[k], `${path}.${k}`, depth + 1)
    if (v === BAD) bad = true
    out[k] = v
  }
  return bad ? BAD : out
}

/** The programs of an application; BAD, with errors reported, where one is none. */
const programsAt = (s: State, prim: AnyPrimitive, u: unknown, path: string, programs: number): readonly Program[] | typeof BAD => {
  if (prim.programs === undefined) {
    report(s, path, `${prim.name} takes no programs`)
    return BAD
  }
  if (!Array.isArray(u)) {
    report(s, path, `${describe(u)} is not a list of programs`)
    return BAD
  }
  const read = Array.from(u, (x, i) => (spend(s, path) ? programAt(s, x, `${path}.${i}`, programs + 1) : undefined))
  return read.includes(undefined) ? BAD : (read as Program[])
}

const paramsAt = (s: State, prim: AnyPrimitive, o: Fields, at: string, programs: number): unknown => {
  const path = `${at}.params`
  const listed = Object.hasOwn(o, 'programs') ? programsAt(s, prim, o.programs, `${at}.programs`, programs) : undefined
  const read = plainAt(s, field(o, 'params'), path, 0)
  if (read === BAD || listed === BAD) return BAD
  return paramsOf(s, prim, listed === undefined || !isRecord(read) ? read : prim.withPrograms!(read, listed), path)
}
const paramsOf = (s: State, prim: AnyPrimitive, plain: unknown, path: string): unknown => {
  if (!isRecord(plain)) {
    report(s, path, `${describe(plain)} is not a record of parameters`)
    return BAD
  }
  const known = keysOf(prim.codec)
  const before = s.errors.length + s.more
  if (known !== undefined) onlyKeys(s, plain, path, known)
  const read = readParams((at, reason) => report(s, at, reason), prim.codec, plain, path)
  if (s.errors.length + s.more > before) return BAD
  return (prim.codec as unknown) === noParams ? NO_PARAMS : read
}
/** Nodes read so far: a node, or undefined where it was bad; an Apply with several results has their avals in `results`. */
interface Table {
  readonly nodes: (Node | undefined)[]
  readonly results: Map<number, readonly Aval[]>
}

const indexAt = (s: State, u: unknown, path: string, below: number): number | undefined => {
  if (typeof u === 'number' && Number.isInteger(u) && u >= 0 && u < below) return u
  report(s, path, `${describe(u)} is not the number of an earlier node (0 to ${below - 1})`)
  return undefined
}
/** A node as an argument or output: not an Apply with several results. */
const nodeAt = (s: State, table: Table, u: unknown, path: string, below: number): Node | undefined => {
  const i = indexAt(s, u, path, below)
  if (i === undefined) return undefined
  if (table.results.has(i)) {
    report(s, path, `node ${i} has several results; use { result, of: ${i} }`)
    return undefined
  }
  return table.nodes[i]
}

const applyAt = (s: State, table: Table, o: Fields, path: string, at: number, programs: number): Node | undefined => {
  onlyKeys(s, o, path, ['apply', 'args', 'params', 'programs', 'results'])
  const name = field(o, 'apply')
  const prim = typeof name === 'string' ? s.find(name) : undefined
  if (prim === undefined) report(s, `${path}.apply`, `${describe(name)} is not a known primitive`)
  const list = field(o, 'args')
  if (!Array.isArray(list)) report(s, `${path}.args`, `${describe(list)} is not a list`)
  const args = Array.isArray(list)
    ? Array.from(list, (x, i) => (spend(s, path) ? nodeAt(s, table, x, `${path}.args.${i}`, at) : undefined))
    : []
  const declared = field(o, 'results')
  if (!Array.isArray(declared)) report(s, `${path}.results`, `${describe(declared)} is not a list`)
  const want = Array.isArray(declared)
    ? Array.from(declared, (x, i): Aval | undefined => {
        const p = `${path}.results.${i}`
        if (!spend(s, p)) return undefined
        if (!isRecord(x)) {
          report(s, p, `${describe(x)} is not { dtype, shape }`)
          return undefined
        }
        onlyKeys(s, x, p, ['dtype', 'shape'])
        return avalAt(s, x, p)
      })
    : []
  if (prim?.multi) table.results.set(at, [])
  if (prim === undefined) return undefined
  const params = paramsAt(s, prim, o, path, programs)
  if (Array.isArray(list) && !prim.variadic && list.length !== prim.args.length) {
    report(s, `${path}.args`, `${prim.name} takes ${prim.args.length} argument${prim.args.length === 1 ? '' : 's'}, got ${list.length}`)
    return undefined
  }
  if (params === BAD || !Array.isArray(list) || args.includes(undefined)) return undefined
  try {
    const ruled = prim.shapeRule(
      (args as Node[]).map((x) => x.aval),
      params,
    )
    // made anew, so that a shape rule that was given nonsense and gave nonsense is found here
    const found = (prim.multi ? (ruled as readonly Aval[]) : [ruled as Aval]).map((y) => aval(y.shape, y.dtype))
    for (const a of found) if (a.shape.length > MAX_RANK) report(s, path, `its rank is above ${MAX_RANK}`)
    if (Array.isArray(declared) && declared.length !== found.length)
      report(s, `${path}.results`, `${prim.name} has ${found.length} results, declared ${declared.length}`)
    found.forEach((a, i) => {
      const w = want[i]
      if (w !== undefined && !sameAval(w, a)) report(s, `${path}.results.${i}`, `declared ${showAval(w)}, it is ${showAval(a)}`)
    })
    if (prim.multi) table.results.set(at, found)
    return new Node(APPLY, found[0] ?? aval([0], 'f64'), prim, args as Node[], params)
  } catch (e) {
    report(s, path, reasonOf(e))
    return undefined
  }
}

const entryAt = (
  s: State,
  table: Table,
  u: unknown,
  path: string,
  at: number,
  programs: number,
  own: ReadonlySet<unknown>,
): Node | undefined => {
  if (!isRecord(u)) report(s, path, `${describe(u)} is not a node`)
  else if (Object.hasOwn(u, 'apply')) return applyAt(s, table, u, path, at, programs)
  else if (Object.hasOwn(u, 'input')) {
    onlyKeys(s, u, path, ['input', 'dtype', 'shape'])
    const name = u.input
    if (typeof name !== 'string' || name.length > MAX_NAME) report(s, `${path}.input`, `${describe(name)} is not a name`)
    if (!own.has(at)) report(s, path, 'an input that is not listed in inputs')
    const a = avalAt(s, u, path)
    return a === undefined || typeof name !== 'string' ? undefined : input(a, name === '' ? undefined : name)
  } else if (Object.hasOwn(u, 'literal')) {
    onlyKeys(s, u, path, ['literal', 'dtype'])
    const x = numberFromJSON(u.literal)
    const dtype = dtypeAt(s, field(u, 'dtype'), `${path}.dtype`)
    if (x === undefined) report(s, `${path}.literal`, `${describe(u.literal)} is not a number`)
    if (x === undefined || dtype === undefined) return undefined
    const n = constant(x, dtype)
    if (!Object.is(n.payload, x)) report(s, `${path}.literal`, `${x} is not ${dtype}`)
    return n
  } else if (Object.hasOwn(u, 'tensor')) {
    onlyKeys(s, u, path, ['tensor', 'dtype', 'shape'])
    const a = avalAt(s, u, path)
    if (typeof u.tensor !== 'string') report(s, `${path}.tensor`, `${describe(u.tensor)} is not base64`)
    if (a === undefined || typeof u.tensor !== 'string') return undefined
    const data = bytesFromJSON(u.tensor, a.dtype, a.size)
    if (typeof data !== 'string') return new Tensor(a.shape, a.dtype, data).node
    report(s, `${path}.tensor`, data)
  } else if (Object.hasOwn(u, 'result')) {
    onlyKeys(s, u, path, ['result', 'of'])
    const of = indexAt(s, field(u, 'of'), `${path}.of`, at)
    const from = of === undefined ? undefined : table.results.get(of)
    if (of !== undefined && from === undefined && table.nodes[of] !== undefined) report(s, `${path}.of`, `node ${of} has one result`)
    const i = u.result
    const apply = table.nodes[of ?? -1]
    if (from === undefined || apply === undefined) return undefined
    if (typeof i === 'number' && Number.isInteger(i) && i >= 0 && i < from.length) return resultsOf(apply)[i]
    report(s, `${path}.result`, `${describe(i)} is not one of its ${from.length} results`)
  } else report(s, path, 'not a node: it has neither input, literal, tensor, apply nor result')
  return undefined
}

const programAt = (s: State, u: unknown, path: string, programs: number): Program | undefined => {
  const under = (k: string): string => below(path, k)
  const here = path === '' ? 'program' : path
  const before = s.errors.length + s.more
  if (programs > MAX_PROGRAMS) {
    report(s, here, `programs are nested deeper than ${MAX_PROGRAMS} levels`)
    return undefined
  }
  if (!isRecord(u)) {
    report(s, here, `${describe(u)} is not a program`)
    return undefined
  }
  const format = field(u, 'format')
  if (format !== FORMAT) {
    report(s, under('format'), `${describe(format)} is not ${FORMAT}, the only format that is read here`)
    return undefined
  }
  onlyKeys(s, u, here, ['format', 'name', 'inputs', 'inputTree', 'outputs', 'outputTree', 'nodes'])
  const name = field(u, 'name')
  if (typeof name !== 'string' || name.length > MAX_NAME) report(s, under('name'), `${describe(name)} is not a name`)
  const list = (k: string): readonly unknown[] => {
    const x = field(u, k)
    if (Array.isArray(x)) return x
    report(s, under(k), `${describe(x)} is not a list`)
    return []
  }
  const entries = list('nodes')
  s.nodes += entries.length
  if (s.nodes > MAX_NODES) {
    report(s, under('nodes'), `more than ${MAX_NODES} nodes`)
    return undefined
  }
  const ins = list('inputs')
  const outs = list('outputs')
  if (ins.length + outs.length > MAX_NODES) {
    report(s, here, `more than ${MAX_NODES} inputs and outputs`)
    return undefined
  }
  const table: Table = { nodes: [], results: new Map() }
  const own = new Set(ins)
  for (let i = 0; i < entries.length; i++) table.nodes.push(entryAt(s, table, entries[i], under(`nodes.${i}`), i, programs, own))
  const inputs = Array.from(ins, (x, i) => {
    const n = nodeAt(s, table, x, under(`inputs.${i}`), entries.length)
    if (n !== undefined && (n.kind !== INPUT || (n.payload as { captured?: unknown }).captured !== undefined))
      report(s, under(`inputs.${i}`), `node ${String(x)} is not an input`)
    return n
  })
  if (own.size !== ins.length) report(s, under('inputs'), 'a node is listed twice')
  const outputs = Array.from(outs, (x, i) => nodeAt(s, table, x, under(`outputs.${i}`), entries.length))
  const inputTree = treeAt(s, field(u, 'inputTree'), under('inputTree'))
  const outputTree = treeAt(s, field(u, 'outputTree'), under('outputTree'))
  if (inputTree._tag !== 'Tuple') report(s, under('inputTree'), 'it is the list of the arguments')
  const leaves = (k: string, tree: TreeDef, n: number): void => {
    if (leafCount(tree) !== n) report(s, under(k), `it has ${leafCount(tree)} leaves for ${n} nodes`)
  }
  leaves('inputTree', inputTree, ins.length)
  leaves('outputTree', outputTree, outs.length)
  if (s.errors.length + s.more > before) return undefined
  return makeProgram({ name: name as string, inputs: inputs as Node[], inputTree, outputs: outputs as Node[], outputTree })
}

/** A program from anything, with primitives found by name. */
export const programFromJSON =
  (find: (name: string) => AnyPrimitive | undefined) =>
  (u: unknown): Either<AdError, Program> => {
    const s: State = { find, errors: [], more: 0, nodes: 0, entries: 0 }
    let program: Program | undefined
    try {
      program = programAt(s, u, '', 1)
    } catch (e) {
      report(s, 'program', isAdException(e) ? reasonOf(e) : 'it cannot be read')
    }
    if (program !== undefined && s.errors.length === 0) return right(program)
    const others = s.more > MAX_MORE ? `more than ${MAX_MORE} others` : `${s.more} more errors`
    const errors = s.more > 0 ? [...s.errors, { path: 'program', reason: `and ${others}` }] : s.errors
    return left({ _tag: 'Decode', errors })
  }
