/** Places: where each value's elements lie, before the storages have addresses. Parts of a concat and accumulators share storages. */

import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { contiguousIn, sameShape, stridesOf } from '../../core/graph/shape.js'
import type { SliceParams } from '../../core/ops/layout/slice.js'
import type { DType } from '../../core/types/dtype.js'
import { type Draft, spreadStrides, stillStrides, type Tile } from './body.js'
import type { Fused } from './fuse.js'
import type { ProductFormOf } from './kernel.js'
import { reshapeStrides } from './lower.js'
import type { BufferSpec } from './memory.js'
import { ALL_PASSES, type Without } from './passes.js'
import type { Operand } from './step.js'
import type { Ir, ItemBytes, Value } from './value.js'

/** Where a value that owns elements lies: its storage, an element offset, and its element strides. */
export interface Place {
  readonly storage: number
  readonly offset: number
  readonly strides: readonly number[]
  /** Elements by which it moves with each iteration of the loops around, the outermost first; absent where it stays. */
  readonly advance?: readonly number[]
}

/** Where a step's own values meet those around its loop: places of its inputs and outputs, slots of its literals. */
export interface Given {
  /** By value. Only the homes of what goes round may be written over. */
  readonly inputs: ReadonlyMap<number, Place>
  /** By position. */
  readonly outputs: readonly Place[]
  /** Of each literal, in order. */
  readonly slots: readonly number[]
}

/** A part of a place, or another arrangement of it. */
const moved = ({ storage, advance }: Place, offset: number, strides: readonly number[]): Place =>
  advance === undefined ? { storage, offset, strides } : { storage, offset, strides, advance }

/** A carry that goes round in one place. */
interface Home {
  readonly carry: number
  readonly place: Place
}

export class Places {
  private readonly places: (Place | undefined)[]
  private readonly values: readonly Value[]
  /** Slot of each literal. */
  private readonly slots: Int32Array
  /** Place in the order of the last unit that reads a value (a base); after all others for what the program returns. */
  private readonly lastRead: Float64Array
  /** Values that lie in each storage and may still be read. */
  private readonly residents = new Map<number, number[]>()
  /** Which arguments of a concat are made where they belong. */
  private readonly parts = new Map<number, Set<number>>()
  /** The carries that go round, by the storage that is the home of each. */
  private readonly homes = new Map<number, Home>()
  /** The home in which each next state belongs: by the value that owns its elements. */
  private readonly homeOf = new Map<number, Home>()

  /** `position` is each unit's place in the order: liveness before steps exist. */
  constructor(
    ir: Ir,
    private readonly fused: Fused,
    private readonly position: Int32Array,
    /** The storages of the whole plan, by number. */
    private readonly buffers: BufferSpec[],
    readonly itemBytes: ItemBytes,
    readonly without: Without = ALL_PASSES,
    given?: Given,
    /** How loops are cut into tiles. */
    readonly tile?: Tile,
    /** The forms of products. */
    readonly productForm?: (of: AnyPrimitive) => ProductFormOf | undefined,
  ) {
    this.values = fused.values
    this.places = new Array<Place | undefined>(this.values.length)
    this.slots = new Int32Array(this.values.length)
    ir.consts.forEach((c, i) => {
      this.slots[c.value] = given === undefined ? i : given.slots[i]!
    })
    this.lastRead = new Float64Array(this.values.length).fill(-1)
    for (let id = 0; id < this.values.length; id++) {
      const unit = fused.unitOf[id]!
      if (fused.live[id] === 0 || unit < 0) continue
      const { args } = this.values[id]!
      const at = position[unit]!
      for (let k = 0; k < args.length; k++) {
        const { base } = this.values[args[k]!]!
        if (at > this.lastRead[base]!) this.lastRead[base] = at
      }
    }
    for (const o of ir.outputs) this.lastRead[this.values[o]!.base] = Number.POSITIVE_INFINITY
    if (given === undefined) return
    for (const [id, place] of given.inputs) {
      this.put(id, place)
      if (ir.carried?.has(id) === true) this.homes.set(place.storage, { carry: id, place })
      // The next iteration reads it too.
      else this.lastRead[id] = Number.POSITIVE_INFINITY
    }
    // A result is made where it belongs, where it is all of the value behind it, in order; in a home when that is free (`own`).
    ir.outputs.forEach((id, i) => {
      const v = this.values[id]!
      const root = this.values[this.values[id]!.base]!
      const whole = v.size === root.size && (v.view === undefined || (v.view.offset === 0 && contiguousIn(v.shape, v.view.strides)))
      if (!whole || this.places[root.id] !== undefined) return
      const home = this.homes.get(given.outputs[i]!.storage)
      if (home !== undefined) this.homeOf.set(root.id, home)
      else this.lie(root, given.outputs[i]!)
    })
  }
  /** The value whose kernel or loop makes a value. */
  private makerOf(v: Value): Value {
    return v.kind === 'result' ? this.values[v.args[0]!]! : v
  }
  /** The slot of a literal. */
  slotOf(id: number): number {
    return this.slots[id]!
  }

  newStorage(size: number, dtype: DType): number {
    this.buffers.push({ bytes: size * this.itemBytes[dtype], dtype })
    return this.buffers.length - 1
  }
  /** The place of a value with a storage of its own, made when first asked for, which is when its kernel is emitted: its home where that is free by then. */
  own(v: Value): Place {
    const p = this.places[v.id]
    if (p !== undefined) return p
    const home = this.homeOf.get(v.id)
    if (home !== undefined && this.isFree(home, v)) return this.lie(v, home.place)
    return this.put(v.id, { storage: this.newStorage(v.size, v.dtype), offset: 0, strides: stridesOf(v.shape) })
  }
  /**
   * May the next state of a carry, as it is made, be written where the last one lies? Not while anything there is read later: neither the last state
   * nor what was made there since.
   */
  private isFree({ place }: Home, root: Value): boolean {
    if (this.without.has('carry') || root.kind === 'concat') return false
    return this.residents.get(place.storage)!.every((x) => this.isReadBefore(x, root))
  }
  /** Is a value read before `root` is made alone, or at the same points of the loop that makes it? */
  private isReadBefore(x: number, root: Value): boolean {
    const { unitOf, units, uses } = this.fused
    const unit = unitOf[this.makerOf(root).id]!
    const pointwise = units[unit]!.kind === 'loop' && (root.kind === 'scalar' || root.kind === 'copy')
    return uses.every(x, (user) => {
      const at = unitOf[user]!
      if (at !== unit) return this.position[at]! < this.position[unit]!
      return (
        pointwise &&
        this.values[user]!.args.every(
          (a) => this.values[a]!.base !== x || (this.values[a]!.view === undefined && sameShape(this.values[a]!.shape, root.shape)),
        )
      )
    })
  }
  private put(id: number, place: Place): Place {
    this.places[id] = place
    const known = this.residents.get(place.storage)
    if (known === undefined) this.residents.set(place.storage, [id])
    else known.push(id)
    return place
  }
  /** Is the value (a base) a result of the program? */
  returned(base: number): boolean {
    return this.lastRead[base] === Number.POSITIVE_INFINITY
  }

  /** Where the elements of any value lie: views composed with the place of their base. */
  placeOf(id: number): Place {
    const v = this.values[id]!
    if (v.view === undefined) {
      if (v.kind === 'const') return { storage: -1 - this.slots[id]!, offset: 0, strides: stillStrides(0) }
      return this.own(v)
    }
    const base = this.values[v.view.base]!
    if (base.kind === 'const') return { storage: -1 - this.slots[base.id]!, offset: 0, strides: stillStrides(v.view.strides.length) }
    const p = this.own(base)
    return moved(p, p.offset + v.view.offset, v.view.strides)
  }

  /** A place as an operand of a kernel that is no loop: its offset in bytes, and strides in bytes too. */
  operand({ storage, offset, advance }: Place, dtype: DType, strides: readonly number[]): Operand {
    const item = this.itemBytes[dtype]
    return advance === undefined
      ? { storage, offset: offset * item, strides }
      : { storage, offset: offset * item, strides, advance: advance.map((n) => n * item) }
  }

  /** A value as an operand of a loop over `shape`. */
  draft(id: number, shape: readonly number[]): Draft {
    const v = this.values[id]!
    const p = this.placeOf(id)
    return this.drafted(p, v.dtype, p.storage < 0 ? stillStrides(shape.length) : spreadStrides(p, v.shape, shape))
  }
  /** A place as an operand of a loop, with these strides along its axes. */
  drafted({ storage, offset, advance }: Place, dtype: DType, strides: readonly number[]): Draft {
    const item = this.itemBytes[dtype]
    return advance === undefined
      ? { storage, offset: offset * item, strides, dtype }
      : { storage, offset: offset * item, strides, dtype, advance: advance.map((n) => n * item) }
  }
  /** The part of a place that a slice reads. */
  region(whole: Place, p: SliceParams, dtype: Value['dtype']): Draft {
    const offset = p.starts.reduce((o, s, i) => o + s * whole.strides[i]!, whole.offset)
    return this.drafted(
      { ...whole, offset },
      dtype,
      whole.strides.map((s, i) => s * p.strides[i]!),
    )
  }

  /** Lets the producers of a concat's parts write into it directly, where that is possible. */
  placeParts(c: Value): void {
    if (this.without.has('parts')) return
    const whole = this.own(c)
    const axis = (c.params as { readonly axis: number }).axis
    let at = 0
    c.args.forEach((id, k) => {
      const v = this.values[id]!
      const offset = whole.offset + at * whole.strides[axis]!
      at += v.shape[axis]!
      const root = this.values[this.values[id]!.base]!
      const strides = this.stridesOfPart(whole, c, k)
      if (strides === undefined) return
      this.put(root.id, moved(whole, offset, strides))
      let made = this.parts.get(c.id)
      if (made === undefined) {
        made = new Set()
        this.parts.set(c.id, made)
      }
      made.add(k)
    })
  }
  /** Is argument k of a concat made where it belongs? */
  isPlaced(concat: number, k: number): boolean {
    return this.parts.get(concat)?.has(k) === true
  }
  /** Strides with which the value behind argument k of a concat can be made in it; undefined where it cannot. */
  private stridesOfPart(whole: Place, c: Value, k: number): readonly number[] | undefined {
    const id = c.args[k]!
    const v = this.values[id]!
    const root = this.values[this.values[id]!.base]!
    if (this.places[root.id] !== undefined || root.constant || !['scalar', 'copy', 'fold', 'gemm'].includes(root.kind)) return undefined
    if (this.returned(root.id)) return undefined
    // The part must be all of its root, in order.
    if (v.size !== root.size || (v.view !== undefined && !(v.view.offset === 0 && contiguousIn(v.shape, v.view.strides)))) return undefined
    // An accumulator's storage is its own.
    if ((root.kind === 'gemm' && root.args.length > 2) || (root.kind === 'fold' && root.args.length > 1)) return undefined
    const strides = sameShape(v.shape, root.shape) ? whole.strides : reshapeStrides(v.shape, whole.strides, root.shape)
    if (strides === undefined) return undefined
    if (contiguousIn(root.shape, strides)) return stridesOf(root.shape)
    if (root.kind === 'gemm' && (root.shape.length !== 2 || strides[1] !== 1)) return undefined
    return this.readByLoopsOnly(root, c, k) ? strides : undefined
  }
  /**
   * Is a value read by loops alone, and through no view but argument k of this concat? A view counts elements as if its base were
   * contiguous, and kernels other than loops read contiguous arrays.
   */
  private readByLoopsOnly(root: Value, c: Value, k: number): boolean {
    return this.fused.uses.every(root.id, (u) => {
      const user = this.values[u]!
      if (!['scalar', 'copy', 'fold', 'concat'].includes(user.kind)) return false
      return user.args.every(
        (a, j) => this.values[a]!.view === undefined || this.values[a]!.base !== root.id || (user.id === c.id && j === k),
      )
    })
  }

  /**
   * Makes `v` live where acc lies; false when it cannot. Nothing else that lies in that storage may be read from now on (it may be a part
   * of a concat, or an accumulator's earlier state, as long as that is dead), and the kernel that makes v may read acc in no other way.
   */
  takeOver(unit: number, v: Value, acc: number): boolean {
    if (this.places[v.id] !== undefined) return false
    const place = this.vacated(unit, v, acc, v)
    if (place !== undefined) this.lie(v, place)
    return place !== undefined
  }
  /** Makes a value lie at a contiguous place. */
  lie(v: Value, place: Place): Place {
    return this.put(v.id, moved(place, place.offset, stridesOf(v.shape)))
  }
  /**
   * The place of acc, when the kernel or loop of `v`, in this unit, may write over it; undefined when it may not. `state` is what lies there afterwards. In the
   * home of a carry that is its next state, or what is dead when the next state is copied there.
   */
  vacated(unit: number, v: Value, acc: number, state: Value | undefined): Place | undefined {
    if (this.without.has('takeOver')) return undefined
    const base = this.values[this.values[acc]!.base]!
    if (base.kind === 'const' || base.constant) return undefined
    const now = this.position[unit]!
    if (v.args.filter((a) => this.values[a]!.base === base.id).length !== 1) return undefined
    const others = this.fused.uses.some(base.id, (x) => x !== v.id && this.position[this.fused.unitOf[x]!]! >= now)
    const place = this.placeOf(acc)
    if (others || this.returned(base.id) || !contiguousIn(this.values[acc]!.shape, place.strides)) return undefined
    const home = this.homes.get(place.storage)
    if (home !== undefined && state !== undefined && this.returned(state.id) && this.homeOf.get(state.id) !== home) return undefined
    // Units come in order: what is dead now stays so.
    const alive = this.residents.get(place.storage)!.filter((x) => this.lastRead[x]! >= now)
    this.residents.set(place.storage, alive)
    return alive.some((x) => x !== base.id) ? undefined : place
  }
}
