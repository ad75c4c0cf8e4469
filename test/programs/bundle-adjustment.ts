/**
 * Bundle adjustment: the poses of cameras and the points that they see, from the pixels where they see them. Triggs, McLauchlan,
 * Hartley and Fitzgibbon 2000; rotations by the formula of Rodrigues, Hartley and Zisserman 2004, A4.3.2.
 */
import {
  add,
  at,
  compile,
  concat,
  div,
  dot,
  type Expr,
  f64,
  fn,
  gt,
  mul,
  sin,
  sqrt,
  sub,
  type Tensors,
  vmap,
  where,
} from '../../src/index.js'
import { levenbergMarquardt } from '../../src/optim/index.js'

/** a x b. */
const cross = (a: Expr<[3], 'f64'>, b: Expr<[3], 'f64'>) =>
  sub(mul(at(a, [1, 2, 0]), at(b, [2, 0, 1])), mul(at(a, [2, 0, 1]), at(b, [1, 2, 0])))

/** x turned about the axis w by the angle t = |w|: x + (sin t / t) w x x + ((1 - cos t) / t^2) w x (w x x); a series where t is small. */
export const rotate = fn({ w: f64(3), x: f64(3) }, ({ w, x }) => {
  const square = dot(w, w)
  const large = gt(square, 1e-12)
  const t = sqrt(where(large, square, 1))
  const half = div(sin(div(t, 2)), t)
  const first = where(large, div(sin(t), t), sub(1, div(square, 6)))
  const second = where(large, mul(2, mul(half, half)), sub(0.5, div(square, 24)))
  const turned = cross(w, x)
  return add(x, add(mul(first, turned), mul(second, cross(w, turned))))
})

const camera = { rotation: f64(3), translation: f64(3) }
export const focal = 500

/** Where a camera sees a point, in pixels from the centre of its image. */
export const project = fn({ camera, point: f64(3) }, ({ camera, point }) => {
  const p = add(rotate({ w: camera.rotation, x: point }), camera.translation)
  return mul(focal, div(at(p, ':2'), at(p, 2)))
})

const scene = {
  cameras: { rotation: f64('cameras', 3), translation: f64('cameras', 3) },
  points: f64('points', 3),
}

/** Where each camera sees each point. */
export const views = fn(scene, ({ cameras, points }) =>
  vmap(fn(camera, (camera) => vmap((point) => project({ camera, point }))(points)))(cameras),
)

/** What is seen less what should be. A first camera stands at the origin, unturned: only the others are unknown. */
export const residuals = fn({ ...scene, seen: f64('views', 'points', 2) }, ({ cameras: { rotation, translation }, points, seen }) => {
  const origin = [[0, 0, 0]]
  const cameras = { rotation: concat([origin, rotation]), translation: concat([origin, translation]) }
  return sub(views({ cameras, points }), seen)
})

/** Two cameras beside the first, and eight points. */
export const declared = { cameras: { rotation: f64(2, 3), translation: f64(2, 3) }, points: f64(8, 3) }

/** The scene that Levenberg and Marquardt's method finds from a guess, and half the sum of the squared residuals before each step. */
export const adjust = (guess: Tensors<typeof declared>, seen: number[][][], iterations: number) => {
  const method = levenbergMarquardt()
  const step = compile(
    fn({ scene: declared, state: method.init(declared), seen: f64(3, 8, 2) }, ({ scene, state, seen }) =>
      method.step((scene) => residuals({ ...scene, seen }), scene, state),
    ),
  )
  const values = []
  let scene = guess
  let state = method.init(guess)
  for (let i = 0; i < iterations; i++) {
    const done = step({ scene, state, seen })
    values.push(done.value.item())
    scene = done.params
    state = done.state
  }
  return { scene, values }
}
