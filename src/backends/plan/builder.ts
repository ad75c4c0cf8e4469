/** The builder of values: equal ones are made once; and their key, by which plans are found again. */
import { aval } from '../../core/graph/aval.js'
import type { Identities } from '../../core/graph/identity.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { contiguousIn, MAX_SIZE, sameShape, sizeOf, stridesOf } from '../../core/graph/shape.js'
import type { DType } from '../../core/types/dtype.js'
import { Codes } from './ints.js'
import { ALL_PASSES, type Without } from './passes.js'
import type { Value, ValueKind, View } from './value.js'

const NONE: readonly number[] = []
/** Words of a value's code before its arguments. */
const HEAD = 6
const words = new DataView(new ArrayBuffer(8))

/** Builds values; lowerings (lower.ts) call back into it. */
export class Builder {
  readonly values: Value[] = []
  readonly consts: { value: number; number: number }[] = []
  private readonly codes = new Codes()
  /** `ids` is shared by all programs of one backend, so that keys compare. */
  constructor(
    private readonly ids: Identities,
    readonly without: Without = ALL_PASSES,
  ) {}
  value(id: number): Value {
    return this.values[id]!
  }
  private push(
    kind: ValueKind,
    shape: readonly number[],
    dtype: DType,
    prim: AnyPrimitive | null,
    params: unknown,
    args: readonly number[],
    constant: boolean,
    position: number,
    code: readonly number[],
    hash: number,
    view?: View,
  ): number {
    const id = this.values.length
    const size = sizeOf(shape)
    if (size > MAX_SIZE) aval(shape, dtype) // says so
    this.values.push({
      id,
      kind,
      shape,
      size,
      dtype,
      prim,
      params,
      args,
      view,
      base: view === undefined ? id : view.base,
      constant,
      position,
    })
    this.codes.add(code, hash)
    return id
  }
  input(shape: readonly number[], dtype: DType): number {
    return this.push('input', shape, dtype, null, null, NONE, false, 0, NONE, 0)
  }
  /** A slot of its own for each literal, so that one that happens to equal another changes no plan; what is made of equal ones is shared. */
  constant(x: number, dtype: DType): number {
    words.setFloat64(0, x)
    const code = [-2, this.ids.id(dtype), words.getInt32(0), words.getInt32(4)]
    const hash = this.codes.hash(code)
    const known = this.find(code, hash)
    const id = this.push('const', NONE, dtype, null, null, NONE, true, this.consts.length, known < 0 ? code : NONE, hash)
    if (known >= 0) this.firsts.set(id, known)
    this.consts.push({ value: id, number: x })
    return id
  }
  /** The first literal that equals a later one: value numbering reads this, keys do not. */
  private readonly firsts = new Map<number, number>()
  private first(id: number): number {
    return this.values[id]!.kind === 'const' ? (this.firsts.get(id) ?? id) : id
  }
  private find(code: readonly number[], hash: number): number {
    return this.without.has('numbering') ? -1 : this.codes.find(code, hash)
  }
  /** A value of this kind; an equal one is shared. */
  make(
    kind: ValueKind,
    prim: AnyPrimitive | null,
    params: unknown,
    args: readonly number[],
    shape: readonly number[],
    dtype: DType,
    position = 0,
    // Literals in a program of scalars are arguments of the value (ir.ts), so they are no part of its identity.
    paramsId = this.ids.paramsId(prim, params, kind === 'program'),
  ): number {
    const of = prim === null ? -1 : this.ids.id(prim)
    const code = [this.ids.id(kind), of, paramsId, position, this.ids.id(dtype), args.length]
    let constant = kind === 'scalar' && shape.length === 0 && args.length > 0
    for (let i = 0; i < args.length; i++) {
      const a = this.values[args[i]!]!
      code.push(a.kind === 'const' ? this.first(a.id) : a.id)
      if (!a.constant) constant = false
    }
    // The shape is no function of the rest: a scalar function of literals may be wanted at any shape.
    for (let i = 0; i < shape.length; i++) code.push(shape[i]!)
    const hash = this.codes.hash(code)
    const known = this.find(code, hash)
    return known >= 0 ? known : this.push(kind, shape, dtype, prim, params, args, constant, position, code, hash)
  }
  /** Where a value's elements lie. */
  viewOf(id: number): View {
    const v = this.values[id]!
    return v.view ?? { base: id, offset: 0, strides: stridesOf(v.shape) }
  }
  /** Another arrangement of the elements of `view.base`. */
  makeView(view: View, shape: readonly number[], dtype: DType): number {
    const base = this.values[view.base]!
    if (view.offset === 0 && sameShape(base.shape, shape) && contiguousIn(shape, view.strides)) return view.base
    const code = [-3, this.first(view.base), view.offset, shape.length, ...view.strides, ...shape]
    const hash = this.codes.hash(code)
    const known = this.find(code, hash)
    return known >= 0 ? known : this.push('view', shape, dtype, null, null, [view.base], false, 0, code, hash, view)
  }
  /** The same elements in a contiguous storage of their own. */
  copy(id: number): number {
    const v = this.values[id]!
    return this.make('copy', null, null, [id], v.shape, v.dtype)
  }
  isContiguous(id: number): boolean {
    const v = this.values[id]!
    return v.view === undefined || contiguousIn(v.shape, v.view.strides)
  }
  /** The literal that every element of a value equals; undefined otherwise. */
  splat(id: number): number | undefined {
    const v = this.values[id]!
    const base = v.view === undefined ? v : this.values[v.view.base]!
    if (base.kind !== 'const' || v.view?.strides.some((s, i) => s !== 0 && v.shape[i] !== 1)) return undefined
    return base.id
  }
  /** Number of a literal, or undefined. */
  literal(id: number): number | undefined {
    const c = this.splat(id)
    return c === undefined ? undefined : this.consts[this.values[c]!.position]!.number
  }
  /**
   * Structure of what `roots` need, numbered from the roots, so that it does not depend on the order of building: equal
   * expressions have equal keys. Numbers in constant slots are not part of it. `number` has those of the values, -1 where nothing needs one.
   */
  key(roots: readonly number[]): { readonly words: number[]; readonly number: Int32Array } {
    const { values, codes, ids } = this
    const number = new Int32Array(values.length).fill(-1)
    const words: number[] = []
    let count = 0
    const stack: number[] = []
    const next: number[] = []
    for (const root of roots) {
      if (number[root] !== -1) continue
      stack.push(root)
      next.push(0)
      while (stack.length > 0) {
        const top = stack.length - 1
        const v = values[stack[top]!]!
        const { args } = v
        let k = next[top]!
        while (k < args.length && number[args[k]!] !== -1) k++
        if (k < args.length) {
          next[top] = k + 1
          number[args[k]!] = -2
          stack.push(args[k]!)
          next.push(0)
          continue
        }
        stack.pop()
        next.pop()
        number[v.id] = count++
        const code = codes.of(v.id)
        if (v.kind === 'const') words.push(-2, ids.id(v.dtype))
        else if (code.length === 0) {
          words.push(-4, ids.id(v.dtype), v.shape.length)
          for (const d of v.shape) words.push(d)
        } else if (v.view !== undefined) {
          words.push(-3, number[v.view.base]!)
          for (let i = 2; i < code.length; i++) words.push(code[i]!)
        } else
          for (let i = 0; i < code.length; i++) {
            const a = i - HEAD
            words.push(a >= 0 && a < args.length ? number[args[a]!]! : code[i]!)
          }
      }
    }
    return { words, number }
  }
}
