/** The caller's arrays that `.into` writes: what they must be, and the locks that keep two calls from writing one of them. */

import { badDtype, badInput, badShape } from '../errors/explain.js'
import { showAval } from '../graph/aval.js'
import type { Node } from '../graph/expr.js'
import type { TypedArray } from '../graph/ndarray.js'
import type { Program } from '../graph/program.js'
import { sameShape, sizeOf } from '../graph/shape.js'
import { describe, Tensor } from '../graph/tensor.js'
import { flatten, leafPaths, sameDef, type TreeDef } from '../graph/tree.js'
import type { Elements } from './backend.js'
import { elementsOf, KeptTensor, keptStore, onADevice } from './device-tensor.js'

/** Who writes a buffer now: no one, a call that is on the stack, or one that has not resolved; and how many unresolved calls read it on its device. */
interface Lock {
  held: 'free' | 'sync' | 'async'
  readers: number
}

/** Locks by buffer, so that all functions see them. Nothing else is kept of a call. */
const locks = /*#__PURE__*/ new WeakMap<object, Lock>()
/** What is locked: a buffer, or elements on a device. */
const storeOf = (a: Elements): object => (onADevice(a) ? a : (keptStore(a) ?? a.buffer))
/** Number of buffers that unresolved calls write: 0 spares every other call the look-up. */
let unresolved = 0

const lockOf = (a: Elements): Lock => {
  const store = storeOf(a)
  let l = locks.get(store)
  if (l === undefined) {
    l = { held: 'free', readers: 0 }
    locks.set(store, l)
  }
  return l
}

/** Raises when one of the arrays is a target of a call that has not resolved: what would be read is neither the old value nor the new. */
export const assertReadable = (arrays: readonly Elements[], where: string): void => {
  if (unresolved === 0) return
  for (const a of arrays)
    if (locks.get(storeOf(a))?.held === 'async')
      badInput(where, 'an argument is a target of a call that has not resolved.', 'await that call first.')
}

/** Keeps what a call reads on a device from being written by another until `release`. Arrays in the host's memory are copied at the call. */
export const holdForReading = (arrays: readonly Elements[]): (() => void) => {
  const held = arrays.filter(onADevice).map(lockOf)
  for (const l of held) l.readers++
  return () => {
    for (const l of held) l.readers--
  }
}

const overlap = (a: Elements, b: Elements): boolean =>
  !onADevice(a) &&
  !onADevice(b) &&
  a.buffer === b.buffer &&
  a.byteOffset < b.byteOffset + b.byteLength &&
  b.byteOffset < a.byteOffset + a.byteLength

const nameOf = (def: TreeDef, i: number): string => leafPaths(def)[i] || 'the result'

/** The leaves of `outputs`, which must be tensors that share no memory. */
const tensorsOf = (leaves: readonly unknown[], def: TreeDef): readonly Tensor[] => {
  const tensors = leaves.map(
    (l, i): Tensor =>
      l instanceof Tensor // an object over a tensor's prototype will do: only its elements are written
        ? l
        : badInput(
            `into: ${nameOf(def, i)}`,
            `${describe(l)} is not a tensor.`,
            'outputs are tensors: tensor(0, [2]) makes one of shape [2], evaluate(zeros([2])) too.',
          ),
  )
  const data = tensors.map(elementsOf)
  data.forEach((a, i) => {
    for (let j = 0; j < i; j++)
      if (a === data[j] || overlap(a, data[j]!))
        badInput(
          `into: ${nameOf(def, j)} and ${nameOf(def, i)}`,
          a === data[j] ? 'two outputs are the same array.' : 'two outputs share a part of one ArrayBuffer.',
          'give each output an array of its own.',
        )
  })
  return tensors
}
/** Raises unless the target takes such a result, and can be added to where the call accumulates. */
const fits = (t: Tensor, o: Node, accumulate: boolean, name: string): void => {
  if (!sameShape(t.shape, o.shape) || t.dtype !== o.dtype)
    badShape(
      `into: ${name}`,
      [t.shape, o.shape],
      `the target is ${t.dtype} [${t.shape}], the result ${showAval(o.aval)}.`,
      "give a tensor of the result's shape and dtype.",
    )
  if (accumulate && t.dtype === 'bool')
    badDtype(`into: ${name}`, ['bool'], 'booleans are not added.', 'leave out accumulate, or return the result as i32 (cast).')
}

/** The targets of `.into`; `hold` and `release` stand around each call that writes them. */
export class Targets {
  /** Read anew by `check`: memory that elements stay in moves when it grows. */
  readonly data: Elements[]
  private readonly def: TreeDef
  private readonly tensors: readonly Tensor[]
  private readonly sizes: readonly number[]
  private readonly locks: readonly Lock[]
  private checked: Program | undefined

  constructor(
    outputs: unknown,
    private readonly accumulate: boolean,
  ) {
    const { leaves, def } = flatten(outputs, 'outputs')
    this.def = def
    this.tensors = tensorsOf(leaves, def)
    this.sizes = this.tensors.map((t) => sizeOf(t.shape))
    this.data = this.tensors.map(elementsOf)
    this.locks = [...new Set(this.data.map(lockOf))]
  }

  /** Raises where a target has lost its buffer, or does not take the results of the program. */
  check(program: Program): void {
    const { data, def, tensors, sizes } = this
    for (let i = 0; i < data.length; i++) {
      const a = data[i]!
      if ((a as { readonly length?: number }).length !== sizes[i] && !onADevice(a))
        data[i] = tensors[i]!.intact(`into: ${nameOf(def, i)}`).data
    }
    if (this.checked === program) return
    if (!sameDef(def, program.outputTree)) badInput('into', 'the outputs have another tree than the results.', 'give the same tree.')
    tensors.forEach((t, i) => {
      fits(t, program.outputs[i]!, this.accumulate, nameOf(def, i))
    })
    this.checked = program
  }

  /** The targets of a call that ends later: of those in memory that may move copies, which `put` hands on. */
  copies(): Elements[] {
    return this.data.map((a, i) => (this.tensors[i] instanceof KeptTensor ? (a as TypedArray).slice() : a))
  }
  put(written: readonly Elements[]): void {
    this.tensors.forEach((t, i) => {
      if (t instanceof KeptTensor) t.intact('into').data.set(written[i] as never)
    })
  }

  hold(kind: 'sync' | 'async'): void {
    const { locks } = this
    for (let i = 0; i < locks.length; i++) if (locks[i]!.held !== 'free' || locks[i]!.readers > 0) this.refuse()
    for (let i = 0; i < locks.length; i++) locks[i]!.held = kind
    if (kind === 'async') unresolved += locks.length
  }
  private refuse(): never {
    const held = this.locks.find((l) => l.held !== 'free')?.held
    if (held !== undefined)
      badInput(
        'into',
        held === 'sync'
          ? 'a target is being written by the call that made this one.'
          : 'a target is being written by a call that has not resolved.',
        held === 'sync' ? 'give the inner call targets of its own.' : 'await that call first, or give this one targets of its own.',
      )
    return badInput('into', 'a target on the device is being read by a call that has not resolved.', 'await that call first.')
  }
  release(): void {
    const { locks } = this
    for (let i = 0; i < locks.length; i++) {
      if (locks[i]!.held === 'async') unresolved--
      locks[i]!.held = 'free'
    }
  }
}
