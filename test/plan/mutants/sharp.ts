// Programs written for a fault each: small, and next to others that a careless planner takes for the same.
import { aval } from '../../../src/core/graph/aval.js'
import { asExpr, asNode, input } from '../../../src/core/graph/expr.js'
import { lift } from '../../../src/core/graph/lift.js'
import { flatProgram } from '../../../src/core/graph/program.js'
import { scanNodes } from '../../../src/core/ops/control/control.js'
import * as cd from '../../../src/index.js'

type E = cd.AnyExpr
type F = (...xs: readonly unknown[]) => E
const [add, mul, sub, sin, cos, tanh, sum, max, prod, matmul, concat, stack, gather, sort, flip, slice, reshape, transpose, broadcastTo, split, cumsum, setAt, addAt, div, map, pad, unstack, maxPool, polygamma] = [
  cd.add, cd.mul, cd.sub, cd.sin, cd.cos, cd.tanh, cd.sum, cd.max, cd.prod, cd.matmul, cd.concat, cd.stack, cd.gather, cd.sort, cd.flip, cd.slice, cd.reshape, cd.transpose, cd.broadcastTo, cd.split, cd.cumsum, cd.setAt, cd.addAt, cd.div, cd.map, cd.pad, cd.unstack, cd.maxPool, cd.polygamma,
] as unknown as readonly F[] as readonly [F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F] // biome-ignore format: names
const parts = (...xs: readonly unknown[]): readonly E[] => split(...xs) as unknown as readonly E[]

export interface Sharp {
  readonly f: (...xs: readonly E[]) => E | readonly E[]
  readonly shapes: readonly (readonly number[])[]
  readonly dtype?: 'f64' | 'f32' | 'i32'
  /** No gradient. */
  readonly values?: boolean
  /** The steps of its plan, exactly: nothing is done that nothing needs. */
  readonly steps?: number
}
const own = cd.unary({ name: 'own', scalar: (x) => x! + 1, source: 'test' })

type Step = (carry: readonly E[], x: E) => readonly [carry: readonly E[], y: unknown]
const scanned = (f: Step, init: readonly unknown[], xs: E | null, options: object = {}): readonly E[] => {
  const [carry, ys] = (cd.scan as unknown as (f: Step, init: readonly unknown[], xs: unknown, o: object) => [readonly E[], unknown])(
    f,
    init,
    xs,
    options,
  )
  return [...carry, ...(ys === null ? [] : Array.isArray(ys) ? (ys as readonly E[]) : [ys as E])]
}
const whiled = (more: (s: E) => E, body: (s: E) => E, init: E): E =>
  (cd.whileLoop as unknown as (m: unknown, b: unknown, s: unknown, o: object) => readonly [E])(more, body, init, { maxSteps: 6 })[0]
/** Steps that a slice marks, over two carries of which the second alone is read: h' = sin(h + x), where its mark is true. */
const marked = (g: E, h: E, xs: E, marks: readonly boolean[], reverse: boolean): E => {
  const [f64, bool] = [(...shape: number[]) => input(aval(shape, 'f64')), input(aval([], 'bool'))]
  const [c, d, x] = [f64(2), f64(2), f64(2)]
  const next = [add(asExpr(c), asExpr(d)), sin(add(asExpr(d), asExpr(x)))].map(asNode)
  const flags = lift(cd.tensor([...marks], [marks.length], 'bool'), 'marked')
  const program = flatProgram('marked', [c, d, bool, x], next)
  return asExpr(
    scanNodes([asNode(g), asNode(h), flags, asNode(xs)], { program, length: marks.length, carries: 2, slices: 2, reverse, until: 2 })[1]!,
  )
}
/** Loops: each for a way in which a step's values may lie wrongly. */
export const loops: readonly Sharp[] = [
  // flags that are the same in every iteration of the loop around: they are read again after other memory was written
  {
    f: (h, xs, zs) =>
      scanned(
        ([c], x) => {
          const y = marked(c!, c!, zs!, [true, false, true], false)
          const t = cumsum(sin(cumsum(mul(y, x))))
          return [[tanh(cumsum(t))], sum(mul(t, y))]
        },
        [h],
        xs!,
      ),
    shapes: [[2], [4, 2], [3, 2]],
  },
  // rows that nothing reads, and an array that they alone read: one step
  {
    f: (x, xs, ys) => cd.scan((c, [a, b]) => [mul(c, a), [sin(c), cos(b)]], x!, [xs!, sin(matmul(ys, ys))])[0],
    values: true,
    shapes: [[4], [4, 4], [4, 4]],
    steps: 1,
  },
  // a carry that is stacked, as it was found, as it was left, both; and back
  ...[{}, { reverse: true }].flatMap((o): Sharp[] => [
    {
      f: (h, w, xs) => [...scanned(([c], x) => [[tanh(add(matmul(c, w), x))], c], [h], xs!, o)],
      shapes: [
        [2, 2],
        [2, 2],
        [3, 2, 2],
      ],
    },
    {
      f: (h, w, xs) => [
        ...scanned(
          ([c], x) => {
            const n = tanh(add(matmul(c, w), x))
            return [[n], [n, c, n, c]]
          },
          [h],
          xs!,
          o,
        ),
      ],
      shapes: [
        [2, 2],
        [2, 2],
        [3, 2, 2],
      ],
    },
    {
      f: (a, b, xs) => [
        ...scanned(
          ([p, q], x) => [
            [q!, add(sin(p), x)],
            [p, mul(p, q)],
          ],
          [a, b],
          xs!,
          o,
        ),
      ],
      shapes: [[3], [3], [4, 3]],
    },
    {
      f: (a, b, xs) => [
        ...scanned(
          ([p, q], x) => [
            [p!, add(mul(q, 0.5), mul(p, x))],
            [p, q],
          ],
          [a, b],
          xs!,
          o,
        ),
      ],
      shapes: [[3], [3], [4, 3]],
    },
    { f: (a, xs) => [...scanned(([s], x) => [[add(s, sum(mul(x, x), { axis: 0 }))], x], [a], xs!, o)], shapes: [[2], [4, 3, 2]] },
    {
      f: (a, xs) => [...scanned(([s], x) => [[add(s, x)], sum(x)], [a], transpose(xs, [2, 0, 1]), o)],
      shapes: [
        [2, 3],
        [2, 3, 4],
      ],
    },
  ]),
  // what is written over, and when it is read
  { f: (a, b) => scanned(([p, q]) => [[sub(p, mul(q, 0.1)), add(q, mul(p, 0.1))], null], [a, b], null, { length: 4 }), shapes: [[3], [3]] },
  // States of one shape and two dtypes, copied before the loop and at the end of each step.
  {
    f: (a) => {
      const [p, k] = scanned(
        ([p, k]) => [[add(mul(p, 0.5), mul(flip(p), cd.cast(k as never, 'f64') as never)), add(flip(k), 1)], null],
        [a, cd.tensor(Int32Array.of(1, 2, 3, 4))],
        null,
        { length: 3 },
      )
      return [p!, mul(a, cd.cast(k as never, 'f64') as never)]
    },
    shapes: [[4]],
  },
  { f: (a) => scanned(([p]) => [[add(mul(p, 0.5), flip(p))], null], [a], null, { length: 3 }), shapes: [[4]] },
  { f: (a) => scanned(([p]) => [[mul(sin(p), sum(p))], null], [a], null, { length: 3 }), shapes: [[4]] },
  {
    f: (a) =>
      scanned(([p]) => [[add(p, slice(p, [0, 2], [2, 3]))], null], [slice(a, [0, 0], [2, 3])], null, { length: 3 }).concat(
        scanned(([p]) => [[transpose(sin(p))], null], [a], null, { length: 3 }),
      ),
    shapes: [[3, 3]],
    values: true,
  },
  {
    f: (a, w) => scanned(([p]) => [[matmul(w, p)], null], [a], null, { length: 3 }),
    shapes: [
      [2, 2],
      [2, 2],
    ],
  },
  {
    f: (a, w) => scanned(([p]) => [[add(p, matmul(w, sin(p)))], null], [a], null, { length: 3 }),
    shapes: [
      [2, 2],
      [2, 2],
    ],
  },
  {
    f: (a, w) => scanned(([p]) => [[add(p, matmul(w, w))], mul(p, 2)], [a], null, { length: 3 }),
    shapes: [
      [2, 2],
      [2, 2],
    ],
  },
  {
    f: (a, w) =>
      scanned(
        ([p]) => {
          const m = add(p, matmul(w, w))
          return [[sin(m)], [m, p]]
        },
        [a],
        null,
        { length: 3 },
      ),
    shapes: [
      [2, 2],
      [2, 2],
    ],
  },
  {
    f: (a) => scanned(([p]) => [[concat([slice(p, [1], [3]), slice(mul(p, 2), [0], [1])])], null], [a], null, { length: 4 }),
    shapes: [[3]],
  },
  { f: (a) => scanned(([p]) => [[reshape(mul(transpose(p), 2), [2, 3])], reshape(p, [6])], [a], null, { length: 3 }), shapes: [[2, 3]] },
  { f: (a, xs) => scanned(([p], x) => [[sort(add(p, x))], concat([sin(p), cos(x)])], [a], xs!), shapes: [[3], [4, 3]] },
  { f: (a, xs) => scanned(([s], x) => [[s!], add(x, matmul(x, x))], [a], xs!), shapes: [[2], [3, 2, 2]] },
  {
    f: (a, xs, ys) => {
      const [s, r] = scanned(([p], x) => [[add(p, x)], mul(x, 2)], [a], xs!)
      return [s!, ...scanned(([p], x) => [[add(p, mul(x, 3))], sin(x)], [a], r!), add(xs, ys)]
    },
    shapes: [[2], [3, 2], [3, 2]],
  },
  { f: (a, xs) => scanned(([p], x) => [[p!], [mul(x, 2), 1, p]], [a], xs!), shapes: [[2], [3, 2]] },
  { f: (a) => scanned(([p, q]) => [[sub(p, q), q!], add(p, q)], [mul(a, 2), mul(a, 2)], null, { length: 3 }), shapes: [[2]] },
  {
    f: (a, b) => scanned(([p, q, r]) => [[add(p, q), add(q, r), sin(r)], null], [a, b, add(a, b)], null, { length: 3 }).slice(0, 1),
    shapes: [[2], [2]],
  },
  { f: (a) => scanned(([p], x) => [[add(p, x)], null], [a], broadcastTo(0.5, [3, 2])), shapes: [[2]] },
  {
    f: (a, xs) => scanned(([p], x) => [[add(p, sort(x))], sum(slice(x, [0, 1], [2, 3]))], [a], transpose(xs, [2, 0, 1])),
    shapes: [
      [2, 3],
      [2, 3, 4],
    ],
  },
  { f: (a) => scanned(([p], x) => [[add(p, sort(x))], flip(x)], [a], broadcastTo(0.5, [3, 2])), shapes: [[2]] },
  { f: (a) => scanned(([p]) => [[sin(p)], slice(tanh(p), [0], [2])], [a], null, { length: 3 }), shapes: [[3]] },
  {
    f: (a, xs) => {
      const first = reshape(slice(xs, [0, 0], [1, 2]), [2])
      return scanned(([p], x) => [[add(p, mul(x, first))], null], [a], xs!)
    },
    shapes: [[2], [3, 2]],
  },
  // what accumulates on the state that a step found: another state, a row, a value in between, what every step reads
  { f: (a) => scanned(([p]) => [[mul(p, 2)], addAt(p, [0], 7)], [a], null, { length: 2 }), shapes: [[3]] },
  { f: (a, w) => scanned(([p]) => [[tanh(add(p, mul(addAt(w, [0], sum(p)), 0.5)))], null], [a], null, { length: 3 }), shapes: [[3], [3]] },
  { f: (a, xs) => [...scanned(([p], x) => [[tanh(add(p, addAt(x, [0], sum(p))))], null], [a], xs!), sin(xs)], shapes: [[2], [3, 2]] },
  { f: (a) => scanned(([p]) => [[sin(transpose(addAt(p, [0, 0], 1)))], null], [a], null, { length: 3 }), shapes: [[2, 2]] },
  { f: (a, b) => scanned(([p, q]) => [[mul(q, 2), addAt(p, [0], 7)], null], [a, b], null, { length: 3 }), shapes: [[3], [3]] },
  { f: (a, b) => scanned(([p, q]) => [[addAt(q, [0], 7), mul(p, 2)], null], [a, b], null, { length: 3 }), shapes: [[3], [3]] },
  {
    f: (a, b, c) =>
      scanned(([p, q, r]) => [[mul(setAt(q, [0], mul(0.5, slice(q, [2], [3]))), cos(p)), r!, flip(r)], p], [a, b, c], null, { length: 3 }),
    shapes: [[3], [3], [3]],
  },
  {
    f: (a, b) =>
      scanned(
        ([p, q]) => {
          const [s] = scanned(([r]) => [[sin(flip(r))], null], [p!], null, { length: 2 })
          return [[mul(q, 2), s!], null]
        },
        [a, b],
        null,
        { length: 3 },
      ),
    shapes: [[2], [2]],
  },
  // the last state of an inner loop is a row; parts of a next state beside what they are made of
  {
    f: (a, xs) =>
      scanned(
        ([p], x) => {
          const [s] = scanned(([q], y) => [[add(mul(q, 0.5), y)], null], [p!], x)
          return [[sin(p)], s]
        },
        [a],
        xs!,
      ),
    shapes: [[2], [3, 4, 2]],
  },
  {
    f: (a) => scanned(([p]) => [[concat([sin(slice(p, [1], [4])), cos(slice(p, [0], [1]))])], null], [a], null, { length: 3 }),
    shapes: [[4]],
  },
  // rows that dead code alone reads: of a loop whose first carry is dropped
  {
    f: (a, k) => {
      const z = mul(a, 0)
      const [, r1, , ys] = scanned(([p, q, r]) => [[q!, r!, p!], p], [a, z, k], null, { length: 3 })
      return scanned(([p, q]) => [[p!, mul(q, 1.5)], null], [sum(ys, { axis: 0 }), r1], null, { length: 2 }).slice(1)
    },
    shapes: [[3], [3]],
  },
  // rows that a map is given and does not read
  {
    f: (a) => {
      const [, q, ys] = scanned(
        ([p, q]) => [
          [q!, sin(p)],
          [p, q],
        ],
        [a, mul(a, 2)],
        null,
        { length: 3 },
      ).flat() as readonly E[]
      return map((u: E, _unread: E) => cos(u), q, reshape(slice(ys, [0, 0], [1, 2]), [2]))
    },
    shapes: [[2]],
  },
  // a carry in one, what is the same at every step in the other
  {
    f: (a, b) => [
      ...scanned(([p, q]) => [[sin(add(p, q)), cos(p)], null], [a, b], null, { length: 3 }),
      ...scanned(([p]) => [[sin(add(p, b))], cos(p)], [a], null, { length: 3 }),
    ],
    shapes: [[2], [2]],
  },
  // loops alike but for their length, direction, body
  {
    f: (a, xs) => [
      ...scanned(([p], x) => [[sub(x, p)], null], [a], xs!),
      ...scanned(([p], x) => [[sub(x, p)], null], [a], xs!, { reverse: true }),
      ...scanned(([p], x) => [[sub(p, x)], null], [a], xs!),
    ],
    shapes: [[2], [3, 2]],
  },
  {
    f: (a) => [
      ...scanned(([p]) => [[mul(p, 3)], null], [a], null, { length: 2 }),
      ...scanned(([p]) => [[mul(p, 3)], null], [a], null, { length: 3 }),
      ...scanned(([p]) => [[mul(p, 5)], null], [a], null, { length: 3 }),
    ],
    shapes: [[2]],
  },
  // loops that end early: their way back leaves steps out
  {
    f: (a, w) =>
      whiled(
        (p) => cd.lt(sum(p) as never, 3) as unknown as E,
        (p) => add(mul(p, 1.5), sin(w)),
        a,
      ),
    shapes: [[2], [2]],
  },
  {
    f: (a, xs) =>
      scanned(
        ([p], x) => {
          const q = whiled(
            (s) => cd.lt(sum(s) as never, 2) as unknown as E,
            (s) => add(s, mul(x, x)),
            p!,
          )
          return [[mul(q, 0.4)], sin(q)]
        },
        [a],
        xs!,
      ),
    shapes: [[2], [3, 2]],
  },
  {
    f: (a, xs) =>
      scanned(
        ([p], x) => {
          const q = whiled(
            (s) => cd.lt(sum(s) as never, 2) as unknown as E,
            (s) => sort(add(s, mul(x, x))),
            p!,
          )
          return [[mul(q, 0.4)], sin(q)]
        },
        [a],
        xs!,
      ),
    shapes: [[2], [3, 2]],
  },
  ...[false, true].flatMap((reverse): Sharp[] => {
    const marks = [false, true, true, false]
    const shapes = [[2], [2], [4, 2]]
    // zeros that no planner knows, which a careless one takes for marks
    const zeros = (xs: E): E => cd.where(cd.gt(xs as never, 9), xs as never, 0) as E
    return [
      { f: (g, h, xs) => marked(g, h, xs, marks, reverse), shapes },
      { f: (g, h, xs) => marked(g, h, zeros(xs), marks, reverse), shapes },
    ]
  }),
  // loops in loops
  {
    f: (a, xs) =>
      scanned(
        ([p], x) => {
          const [s, r] = scanned(([q], y) => [[add(mul(q, 0.5), y)], mul(y, q)], [p!], x)
          return [[s!], [r, s]]
        },
        [a],
        xs!,
      ),
    shapes: [[2], [3, 4, 2]],
  },
  {
    f: (a, xs) =>
      scanned(
        ([p], x) => {
          const [s] = scanned(([q], y) => [[add(q, mul(y, sum(x)))], null], [p!], x, { reverse: true })
          return [[s!], x]
        },
        [a],
        xs!,
      ),
    shapes: [[2], [3, 4, 2]],
  },
  {
    f: (a, xs) =>
      scanned(
        ([p], x) => {
          const [s] = scanned(([q]) => [[sin(add(q, x))], null], [mul(p, 2)], null, { length: 3 })
          return [[add(s, p)], null]
        },
        [a],
        xs!,
      ),
    shapes: [[2], [3, 2]],
  },
]

/** Programs without loops. */
export const straight: readonly Sharp[] = [
  // accumulators that the same kernel reads too
  { f: (x) => sin(add(x, gather(x, [2, 0, 1]))), shapes: [[3]] },
  { f: (x) => add(x, sort(x)), shapes: [[4]] },
  { f: (x) => add(x, flip(x)), shapes: [[4]] },
  { f: (x) => { const y = tanh(x); return setAt(y, [1, 2], slice(y, [0], [2])) }, shapes: [[4]] },
  { f: (x, w) => { const y = tanh(x); return add(y, matmul(y, w)) }, shapes: [[3, 3], [3, 3]] },
  { f: (x, w) => add(tanh(x), matmul(tanh(x), tanh(w))), shapes: [[3, 3], [3, 3]] },
  { f: (w, i) => matmul(gather(w, [1, 0, 1]), transpose(mul(w, i))), shapes: [[3, 2], [3, 2]] },
  // accumulators with other readers, before and after
  { f: (x, w) => { const a = matmul(x, w); const b = add(a, matmul(w, x)); return [a, b, matmul(a, b)] }, shapes: [[2, 2], [2, 2]] },
  { f: (x, w) => { const a = tanh(matmul(x, w)); const s = sin(a); const b = add(a, matmul(s, x)); return add(matmul(b, a), s) }, shapes: [[2, 2], [2, 2]] },
  { f: (x, y) => { const a = sin(y); return [add(a, sum(mul(x, x), { axis: 0 })), sum(mul(a, sum(x, { axis: 0 })))] }, shapes: [[3, 2], [2]] },
  { f: (x, y) => add(add(sin(y), max(x, { axis: 0 })), prod(x, { axis: 0 })), shapes: [[3, 2], [2]] },
  { f: (x, y) => add(tanh(y), sum(x, { axis: 0 })), shapes: [[3, 2], [1, 2]] },
  { f: (x, y) => add(sin(y), sum(x, { axis: 0, keepdims: true })), shapes: [[3, 2], [4, 2]] },
  // scalars at several shapes, literals that are nearly equal
  { f: (s, x, y) => add(sum(mul(mul(x, s), 0.7)), sum(mul(mul(y, s), 0.7))), shapes: [[], [2], [5]] },
  { f: (x) => [mul(x, 0.1), mul(x, 0.1 + 2 ** -54), mul(x, 0.1 + 2 ** -20), mul(x, -0.1)], shapes: [[2]] },
  { f: (x) => [mul(x, 0.1), mul(x, 0.10000000149011612)], shapes: [[2]] },
  { f: (x) => sub(mul(x, 2), mul(sin(x), 3)), shapes: [[2]] },
  { f: (x) => { const b = mul(sin(x), 3); return sub(mul(x, 2), b) }, shapes: [[2]] },
  { f: (x) => div(mul(mul(x, 1), 2), 1), shapes: [[2]] },
  { f: (x) => mul(x, broadcastTo(1, [3, 1])), shapes: [[1, 2]] },
  // programs that differ in shapes, in what is returned, in which input is which
  { f: (x) => sum(x), shapes: [[3]] },
  { f: (x) => sum(x), shapes: [[4]] },
  { f: (x) => { const [s, c] = [sin(x), cos(x)]; return [s, s, c] }, shapes: [[2]] },
  { f: (x) => { const [s, c] = [sin(x), cos(x)]; return [s, c, c] }, shapes: [[2]] },
  { f: (x) => { const [s, c] = [sin(x), cos(x)]; return [s, c, sub(s, c)] }, shapes: [[2]] },
  { f: (x) => { const [s, c] = [sin(x), cos(x)]; return [s, c, sub(c, s)] }, shapes: [[2]] },
  { f: (x, y) => sub(x, y), shapes: [[2], [2]] },
  { f: (x, y) => sub(y, x), shapes: [[2], [2]] },
  { f: (x) => [sum(x, { axis: 0 }), sum(x, { axis: 1 })], shapes: [[2, 2]] },
  { f: (x) => add(sin(slice(x, [0], [2])), slice(x, [1], [3])), shapes: [[3]] },
  { f: (x) => add(sin(slice(x, [1], [3])), slice(x, [0], [2])), shapes: [[3]] },
  { f: (x) => own(x), shapes: [[2]], values: true },
  // parts of a concat
  { f: (x) => { const t = tanh(x); return stack([t, t], { axis: 1 }) }, shapes: [[3]] },
  { f: (x) => { const t = tanh(x); return [stack([t, sin(x)], { axis: 1 }), reshape(t, [3, 1]), cumsum(t)] }, shapes: [[3]] },
  { f: (x) => { const [c, s] = [cos(x), sin(x)]; const m = stack([stack([c, mul(s, -1)], { axis: -1 }), stack([s, c], { axis: -1 })], { axis: -2 }); return matmul(m, m) }, shapes: [[3]] },
  { f: (x, w) => { const a = sin(x); const z = add(concat([a, cos(x)]), matmul(w, x)); return [add(matmul(w, a), z)] }, shapes: [[2], [4, 2]] },
  { f: (x) => { const a = sin(x); return [concat([a, cos(a)]), a] }, shapes: [[3]] },
  { f: (x) => { const a = sin(x); return concat([transpose(a), a], { axis: 1 }) }, shapes: [[3, 3]] },
  { f: (x) => { const a = sin(x); return concat([slice(a, [1, 0], [3, 3]), a]) }, shapes: [[3, 3]] },
  { f: (x, w) => concat([matmul(x, w), sin(x)], { axis: 1 }), shapes: [[3, 3], [3, 3]] },
  { f: (x) => { const a = sin(x); return [concat([a, cos(x), a]), concat([cos(x), a])] }, shapes: [[3]] },
  { f: (x, w) => { const p = matmul(x, w); return concat([transpose(p), sin(x)], { axis: 1 }) }, shapes: [[3, 3], [3, 3]] },
  { f: (x) => concat([sum(x, { axis: 0, keepdims: true }), sum(x, { axis: 1, keepdims: true })], { axis: 1 }), shapes: [[1, 3]] },
  { f: (x) => { const a = sin(x); const c = concat([a, cos(x)], { axis: 1 }); return add(cumsum(a, { axis: 0 }), slice(c, [0, 2], [3, 4])) }, shapes: [[3, 2]] },
  // views of views, steps, batches
  { f: (x) => reshape(transpose(slice(x, [0, 1], [4, 5], [2, 2])), [4]), shapes: [[4, 6]] },
  { f: (x) => cumsum(transpose(x), { axis: 0 }), shapes: [[2, 3]] },
  { f: (x) => reshape(transpose(x, [1, 0, 2]), [3, 2, 2]), shapes: [[2, 3, 2]] },
  { f: (x) => reshape(x, [2, 2, 3]), shapes: [[4, 3]] },
  { f: (x) => reshape(slice(mul(x, x), [0, 0], [4, 2]), [2, 4]), shapes: [[4, 3]] },
  { f: (x, y) => slice(add(x, y), [1, 1, 0], [3, 3, 4], [1, 1, 2]), shapes: [[3, 3, 4], [3, 1]] },
  { f: (x, y) => slice(add(x, y), [1, 0], [3, 2]), shapes: [[3, 4], [4]] },
  { f: (x, y) => flip(add(x, y)), shapes: [[4], [4]] },
  { f: (x, y) => slice(mul(x, y), [0, 0], [4, 3], [2, 1]), shapes: [[4, 3], [4, 3]] },
  { f: (x, w) => matmul(transpose(x, [1, 0, 2, 3]), w), shapes: [[2, 3, 2, 2], [3, 1, 2, 2]] },
  { f: (x, w) => matmul(x, w), shapes: [[2, 1, 2, 3], [1, 3, 3, 2]] },
  { f: (x) => { const [a, b, c] = parts(mul(x, x), [1, 3, 2]); return [sin(b!), add(sum(a!), mul(c!, 2))] }, shapes: [[6]] },
  { f: (x) => unstack(pad(x, [[1, 2], [0, 1]]), { axis: 1 }), shapes: [[2, 2]] },
  { f: (x) => pad(sin(x), [[2, 0], [1, 1]]), shapes: [[2, 2]] },
  { f: (x, y) => map((a: E, _b: E) => sin(a), x, y), shapes: [[], [3]] },
  { f: (x) => { const [a, b] = parts(x, 2); return add(mul(a!, b!), sum(x)) }, shapes: [[4, 2]], values: true },
  { f: (x) => sum(x, { axis: [0, 2] }), shapes: [[2, 3, 4]] },
  { f: (x) => sum(mul(x, reshape(sum(x, { axis: 2 }), [2, 3, 1])), { axis: 1 }), shapes: [[2, 3, 4]] },
  { f: (x) => add(max(x, { axis: 1 }), mul(sum(x, { axis: 1 }), prod(x, { axis: 1 }))), shapes: [[3, 4]] },
  // accumulators in the storage of a concat
  {
    f: (x, w) => {
      const a = sin(x)
      const z = add(concat([a, cos(x)]), matmul(w, x))
      return add(matmul(w, a), z)
    },
    shapes: [
      [2, 2],
      [4, 2],
    ],
  },
  {
    f: (x, w) => {
      const a = sin(x)
      return add(concat([a, cos(x)]), matmul(w, a))
    },
    shapes: [
      [2, 2],
      [4, 2],
    ],
  },
  // strided parts: returned as well, of products, of literals
  {
    f: (x) => {
      const a = sin(x)
      return [concat([a, cos(x)], { axis: 1 }), a]
    },
    shapes: [[3, 2]],
  },
  {
    f: (x, w) => stack([matmul(x, w), sin(x)], { axis: 2 }),
    shapes: [
      [3, 3],
      [3, 3],
    ],
  },
  {
    f: (x, w) => concat([matmul(x, w), sin(x)], { axis: 2 }),
    shapes: [
      [2, 3, 3],
      [2, 3, 3],
    ],
  },
  { f: (x) => [concat([x, broadcastTo(reshape(sin(0.5), [1]), [2])]), matmul(reshape(x, [1, 2]), broadcastTo(cos(0.5), [2, 2]))], shapes: [[2]] },
  // what is sunk beside a reader of one of several results
  {
    f: (x, y) => {
      const s = sin(x)
      return mul(maxPool(y, { window: 2 }), s)
    },
    shapes: [
      [1, 1, 2, 2],
      [1, 1, 4, 4],
    ],
  },
  // primitives with parameters; more buffers than a loop has
  { f: (x) => polygamma(1, add(mul(x, x), 1)), shapes: [[2]] },
  { f: (x) => polygamma(2, add(mul(x, x), 1)), shapes: [[2]] },
  {
    f: (x, y, ...more) => {
      const s = sin(x)
      const t = add(
        more.reduce((a, b) => add(a, b)),
        s,
      )
      return add(add(tanh(y), s), t)
    },
    shapes: Array.from({ length: 36 }, () => [2]),
  },
] // biome-ignore format: rows
