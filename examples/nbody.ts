// A probe from Earth to Mars: the flight of four bodies is one expression, so "which launch brings the probe there" has a derivative.
// `npm run example:nbody`
//
// The sun, two planets and the probe attract each other; `scan` takes the steps (leapfrog, which keeps the energy). What the launch
// should make zero is the distance to Mars at the end, and Levenberg and Marquardt's method finds the launch. The answer is known nearly:
// Hohmann's ellipse, for a sun alone, leaves at 2 pi sqrt(2 r / (1 + r)), with r the radius of Mars' orbit.
import {
  add,
  at,
  compile,
  concat,
  cpu,
  div,
  type Expr,
  eye,
  f64,
  fn,
  mul,
  outer,
  pow,
  type Scalar,
  scan,
  sqrt,
  square,
  sub,
  sum,
  tensor,
  triu,
} from '../src/index.js'
import { levenbergMarquardt } from '../src/optim/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface NBodyOptions {
  /** Steps of the flight. */
  readonly steps?: number
  readonly out?: string
}

/** Two numbers for each body: expressions on the way, tensors at its beginning. */
type Bodies = Expr<[4, 2], 'f64'>
interface State {
  readonly x: Bodies
  readonly v: Bodies
}

// Lengths in the radius of Earth's orbit, times in years, masses in suns: then G = (2 pi)^2, and Earth goes at 2 pi.
const G = 4 * Math.PI ** 2
const bodies = ['sun', 'earth', 'mars', 'probe'] as const
const masses = tensor([1, 3.003e-6, 3.227e-7, 0])
const marsRadius = 1.524
/** Half of Hohmann's ellipse takes so long; Mars is opposite to the launch at its end. */
const duration = Math.sqrt(((1 + marsRadius) / 2) ** 3) / 2

/** On a circle around the sun, at an angle, counter-clockwise. */
const circling = (radius: number, angle: number) => {
  const [c, s] = [Math.cos(angle), Math.sin(angle)]
  const speed = (2 * Math.PI) / Math.sqrt(radius)
  return { x: [radius * c, radius * s], v: [-speed * s, speed * c] } as const
}
const earth = circling(1, -0.02)
const mars = circling(marsRadius, Math.PI - (2 * Math.PI * duration) / marsRadius ** 1.5)
const places = tensor([[0, 0], earth.x, mars.x, [1, 0]])
const speeds = tensor([[0, 0], earth.v, mars.v])

/** G sum_j m_j (x_j - x_i) / |x_j - x_i|^3. A body is not far from itself: the 1 that `eye` puts there makes 0 / 1 of 0 / 0. */
const acceleration = (x: Bodies): Bodies => {
  const apart = sub(at(x, null), at(x, ':', null))
  const cubed = pow(add(sum(square(apart), { axis: -1 }), eye(4)), 1.5)
  return sum(mul(apart, at(mul(G, mul(masses, pow(cubed, -1))), '...', null)), { axis: 1 })
}

/** Half a step of the speeds, a step of the places, half a step of the speeds: Verlet 1967. */
const leapfrog = ({ x, v }: State, dt: number): State => {
  const half = add(v, mul(dt / 2, acceleration(x)))
  const next = add(x, mul(dt, half))
  return { x: next, v: add(half, mul(dt / 2, acceleration(next))) }
}

/** Kinetic energy and that of all pairs; what does not change is their sum. */
const energy = ({ x, v }: State): Scalar<'f64'> => {
  const apart = sub(at(x, null), at(x, ':', null))
  const distance = sqrt(add(sum(square(apart), { axis: -1 }), eye(4)))
  const pairs = triu(div(outer(masses, masses), distance), 1)
  return sub(mul(0.5, sum(mul(masses, sum(square(v), { axis: -1 })))), mul(G, sum(pairs)))
}

/** The flight after a launch: the miss at its end, all places on the way, and the energy at each of them. */
export const flight = (steps: number) =>
  fn({ launch: f64(2) }, ({ launch }) => {
    const begin = { x: places, v: concat([speeds, at(launch, null)]) }
    const [end, path] = scan(
      (now: State) => {
        const next = leapfrog(now, duration / steps)
        return [next, { x: next.x, energy: energy(next) }]
      },
      begin,
      null,
      { length: steps },
    )
    return { miss: sub(at(end.x, 3), at(end.x, 2)), path, energy: energy(begin) }
  })

export const main = async (log: Log, { steps = 1000, out = 'out' }: NBodyOptions = {}) => {
  const fly = flight(steps)
  const method = levenbergMarquardt()
  const aim = compile(
    fn({ params: f64(2), state: method.init(f64(2)) }, ({ params, state }) => method.step((launch) => fly({ launch }).miss, params, state)),
    cpu(),
  )
  // The first try, a little faster than Earth, misses Mars by far.
  const guess = tensor([0, 1.05 * 2 * Math.PI])
  let now = { params: guess, state: method.init(guess) }
  const misses: number[] = []
  for (let k = 0; k < 12; k++) {
    const { params, state, value } = aim(now)
    misses.push(Math.sqrt(2 * value.item()))
    now = { params, state }
  }

  const { miss, path, energy: before } = compile(fly, cpu())({ launch: now.params })
  const distance = Math.hypot(...miss.toArray())
  const speed = Math.hypot(...now.params.toArray())
  const hohmann = 2 * Math.PI * Math.sqrt((2 * marsRadius) / (1 + marsRadius))
  const drift = Math.max(...path.energy.toArray().map((e) => Math.abs(e / before.item() - 1)))
  log(`the miss, in radii of Earth's orbit, at each aim: ${misses.map((m) => m.toExponential(1)).join(', ')}`)
  log(`launch at ${speed.toFixed(4)} radii a year; Hohmann's ellipse without the planets: ${hohmann.toFixed(4)}`)
  log(`energy changes by ${drift.toExponential(1)} of itself at most, in ${steps} steps`)
  expectThat(distance < 1e-9, 'a probe that arrives')
  expectThat(Math.abs(speed / hohmann - 1) < 0.01, 'nearly the launch of Hohmann')

  const tracks = Object.fromEntries(bodies.map((name, body) => [name, path.x.toArray().map((all) => all[body]!)]))
  const { sun = [], ...lines } = tracks
  const file = await plot(out, 'nbody', { title: 'From Earth to Mars', x: 'x', y: 'y', lines, points: { sun: sun.slice(-1) }, extent: 1.8 })
  log(`picture: ${file}`)
  return { misses, distance, speed, hohmann, drift, file }
}

start(import.meta.url, main)
