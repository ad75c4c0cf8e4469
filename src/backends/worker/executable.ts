/** Programs and arrays that a worker holds, as the page sees them. */
import { badInput, raise } from '../../core/errors/explain.js'
import type { AsyncExecutable, DeviceArray, Elements, Explanation } from '../../core/functions/backend.js'
import { onADevice } from '../../core/functions/device-tensor.js'
import type { NDArray, TypedArray } from '../../core/graph/ndarray.js'
import type { Program } from '../../core/graph/program.js'
import type { JSONValue } from '../../core/types/program.js'
import type { Connection } from './connection.js'
import { sentProgram } from './program.js'

/** What a worker holds under a number, until it is told to forget it. */
interface Held {
  readonly connection: Connection
  readonly id: number
}
/** The worker forgets what nobody here has any more. */
const forgotten = /*#__PURE__*/ new FinalizationRegistry<Held>(({ connection, id }) => connection.forget(id))

/** Elements with a buffer of their own, since a message copies whole buffers and shares those that are shared. */
const own = (x: TypedArray): TypedArray =>
  x.buffer instanceof ArrayBuffer && x.byteLength === x.buffer.byteLength ? x : (x.slice() as TypedArray)

/** Elements that a worker holds. */
export class WorkerArray implements DeviceArray {
  readonly backend = 'worker'
  private disposed = false
  private constructor(private readonly held: Held) {
    forgotten.register(this, held, this)
  }
  static async place(connection: Connection, { data, dtype, shape }: NDArray): Promise<WorkerArray> {
    // Before the worker listens nothing is copied yet, and the array is the caller's.
    const sent = connection.listens ? own(data) : (data.slice() as TypedArray)
    const { id, back } = connection.ask('place', { data: sent, dtype, shape })
    await back
    return new WorkerArray({ connection, id })
  }
  /** Its number in this worker; an error where it is not there. */
  on(connection: Connection, where: string): number {
    if (this.disposed) badInput(where, 'a tensor was disposed.', 'place it with onDevice again.')
    if (this.held.connection !== connection) {
      this.held.connection.alive()
      badInput(where, 'a tensor is in another worker.', 'read it back with onHost, and place it in this one.')
    }
    return this.held.id
  }
  async read(): Promise<TypedArray> {
    const { connection } = this.held
    return connection.ask('read', { array: this.on(connection, 'onHost') }).back
  }
  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    forgotten.unregister(this)
    const { connection, id } = this.held
    connection.forget(id)
  }
}
const arrayOf = (x: Elements, where: string): WorkerArray =>
  x instanceof WorkerArray
    ? x
    : badInput(where, 'a tensor is on the device of another backend.', 'read it back with onHost, and place it in this worker.')

/** A program in a worker. */
interface There extends Held {
  readonly bytes: number | undefined
}

/** The page's own bytes of a program beside the worker's, about. */
const NODE_BYTES = 400

export class WorkerExecutable implements AsyncExecutable {
  readonly takes = true
  private there: Promise<There> | undefined
  private disposed = false
  private weight = 0

  private constructor(
    private readonly program: Program,
    /** The worker that runs now: another one after a loss. */
    private readonly connection: () => Connection,
  ) {}
  static async make(program: Program, connection: () => Connection): Promise<WorkerExecutable> {
    // Told before it waits: the page's work is done in the call.
    const made = new WorkerExecutable(program, connection)
    await made.prepared(connection(), sentProgram(program))
    return made
  }
  get bytes(): number {
    return this.weight
  }

  private on: Connection | undefined
  /** The program in this worker. */
  private prepared(connection: Connection, data?: JSONValue): Promise<There> {
    if (this.there !== undefined && this.on === connection) return this.there
    const { id, back } = connection.ask('prepare', { program: data ?? sentProgram(this.program) })
    this.on = connection
    this.there = back.then(({ bytes }) => {
      const there = { connection, id, bytes }
      this.weight = (bytes ?? 0) + NODE_BYTES * (this.program.inputs.length + this.program.outputs.length)
      if (this.disposed) connection.forget(id)
      else forgotten.register(this, there, this)
      return there
    })
    this.there.catch(() => {
      if (this.on === connection) this.there = undefined
    })
    return this.there
  }
  private ready(): Promise<There> {
    if (this.disposed) badInput(this.program.name, 'this compiled function was disposed.', 'compile it again.')
    return this.prepared(this.connection())
  }

  async run(inputs: readonly Elements[], into?: readonly Elements[], accumulate = false): Promise<readonly Elements[]> {
    const { connection, id: program } = await this.ready()
    const numberOf = (x: Elements, where: string): number => arrayOf(x, where).on(connection, where)
    const sent = inputs.map((x) => (onADevice(x) ? numberOf(x, this.program.name) : own(x)))
    const made = await connection.ask(
      'run',
      { program, inputs: sent, into: into?.map((x) => (onADevice(x) ? numberOf(x, 'into') : undefined)) },
      sent.filter((x) => typeof x !== 'number'),
    ).back
    if (into === undefined) return made
    let next = 0
    for (const target of into) {
      if (onADevice(target)) continue
      const y = made[next++]!
      if (!accumulate) target.set(y as never)
      else for (let j = 0; j < y.length; j++) target[j]! += y[j]!
    }
    return into
  }
  async explain(): Promise<Explanation> {
    const { connection, id: program } = await this.ready()
    return { ...(await connection.ask('explain', { program }).back), backend: 'worker' }
  }
  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    forgotten.unregister(this)
    const { there } = this
    this.there = undefined
    void there?.then(
      ({ connection, id }) => connection.forget(id),
      () => undefined,
    )
  }
}

/** Raises where a storage is asked for that a worker does not have. */
export const onlyF32 = (storage: string | undefined): void => {
  if (storage === 'f16')
    raise({ _tag: 'Unsupported', backend: 'worker', what: 'storage as f16', fix: "leave out storage: 'f16', or use webgpu()." })
}
