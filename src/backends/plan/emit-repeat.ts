/** A loop's steps: where its carry goes round, what each iteration reads of arrays and writes to them, and the body between. */
import { stridesOf } from '../../core/graph/shape.js'
import type { Copy } from './emit.js'
import type { Given, Place, Places } from './places.js'
import { type Carry, type Loop, type Repeat, walkedRows } from './repeat.js'
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
  /** Steps that copy values, of which none is written where another is read. */
  readonly copyAll: (copies: readonly Copy[]) => void
  /** Emits a step's values, and says when each of its first inputs was last read. */
  readonly body: (body: Ir, given: Given, depth: number) => (input: number) => number
}

/**
 * Where a carry lies: for an iteration that reads it, and for the one that comes next. `round`: these are one place, which holds
 * the next state when nothing reads the last one any more.
 */
interface Home {
  readonly before: Place
  readonly after: Place
  readonly round: boolean
}

class RepeatEmitter {
  /** What is copied before the first iteration. */
  private readonly copies: Copy[] = []

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

  emit(): number {
    const { at, v, results } = this
    const { body, count, carries, slices } = this.repeat
    const homes = Array.from({ length: carries }, (_, i) => this.homeOf(i))
    const placeOf = (i: number): Place => at.places.placeOf(v.args[i]!)
    const input = (i: number): Place =>
      i < carries ? homes[i]!.before : i < carries + slices ? this.row(placeOf(i)) : this.still(placeOf(i))
    const inputs = new Map(body.inputs.flatMap((id, i): [number, Place][] => (id < 0 ? [] : [[id, input(i)]])))
    // Rows that nothing reads, once small programs are written out, are not made.
    const made = body.outputs.flatMap((_, i) => (i < carries || results.has(i) ? [i] : []))
    const outputs = made.map((i) => (i < carries ? homes[i]!.after : this.row(at.places.own(results.get(i)!))))
    const carried = new Set(homes.flatMap(({ round }, i) => (round && body.inputs[i]! >= 0 ? [body.inputs[i]!] : [])))
    const literals = v.args.slice(body.inputs.length)
    const slots = body.consts.map((_, i) => at.places.slotOf(literals[i]!))
    // Rows of steps that are left out are zeros.
    for (const [i, none] of literals.slice(body.consts.length).entries()) {
      const rows = results.get(carries + i)
      if (rows !== undefined) this.copies.push({ id: none, to: at.places.own(rows), shape: rows.shape })
    }
    at.copyAll(this.copies)
    const first = at.steps.length
    const lastRead = at.body({ ...body, outputs: made.map((i) => body.outputs[i]!), carried }, { inputs, outputs, slots }, at.depth + 1)
    const end = at.steps.length
    const states = homes.map((h, i): Carry => ({ storage: h.before.storage, round: h.round, lastRead: lastRead(body.inputs[i]!) }))
    if (end > first) at.loops.push({ first, end, count, depth: at.depth, carries: states, ...this.flag(homes, placeOf) })
    return first
  }

  /** What says whether an iteration is taken. */
  private flag(homes: readonly Home[], placeOf: (i: number) => Place): Pick<Loop, 'flag'> {
    const { carries, until, masked } = this.repeat
    if (until === undefined) return {}
    const ends = until < carries
    const place = ends ? homes[until]!.before : this.row(placeOf(until))
    return { flag: { ...this.at.places.operand(place, 'bool', []), ends, masked } }
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
    const { body, carries } = this.repeat
    const rows = walkedRows(body, carries, i).filter(({ row }) => this.results.has(row))
    return rows.length > 0 ? this.walks(i, rows) : this.goesRound(this.v.args[i]!, this.results.get(i))
  }
  /** In one place: that of what it begins with where nothing else reads that, else in a copy of it, where its last state belongs. */
  private goesRound(begin: number, result: Value | undefined): Home {
    const { at, unit, v } = this
    const { size, dtype, shape } = at.values[begin]!
    const taken = at.places.vacated(unit, v, begin, result)
    const strides = stridesOf(shape)
    const home: Place =
      result === undefined
        ? { ...(taken ?? { storage: at.places.newStorage(size, dtype), offset: 0 }), strides }
        : taken === undefined
          ? at.places.own(result)
          : at.places.lie(result, taken)
    if (taken === undefined) this.copies.push({ id: begin, to: home, shape })
    const place = this.still(home)
    return { before: place, after: place, round: true }
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
    this.copies.push({ id: begin, to: row(first), shape })
    for (const { row: r, found } of rows) at.places.lie(results.get(r)!, row(found === reverse ? 1 : 0))
    const result = results.get(i)
    if (result !== undefined) at.places.lie(result, row(last))
    return { before: walking(first), after: walking(first + by), round: false }
  }
}

/** Emits the steps of a value of kind `repeat`, in this unit; says at which step it begins. */
export const emitRepeat = (at: Around, unit: number, v: Value, results: ReadonlyMap<number, Value>): number =>
  new RepeatEmitter(at, unit, v, results).emit()
