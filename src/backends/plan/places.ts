/** Places: where each value's elements lie, before the storages have addresses. Parts of a concat and accumulators share storages. */
import type { SliceParams } from '../../core/ops/layout.js'
import { sameShape, sizeOf, stridesOf } from '../../core/shape.js'
import type { DType } from '../../core/types/dtype.js'
import { type Draft, spreadStrides } from './body.js'
import type { Fused } from './fuse.js'
import { reshapeStrides } from './lower.js'
import type { Room } from './memory.js'
import type { Ir, ItemBytes, Value } from './value.js'

/** Where a value that owns elements lies: its storage, an element offset, and its element strides. */
export interface Place {
  readonly storage: number
  readonly offset: number
  readonly strides: readonly number[]
}

const contiguous = (shape: readonly number[], strides: readonly number[]): boolean =>
  stridesOf(shape).every((s, i) => s === strides[i] || shape[i] === 1) || sizeOf(shape) === 0

/** Strides of literals: none, or nought along every axis. */
const NONE: readonly number[] = []
const still: readonly (readonly number[])[] = Array.from({ length: 8 }, (_, n) => new Array<number>(n).fill(0))
const stillStrides = (rank: number): readonly number[] => still[rank] ?? new Array<number>(rank).fill(0)

export class Places {
  /** The storages, by number. */
  readonly rooms: Room[] = []
  private readonly places: (Place | undefined)[]
  private readonly values: readonly Value[]
  /** Slot of each literal. */
  private readonly slots: Int32Array
  /** Values (resolved to their base) that the program returns. */
  private readonly isOutput: Uint8Array
  /** Storages that hold a program output, once it has a place: the bases. */
  private readonly outputs: readonly number[]

  /** `rank` is each unit's place in the order: liveness before steps exist. */
  constructor(
    ir: Ir,
    private readonly fused: Fused,
    private readonly rank: Int32Array,
    readonly itemBytes: ItemBytes,
  ) {
    this.values = fused.values
    this.places = new Array<Place | undefined>(this.values.length)
    this.slots = new Int32Array(this.values.length)
    ir.consts.forEach((c, i) => {
      this.slots[c.value] = i
    })
    this.outputs = [...new Set(ir.outputs.map((o) => this.values[o]!.view?.base ?? o))]
    this.isOutput = new Uint8Array(this.values.length)
    for (const o of this.outputs) this.isOutput[o] = 1
  }

  newStorage(size: number, dtype: DType): number {
    this.rooms.push({ bytes: size * this.itemBytes[dtype], dtype })
    return this.rooms.length - 1
  }
  /** The place of a value with a storage of its own, made when first asked for. */
  own(v: Value): Place {
    const p = this.places[v.id]
    if (p !== undefined) return p
    const made: Place = { storage: this.newStorage(v.size, v.dtype), offset: 0, strides: stridesOf(v.shape) }
    this.places[v.id] = made
    return made
  }
  /** Is the value (a base) a result of the program? */
  returned(base: number): boolean {
    return this.isOutput[base] === 1
  }

  /** Where the elements of any value lie: views composed with the place of their base. */
  placeOf(id: number): Place {
    const v = this.values[id]!
    if (v.view === undefined) {
      if (v.kind === 'const') return { storage: -1 - this.slots[id]!, offset: 0, strides: NONE }
      return this.own(v)
    }
    const base = this.values[v.view.base]!
    if (base.kind === 'const') return { storage: -1 - this.slots[base.id]!, offset: 0, strides: stillStrides(v.view.strides.length) }
    const p = this.own(base)
    return { storage: p.storage, offset: p.offset + v.view.offset, strides: v.view.strides }
  }

  /** A value as an operand of a loop over `shape`. */
  draft(id: number, shape: readonly number[]): Draft {
    const v = this.values[id]!
    const p = this.placeOf(id)
    return {
      storage: p.storage,
      offset: p.offset * this.itemBytes[v.dtype],
      strides: p.storage < 0 ? stillStrides(shape.length) : spreadStrides({ base: id, offset: 0, strides: p.strides }, v.shape, shape),
      dtype: v.dtype,
    }
  }
  /** The part of a place that a slice reads. */
  region(whole: Place, p: SliceParams, dtype: Value['dtype']): Draft {
    const offset = p.starts.reduce((o, s, i) => o + s * whole.strides[i]!, whole.offset)
    return {
      storage: whole.storage,
      offset: offset * this.itemBytes[dtype],
      strides: whole.strides.map((s, i) => s * p.strides[i]!),
      dtype,
    }
  }

  /** Lets the producers of a concat's parts write into it directly, where that is possible. */
  placeParts(c: Value): void {
    const whole = this.own(c)
    const axis = (c.params as { readonly axis: number }).axis
    let at = 0
    for (const id of c.args) {
      const v = this.values[id]!
      const offset = whole.offset + at * whole.strides[axis]!
      at += v.shape[axis]!
      const root = this.values[v.view?.base ?? id]!
      if (this.places[root.id] !== undefined || root.constant || !['scalar', 'copy', 'fold', 'gemm'].includes(root.kind)) continue
      if (this.returned(root.id)) continue
      // The part must be all of its root, in order.
      if (v.size !== root.size || (v.view !== undefined && !(v.view.offset === 0 && contiguous(v.shape, v.view.strides)))) continue
      const accumulates = root.args.length > (root.kind === 'gemm' ? 2 : root.kind === 'fold' ? 1 : 9)
      if (accumulates) continue
      const strides = sameShape(v.shape, root.shape) ? whole.strides : reshapeStrides(v.shape, whole.strides, root.shape)
      if (strides === undefined) continue
      const block = contiguous(root.shape, strides)
      if (!block) {
        const viewed = this.values.some((w) => this.fused.live[w.id] === 1 && w.view?.base === root.id && w.id !== id)
        const readers = this.fused.uses.every(root.id, (u) => ['scalar', 'copy', 'fold', 'concat'].includes(this.values[u]!.kind))
        if (viewed || !readers || (root.kind === 'gemm' && (root.shape.length !== 2 || strides[1] !== 1))) continue
      }
      this.places[root.id] = { storage: whole.storage, offset, strides: block ? stridesOf(root.shape) : strides }
    }
  }

  /** Makes `v` live in acc's storage, when this is acc's last reader; false when it cannot. */
  takeOver(unit: number, v: Value, acc: number): boolean {
    const a = this.values[acc]!
    const base = this.values[a.view?.base ?? acc]!
    const place = a.kind === 'const' || base.kind === 'const' || base.constant ? undefined : this.placeOf(acc)
    const last = this.fused.uses.every(base.id, (x) => x === v.id || this.rank[this.fused.unitOf[x]!]! < this.rank[unit]!)
    // A value whose storage holds other values too (a part of a concat, an accumulator's earlier state) is fine as long as those are dead.
    if (
      place !== undefined &&
      last &&
      !this.returned(base.id) &&
      this.places[v.id] === undefined &&
      contiguous(v.shape, place.strides) &&
      this.storageFree(place.storage, base.id)
    ) {
      this.places[v.id] = { storage: place.storage, offset: place.offset, strides: stridesOf(v.shape) }
      return true
    }
    return false
  }
  /** No program output lies in this storage except through the value itself. */
  private storageFree(storage: number, base: number): boolean {
    return !this.outputs.some((root) => root !== base && this.places[root]?.storage === storage)
  }
}
