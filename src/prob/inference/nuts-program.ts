/**
 * Many transitions of the No-U-Turn sampler in one compiled program: draws, doublings and leaves are loops, which saves a call for each gradient. It takes the same numbers from a chain's stream as the
 * transitions of nuts-transition.ts, in the same order, and differs from them by rounding alone.
 */
import {
  type AnyExpr,
  add,
  and,
  at,
  bitwiseAnd,
  cast,
  compile,
  concat,
  div,
  dynamicSlice,
  dynamicUpdateSlice,
  eq,
  exp,
  expandDims,
  f64,
  floor,
  fn,
  ge,
  gt,
  i32,
  le,
  lt,
  matmul,
  mul,
  neg,
  not,
  or,
  reshape,
  stack,
  sub,
  sum,
  type Tensor,
  tensor,
  transpose,
  valueAndGrad,
  where,
  whileLoop,
  zeros,
} from '../../index.js'
import type { Target } from './density.js'
import { type Chain, MOST_ERROR, type Transition } from './hamiltonian.js'
import { MOST_DEPTH, MOST_WEIGHT } from './nuts-transition.js'

/** The most draws of a call. */
const DRAWS = 64
/** Doublings up to which there are enough uniform numbers for a draw. */
export const MOST_DEPTH_OF_PROGRAM = 12
/** How many uniform numbers a call is given: a draw takes one for each point, for each subtree, and for the directions. */
const uniformsOf = (maxDepth: number): number => 2 ** (maxDepth + 1) + 2048

/** States of a subtree and of a trajectory. */
const GOES_ON = 0
const TURNED = 1
const DIVERGED = 2

const integer = (v: number): AnyExpr => tensor(v, [], 'i32') as unknown as AnyExpr
const real = (v: number): AnyExpr => tensor(v) as unknown as AnyExpr
const sumOf = (x: AnyExpr): AnyExpr => sum(x) as AnyExpr
const dot = (a: AnyExpr, b: AnyExpr): AnyExpr => sumOf(mul(a, b))
const element = (v: AnyExpr, k: AnyExpr): AnyExpr => reshape(dynamicSlice(v, [k] as never, [1]) as AnyExpr, []) as AnyExpr
const row = (m: AnyExpr, k: AnyExpr): AnyExpr => {
  const n = m.shape[1]!
  return reshape(dynamicSlice(m, [k, 0] as never, [1, n]) as AnyExpr, [n]) as AnyExpr
}
const setRow = (m: AnyExpr, k: AnyExpr, x: AnyExpr): AnyExpr => dynamicUpdateSlice(m, expandDims(x, 0) as never, [k, 0] as never) as AnyExpr
const count = (x: AnyExpr): AnyExpr => cast(x, 'i32') as AnyExpr
/** The state after all steps that `more` asks for. */
const loop = <S>(more: (s: S) => AnyExpr, step: (s: S) => S, init: S, maxSteps: number): S =>
  whileLoop(more as never, step as never, init as never, { maxSteps })[0] as S

type Scalars<K extends string> = { readonly [k in K]: AnyExpr }
/** A point of a trajectory: position, gradient, momentum. */
type Point = Scalars<'q' | 'g' | 'p'>
type Subtree = Point &
  Scalars<
    'total' | 'weight' | 'marks' | 'drawnQ' | 'drawnG' | 'drawnValue' | 'drawnEnergy' | 'accepted' | 'leaf' | 'top' | 'used' | 'state'
  >
type Trajectory = Point &
  Scalars<
    | 'otherQ'
    | 'otherG'
    | 'otherP'
    | 'total'
    | 'weight'
    | 'marks'
    | 'accepted'
    | 'used'
    | 'steps'
    | 'bits'
    | 'forwards'
    | 'currentQ'
    | 'currentG'
    | 'value'
    | 'energy'
    | 'depth'
    | 'leaves'
    | 'state'
  >
type Chained = Scalars<'q' | 'g' | 'value' | 'marks' | 'draw' | 'used' | 'vectors' | 'rows'>
/** What a call is given beside the place of the chain. */
type Given = Scalars<'mass' | 'momenta' | 'uniforms' | 'draws' | 'stepSize'>

/** Numbers of each draw beside its vector, as they lie in a row. */
const COLUMNS = ['logDensity', 'energy', 'depth', 'steps', 'acceptance', 'divergent'] as const

/** The program of a target: `mass` is the diagonal of L, or L. */
const programOf = ({ size: n, logDensity }: Target, maxDepth: number, dense: boolean) => {
  const density = valueAndGrad(logDensity as never) as unknown as (q: AnyExpr) => { readonly value: AnyExpr; readonly grad: AnyExpr }
  // 1, 3, 7 ...: a subtree of 2, 4, 8 ... points ends where none of these bits is set in the number of points.
  const ends = tensor(
    Int32Array.from({ length: maxDepth }, (_, j) => 2 ** (j + 1) - 1),
    [maxDepth] as never,
    'i32',
  ) as unknown as AnyExpr
  /** Whether the sum of the momenta between two points goes against one of theirs. */
  const turns = (first: AnyExpr, last: AnyExpr, between: AnyExpr): AnyExpr => or(le(dot(first, between), 0), le(dot(last, between), 0))

  const transition = (c: Chained, { mass, momenta, uniforms, stepSize }: Given): Chained => {
    const p = row(momenta, c.draw)
    const kinetic = (p: AnyExpr): AnyExpr => mul(0.5, dot(p, p))
    const start = sub(kinetic(p), c.value)

    /** A leapfrog step, and what its end does to the subtree. */
    const leaf = (s: Subtree, step: AnyExpr): Subtree => {
      const half = mul(0.5, step)
      const kick = (g: AnyExpr): AnyExpr =>
        (dense ? mul(half, matmul(transpose(mass) as never, g as never)) : mul(mul(half, mass), g)) as AnyExpr
      const moved = add(s.p, kick(s.g))
      const q = add(s.q, (dense ? mul(step, matmul(mass as never, moved as never)) : mul(mul(step, mass), moved)) as AnyExpr)
      const { value, grad: g } = density(q)
      const p = add(moved, kick(g))
      const total = add(s.total, p)
      const energy = sub(kinetic(p), value)
      const change = sub(start, energy)
      const fine = and(ge(change, -MOST_ERROR), lt(change, Number.POSITIVE_INFINITY))
      const w = exp(where(lt(change, MOST_WEIGHT), change, MOST_WEIGHT))
      const weight = add(s.weight, w)
      const first = eq(s.leaf, 0)
      const taken = and(fine, or(first, lt(mul(element(uniforms, s.used), weight), w)))
      const points = add(s.leaf, 1)
      // Marks are a stack of the subtrees that are open. This point closes some of them.
      const closed = sumOf(count(eq(bitwiseAnd(points, ends), 0)))
      const along = sub(total, mul(0.5, p))
      const marks = setRow(s.marks, s.top, concat([p, along]) as AnyExpr)
      const bottom = sub(s.top, closed)
      const { turned } = loop<Scalars<'k' | 'turned'>>(
        ({ k, turned }) => and(ge(k, bottom), not(turned)),
        ({ k }) => {
          const mark = row(marks, k)
          return { k: sub(k, 1), turned: turns(at(mark, `:${n}`) as AnyExpr, p, sub(along, at(mark, `${n}:`) as AnyExpr)) }
        },
        { k: sub(s.top, 1), turned: tensor(false) as unknown as AnyExpr },
        maxDepth,
      )
      const drawn = (a: AnyExpr, b: AnyExpr): AnyExpr => where(taken, a, b)
      return {
        q,
        p,
        g,
        total,
        weight,
        marks,
        drawnQ: drawn(q, s.drawnQ),
        drawnG: drawn(g, s.drawnG),
        drawnValue: drawn(value, s.drawnValue),
        drawnEnergy: drawn(energy, s.drawnEnergy),
        accepted: add(s.accepted, where(fine, where(lt(w, 1), w, 1), 0)),
        leaf: points,
        top: add(bottom, 1),
        used: add(s.used, count(and(fine, not(first)))),
        state: where(fine, where(turned, integer(TURNED), integer(GOES_ON)), integer(DIVERGED)),
      }
    }

    /** Doubles the trajectory. */
    const doubled = (t: Trajectory): Trajectory => {
      const halved = mul(0.5, t.bits)
      const bits = floor(halved)
      const forwards = gt(halved, bits)
      const flip = and(gt(t.depth, 0), not(eq(forwards, t.forwards)))
      const pick = (a: AnyExpr, b: AnyExpr): AnyExpr => where(flip, b, a)
      const [q, g] = [pick(t.q, t.otherQ), pick(t.g, t.otherG)]
      const [otherQ, otherG, otherP] = [pick(t.otherQ, t.q), pick(t.otherG, t.g), pick(t.otherP, t.p)]
      const step = where(forwards, stepSize, neg(stepSize))
      const s = loop<Subtree>(
        (s) => and(lt(s.leaf, t.leaves), eq(s.state, GOES_ON)),
        (s) => leaf(s, step),
        {
          q,
          g,
          p: pick(t.p, t.otherP),
          total: zeros([n]) as unknown as AnyExpr,
          weight: real(0),
          marks: t.marks,
          drawnQ: q,
          drawnG: g,
          drawnValue: real(0),
          drawnEnergy: real(0),
          accepted: t.accepted,
          leaf: integer(0),
          top: integer(0),
          used: t.used,
          state: integer(GOES_ON),
        },
        2 ** (maxDepth - 1),
      )
      const whole = eq(s.state, GOES_ON)
      const taken = and(whole, lt(mul(element(uniforms, s.used), t.weight), s.weight))
      const total = add(t.total, s.total)
      const turned = turns(otherP, s.p, sub(total, mul(0.5, add(otherP, s.p))))
      return {
        q: s.q,
        p: s.p,
        g: s.g,
        otherQ,
        otherG,
        otherP,
        total,
        weight: add(t.weight, s.weight),
        marks: s.marks,
        accepted: s.accepted,
        used: add(s.used, count(whole)),
        steps: add(t.steps, s.leaf),
        bits,
        forwards,
        currentQ: where(taken, s.drawnQ, t.currentQ),
        currentG: where(taken, s.drawnG, t.currentG),
        value: where(taken, s.drawnValue, t.value),
        energy: where(taken, s.drawnEnergy, t.energy),
        depth: add(t.depth, count(whole)),
        leaves: add(t.leaves, t.leaves),
        state: where(whole, where(turned, integer(TURNED), integer(GOES_ON)), s.state),
      }
    }

    const end = loop<Trajectory>(
      (t) => and(lt(t.depth, maxDepth), eq(t.state, GOES_ON)),
      doubled,
      {
        q: c.q,
        g: c.g,
        p,
        otherQ: c.q,
        otherG: c.g,
        otherP: p,
        total: p,
        weight: real(1),
        marks: c.marks,
        accepted: real(0),
        used: add(c.used, 1),
        steps: integer(0),
        bits: floor(mul(element(uniforms, c.used), 2 ** MOST_DEPTH)),
        forwards: tensor(false) as unknown as AnyExpr,
        currentQ: c.q,
        currentG: c.g,
        value: c.value,
        energy: start,
        depth: integer(0),
        leaves: integer(1),
        state: integer(GOES_ON),
      },
      maxDepth,
    )
    const steps = cast(end.steps, 'f64') as AnyExpr
    const numbers: Scalars<(typeof COLUMNS)[number]> = {
      logDensity: end.value,
      energy: end.energy,
      depth: cast(end.depth, 'f64') as AnyExpr,
      steps,
      acceptance: div(end.accepted, steps),
      divergent: cast(eq(end.state, DIVERGED), 'f64') as AnyExpr,
    }
    return {
      q: end.currentQ,
      g: end.currentG,
      value: end.value,
      marks: end.marks,
      draw: add(c.draw, 1),
      used: end.used,
      vectors: setRow(c.vectors, c.draw, end.currentQ),
      rows: setRow(c.rows, c.draw, stack(COLUMNS.map((name) => numbers[name]) as never) as AnyExpr),
    }
  }

  const uniforms = uniformsOf(maxDepth)
  const mass = dense ? f64(n, n) : f64(n)
  return fn(
    { q: f64(n), g: f64(n), value: f64(), mass, momenta: f64(DRAWS, n), uniforms: f64(uniforms), draws: i32(), stepSize: f64() },
    (x) => {
      const { q, g, value, ...given } = x as unknown as Point & Scalars<'value'> & Given
      const enough = uniforms - 2 ** (maxDepth + 1)
      const { marks: _, ...end } = loop<Chained>(
        (c) => and(lt(c.draw, given.draws), le(c.used, enough)),
        (c) => transition(c, given),
        {
          q,
          g,
          value,
          marks: zeros([maxDepth + 1, 2 * n]) as unknown as AnyExpr,
          draw: integer(0),
          used: integer(0),
          vectors: zeros([DRAWS, n]) as unknown as AnyExpr,
          rows: zeros([DRAWS, COLUMNS.length]) as unknown as AnyExpr,
        },
        DRAWS,
      )
      return end as never
    },
  )
}

/** Draws of chains, some at a time. */
export interface ManyDraws {
  /** Takes at most so many draws of a chain, at least one, and tells of each; `each` returns false to leave out the rest. Returns how many were taken. */
  readonly run: (chain: Chain, most: number, into: Transition, each: () => boolean) => number
  readonly dispose: () => void
}
interface Compiled {
  readonly into: (outputs: unknown) => (args: unknown) => unknown
  readonly dispose: () => void
}
export const manyDraws = (target: Target, maxDepth: number, dense: boolean): ManyDraws => {
  const n = target.size
  const floats = (...shape: number[]): Tensor =>
    tensor(new Float64Array(shape.reduce((a, b) => a * b, 1)), shape as never) as unknown as Tensor
  const int = (): Tensor => tensor(new Int32Array(1), [], 'i32') as unknown as Tensor
  const given = {
    q: floats(n),
    g: floats(n),
    value: floats(),
    mass: dense ? floats(n, n) : floats(n),
    momenta: floats(DRAWS, n),
    uniforms: floats(uniformsOf(maxDepth)),
    draws: int(),
    stepSize: floats(),
  }
  const result = {
    q: floats(n),
    g: floats(n),
    value: floats(),
    draw: int(),
    used: int(),
    vectors: floats(DRAWS, n),
    rows: floats(DRAWS, COLUMNS.length),
  }
  const compiled = compile(programOf(target, maxDepth, dense)) as unknown as Compiled
  const call = compiled.into(result)
  const data = (t: Tensor): Float64Array => t.data as unknown as Float64Array
  const [momenta, uniforms, vectors, rows] = [given.momenta, given.uniforms, result.vectors, result.rows].map(data) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  return {
    run: (chain, most, into, each) => {
      const { stream, mass } = chain
      data(given.q).set(chain.q)
      data(given.g).set(chain.g)
      data(given.value)[0] = chain.value
      data(given.stepSize)[0] = chain.stepSize
      data(given.draws)[0] = Math.min(most, DRAWS)
      if (dense) mass.lower(data(given.mass))
      else data(given.mass).set(mass.scales!)
      stream.ahead(momenta, uniforms)
      call(given)
      const taken = data(result.draw)[0]!
      stream.skip(taken * n, data(result.used)[0]!)
      chain.q.set(data(result.q))
      chain.g.set(data(result.g))
      for (let k = 0; k < taken; k++) {
        // What is told of a draw is told while the chain is there.
        chain.q.set(vectors.subarray(k * n, (k + 1) * n))
        const from = k * COLUMNS.length
        chain.value = rows[from]!
        into.energy = rows[from + 1]!
        into.depth = rows[from + 2]!
        into.steps = rows[from + 3]!
        into.acceptance = rows[from + 4]!
        into.divergent = rows[from + 5]! === 1
        if (!each()) break
      }
      return taken
    },
    dispose: () => compiled.dispose(),
  }
}
