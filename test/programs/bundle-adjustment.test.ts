/** Bundle adjustment: rotations against the matrix exponential, the Jacobian against JAX, and a scene that is found again up to its scale. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { jacrev, tensor } from '../../src/index.js'
import * as ba from './bundle-adjustment.js'

const cameras = {
  rotation: tensor([[0.1, -0.2, 0.05], [-0.15, 0.3, 0.1]]), // biome-ignore format: a matrix
  translation: tensor([[1, 0.1, 0.2], [-1.2, 0.3, 0.5]]), // biome-ignore format: a matrix
}
const points = tensor([[-1, -1, 5], [1, -0.8, 6], [0.9, 1, 5.5], [-1.1, 0.7, 6.5], [0.1, 0.2, 4.5], [0.6, -0.3, 7], [-0.5, 0.4, 5], [0.2, -1.2, 6]]) // biome-ignore format: a matrix
const first = { rotation: [0.1, -0.2, 0.05], translation: [1, 0.1, 0.2] }
const near = (got: readonly number[], want: readonly number[], digits: number) =>
  want.forEach((w, i) => {
    expect(got[i]).toBeCloseTo(w, digits)
  })

describe('bundle-adjustment', () => {
  it('rotate is the exponential of the cross product', () => {
    near(ba.rotate({ w: first.rotation, x: [-1, -1, 5] }).toArray(), [-1.8981503646598932, -1.553911902712412, 4.5806531184701385], 13) // scipy.linalg.expm
    near(ba.rotate({ w: [0, 0, Math.PI / 2], x: [1, 0, 2] }).toArray(), [0, 1, 2], 15)
    expect(ba.rotate({ w: [0, 0, 0], x: [1, 2, 3] }).toArray()).toEqual([1, 2, 3])
  })

  // jax.jacobian in f64 of the same projection, JAX 0.10.2.
  it('the Jacobian of a projection is that of JAX', () => {
    const place = { camera: first, point: [-1, -1, 5] }
    near(ba.project(place).toArray(), [-93.93594791367245, -152.06205791162688], 10)
    const j = jacrev(ba.project)(place)
    near(j.camera.rotation.toArray().flat(), [-2.8648540338975645, 523.9883984901847, 137.62009912287817, -543.4037205242889, 65.60977734109372, -147.79931541919453], 9) // biome-ignore format: a matrix
    near(j.camera.translation.toArray().flat(), [104.58821997945032, 0, 19.649187168746725, 0, 104.58821997945032, 31.807799926778294], 9) // biome-ignore format: a matrix
    near(j.point.toArray().flat(), [106.31987667848634, -4.375134188846667, -1.314662984711994, 10.527673630837672, 106.93207515321203, 20.127873360149795], 9) // biome-ignore format: a matrix
  })

  it('its derivatives are those of finite differences, to the second order; at no rotation they are those of the cross product', () => {
    expect(report(checkGrad(ba.rotate)({ w: first.rotation, x: [-1, -1, 5] }))).toMatch(/^ok/)
    const j = jacrev(ba.rotate, { wrt: 'w' })({ w: [0, 0, 0], x: [1, 2, 3] })
    expect(j.toArray()).toEqual([[0, 3, -2], [-3, 0, 1], [2, -1, 0]]) // biome-ignore format: a matrix
  })

  it('Levenberg and Marquardt find the scene again, up to the scale that no picture shows', () => {
    const none = [0, 0, 0]
    const all = { rotation: [none, ...cameras.rotation.toArray()], translation: [none, ...cameras.translation.toArray()] }
    const seen = ba.views({ cameras: all, points }).toArray()
    const moved = (a: readonly number[][], by: number) => a.map((row, i) => row.map((v, j) => v + by * Math.sin(3 * i + 5 * j + 1)))
    const guess = {
      cameras: {
        rotation: tensor(moved(cameras.rotation.toArray(), 0.05), [2, 3]),
        translation: tensor(moved(cameras.translation.toArray(), 0.1), [2, 3]),
      },
      points: tensor(moved(points.toArray(), 0.3), [8, 3]),
    }
    const { scene, values } = ba.adjust(guess, seen, 15)
    expect(values[0]).toBeGreaterThan(1000)
    expect(values[14]).toBeLessThan(1e-20)
    near(scene.cameras.rotation.toArray().flat(), cameras.rotation.toArray().flat(), 10)
    const scale = scene.points.toArray()[0]![2]! / 5
    expect(Math.abs(scale - 1)).toBeLessThan(0.1)
    near(scene.cameras.translation.toArray().flat(), cameras.translation.toArray().flat().map((v) => v * scale), 10) // biome-ignore format: one row
    near(scene.points.toArray().flat(), points.toArray().flat().map((v) => v * scale), 10) // biome-ignore format: one row
  })
})
