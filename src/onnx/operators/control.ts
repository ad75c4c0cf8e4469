/** Branches and loops, whose bodies are graphs. */
import { type AnyExpr, add, and, arange, cast, flip, gather, isAdException, lt, moveaxis, stack, type Tensor, tensor } from '../../index.js'
import { axisIn, type Call, type Operator, type Table } from '../call.js'
import type { Graph } from '../graph.js'
import { chosen, type State, scanned, whileTrue } from '../loops.js'
import { type ElementType, typeOf } from '../types.js'
import { asIndex, constant, type Item, type Value, value } from '../value.js'

/** The tensors among items, which loops and branches that depend on data can carry. */
const tensorsOf = (c: Call, items: readonly Item[], what: string): readonly Value[] =>
  items.map((v, i) => (v.tag === 'tensor' ? v : c.refuse(`${what} ${i} is a ${v.tag}, and depends on data.`)))
const scalar = (x: AnyExpr): AnyExpr => (x.shape.length === 0 ? x : gather(x, 0))

const branch: Operator = {
  since: [1, 11, 13, 16, 19, 21],
  read: (c) => {
    const condition = c.in(0)
    const [yes, no] = [c.graph('then_branch'), c.graph('else_branch')]
    const known = c.known(condition)
    if (known !== undefined) return c.run(known[0] === 0 ? no : yes, [])
    const types: ElementType[][] = []
    const side = (graph: Graph, name: string) => (): readonly AnyExpr[] => {
      let out: readonly Value[]
      try {
        out = tensorsOf(c, c.run(graph, []), 'the output')
      } catch (e) {
        // Both branches are read, whichever is meant at these shapes.
        if (!isAdException(e)) throw e
        const said = 'reason' in e.error ? e.error.reason : e.message
        return c.refuse(
          `its condition depends on data, and its ${name} cannot be read at these shapes: ${'where' in e.error ? `${e.error.where.replace(/^fromONNX: /, '')}: ` : ''}${said}`,
          'if the condition follows from an input of the model, give its value: fromONNX(bytes, { constants: { name: 1 } }).',
        )
      }
      types.push(out.map((v) => v.type))
      return out.map((v) => v.x)
    }
    const results = chosen(scalar(condition.x), side(yes, 'then_branch'), side(no, 'else_branch'))
    return results.map((x, i) => value(types[0]![i]!, x))
  },
}

/** Loops whose steps are known are not unrolled beyond this. */
const UNROLLED = 1000
const repeated: Operator = {
  since: [1, 11, 13, 16, 19, 21],
  read: (c) => {
    const body = c.graph('body')
    const [most, condition] = [c.maybe(0), c.maybe(1)]
    const carried = Array.from({ length: Math.max(0, c.count - 2) }, (_, i) => c.item(i + 2))
    const [steps, begins] = [c.known(most)?.[0], condition === undefined ? 1 : c.known(condition)?.[0]]
    if (begins === 0 || steps === 0) return withoutSteps(c, body, carried)
    const seen = begins === undefined ? undefined : probed(c, body, carried)
    // The body says itself that it goes on: then the number of steps is known, and all that they give can be stacked.
    if (seen?.goesOn === true && seen.stays && steps !== undefined && steps <= 2 ** 31 - 1)
      return stepped(c, body, seen.carried, steps, seen.types)
    const scans = c.results - carried.length
    const isKnown = begins !== undefined && (most === undefined || steps !== undefined)
    // Step by step: values that are known stay so, and what is carried may change its shape.
    const folds = carried.every((v) => v.tag !== 'tensor' || v.known !== undefined)
    const unrolls = isKnown && (folds || scans > 0 || seen === undefined || !seen.stays)
    const done = unrolls ? unrolled(c, body, carried, steps ?? Number.POSITIVE_INFINITY) : undefined
    if (done !== undefined) return done
    if (scans > 0)
      return c.refuse(
        `it stacks ${scans} results of a number of steps that depends on data.`,
        'give the number of steps as a constant, or let the loop carry what it makes.',
      )
    return untilDone(c, body, tensorsOf(c, carried, 'the carried value'), most, condition)
  },
}
const wide = (v: Value): Value => (v.type.bytes === 8 && v.type.dtype === 'i32' && v.x.dtype !== 'i32' ? { ...v, x: cast(v.x, 'i32') } : v)
/** The same value, of which nothing is known but its type and shape. */
const opaque = (v: Value): Value => value(v.type, v.x)
const step = (k: AnyExpr): Value => value(typeOf('int64'), k)
/** A number of a step that is known. */
const place = (k: number): Value => constant(typeOf('int64'), tensor(k, [], 'i32') as Tensor)
/** True. */
const truth = (): Value => constant(typeOf('bool'), tensor(1, [], 'bool') as Tensor)

/** What one step makes of the carried values. */
interface Probed {
  /** Does the body say itself that it goes on? */
  readonly goesOn: boolean
  /** Does what is carried keep its type and shape, and is all of it tensors? */
  readonly stays: boolean
  readonly carried: readonly Value[]
  readonly types: readonly ElementType[]
}
/** One step of which only types and shapes are known; undefined where the body needs numbers: those of the step, or of what is carried. */
const probed = (c: Call, body: Graph, items: readonly Item[]): Probed | undefined => {
  const isTensors = items.every((v) => v.tag === 'tensor')
  const carried = isTensors ? (items as readonly Value[]).map((v) => opaque(wide(v))) : []
  let out: readonly Item[]
  try {
    out = c.run(body, [step(place(0).x), truth(), ...(isTensors ? carried : items)])
  } catch (e) {
    if (isAdException(e)) return undefined
    throw e
  }
  const [on, ...after] = out
  const goesOn = on?.tag === 'tensor' && c.known(on)?.[0] === 1
  const stays = isTensors && carried.every((v, i) => isLike(v, after[i])) && after.slice(carried.length).every((v) => v.tag === 'tensor')
  return { goesOn, stays, carried, types: stays ? (after as readonly Value[]).map((v) => v.type) : [] }
}
const isLike = (v: Value, after: Item | undefined): boolean =>
  after?.tag === 'tensor' &&
  after.x.shape.length === v.x.shape.length &&
  after.x.shape.every((d, i) => d === v.x.shape[i]) &&
  wide(after).x.dtype === v.x.dtype

/** A loop of a known number of steps: a scan, whose derivatives are loops again. */
const stepped = (c: Call, body: Graph, carried: readonly Value[], length: number, types: readonly ElementType[]): readonly Value[] => {
  const on = truth()
  const one = (state: readonly AnyExpr[], k: AnyExpr): readonly [readonly AnyExpr[], readonly AnyExpr[]] => {
    const out = tensorsOf(c, c.run(body, [step(k), on, ...state.map((x, i) => value(carried[i]!.type, x))]), 'the output').map(wide)
    return [out.slice(1, 1 + carried.length).map((v) => v.x), out.slice(1 + carried.length).map((v) => v.x)]
  }
  const ks: AnyExpr = arange(length, 'i32')
  const init: readonly AnyExpr[] = carried.map((v) => v.x)
  const [state, ys] = scanned(one, init, ks)
  return [...state, ...ys].map((x, i) => value(types[i]!, x))
}
/** A loop step by step, each with what is known: values may change their shapes, and sequences grow. Undefined where data decide whether it goes on. */
const unrolled = (c: Call, body: Graph, start: readonly Item[], most: number): readonly Item[] | undefined => {
  let carried = start
  let on: Value = truth()
  const stacks: Value[][] = Array.from({ length: Math.max(0, body.outputs.length - 1 - start.length) }, () => [])
  for (let k = 0; ; k++) {
    const goes = c.known(on)
    if (goes === undefined) return undefined
    if (goes[0] === 0 || k >= most) break
    if (k >= UNROLLED) return c.refuse(`it takes more than ${UNROLLED} steps, and what it carries changes its shape.`)
    const out = c.run(body, [place(k), on, ...carried])
    const [next] = tensorsOf(c, out.slice(0, 1), 'the condition')
    on = next!
    carried = out.slice(1, 1 + start.length)
    for (const [i, v] of tensorsOf(c, out.slice(1 + start.length), 'the stacked result').entries()) stacks[i]!.push(v)
  }
  const first = stacks.some((s) => s.length === 0) ? withoutSteps(c, body, start).slice(start.length) : []
  return [...carried, ...stacks.map((s, i) => (s.length === 0 ? first[i]! : value(s[0]!.type, stack(s.map((v) => v.x)))))]
}
/** No step: stacked results are empty, of the shapes that a step would give. */
const withoutSteps = (c: Call, body: Graph, carried: readonly Item[]): readonly Item[] => {
  if (c.results <= carried.length) return carried
  const on = truth()
  const out = tensorsOf(c, c.run(body, [place(0), on, ...carried]).slice(1 + carried.length), 'the stacked result')
  return [...carried, ...out.map((v) => constant(v.type, tensor(0, [0, ...v.x.shape], v.x.dtype) as Tensor))]
}
/** A loop that data end. */
const untilDone = (
  c: Call,
  body: Graph,
  start: readonly Value[],
  most: Value | undefined,
  condition: Value | undefined,
): readonly Value[] => {
  const steps = c.known(most)?.[0]
  const begins = condition === undefined ? truth().x : scalar(condition.x)
  const types: ElementType[] = start.map((v) => v.type)
  const limit = most === undefined || steps !== undefined ? undefined : scalar(asIndex(most.x))
  const goes = ({ k, on }: State): AnyExpr => (limit === undefined ? on : and(on, lt(k, limit)))
  const one = ({ k, on, xs }: State): State => {
    const out = tensorsOf(c, c.run(body, [step(k), value(typeOf('bool'), on), ...xs.map((x, i) => value(types[i]!, x))]), 'the output').map(
      wide,
    )
    return { k: add(k, 1), on: scalar(out[0]!.x), xs: out.slice(1).map((v) => v.x) }
  }
  const init: State = { k: place(0).x, on: begins, xs: start.map((v) => wide(v).x) }
  const options = steps === undefined ? {} : { maxSteps: Math.min(steps, 2 ** 31 - 1) }
  const state = whileTrue(goes, one, init, options)
  return state.xs.map((x, i) => value(types[i]!, x))
}

const scanNode: Operator = {
  since: [8, 9, 11, 16, 19, 21],
  read: (c) => {
    const body = c.graph('body')
    const n = c.int('num_scan_inputs')
    // Operator set 8 has a batch in front and may have lengths.
    const old = c.version < 9
    if (old && c.node.inputs[0] !== '') c.refuse('sequence_lens of operator set 8 are not read.')
    const all = Array.from({ length: c.count - (old ? 1 : 0) }, (_, i) => wide(c.in(i + (old ? 1 : 0))))
    const [states, inputs] = [all.slice(0, all.length - n), all.slice(all.length - n)]
    if (old) return batchedScan(c, body, states, inputs)
    const [backIn, backOut] = [c.ints('scan_input_directions', []), c.ints('scan_output_directions', [])]
    const [axesIn, axesOut] = [c.ints('scan_input_axes', []), c.ints('scan_output_axes', [])]
    const xs = inputs.map((v, i) => {
      const front = moveaxis(v.x, axisIn(c, axesIn[i] ?? 0, v.x.shape.length), 0)
      return backIn[i] === 1 ? flip(front, { axis: 0 }) : front
    })
    const { last, ys, types } = scanOf(
      c,
      body,
      states,
      inputs.map((v) => v.type),
      xs,
    )
    const stacked = ys.map((y, i) => {
      const turned = backOut[i] === 1 ? flip(y, { axis: 0 }) : y
      return moveaxis(turned, 0, axisIn(c, axesOut[i] ?? 0, y.shape.length))
    })
    return [...last, ...stacked].map((x, i) => value(types[i]!, x))
  },
}
const scanOf = (c: Call, body: Graph, states: readonly Value[], types: readonly ElementType[], xs: readonly AnyExpr[]) => {
  let out: readonly ElementType[] = []
  const one = (state: readonly AnyExpr[], x: readonly AnyExpr[]): readonly [readonly AnyExpr[], readonly AnyExpr[]] => {
    const made = tensorsOf(
      c,
      c.run(body, [...state.map((s, i) => value(states[i]!.type, s)), ...x.map((s, i) => value(types[i]!, s))]),
      'the output',
    ).map(wide)
    out = made.map((v) => v.type)
    return [made.slice(0, states.length).map((v) => v.x), made.slice(states.length).map((v) => v.x)]
  }
  const init: readonly AnyExpr[] = states.map((v) => v.x)
  const [last, ys] = scanned(one, init, xs)
  return { last, ys, types: out }
}
/** Operator set 8: each example of the batch for itself. */
const batchedScan = (c: Call, body: Graph, states: readonly Value[], inputs: readonly Value[]): readonly Value[] => {
  const back = c.ints('directions', [])
  const batch = inputs[0]!.x.shape[0]!
  const rows = Array.from({ length: batch }, (_, b) => {
    const at = (v: Value): Value => value(v.type, gather(v.x, b))
    const xs = inputs.map((v, i) => (back[i] === 1 ? flip(at(v).x, { axis: 0 }) : at(v).x))
    return scanOf(
      c,
      body,
      states.map(at),
      inputs.map((v) => v.type),
      xs,
    )
  })
  const results = rows.map(({ last, ys }) => [...last, ...ys])
  return results[0]!.map((_, i) => value(rows[0]!.types[i]!, stack(results.map((r) => r[i]!))))
}

export const controls: Table = { If: branch, Loop: repeated, Scan: scanNode }
