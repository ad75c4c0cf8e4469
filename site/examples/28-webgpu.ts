// The same function on the GPU where the browser has one, and on the CPU where it has none.
import { compile, f32, fn, grad, mul, sin, sum, webgpu } from 'codual'

const f = fn({ x: f32(3) }, ({ x }) => sum(mul(x, sin(x))))
const x = Float32Array.from([0, 1, 2])
const onGpu = compile(grad(f), webgpu())
const where = await onGpu({ x }).then(
  ({ x }) => ({ x, backend: 'webgpu' }),
  () => ({ ...compile(grad(f))({ x }), backend: 'cpu' }),
)
where.x // [0, 1.381773, 0.077004]
where.backend
