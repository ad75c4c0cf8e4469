/** The reference writes into the caller's arrays as backends that plan do. */
import { expect, it } from 'vitest'
import { reference } from '../../src/backends/reference/index.js'
import { aval } from '../../src/core/graph/aval.js'
import type { AnyExpr } from '../../src/index.js'
import { trace } from '../laws/generator/checks.js'

it('reads results that are inputs before it writes a target that is one', () => {
  const swapped = trace((x, y) => [y as AnyExpr, x as AnyExpr], [aval([2], 'f64'), aval([2], 'f64')])
  const [x, y] = [Float64Array.of(1, 2), Float64Array.of(3, 4)]
  reference().prepare(swapped).run([x, y], [x, y])
  expect([...x, ...y]).toEqual([3, 4, 1, 2])
})
