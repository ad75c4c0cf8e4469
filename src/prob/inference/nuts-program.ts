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
  concat,
  div,
  dynamicSlice,
  dynamicUpdateSlice,
  eq,
  exp,
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
  tensor,
  transpose,
  valueAndGrad,
  where,
  whileLoop,
  zeros,
} from '../../index.js'
import type { Target } from './density.js'
import { MOST_ERROR } from './hamiltonian.js'
import { MOST_DEPTH, MOST_WEIGHT } from './nuts-transition.js'

/** The most draws of a call. */
export const DRAWS = 64
/** Doublings up to which there are enough uniform numbers for a draw. */
export const MOST_DEPTH_OF_PROGRAM = 12
/** The most uniform numbers of a draw: one for each point but the first of a subtree, one for each subtree, and one for the directions. */
const mostOf = (maxDepth: number): number => 2 ** maxDepth
/** How many uniform numbers a call is given: another draw begins if the most that it takes are left. */
export const uniformsOf = (maxDepth: number): number => mostOf(maxDepth) + 1024

/** States of a subtree and of a trajectory. */
const GOES_ON = 0
const TURNED = 1
const DIVERGED = 2

const integer = (v: number): AnyExpr => tensor(v, [], 'i32') as unknown as AnyExpr
const real = (v: number): AnyExpr => tensor(v) as unknown as AnyExpr
const sumOf = (x: AnyExpr): AnyExpr => sum(x) as AnyExpr
const dot = (a: AnyExpr, b: AnyExpr): AnyExpr => sumOf(mul(a, b))
/** Some elements of a vector from the k-th on, and a vector with some elements set. */
const part = (v: AnyExpr, k: AnyExpr, length: number): AnyExpr => dynamicSlice(v, [k] as never, [length]) as AnyExpr
const setPart = (v: AnyExpr, k: AnyExpr, x: AnyExpr): AnyExpr => dynamicUpdateSlice(v, x as never, [k] as never) as AnyExpr
const element = (v: AnyExpr, k: AnyExpr): AnyExpr => reshape(part(v, k, 1), []) as AnyExpr
const count = (x: AnyExpr): AnyExpr => cast(x, 'i32') as AnyExpr
/** The state after all steps that `more` asks for. */
const loop = <S>(more: (s: S) => AnyExpr, step: (s: S) => S, init: S, maxSteps: number): S =>
  whileLoop(more as never, step as never, init as never, { maxSteps })[0] as S

type Scalars<K extends string> = { readonly [k in K]: AnyExpr }
/** A point of a trajectory: position, gradient, momentum. */
type Point = Scalars<'q' | 'g' | 'p'>
type Subtree = Point &
  Scalars<
    'total' | 'weight' | 'marks' | 'drawnQ' | 'drawnG' | 'drawnValue' | 'drawnEnergy' | 'accepted' | 'points' | 'top' | 'used' | 'state'
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
type Chained = Scalars<'q' | 'g' | 'value' | 'marks' | 'draw' | 'from' | 'used' | 'vectors' | 'rows'>
/** What a call is given beside the place of the chain. */
type Given = Scalars<'mass' | 'momenta' | 'uniforms' | 'draws' | 'stepSize'>

/** Numbers of each draw beside its vector, as they lie in a row. */
export const COLUMNS = ['logDensity', 'energy', 'depth', 'steps', 'acceptance', 'divergent'] as const

/** The program of a target: `mass` is the diagonal of L, or L. */
export const programOf = ({ size: n, logDensity }: Target, maxDepth: number, dense: boolean) => {
  const density = valueAndGrad(logDensity as never) as unknown as (q: AnyExpr) => { readonly value: AnyExpr; readonly grad: AnyExpr }
  /** Whether the sum of the momenta between two points goes against one of theirs. */
  const turns = (first: AnyExpr, last: AnyExpr, between: AnyExpr): AnyExpr => or(le(dot(first, between), 0), le(dot(last, between), 0))

  const transition = (c: Chained, { mass, momenta, uniforms, stepSize }: Given): Chained => {
    const p = part(momenta, c.from, n)
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
      const first = eq(s.points, 1)
      const taken = and(fine, or(first, lt(mul(element(uniforms, s.used), weight), w)))
      // Marks are a stack of the subtrees that are open, at this place of the array. A subtree of 2, 4, 8 ... points ends here if the number of points has no lower bit.
      const along = sub(total, mul(0.5, p))
      const marks = setPart(s.marks, s.top, concat([p, along]) as AnyExpr)
      // The bit is -1 once one of them turned, which ends the search too.
      const { top, bit } = loop<Scalars<'top' | 'bit'>>(
        ({ bit }) => eq(bitwiseAnd(s.points, bit), 0),
        ({ top, bit }) => {
          const below = sub(top, 2 * n)
          const mark = part(marks, below, 2 * n)
          const turned = turns(at(mark, `:${n}`) as AnyExpr, p, sub(along, at(mark, `${n}:`) as AnyExpr))
          return { top: below, bit: where(turned, integer(-1), add(bit, bit)) }
        },
        { top: s.top, bit: integer(1) },
        maxDepth,
      )
      const turned = eq(bit, -1)
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
        points: add(s.points, 1),
        top: add(top, 2 * n),
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
        (s) => and(le(s.points, t.leaves), eq(s.state, GOES_ON)),
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
          points: integer(1),
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
        steps: add(t.steps, sub(s.points, 1)),
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
      from: add(c.from, n),
      used: end.used,
      vectors: setPart(c.vectors, c.from, end.currentQ),
      rows: setPart(c.rows, mul(c.draw, COLUMNS.length), stack(COLUMNS.map((name) => numbers[name]) as never) as AnyExpr),
    }
  }

  const uniforms = uniformsOf(maxDepth)
  const mass = dense ? f64(n, n) : f64(n)
  return fn(
    { q: f64(n), g: f64(n), value: f64(), mass, momenta: f64(DRAWS * n), uniforms: f64(uniforms), draws: i32(), stepSize: f64() },
    (x) => {
      const { q, g, value, ...given } = x as unknown as Point & Scalars<'value'> & Given
      const enough = uniforms - mostOf(maxDepth)
      const {
        marks: _,
        from: __,
        ...end
      } = loop<Chained>(
        (c) => and(lt(c.draw, given.draws), le(c.used, enough)),
        (c) => transition(c, given),
        {
          q,
          g,
          value,
          marks: zeros([(maxDepth + 1) * 2 * n]) as unknown as AnyExpr,
          draw: integer(0),
          from: integer(0),
          used: integer(0),
          vectors: zeros([DRAWS * n]) as unknown as AnyExpr,
          rows: zeros([DRAWS * COLUMNS.length]) as unknown as AnyExpr,
        },
        DRAWS,
      )
      return end as never
    },
  )
}
