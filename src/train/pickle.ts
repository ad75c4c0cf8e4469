/**
 * What torch.save pickles, read as data: the opcodes of protocol 2 that it writes (pickletools of Python), and no others. Nothing is
 * imported and nothing is called. Classes and functions are names; of those in `made` it is known what they would make, and what others
 * would make is an `Unread`, an error for whoever needs it.
 */
import { shown } from '../core/errors/check-arguments.js'
import { raise } from '../index.js'

/** The elements of tensors, in a file of their own. */
export class Storage {
  constructor(
    /** The name of the file. */
    readonly key: string,
    /** The dtype, as safetensors calls it. */
    readonly stored: string,
    readonly count: number,
  ) {}
}
/** A tensor: a part of a storage. */
export class View {
  constructor(
    readonly storage: Storage,
    readonly offset: number,
    readonly shape: readonly number[],
    readonly strides: readonly number[],
  ) {}
}
/** A class or a function, which is not imported. */
class Global {
  constructor(readonly name: string) {}
}
/** What something unknown would make. */
export class Unread {
  constructor(readonly name: string) {}
}
export type Pickled =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Pickled[]
  | Map<Pickled, Pickled>
  | Storage
  | View
  | Global
  | Unread

/** PyTorch's names of storages, and the dtypes of safetensors. */
const storages: Readonly<Record<string, string>> = {
  DoubleStorage: 'F64',
  FloatStorage: 'F32',
  HalfStorage: 'F16',
  BFloat16Storage: 'BF16',
  LongStorage: 'I64',
  IntStorage: 'I32',
  ShortStorage: 'I16',
  CharStorage: 'I8',
  ByteStorage: 'U8',
  BoolStorage: 'BOOL',
}
const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0
/** The most axes that PyTorch writes. */
const MOST_AXES = 64
const areCounts = (x: unknown): x is readonly number[] => Array.isArray(x) && x.length <= MOST_AXES && x.every(isCount)

type Args = readonly Pickled[]
const view = ([storage, offset, shape, strides]: Args): Pickled | undefined =>
  storage instanceof Storage && isCount(offset) && areCounts(shape) && areCounts(strides) && shape.length === strides.length
    ? new View(storage, offset, shape, strides)
    : storage instanceof Unread
      ? storage
      : undefined
const list = ([x, ...more]: Args): Pickled | undefined => (Array.isArray(x) && more.length === 0 ? x : undefined)
/** What the functions and classes that torch.save names make of arguments; undefined for arguments that they do not take. */
const made: Readonly<Record<string, (args: Args) => Pickled | undefined>> = {
  'collections.OrderedDict': (args) => (args.length === 0 ? new Map() : undefined),
  'collections.Counter': ([x, ...more]) => (x === undefined ? new Map() : x instanceof Map && more.length === 0 ? x : undefined),
  'torch._utils._rebuild_tensor': view,
  'torch._utils._rebuild_tensor_v2': view,
  'torch._utils._rebuild_parameter': ([x]) => (x instanceof View || x instanceof Unread ? x : undefined),
  'torch.Size': list,
  '__builtin__.set': list,
  'torch.device': (args) =>
    args.length > 0 && args.length < 3 && args.every((x) => typeof x === 'string' || isCount(x)) ? args.join(':') : undefined,
}

/** The value in the bytes of a pickle; raises a Decode whose path is `path`. */
export const unpickled = (bytes: Uint8Array, path: string): Pickled => {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const stack: Pickled[] = []
  /** How much was on the stack at each mark. */
  const marks: number[] = []
  const memo = new Map<number, Pickled>()
  let at = 0
  let opcode = 0
  const fault = (reason: string): never => raise({ _tag: 'Decode', errors: [{ path, reason: `byte ${opcode}: ${reason}` }] })
  /** Where the next n bytes begin. */
  const take = (n: number): number => {
    if (at + n > bytes.length) fault(`the pickle was cut off: ${n} bytes are missing after ${bytes.length}.`)
    at += n
    return at - n
  }
  const floor = (): number => marks.at(-1) ?? 0
  const pop = (): Pickled => (stack.length > floor() ? stack.pop()! : fault('takes from an empty stack.'))
  const top = (): Pickled => (stack.length > floor() ? stack.at(-1)! : fault('takes from an empty stack.'))
  const popMark = (): Pickled[] => {
    const mark = marks.pop()
    return mark === undefined ? fault('has no mark before it.') : stack.splice(mark)
  }
  const popMany = (n: number): Pickled[] => Array.from({ length: n }, pop).reverse()
  const text = (length: number): string => {
    const from = take(length)
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.slice(from, from + length))
    } catch {
      return fault('a text is not UTF-8.')
    }
  }
  const line = (): string => {
    const end = bytes.subarray(at, at + 256).indexOf(10)
    if (end < 0) return fault('a name has no end.')
    const found = text(end)
    at++
    return found
  }
  const recall = (key: number): Pickled => {
    const found = memo.get(key)
    return found === undefined ? fault(`there is nothing at ${key} of the memo.`) : found
  }
  const whole = (size: number): Pickled => {
    const from = take(size)
    let x = 0n
    for (let i = size - 1; i >= 0; i--) x = (x << 8n) | BigInt(bytes[from + i]!)
    const signed = BigInt.asIntN(8 * size, x)
    return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed
  }
  const into = (x: Pickled, entries: readonly Pickled[]): void => {
    if (entries.length % 2 !== 0) fault('has a key without a value.')
    if (x instanceof Map) for (let i = 0; i < entries.length; i += 2) x.set(entries[i]!, entries[i + 1]!)
    else if (!(x instanceof Unread)) fault('puts entries where no dict is.')
  }
  const onto = (x: Pickled, entries: readonly Pickled[]): void => {
    if (Array.isArray(x)) for (const y of entries) (x as Pickled[]).push(y)
    else if (!(x instanceof Unread)) fault('appends where no list is.')
  }
  const reduced = (f: Pickled, args: Pickled): Pickled => {
    if (f instanceof Unread) return f
    if (!(f instanceof Global) || !Array.isArray(args)) return fault('calls what is not a function.')
    if (!Object.hasOwn(made, f.name)) return new Unread(f.name)
    return made[f.name]!(args as Args) ?? fault(`calls ${f.name} with other arguments than torch.save does.`)
  }
  const persistent = (x: Pickled): Pickled => {
    const [tag, type, key, , count] = Array.isArray(x) ? (x as Args) : []
    if (tag !== 'storage' || !(type instanceof Global) || typeof key !== 'string' || !isCount(count))
      return fault('has another reference than torch.save writes for a storage.')
    const stored = type.name.replace(/^torch\./, '')
    return Object.hasOwn(storages, stored) ? new Storage(key, storages[stored]!, count) : new Unread(type.name)
  }

  const put = (x: Pickled): void => {
    stack.push(x)
  }
  const opcodes: Readonly<Record<number, () => void>> = {
    128: () => {
      const version = data.getUint8(take(1))
      if (version !== 2) fault(`is of protocol ${version}; protocol 2 is read, which torch.save takes unless it is told another.`)
    },
    40: () => marks.push(stack.length), // MARK
    125: () => put(new Map()), // EMPTY_DICT
    93: () => put([]), // EMPTY_LIST
    41: () => put([]), // EMPTY_TUPLE
    116: () => put(popMark()), // TUPLE
    133: () => put(popMany(1)),
    134: () => put(popMany(2)),
    135: () => put(popMany(3)),
    78: () => put(null),
    136: () => put(true),
    137: () => put(false),
    75: () => put(data.getUint8(take(1))), // BININT1
    77: () => put(data.getUint16(take(2), true)), // BININT2
    74: () => put(data.getInt32(take(4), true)), // BININT
    138: () => put(whole(data.getUint8(take(1)))), // LONG1
    71: () => put(data.getFloat64(take(8))), // BINFLOAT
    88: () => put(text(data.getUint32(take(4), true))), // BINUNICODE
    113: () => memo.set(data.getUint8(take(1)), top()), // BINPUT
    114: () => memo.set(data.getUint32(take(4), true), top()), // LONG_BINPUT
    104: () => put(recall(data.getUint8(take(1)))), // BINGET
    106: () => put(recall(data.getUint32(take(4), true))), // LONG_BINGET
    115: () => {
      const entry = popMany(2)
      into(top(), entry)
    }, // SETITEM biome-ignore format: one line
    117: () => {
      const entries = popMark()
      into(top(), entries)
    }, // SETITEMS biome-ignore format: one line
    97: () => {
      const entry = popMany(1)
      onto(top(), entry)
    }, // APPEND biome-ignore format: one line
    101: () => {
      const entries = popMark()
      onto(top(), entries)
    }, // APPENDS biome-ignore format: one line
    99: () => {
      const module = line()
      put(new Global(`${module}.${line()}`))
    },
    81: () => put(persistent(pop())), // BINPERSID
    82: () => {
      const args = pop()
      put(reduced(pop(), args))
    }, // REDUCE biome-ignore format: one line
    129: () => {
      pop()
      const f = pop()
      put(f instanceof Global ? new Unread(f.name) : fault('makes an object of what is not a class.'))
    }, // NEWOBJ biome-ignore format: one line
    98: () => void pop(), // BUILD: attributes, such as the _metadata of a state dict
  }
  for (;;) {
    opcode = at
    const code = bytes[take(1)]!
    if (code === 0x2e) return stack.length === 1 && marks.length === 0 ? stack[0]! : fault('ends with other than one value.') // STOP
    const act = opcodes[code]
    if (act === undefined) return fault(`the opcode ${shown(code)} is not among those that torch.save writes.`)
    act()
  }
}

/** What a value that cannot be read is called: 'an object of the class numpy.ndarray'. */
export const nameOf = (x: Pickled): string | undefined =>
  x instanceof Unread || x instanceof Global ? x.name : x instanceof Storage ? 'torch.storage' : undefined
