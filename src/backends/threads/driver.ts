/** How threads share a step: code that takes parts of the open job one after the other, on every thread the same, until there are no more. */
import { forkRecord, moveEntry } from '../cpu/records.js'
import { type FuncRef, type FunctionBuilder, type Limits, type Local, Module, type Operand } from '../cpu/wasm/encoder.js'
import { address } from '../cpu/wasm/float.js'
import * as OP from '../cpu/wasm/opcodes.js'
import { addressOf, type control, RECORD, RECORDS } from './control.js'

/** Codes of atomic accesses, and log2 of their alignment. */
const NOTIFY = [0x00, 2] as const
const WAIT = [0x01, 2] as const
const LOAD = [0x10, 2] as const
const LOAD64 = [0x11, 3] as const
const STORE = [0x17, 2] as const
const STORE64 = [0x18, 3] as const
const ADD = [0x1e, 2] as const
const EXCHANGE64 = [0x49, 3] as const

/** Looks at the memory before a thread without work sleeps, about 20 microseconds; and before a caller that waits asks whether others still run. */
const LOOKS = 10_000
const ASK = 2 ** 24
/** Microseconds of jobs that the caller runs alone after a long wait: at first, and at most. */
const LEAST_ALONE = 2000
const MOST_ALONE = 100_000
/** From such a time on a long wait is not the first, and the caller runs alone so many times as long as it has waited, at least: waits are then a twentieth of the time. */
const OFTEN = 5000
const COST = 20
/** In the place of the next part, where no job is open. */
const CLOSED = 0x7fff_ffff

/** What the calling thread asks of JavaScript: each may throw. */
export interface Asked {
  /** Others have been running their parts for long. */
  readonly late: () => void
  /** A thread ended within a part. */
  readonly failed: () => void
  /** A job was left open, by an error in a part of the caller. */
  readonly left: () => void
}
/** What the driver exports. */
export interface Driver {
  /** A kernel: runs the step of a forkRecord, with the other threads. */
  readonly fork: (record: number) => void
  /** Of another thread: takes parts and sleeps, until there is a message that it has not seen. */
  readonly work: (thread: number, version: number) => void
}

/** An unsigned number as one of 64 bits. */
const wide =
  (f: FunctionBuilder, x: Operand): (() => unknown) =>
  () =>
    f.op(OP.i64_extend_i32_u, x)

/** The words of the control block. */
class Words {
  constructor(private readonly f: FunctionBuilder) {}
  load(word: keyof typeof control.at): () => unknown {
    return () => this.f.i32Const(addressOf(word)).atomic(...LOAD)
  }
  store(word: keyof typeof control.at, value: Operand): void {
    this.f
      .i32Const(addressOf(word))
      .push(value)
      .atomic(...STORE)
  }
  /** Adds to a word, and leaves on the stack what it was. */
  add(word: keyof typeof control.at, value: Operand): () => unknown {
    return () =>
      this.f
        .i32Const(addressOf(word))
        .push(value)
        .atomic(...ADD)
  }
  /** The next part and the epoch. */
  ticket(): () => unknown {
    return () => this.f.i32Const(addressOf('next')).atomic(...LOAD64)
  }
  issue(epoch: Operand, next: number): void {
    const { f } = this
    f.i32Const(addressOf('next'))
    f.op(OP.i64_or, () => f.op(OP.i64_shl, wide(f, epoch), wide(f, 32)), wide(f, next)).atomic(...STORE64)
  }
}

/** take(thread, version): runs parts of the open job until there are no more, or there is a message that this thread has not seen. */
const emitTake = (m: Module): FunctionBuilder => {
  const f = m.func(undefined, ['i32', 'i32'])
  const { thread, version } = f.namedParameters('thread version')
  const { job, parts, part, own, k, move, at, n } = f.namedLocals('i32', 'job parts part own k move at n')
  const ticket = f.local('i64')
  const i32 = address(f)
  const words = new Words(f)
  const field = (word: keyof typeof forkRecord.at) => () => f.get(job).i32Load(4 * forkRecord.at[word])
  const own_ = (offset: Operand) => () => f.op(OP.i32_add, own, offset)
  f.set(own, i32.add(i32.mul(thread, RECORD), RECORDS))
  f.loop((again) => {
    f.set(ticket, words.ticket())
    f.op(OP.i32_wrap_i64, ticket).set(part)
    f.set(job, words.load('job')).set(parts, field('parts'))
    // Where no job is open, the record may be anything by now; what is read here of a job that another replaces is not used, since then the exchange fails.
    f.ifThen(i32.or(i32.eq(part, CLOSED), i32.atLeast(part, parts)), () => f.op(OP.return))
    f.ifThen(i32.ne(words.load('version'), version), () => f.op(OP.return))
    f.i32Const(addressOf('next'))
      .get(ticket)
      .op(OP.i64_add, ticket, wide(f, 1))
      .atomic(...EXCHANGE64)
    f.get(ticket).op(OP.i64_ne).brIf(again)
    reorder(f, words, part, parts)
    // This thread's copy of the record, moved to the part.
    f.get(own)
      .push(field('record'))
      .push(i32.mul(field('words'), 4))
      .memoryCopy()
    f.set(move, field('moves')).set(k, field('moving'))
    const moved = (word: number) => () => f.get(move).i32Load(4 * word)
    f.ifThen(k, () =>
      f.countDown(k, () => {
        f.set(at, own_(moved(moveEntry.at.word)))
        f.get(at)
        f.op(OP.i32_add, () => f.get(at).i32Load(), i32.mul(part, moved(moveEntry.at.by))).i32Store()
        f.increment(move, 4 * moveEntry.words)
      }),
    )
    f.set(at, own_(field('axis'))).set(n, field('units'))
    f.ifThen(i32.eq(i32.add(part, 1), parts), () =>
      f.set(
        n,
        i32.sub(() => f.get(at).i32Load(), i32.mul(part, n)),
      ),
    )
    f.get(at).get(n).i32Store()
    f.set(at, own_(field('scratch'))).get(at)
    f.op(OP.i32_add, () => f.get(at).i32Load(), i32.mul(thread, field('scratchBytes'))).i32Store()
    f.get(own).push(field('kernel')).callIndirect(['i32'])
    f.ifThen(thread, () => f.push(words.add('helped', 1)).op(OP.drop))
    f.push(words.add('done', 1)).op(OP.drop).br(again)
  })
  return f
}
/** For tests: the parts in another order, and a pause before some. */
const reorder = (f: FunctionBuilder, words: Words, part: Local, parts: Local): void => {
  const i32 = address(f)
  const left = f.local('i32')
  f.ifThen(words.load('turn'), () => {
    f.set(part, () => f.op(OP.i32_rem_u, i32.sub(i32.add(words.load('turn'), parts), part), parts))
    f.set(left, i32.mul(i32.and(part, 3), words.load('delay')))
    f.ifThen(left, () => f.countDown(left, () => f.push(words.ticket()).op(OP.drop)))
  })
}

export const makeDriver = (
  memory: WebAssembly.Memory,
  table: WebAssembly.Table,
  limits: Limits,
  js: Asked,
): { readonly driver: Driver; readonly module: WebAssembly.Module } => {
  const m = new Module()
  m.importMemory(limits)
  m.importTable({ min: 1 })
  const late = m.importFunction('js', 'late', [])
  const failed = m.importFunction('js', 'failed', [])
  const left = m.importFunction('js', 'left', [])
  const take = emitTake(m)
  emitFork(m, take, { late, failed, left })
  emitWork(m, take)
  const module = new WebAssembly.Module(m.finish())
  const { exports } = new WebAssembly.Instance(module, { env: { memory, table }, js: { ...js } })
  return { driver: exports as unknown as Driver, module }
}

const emitFork = (m: Module, take: FunctionBuilder, { late, failed, left }: Readonly<Record<keyof Asked, FuncRef>>): void => {
  const f = m.kernel('fork')
  const record = f.param(0)
  const { epoch, looks, penalty, parts, alone } = f.namedLocals('i32', 'epoch looks penalty parts alone')
  const i32 = address(f)
  const words = new Words(f)
  const field = (word: keyof typeof forkRecord.at) => () => f.get(record).i32Load(4 * forkRecord.at[word])
  // A job that is open here was left by an error: others may still write.
  f.ifThen(words.load('busy'), () => f.call(left))
  f.set(alone, words.load('alone'))
  f.ifThen(alone, () => {
    words.store('alone', i32.sub(alone, i32.min(alone, field('microseconds'))))
    f.push(field('record')).push(field('kernel')).callIndirect(['i32']).op(OP.return)
  })
  f.set(parts, field('parts'))
  words.store('busy', 1)
  words.store('done', 0)
  words.store('job', record)
  f.set(epoch, i32.add(words.load('epoch'), 1))
  words.issue(epoch, 0)
  f.ifThen(words.load('sleepers'), () => {
    f.i32Const(addressOf('epoch'))
      .push(i32.sub(parts, 1))
      .atomic(...NOTIFY)
    f.op(OP.drop)
  })
  f.call(take, 0, words.load('version'))
  f.block((done) =>
    f.loop((again) => {
      f.op(OP.i32_eq, words.load('done'), parts).brIf(done)
      f.increment(looks, 1)
      f.ifThen(i32.eq(i32.and(looks, ASK - 1), 0), () => f.call(late))
      f.br(again)
    }),
  )
  words.issue(epoch, CLOSED)
  words.store('busy', 0)
  // A thread that has a part and no core keeps the caller waiting: for some time it asks nobody, and twice as long when that happens again.
  f.set(penalty, words.load('penalty'))
  f.ifThen(
    i32.atLeast(looks, field('long')),
    () => {
      f.set(penalty, i32.min(i32.add(i32.mul(penalty, 2), LEAST_ALONE), MOST_ALONE))
      words.store('penalty', penalty)
      // Looks are nanoseconds, about.
      const waited: Operand = () => f.op(OP.i32_div_u, looks, 1000 / COST)
      const often = i32.and(i32.atLeast(penalty, OFTEN), i32.atLeast(waited, penalty))
      words.store('alone', i32.choose(often, waited, penalty))
    },
    () =>
      words.store(
        'penalty',
        i32.sub(penalty, () => f.op(OP.i32_shr_u, penalty, 3)),
      ),
  )
  f.ifThen(words.load('failed'), () => f.call(failed))
}

const emitWork = (m: Module, take: FunctionBuilder): void => {
  const f = m.func('work', ['i32', 'i32'])
  const { thread, version } = f.namedParameters('thread version')
  const looks = f.local('i32')
  const seen = f.local('i64')
  const i32 = address(f)
  const words = new Words(f)
  f.loop((work) => {
    f.call(take, thread, version)
    f.set(seen, words.ticket()).set(looks, LOOKS)
    f.loop((look) => {
      f.ifThen(i32.ne(words.load('version'), version), () => f.op(OP.return))
      f.push(words.ticket()).get(seen).op(OP.i64_ne).brIf(work)
      f.op(OP.i32_sub, looks, 1).localTee(looks).brIf(look)
    })
    words.add('sleepers', 1)()
    f.op(OP.drop)
    f.ifThen(i32.eq(words.load('version'), version), () => {
      f.i32Const(addressOf('epoch'))
      f.op(OP.i64_shr_u, seen, wide(f, 32)).op(OP.i32_wrap_i64)
      // For as long as it takes.
      f.op(OP.i64_sub, wide(f, 0), wide(f, 1)).atomic(...WAIT)
      f.op(OP.drop)
    })
    words.add('sleepers', -1)()
    f.op(OP.drop).br(work)
  })
}
