/** The programs and arrays that a worker holds, and what it answers. */
import { type AdError, isAdException } from '../../core/errors/error.js'
import { badInput, raise } from '../../core/errors/explain.js'
import type { Executable, SyncBackend } from '../../core/functions/backend.js'
import { allocate, type TypedArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { Program } from '../../core/graph/program.js'
import { programFromJSON } from '../../core/programs/decode.js'
import { buffersOf } from './channel.js'
import { type Asked, type Failure, type Kind, PROTOCOL, type Request, type Said, type Sent } from './protocol.js'

type Find = (name: string) => AnyPrimitive | undefined
interface Held {
  readonly program: Program
  readonly executable: Executable
}
/** Elements between calls: `data` is read anew for each, since the backend's memory moves when it grows. */
interface Kept {
  readonly data: TypedArray
  readonly dispose?: () => void
}

/** Raises where a program, or one within, applies a primitive that is not known here. */
const known = (u: unknown, find: Find): void => {
  const { nodes } = (u ?? {}) as { readonly nodes?: readonly { readonly apply?: unknown; readonly programs?: readonly unknown[] }[] }
  for (const { apply, programs } of nodes ?? []) {
    if (typeof apply === 'string' && find(apply) === undefined)
      raise({
        _tag: 'MissingKernel',
        primitive: apply.replace(/^.*\//, ''),
        backend: 'worker',
        reason: 'the worker does not know this primitive.',
        fix: "give it in the worker's file: serve({ primitives: [...], backend: cpu({ kernels }) }).",
      })
    for (const p of programs ?? []) known(p, find)
  }
}

const failureOf = (e: unknown): Failure => {
  if (!isAdException(e)) return { message: e instanceof Error ? e.message : String(e) }
  // A line of this thread is none of the user's.
  const { site: _site, ...error } = e.error as AdError & { readonly site?: unknown }
  return { error: error as AdError }
}

/** What a worker answers: each request is handled whole before the next. */
export class Served {
  private readonly programs = new Map<number, Held>()
  private readonly arrays = new Map<number, Kept>()
  private readonly read: (u: unknown) => ReturnType<ReturnType<typeof programFromJSON>>

  constructor(
    private readonly backend: SyncBackend,
    private readonly find: Find,
  ) {
    this.read = programFromJSON(find)
  }

  /** The answer, and what of it is given away. */
  answer({ codual, id, kind, sent }: Request): { readonly said: Said; readonly transfer: readonly ArrayBuffer[] } {
    try {
      if (codual !== PROTOCOL)
        badInput(
          'worker',
          `its copy of codual is another than the page's (protocol ${PROTOCOL}, not ${codual}).`,
          'build both from one version.',
        )
      const back = this.handlers[kind](sent as never, id)
      const arrays = kind === 'run' || kind === 'read' ? ([back].flat() as TypedArray[]) : []
      return { said: { codual: PROTOCOL, id, back }, transfer: buffersOf(arrays) }
    } catch (e) {
      return { said: { codual: PROTOCOL, id, failure: failureOf(e) }, transfer: [] }
    }
  }

  private readonly handlers: { readonly [K in Kind]: (sent: Asked[K]['sent'], id: number) => Asked[K]['back'] } = {
    prepare: ({ program: data }, id) => {
      known(data, this.find)
      const program = this.read(data)
      if (program._tag === 'Left') return raise(program.left)
      const executable = this.backend.prepare(program.right)
      this.programs.set(id, { program: program.right, executable })
      return { bytes: executable.bytes }
    },
    run: ({ program: number, inputs, into }) => {
      const { program, executable } = this.held(number)
      const given = inputs.map((x) => this.elements(x))
      if (into === undefined || into.every((x) => x === undefined)) return executable.run(given)
      const targets = program.outputs.map((o, i) => (into[i] === undefined ? allocate(o.dtype, o.aval.size) : this.elements(into[i])))
      executable.run(given, targets)
      return targets.filter((_, i) => into[i] === undefined)
    },
    explain: ({ program }) => this.held(program).executable.explain(),
    place: ({ data, dtype, shape }, id) => {
      this.arrays.set(id, this.backend.keep?.({ data, dtype, shape }) ?? { data })
      return undefined
    },
    read: ({ array }) => this.elements(array).slice() as TypedArray,
    forget: ({ of }) => {
      this.programs.get(of)?.executable.dispose()
      this.programs.delete(of)
      this.arrays.get(of)?.dispose?.()
      this.arrays.delete(of)
      return undefined
    },
  }
  private held(of: number): Held {
    return this.programs.get(of) ?? badInput('worker', 'the program was disposed.', 'compile it again.')
  }
  private elements(x: Sent): TypedArray {
    if (typeof x !== 'number') return x
    return this.arrays.get(x)?.data ?? badInput('worker', 'a tensor was disposed.', 'place it with onDevice again.')
  }
}
