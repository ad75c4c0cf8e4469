/** A loop's steps: where its carry goes round, what each iteration reads of arrays and writes to them, and the body between. */
import { stridesOf } from '../../core/graph/shape.js'
import type { Given, Place, Places } from './places.js'
import { type Loop, type Repeat, walkedRows } from './repeat.js'
import type { Step } from './step.js'
import type { Ir, Value } from './value.js'

/** The values around a loop, and how steps are emitted for them. */
export interface Around {
  readonly values: readonly Value[]
  readonly places: Places
  readonly steps: readonly Step[]
  readonly loops: Loop[]
  /** Loops around these values. */
  readonly depth: number
  /** A step that copies a value to a place. */
  readonly copy: (id: number, to: Place) => void
  readonly body: (body: Ir, given: Given, depth: number) => void
}

/** Where a carry lies: for an iteration that reads it, and for the one that comes next; `end`: after the last. */
interface Home {
  readonly before: Place
  readonly after: Place
  readonly end: Place
  /** Rows that it walks along: they are made already. */
  readonly rows: readonly number[]
}

class RepeatEmitter {
  constructor(
    private readonly at: Around,
    private readonly unit: number,
    private readonly v: Value,
    /** Results that something reads, by position. */
    private readonly results: ReadonlyMap<number, Value>,
  ) {}
  private get repeat(): Repeat {
    return this.v.params as Repeat
  }

  emit(): void {
    const { at, v, results } = this
    const { body, count, carries, slices } = this.repeat
    const homes = Array.from({ length: carries }, (_, i) => this.homeOf(i))
    const made = new Set(homes.flatMap((h) => h.rows))
    const placeOf = (i: number): Place => at.places.placeOf(v.args[i]!)
    const input = (i: number): Place =>
      i < carries ? homes[i]!.before : i < carries + slices ? this.row(placeOf(i)) : this.still(placeOf(i))
    const inputs = new Map(body.inputs.flatMap((id, i): [number, Place][] => (id < 0 ? [] : [[id, input(i)]])))
    const outputs = body.outputs.map((_, i): Place | undefined => {
      if (i < carries) return homes[i]!.after
      const row = results.get(i)
      return row === undefined || made.has(i) ? undefined : this.row(at.places.own(row))
    })
    const slots = v.args.slice(body.inputs.length).map((a) => at.places.slotOf(a))
    const first = at.steps.length
    at.body(body, { inputs, outputs, slots }, at.depth + 1)
    const end = at.steps.length
    if (end > first) at.loops.push({ first, end, count, depth: at.depth })
    for (const [i, { end: place }] of homes.entries()) {
      const result = results.get(i)
      if (result !== undefined) at.places.lie(result, place)
    }
  }

  /** One entry for each loop around. */
  private moves(p: Place): readonly number[] {
    return Array.from({ length: this.at.depth }, (_, d) => p.advance?.[d] ?? 0)
  }
  /** A place that is the same in every iteration. */
  private still(p: Place): Place {
    return p.advance === undefined ? p : { ...p, advance: [...this.moves(p), 0] }
  }
  /** The part of an array that an iteration has. */
  private row(p: Place): Place {
    const { count, reverse } = this.repeat
    const [by, ...strides] = p.strides as readonly [number, ...number[]]
    return { ...p, offset: reverse ? p.offset + (count - 1) * by : p.offset, strides, advance: [...this.moves(p), reverse ? -by : by] }
  }

  private homeOf(i: number): Home {
    const { v, results } = this
    const { body, carries } = this.repeat
    const rows = walkedRows(body, carries, i).filter(({ row }) => results.has(row))
    return rows.length > 0 ? this.walks(i, rows) : this.goesRound(v.args[i]!)
  }
  /** In one place: that of what it begins with where nothing else reads that, else in a copy of it. */
  private goesRound(begin: number): Home {
    const { at, unit, v } = this
    const { size, dtype, shape } = at.values[begin]!
    const taken = at.places.vacated(unit, v, begin)
    const home: Place = { ...(taken ?? { storage: at.places.newStorage(size, dtype), offset: 0 }), strides: stridesOf(shape) }
    if (taken === undefined) at.copy(begin, home)
    const place = this.still(home)
    return { before: place, after: place, end: home, rows: [] }
  }
  /** Along the rows that hold it step by step, of which there is one more than steps: each step reads one row, and makes the next. Nothing is copied. */
  private walks(i: number, rows: ReturnType<typeof walkedRows>): Home {
    const { at, v, results } = this
    const { count, reverse } = this.repeat
    const begin = v.args[i]!
    const { size, dtype, shape } = at.values[begin]!
    const storage = at.places.newStorage((count + 1) * size, dtype)
    const strides = stridesOf(shape)
    const row = (k: number): Place => ({ storage, offset: k * size, strides })
    const [first, last] = reverse ? [count, 0] : [0, count]
    const by = reverse ? -1 : 1
    const walking = (k: number): Place => ({ ...row(k), advance: [...this.moves(row(k)), by * size] })
    at.copy(begin, row(first))
    for (const { row: r, found } of rows) at.places.lie(results.get(r)!, row(found === reverse ? 1 : 0))
    return { before: walking(first), after: walking(first + by), end: row(last), rows: rows.map(({ row: r }) => r) }
  }
}

/** Emits the steps of a value of kind `repeat`, in this unit. */
export const emitRepeat = (at: Around, unit: number, v: Value, results: ReadonlyMap<number, Value>): void =>
  new RepeatEmitter(at, unit, v, results).emit()
