/** Sequences and optionals, whose lengths are known while a graph is read: they are lists then, and leave nothing in the program. */
import { type AnyExpr, concat, reshape, split, stack, type Tensor, tensor } from '../../index.js'
import { axisIn, type Call, counted, integers, like, type Operator, type Table } from '../call.js'
import { typeOf } from '../types.js'
import { constant, type Item, type Sequence, type Value } from '../value.js'

const sequence = (items: readonly Item[]): Sequence => ({ tag: 'sequence', items })
/** A position that is given, from the front; `more` is 1 where one behind the last is meant too. */
const placeOf = (c: Call, i: number, length: number, more = 0): number => {
  const k = c.numbers(i)[0]!
  const at = k < 0 ? k + length : k
  return at >= 0 && at < length + more ? at : c.refuse(`position ${k} is not in a sequence of ${length}.`)
}
const tensorsOf = (c: Call): readonly Value[] =>
  c.sequence(0).items.map((v) => (v.tag === 'tensor' ? v : c.refuse('the sequence has what is no tensor.')))
const cut: Operator = {
  since: [11],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const axis = axisIn(c, c.int('axis', 0), x.x.shape.length)
    const n = x.x.shape[axis]!
    const parts = c.maybe(1) === undefined ? undefined : c.numbers(1)
    const size = parts === undefined ? 1 : c.in(1).x.shape.length === 0 ? parts[0]! : undefined
    if (size !== undefined && !(size >= 1)) c.refuse(`parts of ${size}.`)
    const sizes =
      size === undefined ? parts! : Array.from({ length: counted(c, Math.ceil(n / size)) }, (_, i) => Math.min(size, n - i * size))
    const all = split(x.x, sizes as number[], { axis }) as readonly AnyExpr[]
    const keeps = parts !== undefined || c.int('keepdims', 1) !== 0
    return sequence(
      all.map((p) =>
        like(
          x,
          keeps
            ? p
            : reshape(
                p,
                p.shape.filter((_, i) => i !== axis),
              ),
        ),
      ),
    )
  },
}
const joined: Operator = {
  since: [11],
  read: (c) => {
    const all = tensorsOf(c)
    const [first] = all
    if (first === undefined) return c.refuse('an empty sequence has no type here.')
    const axis = c.int('axis')
    const xs = all.map((v) => v.x)
    return like(first, c.int('new_axis', 0) !== 0 ? stack(xs, { axis }) : concat(xs, { axis }))
  },
}
/** A graph on each element of sequences; other inputs are the same for all. */
const mapped: Operator = {
  since: [17],
  read: (c) => {
    const body = c.graph('body')
    const all = Array.from({ length: c.count }, (_, i) => c.item(i))
    const { items } = c.sequence(0)
    const rows = items.map((_, k) =>
      c.run(
        body,
        all.map((v) => (v.tag === 'sequence' ? (v.items[k] ?? c.refuse('its sequences differ in length.')) : v)),
      ),
    )
    return body.outputs.map((_, i) => sequence(rows.map((row) => row[i]!)))
  },
}
const truth = (x: boolean): Value => constant(typeOf('bool'), tensor(Number(x), [], 'bool') as Tensor)

export const sequences: Table = {
  ConcatFromSequence: joined,
  Optional: { since: [15], read: (c) => ({ tag: 'optional', item: c.count === 0 ? undefined : c.item(0) }) },
  OptionalGetElement: {
    since: [15, 18],
    read: (c) => {
      const v = c.item(0)
      return v.tag === 'optional' ? (v.item ?? c.refuse('the optional has nothing.')) : v
    },
  },
  OptionalHasElement: {
    since: [15, 18],
    read: (c) => {
      if (!c.isGiven(0)) return truth(false)
      const v = c.item(0)
      return truth(v.tag !== 'optional' || v.item !== undefined)
    },
  },
  SequenceAt: { since: [11], known: [1], read: (c) => c.sequence(0).items[placeOf(c, 1, c.sequence(0).items.length)]! },
  SequenceConstruct: { since: [11], read: (c) => sequence(c.all()) },
  SequenceEmpty: { since: [11], read: () => sequence([]) },
  SequenceErase: {
    since: [11],
    known: [1],
    read: (c) => {
      const { items } = c.sequence(0)
      const at = c.maybe(1) === undefined ? items.length - 1 : placeOf(c, 1, items.length)
      return sequence(items.filter((_, i) => i !== at))
    },
  },
  SequenceInsert: {
    since: [11],
    known: [2],
    read: (c) => {
      const { items } = c.sequence(0)
      const at = c.maybe(2) === undefined ? items.length : placeOf(c, 2, items.length, 1)
      return sequence([...items.slice(0, at), c.item(1), ...items.slice(at)])
    },
  },
  SequenceLength: { since: [11], read: (c) => integers([c.sequence(0).items.length], []) },
  SequenceMap: mapped,
  SplitToSequence: cut,
}
